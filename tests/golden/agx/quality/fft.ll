; ModuleID = '-'
source_filename = "-"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64"

; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite)
define dso_local spir_kernel void @fft(ptr addrspace(1) nocapture noundef align 8 %d, ptr addrspace(1) nocapture noundef readonly align 8 %w, i32 noundef %half_size, i32 noundef %n) local_unnamed_addr #0 !dbg !8 !kernel_arg_addr_space !12 !kernel_arg_access_qual !13 !kernel_arg_type !14 !kernel_arg_base_type !15 !kernel_arg_type_qual !16 !kernel_arg_name !17 !reqd_work_group_size !18 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #3, !dbg !19
  %conv = trunc i64 %call to i32, !dbg !19
  %sub = add i32 %half_size, -1, !dbg !20
  %and = and i32 %sub, %conv, !dbg !21
  %div = udiv i32 %conv, %half_size, !dbg !22
  %mul = shl i32 %half_size, 1, !dbg !23
  %mul1 = mul i32 %mul, %div, !dbg !24
  %add = add i32 %mul1, %and, !dbg !25
  %add2 = add i32 %add, %half_size, !dbg !26
  %cmp.not = icmp ult i32 %add2, %n, !dbg !27
  br i1 %cmp.not, label %if.end, label %cleanup, !dbg !28

if.end:                                           ; preds = %entry
  %idxprom = zext i32 %add to i64, !dbg !29
  %arrayidx = getelementptr inbounds <2 x float>, ptr addrspace(1) %d, i64 %idxprom, !dbg !29
  %0 = load <2 x float>, ptr addrspace(1) %arrayidx, align 8, !dbg !29, !tbaa !30
  %idxprom5 = zext i32 %add2 to i64, !dbg !33
  %arrayidx6 = getelementptr inbounds <2 x float>, ptr addrspace(1) %d, i64 %idxprom5, !dbg !33
  %idxprom7 = zext i32 %and to i64, !dbg !34
  %arrayidx8 = getelementptr inbounds <2 x float>, ptr addrspace(1) %w, i64 %idxprom7, !dbg !34
  %1 = load float, ptr addrspace(1) %arrayidx6, align 8, !dbg !35
  %2 = getelementptr inbounds <2 x float>, ptr addrspace(1) %d, i64 %idxprom5, i64 1, !dbg !36
  %3 = load float, ptr addrspace(1) %2, align 4, !dbg !36
  %4 = fneg float %3, !dbg !37
  %5 = load <2 x float>, ptr addrspace(1) %arrayidx8, align 8, !dbg !38
  %6 = insertelement <2 x float> poison, float %3, i64 0, !dbg !39
  %7 = insertelement <2 x float> %6, float %4, i64 1, !dbg !39
  %8 = fmul <2 x float> %5, %7, !dbg !37
  %9 = shufflevector <2 x float> %8, <2 x float> poison, <2 x i32> <i32 1, i32 0>, !dbg !37
  %10 = insertelement <2 x float> poison, float %1, i64 0, !dbg !40
  %11 = shufflevector <2 x float> %10, <2 x float> poison, <2 x i32> zeroinitializer, !dbg !40
  %12 = tail call <2 x float> @llvm.fmuladd.v2f32(<2 x float> %11, <2 x float> %5, <2 x float> %9), !dbg !37
  %add14 = fadd <2 x float> %0, %12, !dbg !41
  store <2 x float> %add14, ptr addrspace(1) %arrayidx, align 8, !dbg !42, !tbaa !30
  %sub17 = fsub <2 x float> %0, %12, !dbg !43
  store <2 x float> %sub17, ptr addrspace(1) %arrayidx6, align 8, !dbg !44, !tbaa !30
  br label %cleanup, !dbg !45

cleanup:                                          ; preds = %entry, %if.end
  ret void, !dbg !45
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !46 dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare <2 x float> @llvm.fmuladd.v2f32(<2 x float>, <2 x float>, <2 x float>) #2

attributes #0 = { convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #1 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #2 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { convergent nounwind willreturn memory(none) }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5}
!opencl.ocl.version = !{!6}
!opencl.spir.version = !{!6}
!llvm.ident = !{!7}

!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "Debian clang version 16.0.6 (15~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "-", directory: "/", checksumkind: CSK_MD5, checksum: "89fb35c2da112121f08c83fbe9f839b9")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{i32 3, i32 0}
!7 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!8 = distinct !DISubprogram(name: "fft", scope: !9, file: !9, line: 2, type: !10, scopeLine: 3, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !11)
!9 = !DIFile(filename: "fft.cl", directory: "/")
!10 = !DISubroutineType(types: !11)
!11 = !{}
!12 = !{i32 1, i32 1, i32 0, i32 0}
!13 = !{!"none", !"none", !"none", !"none"}
!14 = !{!"float2*", !"float2*", !"uint", !"uint"}
!15 = !{!"float __attribute__((ext_vector_type(2)))*", !"float __attribute__((ext_vector_type(2)))*", !"uint", !"uint"}
!16 = !{!"", !"const", !"", !""}
!17 = !{!"d", !"w", !"half_size", !"n"}
!18 = !{i32 64, i32 1, i32 1}
!19 = !DILocation(line: 4, column: 14, scope: !8)
!20 = !DILocation(line: 5, column: 29, scope: !8)
!21 = !DILocation(line: 5, column: 16, scope: !8)
!22 = !DILocation(line: 5, column: 42, scope: !8)
!23 = !DILocation(line: 5, column: 55, scope: !8)
!24 = !DILocation(line: 5, column: 59, scope: !8)
!25 = !DILocation(line: 5, column: 71, scope: !8)
!26 = !DILocation(line: 6, column: 11, scope: !8)
!27 = !DILocation(line: 6, column: 23, scope: !8)
!28 = !DILocation(line: 6, column: 9, scope: !8)
!29 = !DILocation(line: 7, column: 16, scope: !8)
!30 = !{!31, !31, i64 0}
!31 = !{!"omnipotent char", !32, i64 0}
!32 = !{!"Simple C/C++ TBAA"}
!33 = !DILocation(line: 7, column: 26, scope: !8)
!34 = !DILocation(line: 7, column: 48, scope: !8)
!35 = !DILocation(line: 8, column: 25, scope: !8)
!36 = !DILocation(line: 8, column: 37, scope: !8)
!37 = !DILocation(line: 8, column: 35, scope: !8)
!38 = !DILocation(line: 8, column: 31, scope: !8)
!39 = !DILocation(line: 8, column: 64, scope: !8)
!40 = !DILocation(line: 8, column: 58, scope: !8)
!41 = !DILocation(line: 9, column: 14, scope: !8)
!42 = !DILocation(line: 9, column: 10, scope: !8)
!43 = !DILocation(line: 10, column: 26, scope: !8)
!44 = !DILocation(line: 10, column: 22, scope: !8)
!45 = !DILocation(line: 11, column: 1, scope: !8)
!46 = !DISubprogram(name: "get_global_id", scope: !9, file: !9, line: 4, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
