// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the dialect refuses: by name, by line, and why.
#include "smelt/aot/compile.hpp"

#include "files.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

using namespace smelt;
using namespace smelt::aot;

namespace {

Error refused(const std::string& text, const std::string& metadata = "") {
  const std::vector<Source> sources = {{"kernel.llir", as_bytes(std::string_view(text))}};
  CompileOptions options;
  options.metadata_json = metadata;
  const auto compiled = compile(sources, options);
  if (compiled) throw std::runtime_error("it was accepted");
  return compiled.error();
}

void check_says(const Error& error, std::initializer_list<std::string_view> parts) {
  for (const auto part : parts)
    CHECK_MESSAGE(error.message.find(part) != std::string::npos, part, " in: ", error.message);
}

std::string kernel(std::string_view body, std::string_view declarations) {
  return fmt::format(
      "target triple = \"amdgcn-amd-amdhsa\"\n"
      "define amdgpu_kernel void @k(ptr addrspace(1) inreg %out, ptr addrspace(1) inreg %s, ptr addrspace(1) inreg %p) "
      "{{\n"
      "  %t = call i32 @llvm.amdgcn.workitem.id.x()\n{}\n"
      "  store i32 %r, ptr addrspace(1) %out\n  ret void\n}}\ndeclare i32 @llvm.amdgcn.workitem.id.x()\n{}\n",
      body, declarations);
}

}  // namespace

TEST_CASE("operations outside the table") {
  const Error error = refused(
      kernel("  %r = call i32 @llvm.amdgcn.frobnicate.i32(i32 %t)", "declare i32 @llvm.amdgcn.frobnicate.i32(i32)"));
  CHECK(error.code == Errc::unsupported);
  check_says(error, {"kernel.llir: ", "line 4", "'llvm.amdgcn.frobnicate.i32'"});
  // A known name with another ending is another operation.
  check_says(refused(kernel("  %r = call i32 @llvm.amdgcn.readlane.twice.i32(i32 %t, i32 1)",
                            "declare i32 @llvm.amdgcn.readlane.twice.i32(i32, i32)")),
             {"line 4", "'llvm.amdgcn.readlane.twice.i32'"});
}

TEST_CASE("controls that other chips have") {
  for (const char* control : {"304", "322", "316"})
    check_says(
        refused(kernel(fmt::format("  %r = call i32 @llvm.amdgcn.update.dpp.i32(i32 0, i32 %t, i32 {}, i32 15, i32 "
                                   "15, i1 true)",
                                   control),
                       "declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32 immarg, i32 immarg, i32 immarg, i1 "
                       "immarg)")),
        {"line 4", "'llvm.amdgcn.update.dpp.i32'", "GFX10"});
  check_says(refused(kernel("  %r = call i32 @llvm.amdgcn.ds.swizzle(i32 %t, i32 57344)",
                            "declare i32 @llvm.amdgcn.ds.swizzle(i32, i32 immarg)")),
             {"line 4", "0xe000"});
}

TEST_CASE("registers of lanes that are off") {
  const std::string text = kernel(
      "  %c = icmp ult i32 %t, 7\n  br i1 %c, label %some, label %all\nsome:\n"
      "  %x = call i32 @llvm.amdgcn.readlane.i32(i32 %t, i32 20)\n  br label %all\nall:\n"
      "  %r = phi i32 [ 0, %0 ], [ %x, %some ]",
      "declare i32 @llvm.amdgcn.readlane.i32(i32, i32) #0\nattributes #0 = { convergent }");
  check_says(refused(text), {"line 7", "'llvm.amdgcn.readlane.i32'", "off"});
}

TEST_CASE("waves of 64 lanes, scratch memory, metadata") {
  const std::string text = kernel("  %r = add i32 %t, 1", "");
  check_says(refused(text, "{\"warp_size\": 64}"), {"64 lanes"});
  check_says(refused(text, "{\"profile_scratch_size\": 128}"), {"128", "profile_scratch_size"});
  std::string wide = text;
  wide.replace(wide.find("%p) {"), 5, "%p) \"target-features\"=\"+wavefrontsize64\" {");
  check_says(refused(wide), {"line 2", "'k'", "64 lanes"});
}

