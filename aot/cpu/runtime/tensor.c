/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Tensors and their products (docs/formats/air.md 3.14). Elements outside of a tensor are read as zero and not written.
// These functions stay calls (runtime.cpp). What a SIMD-group does together is one call for all its lanes, which is
// given each lane's pointers: a product packs parts of both operands as `float` (or i32) and adds them up in registers.
//
// Which elements a thread holds is one of three layouts; lower/tensors.cpp and the loader choose. In each, an
// operand lies in blocks as its tensor does (dimension 0 from left to right), row by row:
//   blocks     of 16 x 16. A lane has 8 elements of one: 4 neighbours in a row, and those 8 rows below. For 16 x 32 x
//   16
//              and one SIMD-group that is what was measured on M5.
//   quarters   of 8 x 8, as of simdgroup_matrix: 2 neighbours in a row each. What was measured on M5 for products of
//              float in full precision.
//   scrambled  blocks of 16 x 16 in which neighbours are far from each other: no device has it.
#include "rt.h"

#define TENSOR_RANK 8
/// smelt_cpu_tensor of schema/cpu_abi.h; lower/tensors.cpp knows its size.
typedef struct {
  unsigned char* data;
  i32 rank;
  i32 type;  ///< as in a descriptor: 0 f32, 1 f16, 2 bf16, 3 i8, 4 u8, 7 i32
  i32 extent[TENSOR_RANK];
  i32 stride[TENSOR_RANK];  ///< in elements
  // Of checked code: what `data` lies in, and where. Else an object without end.
  i64 offset, bytes;
  i64 stray;  ///< where a product would have left it
  i32 object;
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
RT_INLINE i32 is_float_type(i32 type) {
  return type <= kBf16;
}
RT_INLINE i32 least(i32 a, i32 b) {
  return a < b ? a : b;
}

void smelt_rt_tensor_init(Tensor* t, i32 rank, unsigned char* data, const i32* extents, const i32* strides, i32 type,
                          i64 offset, i64 bytes, i32 object) {
  t->offset = offset;
  t->bytes = bytes;
  t->stray = 0;
  t->object = object;
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
    t->extent[i] = least(extents[i], rest);
    t->stride[i] = of->stride[i];
    at += (i64)origin[i] * of->stride[i];
  }
  at *= bytes_of(of->type);
  t->data = of->data + at;
  t->offset = of->offset + at;
  t->bytes = of->bytes;
  t->stray = 0;
  t->object = of->object;
}

/// What the API binds, from an origin on where there is one.
void smelt_rt_tensor_bound(Tensor* t, const Tensor* of, const i32* origin, i32 count) {
  i64 at = 0;
  *t = *of;
  for (i32 i = 0; i < t->rank && i < TENSOR_RANK && i < count; ++i) {
    t->extent[i] -= origin[i];
    at += (i64)origin[i] * t->stride[i];
  }
  at *= bytes_of(t->type);
  t->data += at;
  t->offset += at;
}

/// Whether an operation on so many rows and columns touches what is not in the tensor's object; the tensor has nothing
/// then, so that nobody does. What is outside of its extents is not touched, but in the dimension `deep` (1 rows, 2
/// columns, 0 none): a product whose depth is known when it is compiled asks for all of it (llama.cpp#27064).
i32 smelt_rt_tensor_leaves(Tensor* t, i32 rows, i32 columns, i32 deep, i32 is_write) {
  (void)is_write;
  if (deep != 1) rows = least(rows, t->extent[1]);
  if (deep != 2) columns = least(columns, t->extent[0]);
  if (rows <= 0 || columns <= 0 || t->extent[0] <= 0 || t->extent[1] <= 0) return 0;
  const i64 bytes = bytes_of(t->type);
  for (i32 corner = 3; corner >= 0; --corner) {
    const i64 row = (corner & 1) != 0 ? rows - 1 : 0, column = (corner & 2) != 0 ? columns - 1 : 0;
    const i64 at = t->offset + (row * t->stride[1] + column * t->stride[0]) * bytes;
    if (at >= 0 && at <= t->bytes - bytes) continue;
    t->stray = at;
    t->extent[0] = t->extent[1] = 0;
    return 1;
  }
  return 0;
}

// ---- Which elements a thread holds

enum { kBlocks = 0, kScrambled = 1, kQuarters = 2 };
enum { kLeft = 0, kRight = 1, kDestination = 2 };

/// An operand of a product as its tensor has it: dimension 0 along a row.
typedef struct {
  i32 operand, layout, rows, columns, threads;
} Shared;

typedef struct {
  i32 row, column;
  i32 is_valid;
} Held;

