// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// rule: instantiation with `decltype`
// run: 2
// out float: 2 3
#include <metal_stdlib>
using namespace metal;
template <typename T> [[kernel]] void add(device T* out, uint i [[thread_position_in_grid]]) { out[i] = T(i) + T(2); }
typedef decltype(add<float>) add_t;
template [[host_name("k")]] kernel add_t add<float>;
