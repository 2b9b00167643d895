; ModuleID = '-'
source_filename = "-"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64"

; Function Attrs: convergent nofree norecurse nounwind memory(argmem: readwrite)
define dso_local spir_kernel void @conv2d(ptr addrspace(1) nocapture noundef readonly align 4 %in, ptr addrspace(1) nocapture noundef readonly align 4 %w, ptr addrspace(1) nocapture noundef writeonly align 4 %out, i32 noundef %width, i32 noundef %height) local_unnamed_addr #0 !dbg !8 !kernel_arg_addr_space !12 !kernel_arg_access_qual !13 !kernel_arg_type !14 !kernel_arg_base_type !14 !kernel_arg_type_qual !15 !kernel_arg_name !16 !reqd_work_group_size !17 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #2, !dbg !18
  %conv = trunc i64 %call to i32, !dbg !18
  %call1 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 1) #2, !dbg !19
  %conv2 = trunc i64 %call1 to i32, !dbg !19
  %cmp.not = icmp slt i32 %conv, %width, !dbg !20
  %cmp4.not = icmp slt i32 %conv2, %height
  %or.cond61 = select i1 %cmp.not, i1 %cmp4.not, i1 false, !dbg !21
  br i1 %or.cond61, label %for.cond8.preheader.preheader, label %cleanup, !dbg !21

for.cond8.preheader.preheader:                    ; preds = %entry
  %add13 = add nsw i32 %conv2, -1
  %cmp19 = icmp sgt i32 %conv2, 0
  %mul = mul i32 %add13, %width
  %add = add nsw i32 %conv, -1, !dbg !22
  %cmp14 = icmp sgt i32 %conv, 0, !dbg !23
  %or.cond107 = select i1 %cmp14, i1 %cmp19, i1 false, !dbg !24
  br i1 %or.cond107, label %if.then24, label %if.end33, !dbg !24

if.then24:                                        ; preds = %for.cond8.preheader.preheader
  %add25 = add i32 %add, %mul, !dbg !25
  %idxprom = zext i32 %add25 to i64, !dbg !26
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %in, i64 %idxprom, !dbg !26
  %0 = load float, ptr addrspace(1) %arrayidx, align 4, !dbg !26, !tbaa !27
  %1 = load float, ptr addrspace(1) %w, align 4, !dbg !31, !tbaa !27
  %call32 = tail call spir_func float @_Z3fmafff(float noundef %0, float noundef %1, float noundef 0.000000e+00) #2, !dbg !32
  br label %if.end33, !dbg !33

if.end33:                                         ; preds = %if.then24, %for.cond8.preheader.preheader
  %s.2 = phi float [ %call32, %if.then24 ], [ 0.000000e+00, %for.cond8.preheader.preheader ], !dbg !34
  %cmp14.1 = icmp sgt i32 %conv, -1, !dbg !23
  %brmerge.not = select i1 %cmp14.1, i1 %cmp19, i1 false, !dbg !24
  br i1 %brmerge.not, label %if.then24.1, label %if.end33.1, !dbg !24

if.then24.1:                                      ; preds = %if.end33
  %add25.1 = add i32 %mul, %conv, !dbg !25
  %idxprom.1 = zext i32 %add25.1 to i64, !dbg !26
  %arrayidx.1 = getelementptr inbounds float, ptr addrspace(1) %in, i64 %idxprom.1, !dbg !26
  %2 = load float, ptr addrspace(1) %arrayidx.1, align 4, !dbg !26, !tbaa !27
  %arrayidx31.1 = getelementptr inbounds float, ptr addrspace(1) %w, i64 1, !dbg !31
  %3 = load float, ptr addrspace(1) %arrayidx31.1, align 4, !dbg !31, !tbaa !27
  %call32.1 = tail call spir_func float @_Z3fmafff(float noundef %2, float noundef %3, float noundef %s.2) #2, !dbg !32
  br label %if.end33.1, !dbg !33

