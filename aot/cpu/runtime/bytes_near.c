/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// Reads and writes of textures that are known to be of RGBA bytes (lanes/byte_textures.hpp). Texels stay bytes until
// the call, which is rare, is behind them: what is computed of them can be joined with their conversion then
// (codegen/unorm_arithmetic.hpp). All lanes are one vector, as the kernel's own are; of sixteen the upper half is
// dropped.
#include "rt.h"

// texture_near.c stands before this file in runtime.c.

u32 smelt_rt_inline_texture_is_bytes(const Texture* t) {
  return t && t->samples == 1 && t->channels == 4 && t->encoding == SMELT_CPU_UNORM8 && t->order == SMELT_CPU_RGBA;
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

RT_INLINE Word32 pack_lanes(const u32* texels, u32 lanes) {
  return (to_unorm32(load_row(texels, lanes)) & 255) | (to_unorm32(load_row(texels + lanes, lanes)) & 255) << 8 |
         (to_unorm32(load_row(texels + 2 * lanes, lanes)) & 255) << 16 |
         to_unorm32(load_row(texels + 3 * lanes, lanes)) << 24;
}
RT_INLINE void unpack_lanes(u32* texels, u32 lanes, Word32 bytes) {
  EACH_OF_4(i) {
    const Float32 x = __builtin_convertvector((Int32)(i == 3 ? bytes >> 24 : bytes >> 8 * i & 255), Float32);
    store_row(texels + i * lanes, lanes, unorm32(x));
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
    u32 made[128];
    read_by_call(t, xs, ys, on, lanes, made);
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
  u32 given[128];
  unpack_lanes(given, lanes, bytes);
  write_by_call(t, xs, ys, on, lanes, given);
}
