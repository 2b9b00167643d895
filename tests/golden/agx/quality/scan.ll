; ModuleID = '-'
source_filename = "-"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64"

@scan.t = internal unnamed_addr addrspace(3) global [64 x i32] undef, align 4

; Function Attrs: convergent norecurse nounwind
define dso_local spir_kernel void @scan(ptr addrspace(1) nocapture noundef readonly align 4 %in, ptr addrspace(1) nocapture noundef writeonly align 4 %out, ptr addrspace(1) nocapture noundef writeonly align 4 %sums, i32 noundef %n) local_unnamed_addr #0 !dbg !8 !kernel_arg_addr_space !12 !kernel_arg_access_qual !13 !kernel_arg_type !14 !kernel_arg_base_type !14 !kernel_arg_type_qual !15 !kernel_arg_name !16 !reqd_work_group_size !17 {
entry:
  %call = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #3, !dbg !18
  %conv = trunc i64 %call to i32, !dbg !18
  %call1 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #3, !dbg !19
  %conv2 = trunc i64 %call1 to i32, !dbg !19
  %cmp = icmp ult i32 %conv2, %n, !dbg !20
  br i1 %cmp, label %cond.true, label %cond.end, !dbg !21

cond.true:                                        ; preds = %entry
  %idxprom = and i64 %call1, 4294967295, !dbg !22
  %arrayidx = getelementptr inbounds i32, ptr addrspace(1) %in, i64 %idxprom, !dbg !22
  %0 = load i32, ptr addrspace(1) %arrayidx, align 4, !dbg !22, !tbaa !23
  br label %cond.end, !dbg !21

cond.end:                                         ; preds = %entry, %cond.true
  %cond = phi i32 [ %0, %cond.true ], [ 0, %entry ], !dbg !21
  %idxprom4 = and i64 %call, 4294967295, !dbg !27
  %arrayidx5 = getelementptr inbounds [64 x i32], ptr addrspace(3) @scan.t, i64 0, i64 %idxprom4, !dbg !27
  store i32 %cond, ptr addrspace(3) %arrayidx5, align 4, !dbg !28, !tbaa !23
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !29
  %cmp8.not = icmp eq i32 %conv, 0, !dbg !30
  br i1 %cmp8.not, label %cond.end14, label %cond.true10, !dbg !31

cond.true10:                                      ; preds = %cond.end
  %sub = add i32 %conv, -1, !dbg !32
  %idxprom11 = zext i32 %sub to i64, !dbg !33
  %arrayidx12 = getelementptr inbounds [64 x i32], ptr addrspace(3) @scan.t, i64 0, i64 %idxprom11, !dbg !33
  %1 = load i32, ptr addrspace(3) %arrayidx12, align 4, !dbg !33, !tbaa !23
  br label %cond.end14, !dbg !31

cond.end14:                                       ; preds = %cond.end, %cond.true10
  %cond15 = phi i32 [ %1, %cond.true10 ], [ 0, %cond.end ], !dbg !31
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !34
  %2 = load i32, ptr addrspace(3) %arrayidx5, align 4, !dbg !35, !tbaa !23
  %add = add i32 %2, %cond15, !dbg !35
  store i32 %add, ptr addrspace(3) %arrayidx5, align 4, !dbg !35, !tbaa !23
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !36
  %cmp8.not.1 = icmp ult i32 %conv, 2, !dbg !30
  br i1 %cmp8.not.1, label %cond.end14.1, label %cond.true10.1, !dbg !31

cond.true10.1:                                    ; preds = %cond.end14
  %sub.1 = add i32 %conv, -2, !dbg !32
  %idxprom11.1 = zext i32 %sub.1 to i64, !dbg !33
  %arrayidx12.1 = getelementptr inbounds [64 x i32], ptr addrspace(3) @scan.t, i64 0, i64 %idxprom11.1, !dbg !33
  %3 = load i32, ptr addrspace(3) %arrayidx12.1, align 4, !dbg !33, !tbaa !23
  br label %cond.end14.1, !dbg !31

cond.end14.1:                                     ; preds = %cond.true10.1, %cond.end14
  %cond15.1 = phi i32 [ %3, %cond.true10.1 ], [ 0, %cond.end14 ], !dbg !31
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !34
  %4 = load i32, ptr addrspace(3) %arrayidx5, align 4, !dbg !35, !tbaa !23
  %add.1 = add i32 %4, %cond15.1, !dbg !35
  store i32 %add.1, ptr addrspace(3) %arrayidx5, align 4, !dbg !35, !tbaa !23
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !36
  %cmp8.not.2 = icmp ult i32 %conv, 4, !dbg !30
  br i1 %cmp8.not.2, label %cond.end14.2, label %cond.true10.2, !dbg !31

