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

RT_INLINE Word32 both_halves(Word16 low, Word16 high) {
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20,
                                 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31);
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
/// (codegen/texel_rows.hpp).
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
// Of n lanes:
//   unorm:     as unorm_of_byte() of sample.c;
//   times255:  the compiler may join it with what the kernel multiplied before, where the kernel allows that;
//   to_unorm:  as to_unorm8(), which clamps first, with the same result. More stands above the low byte.
#define DEFINE_UNORMS(n)                                                                        \
  RT_INLINE Word##n unorm##n(Float##n x) {                                                      \
    return (Word##n)__builtin_elementwise_fma(x, (Float##n)kHigh255th, x * kLow255th);          \
  }                                                                                             \
  RT_INLINE Float##n times255_##n(Float##n x) {                                                 \
    _Pragma("clang fp reassociate(on)") return x * 255.0f;                                      \
  }                                                                                             \
  RT_INLINE Word##n to_unorm##n(Word##n word) {                                                 \
    const Float##n x = __builtin_elementwise_max(times255_##n((Float##n)word), (Float##n)0.0f); \
    return (Word##n)(__builtin_elementwise_min(x, (Float##n)255.0f) + 0x1p23f);                 \
  }
DEFINE_UNORMS(16)
DEFINE_UNORMS(32)
#undef DEFINE_UNORMS

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

// What is given is copied, so that it escapes nowhere else and stays in registers.
RT_INLINE void read_by_call(const Texture* t, Words x, Words y, u32 on, u32 lanes, u32* made) {
  u32 own_x[32], own_y[32];
  store_lanes(own_x, lanes, x);
  store_lanes(own_y, lanes, y);
  smelt_rt_texture_read_lanes(t, own_x, own_y, 0, 0, 0, 0, on, lanes, made);
}
RT_INLINE void write_by_call(const Texture* t, Words x, Words y, u32 on, u32 lanes, const u32* given) {
  u32 own_x[32], own_y[32];
  store_lanes(own_x, lanes, x);
  store_lanes(own_y, lanes, y);
  smelt_rt_texture_write_lanes(t, own_x, own_y, 0, 0, 0, given, on, lanes);
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
      u32 made[128];
      read_by_call(t, xs, ys, on, lanes, made);
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
  u32 given[128];
  EACH_OF_4(i) store_lanes(given + i * lanes, lanes, v[i]);
  write_by_call(t, xs, ys, on, lanes, given);
}
