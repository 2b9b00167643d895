; ModuleID = '-'
source_filename = "-"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64"

; Function Attrs: convergent nofree norecurse nounwind memory(argmem: readwrite)
define dso_local spir_kernel void @gemv(ptr addrspace(1) nocapture noundef readonly align 4 %a, ptr addrspace(1) nocapture noundef readonly align 4 %x, ptr addrspace(1) nocapture noundef writeonly align 4 %y, i32 noundef %m, i32 noundef %n) local_unnamed_addr #0 !dbg !8 !kernel_arg_addr_space !12 !kernel_arg_access_qual !13 !kernel_arg_type !14 !kernel_arg_base_type !14 !kernel_arg_type_qual !15 !kernel_arg_name !16 !reqd_work_group_size !17 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #2, !dbg !18
  %conv = trunc i64 %call to i32, !dbg !18
  %cmp.not = icmp ult i32 %conv, %m, !dbg !19
  br i1 %cmp.not, label %for.cond.preheader, label %cleanup, !dbg !20

for.cond.preheader:                               ; preds = %entry
  %cmp216.not = icmp eq i32 %n, 0, !dbg !21
  br i1 %cmp216.not, label %for.cond.cleanup, label %for.body.lr.ph, !dbg !22

for.body.lr.ph:                                   ; preds = %for.cond.preheader
  %mul = mul i32 %conv, %n
  br label %for.body, !dbg !22

for.cond.cleanup:                                 ; preds = %for.body, %for.cond.preheader
  %s.0.lcssa = phi float [ 0.000000e+00, %for.cond.preheader ], [ %call6, %for.body ], !dbg !23
  %idxprom7 = and i64 %call, 4294967295, !dbg !24
  %arrayidx8 = getelementptr inbounds float, ptr addrspace(1) %y, i64 %idxprom7, !dbg !24
  store float %s.0.lcssa, ptr addrspace(1) %arrayidx8, align 4, !dbg !25, !tbaa !26
  br label %cleanup, !dbg !30

for.body:                                         ; preds = %for.body.lr.ph, %for.body
  %i.018 = phi i32 [ 0, %for.body.lr.ph ], [ %inc, %for.body ]
  %s.017 = phi float [ 0.000000e+00, %for.body.lr.ph ], [ %call6, %for.body ]
  %add = add i32 %i.018, %mul, !dbg !31
  %idxprom = zext i32 %add to i64, !dbg !32
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %a, i64 %idxprom, !dbg !32
  %0 = load float, ptr addrspace(1) %arrayidx, align 4, !dbg !32, !tbaa !26
  %idxprom4 = zext i32 %i.018 to i64, !dbg !33
  %arrayidx5 = getelementptr inbounds float, ptr addrspace(1) %x, i64 %idxprom4, !dbg !33
  %1 = load float, ptr addrspace(1) %arrayidx5, align 4, !dbg !33, !tbaa !26
  %call6 = tail call spir_func float @_Z3fmafff(float noundef %0, float noundef %1, float noundef %s.017) #2, !dbg !34
  %inc = add nuw i32 %i.018, 1, !dbg !35
  %cmp2 = icmp ult i32 %inc, %n, !dbg !21
  br i1 %cmp2, label %for.body, label %for.cond.cleanup, !dbg !22, !llvm.loop !36

cleanup:                                          ; preds = %entry, %for.cond.cleanup
  ret void, !dbg !30
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !38 dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !39 dso_local spir_func float @_Z3fmafff(float noundef, float noundef, float noundef) local_unnamed_addr #1

attributes #0 = { convergent nofree norecurse nounwind memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #1 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #2 = { convergent nounwind willreturn memory(none) }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5}
!opencl.ocl.version = !{!6}
!opencl.spir.version = !{!6}
!llvm.ident = !{!7}

!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "Debian clang version 16.0.6 (15~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "-", directory: "/", checksumkind: CSK_MD5, checksum: "749fb6696dd78f17f31461361db8ec2a")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{i32 3, i32 0}
!7 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!8 = distinct !DISubprogram(name: "gemv", scope: !9, file: !9, line: 2, type: !10, scopeLine: 3, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !11)
!9 = !DIFile(filename: "gemv.cl", directory: "/")
!10 = !DISubroutineType(types: !11)
!11 = !{}
!12 = !{i32 1, i32 1, i32 1, i32 0, i32 0}
!13 = !{!"none", !"none", !"none", !"none", !"none"}
!14 = !{!"float*", !"float*", !"float*", !"uint", !"uint"}
!15 = !{!"const", !"const", !"", !"", !""}
!16 = !{!"a", !"x", !"y", !"m", !"n"}
!17 = !{i32 64, i32 1, i32 1}
!18 = !DILocation(line: 4, column: 14, scope: !8)
!19 = !DILocation(line: 5, column: 11, scope: !8)
!20 = !DILocation(line: 5, column: 9, scope: !8)
!21 = !DILocation(line: 7, column: 24, scope: !8)
!22 = !DILocation(line: 7, column: 5, scope: !8)
!23 = !DILocation(line: 0, scope: !8)
!24 = !DILocation(line: 8, column: 5, scope: !8)
!25 = !DILocation(line: 8, column: 10, scope: !8)
!26 = !{!27, !27, i64 0}
!27 = !{!"float", !28, i64 0}
!28 = !{!"omnipotent char", !29, i64 0}
!29 = !{!"Simple C/C++ TBAA"}
!30 = !DILocation(line: 9, column: 1, scope: !8)
!31 = !DILocation(line: 7, column: 50, scope: !8)
!32 = !DILocation(line: 7, column: 42, scope: !8)
!33 = !DILocation(line: 7, column: 56, scope: !8)
!34 = !DILocation(line: 7, column: 38, scope: !8)
!35 = !DILocation(line: 7, column: 30, scope: !8)
!36 = distinct !{!36, !22, !37}
!37 = !DILocation(line: 7, column: 63, scope: !8)
!38 = !DISubprogram(name: "get_global_id", scope: !9, file: !9, line: 4, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!39 = !DISubprogram(name: "fma", scope: !9, file: !9, line: 7, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