cond.true10.2:                                    ; preds = %cond.end14.1
  %sub.2 = add i32 %conv, -4, !dbg !32
  %idxprom11.2 = zext i32 %sub.2 to i64, !dbg !33
  %arrayidx12.2 = getelementptr inbounds [64 x i32], ptr addrspace(3) @scan.t, i64 0, i64 %idxprom11.2, !dbg !33
  %5 = load i32, ptr addrspace(3) %arrayidx12.2, align 4, !dbg !33, !tbaa !23
  br label %cond.end14.2, !dbg !31

cond.end14.2:                                     ; preds = %cond.true10.2, %cond.end14.1
  %cond15.2 = phi i32 [ %5, %cond.true10.2 ], [ 0, %cond.end14.1 ], !dbg !31
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !34
  %6 = load i32, ptr addrspace(3) %arrayidx5, align 4, !dbg !35, !tbaa !23
  %add.2 = add i32 %6, %cond15.2, !dbg !35
  store i32 %add.2, ptr addrspace(3) %arrayidx5, align 4, !dbg !35, !tbaa !23
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !36
  %cmp8.not.3 = icmp ult i32 %conv, 8, !dbg !30
  br i1 %cmp8.not.3, label %cond.end14.3, label %cond.true10.3, !dbg !31

cond.true10.3:                                    ; preds = %cond.end14.2
  %sub.3 = add i32 %conv, -8, !dbg !32
  %idxprom11.3 = zext i32 %sub.3 to i64, !dbg !33
  %arrayidx12.3 = getelementptr inbounds [64 x i32], ptr addrspace(3) @scan.t, i64 0, i64 %idxprom11.3, !dbg !33
  %7 = load i32, ptr addrspace(3) %arrayidx12.3, align 4, !dbg !33, !tbaa !23
  br label %cond.end14.3, !dbg !31

cond.end14.3:                                     ; preds = %cond.true10.3, %cond.end14.2
  %cond15.3 = phi i32 [ %7, %cond.true10.3 ], [ 0, %cond.end14.2 ], !dbg !31
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !34
  %8 = load i32, ptr addrspace(3) %arrayidx5, align 4, !dbg !35, !tbaa !23
  %add.3 = add i32 %8, %cond15.3, !dbg !35
  store i32 %add.3, ptr addrspace(3) %arrayidx5, align 4, !dbg !35, !tbaa !23
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !36
  %cmp8.not.4 = icmp ult i32 %conv, 16, !dbg !30
  br i1 %cmp8.not.4, label %cond.end14.4, label %cond.true10.4, !dbg !31

cond.true10.4:                                    ; preds = %cond.end14.3
  %sub.4 = add i32 %conv, -16, !dbg !32
  %idxprom11.4 = zext i32 %sub.4 to i64, !dbg !33
  %arrayidx12.4 = getelementptr inbounds [64 x i32], ptr addrspace(3) @scan.t, i64 0, i64 %idxprom11.4, !dbg !33
  %9 = load i32, ptr addrspace(3) %arrayidx12.4, align 4, !dbg !33, !tbaa !23
  br label %cond.end14.4, !dbg !31

cond.end14.4:                                     ; preds = %cond.true10.4, %cond.end14.3
  %cond15.4 = phi i32 [ %9, %cond.true10.4 ], [ 0, %cond.end14.3 ], !dbg !31
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !34
  %10 = load i32, ptr addrspace(3) %arrayidx5, align 4, !dbg !35, !tbaa !23
  %add.4 = add i32 %10, %cond15.4, !dbg !35
  store i32 %add.4, ptr addrspace(3) %arrayidx5, align 4, !dbg !35, !tbaa !23
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !36
  %cmp8.not.5 = icmp ult i32 %conv, 32, !dbg !30
  br i1 %cmp8.not.5, label %cond.end14.5, label %cond.true10.5, !dbg !31

cond.true10.5:                                    ; preds = %cond.end14.4
  %sub.5 = add i32 %conv, -32, !dbg !32
  %idxprom11.5 = zext i32 %sub.5 to i64, !dbg !33
  %arrayidx12.5 = getelementptr inbounds [64 x i32], ptr addrspace(3) @scan.t, i64 0, i64 %idxprom11.5, !dbg !33
  %11 = load i32, ptr addrspace(3) %arrayidx12.5, align 4, !dbg !33, !tbaa !23
  br label %cond.end14.5, !dbg !31

cond.end14.5:                                     ; preds = %cond.true10.5, %cond.end14.4
  %cond15.5 = phi i32 [ %11, %cond.true10.5 ], [ 0, %cond.end14.4 ], !dbg !31
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !34
  %12 = load i32, ptr addrspace(3) %arrayidx5, align 4, !dbg !35, !tbaa !23
  %add.5 = add i32 %12, %cond15.5, !dbg !35
  store i32 %add.5, ptr addrspace(3) %arrayidx5, align 4, !dbg !35, !tbaa !23
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #4, !dbg !36
  br i1 %cmp, label %if.then, label %if.end, !dbg !37

