; ModuleID = '-'
source_filename = "-"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64"

@layernorm.t = internal unnamed_addr addrspace(3) global [64 x float] undef, align 4

; Function Attrs: convergent norecurse nounwind
define dso_local spir_kernel void @layernorm(ptr addrspace(1) nocapture noundef readonly align 4 %x, ptr addrspace(1) nocapture noundef readonly align 4 %g, ptr addrspace(1) nocapture noundef readonly align 4 %b, ptr addrspace(1) nocapture noundef writeonly align 4 %y, i32 noundef %n, float noundef %eps) local_unnamed_addr #0 !dbg !8 !kernel_arg_addr_space !12 !kernel_arg_access_qual !13 !kernel_arg_type !14 !kernel_arg_base_type !14 !kernel_arg_type_qual !15 !kernel_arg_name !16 !reqd_work_group_size !17 {
entry:
  %call = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #4, !dbg !18
  %conv = trunc i64 %call to i32, !dbg !18
  %call1 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 0) #4, !dbg !19
  %conv2 = zext i32 %n to i64, !dbg !20
  %mul = mul i64 %call1, %conv2, !dbg !21
  %add.ptr = getelementptr inbounds float, ptr addrspace(1) %x, i64 %mul, !dbg !22
  %cmp125 = icmp ult i32 %conv, %n, !dbg !23
  br i1 %cmp125, label %for.body, label %for.cond.cleanup, !dbg !24

for.cond.cleanup:                                 ; preds = %for.body, %entry
  %s.0.lcssa = phi float [ 0.000000e+00, %entry ], [ %add, %for.body ], !dbg !25
  %idxprom5 = and i64 %call, 4294967295, !dbg !26
  %arrayidx6 = getelementptr inbounds [64 x float], ptr addrspace(3) @layernorm.t, i64 0, i64 %idxprom5, !dbg !26
  store float %s.0.lcssa, ptr addrspace(3) %arrayidx6, align 4, !dbg !27, !tbaa !28
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !32
  %cmp12 = icmp ult i32 %conv, 32, !dbg !33
  br i1 %cmp12, label %if.then, label %if.end, !dbg !34

for.body:                                         ; preds = %entry, %for.body
  %s.0127 = phi float [ %add, %for.body ], [ 0.000000e+00, %entry ]
  %i.0126 = phi i32 [ %add4, %for.body ], [ %conv, %entry ]
  %idxprom = zext i32 %i.0126 to i64, !dbg !35
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %add.ptr, i64 %idxprom, !dbg !35
  %0 = load float, ptr addrspace(1) %arrayidx, align 4, !dbg !35, !tbaa !28
  %add = fadd float %s.0127, %0, !dbg !36
  %add4 = add i32 %i.0126, 64, !dbg !37
  %cmp = icmp ult i32 %add4, %n, !dbg !23
  br i1 %cmp, label %for.body, label %for.cond.cleanup, !dbg !24, !llvm.loop !38

if.then:                                          ; preds = %for.cond.cleanup
  %add14 = add nuw nsw i32 %conv, 32, !dbg !40
  %idxprom15 = zext i32 %add14 to i64, !dbg !41
  %arrayidx16 = getelementptr inbounds [64 x float], ptr addrspace(3) @layernorm.t, i64 0, i64 %idxprom15, !dbg !41
  %1 = load float, ptr addrspace(3) %arrayidx16, align 4, !dbg !41, !tbaa !28
  %2 = load float, ptr addrspace(3) %arrayidx6, align 4, !dbg !42, !tbaa !28
  %add19 = fadd float %1, %2, !dbg !42
  store float %add19, ptr addrspace(3) %arrayidx6, align 4, !dbg !42, !tbaa !28
  br label %if.end, !dbg !43

if.end:                                           ; preds = %if.then, %for.cond.cleanup
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !44
  %cmp12.1 = icmp ult i32 %conv, 16, !dbg !33
  br i1 %cmp12.1, label %if.then.1, label %if.end.1, !dbg !34

