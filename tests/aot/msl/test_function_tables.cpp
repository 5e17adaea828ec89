// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Visible functions called through a table: the forms of docs/formats/air.md 1.16.
#include "smelt/aot/verify.hpp"

#include "entry_text.hpp"

namespace smelt::test {
namespace {

const std::string kTables = R"(
using Shade = half4(float2, uint, device const float*);
[[visible]] half4 red(float2 at, uint i, device const float* x) { return half4(at.x, x[i], 0, 1); }
kernel void k(device uint* out [[buffer(0)]], visible_function_table<Shade> few [[buffer(1)]],
              visible_function_table<float(float)> many [[buffer(2)]], device half4* colours [[buffer(4)]],
              device const float* x [[buffer(5)]], uint i [[thread_position_in_grid]]) {
  out[0] = is_null_visible_function_table(few) ? 7 : 3;
  out[1] = few.size();
  out[2] = many.empty();
  auto shade = few[i];
  colours[i] = shade(float2(i, 1), i, x) + few[0](float2(0), 1, x);
  float (*plain)(float) = many[3];
  colours[i].w = plain(x[i]);
}
)";

}  // namespace

TEST_CASE("a table: its node, what is asked of it, and calls with the types of visible functions") {
  const EntryText made = entry_of(kTables, "k", "kernel");
  REQUIRE(made.inputs.size() == 6);
  CHECK(made.inputs[1] ==
        "1, visible_function_table, location_index, 1, 1, read, arg_type_name, visible_function_table, arg_name, few");
  CHECK(made.inputs[2] ==
        "2, visible_function_table, location_index, 2, 1, read, arg_type_name, visible_function_table, arg_name, many");
  const std::string ir = ir_of(kTables, "k");
  for (const char* part : {"i1 @air.is_null_visible_function_table(ptr addrspace(1) ",
                           "i32 @air.get_size_visible_function_table(ptr addrspace(1) ",
                           "ptr @air.get_function_pointer_visible_function_table(ptr addrspace(1) ", "<4 x half> %",
                           "(<2 x float> ", "float %"})
    CHECK_MESSAGE(ir.find(part) != std::string::npos, part, "\n", ir);
  CHECK(std::regex_search(
      ir, std::regex(R"(call [a-z ]*<4 x half> %\w+\(<2 x float> %?\w+, i32 %?\w+, ptr addrspace\(1\) )")));
  CHECK(std::regex_search(ir, std::regex(R"(call [a-z ]*float %\w+\(float %\w+\))")));
  CHECK(findings_of(kTables) == "");
}

TEST_CASE("what a table cannot be is an error that names it") {
  struct Row {
    std::string text, error;
  };
  const std::string t = "using T = visible_function_table<float(float)>;\n";
  const Row rows[] = {
      {t + "kernel void k(T a [[buffer(1)]], device float* b [[buffer(1)]]) {}",
       "cannot reserve 'buffer' resource location at index 1: 'a' has it"},
      {t + "kernel void k(T a [[texture(1)]]) {}",
       "'texture' attribute does not apply to a parameter of type 'visible_function_table'; it is 'buffer'"},
      {t + "kernel void k(array<T, 2> a [[buffer(1)]]) {}",
       "parameter 'a': an array of or a pointer to 'visible_function_table' is not supported; array<T, n> by value is, "
       "and a structure that holds it"},
      {t + "struct S { T t; };\nkernel void k(constant S& s [[buffer(1)]]) {}",
       "parameter 's': member 't' of 'S' is a 'visible_function_table', which is not supported"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(error_of(row.text) == row.error);
  }
  CHECK(
      error_of(
          "struct S { float x; };\nkernel void k(visible_function_table<float(S)> t [[buffer(0)]], device float* x) {\n"
          "  x[0] = t[0](S{1}); }")
          .find("a function of a table is given and gives scalars, vectors, pointers and references only") !=
      std::string::npos);
  CHECK(
      error_of(t + "[[visible]] float f(T t) { return t[0](1); }").find("'t': a visible function that is given a '") !=
      std::string::npos);
}

}  // namespace smelt::test
