// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whether each object finds the variant of a method that is for its space: generated programs (generate.hpp) through
// the whole way from source to a Metal library to CPU code, which runs. A number that is not the model's, a program
// that does not compile, and one that should not and does, are findings; their source is kept.
//
//   fuzz_spaces --seconds 3600 --seed 1 --keep found
//
// A program is known by seed and number: --show N prints it, --first N begins with it. Exit status: 0 no finding, 1
// findings, 2 asked wrongly.
#define DOCTEST_CONFIG_IMPLEMENT  // which the launches use
#include "smelt/aot/compile.hpp"
#include "smelt/base/files.hpp"

#include "generate.hpp"
#include "launch.hpp"

#include <CLI/CLI.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <optional>
#include <stdexcept>

using namespace smelt;
using namespace smelt::test;

namespace {

struct Settings {
  double seconds = std::numeric_limits<double>::infinity();
  uint64_t seed = 1, first = 0, programs = std::numeric_limits<uint64_t>::max();
  std::optional<uint64_t> show;
  std::filesystem::path keep = ".";
};

SpacesProgram make(const Settings& settings, uint64_t number) {
  return make_spaces_program(settings.seed * 1000003 + number);
}

Result<aot::Compiled> compile(const std::string& text) {
  aot::CompileOptions options;
  options.targets = {aot::default_target()};
  const aot::Source source{"spaces.metal", as_bytes(text)};
  return aot::compile(std::span(&source, 1), options);
}

/// The kernel's answers. Throws with what is wrong.
std::vector<int32_t> run(const SpacesProgram& program) {
  const auto compiled = compile(program.text);
  if (!compiled) throw std::runtime_error("does not compile: " + compiled.error().message);
  const aot::CompiledFunction& function = compiled->targets[0].functions.at(0);
  const aot::AirModuleView module{function.info.name, function.bitcode};
  const auto code = aot::compile_cpu(std::span(&module, 1), {});
  if (!code) throw std::runtime_error("no CPU code: " + code.error().message);
  const LoadedSlice slice(code->slice);
  std::vector<int32_t> out(program.expected.size(), -1);
  std::vector<std::vector<std::byte>> buffers(program.buffers, std::vector<std::byte>(kSpacesBytes));
  Launch launch;
  launch.bind(0, out);
  for (unsigned i = 1; i < program.buffers; ++i) launch.bind(i, buffers[i]);
  slice.run("k", launch);
  return out;
}

/// What is wrong with a program; empty: nothing.
std::string judge(const SpacesProgram& program, std::string& text) {
  text = program.text;
  try {
    const std::vector<int32_t> got = run(program);
    for (size_t i = 0; i < got.size(); ++i)
      if (got[i] != program.expected[i])
        return fmt::format("out[{}] = {} is {}, and should be {}", i, program.calls[i], got[i], program.expected[i]);
  } catch (const std::exception& error) {
    return error.what();
  }
  for (const std::string& refused : program.refused)
    if (compile(refused)) {
      text = refused;
      return "compiles, and should not";
    }
  return {};
}

int fuzz(const Settings& settings) {
  const auto begin = std::chrono::steady_clock::now();
  const auto spent = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  uint64_t findings = 0, tried = 0, calls = 0, refused = 0;
  for (; tried < settings.programs && spent() < settings.seconds; ++tried) {
    const uint64_t number = settings.first + tried;
    const SpacesProgram program = make(settings, number);
    calls += program.expected.size();
    refused += program.refused.size();
    std::string text;
    const std::string finding = judge(program, text);
    if (finding.empty()) continue;
    ++findings;
    std::error_code ignored;
    std::filesystem::create_directories(settings.keep, ignored);
    const auto file = settings.keep / fmt::format("spaces-{}-{}.metal", settings.seed, number);
    const auto written = write_file(file, as_bytes(text));
    fmt::print("program {}: {}\n  {}{}\n", number, finding,
               written ? "kept as " : "could not be kept: ", written ? file.string() : written.error().message);
    std::fflush(stdout);
  }
  fmt::print("{:.0f} s: {} programs, {} calls, {} that must be refused, {} findings\n", spent(), tried, calls, refused,
             findings);
  if (calls == 0) return 2;
  return findings == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  CLI::App app("Methods with variants for address spaces, against a model", "fuzz_spaces");
  app.add_option("--seconds", settings.seconds, "how long");
  app.add_option("--programs", settings.programs, "how many");
  app.add_option("--seed", settings.seed, "of the random numbers");
  app.add_option("--first", settings.first, "number of the first program");
  app.add_option("--show", settings.show, "print this program and end");
  app.add_option("--keep", settings.keep, "folder for what is found");
  CLI11_PARSE(app, argc, argv);
  if (!settings.show) return fuzz(settings);
  const SpacesProgram program = make(settings, *settings.show);
  fmt::print("{}", program.text);
  for (size_t i = 0; i < program.calls.size(); ++i)
    fmt::print("// {}: {} is {}\n", i, program.calls[i], program.expected[i]);
  for (const std::string& refused : program.refused) fmt::print("// ---- must be refused:\n{}", refused);
  return 0;
}
