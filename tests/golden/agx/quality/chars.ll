; ModuleID = '-'
source_filename = "-"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64"

; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite)
define dso_local spir_kernel void @chars(ptr addrspace(1) nocapture noundef readonly align 1 %a, ptr addrspace(1) nocapture noundef readonly align 1 %b, ptr addrspace(1) nocapture noundef readonly align 2 %s, ptr addrspace(1) nocapture noundef writeonly align 4 %o, ptr addrspace(1) nocapture noundef writeonly align 1 %q, i32 noundef %n) local_unnamed_addr #0 !dbg !8 !kernel_arg_addr_space !12 !kernel_arg_access_qual !13 !kernel_arg_type !14 !kernel_arg_base_type !14 !kernel_arg_type_qual !15 !kernel_arg_name !16 !reqd_work_group_size !17 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #2, !dbg !18
  %conv = trunc i64 %call to i32, !dbg !18
  %cmp.not = icmp ult i32 %conv, %n, !dbg !19
  br i1 %cmp.not, label %if.end, label %cleanup, !dbg !20

if.end:                                           ; preds = %entry
  %idxprom = and i64 %call, 4294967295, !dbg !21
  %arrayidx = getelementptr inbounds i8, ptr addrspace(1) %a, i64 %idxprom, !dbg !21
  %0 = load i8, ptr addrspace(1) %arrayidx, align 1, !dbg !21, !tbaa !22
  %conv2 = zext i8 %0 to i32, !dbg !21
  %arrayidx4 = getelementptr inbounds i8, ptr addrspace(1) %b, i64 %idxprom, !dbg !25
  %1 = load i8, ptr addrspace(1) %arrayidx4, align 1, !dbg !25, !tbaa !22
  %conv5 = sext i8 %1 to i32, !dbg !25
  %mul = mul nsw i32 %conv5, %conv2, !dbg !26
  %arrayidx7 = getelementptr inbounds i16, ptr addrspace(1) %s, i64 %idxprom, !dbg !27
  %2 = load i16, ptr addrspace(1) %arrayidx7, align 2, !dbg !27, !tbaa !28
  %conv8 = sext i16 %2 to i32, !dbg !27
  %add = add nsw i32 %mul, %conv8, !dbg !30
  %arrayidx10 = getelementptr inbounds i32, ptr addrspace(1) %o, i64 %idxprom, !dbg !31
  store i32 %add, ptr addrspace(1) %arrayidx10, align 4, !dbg !32, !tbaa !33
  %shr = ashr i32 %add, 4, !dbg !35
  %call11 = tail call spir_func i32 @_Z5clampiii(i32 noundef %shr, i32 noundef 0, i32 noundef 255) #2, !dbg !36
  %conv12 = trunc i32 %call11 to i8, !dbg !37
  %arrayidx14 = getelementptr inbounds i8, ptr addrspace(1) %q, i64 %idxprom, !dbg !38
  store i8 %conv12, ptr addrspace(1) %arrayidx14, align 1, !dbg !39, !tbaa !22
  br label %cleanup, !dbg !40

cleanup:                                          ; preds = %entry, %if.end
  ret void, !dbg !40
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !41 dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !42 dso_local spir_func i32 @_Z5clampiii(i32 noundef, i32 noundef, i32 noundef) local_unnamed_addr #1

attributes #0 = { convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #1 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #2 = { convergent nounwind willreturn memory(none) }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5}
!opencl.ocl.version = !{!6}
!opencl.spir.version = !{!6}
!llvm.ident = !{!7}

!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "Debian clang version 16.0.6 (15~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "-", directory: "/", checksumkind: CSK_MD5, checksum: "92c44e687d1bd11be548dd1e945bded7")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{i32 3, i32 0}
!7 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!8 = distinct !DISubprogram(name: "chars", scope: !9, file: !9, line: 2, type: !10, scopeLine: 3, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !11)
!9 = !DIFile(filename: "chars.cl", directory: "/")
!10 = !DISubroutineType(types: !11)
!11 = !{}
!12 = !{i32 1, i32 1, i32 1, i32 1, i32 1, i32 0}
!13 = !{!"none", !"none", !"none", !"none", !"none", !"none"}
!14 = !{!"uchar*", !"char*", !"short*", !"int*", !"uchar*", !"uint"}
!15 = !{!"const", !"const", !"const", !"", !"", !""}
!16 = !{!"a", !"b", !"s", !"o", !"q", !"n"}
!17 = !{i32 64, i32 1, i32 1}
!18 = !DILocation(line: 4, column: 14, scope: !8)
!19 = !DILocation(line: 5, column: 11, scope: !8)
!20 = !DILocation(line: 5, column: 9, scope: !8)
!21 = !DILocation(line: 6, column: 13, scope: !8)
!22 = !{!23, !23, i64 0}
!23 = !{!"omnipotent char", !24, i64 0}
!24 = !{!"Simple C/C++ TBAA"}
!25 = !DILocation(line: 6, column: 20, scope: !8)
!26 = !DILocation(line: 6, column: 18, scope: !8)
!27 = !DILocation(line: 6, column: 27, scope: !8)
!28 = !{!29, !29, i64 0}
!29 = !{!"short", !23, i64 0}
!30 = !DILocation(line: 6, column: 25, scope: !8)
!31 = !DILocation(line: 7, column: 5, scope: !8)
!32 = !DILocation(line: 7, column: 10, scope: !8)
!33 = !{!34, !34, i64 0}
!34 = !{!"int", !23, i64 0}
!35 = !DILocation(line: 8, column: 27, scope: !8)
!36 = !DILocation(line: 8, column: 19, scope: !8)
!37 = !DILocation(line: 8, column: 12, scope: !8)
!38 = !DILocation(line: 8, column: 5, scope: !8)
!39 = !DILocation(line: 8, column: 10, scope: !8)
!40 = !DILocation(line: 9, column: 1, scope: !8)
!41 = !DISubprogram(name: "get_global_id", scope: !9, file: !9, line: 4, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!42 = !DISubprogram(name: "clamp", scope: !9, file: !9, line: 8, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
