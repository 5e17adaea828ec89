// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "generator.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

namespace smelt::test {
namespace {

/// Of one rounding to float, relative. Twice what one operation has: a Metal compiler may contract and reassociate.
constexpr double kUlp = 0x1p-23;
/// A value may be this large; beyond that it is clamped, so that errors stay small.
constexpr double kLargest = 4;
/// What an output's error may be.
constexpr double kWorst = 0x1p-5;

struct Float {
  std::string text;
  double bound = 0;
  double error = 0;  ///< 0: the same number on both sides
};
struct Integer {
  std::string text;
  int64_t bound = 0;  ///< of its absolute value
};

template <class... Parts>
std::string join(const Parts&... parts) {
  std::string all;
  ((all += parts), ...);
  return all;
}

class Generator {
 public:
  Generator(uint64_t seed, GlslStage stage) : random_(seed), stage_(stage) {}

  GlslShader make() {
    add_helper();
    const unsigned statements = whole(3, 9);
    for (unsigned i = 0; i < statements; ++i) statement(2);
    GlslShader shader;
    if (stage_ == GlslStage::fragment && one_in(3)) {
      shader.discards = true;
      line(join("if (", condition(), ") discard;"));
    }
    for (unsigned output = 0; output < 2; ++output) {
      Float colour = output == 1 && one_in(2) ? from_integers() : vector(4, 3);
      while (colour.error > kWorst) colour = vector(4, 1);
      line(join("r", std::to_string(output), " = ", colour.text, ";"));
      shader.error[output] = 2 * colour.error + 0x1p-22 * colour.bound;
    }
    shader.text = frame();
    return shader;
  }

 private:
  unsigned whole(unsigned low, unsigned high) { return std::uniform_int_distribution<unsigned>(low, high)(random_); }
  bool one_in(unsigned n) { return whole(1, n) == 1; }

  void line(const std::string& text) { body_ += std::string(2 * depth_, ' ') + text + "\n"; }

  static std::string type_of(unsigned n) { return n == 1 ? "float" : "vec" + std::to_string(n); }
  std::string swizzle(unsigned n) {
    std::string text = ".";
    for (unsigned i = 0; i < n; ++i) text += "xyzw"[whole(0, 3)];
    return text;
  }

  /// A multiple of 1/8 in [-2, 2].
  std::string constant() {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", (static_cast<int>(whole(0, 32)) - 16) / 8.0);
    return text[0] == '-' ? join("(", text, ")") : text;
  }

  // ---- Exact on both sides

  Float exact(unsigned n) {
    static constexpr std::array kInputs = {"a", "b", "c"};
    if (one_in(5)) return {join(type_of(n), "(", constant(), ")"), 2, 0};
    if (one_in(6)) {
      const Integer from = integer(1);
      return {join(type_of(n), "(float(", from.text, " & 255) * 0.0078125)"), 2, 0};
    }
    return {join(kInputs[whole(0, 2)], swizzle(n)), 2, 0};
  }
  /// Steps and signs of it: not continuous.
  Float stepped(unsigned n) {
    const Float x = exact(n), y = exact(n);
    switch (whole(0, 8)) {
      case 0:
        return {join("floor(", x.text, " * 4.0)"), 8, 0};
      case 1:
        return {join("ceil(", x.text, " * 2.0)"), 4, 0};
      case 2:
        return {join("trunc(", x.text, " * 2.0)"), 4, 0};
      case 3:
        return {join("sign(", x.text, ")"), 1, 0};
      case 4:
        return {join("step(", x.text, ", ", y.text, ")"), 1, 0};
      case 5:
        return {join("roundEven(", x.text, " * 4.0)"), 8, 0};
      case 6:
        return {join("mod(", x.text, ", 0.5)"), 0.5, kUlp};
      case 7:
        return {join("fract(", x.text, ")"), 1, kUlp};
      default:
        return {join("mix(", x.text, ", ", y.text, ", ", n == 1 ? "bool" : "bvec" + std::to_string(n), "(", condition(),
                     "))"),
                2, 0};
    }
  }
  std::string condition() {
    static constexpr std::array kCompare = {"<", "<=", ">", ">=", "==", "!="};
    switch (whole(0, 4)) {
      case 0:
        return join("(", exact(1).text, " ", kCompare[whole(0, 3)], " ", exact(1).text, ")");
      case 1:
        return join("(", integer(1).text, " ", kCompare[whole(0, 5)], " ", integer(1).text, ")");
      case 2:
        return join("(", natural(1), " ", kCompare[whole(0, 3)], " ", natural(1), ")");
      case 3:
        return join("any(lessThan(", exact(3).text, ", ", exact(3).text, "))");
      default:
        return join("(((", integer(1).text, " & 3) == ", std::to_string(whole(0, 3)), one_in(2) ? ") && (" : ") || (",
                    exact(1).text, " < ", constant(), "))");
    }
  }

