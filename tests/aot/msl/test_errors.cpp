// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Metal rejects is rejected at the user's line, in Metal's words.
#include "msl.hpp"

#include <doctest/doctest.h>

#include <sstream>

namespace smelt::test {
namespace {

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

/// The message's first line, without the snippet.
std::string first_line(const std::string& message) {
  return message.substr(0, message.find('\n'));
}

/// "line:column: message" of every error, in order.
std::vector<std::string> errors_in(const std::string& message) {
  std::vector<std::string> found;
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("test.metal:") && line.find(": error: ") != std::string::npos) {
      std::string text = line.substr(11);
      const size_t at = text.find(" error:");
      found.push_back(text.substr(0, at) + text.substr(at + 7));
    }
  return found;
}

std::string only_error(const std::string& body) {
  const auto found = errors_in(msl_error(kHead + body));
  CHECK_MESSAGE(found.size() == 1, body);
  return found.empty() ? std::string() : found.front();
}

}  // namespace

TEST_CASE("a name that Metal's library has is proposed with its namespace") {
  const auto found =
      errors_in(msl_error("kernel void k(device float* x) {\n  x[0] = sin(x[0]);\n  "
                          "threadgroup_barrier(mem_flags::mem_device);\n  vec<float, 3> v;\n}\n"));
  CHECK(found ==
        std::vector<std::string>{"2:10: use of undeclared identifier 'sin'; did you mean 'metal::sin'?",
                                 "3:23: use of undeclared identifier 'mem_flags'; did you mean 'metal::mem_flags'?",
                                 "4:3: no template named 'vec'; did you mean 'metal::vec'?"});
}

TEST_CASE("a call of what is declared and never defined is an error at its line, if a kernel gets there") {
  CHECK(only_error("float g(float x);\nkernel void k(device float* x) {\n  x[0] = g(x[0]);\n}\n") ==
        "5:10: call of 'g', which is declared and never defined");
  CHECK(only_error("namespace n { float g(float x); }\nfloat h(float x) { return n::g(x) + n::g(1); }\n"
                   "kernel void k(device float* x) { x[0] = h(x[0]); }\n") ==
        "4:30: call of 'n::g', which is declared and never defined");
  CHECK(only_error("struct S { float m() const; };\nkernel void k(device float* x) {\n  S s;\n  x[0] = s.m();\n}\n") ==
        "6:12: call of 'S::m', which is declared and never defined");
  CHECK(only_error("template <class T> T g(T x);\nkernel void k(device float* x) { x[0] = g(x[0]); }\n") ==
        "4:41: call of 'g', which is declared and never defined");
  // What no kernel needs in the end need not be defined, as before.
  for (const std::string body :
       {"float g(float x);\nfloat h(float x) { return g(x); }\nkernel void k(device float* x) { x[0] = 1; }\n",
        "float g(float x);\nkernel void k(device float* x) { int n = 3; if (n > 4) x[0] = g(x[0]); }\n"})
    CHECK_MESSAGE(compile_msl(kHead + body).has_value(), body);
}

TEST_CASE("is_function_constant_defined of anything else is an error in the words of Metal") {
  const std::string head = "constant int n [[function_constant(0)]];\nconstant int fixed = 3;\n";
  for (const std::string argument : {"x", "3", "n + 1", "x[0]", "fixed", ""}) {
    const std::string message =
        msl_error(kHead + head + "kernel void k(device int* x) { x[0] = is_function_constant_defined(" + argument +
                  ") ? n : 0; }");
    CAPTURE(argument);
    CAPTURE(message);
    CHECK(message.find("'is_function_constant_defined' takes the name of a variable with [[function_constant(n)]]") !=
          std::string::npos);
    CHECK(message.find("__smelt") == std::string::npos);
  }
}

