// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Function constants: fitted to their types or refused, and part of what a pipeline is.
#include "constants_bound.hpp"
#include "support.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace smelt;
using namespace smelt::loader;
using namespace smelt::test;

namespace {

/// What the kernel "constants" sees: size, choice or -1, bits of scale, whether scale is defined.
std::array<int32_t, 4> seen(const LibraryRef& library, const ConstantValues& values) {
  const auto encoder = must(Encoder::create(library->device()));
  must(encoder->set_pipeline(must(must(library->function("constants"))->pipeline(values))));
  std::vector<int32_t> out(4);
  must(encoder->set_memory(0, memory(out)));
  must(encoder->dispatch_threads({1}));
  return {out[0], out[1], out[2], out[3]};
}

/// One kernel that declares one constant of the given type.
Errc set_as(const char* type, uint32_t bytes, ConstantValue value) {
  KernelSpec kernel = kernel_spec("constants");
  kernel.function.constants = {{"c", type, 0, true}};
  kernel.row.constants = {{0, 0, bytes, 14}};
  value.key = uint32_t{0};
  const LibraryRef library = must(Library::load(cpu_device(), kernel_package({kernel})));
  return code_of(must(library->function("constants"))->pipeline(ConstantValues{std::move(value)}));
}

int32_t bits_of(float value) {
  return std::bit_cast<int32_t>(value);
}

}  // namespace

TEST_CASE("constants reach the kernel, by name and by index") {
  const LibraryRef library = must(Library::load(cpu_device(), kernel_package()));
  CHECK(seen(library, ConstantValues().set("size", int64_t{-5})) == std::array<int32_t, 4>{-5, -1, 0, 0});
  CHECK(seen(library, ConstantValues().set(0, int64_t{7}).set(1, true)) == std::array<int32_t, 4>{7, 1, 0, 0});
  CHECK(seen(library, ConstantValues().set(0, uint64_t{7}).set("choice", int64_t{0}).set(7, 1.5)) ==
        std::array<int32_t, 4>{7, 0, bits_of(1.5f), 1});
  CHECK(seen(library, ConstantValues().set(0, 3.0).set(7, int64_t{2})) ==
        std::array<int32_t, 4>{3, -1, bits_of(2.0f), 1});
}

TEST_CASE("other values are another pipeline, the same are the same") {
  const LibraryRef library = must(Library::load(cpu_device(), kernel_package()));
  const FunctionRef function = must(library->function("constants"));
  const PipelineRef one = must(function->pipeline(ConstantValues().set(0, int64_t{1})));
  CHECK(must(function->pipeline(ConstantValues().set("size", uint64_t{1}))) == one);
  CHECK(must(function->pipeline(ConstantValues().set(0, int64_t{2}))) != one);
  CHECK(must(function->pipeline(ConstantValues().set(0, int64_t{1}).set(1, false))) != one);  // given is not absent
}

TEST_CASE("missing, unknown and ill-typed constants") {
  const LibraryRef library = must(Library::load(cpu_device(), kernel_package()));
  const FunctionRef function = must(library->function("constants"));
  const auto missing = function->pipeline();
  CHECK(code_of(missing) == Errc::constant_missing);
  CHECK(contains(message_of(missing), "missing 'size' (#0) of type int"));
  const auto mistyped = function->pipeline(ConstantValues().set("sise", int64_t{1}));
  CHECK(code_of(mistyped) == Errc::constant_missing);
  CHECK(contains(message_of(mistyped), "missing 'size' (#0) of type int; it has no constant 'sise', which was given"));
  CHECK(code_of(function->pipeline(ConstantValues().set(0, 0.5))) == Errc::constant_type);
  CHECK(code_of(function->pipeline(ConstantValues().set(0, int64_t{1} << 31))) == Errc::constant_type);
  CHECK(code_of(function->pipeline(ConstantValues().set(0, int64_t{1}).set(1, int64_t{2}))) == Errc::constant_type);
  CHECK(code_of(function->pipeline(ConstantValues().set(0, int64_t{1}).set("size", int64_t{1}))) ==
        Errc::invalid_argument);
  CHECK(code_of(function->pipeline(ConstantValues().add({uint32_t{0}, {int64_t{1}, int64_t{2}}}))) ==
        Errc::constant_type);
  // What another function of the source has a use for is no error here: Metal takes it.
  CHECK(must(function->pipeline(ConstantValues().set("size", int64_t{1}).set(9, int64_t{1}).set("other", true))) ==
        must(function->pipeline(ConstantValues().set("size", int64_t{1}))));
  CHECK(must(library->function("saxpy"))->pipeline(ConstantValues().set(0, true)).has_value());
}