  Integer bounded(Integer value) {
    if (value.bound < 0x4000) return value;
    return {join("(", value.text, " & 0x3fff)"), 0x3fff};
  }
  Integer integer(unsigned depth) {
    if (depth == 0 || one_in(5)) {
      if (one_in(4)) {
        const unsigned number = whole(0, 600);
        return {std::to_string(number), number};
      }
      return {join(one_in(3) ? "k" : "i", swizzle(1)), 512};
    }
    const Integer x = bounded(integer(depth - 1)), y = bounded(integer(depth - 1));
    switch (whole(0, 13)) {
      case 0:
        return {join("(", x.text, " + ", y.text, ")"), x.bound + y.bound};
      case 1:
        return {join("(", x.text, " - ", y.text, ")"), x.bound + y.bound};
      case 2:
        return {join("(", x.text, " * ", y.text, ")"), x.bound * y.bound};
      case 3:
        return {join("(", x.text, " ^ ", y.text, ")"), 0x7fff};
      case 4:
        return {join("(", x.text, " | ", y.text, ")"), 0x7fff};
      case 5:
        return {join("min(", x.text, ", ", y.text, ")"), std::max(x.bound, y.bound)};
      case 6:
        return {join("max(", x.text, ", ", y.text, ")"), std::max(x.bound, y.bound)};
      case 7:
        return {join("abs(", x.text, ")"), x.bound};
      case 8:
        return {join("(", x.text, " >> ", std::to_string(whole(0, 9)), ")"), x.bound};
      case 9:
        return {join("(", x.text, " / ", std::to_string(whole(1, 9)), ")"), x.bound};
      case 10:
        return {join("bitfieldExtract(", x.text, ", ", std::to_string(whole(0, 12)), ", ", std::to_string(whole(1, 12)),
                     ")"),
                0xfff};
      case 11:
        return {join("int(", natural(depth - 1), " & 1023u)"), 1023};
      case 12:
        return {join("(", condition_of(depth), " ? ", x.text, " : ", y.text, ")"), std::max(x.bound, y.bound)};
      default:
        return {join("int(", stepped(1).text, " * 8.0)"), 64};
    }
  }
  std::string condition_of(unsigned depth) {
    return depth < 2 ? join("(", exact(1).text, " < ", constant(), ")") : condition();
  }
  /// Of 32 bits, which wrap.
  std::string natural(unsigned depth) {
    if (depth == 0 || one_in(4)) {
      if (one_in(4)) return std::to_string(whole(0, 0xffffffff)) + "u";
      return join("u", swizzle(1));
    }
    const std::string x = natural(depth - 1), y = natural(depth - 1);
    switch (whole(0, 12)) {
      case 0:
        return join("(", x, " + ", y, ")");
      case 1:
        return join("(", x, " - ", y, ")");
      case 2:
        return join("(", x, " * ", y, ")");
      case 3:
        return join("(", x, " & ", y, ")");
      case 4:
        return join("(", x, " ^ ", y, ")");
      case 5:
        return join("(", x, " << ", std::to_string(whole(0, 31)), ")");
      case 6:
        return join("(", x, " >> ", std::to_string(whole(0, 31)), ")");
      case 7:
        return join("(", x, " % ", std::to_string(whole(1, 999)), "u)");
      case 8:
        return join("(", x, " / ", std::to_string(whole(1, 999)), "u)");
      case 9:
        return join("bitfieldReverse(", x, ")");
      case 10:
        return join("uint(bitCount(", x, "))");
      case 11:
        return join("uint(findMSB(", x, "))");
      default:
        return join("bitfieldInsert(", x, ", ", y, ", ", std::to_string(whole(0, 15)), ", ",
                    std::to_string(whole(0, 16)), ")");
    }
  }

  Float from_integers() {
    return {join("vec4(float(", integer(3).text, " & 0xffff), float(", natural(3), " & 0xffffu), float(",
                 integer(2).text, " & 0xffff), float(", natural(2), " >> 16)) * 0.0000152587890625"),
            1, 0};
  }

