// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: mesh and object functions
// gap: mesh stages are not supported
#include <metal_stdlib>
using namespace metal;
[[object]] void corner() {}
