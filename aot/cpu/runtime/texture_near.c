/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// What most kernels do with texels, in the kernel's own code (runtime.cpp makes these inline): all lanes take part and
// look at texels side by side in one row of a texture with one sample, in a common format. All else is a call of
// texture_lanes.c, whose results these are bit for bit; so these look at sixteen lanes at a time, which is one register
// or two of every processor, and copy what they were given for the call alone.
#include "rt.h"

// texture.c, sample.c and texture_lanes.c stand before this file in runtime.c.

// How such vectors are passed changes with the processor; here all is inline, and nothing is passed.
#pragma clang diagnostic ignored "-Wpsabi"

typedef u32 Word16 __attribute__((ext_vector_type(16)));
typedef i32 Int16 __attribute__((ext_vector_type(16)));
typedef float Float16 __attribute__((ext_vector_type(16)));

RT_INLINE Word16 load_words16(const void* p) {
  Word16 v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
RT_INLINE void store_words16(void* p, Word16 v) {
  __builtin_memcpy(p, &v, sizeof v);
}
RT_INLINE Word16 iota16(void) {
  return (Word16){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
}
/// A bit of each lane; of a reduction that is needed twice LLVM makes a chain of shuffles.
RT_INLINE u32 bits16(Int16 mask) {
  typedef _Bool Bool16 __attribute__((ext_vector_type(16)));
  const Bool16 each = __builtin_convertvector(mask, Bool16);
  unsigned short r;
  __builtin_memcpy(&r, &each, sizeof r);
  return r;
}
RT_INLINE int all16(Int16 mask) {
  return bits16(mask) == 0xffff;
}
RT_INLINE int any16(Int16 mask) {
  return bits16(mask) != 0;
}

/// What leads to a call. Registers that the kernel holds are saved around it; where that is known to be rare, nothing
/// of that happens elsewhere.
#define RARELY(x) __builtin_expect(!!(x), 0)

/// Sixteen lanes, or two times sixteen.
typedef struct {
  Word16 half[2];
} Words;

RT_INLINE Words load_lanes(const u32* p, u32 lanes) {
  return (Words){{p ? load_words16(p) : (Word16)0, p && lanes > 16 ? load_words16(p + 16) : (Word16)0}};
}
RT_INLINE void store_lanes(u32* p, u32 lanes, Words v) {
  store_words16(p, v.half[0]);
  if (lanes > 16) store_words16(p + 16, v.half[1]);
}

typedef u32 Word32 __attribute__((ext_vector_type(32)));
typedef i32 Int32 __attribute__((ext_vector_type(32)));
typedef float Float32 __attribute__((ext_vector_type(32)));

// In vectors of all lanes, as the kernel's own are: of sixteen lanes the upper half is dropped.
RT_INLINE Word32 both_halves(Word16 low, Word16 high) {
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                                 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
}
RT_INLINE Word32 load_row(const u32* p, u32 lanes) {
  const Words v = load_lanes(p, lanes);
  return both_halves(v.half[0], v.half[1]);
}
RT_INLINE Word16 low_half(Word32 v) {
  return __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
RT_INLINE Word16 high_half(Word32 v) {
  return __builtin_shufflevector(v, v, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
}
RT_INLINE void store_row(u32* p, u32 lanes, Word32 v) {
  if (lanes > 16)
    __builtin_memcpy(p, &v, sizeof v);
  else
    store_words16(p, low_half(v));
}

RT_INLINE Word32 iota32(void) {
  return both_halves(iota16(), iota16() + 16);
}
RT_INLINE int any32(Int32 mask) {
  typedef _Bool Bool32 __attribute__((ext_vector_type(32)));
  const Bool32 each = __builtin_convertvector(mask, Bool32);
  u32 r;
  __builtin_memcpy(&r, &each, sizeof r);
  return r != 0;
}

/// Where the first of texels side by side lies, where they are so. The compiler knows rows of this form
/// (codegen/unorm_arithmetic.cpp).
typedef struct {
  unsigned char* first;
  int found;
} Row;

RT_INLINE Row row_of(const Texture* t, u32 texel_bytes, Words x, Words y, u32 on, u32 lanes) {
  const Row none = {0, 0};
  const u32 x0 = x.half[0][0], y0 = y.half[0][0];
  if (lanes > 16) {
    if (RARELY(on != 0xffffffff)) return none;
    const Word32 xs = both_halves(x.half[0], x.half[1]), ys = both_halves(y.half[0], y.half[1]);
    if (RARELY(any32((Int32)(xs != x0 + iota32()) | (Int32)(ys != y0)))) return none;
  } else {
    if (RARELY(on != 0xffff)) return none;
    if (RARELY(any16((Int16)(x.half[0] != x0 + iota16()) | (Int16)(y.half[0] != y0)))) return none;
  }
  if (RARELY(x0 >= t->width) || RARELY(t->width - x0 < lanes) || RARELY(y0 >= t->height)) return none;
  return (Row){t->data + t->level[0].offset + (u64)y0 * t->level[0].row_bytes + (u64)x0 * texel_bytes, 1};
}

/// A byte of each word.
RT_INLINE Float16 byte16(Word16 v, u32 at) {
  return __builtin_convertvector((Int16)(at == 24 ? v >> 24 : v >> at & 255), Float16);
}
/// As unorm_of_byte() of sample.c.
RT_INLINE Word16 unorm16(Float16 x) {
  return (Word16)__builtin_elementwise_fma(x, (Float16)kHigh255th, x * kLow255th);
}
/// The compiler may join it with what the kernel multiplied before, where the kernel allows that.
RT_INLINE Float16 times255(Float16 x) {
#pragma clang fp reassociate(on)
  return x * 255.0f;
}
/// As to_unorm8(), which clamps first, with the same result. More stands above the low byte.
RT_INLINE Word16 to_unorm16(Word16 word) {
  const Float16 x = __builtin_elementwise_max(times255((Float16)word), (Float16)0.0f);
  return (Word16)(__builtin_elementwise_min(x, (Float16)255.0f) + 0x1p23f);
}
RT_INLINE Word16 pack16(Word16 r, Word16 g, Word16 b, Word16 a) {
  return (to_unorm16(r) & 255) | to_unorm16(g) << 8 | to_unorm16(b) << 16 | to_unorm16(a) << 24;
}

typedef struct {
  Word16 c[4];
} Texels16;

#define TWO_OF_FOUR(a, b, i)                                                                                          \
  __builtin_shufflevector(a, b, i, i + 4, i + 8, i + 12, i + 16, i + 20, i + 24, i + 28, i + 1, i + 5, i + 9, i + 13, \
                          i + 17, i + 21, i + 25, i + 29)
#define LOW_HALVES(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)
#define HIGH_HALVES(a, b) __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31)
/// Four texels in each: sixteen of each component.
RT_INLINE Texels16 by_component(Word16 a, Word16 b, Word16 c, Word16 d) {
  const Word16 rg_low = TWO_OF_FOUR(a, b, 0), rg_high = TWO_OF_FOUR(c, d, 0);
  const Word16 ba_low = TWO_OF_FOUR(a, b, 2), ba_high = TWO_OF_FOUR(c, d, 2);
  return (Texels16){{LOW_HALVES(rg_low, rg_high), HIGH_HALVES(rg_low, rg_high), LOW_HALVES(ba_low, ba_high),
                     HIGH_HALVES(ba_low, ba_high)}};
}
RT_INLINE int is_rgba_floats(const Texture* t) {
  return t->channels == 4 && t->encoding == SMELT_CPU_FLOAT32 && t->order == SMELT_CPU_RGBA;
}
/// kOther: the call does it.
RT_INLINE Common near_format(const Texture* t) {
  if (RARELY(t->samples != 1) || RARELY(t->order == SMELT_CPU_ALPHA)) return kOther;
  if (t->channels == 4 && t->encoding == SMELT_CPU_UNORM8) return kRgba8;
  if (is_rgba_floats(t)) return kRgba32Float;
  if (RARELY(t->channels != 1)) return kOther;
  if (t->encoding == SMELT_CPU_FLOAT32) return kR32Float;
  return RARELY(t->encoding != SMELT_CPU_UNORM8) ? kOther : kR8;
}

RT_INLINE Texels16 read16(const Texture* t, Common format, const unsigned char* row) {
  switch (format) {
    case kRgba8: {
      const Word16 bytes = load_words16(row);
      const Texels16 v = {{unorm16(byte16(bytes, 0)), unorm16(byte16(bytes, 8)), unorm16(byte16(bytes, 16)),
                           unorm16(byte16(bytes, 24))}};
      return t->order == SMELT_CPU_BGRA ? (Texels16){{v.c[2], v.c[1], v.c[0], v.c[3]}} : v;
    }
    case kRgba32Float:
      return by_component(load_words16(row), load_words16(row + 64), load_words16(row + 128), load_words16(row + 192));
    case kR32Float:
      return (Texels16){{load_words16(row), 0, 0, (Word16)(Float16)1.0f}};
    default: {
      typedef unsigned char Byte16 __attribute__((ext_vector_type(16)));
      Byte16 bytes;
      __builtin_memcpy(&bytes, row, sizeof bytes);
      const Float16 v = __builtin_convertvector(__builtin_convertvector(bytes, Int16), Float16);
      return (Texels16){{unorm16(v), 0, 0, (Word16)(Float16)1.0f}};
    }
  }
}

RT_INLINE void write16(const Texture* t, Common format, unsigned char* row, Word16 r, Word16 g, Word16 b, Word16 a) {
  switch (format) {
    case kRgba8:
      store_words16(row, t->order == SMELT_CPU_BGRA ? pack16(b, g, r, a) : pack16(r, g, b, a));
      return;
    case kRgba32Float: {
      const Word16 rg_low = __builtin_shufflevector(r, g, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      const Word16 ba_low = __builtin_shufflevector(b, a, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      const Word16 rg_high =
          __builtin_shufflevector(r, g, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
      const Word16 ba_high =
          __builtin_shufflevector(b, a, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#define PAIRS(p, q, i)                                                                                                \
  __builtin_shufflevector(p, q, i, i + 1, i + 16, i + 17, i + 2, i + 3, i + 18, i + 19, i + 4, i + 5, i + 20, i + 21, \
                          i + 6, i + 7, i + 22, i + 23)
      store_words16(row, PAIRS(rg_low, ba_low, 0));
      store_words16(row + 64, PAIRS(rg_low, ba_low, 8));
      store_words16(row + 128, PAIRS(rg_high, ba_high, 0));
      store_words16(row + 192, PAIRS(rg_high, ba_high, 8));
#undef PAIRS
      return;
    }
    case kR32Float:
      store_words16(row, r);
      return;
    default: {
      typedef unsigned char Byte16 __attribute__((ext_vector_type(16)));
      const Byte16 v = __builtin_convertvector(to_unorm16(r) & 255, Byte16);
      __builtin_memcpy(row, &v, sizeof v);
    }
  }
}

// Called as the forms of texture_lanes.c are, but only where what stands behind y is zero (lanes/texture_calls.cpp): a
// way for other numbers would let the rows escape, and they would stay in memory. Formats are told apart outside: one
// test for both halves.

void smelt_rt_inline_texture_read_lanes(const Texture* t, const u32* x, const u32* y, const u32* z, const u32* layer,
                                        const u32* level, const u32* sample, u32 on, u32 lanes, u32* out) {
  (void)z, (void)layer, (void)level, (void)sample;
  const Words xs = load_lanes(x, lanes), ys = load_lanes(y, lanes);
  const Row row = t ? row_of(t, t->texel_bytes, xs, ys, on, lanes) : (Row){0, 0};
  Words v[4];
  const Common format = row.found ? near_format(t) : kOther;
#define READ(form)                                                                             \
  {                                                                                            \
    const Texels16 low = read16(t, form, row.first);                                           \
    EACH_OF_4(i) v[i].half[0] = low.c[i];                                                      \
    const Texels16 high = lanes > 16 ? read16(t, form, row.first + 16 * t->texel_bytes) : low; \
    EACH_OF_4(i) v[i].half[1] = high.c[i];                                                     \
  }                                                                                            \
  break
  switch (format) {
    case kRgba8:
      READ(kRgba8);
    case kRgba32Float:
      READ(kRgba32Float);
    case kR32Float:
      READ(kR32Float);
    case kR8:
      READ(kR8);
    default: {
      u32 own_x[32], own_y[32], made[128];
      store_lanes(own_x, lanes, xs);
      store_lanes(own_y, lanes, ys);
      smelt_rt_texture_read_lanes(t, own_x, own_y, 0, 0, 0, 0, on, lanes, made);
      EACH_OF_4(i) v[i] = load_lanes(made + i * lanes, lanes);
    }
  }
#undef READ
  EACH_OF_4(i) store_lanes(out + i * lanes, lanes, v[i]);
}

void smelt_rt_inline_texture_write_lanes(const Texture* t, const u32* x, const u32* y, const u32* z, const u32* layer,
                                         const u32* level, const u32* texels, u32 on, u32 lanes) {
  (void)z, (void)layer, (void)level;
  const Words xs = load_lanes(x, lanes), ys = load_lanes(y, lanes);
  const Row row = t ? row_of(t, t->texel_bytes, xs, ys, on, lanes) : (Row){0, 0};
  Words v[4];
  EACH_OF_4(i) v[i] = load_lanes(texels + i * lanes, lanes);
#define WRITE(format)                                                                                            \
  write16(t, format, row.first, v[0].half[0], v[1].half[0], v[2].half[0], v[3].half[0]);                         \
  if (lanes > 16)                                                                                                \
    write16(t, format, row.first + 16 * t->texel_bytes, v[0].half[1], v[1].half[1], v[2].half[1], v[3].half[1]); \
  return
  switch (row.found ? near_format(t) : kOther) {
    case kRgba8:
      WRITE(kRgba8);
    case kRgba32Float:
      WRITE(kRgba32Float);
    case kR32Float:
      WRITE(kR32Float);
    case kR8:
      WRITE(kR8);
    default:
      break;
  }
#undef WRITE
  u32 own_x[32], own_y[32], given[128];
  store_lanes(own_x, lanes, xs);
  store_lanes(own_y, lanes, ys);
  EACH_OF_4(i) store_lanes(given + i * lanes, lanes, v[i]);
  smelt_rt_texture_write_lanes(t, own_x, own_y, 0, 0, 0, given, on, lanes);
}

// The same where it is known of the texture that smelt_rt_inline_texture_is_bytes() holds (lanes/byte_textures.cpp).
// Texels stay bytes until the call, which is rare, is behind them: what is computed of them can be joined with their
// conversion then (codegen/unorm_arithmetic.hpp).

u32 smelt_rt_inline_texture_is_bytes(const Texture* t) {
  return t && t->samples == 1 && t->channels == 4 && t->encoding == SMELT_CPU_UNORM8 && t->order == SMELT_CPU_RGBA;
}

RT_INLINE Float32 times255_32(Float32 x) {
#pragma clang fp reassociate(on)
  return x * 255.0f;
}
RT_INLINE Word32 to_unorm32(Word32 word) {
  const Float32 x = __builtin_elementwise_max(times255_32((Float32)word), (Float32)0.0f);
  return (Word32)(__builtin_elementwise_min(x, (Float32)255.0f) + 0x1p23f);
}
RT_INLINE Word32 pack_lanes(const u32* texels, u32 lanes) {
  return (to_unorm32(load_row(texels, lanes)) & 255) | (to_unorm32(load_row(texels + lanes, lanes)) & 255) << 8 |
         (to_unorm32(load_row(texels + 2 * lanes, lanes)) & 255) << 16 |
         to_unorm32(load_row(texels + 3 * lanes, lanes)) << 24;
}
RT_INLINE void unpack_lanes(u32* texels, u32 lanes, Word32 bytes) {
  EACH_OF_4(i) {
    const Float32 x = __builtin_convertvector((Int32)(i == 3 ? bytes >> 24 : bytes >> 8 * i & 255), Float32);
    const Float32 unorm = __builtin_elementwise_fma(x, (Float32)kHigh255th, x * kLow255th);
    store_row(texels + i * lanes, lanes, (Word32)unorm);
  }
}

/// Whether every lane has a texel, as at the edges of a picture, where coordinates are clamped.
RT_INLINE int are_inside(const Texture* t, Words x, Words y, u32 on, u32 lanes) {
  if (on != (lanes > 16 ? 0xffffffff : 0xffff) || t->level[0].row_bytes * t->height > 0x7fffffff) return 0;
  Int16 inside = (Int16)(x.half[0] < t->width) & (Int16)(y.half[0] < t->height);
  if (lanes > 16) inside &= (Int16)(x.half[1] < t->width) & (Int16)(y.half[1] < t->height);
  return all16(inside);
}
RT_INLINE Word16 gather_bytes(const Texture* t, Word16 x, Word16 y) {
  const unsigned char* from = t->data + t->level[0].offset;
  const Word16 at = y * (u32)t->level[0].row_bytes + x * 4;
  Word16 v = 0;
  _Pragma("clang loop unroll(full)") for (u32 k = 0; k < 16; ++k) {
    u32 one;
    __builtin_memcpy(&one, from + at[k], sizeof one);
    v[k] = one;
  }
  return v;
}

void smelt_rt_inline_texture_read_bytes_lanes(const Texture* t, const u32* x, const u32* y, const u32* z,
                                              const u32* layer, const u32* level, const u32* sample, u32 on, u32 lanes,
                                              u32* out) {
  (void)z, (void)layer, (void)level, (void)sample;
  const Words xs = load_lanes(x, lanes), ys = load_lanes(y, lanes);
  const Row row = row_of(t, 4, xs, ys, on, lanes);
  Word32 bytes;
  if (RARELY(!row.found) && are_inside(t, xs, ys, on, lanes)) {
    const Word16 low = gather_bytes(t, xs.half[0], ys.half[0]);
    bytes = both_halves(low, lanes > 16 ? gather_bytes(t, xs.half[1], ys.half[1]) : low);
  } else if (RARELY(!row.found)) {
    u32 own_x[32], own_y[32], made[128];
    store_lanes(own_x, lanes, xs);
    store_lanes(own_y, lanes, ys);
    smelt_rt_texture_read_lanes(t, own_x, own_y, 0, 0, 0, 0, on, lanes, made);
    bytes = pack_lanes(made, lanes);
  } else {
    const Word16 low = load_words16(row.first), high = lanes > 16 ? load_words16(row.first + 64) : low;
    bytes = both_halves(low, high);
  }
  unpack_lanes(out, lanes, bytes);
}

void smelt_rt_inline_texture_write_bytes_lanes(const Texture* t, const u32* x, const u32* y, const u32* z,
                                               const u32* layer, const u32* level, const u32* texels, u32 on,
                                               u32 lanes) {
  (void)z, (void)layer, (void)level;
  const Words xs = load_lanes(x, lanes), ys = load_lanes(y, lanes);
  const Row row = row_of(t, 4, xs, ys, on, lanes);
  const Word32 bytes = pack_lanes(texels, lanes);
  if (!RARELY(!row.found)) {
    store_words16(row.first, low_half(bytes));
    if (lanes > 16) store_words16(row.first + 64, high_half(bytes));
    return;
  }
  u32 own_x[32], own_y[32], given[128];
  store_lanes(own_x, lanes, xs);
  store_lanes(own_y, lanes, ys);
  unpack_lanes(given, lanes, bytes);
  smelt_rt_texture_write_lanes(t, own_x, own_y, 0, 0, 0, given, on, lanes);
}
