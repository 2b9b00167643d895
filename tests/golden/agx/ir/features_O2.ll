; ModuleID = 'features.cl'
source_filename = "features.cl"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64"

%struct.Q = type { i8, <3 x float> }
%struct.P = type { <4 x float>, i32, [3 x i8], [9 x i8] }

@table = dso_local local_unnamed_addr addrspace(2) constant [4 x float] [float 1.000000e+00, float 2.500000e+00, float -0.000000e+00, float 0x37A16C2000000000], align 4
@text = dso_local local_unnamed_addr addrspace(2) constant [7 x i8] c"hi\0A\22q\\\00", align 1
@qs = dso_local local_unnamed_addr addrspace(2) constant [2 x %struct.Q] [%struct.Q { i8 1, <3 x float> <float 1.000000e+00, float 2.000000e+00, float 3.000000e+00> }, %struct.Q zeroinitializer], align 16
@grp.t = internal unnamed_addr addrspace(3) global [64 x i32] undef, align 4
@grp.lp.0 = internal unnamed_addr addrspace(3) global i32 undef, align 16

; Function Attrs: convergent nofree norecurse nounwind memory(argmem: readwrite)
define dso_local spir_kernel void @s(ptr addrspace(1) nocapture noundef align 4 %0, i32 noundef %1) local_unnamed_addr #0 !dbg !8 !kernel_arg_addr_space !11 !kernel_arg_access_qual !12 !kernel_arg_type !13 !kernel_arg_base_type !13 !kernel_arg_type_qual !14 !kernel_arg_name !15 {
  %3 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #11, !dbg !16
  %4 = trunc i64 %3 to i32, !dbg !16
  %5 = sext i32 %4 to i64, !dbg !17
  %6 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %5, !dbg !17
  %7 = load i32, ptr addrspace(1) %6, align 4, !dbg !17, !tbaa !18
  switch i32 %7, label %13 [
    i32 1, label %8
    i32 -7, label %9
    i32 9, label %10
    i32 10, label %12
    i32 11, label %12
  ], !dbg !22

8:                                                ; preds = %2
  store i32 5, ptr addrspace(1) %6, align 4, !dbg !23, !tbaa !18
  br label %15, !dbg !24

9:                                                ; preds = %2
  br label %10, !dbg !25

10:                                               ; preds = %2, %9
  %11 = phi i32 [ 10, %2 ], [ 7, %9 ]
  store i32 %11, ptr addrspace(1) %6, align 4, !dbg !26, !tbaa !18
  br label %15, !dbg !27

12:                                               ; preds = %2, %2
  store i32 0, ptr addrspace(1) %6, align 4, !dbg !28, !tbaa !18
  br label %15, !dbg !29

13:                                               ; preds = %2
  %14 = add nsw i32 %1, 1, !dbg !30
  br label %15, !dbg !31

15:                                               ; preds = %13, %12, %10, %8
  %16 = phi i32 [ %14, %13 ], [ %1, %12 ], [ %1, %10 ], [ %1, %8 ]
  %17 = icmp slt i32 %16, 1, !dbg !32
  br i1 %17, label %34, label %18, !dbg !33

18:                                               ; preds = %15, %28
  %19 = phi i32 [ %30, %28 ], [ 0, %15 ]
  %20 = phi i32 [ %29, %28 ], [ 0, %15 ]
  %21 = zext i32 %19 to i64, !dbg !34
  %22 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %21, !dbg !34
  %23 = load i32, ptr addrspace(1) %22, align 4, !dbg !34, !tbaa !18
  %24 = icmp sgt i32 %23, 3, !dbg !35
  br i1 %24, label %28, label %25, !dbg !34

25:                                               ; preds = %18
  %26 = add nsw i32 %23, %20, !dbg !36
  %27 = icmp eq i32 %26, 99, !dbg !37
  br i1 %27, label %36, label %28, !dbg !38

28:                                               ; preds = %25, %18
  %29 = phi i32 [ %20, %18 ], [ %26, %25 ], !dbg !39
  %30 = add nuw nsw i32 %19, 1, !dbg !40
  %31 = icmp sge i32 %30, %16, !dbg !32
  %32 = icmp eq i32 %30, 7
  %33 = or i1 %31, %32, !dbg !33
  br i1 %33, label %34, label %18, !dbg !33, !llvm.loop !41

34:                                               ; preds = %28, %15
  %35 = phi i32 [ 0, %15 ], [ %29, %28 ], !dbg !43
  store i32 %35, ptr addrspace(1) %6, align 4, !dbg !44, !tbaa !18
  br label %36, !dbg !45

36:                                               ; preds = %25, %34
  %37 = add nsw i32 %4, 1, !dbg !46
  %38 = sext i32 %37 to i64, !dbg !47
  %39 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %38, !dbg !47
  store i32 %16, ptr addrspace(1) %39, align 4, !dbg !48, !tbaa !18
  ret void, !dbg !49
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !50 dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #1

