// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a linker does before it writes: who has which symbol, and objects that need each other as one module.
#include "smelt/aot/object.hpp"

#include "inputs/kind.hpp"
#include "interface/entry.hpp"
#include "ir/reader.hpp"
#include "kernel_ir/builtins.hpp"
#include "link/join_modules.hpp"
#include "llvm_support/analyses.hpp"
#include "llvm_support/bitcode_io.hpp"
#include "llvm_support/bitstream_check.hpp"
#include "llvm_support/diagnostics.hpp"
#include "llvm_support/guard.hpp"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/Module.h"

#include <map>
#include <set>

namespace smelt::aot {
namespace {

Result<std::vector<ObjectSymbol>> read_symbols(ByteView object) {
  SMELT_TRY(const BitcodeFacts facts, check_bitstream(object));
  llvm::LLVMContext context;
  const auto message = std::make_shared<std::string>();
  install_diagnostics(context, message);
  auto module = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(as_text(facts.bitcode), ""), context);
  if (!module) return fail(Errc::corrupt, "{}", llvm::toString(module.takeError()));
  if (auto error = (*module)->materializeMetadata()) return fail(Errc::corrupt, "{}", llvm::toString(std::move(error)));
  std::map<std::string, std::string> stages;
  for (const air::EntryPoint& entry : air::entry_points(**module)) stages.emplace(entry.name, entry.stage);
  std::vector<ObjectSymbol> symbols;
  for (const llvm::Function& function : **module) {
    const std::string name = function.getName().str();
    if (const auto stage = stages.find(name); stage != stages.end())
      symbols.push_back({name, ObjectSymbol::Kind::entry, stage->second});
    else if (function.isDeclaration() && !kernel_ir::is_operation(name))
      symbols.push_back({name, ObjectSymbol::Kind::undefined, {}});
    else if (!function.isDeclaration() && !function.hasLocalLinkage())
      symbols.push_back({name, ObjectSymbol::Kind::function, {}});
  }
  return symbols;
}

bool defines_entry(const std::vector<ObjectSymbol>& symbols) {
  return std::any_of(symbols.begin(), symbols.end(),
                     [](const ObjectSymbol& one) { return one.kind == ObjectSymbol::Kind::entry; });
}

bool is_object(ByteView bytes) {
  const input::Kind kind = input::detect_kind(bytes);
  return kind == input::Kind::bitcode || kind == input::Kind::wrapped_bitcode;
}

/// Who defines and who needs what, by index into the files.
struct SymbolTable {
  std::vector<std::vector<ObjectSymbol>> of_file;
  std::map<std::string, size_t> defined;
};

Result<SymbolTable> read_tables(std::span<const Source> files) {
  SymbolTable table;
  table.of_file.resize(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    if (!is_object(files[i].bytes)) continue;
    SMELT_TRY(table.of_file[i], object_symbols(files[i].bytes, files[i].name));
    for (const ObjectSymbol& symbol : table.of_file[i]) {
      if (symbol.kind == ObjectSymbol::Kind::undefined) continue;
      const auto [known, is_new] = table.defined.emplace(symbol.name, i);
      if (!is_new)
        return fail(Errc::compile_failed, "duplicate symbol '{}': in {} and in {}", symbol.name,
                    files[known->second].name, files[i].name);
    }
  }
  return table;
}

/// For each file the smallest file that it goes together with: itself, when it needs nobody.
Result<std::vector<size_t>> group_files(std::span<const Source> files, const SymbolTable& table) {
  std::vector<size_t> group(files.size());
  for (size_t i = 0; i < files.size(); ++i) group[i] = i;
  std::string missing;
  for (size_t i = 0; i < files.size(); ++i)
    for (const ObjectSymbol& symbol : table.of_file[i]) {
      if (symbol.kind != ObjectSymbol::Kind::undefined) continue;
      const auto found = table.defined.find(symbol.name);
      if (found == table.defined.end()) {
        missing += fmt::format("{}undefined symbol '{}', which {} calls", missing.empty() ? "" : "; ", symbol.name,
                               files[i].name);
        continue;
      }
      const size_t low = std::min(group[i], group[found->second]);
      const size_t high = std::max(group[i], group[found->second]);
      std::replace(group.begin(), group.end(), high, low);
    }
  if (!missing.empty()) return fail(Errc::compile_failed, "{}", missing);
  return group;
}

/// Calls across objects become code of the caller, as within one: what is left are entry points.
void inline_functions(llvm::Module& module) {
  std::set<std::string> entries;
  for (const air::EntryPoint& entry : air::entry_points(module)) entries.insert(entry.name);
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || entries.count(function.getName().str()) != 0) continue;
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
    always_inline(function);
  }
  inline_marked(module);
}

Result<Bytes> join(std::span<const Source> files, const std::vector<size_t>& group, size_t which) {
  ModuleJoiner joiner;
  for (size_t i = 0; i < files.size(); ++i)
    if (group[i] == which) SMELT_TRY_VOID(joiner.add(files[i].bytes, files[i].name));
  SMELT_TRY(const KernelModule whole, joiner.finish());
  inline_functions(*whole.module);
  air::drop_unreached(*whole.module);
  return to_bitcode(*whole.module);
}

}  // namespace

Result<std::vector<ObjectSymbol>> object_symbols(ByteView object, std::string_view name) {
  auto symbols = contained(name, [&] { return read_symbols(object); });
  if (!symbols) return tl::unexpected(std::move(symbols).error().in(name));
  return symbols;
}

Result<std::vector<Linked>> resolve_objects(std::span<const Source> files) {
  SMELT_TRY(const SymbolTable table, read_tables(files));
  SMELT_TRY(const std::vector<size_t> group, group_files(files, table));
  std::vector<bool> has_entry(files.size(), false);  // by group
  for (size_t i = 0; i < files.size(); ++i)
    if (defines_entry(table.of_file[i])) has_entry[group[i]] = true;
  std::vector<Linked> linked;
  for (size_t i = 0; i < files.size(); ++i) {
    if (group[i] != i) continue;
    if (!is_object(files[i].bytes)) {
      linked.push_back({files[i].name, {}, files[i].bytes});
      continue;
    }
    if (!has_entry[i]) continue;  // functions that nobody calls
    if (std::count(group.begin(), group.end(), i) == 1) {
      linked.push_back({files[i].name, {}, files[i].bytes});
      continue;
    }
    Linked one{.name = files[i].name};
    SMELT_TRY(one.joined, contained(files[i].name, [&] { return join(files, group, i); }));
    linked.push_back(std::move(one));
  }
  for (Linked& one : linked)
    if (!one.joined.empty()) one.bytes = one.joined;
  return linked;
}

}  // namespace smelt::aot