if.end33.1:                                       ; preds = %if.end33, %if.then24.1
  %s.2.1 = phi float [ %call32.1, %if.then24.1 ], [ %s.2, %if.end33 ], !dbg !34
  %add.2 = add nsw i32 %conv, 1, !dbg !22
  %cmp14.2 = icmp sgt i32 %conv, -2, !dbg !23
  %cmp16.2 = icmp slt i32 %add.2, %width
  %4 = select i1 %cmp14.2, i1 %cmp16.2, i1 false, !dbg !24
  %or.cond108 = select i1 %4, i1 %cmp19, i1 false, !dbg !24
  br i1 %or.cond108, label %if.then24.2, label %if.end33.2, !dbg !24

if.then24.2:                                      ; preds = %if.end33.1
  %add25.2 = add i32 %add.2, %mul, !dbg !25
  %idxprom.2 = zext i32 %add25.2 to i64, !dbg !26
  %arrayidx.2 = getelementptr inbounds float, ptr addrspace(1) %in, i64 %idxprom.2, !dbg !26
  %5 = load float, ptr addrspace(1) %arrayidx.2, align 4, !dbg !26, !tbaa !27
  %arrayidx31.2 = getelementptr inbounds float, ptr addrspace(1) %w, i64 2, !dbg !31
  %6 = load float, ptr addrspace(1) %arrayidx31.2, align 4, !dbg !31, !tbaa !27
  %call32.2 = tail call spir_func float @_Z3fmafff(float noundef %5, float noundef %6, float noundef %s.2.1) #2, !dbg !32
  br label %if.end33.2, !dbg !33

if.end33.2:                                       ; preds = %if.then24.2, %if.end33.1
  %s.2.2 = phi float [ %call32.2, %if.then24.2 ], [ %s.2.1, %if.end33.1 ], !dbg !34
  %cmp19.1 = icmp sgt i32 %conv2, -1
  %mul.1 = mul i32 %conv2, %width
  br i1 %cmp14, label %land.lhs.true.171, label %if.end33.180, !dbg !24

land.lhs.true.171:                                ; preds = %if.end33.2
  %cmp16.168 = icmp sle i32 %conv, %width, !dbg !35
  %or.cond.169 = select i1 %cmp16.168, i1 %cmp19.1, i1 false, !dbg !36
  br i1 %or.cond.169, label %land.lhs.true.1.1.thread, label %land.lhs.true.1.1, !dbg !36

land.lhs.true.1.1.thread:                         ; preds = %land.lhs.true.171
  %add25.172 = add i32 %add, %mul.1, !dbg !25
  %idxprom.173 = zext i32 %add25.172 to i64, !dbg !26
  %arrayidx.174 = getelementptr inbounds float, ptr addrspace(1) %in, i64 %idxprom.173, !dbg !26
  %7 = load float, ptr addrspace(1) %arrayidx.174, align 4, !dbg !26, !tbaa !27
  %arrayidx31.176 = getelementptr inbounds float, ptr addrspace(1) %w, i64 3, !dbg !31
  %8 = load float, ptr addrspace(1) %arrayidx31.176, align 4, !dbg !31, !tbaa !27
  %call32.177 = tail call spir_func float @_Z3fmafff(float noundef %7, float noundef %8, float noundef %s.2.2) #2, !dbg !32
  br label %if.then24.1.1, !dbg !36

if.end33.180:                                     ; preds = %if.end33.2
  br i1 %cmp14.1, label %land.lhs.true.1.1, label %if.end33.1.1, !dbg !24

land.lhs.true.1.1:                                ; preds = %land.lhs.true.171, %if.end33.180
  br i1 %cmp19.1, label %if.then24.1.1, label %land.lhs.true.2.1, !dbg !36