TEST_CASE("an attribute that nobody knows is named before the error that follows from it") {
  const std::string message = msl_error(
      kHead + "kernel void k(device float* x [[bufer(0)]], uint i [[thread_position_in_gird]]) { x[i] = 1; }");
  const size_t bufer =
      message.find("test.metal:3:33: warning: unknown attribute 'bufer' ignored; did you mean 'buffer'?");
  const size_t type = message.find("test.metal:3:50: error: invalid type 'uint'");
  const size_t gird = message.find(
      "test.metal:3:54: warning: unknown attribute 'thread_position_in_gird' ignored; did "
      "you mean 'thread_position_in_grid'?");
  CHECK(bufer == 0);
  CHECK(bufer < gird);
  CHECK(gird < type);
  CHECK(type != std::string::npos);
  const Msl fine(kHead +
                 "struct A { float y [[idd(1)]]; float z [[nothing_like_it]]; };\n"
                 "kernel void k(constant A& a, device float* x) { x[0] = a.y; }");
  REQUIRE(fine.warnings().size() == 2);
  CHECK(fine.warnings()[0].find("unknown attribute 'idd' ignored; did you mean 'id'?") != std::string::npos);
  CHECK(fine.warnings()[1].find("did you mean") == std::string::npos);
}

TEST_CASE("a name of a later version of the language says which, and which targets have it") {
  struct Row {
    const char* use;
    const char* version;
    const char* targets;
  };
  constexpr Row kRows[] = {
      {"os_log_default.log(\"x\");", "3.2", "macos15 and ios18"},
      {"metal::os_log_default.log(\"x\");", "3.2", "macos15 and ios18"},
      {"atomic_thread_fence(mem_flags::mem_device, memory_order_relaxed);", "3.2", "macos15 and ios18"},
      {"x[0] = nextafter(x[0], x[1]);", "3.1", "macos14 and ios17"},
      {"x[0] = unpack_snorm10a2_to_float(1).x;", "4.0", "macos26 and ios26"},
      {"threadgroup_barrier(mem_flags::mem_device, memory_order_acq_rel);", "4.1", "macos27 and ios27"},
  };
  for (const Row& row : kRows) {
    CAPTURE(row.use);
    const std::string text = kHead + "kernel void k(device float* x) { " + row.use + " }";
    aot::CompileOptions options = msl_options();
    options.targets = {*aot::parse_target("macos13")};
    const auto found = errors_in(msl_error(text, options));
    REQUIRE(found.size() == 1);
    CHECK(
        found.front().find(fmt::format("needs Metal {}, and this is compiled as Metal 3.0; targets from {} on have it",
                                       row.version, row.targets)) != std::string::npos);
    options.targets = {*aot::parse_target("macos27")};
    CHECK(compile_msl(text, options).has_value());
  }
}

TEST_CASE("half and bfloat do not meet in one operation") {
  const std::string kernel = "kernel void f(device half* h, device bfloat* b, device float* f) { ";
  CHECK(
      only_error(kernel + "f[0] = b[0] * h[0]; }") ==
      "3:80: invalid operands to binary expression ('bfloat' and 'half'): convert one to the other, or both to float");
  CHECK(only_error(kernel + "f[0] = h[0] > b[0] ? 1 : 2; }").find("('half' and 'bfloat')") != std::string::npos);
  CHECK(only_error(kernel + "f[0] = f[0] > 0 ? h[0] : b[0]; }").find("('half' and 'bfloat')") != std::string::npos);
  CHECK(only_error("template <class A, class B> float g(A a, B b) { return a + b; }\n" + kernel +
                   "f[0] = g(h[0], b[0]); }")
            .find("3:58: invalid operands") != std::string::npos);
  CHECK(compile_msl(kHead + kernel + "f[0] = float(h[0]) * b[0] + h[0] * f[1]; }").has_value());
}

