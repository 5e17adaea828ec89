/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Sampling. Where Metal's specification says no more than a name, this is the Vulkan specification's chapter on image
// operations: which texels, their weights, how a level is chosen. Weights are floats, of more bits than a GPU's.
// max_anisotropy is read and not used: one probe on the level of the longer axis is what both specifications allow.
#include "rt.h"

// texture.c stands before this file in runtime.c.

enum { kClampToZero, kClampToEdge, kRepeat, kMirroredRepeat, kClampToBorder };

typedef struct {
  u32 address[3];
  u32 magnify, minify, mip, pixels, compare, border;
  float low, high;
} Sampler;

RT_INLINE Sampler open_sampler(const u64* state) {
  const u64 s = state[0];
  Sampler o;
  o.address[0] = s & 7;
  o.address[1] = s >> 3 & 7;
  o.address[2] = s >> 6 & 7;
  o.magnify = s >> 9 & 3;
  o.minify = s >> 11 & 3;
  o.mip = s >> 13 & 3;
  o.pixels = s >> 15 & 1;
  o.compare = s >> 16 & 15;
  o.low = half_to_float((u32)(s >> 24) & 0xffff);
  o.high = half_to_float((u32)(s >> 40) & 0xffff);
  o.border = s >> 56 & 3;
  return o;
}

/// Not NaN, and small enough to become an integer.
RT_INLINE float tame(float x) {
  const float clamped = x < 0x1p30f ? x : 0x1p30f;
  return clamped > -0x1p30f ? clamped : x == x ? -0x1p30f : 0.0f;
}
RT_INLINE i32 floor_of(float x) {
  const i32 whole = (i32)tame(x);
  return (float)whole > x ? whole - 1 : whole;
}

/// A texel of the axis in [0, size), or -1: outside, where the border is.
RT_INLINE i32 wrap(i32 i, i32 size, u32 mode) {
  if (mode == kRepeat) {
    const i32 r = i % size;
    return r < 0 ? r + size : r;
  }
  if (mode == kMirroredRepeat) {
    i32 r = i % (2 * size);
    if (r < 0) r += 2 * size;
    return r < size ? r : 2 * size - 1 - r;
  }
  if (mode == kClampToEdge) return i < 0 ? 0 : i >= size ? size - 1 : i;
  return i < 0 || i >= size ? -1 : i;
}

/// A border is a texel of the format: components that it does not have are 0 and alpha 1, whatever the colour says.
RT_INLINE Word4 border_of(const Texture* t, const Sampler* s, u32 mode) {
  const u32 one = holds_integers(t) ? 1 : bits(1.0f);
  const u32 colour = mode == kClampToBorder ? s->border : 0;
  const u32 part = colour == 2 ? one : 0, alpha = colour == 0 ? 0 : one;
  return arrange(t, t->order == SMELT_CPU_ALPHA ? (Word4)alpha : (Word4){part, part, part, alpha}, one);
}

RT_INLINE Word4 fetch(const Texture* t, const Sampler* s, i32 x, i32 y, i32 z, u32 layer, u32 level) {
  const i32 at[3] = {wrap(x, (i32)at_level(t->width, level), s->address[0]),
                     wrap(y, (i32)at_level(t->height, level), s->address[1]),
                     wrap(z, (i32)at_level(t->depth, level), s->address[2])};
  for (int axis = 0; axis < 3; ++axis)
    if (at[axis] < 0) return border_of(t, s, s->address[axis]);
  return smelt_rt_texture_read(t, (u32)at[0], (u32)at[1], (u32)at[2], layer, level, 0);
}

/// Where on an axis, in texels, before any wrapping. Large coordinates that repeat keep their fraction.
RT_INLINE float texels_of(float c, float size, u32 mode, u32 pixels) {
  if (pixels) return c;
  if (mode == kRepeat) c -= (float)floor_of(c);
  if (mode == kMirroredRepeat) c -= 2.0f * (float)floor_of(0.5f * c);
  return c * size;
}

/// A place that is decided, but for the level: coordinates, offset, layer; of a cube its face's.
typedef struct {
  float x, y, z;
  i32 dx, dy, dz;
  u32 layer;
  u32 axes;  // 1 to 3
} Place;

/// How fetched texels become what is filtered: themselves, or whether a reference passes their test.
typedef struct {
  int compares;
  float reference;
} Test;

RT_INLINE Float4 blend4(Float4 a, Float4 b, float w) {
  return __builtin_elementwise_fma(b - a, (Float4)w, a);
}

#define kHigh255th 0x1.010102p-8f
#define kLow255th -0x1.fdfdfep-33f

