// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every operation in Apple-built bitcode (tests/aot/data/air-harvest.tsv) is lowered, is a collective, or is on the
// short list of what a CPU slice does not do; and what is lowered compiles to code without a single external symbol.
#include "files.hpp"
#include "jit.hpp"
#include "lower/collectives.hpp"
#include "skips.hpp"

#include <doctest/doctest.h>

#include <regex>
#include <sstream>

using namespace smelt;
using namespace smelt::test;
using aot::cpu::Support;
using aot::cpu::support_of;

namespace {

/// "float (<2 x i32>, i8 addrspace(1)* nocapture)" -> result and operand types, pointers opaque.
std::pair<std::string, std::vector<std::string>> parse_signature(std::string text) {
  text = std::regex_replace(text, std::regex(" (nocapture|readonly|writeonly|noalias|immarg)"), "");
  text = std::regex_replace(text, std::regex("[%A-Za-z0-9_.]+ addrspace\\(([0-9]+)\\)\\*"), "ptr addrspace($1)");
  text = std::regex_replace(text, std::regex("[%A-Za-z0-9_.]+\\*+"), "ptr");
  const size_t open = text.find(" (");
  std::string arguments = text.substr(open + 2, text.size() - open - 3);
  std::vector<std::string> types;
  int depth = 0;
  std::string current;
  for (const char c : arguments) {
    depth += c == '<' || c == '{' ? 1 : c == '>' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 0) {
      types.push_back(current);
      current.clear();
    } else if (!(c == ' ' && current.empty())) {
      current += c;
    }
  }
  if (!current.empty()) types.push_back(current);
  return {text.substr(0, open), types};
}

/// A function that passes its own arguments on.
std::string caller(const std::string& name, const std::string& result, const std::vector<std::string>& types) {
  std::string declared, parameters, arguments;
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string comma = i ? ", " : "", value = " %p" + std::to_string(i);
    // Flags and orders are constants wherever AIR has them.
    const bool constant = types[i] == "i1" && name.find("atomic") != std::string::npos;
    declared += comma + types[i];
    parameters += comma + types[i] + value;
    arguments += comma + types[i] + (constant ? " true" : value);
  }
  std::string text =
      "declare " + result + " @" + name + "(" + declared + ")\ndefine " + result + " @f(" + parameters + ") {\n  ";
  if (result == "void") return text + "call void @" + name + "(" + arguments + ")\n  ret void\n}\n";
  return text + "%r = call " + result + " @" + name + "(" + arguments + ")\n  ret " + result + " %r\n}\n";
}

}  // namespace

TEST_CASE("every compute operation of Apple's bitcode has an answer") {
  const auto path = shared("aot/data/air-harvest.tsv");
  if (!path) {
    smelt::test::skipped("no tests/aot/data");
    return;
  }
  // What a CPU slice refuses: textures, derivatives, function tables.
  const std::regex refused("air\\.(sample_|dfd|fwidth|get_function_pointer).*");
  std::stringstream lines{std::string(as_text(must_read(*path)))};
  std::string line;
  std::getline(lines, line);
  int lowered = 0, collective = 0, refusals = 0, pipeline = 0;
  while (std::getline(lines, line)) {
    const size_t first = line.find('\t'), second = line.find('\t', first + 1);
    const std::string name = line.substr(first + 1, second - first - 1);
    const auto [result, types] = parse_signature(line.substr(second + 1));
    const auto answer = support_of(name);
    INFO(line);
    if (answer.support == Support::unsupported) {
      CHECK(std::regex_match(name, refused));
      CHECK_FALSE(answer.reason.empty());
      ++refusals;
      continue;
    }
    if (answer.support == Support::collective) {
      CHECK(aot::cpu::parse_collective(name).has_value());
      ++collective;
      continue;
    }
    if (name.rfind("air.", 0) != 0 || answer.support == Support::pipeline) {
      ++pipeline;
      continue;
    }
    const Compiled compiled = compile(caller(name, result, types));
    CHECK(compiled.error == "");
    CHECK(compiled.undefined.empty());
    ++lowered;
  }
  MESSAGE(lowered << " lowered, " << collective << " collective, " << refusals << " refused, " << pipeline
                  << " plain or the pipeline's");
  CHECK(lowered > 70);
  CHECK(collective > 40);
}

TEST_CASE("names that are not known are refused by name") {
  CHECK(support_of("air.frobnicate.f32").support == Support::unsupported);
  CHECK(support_of("air.sample_texture_2d.v4f32").support == Support::lowered);
  CHECK(support_of("air.get_null_texture_2d").reason.find("not supported on the CPU") != std::string::npos);
  CHECK(support_of("air.convert.f.f32.s.i31").support == Support::unsupported);
  CHECK(support_of("air.os_log").support == Support::pipeline);
  CHECK(support_of("llvm.sin.f32").support == Support::lowered);
  CHECK(support_of("llvm.smax.i32").support == Support::pipeline);
  CHECK(support_of("a_function").support == Support::pipeline);

  const std::string unknown = lowering_error(
      "declare float @air.erf.f32(float)\ndefine float @f(float %x) {\n"
      "  %r = call float @air.erf.f32(float %x)\n  ret float %r\n}\n");
  CHECK(unknown.find("air.erf.f32") != std::string::npos);
  CHECK(unknown.find("'f'") != std::string::npos);
  const std::string wrong = lowering_error(
      "declare i32 @air.exp.f32(i32)\ndefine i32 @f(i32 %x) {\n"
      "  %r = call i32 @air.exp.f32(i32 %x)\n  ret i32 %r\n}\n");
  CHECK(wrong.find("air.exp.f32: called as i32 (i32)") != std::string::npos);
}

TEST_CASE("no call with a wrong signature does more than fail") {
  const std::vector<std::string> names = {"air.exp.f32",
                                          "air.fma.f32",
                                          "air.clz.i32",
                                          "air.min.s.i32",
                                          "air.convert.f.f32.s.i32",
                                          "air.pack.unorm4x8.v4f32",
                                          "air.unpack.snorm2x16.v2f32",
                                          "air.all.v2i1",
                                          "air.atomic.global.add.s.i32",
                                          "air.atomic.global.cmpxchg.weak.i32",
                                          "air.atomic.local.load.i32",
                                          "air.atomic.global.store.f32",
                                          "air.atomic.fence",
                                          "air.dot.v4f32",
                                          "air.sincos.f32",
                                          "air.ldexp.f32",
                                          "air.insert_bits.u.i32",
                                          "air.extract_bits.s.i64",
                                          "air.isnan.f32",
                                          "air.simd_vote_all.i64",
                                          "air.get_simdgroup_size.i16",
                                          "air.nextafter.f32",
                                          "air.mad_sat.s.i16",
                                          "air.rotate.i32",
                                          "air.clamp.u.i32",
                                          "air.convert.s.i8.f.f32.sat",
                                          "air.normalize_function_constant_predicate.i8"};
  const std::vector<std::string> types = {"i1",     "i32", "i64",         "float",    "half",
                                          "double", "ptr", "<4 x float>", "<2 x i64>"};
  for (const std::string& name : names) {
    CHECK_MESSAGE(support_of(name).support == Support::lowered, name);
    for (const std::string& result : types)
      for (size_t count = 0; count <= 4; ++count)
        for (const std::string& type : types) {
          const std::string error = lowering_error(caller(name, result, std::vector<std::string>(count, type)));
          CHECK_MESSAGE(error.find("verifier") == std::string::npos, name << ": " << error);
        }
  }
}
