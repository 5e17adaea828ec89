/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Kernels written by hand against the CPU ABI, so that the loader can be tested without a compiler for kernels. The
// build compiles this file, cuts each function's section out as raw bytes, and the tests put those into slices. So: no
// constants in memory, no calls, no writable data.
#include "smelt/schema/cpu_abi.h"

typedef const struct smelt_cpu_dispatch* Dispatch;
typedef const struct smelt_cpu_range* Range;

#define FOR_EACH(d, r)                                    \
  for (uint32_t z = (r)->low[2]; z < (r)->high[2]; ++z)   \
    for (uint32_t y = (r)->low[1]; y < (r)->high[1]; ++y) \
      for (uint32_t x = (r)->low[0]; x < (r)->high[0]; ++x)

static inline uint32_t smaller(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}

/// y = a * x + y over a one-dimensional grid; by threads.
void saxpy(Dispatch d, Range r, void* scratch) {
  (void)scratch;
  const float* x = d->buffers[0];
  float* y = d->buffers[1];
  const float a = *(const float*)d->buffers[2];
  for (uint32_t i = r->low[0]; i < r->high[0]; ++i) y[i] = a * x[i] + y[i];
}

/// Adds 1 to its place of a grid of any rank; by threads.
void count(Dispatch d, Range r, void* scratch) {
  (void)scratch;
  uint32_t* counts = d->buffers[0];
  FOR_EACH(d, r) counts[((uint64_t)z * d->grid[1] + y) * d->grid[0] + x] += 1;
}

/// The same by threadgroups, and writes what each thread sees of its group: trimmed size, nominal size, groups.
void count_groups(Dispatch d, Range r, void* scratch) {
  (void)scratch;
  uint32_t* counts = d->buffers[0];
  uint32_t* sizes = d->buffers[1];
  FOR_EACH(d, r) {
    const uint32_t at[3] = {x * d->group[0], y * d->group[1], z * d->group[2]};
    uint32_t size[3];
    for (int i = 0; i < 3; ++i) size[i] = smaller(d->group[i], d->grid[i] - at[i]);
    for (uint32_t c = 0; c < size[2]; ++c)
      for (uint32_t b = 0; b < size[1]; ++b)
        for (uint32_t a = 0; a < size[0]; ++a) {
          const uint64_t place = ((uint64_t)(at[2] + c) * d->grid[1] + at[1] + b) * d->grid[0] + at[0] + a;
          counts[place] += 1;
          sizes[place] = size[0] * size[1] * size[2];
        }
  }
}

/// Sums each group's slice of buffer 0 in static threadgroup memory, adds threadgroup argument 3's first word after
/// having written it there; by threadgroups.
void group_sum(Dispatch d, Range r, void* scratch) {
  const uint32_t* values = d->buffers[0];
  uint32_t* sums = d->buffers[1];
  uint32_t* shared = scratch;
  volatile uint32_t* dynamic = (uint32_t*)((char*)scratch + d->threadgroup_offsets[3]);
  for (uint32_t group = r->low[0]; group < r->high[0]; ++group) {
    const uint32_t begin = group * d->group[0], end = begin + smaller(d->group[0], d->grid[0] - begin);
    shared[0] = 0;
    for (uint32_t i = 0; i < d->threadgroup_bytes[3] / 4; ++i) dynamic[i] = group;
    for (uint32_t i = begin; i < end; ++i) shared[0] += values[i];
    sums[group] = shared[0] + dynamic[d->threadgroup_bytes[3] / 4 - 1];
  }
}

/// Function constants: an int at 0, a half-open choice at 4 (defined at 12), a float at 8 (defined at 13).
void constants(Dispatch d, Range r, void* scratch) {
  (void)scratch;
  const char* block = d->constants;
  int32_t* out = d->buffers[0];
  for (uint32_t i = r->low[0]; i < r->high[0]; ++i) {
    out[4 * i] = *(const int32_t*)block;
    out[4 * i + 1] = block[12] ? *(const uint8_t*)(block + 4) : -1;
    out[4 * i + 2] = *(const int32_t*)(block + 8);
    out[4 * i + 3] = block[13];
  }
}

/// Counts values into bins by relaxed atomics, and says which buffers are copies.
void histogram(Dispatch d, Range r, void* scratch) {
  (void)scratch;
  const uint32_t* values = d->buffers[0];
  uint32_t* bins = d->buffers[1];
  for (uint32_t i = r->low[0]; i < r->high[0]; ++i) __atomic_fetch_add(&bins[values[i]], 1, __ATOMIC_RELAXED);
  __atomic_store_n((uint32_t*)d->buffers[2], d->private_buffers, __ATOMIC_RELAXED);
}

/// Reads buffer 0 one place further than its thread, checked.
void checked_next(Dispatch d, Range r, void* scratch) {
  (void)scratch;
  float* out = d->buffers[1];
  for (uint32_t i = r->low[0]; i < r->high[0]; ++i) {
    const uint64_t offset = 4 * ((uint64_t)i + 1);
    if (offset + 4 > d->buffer_bytes[0]) {
      if (!__atomic_exchange_n(&d->fault->claimed, 1, __ATOMIC_RELAXED)) {
        d->fault->buffer = 0;
        d->fault->offset = offset;
        d->fault->bytes = 4;
        d->fault->position[0] = i;
      }
      continue;
    }
    out[i] = ((const float*)d->buffers[0])[i + 1];
  }
}

/// Halves a value: a denormal result must become zero.
void halve(Dispatch d, Range r, void* scratch) {
  (void)scratch;
  float* values = d->buffers[0];
  const float half = *(const float*)d->buffers[1];
  for (uint32_t i = r->low[0]; i < r->high[0]; ++i) values[i] *= half;
}

/// Inverts texture 0, one channel of 8 bits, and notes the first word of sampler 1.
void invert(Dispatch d, Range r, void* scratch) {
  (void)scratch;
  const struct smelt_cpu_texture* texture = d->textures[0];
  *(uint64_t*)d->buffers[0] = d->samplers[1]->state[0];
  FOR_EACH(d, r) texture->data[z * texture->layer_bytes + y * texture->level[0].row_bytes + x] ^= 255;
}

/// Doubles each element of a tensor of floats of two dimensions.
void doubled(Dispatch d, Range r, void* scratch) {
  (void)scratch;
  const struct smelt_cpu_tensor* tensor = d->buffers[0];
  float* data = (float*)tensor->data;
  FOR_EACH(d, r) data[(int32_t)y * tensor->stride[1] + (int32_t)x * tensor->stride[0]] *= 2;
}

/// Logs its position and half of it, the latter as a float and as the double that C makes of it.
void logs(Dispatch d, Range r, void* scratch) {
  (void)scratch;
  const char* format = d->buffers[0];
  for (uint32_t i = r->low[0]; i < r->high[0]; ++i) {
    union {
      struct {
        uint32_t position;
        float half;
        double promoted;
      } values;
      char bytes[16];
    } arguments;
    arguments.values.position = i;
    arguments.values.half = (float)i * *(const float*)d->buffers[1];
    arguments.values.promoted = arguments.values.half;
    d->services->log(d->services->context, format, format, 0, format, arguments.bytes, sizeof(arguments.bytes));
  }
}
