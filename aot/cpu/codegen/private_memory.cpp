// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/private_memory.hpp"

#include "smelt/base/sort.hpp"

#include "abi/dispatch_block.hpp"
#include "work_item/recursion.hpp"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/DataExtractor.h"
#include "llvm/Support/MathExtras.h"

#include <map>
#include <optional>

namespace smelt::aot::cpu {
namespace {

constexpr uint64_t kScratchAlignment = 64;

struct Array {
  llvm::AllocaInst* memory;
  uint64_t bytes;
};

llvm::SmallVector<Array> arrays_of(llvm::Function& function) {
  llvm::SmallVector<Array> arrays;
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* memory = llvm::dyn_cast<llvm::AllocaInst>(&instruction); memory && memory->isStaticAlloca())
      arrays.push_back({memory, memory->getAllocationSize(layout)->getFixedValue()});
  return arrays;
}

uint64_t bytes_of(llvm::ArrayRef<Array> arrays) {
  uint64_t bytes = 0;
  for (const Array& array : arrays) bytes += array.bytes;
  return bytes;
}

/// The array stands at `address` from now on.
void replace(llvm::AllocaInst& memory, llvm::Value* address) {
  for (llvm::User* user : llvm::make_early_inc_range(memory.users()))
    if (auto* hint = llvm::dyn_cast<llvm::IntrinsicInst>(user); hint && hint->isLifetimeStartOrEnd())
      hint->eraseFromParent();
  memory.replaceAllUsesWith(address);
  memory.eraseFromParent();
}

tl::unexpected<Error> unreadable(llvm::Error error) {
  return fail(Errc::compile_failed, "stack sizes: {}", llvm::toString(std::move(error)));
}

/// A place in the object: of which section, how far in it.
using Place = std::pair<uint64_t, uint64_t>;

llvm::Expected<Place> symbol_place(const llvm::object::ObjectFile& file, const llvm::object::SymbolRef& symbol) {
  auto section = symbol.getSection();
  if (!section) return section.takeError();
  auto value = symbol.getValue();
  if (!value) return value.takeError();
  return Place{*section == file.section_end() ? ~uint64_t{0} : (*section)->getIndex(), *value};
}

using Frames = std::map<std::string, uint64_t, std::less<>>;

/// What each function of the object needs of the stack, by its name, from the section .stack_sizes.
llvm::Expected<Frames> frames_of(const llvm::object::ObjectFile& file) {
  std::map<Place, uint64_t> frames;
  for (const llvm::object::SectionRef& relocations : file.sections()) {
    auto section = relocations.getRelocatedSection();
    if (!section) return section.takeError();
    if (*section == file.section_end()) continue;
    auto name = (*section)->getName();
    if (!name) return name.takeError();
    if (*name != ".stack_sizes") continue;
    auto contents = (*section)->getContents();
    if (!contents) return contents.takeError();
    std::map<uint64_t, Place> functions;  // by where the section says their address
    for (const llvm::object::ELFRelocationRef relocation : relocations.relocations()) {
      auto place = symbol_place(file, *relocation.getSymbol());
      if (!place) return place.takeError();
      auto addend = relocation.getAddend();
      if (!addend) return addend.takeError();
      place->second += static_cast<uint64_t>(*addend);
      functions[relocation.getOffset()] = *place;
    }
    // For each function its address, 8 bytes, and its size, ULEB128.
    const llvm::DataExtractor data(*contents, /*IsLittleEndian=*/true, /*AddressSize=*/8);
    for (uint64_t at = 0; data.isValidOffset(at);) {
      const auto function = functions.find(at);
      data.getU64(&at);
      const uint64_t frame = data.getULEB128(&at) + 8;  // the return address
      if (function != functions.end()) frames[function->second] = frame;
    }
  }
  Frames by_name;
  for (const llvm::object::SymbolRef& symbol : file.symbols()) {
    auto place = symbol_place(file, symbol);
    if (!place) return place.takeError();
    const auto frame = frames.find(*place);
    if (frame == frames.end()) continue;
    auto name = symbol.getName();
    if (!name) return name.takeError();
    by_name.emplace(*name, frame->second);
  }
  return by_name;
}

/// The longest chain of calls that there can be. Functions that recur are on it as often as they may recur, all of them
/// together, the largest each time.
class LongestChain {
 public:
  LongestChain(const llvm::Module& module, const Frames& frames) : module_(module), frames_(frames) {
    for (const llvm::Function& function : module)
      if (is_recursive_symbol(function.getName())) again_ = std::max(again_, frame_of(function));
    again_ *= uint64_t{kDeepestRecursion} + 1;
  }

  Result<uint64_t> from(const llvm::Function& function) {
    const bool recurs = is_recursive_symbol(function.getName());
    const auto [known, is_new] = chains_.try_emplace(&function, std::nullopt);
    if (!is_new) {
      if (known->second) return *known->second;
      return fail(Errc::compile_failed, "{} calls itself without a known bound", function.getName().str());
    }
    uint64_t longest = 0;
    for (const llvm::Function& caller : module_) {
      if (&caller != &function && !(recurs && is_recursive_symbol(caller.getName()))) continue;
      for (const llvm::Function* callee : callees_of(caller)) {
        if (recurs && is_recursive_symbol(callee->getName())) continue;  // in again_
        SMELT_TRY(const uint64_t chain, from(*callee));
        longest = std::max(longest, chain);
      }
    }
    longest += recurs ? again_ : frame_of(function);
    chains_[&function] = longest;
    return longest;
  }