/// Bytes are blended as whole numbers, which are exact, and their blend becomes a fraction by one division, rounded to
/// nearest: 1/255 is the sum of two numbers.
RT_INLINE int blends_bytes(const Texture* t, const Test* test) {
  return t->encoding == SMELT_CPU_UNORM8 && !test->compares;
}
RT_INLINE Float4 byte_of_unorm(Float4 c) {
  return (c * 255.0f + 0x1p23f) - 0x1p23f;
}
RT_INLINE Float4 unorm_of_byte(Float4 c) {
  return __builtin_elementwise_fma(c, (Float4)kHigh255th, c * kLow255th);
}

RT_INLINE float passes(const Sampler* s, float reference, float texel) {
  switch (s->compare) {
    case 1:
      return reference < texel;
    case 2:
      return reference <= texel;
    case 3:
      return reference > texel;
    case 4:
      return reference >= texel;
    case 5:
      return reference == texel;
    case 6:
      return reference != texel;
    case 7:
      return 1.0f;
    default:
      return 0.0f;
  }
}

RT_INLINE Float4 tested(const Sampler* s, const Test* test, Word4 texel) {
  const Float4 c = as_floats(texel);
  if (!test->compares) return c;
  return (Float4){passes(s, test->reference, c.x), 0, 0, 0};
}

// The directions of a cube's faces: +x -x +y -y +z -z. (s, t) in [-1, 1] on a face to a direction, and back.
RT_INLINE void direction_of(u32 face, float s, float t, float* x, float* y, float* z) {
  const float one = face & 1 ? -1.0f : 1.0f;
  switch (face >> 1) {
    case 0:
      *x = one, *y = -t, *z = -s * one;
      return;
    case 1:
      *x = s, *y = one, *z = t * one;
      return;
    default:
      *x = s * one, *y = -t, *z = one;
      return;
  }
}
RT_INLINE u32 face_of(float x, float y, float z, float* s, float* t) {
  const float ax = magnitude(x), ay = magnitude(y), az = magnitude(z);
  if (az >= ax && az >= ay) {
    *s = z < 0 ? -x / az : x / az;
    *t = -y / az;
    return z < 0 ? 5 : 4;
  }
  if (ay >= ax) {
    *s = x / ay;
    *t = y < 0 ? -z / ay : z / ay;
    return y < 0 ? 3 : 2;
  }
  *s = x < 0 ? z / ax : -z / ax;
  *t = -y / ax;
  return x < 0 ? 1 : 0;
}

/// Of a cube: beyond an edge lies the next face. Beyond a corner, where there is none, the nearest texel of an edge.
static __attribute__((noinline)) Word4 fetch_cube(const Texture* t, i32 x, i32 y, u32 layer, u32 level) {
  const i32 size = (i32)at_level(t->width, level);
  const int out_x = x < 0 || x >= size, out_y = y < 0 || y >= size;
  if (out_x && out_y) y = y < 0 ? 0 : size - 1;
  if (out_x || out_y) {
    float dx, dy, dz, s, q;
    direction_of(layer % 6, (2.0f * (float)x + 1.0f) / (float)size - 1.0f,
                 (2.0f * (float)y + 1.0f) / (float)size - 1.0f, &dx, &dy, &dz);
    layer = layer / 6 * 6 + face_of(dx, dy, dz, &s, &q);
    x = wrap(floor_of((s + 1.0f) * 0.5f * (float)size), size, kClampToEdge);
    y = wrap(floor_of((q + 1.0f) * 0.5f * (float)size), size, kClampToEdge);
  }
  return smelt_rt_texture_read(t, (u32)x, (u32)y, 0, layer, level, 0);
}

RT_INLINE Word4 fetch_at(const Texture* t, const Sampler* s, const Place* p, int is_cube, i32 x, i32 y, i32 z,
                         u32 level) {
  return is_cube ? fetch_cube(t, x, y, p->layer, level) : fetch(t, s, x, y, z, p->layer, level);
}

/// What a linear filter blends. Three faces meet at a cube's corner: for the fourth texel their mean stands.
RT_INLINE Float4 blended_texel(const Texture* t, const Sampler* s, const Test* test, const Place* p, int is_cube, i32 x,
                               i32 y, i32 z, u32 level) {
  const i32 size = (i32)at_level(t->width, level);
  const i32 inner_x = wrap(x, size, kClampToEdge), inner_y = wrap(y, size, kClampToEdge);
  if (!is_cube || inner_x == x || inner_y == y) {
    const Float4 c = tested(s, test, fetch_at(t, s, p, is_cube, x, y, z, level));
    return blends_bytes(t, test) ? byte_of_unorm(c) : c;
  }
  const Float4 own = tested(s, test, fetch_cube(t, inner_x, inner_y, p->layer, level));
  const Float4 beside = tested(s, test, fetch_cube(t, x, inner_y, p->layer, level));
  const Float4 mean = (own + beside + tested(s, test, fetch_cube(t, inner_x, y, p->layer, level))) * (1.0f / 3.0f);
  return blends_bytes(t, test) ? mean * 255.0f : mean;
}

