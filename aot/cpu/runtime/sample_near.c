/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Samples of a linear filter in the kernel's own code: level 0 of a 2D texture with one, all lanes take part, in two
// rows. The rules are those of sample.c. All else is a call of texture_lanes.c, whose results these are bit for bit.
#include "rt.h"

// texture_near.c stands before this file in runtime.c.

/// As tame(), of what is not NaN.
RT_INLINE Float16 clamp16(Float16 x) {
  return __builtin_elementwise_min(__builtin_elementwise_max(x, (Float16)-0x1p30f), (Float16)0x1p30f);
}
RT_INLINE Float16 blend16(Float16 a, Float16 b, Float16 w) {
  return __builtin_elementwise_fma(b - a, w, a);
}
/// Texels of four bytes from places below 32 in a row; in memory, since how such vectors are passed changes with the
/// processor. Where it puts 32 words in any order by one instruction, runtime.cpp makes that of it.
__attribute__((noinline)) void smelt_rt_pick_texels(const unsigned char* row, const Word16* at, Word16* out) {
  Word16 v = 0;
  _Pragma("clang loop unroll(full)") for (u32 k = 0; k < 16; ++k) {
    u32 one;
    __builtin_memcpy(&one, row + 4 * (u64)(*at)[k], sizeof one);
    v[k] = one;
  }
  *out = v;
}
RT_INLINE Word16 pick_texels(const unsigned char* row, Word16 at) {
  Word16 out;
  smelt_rt_pick_texels(row, &at, &out);
  return out;
}

/// Where the two texels of each lane lie on the axis x, how much the second weighs, and the same for all lanes on y.
typedef struct {
  Word16 x0, x1;
  Float16 wx;
  u32 y0, y1;
  float wy;
} Footprint;

/// Bytes of four texels, added up: of the second and fourth component in the upper halves.
typedef struct {
  Word16 even, odd;
} Sums;
RT_INLINE Sums add_bytes(Word16 p, Word16 q, Word16 r, Word16 w) {
  const Word16 m = 0x00ff00ff;
  return (Sums){(p & m) + (q & m) + (r & m) + (w & m), (p >> 8 & m) + (q >> 8 & m) + (r >> 8 & m) + (w >> 8 & m)};
}
/// As unorm16() of a quarter of the sum, which is exact.
RT_INLINE Word16 quarter_unorm16(Word16 sum) {
  const Float16 x = __builtin_convertvector((Int16)sum, Float16);
  return (Word16)__builtin_elementwise_fma(x, (Float16)(kHigh255th / 4), x * (kLow255th / 4));
}

/// Texels of bytes from two rows: all of them lie within 32 side by side.
RT_INLINE Texels16 blend_bytes16(const unsigned char* upper, const unsigned char* lower, Word16 left, Word16 right,
                                 const Footprint* f) {
  const Word16 p = pick_texels(upper, left), q = pick_texels(upper, right);
  const Word16 r = pick_texels(lower, left), w = pick_texels(lower, right);
  // Half the size, as mip levels are made: what follows is exact for it, and so is this.
  if (f->wy == 0.5f && all16((Int16)(f->wx == 0.5f))) {
    const Sums s = add_bytes(p, q, r, w);
    return (Texels16){{quarter_unorm16(s.even & 0xffff), quarter_unorm16(s.odd & 0xffff), quarter_unorm16(s.even >> 16),
                       quarter_unorm16(s.odd >> 16)}};
  }
#define BLENDED(at)                                                                                           \
  unorm16(blend16(blend16(byte16(p, at), byte16(q, at), f->wx), blend16(byte16(r, at), byte16(w, at), f->wx), \
                  (Float16)f->wy))
  return (Texels16){{BLENDED(0), BLENDED(8), BLENDED(16), BLENDED(24)}};
#undef BLENDED
}

/// Four texels, each at its place in a row.
RT_INLINE Float16 four_texels(const unsigned char* row, Word16 x, u32 lane) {
  Word4 a, b, c, d;
  __builtin_memcpy(&a, row + (u64)x[lane] * 16, 16);
  __builtin_memcpy(&b, row + (u64)x[lane + 1] * 16, 16);
  __builtin_memcpy(&c, row + (u64)x[lane + 2] * 16, 16);
  __builtin_memcpy(&d, row + (u64)x[lane + 3] * 16, 16);
  return (Float16)__builtin_shufflevector(__builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7),
                                          __builtin_shufflevector(c, d, 0, 1, 2, 3, 4, 5, 6, 7), 0, 1, 2, 3, 4, 5, 6, 7,
                                          8, 9, 10, 11, 12, 13, 14, 15);
}
RT_INLINE Texels16 blend_floats16(const unsigned char* upper, const unsigned char* lower, const Footprint* f) {
  const Float16 wy = f->wy;
#define BLENDED(i)                                                                                  \
  (Word16) blend16(blend16(four_texels(upper, f->x0, i), four_texels(upper, f->x1, i), WEIGHTS(i)), \
                   blend16(four_texels(lower, f->x0, i), four_texels(lower, f->x1, i), WEIGHTS(i)), wy)
#define WEIGHTS(i)                                                                                                 \
  __builtin_shufflevector(f->wx, f->wx, i, i, i, i, i + 1, i + 1, i + 1, i + 1, i + 2, i + 2, i + 2, i + 2, i + 3, \
                          i + 3, i + 3, i + 3)
  return by_component(BLENDED(0), BLENDED(4), BLENDED(8), BLENDED(12));
#undef WEIGHTS
#undef BLENDED
}

