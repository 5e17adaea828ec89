; Debug info of every kind that a kernel may carry, LLVM 19 text.
source_filename = "sample"
target datalayout = "e-p:64:64:64-i64:64:64-n8:16:32"
target triple = "air64-apple-macosx14.0.0"

@shared = internal addrspace(3) global [4 x float] undef, align 4, !dbg !40

define void @sample(ptr addrspace(1) %p, i32 %n) local_unnamed_addr !dbg !10 {
entry:
  %local = alloca float, align 4, !dbg !20
    #dbg_declare(ptr %local, !13, !DIExpression(), !20)
    #dbg_value(i32 %n, !14, !DIExpression(), !20)
    #dbg_value(ptr addrspace(1) %p, !15, !DIExpression(), !20)
    #dbg_label(!16, !20)
  br label %loop, !dbg !21

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ], !dbg !21
  %sum = phi i32 [ %n, %entry ], [ %more, %loop ]
    #dbg_value(!DIArgList(i32 %i, i32 %sum), !17, !DIExpression(DW_OP_LLVM_arg, 0, DW_OP_LLVM_arg, 1, DW_OP_plus, DW_OP_stack_value), !22)
    #dbg_value(i32 7, !18, !DIExpression(DW_OP_plus_uconst, 1, DW_OP_stack_value, DW_OP_LLVM_fragment, 0, 16), !22)
    #dbg_value(i32 poison, !14, !DIExpression(), !22)
  %at = getelementptr float, ptr addrspace(1) %p, i32 %i, !dbg !22
  %v = load float, ptr addrspace(1) %at, align 4, !dbg !22
  store float %v, ptr %local, align 4, !dbg !23
  %more = add i32 %sum, %i, !dbg !23
  %next = add i32 %i, 1, !dbg !24
    #dbg_value(i32 %next, !17, !DIExpression(), !24)
  %done = icmp eq i32 %next, %n, !dbg !24
  br i1 %done, label %end, label %loop, !dbg !24, !llvm.loop !50

end:
  call void @helper(ptr %local), !dbg !25
  ret void, !dbg !26
}

define internal void @helper(ptr %q) !dbg !30 {
    #dbg_value(ptr %q, !32, !DIExpression(), !33)
  %x = load float, ptr %q, align 4, !dbg !33
  store float %x, ptr addrspacecast (ptr addrspace(3) @shared to ptr), align 4
  ret void, !dbg !34
}

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!1, !2, !3}
!llvm.ident = !{!4}
!named = !{!5}