if.then.1:                                        ; preds = %if.end
  %add14.1 = add nuw nsw i32 %conv, 16, !dbg !40
  %idxprom15.1 = zext i32 %add14.1 to i64, !dbg !41
  %arrayidx16.1 = getelementptr inbounds [64 x float], ptr addrspace(3) @layernorm.t, i64 0, i64 %idxprom15.1, !dbg !41
  %3 = load float, ptr addrspace(3) %arrayidx16.1, align 4, !dbg !41, !tbaa !28
  %4 = load float, ptr addrspace(3) %arrayidx6, align 4, !dbg !42, !tbaa !28
  %add19.1 = fadd float %3, %4, !dbg !42
  store float %add19.1, ptr addrspace(3) %arrayidx6, align 4, !dbg !42, !tbaa !28
  br label %if.end.1, !dbg !43

if.end.1:                                         ; preds = %if.then.1, %if.end
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !44
  %cmp12.2 = icmp ult i32 %conv, 8, !dbg !33
  br i1 %cmp12.2, label %if.then.2, label %if.end.2, !dbg !34

if.then.2:                                        ; preds = %if.end.1
  %add14.2 = add nuw nsw i32 %conv, 8, !dbg !40
  %idxprom15.2 = zext i32 %add14.2 to i64, !dbg !41
  %arrayidx16.2 = getelementptr inbounds [64 x float], ptr addrspace(3) @layernorm.t, i64 0, i64 %idxprom15.2, !dbg !41
  %5 = load float, ptr addrspace(3) %arrayidx16.2, align 4, !dbg !41, !tbaa !28
  %6 = load float, ptr addrspace(3) %arrayidx6, align 4, !dbg !42, !tbaa !28
  %add19.2 = fadd float %5, %6, !dbg !42
  store float %add19.2, ptr addrspace(3) %arrayidx6, align 4, !dbg !42, !tbaa !28
  br label %if.end.2, !dbg !43

if.end.2:                                         ; preds = %if.then.2, %if.end.1
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !44
  %cmp12.3 = icmp ult i32 %conv, 4, !dbg !33
  br i1 %cmp12.3, label %if.then.3, label %if.end.3, !dbg !34

if.then.3:                                        ; preds = %if.end.2
  %add14.3 = add nuw nsw i32 %conv, 4, !dbg !40
  %idxprom15.3 = zext i32 %add14.3 to i64, !dbg !41
  %arrayidx16.3 = getelementptr inbounds [64 x float], ptr addrspace(3) @layernorm.t, i64 0, i64 %idxprom15.3, !dbg !41
  %7 = load float, ptr addrspace(3) %arrayidx16.3, align 4, !dbg !41, !tbaa !28
  %8 = load float, ptr addrspace(3) %arrayidx6, align 4, !dbg !42, !tbaa !28
  %add19.3 = fadd float %7, %8, !dbg !42
  store float %add19.3, ptr addrspace(3) %arrayidx6, align 4, !dbg !42, !tbaa !28
  br label %if.end.3, !dbg !43

if.end.3:                                         ; preds = %if.then.3, %if.end.2
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !44
  %cmp12.4 = icmp ult i32 %conv, 2, !dbg !33
  br i1 %cmp12.4, label %if.then.4, label %if.end.4, !dbg !34

if.then.4:                                        ; preds = %if.end.3
  %add14.4 = add nuw nsw i32 %conv, 2, !dbg !40
  %idxprom15.4 = zext i32 %add14.4 to i64, !dbg !41
  %arrayidx16.4 = getelementptr inbounds [64 x float], ptr addrspace(3) @layernorm.t, i64 0, i64 %idxprom15.4, !dbg !41
  %9 = load float, ptr addrspace(3) %arrayidx16.4, align 4, !dbg !41, !tbaa !28
  %10 = load float, ptr addrspace(3) %arrayidx6, align 4, !dbg !42, !tbaa !28
  %add19.4 = fadd float %9, %10, !dbg !42
  store float %add19.4, ptr addrspace(3) %arrayidx6, align 4, !dbg !42, !tbaa !28
  br label %if.end.4, !dbg !43

if.end.4:                                         ; preds = %if.then.4, %if.end.3
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !44
  %cmp12.5 = icmp eq i32 %conv, 0, !dbg !33
  br i1 %cmp12.5, label %if.then.5, label %if.end.5, !dbg !34

