// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Apple's bitcode -> LLVM 19 -> our writer, for every module at hand. Judges: LLVM 19 (is it the same module?), LLVM 14
// (does it read, does it verify?), and Apple's own bytes (same opcodes, declarations, attributes, metadata?).
// Normalisations: docs/design/bitcode-writer.md 9.
#include "apple_text.hpp"
#include "bitcode/writer.hpp"
#include "canonical.hpp"
#include "modules.hpp"
#include "oracle.hpp"
#include "skips.hpp"

#include "llvm/Passes/PassBuilder.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <mutex>

using namespace smelt;
using namespace smelt::test;
using aot::bitcode::write_bitcode;
using aot::bitcode::WriteOptions;

namespace {

const std::vector<AppleModule>& modules() {
  static const std::vector<AppleModule> all = apple_modules();
  return all;
}

bool skipped() {
  if (!modules().empty()) return false;
  smelt::test::skipped("no Apple modules; put ../shared beside the checkout or run scripts/fetch-corpus");
  return true;
}

bool no_judge() {
  if (have_llvm_14()) return false;
  smelt::test::skipped("llvm-dis-14 and opt-14 are not installed");
  return true;
}

// Every n-th module, or all when SMELT_FULL is set: opt-14 is a process per module and mode.
size_t stride(size_t n) {
  return std::getenv("SMELT_FULL") ? 1 : n;
}

class Findings {
 public:
  void add(const std::string& module, const std::string& what) {
    const std::lock_guard lock(guard_);
    list_.push_back(module + ": " + what);
  }
  void report() {
    std::sort(list_.begin(), list_.end());
    for (const std::string& one : list_) FAIL_CHECK(one);
    list_.clear();
  }

 private:
  std::mutex guard_;
  std::vector<std::string> list_;
};

Result<Bytes> rewrite(const AppleModule& input, const WriteOptions& options, llvm::LLVMContext& context) {
  const auto module = read_19(input.bitcode, context);
  if (!module) return fail(Errc::corrupt, "LLVM 19 cannot read the input");
  return write_bitcode(*module, options);
}

// As LLVM 19 sees both: no difference, or the first one.
std::string compare_19(const AppleModule& input, ByteView ours, const Canonical& how_ours) {
  llvm::LLVMContext context;
  Canonical how_apples = how_ours;
  how_apples.turn_blocks = false;
  const auto before = read_19(input.bitcode, context);
  if (!before) return "LLVM 19 cannot read the input";
  const std::string wanted = canonical_text(*before, how_apples);
  llvm::LLVMContext fresh;  // its own: struct names would collide
  const auto after = read_19(ours, fresh);
  if (!after) return "LLVM 19 cannot read the output";
  return first_difference(wanted, canonical_text(*after, how_ours));
}

void compare_14(const AppleText& apples, const AppleText& ours, const std::string& module, Findings& findings) {
  for (const auto& [opcode, count] : apples.opcodes) {
    const auto at = ours.opcodes.find(opcode);
    const int found = at == ours.opcodes.end() ? 0 : at->second;
    if (found != count) findings.add(module, fmt::format("{} {} instructions, Apple has {}", found, opcode, count));
  }
  if (apples.opcodes.size() != ours.opcodes.size()) findings.add(module, "opcodes that Apple does not use");
  auto lists = [&](const char* what, const std::vector<std::string>& wanted, const std::vector<std::string>& found) {
    if (wanted == found) return;
    size_t i = 0;
    while (i < wanted.size() && i < found.size() && wanted[i] == found[i]) ++i;
    findings.add(module, fmt::format("{} differ:\n  Apple: {}\n  ours:  {}", what,
                                     i < wanted.size() ? wanted[i] : "(end)", i < found.size() ? found[i] : "(end)"));
  };
  lists("declarations", apples.declarations, ours.declarations);
  lists("attributes of definitions", apples.attributes, ours.attributes);
  lists("attributes of calls", apples.call_attributes, ours.call_attributes);
  lists("metadata", apples.metadata, ours.metadata);
}

// Nothing that AIR 2.5's readers lack. LLVM 14 adds attributes of its own to llvm.* declarations when it reads.
void check_gated(const std::string& text, const std::string& module, Findings& findings) {
  const AppleText parts = take_apart(text);
  for (const char* opcode : {"freeze", "fneg"})
    if (parts.opcodes.contains(opcode)) findings.add(module, fmt::format("has {}", opcode));
  if (text.find("poison") != std::string::npos) findings.add(module, "has poison");
  for (const auto* lines : {&parts.declarations, &parts.attributes, &parts.call_attributes}) {
    for (const std::string& line : *lines) {
      if (line.find("@llvm.") != std::string::npos) continue;
      for (const char* newer : {"mustprogress", " nofree", " nosync", " willreturn", " noundef", " nocallback"})
        if (line.find(newer) != std::string::npos) findings.add(module, fmt::format("has{}: {}", newer, line));
    }
  }
}

}  // namespace

