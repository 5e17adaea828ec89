// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// half and bfloat arithmetic: exact rounding per operation, once per expression on request, no library calls.
#include "jit.hpp"
#include "ulp.hpp"

#include <doctest/doctest.h>

#include <array>
#include <functional>

using namespace smelt::test;
using smelt::aot::cpu::LowerOptions;
using smelt::aot::cpu::SmallFloatRounding;

namespace {

using Loop = void(int64_t, void*, const void*, const void*, const void*);

/// define void @name(i64 n, out, a, b, c): out[i] = body(%x, %y, %z) of `type`; the body defines %r of type `result`.
std::string loop_body(const std::string& name, const std::string& type, const std::string& body,
                      const std::string& result) {
  std::string text = "define void @" + name +
                     "(i64 %n, ptr noalias %out, ptr noalias %a, ptr noalias %b, ptr noalias %c) {\n"
                     "entry:\n  br label %loop\nloop:\n  %i = phi i64 [0, %entry], [%next, %loop]\n";
  const char* names[] = {"x", "y", "z"};
  const char* arrays[] = {"a", "b", "c"};
  for (int k = 0; k < 3; ++k)
    text += std::string("  %p") + names[k] + " = getelementptr " + type + ", ptr %" + arrays[k] + ", i64 %i\n  %" +
            names[k] + " = load " + type + ", ptr %p" + names[k] + "\n";
  return text + body + "  %o = getelementptr " + result + ", ptr %out, i64 %i\n  store " + result + " %r, ptr %o\n" +
         "  %next = add i64 %i, 1\n  %more = icmp ult i64 %next, %n\n  br i1 %more, label %loop, label %done\ndone:\n  "
         "ret void\n}\n";
}

struct Format {
  std::string type;
  float (*widen)(uint16_t);
  uint16_t (*round)(long double);
  int exponent_bits;
  bool is_nan(uint16_t bits) const {
    const int mantissa = 15 - exponent_bits;
    return (bits & 0x7fff) > (((1 << exponent_bits) - 1) << mantissa);
  }
};
const std::array<Format, 2> kFormats = {Format{"half", half_to_float, half_from, 5},
                                        Format{"bfloat", bfloat_to_float, bfloat_from, 8}};

struct Inputs {
  std::vector<uint16_t> a, b, c;
};
/// All exponents, both signs, specials; for bfloat only magnitudes whose products stay normal.
Inputs inputs(const Format& format, size_t count) {
  Inputs result;
  uint64_t state = 5;
  const auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    auto bits = static_cast<uint16_t>(state >> 40);
    if (format.type == "bfloat") bits = static_cast<uint16_t>((bits & 0x87ff) | 0x3c00);  // 2^-7 to 2^8
    return bits;
  };
  while (result.a.size() < count) {
    result.a.push_back(next());
    result.b.push_back(next());
    result.c.push_back(next());
  }
  return result;
}

}  // namespace

TEST_CASE("every operation rounds exactly") {
  for (const Format& format : kFormats) {
    const std::string& t = format.type;
    struct Case {
      const char* name;
      std::string body;
      long double (*value)(long double, long double, long double);
    };
    const std::string suffix = t == "half" ? "f16" : "bf16";
    const std::vector<Case> cases = {
        {"add", "  %r = fadd " + t + " %x, %y\n", [](long double x, long double y, long double) { return x + y; }},
        {"sub", "  %r = fsub " + t + " %x, %y\n", [](long double x, long double y, long double) { return x - y; }},
        {"mul", "  %r = fmul " + t + " %x, %y\n", [](long double x, long double y, long double) { return x * y; }},
        {"div", "  %r = fdiv " + t + " %x, %y\n", [](long double x, long double y, long double) { return x / y; }},
        {"neg", "  %r = fneg " + t + " %x\n", [](long double x, long double, long double) { return -x; }},
        {"abs", "  %r = call " + t + " @llvm.fabs." + suffix + "(" + t + " %x)\n",
         [](long double x, long double, long double) { return std::fabs(x); }},
        {"sqrt", "  %r = call " + t + " @llvm.sqrt." + suffix + "(" + t + " %x)\n",
         [](long double x, long double, long double) { return std::sqrt(x); }},
        {"rem", "  %r = frem " + t + " %x, %y\n",
         [](long double x, long double y, long double) { return std::fmod(x, y); }},
        {"fma", "  %r = call " + t + " @air.fma." + suffix + "(" + t + " %x, " + t + " %y, " + t + " %z)\n",
         [](long double x, long double y, long double z) { return x * y + z; }},
        {"pick", "  %l = fcmp olt " + t + " %x, %y\n  %r = select i1 %l, " + t + " %x, " + t + " %z\n",
         [](long double x, long double y, long double z) { return x < y ? x : z; }},
    };
    std::string air = "declare " + t + " @air.fma." + suffix + "(" + t + ", " + t + ", " + t + ")\ndeclare " + t +
                      " @llvm.fabs." + suffix + "(" + t + ")\ndeclare " + t + " @llvm.sqrt." + suffix + "(" + t + ")\n";
    for (const Case& c : cases) air += loop_body(c.name, t, c.body, t);
    const Jit jit(air);
    const Inputs in = inputs(format, 30000);
    std::vector<uint16_t> out(in.a.size());
    for (const Case& c : cases) {
      jit.function<Loop>(c.name)(static_cast<int64_t>(out.size()), out.data(), in.a.data(), in.b.data(), in.c.data());
      int wrong = 0;
      for (size_t i = 0; i < out.size(); ++i) {
        const uint16_t want =
            format.round(c.value(format.widen(in.a[i]), format.widen(in.b[i]), format.widen(in.c[i])));
        if (format.is_nan(want) && format.is_nan(out[i])) continue;
        wrong += want != out[i] && !((want & 0x7fff) == 0 && (out[i] & 0x7fff) == 0);
      }
      CHECK_MESSAGE(wrong == 0, t << " " << std::string(c.name) << ": " << wrong);
    }
  }
}