if.then.5:                                        ; preds = %if.end.4
  %add14.5 = add nuw nsw i32 %conv, 1, !dbg !40
  %idxprom15.5 = zext i32 %add14.5 to i64, !dbg !41
  %arrayidx16.5 = getelementptr inbounds [64 x float], ptr addrspace(3) @layernorm.t, i64 0, i64 %idxprom15.5, !dbg !41
  %11 = load float, ptr addrspace(3) %arrayidx16.5, align 4, !dbg !41, !tbaa !28
  %12 = load float, ptr addrspace(3) %arrayidx6, align 4, !dbg !42, !tbaa !28
  %add19.5 = fadd float %11, %12, !dbg !42
  store float %add19.5, ptr addrspace(3) %arrayidx6, align 4, !dbg !42, !tbaa !28
  br label %if.end.5, !dbg !43

if.end.5:                                         ; preds = %if.then.5, %if.end.4
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !44
  %13 = load float, ptr addrspace(3) @layernorm.t, align 4, !dbg !45, !tbaa !28
  %conv22 = uitofp i32 %n to float, !dbg !46
  %call23 = tail call spir_func float @_Z12native_recipf(float noundef %conv22) #4, !dbg !47
  %mul24 = fmul float %13, %call23, !dbg !48
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !49
  br i1 %cmp125, label %for.body30, label %for.cond.cleanup29, !dbg !50

for.cond.cleanup29:                               ; preds = %for.body30, %if.end.5
  %s.1.lcssa = phi float [ 0.000000e+00, %if.end.5 ], [ %call34, %for.body30 ], !dbg !25
  store float %s.1.lcssa, ptr addrspace(3) %arrayidx6, align 4, !dbg !51, !tbaa !28
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !52
  br i1 %cmp12, label %if.then48, label %if.end55, !dbg !53

for.body30:                                       ; preds = %if.end.5, %for.body30
  %s.1131 = phi float [ %call34, %for.body30 ], [ 0.000000e+00, %if.end.5 ]
  %i25.0130 = phi i32 [ %add36, %for.body30 ], [ %conv, %if.end.5 ]
  %idxprom32 = zext i32 %i25.0130 to i64, !dbg !54
  %arrayidx33 = getelementptr inbounds float, ptr addrspace(1) %add.ptr, i64 %idxprom32, !dbg !54
  %14 = load float, ptr addrspace(1) %arrayidx33, align 4, !dbg !54, !tbaa !28
  %sub = fsub float %14, %mul24, !dbg !55
  %call34 = tail call spir_func float @_Z3fmafff(float noundef %sub, float noundef %sub, float noundef %s.1131) #4, !dbg !56
  %add36 = add i32 %i25.0130, 64, !dbg !57
  %cmp27 = icmp ult i32 %add36, %n, !dbg !58
  br i1 %cmp27, label %for.body30, label %for.cond.cleanup29, !dbg !50, !llvm.loop !59

if.then48:                                        ; preds = %for.cond.cleanup29
  %add49 = add nuw nsw i32 %conv, 32, !dbg !61
  %idxprom50 = zext i32 %add49 to i64, !dbg !62
  %arrayidx51 = getelementptr inbounds [64 x float], ptr addrspace(3) @layernorm.t, i64 0, i64 %idxprom50, !dbg !62
  %15 = load float, ptr addrspace(3) %arrayidx51, align 4, !dbg !62, !tbaa !28
  %16 = load float, ptr addrspace(3) %arrayidx6, align 4, !dbg !63, !tbaa !28
  %add54 = fadd float %15, %16, !dbg !63
  store float %add54, ptr addrspace(3) %arrayidx6, align 4, !dbg !63, !tbaa !28
  br label %if.end55, !dbg !64

if.end55:                                         ; preds = %if.then48, %for.cond.cleanup29
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !65
  br i1 %cmp12.1, label %if.then48.1, label %if.end55.1, !dbg !53

if.then48.1:                                      ; preds = %if.end55
  %add49.1 = add nuw nsw i32 %conv, 16, !dbg !61
  %idxprom50.1 = zext i32 %add49.1 to i64, !dbg !62
  %arrayidx51.1 = getelementptr inbounds [64 x float], ptr addrspace(3) @layernorm.t, i64 0, i64 %idxprom50.1, !dbg !62
  %17 = load float, ptr addrspace(3) %arrayidx51.1, align 4, !dbg !62, !tbaa !28
  %18 = load float, ptr addrspace(3) %arrayidx6, align 4, !dbg !63, !tbaa !28
  %add54.1 = fadd float %17, %18, !dbg !63
  store float %add54.1, ptr addrspace(3) %arrayidx6, align 4, !dbg !63, !tbaa !28
  br label %if.end55.1, !dbg !64

