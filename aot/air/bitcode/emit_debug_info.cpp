// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Records of debug-info nodes as LLVM 14 reads them: the fields that LLVM 19 added after that are left out.
// A reference is id + 1, 0 for none. The first operand's lowest bit says "distinct".
#include "bitcode/codes.hpp"
#include "bitcode/emitter.hpp"

#include "llvm/Bitcode/LLVMBitCodes.h"

namespace smelt::aot::bitcode {

namespace bitc = llvm::bitc;

/// One overload a kind of node: its record.
class StreamEmitter::DebugRecord {
 public:
  DebugRecord(StreamEmitter& to, uint64_t distinct) : to_(to), distinct_(distinct) {}

  void write(const llvm::DILocation& n) {
    // The one reference without the + 1: a location always has a scope.
    push({distinct_, n.getLine(), n.getColumn(), ref(n.getRawScope()) - 1, ref(n.getRawInlinedAt()),
          n.isImplicitCode()});
    flush(bitc::METADATA_LOCATION);
  }
  void write(const llvm::DISubrange& n) {
    push({distinct_ | 2 << 1, ref(n.getRawCountNode()), ref(n.getRawLowerBound()), ref(n.getRawUpperBound()),
          ref(n.getRawStride())});
    flush(bitc::METADATA_SUBRANGE);
  }
  void write(const llvm::DIGenericSubrange& n) {
    push({distinct_, ref(n.getRawCountNode()), ref(n.getRawLowerBound()), ref(n.getRawUpperBound()),
          ref(n.getRawStride())});
    flush(bitc::METADATA_GENERIC_SUBRANGE);
  }
  void write(const llvm::DIEnumerator& n) {
    const llvm::APInt& value = n.getValue();
    push({4 | uint64_t{n.isUnsigned()} << 1 | distinct_, value.getBitWidth(), ref(n.getRawName())});
    for (unsigned i = 0; i < value.getActiveWords(); ++i) to_.operands_.push_back(signed_vbr(value.getRawData()[i]));
    flush(bitc::METADATA_ENUMERATOR);
  }
  void write(const llvm::DIBasicType& n) {
    push({distinct_, n.getTag(), ref(n.getRawName()), n.getSizeInBits(), n.getAlignInBits(), n.getEncoding(),
          n.getFlags()});
    flush(bitc::METADATA_BASIC_TYPE);
  }
  void write(const llvm::DIStringType& n) {
    push({distinct_, n.getTag(), ref(n.getRawName()), ref(n.getRawStringLength()), ref(n.getRawStringLengthExp()),
          n.getSizeInBits(), n.getAlignInBits(), n.getEncoding()});
    flush(bitc::METADATA_STRING_TYPE);
  }
  void write(const llvm::DIDerivedType& n) {
    const auto space = n.getDWARFAddressSpace();
    push({distinct_, n.getTag(), ref(n.getRawName()), ref(n.getRawFile()), n.getLine(), ref(n.getRawScope()),
          ref(n.getRawBaseType()), n.getSizeInBits(), n.getAlignInBits(), n.getOffsetInBits(), n.getFlags(),
          ref(n.getRawExtraData()), space ? *space + uint64_t{1} : 0, ref(n.getRawAnnotations())});
    flush(bitc::METADATA_DERIVED_TYPE);
  }
  void write(const llvm::DICompositeType& n) {
    push({distinct_ | 2,
          n.getTag(),
          ref(n.getRawName()),
          ref(n.getRawFile()),
          n.getLine(),
          ref(n.getRawScope()),
          ref(n.getRawBaseType()),
          n.getSizeInBits(),
          n.getAlignInBits(),
          n.getOffsetInBits(),
          n.getFlags(),
          ref(n.getRawElements()),
          n.getRuntimeLang(),
          ref(n.getRawVTableHolder()),
          ref(n.getRawTemplateParams()),
          ref(n.getRawIdentifier()),
          ref(n.getRawDiscriminator()),
          ref(n.getRawDataLocation()),
          ref(n.getRawAssociated()),
          ref(n.getRawAllocated()),
          ref(n.getRawRank()),
          ref(n.getRawAnnotations())});
    flush(bitc::METADATA_COMPOSITE_TYPE);
  }
  void write(const llvm::DISubroutineType& n) {
    push({distinct_ | 2, n.getFlags(), ref(n.getRawTypeArray()), n.getCC()});
    flush(bitc::METADATA_SUBROUTINE_TYPE);
  }
  void write(const llvm::DIFile& n) {
    const auto checksum = n.getRawChecksum();
    push({distinct_, ref(n.getRawFilename()), ref(n.getRawDirectory()),
          checksum ? static_cast<uint64_t>(checksum->Kind) : 0, checksum ? ref(checksum->Value) : 0});
    if (n.getRawSource()) to_.operands_.push_back(ref(n.getRawSource()));
    flush(bitc::METADATA_FILE);
  }
  void write(const llvm::DICompileUnit& n) {
    push({1,
          n.getSourceLanguage(),
          ref(n.getRawFile()),
          ref(n.getRawProducer()),
          n.isOptimized(),
          ref(n.getRawFlags()),
          n.getRuntimeVersion(),
          ref(n.getRawSplitDebugFilename()),
          n.getEmissionKind(),
          ref(n.getRawEnumTypes()),
          ref(n.getRawRetainedTypes()),
          /*subprograms*/ 0,
          ref(n.getRawGlobalVariables()),
          ref(n.getRawImportedEntities()),
          n.getDWOId(),
          ref(n.getRawMacros()),
          n.getSplitDebugInlining(),
          n.getDebugInfoForProfiling(),
          static_cast<uint64_t>(n.getNameTableKind()),
          n.getRangesBaseAddress(),
          ref(n.getRawSysRoot()),
          ref(n.getRawSDK())});
    flush(bitc::METADATA_COMPILE_UNIT);
  }
  void write(const llvm::DISubprogram& n) {
    constexpr uint64_t kHasUnit = 2, kHasFlags = 4;
    push({distinct_ | kHasUnit | kHasFlags, ref(n.getRawScope()), ref(n.getRawName()), ref(n.getRawLinkageName()),
          ref(n.getRawFile()), n.getLine(), ref(n.getRawType()), n.getScopeLine(), ref(n.getRawContainingType()),
          n.getSPFlags(), n.getVirtualIndex(), n.getFlags(), ref(n.getRawUnit()), ref(n.getRawTemplateParams()),
          ref(n.getRawDeclaration()), ref(n.getRawRetainedNodes()), static_cast<uint64_t>(n.getThisAdjustment()),
          ref(n.getRawThrownTypes()), ref(n.getRawAnnotations())});
    flush(bitc::METADATA_SUBPROGRAM);
  }
  void write(const llvm::DILexicalBlock& n) {
    push({distinct_, ref(n.getRawScope()), ref(n.getRawFile()), n.getLine(), n.getColumn()});
    flush(bitc::METADATA_LEXICAL_BLOCK);
  }
  void write(const llvm::DILexicalBlockFile& n) {
    push({distinct_, ref(n.getRawScope()), ref(n.getRawFile()), n.getDiscriminator()});
    flush(bitc::METADATA_LEXICAL_BLOCK_FILE);
  }
  void write(const llvm::DICommonBlock& n) {
    push({distinct_, ref(n.getRawScope()), ref(n.getRawDecl()), ref(n.getRawName()), ref(n.getRawFile()),
          n.getLineNo()});
    flush(bitc::METADATA_COMMON_BLOCK);
  }
  void write(const llvm::DINamespace& n) {
    push({distinct_ | uint64_t{n.getExportSymbols()} << 1, ref(n.getRawScope()), ref(n.getRawName())});
    flush(bitc::METADATA_NAMESPACE);
  }
  void write(const llvm::DIModule& n) {
    to_.operands_.push_back(distinct_);
    for (const llvm::MDOperand& operand : n.operands()) to_.operands_.push_back(ref(operand.get()));
    push({n.getLineNo(), n.getIsDecl()});
    flush(bitc::METADATA_MODULE);
  }
  void write(const llvm::DITemplateTypeParameter& n) {
    push({distinct_, ref(n.getRawName()), ref(n.getRawType()), n.isDefault()});
    flush(bitc::METADATA_TEMPLATE_TYPE);
  }
  void write(const llvm::DITemplateValueParameter& n) {
    push({distinct_, n.getTag(), ref(n.getRawName()), ref(n.getRawType()), n.isDefault(), ref(n.getValue())});
    flush(bitc::METADATA_TEMPLATE_VALUE);
  }
  void write(const llvm::DIGlobalVariable& n) {
    push({distinct_ | 2 << 1, ref(n.getRawScope()), ref(n.getRawName()), ref(n.getRawLinkageName()),
          ref(n.getRawFile()), n.getLine(), ref(n.getRawType()), n.isLocalToUnit(), n.isDefinition(),
          ref(n.getRawStaticDataMemberDeclaration()), ref(n.getRawTemplateParams()), n.getAlignInBits(),
          ref(n.getRawAnnotations())});
    flush(bitc::METADATA_GLOBAL_VAR);
  }
  void write(const llvm::DILocalVariable& n) {
    constexpr uint64_t kHasAlignment = 2;
    push({distinct_ | kHasAlignment, ref(n.getRawScope()), ref(n.getRawName()), ref(n.getRawFile()), n.getLine(),
          ref(n.getRawType()), n.getArg(), n.getFlags(), n.getAlignInBits(), ref(n.getRawAnnotations())});
    flush(bitc::METADATA_LOCAL_VAR);
  }
  void write(const llvm::DILabel& n) {
    push({distinct_, ref(n.getRawScope()), ref(n.getRawName()), ref(n.getRawFile()), n.getLine()});
    flush(bitc::METADATA_LABEL);
  }
  void write(const llvm::DIExpression& n) {
    to_.operands_.push_back(distinct_ | 3 << 1);
    for (const uint64_t element : n.getElements()) to_.operands_.push_back(element);
    flush(bitc::METADATA_EXPRESSION);
  }
  void write(const llvm::DIGlobalVariableExpression& n) {
    push({distinct_, ref(n.getRawVariable()), ref(n.getRawExpression())});
    flush(bitc::METADATA_GLOBAL_VAR_EXPR);
  }
  void write(const llvm::DIObjCProperty& n) {
    push({distinct_, ref(n.getRawName()), ref(n.getRawFile()), n.getLine(), ref(n.getRawGetterName()),
          ref(n.getRawSetterName()), n.getAttributes(), ref(n.getRawType())});
    flush(bitc::METADATA_OBJC_PROPERTY);
  }
  void write(const llvm::DIImportedEntity& n) {
    push({distinct_, n.getTag(), ref(n.getRawScope()), ref(n.getRawEntity()), n.getLine(), ref(n.getRawName()),
          ref(n.getRawFile())});
    flush(bitc::METADATA_IMPORTED_ENTITY);
  }
  void write(const llvm::DIMacro& n) {
    push({distinct_, n.getMacinfoType(), n.getLine(), ref(n.getRawName()), ref(n.getRawValue())});
    flush(bitc::METADATA_MACRO);
  }
  void write(const llvm::DIMacroFile& n) {
    push({distinct_, n.getMacinfoType(), n.getLine(), ref(n.getRawFile()), ref(n.getRawElements())});
    flush(bitc::METADATA_MACRO_FILE);
  }

