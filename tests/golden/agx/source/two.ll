; ModuleID = '-'
source_filename = "-"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64"
; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite)
define dso_local spir_kernel void @scale(ptr addrspace(1) nocapture noundef readonly align 4 %x, ptr addrspace(1) nocapture noundef writeonly align 4 %y, float noundef %factor, i32 noundef %n) local_unnamed_addr #0 !dbg !8 !kernel_arg_addr_space !12 !kernel_arg_access_qual !13 !kernel_arg_type !14 !kernel_arg_base_type !14 !kernel_arg_type_qual !15 !kernel_arg_name !16 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #3, !dbg !17
  %conv = trunc i64 %call to i32, !dbg !17
  %cmp = icmp ult i32 %conv, %n, !dbg !18
  br i1 %cmp, label %if.then, label %if.end, !dbg !19
if.then:                                          ; preds = %entry
  %idxprom = and i64 %call, 4294967295, !dbg !20
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %x, i64 %idxprom, !dbg !20
  %0 = load float, ptr addrspace(1) %arrayidx, align 4, !dbg !20, !tbaa !21
  %mul = fmul float %0, %factor, !dbg !25
  %arrayidx3 = getelementptr inbounds float, ptr addrspace(1) %y, i64 %idxprom, !dbg !26
  store float %mul, ptr addrspace(1) %arrayidx3, align 4, !dbg !27, !tbaa !21
  br label %if.end, !dbg !26
if.end:                                           ; preds = %if.then, %entry
  ret void, !dbg !28
}
; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !29 dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #1
; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: write)
define dso_local spir_kernel void @count(ptr addrspace(1) nocapture noundef writeonly align 4 %where) local_unnamed_addr #2 !dbg !30 !kernel_arg_addr_space !31 !kernel_arg_access_qual !32 !kernel_arg_type !33 !kernel_arg_base_type !33 !kernel_arg_type_qual !34 !kernel_arg_name !35 {
entry:
  %call = tail call spir_func i64 @_Z14get_num_groupsj(i32 noundef 0) #3, !dbg !36
  %mul = mul i64 %call, 1000, !dbg !37
  %call1 = tail call spir_func i64 @_Z15get_global_sizej(i32 noundef 0) #3, !dbg !38
  %add = add i64 %mul, %call1, !dbg !39
  %conv = trunc i64 %add to i32, !dbg !36
  %call2 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #3, !dbg !40
  %arrayidx = getelementptr inbounds i32, ptr addrspace(1) %where, i64 %call2, !dbg !41
  store i32 %conv, ptr addrspace(1) %arrayidx, align 4, !dbg !42, !tbaa !43
  ret void, !dbg !45
}
; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !46 dso_local spir_func i64 @_Z14get_num_groupsj(i32 noundef) local_unnamed_addr #1
; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !47 dso_local spir_func i64 @_Z15get_global_sizej(i32 noundef) local_unnamed_addr #1
attributes #0 = { convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #1 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #2 = { convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: write) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #3 = { convergent nounwind willreturn memory(none) }
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5}
!opencl.ocl.version = !{!6}
!opencl.spir.version = !{!6}
!llvm.ident = !{!7}
!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "Debian clang version 16.0.6 (15~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "-", directory: "/", checksumkind: CSK_MD5, checksum: "84720a04e572cac7eae95b3d3b6930a9")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{i32 3, i32 0}
!7 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!8 = distinct !DISubprogram(name: "scale", scope: !9, file: !9, line: 1, type: !10, scopeLine: 2, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !11)
!9 = !DIFile(filename: "two.cl", directory: "")
!10 = !DISubroutineType(types: !11)
!11 = !{}
!12 = !{i32 1, i32 1, i32 0, i32 0}
!13 = !{!"none", !"none", !"none", !"none"}
!14 = !{!"float*", !"float*", !"float", !"uint"}
!15 = !{!"const", !"", !"", !""}
!16 = !{!"x", !"y", !"factor", !"n"}
!17 = !DILocation(line: 3, column: 20, scope: !8)
!18 = !DILocation(line: 4, column: 11, scope: !8)
!19 = !DILocation(line: 4, column: 9, scope: !8)
!20 = !DILocation(line: 5, column: 25, scope: !8)
!21 = !{!22, !22, i64 0}
!22 = !{!"float", !23, i64 0}
!23 = !{!"omnipotent char", !24, i64 0}
!24 = !{!"Simple C/C++ TBAA"}
!25 = !DILocation(line: 5, column: 23, scope: !8)
!26 = !DILocation(line: 5, column: 9, scope: !8)
!27 = !DILocation(line: 5, column: 14, scope: !8)
!28 = !DILocation(line: 6, column: 1, scope: !8)
!29 = !DISubprogram(name: "get_global_id", scope: !9, file: !9, line: 3, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!30 = distinct !DISubprogram(name: "count", scope: !9, file: !9, line: 8, type: !10, scopeLine: 9, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !11)
!31 = !{i32 1}
!32 = !{!"none"}
!33 = !{!"uint*"}
!34 = !{!""}
!35 = !{!"where"}
!36 = !DILocation(line: 10, column: 31, scope: !30)
!37 = !DILocation(line: 10, column: 49, scope: !30)
!38 = !DILocation(line: 10, column: 58, scope: !30)
!39 = !DILocation(line: 10, column: 56, scope: !30)
!40 = !DILocation(line: 10, column: 11, scope: !30)
!41 = !DILocation(line: 10, column: 5, scope: !30)
!42 = !DILocation(line: 10, column: 29, scope: !30)
!43 = !{!44, !44, i64 0}
!44 = !{!"int", !23, i64 0}
!45 = !DILocation(line: 11, column: 1, scope: !30)
!46 = !DISubprogram(name: "get_num_groups", scope: !9, file: !9, line: 10, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!47 = !DISubprogram(name: "get_global_size", scope: !9, file: !9, line: 10, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