  // ---- Within the precision of each operation

  Float clamped(Float x) {
    if (x.bound <= kLargest) return x;
    return {join("clamp(", x.text, ", -4.0, 4.0)"), kLargest, x.error};
  }
  static Float rounded(Float x, double relative = kUlp) {
    x.error += x.bound * relative;
    return x;
  }

  Float leaf(unsigned n) {
    if (one_in(3)) {
      std::vector<const Variable*> fits;
      for (const Variable& one : variables_)
        if (one.error < kWorst / 16) fits.push_back(&one);
      if (!fits.empty()) {
        const Variable& one = *fits[whole(0, static_cast<unsigned>(fits.size()) - 1)];
        if (one.components == n) return {one.name, one.bound, one.error};
        if (one.components == 4) return {one.name + swizzle(n), one.bound, one.error};
        if (one.components == 1) return {join(type_of(n), "(", one.name, ")"), one.bound, one.error};
      }
    }
    return one_in(4) ? stepped(n) : exact(n);
  }

  Float vector(unsigned n, unsigned depth) {
    // Derivatives are defined where all of a quad come by: not in one arm of a choice.
    if (!is_choosing_ && depth > 1 && one_in(14)) {
      is_choosing_ = true;
      const Float x = clamped(vector(n, depth - 1)), y = clamped(vector(n, depth - 1));
      is_choosing_ = false;
      return {join("(", condition(), " ? ", x.text, " : ", y.text, ")"), std::max(x.bound, y.bound),
              std::max(x.error, y.error)};
    }
    if (depth == 0 || one_in(6)) return clamped(leaf(n));
    const Float x = clamped(vector(n, depth - 1));
    if (x.error > kWorst / 64) return x;
    if (one_in(3)) return one_of_one(x, n);
    const Float y = clamped(vector(n, depth - 1));
    const double error = x.error + y.error;
    switch (whole(0, 12)) {
      case 0:
      case 1:
        return rounded({join("(", x.text, " + ", y.text, ")"), x.bound + y.bound, error});
      case 2:
        return rounded({join("(", x.text, " - ", y.text, ")"), x.bound + y.bound, error});
      case 3:
      case 4:
        return rounded(
            {join("(", x.text, " * ", y.text, ")"), x.bound * y.bound, x.bound * y.error + y.bound * x.error});
      case 5:
        return {join("min(", x.text, ", ", y.text, ")"), std::max(x.bound, y.bound), std::max(x.error, y.error)};
      case 6:
        return {join("max(", x.text, ", ", y.text, ")"), std::max(x.bound, y.bound), std::max(x.error, y.error)};
      case 7:
        return rounded({join("(", x.text, " / (abs(", y.text, ") + 1.0))"), x.bound, x.error + x.bound * y.error},
                       4 * kUlp);
      case 8: {
        const Float w = clamped(leaf(1));
        return rounded(
            {join("mix(", x.text, ", ", y.text, ", ", w.text, ")"), x.bound * (1 + w.bound) + y.bound * w.bound,
             x.error * (1 + w.bound) + y.error * w.bound + (x.bound + y.bound) * w.error},
            4 * kUlp);
      }
      case 9:
        return rounded({join("fma(", x.text, ", ", y.text, ", ", exact(n).text, ")"), x.bound * y.bound + 2,
                        x.bound * y.error + y.bound * x.error});
      case 10: {
        if (n == 1) return x;
        const double products = n * (x.bound * y.error + y.bound * x.error);
        return rounded({join(type_of(n), "(dot(", x.text, ", ", y.text, "))"), n * x.bound * y.bound, products},
                       n * kUlp);
      }
      case 11:
        return matrix(x, n);
      default:
        return {join("helper", std::to_string(n), "(", x.text, ", ", y.text, ")"), x.bound + y.bound + 1,
                error + (x.bound + y.bound + 1) * kUlp};
    }
  }

  Float matrix(const Float& x, unsigned n) {
    if (n == 1) return x;
    std::string columns;
    for (unsigned i = 0; i < n; ++i) columns += (i == 0 ? "" : ", ") + exact(n).text;
    return rounded(
        {join("(mat", std::to_string(n), "(", columns, ") * ", x.text, ")"), n * 2 * x.bound, n * 2 * x.error},
        n * kUlp);
  }