TEST_CASE("every Apple module survives the round trip exactly") {
  if (skipped()) return;
  Findings findings;
  for_each_index(modules().size(), [&](size_t i) {
    const AppleModule& input = modules()[i];
    WriteOptions options;
    options.air = {2, 7, 0};  // nothing is gated
    options.expand_constants = false;
    options.wrap = false;
    options.keep_debug = true;
    llvm::LLVMContext context;
    const auto ours = rewrite(input, options, context);
    if (!ours) return findings.add(input.name, ours.error().message);
    Canonical how;
    how.keep_debug = true;
    if (const std::string difference = compare_19(input, *ours, how); !difference.empty())
      findings.add(input.name, "as LLVM 19 sees it: " + difference);
  });
  findings.report();
  MESSAGE(modules().size(), " distinct modules");
}

TEST_CASE("LLVM 14 accepts every module and finds what Apple wrote") {
  if (skipped() || no_judge()) return;
  Findings findings;
  const size_t step = stride(3);
  for_each_run((modules().size() + step - 1) / step, [&](size_t first, size_t last) {
    std::vector<Bytes> ours;
    std::vector<ByteView> our_views, apple_views;
    for (size_t i = first; i < last; ++i) {
      WriteOptions options;
      options.air = {2, 7, 0};
      options.expand_constants = false;
      options.wrap = i % 2 == 0;
      options.keep_debug = true;
      llvm::LLVMContext context;
      auto written = rewrite(modules()[i * step], options, context);
      if (!written) return findings.add(modules()[i * step].name, written.error().message);
      ours.push_back(std::move(*written));
      apple_views.push_back(modules()[i * step].bitcode);
    }
    for (const Bytes& one : ours) our_views.push_back(one);
    const auto verdicts = judge_14(our_views), apples = disassemble_14(apple_views);
    for (size_t i = first; i < last; ++i) {
      const Verdict &mine = verdicts[i - first], &theirs = apples[i - first];
      const std::string& name = modules()[i * step].name;
      if (!mine.accepted || !mine.error.empty()) {
        findings.add(name, "LLVM 14: " + mine.error);
      } else if (!theirs.accepted) {
        findings.add(name, "LLVM 14 on Apple's own bytes: " + theirs.error);
      } else {
        compare_14(take_apart(theirs.text), take_apart(mine.text), name, findings);
      }
    }
  });
  findings.report();
}