!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !6, producer: "smelt", isOptimized: true, flags: "-g", runtimeVersion: 0, emissionKind: FullDebug, enums: !60, retainedTypes: !63, globals: !62, imports: !70, splitDebugInlining: false, nameTableKind: None, sysroot: "/sdk", sdk: "any.sdk")
!1 = !{i32 7, !"Dwarf Version", i32 4}
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 1, !"wchar_size", i32 4}
!4 = !{!"smelt"}
!5 = !{!"a named node"}
!6 = !DIFile(filename: "sample.metal", directory: "/src", checksumkind: CSK_MD5, checksum: "00000000000000000000000000000000")
!7 = !DISubroutineType(types: !8)
!8 = !{null, !9, !47}
!9 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !46, size: 64, dwarfAddressSpace: 1)
!10 = distinct !DISubprogram(name: "sample", linkageName: "_Z6sample", scope: !71, file: !6, line: 10, type: !7, scopeLine: 11, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, templateParams: !11, declaration: !44, retainedNodes: !19)
!11 = !{!12, !48}
!12 = !DITemplateTypeParameter(name: "T", type: !46, defaulted: true)
!13 = !DILocalVariable(name: "local", scope: !10, file: !6, line: 12, type: !46, align: 32)
!14 = !DILocalVariable(name: "n", arg: 2, scope: !10, file: !6, line: 10, type: !47)
!15 = !DILocalVariable(name: "p", arg: 1, scope: !10, file: !6, line: 10, type: !9)
!16 = !DILabel(scope: !10, name: "again", file: !6, line: 13)
!17 = !DILocalVariable(name: "i", scope: !27, file: !6, line: 14, type: !47, flags: DIFlagArtificial)
!18 = !DILocalVariable(name: "k", scope: !28, file: !6, line: 15, type: !52)
!19 = !{!13, !14, !15, !16}
!20 = !DILocation(line: 12, column: 3, scope: !10)
!21 = !DILocation(line: 13, column: 3, scope: !10)
!22 = !DILocation(line: 14, column: 5, scope: !27)
!23 = !DILocation(line: 15, column: 7, scope: !28)
!24 = !DILocation(line: 0, scope: !27)
!25 = !DILocation(line: 16, column: 3, scope: !29, inlinedAt: !35)
!26 = !DILocation(line: 17, column: 1, scope: !10, isImplicitCode: true)
!27 = distinct !DILexicalBlock(scope: !10, file: !6, line: 14, column: 3)
!28 = !DILexicalBlockFile(scope: !27, file: !6, discriminator: 2)
!29 = distinct !DISubprogram(name: "inlined", scope: !6, file: !6, line: 3, type: !31, scopeLine: 3, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !0)
!30 = distinct !DISubprogram(name: "helper", scope: !6, file: !6, line: 20, type: !31, scopeLine: 20, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !0, thisAdjustment: -8)
!31 = !DISubroutineType(cc: DW_CC_normal, types: !60)
!32 = !DILocalVariable(name: "q", arg: 1, scope: !30, file: !6, line: 20, type: !9)
!33 = !DILocation(line: 21, column: 9, scope: !30)
!34 = !DILocation(line: 22, column: 1, scope: !30)
!35 = distinct !DILocation(line: 16, column: 9, scope: !27)
!40 = !DIGlobalVariableExpression(var: !41, expr: !DIExpression())
!41 = distinct !DIGlobalVariable(name: "shared", linkageName: "shared", scope: !0, file: !6, line: 2, type: !42, isLocal: true, isDefinition: true, align: 32)
!42 = !DICompositeType(tag: DW_TAG_array_type, baseType: !46, size: 128, elements: !43)
!43 = !{!DISubrange(count: 4, lowerBound: 0)}
!44 = !DISubprogram(name: "sample", linkageName: "_Z6sample", scope: !71, file: !6, line: 9, type: !7, spFlags: DISPFlagOptimized)
!46 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!47 = !DIDerivedType(tag: DW_TAG_typedef, name: "uint", scope: !71, file: !6, line: 1, baseType: !49)
!48 = !DITemplateValueParameter(name: "N", type: !49, value: i32 4)
!49 = !DIBasicType(name: "unsigned int", size: 32, encoding: DW_ATE_unsigned)
!50 = distinct !{!50, !22, !24, !51}
!51 = !{!"llvm.loop.unroll.disable"}
!52 = !DICompositeType(tag: DW_TAG_structure_type, name: "pair", scope: !71, file: !6, line: 4, size: 64, align: 32, flags: DIFlagTypePassByValue, elements: !53, identifier: "_ZTS4pair")
!53 = !{!54, !55}
!54 = !DIDerivedType(tag: DW_TAG_member, name: "a", scope: !52, file: !6, line: 5, baseType: !49, size: 32)
!55 = !DIDerivedType(tag: DW_TAG_member, name: "b", scope: !52, file: !6, line: 6, baseType: !49, size: 16, offset: 32, flags: DIFlagBitField, extraData: i64 32)
!60 = !{!61}
!61 = !DICompositeType(tag: DW_TAG_enumeration_type, name: "size", file: !6, line: 7, baseType: !49, size: 32, elements: !64)
!62 = !{!40}
!63 = !{!52}
!64 = !{!65, !66}
!65 = !DIEnumerator(name: "small", value: -1)
!66 = !DIEnumerator(name: "big", value: 18446744073709551615, isUnsigned: true)
!70 = !{!72}
!71 = !DINamespace(name: "space", scope: null, exportSymbols: true)
!72 = !DIImportedEntity(tag: DW_TAG_imported_declaration, name: "m", scope: !0, entity: !73, file: !6, line: 1)
!73 = !DIModule(scope: null, name: "metal_types", configMacros: "-D", includePath: "/sdk/metal", apinotes: "n", file: !6, line: 2)