TEST_CASE("hidden pointers: as many as the metadata says, and unused") {
  const std::string text = kernel("  %r = add i32 %t, 1", "");
  const auto buffers = [&](const std::string& metadata) {
    const std::vector<Source> sources = {{"kernel.llir", as_bytes(std::string_view(text))}};
    CompileOptions options;
    options.metadata_json = metadata;
    const auto compiled = compile(sources, options);
    REQUIRE(compiled);
    size_t count = 0;
    for (const ArgumentInfo& argument : compiled->targets[0].functions[0].info.arguments)
      count += argument.kind == ArgumentKind::buffer;
    return count;
  };
  CHECK(buffers("") == 1);
  CHECK(buffers("{\"profile_scratch_size\": 0}") == 1);
  CHECK(buffers("{\"global_scratch_size\": 0}") == 2);  // Triton before 3.5: the other is the user's own
  std::string uses = text;
  uses.replace(uses.find("store i32 %r, ptr addrspace(1) %out"), 35, "store i32 %r, ptr addrspace(1) %p  ");
  check_says(refused(uses, "{\"profile_scratch_size\": 0}"), {"line 2", "'k'", "hidden"});
}

TEST_CASE("messages to the host: device_assert's alone, and with memory to report through") {
  constexpr std::string_view declarations = "declare i64 @__ockl_fprintf_stderr_begin()\ndeclare void @llvm.trap()";
  check_says(
      refused(kernel("  %m = call i64 @__ockl_fprintf_stderr_begin()\n  %r = trunc i64 %m to i32", declarations)),
      {"line 4", "without a trap after it"});
  std::string bare(kernel(
      "  %r = add i32 %t, 1\n  %m = call i64 @__ockl_fprintf_stderr_begin()\n  call void @llvm.trap()", declarations));
  bare.replace(bare.find(", ptr addrspace(1) inreg %s, ptr addrspace(1) inreg %p"), 54, "");
  check_says(refused(bare, "{}"), {"line 5", "hidden pointer", "'k'"});
}

TEST_CASE("messages that device_print does not write") {
  constexpr std::string_view declarations =
      "@printfFormat_1 = internal constant [3 x i8] c\"%u\\00\"\n@other = internal constant [3 x i8] c\"%u\\00\"\n"
      "declare i64 @__ockl_printf_begin(i64)\ndeclare i64 @__ockl_printf_append_string_n(i64, ptr, i64, i32)\n"
      "declare i64 @__ockl_printf_append_args(i64, i32, i64, i64, i64, i64, i64, i64, i64, i32)";
  const auto says = [&](std::string_view rest) {
    return refused(kernel(fmt::format("  %r = add i32 %t, 1\n  %m = call i64 @__ockl_printf_begin(i64 0)\n{}", rest),
                          declarations));
  };
  const std::string_view odd[] = {
      "",  // nothing follows
      "  %n = call i64 @__ockl_printf_append_string_n(i64 %m, ptr @other, i64 3, i32 1)",
      "  %n = call i64 @__ockl_printf_append_string_n(i64 %m, ptr @printfFormat_1, i64 3, i32 0)",
      "  %n = call i64 @__ockl_printf_append_string_n(i64 %m, ptr @printfFormat_1, i64 3, i32 %t)",
      "  %n = call i64 @__ockl_printf_append_string_n(i64 %m, ptr @printfFormat_1, i64 3, i32 0)\n"
      "  %o = call i64 @__ockl_printf_append_args(i64 %n, i32 8, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i64 0, i32 "
      "1)",
  };
  for (const std::string_view rest : odd) check_says(says(rest), {"line 5", "__ockl_printf_begin", "form"});
}

TEST_CASE("the hidden arguments that nobody would fill") {
  check_says(
      refused(kernel("  %h = call ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()\n"
                     "  %a = getelementptr i8, ptr addrspace(4) %h, i64 80\n  %r = load i32, ptr addrspace(4) %a",
                     "declare ptr addrspace(4) @llvm.amdgcn.implicitarg.ptr()")),
      {"line 4", "implicitarg.ptr", "byte 80", "ockl"});
}

TEST_CASE("functions of the device library") {
  check_says(refused(kernel("  %f = call float @__ocml_erfcinv_f32(float 1.0)\n  %r = bitcast float %f to i32",
                            "declare float @__ocml_erfcinv_f32(float)")),
             {"line 4", "__ocml_erfcinv_f32"});
}