  Float one_of_one(const Float& x, unsigned n) {
    switch (whole(0, stage_ == GlslStage::fragment && depth_ == 1 && !is_choosing_ ? 19 : 15)) {
      case 0:
        return {join("abs(", x.text, ")"), x.bound, x.error};
      case 1:
        return {join("(-", x.text, ")"), x.bound, x.error};
      case 2:
        return {join("clamp(", x.text, ", -0.75, 1.5)"), 1.5, x.error};
      case 3:  // within [-pi, pi]
        return {join("sin(clamp(", x.text, ", -3.0, 3.0))"), 1, x.error + 0x1p-11};
      case 4:
        return {join("cos(clamp(", x.text, ", -3.0, 3.0))"), 1, x.error + 0x1p-11};
      case 5:
        return {join("exp2(clamp(", x.text, ", -3.0, 2.0))"), 4, 3 * x.error + 4 * 9 * kUlp};
      case 6:
        return {join("exp(clamp(", x.text, ", -3.0, 1.0))"), 3, 3 * x.error + 3 * 9 * kUlp};
      case 7:
        return {join("log2(abs(", x.text, ") + 1.0)"), 3, 1.5 * x.error + 0x1p-20};
      case 8:
        return {join("log(abs(", x.text, ") + 1.0)"), 2, x.error + 0x1p-20};
      case 9:
        return {join("sqrt(abs(", x.text, ") + 0.25)"), 2.1, x.error + 8 * kUlp};
      case 10:
        return {join("inversesqrt(abs(", x.text, ") + 0.25)"), 2, 4 * x.error + 8 * kUlp};
      case 11:  // exp2(y * log2(x)), whose logarithm is within 2^-20 and then times 1.5
        return {join("pow(abs(", x.text, ") + 1.0, ", type_of(n), "(1.5))"), 11.2, 3.4 * x.error + 11.2 * 0x1p-19};
      case 12:
        return {join("atan(", x.text, ")"), 1.4, x.error + 4096 * 1.4 * kUlp / 2};
      case 13:
        return {join("smoothstep(-1.0, 1.5, ", x.text, ")"), 1, x.error + 8 * kUlp};
      case 14:
        return n == 1
                   ? Float{join("length(vec2(", x.text, ", 1.0))"), x.bound + 1, x.error + 8 * kUlp * x.bound}
                   : Float{join(type_of(n), "(length(", x.text, "))"), 2 * x.bound, 2 * x.error + 16 * kUlp * x.bound};
      case 15:
        return n == 1 ? Float{join("normalize(vec3(", x.text, ", 1.0, 2.0)).x"), 1, x.error + 8 * kUlp}
                      : Float{join("tanh(clamp(", x.text, ", -3.0, 3.0))"), 1, x.error + 64 * kUlp};
      case 16:
        return derivative("DX", x, 2);
      case 17:
        return derivative("DY", x, 2);
      case 18:
        return derivative("WIDTH", x, 4);
      default: {
        // One level: what a sample is, is continuous. 8 texels in a unit, of which neighbours differ by 1 at most.
        const Float at = clamped(leaf(2));
        Float texel{join("texture(image, ", at.text, ")"), 1, 16 * at.error + 0x1p-15};
        if (n != 4) texel.text += swizzle(n);
        return texel;
      }
    }
  }
  Float derivative(const char* name, const Float& x, double factor) {
    return rounded({join(name, "(", x.text, ")"), factor * x.bound, factor * x.error});
  }

  // ---- Statements

  struct Variable {
    std::string name;
    unsigned components = 1;
    double bound = 0, error = 0;
  };

  void statement(unsigned depth) {
    // All threads of a group come by: not inside of a choice or a loop.
    if (stage_ == GlslStage::compute && depth_ == 1 && one_in(3)) return one_in(3) ? sum() : exchange();
    const unsigned kind = depth == 0 || variables_.empty() ? 0 : whole(0, 9);
    if (kind < 4) return declare();
    Variable& changed = variables_[whole(0, static_cast<unsigned>(variables_.size()) - 1)];
    if (changed.error > kWorst / 64) return declare();
    if (kind < 6) return branch(changed, depth);
    if (kind < 8) return loop(changed);
    if (kind == 8) return choose(changed);
    return array();
  }

  void declare() {
    const unsigned n = std::array{1u, 2u, 3u, 4u, 4u}[whole(0, 4)];
    const Float value = clamped(vector(n, 3));
    Variable made{join("x", std::to_string(count_++)), n, value.bound, value.error};
    line(join(type_of(n), " ", made.name, " = ", value.text, ";"));
    variables_.push_back(made);
  }

