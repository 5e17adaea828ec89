// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The symbolic form between lowering and emission: LLVM 14 records whose operands are still names, not ids.
//
// Everything lies in a few flat tables; a ValueRef, record number or metadata number is an index into one of them.
// A value has its exact typed-pointer type from birth, so that each record can be judged before ids exist.
#pragma once

#include "bitcode/attributes.hpp"
#include "bitcode/metadata.hpp"
#include "bitcode/types.hpp"

#include "llvm/IR/Module.h"

#include <memory>
#include <vector>

namespace smelt::aot::bitcode {

/// Index into TypedModule::values; 0 is no value.
using ValueRef = uint32_t;
constexpr ValueRef kNoValue = 0;

struct Value {
  TypeId type = 0;
  uint32_t id = 0;     // given by emit
  uint32_t depth = 0;  // of a constant: 1 more than its deepest operand's, so that operands can come first
};

/// One operand of a record.
struct Field {
  enum Kind : uint32_t {
    literal,
    relative,         // here - id, 32 bits, wrapping when it points forward
    relative_typed,   // the same; a forward reference is followed by its type
    relative_signed,  // phi: here - id as signed VBR
    absolute,
    metadata,        // a module-level metadata number
    local_metadata,  // index into Body::local_metadata
  };
  Kind kind = literal;
  uint32_t value = 0;
};

struct Attachment {
  uint32_t kind = 0;  // LLVM's metadata kind number
  MetadataRef node = 0;
};

struct Location {
  uint32_t line = 0, column = 0;
  MetadataRef scope = 0, inlined_at = 0;
  bool implicit = false;
};

struct Record {
  uint32_t code = 0;
  ValueRef result = kNoValue;
  uint32_t first_field = 0, field_count = 0;
  uint32_t first_attachment = 0, attachment_count = 0;
  uint32_t location = 0;                      // index into TypedModule::locations, 0 none
  const llvm::Instruction* origin = nullptr;  // for messages
};

/// A constant record; its operands are other constants or globals of the same or an outer pool.
struct Constant {
  uint32_t code = 0;
  ValueRef value = kNoValue;
  uint32_t first = 0, count = 0;
  bool payload = false;  // plain words (numbers, characters), else fields
};

struct Signature {
  TypeId function = 0, result = 0;
  llvm::SmallVector<TypeId, 8> parameters;
};

struct Block {
  uint32_t first = 0, count = 0;  // records, the terminator last
  std::vector<uint32_t> edge;     // casts for phis of the successors: emitted before the terminator
};

/// Metadata that names values of this function; numbered after all of the module's.
struct LocalMetadata {
  ValueRef value = kNoValue;
  std::vector<Field> arguments;  // of a DIArgList, when there is no value
};

struct Body {
  const llvm::Function* function = nullptr;
  ValueRef self = kNoValue;
  TypeId result = 0;
  std::vector<ValueRef> arguments;
  std::vector<Constant> constants;
  std::vector<Block> blocks;
  std::vector<LocalMetadata> local_metadata;
  std::vector<Attachment> attachments;
};

struct Variable {
  const llvm::GlobalVariable* source = nullptr;
  ValueRef value = kNoValue, initializer = kNoValue;
  TypeId type = 0;
  std::vector<Attachment> attachments;
};

struct FunctionHeader {
  const llvm::Function* source = nullptr;  // null: made by us, llvm.dbg.value say
  std::string name;
  ValueRef value = kNoValue;
  Signature signature;
  uint32_t attributes = 0;
  std::vector<Attachment> attachments;  // of declarations; a body has its own
};

struct Alias {
  const llvm::GlobalAlias* source = nullptr;
  ValueRef value = kNoValue, aliasee = kNoValue;
  TypeId type = 0;
};

struct TypedModule {
  explicit TypedModule(bool below_air_2_6) : types(trouble), attributes(types, below_air_2_6) {}
  TypedModule(const TypedModule&) = delete;
  TypedModule& operator=(const TypedModule&) = delete;

  const llvm::Module* source = nullptr;
  Trouble trouble;
  TypeTable types;
  AttributeTable attributes;
  MetadataTable metadata;
  std::vector<Variable> variables;
  std::vector<FunctionHeader> functions;
  std::vector<Alias> aliases;
  std::vector<Constant> constants;  // of the module
  std::vector<Body> bodies;

  std::vector<Value> values{Value{}};
  std::vector<Record> records;
  std::vector<Field> fields;            // of records
  std::vector<Attachment> attachments;  // of records
  std::vector<Location> locations{Location{}};
  std::vector<Field> constant_fields;
  std::vector<uint64_t> constant_words;

  std::span<const Field> fields_of(const Record& record) const {
    return std::span(fields).subspan(record.first_field, record.field_count);
  }
  std::span<const Field> fields_of(const Constant& constant) const {
    return std::span(constant_fields).subspan(constant.first, constant.count);
  }
  std::span<const uint64_t> words_of(const Constant& constant) const {
    return std::span(constant_words).subspan(constant.first, constant.count);
  }
};

}  // namespace smelt::aot::bitcode
