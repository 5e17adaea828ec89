// Records of debug-info nodes as LLVM 14 reads them: the fields that LLVM 19 added after that are left out.
// A reference is id + 1, 0 for none. The first operand's lowest bit says "distinct".
#include "air/bitcode/codes.hpp"
#include "air/bitcode/emitter.hpp"

#include "llvm/Bitcode/LLVMBitCodes.h"

namespace smelt::aot::bitcode {

namespace bitc = llvm::bitc;

void Emitter::debug_node(const llvm::MDNode& node) {
  const uint64_t distinct = node.isDistinct();
  switch (node.getMetadataID()) {
    case llvm::Metadata::DILocationKind: {
      const auto& n = llvm::cast<llvm::DILocation>(node);
      // The one reference without the + 1: a location always has a scope.
      push({distinct, n.getLine(), n.getColumn(), ref(n.getRawScope()) - 1, ref(n.getRawInlinedAt()),
            n.isImplicitCode()});
      return flush(bitc::METADATA_LOCATION);
    }
    case llvm::Metadata::DISubrangeKind: {
      const auto& n = llvm::cast<llvm::DISubrange>(node);
      push({distinct | 2 << 1, ref(n.getRawCountNode()), ref(n.getRawLowerBound()), ref(n.getRawUpperBound()),
            ref(n.getRawStride())});
      return flush(bitc::METADATA_SUBRANGE);
    }
    case llvm::Metadata::DIGenericSubrangeKind: {
      const auto& n = llvm::cast<llvm::DIGenericSubrange>(node);
      push({distinct, ref(n.getRawCountNode()), ref(n.getRawLowerBound()), ref(n.getRawUpperBound()),
            ref(n.getRawStride())});
      return flush(bitc::METADATA_GENERIC_SUBRANGE);
    }
    case llvm::Metadata::DIEnumeratorKind: {
      const auto& n = llvm::cast<llvm::DIEnumerator>(node);
      const llvm::APInt& value = n.getValue();
      push({4 | uint64_t{n.isUnsigned()} << 1 | distinct, value.getBitWidth(), ref(n.getRawName())});
      for (unsigned i = 0; i < value.getActiveWords(); ++i) operands_.push_back(signed_vbr(value.getRawData()[i]));
      return flush(bitc::METADATA_ENUMERATOR);
    }
    case llvm::Metadata::DIBasicTypeKind: {
      const auto& n = llvm::cast<llvm::DIBasicType>(node);
      push({distinct, n.getTag(), ref(n.getRawName()), n.getSizeInBits(), n.getAlignInBits(), n.getEncoding(),
            n.getFlags()});
      return flush(bitc::METADATA_BASIC_TYPE);
    }
    case llvm::Metadata::DIStringTypeKind: {
      const auto& n = llvm::cast<llvm::DIStringType>(node);
      push({distinct, n.getTag(), ref(n.getRawName()), ref(n.getRawStringLength()), ref(n.getRawStringLengthExp()),
            n.getSizeInBits(), n.getAlignInBits(), n.getEncoding()});
      return flush(bitc::METADATA_STRING_TYPE);
    }
    case llvm::Metadata::DIDerivedTypeKind: {
      const auto& n = llvm::cast<llvm::DIDerivedType>(node);
      const auto space = n.getDWARFAddressSpace();
      push({distinct, n.getTag(), ref(n.getRawName()), ref(n.getRawFile()), n.getLine(), ref(n.getRawScope()),
            ref(n.getRawBaseType()), n.getSizeInBits(), n.getAlignInBits(), n.getOffsetInBits(), n.getFlags(),
            ref(n.getRawExtraData()), space ? *space + uint64_t{1} : 0, ref(n.getRawAnnotations())});
      return flush(bitc::METADATA_DERIVED_TYPE);
    }
    case llvm::Metadata::DICompositeTypeKind: {
      const auto& n = llvm::cast<llvm::DICompositeType>(node);
      push({distinct | 2,
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
      return flush(bitc::METADATA_COMPOSITE_TYPE);
    }
    case llvm::Metadata::DISubroutineTypeKind: {
      const auto& n = llvm::cast<llvm::DISubroutineType>(node);
      push({distinct | 2, n.getFlags(), ref(n.getRawTypeArray()), n.getCC()});
      return flush(bitc::METADATA_SUBROUTINE_TYPE);
    }
    case llvm::Metadata::DIFileKind: {
      const auto& n = llvm::cast<llvm::DIFile>(node);
      const auto checksum = n.getRawChecksum();
      push({distinct, ref(n.getRawFilename()), ref(n.getRawDirectory()),
            checksum ? static_cast<uint64_t>(checksum->Kind) : 0, checksum ? ref(checksum->Value) : 0});
      if (n.getRawSource()) operands_.push_back(ref(n.getRawSource()));
      return flush(bitc::METADATA_FILE);
    }
    case llvm::Metadata::DICompileUnitKind: {
      const auto& n = llvm::cast<llvm::DICompileUnit>(node);
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
      return flush(bitc::METADATA_COMPILE_UNIT);
    }
    case llvm::Metadata::DISubprogramKind: {
      const auto& n = llvm::cast<llvm::DISubprogram>(node);
      constexpr uint64_t kHasUnit = 2, kHasFlags = 4;
      push({distinct | kHasUnit | kHasFlags, ref(n.getRawScope()), ref(n.getRawName()), ref(n.getRawLinkageName()),
            ref(n.getRawFile()), n.getLine(), ref(n.getRawType()), n.getScopeLine(), ref(n.getRawContainingType()),
            n.getSPFlags(), n.getVirtualIndex(), n.getFlags(), ref(n.getRawUnit()), ref(n.getRawTemplateParams()),
            ref(n.getRawDeclaration()), ref(n.getRawRetainedNodes()), static_cast<uint64_t>(n.getThisAdjustment()),
            ref(n.getRawThrownTypes()), ref(n.getRawAnnotations())});
      return flush(bitc::METADATA_SUBPROGRAM);
    }
    case llvm::Metadata::DILexicalBlockKind: {
      const auto& n = llvm::cast<llvm::DILexicalBlock>(node);
      push({distinct, ref(n.getRawScope()), ref(n.getRawFile()), n.getLine(), n.getColumn()});
      return flush(bitc::METADATA_LEXICAL_BLOCK);
    }
    case llvm::Metadata::DILexicalBlockFileKind: {
      const auto& n = llvm::cast<llvm::DILexicalBlockFile>(node);
      push({distinct, ref(n.getRawScope()), ref(n.getRawFile()), n.getDiscriminator()});
      return flush(bitc::METADATA_LEXICAL_BLOCK_FILE);
    }
    case llvm::Metadata::DICommonBlockKind: {
      const auto& n = llvm::cast<llvm::DICommonBlock>(node);
      push({distinct, ref(n.getRawScope()), ref(n.getRawDecl()), ref(n.getRawName()), ref(n.getRawFile()),
            n.getLineNo()});
      return flush(bitc::METADATA_COMMON_BLOCK);
    }
    case llvm::Metadata::DINamespaceKind: {
      const auto& n = llvm::cast<llvm::DINamespace>(node);
      push({distinct | uint64_t{n.getExportSymbols()} << 1, ref(n.getRawScope()), ref(n.getRawName())});
      return flush(bitc::METADATA_NAMESPACE);
    }
    case llvm::Metadata::DIModuleKind: {
      const auto& n = llvm::cast<llvm::DIModule>(node);
      operands_.push_back(distinct);
      for (const llvm::MDOperand& operand : n.operands()) operands_.push_back(ref(operand.get()));
      push({n.getLineNo(), n.getIsDecl()});
      return flush(bitc::METADATA_MODULE);
    }
    case llvm::Metadata::DITemplateTypeParameterKind: {
      const auto& n = llvm::cast<llvm::DITemplateTypeParameter>(node);
      push({distinct, ref(n.getRawName()), ref(n.getRawType()), n.isDefault()});
      return flush(bitc::METADATA_TEMPLATE_TYPE);
    }
    case llvm::Metadata::DITemplateValueParameterKind: {
      const auto& n = llvm::cast<llvm::DITemplateValueParameter>(node);
      push({distinct, n.getTag(), ref(n.getRawName()), ref(n.getRawType()), n.isDefault(), ref(n.getValue())});
      return flush(bitc::METADATA_TEMPLATE_VALUE);
    }
    case llvm::Metadata::DIGlobalVariableKind: {
      const auto& n = llvm::cast<llvm::DIGlobalVariable>(node);
      push({distinct | 2 << 1, ref(n.getRawScope()), ref(n.getRawName()), ref(n.getRawLinkageName()),
            ref(n.getRawFile()), n.getLine(), ref(n.getRawType()), n.isLocalToUnit(), n.isDefinition(),
            ref(n.getRawStaticDataMemberDeclaration()), ref(n.getRawTemplateParams()), n.getAlignInBits(),
            ref(n.getRawAnnotations())});
      return flush(bitc::METADATA_GLOBAL_VAR);
    }
    case llvm::Metadata::DILocalVariableKind: {
      const auto& n = llvm::cast<llvm::DILocalVariable>(node);
      constexpr uint64_t kHasAlignment = 2;
      push({distinct | kHasAlignment, ref(n.getRawScope()), ref(n.getRawName()), ref(n.getRawFile()), n.getLine(),
            ref(n.getRawType()), n.getArg(), n.getFlags(), n.getAlignInBits(), ref(n.getRawAnnotations())});
      return flush(bitc::METADATA_LOCAL_VAR);
    }
    case llvm::Metadata::DILabelKind: {
      const auto& n = llvm::cast<llvm::DILabel>(node);
      push({distinct, ref(n.getRawScope()), ref(n.getRawName()), ref(n.getRawFile()), n.getLine()});
      return flush(bitc::METADATA_LABEL);
    }
    case llvm::Metadata::DIExpressionKind: {
      const auto& n = llvm::cast<llvm::DIExpression>(node);
      operands_.push_back(distinct | 3 << 1);
      for (const uint64_t element : n.getElements()) operands_.push_back(element);
      return flush(bitc::METADATA_EXPRESSION);
    }
    case llvm::Metadata::DIGlobalVariableExpressionKind: {
      const auto& n = llvm::cast<llvm::DIGlobalVariableExpression>(node);
      push({distinct, ref(n.getRawVariable()), ref(n.getRawExpression())});
      return flush(bitc::METADATA_GLOBAL_VAR_EXPR);
    }
    case llvm::Metadata::DIObjCPropertyKind: {
      const auto& n = llvm::cast<llvm::DIObjCProperty>(node);
      push({distinct, ref(n.getRawName()), ref(n.getRawFile()), n.getLine(), ref(n.getRawGetterName()),
            ref(n.getRawSetterName()), n.getAttributes(), ref(n.getRawType())});
      return flush(bitc::METADATA_OBJC_PROPERTY);
    }
    case llvm::Metadata::DIImportedEntityKind: {
      const auto& n = llvm::cast<llvm::DIImportedEntity>(node);
      push({distinct, n.getTag(), ref(n.getRawScope()), ref(n.getRawEntity()), n.getLine(), ref(n.getRawName()),
            ref(n.getRawFile())});
      return flush(bitc::METADATA_IMPORTED_ENTITY);
    }
    case llvm::Metadata::DIMacroKind: {
      const auto& n = llvm::cast<llvm::DIMacro>(node);
      push({distinct, n.getMacinfoType(), n.getLine(), ref(n.getRawName()), ref(n.getRawValue())});
      return flush(bitc::METADATA_MACRO);
    }
    case llvm::Metadata::DIMacroFileKind: {
      const auto& n = llvm::cast<llvm::DIMacroFile>(node);
      push({distinct, n.getMacinfoType(), n.getLine(), ref(n.getRawFile()), ref(n.getRawElements())});
      return flush(bitc::METADATA_MACRO_FILE);
    }
    default:  // MetadataTable takes up no other kind; an empty node keeps the numbering right all the same
      return flush(bitc::METADATA_NODE);
  }
}

}  // namespace smelt::aot::bitcode
