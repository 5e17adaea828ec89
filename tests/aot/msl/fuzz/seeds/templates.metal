// Methods with spaces, a templated kernel and its instantiations, constant tables, swizzles as targets.
#include <metal_stdlib>
using namespace metal;
struct complex {
  float re, im;
  complex(float r, float i) thread : re(r), im(i) {}
  float norm() const device { return re; }
  float norm() const { return re * im; }
};
template <typename T, int N>
[[max_total_threads_per_threadgroup(64)]] kernel void g(device T* x [[buffer(0)]], uint i [[thread_position_in_grid]],
                                                        uint n [[threads_per_grid]]) {
  constexpr T table[] = {T(1), T(2)};
  vec<T, 4> v = vec<T, 4>(x[i]);
  v.xy = v.yx;
  v *= T(N);
  switch (n) {
    case 1: v.z = 0; break;
    default: v.w += table[i & 1];
  }
  x[i] = i < n ? v.x + v.w : T(0);
}
template [[host_name("g_float")]] [[kernel]] decltype(g<float, 1>) g<float, 1>;
template [[host_name("g_half")]] [[kernel]] decltype(g<half, 7>) g<half, 7>;
#define instantiate(name, type, number) \
  template [[host_name(#name)]] kernel void g<type, number>(device type*, uint, uint);
instantiate(g_int, int, 3)
instantiate(g_uchar, uchar, 9)
