/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Texels for all lanes of a SIMD group in one call: eight at a time where the format is a common one, else one after
// another by texture.c and sample.c, whose results these are bit for bit. Operands are rows of `lanes` numbers (16 or
// 32), null for zeros; `on` has a bit for each lane that takes part. Results are four rows; lanes that are off hold
// anything.
#include "rt.h"

// texture.c and sample.c stand before this file in runtime.c.

typedef u32 Word8 __attribute__((ext_vector_type(8)));
typedef i32 Int8 __attribute__((ext_vector_type(8)));
typedef float Float8 __attribute__((ext_vector_type(8)));

// Written out, since a lane of a vector is reached by a constant alone without going through memory.
#define EACH_OF_8(k) _Pragma("clang loop unroll(full)") for (u32 k = 0; k < 8; ++k)
#define EACH_OF_4(k) _Pragma("clang loop unroll(full)") for (u32 k = 0; k < 4; ++k)

typedef enum { kOther, kRgba8, kR8, kRgba16Float, kRgba32Float, kR32Float } Common;

typedef struct {
  Word8 c[4];
} Texels;

/// What it is when places of a level are numbers of 32 bits.
RT_INLINE Common common_of(const Texture* t) {
  if (!t || t->samples != 1 || t->order == SMELT_CPU_ALPHA) return kOther;
  if (t->level[0].row_bytes * t->height > 0xffffffffu) return kOther;
  if (t->channels == 4) {
    if (t->encoding == SMELT_CPU_UNORM8) return kRgba8;
    if (t->order != SMELT_CPU_RGBA) return kOther;
    if (t->encoding == SMELT_CPU_FLOAT16) return kRgba16Float;
    if (t->encoding == SMELT_CPU_FLOAT32) return kRgba32Float;
  } else if (t->channels == 1) {
    if (t->encoding == SMELT_CPU_UNORM8) return kR8;
    if (t->encoding == SMELT_CPU_FLOAT32) return kR32Float;
  }
  return kOther;
}

