; ModuleID = '-'
source_filename = "-"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64"

@reduce4.t = internal unnamed_addr addrspace(3) global [64 x float] undef, align 4

; Function Attrs: convergent norecurse nounwind
define dso_local spir_kernel void @reduce4(ptr addrspace(1) nocapture noundef readonly align 16 %in, ptr addrspace(1) nocapture noundef writeonly align 4 %out, i32 noundef %n) local_unnamed_addr #0 !dbg !8 !kernel_arg_addr_space !12 !kernel_arg_access_qual !13 !kernel_arg_type !14 !kernel_arg_base_type !15 !kernel_arg_type_qual !16 !kernel_arg_name !17 !reqd_work_group_size !18 {
entry:
  %call = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #3, !dbg !19
  %conv = trunc i64 %call to i32, !dbg !19
  %call1 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #3, !dbg !20
  %conv2 = trunc i64 %call1 to i32, !dbg !20
  %cmp44 = icmp ult i32 %conv2, %n, !dbg !21
  br i1 %cmp44, label %for.body, label %for.cond.cleanup, !dbg !22

for.cond.cleanup:                                 ; preds = %for.body, %entry
  %s.0.lcssa = phi <4 x float> [ zeroinitializer, %entry ], [ %add, %for.body ], !dbg !23
  %shift = shufflevector <4 x float> %s.0.lcssa, <4 x float> poison, <4 x i32> <i32 1, i32 undef, i32 undef, i32 undef>, !dbg !24
  %0 = fadd <4 x float> %s.0.lcssa, %shift, !dbg !24
  %shift48 = shufflevector <4 x float> %s.0.lcssa, <4 x float> poison, <4 x i32> <i32 2, i32 undef, i32 undef, i32 undef>, !dbg !25
  %1 = fadd <4 x float> %shift48, %0, !dbg !25
  %shift49 = shufflevector <4 x float> %s.0.lcssa, <4 x float> poison, <4 x i32> <i32 3, i32 undef, i32 undef, i32 undef>, !dbg !26
  %2 = fadd <4 x float> %shift49, %1, !dbg !26
  %add10 = extractelement <4 x float> %2, i64 0, !dbg !26
  %idxprom11 = and i64 %call, 4294967295, !dbg !27
  %arrayidx12 = getelementptr inbounds [64 x float], ptr addrspace(3) @reduce4.t, i64 0, i64 %idxprom11, !dbg !27
  store float %add10, ptr addrspace(3) %arrayidx12, align 4, !dbg !28, !tbaa !29
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !33
  %cmp16 = icmp ult i32 %conv, 32, !dbg !34
  br i1 %cmp16, label %if.then, label %for.inc24, !dbg !35

for.body:                                         ; preds = %entry, %for.body
  %s.046 = phi <4 x float> [ %add, %for.body ], [ zeroinitializer, %entry ]
  %i.045 = phi i32 [ %conv7, %for.body ], [ %conv2, %entry ]
  %idxprom = zext i32 %i.045 to i64, !dbg !36
  %arrayidx = getelementptr inbounds <4 x float>, ptr addrspace(1) %in, i64 %idxprom, !dbg !36
  %3 = load <4 x float>, ptr addrspace(1) %arrayidx, align 16, !dbg !36, !tbaa !37
  %add = fadd <4 x float> %s.046, %3, !dbg !38
  %call4 = tail call spir_func i64 @_Z15get_global_sizej(i32 noundef 0) #3, !dbg !39
  %4 = trunc i64 %call4 to i32, !dbg !40
  %conv7 = add i32 %i.045, %4, !dbg !40
  %cmp = icmp ult i32 %conv7, %n, !dbg !21
  br i1 %cmp, label %for.body, label %for.cond.cleanup, !dbg !22, !llvm.loop !41

if.then:                                          ; preds = %for.cond.cleanup
  %add18 = add nuw nsw i32 %conv, 32, !dbg !43
  %idxprom19 = zext i32 %add18 to i64, !dbg !44
  %arrayidx20 = getelementptr inbounds [64 x float], ptr addrspace(3) @reduce4.t, i64 0, i64 %idxprom19, !dbg !44
  %5 = load float, ptr addrspace(3) %arrayidx20, align 4, !dbg !44, !tbaa !29
  %6 = load float, ptr addrspace(3) %arrayidx12, align 4, !dbg !45, !tbaa !29
  %add23 = fadd float %5, %6, !dbg !45
  store float %add23, ptr addrspace(3) %arrayidx12, align 4, !dbg !45, !tbaa !29
  br label %for.inc24, !dbg !46

for.inc24:                                        ; preds = %for.cond.cleanup, %if.then
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !33
  %cmp16.1 = icmp ult i32 %conv, 16, !dbg !34
  br i1 %cmp16.1, label %if.then.1, label %for.inc24.1, !dbg !35