/// One level, filtered or not.
static __attribute__((noinline)) Float4 sample_level(const Texture* t, const Sampler* s, const Test* test,
                                                     const Place* p, int is_cube, u32 level, int linear) {
  const float u = texels_of(p->x, (float)at_level(t->width, level), is_cube ? kClampToEdge : s->address[0], s->pixels);
  const float v = texels_of(p->y, (float)at_level(t->height, level), is_cube ? kClampToEdge : s->address[1], s->pixels);
  const float w = texels_of(p->z, (float)at_level(t->depth, level), s->address[2], s->pixels);
  if (!linear || holds_integers(t)) {
    const i32 x = floor_of(u) + p->dx, y = floor_of(v) + p->dy, z = floor_of(w) + p->dz;
    // A face ends at its last texel.
    const i32 most = (i32)at_level(t->width, level) - 1;
    return tested(s, test,
                  is_cube ? fetch_at(t, s, p, 1, x > most ? most : x, y > most ? most : y, 0, level)
                          : fetch_at(t, s, p, 0, x, p->axes > 1 ? y : 0, p->axes > 2 ? z : 0, level));
  }
  const i32 x = floor_of(u - 0.5f), y = floor_of(v - 0.5f), z = floor_of(w - 0.5f);
  const float wx = tame(u) - 0.5f - (float)x, wy = tame(v) - 0.5f - (float)y, wz = tame(w) - 0.5f - (float)z;
  Float4 slices[2];
  const int count = p->axes > 2 ? 2 : 1;
  for (int k = 0; k < count; ++k) {
    Float4 rows[2];
    for (int j = 0; j < (p->axes > 1 ? 2 : 1); ++j) {
      const i32 yy = p->axes > 1 ? y + j + p->dy : 0, zz = p->axes > 2 ? z + k + p->dz : 0;
      rows[j] = blend4(blended_texel(t, s, test, p, is_cube, x + p->dx, yy, zz, level),
                       blended_texel(t, s, test, p, is_cube, x + 1 + p->dx, yy, zz, level), wx);
    }
    slices[k] = p->axes > 1 ? blend4(rows[0], rows[1], wy) : rows[0];
  }
  const Float4 blended = count == 2 ? blend4(slices[0], slices[1], wz) : slices[0];
  return blends_bytes(t, test) ? unorm_of_byte(blended) : blended;
}

static __attribute__((noinline)) Place place_of(const Texture* t, float x, float y, float z, u32 element, i32 dx,
                                                i32 dy, i32 dz, u32 shape) {
  Place p = {x, y, z, dx, dy, dz, element, shape & 3};
  u32 elements = t->layers;
  if (shape & 4) {
    float s, q;
    const u32 face = face_of(x, y, z, &s, &q);
    elements /= 6;
    p = (Place){(s + 1.0f) * 0.5f, (q + 1.0f) * 0.5f, 0, 0, 0, 0, face, 2};
  }
  if (element >= elements) element = elements ? elements - 1 : 0;
  p.layer = shape & 4 ? element * 6 + p.layer : element;
  return p;
}

/// shape: axes (1 to 3), and 4 for a cube, whose axes are then 3.
RT_INLINE Float4 sample(const Texture* t, const u64* state, float x, float y, float z, u32 element, i32 dx, i32 dy,
                        i32 dz, u32 shape, float lod, float least, const Test* test) {
  if (!t || !state) return (Float4)0;
  const Sampler s = open_sampler(state);
  const Place p = place_of(t, x, y, z, element, dx, dy, dz, shape);
  const int is_cube = (shape & 4) != 0;
  lod = lod == lod ? lod : 0.0f;
  const float low = s.low > least ? s.low : least;
  lod = lod > low ? lod : low;
  lod = lod < s.high ? lod : s.high;
  const float last = (float)(t->levels - 1);
  const int linear = (lod > 0.0f ? s.minify : s.magnify) == 1;
  const float level = lod < 0.0f ? 0.0f : lod > last ? last : lod;
  if (s.mip == 0) return sample_level(t, &s, test, &p, is_cube, 0, linear);
  if (s.mip == 1) {
    // ceil(level + 0.5) - 1
    const i32 nearest = -floor_of(-(level + 0.5f)) - 1;
    return sample_level(t, &s, test, &p, is_cube, (u32)(nearest < 0 ? 0 : nearest), linear);
  }
  const u32 from = (u32)level;
  const float weight = level - (float)from;
  const Float4 first = sample_level(t, &s, test, &p, is_cube, from, linear);
  if (weight == 0.0f || holds_integers(t)) return first;
  return blend4(first, sample_level(t, &s, test, &p, is_cube, from + 1, linear), weight);
}