RT_INLINE i32 blocks_in(i32 size, i32 edge) {
  return (size + edge - 1) / edge;
}
RT_INLINE i32 blocks_of(const Shared* s, i32 edge) {
  return blocks_in(s->rows, edge) * blocks_in(s->columns, edge);
}
/// How many blocks each SIMD-group has.
RT_INLINE i32 blocks_each(const Shared* s, i32 edge) {
  const i32 groups = s->threads / 32;
  return (blocks_of(s, edge) + groups - 1) / groups;
}
/// The same for all layouts: the last ones of quarters may be none.
RT_INLINE i32 capacity_of(const Shared* s) {
  return s->threads < 32 ? s->rows * s->columns : blocks_each(s, 16) * 8;
}
/// The block of 16 x 16 that a SIMD-group has at `place`; the last ones may have none there.
RT_INLINE i32 block_at(const Shared* s, i32 group, i32 place) {
  const i32 groups = s->threads / 32;
  return s->layout == kScrambled ? place * groups + (groups - 1 - group) : group * blocks_each(s, 16) + place;
}
/// Where element 0 to 7 of a lane is in its block of 16 x 16: row * 16 + column.
RT_INLINE i32 in_block(i32 operand, i32 layout, i32 lane, i32 element) {
  if (layout == kScrambled) {
    const i32 mixed = ((element * 32 + lane) * 77 + 13 * operand + 29) & 255;
    return (mixed & 15) * 16 + (mixed >> 4);
  }
  const i32 q = lane >> 2;
  const i32 row = ((q & 4) | ((lane >> 1) & 3)) + (element >> 2) * 8,
            column = ((q & 2) | (lane & 1)) * 4 + (element & 3);
  return row * 16 + column;
}
/// Where element 0 or 1 of a lane is in its block of 8 x 8: row * 16 + column.
RT_INLINE i32 in_quarter(i32 lane, i32 element) {
  const i32 quad = lane / 4;
  return ((quad & 4) + (lane / 2) % 4) * 16 + (quad & 2) * 2 + (lane % 2) * 2 + element;
}
RT_INLINE Held held_at(const Shared* s, i32 thread, i32 index) {
  Held at;
  if (s->threads < 32) {
    const i32 count = s->rows * s->columns, element = s->layout == kScrambled ? count - 1 - index : index;
    return (Held){element / s->columns, element % s->columns, index >= 0 && index < count};
  }
  const i32 lane = thread % 32, group = thread % s->threads / 32;
  if (s->layout == kQuarters) {
    const i32 wide = blocks_in(s->columns, 8), block = group * blocks_each(s, 8) + (index >> 1);
    const i32 inside = in_quarter(lane, index & 1);
    at.row = block / wide * 8 + inside / 16;
    at.column = block % wide * 8 + inside % 16;
  } else {
    const i32 wide = blocks_in(s->columns, 16), block = block_at(s, group, index >> 3);
    const i32 inside = in_block(s->operand, s->layout, lane, index & 7);
    at.row = block / wide * 16 + inside / 16;
    at.column = block % wide * 16 + inside % 16;
  }
  const i32 most = s->layout == kQuarters ? blocks_each(s, 8) * 2 : capacity_of(s);
  at.is_valid = index >= 0 && index < most && at.row < s->rows && at.column < s->columns;
  return at;
}
/// `form`: bit 0, float in full precision; the loader's layout is 0 for M5's.
RT_INLINE i32 layout_of(i32 form, i32 layout) {
  return layout != 0 ? kScrambled : (form & 1) != 0 ? kQuarters : kBlocks;
}
RT_INLINE Shared shared(i32 operand, i32 rows, i32 columns, i32 threads, i32 form, i32 layout) {
  return (Shared){operand, layout_of(form, layout), rows, columns, threads};
}