TEST_CASE("every other way of writing is as good") {
  if (skipped()) return;
  Findings findings;
  const bool judge = !no_judge();
  struct Mode {
    const char* name;
    WriteOptions options;
    Canonical how;
    bool compare;
  };
  std::vector<Mode> modes(4);
  modes[0] = {"reversed blocks", {{2, 7, 0}, false, false, true, true}, {true, true, false}, true};
  modes[1] = {"expanded constants", {{2, 7, 0}, true, false, false, false}, {false, false, false}, true};
  modes[2] = {"no debug info", {{2, 6, 0}, false, true, false, false}, {false, false, false}, true};
  modes[3] = {"AIR 2.5", {{2, 5, 0}, std::nullopt, true, false, false}, {}, false};
  const size_t step = stride(4);
  for_each_run((modules().size() + step - 1) / step, [&](size_t first, size_t last) {
    for (const Mode& mode : modes) {
      std::vector<Bytes> written;
      std::vector<std::string> names;
      for (size_t i = first; i < last; ++i) {
        const AppleModule& input = modules()[i * step];
        names.push_back(input.name + ", " + mode.name);
        llvm::LLVMContext context;
        auto ours = rewrite(input, mode.options, context);
        if (!ours) return findings.add(names.back(), ours.error().message);
        if (mode.compare) {
          const std::string difference = compare_19(input, *ours, mode.how);
          if (!difference.empty()) findings.add(names.back(), difference);
        }
        written.push_back(std::move(*ours));
      }
      if (!judge) continue;
      const auto verdicts = disassemble_14({written.begin(), written.end()});
      for (size_t i = 0; i < written.size(); ++i) {
        const Verdict verdict = i % stride(8) == 0 ? verify_14(written[i]) : verdicts[i];
        if (!verdicts[i].accepted || !verdict.accepted)
          findings.add(names[i], "LLVM 14: " + verdicts[i].error + verdict.error);
        if (mode.options.air < aot::Version{2, 6, 0}) check_gated(verdicts[i].text, names[i], findings);
      }
    }
  });
  findings.report();
}

TEST_CASE("what LLVM 19's optimiser makes of Apple's modules is written, too") {
  if (skipped() || no_judge()) return;
  Findings findings;
  const size_t step = stride(16);
  for_each_index((modules().size() + step - 1) / step, [&](size_t n) {
    const AppleModule& input = modules()[n * step];
    llvm::LLVMContext context;
    const auto module = read_19(input.bitcode, context);
    if (!module) return findings.add(input.name, "LLVM 19 cannot read the input");
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager analyses;
    llvm::PassBuilder builder;
    builder.registerModuleAnalyses(analyses);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, analyses);
    builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(*module, analyses);
    for (const bool expand : {true, false}) {
      WriteOptions options;
      options.air = {2, 7, 0};
      options.expand_constants = expand;
      options.wrap = false;
      const auto ours = write_bitcode(*module, options);
      if (!ours) return findings.add(input.name, ours.error().message);
      const Verdict verdict = judge_14(*ours);
      if (!verdict.accepted) findings.add(input.name, "LLVM 14: " + verdict.error);
      if (expand) continue;
      llvm::LLVMContext fresh;
      const auto after = read_19(*ours, fresh);
      if (!after) return findings.add(input.name, "LLVM 19 cannot read the output");
      Canonical how;
      how.older_flags = true;
      const std::string found = canonical_text(*after, how);
      const std::string difference = first_difference(canonical_text(*module, how), found);
      if (!difference.empty()) findings.add(input.name, difference);
    }
  });
  findings.report();
}

TEST_CASE("same module, same bytes") {
  if (skipped()) return;
  std::mutex guard;
  size_t different = 0;
  for_each_index(modules().size(), [&](size_t i) {
    llvm::LLVMContext one, other;
    // Addresses differ between the two contexts, and so would any order that hangs on them.
    const std::vector<std::unique_ptr<char[]>> shift = [] {
      std::vector<std::unique_ptr<char[]>> blocks;
      for (size_t n = 1; n < 40; ++n) blocks.push_back(std::make_unique<char[]>(n * 24));
      return blocks;
    }();
    const auto first = rewrite(modules()[i], {}, one), second = rewrite(modules()[i], {}, other);
    const std::lock_guard lock(guard);
    if (!first || !second || *first != *second) ++different;
  });
  CHECK(different == 0);
}
