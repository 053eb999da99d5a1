#include <hip/hip_runtime.h>
// hipMemcpy( in a comment never counts
namespace ops {
template <typename T, int TILE>
__global__ void __launch_bounds__(256, 2) gemm(const T* a, const T* b, T* c, int n) {
  __shared__ T tile[TILE][TILE];
  c[n] = a[n] * b[n];
}
}
__global__ void relu(float* x, int n) { x[n] = x[n] > 0 ? x[n] : 0; }
const char* text = "relu<<<1, 1>>>(x)";
void step(float* h, float* d, int n, hipStream_t s) {
  for (int i = 0; i < 100; ++i) {
    hipMemcpy(d, h, n * sizeof(float), hipMemcpyHostToDevice);
    ops::gemm<float, 16><<<dim3(n / 256), dim3(256), 0, s>>>(d, d, d, n);
    hipLaunchKernelGGL(HIP_KERNEL_NAME(relu), dim3(n / 256), dim3(256), 0, s, d, n);
    hipDeviceSynchronize();
  }
  hipMemcpy(h, d, n * sizeof(float), hipMemcpyDeviceToHost);
}
