/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// <SwiftUI/SwiftUI_Metal.h>: what SwiftUI hands to the function of a layerEffect. Members, their order and what
// sample() computes are those of libraries of Apple's compiler (docs/formats/air.md 1.12), since SwiftUI fills the
// object in.
#ifndef __SMELT_SWIFTUI_METAL_H
#define __SMELT_SWIFTUI_METAL_H

#include <metal_stdlib>

namespace SwiftUI {

/// The pixels of a view. Copied freely; nothing but sample() is for a caller.
struct Layer {
  metal::texture2d<half> tex;
  metal::float2 info[5];  ///< the matrix from the view's points to the texture, by columns, then the corners to stay in

  /// The colour at a point of the view, in points; alpha is multiplied in.
  metal::half4 sample(metal::float2 p) const {
    constexpr metal::sampler linear(metal::filter::linear);
    const metal::float2 at = metal::fma(metal::float2(p.x), info[0], metal::fma(metal::float2(p.y), info[1], info[2]));
    return tex.sample(linear, metal::clamp(at, info[3], info[4]));
  }
};

}  // namespace SwiftUI

#endif
