// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/aot/listing.hpp"

#include "ir_reader/parse.hpp"
#include "llvm_support/guard.hpp"
#include "llvm_support/listed_lines.hpp"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"

#include <map>

namespace smelt::aot {
namespace {

using Places = llvm::DenseMap<const llvm::Instruction*, std::vector<SourcePlace>>;

/// Where each instruction was written; `files` get the names.
Places places_of(llvm::Module& module, std::vector<std::string>& files) {
  std::map<std::string, uint32_t, std::less<>> known;
  const auto file_of = [&](llvm::StringRef name) {
    const auto [place, added] = known.try_emplace(name.str(), static_cast<uint32_t>(files.size()));
    if (added) files.push_back(name.str());
    return place->second;
  };
  Places places;
  for (const llvm::Function& function : module)
    for (const llvm::Instruction& instruction : llvm::instructions(function))
      for (const llvm::DILocation* at = instruction.getDebugLoc(); at != nullptr; at = at->getInlinedAt())
        if (at->getLine() != 0) places[&instruction].push_back({file_of(at->getFilename()), at->getLine()});
  return places;
}

}  // namespace

Result<AirListing> list_air(ByteView bitcode, std::string_view name) {
  return contained(name, [&]() -> Result<AirListing> {
    SMELT_TRY(const KernelModule parsed, input::parse_module(bitcode, name));
    AirListing result;
    const Places places = places_of(*parsed.module, result.files);
    llvm::StripDebugInfo(*parsed.module);
    const ListedModule listed = list_module(*parsed.module);
    llvm::SmallVector<llvm::StringRef, 0> lines;
    llvm::StringRef(listed.text).split(lines, '\n');
    if (!lines.empty() && lines.back().empty()) lines.pop_back();
    for (const llvm::StringRef line : lines) result.lines.push_back({.text = line.str(), .places = {}});
    for (const auto& [instruction, where] : places)
      if (const unsigned line = listed.lines.lookup(instruction)) result.lines[line - 1].places = where;
    return result;
  });
}

}  // namespace smelt::aot
