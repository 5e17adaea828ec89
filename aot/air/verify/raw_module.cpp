// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "verify/raw_module.hpp"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/Bitstream/BitstreamReader.h"

#include <fmt/format.h>

#include <optional>

namespace smelt::aot::verify {
namespace {

using llvm::BitstreamCursor;
using llvm::BitstreamEntry;

constexpr unsigned kMaxDepth = 64;

/// A type as the bits say it, printed on demand. Ids refer backwards but for named structs, so printing is bounded.
struct RawType {
  enum class Kind : uint8_t {
    other,
    named,
    pointer,
    opaque_pointer,
    array,
    vector,
    structure,
    function
  } kind = Kind::other;
  std::string text;             ///< other, named
  uint64_t number = 0;          ///< address space; element count; 1: vararg
  std::vector<uint64_t> parts;  ///< pointee; element; members; result and parameters
};

std::string without_suffix(std::string name) {
  while (true) {
    const size_t dot = name.rfind('.');
    if (dot == std::string::npos || dot + 1 == name.size()) return name;
    if (name.find_first_not_of("0123456789", dot + 1) != std::string::npos) return name;
    name.resize(dot);
  }
}

class Reader {
 public:
  explicit Reader(ByteView bitcode)
      : cursor_(llvm::ArrayRef<uint8_t>(reinterpret_cast<const uint8_t*>(bitcode.data()), bitcode.size())) {}

  Result<RawModule> read();

 private:
  Result<void> block(unsigned id, unsigned depth);
  void record(unsigned block, unsigned code, llvm::ArrayRef<uint64_t> values, llvm::StringRef blob);
  void type_record(unsigned code, llvm::ArrayRef<uint64_t> values);
  void attribute_group(llvm::ArrayRef<uint64_t> values);
  void finish_functions();
  std::string print(uint64_t type, unsigned depth = 0) const;
  static Error broken(llvm::Error error) { return {Errc::corrupt, llvm::toString(std::move(error)), {}}; }

