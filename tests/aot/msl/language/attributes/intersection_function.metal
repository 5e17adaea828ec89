// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: intersection functions
// gap: intersection functions are not supported
#include <metal_stdlib>
using namespace metal;
[[intersection(bounding_box)]] bool corner() { return true; }
