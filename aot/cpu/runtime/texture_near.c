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
RT_INLINE int all16(Int16 mask) {
  return __builtin_reduce_and(mask) != 0;
}

/// What leads to a call. Registers that the kernel holds are saved around it; where that is known to be rare, nothing
/// of that happens elsewhere.
#define RARELY(x) __builtin_expect(!!(x), 0)

/// Where the first of sixteen texels side by side lies; null where it is not so.
RT_INLINE unsigned char* row_of(const Texture* t, Word16 x, Word16 y, u32 on) {
  if (RARELY(on != 0xffff) || RARELY(!t) || RARELY(t->samples != 1) || RARELY(t->order == SMELT_CPU_ALPHA)) return 0;
  const u32 x0 = x[0], y0 = y[0];
  const Int16 apart = (Int16)(x ^ (x0 + iota16())) | (Int16)(y ^ y0);
  if (RARELY(__builtin_reduce_or(apart) != 0)) return 0;
  if (RARELY(x0 >= t->width) || RARELY(t->width - x0 < 16) || RARELY(y0 >= t->height)) return 0;
  return t->data + t->level[0].offset + (u64)y0 * t->level[0].row_bytes + (u64)x0 * t->texel_bytes;
}

/// A byte of each word.
RT_INLINE Float16 byte16(Word16 v, u32 at) {
  return __builtin_convertvector((Int16)(at == 24 ? v >> 24 : v >> at & 255), Float16);
}
/// As unorm_of_byte() of sample.c.
RT_INLINE Word16 unorm16(Float16 x) {
  return (Word16)__builtin_elementwise_fma(x, (Float16)kHigh255th, x * kLow255th);
}
/// As to_unorm8(), with more above the low byte.
RT_INLINE Word16 to_unorm16(Word16 word) {
  const Float16 x = __builtin_elementwise_min(__builtin_elementwise_max((Float16)word, (Float16)0.0f), (Float16)1.0f);
  return (Word16)(x * 255.0f + 0x1p23f);
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
RT_INLINE void store_texels16(u32* out, u32 lanes, Texels16 v) {
  store_words16(out, v.c[0]);
  store_words16(out + lanes, v.c[1]);
  store_words16(out + 2 * lanes, v.c[2]);
  store_words16(out + 3 * lanes, v.c[3]);
}
RT_INLINE int is_rgba_floats(const Texture* t) {
  return t->channels == 4 && t->encoding == SMELT_CPU_FLOAT32 && t->order == SMELT_CPU_RGBA;
}
/// kOther: the call does it.
RT_INLINE Common near_format(const Texture* t, const unsigned char* row) {
  if (RARELY(!row)) return kOther;
  if (t->channels == 4 && t->encoding == SMELT_CPU_UNORM8) return kRgba8;
  if (is_rgba_floats(t)) return kRgba32Float;
  if (RARELY(t->channels != 1)) return kOther;
  if (t->encoding == SMELT_CPU_FLOAT32) return kR32Float;
  return RARELY(t->encoding != SMELT_CPU_UNORM8) ? kOther : kR8;
}

RT_INLINE void read16(const Texture* t, const u32* x, const u32* y, u32 on, u32 lanes, u32* out, u32 first) {
  const Word16 xs = load_words16(x + first), ys = y ? load_words16(y + first) : (Word16)0;
  const u32 here = on >> first & 0xffff;
  const unsigned char* row = row_of(t, xs, ys, here);
  Texels16 v;
  switch (near_format(t, row)) {
    case kRgba8: {
      const Word16 bytes = load_words16(row);
      v = (Texels16){{unorm16(byte16(bytes, 0)), unorm16(byte16(bytes, 8)), unorm16(byte16(bytes, 16)),
                      unorm16(byte16(bytes, 24))}};
      if (t->order == SMELT_CPU_BGRA) v = (Texels16){{v.c[2], v.c[1], v.c[0], v.c[3]}};
      break;
    }
    case kRgba32Float:
      v = by_component(load_words16(row), load_words16(row + 64), load_words16(row + 128), load_words16(row + 192));
      break;
    case kR32Float:
      v = (Texels16){{load_words16(row), 0, 0, (Word16)(Float16)1.0f}};
      break;
    default: {
      u32 own_x[16], own_y[16], made[64];
      store_words16(own_x, xs);
      store_words16(own_y, ys);
      smelt_rt_texture_read_lanes(t, own_x, own_y, 0, 0, 0, 0, here, 16, made);
      v = (Texels16){{load_words16(made), load_words16(made + 16), load_words16(made + 32), load_words16(made + 48)}};
    }
  }
  store_texels16(out + first, lanes, v);
}

RT_INLINE void write16(const Texture* t, const u32* x, const u32* y, const u32* rows, u32 on, u32 lanes, u32 first) {
  const Word16 xs = load_words16(x + first), ys = y ? load_words16(y + first) : (Word16)0;
  const u32 here = on >> first & 0xffff;
  unsigned char* row = row_of(t, xs, ys, here);
  const Word16 r = load_words16(rows + first), g = load_words16(rows + lanes + first),
               b = load_words16(rows + 2 * lanes + first), a = load_words16(rows + 3 * lanes + first);
  switch (near_format(t, row)) {
    case kRgba8:
      store_words16(row, t->order == SMELT_CPU_BGRA ? pack16(b, g, r, a) : pack16(r, g, b, a));
      return;
    case kR8: {
      typedef unsigned char Byte16 __attribute__((ext_vector_type(16)));
      const Byte16 v = __builtin_convertvector(to_unorm16(r) & 255, Byte16);
      __builtin_memcpy(row, &v, sizeof v);
      return;
    }
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
    default:
      break;
  }
  u32 own_x[16], own_y[16], given[64];
  store_words16(own_x, xs);
  store_words16(own_y, ys);
  store_words16(given, r);
  store_words16(given + 16, g);
  store_words16(given + 32, b);
  store_words16(given + 48, a);
  smelt_rt_texture_write_lanes(t, own_x, own_y, 0, 0, 0, given, here, 16);
}

// Called as the forms of texture_lanes.c are, but only where what stands behind y is zero (lanes/texture_calls.cpp): a
// way for other numbers would let the rows escape, and they would stay in memory.

void smelt_rt_inline_texture_read_lanes(const Texture* t, const u32* x, const u32* y, const u32* z, const u32* layer,
                                        const u32* level, const u32* sample, u32 on, u32 lanes, u32* out) {
  (void)z, (void)layer, (void)level, (void)sample;
  read16(t, x, y, on, lanes, out, 0);
  if (lanes > 16) read16(t, x, y, on, lanes, out, 16);
}
void smelt_rt_inline_texture_write_lanes(const Texture* t, const u32* x, const u32* y, const u32* z, const u32* layer,
                                         const u32* level, const u32* rows, u32 on, u32 lanes) {
  (void)z, (void)layer, (void)level;
  write16(t, x, y, rows, on, lanes, 0);
  if (lanes > 16) write16(t, x, y, rows, on, lanes, 16);
}
