// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/aot/verify.hpp"

#include "smelt/metallib/check.hpp"
#include "smelt/metallib/names.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/universal.hpp"

#include "interface/module_metadata.hpp"
#include "llvm_support/bitstream_check.hpp"
#include "llvm_support/diagnostics.hpp"
#include "llvm_support/guard.hpp"
#include "llvm_support/rest_of_module.hpp"
#include "verify/checks.hpp"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

namespace smelt::aot {
namespace {

using verify::Findings;

/// Why LLVM does not take the module; empty when it does. In the order of ir_reader/parse.cpp.
std::string read_module(ByteView bitcode, llvm::LLVMContext& context, std::unique_ptr<llvm::Module>& module) {
  auto lazy = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(as_text(bitcode), ""), context);
  if (!lazy) return llvm::toString(lazy.takeError());
  module = std::move(*lazy);
  if (auto error = module->materializeMetadata()) return llvm::toString(std::move(error));
  for (llvm::Function& function : *module)
    if (auto error = function.materialize()) return llvm::toString(std::move(error));
  std::string problem;
  llvm::raw_string_ostream stream(problem);
  bool broken_debug_info = false;
  if (llvm::verifyModule(*module, &stream, &broken_debug_info)) return llvm::StringRef(problem).trim().str();
  if (auto error = read_rest(*module, broken_debug_info)) return llvm::toString(std::move(error));
  return {};
}

void check_module(ByteView file, const ModuleContext& context, Findings& findings) {
  const auto facts = check_bitstream(file);
  if (!facts) {
    findings.error(Check::bitcode, "", "{}", facts.error().message);
    return;
  }
  const auto raw = verify::read_raw_module(facts->bitcode);
  if (!raw) {
    findings.error(Check::bitcode, "", "{}", raw.error().message);
    return;
  }
  llvm::LLVMContext llvm_context;
  install_diagnostics(llvm_context, std::make_shared<std::string>());  // instead of stderr
  std::unique_ptr<llvm::Module> module;
  if (const std::string problem = read_module(facts->bitcode, llvm_context, module); !problem.empty()) {
    findings.error(Check::bitcode, "", "{}", problem);
    return;
  }
  // Without a version of its own, a module is judged as the container says, or as our default target.
  const Version air = air::air_version(*module).value_or(context.air.value_or(Version{2, 6}));
  verify::check_records(*raw, air, findings);
  verify::check_module_metadata(*module, context, findings);
  verify::check_entries(*module, context, air, findings);
  if (!context.air && !verify::has_known_operations(air)) verify::note_unknown_operations(air, findings);
  verify::check_operations(*raw, air, air::made_by_apple(*module), findings);
  verify::check_limits(*module, findings);
  verify::check_foreign(*module, findings);
}

void check_guarded(ByteView file, const ModuleContext& context, Findings& findings) {
  // LLVM's reader trusts the records that it reads. For a tool whose purpose is to look at suspicious files, a fault in
  // it has to be an answer and not the end of the process. What was found before a fault is neither read nor freed: it
  // lies in the memory of a thread that may hold its lock for ever.
  auto found = std::make_unique<std::vector<Finding>>();
  Findings into(*found);
  Result<void> fatal;
  const bool survived =
      contain_crashes([&] { fatal = contain_fatal_errors([&] { check_module(file, context, into); }); });
  if (survived && fatal) return findings.add(std::move(*found));
  (void)found.release();
  if (survived) return findings.error(Check::bitcode, "", "{}", fatal.error().message);
  findings.error(Check::bitcode, "", "LLVM's reader would crash on this module: numbers in it point nowhere");
}

std::optional<Platform> platform_of(const metallib::Library& library) {
  if (library.platform == static_cast<uint8_t>(metallib::Platform::macos)) return Platform::macos;
  if (library.platform == static_cast<uint8_t>(metallib::Platform::ios)) return Platform::ios;
  if (library.platform == static_cast<uint8_t>(metallib::Platform::tvos)) return Platform::tvos;
  return std::nullopt;
}

ModuleContext context_of(const metallib::Library& library, const metallib::Function& function) {
  ModuleContext context;
  context.function = function.name;
  if (function.type) context.stage = metallib::function_type_name(*function.type);
  context.air = Version{function.versions.air_major, function.versions.air_minor};
  context.language = Version{function.versions.language_major, function.versions.language_minor};
  context.platform = platform_of(library);
  if (library.os_major != 0) context.os = Version{library.os_major, library.os_minor, library.os_patch};
  return context;
}

/// Said once for a library, whose functions are of one version.
void note_what_is_not_judged(const metallib::Library& library, Findings& findings) {
  Version oldest{0xFFFF, 0};
  for (const metallib::Function& function : library.functions)
    oldest = std::min(oldest, Version{function.versions.air_major, function.versions.air_minor});
  if (!verify::has_known_operations(oldest)) verify::note_unknown_operations(oldest, findings);
}

void check_stages_together(const metallib::Library& library, Findings& findings) {
  std::vector<StageInfo> functions;
  for (const metallib::Function& function : library.functions) {
    if (function.type != static_cast<uint8_t>(metallib::FunctionType::vertex) &&
        function.type != static_cast<uint8_t>(metallib::FunctionType::fragment))
      continue;
    auto described = describe_stages(library.module_of(function).bitcode(), function.name);
    if (!described) continue;  // told already
    functions.insert(functions.end(), described->begin(), described->end());
  }
  verify::check_hand_over(functions, findings);
}

void check_library(const metallib::Library& library, const std::string& where, std::vector<Finding>& list) {
  Findings findings(list);
  findings.set_prefix(where);
  note_what_is_not_judged(library, findings);
  for (size_t i = 0; i < library.functions.size(); ++i) {
    const metallib::Function& function = library.functions[i];
    const std::string name = fmt::format("function {} '{}'", i, function.name);
    findings.set_prefix(where.empty() ? name : fmt::format("{}, {}", where, name));
    check_guarded(library.module_of(function).bitcode(), context_of(library, function), findings);
  }
  findings.set_prefix(where);
  check_stages_together(library, findings);
}

Finding from_container(const metallib::Finding& finding) {
  const bool is_error = finding.severity == metallib::Severity::error;
  return {is_error ? Finding::Severity::error : Finding::Severity::note, Check::container, finding.place,
          finding.message};
}

}  // namespace

