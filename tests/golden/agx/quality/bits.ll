; ModuleID = '-'
source_filename = "-"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64"

; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite)
define dso_local spir_kernel void @bits(ptr addrspace(1) nocapture noundef readonly align 4 %a, ptr addrspace(1) nocapture noundef writeonly align 4 %b, i32 noundef %n) local_unnamed_addr #0 !dbg !8 !kernel_arg_addr_space !12 !kernel_arg_access_qual !13 !kernel_arg_type !14 !kernel_arg_base_type !14 !kernel_arg_type_qual !15 !kernel_arg_name !16 !reqd_work_group_size !17 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #2, !dbg !18
  %conv = trunc i64 %call to i32, !dbg !18
  %cmp.not = icmp ult i32 %conv, %n, !dbg !19
  br i1 %cmp.not, label %if.end, label %cleanup, !dbg !20

if.end:                                           ; preds = %entry
  %idxprom = and i64 %call, 4294967295, !dbg !21
  %arrayidx = getelementptr inbounds i32, ptr addrspace(1) %a, i64 %idxprom, !dbg !21
  %0 = load i32, ptr addrspace(1) %arrayidx, align 4, !dbg !21, !tbaa !22
  %call2 = tail call spir_func i32 @_Z8popcountj(i32 noundef %0) #2, !dbg !26
  %call3 = tail call spir_func i32 @_Z3clzj(i32 noundef %0) #2, !dbg !27
  %sub = sub i32 0, %0, !dbg !28
  %and = and i32 %0, %sub, !dbg !29
  %call4 = tail call spir_func i32 @_Z6rotatejj(i32 noundef %0, i32 noundef 7) #2, !dbg !30
  %shr = lshr i32 %0, 3, !dbg !31
  %xor = xor i32 %call4, %shr, !dbg !32
  %and5 = shl i32 %0, 1, !dbg !33
  %shl = and i32 %and5, -1431655766, !dbg !33
  %shr6 = lshr i32 %0, 1, !dbg !34
  %and7 = and i32 %shr6, 1431655765, !dbg !35
  %or = or i32 %shl, %and7, !dbg !36
  %shr8 = lshr i32 %0, 8, !dbg !37
  %and9 = and i32 %shr8, 255, !dbg !38
  %mul = mul i32 %call3, %and, !dbg !39
  %mul11 = mul i32 %or, %and9, !dbg !40
  %rem = urem i32 %0, 10, !dbg !41
  %div = udiv i32 %0, 7, !dbg !42
  %add = add i32 %rem, %call2, !dbg !43
  %add10 = add i32 %add, %div, !dbg !44
  %add12 = add i32 %add10, %mul, !dbg !45
  %add13 = add i32 %add12, %xor, !dbg !46
  %add14 = add i32 %add13, %mul11, !dbg !47
  %arrayidx16 = getelementptr inbounds i32, ptr addrspace(1) %b, i64 %idxprom, !dbg !48
  store i32 %add14, ptr addrspace(1) %arrayidx16, align 4, !dbg !49, !tbaa !22
  br label %cleanup, !dbg !50

cleanup:                                          ; preds = %entry, %if.end
  ret void, !dbg !50
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !51 dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !52 dso_local spir_func i32 @_Z8popcountj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !53 dso_local spir_func i32 @_Z3clzj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !54 dso_local spir_func i32 @_Z6rotatejj(i32 noundef, i32 noundef) local_unnamed_addr #1

attributes #0 = { convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #1 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #2 = { convergent nounwind willreturn memory(none) }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5}
!opencl.ocl.version = !{!6}
!opencl.spir.version = !{!6}
!llvm.ident = !{!7}

!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "Debian clang version 16.0.6 (15~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "-", directory: "/", checksumkind: CSK_MD5, checksum: "00b5ea012b232a20c3dc1c907d323b50")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{i32 3, i32 0}
!7 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!8 = distinct !DISubprogram(name: "bits", scope: !9, file: !9, line: 2, type: !10, scopeLine: 3, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !11)
!9 = !DIFile(filename: "bits.cl", directory: "/")
!10 = !DISubroutineType(types: !11)
!11 = !{}
!12 = !{i32 1, i32 1, i32 0}
!13 = !{!"none", !"none", !"none"}
!14 = !{!"uint*", !"uint*", !"uint"}
!15 = !{!"const", !"", !""}
!16 = !{!"a", !"b", !"n"}
!17 = !{i32 64, i32 1, i32 1}
!18 = !DILocation(line: 4, column: 14, scope: !8)
!19 = !DILocation(line: 5, column: 11, scope: !8)
!20 = !DILocation(line: 5, column: 9, scope: !8)
!21 = !DILocation(line: 6, column: 14, scope: !8)
!22 = !{!23, !23, i64 0}
!23 = !{!"int", !24, i64 0}
!24 = !{!"omnipotent char", !25, i64 0}
!25 = !{!"Simple C/C++ TBAA"}
!26 = !DILocation(line: 7, column: 14, scope: !8)
!27 = !DILocation(line: 7, column: 31, scope: !8)
!28 = !DILocation(line: 7, column: 47, scope: !8)
!29 = !DILocation(line: 7, column: 45, scope: !8)
!30 = !DILocation(line: 8, column: 14, scope: !8)
!31 = !DILocation(line: 8, column: 33, scope: !8)
!32 = !DILocation(line: 8, column: 28, scope: !8)
!33 = !DILocation(line: 9, column: 32, scope: !8)
!34 = !DILocation(line: 9, column: 43, scope: !8)
!35 = !DILocation(line: 9, column: 49, scope: !8)
!36 = !DILocation(line: 9, column: 37, scope: !8)
!37 = !DILocation(line: 10, column: 20, scope: !8)
!38 = !DILocation(line: 10, column: 26, scope: !8)
!39 = !DILocation(line: 11, column: 18, scope: !8)
!40 = !DILocation(line: 11, column: 30, scope: !8)
!41 = !DILocation(line: 11, column: 42, scope: !8)
!42 = !DILocation(line: 11, column: 53, scope: !8)
!43 = !DILocation(line: 11, column: 14, scope: !8)
!44 = !DILocation(line: 11, column: 22, scope: !8)
!45 = !DILocation(line: 11, column: 26, scope: !8)
!46 = !DILocation(line: 11, column: 37, scope: !8)
!47 = !DILocation(line: 11, column: 49, scope: !8)
!48 = !DILocation(line: 11, column: 5, scope: !8)
!49 = !DILocation(line: 11, column: 10, scope: !8)
!50 = !DILocation(line: 12, column: 1, scope: !8)
!51 = !DISubprogram(name: "get_global_id", scope: !9, file: !9, line: 4, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!52 = !DISubprogram(name: "popcount", scope: !9, file: !9, line: 7, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!53 = !DISubprogram(name: "clz", scope: !9, file: !9, line: 7, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!54 = !DISubprogram(name: "rotate", scope: !9, file: !9, line: 8, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
