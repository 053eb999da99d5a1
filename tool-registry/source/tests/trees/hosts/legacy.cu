#include <cuda_runtime.h>
__global__ void old(int n) {}  //: def old
int main() {
  old<<<1, 1>>>(1);  //: launch old none default; default_stream none
  cudaMemcpy(a, b, 4, cudaMemcpyDefault);  //: memcpy_sync none
  cudaDeviceSynchronize();  //: device_sync none
}
