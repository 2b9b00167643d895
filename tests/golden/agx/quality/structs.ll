; ModuleID = '-'
source_filename = "-"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64"

%struct.p = type { float, float, i32, i32 }

; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite)
define dso_local spir_kernel void @structs(ptr addrspace(1) nocapture noundef readonly align 4 %in, ptr addrspace(1) nocapture noundef writeonly align 4 %out, ptr nocapture noundef readonly byval(%struct.p) align 4 %p) local_unnamed_addr #0 !dbg !8 !kernel_arg_addr_space !12 !kernel_arg_access_qual !13 !kernel_arg_type !14 !kernel_arg_base_type !14 !kernel_arg_type_qual !15 !kernel_arg_name !16 !reqd_work_group_size !17 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #2, !dbg !18
  %conv = trunc i64 %call to i32, !dbg !18
  %n = getelementptr inbounds %struct.p, ptr %p, i64 0, i32 2, !dbg !19
  %0 = load i32, ptr %n, align 4, !dbg !19, !tbaa !20
  %cmp.not = icmp ugt i32 %0, %conv, !dbg !26
  br i1 %cmp.not, label %if.end, label %cleanup, !dbg !27

if.end:                                           ; preds = %entry
  %idxprom = and i64 %call, 4294967295, !dbg !28
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %in, i64 %idxprom, !dbg !28
  %1 = load float, ptr addrspace(1) %arrayidx, align 4, !dbg !28, !tbaa !29
  %mode = getelementptr inbounds %struct.p, ptr %p, i64 0, i32 3, !dbg !30
  %2 = load i32, ptr %mode, align 4, !dbg !30, !tbaa !31
  switch i32 %2, label %sw.default [
    i32 0, label %sw.bb
    i32 1, label %sw.bb2
    i32 2, label %sw.bb3
    i32 3, label %sw.bb5
  ], !dbg !32

sw.bb:                                            ; preds = %if.end
  %3 = load float, ptr %p, align 4, !dbg !33, !tbaa !34
  %mul = fmul float %1, %3, !dbg !35
  br label %sw.epilog, !dbg !36

sw.bb2:                                           ; preds = %if.end
  %b = getelementptr inbounds %struct.p, ptr %p, i64 0, i32 1, !dbg !37
  %4 = load float, ptr %b, align 4, !dbg !37, !tbaa !38
  %add = fadd float %1, %4, !dbg !39
  br label %sw.epilog, !dbg !40

sw.bb3:                                           ; preds = %if.end
  %mul4 = fmul float %1, %1, !dbg !41
  br label %sw.epilog, !dbg !42

sw.bb5:                                           ; preds = %if.end
  %call6 = tail call spir_func float @_Z4fabsf(float noundef %1) #2, !dbg !43
  br label %sw.epilog, !dbg !44

sw.default:                                       ; preds = %if.end
  %5 = load float, ptr %p, align 4, !dbg !45, !tbaa !34
  %b8 = getelementptr inbounds %struct.p, ptr %p, i64 0, i32 1, !dbg !46
  %6 = load float, ptr %b8, align 4, !dbg !46, !tbaa !38
  %mul9 = fmul float %5, %6, !dbg !47
  br label %sw.epilog, !dbg !48

sw.epilog:                                        ; preds = %sw.default, %sw.bb5, %sw.bb3, %sw.bb2, %sw.bb
  %y.0 = phi float [ %mul9, %sw.default ], [ %call6, %sw.bb5 ], [ %mul4, %sw.bb3 ], [ %add, %sw.bb2 ], [ %mul, %sw.bb ], !dbg !49
  %arrayidx11 = getelementptr inbounds float, ptr addrspace(1) %out, i64 %idxprom, !dbg !50
  store float %y.0, ptr addrspace(1) %arrayidx11, align 4, !dbg !51, !tbaa !29
  br label %cleanup, !dbg !52

cleanup:                                          ; preds = %entry, %sw.epilog
  ret void, !dbg !52
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !53 dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !54 dso_local spir_func float @_Z4fabsf(float noundef) local_unnamed_addr #1

attributes #0 = { convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #1 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #2 = { convergent nounwind willreturn memory(none) }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5}
!opencl.ocl.version = !{!6}
!opencl.spir.version = !{!6}
!llvm.ident = !{!7}

!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "Debian clang version 16.0.6 (15~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "-", directory: "/", checksumkind: CSK_MD5, checksum: "cfe283c2cb25cf008f72f0ffa68b0de6")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{i32 3, i32 0}
!7 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!8 = distinct !DISubprogram(name: "structs", scope: !9, file: !9, line: 3, type: !10, scopeLine: 4, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !11)
!9 = !DIFile(filename: "structs.cl", directory: "/")
!10 = !DISubroutineType(types: !11)
!11 = !{}
!12 = !{i32 1, i32 1, i32 0}
!13 = !{!"none", !"none", !"none"}
!14 = !{!"float*", !"float*", !"struct p"}
!15 = !{!"const", !"", !""}
!16 = !{!"in", !"out", !"p"}
!17 = !{i32 64, i32 1, i32 1}
!18 = !DILocation(line: 5, column: 14, scope: !8)
!19 = !DILocation(line: 6, column: 16, scope: !8)
!20 = !{!21, !25, i64 8}
!21 = !{!"p", !22, i64 0, !22, i64 4, !25, i64 8, !25, i64 12}
!22 = !{!"float", !23, i64 0}
!23 = !{!"omnipotent char", !24, i64 0}
!24 = !{!"Simple C/C++ TBAA"}
!25 = !{!"int", !23, i64 0}
!26 = !DILocation(line: 6, column: 11, scope: !8)
!27 = !DILocation(line: 6, column: 9, scope: !8)
!28 = !DILocation(line: 7, column: 15, scope: !8)
!29 = !{!22, !22, i64 0}
!30 = !DILocation(line: 8, column: 15, scope: !8)
!31 = !{!21, !25, i64 12}
!32 = !DILocation(line: 8, column: 5, scope: !8)
!33 = !DILocation(line: 9, column: 23, scope: !8)
!34 = !{!21, !22, i64 0}
!35 = !DILocation(line: 9, column: 19, scope: !8)
!36 = !DILocation(line: 9, column: 26, scope: !8)
!37 = !DILocation(line: 10, column: 23, scope: !8)
!38 = !{!21, !22, i64 4}
!39 = !DILocation(line: 10, column: 19, scope: !8)
!40 = !DILocation(line: 10, column: 26, scope: !8)
!41 = !DILocation(line: 11, column: 19, scope: !8)
!42 = !DILocation(line: 11, column: 24, scope: !8)
!43 = !DILocation(line: 12, column: 17, scope: !8)
!44 = !DILocation(line: 12, column: 26, scope: !8)
!45 = !DILocation(line: 13, column: 20, scope: !8)
!46 = !DILocation(line: 13, column: 26, scope: !8)
!47 = !DILocation(line: 13, column: 22, scope: !8)
!48 = !DILocation(line: 13, column: 29, scope: !8)
!49 = !DILocation(line: 0, scope: !8)
!50 = !DILocation(line: 15, column: 5, scope: !8)
!51 = !DILocation(line: 15, column: 12, scope: !8)
!52 = !DILocation(line: 16, column: 1, scope: !8)
!53 = !DISubprogram(name: "get_global_id", scope: !9, file: !9, line: 5, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!54 = !DISubprogram(name: "fabs", scope: !9, file: !9, line: 12, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