if.end55.1:                                       ; preds = %if.then48.1, %if.end55
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !65
  br i1 %cmp12.2, label %if.then48.2, label %if.end55.2, !dbg !53

if.then48.2:                                      ; preds = %if.end55.1
  %add49.2 = add nuw nsw i32 %conv, 8, !dbg !61
  %idxprom50.2 = zext i32 %add49.2 to i64, !dbg !62
  %arrayidx51.2 = getelementptr inbounds [64 x float], ptr addrspace(3) @layernorm.t, i64 0, i64 %idxprom50.2, !dbg !62
  %19 = load float, ptr addrspace(3) %arrayidx51.2, align 4, !dbg !62, !tbaa !28
  %20 = load float, ptr addrspace(3) %arrayidx6, align 4, !dbg !63, !tbaa !28
  %add54.2 = fadd float %19, %20, !dbg !63
  store float %add54.2, ptr addrspace(3) %arrayidx6, align 4, !dbg !63, !tbaa !28
  br label %if.end55.2, !dbg !64

if.end55.2:                                       ; preds = %if.then48.2, %if.end55.1
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !65
  br i1 %cmp12.3, label %if.then48.3, label %if.end55.3, !dbg !53

if.then48.3:                                      ; preds = %if.end55.2
  %add49.3 = add nuw nsw i32 %conv, 4, !dbg !61
  %idxprom50.3 = zext i32 %add49.3 to i64, !dbg !62
  %arrayidx51.3 = getelementptr inbounds [64 x float], ptr addrspace(3) @layernorm.t, i64 0, i64 %idxprom50.3, !dbg !62
  %21 = load float, ptr addrspace(3) %arrayidx51.3, align 4, !dbg !62, !tbaa !28
  %22 = load float, ptr addrspace(3) %arrayidx6, align 4, !dbg !63, !tbaa !28
  %add54.3 = fadd float %21, %22, !dbg !63
  store float %add54.3, ptr addrspace(3) %arrayidx6, align 4, !dbg !63, !tbaa !28
  br label %if.end55.3, !dbg !64

if.end55.3:                                       ; preds = %if.then48.3, %if.end55.2
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !65
  br i1 %cmp12.4, label %if.then48.4, label %if.end55.4, !dbg !53

if.then48.4:                                      ; preds = %if.end55.3
  %add49.4 = add nuw nsw i32 %conv, 2, !dbg !61
  %idxprom50.4 = zext i32 %add49.4 to i64, !dbg !62
  %arrayidx51.4 = getelementptr inbounds [64 x float], ptr addrspace(3) @layernorm.t, i64 0, i64 %idxprom50.4, !dbg !62
  %23 = load float, ptr addrspace(3) %arrayidx51.4, align 4, !dbg !62, !tbaa !28
  %24 = load float, ptr addrspace(3) %arrayidx6, align 4, !dbg !63, !tbaa !28
  %add54.4 = fadd float %23, %24, !dbg !63
  store float %add54.4, ptr addrspace(3) %arrayidx6, align 4, !dbg !63, !tbaa !28
  br label %if.end55.4, !dbg !64

if.end55.4:                                       ; preds = %if.then48.4, %if.end55.3
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !65
  br i1 %cmp12.5, label %if.then48.5, label %if.end55.5, !dbg !53

if.then48.5:                                      ; preds = %if.end55.4
  %add49.5 = add nuw nsw i32 %conv, 1, !dbg !61
  %idxprom50.5 = zext i32 %add49.5 to i64, !dbg !62
  %arrayidx51.5 = getelementptr inbounds [64 x float], ptr addrspace(3) @layernorm.t, i64 0, i64 %idxprom50.5, !dbg !62
  %25 = load float, ptr addrspace(3) %arrayidx51.5, align 4, !dbg !62, !tbaa !28
  %26 = load float, ptr addrspace(3) %arrayidx6, align 4, !dbg !63, !tbaa !28
  %add54.5 = fadd float %25, %26, !dbg !63
  store float %add54.5, ptr addrspace(3) %arrayidx6, align 4, !dbg !63, !tbaa !28
  br label %if.end55.5, !dbg !64

if.end55.5:                                       ; preds = %if.then48.5, %if.end55.4
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #5, !dbg !65
  %27 = load float, ptr addrspace(3) @layernorm.t, align 4, !dbg !66, !tbaa !28
  %28 = tail call float @llvm.fmuladd.f32(float %27, float %call23, float %eps), !dbg !67
  %call62 = tail call spir_func float @_Z12native_rsqrtf(float noundef %28) #4, !dbg !68
  br i1 %cmp125, label %for.body68, label %for.cond.cleanup67, !dbg !69

