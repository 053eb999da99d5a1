// Every way a kernel is written. A marker behind "//:" tells what stands on its line.
#include "hip/hip_runtime.h"
#define ADD(a, b) \
  hipMemcpy(a, b, 4, hipMemcpyHostToDevice); \
  never<<<1, 1>>>(a)
__global__ void after_macro(float* x) { x[0] = 1; }  //: def after_macro
static __global__ void with_static(int n) {}  //: def with_static
extern "C" __global__ void with_c_linkage(int n) {}  //: def with_c_linkage
void __global__ marker_second(int n) {}  //: def marker_second
__global__ __launch_bounds__(64) void bounds_first(int n) {}  //: def bounds_first
__launch_bounds__(64) __global__ void bounds_outside(int n) {}  //: def bounds_outside
__global__ void __attribute__((amdgpu_flat_work_group_size(1, 64)))
attributed(int n) {}  //: def attributed
__global__ void MY_BOUNDS(256) macro_attribute(int n) {}  //: def macro_attribute
__global__ void
__launch_bounds__(BLOCK * 2, WAVES)
name_alone  //: def name_alone
(int n)
{
}
template <typename T, typename = std::enable_if_t<(sizeof(T) > 4)>>
__global__ void templated(T* x) {}  //: def templated
template <>
__global__ void templated<double>(double* x) {}  //: def templated
template __global__ void templated<long>(long* x);  //: decl templated
__global__ void forward(int n);  //: decl forward
__global__ void forward(int n) {}  //: def forward
namespace a::b { inline namespace v1 {
namespace {
__global__ void hidden(int n) {}  //: def hidden
}
struct Holder : Base<int, 2> {
  static __global__ void inside(int n);  //: decl inside
};
}}  // closes both
__global__ void a::b::v1::Holder::inside(int n) {}  //: def inside
#if 0
__global__ void disabled(int n) {}
#else
__global__ void enabled(int n) {}  //: def enabled
#endif
#ifdef FAST
__global__ void either(int n) {  //: def either
#else
__global__ void either(float n) {  //: def either
#endif
}
#ifdef WIDE
__global__ void one_body(double* x)  //: def one_body
#else
__global__ void one_body(float* x)
#endif
{ x[0] = 0; }
/* __global__ void commented(int n) {} */
const char* raw = R"cuda(
__global__ void in_text(int n) { in_text<<<1, 1>>>(n); }
)cuda";
typedef void (*kernel_pointer)(int);
__device__ double helper(double x) { return x; }
__global__ void uses(double* x) {  //: def uses
  extern __shared__ double tile[];
  #pragma unroll
  for (int i = 0; i < 16; i += 2) {
    for (int j = 31; j >= 0; --j) atomicAdd(&x[i], tile[j]);
  }
  while (x[0] > 0) x[0] -= 1;
}
__global__ void last_line() {}  //: def last_line
