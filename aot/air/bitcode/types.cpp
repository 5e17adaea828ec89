// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bitcode/types.hpp"

#include "bitcode/bit_stream.hpp"
#include "kernel_ir/handles.hpp"

#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

namespace smelt::aot::bitcode {
namespace {

constexpr unsigned kDeepestType = 256;  // nesting; real modules have less than ten

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 29);
}

}  // namespace

TypeTable::TypeTable(Trouble& trouble) : trouble_(trouble), slots_(256) {
  types_.reserve(128);
  hashes_.reserve(128);
  subs_.reserve(256);
  known_.reserve(64);
}

TypeId TypeTable::intern(TypeKind kind, uint64_t count, std::span<const TypeId> subs, std::string_view name) {
  uint64_t hash = mix(static_cast<uint64_t>(kind), count);
  for (const TypeId sub : subs) hash = mix(hash, sub);
  for (const char c : name) hash = mix(hash, static_cast<unsigned char>(c));
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  for (; slots_[at] != 0; at = (at + 1) & mask) {
    const TypeId id = slots_[at] - 1;
    const Type& type = types_[id];
    if (hashes_[id] == hash && type.kind == kind && type.count == count && names_[type.name] == name &&
        std::ranges::equal(this->subs(id), subs)) {
      return id;
    }
  }
  const TypeId id = static_cast<TypeId>(types_.size());
  Type type{kind, static_cast<uint32_t>(subs_.size()), static_cast<uint32_t>(subs.size()), 0, count};
  const llvm::SmallVector<TypeId, 16> copy(subs.begin(), subs.end());  // `subs` may lie in subs_
  subs_.insert(subs_.end(), copy.begin(), copy.end());
  if (!name.empty()) {
    type.name = static_cast<uint32_t>(names_.size());
    names_.emplace_back(name);
  }
  types_.push_back(type);
  hashes_.push_back(hash);
  slots_[at] = id + 1;
  if (types_.size() * 2 > slots_.size()) grow();
  return id;
}

void TypeTable::grow() {
  slots_.assign(slots_.size() * 2, 0);
  const size_t mask = slots_.size() - 1;
  for (TypeId id = 0; id < types_.size(); ++id) {
    size_t at = hashes_[id] & mask;
    while (slots_[at] != 0) at = (at + 1) & mask;
    slots_[at] = id + 1;
  }
}

TypeId TypeTable::canonical_pointer(unsigned space) {
  if (space >= canonical_.size()) return pointer(integer(8), space);
  if (canonical_[space] == 0) canonical_[space] = pointer(integer(8), space) + 1;
  return canonical_[space] - 1;
}

TypeId TypeTable::function(TypeId result, std::span<const TypeId> parameters, bool variadic) {
  llvm::SmallVector<TypeId, 16> subs{result};
  subs.append(parameters.begin(), parameters.end());
  return intern(TypeKind::function, variadic, subs);
}

