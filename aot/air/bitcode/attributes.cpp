// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bitcode/attributes.hpp"

#include "bitcode/bit_stream.hpp"

#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/Support/ModRef.h"

namespace smelt::aot::bitcode {
namespace {

using llvm::Attribute;
namespace bitc = llvm::bitc;

// Kinds that LLVM 14 reads (its numbers end at 79) and that Apple's readers meet; 0: drop. Also dropped, as Apple never
// writes them: uwtable (an integer since LLVM 15), allocsize, the sanitizers and safestack.
unsigned kind_code(Attribute::AttrKind kind) {
  switch (kind) {
#define SMELT_KIND(here, record) \
  case Attribute::here:          \
    return bitc::ATTR_KIND_##record;
    SMELT_KIND(Alignment, ALIGNMENT)
    SMELT_KIND(AlwaysInline, ALWAYS_INLINE)
    SMELT_KIND(Builtin, BUILTIN)
    SMELT_KIND(ByRef, BYREF)
    SMELT_KIND(ByVal, BY_VAL)
    SMELT_KIND(Cold, COLD)
    SMELT_KIND(Convergent, CONVERGENT)
    SMELT_KIND(Dereferenceable, DEREFERENCEABLE)
    SMELT_KIND(DereferenceableOrNull, DEREFERENCEABLE_OR_NULL)
    SMELT_KIND(ElementType, ELEMENTTYPE)
    SMELT_KIND(Hot, HOT)
    SMELT_KIND(ImmArg, IMMARG)
    SMELT_KIND(InAlloca, IN_ALLOCA)
    SMELT_KIND(InlineHint, INLINE_HINT)
    SMELT_KIND(InReg, IN_REG)
    SMELT_KIND(MinSize, MIN_SIZE)
    SMELT_KIND(MustProgress, MUSTPROGRESS)
    SMELT_KIND(Naked, NAKED)
    SMELT_KIND(Nest, NEST)
    SMELT_KIND(NoAlias, NO_ALIAS)
    SMELT_KIND(NoBuiltin, NO_BUILTIN)
    SMELT_KIND(NoCallback, NO_CALLBACK)
    SMELT_KIND(NoCapture, NO_CAPTURE)
    SMELT_KIND(NoDuplicate, NO_DUPLICATE)
    SMELT_KIND(NoFree, NOFREE)
    SMELT_KIND(NoInline, NO_INLINE)
    SMELT_KIND(NoMerge, NO_MERGE)
    SMELT_KIND(NonLazyBind, NON_LAZY_BIND)
    SMELT_KIND(NonNull, NON_NULL)
    SMELT_KIND(NoProfile, NO_PROFILE)
    SMELT_KIND(NoRecurse, NO_RECURSE)
    SMELT_KIND(NoReturn, NO_RETURN)
    SMELT_KIND(NoSync, NOSYNC)
    SMELT_KIND(NoUndef, NOUNDEF)
    SMELT_KIND(NoUnwind, NO_UNWIND)
    SMELT_KIND(NullPointerIsValid, NULL_POINTER_IS_VALID)
    SMELT_KIND(OptimizeForSize, OPTIMIZE_FOR_SIZE)
    SMELT_KIND(OptimizeNone, OPTIMIZE_NONE)
    SMELT_KIND(ReadNone, READ_NONE)
    SMELT_KIND(ReadOnly, READ_ONLY)
    SMELT_KIND(Returned, RETURNED)
    SMELT_KIND(ReturnsTwice, RETURNS_TWICE)
    SMELT_KIND(SExt, S_EXT)
    SMELT_KIND(Speculatable, SPECULATABLE)
    SMELT_KIND(StackAlignment, STACK_ALIGNMENT)
    SMELT_KIND(StackProtect, STACK_PROTECT)
    SMELT_KIND(StackProtectReq, STACK_PROTECT_REQ)
    SMELT_KIND(StackProtectStrong, STACK_PROTECT_STRONG)
    SMELT_KIND(StrictFP, STRICT_FP)
    SMELT_KIND(StructRet, STRUCT_RET)
    SMELT_KIND(WillReturn, WILLRETURN)
    SMELT_KIND(WriteOnly, WRITEONLY)
    SMELT_KIND(ZExt, Z_EXT)
#undef SMELT_KIND
    default:
      return 0;
  }
}

bool newer_than_air_2_5(Attribute::AttrKind kind) {
  switch (kind) {
    case Attribute::MustProgress:
    case Attribute::NoFree:
    case Attribute::NoSync:
    case Attribute::WillReturn:
    case Attribute::NoUndef:
    case Attribute::NoCallback:
      return true;
    default:
      return false;
  }
}

// memory(...) has one mod/ref pair per location; LLVM 14 has seven enum attributes. Where there is no exact image the
// result says less, never more.
void encode_memory(llvm::MemoryEffects effects, std::vector<uint64_t>& record) {
  auto flag = [&](uint64_t kind) { record.insert(record.end(), {0, kind}); };
  if (effects.doesNotAccessMemory()) return flag(bitc::ATTR_KIND_READ_NONE);
  auto touches = [&](llvm::IRMemLocation place) { return effects.getModRef(place) != llvm::ModRefInfo::NoModRef; };
  const bool argument = touches(llvm::IRMemLocation::ArgMem);
  const bool hidden = touches(llvm::IRMemLocation::InaccessibleMem);
  if (!touches(llvm::IRMemLocation::Other)) {
    flag(argument && hidden ? bitc::ATTR_KIND_INACCESSIBLEMEM_OR_ARGMEMONLY
         : argument         ? bitc::ATTR_KIND_ARGMEMONLY
                            : bitc::ATTR_KIND_INACCESSIBLEMEM_ONLY);
  }
  if (effects.getModRef() == llvm::ModRefInfo::Ref) flag(bitc::ATTR_KIND_READ_ONLY);
  if (effects.getModRef() == llvm::ModRefInfo::Mod) flag(bitc::ATTR_KIND_WRITEONLY);
}

}  // namespace

// attribute := 0, kind | 1, kind, value | 3, key, 0 | 4, key, 0, value, 0 | 5, kind | 6, kind, type
void AttributeTable::encode(Attribute attribute, std::vector<uint64_t>& record) {
  if (attribute.isStringAttribute()) {
    const llvm::StringRef key = attribute.getKindAsString(), value = attribute.getValueAsString();
    auto text = [&](llvm::StringRef part) {
      for (const char c : part) record.push_back(static_cast<unsigned char>(c));
      record.push_back(0);
    };
    record.push_back(value.empty() ? 3 : 4);
    text(key);
    if (!value.empty()) text(value);
    return;
  }
  const Attribute::AttrKind kind = attribute.getKindAsEnum();
  if (kind == Attribute::Memory) return encode_memory(attribute.getMemoryEffects(), record);
  const uint64_t code = kind_code(kind);
  if (code == 0 || (below_air_2_6_ && newer_than_air_2_5(kind))) return;
  if (attribute.isIntAttribute()) {
    record.insert(record.end(), {1, code, attribute.getValueAsInt()});
  } else if (attribute.isTypeAttribute() && attribute.getValueAsType()) {
    record.insert(record.end(), {6, code, types_.of(attribute.getValueAsType())});
  } else {
    record.insert(record.end(), {attribute.isTypeAttribute() ? uint64_t{5} : uint64_t{0}, code});
  }
}

uint32_t AttributeTable::group(llvm::AttributeSet set, uint32_t place) {
  if (auto hit = known_groups_.find({set, place}); hit != known_groups_.end()) return hit->second;
  std::vector<uint64_t> record{groups_.size() + 1, place};  // place: 0 return, n + 1 parameter n, 0xFFFFFFFF function
  for (const Attribute attribute : set) encode(attribute, record);
  const bool empty = record.size() == 2;
  if (!empty) groups_.push_back(std::move(record));
  return known_groups_[{set, place}] = empty ? 0 : static_cast<uint32_t>(groups_.size());
}

uint32_t AttributeTable::list(llvm::AttributeList list) {
  if (list.isEmpty()) return 0;
  if (auto hit = known_lists_.find(list.getRawPointer()); hit != known_lists_.end()) return hit->second;
  std::vector<uint64_t> groups;
  for (const unsigned place : list.indexes()) {
    const llvm::AttributeSet set = list.getAttributes(place);
    if (!set.hasAttributes()) continue;
    if (const uint32_t one = group(set, place)) groups.push_back(one);
  }
  const bool empty = groups.empty();
  if (!empty) lists_.push_back(std::move(groups));
  return known_lists_[list.getRawPointer()] = empty ? 0 : static_cast<uint32_t>(lists_.size());
}

void AttributeTable::write(BitWriter& out) const {
  if (lists_.empty()) return;
  out.enter_block(bitc::PARAMATTR_GROUP_BLOCK_ID, 3);
  for (const auto& group : groups_) out.record(bitc::PARAMATTR_GRP_CODE_ENTRY, group);
  out.exit_block();
  out.enter_block(bitc::PARAMATTR_BLOCK_ID, 3);
  for (const auto& list : lists_) out.record(bitc::PARAMATTR_CODE_ENTRY, list);
  out.exit_block();
}

}  // namespace smelt::aot::bitcode
