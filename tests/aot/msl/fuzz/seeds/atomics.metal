// Atomics, votes, shuffles, reductions, fences, and a loop over a compare-and-swap.
#include <metal_stdlib>
#include <metal_atomic>
using namespace metal;
enum class State : uint { idle = 0, busy = 1 };
struct Counters {
  atomic_uint hits;
  atomic_int sum;
  atomic<float> total;
  uint plain[4];
};
static void add(device atomic<float>* to, float value) {
  float old = atomic_load_explicit(to, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(to, &old, old + value, memory_order_relaxed, memory_order_relaxed)) {
  }
}
kernel void tally(device Counters& counters [[buffer(0)]], constant uint* in [[buffer(1)]],
                  device uint2* out [[buffer(2)]], uint at [[thread_position_in_grid]],
                  uint lane [[thread_index_in_simdgroup]], uint group [[simdgroup_index_in_threadgroup]],
                  uint width [[threads_per_simdgroup]]) {
  threadgroup atomic_uint seen[2];
  if (lane < 2) atomic_store_explicit(&seen[lane], 0u, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  const uint x = in[at];
  const simd_vote vote = simd_ballot(x > 7u);
  if (simd_is_first()) atomic_fetch_add_explicit(&counters.hits, popcount(uint(simd_vote::vote_t(vote))), memory_order_relaxed);
  atomic_fetch_max_explicit(&counters.sum, int(x), memory_order_relaxed);
  atomic_fetch_or_explicit(&seen[x & 1], 1u << (lane & 31), memory_order_relaxed);
  add(&counters.total, float(simd_prefix_exclusive_sum(x)));
  simdgroup_barrier(mem_flags::mem_none);
  uint sum = x;
  for (uint step = width / 2; step > 0; step /= 2) sum += simd_shuffle_xor(sum, ushort(step));
  const State state = static_cast<State>(sum & 1);
  out[at] = uint2(state == State::busy ? quad_broadcast(sum, ushort(0)) : simd_shuffle_down(sum, 1), as_type<uint>(1.0f) + group);
}