; Function Attrs: convergent nofree norecurse nounwind memory(argmem: readwrite)
define dso_local spir_kernel void @st(ptr addrspace(1) nocapture noundef align 16 %0, ptr nocapture noundef readonly byval(%struct.P) align 16 %1, ptr addrspace(1) nocapture noundef align 16 %2, ptr addrspace(3) nocapture noundef align 4 %3) local_unnamed_addr #0 !dbg !51 !kernel_arg_addr_space !52 !kernel_arg_access_qual !53 !kernel_arg_type !54 !kernel_arg_base_type !54 !kernel_arg_type_qual !55 !kernel_arg_name !56 {
  %5 = alloca [8 x float], align 4
  %6 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #11, !dbg !57
  %7 = load <4 x float>, ptr %1, align 16, !dbg !58
  %8 = fmul <4 x float> %7, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>, !dbg !59
  %9 = shufflevector <4 x float> %8, <4 x float> poison, <4 x i32> <i32 3, i32 2, i32 1, i32 0>, !dbg !59
  %10 = shl i64 %6, 32, !dbg !60
  %11 = ashr exact i64 %10, 32, !dbg !60
  %12 = getelementptr inbounds %struct.P, ptr addrspace(1) %0, i64 %11, !dbg !60
  store <4 x float> %9, ptr addrspace(1) %12, align 16, !dbg !61, !tbaa !62
  %13 = and i64 %6, 1
  %14 = getelementptr inbounds %struct.P, ptr %1, i64 0, i32 2, i64 %13, !dbg !63
  %15 = load i8, ptr %14, align 1, !dbg !63, !tbaa !62
  %16 = getelementptr inbounds %struct.P, ptr addrspace(1) %0, i64 %11, i32 2, i64 1, !dbg !64
  store i8 %15, ptr addrspace(1) %16, align 1, !dbg !65, !tbaa !62
  %17 = getelementptr inbounds [2 x %struct.Q], ptr addrspace(2) @qs, i64 0, i64 %13, i32 1, !dbg !66
  %18 = load <4 x float>, ptr addrspace(2) %17, align 16, !dbg !66
  %19 = getelementptr inbounds %struct.Q, ptr addrspace(1) %2, i64 %11, i32 1, !dbg !67
  %20 = load <4 x float>, ptr addrspace(1) %19, align 16, !dbg !68
  %21 = fadd <4 x float> %18, %20, !dbg !68
  %22 = shufflevector <4 x float> %21, <4 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 undef>, !dbg !68
  store <4 x float> %22, ptr addrspace(1) %19, align 16, !dbg !68, !tbaa !62
  %23 = and i64 %6, 3
  %24 = getelementptr inbounds [4 x float], ptr addrspace(2) @table, i64 0, i64 %23, !dbg !69
  %25 = load float, ptr addrspace(2) %24, align 4, !dbg !69, !tbaa !70
  %26 = getelementptr inbounds [7 x i8], ptr addrspace(2) @text, i64 0, i64 %23, !dbg !72
  %27 = load i8, ptr addrspace(2) %26, align 1, !dbg !72, !tbaa !62
  %28 = sitofp i8 %27 to float, !dbg !72
  %29 = fadd float %25, %28, !dbg !73
  %30 = getelementptr inbounds float, ptr addrspace(3) %3, i64 %11, !dbg !74
  store float %29, ptr addrspace(3) %30, align 4, !dbg !75, !tbaa !70
  call void @llvm.lifetime.start.p0(i64 32, ptr nonnull %5) #12, !dbg !76
  call void @llvm.memcpy.p0.p3.i64(ptr noundef nonnull align 4 dereferenceable(32) %5, ptr addrspace(3) noundef align 4 dereferenceable(32) %3, i64 32, i1 false), !dbg !77, !tbaa !70
  %31 = getelementptr inbounds %struct.P, ptr %1, i64 0, i32 1, !dbg !78
  %32 = load i32, ptr %31, align 16, !dbg !78, !tbaa !79
  %33 = and i32 %32, 7, !dbg !81
  %34 = zext i32 %33 to i64
  %35 = getelementptr inbounds [8 x float], ptr %5, i64 0, i64 %34, !dbg !82
  %36 = load float, ptr %35, align 4, !dbg !82, !tbaa !70
  store float %36, ptr addrspace(1) %12, align 16, !dbg !83
  call void @llvm.lifetime.end.p0(i64 32, ptr nonnull %5) #12, !dbg !84
  ret void, !dbg !84
}

; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite)
define dso_local spir_kernel void @vec(ptr addrspace(1) nocapture noundef align 16 %0, ptr addrspace(1) nocapture noundef align 16 %1, ptr addrspace(1) nocapture noundef align 8 %2, ptr addrspace(1) nocapture noundef align 4 %3, ptr addrspace(1) nocapture noundef align 8 %4) local_unnamed_addr #3 !dbg !85 !kernel_arg_addr_space !86 !kernel_arg_access_qual !87 !kernel_arg_type !88 !kernel_arg_base_type !89 !kernel_arg_type_qual !90 !kernel_arg_name !91 {
  %6 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #11, !dbg !92
  %7 = trunc i64 %6 to i32, !dbg !92
  %8 = sext i32 %7 to i64, !dbg !93
  %9 = getelementptr inbounds <4 x float>, ptr addrspace(1) %0, i64 %8, !dbg !93
  %10 = load <4 x float>, ptr addrspace(1) %9, align 16, !dbg !93, !tbaa !62
  %11 = shufflevector <4 x float> %10, <4 x float> poison, <4 x i32> <i32 1, i32 1, i32 0, i32 0>, !dbg !94
  %12 = fcmp ogt <4 x float> %10, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>, !dbg !95
  %13 = sext <4 x i1> %12 to <4 x i32>, !dbg !95
  %14 = tail call spir_func <4 x float> @_Z6selectDv4_fS_Dv4_i(<4 x float> noundef %10, <4 x float> noundef %11, <4 x i32> noundef %13) #11, !dbg !96
  store <4 x float> %14, ptr addrspace(1) %9, align 16, !dbg !97, !tbaa !62
  %15 = getelementptr inbounds <8 x half>, ptr addrspace(1) %1, i64 %8, !dbg !98
  %16 = load <8 x half>, ptr addrspace(1) %15, align 16, !dbg !98, !tbaa !62
  %17 = tail call <8 x half> @llvm.fmuladd.v8f16(<8 x half> %16, <8 x half> <half 0xH3E00, half 0xH3E00, half 0xH3E00, half 0xH3E00, half 0xH3E00, half 0xH3E00, half 0xH3E00, half 0xH3E00>, <8 x half> <half 0xH2E66, half 0xH2E66, half 0xH2E66, half 0xH2E66, half 0xH2E66, half 0xH2E66, half 0xH2E66, half 0xH2E66>), !dbg !99
  store <8 x half> %17, ptr addrspace(1) %15, align 16, !dbg !100, !tbaa !62
  %18 = getelementptr inbounds double, ptr addrspace(1) %2, i64 %8, !dbg !101
  %19 = load double, ptr addrspace(1) %18, align 8, !dbg !101, !tbaa !102
  %20 = tail call double @llvm.fmuladd.f64(double %19, double 3.250000e+00, double 1.000000e-01), !dbg !104
  store double %20, ptr addrspace(1) %18, align 8, !dbg !105, !tbaa !102
  %21 = getelementptr inbounds <4 x i8>, ptr addrspace(1) %3, i64 %8, !dbg !106
  %22 = load <4 x i8>, ptr addrspace(1) %21, align 4, !dbg !106, !tbaa !62
  %23 = tail call spir_func <4 x float> @_Z14convert_float4Dv4_h(<4 x i8> noundef %22) #11, !dbg !107
  %24 = tail call spir_func <4 x i8> @_Z18convert_uchar4_satDv4_f(<4 x float> noundef %23) #11, !dbg !108
  %25 = add <4 x i8> %24, <i8 1, i8 2, i8 3, i8 4>, !dbg !109
  store <4 x i8> %25, ptr addrspace(1) %21, align 4, !dbg !110, !tbaa !62
  %26 = getelementptr inbounds i64, ptr addrspace(1) %4, i64 %8, !dbg !111
  %27 = load i64, ptr addrspace(1) %26, align 8, !dbg !111, !tbaa !112
  %28 = sdiv i64 %27, 7, !dbg !114
  %29 = shl i64 %8, 40, !dbg !115
  %30 = add nsw i64 %28, %29, !dbg !116
  store i64 %30, ptr addrspace(1) %26, align 8, !dbg !117, !tbaa !112
  %31 = fneg <4 x float> %10, !dbg !118
  %32 = bitcast i32 %7 to float, !dbg !119
  %33 = insertelement <4 x float> %31, float %32, i64 0, !dbg !120
  %34 = extractelement <4 x float> %10, i64 1, !dbg !121
  %35 = tail call spir_func float @_Z4fmodff(float noundef %34, float noundef 2.000000e+00) #11, !dbg !122
  %36 = insertelement <4 x float> %33, float %35, i64 1, !dbg !123
  store <4 x float> %36, ptr addrspace(1) %9, align 16, !dbg !123
  %37 = load i64, ptr addrspace(1) %26, align 8, !dbg !124, !tbaa !112
  %38 = uitofp i64 %37 to float, !dbg !125
  %39 = insertelement <4 x float> %36, float %38, i64 2, !dbg !126
  store <4 x float> %39, ptr addrspace(1) %9, align 16, !dbg !126
  %40 = extractelement <4 x float> %10, i64 0, !dbg !127
  %41 = fcmp olt float %40, 1.000000e+00, !dbg !128
  br i1 %41, label %45, label %42, !dbg !129

42:                                               ; preds = %5
  %43 = tail call spir_func i32 @_Z5isnanf(float noundef %34) #11, !dbg !130
  %44 = icmp ne i32 %43, 0, !dbg !129
  br label %45, !dbg !129

45:                                               ; preds = %42, %5
  %46 = phi i1 [ true, %5 ], [ %44, %42 ]
  %47 = zext i1 %46 to i8, !dbg !127
  store i8 %47, ptr addrspace(1) %21, align 4, !dbg !131
  ret void, !dbg !132
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !133 dso_local spir_func <4 x float> @_Z6selectDv4_fS_Dv4_i(<4 x float> noundef, <4 x float> noundef, <4 x i32> noundef) local_unnamed_addr #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare <8 x half> @llvm.fmuladd.v8f16(<8 x half>, <8 x half>, <8 x half>) #4

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fmuladd.f64(double, double, double) #4

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !134 dso_local spir_func <4 x i8> @_Z18convert_uchar4_satDv4_f(<4 x float> noundef) local_unnamed_addr #2

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !135 dso_local spir_func <4 x float> @_Z14convert_float4Dv4_h(<4 x i8> noundef) local_unnamed_addr #2

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !136 dso_local spir_func float @_Z4fmodff(float noundef, float noundef) local_unnamed_addr #2

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !137 dso_local spir_func i32 @_Z5isnanf(float noundef) local_unnamed_addr #2