std::string_view to_string(Check check) {
  switch (check) {
    case Check::container:
      return "container";
    case Check::bitcode:
      return "bitcode";
    case Check::record:
      return "record";
    case Check::versions:
      return "versions";
    case Check::entry:
      return "entry";
    case Check::argument:
      return "argument";
    case Check::operation:
      return "operation";
    case Check::limit:
      return "limit";
    case Check::foreign:
      return "foreign";
  }
  return "?";
}

std::string Finding::to_line() const {
  std::string text = fmt::format("{}: {}: {}{}{}", severity == Severity::error ? "error" : "note", to_string(check),
                                 place, place.empty() ? "" : ": ", message);
  for (char& c : text)
    if (c == '\n' || c == '\r') c = ' ';
  return text;
}

std::vector<Finding> verify_module(ByteView bitcode, const ModuleContext& context) {
  std::vector<Finding> list;
  Findings findings(list);
  check_guarded(bitcode, context, findings);
  return list;
}

std::vector<Finding> verify_metallib(ByteView file) {
  std::vector<Finding> list;
  for (const metallib::Finding& finding : metallib::check_file(file)) list.push_back(from_container(finding));
  const auto images = metallib::find_images(file);
  if (!images) return list;
  for (const metallib::Image& image : *images) {
    const auto library = metallib::read(image.bytes, {.check_hashes = false});
    if (library) check_library(*library, image.where, list);
  }
  return list;
}

}  // namespace smelt::aot
