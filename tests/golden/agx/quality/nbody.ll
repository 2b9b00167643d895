; ModuleID = '-'
source_filename = "-"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64"

@nbody.t = internal unnamed_addr addrspace(3) global [64 x <4 x float>] undef, align 16

; Function Attrs: convergent norecurse nounwind
define dso_local spir_kernel void @nbody(ptr addrspace(1) nocapture noundef readonly align 16 %p, ptr addrspace(1) nocapture noundef align 16 %v, i32 noundef %n, float noundef %dt, float noundef %eps) local_unnamed_addr #0 !dbg !8 !kernel_arg_addr_space !12 !kernel_arg_access_qual !13 !kernel_arg_type !14 !kernel_arg_base_type !15 !kernel_arg_type_qual !16 !kernel_arg_name !17 !reqd_work_group_size !18 {
entry:
  %call = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #4, !dbg !19
  %call1 = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #4, !dbg !20
  %conv2 = trunc i64 %call1 to i32, !dbg !20
  %idxprom = and i64 %call, 4294967295, !dbg !21
  %cmp64.not = icmp eq i32 %n, 0, !dbg !22
  br i1 %cmp64.not, label %for.cond.cleanup, label %for.body.lr.ph, !dbg !23

for.body.lr.ph:                                   ; preds = %entry
  %arrayidx = getelementptr inbounds <4 x float>, ptr addrspace(1) %p, i64 %idxprom, !dbg !21
  %idxprom6 = and i64 %call1, 4294967295
  %arrayidx7 = getelementptr inbounds [64 x <4 x float>], ptr addrspace(3) @nbody.t, i64 0, i64 %idxprom6
  %0 = load float, ptr addrspace(1) %arrayidx, align 16
  %1 = getelementptr inbounds <4 x float>, ptr addrspace(1) %p, i64 %idxprom, i64 1
  %2 = load float, ptr addrspace(1) %1, align 4
  %3 = getelementptr inbounds <4 x float>, ptr addrspace(1) %p, i64 %idxprom, i64 2
  %4 = load float, ptr addrspace(1) %3, align 8
  br label %for.body, !dbg !23

for.cond.cleanup:                                 ; preds = %for.cond.cleanup11, %entry
  %az.0.lcssa = phi float [ 0.000000e+00, %entry ], [ %call25, %for.cond.cleanup11 ], !dbg !24
  %ay.0.lcssa = phi float [ 0.000000e+00, %entry ], [ %call24, %for.cond.cleanup11 ], !dbg !25
  %ax.0.lcssa = phi float [ 0.000000e+00, %entry ], [ %call23, %for.cond.cleanup11 ], !dbg !26
  %5 = insertelement <4 x float> <float poison, float poison, float poison, float 0.000000e+00>, float %ax.0.lcssa, i64 0, !dbg !27
  %6 = insertelement <4 x float> %5, float %ay.0.lcssa, i64 1, !dbg !27
  %vecinit31 = insertelement <4 x float> %6, float %az.0.lcssa, i64 2, !dbg !27
  %splat.splatinsert = insertelement <4 x float> poison, float %dt, i64 0, !dbg !28
  %splat.splat = shufflevector <4 x float> %splat.splatinsert, <4 x float> poison, <4 x i32> zeroinitializer, !dbg !28
  %arrayidx34 = getelementptr inbounds <4 x float>, ptr addrspace(1) %v, i64 %idxprom, !dbg !29
  %7 = load <4 x float>, ptr addrspace(1) %arrayidx34, align 16, !dbg !30, !tbaa !31
  %8 = tail call <4 x float> @llvm.fmuladd.v4f32(<4 x float> %vecinit31, <4 x float> %splat.splat, <4 x float> %7), !dbg !30
  store <4 x float> %8, ptr addrspace(1) %arrayidx34, align 16, !dbg !30, !tbaa !31
  ret void, !dbg !34

for.body:                                         ; preds = %for.body.lr.ph, %for.cond.cleanup11
  %ax.068 = phi float [ 0.000000e+00, %for.body.lr.ph ], [ %call23, %for.cond.cleanup11 ]
  %ay.067 = phi float [ 0.000000e+00, %for.body.lr.ph ], [ %call24, %for.cond.cleanup11 ]
  %az.066 = phi float [ 0.000000e+00, %for.body.lr.ph ], [ %call25, %for.cond.cleanup11 ]
  %b.065 = phi i32 [ 0, %for.body.lr.ph ], [ %add27, %for.cond.cleanup11 ]
  %add = add i32 %b.065, %conv2, !dbg !35
  %idxprom4 = zext i32 %add to i64, !dbg !36
  %arrayidx5 = getelementptr inbounds <4 x float>, ptr addrspace(1) %p, i64 %idxprom4, !dbg !36
  %9 = load <4 x float>, ptr addrspace(1) %arrayidx5, align 16, !dbg !36, !tbaa !31
  store <4 x float> %9, ptr addrspace(3) %arrayidx7, align 16, !dbg !37, !tbaa !31
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !38
  br label %for.body12, !dbg !39

