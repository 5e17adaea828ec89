/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Tensors and their products (docs/formats/air.md 3.14). Each thread computes the elements of the destination that it
// holds, from the operands in memory. Elements outside of a tensor are read as zero and not written. These functions
// stay calls (runtime.cpp).
//
// Which elements a thread holds: the destination is cut into blocks of 16 x 16, row by row, and each SIMD-group has as
// many neighbours of them as the next. In a block, a lane has 8 elements: 4 neighbours in a row, and those 8 rows
// below. For 16 x 32 elements of one SIMD-group that is what was measured on M5.
#include "rt.h"

#define TENSOR_RANK 8
/// cpu/lower/tensors.cpp knows its size.
typedef struct {
  unsigned char* data;
  i32 rank;
  i32 type;  ///< as in a descriptor: 0 f32, 1 f16, 2 bf16, 3 i8, 4 u8, 7 i32
  i32 extent[TENSOR_RANK];
  i32 stride[TENSOR_RANK];  ///< in elements
} Tensor;

/// {m, n, k, transpose left, transpose right, relaxed precision, mode}.
typedef struct {
  i32 m, n, k;
  unsigned char transpose_left, transpose_right, relaxed_precision;
  i32 mode;
} Product;

enum { kF32 = 0, kF16 = 1, kBf16 = 2, kI8 = 3, kU8 = 4, kI32 = 7 };

RT_INLINE i64 bytes_of(i32 type) {
  return type == kF32 || type == kI32 ? 4 : type == kF16 || type == kBf16 ? 2 : 1;
}

void smelt_rt_tensor_init(Tensor* t, i32 rank, unsigned char* data, const i32* extents, const i32* strides, i32 type) {
  t->data = data;
  t->rank = rank;
  t->type = type;
  for (i32 i = 0; i < rank && i < TENSOR_RANK; ++i) {
    t->extent[i] = extents[i];
    t->stride[i] = strides[i];
  }
}

i32 smelt_rt_tensor_extent(const Tensor* t, i32 dimension) {
  return dimension >= 0 && dimension < t->rank ? t->extent[dimension] : 0;
}

/// What would be outside of `of` is cut off.
void smelt_rt_tensor_slice(Tensor* t, const Tensor* of, i32 rank, const i32* origin, const i32* extents) {
  i64 at = 0;
  t->rank = rank;
  t->type = of->type;
  for (i32 i = 0; i < rank && i < TENSOR_RANK; ++i) {
    const i32 rest = of->extent[i] - origin[i];
    t->extent[i] = extents[i] < rest ? extents[i] : rest;
    t->stride[i] = of->stride[i];
    at += (i64)origin[i] * of->stride[i];
  }
  t->data = of->data + at * bytes_of(of->type);
}

// ---- Which elements a thread holds

typedef struct {
  i32 row, column;
  i32 is_valid;
} Held;

RT_INLINE i32 blocks_in(i32 size) {
  return (size + 15) / 16;
}
RT_INLINE i32 blocks_each(i32 m, i32 n, i32 threads) {
  const i32 groups = threads / 32;
  return (blocks_in(m) * blocks_in(n) + groups - 1) / groups;
}
RT_INLINE Held held_at(i32 m, i32 n, i32 threads, i32 thread, i32 index) {
  if (threads < 32) return (Held){index / n, index % n, index < m * n};
  const i32 lane = thread % 32, group = thread % threads / 32, q = lane >> 2;
  const i32 each = blocks_each(m, n, threads), block = group * each + (index >> 3), wide = blocks_in(n);
  const i32 row = block / wide * 16 + ((q & 4) | ((lane >> 1) & 3)) + ((index >> 2) & 1) * 8;
  const i32 column = block % wide * 16 + ((q & 2) | (lane & 1)) * 4 + (index & 3);
  return (Held){row, column, index < each * 8 && row < m && column < n};
}
i32 smelt_rt_tensor_capacity(i32 m, i32 n, i32 threads) {
  return threads < 32 ? m * n : blocks_each(m, n, threads) * 8;
}
i32 smelt_rt_tensor_is_valid(i32 m, i32 n, i32 threads, i32 thread, i32 index) {
  return held_at(m, n, threads, thread, index).is_valid;
}
void smelt_rt_tensor_coordinates(i32 m, i32 n, i32 threads, i32 thread, i32 index, i32* at) {
  const Held place = held_at(m, n, threads, thread, index);
  at[0] = place.column;
  at[1] = place.row;
}
void smelt_rt_tensor_clear(unsigned char* memory, i32 bytes) {
  for (i32 i = 0; i < bytes; ++i) ((volatile unsigned char*)memory)[i] = 0;
}

