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
RT_INLINE Float16 choose16(Int16 mask, Float16 yes, Float16 no) {
  return (Float16)(((Int16)yes & mask) | ((Int16)no & ~mask));
}

/// Where the first of sixteen texels side by side lies; null where it is not so.
RT_INLINE unsigned char* row_of(const Texture* t, Word16 x, Word16 y, u32 on) {
  if (on != 0xffff || !t || t->samples != 1 || t->order == SMELT_CPU_ALPHA) return 0;
  const u32 x0 = x[0], y0 = y[0];
  const Int16 apart = (Int16)(x ^ (x0 + iota16())) | (Int16)(y ^ y0);
  if (__builtin_reduce_or(apart) != 0 || x0 >= t->width || t->width - x0 < 16 || y0 >= t->height) return 0;
  return t->data + t->level[0].offset + (u64)y0 * t->level[0].row_bytes + (u64)x0 * t->texel_bytes;
}

/// As unorm8().
RT_INLINE Word16 unorm16(Word16 v) {
  const Float16 x = __builtin_convertvector((Int16)v, Float16);
  return (Word16)__builtin_elementwise_fma(x, (Float16)kHigh255th, x * kLow255th);
}
RT_INLINE Word16 to_unorm16(Word16 word) {
  const Float16 x = (Float16)word;
  const Float16 positive = choose16((Int16)(x > 0.0f), x, (Float16)0.0f);
  const Float16 clamped = choose16((Int16)(positive < 1.0f), positive, (Float16)1.0f);
  return (Word16)(clamped * 255.0f + 0x1p23f) & 0x7fffff;
}

RT_INLINE void read16(const Texture* t, const u32* x, const u32* y, u32 on, u32 lanes, u32* out, u32 first) {
  const Word16 xs = load_words16(x + first), ys = y ? load_words16(y + first) : (Word16)0;
  const u32 here = on >> first & 0xffff;
  const unsigned char* row = row_of(t, xs, ys, here);
  Word16 c0, c1, c2, c3;
  if (row && t->channels == 4 && t->encoding == SMELT_CPU_UNORM8) {
    const Word16 v = load_words16(row);
    const int swaps = t->order == SMELT_CPU_BGRA;
    const Word16 low = unorm16(v & 255), high = unorm16(v >> 16 & 255);
    c0 = swaps ? high : low;
    c1 = unorm16(v >> 8 & 255);
    c2 = swaps ? low : high;
    c3 = unorm16(v >> 24);
  } else if (row && t->channels == 4 && t->encoding == SMELT_CPU_FLOAT32 && t->order == SMELT_CPU_RGBA) {
    const Word16 a = load_words16(row), b = load_words16(row + 64), c = load_words16(row + 128),
                 d = load_words16(row + 192);
#define EVERY_FOURTH(i)                                                                                              \
  __builtin_shufflevector(__builtin_shufflevector(a, b, i, i + 4, i + 8, i + 12, i + 16, i + 20, i + 24, i + 28, -1, \
                                                  -1, -1, -1, -1, -1, -1, -1),                                       \
                          __builtin_shufflevector(c, d, i, i + 4, i + 8, i + 12, i + 16, i + 20, i + 24, i + 28, -1, \
                                                  -1, -1, -1, -1, -1, -1, -1),                                       \
                          0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23)
    c0 = EVERY_FOURTH(0);
    c1 = EVERY_FOURTH(1);
    c2 = EVERY_FOURTH(2);
    c3 = EVERY_FOURTH(3);
#undef EVERY_FOURTH
  } else if (row && t->channels == 1 && t->encoding == SMELT_CPU_FLOAT32) {
    c0 = load_words16(row);
    c1 = c2 = 0;
    c3 = 0x3f800000;
  } else {
    u32 own_x[16], own_y[16], made[64];
    store_words16(own_x, xs);
    store_words16(own_y, ys);
    smelt_rt_texture_read_lanes(t, own_x, own_y, 0, 0, 0, 0, here, 16, made);
    c0 = load_words16(made);
    c1 = load_words16(made + 16);
    c2 = load_words16(made + 32);
    c3 = load_words16(made + 48);
  }
  store_words16(out + first, c0);
  store_words16(out + lanes + first, c1);
  store_words16(out + 2 * lanes + first, c2);
  store_words16(out + 3 * lanes + first, c3);
}

RT_INLINE void write16(const Texture* t, const u32* x, const u32* y, const u32* rows, u32 on, u32 lanes, u32 first) {
  const Word16 xs = load_words16(x + first), ys = y ? load_words16(y + first) : (Word16)0;
  const u32 here = on >> first & 0xffff;
  unsigned char* row = row_of(t, xs, ys, here);
  const Word16 r = load_words16(rows + first), g = load_words16(rows + lanes + first),
               b = load_words16(rows + 2 * lanes + first), a = load_words16(rows + 3 * lanes + first);
  if (row && t->channels == 4 && t->encoding == SMELT_CPU_UNORM8) {
    const int swaps = t->order == SMELT_CPU_BGRA;
    const Word16 low = to_unorm16(swaps ? b : r), high = to_unorm16(swaps ? r : b);
    store_words16(row, low | to_unorm16(g) << 8 | high << 16 | to_unorm16(a) << 24);
  } else if (row && t->channels == 1 && t->encoding == SMELT_CPU_UNORM8) {
    typedef unsigned char Byte16 __attribute__((ext_vector_type(16)));
    const Byte16 v = __builtin_convertvector(to_unorm16(r), Byte16);
    __builtin_memcpy(row, &v, sizeof v);
  } else if (row && t->channels == 4 && t->encoding == SMELT_CPU_FLOAT32 && t->order == SMELT_CPU_RGBA) {
    const Word16 rg_low = __builtin_shufflevector(r, g, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const Word16 ba_low = __builtin_shufflevector(b, a, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const Word16 rg_high = __builtin_shufflevector(r, g, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    const Word16 ba_high = __builtin_shufflevector(b, a, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#define PAIRS(p, q, i)                                                                                                \
  __builtin_shufflevector(p, q, i, i + 1, i + 16, i + 17, i + 2, i + 3, i + 18, i + 19, i + 4, i + 5, i + 20, i + 21, \
                          i + 6, i + 7, i + 22, i + 23)
    store_words16(row, PAIRS(rg_low, ba_low, 0));
    store_words16(row + 64, PAIRS(rg_low, ba_low, 8));
    store_words16(row + 128, PAIRS(rg_high, ba_high, 0));
    store_words16(row + 192, PAIRS(rg_high, ba_high, 8));
#undef PAIRS
  } else if (row && t->channels == 1 && t->encoding == SMELT_CPU_FLOAT32) {
    store_words16(row, r);
  } else {
    u32 own_x[16], own_y[16], given[64];
    store_words16(own_x, xs);
    store_words16(own_y, ys);
    store_words16(given, r);
    store_words16(given + 16, g);
    store_words16(given + 32, b);
    store_words16(given + 48, a);
    smelt_rt_texture_write_lanes(t, own_x, own_y, 0, 0, 0, given, here, 16);
  }
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