if.then24.1.1:                                    ; preds = %land.lhs.true.1.1.thread, %land.lhs.true.1.1
  %s.2.17998106 = phi float [ %call32.177, %land.lhs.true.1.1.thread ], [ %s.2.2, %land.lhs.true.1.1 ]
  %add25.1.1 = add i32 %mul.1, %conv, !dbg !25
  %idxprom.1.1 = zext i32 %add25.1.1 to i64, !dbg !26
  %arrayidx.1.1 = getelementptr inbounds float, ptr addrspace(1) %in, i64 %idxprom.1.1, !dbg !26
  %9 = load float, ptr addrspace(1) %arrayidx.1.1, align 4, !dbg !26, !tbaa !27
  %arrayidx31.1.1 = getelementptr inbounds float, ptr addrspace(1) %w, i64 4, !dbg !31
  %10 = load float, ptr addrspace(1) %arrayidx31.1.1, align 4, !dbg !31, !tbaa !27
  %call32.1.1 = tail call spir_func float @_Z3fmafff(float noundef %9, float noundef %10, float noundef %s.2.17998106) #2, !dbg !32
  br label %land.lhs.true.2.1, !dbg !33

if.end33.1.1:                                     ; preds = %if.end33.180
  br i1 %cmp14.2, label %land.lhs.true.2.1, label %if.end33.2.1, !dbg !24

land.lhs.true.2.1:                                ; preds = %land.lhs.true.1.1, %if.then24.1.1, %if.end33.1.1
  %s.2.1.1100 = phi float [ %s.2.2, %if.end33.1.1 ], [ %s.2.2, %land.lhs.true.1.1 ], [ %call32.1.1, %if.then24.1.1 ]
  %cmp16.2.1 = icmp slt i32 %add.2, %width, !dbg !35
  %or.cond.2.1 = select i1 %cmp16.2.1, i1 %cmp19.1, i1 false, !dbg !36
  br i1 %or.cond.2.1, label %if.then24.2.1, label %if.end33.2.1, !dbg !36

if.then24.2.1:                                    ; preds = %land.lhs.true.2.1
  %add25.2.1 = add i32 %add.2, %mul.1, !dbg !25
  %idxprom.2.1 = zext i32 %add25.2.1 to i64, !dbg !26
  %arrayidx.2.1 = getelementptr inbounds float, ptr addrspace(1) %in, i64 %idxprom.2.1, !dbg !26
  %11 = load float, ptr addrspace(1) %arrayidx.2.1, align 4, !dbg !26, !tbaa !27
  %arrayidx31.2.1 = getelementptr inbounds float, ptr addrspace(1) %w, i64 5, !dbg !31
  %12 = load float, ptr addrspace(1) %arrayidx31.2.1, align 4, !dbg !31, !tbaa !27
  %call32.2.1 = tail call spir_func float @_Z3fmafff(float noundef %11, float noundef %12, float noundef %s.2.1.1100) #2, !dbg !32
  br label %if.end33.2.1, !dbg !33

if.end33.2.1:                                     ; preds = %if.then24.2.1, %land.lhs.true.2.1, %if.end33.1.1
  %s.2.2.1 = phi float [ %call32.2.1, %if.then24.2.1 ], [ %s.2.1.1100, %land.lhs.true.2.1 ], [ %s.2.2, %if.end33.1.1 ], !dbg !34
  %add13.2 = add nsw i32 %conv2, 1
  %cmp19.2 = icmp sgt i32 %conv2, -2
  %cmp22.2 = icmp slt i32 %add13.2, %height
  %mul.2 = mul i32 %add13.2, %width
  br i1 %cmp14, label %land.lhs.true.286, label %if.end33.296, !dbg !24

land.lhs.true.286:                                ; preds = %if.end33.2.1
  %cmp16.283 = icmp sle i32 %conv, %width, !dbg !35
  %or.cond.284 = select i1 %cmp16.283, i1 %cmp19.2, i1 false, !dbg !36
  %or.cond62.285 = select i1 %or.cond.284, i1 %cmp22.2, i1 false, !dbg !36
  br i1 %or.cond62.285, label %if.then24.294, label %land.lhs.true.1.2, !dbg !36

