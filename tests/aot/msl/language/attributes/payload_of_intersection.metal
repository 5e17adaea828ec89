// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: payloads of intersection functions
// gap: payloads and buffers of intersection functions are not supported
#include <metal_stdlib>
using namespace metal;
struct Seen { uint count; };
[[intersection(bounding_box)]] bool corner(ray_data Seen& seen [[payload]]) { return ++seen.count > 1; }