TEST_CASE("a file with ten different errors tells all ten, at their lines and columns") {
  const std::string text = kHead + R"(
kernel void a(device float* x, uint i [[thread_position_in_grid]]) {
  x[i] = undeclared;
}
kernel void b(float* x, uint i [[thread_position_in_grid]]) { x[i] = 1; }
kernel int c(device float* x) { return 1; }
kernel void d(device float* x [[buffer(0)]], device float* y [[buffer(0)]]) { x[0] = y[0]; }
kernel void e(device float* x, float4 i [[thread_position_in_grid]]) { x[0] = i.x; }
kernel void f(device bfloat* x, float v) { x[0] = bfloat(v); }
kernel void g(device bfloat* x, device float* y) {
  bfloat v = y[0];
  x[0] = v;
}
void h(device float* p) {
  double v = 1.0;
  p[0] = v;
}
int counter = 0;
kernel void j(device float4* x, device int4* y) {
  x[0] = y[0];
}
)";
  const auto errors = errors_in(msl_error(text));
  const std::vector<std::string> places = {
      "5:10:", "7:22:", "8:8:", "9:60:", "10:39:", "11:39:", "13:14:", "17:3:", "20:5:", "22:8:"};
  std::string all;
  for (const std::string& error : errors) all += error + "\n";
  CAPTURE(all);
  REQUIRE(errors.size() == places.size());
  for (size_t i = 0; i < places.size(); ++i) CHECK(errors[i].starts_with(places[i]));
  CHECK(errors[0] == "5:10: use of undeclared identifier 'undeclared'");
  CHECK(errors[1] == "7:22: pointer type must have explicit address space qualifier");
  CHECK(errors[2] == "8:8: kernel must have void return type");
  CHECK(errors[3] == "9:60: cannot reserve 'buffer' resource location at index 0: 'x' has it");
  CHECK(errors[5] == "11:39: invalid type 'float' for input declaration in a kernel function");
  CHECK(errors[6] == "13:14: cannot initialize a variable of type 'bfloat' with an lvalue of type 'float'");
  CHECK(errors[7] == "17:3: 'double' is not supported in Metal");
  CHECK(errors[8] == "20:5: program scope variable must reside in constant address space");
  CHECK(all.find("opencl") == std::string::npos);
  CHECK(all.find("vec<") == std::string::npos);
}

TEST_CASE("bfloat takes no implicit conversion") {
  const std::string head = "kernel void f(device bfloat* o, device float* x, device half* h, constant bool& c) { ";
  CHECK(only_error(head + "bfloat b = 0.0; o[0] = b; }") ==
        "3:97: cannot initialize a variable of type 'bfloat' with an rvalue of type 'float'");
  CHECK(only_error(head + "o[0] = x[0]; }") == "3:93: assigning to 'bfloat' from incompatible type 'float'");
  CHECK(only_error(head + "bfloat b = o[1]; bfloat r = c ? b : 0.0; o[0] = r; }").find("'bfloat'") !=
        std::string::npos);
  CHECK(only_error("bfloat g(float v) { return v; }\n") ==
        "3:28: cannot initialize return object of type 'bfloat' with an lvalue of type 'float'");
  CHECK(compile_msl(kHead + head +
                    "bfloat b = bfloat(x[0]); float w = b; b = static_cast<bfloat>(w); b = 1.0bf; "
                    "o[0] = b; o[1] = static_cast<bfloat>(h[0]); }")
            .has_value());
}

TEST_CASE("what is beyond compute is named") {
  CHECK(only_error("[[intersection(bounding_box)]] bool v(ray_data float& x [[payload]]) { return true; }")
            .find("payloads and buffers of intersection functions are not") != std::string::npos);
  CHECK(only_error("#include <MetalPerformancePrimitives/MetalPerformancePrimitives.h>\n")
            .find("tensors need Metal 4.0 and a target from macos26.2") != std::string::npos);
}

TEST_CASE("reads of sparse textures and imageblocks of fragment functions are named") {
  CHECK(only_error("kernel void k(texture3d<float> t, device float* o) {\n  constexpr sampler s;\n"
                   "  o[0] = t.sparse_sample(s, float3(0.5f)).resident();\n}") ==
        "5:12: 'sparse_sample': reads of sparse textures are not supported");
  CHECK(only_error("struct Kept { half4 a [[raster_order_group(0)]]; };\nstruct Out { Kept v [[imageblock_data]]; };\n"
                   "fragment Out f(float4 p [[position]]) { Out o; o.v.a = 1; return o; }") ==
        "4:23: 'imageblock_data': imageblocks of fragment functions are not supported");
  CHECK(only_error("struct Kept { half4 a [[raster_order_group(0)]]; };\n"
                   "fragment half4 f(float4 p [[position]], Kept old [[imageblock_data]]) { return old.a; }") ==
        "4:52: 'imageblock_data': imageblocks of fragment functions are not supported");
}

