// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A constant is what the same operation gives on variables: every operator, conversion and integer function of every
// type, on values at the edges. Constants reach an operation in five ways, each of which somebody else folds: written
// in place and held by locals (Clang's code generator), as constants of the program (its evaluator), handed to a
// function and in vectors (LLVM's passes). The AIR must keep each store, with a number in it.
//
// SMELT_FOLDING_CASES: pairs of values for each type and operation (scripts/nightly takes all), SMELT_FOLDING_SEED.
#include "entry_text.hpp"

#include <cstdlib>
#include <random>

namespace smelt::test {
namespace {

struct Type {
  std::string name;
  bool is_float;
  std::vector<std::string> values;
};

const std::vector<Type>& types() {
  static const std::vector<Type> all = {
      {"char", false, {"0", "1", "-1", "3", "7", "8", "9", "33", "-16", "127", "-128"}},
      {"uchar", false, {"0", "1", "3", "7", "8", "9", "33", "64", "127", "200", "255"}},
      {"short", false, {"0", "1", "-1", "3", "15", "16", "17", "35", "-16", "32767", "-32768"}},
      {"ushort", false, {"0", "1", "3", "15", "16", "17", "35", "64", "255", "40000", "65535"}},
      {"int", false, {"0", "1", "-1", "3", "31", "32", "33", "40", "64", "-16", "2147483647", "-2147483647 - 1"}},
      {"uint", false, {"0", "1", "3", "31", "32", "33", "35", "40", "64", "65536", "2147483648u", "4294967295u"}},
      {"long",
       false,
       {"0", "1", "-1", "3", "31", "33", "63", "64", "66", "-16", "0x7fffffffffffffffl", "-0x7fffffffffffffffl - 1"}},
      {"ulong",
       false,
       {"0", "1", "3", "31", "33", "63", "64", "66", "8", "4294967296ul", "0x8000000000000000ul",
        "0xfffffffffffffffful"}},
      {"half",
       true,
       {"0.0h", "-0.0h", "1.5h", "-1.5h", "-31.0h", "300.0h", "65504.0h", "0.0001h", "half(INFINITY)",
        "-half(INFINITY)", "half(NAN)"}},
      {"bfloat",
       true,
       {"0.0f", "-0.0f", "1.5f", "-1.5f", "-31.0f", "300.0f", "70000.0f", "3e9f", "-1e20f", "INFINITY", "-INFINITY",
        "NAN"}},
      {"float",
       true,
       {"0.0f", "-0.0f", "0.5f", "-1.5f", "-31.0f", "127.5f", "300.0f", "70000.0f", "2147483648.0f", "4294967296.0f",
        "-3e9f", "1e19f", "-1e30f", "1e-30f", "INFINITY", "-INFINITY", "NAN"}},
  };
  return all;
}

struct Operation {
  std::string text;         ///< of `a` and `b`, values of type T
  bool is_operator = true;  ///< may stand at program scope
  bool on_vectors = true;
};

std::vector<Operation> operations_of(const Type& type) {
  std::vector<Operation> all;
  for (const char* op : {"+", "-", "*", "<", "<=", ">", ">=", "==", "!="}) all.push_back({fmt::format("a {} b", op)});
  for (const char* op : {"a && b", "a || b", "!a"}) all.push_back({op, true, false});
  all.push_back({"-a"});
  for (const Type& to : types())
    if (to.name != type.name) all.push_back({fmt::format("{}(a)", to.name), true, false});
  all.push_back({"bool(a)", true, false});
  if (type.is_float) {
    all.push_back({"a / b"});
    for (const Type& to : types())
      if (!to.is_float)
        for (const char* text : {"{0}(a) + {0}(b)", "{0}4(vec<T, 4>(a)).w", "{0}({0}3(vec<T, 3>(a, b, a)).y > {0}(1))"})
          all.push_back({fmt::vformat(text, fmt::make_format_args(to.name)), false, false});
    if (type.name != "bfloat")
      for (const char* name : {"floor", "ceil", "trunc", "rint", "round", "fract", "fabs", "sign", "sqrt"})
        all.push_back({fmt::format("{}(a)", name), false});
    // Which zero is the least or the largest of two is open.
    if (type.name != "bfloat")
      for (const char* text : {"fmin(a, b) + T(0)", "fmax(a, b) + T(0)", "saturate(a) + T(0)", "fmod(a, b)",
                               "copysign(a, b)", "fdim(a, b)", "step(a, b)"})
        all.push_back({text, false});
    return all;
  }
  for (const char* op : {"&", "|", "^", "<<", ">>"}) all.push_back({fmt::format("a {} b", op)});
  all.push_back({"~a"});
  // The guard keeps to what Metal defines.
  all.push_back({"a / (b == T(0) || b == T(-1) ? T(3) : b)", true, false});
  all.push_back({"a % (b == T(0) || b == T(-1) ? T(3) : b)", true, false});
  // Counts of other types; compound assignment, whose result is the left side's type.
  for (const char* count : {"int", "uint", "long", "ulong", "uchar", "short"}) {
    all.push_back({fmt::format("a << {}(b)", count), true, false});
    all.push_back({fmt::format("a >> {}(b)", count), true, false});
  }
  all.push_back({"shifted_left(a, b)", false, false});
  all.push_back({"shifted_right(a, b)", false, false});
  all.push_back({"in_bits(a, b)", false, false});
  for (const char* name : {"abs", "clz", "ctz", "popcount", "reverse_bits"})
    all.push_back({fmt::format("{}(a)", name), false});
  for (const char* name : {"absdiff", "addsat", "subsat", "hadd", "rhadd", "mulhi", "max", "min", "rotate"})
    all.push_back({fmt::format("{}(a, b)", name), false});
  for (const char* name :
       {"clamp(a, T(0), max(b, T(1)))", "madhi(a, b, T(3))", "max3(a, b, T(2))", "min3(a, b, T(2))",
        "median3(a, b, T(2))", "extract_bits(a, uint(b) % 8u, 3u)", "insert_bits(a, b, uint(b) % 8u, 3u)"})
    all.push_back({name, false, false});
  if (type.name != "long" && type.name != "ulong") all.push_back({"madsat(a, b, T(3))", false, false});
  if (type.name == "int" || type.name == "uint") {
    all.push_back({"mul24(a, b)", false, false});
    all.push_back({"mad24(a, b, T(3))", false, false});
  }
  return all;
}

constexpr const char* kOfIntegers = R"(
static T shifted_left(T a, T b) { a <<= b; return a; }
static T shifted_right(T a, T b) { a >>= b; return a; }
struct Bits { uint low : 5; uint high : 27; };
static uint in_bits(T a, T b) {
  Bits x;
  x.low = uint(a);
  x.high = uint(a);
  x.low <<= b;
  x.high >>= b;
  return x.low + (x.high << 5);
}
)";

constexpr const char* kHelpers = R"(
static ulong bits(bool x) { return x; }
static ulong bits(char x) { return ulong(long(x)); }
static ulong bits(uchar x) { return x; }
static ulong bits(short x) { return ulong(long(x)); }
static ulong bits(ushort x) { return x; }
static ulong bits(int x) { return ulong(long(x)); }
static ulong bits(uint x) { return x; }
static ulong bits(long x) { return ulong(x); }
static ulong bits(ulong x) { return x; }
static ulong bits(half x) { ushort u = as_type<ushort>(x); return (u & 0x7fff) > 0x7c00 ? 0x7e00 : u; }
static ulong bits(bfloat x) { ushort u = as_type<ushort>(x); return (u & 0x7fff) > 0x7f80 ? 0x7fc0 : u; }
static ulong bits(float x) { uint u = as_type<uint>(x); return (u & 0x7fffffffu) > 0x7f800000u ? 0x7fc00000u : u; }
template <typename U> static ulong bits(vec<U, 2> v) { return bits(v.x) ^ (bits(v.y) * 0x9e3779b97f4a7c15ul); }
)";