for.cond.cleanup11:                               ; preds = %for.body12
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !40
  %add27 = add i32 %b.065, 64, !dbg !41
  %cmp = icmp ult i32 %add27, %n, !dbg !22
  br i1 %cmp, label %for.body, label %for.cond.cleanup, !dbg !23, !llvm.loop !42

for.body12:                                       ; preds = %for.body, %for.body12
  %ax.163 = phi float [ %ax.068, %for.body ], [ %call23, %for.body12 ]
  %ay.162 = phi float [ %ay.067, %for.body ], [ %call24, %for.body12 ]
  %az.161 = phi float [ %az.066, %for.body ], [ %call25, %for.body12 ]
  %j.060 = phi i32 [ 0, %for.body ], [ %inc, %for.body12 ]
  %idxprom13 = zext i32 %j.060 to i64, !dbg !44
  %arrayidx14 = getelementptr inbounds [64 x <4 x float>], ptr addrspace(3) @nbody.t, i64 0, i64 %idxprom13, !dbg !44
  %10 = load float, ptr addrspace(3) %arrayidx14, align 16, !dbg !45
  %sub = fsub float %10, %0, !dbg !46
  %11 = getelementptr inbounds [64 x <4 x float>], ptr addrspace(3) @nbody.t, i64 0, i64 %idxprom13, i64 1, !dbg !47
  %12 = load float, ptr addrspace(3) %11, align 4, !dbg !47
  %sub15 = fsub float %12, %2, !dbg !48
  %13 = getelementptr inbounds [64 x <4 x float>], ptr addrspace(3) @nbody.t, i64 0, i64 %idxprom13, i64 2, !dbg !49
  %14 = load float, ptr addrspace(3) %13, align 8, !dbg !49
  %sub16 = fsub float %14, %4, !dbg !50
  %call17 = tail call spir_func float @_Z3fmafff(float noundef %sub16, float noundef %sub16, float noundef %eps) #4, !dbg !51
  %call18 = tail call spir_func float @_Z3fmafff(float noundef %sub15, float noundef %sub15, float noundef %call17) #4, !dbg !52
  %call19 = tail call spir_func float @_Z3fmafff(float noundef %sub, float noundef %sub, float noundef %call18) #4, !dbg !53
  %call20 = tail call spir_func float @_Z12native_rsqrtf(float noundef %call19) #4, !dbg !54
  %15 = getelementptr inbounds [64 x <4 x float>], ptr addrspace(3) @nbody.t, i64 0, i64 %idxprom13, i64 3, !dbg !55
  %16 = load float, ptr addrspace(3) %15, align 4, !dbg !55
  %mul = fmul float %16, %call20, !dbg !56
  %mul21 = fmul float %call20, %mul, !dbg !57
  %mul22 = fmul float %call20, %mul21, !dbg !58
  %call23 = tail call spir_func float @_Z3fmafff(float noundef %sub, float noundef %mul22, float noundef %ax.163) #4, !dbg !59
  %call24 = tail call spir_func float @_Z3fmafff(float noundef %sub15, float noundef %mul22, float noundef %ay.162) #4, !dbg !60
  %call25 = tail call spir_func float @_Z3fmafff(float noundef %sub16, float noundef %mul22, float noundef %az.161) #4, !dbg !61
  %inc = add nuw nsw i32 %j.060, 1, !dbg !62
  %cmp9 = icmp ult i32 %j.060, 63, !dbg !63
  br i1 %cmp9, label %for.body12, label %for.cond.cleanup11, !dbg !39, !llvm.loop !64
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !66 dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !67 dso_local spir_func i64 @_Z12get_local_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent nounwind
declare !dbg !68 dso_local spir_func void @_Z7barrierj(i32 noundef) local_unnamed_addr #2

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !69 dso_local spir_func float @_Z12native_rsqrtf(float noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !70 dso_local spir_func float @_Z3fmafff(float noundef, float noundef, float noundef) local_unnamed_addr #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare <4 x float> @llvm.fmuladd.v4f32(<4 x float>, <4 x float>, <4 x float>) #3

attributes #0 = { convergent norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #1 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #2 = { convergent nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #3 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #4 = { convergent nounwind willreturn memory(none) }
attributes #5 = { convergent nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5}
!opencl.ocl.version = !{!6}
!opencl.spir.version = !{!6}
!llvm.ident = !{!7}

!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "Debian clang version 16.0.6 (15~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "-", directory: "/", checksumkind: CSK_MD5, checksum: "110fe7289cf3f0850c48d20cf42374aa")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{i32 3, i32 0}
!7 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!8 = distinct !DISubprogram(name: "nbody", scope: !9, file: !9, line: 2, type: !10, scopeLine: 3, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !11)
!9 = !DIFile(filename: "nbody.cl", directory: "/")
!10 = !DISubroutineType(types: !11)
!11 = !{}
!12 = !{i32 1, i32 1, i32 0, i32 0, i32 0}
!13 = !{!"none", !"none", !"none", !"none", !"none"}
!14 = !{!"float4*", !"float4*", !"uint", !"float", !"float"}
!15 = !{!"float __attribute__((ext_vector_type(4)))*", !"float __attribute__((ext_vector_type(4)))*", !"uint", !"float", !"float"}
!16 = !{!"const", !"", !"", !"", !""}
!17 = !{!"p", !"v", !"n", !"dt", !"eps"}
!18 = !{i32 64, i32 1, i32 1}
!19 = !DILocation(line: 5, column: 14, scope: !8)
!20 = !DILocation(line: 5, column: 36, scope: !8)
!21 = !DILocation(line: 6, column: 17, scope: !8)
!22 = !DILocation(line: 8, column: 24, scope: !8)
!23 = !DILocation(line: 8, column: 5, scope: !8)
!24 = !DILocation(line: 7, column: 27, scope: !8)
!25 = !DILocation(line: 7, column: 19, scope: !8)
!26 = !DILocation(line: 7, column: 11, scope: !8)
!27 = !DILocation(line: 20, column: 21, scope: !8)
!28 = !DILocation(line: 20, column: 39, scope: !8)
!29 = !DILocation(line: 20, column: 5, scope: !8)
!30 = !DILocation(line: 20, column: 10, scope: !8)
!31 = !{!32, !32, i64 0}
!32 = !{!"omnipotent char", !33, i64 0}
!33 = !{!"Simple C/C++ TBAA"}
!34 = !DILocation(line: 21, column: 1, scope: !8)
!35 = !DILocation(line: 9, column: 20, scope: !8)
!36 = !DILocation(line: 9, column: 16, scope: !8)
!37 = !DILocation(line: 9, column: 14, scope: !8)
!38 = !DILocation(line: 10, column: 9, scope: !8)
!39 = !DILocation(line: 11, column: 9, scope: !8)
!40 = !DILocation(line: 18, column: 9, scope: !8)
!41 = !DILocation(line: 8, column: 31, scope: !8)
!42 = distinct !{!42, !23, !43}
!43 = !DILocation(line: 19, column: 5, scope: !8)
!44 = !DILocation(line: 12, column: 24, scope: !8)
!45 = !DILocation(line: 13, column: 24, scope: !8)
!46 = !DILocation(line: 13, column: 28, scope: !8)
!47 = !DILocation(line: 13, column: 41, scope: !8)
!48 = !DILocation(line: 13, column: 45, scope: !8)
!49 = !DILocation(line: 13, column: 58, scope: !8)
!50 = !DILocation(line: 13, column: 62, scope: !8)
!51 = !DILocation(line: 14, column: 60, scope: !8)
!52 = !DILocation(line: 14, column: 48, scope: !8)
!53 = !DILocation(line: 14, column: 36, scope: !8)
!54 = !DILocation(line: 14, column: 23, scope: !8)
!55 = !DILocation(line: 15, column: 23, scope: !8)
!56 = !DILocation(line: 15, column: 27, scope: !8)
!57 = !DILocation(line: 15, column: 31, scope: !8)
!58 = !DILocation(line: 15, column: 35, scope: !8)
!59 = !DILocation(line: 16, column: 18, scope: !8)
!60 = !DILocation(line: 16, column: 39, scope: !8)
!61 = !DILocation(line: 16, column: 60, scope: !8)
!62 = !DILocation(line: 11, column: 35, scope: !8)
!63 = !DILocation(line: 11, column: 28, scope: !8)
!64 = distinct !{!64, !39, !65}
!65 = !DILocation(line: 17, column: 9, scope: !8)
!66 = !DISubprogram(name: "get_global_id", scope: !9, file: !9, line: 5, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!67 = !DISubprogram(name: "get_local_id", scope: !9, file: !9, line: 5, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!68 = !DISubprogram(name: "barrier", scope: !9, file: !9, line: 10, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!69 = !DISubprogram(name: "native_rsqrt", scope: !9, file: !9, line: 14, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!70 = !DISubprogram(name: "fma", scope: !9, file: !9, line: 14, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
