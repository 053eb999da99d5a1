// Where calls stand in respect of loops.
#include <hip/hip_runtime.h>
#include <rccl/rccl.h>
#include <mpi.h>
__global__ void k(int n);  //: decl k
hipError_t hipMalloc(void** p, size_t n);
void upload(void* d, void* h) {
  hipMemcpy(d, h, 4, hipMemcpyHostToDevice);  //: memcpy_sync caller
  hipFree(d);  //: alloc_in_loop caller
}
void never_in_a_loop(void* d, void* h) {
  hipMalloc(&d, 4);
  hipMemcpyAsync(d, h, 4, hipMemcpyHostToDevice, 0);
  hipMemcpyDtoH(h, d, 4);  //: memcpy_sync none
  hipDeviceSynchronize();  //: device_sync none
  hipStreamCreate(&s);
}
struct Solver {
  void solve();
  void sync() { hipStreamSynchronize(s); }  //: device_sync caller
};
void Solver::solve() {
  for (auto& x : xs) {
    auto body = [&] { hipMemcpy(x, x, 4, hipMemcpyDefault); };  //: memcpy_sync direct
    if (x) hipMalloc(&x, 4); else hipHostFree(x);  //: alloc_in_loop direct; alloc_in_loop direct
    this->sync();
  }
  while (hipDeviceSynchronize() != 0) {}  //: device_sync none
  while (true)
    if (a) b();
    else hipEventSynchronize(e);  //: device_sync direct
  hipEventSynchronize(e);  //: device_sync none
  do {
    hipStreamCreateWithFlags(&s, 0);  //: create_in_loop direct
    hipModuleLoadData(&m, image);  //: create_in_loop direct
    rocblas_create_handle(&h);  //: create_in_loop direct
    upload(d, h);
  } while (busy);
  struct Local {
    void run() { hipCtxSynchronize(); }  //: device_sync none
  };
  obj.hipMemcpy(1); my::hipMemcpy(1); auto p = &hipMemcpy;
  ::hipMemcpy2D(a, 1, b, 1, 1, 1, k); //: memcpy_sync none
  roctxRangePush("x"); roctxRangePop(); nvtxMarkA("y");
  const char* c = "hipMemcpy(a, b)"; char q = '"'; hipMemcpy3D(&p); //: memcpy_sync none
  FOR_EACH_DEVICE(d) { hipDeviceSynchronize(); }  //: device_sync none
}