if.then.1:                                        ; preds = %for.inc24
  %add18.1 = add nuw nsw i32 %conv, 16, !dbg !43
  %idxprom19.1 = zext i32 %add18.1 to i64, !dbg !44
  %arrayidx20.1 = getelementptr inbounds [64 x float], ptr addrspace(3) @reduce4.t, i64 0, i64 %idxprom19.1, !dbg !44
  %7 = load float, ptr addrspace(3) %arrayidx20.1, align 4, !dbg !44, !tbaa !29
  %8 = load float, ptr addrspace(3) %arrayidx12, align 4, !dbg !45, !tbaa !29
  %add23.1 = fadd float %7, %8, !dbg !45
  store float %add23.1, ptr addrspace(3) %arrayidx12, align 4, !dbg !45, !tbaa !29
  br label %for.inc24.1, !dbg !46

for.inc24.1:                                      ; preds = %if.then.1, %for.inc24
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !33
  %cmp16.2 = icmp ult i32 %conv, 8, !dbg !34
  br i1 %cmp16.2, label %if.then.2, label %for.inc24.2, !dbg !35

if.then.2:                                        ; preds = %for.inc24.1
  %add18.2 = add nuw nsw i32 %conv, 8, !dbg !43
  %idxprom19.2 = zext i32 %add18.2 to i64, !dbg !44
  %arrayidx20.2 = getelementptr inbounds [64 x float], ptr addrspace(3) @reduce4.t, i64 0, i64 %idxprom19.2, !dbg !44
  %9 = load float, ptr addrspace(3) %arrayidx20.2, align 4, !dbg !44, !tbaa !29
  %10 = load float, ptr addrspace(3) %arrayidx12, align 4, !dbg !45, !tbaa !29
  %add23.2 = fadd float %9, %10, !dbg !45
  store float %add23.2, ptr addrspace(3) %arrayidx12, align 4, !dbg !45, !tbaa !29
  br label %for.inc24.2, !dbg !46

for.inc24.2:                                      ; preds = %if.then.2, %for.inc24.1
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !33
  %cmp16.3 = icmp ult i32 %conv, 4, !dbg !34
  br i1 %cmp16.3, label %if.then.3, label %for.inc24.3, !dbg !35

if.then.3:                                        ; preds = %for.inc24.2
  %add18.3 = add nuw nsw i32 %conv, 4, !dbg !43
  %idxprom19.3 = zext i32 %add18.3 to i64, !dbg !44
  %arrayidx20.3 = getelementptr inbounds [64 x float], ptr addrspace(3) @reduce4.t, i64 0, i64 %idxprom19.3, !dbg !44
  %11 = load float, ptr addrspace(3) %arrayidx20.3, align 4, !dbg !44, !tbaa !29
  %12 = load float, ptr addrspace(3) %arrayidx12, align 4, !dbg !45, !tbaa !29
  %add23.3 = fadd float %11, %12, !dbg !45
  store float %add23.3, ptr addrspace(3) %arrayidx12, align 4, !dbg !45, !tbaa !29
  br label %for.inc24.3, !dbg !46

for.inc24.3:                                      ; preds = %if.then.3, %for.inc24.2
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !33
  %cmp16.4 = icmp ult i32 %conv, 2, !dbg !34
  br i1 %cmp16.4, label %if.then.4, label %for.inc24.4, !dbg !35

if.then.4:                                        ; preds = %for.inc24.3
  %add18.4 = add nuw nsw i32 %conv, 2, !dbg !43
  %idxprom19.4 = zext i32 %add18.4 to i64, !dbg !44
  %arrayidx20.4 = getelementptr inbounds [64 x float], ptr addrspace(3) @reduce4.t, i64 0, i64 %idxprom19.4, !dbg !44
  %13 = load float, ptr addrspace(3) %arrayidx20.4, align 4, !dbg !44, !tbaa !29
  %14 = load float, ptr addrspace(3) %arrayidx12, align 4, !dbg !45, !tbaa !29
  %add23.4 = fadd float %13, %14, !dbg !45
  store float %add23.4, ptr addrspace(3) %arrayidx12, align 4, !dbg !45, !tbaa !29
  br label %for.inc24.4, !dbg !46

for.inc24.4:                                      ; preds = %if.then.4, %for.inc24.3
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !33
  %cond = icmp eq i32 %conv, 0, !dbg !35
  br i1 %cond, label %if.then.5, label %if.end30, !dbg !35