TEST_CASE("a message of a cast is a whole sentence") {
  CHECK(only_error("typedef half h8 __attribute__((ext_vector_type(8)));\ntypedef float f8 "
                   "__attribute__((ext_vector_type(8)));\n"
                   "kernel void k(device h8* a, device float* o) { f8 v = f8(a[0]); o[0] = v[3]; }")
            .starts_with("5:55: functional-style cast from vector "));
}

TEST_CASE("labels of LLVM and of smelt are nobody's") {
  for (const std::string label : {"llvm.trap", "smelt.air.imageblock_read"})
    CHECK(only_error("void f() __asm(\"" + label + "\");\nkernel void k(device int* x) { f(); x[0] = 1; }") ==
          "3:10: 'asm' is not supported in Metal");
}

TEST_CASE("a struct that holds itself") {
  CHECK(only_error("struct Body { Body at; };\nkernel void f(device Body* p) {}").find("incomplete type 'Body'") !=
        std::string::npos);
}

TEST_CASE("a host name is a string, and says something") {
  for (const std::string name : {"\"\"", "7"})
    CHECK(only_error("[[host_name(" + name + ")]] kernel void f(device int* p) {}") ==
          "3:3: 'host_name' attribute requires a string that is not empty");
}

TEST_CASE("a number too wide for an attribute") {
  CHECK(only_error("kernel void f(device int* p [[buffer(18446744073709551615ul)]]) {}").find("between 0 and 30") !=
        std::string::npos);
}

TEST_CASE("members of argument buffers have numbers that grow, and point to a space that others see") {
  CHECK(only_error("struct A { device float* p [[id(3)]]; int n [[id(3)]]; };\nkernel void f(constant A& a) {}") ==
        "3:47: 'id' attribute of 'n' must be a number that is not below 4");
  CHECK(only_error("struct A { threadgroup float* p; };\nkernel void f(constant A& a) {}") ==
        "4:27: parameter 'a': member 'p' of 'A' must point to device or constant memory");
}

TEST_CASE("spaces are named, where C++ has none") {
  CHECK(only_error("float g(float* p) { return *p; }") ==
        "3:16: pointer type must have explicit address space qualifier");
  CHECK(compile_msl(kHead + "float g(thread float* p, thread const float& q, int s[4], float (*op)(float)) { return "
                            "op(*p + q + s[0]); }\nkernel void k(device float* x) { x[0] = 1; }")
            .has_value());
}

TEST_CASE("a message about a header points at the call") {
  const std::string message =
      msl_error(kHead + "kernel void f(device float4* x) {\n  x[0] = float4(1, 2, 3, 4, 5);\n}");
  CHECK(first_line(message).starts_with("test.metal:4:"));
  CHECK(message.find("/smelt/") == std::string::npos);
}

TEST_CASE("a language version that does not exist, and one without bfloat") {
  aot::CompileOptions options = msl_options();
  options.language = aot::Version{0, 9, 0};
  CHECK(msl_error("kernel void f(device float* x) { x[0] = 1; }", options).find("Metal 0.9 is not supported") !=
        std::string::npos);
}

TEST_CASE("warnings have places too, and do not stop anything") {
  const auto compiled = compile_msl(kHead + "kernel void f(device float* x) {\n  int unused = 3;\n  x[0] = 1;\n}");
  REQUIRE(compiled.has_value());
  REQUIRE(compiled->warnings.size() == 1);
  CHECK(first_line(compiled->warnings[0]) == "test.metal:4:7: warning: unused variable 'unused' [-Wunused-variable]");
}

}  // namespace smelt::test
