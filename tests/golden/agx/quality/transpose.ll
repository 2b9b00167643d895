; ModuleID = '-'
source_filename = "-"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64"

@transpose.t = internal unnamed_addr addrspace(3) global [32 x [33 x float]] undef, align 4

; Function Attrs: convergent norecurse nounwind
define dso_local spir_kernel void @transpose(ptr addrspace(1) nocapture noundef readonly align 4 %in, ptr addrspace(1) nocapture noundef writeonly align 4 %out, i32 noundef %w, i32 noundef %h) local_unnamed_addr #0 !dbg !8 !kernel_arg_addr_space !12 !kernel_arg_access_qual !13 !kernel_arg_type !14 !kernel_arg_base_type !14 !kernel_arg_type_qual !15 !kernel_arg_name !16 !reqd_work_group_size !17 {
entry:
  %call = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 0) #3, !dbg !18
  %mul = shl i64 %call, 5, !dbg !19
  %call1 = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #3, !dbg !20
  %add = add i64 %mul, %call1, !dbg !21
  %conv = trunc i64 %add to i32, !dbg !18
  %call2 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 1) #3, !dbg !22
  %mul3 = shl i64 %call2, 5, !dbg !23
  %call4 = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 1) #3, !dbg !24
  %add5 = add i64 %mul3, %call4, !dbg !25
  %conv6 = trunc i64 %add5 to i32, !dbg !22
  %mul9 = mul i32 %conv6, %w, !dbg !26
  %add10 = add i32 %mul9, %conv, !dbg !27
  %idxprom = zext i32 %add10 to i64, !dbg !28
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %in, i64 %idxprom, !dbg !28
  %0 = load float, ptr addrspace(1) %arrayidx, align 4, !dbg !28, !tbaa !29
  %arrayidx16 = getelementptr inbounds [32 x [33 x float]], ptr addrspace(3) @transpose.t, i64 0, i64 %call4, i64 %call1, !dbg !33
  store float %0, ptr addrspace(3) %arrayidx16, align 4, !dbg !34, !tbaa !29
  %add8.1 = add i32 %conv6, 8, !dbg !35
  %mul9.1 = mul i32 %add8.1, %w, !dbg !26
  %add10.1 = add i32 %mul9.1, %conv, !dbg !27
  %idxprom.1 = zext i32 %add10.1 to i64, !dbg !28
  %arrayidx.1 = getelementptr inbounds float, ptr addrspace(1) %in, i64 %idxprom.1, !dbg !28
  %1 = load float, ptr addrspace(1) %arrayidx.1, align 4, !dbg !28, !tbaa !29
  %add13.1 = add i64 %call4, 8, !dbg !36
  %arrayidx16.1 = getelementptr inbounds [32 x [33 x float]], ptr addrspace(3) @transpose.t, i64 0, i64 %add13.1, i64 %call1, !dbg !33
  store float %1, ptr addrspace(3) %arrayidx16.1, align 4, !dbg !34, !tbaa !29
  %add8.2 = add i32 %conv6, 16, !dbg !35
  %mul9.2 = mul i32 %add8.2, %w, !dbg !26
  %add10.2 = add i32 %mul9.2, %conv, !dbg !27
  %idxprom.2 = zext i32 %add10.2 to i64, !dbg !28
  %arrayidx.2 = getelementptr inbounds float, ptr addrspace(1) %in, i64 %idxprom.2, !dbg !28
  %2 = load float, ptr addrspace(1) %arrayidx.2, align 4, !dbg !28, !tbaa !29
  %add13.2 = add i64 %call4, 16, !dbg !36
  %arrayidx16.2 = getelementptr inbounds [32 x [33 x float]], ptr addrspace(3) @transpose.t, i64 0, i64 %add13.2, i64 %call1, !dbg !33
  store float %2, ptr addrspace(3) %arrayidx16.2, align 4, !dbg !34, !tbaa !29
  %add8.3 = add i32 %conv6, 24, !dbg !35
  %mul9.3 = mul i32 %add8.3, %w, !dbg !26
  %add10.3 = add i32 %mul9.3, %conv, !dbg !27
  %idxprom.3 = zext i32 %add10.3 to i64, !dbg !28
  %arrayidx.3 = getelementptr inbounds float, ptr addrspace(1) %in, i64 %idxprom.3, !dbg !28
  %3 = load float, ptr addrspace(1) %arrayidx.3, align 4, !dbg !28, !tbaa !29
  %add13.3 = add i64 %call4, 24, !dbg !36
  %arrayidx16.3 = getelementptr inbounds [32 x [33 x float]], ptr addrspace(3) @transpose.t, i64 0, i64 %add13.3, i64 %call1, !dbg !33
  store float %3, ptr addrspace(3) %arrayidx16.3, align 4, !dbg !34, !tbaa !29
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !37
  %add21 = add i64 %mul3, %call1, !dbg !38
  %conv22 = trunc i64 %add21 to i32, !dbg !39
  %add26 = add i64 %call4, %mul, !dbg !40
  %conv27 = trunc i64 %add26 to i32, !dbg !41
  %arrayidx39 = getelementptr inbounds [32 x [33 x float]], ptr addrspace(3) @transpose.t, i64 0, i64 %call1, i64 %call4, !dbg !42
  %4 = load float, ptr addrspace(3) %arrayidx39, align 4, !dbg !42, !tbaa !29
  %mul41 = mul i32 %conv27, %h, !dbg !43
  %add42 = add i32 %mul41, %conv22, !dbg !44
  %idxprom43 = zext i32 %add42 to i64, !dbg !45
  %arrayidx44 = getelementptr inbounds float, ptr addrspace(1) %out, i64 %idxprom43, !dbg !45
  store float %4, ptr addrspace(1) %arrayidx44, align 4, !dbg !46, !tbaa !29
  %arrayidx39.1 = getelementptr inbounds [32 x [33 x float]], ptr addrspace(3) @transpose.t, i64 0, i64 %call1, i64 %add13.1, !dbg !42
  %5 = load float, ptr addrspace(3) %arrayidx39.1, align 4, !dbg !42, !tbaa !29
  %add40.1 = add i32 %conv27, 8, !dbg !47
  %mul41.1 = mul i32 %add40.1, %h, !dbg !43
  %add42.1 = add i32 %mul41.1, %conv22, !dbg !44
  %idxprom43.1 = zext i32 %add42.1 to i64, !dbg !45
  %arrayidx44.1 = getelementptr inbounds float, ptr addrspace(1) %out, i64 %idxprom43.1, !dbg !45
  store float %5, ptr addrspace(1) %arrayidx44.1, align 4, !dbg !46, !tbaa !29
  %arrayidx39.2 = getelementptr inbounds [32 x [33 x float]], ptr addrspace(3) @transpose.t, i64 0, i64 %call1, i64 %add13.2, !dbg !42
  %6 = load float, ptr addrspace(3) %arrayidx39.2, align 4, !dbg !42, !tbaa !29
  %add40.2 = add i32 %conv27, 16, !dbg !47
  %mul41.2 = mul i32 %add40.2, %h, !dbg !43
  %add42.2 = add i32 %mul41.2, %conv22, !dbg !44
  %idxprom43.2 = zext i32 %add42.2 to i64, !dbg !45
  %arrayidx44.2 = getelementptr inbounds float, ptr addrspace(1) %out, i64 %idxprom43.2, !dbg !45
  store float %6, ptr addrspace(1) %arrayidx44.2, align 4, !dbg !46, !tbaa !29
  %arrayidx39.3 = getelementptr inbounds [32 x [33 x float]], ptr addrspace(3) @transpose.t, i64 0, i64 %call1, i64 %add13.3, !dbg !42
  %7 = load float, ptr addrspace(3) %arrayidx39.3, align 4, !dbg !42, !tbaa !29
  %add40.3 = add i32 %conv27, 24, !dbg !47
  %mul41.3 = mul i32 %add40.3, %h, !dbg !43
  %add42.3 = add i32 %mul41.3, %conv22, !dbg !44
  %idxprom43.3 = zext i32 %add42.3 to i64, !dbg !45
  %arrayidx44.3 = getelementptr inbounds float, ptr addrspace(1) %out, i64 %idxprom43.3, !dbg !45
  store float %7, ptr addrspace(1) %arrayidx44.3, align 4, !dbg !46, !tbaa !29
  ret void, !dbg !48
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !49 dso_local spir_func i64 @_Z12get_group_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !50 dso_local spir_func i64 @_Z12get_local_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent nounwind
declare !dbg !51 dso_local spir_func void @_Z7barrierj(i32 noundef) local_unnamed_addr #2

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
!1 = !DIFile(filename: "-", directory: "/", checksumkind: CSK_MD5, checksum: "3b3011e3cb62ffdd041c7bf0d5b23ab1")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{i32 3, i32 0}
!7 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!8 = distinct !DISubprogram(name: "transpose", scope: !9, file: !9, line: 2, type: !10, scopeLine: 3, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !11)
!9 = !DIFile(filename: "transpose.cl", directory: "/")
!10 = !DISubroutineType(types: !11)
!11 = !{}
!12 = !{i32 1, i32 1, i32 0, i32 0}
!13 = !{!"none", !"none", !"none", !"none"}
!14 = !{!"float*", !"float*", !"uint", !"uint"}
!15 = !{!"const", !"", !"", !""}
!16 = !{!"in", !"out", !"w", !"h"}
!17 = !{i32 32, i32 8, i32 1}
!18 = !DILocation(line: 5, column: 14, scope: !8)
!19 = !DILocation(line: 5, column: 30, scope: !8)
!20 = !DILocation(line: 5, column: 37, scope: !8)
!21 = !DILocation(line: 5, column: 35, scope: !8)
!22 = !DILocation(line: 5, column: 58, scope: !8)
!23 = !DILocation(line: 5, column: 74, scope: !8)
!24 = !DILocation(line: 5, column: 81, scope: !8)
!25 = !DILocation(line: 5, column: 79, scope: !8)
!26 = !DILocation(line: 6, column: 91, scope: !8)
!27 = !DILocation(line: 6, column: 95, scope: !8)
!28 = !DILocation(line: 6, column: 80, scope: !8)
!29 = !{!30, !30, i64 0}
!30 = !{!"float", !31, i64 0}
!31 = !{!"omnipotent char", !32, i64 0}
!32 = !{!"Simple C/C++ TBAA"}
!33 = !DILocation(line: 6, column: 38, scope: !8)
!34 = !DILocation(line: 6, column: 78, scope: !8)
!35 = !DILocation(line: 6, column: 86, scope: !8)
!36 = !DILocation(line: 6, column: 56, scope: !8)
!37 = !DILocation(line: 7, column: 5, scope: !8)
!38 = !DILocation(line: 8, column: 30, scope: !8)
!39 = !DILocation(line: 8, column: 9, scope: !8)
!40 = !DILocation(line: 8, column: 74, scope: !8)
!41 = !DILocation(line: 8, column: 53, scope: !8)
!42 = !DILocation(line: 9, column: 61, scope: !8)
!43 = !DILocation(line: 9, column: 50, scope: !8)
!44 = !DILocation(line: 9, column: 54, scope: !8)
!45 = !DILocation(line: 9, column: 38, scope: !8)
!46 = !DILocation(line: 9, column: 59, scope: !8)
!47 = !DILocation(line: 9, column: 45, scope: !8)
!48 = !DILocation(line: 10, column: 1, scope: !8)
!49 = !DISubprogram(name: "get_group_id", scope: !9, file: !9, line: 5, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!50 = !DISubprogram(name: "get_local_id", scope: !9, file: !9, line: 5, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!51 = !DISubprogram(name: "barrier", scope: !9, file: !9, line: 7, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