RT_INLINE Word8 load8(const void* p) {
  Word8 v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
RT_INLINE void store8(void* p, Word8 v) {
  __builtin_memcpy(p, &v, sizeof v);
}
RT_INLINE Word8 row8(const u32* row, u32 first) {
  return row ? load8(row + first) : (Word8)0;
}
RT_INLINE u32 of_row(const u32* row, u32 lane) {
  return row ? row[lane] : 0;
}
RT_INLINE float of_floats(const float* row, u32 lane) {
  return row ? row[lane] : 0.0f;
}
RT_INLINE Word8 iota8(void) {
  return (Word8){0, 1, 2, 3, 4, 5, 6, 7};
}
RT_INLINE int all8(Int8 mask) {
  return __builtin_reduce_and(mask) != 0;
}
RT_INLINE int any8(Int8 mask) {
  return __builtin_reduce_or(mask) != 0;
}
/// All ones in the lanes whose bit is set.
RT_INLINE Int8 lanes_of(u32 bits8) {
  return (Int8)(((Word8)bits8 & ((Word8)1 << iota8())) != 0);
}
RT_INLINE Float8 choose8(Int8 mask, Float8 yes, Float8 no) {
  return (Float8)(((Int8)yes & mask) | ((Int8)no & ~mask));
}

RT_INLINE Word8 float8(Word8 v) {
  return (Word8) __builtin_convertvector((Int8)v, Float8);
}
/// As unorm_of_byte() of sample.c.
RT_INLINE Word8 unorm8(Word8 word) {
  const Float8 x = (Float8)word;
  return (Word8)__builtin_elementwise_fma(x, (Float8)kHigh255th, x * kLow255th);
}
/// Bytes as floats from 0 to 255.
RT_INLINE Texels of_bytes(const Texture* t, Word8 v) {
  const int swaps = t->order == SMELT_CPU_BGRA;
  const Word8 first = float8(v & 255), third = float8(v >> 16 & 255);
  return (Texels){{swaps ? third : first, float8(v >> 8 & 255), swaps ? first : third, float8(v >> 24)}};
}
RT_INLINE Texels of_one(Word8 v, float one) {
  return (Texels){{v, 0, 0, (Word8)(Float8)one}};
}
RT_INLINE int holds_bytes(Common common) {
  return common == kRgba8 || common == kR8;
}
/// Of load_run() and load_each(), or of a blend of such.
RT_INLINE Texels finished(Common common, Texels v) {
  if (holds_bytes(common)) EACH_OF_4(i) v.c[i] = unorm8(v.c[i]);
  return v;
}
/// Eight texels of four words each.
RT_INLINE Texels of_words(const Word4* v) {
  Texels r;
  Word8 pairs[4];  // (0, 4) (1, 5) (2, 6) (3, 7)
  EACH_OF_4(k) pairs[k] = __builtin_shufflevector(v[k], v[k + 4], 0, 1, 2, 3, 4, 5, 6, 7);
  const Word8 low = __builtin_shufflevector(pairs[0], pairs[1], 0, 8, 1, 9, 4, 12, 5, 13);
  const Word8 high = __builtin_shufflevector(pairs[2], pairs[3], 0, 8, 1, 9, 4, 12, 5, 13);
  const Word8 low2 = __builtin_shufflevector(pairs[0], pairs[1], 2, 10, 3, 11, 6, 14, 7, 15);
  const Word8 high2 = __builtin_shufflevector(pairs[2], pairs[3], 2, 10, 3, 11, 6, 14, 7, 15);
  r.c[0] = __builtin_shufflevector(low, high, 0, 1, 8, 9, 4, 5, 12, 13);
  r.c[1] = __builtin_shufflevector(low, high, 2, 3, 10, 11, 6, 7, 14, 15);
  r.c[2] = __builtin_shufflevector(low2, high2, 0, 1, 8, 9, 4, 5, 12, 13);
  r.c[3] = __builtin_shufflevector(low2, high2, 2, 3, 10, 11, 6, 7, 14, 15);
  return r;
}
RT_INLINE Word4 words_at(Common common, const unsigned char* p) {
  typedef _Float16 Half4 __attribute__((ext_vector_type(4)));
  Word4 v;
  if (common == kRgba32Float) {
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  }
  Half4 h;
  __builtin_memcpy(&h, p, sizeof h);
  return (Word4) __builtin_convertvector(h, Float4);
}

/// Eight texels that lie side by side; bytes are not yet divided by 255.
RT_INLINE Texels load_run(const Texture* t, Common common, const unsigned char* p) {
  Word4 words[8];
  Word8 v;
  switch (common) {
    case kRgba8:
      return of_bytes(t, load8(p));
    case kR8:
      EACH_OF_8(k) v[k] = p[k];
      return of_one(float8(v), 255.0f);
    case kR32Float:
      return of_one(load8(p), 1.0f);
    default:
      EACH_OF_8(k) words[k] = words_at(common, p + k * (common == kRgba32Float ? 16 : 8));
      return of_words(words);
  }
}
/// The same of texels at these offsets, each inside of the texture.
RT_INLINE Texels load_each(const Texture* t, Common common, const unsigned char* base, Word8 offsets) {
  Word4 words[8];
  Word8 v;
  switch (common) {
    case kRgba8:
      EACH_OF_8(k) v[k] = load32(base + offsets[k]);
      return of_bytes(t, v);
    case kR8:
      EACH_OF_8(k) v[k] = base[offsets[k]];
      return of_one(float8(v), 255.0f);
    case kR32Float:
      EACH_OF_8(k) v[k] = load32(base + offsets[k]);
      return of_one(v, 1.0f);
    default:
      EACH_OF_8(k) words[k] = words_at(common, base + offsets[k]);
      return of_words(words);
  }
}

RT_INLINE Word8 offsets8(const Texture* t, Word8 x, Word8 y) {
  return y * (u32)t->level[0].row_bytes + x * t->texel_bytes;
}
RT_INLINE Int8 inside8(const Texture* t, Word8 x, Word8 y) {
  return (Int8)(x < t->width) & (Int8)(y < t->height);
}
RT_INLINE int is_run(Word8 x, Word8 y) {
  return all8((Int8)(x == x[0] + iota8()) & (Int8)(y == y[0]));
}
RT_INLINE unsigned char* texel_in(const Texture* t, unsigned char* base, u32 x, u32 y) {
  return base + y * t->level[0].row_bytes + (u64)x * t->texel_bytes;
}
/// Whether all lanes take part and look at texels side by side in one row.
RT_INLINE int all_in_a_row(const Texture* t, const u32* x, const u32* y, u32 on, u32 lanes) {
  if (!x || on != (lanes == 32 ? 0xffffffffu : (1u << lanes) - 1)) return 0;
  const u32 x0 = x[0], y0 = of_row(y, 0);
  if (x0 >= t->width || lanes > t->width - x0 || y0 >= t->height) return 0;
  Int8 same = (Int8)-1;
  for (u32 first = 0; first < lanes; first += 8)
    same &= (Int8)(load8(x + first) == x0 + first + iota8()) & (Int8)(row8(y, first) == y0);
  return all8(same);
}
/// The slice and the layer that all lanes look at. False where they differ, or lie outside.
RT_INLINE int same_slice(const Texture* t, const u32* z, const u32* layer, u32 on, u32 first, unsigned char** base) {
  const u32 lane = first + (u32)__builtin_ctz(on);
  const u32 its_z = of_row(z, lane), its_layer = of_row(layer, lane);
  const Int8 here = lanes_of(on);
  if (z && any8((Int8)(load8(z + first) != its_z) & here)) return 0;
  if (layer && any8((Int8)(load8(layer + first) != its_layer) & here)) return 0;
  *base = t->data + t->level[0].offset + its_z * t->level[0].slice_bytes + its_layer * t->layer_bytes;
  return its_z < t->depth && its_layer < t->layers;
}

void smelt_rt_texture_read_lanes(const Texture* t, const u32* x, const u32* y, const u32* z, const u32* layer,
                                 const u32* level, const u32* sample, u32 on, u32 lanes, u32* out) {
  const Common common = level || sample ? kOther : common_of(t);
  if (common != kOther && !z && !layer && all_in_a_row(t, x, y, on, lanes)) {
    unsigned char* base = t->data + t->level[0].offset;
    for (u32 first = 0; first < lanes; first += 8) {
      const Texels texels = finished(common, load_run(t, common, texel_in(t, base, x[first], of_row(y, 0))));
      EACH_OF_4(i) store8(out + i * lanes + first, texels.c[i]);
    }
    return;
  }
  for (u32 first = 0; first < lanes; first += 8) {
    const u32 here = on >> first & 255;
    if (here == 0) continue;
    unsigned char* base;
    if (common == kOther || !same_slice(t, z, layer, here, first, &base)) {
      for (u32 k = first; k < first + 8; ++k) {
        if ((on >> k & 1) == 0) continue;
        const Word4 v = smelt_rt_texture_read(t, of_row(x, k), of_row(y, k), of_row(z, k), of_row(layer, k),
                                              of_row(level, k), of_row(sample, k));
        for (u32 i = 0; i < 4; ++i) out[i * lanes + k] = v[i];
      }
      continue;
    }
    const Word8 xs = row8(x, first), ys = row8(y, first);
    const Int8 inside = inside8(t, xs, ys) & lanes_of(here);
    const Texels texels =
        finished(common, all8(inside) && is_run(xs, ys)
                             ? load_run(t, common, texel_in(t, base, xs[0], ys[0]))
                             : load_each(t, common, base, offsets8(t, xs & (Word8)inside, ys & (Word8)inside)));
    EACH_OF_4(i) store8(out + i * lanes + first, texels.c[i] & (Word8)inside);
  }
}

/// NaN is 0.
RT_INLINE Word8 to_unorm8(Word8 word) {
  const Float8 x = __builtin_elementwise_min(__builtin_elementwise_max((Float8)word, (Float8)0.0f), (Float8)1.0f);
  return (Word8)(x * 255.0f + 0x1p23f) & 0x7fffff;
}

enum { kMostTexelBytes = 16 };

/// Four rows of numbers as eight texels side by side.
RT_INLINE void encode8(const Texture* t, Common common, const u32* rows, u32 lanes, unsigned char* raw) {
  const Word8 r = load8(rows), g = load8(rows + lanes), b = load8(rows + 2 * lanes), a = load8(rows + 3 * lanes);
  switch (common) {
    case kRgba8: {
      const int swaps = t->order == SMELT_CPU_BGRA;
      const Word8 first = to_unorm8(swaps ? b : r), third = to_unorm8(swaps ? r : b);
      store8(raw, first | to_unorm8(g) << 8 | third << 16 | to_unorm8(a) << 24);
      return;
    }
    case kR8: {
      const Word8 v = to_unorm8(r);
      EACH_OF_8(k) raw[k] = (unsigned char)v[k];
      return;
    }
    case kRgba16Float:
      EACH_OF_8(k) {
        typedef _Float16 Half4 __attribute__((ext_vector_type(4)));
        const Half4 h = __builtin_convertvector((Float4)(Word4){r[k], g[k], b[k], a[k]}, Half4);
        __builtin_memcpy(raw + 8 * k, &h, sizeof h);
      }
      return;
    case kRgba32Float:
      EACH_OF_8(k) {
        const Word4 v = {r[k], g[k], b[k], a[k]};
        __builtin_memcpy(raw + 16 * k, &v, 16);
      }
      return;
    default:
      store8(raw, r);
      return;
  }
}

void smelt_rt_texture_write_lanes(const Texture* t, const u32* x, const u32* y, const u32* z, const u32* layer,
                                  const u32* level, const u32* rows, u32 on, u32 lanes) {
  const Common common = level ? kOther : common_of(t);
  if (common != kOther && !z && !layer && all_in_a_row(t, x, y, on, lanes)) {
    unsigned char* base = t->data + t->level[0].offset;
    for (u32 first = 0; first < lanes; first += 8)
      encode8(t, common, rows + first, lanes, texel_in(t, base, x[first], of_row(y, 0)));
    return;
  }
  for (u32 first = 0; first < lanes; first += 8) {
    const u32 here = on >> first & 255;
    if (here == 0) continue;
    unsigned char* base;
    if (common == kOther || !same_slice(t, z, layer, here, first, &base)) {
      for (u32 k = first; k < first + 8; ++k) {
        if ((on >> k & 1) == 0) continue;
        const Word4 v = {rows[k], rows[lanes + k], rows[2 * lanes + k], rows[3 * lanes + k]};
        smelt_rt_texture_write(t, of_row(x, k), of_row(y, k), of_row(z, k), of_row(layer, k), of_row(level, k), v);
      }
      continue;
    }
    const Word8 xs = row8(x, first), ys = row8(y, first);
    const Int8 inside = inside8(t, xs, ys) & lanes_of(here);
    if (all8(inside) && is_run(xs, ys)) {
      encode8(t, common, rows + first, lanes, texel_in(t, base, xs[0], ys[0]));
      continue;
    }
    unsigned char raw[8 * kMostTexelBytes];
    encode8(t, common, rows + first, lanes, raw);
    const Word8 offsets = offsets8(t, xs, ys);
    const u32 bytes = t->texel_bytes;
    EACH_OF_8(k) {
      if (!inside[k]) continue;
      unsigned char* to = base + offsets[k];
      const unsigned char* from = raw + k * bytes;
      if (bytes == 1)
        *to = *from;
      else if (bytes == 4)
        __builtin_memcpy(to, from, 4);
      else if (bytes == 8)
        __builtin_memcpy(to, from, 8);
      else
        __builtin_memcpy(to, from, 16);
    }
  }
}

// ---- Samples of level 0 of a 2D texture; the rules are those of sample.c.

RT_INLINE Float8 tame8(Float8 x) {
  const Float8 clamped = choose8((Int8)(x < 0x1p30f), x, (Float8)0x1p30f);
  const Float8 rest = choose8((Int8)(x == x), (Float8)-0x1p30f, (Float8)0.0f);
  return choose8((Int8)(clamped > -0x1p30f), clamped, rest);
}
RT_INLINE Int8 floor8(Float8 x) {
  const Int8 whole = __builtin_convertvector(tame8(x), Int8);
  return whole + (Int8)(__builtin_convertvector(whole, Float8) > x);
}
RT_INLINE Float8 texels8(Float8 c, float size, u32 mode, u32 pixels) {
  if (pixels) return c;
  if (mode == kRepeat) c -= __builtin_convertvector(floor8(c), Float8);
  if (mode == kMirroredRepeat) c -= 2.0f * __builtin_convertvector(floor8(0.5f * c), Float8);
  return c * size;
}
/// As wrap(), for what lies at most one texture away; what does not stays outside.
RT_INLINE Int8 wrap8(Int8 i, i32 size, u32 mode) {
  const Int8 before = (Int8)(i < 0), behind = (Int8)(i >= size);
  if (mode == kClampToEdge) return (i & ~before & ~behind) | ((Int8)(size - 1) & behind);
  if (mode == kRepeat) return i + (before & size) - (behind & size);
  if (mode == kMirroredRepeat) return (i & ~before & ~behind) | ((-1 - i) & before) | ((2 * size - 1 - i) & behind);
  return i;
}

/// Whether it sampled; else nothing is done.
RT_INLINE int sample8(const Texture* t, const Sampler* s, Common common, Float8 x, Float8 y, int linear,
                      const unsigned char* base, Int8 on, u32 lanes, u32* out) {
  const i32 width = (i32)t->width, height = (i32)t->height;
  const Float8 u = texels8(x, (float)width, s->address[0], s->pixels);
  const Float8 v = texels8(y, (float)height, s->address[1], s->pixels);
  const Float8 half = linear ? (Float8)0.5f : (Float8)0.0f;
  const Int8 left = floor8(u - half), top = floor8(v - half);
  const Int8 x0 = wrap8(left, width, s->address[0]), y0 = wrap8(top, height, s->address[1]);
  const Int8 x1 = wrap8(left + 1, width, s->address[0]), y1 = wrap8(top + 1, height, s->address[1]);
  Int8 inside = (Int8)((Word8)x0 < (u32)width) & (Int8)((Word8)y0 < (u32)height);
  if (linear) inside &= (Int8)((Word8)x1 < (u32)width) & (Int8)((Word8)y1 < (u32)height);
  if (any8(on & ~inside)) return 0;
  const Word8 left_bytes = (Word8)(x0 & on) * t->texel_bytes, right_bytes = (Word8)(x1 & on) * t->texel_bytes;
  const Word8 upper_bytes = (Word8)(y0 & on) * (u32)t->level[0].row_bytes;
  const Word8 lower_bytes = (Word8)(y1 & on) * (u32)t->level[0].row_bytes;
  Texels result = load_each(t, common, base, upper_bytes + left_bytes);
  if (linear) {
    const Float8 wx = tame8(u) - 0.5f - __builtin_convertvector(left, Float8);
    const Float8 wy = tame8(v) - 0.5f - __builtin_convertvector(top, Float8);
    const Texels b = load_each(t, common, base, upper_bytes + right_bytes);
    const Texels c = load_each(t, common, base, lower_bytes + left_bytes);
    const Texels d = load_each(t, common, base, lower_bytes + right_bytes);
    EACH_OF_4(i) {
      const Float8 p = (Float8)result.c[i], q = (Float8)b.c[i], r = (Float8)c.c[i], w = (Float8)d.c[i];
      const Float8 upper = __builtin_elementwise_fma(q - p, wx, p), lower = __builtin_elementwise_fma(w - r, wx, r);
      result.c[i] = (Word8)__builtin_elementwise_fma(lower - upper, wy, upper);
    }
  }
  result = finished(common, result);
  EACH_OF_4(i) store8(out + i * lanes, result.c[i]);
  return 1;
}

void smelt_rt_texture_sample_lanes(const Texture* t, const u64* state, const float* x, const float* y, const float* z,
                                   const u32* element, const u32* dx, const u32* dy, const u32* dz, u32 shape,
                                   const float* lod, const float* least, u32 on, u32 lanes, u32* out) {
  Common common = state && shape == 2 && !element && !dx && !dy && !dz ? common_of(t) : kOther;
  Sampler s;
  int linear = 0;
  if (common != kOther) {
    s = open_sampler(state);
    // One level, and one filter for it whatever the level of detail is.
    const int one_filter = s.minify == s.magnify || (!lod && !least && !(s.low > 0.0f));
    if ((s.mip != 0 && t->levels != 1) || !one_filter || t->width > 1u << 20 || t->height > 1u << 20) common = kOther;
    linear = s.magnify == 1;
  }
  for (u32 first = 0; first < lanes; first += 8) {
    const u32 here = on >> first & 255;
    if (here == 0) continue;
    if (common != kOther) {
      const Float8 xs = (Float8)row8((const u32*)x, first), ys = (Float8)row8((const u32*)y, first);
      if (sample8(t, &s, common, xs, ys, linear, t->data + t->level[0].offset, lanes_of(here), lanes, out + first))
        continue;
    }
    for (u32 k = first; k < first + 8; ++k) {
      if ((on >> k & 1) == 0) continue;
      const Word4 v = smelt_rt_texture_sample(t, state, of_floats(x, k), of_floats(y, k), of_floats(z, k),
                                              of_row(element, k), (i32)of_row(dx, k), (i32)of_row(dy, k),
                                              (i32)of_row(dz, k), shape, of_floats(lod, k), of_floats(least, k));
      for (u32 i = 0; i < 4; ++i) out[i * lanes + k] = v[i];
    }
  }
}