for.cond.cleanup67:                               ; preds = %for.body68, %if.end55.5
  ret void, !dbg !70

for.body68:                                       ; preds = %if.end55.5, %for.body68
  %i63.0135 = phi i32 [ %add85, %for.body68 ], [ %conv, %if.end55.5 ]
  %idxprom69 = zext i32 %i63.0135 to i64, !dbg !71
  %arrayidx70 = getelementptr inbounds float, ptr addrspace(1) %add.ptr, i64 %idxprom69, !dbg !71
  %29 = load float, ptr addrspace(1) %arrayidx70, align 4, !dbg !71, !tbaa !28
  %sub71 = fsub float %29, %mul24, !dbg !72
  %mul72 = fmul float %call62, %sub71, !dbg !73
  %arrayidx74 = getelementptr inbounds float, ptr addrspace(1) %g, i64 %idxprom69, !dbg !74
  %30 = load float, ptr addrspace(1) %arrayidx74, align 4, !dbg !74, !tbaa !28
  %arrayidx76 = getelementptr inbounds float, ptr addrspace(1) %b, i64 %idxprom69, !dbg !75
  %31 = load float, ptr addrspace(1) %arrayidx76, align 4, !dbg !75, !tbaa !28
  %call77 = tail call spir_func float @_Z3fmafff(float noundef %mul72, float noundef %30, float noundef %31) #4, !dbg !76
  %add82 = add i64 %mul, %idxprom69, !dbg !77
  %arrayidx83 = getelementptr inbounds float, ptr addrspace(1) %y, i64 %add82, !dbg !78
  store float %call77, ptr addrspace(1) %arrayidx83, align 4, !dbg !79, !tbaa !28
  %add85 = add i32 %i63.0135, 64, !dbg !80
  %cmp65 = icmp ult i32 %add85, %n, !dbg !81
  br i1 %cmp65, label %for.body68, label %for.cond.cleanup67, !dbg !69, !llvm.loop !82
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !84 dso_local spir_func i64 @_Z12get_local_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !85 dso_local spir_func i64 @_Z12get_group_idj(i32 noundef) local_unnamed_addr #1