// ---- Elements

RT_INLINE float element_as_float(const unsigned char* at, i32 type) {
  switch (type) {
    case kF32:
      return from_bits(load32(at));
    case kF16:
      return half_to_float(load16(at));
    case kBf16:
      return from_bits(load16(at) << 16);
    default:
      return 0.0f;
  }
}
RT_INLINE i32 element_as_integer(const unsigned char* at, i32 type) {
  switch (type) {
    case kI8:
      return (signed char)*at;
    case kU8:
      return *at;
    default:
      return (i32)load32(at);
  }
}
RT_INLINE void put_float(unsigned char* at, i32 type, float x) {
  if (type == kF32) {
    store32(at, bits(x));
  } else if (type == kF16) {
    store16(at, float_to_half(x));
  } else {
    const u32 u = bits(x);
    store16(at, x != x ? 0x7fc0 : (u + 0x7fff + ((u >> 16) & 1)) >> 16);
  }
}

/// A row of the left or a column of the right operand.
typedef struct {
  const unsigned char* at;  ///< null: outside
  i64 step;                 ///< bytes
} Line;
RT_INLINE Line line_of(const Tensor* t, i32 index, i32 along) {
  const i32 across = 1 - along;
  if (index < 0 || index >= t->extent[across]) return (Line){0, 0};
  const i64 bytes = bytes_of(t->type);
  return (Line){t->data + (i64)index * t->stride[across] * bytes, t->stride[along] * bytes};
}

#define CHUNK 64
RT_INLINE void load_floats(float* to, Line line, i32 type, i32 from, i32 count) {
  for (i32 i = 0; i < count; ++i) to[i] = 0.0f;
  if (!line.at) return;
  const unsigned char* at = line.at + from * line.step;
  if (type == kF32) {
    for (i32 i = 0; i < count; ++i) to[i] = element_as_float(at + i * line.step, kF32);
  } else if (type == kF16) {
    for (i32 i = 0; i < count; ++i) to[i] = element_as_float(at + i * line.step, kF16);
  } else {
    for (i32 i = 0; i < count; ++i) to[i] = element_as_float(at + i * line.step, kBf16);
  }
}

RT_INLINE i32 is_float_type(i32 type) {
  return type <= kBf16;
}

/// Rows and columns of one thread's part of a block, or of one element. `sums` are rows * columns.
RT_INLINE void multiply_floats(float* sums, const Line* rows, i32 row_count, i32 left_type, const Line* columns,
                               i32 column_count, i32 right_type, i32 depth) {
  float left[2][CHUNK], right[4][CHUNK];
  for (i32 from = 0; from < depth; from += CHUNK) {
    const i32 count = depth - from < CHUNK ? depth - from : CHUNK;
    for (i32 r = 0; r < row_count; ++r) load_floats(left[r], rows[r], left_type, from, count);
    for (i32 c = 0; c < column_count; ++c) load_floats(right[c], columns[c], right_type, from, count);
    for (i32 r = 0; r < row_count; ++r)
      for (i32 c = 0; c < column_count; ++c) {
        float sum = sums[r * 4 + c];
        for (i32 i = 0; i < count; ++i) sum = FMA(left[r][i], right[c][i], sum);
        sums[r * 4 + c] = sum;
      }
  }
}
RT_INLINE u32 multiply_integers(u32 sum, Line row, i32 left_type, Line column, i32 right_type, i32 depth) {
  if (!row.at || !column.at) return sum;
  for (i32 i = 0; i < depth; ++i)
    sum += (u32)element_as_integer(row.at + i * row.step, left_type) *
           (u32)element_as_integer(column.at + i * column.step, right_type);
  return sum;
}