struct Case {
  size_t operation, a, b;
};

size_t number_from(const char* variable, size_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoul(text);
}

/// Pairs of values: some drawn, the same for each run, or all of them.
std::vector<Case> cases_of(const Type& type, const std::vector<Operation>& operations) {
  const size_t wanted = number_from("SMELT_FOLDING_CASES", 10), count = type.values.size();
  std::mt19937 random(static_cast<uint32_t>(number_from("SMELT_FOLDING_SEED", 1)));
  std::vector<Case> cases;
  for (size_t i = 0; i < operations.size(); ++i) {
    const bool is_unary = operations[i].text.find('b') == std::string::npos;
    if (is_unary) {
      for (size_t a = 0; a < count; ++a) cases.push_back({i, a, a});
    } else if (wanted >= count * count) {
      for (size_t pair = 0; pair < count * count; ++pair) cases.push_back({i, pair / count, pair % count});
    } else {
      for (size_t n = 0; n < wanted; ++n) cases.push_back({i, random() % count, random() % count});
    }
  }
  return cases;
}

/// "a << b" with `a` and `b` in place of the names.
std::string with(const std::string& text, const std::string& a, const std::string& b) {
  return std::regex_replace(std::regex_replace(text, std::regex(R"(\ba\b)"), a), std::regex(R"(\bb\b)"), b);
}