  void assign(Variable& variable) {
    const Float value = clamped(vector(variable.components, 2));
    line(join(variable.name, " = ", value.text, ";"));
    variable.bound = std::max(variable.bound, value.bound);
    variable.error = std::max(variable.error, value.error);
  }

  /// Variables declared inside are forgotten behind it.
  template <class Body>
  void block(const std::string& head, Body body) {
    line(head + " {");
    ++depth_;
    const size_t before = variables_.size();
    body();
    variables_.resize(before);
    --depth_;
    line("}");
  }

  void branch(Variable& changed, unsigned depth) {
    const auto at = static_cast<size_t>(&changed - variables_.data());
    block(join("if (", condition(), ")"), [&] {
      if (depth > 1 && one_in(3)) statement(depth - 1);
      assign(variables_[at]);
    });
    if (one_in(2)) block("else", [&] { assign(variables_[at]); });
  }

  /// A sum that forgets: its error is at most its first plus twice that of what is added.
  void loop(Variable& changed) {
    const auto at = static_cast<size_t>(&changed - variables_.data());
    const std::string n = join("n", std::to_string(count_++));
    const std::string most = one_in(2) ? std::to_string(whole(1, 5)) : join("(", integer(1).text, " & 3)");
    block(join("for (int ", n, " = 0; ", n, " < ", most, "; ++", n, ")"), [&] {
      const std::string name = variables_[at].name;
      const unsigned components = variables_[at].components;
      if (one_in(3))
        line(join("if (((", integer(1).text, " + ", n, ") & 3) == 1) ", one_in(2) ? "continue;" : "break;"));
      Variable hidden = variables_[at];
      variables_[at].error = 1;  // no leaf of what is added
      const Float added = clamped(vector(components, 2));
      variables_[at] = hidden;
      line(join(name, " = ", name, " * 0.5 + ", added.text, " * float(", n, " + 1) * 0.125;"));
      variables_[at].bound = std::max(hidden.bound, 2 * added.bound);
      variables_[at].error = hidden.error + 2 * added.error + 8 * kUlp * (hidden.bound + added.bound);
    });
    if (variables_[at].bound > kLargest) {
      line(join(variables_[at].name, " = clamp(", variables_[at].name, ", -4.0, 4.0);"));
      variables_[at].bound = kLargest;
    }
  }

  void choose(Variable& changed) {
    const auto at = static_cast<size_t>(&changed - variables_.data());
    block(join("switch (", integer(2).text, " & 3)"), [&] {
      for (unsigned i = 0; i < 3; ++i) {
        line(i == 2 ? "default:" : join("case ", std::to_string(i), ":"));
        assign(variables_[at]);
        if (i == 2 || one_in(2)) line("break;");
      }
    });
  }

  /// Each thread reads what another one wrote.
  void exchange() {
    const Float given = clamped(vector(4, 2));
    Variable made{join("x", std::to_string(count_++)), 4, given.bound, given.error};
    const std::string other =
        one_in(2) ? integer(2).text : join("int(own) ", one_in(2) ? "^ " : "+ ", constant_index());
    line(join("exchanged[own] = ", given.text, ";"));
    line("barrier();");
    line(join("vec4 ", made.name, " = exchanged[(", other, ") & ", std::to_string(kGroup - 1), "];"));
    line("barrier();");
    variables_.push_back(made);
  }
  /// Integers, whose sum has no order; of it a float.
  void sum() {
    Variable made{join("x", std::to_string(count_++)), 1, 2, 0};
    const char* const operation = std::array{"atomicAdd", "atomicXor", "atomicMax", "atomicOr"}[whole(0, 3)];
    line("if (own == 0u) total = 0;");
    line("barrier();");
    line(join(operation, "(total, ", integer(2).text, ");"));
    line("barrier();");
    line(join("float ", made.name, " = float(total & 255) * 0.0078125;"));
    line("barrier();");
    variables_.push_back(made);
  }
  std::string constant_index() { return std::to_string(whole(0, kGroup - 1)); }

  void array() {
    const std::string name = join("t", std::to_string(count_++));
    Variable made{join("x", std::to_string(count_++)), 1, 0, 0};
    std::string elements;
    for (unsigned i = 0; i < 4; ++i) {
      const Float element = clamped(vector(1, 1));
      elements += (i == 0 ? "" : ", ") + element.text;
      made.bound = std::max(made.bound, element.bound);
      made.error = std::max(made.error, element.error);
    }
    line(join("float ", name, "[4] = float[4](", elements, ");"));
    line(join(name, "[", integer(1).text, " & 3] = ", exact(1).text, ";"));
    line(join("float ", made.name, " = ", name, "[", integer(2).text, " & 3];"));
    made.bound = std::max(made.bound, 2.0);
    variables_.push_back(made);
  }

