// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// <metal_integer>, shifts and division: docs/formats/metal-language.md 2.6, 3.2; exact, against 128-bit arithmetic.
#include "elementwise.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>

namespace smelt::test {
namespace {

constexpr Kind kIntegers[] = {Kind::i8, Kind::u8, Kind::i16, Kind::u16, Kind::i32, Kind::u32, Kind::i64, Kind::u64};

Whole lowest(Kind kind) {
  return is_signed(kind) ? -(Whole{1} << (bits_of(kind) - 1)) : 0;
}
Whole highest(Kind kind) {
  return (Whole{1} << (bits_of(kind) - (is_signed(kind) ? 1 : 0))) - 1;
}
/// The number that the low bits are.
Whole wrapped(Kind kind, Whole value) {
  const Whole size = Whole{1} << bits_of(kind);
  value = (value % size + size) % size;
  return value > highest(kind) ? value - size : value;
}
uint64_t pattern(Kind kind, Whole value) {
  return static_cast<uint64_t>(value) & (bits_of(kind) == 64 ? ~uint64_t{0} : (uint64_t{1} << bits_of(kind)) - 1);
}
Kind unsigned_of(Kind kind) {
  return is_signed(kind) ? static_cast<Kind>(static_cast<int>(kind) + 1) : kind;
}
Whole floored_half(Whole value) {
  return value >> 1;  // rounds down, also below zero
}
/// a * b of 64-bit numbers does not fit Whole's product with another factor; their high half does.
Whole high_half(Kind kind, Whole a, Whole b) {
  if (is_signed(kind)) return (a * b) >> bits_of(kind);
  return static_cast<Whole>((static_cast<unsigned __int128>(a) * static_cast<unsigned __int128>(b)) >> bits_of(kind));
}

using Wholes = std::function<Whole(const Whole*)>;

FunctionCase make(Kind kind, const char* call, size_t operands, const Wholes& f) {
  FunctionCase made;
  made.name = std::string(call) + " of " + metal_name(kind);
  made.call = call;
  made.result = kind;
  made.operands.assign(operands, kind);
  made.reference = [kind, operands, f](const Element* x) {
    Whole values[3] = {};
    for (size_t i = 0; i < operands; ++i) values[i] = x[i].whole;
    return whole(wrapped(kind, f(values)));
  };
  return made;
}

std::vector<FunctionCase> cases_of(Kind kind) {
  std::vector<FunctionCase> cases;
  const unsigned bits = bits_of(kind);
  const auto add = [&](const char* call, size_t operands, const Wholes& f) -> FunctionCase& {
    cases.push_back(make(kind, call, operands, f));
    return cases.back();
  };
  add("metal::abs(a)", 1, [](const Whole* x) { return x[0] < 0 ? -x[0] : x[0]; });
  add("metal::absdiff(a, b)", 2, [](const Whole* x) { return x[0] < x[1] ? x[1] - x[0] : x[0] - x[1]; });
  cases.back().result = unsigned_of(kind);
  cases.back().reference = [](const Element* x) {
    return whole(x[0].whole < x[1].whole ? x[1].whole - x[0].whole : x[0].whole - x[1].whole);
  };
  add("metal::addsat(a, b)", 2,
      [kind](const Whole* x) { return std::clamp(x[0] + x[1], lowest(kind), highest(kind)); });
  add("metal::subsat(a, b)", 2,
      [kind](const Whole* x) { return std::clamp(x[0] - x[1], lowest(kind), highest(kind)); });
  add("metal::min(a, b)", 2, [](const Whole* x) { return std::min(x[0], x[1]); });
  add("metal::max(a, b)", 2, [](const Whole* x) { return std::max(x[0], x[1]); });
  add("metal::clamp(a, b, c)", 3, [](const Whole* x) { return std::min(std::max(x[0], x[1]), x[2]); });
  add("metal::min3(a, b, c)", 3, [](const Whole* x) { return std::min({x[0], x[1], x[2]}); });
  add("metal::max3(a, b, c)", 3, [](const Whole* x) { return std::max({x[0], x[1], x[2]}); });
  add("metal::median3(a, b, c)", 3,
      [](const Whole* x) { return std::max(std::min(x[0], x[1]), std::min(std::max(x[0], x[1]), x[2])); });
  add("metal::clz(a)", 1, [kind, bits](const Whole* x) {
    return Whole{static_cast<int>(std::countl_zero(pattern(kind, x[0]))) - 64 + static_cast<int>(bits)};
  });
  add("metal::ctz(a)", 1, [kind, bits](const Whole* x) {
    return Whole{std::min(static_cast<int>(std::countr_zero(pattern(kind, x[0]))), static_cast<int>(bits))};
  });
  add("metal::popcount(a)", 1, [kind](const Whole* x) { return Whole{std::popcount(pattern(kind, x[0]))}; });
  add("metal::reverse_bits(a)", 1, [kind, bits](const Whole* x) {
    uint64_t result = 0;
    for (unsigned i = 0; i < bits; ++i) result |= (pattern(kind, x[0]) >> i & 1) << (bits - 1 - i);
    return Whole{result};
  });
  add("metal::hadd(a, b)", 2, [](const Whole* x) { return floored_half(x[0] + x[1]); });
  add("metal::rhadd(a, b)", 2, [](const Whole* x) { return floored_half(x[0] + x[1] + 1); });
  add("metal::mulhi(a, b)", 2, [kind](const Whole* x) { return high_half(kind, x[0], x[1]); });
  add("metal::madhi(a, b, c)", 3, [kind](const Whole* x) { return high_half(kind, x[0], x[1]) + x[2]; });
  add("metal::madsat(a, b, c)", 3, [kind](const Whole* x) -> Whole {
    if (!is_signed(kind) && x[0] != 0 && x[1] > highest(kind) / x[0]) return highest(kind);
    return std::clamp(x[0] * x[1] + x[2], lowest(kind), highest(kind));
  });
  add("metal::rotate(a, b)", 2, [kind, bits](const Whole* x) {
    const unsigned by = static_cast<unsigned>(pattern(kind, x[1]) % bits);
    const uint64_t value = pattern(kind, x[0]);
    return Whole{by == 0 ? value : pattern(kind, static_cast<Whole>(value << by | value >> (bits - by)))};
  });
  // Shifts count modulo the width; division by zero and MIN / -1 give some value and do not trap.
  if (bits >= 32) {
    add("a << b", 2, [kind, bits](const Whole* x) {
      return Whole{pattern(kind, static_cast<Whole>(pattern(kind, x[0]) << (pattern(kind, x[1]) % bits)))};
    });
    add("a >> b", 2, [kind, bits](const Whole* x) { return x[0] >> static_cast<int>(pattern(kind, x[1]) % bits); });
    const auto divides = [kind](const Element* x) {
      return x[1].whole != 0 && !(x[1].whole == -1 && x[0].whole == lowest(kind));
    };
    add("a / b", 2, [](const Whole* x) { return x[1] == 0 ? Whole{0} : x[0] / x[1]; }).defined = divides;
    add("a % b", 2, [](const Whole* x) { return x[1] == 0 ? Whole{0} : x[0] % x[1]; }).defined = divides;
  }
  if (bits == 32) {
    const auto fits = [kind](const Element* x) {
      const Whole top = is_signed(kind) ? (1 << 23) - 1 : (1 << 24) - 1, bottom = is_signed(kind) ? -(1 << 23) : 0;
      return std::all_of(x, x + 2, [&](const Element& e) { return e.whole >= bottom && e.whole <= top; });
    };
    add("metal::mul24(a, b)", 2, [](const Whole* x) { return x[0] * x[1]; }).defined = fits;
    add("metal::mad24(a, b, c)", 3, [](const Whole* x) { return x[0] * x[1] + x[2]; }).defined = fits;
  }
  return cases;
}

TEST_CASE("functions of integers") {
  for (const Kind kind : kIntegers) check_functions(cases_of(kind), {}, 32);
}

TEST_CASE("bit fields") {
  std::vector<FunctionCase> cases;
  for (const Kind kind : kIntegers) {
    const unsigned bits = bits_of(kind);
    for (const auto& [offset, count] : std::vector<std::pair<unsigned, unsigned>>{
             {0, 0}, {0, 3}, {4, 4}, {3, 0}, {1, bits - 1}, {0, bits}, {bits - 1, 1}}) {
      const uint64_t mask = count == 0 ? 0 : ~uint64_t{0} >> (64 - count);
      const std::string tail = std::to_string(offset) + "u, " + std::to_string(count) + "u)";
      FunctionCase extract = make(kind, "extract", 1, [=](const Whole* x) {
        const uint64_t field = pattern(kind, x[0]) >> offset & mask;
        if (is_signed(kind) && count != 0 && field >> (count - 1) & 1) return Whole{field} - (Whole{1} << count);
        return Whole{field};
      });
      extract.call = "metal::extract_bits(a, " + tail;
      extract.name = extract.call + " of " + metal_name(kind);
      cases.push_back(extract);
      FunctionCase insert = make(kind, "insert", 2, [=](const Whole* x) {
        const uint64_t base = pattern(kind, x[0]);
        return Whole{count == 0 ? base : (base & ~(mask << offset)) | (pattern(kind, x[1]) & mask) << offset};
      });
      insert.call = "metal::insert_bits(a, b, " + tail;
      insert.name = insert.call + " of " + metal_name(kind);
      cases.push_back(insert);
    }
  }
  check_functions(cases, {}, 32);
}

}  // namespace
}  // namespace smelt::test
