; ModuleID = '-'
source_filename = "-"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64"

; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite)
define dso_local spir_kernel void @bitonic(ptr addrspace(1) nocapture noundef align 4 %a, i32 noundef %k, i32 noundef %j, i32 noundef %n) local_unnamed_addr #0 !dbg !8 !kernel_arg_addr_space !12 !kernel_arg_access_qual !13 !kernel_arg_type !14 !kernel_arg_base_type !14 !kernel_arg_type_qual !15 !kernel_arg_name !16 !reqd_work_group_size !17 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #2, !dbg !18
  %conv = trunc i64 %call to i32, !dbg !18
  %xor = xor i32 %conv, %j, !dbg !19
  %cmp.not = icmp ult i32 %conv, %n, !dbg !20
  %cmp2.not = icmp ugt i32 %xor, %conv
  %or.cond = and i1 %cmp.not, %cmp2.not, !dbg !21
  %cmp5.not = icmp ult i32 %xor, %n
  %or.cond37 = and i1 %cmp5.not, %or.cond, !dbg !21
  br i1 %or.cond37, label %if.end, label %cleanup, !dbg !21

if.end:                                           ; preds = %entry
  %idxprom = and i64 %call, 4294967295, !dbg !22
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %a, i64 %idxprom, !dbg !22
  %0 = load float, ptr addrspace(1) %arrayidx, align 4, !dbg !22, !tbaa !23
  %idxprom7 = zext i32 %xor to i64, !dbg !27
  %arrayidx8 = getelementptr inbounds float, ptr addrspace(1) %a, i64 %idxprom7, !dbg !27
  %1 = load float, ptr addrspace(1) %arrayidx8, align 4, !dbg !27, !tbaa !23
  %and = and i32 %conv, %k, !dbg !28
  %cmp9 = icmp eq i32 %and, 0, !dbg !29
  %cmp11 = fcmp ule float %0, %1, !dbg !30
  %cmp14 = xor i1 %cmp9, %cmp11, !dbg !31
  br i1 %cmp14, label %if.then16, label %cleanup, !dbg !32

if.then16:                                        ; preds = %if.end
  store float %1, ptr addrspace(1) %arrayidx, align 4, !dbg !33, !tbaa !23
  store float %0, ptr addrspace(1) %arrayidx8, align 4, !dbg !34, !tbaa !23
  br label %cleanup, !dbg !35

cleanup:                                          ; preds = %if.end, %if.then16, %entry
  ret void, !dbg !36
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !37 dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #1

attributes #0 = { convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #1 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #2 = { convergent nounwind willreturn memory(none) }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5}
!opencl.ocl.version = !{!6}
!opencl.spir.version = !{!6}
!llvm.ident = !{!7}

!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "Debian clang version 16.0.6 (15~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "-", directory: "/", checksumkind: CSK_MD5, checksum: "39f30bcd08841a12adb1ce4914018fd3")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{i32 3, i32 0}
!7 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!8 = distinct !DISubprogram(name: "bitonic", scope: !9, file: !9, line: 2, type: !10, scopeLine: 3, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !11)
!9 = !DIFile(filename: "bitonic.cl", directory: "/")
!10 = !DISubroutineType(types: !11)
!11 = !{}
!12 = !{i32 1, i32 0, i32 0, i32 0}
!13 = !{!"none", !"none", !"none", !"none"}
!14 = !{!"float*", !"uint", !"uint", !"uint"}
!15 = !{!"", !"", !"", !""}
!16 = !{!"a", !"k", !"j", !"n"}
!17 = !{i32 64, i32 1, i32 1}
!18 = !DILocation(line: 4, column: 14, scope: !8)
!19 = !DILocation(line: 4, column: 38, scope: !8)
!20 = !DILocation(line: 5, column: 11, scope: !8)
!21 = !DILocation(line: 5, column: 16, scope: !8)
!22 = !DILocation(line: 6, column: 15, scope: !8)
!23 = !{!24, !24, i64 0}
!24 = !{!"float", !25, i64 0}
!25 = !{!"omnipotent char", !26, i64 0}
!26 = !{!"Simple C/C++ TBAA"}
!27 = !DILocation(line: 6, column: 25, scope: !8)
!28 = !DILocation(line: 7, column: 18, scope: !8)
!29 = !DILocation(line: 7, column: 23, scope: !8)
!30 = !DILocation(line: 8, column: 12, scope: !8)
!31 = !DILocation(line: 8, column: 17, scope: !8)
!32 = !DILocation(line: 8, column: 9, scope: !8)
!33 = !DILocation(line: 8, column: 31, scope: !8)
!34 = !DILocation(line: 8, column: 41, scope: !8)
!35 = !DILocation(line: 8, column: 46, scope: !8)
!36 = !DILocation(line: 9, column: 1, scope: !8)
!37 = !DISubprogram(name: "get_global_id", scope: !9, file: !9, line: 4, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