if.then24.294:                                    ; preds = %land.lhs.true.286
  %add25.287 = add i32 %add, %mul.2, !dbg !25
  %idxprom.288 = zext i32 %add25.287 to i64, !dbg !26
  %arrayidx.289 = getelementptr inbounds float, ptr addrspace(1) %in, i64 %idxprom.288, !dbg !26
  %13 = load float, ptr addrspace(1) %arrayidx.289, align 4, !dbg !26, !tbaa !27
  %arrayidx31.292 = getelementptr inbounds float, ptr addrspace(1) %w, i64 6, !dbg !31
  %14 = load float, ptr addrspace(1) %arrayidx31.292, align 4, !dbg !31, !tbaa !27
  %call32.293 = tail call spir_func float @_Z3fmafff(float noundef %13, float noundef %14, float noundef %s.2.2.1) #2, !dbg !32
  br label %land.lhs.true.1.2, !dbg !33

if.end33.296:                                     ; preds = %if.end33.2.1
  br i1 %cmp14.1, label %land.lhs.true.1.2, label %if.end33.1.2, !dbg !24

land.lhs.true.1.2:                                ; preds = %land.lhs.true.286, %if.then24.294, %if.end33.296
  %s.2.295102 = phi float [ %s.2.2.1, %if.end33.296 ], [ %s.2.2.1, %land.lhs.true.286 ], [ %call32.293, %if.then24.294 ]
  %or.cond62.1.2 = select i1 %cmp19.2, i1 %cmp22.2, i1 false, !dbg !36
  br i1 %or.cond62.1.2, label %if.then24.1.2, label %land.lhs.true.2.2, !dbg !36

if.then24.1.2:                                    ; preds = %land.lhs.true.1.2
  %add25.1.2 = add i32 %mul.2, %conv, !dbg !25
  %idxprom.1.2 = zext i32 %add25.1.2 to i64, !dbg !26
  %arrayidx.1.2 = getelementptr inbounds float, ptr addrspace(1) %in, i64 %idxprom.1.2, !dbg !26
  %15 = load float, ptr addrspace(1) %arrayidx.1.2, align 4, !dbg !26, !tbaa !27
  %arrayidx31.1.2 = getelementptr inbounds float, ptr addrspace(1) %w, i64 7, !dbg !31
  %16 = load float, ptr addrspace(1) %arrayidx31.1.2, align 4, !dbg !31, !tbaa !27
  %call32.1.2 = tail call spir_func float @_Z3fmafff(float noundef %15, float noundef %16, float noundef %s.2.295102) #2, !dbg !32
  br label %land.lhs.true.2.2, !dbg !33

if.end33.1.2:                                     ; preds = %if.end33.296
  br i1 %cmp14.2, label %land.lhs.true.2.2, label %if.end33.2.2, !dbg !24

land.lhs.true.2.2:                                ; preds = %land.lhs.true.1.2, %if.then24.1.2, %if.end33.1.2
  %s.2.1.2104 = phi float [ %s.2.2.1, %if.end33.1.2 ], [ %s.2.295102, %land.lhs.true.1.2 ], [ %call32.1.2, %if.then24.1.2 ]
  %cmp16.2.2 = icmp slt i32 %add.2, %width, !dbg !35
  %or.cond.2.2 = select i1 %cmp16.2.2, i1 %cmp19.2, i1 false, !dbg !36
  %or.cond62.2.2 = select i1 %or.cond.2.2, i1 %cmp22.2, i1 false, !dbg !36
  br i1 %or.cond62.2.2, label %if.then24.2.2, label %if.end33.2.2, !dbg !36

if.then24.2.2:                                    ; preds = %land.lhs.true.2.2
  %add25.2.2 = add i32 %add.2, %mul.2, !dbg !25
  %idxprom.2.2 = zext i32 %add25.2.2 to i64, !dbg !26
  %arrayidx.2.2 = getelementptr inbounds float, ptr addrspace(1) %in, i64 %idxprom.2.2, !dbg !26
  %17 = load float, ptr addrspace(1) %arrayidx.2.2, align 4, !dbg !26, !tbaa !27
  %arrayidx31.2.2 = getelementptr inbounds float, ptr addrspace(1) %w, i64 8, !dbg !31
  %18 = load float, ptr addrspace(1) %arrayidx31.2.2, align 4, !dbg !31, !tbaa !27
  %call32.2.2 = tail call spir_func float @_Z3fmafff(float noundef %17, float noundef %18, float noundef %s.2.1.2104) #2, !dbg !32
  br label %if.end33.2.2, !dbg !33

