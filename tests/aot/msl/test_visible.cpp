// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Visible and stitchable functions: the forms that Apple's compiler writes (docs/formats/air.md 1.12).
#include "smelt/aot/verify.hpp"
#include "smelt/metallib/reader.hpp"

#include "entry_text.hpp"

#include <algorithm>

namespace smelt::test {
namespace {

const std::string kSwiftUI = "#include <SwiftUI/SwiftUI_Metal.h>\n";

size_t count_of(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("a visible function: what it gets, what it gives, and its type in the container") {
  const std::string text = R"(
[[visible]] float4 tint(uint2 at, half4 colour, device const float* scale, texture2d<float> t, sampler s, bool on) {
  return float4(colour) * scale[at.x] + (on ? t.sample(s, float2(at)) : 0);
}
)";
  const EntryText made = entry_of(text, "tint", "visible");
  CHECK(made.results == Lines{"visible_output, arg_type_name, float4"});
  CHECK(made.inputs == Lines{"0, visible_input, arg_type_name, uint2, arg_name, at",
                             "1, visible_input, arg_type_name, half4, arg_name, colour",
                             "2, visible_input, arg_type_name, float, arg_name, scale",
                             "3, visible_input, arg_type_name, texture2d<float, sample>, arg_name, t",
                             "4, visible_input, arg_type_name, sampler, arg_name, s",
                             "5, visible_input, arg_type_name, bool, arg_name, on"});
  CHECK(made.signature.starts_with("<4 x float> (<2 x i32> noundef "));
  CHECK(made.entry.find("stitching") == std::string::npos);
  // Nobody promises for its callers that buffers do not overlap.
  CHECK(made.signature.find("air-buffer-no-alias") == std::string::npos);
  CHECK(findings_of(text) == "");
  const auto compiled = compile_msl(kHead + text);
  REQUIRE(compiled.has_value());
  const auto library = metallib::read(compiled->targets.at(0).metallib);
  REQUIRE(library.has_value());
  CHECK(library->functions.at(0).type == static_cast<uint8_t>(metallib::FunctionType::visible));
}

TEST_CASE("a kernel calls a visible function of its source, and runs") {
  const std::string text = kHead + R"(
[[visible]] float twice(float x) { return 2 * x; }
[[visible]] void add(device float* to, float x) { to[0] += x; }
kernel void k(device float* x [[buffer(0)]]) { add(x, twice(x[1])); }
)";
  aot::CompileOptions only = msl_options();
  only.functions = {"k"};
  const Msl source(text, only);
  std::vector<float> x{1, 3};
  source.run("k", Launch{.grid = {1, 1, 1}, .group = {1, 1, 1}}.bind(0, x));
  CHECK(x[0] == 7);
}

TEST_CASE("functions that nobody calls in their source are there all the same") {
  const auto compiled = compile_msl(
      kHead +
      "[[visible]] static float a(float x) { return x; }\n[[visible]] inline float b(float x) { return x; }\n"
      "template <class T> [[visible]] T c(T x) { return x; }\ntemplate [[visible]] float c<float>(float);\n"
      "kernel void k(device float* x) {}\n");
  REQUIRE(compiled.has_value());
  Lines names;
  for (const aot::CompiledFunction& function : compiled->targets.at(0).functions) names.push_back(function.info.name);
  CHECK(names == Lines{"a", "b", "c", "k"});
}

TEST_CASE("a structure by value is a parameter for each member") {
  const EntryText made = entry_of(
      "struct Fog { float3 colour; float density; uint2 cells[2]; };\n"
      "[[visible]] float3 fog(Fog f, float x) { return f.colour * f.density * x * float(f.cells[1].y); }\n",
      "fog", "visible");
  CHECK(made.inputs == Lines{"0, visible_input, arg_type_name, float3, arg_name, colour",
                             "1, visible_input, arg_type_name, float, arg_name, density",
                             "2, visible_input, arg_type_name, uint2, arg_name, cells",
                             "3, visible_input, arg_type_name, float, arg_name, x"});
  CHECK(made.signature.find("<3 x float> %") != std::string::npos);
  CHECK(made.signature.find("[2 x <2 x i32>] %") != std::string::npos);
}

TEST_CASE("a stitchable function brings the functions of its types along, once each") {
  const std::string text =
      "[[ stitchable ]] half4 wave(float2 p, half4 colour, float time, float size) {\n"
      "  return colour * half(sin(p.x * time / size)); }\n";
  const std::string ir = ir_of(text, "wave");
  const EntryText made = entry_of(text, "wave", "visible");
  const auto lists = operands_of(made.entry);
  REQUIRE(lists.size() == 3);
  const auto info = operands_of(made.nodes.at(lists[2]));
  CHECK(made.nodes.at(lists[2]).starts_with("!{!\"air.stitching_info\", "));
  REQUIRE(info.size() == 5);
  const std::string& result = made.nodes.at(info[0]);
  const std::string traits = "@_ZN5metal22_stitching_traits_implIDv4_DhE";
  CHECK(result.starts_with("!{!\"air.stitching_type\", !"));
  CHECK(result.ends_with(", ptr " + traits + "13load_argumentEPv, ptr " + traits + "18store_return_valueEPvS1_, ptr " +
                         traits + "7destroyEPv, ptr " + traits + "16copy_from_bufferEPvPU11MTLconstantKv}"));
  CHECK(std::regex_match(made.nodes.at(operands_of(result)[0]),
                         std::regex(R"(!\{!"air.vector_type", i32 8, i32 8, null, !\d+, i32 4\})")));
  CHECK(ir.find("!{!\"air.half_type\", i32 2, i32 2, null}") != std::string::npos);
  CHECK(std::regex_match(made.nodes.at(info[1]), std::regex(R"re(!\{!"air.stitching_argument", !\d+, !"p"\})re")));
  CHECK(std::regex_match(made.nodes.at(info[4]), std::regex(R"re(!\{!"air.stitching_argument", !\d+, !"size"\})re")));
  // Three types, four functions each, and all are kept.
  CHECK(count_of(ir, "\ndefine internal ") == 12);
  CHECK(ir.find("@llvm.compiler.used = appending global [12 x ptr]") != std::string::npos);
  CHECK(ir.find("store float %1, ptr %0, align 4") != std::string::npos);
  CHECK(findings_of(text) == "");
}

TEST_CASE("arrays of SwiftUI are pointers of a stitchable function") {
  const std::string text =
      "[[stitchable]] half4 bars(float2 at, half4 c, device const float* heights, int count) {\n"
      "  return c * half(heights[int(at.x) % count]); }\n"
      "[[stitchable]] half4 ramp(float2 at, half4 c, device const half4* stops, int count) {\n"
      "  return count > 0 ? stops[int(at.x) % count] : c; }\n"
      "[[stitchable]] half4 data(float2 at, half4 c, device const void* bytes, int size, constant float& x) {\n"
      "  return ((device const half4*)bytes)[size / 8 - 1] * half(x); }\n";
  const EntryText made = entry_of(text, "bars", "visible");
  CHECK(made.inputs[2] == "2, visible_input, arg_type_name, float, arg_name, heights");
  const std::string ir = ir_of(text, "bars");
  CHECK(std::regex_search(ir, std::regex(R"(!\{!"air.pointer_type", i32 8, i32 8, null, !\d+\})")));
  CHECK(ir.find("@_ZN5metal22_stitching_traits_implIPU9MTLdeviceKfE13load_argumentEPv") != std::string::npos);
  const std::string of_data = ir_of(text, "data");
  CHECK(of_data.find("_stitching_traits_implIPU9MTLdeviceKvE13load_argumentEPv") != std::string::npos);
  CHECK(of_data.find("_stitching_traits_implIRU11MTLconstantKfE13load_argumentEPv") != std::string::npos);
  CHECK(findings_of(text) == "");
}

TEST_CASE("SwiftUI's layer: its members, its type, and how a point becomes a place of the texture") {
  const std::string text = kSwiftUI +
                           "[[stitchable]] half4 shift(float2 p, SwiftUI::Layer layer, float by) {\n"
                           "  return layer.sample(p + by); }\n";
  const std::string ir = ir_of(text, "shift");
  const EntryText made = entry_of(text, "shift", "visible");
  CHECK(made.inputs == Lines{"0, visible_input, arg_type_name, float2, arg_name, p",
                             "1, visible_input, arg_type_name, texture2d<half, sample>, arg_name, tex",
                             "2, visible_input, arg_type_name, float2, arg_name, info",
                             "3, visible_input, arg_type_name, float, arg_name, by"});
  CHECK(made.signature.find("[5 x <2 x float>] %") != std::string::npos);
  for (const char* part :
       {"!\"air.struct_type\", i32 48, i32 8, null, !\"SwiftUI::Layer\", !", "!{!\"air.record_field\", i32 0, i32 8, !",
        ", !\"tex\", null}", "!{!\"air.texture_2d_type\", i32 8, i32 8, null, !", ", !\"sample\"}",
        "!{!\"air.record_field\", i32 8, i32 8, !", "!{!\"air.array_type\", i32 40, i32 8, null, !",
        "@_ZN5metal22_stitching_traits_implIN7SwiftUI5LayerEE18store_return_valueEPvS2_(",
        "@air.sample_texture_2d.v4f16("})
    CHECK_MESSAGE(ir.find(part) != std::string::npos, part);
  CHECK(count_of(ir, " @air.fma.v2f32(") == 3);
  CHECK(count_of(ir, " @air.clamp.v2f32(") == 2);  // the call and its declaration
  // Linear, all else as a sampler is when nothing is said: the state of Apple's own libraries.
  CHECK(ir.find("i64 -9188470239253755319") != std::string::npos);
  CHECK(findings_of(text) == "");
}

TEST_CASE("verify: what a visible function gets, and what stitching needs") {
  const std::string ir = ir_of("[[stitchable]] float f(float x) { return x; }\n", "f");
  const auto finds = [&](const std::string& from, const std::string& to, const std::string& finding) {
    const std::string found = findings_with(ir, from, to);
    CHECK_MESSAGE(found.find(finding) != std::string::npos, found);
    CHECK(findings_with(ir, from, from).find(finding) == std::string::npos);
  };
  finds("!\"air.visible_input\", !\"air.arg_type_name\"", "!\"air.vertex_id\", !\"air.arg_type_name\"",
        "argument 0: 'air.vertex_id' is not an argument of a visible function");
  finds("!\"air.visible_input\", !\"air.arg_type_name\", !\"float\"",
        "!\"air.visible_input\", !\"air.arg_type_name\", !\"half\"",
        "'air.visible_input' called 'half' has another type in the function");
  finds("!\"air.visible_output\"", "!\"air.position\"", "'air.position' is not a result of a visible function");
  finds("!\"air.stitching_argument\"", "!\"air.stitching\"", "stitching argument 0 has no type and name");
  finds("ptr @_ZN5metal22_stitching_traits_implIfE7destroyEPv, ptr @_ZN5metal22_stitching_traits_implIfE16",
        "null, ptr @_ZN5metal22_stitching_traits_implIfE16", "function 2 of a stitching type does not exist");
}

TEST_CASE("what a visible function cannot be is an error that names it") {
  struct Row {
    std::string text, error;
  };
  const Row rows[] = {
      {"struct R { float a, b; }; [[visible]] R f(float x) { return {x, x}; }",
       "visible function 'f' returns 'R'; only scalars and vectors are supported"},
      {"[[visible]] float f(float4x4 m) { return m[0][0]; }",
       "'m': a visible function that is given a 'float4x4' is not supported"},
      {"[[stitchable]] void f(float x) {}", "stitchable function 'f' returns nothing"},
      {"[[stitchable]] half4 f(float2 p, thread const float* x) { return x[0]; }",
       "'x': a pointer to neither device nor constant memory in a stitchable function"},
      {"[[stitchable]] float f(bool b) { return b; }", "a stitchable function with a 'bool' is not supported"},
      {"struct S { [[visible]] float f() { return 0; } };", "visible function 'f' cannot be a member function"},
      {"struct A { float x; }; struct B : A { float y; }; [[visible]] float f(B b) { return b.y; }",
       "parameter 'b': structure 'B' by value is not supported in a visible function: it has bases, no members, or a "
       "copy constructor"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(error_of(row.text) == row.error);
  }
}

}  // namespace smelt::test
