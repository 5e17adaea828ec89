/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Texels in memory: where they lie, and what their bits say. What is outside of a texture is read as zero and not
// written, as on Apple's GPUs. These functions stay calls (runtime.cpp); no lane vectoriser widens them.
#include "../../../schema/package/include/smelt/schema/cpu_abi.h"
#include "rt.h"

typedef float Float4 __attribute__((ext_vector_type(4)));
typedef u32 Word4 __attribute__((ext_vector_type(4)));
typedef struct smelt_cpu_texture Texture;

/// A size at a level.
RT_INLINE u32 at_level(u32 size, u32 level) {
  const u32 smaller = level < 32 ? size >> level : 0;
  return smaller ? smaller : 1;
}

/// Returns 1 if the launch was handed a texture or sampler at this address. After the first fault of a launch it
/// returns 0, so that a kernel cannot find an address by trying many.
int smelt_rt_texture_is_handle(const struct smelt_cpu_dispatch* dispatch, u64 address, u32 is_sampler) {
  const struct smelt_cpu_services* const services = dispatch->services;
  if (!services || dispatch->fault->claimed) return 0;
  const u64* first = (const u64*)(is_sampler ? services->samplers : services->textures);
  u64 count = is_sampler ? services->sampler_count : services->texture_count;
  while (count > 0) {
    const u64 half = count / 2;
    if (first[half] == address) return 1;
    if (first[half] < address) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return 0;
}

u32 smelt_rt_texture_width(const Texture* texture, u32 level) {
  return texture ? at_level(texture->width, level) : 0;
}
u32 smelt_rt_texture_height(const Texture* texture, u32 level) {
  return texture ? at_level(texture->height, level) : 0;
}
u32 smelt_rt_texture_depth(const Texture* texture, u32 level) {
  return texture ? at_level(texture->depth, level) : 0;
}
u32 smelt_rt_texture_layers(const Texture* texture) {
  return texture ? texture->layers : 0;
}
u32 smelt_rt_texture_levels(const Texture* texture) {
  return texture ? texture->levels : 0;
}
u32 smelt_rt_texture_samples(const Texture* texture) {
  return texture ? texture->samples : 0;
}

/// Null outside of the texture. `sample` is 0 but for textures of several.
RT_INLINE unsigned char* texel_at(const Texture* t, u32 x, u32 y, u32 z, u32 layer, u32 level, u32 sample) {
  if (!t || level >= t->levels || layer >= t->layers || sample >= t->samples) return 0;
  if (x >= at_level(t->width, level) || y >= at_level(t->height, level) || z >= at_level(t->depth, level)) return 0;
  const struct smelt_cpu_level* l = &t->level[level];
  return t->data + layer * t->layer_bytes + l->offset + z * l->slice_bytes + y * l->row_bytes +
         ((u64)x * t->samples + sample) * t->texel_bytes;
}

RT_INLINE u32 load16(const unsigned char* p) {
  unsigned short v;
  __builtin_memcpy(&v, p, 2);
  return v;
}
RT_INLINE u32 load32(const unsigned char* p) {
  u32 v;
  __builtin_memcpy(&v, p, 4);
  return v;
}
RT_INLINE void store16(unsigned char* p, u32 v) {
  const unsigned short narrow = (unsigned short)v;
  __builtin_memcpy(p, &narrow, 2);
}
RT_INLINE void store32(unsigned char* p, u32 v) {
  __builtin_memcpy(p, &v, 4);
}
RT_INLINE float half_to_float(u32 bits16) {
  const unsigned short narrow = (unsigned short)bits16;
  _Float16 h;
  __builtin_memcpy(&h, &narrow, 2);
  return (float)h;
}
RT_INLINE u32 float_to_half(float x) {
  const _Float16 h = (_Float16)x;
  unsigned short narrow;
  __builtin_memcpy(&narrow, &h, 2);
  return narrow;
}

// ---- Numbers: normalised integers to floats and back, to nearest even; NaN becomes 0.

RT_INLINE float from_unorm(u32 v, u32 width) {
  return (float)v / (float)((1u << width) - 1);
}
RT_INLINE float from_snorm(i32 v, u32 width) {
  const float x = (float)v / (float)((1 << (width - 1)) - 1);
  return x < -1.0f ? -1.0f : x;
}
/// x in [0, 2^23), or NaN, which is 0; to nearest even.
RT_INLINE u32 to_whole(float x) {
  const float positive = x > 0.0f ? x : 0.0f;
  return bits(positive + 0x1p23f) & 0x7fffff;
}
RT_INLINE u32 to_unorm(float x, u32 width) {
  const float most = (float)((1u << width) - 1);
  const float clamped = x < 1.0f ? x : x == x ? 1.0f : 0.0f;
  return to_whole(clamped * most);
}
RT_INLINE u32 to_snorm(float x, u32 width) {
  const float most = (float)((1 << (width - 1)) - 1);
  const float size = magnitude(x);
  const u32 whole = to_whole((size < 1.0f ? size : size == size ? 1.0f : 0.0f) * most);
  return x < 0.0f ? 0u - whole : whole;
}

RT_INLINE float from_srgb(float c) {
  return c <= 0.04045f ? c / 12.92f : smelt_rt_powr((c + 0.055f) / 1.055f, 2.4f);
}
RT_INLINE float to_srgb(float c) {
  if (!(c > 0.0f)) return 0.0f;
  if (c >= 1.0f) return 1.0f;
  return c < 0.0031308f ? 12.92f * c : 1.055f * smelt_rt_powr(c, 1.0f / 2.4f) - 0.055f;
}

/// A float without sign of `mantissa` bits and five of exponent (RG11B10Float).
RT_INLINE float from_small(u32 v, u32 mantissa) {
  return half_to_float(v << (10 - mantissa));
}
/// To nearest even; negative and -inf are 0, too large is the largest, inf and NaN stay.
RT_INLINE u32 to_small(float x, u32 mantissa) {
  const u32 infinite = 31u << mantissa;
  if (x != x) return infinite | 1;
  if (!(x > 0.0f)) return 0;
  if (x == INF) return infinite;
  const u32 shift = 23 - mantissa;
  u32 rounded;
  if (x < 0x1p-14f) {
    rounded = to_whole(x * from_bits((127 + 14 + mantissa) << 23));
  } else {
    const u32 u = bits(x);
    rounded = ((u + ((1u << (shift - 1)) - 1) + ((u >> shift) & 1)) >> shift) - ((127u - 15u) << mantissa);
  }
  return rounded >= infinite ? infinite - 1 : rounded;
}

RT_INLINE Float4 from_rgb9e5(u32 v) {
  const float scale = from_bits(((v >> 27) + 127 - 15 - 9) << 23);
  return (Float4){(float)(v & 511) * scale, (float)(v >> 9 & 511) * scale, (float)(v >> 18 & 511) * scale, 1.0f};
}
RT_INLINE float shared_clamp(float x) {
  return x > 0.0f ? (x < 65408.0f ? x : 65408.0f) : 0.0f;
}
RT_INLINE u32 to_rgb9e5(Float4 c) {
  const float r = shared_clamp(c.x), g = shared_clamp(c.y), b = shared_clamp(c.z);
  const float rg = r > g ? r : g, most = rg > b ? rg : b;
  i32 exponent = (i32)(bits(most) >> 23) - 127 + 1 + 15;
  if (exponent < 0) exponent = 0;
  float scale = from_bits((u32)(127 - (exponent - 15 - 9)) << 23);
  if (to_whole(most * scale) == 512) {
    ++exponent;
    scale *= 0.5f;
  }
  return to_whole(r * scale) | to_whole(g * scale) << 9 | to_whole(b * scale) << 18 | (u32)exponent << 27;
}

// ---- Texels

/// Components that are not there: 0, alpha 1. Of BGRA the first and the third change places; alpha alone is the last.
RT_INLINE Word4 arrange(const Texture* t, Word4 c, u32 one) {
  if (t->channels < 2) c.y = 0;
  if (t->channels < 3) c.z = 0;
  if (t->channels < 4) c.w = one;
  if (t->order == SMELT_CPU_BGRA) return c.zyxw;
  if (t->order == SMELT_CPU_ALPHA) return (Word4){0, 0, 0, c.x};
  return c;
}

/// A component of plain formats, as its 32 bits: of a float, or of an integer.
RT_INLINE u32 decode_one(u32 encoding, const unsigned char* p, u32 index) {
  switch (encoding) {
    case SMELT_CPU_UNORM8:
      return bits(from_unorm(p[index], 8));
    case SMELT_CPU_SNORM8:
      return bits(from_snorm((signed char)p[index], 8));
    case SMELT_CPU_UINT8:
      return p[index];
    case SMELT_CPU_SINT8:
      return (u32)(i32)(signed char)p[index];
    case SMELT_CPU_SRGB8: {
      const float c = from_unorm(p[index], 8);
      return bits(index == 3 ? c : from_srgb(c));
    }
    case SMELT_CPU_UNORM16:
      return bits(from_unorm(load16(p + 2 * index), 16));
    case SMELT_CPU_SNORM16:
      return bits(from_snorm((short)load16(p + 2 * index), 16));
    case SMELT_CPU_UINT16:
      return load16(p + 2 * index);
    case SMELT_CPU_SINT16:
      return (u32)(i32)(short)load16(p + 2 * index);
    case SMELT_CPU_FLOAT16:
      return bits(half_to_float(load16(p + 2 * index)));
    default:
      return load32(p + 4 * index);
  }
}

RT_INLINE Word4 as_words(Float4 c) {
  return (Word4)c;
}
RT_INLINE Float4 as_floats(Word4 c) {
  return (Float4)c;
}

RT_INLINE Word4 decode_packed(const Texture* t, const unsigned char* p) {
  const u32 v = t->texel_bytes == 2 ? load16(p) : load32(p);
  switch (t->encoding) {
    case SMELT_CPU_B5G6R5:
      return as_words((Float4){from_unorm(v >> 11, 5), from_unorm(v >> 5 & 63, 6), from_unorm(v & 31, 5), 1.0f});
    case SMELT_CPU_A1BGR5:
      return as_words(
          (Float4){from_unorm(v >> 11, 5), from_unorm(v >> 6 & 31, 5), from_unorm(v >> 1 & 31, 5), (float)(v & 1)});
    case SMELT_CPU_ABGR4:
      return as_words((Float4){from_unorm(v >> 12, 4), from_unorm(v >> 8 & 15, 4), from_unorm(v >> 4 & 15, 4),
                               from_unorm(v & 15, 4)});
    case SMELT_CPU_BGR5A1:
      return as_words(
          (Float4){from_unorm(v >> 10 & 31, 5), from_unorm(v >> 5 & 31, 5), from_unorm(v & 31, 5), (float)(v >> 15)});
    case SMELT_CPU_RGB10A2:
    case SMELT_CPU_BGR10A2: {
      const Float4 c = {from_unorm(v & 1023, 10), from_unorm(v >> 10 & 1023, 10), from_unorm(v >> 20 & 1023, 10),
                        from_unorm(v >> 30, 2)};
      return as_words(t->encoding == SMELT_CPU_BGR10A2 ? c.zyxw : c);
    }
    case SMELT_CPU_RGB10A2_UINT:
      return (Word4){v & 1023, v >> 10 & 1023, v >> 20 & 1023, v >> 30};
    case SMELT_CPU_RG11B10_FLOAT:
      return as_words((Float4){from_small(v & 2047, 6), from_small(v >> 11 & 2047, 6), from_small(v >> 22, 5), 1.0f});
    default:
      return as_words(from_rgb9e5(v));
  }
}

RT_INLINE int holds_integers(const Texture* t) {
  switch (t->encoding) {
    case SMELT_CPU_UINT8:
    case SMELT_CPU_SINT8:
    case SMELT_CPU_UINT16:
    case SMELT_CPU_SINT16:
    case SMELT_CPU_UINT32:
    case SMELT_CPU_SINT32:
    case SMELT_CPU_RGB10A2_UINT:
      return 1;
    default:
      return 0;
  }
}

RT_INLINE Word4 decode(const Texture* t, const unsigned char* p) {
  if (t->encoding >= SMELT_CPU_B5G6R5) return decode_packed(t, p);
  Word4 c = 0;
  for (u32 i = 0; i < t->channels; ++i) c[i] = decode_one(t->encoding, p, i);
  return arrange(t, c, holds_integers(t) ? 1 : bits(1.0f));
}

// A write to an integer format of 8, 16, 10 or 2 bits stores the nearest value that the format holds (Metal Shading
// Language Specification 8.7.6).
RT_INLINE u32 at_most(u32 v, u32 most) {
  return v < most ? v : most;
}
RT_INLINE i32 clamped(i32 v, i32 low, i32 high) {
  return v < low ? low : v > high ? high : v;
}

RT_INLINE void encode_one(u32 encoding, unsigned char* p, u32 index, u32 v) {
  const float x = from_bits(v);
  switch (encoding) {
    case SMELT_CPU_UNORM8:
      p[index] = (unsigned char)to_unorm(x, 8);
      return;
    case SMELT_CPU_SNORM8:
      p[index] = (unsigned char)to_snorm(x, 8);
      return;
    case SMELT_CPU_SRGB8:
      p[index] = (unsigned char)to_unorm(index == 3 ? x : to_srgb(x), 8);
      return;
    case SMELT_CPU_UINT8:
      p[index] = (unsigned char)at_most(v, 255);
      return;
    case SMELT_CPU_SINT8:
      p[index] = (unsigned char)clamped((i32)v, -128, 127);
      return;
    case SMELT_CPU_UNORM16:
      store16(p + 2 * index, to_unorm(x, 16));
      return;
    case SMELT_CPU_SNORM16:
      store16(p + 2 * index, to_snorm(x, 16));
      return;
    case SMELT_CPU_FLOAT16:
      store16(p + 2 * index, float_to_half(x));
      return;
    case SMELT_CPU_UINT16:
      store16(p + 2 * index, at_most(v, 65535));
      return;
    case SMELT_CPU_SINT16:
      store16(p + 2 * index, (u32)clamped((i32)v, -32768, 32767));
      return;
    default:
      store32(p + 4 * index, v);
      return;
  }
}

RT_INLINE void encode_packed(const Texture* t, unsigned char* p, Word4 words) {
  Float4 c = as_floats(words);
  u32 v;
  switch (t->encoding) {
    case SMELT_CPU_B5G6R5:
      v = to_unorm(c.x, 5) << 11 | to_unorm(c.y, 6) << 5 | to_unorm(c.z, 5);
      break;
    case SMELT_CPU_A1BGR5:
      v = to_unorm(c.x, 5) << 11 | to_unorm(c.y, 5) << 6 | to_unorm(c.z, 5) << 1 | to_unorm(c.w, 1);
      break;
    case SMELT_CPU_ABGR4:
      v = to_unorm(c.x, 4) << 12 | to_unorm(c.y, 4) << 8 | to_unorm(c.z, 4) << 4 | to_unorm(c.w, 4);
      break;
    case SMELT_CPU_BGR5A1:
      v = to_unorm(c.x, 5) << 10 | to_unorm(c.y, 5) << 5 | to_unorm(c.z, 5) | to_unorm(c.w, 1) << 15;
      break;
    case SMELT_CPU_BGR10A2:
      c = c.zyxw;
      __attribute__((fallthrough));
    case SMELT_CPU_RGB10A2:
      v = to_unorm(c.x, 10) | to_unorm(c.y, 10) << 10 | to_unorm(c.z, 10) << 20 | to_unorm(c.w, 2) << 30;
      break;
    case SMELT_CPU_RGB10A2_UINT:
      v = at_most(words.x, 1023) | at_most(words.y, 1023) << 10 | at_most(words.z, 1023) << 20 |
          at_most(words.w, 3) << 30;
      break;
    case SMELT_CPU_RG11B10_FLOAT:
      v = to_small(c.x, 6) | to_small(c.y, 6) << 11 | to_small(c.z, 5) << 22;
      break;
    default:
      v = to_rgb9e5(c);
      break;
  }
  if (t->texel_bytes == 2)
    store16(p, v);
  else
    store32(p, v);
}

RT_INLINE void encode(const Texture* t, unsigned char* p, Word4 c) {
  if (t->encoding >= SMELT_CPU_B5G6R5) return encode_packed(t, p, c);
  if (t->order == SMELT_CPU_BGRA) c = c.zyxw;
  if (t->order == SMELT_CPU_ALPHA) c.x = c.w;
  for (u32 i = 0; i < t->channels; ++i) encode_one(t->encoding, p, i, c[i]);
}

__attribute__((noinline)) Word4 smelt_rt_texture_read(const Texture* t, u32 x, u32 y, u32 z, u32 layer, u32 level,
                                                      u32 sample) {
  const unsigned char* p = texel_at(t, x, y, z, layer, level, sample);
  return p ? decode(t, p) : (Word4)0;
}

void smelt_rt_texture_write(const Texture* t, u32 x, u32 y, u32 z, u32 layer, u32 level, Word4 value) {
  unsigned char* p = texel_at(t, x, y, z, layer, level, 0);
  if (p) encode(t, p, value);
}

// ---- Atomics, of textures of one number of 32 bits; of others, and outside, they read zero and write nothing.

RT_INLINE u32* atomic_at(const Texture* t, u32 x, u32 y, u32 z, u32 layer) {
  unsigned char* p = texel_at(t, x, y, z, layer, 0, 0);
  const int fits = p && t->channels == 1 && (t->encoding == SMELT_CPU_UINT32 || t->encoding == SMELT_CPU_SINT32);
  return fits ? (u32*)p : 0;
}

/// `operation`: as kAtomicVerbs of lower/texture.cpp counts them. Returns what was there.
u32 smelt_rt_texture_atomic(const Texture* t, u32 x, u32 y, u32 z, u32 layer, u32 operation, u32 value) {
  u32* p = atomic_at(t, x, y, z, layer);
  if (!p) return 0;
  switch (operation) {
    case 0:
      return __atomic_load_n(p, __ATOMIC_RELAXED);
    case 1:
    case 2:
      return __atomic_exchange_n(p, value, __ATOMIC_RELAXED);
    case 3:
      return __atomic_fetch_add(p, value, __ATOMIC_RELAXED);
    case 4:
      return __atomic_fetch_and(p, value, __ATOMIC_RELAXED);
    case 5:
      return __atomic_fetch_or(p, value, __ATOMIC_RELAXED);
    case 6:
      return __atomic_fetch_sub(p, value, __ATOMIC_RELAXED);
    case 7:
      return __atomic_fetch_xor(p, value, __ATOMIC_RELAXED);
    case 8:
      return __atomic_fetch_max(p, value, __ATOMIC_RELAXED);
    case 9:
      return __atomic_fetch_min(p, value, __ATOMIC_RELAXED);
    case 10:
      return (u32)__atomic_fetch_max((i32*)p, (i32)value, __ATOMIC_RELAXED);
    default:
      return (u32)__atomic_fetch_min((i32*)p, (i32)value, __ATOMIC_RELAXED);
  }
}
u32 smelt_rt_texture_swap(const Texture* t, u32 x, u32 y, u32 z, u32 layer, u32 expected, u32 desired) {
  u32* p = atomic_at(t, x, y, z, layer);
  if (!p) return ~expected;
  __atomic_compare_exchange_n(p, &expected, desired, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}

u32 smelt_rt_texture_is_null(const Texture* t) {
  return t == 0;
}

// The same in two steps, for code that looks where it goes: the texel, null outside, then the access.

unsigned char* smelt_rt_texture_texel(const Texture* t, u32 x, u32 y, u32 z, u32 layer, u32 level, u32 sample) {
  return texel_at(t, x, y, z, layer, level, sample);
}
Word4 smelt_rt_texture_read_texel(const Texture* t, const unsigned char* texel) {
  return decode(t, texel);
}
void smelt_rt_texture_write_texel(const Texture* t, unsigned char* texel, Word4 value) {
  encode(t, texel, value);
}
