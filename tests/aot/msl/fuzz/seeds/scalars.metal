// Every width of integer, half and bfloat, type traits, limits, packs, unions, pointers in every space, a recursion.
#include <metal_stdlib>
using namespace metal;
namespace detail {
template <typename T, typename = void>
struct accumulator { using type = T; };
template <typename T>
struct accumulator<T, enable_if_t<is_same_v<T, half> || is_same_v<T, bfloat>>> { using type = float; };
template <typename T>
using accumulator_t = typename accumulator<T>::type;
constant constexpr float kTable[4] = {0.5f, -0.0f, INFINITY, 0x1p-20f};
}  // namespace detail
union Bits {
  float value;
  uint whole;
  uchar4 bytes;
};
int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
template <typename T>
kernel void convert(device const T* in [[buffer(0)]], device detail::accumulator_t<T>* out [[buffer(1)]],
                    constant long& offset [[buffer(2)]], device uchar* bytes [[buffer(3)]],
                    uint2 at [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) {
  using A = detail::accumulator_t<T>;
  const ulong index = ulong(at.y) * size.x + at.x;
  A value = static_cast<A>(in[index + offset]);
  if constexpr (is_floating_point_v<T>) {
    value = isnan(value) || isinf(value) ? numeric_limits<A>::max() : clamp(value, A(-1), A(1));
  } else {
    value = mulhi(value, A(3)) + rotate(value, A(5)) + popcount(value) + extract_bits(value, 1u, 3u);
  }
  Bits bits;
  bits.value = float(value) * detail::kTable[index & 3];
  bytes[index] = bits.bytes.x ^ uchar(pack_float_to_unorm4x8(float4(bits.value)) >> 24);
  out[index] = value + A(factorial(3));
}
template [[host_name("convert_float")]] kernel void convert<float>(device const float*, device float*, constant long&, device uchar*, uint2, uint2);
template [[host_name("convert_half")]] [[kernel]] decltype(convert<half>) convert<half>;
template [[host_name("convert_bfloat")]] [[kernel]] decltype(convert<bfloat>) convert<bfloat>;
template [[host_name("convert_int")]] [[kernel]] decltype(convert<int>) convert<int>;
template [[host_name("convert_ulong")]] [[kernel]] decltype(convert<ulong>) convert<ulong>;