  void add_helper() {
    for (unsigned n = 1; n <= 4; ++n) {
      const std::string type = type_of(n);
      helpers_ += join(type, " helper", std::to_string(n), "(", type, " p, ", type, " q) {\n");
      if (one_in(2)) helpers_ += join("  if (c.x < ", constant(), ") return p - q;\n");
      helpers_ += join("  p += q;\n  return p", one_in(2) ? " + 1.0" : "", ";\n}\n");
    }
  }

  std::string frame() const {
    std::string text = "#version 450\n";
    text += "layout(std140, binding = 0) uniform Constants { vec4 c; ivec4 k; };\n";
    text += stage_ == GlslStage::compute ? compute_frame() : drawn_frame();
    return text + "}\n";
  }

  static constexpr const char* kFromBuffer =
      "struct Inputs { vec4 a, b; ivec4 i; uvec4 u; };\n"
      "layout(std430, binding = 1) readonly buffer All { Inputs all[]; };\n"
      "vec4 a, b;\nivec4 i;\nuvec4 u;\n";
  static constexpr const char* kToBuffer =
      "vec4 r0, r1;\nlayout(std430, binding = 3) writeonly buffer Results { vec4 results[]; };\n";
  static std::string read_inputs(const std::string& index) {
    return join("  { Inputs one = all[", index, "]; a = one.a; b = one.b; i = one.i; u = one.u; }\n");
  }
  static std::string write_results(const std::string& index) {
    return join("  results[2 * ", index, "] = r0;\n  results[2 * ", index, " + 1] = r1;\n");
  }

  /// The same on both sides: inputs and results are buffers.
  std::string compute_frame() const {
    const std::string size = std::to_string(kGroup), index = "gl_GlobalInvocationID.x";
    return join("layout(local_size_x = ", size, ") in;\n", kFromBuffer, kToBuffer, "shared vec4 exchanged[", size,
                "];\nshared int total;\n", helpers_, "void main() {\n  const uint own = gl_LocalInvocationIndex;\n",
                read_inputs(index), body_, write_results(index));
  }

  std::string drawn_frame() const {
    const bool is_vertex = stage_ == GlslStage::vertex;
    const std::string index = is_vertex ? "gl_VertexIndex" : "(int(gl_FragCoord.y) * 16 + int(gl_FragCoord.x))";
    std::string text;
    if (!is_vertex) text += "layout(binding = 2) uniform sampler2D image;\n";
    // Which of a quad's two differences a derivative is, is the implementation's choice: ours is the fine one.
    if (!is_vertex)
      text +=
          "#ifdef METAL\n#define DX dFdx\n#define DY dFdy\n#define WIDTH fwidth\n#else\n#define DX dFdxFine\n"
          "#define DY dFdyFine\n#define WIDTH fwidthFine\n#endif\n";
    const char* const flat = is_vertex ? "" : "flat ";
    text += join("#ifdef METAL\nlayout(location = 0) in vec4 a;\nlayout(location = 1) in vec4 b;\n",
                 "layout(location = 2) ", flat, "in ivec4 i;\nlayout(location = 3) ", flat, "in uvec4 u;\n#else\n",
                 kFromBuffer, "#endif\n");
    const char* const outputs = "layout(location = 0) out vec4 r0;\nlayout(location = 1) out vec4 r1;\n";
    text += is_vertex ? join("#ifdef METAL\n", outputs, "#else\n", kToBuffer, "#endif\n") : outputs;
    text += join(helpers_, "void main() {\n#ifndef METAL\n", read_inputs(index), "#endif\n", body_);
    if (is_vertex)
      text += join("  gl_Position = vec4(r0.xyz, 1.0);\n#ifndef METAL\n", write_results(index), "#endif\n");
    return text;
  }

  std::mt19937_64 random_;
  const GlslStage stage_;
  std::string body_, helpers_;
  std::vector<Variable> variables_;
  unsigned depth_ = 1;
  bool is_choosing_ = false;  ///< inside of a choice
  unsigned count_ = 0;
};

}  // namespace

GlslShader random_shader(uint64_t seed, GlslStage stage) {
  return Generator(seed, stage).make();
}

}  // namespace smelt::test