std::optional<TypeId> TypeTable::inside(TypeId id, uint64_t index) const {
  const Type& type = types_[id];
  switch (type.kind) {
    case TypeKind::array:
    case TypeKind::vector:
      return subs_[type.first_sub];
    case TypeKind::literal_struct:
    case TypeKind::named_struct:
      if (index < type.sub_count) return subs_[type.first_sub + index];
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

TypeId TypeTable::look_up(llvm::Type* type) {
  TypeId id = 0;
  if (auto hit = known_.find(type); hit != known_.end()) {
    id = hit->second;
  } else {
    if (depth_ >= kDeepestType) {
      trouble_.report(Errc::unsupported, fmt::format("a type is nested more than {} deep", kDeepestType));
      return scalar(TypeKind::void_type);
    }
    ++depth_;
    id = translate(type);
    --depth_;
    known_.try_emplace(type, id);
  }
  last_type_ = type;
  last_id_ = id;
  return id;
}

TypeId TypeTable::translate(llvm::Type* type) {
  switch (type->getTypeID()) {
    case llvm::Type::VoidTyID:
      return scalar(TypeKind::void_type);
    case llvm::Type::HalfTyID:
      return scalar(TypeKind::half);
    case llvm::Type::BFloatTyID:
      return scalar(TypeKind::bfloat);
    case llvm::Type::FloatTyID:
      return scalar(TypeKind::float_type);
    case llvm::Type::DoubleTyID:
      return scalar(TypeKind::double_type);
    case llvm::Type::MetadataTyID:
      return scalar(TypeKind::metadata);
    case llvm::Type::IntegerTyID:
      return integer(type->getIntegerBitWidth());
    case llvm::Type::PointerTyID:
      return canonical_pointer(type->getPointerAddressSpace());
    case llvm::Type::ArrayTyID:
      return array(type->getArrayNumElements(), of(type->getArrayElementType()));
    case llvm::Type::FixedVectorTyID: {
      auto* vector_type = llvm::cast<llvm::FixedVectorType>(type);
      return vector(vector_type->getNumElements(), of(vector_type->getElementType()));
    }
    case llvm::Type::StructTyID: {
      auto* record = llvm::cast<llvm::StructType>(type);
      if (const llvm::StringRef handle = kernel_ir::structure_of_handle(*record); !handle.empty())
        return pointer(opaque(handle), record->getElementType(0)->getPointerAddressSpace());
      const std::string_view name = record->hasName() ? std::string_view(record->getName()) : std::string_view();
      if (record->isOpaque()) return opaque(name);
      llvm::SmallVector<TypeId, 16> fields;
      if (name == std::string_view(kernel_ir::kImageblockType) && record->getNumElements() == 1 &&
          record->getElementType(0)->isPointerTy())
        fields.push_back(pointer(opaque(kernel_ir::kImageblockStructure), kernel_ir::kImageblockSpace));
      else
        for (llvm::Type* field : record->elements()) fields.push_back(of(field));
      return intern(name.empty() ? TypeKind::literal_struct : TypeKind::named_struct, record->isPacked(), fields, name);
    }
    case llvm::Type::FunctionTyID: {
      auto* signature = llvm::cast<llvm::FunctionType>(type);
      llvm::SmallVector<TypeId, 16> parameters;
      const TypeId result = of(signature->getReturnType());
      for (llvm::Type* parameter : signature->params()) parameters.push_back(of(parameter));
      return function(result, parameters, signature->isVarArg());
    }
    default: {
      std::string text;
      llvm::raw_string_ostream out(text);
      type->print(out);
      trouble_.report(Errc::unsupported, fmt::format("type '{}' has no place in typed LLVM 14 bitcode", out.str()));
      return scalar(TypeKind::void_type);
    }
  }
}

std::string TypeTable::text(TypeId id) const {
  const Type& type = types_[id];
  const auto parts = subs(id);
  auto list = [&](size_t from) {
    std::string out;
    for (size_t i = from; i < parts.size(); ++i) out += (i == from ? "" : ", ") + text(parts[i]);
    return out;
  };
  switch (type.kind) {
    case TypeKind::void_type:
      return "void";
    case TypeKind::half:
      return "half";
    case TypeKind::bfloat:
      return "bfloat";
    case TypeKind::float_type:
      return "float";
    case TypeKind::double_type:
      return "double";
    case TypeKind::metadata:
      return "metadata";
    case TypeKind::integer:
      return fmt::format("i{}", type.count);
    case TypeKind::pointer:
      return type.count == 0 ? text(parts[0]) + "*" : fmt::format("{} addrspace({})*", text(parts[0]), type.count);
    case TypeKind::array:
      return fmt::format("[{} x {}]", type.count, text(parts[0]));
    case TypeKind::vector:
      return fmt::format("<{} x {}>", type.count, text(parts[0]));
    case TypeKind::literal_struct:
      return fmt::format(fmt::runtime(type.count ? "<{{ {} }}>" : "{{ {} }}"), list(0));
    case TypeKind::named_struct:
    case TypeKind::opaque_struct:
      return "%" + names_[type.name];
    case TypeKind::function:
      return fmt::format("{} ({}{})", text(parts[0]), list(1), type.count ? ", ..." : "");
  }
  return "?";
}

void TypeTable::write(BitWriter& out) const {
  namespace bitc = llvm::bitc;
  std::vector<uint64_t> operands;
  out.enter_block(bitc::TYPE_BLOCK_ID_NEW, 4);
  out.record(bitc::TYPE_CODE_NUMENTRY, {types_.size()});
  for (TypeId id = 0; id < types_.size(); ++id) {
    const Type& type = types_[id];
    const auto parts = subs(id);
    out.text_record(bitc::TYPE_CODE_STRUCT_NAME, names_[type.name]);
    switch (type.kind) {
      case TypeKind::void_type:
        out.record(bitc::TYPE_CODE_VOID, {});
        break;
      case TypeKind::half:
        out.record(bitc::TYPE_CODE_HALF, {});
        break;
      case TypeKind::bfloat:
        out.record(bitc::TYPE_CODE_BFLOAT, {});
        break;
      case TypeKind::float_type:
        out.record(bitc::TYPE_CODE_FLOAT, {});
        break;
      case TypeKind::double_type:
        out.record(bitc::TYPE_CODE_DOUBLE, {});
        break;
      case TypeKind::metadata:
        out.record(bitc::TYPE_CODE_METADATA, {});
        break;
      case TypeKind::integer:
        out.record(bitc::TYPE_CODE_INTEGER, {type.count});
        break;
      case TypeKind::pointer:
        out.record(bitc::TYPE_CODE_POINTER, {parts[0], type.count});
        break;
      case TypeKind::array:
        out.record(bitc::TYPE_CODE_ARRAY, {type.count, parts[0]});
        break;
      case TypeKind::vector:
        out.record(bitc::TYPE_CODE_VECTOR, {type.count, parts[0]});
        break;
      case TypeKind::opaque_struct:
        out.record(bitc::TYPE_CODE_OPAQUE, {0});
        break;
      case TypeKind::literal_struct:
      case TypeKind::named_struct:
      case TypeKind::function:
        operands.assign(1, type.count);
        operands.insert(operands.end(), parts.begin(), parts.end());
        out.record(type.kind == TypeKind::function       ? bitc::TYPE_CODE_FUNCTION
                   : type.kind == TypeKind::named_struct ? bitc::TYPE_CODE_STRUCT_NAMED
                                                         : bitc::TYPE_CODE_STRUCT_ANON,
                   operands);
        break;
    }
  }
  out.exit_block();
}

}  // namespace smelt::aot::bitcode
