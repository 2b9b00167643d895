; ModuleID = '-'
source_filename = "-"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64"

; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite)
define dso_local spir_kernel void @halfmix(ptr addrspace(1) nocapture noundef readonly align 2 %a, ptr addrspace(1) nocapture noundef readonly align 2 %b, ptr addrspace(1) nocapture noundef writeonly align 2 %c, i32 noundef %n) local_unnamed_addr #0 !dbg !8 !kernel_arg_addr_space !12 !kernel_arg_access_qual !13 !kernel_arg_type !14 !kernel_arg_base_type !14 !kernel_arg_type_qual !15 !kernel_arg_name !16 !reqd_work_group_size !17 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #3, !dbg !18
  %conv = trunc i64 %call to i32, !dbg !18
  %cmp.not = icmp ult i32 %conv, %n, !dbg !19
  br i1 %cmp.not, label %if.end, label %cleanup, !dbg !20

if.end:                                           ; preds = %entry
  %idxprom = and i64 %call, 4294967295, !dbg !21
  %arrayidx = getelementptr inbounds half, ptr addrspace(1) %a, i64 %idxprom, !dbg !21
  %0 = load half, ptr addrspace(1) %arrayidx, align 2, !dbg !21, !tbaa !22
  %arrayidx3 = getelementptr inbounds half, ptr addrspace(1) %b, i64 %idxprom, !dbg !26
  %1 = load half, ptr addrspace(1) %arrayidx3, align 2, !dbg !26, !tbaa !22
  %2 = tail call half @llvm.fmuladd.f16(half %0, half %1, half 0xH3800), !dbg !27
  %call4 = tail call spir_func half @_Z4fmaxDhDh(half noundef %2, half noundef 0xH0000) #3, !dbg !28
  %cmp5 = fcmp ogt half %call4, 0xH4000, !dbg !29
  %sub = select i1 %cmp5, half %1, half 0xH0000, !dbg !30
  %z.0 = fsub half %call4, %sub, !dbg !30
  %mul = fmul half %z.0, %z.0, !dbg !31
  %arrayidx10 = getelementptr inbounds half, ptr addrspace(1) %c, i64 %idxprom, !dbg !32
  store half %mul, ptr addrspace(1) %arrayidx10, align 2, !dbg !33, !tbaa !22
  br label %cleanup, !dbg !34

cleanup:                                          ; preds = %entry, %if.end
  ret void, !dbg !34
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !35 dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare half @llvm.fmuladd.f16(half, half, half) #2

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !36 dso_local spir_func half @_Z4fmaxDhDh(half noundef, half noundef) local_unnamed_addr #1

attributes #0 = { convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #1 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { convergent nounwind willreturn memory(none) }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5}
!opencl.ocl.version = !{!6}
!opencl.spir.version = !{!6}
!llvm.ident = !{!7}

!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "Debian clang version 16.0.6 (15~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "-", directory: "/", checksumkind: CSK_MD5, checksum: "624d160e5d0ccc58ec40d2dd25f39625")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{i32 3, i32 0}
!7 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!8 = distinct !DISubprogram(name: "halfmix", scope: !9, file: !9, line: 3, type: !10, scopeLine: 4, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !11)
!9 = !DIFile(filename: "halfmix.cl", directory: "/")
!10 = !DISubroutineType(types: !11)
!11 = !{}
!12 = !{i32 1, i32 1, i32 1, i32 0}
!13 = !{!"none", !"none", !"none", !"none"}
!14 = !{!"half*", !"half*", !"half*", !"uint"}
!15 = !{!"const", !"const", !"", !""}
!16 = !{!"a", !"b", !"c", !"n"}
!17 = !{i32 64, i32 1, i32 1}
!18 = !DILocation(line: 5, column: 14, scope: !8)
!19 = !DILocation(line: 6, column: 11, scope: !8)
!20 = !DILocation(line: 6, column: 9, scope: !8)
!21 = !DILocation(line: 7, column: 14, scope: !8)
!22 = !{!23, !23, i64 0}
!23 = !{!"half", !24, i64 0}
!24 = !{!"omnipotent char", !25, i64 0}
!25 = !{!"Simple C/C++ TBAA"}
!26 = !DILocation(line: 7, column: 24, scope: !8)
!27 = !DILocation(line: 8, column: 20, scope: !8)
!28 = !DILocation(line: 9, column: 9, scope: !8)
!29 = !DILocation(line: 10, column: 11, scope: !8)
!30 = !DILocation(line: 10, column: 9, scope: !8)
!31 = !DILocation(line: 11, column: 14, scope: !8)
!32 = !DILocation(line: 11, column: 5, scope: !8)
!33 = !DILocation(line: 11, column: 10, scope: !8)
!34 = !DILocation(line: 12, column: 1, scope: !8)
!35 = !DISubprogram(name: "get_global_id", scope: !9, file: !9, line: 5, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!36 = !DISubprogram(name: "fmax", scope: !9, file: !9, line: 9, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