if.end33.2.2:                                     ; preds = %if.then24.2.2, %land.lhs.true.2.2, %if.end33.1.2
  %s.2.2.2 = phi float [ %call32.2.2, %if.then24.2.2 ], [ %s.2.1.2104, %land.lhs.true.2.2 ], [ %s.2.2.1, %if.end33.1.2 ], !dbg !34
  %add38 = add i32 %mul.1, %conv, !dbg !37
  %idxprom39 = zext i32 %add38 to i64, !dbg !38
  %arrayidx40 = getelementptr inbounds float, ptr addrspace(1) %out, i64 %idxprom39, !dbg !38
  store float %s.2.2.2, ptr addrspace(1) %arrayidx40, align 4, !dbg !39, !tbaa !27
  br label %cleanup, !dbg !40

cleanup:                                          ; preds = %entry, %if.end33.2.2
  ret void, !dbg !40
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !41 dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !42 dso_local spir_func float @_Z3fmafff(float noundef, float noundef, float noundef) local_unnamed_addr #1

attributes #0 = { convergent nofree norecurse nounwind memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #1 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #2 = { convergent nounwind willreturn memory(none) }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5}
!opencl.ocl.version = !{!6}
!opencl.spir.version = !{!6}
!llvm.ident = !{!7}

!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "Debian clang version 16.0.6 (15~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "-", directory: "/", checksumkind: CSK_MD5, checksum: "74ec0ab220dbc51b3e9cd789035f9eac")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{i32 3, i32 0}
!7 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!8 = distinct !DISubprogram(name: "conv2d", scope: !9, file: !9, line: 2, type: !10, scopeLine: 3, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !11)
!9 = !DIFile(filename: "conv2d.cl", directory: "/")
!10 = !DISubroutineType(types: !11)
!11 = !{}
!12 = !{i32 1, i32 1, i32 1, i32 0, i32 0}
!13 = !{!"none", !"none", !"none", !"none", !"none"}
!14 = !{!"float*", !"float*", !"float*", !"uint", !"uint"}
!15 = !{!"const", !"const", !"", !"", !""}
!16 = !{!"in", !"w", !"out", !"width", !"height"}
!17 = !{i32 16, i32 4, i32 1}
!18 = !DILocation(line: 4, column: 13, scope: !8)
!19 = !DILocation(line: 4, column: 35, scope: !8)
!20 = !DILocation(line: 5, column: 11, scope: !8)
!21 = !DILocation(line: 5, column: 25, scope: !8)
!22 = !DILocation(line: 9, column: 24, scope: !8)
!23 = !DILocation(line: 10, column: 20, scope: !8)
!24 = !DILocation(line: 10, column: 25, scope: !8)
!25 = !DILocation(line: 11, column: 39, scope: !8)
!26 = !DILocation(line: 11, column: 25, scope: !8)
!27 = !{!28, !28, i64 0}
!28 = !{!"float", !29, i64 0}
!29 = !{!"omnipotent char", !30, i64 0}
!30 = !{!"Simple C/C++ TBAA"}
!31 = !DILocation(line: 11, column: 46, scope: !8)
!32 = !DILocation(line: 11, column: 21, scope: !8)
!33 = !DILocation(line: 11, column: 17, scope: !8)
!34 = !DILocation(line: 0, scope: !8)
!35 = !DILocation(line: 10, column: 31, scope: !8)
!36 = !DILocation(line: 10, column: 44, scope: !8)
!37 = !DILocation(line: 13, column: 19, scope: !8)
!38 = !DILocation(line: 13, column: 5, scope: !8)
!39 = !DILocation(line: 13, column: 24, scope: !8)
!40 = !DILocation(line: 14, column: 1, scope: !8)
!41 = !DISubprogram(name: "get_global_id", scope: !9, file: !9, line: 4, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!42 = !DISubprogram(name: "fma", scope: !9, file: !9, line: 11, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