enum class Form { in_place, locals, program, argument, vectors };
constexpr Form kForms[] = {Form::in_place, Form::locals, Form::program, Form::argument, Form::vectors};
constexpr const char* kFormNames[] = {"in place", "locals", "program", "argument", "vectors"};

void check_type(const Type& type) {
  const std::vector<Operation> operations = operations_of(type);
  const std::vector<Case> cases = cases_of(type, operations);
  std::string text = kHead + "typedef " + type.name + " T;\n" + kHelpers + (type.is_float ? "" : kOfIntegers);
  for (size_t i = 0; i < operations.size(); ++i) {
    text += fmt::format("static auto f{}(T a, T b) {{ return bits({}); }}\n", i, operations[i].text);
    if (operations[i].on_vectors)
      text += fmt::format("static auto v{}(vec<T, 2> a, vec<T, 2> b) {{ return bits({}); }}\n", i, operations[i].text);
  }
  // On variables: each thread does the operation that a buffer says.
  text +=
      "kernel void variables(device ulong* out, device const T* x, device const uint3* what,\n"
      "                      uint t [[thread_position_in_grid]]) {\n"
      "  T a = x[what[t].y], b = x[what[t].z];\n  switch (what[t].x) {\n";
  for (size_t i = 0; i < operations.size(); ++i) {
    text += fmt::format("    case {}: out[t] = f{}(a, b); break;\n", i, i);
    if (operations[i].on_vectors)
      text += fmt::format("    case {}: out[t] = v{}(vec<T, 2>(a, b), vec<T, 2>(b, a)); break;\n",
                          operations.size() + i, i);
  }
  text += "  }\n}\nkernel void values(device T* out) {\n";
  std::vector<std::string> values;
  for (size_t i = 0; i < type.values.size(); ++i) {
    values.push_back(fmt::format("T({})", type.values[i]));
    text += fmt::format("  out[{}] = {};\n", i, values[i]);
  }
  text += "}\n";
  std::vector<std::vector<size_t>> stored(std::size(kForms));  // by form: the cases that it has
  for (const Form form : kForms) {
    std::string body, outside;
    auto& own = stored[static_cast<size_t>(form)];
    for (size_t i = 0; i < cases.size(); ++i) {
      const Operation& operation = operations[cases[i].operation];
      const std::string &a = values[cases[i].a], &b = values[cases[i].b];
      std::string value;
      if (form == Form::program && !operation.is_operator) continue;
      if (form == Form::vectors && !operation.on_vectors) continue;
      const size_t n = own.size();
      switch (form) {
        case Form::in_place:
          value = fmt::format("bits({})", with(operation.text, a, b));
          break;
        case Form::locals:
          body += fmt::format("  const T a{0} = {1}, b{0} = {2};\n", n, a, b);
          value = fmt::format("bits({})", with(operation.text, fmt::format("a{}", n), fmt::format("b{}", n)));
          break;
        case Form::program:
          outside += fmt::format("constant auto c{} = {};\n", n, with(operation.text, a, b));
          value = fmt::format("bits(c{})", n);
          break;
        case Form::argument:
          value = fmt::format("f{}({}, {})", cases[i].operation, a, b);
          break;
        case Form::vectors:
          value = fmt::format("v{0}(vec<T, 2>({1}, {2}), vec<T, 2>({2}, {1}))", cases[i].operation, a, b);
          break;
      }
      body += fmt::format("  out[{}] = {};\n", n, value);
      own.push_back(i);
    }
    text += fmt::format("{}kernel void form{}(device ulong* out) {{\n{}}}\n", outside, static_cast<int>(form), body);
  }
  const Msl source(text);
  std::vector<std::byte> raw(type.values.size() * 8);
  const Launch one{.grid = {1, 1, 1}, .group = {1, 1, 1}};
  source.run("values", Launch(one).bind(0, raw));
  for (const Form form : kForms) {
    const auto& own = stored[static_cast<size_t>(form)];
    if (own.empty()) continue;
    const std::string kernel = fmt::format("form{}", static_cast<int>(form));
    const bool is_vector = form == Form::vectors;
    std::vector<uint64_t> got(own.size(), 0xeeeeeeeeeeeeeeee), want(own.size(), 0xdddddddddddddddd);
    std::vector<std::array<uint32_t, 4>> what;
    for (const size_t i : own)
      what.push_back({static_cast<uint32_t>(cases[i].operation + (is_vector ? operations.size() : 0)),
                      static_cast<uint32_t>(cases[i].a), static_cast<uint32_t>(cases[i].b), 0});
    source.run(kernel, Launch(one).bind(0, got));
    const auto count = static_cast<uint32_t>(own.size());
    source.run("variables", Launch{.grid = {count, 1, 1}, .group = {1, 1, 1}}.bind(0, want).bind(1, raw).bind(2, what));
    for (size_t n = 0; n < own.size(); ++n) {
      const Case& one_case = cases[own[n]];
      INFO(type.name, ": ", operations[one_case.operation].text, ", a = ", type.values[one_case.a],
           ", b = ", type.values[one_case.b], ", ", kFormNames[static_cast<size_t>(form)]);
      CHECK(got[n] == want[n]);
    }
  }
  // What stands in AIR, of one form for each type: the others take as long again.
  const auto looked_at = static_cast<size_t>(&type - types().data()) % std::size(kForms);
  const std::string what = fmt::format("{}, {}", type.name, kFormNames[looked_at]);
  const aot::Source all{"test.metal", as_bytes(text)};
  const auto air = aot::emit_ll(std::span(&all, 1), msl_options(), fmt::format("form{}", looked_at));
  REQUIRE_MESSAGE(air.has_value(), what);
  size_t stores = 0;
  std::istringstream lines(*air);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ")) continue;
    stores += line.find("store i64 ") != std::string::npos;
    const bool makes_vector =
        line.find("shufflevector") != std::string::npos || line.find("insertelement") != std::string::npos;
    for (const char* nothing : {" poison", " undef", "unreachable"})
      CHECK_MESSAGE((makes_vector || line.find(nothing) == std::string::npos), what << ": " << line);
  }
  CHECK_MESSAGE(stores == stored[looked_at].size(), what);
}

}  // namespace

TEST_CASE("constants are what the same operations give on variables") {
  for (const Type& type : types()) check_type(type);
}

}  // namespace smelt::test
