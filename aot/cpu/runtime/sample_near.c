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
/// For permute16(): of one load LLVM would make a load for each element.
RT_INLINE Word16 load_halves16(const unsigned char* p) {
  return __builtin_shufflevector(load8(p), load8(p + 32), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
/// The code generator makes one instruction of it where there is one.
RT_INLINE Word16 permute16(Word16 v, Word16 at) {
  // LLVM would take a mask apart.
  const Word16 in = __builtin_elementwise_min(at, (Word16)15);
  Word16 r = 0;
  _Pragma("clang loop unroll(full)") for (u32 k = 0; k < 16; ++k) r[k] = v[in[k]];
  return r;
}
RT_INLINE Word16 pick16(Word16 low, Word16 high, Word16 at) {
  const Int16 is_low = (Int16)(at < 16);
  return (permute16(low, at) & (Word16)is_low) | (permute16(high, at - 16) & ~(Word16)is_low);
}

/// Where the two texels of each lane lie on the axis x, how much the second weighs, and the same for all lanes on y.
typedef struct {
  Word16 x0, x1;
  Float16 wx;
  u32 y0, y1;
  float wy;
} Footprint;

/// Texels of bytes from two rows: all of them lie within 32 side by side.
RT_INLINE Texels16 blend_bytes16(const unsigned char* upper, const unsigned char* lower, Word16 left, Word16 right,
                                 const Footprint* f) {
  Word16 p, q, r, w;
  const Word16 upper_low = load_halves16(upper), lower_low = load_halves16(lower);
  if (all16((Int16)(right < 16) & (Int16)(left < 16))) {
    p = permute16(upper_low, left), q = permute16(upper_low, right);
    r = permute16(lower_low, left), w = permute16(lower_low, right);
  } else {
    const Word16 upper_high = load_halves16(upper + 64), lower_high = load_halves16(lower + 64);
    p = pick16(upper_low, upper_high, left), q = pick16(upper_low, upper_high, right);
    r = pick16(lower_low, lower_high, left), w = pick16(lower_low, lower_high, right);
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

RT_INLINE void sample16(const Texture* t, const u64* state, const u32* x, const u32* y, u32 on, u32 lanes, u32* out,
                        u32 first) {
  const Word16 xs = load_words16(x + first), ys = y ? load_words16(y + first) : (Word16)0;
  const u32 here = on >> first & 0xffff;
  Texels16 v;
  Footprint f;
  int done = 0;
  if (!RARELY(here != 0xffff) && t && state && t->samples == 1 && t->levels == 1 && t->width <= 1u << 20 &&
      t->height <= 1u << 20) {
    const Sampler s = open_sampler(state);
    const unsigned char* base = t->data + t->level[0].offset;
    const u64 row_bytes = t->level[0].row_bytes;
    if (s.minify == 1 && s.magnify == 1 && footprint16(t, &s, (Float16)xs, (Float16)ys, &f)) {
      const unsigned char *upper = base + f.y0 * row_bytes, *lower = base + f.y1 * row_bytes;
      if (t->channels == 4 && t->encoding == SMELT_CPU_UNORM8 && t->order == SMELT_CPU_RGBA && t->width >= 32) {
        const u32 last = t->width - 32, from = f.x0[0] < last ? f.x0[0] : last;
        const Word16 left = f.x0 - from, right = f.x1 - from;
        done = all16((Int16)(left < 32) & (Int16)(right < 32));
        if (done) v = blend_bytes16(upper + 4 * (u64)from, lower + 4 * (u64)from, left, right, &f);
      } else if (is_rgba_floats(t)) {
        done = 1;
        v = blend_floats16(upper, lower, &f);
      }
    }
  }
  if (RARELY(!done)) {
    u32 own_x[16], own_y[16], made[64];
    store_words16(own_x, xs);
    store_words16(own_y, ys);
    smelt_rt_texture_sample_lanes(t, state, (const float*)own_x, (const float*)own_y, 0, 0, 0, 0, 0, 2, 0, 0, here, 16,
                                  made);
    v = (Texels16){{load_words16(made), load_words16(made + 16), load_words16(made + 32), load_words16(made + 48)}};
  }
  store_texels16(out + first, lanes, v);
}

void smelt_rt_inline_texture_sample_lanes(const Texture* t, const u64* state, const float* x, const float* y,
                                          const float* z, const u32* element, const u32* dx, const u32* dy,
                                          const u32* dz, u32 shape, const float* lod, const float* least, u32 on,
                                          u32 lanes, u32* out) {
  (void)z, (void)element, (void)dx, (void)dy, (void)dz, (void)shape, (void)lod, (void)least;
  sample16(t, state, (const u32*)x, (const u32*)y, on, lanes, out, 0);
  if (lanes > 16) sample16(t, state, (const u32*)x, (const u32*)y, on, lanes, out, 16);
}