TEST_CASE("per expression rounds once") {
  for (const Format& format : kFormats) {
    const std::string& t = format.type;
    const std::string air = loop_body("f", t, "  %p = fmul " + t + " %x, %y\n  %r = fadd " + t + " %p, %z\n", t);
    const Jit each(air), once(air, LowerOptions{SmallFloatRounding::per_expression});
    const Inputs in = inputs(format, 20000);
    const auto count = static_cast<int64_t>(in.a.size());
    std::vector<uint16_t> first(in.a.size()), second(in.a.size());
    each.function<Loop>("f")(count, first.data(), in.a.data(), in.b.data(), in.c.data());
    once.function<Loop>("f")(count, second.data(), in.a.data(), in.b.data(), in.c.data());
    int wrong_each = 0, wrong_once = 0, differ = 0;
    for (size_t i = 0; i < in.a.size(); ++i) {
      const float x = format.widen(in.a[i]), y = format.widen(in.b[i]), z = format.widen(in.c[i]);
      const uint16_t product = format.round(static_cast<long double>(x) * y);
      const uint16_t want_each = format.round(static_cast<long double>(format.widen(product)) + z);
      const uint16_t want_once = format.round(x * y + z);  // in float
      wrong_each += want_each != first[i] && !format.is_nan(want_each);
      wrong_once += want_once != second[i] && !format.is_nan(want_once);
      differ += first[i] != second[i];
    }
    CHECK(wrong_each == 0);
    CHECK(wrong_once == 0);
    CHECK(differ > 0);
  }
}

TEST_CASE("no library call is left, scalar or vector, on any level") {
  std::string air;
  for (const std::string t : {"half", "bfloat"}) {
    for (const std::string n : {"", "2", "3", "4", "8"}) {
      const std::string type = n.empty() ? t : "<" + n + " x " + t + ">";
      const std::string wide = n.empty() ? "float" : "<" + n + " x float>";
      const std::string ints = n.empty() ? "i32" : "<" + n + " x i32>";
      air += loop_body(t + "_" + n, type,
                       "  %p = fmul " + type + " %x, %y\n  %q = fadd " + type + " %p, %z\n  %w = fpext " + type +
                           " %q to " + wide + "\n  %v = fadd " + wide + " %w, %w\n  %u = fptrunc " + wide + " %v to " +
                           type + "\n  %k = fptosi " + type + " %u to " + ints + "\n  %l = sitofp " + ints + " %k to " +
                           type + "\n  %m = fneg " + type + " %l\n  %d = fdiv " + type + " %m, %x\n  %r = frem " +
                           type + " %d, %y\n",
                       type);
      // Values that only move: through a phi, a select and memory.
      air += "define void @move_" + t + "_" + n + "(ptr %p, i64 %n, i1 %c) {\nentry:\n  %first = load " + type +
             ", ptr %p\n  br label %loop\nloop:\n  %i = phi i64 [0, %entry], [%next, %loop]\n  %last = phi " + type +
             " [%first, %entry], [%pick, %loop]\n  %a = getelementptr " + type + ", ptr %p, i64 %i\n  %x = load " +
             type + ", ptr %a\n  %pick = select i1 %c, " + type + " %x, " + type + " %last\n  store " + type +
             " %last, ptr %a\n  %next = add i64 %i, 1\n  %more = icmp ult i64 %next, %n\n  br i1 %more, label %loop, "
             "label %done\n"
             "done:\n  ret void\n}\n";
    }
  }
  for (const std::string level : {"x86-64-v3", "x86-64-v4", "generic"}) {
    const Compiled compiled = compile(air, level);
    CHECK(compiled.error == "");
    for (const std::string& symbol : compiled.undefined) FAIL_CHECK(level << " wants " << symbol);
  }
}
