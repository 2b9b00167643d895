; ModuleID = '-'
source_filename = "-"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64"

; Function Attrs: convergent nofree norecurse nounwind memory(argmem: readwrite)
define dso_local spir_kernel void @spmv(ptr addrspace(1) nocapture noundef readonly align 4 %ptr, ptr addrspace(1) nocapture noundef readonly align 4 %col, ptr addrspace(1) nocapture noundef readonly align 4 %val, ptr addrspace(1) nocapture noundef readonly align 4 %x, ptr addrspace(1) nocapture noundef writeonly align 4 %y, i32 noundef %rows) local_unnamed_addr #0 !dbg !8 !kernel_arg_addr_space !12 !kernel_arg_access_qual !13 !kernel_arg_type !14 !kernel_arg_base_type !14 !kernel_arg_type_qual !15 !kernel_arg_name !16 !reqd_work_group_size !17 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #3, !dbg !18
  %conv = trunc i64 %call to i32, !dbg !18
  %cmp = icmp ult i32 %conv, %rows, !dbg !19
  br i1 %cmp, label %if.then, label %if.end, !dbg !20

if.then:                                          ; preds = %entry
  %idxprom = and i64 %call, 4294967295, !dbg !21
  %arrayidx = getelementptr inbounds i32, ptr addrspace(1) %ptr, i64 %idxprom, !dbg !21
  %0 = load i32, ptr addrspace(1) %arrayidx, align 4, !dbg !21, !tbaa !22
  %add = add nuw i32 %conv, 1, !dbg !26
  %idxprom2 = zext i32 %add to i64, !dbg !27
  %arrayidx3 = getelementptr inbounds i32, ptr addrspace(1) %ptr, i64 %idxprom2, !dbg !27
  %1 = load i32, ptr addrspace(1) %arrayidx3, align 4, !dbg !27, !tbaa !22
  %cmp422 = icmp ult i32 %0, %1, !dbg !28
  br i1 %cmp422, label %for.body, label %for.cond.cleanup, !dbg !29

for.cond.cleanup:                                 ; preds = %for.body, %if.then
  %s.0.lcssa = phi float [ 0.000000e+00, %if.then ], [ %5, %for.body ], !dbg !30
  %arrayidx13 = getelementptr inbounds float, ptr addrspace(1) %y, i64 %idxprom, !dbg !31
  store float %s.0.lcssa, ptr addrspace(1) %arrayidx13, align 4, !dbg !32, !tbaa !33
  br label %if.end, !dbg !35

for.body:                                         ; preds = %if.then, %for.body
  %s.024 = phi float [ %5, %for.body ], [ 0.000000e+00, %if.then ]
  %i.023 = phi i32 [ %inc, %for.body ], [ %0, %if.then ]
  %idxprom6 = zext i32 %i.023 to i64, !dbg !36
  %arrayidx7 = getelementptr inbounds float, ptr addrspace(1) %val, i64 %idxprom6, !dbg !36
  %2 = load float, ptr addrspace(1) %arrayidx7, align 4, !dbg !36, !tbaa !33
  %arrayidx9 = getelementptr inbounds i32, ptr addrspace(1) %col, i64 %idxprom6, !dbg !37
  %3 = load i32, ptr addrspace(1) %arrayidx9, align 4, !dbg !37, !tbaa !22
  %idxprom10 = zext i32 %3 to i64, !dbg !38
  %arrayidx11 = getelementptr inbounds float, ptr addrspace(1) %x, i64 %idxprom10, !dbg !38
  %4 = load float, ptr addrspace(1) %arrayidx11, align 4, !dbg !38, !tbaa !33
  %5 = tail call float @llvm.fmuladd.f32(float %2, float %4, float %s.024), !dbg !39
  %inc = add nuw i32 %i.023, 1, !dbg !40
  %cmp4 = icmp ult i32 %inc, %1, !dbg !28
  br i1 %cmp4, label %for.body, label %for.cond.cleanup, !dbg !29, !llvm.loop !41

if.end:                                           ; preds = %for.cond.cleanup, %entry
  ret void, !dbg !43
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !44 dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fmuladd.f32(float, float, float) #2

attributes #0 = { convergent nofree norecurse nounwind memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #1 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { convergent nounwind willreturn memory(none) }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5}
!opencl.ocl.version = !{!6}
!opencl.spir.version = !{!6}
!llvm.ident = !{!7}

!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "Debian clang version 16.0.6 (15~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "-", directory: "/", checksumkind: CSK_MD5, checksum: "8fa1823ac637c094be30960ded1b5274")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{i32 3, i32 0}
!7 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!8 = distinct !DISubprogram(name: "spmv", scope: !9, file: !9, line: 2, type: !10, scopeLine: 3, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !11)
!9 = !DIFile(filename: "spmv.cl", directory: "/")
!10 = !DISubroutineType(types: !11)
!11 = !{}
!12 = !{i32 1, i32 1, i32 1, i32 1, i32 1, i32 0}
!13 = !{!"none", !"none", !"none", !"none", !"none", !"none"}
!14 = !{!"uint*", !"uint*", !"float*", !"float*", !"float*", !"uint"}
!15 = !{!"const", !"const", !"const", !"const", !"", !""}
!16 = !{!"ptr", !"col", !"val", !"x", !"y", !"rows"}
!17 = !{i32 64, i32 1, i32 1}
!18 = !DILocation(line: 4, column: 14, scope: !8)
!19 = !DILocation(line: 5, column: 11, scope: !8)
!20 = !DILocation(line: 5, column: 9, scope: !8)
!21 = !DILocation(line: 7, column: 23, scope: !8)
!22 = !{!23, !23, i64 0}
!23 = !{!"int", !24, i64 0}
!24 = !{!"omnipotent char", !25, i64 0}
!25 = !{!"Simple C/C++ TBAA"}
!26 = !DILocation(line: 7, column: 41, scope: !8)
!27 = !DILocation(line: 7, column: 35, scope: !8)
!28 = !DILocation(line: 7, column: 49, scope: !8)
!29 = !DILocation(line: 7, column: 9, scope: !8)
!30 = !DILocation(line: 0, scope: !8)
!31 = !DILocation(line: 8, column: 9, scope: !8)
!32 = !DILocation(line: 8, column: 14, scope: !8)
!33 = !{!34, !34, i64 0}
!34 = !{!"float", !24, i64 0}
!35 = !DILocation(line: 9, column: 5, scope: !8)
!36 = !DILocation(line: 7, column: 64, scope: !8)
!37 = !DILocation(line: 7, column: 75, scope: !8)
!38 = !DILocation(line: 7, column: 73, scope: !8)
!39 = !DILocation(line: 7, column: 61, scope: !8)
!40 = !DILocation(line: 7, column: 55, scope: !8)
!41 = distinct !{!41, !29, !42}
!42 = !DILocation(line: 7, column: 81, scope: !8)
!43 = !DILocation(line: 10, column: 1, scope: !8)
!44 = !DISubprogram(name: "get_global_id", scope: !9, file: !9, line: 4, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