/// Where element `index` of a thread lies: in a tensor, or one after the other in its own memory.
RT_INLINE unsigned char* element_at(const Tensor* destination, unsigned char* own, i32 type, Held place, i32 index) {
  if (own) return own + index * bytes_of(type);
  if (place.row >= destination->extent[1] || place.column >= destination->extent[0]) return 0;
  return destination->data +
         ((i64)place.row * destination->stride[1] + (i64)place.column * destination->stride[0]) * bytes_of(type);
}

RT_INLINE void multiply(const Product* p, const Tensor* left, const Tensor* right, const Tensor* destination,
                        unsigned char* own, i32 type, i32 thread, i32 threads) {
  const i32 left_along = p->transpose_left ? 1 : 0, right_along = p->transpose_right ? 0 : 1;
  i32 depth = left->extent[left_along];
  if (right->extent[right_along] < depth) depth = right->extent[right_along];
  if (p->k >= 0 && p->k < depth) depth = p->k;
  const i32 capacity = smelt_rt_tensor_capacity(p->m, p->n, threads);
  const i32 row_count = threads < 32 ? 1 : 2, column_count = threads < 32 ? 1 : 4;
  for (i32 first = 0; first < capacity; first += row_count * column_count) {
    Line rows[2], columns[4];
    unsigned char* at[8];
    float sums[8];
    for (i32 i = 0; i < row_count * column_count; ++i) {
      const i32 r = i / column_count, c = i % column_count;
      const Held place = held_at(p->m, p->n, threads, thread, first + i);
      rows[r] = line_of(left, place.row, left_along);
      columns[c] = line_of(right, place.column, right_along);
      at[r * 4 + c] = place.is_valid ? element_at(destination, own, type, place, first + i) : 0;
      sums[r * 4 + c] = 0.0f;
    }
    if (is_float_type(type)) {
      for (i32 i = 0; i < 8; ++i)
        if (i / 4 < row_count && i % 4 < column_count && p->mode == 1 && at[i]) sums[i] = element_as_float(at[i], type);
      multiply_floats(sums, rows, row_count, left->type, columns, column_count, right->type, depth);
    }
    for (i32 i = 0; i < 8; ++i) {
      if (i / 4 >= row_count || i % 4 >= column_count || !at[i]) continue;
      if (is_float_type(type)) {
        put_float(at[i], type, sums[i]);
      } else {
        const u32 before = p->mode == 1 ? load32(at[i]) : 0;
        store32(at[i], multiply_integers(before, rows[i / 4], left->type, columns[i % 4], right->type, depth));
      }
    }
  }
}

void smelt_rt_tensor_multiply(const Product* p, const Tensor* left, const Tensor* right, const Tensor* destination,
                              i32 thread, i32 threads) {
  multiply(p, left, right, destination, 0, destination->type, thread, threads);
}
void smelt_rt_tensor_multiply_own(const Product* p, const Tensor* left, const Tensor* right, unsigned char* own,
                                  i32 type, i32 thread, i32 threads) {
  multiply(p, left, right, 0, own, type, thread, threads);
}
void smelt_rt_tensor_store(i32 m, i32 n, const unsigned char* own, const Tensor* to, i32 thread, i32 threads) {
  const i32 capacity = smelt_rt_tensor_capacity(m, n, threads);
  for (i32 i = 0; i < capacity; ++i) {
    const Held place = held_at(m, n, threads, thread, i);
    unsigned char* const at = place.is_valid ? element_at(to, 0, to->type, place, i) : 0;
    const unsigned char* const from = own + i * bytes_of(to->type);
    if (at && bytes_of(to->type) == 4) store32(at, load32(from));
    if (at && bytes_of(to->type) == 2) store16(at, load16(from));
    if (at && bytes_of(to->type) == 1) *at = *from;
  }
}