; Function Attrs: convergent norecurse nounwind
define dso_local spir_kernel void @at(ptr addrspace(1) noundef align 4 %0, ptr addrspace(1) noundef align 4 %1, ptr addrspace(3) noundef align 4 %2) local_unnamed_addr #5 !dbg !138 !kernel_arg_addr_space !139 !kernel_arg_access_qual !140 !kernel_arg_type !141 !kernel_arg_base_type !142 !kernel_arg_type_qual !143 !kernel_arg_name !144 {
  %4 = alloca i32, align 4
  %5 = alloca i32, align 4
  call void @llvm.lifetime.start.p0(i64 4, ptr nonnull %4) #12, !dbg !145
  store i32 5, ptr %4, align 4, !dbg !146, !tbaa !18
  %6 = addrspacecast ptr addrspace(1) %0 to ptr addrspace(4), !dbg !147
  %7 = tail call spir_func i32 @_Z16atomic_fetch_addPU3AS4VU7_Atomicii(ptr addrspace(4) noundef %6, i32 noundef 1) #13, !dbg !148
  %8 = addrspacecast ptr %4 to ptr addrspace(4), !dbg !149
  %9 = call spir_func zeroext i1 @_Z30atomic_compare_exchange_strongPU3AS4VU7_AtomiciPU3AS4ii(ptr addrspace(4) noundef %6, ptr addrspace(4) noundef %8, i32 noundef 6) #13, !dbg !150
  %10 = call spir_func i32 @_Z10atomic_incPU3AS1Vj(ptr addrspace(1) noundef %1) #13, !dbg !151
  %11 = call spir_func i32 @_Z10atomic_minPU3AS1Vjj(ptr addrspace(1) noundef %1, i32 noundef 3) #13, !dbg !152
  %12 = addrspacecast ptr addrspace(3) %2 to ptr addrspace(4), !dbg !153
  call spir_func void @_Z12atomic_storePU3AS4VU7_Atomicjj(ptr addrspace(4) noundef %12, i32 noundef 1) #13, !dbg !154
  %13 = call spir_func i32 @_Z15atomic_exchangePU3AS4VU7_Atomicjj(ptr addrspace(4) noundef %12, i32 noundef 2) #13, !dbg !155
  %14 = load i32, ptr %4, align 4, !dbg !156, !tbaa !18
  %15 = bitcast ptr addrspace(1) %1 to ptr addrspace(4), !dbg !157
  %16 = call i32 @__atomic_fetch_max_4(ptr addrspace(4) noundef %15, i32 noundef %14, i32 noundef 5) #12, !dbg !157
  %17 = call i32 @__atomic_fetch_add_4(ptr addrspace(4) noundef %15, i32 noundef 3, i32 noundef 0) #12, !dbg !158
  %18 = call i32 @__atomic_load_4(ptr addrspace(4) noundef %15, i32 noundef 2) #12, !dbg !159
  call void @__atomic_store_4(ptr addrspace(4) noundef %15, i32 noundef %18, i32 noundef 3) #12, !dbg !160
  fence seq_cst, !dbg !161
  call void @llvm.lifetime.start.p0(i64 4, ptr nonnull %5) #12, !dbg !162
  store i32 1, ptr %5, align 4, !dbg !163, !tbaa !18
  %19 = bitcast ptr %5 to ptr addrspace(4), !dbg !164
  %20 = call zeroext i1 @__atomic_compare_exchange_4(ptr addrspace(4) noundef %15, ptr addrspace(4) noundef nonnull %19, i32 noundef 9, i32 noundef 5, i32 noundef 0) #12, !dbg !164
  %21 = load i32, ptr %5, align 4, !dbg !165, !tbaa !18
  %22 = icmp ne i32 %21, 3, !dbg !166
  call void @llvm.assume(i1 %22), !dbg !165
  call void @llvm.lifetime.end.p0(i64 4, ptr nonnull %5) #12, !dbg !167
  call void @llvm.lifetime.end.p0(i64 4, ptr nonnull %4) #12, !dbg !167
  ret void, !dbg !167
}

; Function Attrs: convergent nounwind
declare !dbg !168 dso_local spir_func i32 @_Z16atomic_fetch_addPU3AS4VU7_Atomicii(ptr addrspace(4) noundef, i32 noundef) local_unnamed_addr #6

; Function Attrs: convergent nounwind
declare !dbg !169 dso_local spir_func zeroext i1 @_Z30atomic_compare_exchange_strongPU3AS4VU7_AtomiciPU3AS4ii(ptr addrspace(4) noundef, ptr addrspace(4) noundef, i32 noundef) local_unnamed_addr #6

; Function Attrs: convergent nounwind
declare !dbg !170 dso_local spir_func i32 @_Z10atomic_incPU3AS1Vj(ptr addrspace(1) noundef) local_unnamed_addr #6

; Function Attrs: convergent nounwind
declare !dbg !171 dso_local spir_func i32 @_Z10atomic_minPU3AS1Vjj(ptr addrspace(1) noundef, i32 noundef) local_unnamed_addr #6

; Function Attrs: convergent nounwind
declare !dbg !172 dso_local spir_func void @_Z12atomic_storePU3AS4VU7_Atomicjj(ptr addrspace(4) noundef, i32 noundef) local_unnamed_addr #6