 private:
  void push(std::initializer_list<uint64_t> values) { to_.push(values); }
  void flush(unsigned code) { to_.flush(code); }
  uint64_t ref(const llvm::Metadata* metadata) const { return to_.ref(metadata); }

  StreamEmitter& to_;
  const uint64_t distinct_;
};

void StreamEmitter::debug_node(const llvm::MDNode& node) {
  DebugRecord record(*this, node.isDistinct());
  switch (node.getMetadataID()) {
#define SMELT_DEBUG_NODE(kind)     \
  case llvm::Metadata::kind##Kind: \
    return record.write(llvm::cast<llvm::kind>(node));
    SMELT_DEBUG_NODE(DILocation)
    SMELT_DEBUG_NODE(DISubrange)
    SMELT_DEBUG_NODE(DIGenericSubrange)
    SMELT_DEBUG_NODE(DIEnumerator)
    SMELT_DEBUG_NODE(DIBasicType)
    SMELT_DEBUG_NODE(DIStringType)
    SMELT_DEBUG_NODE(DIDerivedType)
    SMELT_DEBUG_NODE(DICompositeType)
    SMELT_DEBUG_NODE(DISubroutineType)
    SMELT_DEBUG_NODE(DIFile)
    SMELT_DEBUG_NODE(DICompileUnit)
    SMELT_DEBUG_NODE(DISubprogram)
    SMELT_DEBUG_NODE(DILexicalBlock)
    SMELT_DEBUG_NODE(DILexicalBlockFile)
    SMELT_DEBUG_NODE(DICommonBlock)
    SMELT_DEBUG_NODE(DINamespace)
    SMELT_DEBUG_NODE(DIModule)
    SMELT_DEBUG_NODE(DITemplateTypeParameter)
    SMELT_DEBUG_NODE(DITemplateValueParameter)
    SMELT_DEBUG_NODE(DIGlobalVariable)
    SMELT_DEBUG_NODE(DILocalVariable)
    SMELT_DEBUG_NODE(DILabel)
    SMELT_DEBUG_NODE(DIExpression)
    SMELT_DEBUG_NODE(DIGlobalVariableExpression)
    SMELT_DEBUG_NODE(DIObjCProperty)
    SMELT_DEBUG_NODE(DIImportedEntity)
    SMELT_DEBUG_NODE(DIMacro)
    SMELT_DEBUG_NODE(DIMacroFile)
#undef SMELT_DEBUG_NODE
    default:  // MetadataTable takes up no other kind; an empty node keeps the numbering right all the same
      return flush(bitc::METADATA_NODE);
  }
}

}  // namespace smelt::aot::bitcode