; Function Attrs: convergent nounwind
declare !dbg !86 dso_local spir_func void @_Z7barrierj(i32 noundef) local_unnamed_addr #2

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !87 dso_local spir_func float @_Z12native_recipf(float noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !88 dso_local spir_func float @_Z3fmafff(float noundef, float noundef, float noundef) local_unnamed_addr #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !89 dso_local spir_func float @_Z12native_rsqrtf(float noundef) local_unnamed_addr #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fmuladd.f32(float, float, float) #3

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
!1 = !DIFile(filename: "-", directory: "/", checksumkind: CSK_MD5, checksum: "9eb9497a11b993b6101d1b62ad873b46")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{i32 3, i32 0}
!7 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!8 = distinct !DISubprogram(name: "layernorm", scope: !9, file: !9, line: 2, type: !10, scopeLine: 3, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !11)
!9 = !DIFile(filename: "layernorm.cl", directory: "/")
!10 = !DISubroutineType(types: !11)
!11 = !{}
!12 = !{i32 1, i32 1, i32 1, i32 1, i32 0, i32 0}
!13 = !{!"none", !"none", !"none", !"none", !"none", !"none"}
!14 = !{!"float*", !"float*", !"float*", !"float*", !"uint", !"float"}
!15 = !{!"const", !"const", !"const", !"", !"", !""}
!16 = !{!"x", !"g", !"b", !"y", !"n", !"eps"}
!17 = !{i32 64, i32 1, i32 1}
!18 = !DILocation(line: 5, column: 14, scope: !8)
!19 = !DILocation(line: 6, column: 37, scope: !8)
!20 = !DILocation(line: 6, column: 55, scope: !8)
!21 = !DILocation(line: 6, column: 53, scope: !8)
!22 = !DILocation(line: 6, column: 35, scope: !8)
!23 = !DILocation(line: 8, column: 24, scope: !8)
!24 = !DILocation(line: 8, column: 5, scope: !8)
!25 = !DILocation(line: 0, scope: !8)
!26 = !DILocation(line: 9, column: 5, scope: !8)
!27 = !DILocation(line: 9, column: 10, scope: !8)
!28 = !{!29, !29, i64 0}
!29 = !{!"float", !30, i64 0}
!30 = !{!"omnipotent char", !31, i64 0}
!31 = !{!"Simple C/C++ TBAA"}
!32 = !DILocation(line: 10, column: 5, scope: !8)
!33 = !DILocation(line: 11, column: 47, scope: !8)
!34 = !DILocation(line: 11, column: 45, scope: !8)
!35 = !DILocation(line: 8, column: 43, scope: !8)
!36 = !DILocation(line: 8, column: 40, scope: !8)
!37 = !DILocation(line: 8, column: 31, scope: !8)
!38 = distinct !{!38, !24, !39}
!39 = !DILocation(line: 8, column: 48, scope: !8)
!40 = !DILocation(line: 11, column: 64, scope: !8)
!41 = !DILocation(line: 11, column: 60, scope: !8)
!42 = !DILocation(line: 11, column: 57, scope: !8)
!43 = !DILocation(line: 11, column: 52, scope: !8)
!44 = !DILocation(line: 11, column: 70, scope: !8)
!45 = !DILocation(line: 12, column: 18, scope: !8)
!46 = !DILocation(line: 12, column: 38, scope: !8)
!47 = !DILocation(line: 12, column: 25, scope: !8)
!48 = !DILocation(line: 12, column: 23, scope: !8)
!49 = !DILocation(line: 13, column: 5, scope: !8)
!50 = !DILocation(line: 15, column: 5, scope: !8)
!51 = !DILocation(line: 16, column: 10, scope: !8)
!52 = !DILocation(line: 17, column: 5, scope: !8)
!53 = !DILocation(line: 18, column: 45, scope: !8)
!54 = !DILocation(line: 15, column: 50, scope: !8)
!55 = !DILocation(line: 15, column: 57, scope: !8)
!56 = !DILocation(line: 15, column: 69, scope: !8)
!57 = !DILocation(line: 15, column: 31, scope: !8)
!58 = !DILocation(line: 15, column: 24, scope: !8)
!59 = distinct !{!59, !50, !60}
!60 = !DILocation(line: 15, column: 83, scope: !8)
!61 = !DILocation(line: 18, column: 64, scope: !8)
!62 = !DILocation(line: 18, column: 60, scope: !8)
!63 = !DILocation(line: 18, column: 57, scope: !8)
!64 = !DILocation(line: 18, column: 52, scope: !8)
!65 = !DILocation(line: 18, column: 70, scope: !8)
!66 = !DILocation(line: 19, column: 28, scope: !8)
!67 = !DILocation(line: 19, column: 58, scope: !8)
!68 = !DILocation(line: 19, column: 15, scope: !8)
!69 = !DILocation(line: 20, column: 5, scope: !8)
!70 = !DILocation(line: 21, column: 1, scope: !8)
!71 = !DILocation(line: 20, column: 72, scope: !8)
!72 = !DILocation(line: 20, column: 79, scope: !8)
!73 = !DILocation(line: 20, column: 87, scope: !8)
!74 = !DILocation(line: 20, column: 92, scope: !8)
!75 = !DILocation(line: 20, column: 98, scope: !8)
!76 = !DILocation(line: 20, column: 67, scope: !8)
!77 = !DILocation(line: 20, column: 60, scope: !8)
!78 = !DILocation(line: 20, column: 38, scope: !8)
!79 = !DILocation(line: 20, column: 65, scope: !8)
!80 = !DILocation(line: 20, column: 31, scope: !8)
!81 = !DILocation(line: 20, column: 24, scope: !8)
!82 = distinct !{!82, !69, !83}
!83 = !DILocation(line: 20, column: 102, scope: !8)
!84 = !DISubprogram(name: "get_local_id", scope: !9, file: !9, line: 5, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!85 = !DISubprogram(name: "get_group_id", scope: !9, file: !9, line: 6, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!86 = !DISubprogram(name: "barrier", scope: !9, file: !9, line: 10, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!87 = !DISubprogram(name: "native_recip", scope: !9, file: !9, line: 12, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!88 = !DISubprogram(name: "fma", scope: !9, file: !9, line: 15, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
!89 = !DISubprogram(name: "native_rsqrt", scope: !9, file: !9, line: 19, type: !10, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !11)
