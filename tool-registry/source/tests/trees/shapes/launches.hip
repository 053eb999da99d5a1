// Every way a kernel is launched.
#include <hip/hip_runtime.h>
template <typename T> __global__ void k(T* x) {}  //: def k
__global__ void plain(int n) {}  //: def plain
void shapes(Context* ctx, int n, hipStream_t s) {
  plain<<<1, 64>>>(n);  //: launch plain none default; default_stream none
  plain<<<dim3(n), dim3(64), 0, 0>>>(n);  //: launch plain none default; default_stream none
  plain<<<dim3(n), dim3(64), 0, nullptr>>>(n);  //: launch plain none default; default_stream none
  plain<<<dim3(n), dim3(64), 0, (hipStream_t)0>>>(n);  //: launch plain none default; default_stream none
  plain<<<dim3(n), dim3(64), 0, hipStreamDefault>>>(n);  //: launch plain none default; default_stream none
  plain<<<grid<int, 2>(n), block(n, 1), 0, ctx->stream(0)>>>(n);  //: launch plain none explicit
  k<float><<<1, 64, 0, s>>>(p);  //: launch k none explicit
  k<std::pair<int, std::vector<int>>><<<1, 64, 0, s>>>(p);  //: launch k none explicit
  ::k<int><<<1, 64, 0, s>>>(p);  //: launch k none explicit
  (k<int>)<<<1, 64, 0, s>>>(p);  //: launch k none explicit
  other::
      elsewhere<<<  //: launch elsewhere none explicit
          n / 64,
          64, 0, s>>>(n);
  hipLaunchKernelGGL(plain, dim3(1), dim3(64), 0, s, n);  //: launch plain none explicit
  hipLaunchKernelGGL((k<int>), dim3(1), dim3(64), 0, 0, p);  //: launch k none default; default_stream none
  hipLaunchKernelGGL(k<int>, dim3(1), dim3(64), 0, s, p);  //: launch k none explicit
  hipLaunchKernelGGL(HIP_KERNEL_NAME(k<std::pair<int, int>>), dim3(1), 64, 0, s, p);  //: launch k none explicit
  hipLaunchKernel((const void*)plain, dim3(1), dim3(64), args, 0, s);  //: launch plain none explicit
  hipLaunchKernel(reinterpret_cast<const void*>(&plain), dim3(1), 64, args, 0, s);  //: launch plain none explicit
  hipLaunchCooperativeKernel((void*)&k<float>, dim3(1), dim3(64), args, 0, s);  //: launch k none explicit
  hipExtLaunchKernelGGL(plain, dim3(1), dim3(64), 0, s, a, b, 0, n);  //: launch plain none explicit
  CHECK(hipModuleLaunchKernel(fn, 1, 1, 1, 64, 1, 1, 0, s, args, nullptr));  //: launch ? none explicit
  HIP_CHECK(hipGraphLaunch(graph.exec(), s));  //: launch ? none explicit
  auto chosen = n > 1 ? plain : nullptr;
  chosen<<<1, 64, 0, s>>>(n);  //: launch ? none explicit
  pick(n)<<<1, 64, 0, s>>>(n);  //: launch ? none explicit
  table[n]<<<1, 64, 0, s>>>(n);  //: launch ? none explicit
  ctx->member<<<1, 64, 0, s>>>(n);  //: launch ? none explicit
}
template <typename Kernel>
void bench(Kernel kernel, int n, hipStream_t s) {
  for (int i = 0; i < n; ++i)
    kernel<<<1, 64, 0, s>>>(n);  //: launch ? direct explicit
  std::cout << "not a launch" << n << 1 >> 2;
  int y = n << 3 >> 1;
}
void forward(void (*fn)(int), hipStream_t s) {
  do fn<<<1, 64, 0, s>>>(1); while (again());  //: launch ? direct explicit
}