RT_INLINE Int16 clamp_to16(Int16 i, i32 size) {
  return __builtin_elementwise_min(__builtin_elementwise_max(i, (Int16)0), (Int16)(size - 1));
}

/// False: the call has to do it. All lanes are in one row, as those of a SIMD group mostly are, and inside.
RT_INLINE int footprint16(const Texture* t, const Sampler* s, Float16 x, Float16 y, Footprint* f) {
  // NaN differs from itself.
  if (!all16((Int16)(x == x) & (Int16)(y == (Float16)y[0]))) return 0;
  const i32 width = (i32)t->width, height = (i32)t->height;
  if (s->address[0] == kRepeat || s->address[0] == kMirroredRepeat) return 0;
  const Float16 u = clamp16(s->pixels ? x : x * (float)width) - 0.5f;
  const Float16 left = __builtin_elementwise_floor(u);
  f->wx = u - left;
  Int16 x0 = __builtin_convertvector(left, Int16), x1 = x0 + 1;
  if (s->address[0] == kClampToEdge)
    x0 = clamp_to16(x0, width), x1 = clamp_to16(x1, width);
  else if (!all16((Int16)((Word16)x0 < (u32)width) & (Int16)((Word16)x1 < (u32)width)))
    return 0;
  f->x0 = (Word16)x0, f->x1 = (Word16)x1;
  const float v = texels_of(y[0], (float)height, s->address[1], s->pixels);
  const i32 top = floor_of(v - 0.5f);
  f->wy = tame(v) - 0.5f - (float)top;
  const i32 y0 = wrap(top, height, s->address[1]), y1 = wrap(top + 1, height, s->address[1]);
  f->y0 = (u32)y0, f->y1 = (u32)y1;
  return y0 >= 0 && y1 >= 0;
}

/// Whether it was done. `is_bytes`: smelt_rt_inline_texture_is_bytes() holds.
RT_INLINE int sample16(const Texture* t, const Sampler* s, int is_bytes, Word16 x, Word16 y, Texels16* v) {
  Footprint f;
  if (!footprint16(t, s, (Float16)x, (Float16)y, &f)) return 0;
  const u64 row_bytes = t->level[0].row_bytes;
  const unsigned char* base = t->data + t->level[0].offset;
  const unsigned char *upper = base + f.y0 * row_bytes, *lower = base + f.y1 * row_bytes;
  if (is_bytes && t->width >= 32) {
    const u32 last = t->width - 32, from = f.x0[0] < last ? f.x0[0] : last;
    const Word16 left = f.x0 - from, right = f.x1 - from;
    if (!all16((Int16)(left < 32) & (Int16)(right < 32))) return 0;
    *v = blend_bytes16(upper + 4 * (u64)from, lower + 4 * (u64)from, left, right, &f);
    return 1;
  }
  if (is_bytes || !is_rgba_floats(t)) return 0;
  *v = blend_floats16(upper, lower, &f);
  return 1;
}

RT_INLINE void sample_near(const Texture* t, const u64* state, int is_bytes, const float* x, const float* y, u32 on,
                           u32 lanes, u32* out) {
  const Words xs = load_lanes((const u32*)x, lanes), ys = load_lanes((const u32*)y, lanes);
  Texels16 v[2];
  int done = 0;
  if (!RARELY(on != (lanes > 16 ? 0xffffffff : 0xffff)) && t && state && t->samples == 1 && t->levels == 1 &&
      t->width <= 1u << 20 && t->height <= 1u << 20) {
    const Sampler s = open_sampler(state);
    done = s.minify == 1 && s.magnify == 1 && sample16(t, &s, is_bytes, xs.half[0], ys.half[0], &v[0]) &&
           (lanes <= 16 || sample16(t, &s, is_bytes, xs.half[1], ys.half[1], &v[1]));
  }
  if (RARELY(!done)) {
    u32 own_x[32], own_y[32], made[128];
    store_lanes(own_x, lanes, xs);
    store_lanes(own_y, lanes, ys);
    smelt_rt_texture_sample_lanes(t, state, (const float*)own_x, (const float*)own_y, 0, 0, 0, 0, 0, 2, 0, 0, on, lanes,
                                  made);
    EACH_OF_4(i) {
      const Words one = load_lanes(made + i * lanes, lanes);
      v[0].c[i] = one.half[0];
      if (lanes > 16) v[1].c[i] = one.half[1];
    }
  }
  EACH_OF_4(i) store_lanes(out + i * lanes, lanes, (Words){{v[0].c[i], lanes > 16 ? v[1].c[i] : v[0].c[i]}});
}

void smelt_rt_inline_texture_sample_lanes(const Texture* t, const u64* state, const float* x, const float* y,
                                          const float* z, const u32* element, const u32* dx, const u32* dy,
                                          const u32* dz, u32 shape, const float* lod, const float* least, u32 on,
                                          u32 lanes, u32* out) {
  (void)z, (void)element, (void)dx, (void)dy, (void)dz, (void)shape, (void)lod, (void)least;
  sample_near(t, state, (int)smelt_rt_inline_texture_is_bytes(t), x, y, on, lanes, out);
}
void smelt_rt_inline_texture_sample_bytes_lanes(const Texture* t, const u64* state, const float* x, const float* y,
                                                const float* z, const u32* element, const u32* dx, const u32* dy,
                                                const u32* dz, u32 shape, const float* lod, const float* least, u32 on,
                                                u32 lanes, u32* out) {
  (void)z, (void)element, (void)dx, (void)dy, (void)dz, (void)shape, (void)lod, (void)least;
  sample_near(t, state, 1, x, y, on, lanes, out);
}