i32 smelt_rt_tensor_is_valid(i32 operand, i32 rows, i32 columns, i32 threads, i32 form, i32 layout, i32 thread,
                             i32 index) {
  const Shared s = shared(operand, rows, columns, threads, form, layout);
  return held_at(&s, thread, index).is_valid;
}
void smelt_rt_tensor_coordinates(i32 operand, i32 rows, i32 columns, i32 threads, i32 form, i32 layout, i32 thread,
                                 i32 index, i32* at) {
  const Shared s = shared(operand, rows, columns, threads, form, layout);
  const Held place = held_at(&s, thread, index);
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
/// Four bytes: a float, or an integer.
RT_INLINE u32 element_as_word(const unsigned char* at, i32 type) {
  return is_float_type(type) ? bits(element_as_float(at, type)) : (u32)element_as_integer(at, type);
}
RT_INLINE void put_word(unsigned char* at, i32 type, u32 word) {
  if (bytes_of(type) == 4) {
    store32(at, word);
  } else if (type == kF16) {
    store16(at, float_to_half(from_bits(word)));
  } else if (type == kBf16) {
    const float x = from_bits(word);
    store16(at, x != x ? 0x7fc0 : (word + 0x7fff + ((word >> 16) & 1)) >> 16);
  } else {
    *at = (unsigned char)word;
  }
}
RT_INLINE void copy_element(unsigned char* to, const unsigned char* from, i64 bytes) {
  if (bytes == 4) store32(to, load32(from));
  if (bytes == 2) store16(to, load16(from));
  if (bytes == 1) *to = *from;
}
/// Null outside of the tensor.
RT_INLINE unsigned char* element_of(const Tensor* t, i32 row, i32 column) {
  if (row < 0 || column < 0 || row >= t->extent[1] || column >= t->extent[0]) return 0;
  return t->data + ((i64)row * t->stride[1] + (i64)column * t->stride[0]) * bytes_of(t->type);
}

// ---- Packing: a part of an operand as words, [depth][across]

// A part of a destination, and how deep a part of the operands is.
#define TILE_ROWS 32
#define TILE_COLUMNS 64
#define TILE_DEPTH 64

typedef u32 Words8 __attribute__((vector_size(32)));
typedef unsigned short Shorts8 __attribute__((vector_size(16)));
typedef unsigned char Bytes8 __attribute__((vector_size(8)));
typedef _Float16 Halves8 __attribute__((vector_size(16)));
typedef float Floats8 __attribute__((vector_size(32)));
typedef float Floats16 __attribute__((vector_size(64), aligned(4)));
typedef u32 Words16 __attribute__((vector_size(64), aligned(4)));

/// Eight neighbours in memory.
RT_INLINE Words8 eight_words(const unsigned char* at, i32 type) {
  Words8 words;
  if (type == kF16) {
    Halves8 halves;
    __builtin_memcpy(&halves, at, 16);
    return (Words8) __builtin_convertvector(halves, Floats8);
  }
  if (type == kBf16) {
    Shorts8 shorts;
    __builtin_memcpy(&shorts, at, 16);
    return __builtin_convertvector(shorts, Words8) << 16;
  }
  if (type == kI8 || type == kU8) {
    Bytes8 bytes;
    __builtin_memcpy(&bytes, at, 8);
    words = __builtin_convertvector(bytes, Words8);
    return type == kU8 ? words : (words ^ 0x80) - 0x80;
  }
  __builtin_memcpy(&words, at, 32);
  return words;
}

/// -fno-unroll-loops would leave arrays of registers in memory.
#define UNROLL _Pragma("clang loop unroll(full)")
#define UNPACK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
/// Rows of eight become columns, `width` words apart.
RT_INLINE void turn_eight(u32* to, i32 width, Words8* r) {
  Words8 s[8], t[8];
  UNROLL for (i32 i = 0; i < 4; ++i) {
    s[2 * i] = UNPACK(r[2 * i], r[2 * i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    s[2 * i + 1] = UNPACK(r[2 * i], r[2 * i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  UNROLL for (i32 i = 0; i < 2; ++i) UNROLL for (i32 j = 0; j < 2; ++j) {
    t[4 * i + 2 * j] = UNPACK(s[4 * i + j], s[4 * i + 2 + j], 0, 1, 8, 9, 4, 5, 12, 13);
    t[4 * i + 2 * j + 1] = UNPACK(s[4 * i + j], s[4 * i + 2 + j], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  UNROLL for (i32 i = 0; i < 4; ++i) {
    const Words8 low = UNPACK(t[i], t[4 + i], 0, 1, 2, 3, 8, 9, 10, 11);
    const Words8 high = UNPACK(t[i], t[4 + i], 4, 5, 6, 7, 12, 13, 14, 15);
    __builtin_memcpy(to + i * width, &low, 32);
    __builtin_memcpy(to + (i + 4) * width, &high, 32);
  }
}

/// Elements (depth, across) from `from` on, of which `depth` and `across` are inside; the rest of a block that is
/// rounded up to eights and to `width` becomes zero. Steps are bytes.
RT_INLINE void pack_lines(u32* to, i32 width, const unsigned char* from, i32 type, i64 step_depth, i64 step_across,
                          i32 depth, i32 across) {
  const i64 bytes = bytes_of(type);
  if (step_across == bytes) {
    for (i32 d = 0; d < depth; ++d) {
      const unsigned char* const line = from + d * step_depth;
      i32 a = 0;
      for (; a + 8 <= across; a += 8) {
        const Words8 words = eight_words(line + a * bytes, type);
        __builtin_memcpy(to + d * width + a, &words, 32);
      }
      for (; a < across; ++a) to[d * width + a] = element_as_word(line + a * bytes, type);
      for (; a < width; ++a) to[d * width + a] = 0;
    }
    return;
  }
  i32 a = 0;
  if (step_depth == bytes) {
    for (; a + 8 <= across; a += 8) {
      i32 d = 0;
      for (; d + 8 <= depth; d += 8) {
        Words8 rows[8];
        UNROLL for (i32 i = 0; i < 8; ++i) rows[i] = eight_words(from + (a + i) * step_across + d * bytes, type);
        turn_eight(to + d * width + a, width, rows);
      }
      for (; d < depth; ++d)
        for (i32 i = 0; i < 8; ++i)
          to[d * width + a + i] = element_as_word(from + (a + i) * step_across + d * bytes, type);
    }
  }
  for (; a < width; ++a)
    for (i32 d = 0; d < depth; ++d)
      to[d * width + a] = a < across ? element_as_word(from + d * step_depth + a * step_across, type) : 0;
}
/// `type` as a constant, so that each kind of elements has a loop of its own.
static void __attribute__((noinline)) pack(u32* to, i32 width, const unsigned char* from, i32 type, i64 step_depth,
                                           i64 step_across, i32 depth, i32 across) {
#define PACK_OF(t)                                                          \
  case t:                                                                   \
    pack_lines(to, width, from, t, step_depth, step_across, depth, across); \
    return
  switch (type) {
    PACK_OF(kF32);
    PACK_OF(kF16);
    PACK_OF(kBf16);
    PACK_OF(kI8);
    PACK_OF(kU8);
    default:
      pack_lines(to, width, from, kI32, step_depth, step_across, depth, across);
  }
#undef PACK_OF
}

/// What a SIMD-group knows of an operand.
typedef struct {
  Shared shape;
  const Tensor* tensor;       ///< null: threads hold it,
  unsigned char* const* own;  ///< these lanes of `mask` do
  u32 mask;
  i32 thread;  ///< any of the group
  i32 type;
} Operand;

/// A part of an operand: rows and columns from there on.
typedef struct {
  i32 row, column, rows, columns;
} Part;

/// BODY for each element of the part that lanes of the group hold: of `lane`, its `index`th; at row r and column c of
/// the part. Blocks that lie outside are passed over.
#define EACH_HELD(o, part, BODY)                                                                                     \
  do {                                                                                                               \
    const Shared* const s_ = &(o)->shape;                                                                            \
    const i32 quarters_ = s_->layout == kQuarters, edge_ = quarters_ ? 8 : 16, each_ = quarters_ ? 2 : 8;            \
    const i32 wide_ = blocks_in(s_->columns, edge_), places_ = blocks_each(s_, edge_);                               \
    const i32 group_ = (o)->thread % s_->threads / 32, all_ = blocks_of(s_, edge_);                                  \
    for (i32 place_ = 0; place_ < places_; ++place_) {                                                               \
      const i32 block_ = quarters_ ? group_ * places_ + place_ : block_at(s_, group_, place_);                       \
      const i32 row_ = block_ / wide_ * edge_ - (part).row, column_ = block_ % wide_ * edge_ - (part).column;        \
      if (block_ >= all_ || row_ <= -edge_ || row_ >= (part).rows || column_ <= -edge_ || column_ >= (part).columns) \
        continue;                                                                                                    \
      for (i32 lane = 0; lane < 32; ++lane) {                                                                        \
        if (((o)->mask >> lane & 1) == 0) continue;                                                                  \
        for (i32 e_ = 0; e_ < each_; ++e_) {                                                                         \
          const i32 inside_ = quarters_ ? in_quarter(lane, e_) : in_block(s_->operand, s_->layout, lane, e_);        \
          const i32 r = row_ + inside_ / 16, c = column_ + inside_ % 16, index = place_ * each_ + e_;                \
          if (r >= 0 && c >= 0 && r < (part).rows && c < (part).columns) BODY;                                       \
        }                                                                                                            \
      }                                                                                                              \
    }                                                                                                                \
  } while (0)

/// Words of whole blocks that lie in the part: two or four neighbours at once. 0: not a case of that. `to` or `from` is
/// the part, of `width` words a row.
RT_INLINE i32 move_blocks(const Operand* o, Part part, u32* to, const u32* from, i32 width) {
  const Shared* const s = &o->shape;
  if (s->layout == kScrambled || o->mask != ~0u || bytes_of(o->type) != 4 || ((part.row | part.column) & 15) != 0 ||
      ((part.rows | part.columns) & 15) != 0)
    return 0;
  const i32 quarters = s->layout == kQuarters, edge = quarters ? 8 : 16;
  const i32 wide = blocks_in(s->columns, edge), places = blocks_each(s, edge), all = blocks_of(s, edge);
  const i32 first = o->thread % s->threads / 32 * places;
  for (i32 place = 0; place < places && first + place < all; ++place) {
    const i32 row = (first + place) / wide * edge - part.row, column = (first + place) % wide * edge - part.column;
    if (row < 0 || row >= part.rows || column < 0 || column >= part.columns) continue;
    const i64 corner = (i64)row * width + column;
    for (i32 lane = 0; lane < 32; ++lane) {
      const i32 inside = quarters ? in_quarter(lane, 0) : in_block(kDestination, kBlocks, lane, 0);
      const i64 at = corner + inside / 16 * width + inside % 16;
      unsigned char* const own = o->own[lane] + place * (quarters ? 8 : 32);
      if (quarters && to) {
        __builtin_memcpy(to + at, own, 8);
      } else if (quarters) {
        __builtin_memcpy(own, from + at, 8);
      } else if (to) {
        __builtin_memcpy(to + at, own, 16);
        __builtin_memcpy(to + at + 8 * width, own + 16, 16);
      } else {
        __builtin_memcpy(own, from + at, 16);
        __builtin_memcpy(own + 16, from + at + 8 * width, 16);
      }
    }
  }
  return 1;
}

/// As words at to[r * row_step + c * column_step]. The part is inside of the operand.
RT_INLINE void take_of_type(const Operand* o, Part part, u32* to, i32 row_step, i32 column_step, i32 type) {
  const i64 bytes = bytes_of(type);
  EACH_HELD(o, part, to[r * row_step + c * column_step] = element_as_word(o->own[lane] + index * bytes, type));
}
RT_INLINE void give_of_type(const Operand* o, Part part, const u32* from, i32 width, i32 type) {
  const i64 bytes = bytes_of(type);
  EACH_HELD(o, part, put_word(o->own[lane] + index * bytes, type, from[r * width + c]));
}
static void __attribute__((noinline)) take_held(const Operand* o, Part part, u32* to, i32 row_step, i32 column_step) {
  if (column_step == 1 && move_blocks(o, part, to, 0, row_step)) return;
  if (bytes_of(o->type) == 4)
    take_of_type(o, part, to, row_step, column_step, kI32);
  else if (o->type == kF16)
    take_of_type(o, part, to, row_step, column_step, kF16);
  else
    take_of_type(o, part, to, row_step, column_step, o->type);
}
static void __attribute__((noinline)) give_held(const Operand* o, Part part, const u32* from, i32 width) {
  if (move_blocks(o, part, 0, from, width)) return;
  if (bytes_of(o->type) == 4)
    give_of_type(o, part, from, width, kI32);
  else
    give_of_type(o, part, from, width, o->type);
}

/// `is_turned`: depth runs along the operand's columns (dimension 0).
static void __attribute__((noinline)) pack_operand(const Operand* o, u32* to, i32 width, i32 is_turned, i32 from_depth,
                                                   i32 from_across, i32 depth, i32 across) {
  if (!o->tensor) {
    for (i32 i = 0; i < depth * width; ++i) to[i] = 0;
    if (is_turned)
      take_held(o, (Part){from_across, from_depth, least(across, o->shape.rows - from_across), depth}, to, 1, width);
    else
      take_held(o, (Part){from_depth, from_across, depth, least(across, o->shape.columns - from_across)}, to, width, 1);
    return;
  }
  const Tensor* const t = o->tensor;
  const i64 bytes = bytes_of(o->type), along[2] = {t->stride[0] * bytes, t->stride[1] * bytes};
  const i32 deep = is_turned ? 0 : 1;
  const i32 rest = t->extent[1 - deep] - from_across;
  across = rest < 0 ? 0 : least(across, rest);
  pack(to, width, t->data + from_depth * along[deep] + from_across * along[1 - deep], o->type, along[deep],
       along[1 - deep], depth, across);
}

// ---- Products

/// sums[rows][TILE_COLUMNS] += left[depth][TILE_ROWS] * right[depth][TILE_COLUMNS], `STEP` rows and 16 columns at once.
#define MULTIPLY(name, Scalar, Vector, ADD, STEP)                                                             \
  RT_INLINE void name(u32* sums, const u32* left, const u32* right, i32 rows, i32 columns, i32 depth) {       \
    for (i32 c = 0; c < columns; c += 16)                                                                     \
      for (i32 r = 0; r < rows; r += STEP) {                                                                  \
        Vector sum[STEP];                                                                                     \
        UNROLL for (i32 i = 0; i < STEP; ++i) sum[i] =                                                        \
            *(const Vector*)(const void*)(sums + (r + i) * TILE_COLUMNS + c);                                 \
        for (i32 d = 0; d < depth; ++d) {                                                                     \
          const Vector b = *(const Vector*)(const void*)(right + d * TILE_COLUMNS + c);                       \
          const Scalar* const a = (const Scalar*)(const void*)(left + d * TILE_ROWS + r);                     \
          UNROLL for (i32 i = 0; i < STEP; ++i) ADD(sum[i], a[i], b);                                         \
        }                                                                                                     \
        UNROLL for (i32 i = 0; i < STEP; ++i) * (Vector*)(void*)(sums + (r + i) * TILE_COLUMNS + c) = sum[i]; \
      }                                                                                                       \
  }
#define ADD_FLOATS(sum, a, b) sum = __builtin_elementwise_fma(a - (Floats16){}, b, sum)
#define ADD_WORDS(sum, a, b) sum += a * b
MULTIPLY(multiply_floats_by_4, float, Floats16, ADD_FLOATS, 4)
MULTIPLY(multiply_floats_by_8, float, Floats16, ADD_FLOATS, 8)
MULTIPLY(multiply_words_by_4, u32, Words16, ADD_WORDS, 4)

/// In `form`: operands that threads hold, vector registers of 64 bytes, and types of elements.
enum { kFullFloat = 1, kOwnLeft = 2, kOwnRight = 4, kOwnDestination = 8, kWide = 16 };
RT_INLINE i32 type_in(i32 form, i32 operand) {
  return form >> (8 + 4 * operand) & 15;
}

RT_INLINE i32 is_full_float(const Product* p, i32 form) {
  return !p->relaxed_precision && (type_in(form, kLeft) == kF32 || type_in(form, kRight) == kF32) ? kFullFloat : 0;
}

/// Some blocks of a destination that lie side by side.
static void __attribute__((noinline)) multiply_part(const Product* p, const Operand* left, const Operand* right,
                                                    const Operand* to, Part part, i32 depth, i32 form) {
  u32 sums[TILE_ROWS * TILE_COLUMNS] __attribute__((aligned(64)));
  u32 a[TILE_DEPTH * TILE_ROWS] __attribute__((aligned(64))), b[TILE_DEPTH * TILE_COLUMNS] __attribute__((aligned(64)));
  const i32 rows = (part.rows + 7) & ~7, columns = (part.columns + 15) & ~15;
  for (i32 r = 0; r < rows; ++r)
    for (i32 c = 0; c < columns; ++c) sums[r * TILE_COLUMNS + c] = 0;
  if (to->tensor) {
    part.rows = least(part.rows, to->tensor->extent[1] - part.row);
    part.columns = least(part.columns, to->tensor->extent[0] - part.column);
    if (part.rows <= 0 || part.columns <= 0) return;
  }
  if (p->mode == 1) {
    if (!to->tensor)
      take_held(to, part, sums, TILE_COLUMNS, 1);
    else
      for (i32 r = 0; r < part.rows; ++r)
        for (i32 c = 0; c < part.columns; ++c)
          sums[r * TILE_COLUMNS + c] = element_as_word(element_of(to->tensor, part.row + r, part.column + c), to->type);
  }
  for (i32 from = 0; from < depth; from += TILE_DEPTH) {
    const i32 count = least(depth - from, TILE_DEPTH);
    pack_operand(left, a, TILE_ROWS, !p->transpose_left, from, part.row, count, rows);
    pack_operand(right, b, TILE_COLUMNS, p->transpose_right, from, part.column, count, columns);
    if (!is_float_type(to->type))
      multiply_words_by_4(sums, a, b, rows, columns, count);
    else if ((form & kWide) != 0)
      multiply_floats_by_8(sums, a, b, rows, columns, count);
    else
      multiply_floats_by_4(sums, a, b, rows, columns, count);
  }
  if (!to->tensor) {
    give_held(to, part, sums, TILE_COLUMNS);
    return;
  }
  for (i32 r = 0; r < part.rows; ++r)
    for (i32 c = 0; c < part.columns; ++c)
      put_word(element_of(to->tensor, part.row + r, part.column + c), to->type, sums[r * TILE_COLUMNS + c]);
}

RT_INLINE Operand operand_of(i32 operand, i32 is_own, unsigned char* const* lanes, u32 mask, i32 rows, i32 columns,
                             i32 thread, i32 threads, i32 form, i32 layout) {
  return (Operand){shared(operand, rows, columns, threads, form, layout),
                   is_own ? 0 : (const Tensor*)(const void*)lanes[__builtin_ctz(mask)],
                   lanes,
                   mask,
                   thread,
                   type_in(form, operand)};
}

/// By the lanes of `mask` together. Pointers are one for each lane.
void smelt_rt_tensor_product(u32 mask, const Product* const* products, unsigned char* const* left,
                             unsigned char* const* right, unsigned char* const* to, i32 form, i32 thread, i32 threads,
                             i32 layout) {
  const Product* const p = products[__builtin_ctz(mask)];
  const i32 k = p->k;
  form |= is_full_float(p, form);
  const Operand l = operand_of(kLeft, form & kOwnLeft, left, mask, p->transpose_left ? k : p->m,
                               p->transpose_left ? p->m : k, thread, threads, form, layout);
  const Operand r = operand_of(kRight, form & kOwnRight, right, mask, p->transpose_right ? p->n : k,
                               p->transpose_right ? k : p->n, thread, threads, form, layout);
  const Operand d =
      operand_of(kDestination, form & kOwnDestination, to, mask, p->m, p->n, thread, threads, form, layout);
  i32 depth = k >= 0 ? k : 0x7fffffff;
  if (l.tensor) depth = least(depth, l.tensor->extent[p->transpose_left ? 1 : 0]);
  if (r.tensor) depth = least(depth, r.tensor->extent[p->transpose_right ? 0 : 1]);
  // Blocks of a group side by side are one part; where a group has whole rows of blocks, those are.
  const i32 group = thread % threads / 32, edge = d.shape.layout == kQuarters ? 8 : 16;
  const i32 wide = blocks_in(p->n, edge), each = blocks_each(&d.shape, edge), all = blocks_of(&d.shape, edge);
  for (i32 place = 0; place < each;) {
    const i32 block = edge == 8 ? group * each + place : block_at(&d.shape, group, place);
    if (block >= all) {
      ++place;
      continue;
    }
    i32 across = 1, down = 1;
    if (d.shape.layout != kScrambled) {
      across = least(least(wide - block % wide, each - place), TILE_COLUMNS / edge);
      if (across == wide) down = least(least((each - place) / wide, TILE_ROWS / edge), (all - block) / wide);
    }
    const Part part = {block / wide * edge, block % wide * edge, least(down * edge, p->m - block / wide * edge),
                       least(across * edge, p->n - block % wide * edge)};
    multiply_part(p, &l, &r, &d, part, depth, form);
    place += across * down;
  }
}

/// By one thread alone: element by element, of tensors or its own memory.
RT_INLINE u32 word_at(const Operand* o, i32 row, i32 column) {
  if (o->tensor) {
    const unsigned char* const at = element_of(o->tensor, row, column);
    return at ? element_as_word(at, o->type) : 0;
  }
  const i32 count = o->shape.rows * o->shape.columns, i = row * o->shape.columns + column;
  return element_as_word(o->own[0] + (o->shape.layout == kScrambled ? count - 1 - i : i) * bytes_of(o->type), o->type);
}
void smelt_rt_tensor_product_alone(const Product* p, unsigned char* left, unsigned char* right, unsigned char* to,
                                   i32 form, i32 layout) {
  const i32 k = p->k;
  form |= is_full_float(p, form);
  const Operand l = operand_of(kLeft, form & kOwnLeft, &left, 1, p->transpose_left ? k : p->m,
                               p->transpose_left ? p->m : k, 0, 1, form, layout);
  const Operand r = operand_of(kRight, form & kOwnRight, &right, 1, p->transpose_right ? p->n : k,
                               p->transpose_right ? k : p->n, 0, 1, form, layout);
  const Operand d = operand_of(kDestination, form & kOwnDestination, &to, 1, p->m, p->n, 0, 1, form, layout);
  i32 depth = k >= 0 ? k : 0x7fffffff;
  if (l.tensor) depth = least(depth, l.tensor->extent[p->transpose_left ? 1 : 0]);
  if (r.tensor) depth = least(depth, r.tensor->extent[p->transpose_right ? 0 : 1]);
  for (i32 m = 0; m < p->m; ++m)
    for (i32 n = 0; n < p->n; ++n) {
      const i32 i = m * p->n + n;
      unsigned char* const at = d.tensor
                                    ? element_of(d.tensor, m, n)
                                    : to + (d.shape.layout == kScrambled ? p->m * p->n - 1 - i : i) * bytes_of(d.type);
      if (!at) continue;
      u32 sum = p->mode == 1 ? element_as_word(at, d.type) : 0;
      for (i32 d0 = 0; d0 < depth; ++d0) {
        const u32 a = p->transpose_left ? word_at(&l, d0, m) : word_at(&l, m, d0);
        const u32 b = p->transpose_right ? word_at(&r, n, d0) : word_at(&r, d0, n);
        sum = is_float_type(d.type) ? bits(FMA(from_bits(a), from_bits(b), from_bits(sum))) : sum + a * b;
      }
      put_word(at, d.type, sum);
    }
}

// ---- Between threads' elements and tensors

void smelt_rt_tensor_store(i32 operand, i32 rows, i32 columns, i32 threads, i32 form, i32 layout, i32 thread,
                           const unsigned char* own, const Tensor* to) {
  const Shared s = shared(operand, rows, columns, threads, form, layout);
  const i32 capacity = capacity_of(&s);
  for (i32 i = 0; i < capacity; ++i) {
    const Held place = held_at(&s, thread, i);
    unsigned char* const at = place.is_valid ? element_of(to, place.row, place.column) : 0;
    if (at) copy_element(at, own + i * bytes_of(to->type), bytes_of(to->type));
  }
}
/// Elements outside of the tensor are zero.
void smelt_rt_tensor_load(i32 operand, i32 rows, i32 columns, i32 threads, i32 form, i32 layout, i32 thread,
                          unsigned char* own, const Tensor* from) {
  const Shared s = shared(operand, rows, columns, threads, form, layout);
  const i32 capacity = capacity_of(&s);
  const i64 bytes = bytes_of(from->type);
  const unsigned char zeros[4] = {0, 0, 0, 0};
  for (i32 i = 0; i < capacity; ++i) {
    const Held place = held_at(&s, thread, i);
    const unsigned char* const at = place.is_valid ? element_of(from, place.row, place.column) : 0;
    copy_element(own + i * bytes, at ? at : zeros, bytes);
  }
}

// ---- What operations touch, for code that watches its threads (smelt_cpu_watch::access)

typedef void (*Tell)(void* context, u32 thread, const void* address, u64 bytes, u32 site, const void* sites);

typedef struct {
  Tell tell;
  void* context;
  u32 thread;
  const u32* numbers;  ///< of sites: a read and a write of elements of one byte, then of two, then of four
  const void* sites;
} Teller;

/// A part of a tensor, as far as there are elements.
static void tell_part(const Teller* t, const Tensor* of, i32 row, i32 column, i32 rows, i32 columns, i32 is_write) {
  const i64 bytes = bytes_of(of->type);
  const u32 site = t->numbers[(bytes >= 4 ? 4 : bytes == 2 ? 2 : 0) + is_write];
  rows = least(rows, of->extent[1] - row);
  columns = least(columns, of->extent[0] - column);
  if (columns <= 0) return;
  const i32 is_dense = of->stride[0] == 1;
  for (i32 r = 0; r < rows; ++r)
    for (i32 c = 0; c < (is_dense ? 1 : columns); ++c)
      t->tell(t->context, t->thread, element_of(of, row + r, column + c), (u64)(is_dense ? columns * bytes : bytes),
              site, t->sites);
}

/// What this thread's SIMD-group, or this thread alone, reads and writes in a product. Of operands that threads hold,
/// the tensor is not looked at.
void smelt_rt_tensor_tell_product(Tell tell, void* context, u32 thread, const u32* numbers, const void* sites,
                                  const Product* p, const unsigned char* left, const unsigned char* right,
                                  const unsigned char* to, i32 form, i32 index, i32 threads, i32 layout) {
  const Teller t = {tell, context, thread, numbers, sites};
  const Tensor* const l = (form & kOwnLeft) != 0 ? 0 : (const Tensor*)(const void*)left;
  const Tensor* const r = (form & kOwnRight) != 0 ? 0 : (const Tensor*)(const void*)right;
  i32 depth = p->k >= 0 ? p->k : 0x7fffffff;
  if (l) depth = least(depth, l->extent[p->transpose_left ? 1 : 0]);
  if (r) depth = least(depth, r->extent[p->transpose_right ? 0 : 1]);
  if (l) tell_part(&t, l, 0, 0, p->transpose_left ? depth : p->m, p->transpose_left ? p->m : depth, 0);
  if (r) tell_part(&t, r, 0, 0, p->transpose_right ? p->n : depth, p->transpose_right ? depth : p->n, 0);
  if ((form & kOwnDestination) != 0) return;
  const Tensor* const d = (const Tensor*)(const void*)to;
  if (threads < 32) {
    if (p->mode == 1) tell_part(&t, d, 0, 0, p->m, p->n, 0);
    tell_part(&t, d, 0, 0, p->m, p->n, 1);
    return;
  }
  const Shared s = shared(kDestination, p->m, p->n, threads, form | is_full_float(p, form), layout);
  const i32 group = index % threads / 32, edge = s.layout == kQuarters ? 8 : 16;
  const i32 wide = blocks_in(p->n, edge), each = blocks_each(&s, edge), all = blocks_of(&s, edge);
  for (i32 at = 0; at < each; ++at) {
    const i32 block = edge == 8 ? group * each + at : block_at(&s, group, at);
    if (block >= all) continue;
    const i32 row = block / wide * edge, column = block % wide * edge;
    const i32 rows = least(edge, p->m - row), columns = least(edge, p->n - column);
    if (p->mode == 1) tell_part(&t, d, row, column, rows, columns, 0);
    tell_part(&t, d, row, column, rows, columns, 1);
  }
}

/// A load or store of the elements that this thread holds.
void smelt_rt_tensor_tell_elements(Tell tell, void* context, u32 thread, const u32* numbers, const void* sites,
                                   i32 operand, i32 rows, i32 columns, i32 threads, i32 form, i32 layout, i32 index,
                                   const Tensor* tensor, i32 is_write) {
  const Teller t = {tell, context, thread, numbers, sites};
  const Shared s = shared(operand, rows, columns, threads, form, layout);
  const i32 capacity = capacity_of(&s);
  for (i32 i = 0; i < capacity; ++i) {
    const Held at = held_at(&s, index, i);
    if (at.is_valid) tell_part(&t, tensor, at.row, at.column, 1, 1, is_write);
  }
}