; Function Attrs: convergent nounwind
declare !dbg !173 dso_local spir_func i32 @_Z15atomic_exchangePU3AS4VU7_Atomicjj(ptr addrspace(4) noundef, i32 noundef) local_unnamed_addr #6

; Function Attrs: mustprogress nounwind willreturn
declare dso_local spir_func i32 @__atomic_fetch_max_4(ptr addrspace(4), i32, i32) local_unnamed_addr #7

; Function Attrs: mustprogress nounwind willreturn
declare dso_local spir_func i32 @__atomic_fetch_add_4(ptr addrspace(4), i32, i32) local_unnamed_addr #7

; Function Attrs: mustprogress nounwind willreturn
declare dso_local spir_func i32 @__atomic_load_4(ptr addrspace(4), i32) local_unnamed_addr #7

; Function Attrs: mustprogress nounwind willreturn
declare dso_local spir_func void @__atomic_store_4(ptr addrspace(4), i32, i32) local_unnamed_addr #7

; Function Attrs: mustprogress nounwind willreturn
declare dso_local spir_func i1 @__atomic_compare_exchange_4(ptr addrspace(4), ptr addrspace(4), i32, i32, i32) local_unnamed_addr #7

; Function Attrs: convergent norecurse nounwind
define dso_local spir_kernel void @grp(ptr addrspace(1) nocapture noundef align 4 %0) local_unnamed_addr #5 !dbg !174 !kernel_arg_addr_space !175 !kernel_arg_access_qual !176 !kernel_arg_type !177 !kernel_arg_base_type !177 !kernel_arg_type_qual !178 !kernel_arg_name !179 {
  %2 = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #11, !dbg !180
  %3 = trunc i64 %2 to i32, !dbg !180
  %4 = sext i32 %3 to i64, !dbg !181
  %5 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %4, !dbg !181
  %6 = load i32, ptr addrspace(1) %5, align 4, !dbg !181, !tbaa !18
  %7 = getelementptr inbounds [64 x i32], ptr addrspace(3) @grp.t, i64 0, i64 %4, !dbg !182
  store i32 %6, ptr addrspace(3) %7, align 4, !dbg !183, !tbaa !18
  store i32 %3, ptr addrspace(3) @grp.lp.0, align 16, !dbg !184, !tbaa !79
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #13, !dbg !185
  %8 = sub nsw i32 63, %3, !dbg !186
  %9 = sext i32 %8 to i64, !dbg !187
  %10 = getelementptr inbounds [64 x i32], ptr addrspace(3) @grp.t, i64 0, i64 %9, !dbg !187
  %11 = load i32, ptr addrspace(3) %10, align 4, !dbg !187, !tbaa !18
  %12 = load i32, ptr addrspace(3) @grp.lp.0, align 16, !dbg !188, !tbaa !79
  %13 = add nsw i32 %12, %11, !dbg !189
  %14 = load i32, ptr addrspace(1) %5, align 4, !dbg !190, !tbaa !18
  %15 = tail call spir_func i32 @_Z20sub_group_reduce_addi(i32 noundef %14) #13, !dbg !191
  %16 = add nsw i32 %13, %15, !dbg !192
  store i32 %16, ptr addrspace(1) %5, align 4, !dbg !193, !tbaa !18
  %17 = icmp eq i32 %3, 0, !dbg !194
  %18 = addrspacecast ptr addrspace(1) %0 to ptr addrspace(4), !dbg !194
  %19 = select i1 %17, ptr addrspace(4) addrspacecast (ptr addrspace(3) @grp.t to ptr addrspace(4)), ptr addrspace(4) %18, !dbg !194
  store i32 3, ptr addrspace(4) %19, align 4, !dbg !195, !tbaa !18
  ret void, !dbg !196
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !197 dso_local spir_func i64 @_Z12get_local_idj(i32 noundef) local_unnamed_addr #2

; Function Attrs: convergent nounwind
declare !dbg !198 dso_local spir_func void @_Z7barrierj(i32 noundef) local_unnamed_addr #6

; Function Attrs: convergent nounwind
declare !dbg !199 dso_local spir_func i32 @_Z20sub_group_reduce_addi(i32 noundef) local_unnamed_addr #6

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite)
define dso_local spir_kernel void @places(ptr addrspace(1) nocapture noundef align 4 %0) local_unnamed_addr #8 !dbg !200 !kernel_arg_addr_space !175 !kernel_arg_access_qual !176 !kernel_arg_type !202 !kernel_arg_base_type !202 !kernel_arg_type_qual !178 !kernel_arg_name !179 {
  %2 = getelementptr inbounds float, ptr addrspace(1) %0, i64 1, !dbg !203
  %3 = load float, ptr addrspace(1) %2, align 4, !dbg !203, !tbaa !70
  %4 = tail call float @llvm.fmuladd.f32(float %3, float 3.000000e+00, float 1.000000e+00), !dbg !204
  store float %4, ptr addrspace(1) %0, align 4, !dbg !207, !tbaa !70
  %5 = getelementptr inbounds float, ptr addrspace(1) %0, i64 3, !dbg !208
  %6 = load float, ptr addrspace(1) %5, align 4, !dbg !208, !tbaa !70
  %7 = fdiv float %6, 7.000000e+00, !dbg !211, !fpmath !214
  %8 = getelementptr inbounds float, ptr addrspace(1) %0, i64 2, !dbg !215
  store float %7, ptr addrspace(1) %8, align 4, !dbg !216, !tbaa !70
  ret void, !dbg !217
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fmuladd.f32(float, float, float) #4

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @llvm.assume(i1 noundef) #9

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p3.i64(ptr noalias nocapture writeonly, ptr addrspace(3) noalias nocapture readonly, i64, i1 immarg) #10