Word4 smelt_rt_texture_sample(const Texture* t, const u64* state, float x, float y, float z, u32 element, i32 dx,
                              i32 dy, i32 dz, u32 shape, float lod, float least) {
  const Test none = {0, 0};
  return as_words(sample(t, state, x, y, z, element, dx, dy, dz, shape, lod, least, &none));
}

float smelt_rt_texture_compare(const Texture* t, const u64* state, float x, float y, float z, u32 element, i32 dx,
                               i32 dy, i32 dz, u32 shape, float lod, float least, float reference) {
  const Test test = {1, reference};
  return sample(t, state, x, y, z, element, dx, dy, dz, shape, lod, least, &test).x;
}

/// The level that gradients ask for: of the longer one, in texels.
float smelt_rt_texture_gradient_level(const Texture* t, const u64* state, float ax, float ay, float az, float bx,
                                      float by, float bz, float x, float y, float z, u32 shape) {
  if (!t || !state) return 0.0f;
  const int pixels = (int)(state[0] >> 15 & 1);
  if (shape & 4) {
    // A direction's derivatives onto its face: the quotient rule, with the major axis as the divisor.
    const float x_size = magnitude(x), y_size = magnitude(y), z_size = magnitude(z);
    const int major = z_size >= x_size && z_size >= y_size ? 2 : y_size >= x_size ? 1 : 0;
    const float d[3] = {x, y, z}, a[3] = {ax, ay, az}, b[3] = {bx, by, bz};
    const float m = d[major], i = d[(major + 1) % 3], j = d[(major + 2) % 3];
    const float half = 0.5f * (float)t->width / (m * m);
    const float si = half * (a[(major + 1) % 3] * m - i * a[major]),
                sj = half * (a[(major + 2) % 3] * m - j * a[major]);
    const float ti = half * (b[(major + 1) % 3] * m - i * b[major]),
                tj = half * (b[(major + 2) % 3] * m - j * b[major]);
    const float p = si * si + sj * sj, q = ti * ti + tj * tj;
    return 0.5f * smelt_rt_log2(p > q ? p : q);
  }
  const float w = pixels ? 1.0f : (float)t->width;
  const float h = (shape & 3) < 2 ? 0.0f : pixels ? 1.0f : (float)t->height;
  const float d = (shape & 3) < 3 ? 0.0f : pixels ? 1.0f : (float)t->depth;
  const float p = ax * w * ax * w + ay * h * ay * h + az * d * az * d;
  const float q = bx * w * bx * w + by * h * by * h + bz * d * bz * d;
  return 0.5f * smelt_rt_log2(p > q ? p : q);
}

/// One component of the four texels that a linear filter of level 0 would blend, in Metal's order: (i0, j1), (i1, j1),
/// (i1, j0), (i0, j0).
RT_INLINE Word4 gather(const Texture* t, const u64* state, float x, float y, float z, u32 element, i32 dx, i32 dy,
                       u32 shape, u32 component, const Test* test) {
  if (!t || !state) return (Word4)0;
  const Sampler s = open_sampler(state);
  const Place p = place_of(t, x, y, z, element, dx, dy, 0, shape);
  const int is_cube = (shape & 4) != 0;
  const i32 i =
      floor_of(texels_of(p.x, (float)t->width, is_cube ? kClampToEdge : s.address[0], s.pixels) - 0.5f) + p.dx;
  const i32 j =
      floor_of(texels_of(p.y, (float)t->height, is_cube ? kClampToEdge : s.address[1], s.pixels) - 0.5f) + p.dy;
  const i32 across[4] = {0, 1, 1, 0}, down[4] = {1, 1, 0, 0};
  Word4 result = 0;
  for (int k = 0; k < 4; ++k) {
    const Word4 texel = fetch_at(t, &s, &p, is_cube, i + across[k], j + down[k], 0, 0);
    result[k] = test->compares ? bits(passes(&s, test->reference, from_bits(texel.x))) : texel[component & 3];
  }
  return result;
}

Word4 smelt_rt_texture_gather(const Texture* t, const u64* state, float x, float y, float z, u32 element, i32 dx,
                              i32 dy, u32 shape, u32 component) {
  const Test none = {0, 0};
  return gather(t, state, x, y, z, element, dx, dy, shape, component, &none);
}

Word4 smelt_rt_texture_gather_compare(const Texture* t, const u64* state, float x, float y, float z, u32 element,
                                      i32 dx, i32 dy, u32 shape, float reference) {
  const Test test = {1, reference};
  return gather(t, state, x, y, z, element, dx, dy, shape, 0, &test);
}