  BitstreamCursor cursor_;
  llvm::BitstreamBlockInfo block_info_;
  RawModule module_;
  std::vector<RawType> types_;
  std::string struct_name_;
  struct FunctionRecord {
    uint64_t name_offset, name_size, type, value_id;
    bool is_declaration;
  };
  std::vector<FunctionRecord> functions_;
  uint64_t values_ = 0;  ///< global values so far: names of old modules refer to them
  std::map<uint64_t, std::string> symbol_names_;
  std::string string_table_;
};

std::string characters(llvm::ArrayRef<uint64_t> values) {
  std::string text;
  for (const uint64_t value : values) text += static_cast<char>(value);
  return text;
}

void Reader::type_record(unsigned code, llvm::ArrayRef<uint64_t> values) {
  using Kind = RawType::Kind;
  RawType type;
  const auto rest = [&](size_t from) {
    const auto tail = values.drop_front(std::min(from, values.size()));
    return std::vector<uint64_t>(tail.begin(), tail.end());
  };
  switch (code) {
    case llvm::bitc::TYPE_CODE_NUMENTRY:
      return;
    case llvm::bitc::TYPE_CODE_STRUCT_NAME:
      struct_name_ = characters(values);
      return;
    case llvm::bitc::TYPE_CODE_VOID:
      type.text = "void";
      break;
    case llvm::bitc::TYPE_CODE_HALF:
      type.text = "half";
      break;
    case llvm::bitc::TYPE_CODE_BFLOAT:
      type.text = "bfloat";
      break;
    case llvm::bitc::TYPE_CODE_FLOAT:
      type.text = "float";
      break;
    case llvm::bitc::TYPE_CODE_DOUBLE:
      type.text = "double";
      break;
    case llvm::bitc::TYPE_CODE_LABEL:
      type.text = "label";
      break;
    case llvm::bitc::TYPE_CODE_METADATA:
      type.text = "metadata";
      break;
    case llvm::bitc::TYPE_CODE_INTEGER:
      type.text = fmt::format("i{}", values.empty() ? 0 : values[0]);
      break;
    case llvm::bitc::TYPE_CODE_POINTER:
      type.kind = Kind::pointer;
      type.parts = {values.empty() ? ~0ull : values[0]};
      type.number = values.size() > 1 ? values[1] : 0;
      break;
    case llvm::bitc::TYPE_CODE_OPAQUE_POINTER:
      type.kind = Kind::opaque_pointer;
      type.number = values.empty() ? 0 : values[0];
      break;
    case llvm::bitc::TYPE_CODE_ARRAY:
    case llvm::bitc::TYPE_CODE_VECTOR:
      type.kind = code == llvm::bitc::TYPE_CODE_ARRAY ? Kind::array : Kind::vector;
      type.number = values.empty() ? 0 : values[0];
      type.parts = rest(1);
      break;
    case llvm::bitc::TYPE_CODE_STRUCT_ANON:
      type.kind = Kind::structure;
      type.parts = rest(1);
      break;
    case llvm::bitc::TYPE_CODE_STRUCT_NAMED:
    case llvm::bitc::TYPE_CODE_OPAQUE:
      type.kind = Kind::named;
      type.text = "%" + without_suffix(std::exchange(struct_name_, {}));
      break;
    case llvm::bitc::TYPE_CODE_FUNCTION:
      type.kind = Kind::function;
      type.number = values.empty() ? 0 : values[0];
      type.parts = rest(1);
      break;
    default:
      type.text = fmt::format("type code {}", code);
      break;
  }
  types_.push_back(std::move(type));
}

std::string Reader::print(uint64_t id, unsigned depth) const {
  using Kind = RawType::Kind;
  if (id >= types_.size() || depth > 16) return "?";
  const RawType& type = types_[id];
  const auto part = [&](size_t i) {
    return i < type.parts.size() ? print(type.parts[i], depth + 1) : std::string("?");
  };
  const auto list = [&](size_t from) {
    std::string text;
    for (size_t i = from; i < type.parts.size(); ++i) text += (i == from ? "" : ", ") + part(i);
    return text;
  };
  switch (type.kind) {
    case Kind::other:
    case Kind::named:
      return type.text;
    case Kind::pointer:
      return part(0) + (type.number == 0 ? "*" : fmt::format(" addrspace({})*", type.number));
    case Kind::opaque_pointer:
      return type.number == 0 ? "ptr" : fmt::format("ptr addrspace({})", type.number);
    case Kind::array:
      return fmt::format("[{} x {}]", type.number, part(0));
    case Kind::vector:
      return fmt::format("<{} x {}>", type.number, part(0));
    case Kind::structure:
      return fmt::format("{{ {} }}", list(0));
    case Kind::function:
      return fmt::format("{} ({}{})", part(0), list(1), type.number ? ", ..." : "");
  }
  return "?";
}

/// [group, place, attribute...]: 0 and 1 are kinds, 3 and 4 strings, 5 and 6 types, 7 and 8 newer than LLVM 14.
void Reader::attribute_group(llvm::ArrayRef<uint64_t> values) {
  for (size_t i = 2; i < values.size();) {
    const uint64_t form = values[i++];
    if (form == 3 || form == 4) {
      for (int strings = form == 3 ? 1 : 2; strings > 0; --strings) {
        while (i < values.size() && values[i] != 0) ++i;
        ++i;
      }
      continue;
    }
    if (form != 0 && form != 1 && form != 5 && form != 6) {
      module_.attribute_forms.insert(form);
      return;  // how long it is, only newer readers know
    }
    if (i < values.size()) module_.attribute_kinds.insert(values[i]);
    i += form == 1 || form == 6 ? 2 : 1;
  }
}

void Reader::record(unsigned block, unsigned code, llvm::ArrayRef<uint64_t> values, llvm::StringRef blob) {
  ++module_.records[{block, code}];
  switch (block) {
    case llvm::bitc::IDENTIFICATION_BLOCK_ID:
      if (code == llvm::bitc::IDENTIFICATION_CODE_EPOCH && !values.empty()) module_.epoch = values[0];
      break;
    case llvm::bitc::TYPE_BLOCK_ID_NEW:
      type_record(code, values);
      break;
    case llvm::bitc::PARAMATTR_GROUP_BLOCK_ID:
      attribute_group(values);
      break;
    case llvm::bitc::STRTAB_BLOCK_ID:
      if (code == llvm::bitc::STRTAB_BLOB) string_table_ = blob.str();
      break;
    case llvm::bitc::VALUE_SYMTAB_BLOCK_ID:
      // Old modules only: [value id, characters], and [value id, offset, characters] for functions with bodies.
      if (code == llvm::bitc::VST_CODE_ENTRY && values.size() > 1)
        symbol_names_.emplace(values[0], characters(values.drop_front(1)));
      if (code == llvm::bitc::VST_CODE_FNENTRY && values.size() > 2)
        symbol_names_.emplace(values[0], characters(values.drop_front(2)));
      break;
    case llvm::bitc::FUNCTION_BLOCK_ID:
      if (code == llvm::bitc::FUNC_CODE_INST_GEP && !values.empty() && values[0] > 1) ++module_.flagged_geps;
      break;
    case llvm::bitc::MODULE_BLOCK_ID:
      if (code == llvm::bitc::MODULE_CODE_VERSION && !values.empty()) module_.version = values[0];
      if (code == llvm::bitc::MODULE_CODE_GLOBALVAR || code == llvm::bitc::MODULE_CODE_ALIAS ||
          code == llvm::bitc::MODULE_CODE_IFUNC || code == llvm::bitc::MODULE_CODE_ALIAS_OLD)
        ++values_;
      if (code == llvm::bitc::MODULE_CODE_FUNCTION) {
        const bool in_table = module_.version >= 2;
        const size_t at = in_table ? 2 : 0;
        if (values.size() > at + 2)
          functions_.push_back(
              {in_table ? values[0] : 0, in_table ? values[1] : 0, values[at], values_, values[at + 2] != 0});
        ++values_;
      }
      break;
    default:
      break;
  }
}

Result<void> Reader::block(unsigned id, unsigned depth) {
  if (depth > kMaxDepth) return fail(Errc::corrupt, "blocks nest more than {} deep", kMaxDepth);
  if (id == llvm::bitc::BLOCKINFO_BLOCK_ID) {
    auto info = cursor_.ReadBlockInfoBlock();
    if (!info) return tl::unexpected(broken(info.takeError()));
    if (!*info) return fail(Errc::corrupt, "malformed BLOCKINFO");
    block_info_ = **info;
    return {};
  }
  if (llvm::Error error = cursor_.EnterSubBlock(id)) return tl::unexpected(broken(std::move(error)));
  llvm::SmallVector<uint64_t, 64> values;
  // Names inside functions are of no interest, and their ids are other ones.
  const bool in_function = id == llvm::bitc::FUNCTION_BLOCK_ID;
  while (true) {
    auto entry = cursor_.advance();
    if (!entry) return tl::unexpected(broken(entry.takeError()));
    if (entry->Kind == BitstreamEntry::Error) return fail(Errc::corrupt, "malformed block {}", id);
    if (entry->Kind == BitstreamEntry::EndBlock) return {};
    if (entry->Kind == BitstreamEntry::SubBlock) {
      if (in_function && entry->ID == llvm::bitc::VALUE_SYMTAB_BLOCK_ID) {
        if (llvm::Error error = cursor_.SkipBlock()) return tl::unexpected(broken(std::move(error)));
        continue;
      }
      SMELT_TRY_VOID(block(entry->ID, depth + 1));
      continue;
    }
    values.clear();
    llvm::StringRef blob;
    auto code = cursor_.readRecord(entry->ID, values, &blob);
    if (!code) return tl::unexpected(broken(code.takeError()));
    record(id, *code, values, blob);
  }
}

void Reader::finish_functions() {
  for (const FunctionRecord& function : functions_) {
    RawFunction raw;
    raw.is_declaration = function.is_declaration;
    if (module_.version >= 2) {
      const bool inside = function.name_offset <= string_table_.size() &&
                          function.name_size <= string_table_.size() - function.name_offset;
      if (inside) raw.name = string_table_.substr(function.name_offset, function.name_size);
    } else if (const auto named = symbol_names_.find(function.value_id); named != symbol_names_.end()) {
      raw.name = named->second;
    }
    uint64_t type = function.type;
    // Before explicit types, the record held the pointer to the function type.
    if (type < types_.size() && types_[type].kind == RawType::Kind::pointer && !types_[type].parts.empty())
      type = types_[type].parts[0];
    raw.typed_signature = print(type);
    module_.functions.push_back(std::move(raw));
  }
}

Result<RawModule> Reader::read() {
  cursor_.setBlockInfo(&block_info_);
  auto magic = cursor_.Read(32);
  if (!magic) return tl::unexpected(broken(magic.takeError()));
  while (!cursor_.AtEndOfStream()) {
    auto entry = cursor_.advance(BitstreamCursor::AF_DontAutoprocessAbbrevs);
    if (!entry) return tl::unexpected(broken(entry.takeError()));
    if (entry->Kind != BitstreamEntry::SubBlock) break;  // padding behind the last block
    if (entry->ID == llvm::bitc::IDENTIFICATION_BLOCK_ID) module_.has_identification = true;
    if (entry->ID == llvm::bitc::STRTAB_BLOCK_ID) module_.has_string_table = true;
    SMELT_TRY_VOID(block(entry->ID, 0));
  }
  finish_functions();
  return std::move(module_);
}

}  // namespace

Result<RawModule> read_raw_module(ByteView bitcode) {
  return Reader(bitcode).read();
}

}  // namespace smelt::aot::verify