 private:
  uint64_t frame_of(const llvm::Function& function) const {
    const auto frame = frames_.find(std::string_view(function.getName()));
    return frame == frames_.end() ? 0 : frame->second;
  }

  /// Of a call by a pointer all functions whose address the module takes.
  llvm::SmallPtrSet<const llvm::Function*, 8> callees_of(const llvm::Function& function) const {
    llvm::SmallPtrSet<const llvm::Function*, 8> callees;
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call == nullptr) continue;
      if (const llvm::Function* callee = call->getCalledFunction()) {
        if (!callee->isDeclaration()) callees.insert(callee);
      } else {
        for (const llvm::Function& one : module_)
          if (!one.isDeclaration() && one.hasAddressTaken()) callees.insert(&one);
      }
    }
    return callees;
  }

  const llvm::Module& module_;
  const Frames& frames_;
  uint64_t again_ = 0;
  std::map<const llvm::Function*, std::optional<uint64_t>> chains_;
};

}  // namespace

uint64_t bytes_of_arrays(llvm::Function& function) {
  return bytes_of(arrays_of(function));
}

void inline_array_holders(llvm::Module& module, const llvm::Function& entry) {
  llvm::SmallVector<llvm::Function*> work;
  for (llvm::Function& function : module)
    if (bytes_of_arrays(function) > kArraysOnStack) work.push_back(&function);
  llvm::SmallPtrSet<const llvm::Function*, 8> done{&entry};
  while (!work.empty()) {
    llvm::Function* function = work.pop_back_val();
    if (!done.insert(function).second) continue;
    function->removeFnAttr(llvm::Attribute::NoInline);
    function->addFnAttr(llvm::Attribute::AlwaysInline);
    for (llvm::User* user : function->users())  // whoever calls it has its arrays then
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user)) {
        call->removeFnAttr(llvm::Attribute::NoInline);
        work.push_back(call->getFunction());
      }
  }
}

Result<uint32_t> move_large_arrays(llvm::Module& module, llvm::Function& entry, uint32_t fixed_bytes,
                                   uint32_t bytes_per_thread) {
  if (bytes_per_thread > kArraysOfThread)
    return fail(Errc::unsupported, "{} bytes of private memory for each thread; the CPU keeps at most {}",
                bytes_per_thread, kArraysOfThread);
  for (llvm::Function& function : module)
    if (&function != &entry && bytes_of_arrays(function) > kArraysOnStack)
      return fail(Errc::unsupported, "a function with {} bytes of private arrays stays a function on the CPU",
                  bytes_of(arrays_of(function)));
  llvm::SmallVector<Array> arrays = arrays_of(entry);
  uint64_t on_stack = bytes_of(arrays);
  if (on_stack <= kArraysOnStack) return fixed_bytes;
  sort_stably(arrays, [](const Array& a, const Array& b) { return a.bytes > b.bytes; });

  llvm::IRBuilder<> builder(&*entry.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  const uint64_t first = llvm::alignTo(fixed_bytes, kScratchAlignment);
  llvm::Value* frames = builder.getInt64(0);
  if (bytes_per_thread != 0)
    frames = builder.CreateMul(
        builder.CreateZExt(SMELT_DISPATCH_FIELD(builder, builder.getInt32Ty(), entry.getArg(0), nominal_threads),
                           builder.getInt64Ty()),
        builder.getInt64(bytes_per_thread));
  llvm::Value* base = builder.CreateGEP(builder.getInt8Ty(), entry.getArg(2), frames, "arrays");
  uint64_t end = first;
  for (const Array& array : arrays) {
    if (on_stack <= kArraysOnStack) break;
    if (array.memory->getAlign().value() > kScratchAlignment) continue;
    on_stack -= array.bytes;
    end = llvm::alignTo(end, kScratchAlignment);
    replace(*array.memory, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, end));
    end += array.bytes;
    if (end - first > kArraysInScratch)
      return fail(Errc::unsupported,
                  "{} bytes of private arrays in all for the threads that run together; the CPU keeps at most {}",
                  bytes_of(arrays_of(entry)) + (end - first), kArraysInScratch);
  }
  return static_cast<uint32_t>(llvm::alignTo(end, kScratchAlignment));
}

Result<void> check_stack(const llvm::Function& entry, ByteView object) {
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(as_text(object), ""));
  if (!file) return unreadable(file.takeError());
  auto frames = frames_of(**file);
  if (!frames) return unreadable(frames.takeError());
  SMELT_TRY(const uint64_t bytes, LongestChain(*entry.getParent(), *frames).from(entry));
  if (bytes <= kStackBytes) return {};
  return fail(Errc::unsupported, "the code needs {} bytes of stack; at most {} are guaranteed", bytes, kStackBytes);
}

}  // namespace smelt::aot::cpu