if.then.5:                                        ; preds = %for.inc24.4
  %add18.5 = add nuw nsw i32 %conv, 1, !dbg !43
  %idxprom19.5 = zext i32 %add18.5 to i64, !dbg !44
  %arrayidx20.5 = getelementptr inbounds [64 x float], ptr addrspace(3) @reduce4.t, i64 0, i64 %idxprom19.5, !dbg !44
  %15 = load float, ptr addrspace(3) %arrayidx20.5, align 4, !dbg !44, !tbaa !29
  %16 = load float, ptr addrspace(3) %arrayidx12, align 4, !dbg !45, !tbaa !29
  %add23.5 = fadd float %15, %16, !dbg !45
  store float %add23.5, ptr addrspace(3) %arrayidx12, align 4, !dbg !45, !tbaa !29
  %17 = load float, ptr addrspace(3) @reduce4.t, align 4, !dbg !47, !tbaa !29
  %call28 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 0) #3, !dbg !48
  %arrayidx29 = getelementptr inbounds float, ptr addrspace(1) %out, i64 %call28, !dbg !49
  store float %17, ptr addrspace(1) %arrayidx29, align 4, !dbg !50, !tbaa !29
  br label %if.end30, !dbg !49

if.end30:                                         ; preds = %for.inc24.4, %if.then.5
  ret void, !dbg !51
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !52 dso_local spir_func i64 @_Z12get_local_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !53 dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !54 dso_local spir_func i64 @_Z15get_global_sizej(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent nounwind
declare !dbg !55 dso_local spir_func void @_Z7barrierj(i32 noundef) local_unnamed_addr #2

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !56 dso_local spir_func i64 @_Z12get_group_idj(i32 noundef) local_unnamed_addr #1

attributes #0 = { convergent norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #1 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #2 = { convergent nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #3 = { convergent nounwind willreturn memory(none) }
attributes #4 = { convergent nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5}
!opencl.ocl.version = !{!6}
!opencl.spir.version = !{!6}
!llvm.ident = !{!7}

!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "Debian clang version 16.0.6 (15~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "-", directory: "/", checksumkind: CSK_MD5, checksum: "d7cfe160cce26364d42550a3888e2054")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{i32 3, i32 0}
!7 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!8 = distinct !DISubprogram(name: "reduce4", scope: !9, file: !9, line: 2, type: !10, scopeLine: 3, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !11)
!9 = !DIFile(filename: "reduce4.cl", directory: "/")
!10 = !DISubroutineType(types: !11)
!11 = !{}
!12 = !{i32 1, i32 1, i32 0}
!13 = !{!"none", !"none", !"none"}
!14 = !{!"float4*", !"float*", !"uint"}
!15 = !{!"float __attribute__((ext_vector_type(4)))*", !"float*", !"uint"}
!16 = !{!"const", !"", !""}
!17 = !{!"in", !"out", !"n"}
!18 = !{i32 64, i32 1, i32 1}
!19 = !DILocation(line: 5, column: 14, scope: !8)
!20 = !DILocation(line: 7, column: 19, scope: !8)
!21 = !DILocation(line: 7, column: 39, scope: !8)
!22 = !DILocation(line: 7, column: 5, scope: !8)
!23 = !DILocation(line: 0, scope: !8)
!24 = !DILocation(line: 8, column: 19, scope: !8)
!25 = !DILocation(line: 8, column: 25, scope: !8)
!26 = !DILocation(line: 8, column: 31, scope: !8)
!27 = !DILocation(line: 9, column: 5, scope: !8)
!28 = !DILocation(line: 9, column: 10, scope: !8)
!29 = !{!30, !30, i64 0}
!30 = !{!"float", !31, i64 0}
!31 = !{!"omnipotent char", !32, i64 0}
!32 = !{!"Simple C/C++ TBAA"}
!33 = !DILocation(line: 10, column: 37, scope: !8)
!34 = !DILocation(line: 10, column: 73, scope: !8)
!35 = !DILocation(line: 10, column: 71, scope: !8)
!36 = !DILocation(line: 7, column: 74, scope: !8)
!37 = !{!31, !31, i64 0}
!38 = !DILocation(line: 7, column: 71, scope: !8)
!39 = !DILocation(line: 7, column: 49, scope: !8)
!40 = !DILocation(line: 7, column: 46, scope: !8)
!41 = distinct !{!41, !22, !42}
!42 = !DILocation(line: 7, column: 78, scope: !8)
!43 = !DILocation(line: 10, column: 90, scope: !8)
!44 = !DILocation(line: 10, column: 86, scope: !8)
!45 = !DILocation(line: 10, column: 83, scope: !8)
!46 = !DILocation(line: 10, column: 78, scope: !8)
!47 = !DILocation(line: 11, column: 36, scope: !8)
!48 = !DILocation(line: 11, column: 17, scope: !8)
!49 = !DILocation(line: 11, column: 13, scope: !8)
!50 = !DILocation(line: 11, column: 34, scope: !8)
!51 = !DILocation(line: 12, column: 1, scope: !8)
!52 = !DISubprogram(name: "get_local_id", scope: !9, file: !9, line: 5, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!53 = !DISubprogram(name: "get_global_id", scope: !9, file: !9, line: 7, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!54 = !DISubprogram(name: "get_global_size", scope: !9, file: !9, line: 7, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!55 = !DISubprogram(name: "barrier", scope: !9, file: !9, line: 10, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!56 = !DISubprogram(name: "get_group_id", scope: !9, file: !9, line: 11, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