if.then:                                          ; preds = %cond.end14.5
  %13 = load i32, ptr addrspace(3) %arrayidx5, align 4, !dbg !38, !tbaa !23
  %idxprom22 = and i64 %call1, 4294967295, !dbg !39
  %arrayidx23 = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %idxprom22, !dbg !39
  store i32 %13, ptr addrspace(1) %arrayidx23, align 4, !dbg !40, !tbaa !23
  br label %if.end, !dbg !39

if.end:                                           ; preds = %if.then, %cond.end14.5
  %cmp24 = icmp eq i32 %conv, 63, !dbg !41
  br i1 %cmp24, label %if.then26, label %if.end31, !dbg !42

if.then26:                                        ; preds = %if.end
  %14 = load i32, ptr addrspace(3) %arrayidx5, align 4, !dbg !43, !tbaa !23
  %call29 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 0) #3, !dbg !44
  %arrayidx30 = getelementptr inbounds i32, ptr addrspace(1) %sums, i64 %call29, !dbg !45
  store i32 %14, ptr addrspace(1) %arrayidx30, align 4, !dbg !46, !tbaa !23
  br label %if.end31, !dbg !45

if.end31:                                         ; preds = %if.then26, %if.end
  ret void, !dbg !47
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !48 dso_local spir_func i64 @_Z12get_local_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !49 dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent nounwind
declare !dbg !50 dso_local spir_func void @_Z7barrierj(i32 noundef) local_unnamed_addr #2

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !51 dso_local spir_func i64 @_Z12get_group_idj(i32 noundef) local_unnamed_addr #1

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
!1 = !DIFile(filename: "-", directory: "/", checksumkind: CSK_MD5, checksum: "dff29ca5adb1ad2884c91b3fd6d335e9")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{i32 3, i32 0}
!7 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!8 = distinct !DISubprogram(name: "scan", scope: !9, file: !9, line: 2, type: !10, scopeLine: 3, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !11)
!9 = !DIFile(filename: "scan.cl", directory: "/")
!10 = !DISubroutineType(types: !11)
!11 = !{}
!12 = !{i32 1, i32 1, i32 1, i32 0}
!13 = !{!"none", !"none", !"none", !"none"}
!14 = !{!"uint*", !"uint*", !"uint*", !"uint"}
!15 = !{!"const", !"", !"", !""}
!16 = !{!"in", !"out", !"sums", !"n"}
!17 = !{i32 64, i32 1, i32 1}
!18 = !DILocation(line: 5, column: 14, scope: !8)
!19 = !DILocation(line: 5, column: 35, scope: !8)
!20 = !DILocation(line: 6, column: 14, scope: !8)
!21 = !DILocation(line: 6, column: 12, scope: !8)
!22 = !DILocation(line: 6, column: 20, scope: !8)
!23 = !{!24, !24, i64 0}
!24 = !{!"int", !25, i64 0}
!25 = !{!"omnipotent char", !26, i64 0}
!26 = !{!"Simple C/C++ TBAA"}
!27 = !DILocation(line: 6, column: 5, scope: !8)
!28 = !DILocation(line: 6, column: 10, scope: !8)
!29 = !DILocation(line: 7, column: 5, scope: !8)
!30 = !DILocation(line: 9, column: 20, scope: !8)
!31 = !DILocation(line: 9, column: 18, scope: !8)
!32 = !DILocation(line: 9, column: 31, scope: !8)
!33 = !DILocation(line: 9, column: 27, scope: !8)
!34 = !DILocation(line: 10, column: 9, scope: !8)
!35 = !DILocation(line: 11, column: 14, scope: !8)
!36 = !DILocation(line: 12, column: 9, scope: !8)
!37 = !DILocation(line: 14, column: 9, scope: !8)
!38 = !DILocation(line: 14, column: 25, scope: !8)
!39 = !DILocation(line: 14, column: 16, scope: !8)
!40 = !DILocation(line: 14, column: 23, scope: !8)
!41 = !DILocation(line: 15, column: 11, scope: !8)
!42 = !DILocation(line: 15, column: 9, scope: !8)
!43 = !DILocation(line: 15, column: 42, scope: !8)
!44 = !DILocation(line: 15, column: 23, scope: !8)
!45 = !DILocation(line: 15, column: 18, scope: !8)
!46 = !DILocation(line: 15, column: 40, scope: !8)
!47 = !DILocation(line: 16, column: 1, scope: !8)
!48 = !DISubprogram(name: "get_local_id", scope: !9, file: !9, line: 5, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!49 = !DISubprogram(name: "get_global_id", scope: !9, file: !9, line: 5, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!50 = !DISubprogram(name: "barrier", scope: !9, file: !9, line: 7, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!51 = !DISubprogram(name: "get_group_id", scope: !9, file: !9, line: 15, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