TEST_CASE("each type takes its whole range and not one more") {
  const auto scalar = [](Scalar value) { return ConstantValue{uint32_t{0}, {value}}; };
  const Errc bad = Errc::constant_type, good = Errc::ok;
  CHECK(set_as("char", 1, scalar(int64_t{-128})) == good);
  CHECK(set_as("char", 1, scalar(int64_t{-129})) == bad);
  CHECK(set_as("char", 1, scalar(int64_t{128})) == bad);
  CHECK(set_as("uchar", 1, scalar(int64_t{255})) == good);
  CHECK(set_as("uchar", 1, scalar(int64_t{-1})) == bad);
  CHECK(set_as("ushort", 2, scalar(uint64_t{65536})) == bad);
  CHECK(set_as("uint", 4, scalar(uint64_t{0xffffffff})) == good);
  CHECK(set_as("uint", 4, scalar(uint64_t{1} << 32)) == bad);
  CHECK(set_as("long", 8, scalar(std::numeric_limits<int64_t>::min())) == good);
  CHECK(set_as("long", 8, scalar(~uint64_t{0})) == bad);
  CHECK(set_as("ulong", 8, scalar(~uint64_t{0})) == good);
  CHECK(set_as("float", 4, scalar(1e39)) == bad);
  CHECK(set_as("float", 4, scalar(std::nan(""))) == good);
  CHECK(set_as("half", 2, scalar(65504.0)) == good);
  CHECK(set_as("half", 2, scalar(65520.0)) == bad);
  CHECK(set_as("half", 2, scalar(INFINITY)) == good);
  CHECK(set_as("bfloat", 2, scalar(3e38)) == good);
  CHECK(set_as("bfloat", 2, scalar(3.4e38)) == bad);
  CHECK(set_as("int2", 8, {uint32_t{0}, {int64_t{1}, int64_t{2}}}) == good);
  CHECK(set_as("int2", 8, scalar(int64_t{1})) == bad);
  CHECK(set_as("float3", 12, {uint32_t{0}, {1.0, 2.0, 3.0}}) == good);
  CHECK(set_as("matrix", 12, scalar(1.0)) == bad);
}

TEST_CASE("half and bfloat are rounded to nearest even") {
  const auto low16 = [](const char* type, double value) {
    KernelSpec kernel = kernel_spec("constants");
    kernel.function.constants = {{"c", type, 0, true}};
    kernel.row.constants = {{0, 0, 2, 14}};
    const LibraryRef library = must(Library::load(cpu_device(), kernel_package({kernel})));
    return uint16_t(seen(library, ConstantValues().set(0, value))[0]);
  };
  CHECK(low16("half", 1.0) == 0x3c00);
  CHECK(low16("half", -2.5) == 0xc100);
  CHECK(low16("half", 2049.0) == 0x6800);  // halfway: to even
  CHECK(low16("half", 2051.0) == 0x6802);
  CHECK(low16("half", 0x1p-24) == 0x0001);  // the smallest subnormal
  CHECK(low16("half", 0x1p-25) == 0x0000);
  CHECK(low16("half", 0x1.8p-25) == 0x0001);
  CHECK(low16("half", 0x1.ff8p-15) == 0x03ff);  // the largest
  CHECK(low16("half", 0x1.ffcp-15) == 0x0400);
  CHECK(low16("half", 65504.0) == 0x7bff);
  CHECK(low16("bfloat", 1.0) == 0x3f80);
  CHECK(low16("bfloat", 1.00390625) == 0x3f80);  // halfway: to even
  CHECK(low16("bfloat", 1.01171875) == 0x3f82);
}

TEST_CASE("lenient constants are converted as in C, and never refused") {
  const auto bytes_for = [](std::string_view type, Scalar value) {
    const ConstantInfo declared[] = {{"c", type, 3, true}};
    ConstantValues values;
    values.set("c", value).set("of another kernel", true).lenient();
    const auto bound = must(bind_constants("f", declared, values));
    REQUIRE(bound.size() == 1);
    return bound[0].bytes;
  };
  const auto little = [](uint64_t value, size_t size) {
    Bytes bytes(size);
    for (size_t i = 0; i < size; ++i) bytes[i] = std::byte(value >> (8 * i));
    return bytes;
  };
  CHECK(bytes_for("bool", int64_t{-7}) == little(1, 1));
  CHECK(bytes_for("bool", 0.0) == little(0, 1));
  CHECK(bytes_for("char", int64_t{300}) == little(300 & 255, 1));
  CHECK(bytes_for("char", int64_t{-129}) == little(127, 1));
  CHECK(bytes_for("ushort", int64_t{-1}) == little(0xffff, 2));
  CHECK(bytes_for("int", 2.9) == little(2, 4));
  CHECK(bytes_for("int", -2.9) == little(uint32_t(-2), 4));
  CHECK(bytes_for("int", 1e30) == little(0x7fffffff, 4));
  CHECK(bytes_for("int", -1e30) == little(0x80000000, 4));
  CHECK(bytes_for("uint", -3.0) == little(0, 4));
  CHECK(bytes_for("uint", 1e30) == little(0xffffffff, 4));
  CHECK(bytes_for("long", -1e30) == little(uint64_t{1} << 63, 8));
  CHECK(bytes_for("ulong", 1e30) == little(~uint64_t{0}, 8));
  CHECK(bytes_for("ulong", std::nan("")) == little(0, 8));
  CHECK(bytes_for("float", true) == little(0x3f800000, 4));
  CHECK(bytes_for("float", -1e300) == little(0xff800000, 4));
  CHECK(bytes_for("half", 1e6) == little(0x7c00, 2));
  const ConstantInfo declared[] = {{"needed", "half3", 0, true}, {"not needed", "int", 1, false}};
  const auto missing = must(bind_constants("f", declared, ConstantValues().lenient()));
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].bytes == Bytes(6));
}
