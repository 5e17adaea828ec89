// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bitcode/emit.hpp"

#include "bitcode/codes.hpp"
#include "bitcode/emitter.hpp"

#include "llvm/Bitcode/LLVMBitCodes.h"
#include "llvm/IR/GlobalAlias.h"

namespace smelt::aot::bitcode {

namespace bitc = llvm::bitc;

StreamEmitter::StreamEmitter(TypedModule& module)
    : module_(module), out_(4096 + module.fields.size() * 2 + module.constant_words.size() * 4) {
  operands_.reserve(256);
}

Bytes StreamEmitter::run() {
  for (const uint32_t byte : {0x42u, 0x43u, 0xC0u, 0xDEu}) out_.put(byte, 8);
  identification();
  number_module();
  out_.enter_block(bitc::MODULE_BLOCK_ID, 3);
  out_.record(bitc::MODULE_CODE_VERSION, {2});
  module_.types.write(out_);
  module_.attributes.write(out_);
  out_.text_record(bitc::MODULE_CODE_TRIPLE, module_.source->getTargetTriple());
  out_.text_record(bitc::MODULE_CODE_DATALAYOUT, module_.source->getDataLayoutStr());
  globals();
  const uint64_t patch_at = module_.bodies.empty() ? 0 : out_.fixed_record(bitc::MODULE_CODE_VSTOFFSET);
  constants(module_.constants);
  metadata_kinds();
  metadata();
  tags();
  std::vector<uint64_t> starts;
  for (Body& body : module_.bodies) {
    starts.push_back(out_.position());
    function(body);
  }
  function_offsets(patch_at, starts);
  out_.exit_block();
  string_table();
  return out_.take();
}

void StreamEmitter::identification() {
  constexpr unsigned kString = 1, kEpoch = 2;
  start_ = out_.position();
  out_.enter_block(bitc::IDENTIFICATION_BLOCK_ID, 5);
  out_.record(kString, {});  // Apple leaves it empty, too
  out_.record(kEpoch, {0});
  out_.exit_block();
}

// ---- numbering ------------------------------------------------------------------------------------------------------

// Operands first, so nothing refers forward; then by type, for few SETTYPEs; then by age.
void StreamEmitter::number_constants(std::vector<Constant>& pool, uint32_t& next) {
  std::sort(pool.begin(), pool.end(), [this](const Constant& a, const Constant& b) {
    const Value &x = module_.values[a.value], &y = module_.values[b.value];
    if (x.depth != y.depth) return x.depth < y.depth;
    if (x.type != y.type) return x.type < y.type;
    return a.value < b.value;
  });
  for (const Constant& constant : pool) module_.values[constant.value].id = next++;
}

void StreamEmitter::number_module() {
  uint32_t next = 0;
  for (const Variable& variable : module_.variables) module_.values[variable.value].id = next++;
  for (const FunctionHeader& function : module_.functions) module_.values[function.value].id = next++;
  for (const Alias& alias : module_.aliases) module_.values[alias.value].id = next++;
  number_constants(module_.constants, next);
  module_values_ = next;
}

// ---- module level ---------------------------------------------------------------------------------------------------

void StreamEmitter::name(std::string_view text) {
  push({strings_.size(), text.size()});
  strings_ += text;
}

void StreamEmitter::section_names() {
  auto take = [this](const llvm::GlobalObject& object) {
    if (!object.hasSection() || section(object) != 0) return;
    sections_.push_back(object.getSection().str());
    out_.text_record(bitc::MODULE_CODE_SECTIONNAME, sections_.back());
  };
  for (const Variable& variable : module_.variables) take(*variable.source);
  for (const FunctionHeader& function : module_.functions)
    if (function.source) take(*function.source);
}

uint64_t StreamEmitter::section(const llvm::GlobalObject& object) const {
  if (!object.hasSection()) return 0;
  const auto at = std::find(sections_.begin(), sections_.end(), object.getSection());
  return at == sections_.end() ? 0 : static_cast<uint64_t>(at - sections_.begin()) + 1;
}

void StreamEmitter::globals() {
  section_names();
  // LLVM 19 fills in the input's path when a module has no source name of its own.
  if (module_.source->getSourceFileName() != module_.source->getModuleIdentifier())
    out_.text_record(bitc::MODULE_CODE_SOURCE_FILENAME, module_.source->getSourceFileName());
  for (const Variable& variable : module_.variables) {
    const llvm::GlobalVariable& from = *variable.source;
    const uint64_t attributes =
        from.hasAttributes() ? module_.attributes.list(from.getAttributesAsList(llvm::AttributeList::FunctionIndex))
                             : 0;
    const uint64_t initializer = variable.initializer == kNoValue ? 0 : id(variable.initializer) + uint64_t{1};
    name(from.getName());
    push({variable.type, uint64_t{from.getAddressSpace()} << 2 | 2 | from.isConstant(), initializer, linkage_code(from),
          align_code(from.getAlign()), section(from), from.getVisibility(), /*tls*/ 0, unnamed_address_code(from),
          from.isExternallyInitialized(), /*dll*/ 0, /*comdat*/ 0, attributes,
          /*dso_local*/ 0, /*partition*/ 0, 0});
    flush(bitc::MODULE_CODE_GLOBALVAR);
  }
  for (const FunctionHeader& function : module_.functions) {
    const llvm::Function* from = function.source;
    name(function.name);
    if (!from) {
      push({function.signature.function, 0, /*declaration*/ 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
    } else {
      push({function.signature.function, from->getCallingConv(), from->isDeclaration(), linkage_code(*from),
            function.attributes, align_code(from->getAlign()), section(*from), from->getVisibility(), /*gc*/ 0,
            unnamed_address_code(*from), /*prologue*/ 0, /*dll*/ 0, /*comdat*/ 0, /*prefix*/ 0, /*personality*/ 0,
            /*dso_local*/ 0, from->getAddressSpace(), /*partition*/ 0, 0});
    }
    flush(bitc::MODULE_CODE_FUNCTION);
  }
  for (const Alias& alias : module_.aliases) {
    const llvm::GlobalAlias& from = *alias.source;
    name(from.getName());
    push({alias.type, from.getAddressSpace(), id(alias.aliasee), linkage_code(from), from.getVisibility(), /*dll*/ 0,
          /*tls*/ 0, unnamed_address_code(from), /*dso_local*/ 0});
    flush(bitc::MODULE_CODE_ALIAS);
  }
}

void StreamEmitter::constants(std::span<const Constant> pool) {
  if (pool.empty()) return;
  out_.enter_block(bitc::CONSTANTS_BLOCK_ID, 4);
  std::optional<TypeId> current;
  for (const Constant& constant : pool) {
    if (type(constant.value) != current) {
      current = type(constant.value);
      out_.record(bitc::CST_CODE_SETTYPE, {*current});
    }
    if (constant.payload) {
      out_.record(constant.code, module_.words_of(constant));
      continue;
    }
    for (const Field& field : module_.fields_of(constant))
      operands_.push_back(field.kind == Field::absolute ? id(field.value) : field.value);
    flush(constant.code);
  }
  out_.exit_block();
}

void StreamEmitter::tags() {
  out_.enter_block(bitc::OPERAND_BUNDLE_TAGS_BLOCK_ID, 3);
  for (const char* tag :
       {"deopt", "funclet", "gc-transition", "cfguardtarget", "preallocated", "gc-live", "clang.arc.attachedcall"})
    out_.text_record(bitc::OPERAND_BUNDLE_TAG, tag);
  out_.exit_block();
  out_.enter_block(bitc::SYNC_SCOPE_NAMES_BLOCK_ID, 2);
  llvm::SmallVector<llvm::StringRef, 8> scopes;
  module_.source->getContext().getSyncScopeNames(scopes);
  for (const llvm::StringRef scope : scopes) {
    for (const char c : scope) operands_.push_back(static_cast<unsigned char>(c));
    flush(bitc::SYNC_SCOPE_NAME);  // the second one is empty, and counts
  }
  out_.exit_block();
}

void StreamEmitter::function_offsets(uint64_t patch_at, std::span<const uint64_t> starts) {
  if (starts.empty()) return;
  auto words = [this](uint64_t position) { return (position - start_) / 32 + 1; };
  out_.patch(patch_at, static_cast<uint32_t>(words(out_.position())));
  out_.enter_block(bitc::VALUE_SYMTAB_BLOCK_ID, 4);
  for (size_t i = 0; i < starts.size(); ++i)
    out_.record(bitc::VST_CODE_FNENTRY, {id(module_.bodies[i].self), words(starts[i])});
  out_.exit_block();
}

void StreamEmitter::string_table() {
  out_.enter_block(bitc::STRTAB_BLOCK_ID, 3);
  out_.blob_record(bitc::STRTAB_BLOB, {}, strings_);
  out_.exit_block();
}

// ---- functions ------------------------------------------------------------------------------------------------------

void StreamEmitter::function(Body& body) {
  uint32_t here = module_values_;
  for (const ValueRef argument : body.arguments) module_.values[argument].id = here++;
  number_constants(body.constants, here);
  uint32_t next = here;
  bool attached = !body.attachments.empty();
  each_record(body, [&](const Record& record) {
    if (record.result != kNoValue) module_.values[record.result].id = next++;
    attached |= record.attachment_count != 0;
  });
  out_.enter_block(bitc::FUNCTION_BLOCK_ID, 4);
  out_.record(bitc::FUNC_CODE_DECLAREBLOCKS, {body.blocks.size()});
  constants(body.constants);
  local_metadata(body, here);
  last_location_ = 0;
  each_record(body, [&](const Record& record) { instruction(record, here); });
  if (attached) attachments(body);
  out_.exit_block();
}

void StreamEmitter::instruction(const Record& record, uint32_t& here) {
  for (const Field& one : module_.fields_of(record)) field(one, here);
  flush(record.code);
  if (record.result != kNoValue) ++here;
  if (record.location != 0) debug_location(record);
}

void StreamEmitter::field(const Field& field, uint32_t here) {
  switch (field.kind) {
    case Field::literal:
      operands_.push_back(field.value);
      break;
    case Field::absolute:
      operands_.push_back(id(field.value));
      break;
    case Field::relative:
      operands_.push_back(static_cast<uint32_t>(here - id(field.value)));
      break;
    case Field::relative_typed: {
      const uint32_t value = id(field.value);
      operands_.push_back(static_cast<uint32_t>(here - value));
      if (value >= here) operands_.push_back(type(field.value));
      break;
    }
    case Field::relative_signed:
      operands_.push_back(signed_vbr(uint64_t{here} - id(field.value)));
      break;
    case Field::metadata:
      operands_.push_back(static_cast<uint32_t>(here - module_.metadata.id(field.value)));
      break;
    case Field::local_metadata:
      operands_.push_back(static_cast<uint32_t>(here - (module_.metadata.size() + field.value)));
      break;
  }
}

void StreamEmitter::debug_location(const Record& record) {
  if (record.location == last_location_) {
    out_.record(bitc::FUNC_CODE_DEBUG_LOC_AGAIN, {});
    return;
  }
  last_location_ = record.location;
  const Location& location = module_.locations[record.location];
  auto node = [this](MetadataRef known) { return known ? module_.metadata.id(known) + uint64_t{1} : 0; };
  out_.record(bitc::FUNC_CODE_DEBUG_LOC,
              {location.line, location.column, node(location.scope), node(location.inlined_at), location.implicit});
}

void StreamEmitter::local_metadata(const Body& body, uint32_t here) {
  if (body.local_metadata.empty()) return;
  out_.enter_block(bitc::METADATA_BLOCK_ID, 3);
  for (const LocalMetadata& item : body.local_metadata) {
    if (item.value != kNoValue) {
      push({type(item.value), id(item.value)});
      flush(bitc::METADATA_VALUE);
      continue;
    }
    for (const Field& argument : item.arguments)
      operands_.push_back(argument.kind == Field::metadata ? module_.metadata.id(argument.value)
                                                           : module_.metadata.size() + argument.value);
    flush(bitc::METADATA_ARG_LIST);
  }
  out_.exit_block();
  (void)here;
}

void StreamEmitter::attachments(const Body& body) {
  out_.enter_block(bitc::METADATA_ATTACHMENT_ID, 3);
  auto pairs = [this](std::span<const Attachment> list) {
    for (const Attachment& one : list) push({one.kind, module_.metadata.id(one.node)});
    flush(bitc::METADATA_ATTACHMENT);
  };
  if (!body.attachments.empty()) pairs(body.attachments);
  uint64_t index = 0;  // counts every instruction: void ones and our views too
  each_record(body, [&](const Record& record) {
    if (record.attachment_count != 0) {
      operands_.push_back(index);
      pairs(std::span(module_.attachments).subspan(record.first_attachment, record.attachment_count));
    }
    ++index;
  });
  out_.exit_block();
}

// ---- the whole ------------------------------------------------------------------------------------------------------

Bytes emit(TypedModule& module, bool wrap) {
  Bytes bitcode = StreamEmitter(module).run();
  if (!wrap) return bitcode;
  // u32 0x0B17C0DE, version 0, offset 20, size, cpu type 0xFFFFFFFF; zero padding (docs/formats/metallib.md section 7)
  ByteWriter out;
  for (const uint32_t word : {0x0B17C0DEu, 0u, 20u, static_cast<uint32_t>(bitcode.size()), 0xFFFFFFFFu}) out.put(word);
  out.put_bytes(bitcode);
  out.pad_to(16);
  return out.take();
}

}  // namespace smelt::aot::bitcode