attributes #0 = { convergent nofree norecurse nounwind memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #3 = { convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #4 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #5 = { convergent norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #6 = { convergent nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #7 = { mustprogress nounwind willreturn }
attributes #8 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #9 = { nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite) }
attributes #10 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #11 = { convergent nounwind willreturn memory(none) }
attributes #12 = { nounwind }
attributes #13 = { convergent nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5}
!opencl.ocl.version = !{!6}
!opencl.spir.version = !{!6}
!llvm.ident = !{!7}

!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "Debian clang version 16.0.6 (15~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "features.cl", directory: ".", checksumkind: CSK_MD5, checksum: "43e8fefd57545d146e91839d9f546b6c")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{i32 3, i32 0}
!7 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!8 = distinct !DISubprogram(name: "s", scope: !1, file: !1, line: 15, type: !9, scopeLine: 16, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !10)
!9 = !DISubroutineType(types: !10)
!10 = !{}
!11 = !{i32 1, i32 0}
!12 = !{!"none", !"none"}
!13 = !{!"int*", !"int"}
!14 = !{!"", !""}
!15 = !{!"a", !"n"}
!16 = !DILocation(line: 17, column: 13, scope: !8)
!17 = !DILocation(line: 18, column: 13, scope: !8)
!18 = !{!19, !19, i64 0}
!19 = !{!"int", !20, i64 0}
!20 = !{!"omnipotent char", !21, i64 0}
!21 = !{!"Simple C/C++ TBAA"}
!22 = !DILocation(line: 18, column: 5, scope: !8)
!23 = !DILocation(line: 19, column: 18, scope: !8)
!24 = !DILocation(line: 19, column: 23, scope: !8)
!25 = !DILocation(line: 20, column: 14, scope: !8)
!26 = !DILocation(line: 21, column: 17, scope: !8)
!27 = !DILocation(line: 21, column: 21, scope: !8)
!28 = !DILocation(line: 23, column: 19, scope: !8)
!29 = !DILocation(line: 23, column: 24, scope: !8)
!30 = !DILocation(line: 24, column: 15, scope: !8)
!31 = !DILocation(line: 25, column: 5, scope: !8)
!32 = !DILocation(line: 27, column: 23, scope: !8)
!33 = !DILocation(line: 27, column: 5, scope: !8)
!34 = !DILocation(line: 30, column: 13, scope: !8)
!35 = !DILocation(line: 30, column: 18, scope: !8)
!36 = !DILocation(line: 32, column: 11, scope: !8)
!37 = !DILocation(line: 33, column: 15, scope: !8)
!38 = !DILocation(line: 33, column: 13, scope: !8)
!39 = !DILocation(line: 0, scope: !8)
!40 = !DILocation(line: 27, column: 29, scope: !8)
!41 = distinct !{!41, !33, !42}
!42 = !DILocation(line: 35, column: 5, scope: !8)
!43 = !DILocation(line: 26, column: 9, scope: !8)
!44 = !DILocation(line: 36, column: 10, scope: !8)
!45 = !DILocation(line: 36, column: 5, scope: !8)
!46 = !DILocation(line: 38, column: 9, scope: !8)
!47 = !DILocation(line: 38, column: 5, scope: !8)
!48 = !DILocation(line: 38, column: 14, scope: !8)
!49 = !DILocation(line: 39, column: 1, scope: !8)
!50 = !DISubprogram(name: "get_global_id", scope: !1, file: !1, line: 17, type: !9, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !10)
!51 = distinct !DISubprogram(name: "st", scope: !1, file: !1, line: 40, type: !9, scopeLine: 41, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !10)
!52 = !{i32 1, i32 0, i32 1, i32 3}
!53 = !{!"none", !"none", !"none", !"none"}
!54 = !{!"struct P*", !"struct P", !"Q*", !"float*"}
!55 = !{!"", !"", !"", !""}
!56 = !{!"p", !"q", !"z", !"l"}
!57 = !DILocation(line: 42, column: 13, scope: !51)
!58 = !DILocation(line: 43, column: 14, scope: !51)
!59 = !DILocation(line: 43, column: 23, scope: !51)
!60 = !DILocation(line: 43, column: 5, scope: !51)
!61 = !DILocation(line: 43, column: 12, scope: !51)
!62 = !{!20, !20, i64 0}
!63 = !DILocation(line: 44, column: 17, scope: !51)
!64 = !DILocation(line: 44, column: 5, scope: !51)
!65 = !DILocation(line: 44, column: 15, scope: !51)
!66 = !DILocation(line: 45, column: 25, scope: !51)
!67 = !DILocation(line: 45, column: 10, scope: !51)
!68 = !DILocation(line: 45, column: 12, scope: !51)
!69 = !DILocation(line: 46, column: 12, scope: !51)
!70 = !{!71, !71, i64 0}
!71 = !{!"float", !20, i64 0}
!72 = !DILocation(line: 46, column: 27, scope: !51)
!73 = !DILocation(line: 46, column: 25, scope: !51)
!74 = !DILocation(line: 46, column: 5, scope: !51)
!75 = !DILocation(line: 46, column: 10, scope: !51)
!76 = !DILocation(line: 47, column: 5, scope: !51)
!77 = !DILocation(line: 49, column: 14, scope: !51)
!78 = !DILocation(line: 50, column: 20, scope: !51)
!79 = !{!80, !19, i64 16}
!80 = !{!"P", !20, i64 0, !19, i64 16, !20, i64 20}
!81 = !DILocation(line: 50, column: 22, scope: !51)
!82 = !DILocation(line: 50, column: 16, scope: !51)
!83 = !DILocation(line: 50, column: 14, scope: !51)
!84 = !DILocation(line: 51, column: 1, scope: !51)
!85 = distinct !DISubprogram(name: "vec", scope: !1, file: !1, line: 52, type: !9, scopeLine: 53, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !10)
!86 = !{i32 1, i32 1, i32 1, i32 1, i32 1}
!87 = !{!"none", !"none", !"none", !"none", !"none"}
!88 = !{!"float4*", !"half8*", !"double*", !"uchar4*", !"long*"}
!89 = !{!"float __attribute__((ext_vector_type(4)))*", !"half __attribute__((ext_vector_type(8)))*", !"double*", !"uchar __attribute__((ext_vector_type(4)))*", !"long*"}
!90 = !{!"", !"", !"", !"", !""}
!91 = !{!"a", !"h", !"d", !"u", !"g"}
!92 = !DILocation(line: 54, column: 13, scope: !85)
!93 = !DILocation(line: 55, column: 16, scope: !85)
!94 = !DILocation(line: 56, column: 22, scope: !85)
!95 = !DILocation(line: 56, column: 32, scope: !85)
!96 = !DILocation(line: 56, column: 12, scope: !85)
!97 = !DILocation(line: 56, column: 10, scope: !85)
!98 = !DILocation(line: 57, column: 12, scope: !85)
!99 = !DILocation(line: 57, column: 30, scope: !85)
!100 = !DILocation(line: 57, column: 10, scope: !85)
!101 = !DILocation(line: 58, column: 12, scope: !85)
!102 = !{!103, !103, i64 0}
!103 = !{!"double", !20, i64 0}
!104 = !DILocation(line: 58, column: 24, scope: !85)
!105 = !DILocation(line: 58, column: 10, scope: !85)
!106 = !DILocation(line: 59, column: 46, scope: !85)
!107 = !DILocation(line: 59, column: 31, scope: !85)
!108 = !DILocation(line: 59, column: 12, scope: !85)
!109 = !DILocation(line: 59, column: 53, scope: !85)
!110 = !DILocation(line: 59, column: 10, scope: !85)
!111 = !DILocation(line: 60, column: 12, scope: !85)
!112 = !{!113, !113, i64 0}
!113 = !{!"long", !20, i64 0}
!114 = !DILocation(line: 60, column: 17, scope: !85)
!115 = !DILocation(line: 60, column: 32, scope: !85)
!116 = !DILocation(line: 60, column: 21, scope: !85)
!117 = !DILocation(line: 60, column: 10, scope: !85)
!118 = !DILocation(line: 62, column: 12, scope: !85)
!119 = !DILocation(line: 63, column: 14, scope: !85)
!120 = !DILocation(line: 63, column: 12, scope: !85)
!121 = !DILocation(line: 64, column: 19, scope: !85)
!122 = !DILocation(line: 64, column: 14, scope: !85)
!123 = !DILocation(line: 64, column: 12, scope: !85)
!124 = !DILocation(line: 65, column: 28, scope: !85)
!125 = !DILocation(line: 65, column: 14, scope: !85)
!126 = !DILocation(line: 65, column: 12, scope: !85)
!127 = !DILocation(line: 66, column: 14, scope: !85)
!128 = !DILocation(line: 66, column: 18, scope: !85)
!129 = !DILocation(line: 66, column: 22, scope: !85)
!130 = !DILocation(line: 66, column: 25, scope: !85)
!131 = !DILocation(line: 66, column: 12, scope: !85)
!132 = !DILocation(line: 67, column: 1, scope: !85)
!133 = !DISubprogram(name: "select", scope: !1, file: !1, line: 56, type: !9, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !10)
!134 = !DISubprogram(name: "convert_uchar4_sat", scope: !1, file: !1, line: 59, type: !9, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !10)
!135 = !DISubprogram(name: "convert_float4", scope: !1, file: !1, line: 59, type: !9, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !10)
!136 = !DISubprogram(name: "fmod", scope: !1, file: !1, line: 64, type: !9, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !10)
!137 = !DISubprogram(name: "isnan", scope: !1, file: !1, line: 66, type: !9, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !10)
!138 = distinct !DISubprogram(name: "at", scope: !1, file: !1, line: 68, type: !9, scopeLine: 69, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !10)
!139 = !{i32 1, i32 1, i32 3}
!140 = !{!"none", !"none", !"none"}
!141 = !{!"atomic_int*", !"uint*", !"atomic_uint*"}
!142 = !{!"_Atomic(int)*", !"uint*", !"_Atomic(unsigned int)*"}
!143 = !{!"", !"volatile", !""}
!144 = !{!"a", !"b", !"c"}
!145 = !DILocation(line: 70, column: 5, scope: !138)
!146 = !DILocation(line: 70, column: 9, scope: !138)
!147 = !DILocation(line: 71, column: 22, scope: !138)
!148 = !DILocation(line: 71, column: 5, scope: !138)
!149 = !DILocation(line: 72, column: 39, scope: !138)
!150 = !DILocation(line: 72, column: 5, scope: !138)
!151 = !DILocation(line: 73, column: 5, scope: !138)
!152 = !DILocation(line: 74, column: 5, scope: !138)
!153 = !DILocation(line: 75, column: 18, scope: !138)
!154 = !DILocation(line: 75, column: 5, scope: !138)
!155 = !DILocation(line: 76, column: 5, scope: !138)
!156 = !DILocation(line: 77, column: 50, scope: !138)
!157 = !DILocation(line: 77, column: 5, scope: !138)
!158 = !DILocation(line: 78, column: 5, scope: !138)
!159 = !DILocation(line: 79, column: 14, scope: !138)
!160 = !DILocation(line: 80, column: 5, scope: !138)
!161 = !DILocation(line: 81, column: 5, scope: !138)
!162 = !DILocation(line: 82, column: 5, scope: !138)
!163 = !DILocation(line: 82, column: 10, scope: !138)
!164 = !DILocation(line: 83, column: 5, scope: !138)
!165 = !DILocation(line: 84, column: 9, scope: !138)
!166 = !DILocation(line: 84, column: 12, scope: !138)
!167 = !DILocation(line: 86, column: 1, scope: !138)
!168 = !DISubprogram(name: "atomic_fetch_add", scope: !1, file: !1, line: 71, type: !9, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !10)
!169 = !DISubprogram(name: "atomic_compare_exchange_strong", scope: !1, file: !1, line: 72, type: !9, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !10)
!170 = !DISubprogram(name: "atomic_inc", scope: !1, file: !1, line: 73, type: !9, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !10)
!171 = !DISubprogram(name: "atomic_min", scope: !1, file: !1, line: 74, type: !9, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !10)
!172 = !DISubprogram(name: "atomic_store", scope: !1, file: !1, line: 75, type: !9, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !10)
!173 = !DISubprogram(name: "atomic_exchange", scope: !1, file: !1, line: 76, type: !9, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !10)
!174 = distinct !DISubprogram(name: "grp", scope: !1, file: !1, line: 87, type: !9, scopeLine: 88, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !10)
!175 = !{i32 1}
!176 = !{!"none"}
!177 = !{!"int*"}
!178 = !{!""}
!179 = !{!"a"}
!180 = !DILocation(line: 91, column: 13, scope: !174)
!181 = !DILocation(line: 92, column: 12, scope: !174)
!182 = !DILocation(line: 92, column: 5, scope: !174)
!183 = !DILocation(line: 92, column: 10, scope: !174)
!184 = !DILocation(line: 93, column: 10, scope: !174)
!185 = !DILocation(line: 94, column: 5, scope: !174)
!186 = !DILocation(line: 95, column: 17, scope: !174)
!187 = !DILocation(line: 95, column: 12, scope: !174)
!188 = !DILocation(line: 95, column: 27, scope: !174)
!189 = !DILocation(line: 95, column: 22, scope: !174)
!190 = !DILocation(line: 95, column: 52, scope: !174)
!191 = !DILocation(line: 95, column: 31, scope: !174)
!192 = !DILocation(line: 95, column: 29, scope: !174)
!193 = !DILocation(line: 95, column: 10, scope: !174)
!194 = !DILocation(line: 96, column: 23, scope: !174)
!195 = !DILocation(line: 97, column: 9, scope: !174)
!196 = !DILocation(line: 98, column: 1, scope: !174)
!197 = !DISubprogram(name: "get_local_id", scope: !1, file: !1, line: 91, type: !9, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !10)
!198 = !DISubprogram(name: "barrier", scope: !1, file: !1, line: 94, type: !9, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !10)
!199 = !DISubprogram(name: "sub_group_reduce_add", scope: !1, file: !1, line: 95, type: !9, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !10)
!200 = distinct !DISubprogram(name: "places", scope: !201, file: !201, line: 504, type: !9, scopeLine: 505, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !10)
!201 = !DIFile(filename: "other.h", directory: ".")
!202 = !{!"float*"}
!203 = !DILocation(line: 506, column: 20, scope: !200)
!204 = !DILocation(line: 102, column: 21, scope: !205, inlinedAt: !206)
!205 = distinct !DISubprogram(name: "inlined", scope: !1, file: !1, line: 100, type: !9, scopeLine: 101, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !10)
!206 = distinct !DILocation(line: 506, column: 12, scope: !200)
!207 = !DILocation(line: 506, column: 10, scope: !200)
!208 = !DILocation(line: 900, column: 22, scope: !209)
!209 = !DILexicalBlockFile(scope: !200, file: !210, discriminator: 0)
!210 = !DIFile(filename: "third.h", directory: ".")
!211 = !DILocation(line: 502, column: 14, scope: !212, inlinedAt: !213)
!212 = distinct !DISubprogram(name: "elsewhere", scope: !201, file: !201, line: 500, type: !9, scopeLine: 501, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !10)
!213 = distinct !DILocation(line: 900, column: 12, scope: !209)
!214 = !{float 2.500000e+00}
!215 = !DILocation(line: 900, column: 5, scope: !209)
!216 = !DILocation(line: 900, column: 10, scope: !209)
!217 = !DILocation(line: 901, column: 1, scope: !209)
