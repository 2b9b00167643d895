; ModuleID = 'features.cl'
source_filename = "features.cl"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64"

%struct.Q = type { i8, <3 x float> }
%struct.P = type { <4 x float>, i32, [3 x i8], [9 x i8] }

@table = dso_local addrspace(2) constant [4 x float] [float 1.000000e+00, float 2.500000e+00, float -0.000000e+00, float 0x37A16C2000000000], align 4
@text = dso_local addrspace(2) constant [7 x i8] c"hi\0A\22q\\\00", align 1
@qs = dso_local addrspace(2) constant [2 x %struct.Q] [%struct.Q { i8 1, <3 x float> <float 1.000000e+00, float 2.000000e+00, float 3.000000e+00> }, %struct.Q zeroinitializer], align 16
@grp.t = internal addrspace(3) global [64 x i32] undef, align 4
@grp.lp = internal addrspace(3) global %struct.P undef, align 16

; Function Attrs: convergent noinline norecurse nounwind optnone
define dso_local spir_kernel void @s(ptr addrspace(1) noundef align 4 %0, i32 noundef %1) #0 !dbg !8 !kernel_arg_addr_space !11 !kernel_arg_access_qual !12 !kernel_arg_type !13 !kernel_arg_base_type !13 !kernel_arg_type_qual !14 !kernel_arg_name !15 {
  %3 = alloca ptr addrspace(1), align 8
  %4 = alloca i32, align 4
  %5 = alloca i32, align 4
  %6 = alloca i32, align 4
  %7 = alloca i32, align 4
  store ptr addrspace(1) %0, ptr %3, align 8
  store i32 %1, ptr %4, align 4
  %8 = call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #6, !dbg !16
  %9 = trunc i64 %8 to i32, !dbg !16
  store i32 %9, ptr %5, align 4, !dbg !17
  %10 = load ptr addrspace(1), ptr %3, align 8, !dbg !18
  %11 = load i32, ptr %5, align 4, !dbg !19
  %12 = sext i32 %11 to i64, !dbg !18
  %13 = getelementptr inbounds i32, ptr addrspace(1) %10, i64 %12, !dbg !18
  %14 = load i32, ptr addrspace(1) %13, align 4, !dbg !18
  switch i32 %14, label %37 [
    i32 1, label %15
    i32 -7, label %20
    i32 9, label %25
    i32 10, label %32
    i32 11, label %32
  ], !dbg !20

15:                                               ; preds = %2
  %16 = load ptr addrspace(1), ptr %3, align 8, !dbg !21
  %17 = load i32, ptr %5, align 4, !dbg !22
  %18 = sext i32 %17 to i64, !dbg !21
  %19 = getelementptr inbounds i32, ptr addrspace(1) %16, i64 %18, !dbg !21
  store i32 5, ptr addrspace(1) %19, align 4, !dbg !23
  br label %40, !dbg !24

20:                                               ; preds = %2
  %21 = load ptr addrspace(1), ptr %3, align 8, !dbg !25
  %22 = load i32, ptr %5, align 4, !dbg !26
  %23 = sext i32 %22 to i64, !dbg !25
  %24 = getelementptr inbounds i32, ptr addrspace(1) %21, i64 %23, !dbg !25
  store i32 6, ptr addrspace(1) %24, align 4, !dbg !27
  br label %25, !dbg !25

25:                                               ; preds = %2, %20
  %26 = load ptr addrspace(1), ptr %3, align 8, !dbg !28
  %27 = load i32, ptr %5, align 4, !dbg !29
  %28 = sext i32 %27 to i64, !dbg !28
  %29 = getelementptr inbounds i32, ptr addrspace(1) %26, i64 %28, !dbg !28
  %30 = load i32, ptr addrspace(1) %29, align 4, !dbg !30
  %31 = add nsw i32 %30, 1, !dbg !30
  store i32 %31, ptr addrspace(1) %29, align 4, !dbg !30
  br label %40, !dbg !31

32:                                               ; preds = %2, %2
  %33 = load ptr addrspace(1), ptr %3, align 8, !dbg !32
  %34 = load i32, ptr %5, align 4, !dbg !33
  %35 = sext i32 %34 to i64, !dbg !32
  %36 = getelementptr inbounds i32, ptr addrspace(1) %33, i64 %35, !dbg !32
  store i32 0, ptr addrspace(1) %36, align 4, !dbg !34
  br label %40, !dbg !35

37:                                               ; preds = %2
  %38 = load i32, ptr %4, align 4, !dbg !36
  %39 = add nsw i32 %38, 1, !dbg !36
  store i32 %39, ptr %4, align 4, !dbg !36
  br label %40, !dbg !37

40:                                               ; preds = %37, %32, %25, %15
  store i32 0, ptr %6, align 4, !dbg !38
  store i32 0, ptr %7, align 4, !dbg !39
  br label %41, !dbg !40

41:                                               ; preds = %69, %40
  %42 = load i32, ptr %7, align 4, !dbg !41
  %43 = load i32, ptr %4, align 4, !dbg !42
  %44 = icmp slt i32 %42, %43, !dbg !43
  br i1 %44, label %45, label %72, !dbg !44

45:                                               ; preds = %41
  %46 = load i32, ptr %7, align 4, !dbg !45
  %47 = icmp eq i32 %46, 7, !dbg !46
  br i1 %47, label %48, label %49, !dbg !45

48:                                               ; preds = %45
  br label %72, !dbg !47

49:                                               ; preds = %45
  %50 = load ptr addrspace(1), ptr %3, align 8, !dbg !48
  %51 = load i32, ptr %7, align 4, !dbg !49
  %52 = sext i32 %51 to i64, !dbg !48
  %53 = getelementptr inbounds i32, ptr addrspace(1) %50, i64 %52, !dbg !48
  %54 = load i32, ptr addrspace(1) %53, align 4, !dbg !48
  %55 = icmp sgt i32 %54, 3, !dbg !50
  br i1 %55, label %56, label %57, !dbg !48

56:                                               ; preds = %49
  br label %69, !dbg !51

57:                                               ; preds = %49
  %58 = load ptr addrspace(1), ptr %3, align 8, !dbg !52
  %59 = load i32, ptr %7, align 4, !dbg !53
  %60 = sext i32 %59 to i64, !dbg !52
  %61 = getelementptr inbounds i32, ptr addrspace(1) %58, i64 %60, !dbg !52
  %62 = load i32, ptr addrspace(1) %61, align 4, !dbg !52
  %63 = load i32, ptr %6, align 4, !dbg !54
  %64 = add nsw i32 %63, %62, !dbg !54
  store i32 %64, ptr %6, align 4, !dbg !54
  %65 = load i32, ptr %6, align 4, !dbg !55
  %66 = icmp eq i32 %65, 99, !dbg !56
  br i1 %66, label %67, label %68, !dbg !55

67:                                               ; preds = %57
  br label %78, !dbg !57

68:                                               ; preds = %57
  br label %69, !dbg !58

69:                                               ; preds = %68, %56
  %70 = load i32, ptr %7, align 4, !dbg !59
  %71 = add nsw i32 %70, 1, !dbg !59
  store i32 %71, ptr %7, align 4, !dbg !59
  br label %41, !dbg !44, !llvm.loop !60

72:                                               ; preds = %48, %41
  %73 = load i32, ptr %6, align 4, !dbg !61
  %74 = load ptr addrspace(1), ptr %3, align 8, !dbg !62
  %75 = load i32, ptr %5, align 4, !dbg !63
  %76 = sext i32 %75 to i64, !dbg !62
  %77 = getelementptr inbounds i32, ptr addrspace(1) %74, i64 %76, !dbg !62
  store i32 %73, ptr addrspace(1) %77, align 4, !dbg !64
  br label %78, !dbg !62

78:                                               ; preds = %72, %67
  %79 = load i32, ptr %4, align 4, !dbg !65
  %80 = load ptr addrspace(1), ptr %3, align 8, !dbg !66
  %81 = load i32, ptr %5, align 4, !dbg !67
  %82 = add nsw i32 %81, 1, !dbg !68
  %83 = sext i32 %82 to i64, !dbg !66
  %84 = getelementptr inbounds i32, ptr addrspace(1) %80, i64 %83, !dbg !66
  store i32 %79, ptr addrspace(1) %84, align 4, !dbg !69
  ret void, !dbg !70
}

; Function Attrs: convergent nounwind willreturn memory(none)
declare dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) #1

; Function Attrs: convergent noinline norecurse nounwind optnone
define dso_local spir_kernel void @st(ptr addrspace(1) noundef align 16 %0, ptr noundef byval(%struct.P) align 16 %1, ptr addrspace(1) noundef align 16 %2, ptr addrspace(3) noundef align 4 %3) #0 !dbg !71 !kernel_arg_addr_space !72 !kernel_arg_access_qual !73 !kernel_arg_type !74 !kernel_arg_base_type !74 !kernel_arg_type_qual !75 !kernel_arg_name !76 {
  %5 = alloca ptr addrspace(1), align 8
  %6 = alloca ptr addrspace(1), align 8
  %7 = alloca ptr addrspace(3), align 8
  %8 = alloca i32, align 4
  %9 = alloca [8 x float], align 4
  %10 = alloca i32, align 4
  store ptr addrspace(1) %0, ptr %5, align 8
  store ptr addrspace(1) %2, ptr %6, align 8
  store ptr addrspace(3) %3, ptr %7, align 8
  %11 = call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #6, !dbg !77
  %12 = trunc i64 %11 to i32, !dbg !77
  store i32 %12, ptr %8, align 4, !dbg !78
  %13 = getelementptr inbounds %struct.P, ptr %1, i32 0, i32 0, !dbg !79
  %14 = load <4 x float>, ptr %13, align 16, !dbg !80
  %15 = shufflevector <4 x float> %14, <4 x float> poison, <4 x i32> <i32 3, i32 2, i32 1, i32 0>, !dbg !80
  %16 = fmul <4 x float> %15, <float 2.000000e+00, float 2.000000e+00, float 2.000000e+00, float 2.000000e+00>, !dbg !81
  %17 = load ptr addrspace(1), ptr %5, align 8, !dbg !82
  %18 = load i32, ptr %8, align 4, !dbg !83
  %19 = sext i32 %18 to i64, !dbg !82
  %20 = getelementptr inbounds %struct.P, ptr addrspace(1) %17, i64 %19, !dbg !82
  %21 = getelementptr inbounds %struct.P, ptr addrspace(1) %20, i32 0, i32 0, !dbg !84
  store <4 x float> %16, ptr addrspace(1) %21, align 16, !dbg !85
  %22 = getelementptr inbounds %struct.P, ptr %1, i32 0, i32 2, !dbg !86
  %23 = load i32, ptr %8, align 4, !dbg !87
  %24 = and i32 %23, 1, !dbg !88
  %25 = sext i32 %24 to i64, !dbg !89
  %26 = getelementptr inbounds [3 x i8], ptr %22, i64 0, i64 %25, !dbg !89
  %27 = load i8, ptr %26, align 1, !dbg !89
  %28 = load ptr addrspace(1), ptr %5, align 8, !dbg !90
  %29 = load i32, ptr %8, align 4, !dbg !91
  %30 = sext i32 %29 to i64, !dbg !90
  %31 = getelementptr inbounds %struct.P, ptr addrspace(1) %28, i64 %30, !dbg !90
  %32 = getelementptr inbounds %struct.P, ptr addrspace(1) %31, i32 0, i32 2, !dbg !92
  %33 = getelementptr inbounds [3 x i8], ptr addrspace(1) %32, i64 0, i64 1, !dbg !90
  store i8 %27, ptr addrspace(1) %33, align 1, !dbg !93
  %34 = load i32, ptr %8, align 4, !dbg !94
  %35 = and i32 %34, 1, !dbg !95
  %36 = sext i32 %35 to i64, !dbg !96
  %37 = getelementptr inbounds [2 x %struct.Q], ptr addrspace(2) @qs, i64 0, i64 %36, !dbg !96
  %38 = getelementptr inbounds %struct.Q, ptr addrspace(2) %37, i32 0, i32 1, !dbg !97
  %39 = load <4 x float>, ptr addrspace(2) %38, align 16, !dbg !97
  %40 = shufflevector <4 x float> %39, <4 x float> poison, <3 x i32> <i32 0, i32 1, i32 2>, !dbg !97
  %41 = load ptr addrspace(1), ptr %6, align 8, !dbg !98
  %42 = load i32, ptr %8, align 4, !dbg !99
  %43 = sext i32 %42 to i64, !dbg !98
  %44 = getelementptr inbounds %struct.Q, ptr addrspace(1) %41, i64 %43, !dbg !98
  %45 = getelementptr inbounds %struct.Q, ptr addrspace(1) %44, i32 0, i32 1, !dbg !100
  %46 = load <4 x float>, ptr addrspace(1) %45, align 16, !dbg !101
  %47 = shufflevector <4 x float> %46, <4 x float> poison, <3 x i32> <i32 0, i32 1, i32 2>, !dbg !101
  %48 = fadd <3 x float> %47, %40, !dbg !101
  %49 = shufflevector <3 x float> %48, <3 x float> poison, <4 x i32> <i32 0, i32 1, i32 2, i32 undef>, !dbg !101
  store <4 x float> %49, ptr addrspace(1) %45, align 16, !dbg !101
  %50 = load i32, ptr %8, align 4, !dbg !102
  %51 = and i32 %50, 3, !dbg !103
  %52 = sext i32 %51 to i64, !dbg !104
  %53 = getelementptr inbounds [4 x float], ptr addrspace(2) @table, i64 0, i64 %52, !dbg !104
  %54 = load float, ptr addrspace(2) %53, align 4, !dbg !104
  %55 = load i32, ptr %8, align 4, !dbg !105
  %56 = and i32 %55, 3, !dbg !106
  %57 = sext i32 %56 to i64, !dbg !107
  %58 = getelementptr inbounds [7 x i8], ptr addrspace(2) @text, i64 0, i64 %57, !dbg !107
  %59 = load i8, ptr addrspace(2) %58, align 1, !dbg !107
  %60 = sext i8 %59 to i32, !dbg !107
  %61 = sitofp i32 %60 to float, !dbg !107
  %62 = fadd float %54, %61, !dbg !108
  %63 = load ptr addrspace(3), ptr %7, align 8, !dbg !109
  %64 = load i32, ptr %8, align 4, !dbg !110
  %65 = sext i32 %64 to i64, !dbg !109
  %66 = getelementptr inbounds float, ptr addrspace(3) %63, i64 %65, !dbg !109
  store float %62, ptr addrspace(3) %66, align 4, !dbg !111
  store i32 0, ptr %10, align 4, !dbg !112
  br label %67, !dbg !113

67:                                               ; preds = %79, %4
  %68 = load i32, ptr %10, align 4, !dbg !114
  %69 = icmp slt i32 %68, 8, !dbg !115
  br i1 %69, label %70, label %82, !dbg !116

70:                                               ; preds = %67
  %71 = load ptr addrspace(3), ptr %7, align 8, !dbg !117
  %72 = load i32, ptr %10, align 4, !dbg !118
  %73 = sext i32 %72 to i64, !dbg !117
  %74 = getelementptr inbounds float, ptr addrspace(3) %71, i64 %73, !dbg !117
  %75 = load float, ptr addrspace(3) %74, align 4, !dbg !117
  %76 = load i32, ptr %10, align 4, !dbg !119
  %77 = sext i32 %76 to i64, !dbg !120
  %78 = getelementptr inbounds [8 x float], ptr %9, i64 0, i64 %77, !dbg !120
  store float %75, ptr %78, align 4, !dbg !121
  br label %79, !dbg !120

79:                                               ; preds = %70
  %80 = load i32, ptr %10, align 4, !dbg !122
  %81 = add nsw i32 %80, 1, !dbg !122
  store i32 %81, ptr %10, align 4, !dbg !122
  br label %67, !dbg !116, !llvm.loop !123

82:                                               ; preds = %67
  %83 = getelementptr inbounds %struct.P, ptr %1, i32 0, i32 1, !dbg !125
  %84 = load i32, ptr %83, align 16, !dbg !125
  %85 = and i32 %84, 7, !dbg !126
  %86 = sext i32 %85 to i64, !dbg !127
  %87 = getelementptr inbounds [8 x float], ptr %9, i64 0, i64 %86, !dbg !127
  %88 = load float, ptr %87, align 4, !dbg !127
  %89 = load ptr addrspace(1), ptr %5, align 8, !dbg !128
  %90 = load i32, ptr %8, align 4, !dbg !129
  %91 = sext i32 %90 to i64, !dbg !128
  %92 = getelementptr inbounds %struct.P, ptr addrspace(1) %89, i64 %91, !dbg !128
  %93 = getelementptr inbounds %struct.P, ptr addrspace(1) %92, i32 0, i32 0, !dbg !130
  %94 = load <4 x float>, ptr addrspace(1) %93, align 16, !dbg !131
  %95 = insertelement <4 x float> %94, float %88, i64 0, !dbg !131
  store <4 x float> %95, ptr addrspace(1) %93, align 16, !dbg !131
  ret void, !dbg !132
}

; Function Attrs: convergent noinline norecurse nounwind optnone
define dso_local spir_kernel void @vec(ptr addrspace(1) noundef align 16 %0, ptr addrspace(1) noundef align 16 %1, ptr addrspace(1) noundef align 8 %2, ptr addrspace(1) noundef align 4 %3, ptr addrspace(1) noundef align 8 %4) #0 !dbg !133 !kernel_arg_addr_space !134 !kernel_arg_access_qual !135 !kernel_arg_type !136 !kernel_arg_base_type !137 !kernel_arg_type_qual !138 !kernel_arg_name !139 {
  %6 = alloca ptr addrspace(1), align 8
  %7 = alloca ptr addrspace(1), align 8
  %8 = alloca ptr addrspace(1), align 8
  %9 = alloca ptr addrspace(1), align 8
  %10 = alloca ptr addrspace(1), align 8
  %11 = alloca i32, align 4
  %12 = alloca <4 x float>, align 16
  %13 = alloca <4 x i8>, align 4
  store ptr addrspace(1) %0, ptr %6, align 8
  store ptr addrspace(1) %1, ptr %7, align 8
  store ptr addrspace(1) %2, ptr %8, align 8
  store ptr addrspace(1) %3, ptr %9, align 8
  store ptr addrspace(1) %4, ptr %10, align 8
  %14 = call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #6, !dbg !140
  %15 = trunc i64 %14 to i32, !dbg !140
  store i32 %15, ptr %11, align 4, !dbg !141
  %16 = load ptr addrspace(1), ptr %6, align 8, !dbg !142
  %17 = load i32, ptr %11, align 4, !dbg !143
  %18 = sext i32 %17 to i64, !dbg !142
  %19 = getelementptr inbounds <4 x float>, ptr addrspace(1) %16, i64 %18, !dbg !142
  %20 = load <4 x float>, ptr addrspace(1) %19, align 16, !dbg !142
  store <4 x float> %20, ptr %12, align 16, !dbg !144
  %21 = load <4 x float>, ptr %12, align 16, !dbg !145
  %22 = load <4 x float>, ptr %12, align 16, !dbg !146
  %23 = shufflevector <4 x float> %22, <4 x float> poison, <4 x i32> <i32 1, i32 1, i32 0, i32 0>, !dbg !146
  %24 = load <4 x float>, ptr %12, align 16, !dbg !147
  %25 = fcmp ogt <4 x float> %24, <float 1.000000e+00, float 1.000000e+00, float 1.000000e+00, float 1.000000e+00>, !dbg !148
  %26 = sext <4 x i1> %25 to <4 x i32>, !dbg !148
  %27 = call spir_func <4 x float> @_Z6selectDv4_fS_Dv4_i(<4 x float> noundef %21, <4 x float> noundef %23, <4 x i32> noundef %26) #6, !dbg !149
  %28 = load ptr addrspace(1), ptr %6, align 8, !dbg !150
  %29 = load i32, ptr %11, align 4, !dbg !151
  %30 = sext i32 %29 to i64, !dbg !150
  %31 = getelementptr inbounds <4 x float>, ptr addrspace(1) %28, i64 %30, !dbg !150
  store <4 x float> %27, ptr addrspace(1) %31, align 16, !dbg !152
  %32 = load ptr addrspace(1), ptr %7, align 8, !dbg !153
  %33 = load i32, ptr %11, align 4, !dbg !154
  %34 = sext i32 %33 to i64, !dbg !153
  %35 = getelementptr inbounds <8 x half>, ptr addrspace(1) %32, i64 %34, !dbg !153
  %36 = load <8 x half>, ptr addrspace(1) %35, align 16, !dbg !153
  %37 = call <8 x half> @llvm.fmuladd.v8f16(<8 x half> %36, <8 x half> <half 0xH3E00, half 0xH3E00, half 0xH3E00, half 0xH3E00, half 0xH3E00, half 0xH3E00, half 0xH3E00, half 0xH3E00>, <8 x half> <half 0xH2E66, half 0xH2E66, half 0xH2E66, half 0xH2E66, half 0xH2E66, half 0xH2E66, half 0xH2E66, half 0xH2E66>), !dbg !155
  %38 = load ptr addrspace(1), ptr %7, align 8, !dbg !156
  %39 = load i32, ptr %11, align 4, !dbg !157
  %40 = sext i32 %39 to i64, !dbg !156
  %41 = getelementptr inbounds <8 x half>, ptr addrspace(1) %38, i64 %40, !dbg !156
  store <8 x half> %37, ptr addrspace(1) %41, align 16, !dbg !158
  %42 = load ptr addrspace(1), ptr %8, align 8, !dbg !159
  %43 = load i32, ptr %11, align 4, !dbg !160
  %44 = sext i32 %43 to i64, !dbg !159
  %45 = getelementptr inbounds double, ptr addrspace(1) %42, i64 %44, !dbg !159
  %46 = load double, ptr addrspace(1) %45, align 8, !dbg !159
  %47 = call double @llvm.fmuladd.f64(double %46, double 3.250000e+00, double 1.000000e-01), !dbg !161
  %48 = load ptr addrspace(1), ptr %8, align 8, !dbg !162
  %49 = load i32, ptr %11, align 4, !dbg !163
  %50 = sext i32 %49 to i64, !dbg !162
  %51 = getelementptr inbounds double, ptr addrspace(1) %48, i64 %50, !dbg !162
  store double %47, ptr addrspace(1) %51, align 8, !dbg !164
  %52 = load ptr addrspace(1), ptr %9, align 8, !dbg !165
  %53 = load i32, ptr %11, align 4, !dbg !166
  %54 = sext i32 %53 to i64, !dbg !165
  %55 = getelementptr inbounds <4 x i8>, ptr addrspace(1) %52, i64 %54, !dbg !165
  %56 = load <4 x i8>, ptr addrspace(1) %55, align 4, !dbg !165
  %57 = call spir_func <4 x float> @_Z14convert_float4Dv4_h(<4 x i8> noundef %56) #6, !dbg !167
  %58 = call spir_func <4 x i8> @_Z18convert_uchar4_satDv4_f(<4 x float> noundef %57) #6, !dbg !168
  store <4 x i8> <i8 1, i8 2, i8 3, i8 4>, ptr %13, align 4, !dbg !169
  %59 = load <4 x i8>, ptr %13, align 4, !dbg !169
  %60 = add <4 x i8> %58, %59, !dbg !170
  %61 = load ptr addrspace(1), ptr %9, align 8, !dbg !171
  %62 = load i32, ptr %11, align 4, !dbg !172
  %63 = sext i32 %62 to i64, !dbg !171
  %64 = getelementptr inbounds <4 x i8>, ptr addrspace(1) %61, i64 %63, !dbg !171
  store <4 x i8> %60, ptr addrspace(1) %64, align 4, !dbg !173
  %65 = load ptr addrspace(1), ptr %10, align 8, !dbg !174
  %66 = load i32, ptr %11, align 4, !dbg !175
  %67 = sext i32 %66 to i64, !dbg !174
  %68 = getelementptr inbounds i64, ptr addrspace(1) %65, i64 %67, !dbg !174
  %69 = load i64, ptr addrspace(1) %68, align 8, !dbg !174
  %70 = sdiv i64 %69, 7, !dbg !176
  %71 = load i32, ptr %11, align 4, !dbg !177
  %72 = sext i32 %71 to i64, !dbg !178
  %73 = shl i64 %72, 40, !dbg !179
  %74 = add nsw i64 %70, %73, !dbg !180
  %75 = load ptr addrspace(1), ptr %10, align 8, !dbg !181
  %76 = load i32, ptr %11, align 4, !dbg !182
  %77 = sext i32 %76 to i64, !dbg !181
  %78 = getelementptr inbounds i64, ptr addrspace(1) %75, i64 %77, !dbg !181
  store i64 %74, ptr addrspace(1) %78, align 8, !dbg !183
  %79 = load <4 x float>, ptr %12, align 16, !dbg !184
  %80 = load <4 x float>, ptr %12, align 16, !dbg !185
  %81 = load <4 x float>, ptr %12, align 16, !dbg !186
  %82 = call spir_func <4 x float> @_Z3fmaDv4_fS_S_(<4 x float> noundef %79, <4 x float> noundef %80, <4 x float> noundef %81) #6, !dbg !187
  %83 = load ptr addrspace(1), ptr %6, align 8, !dbg !188
  %84 = load i32, ptr %11, align 4, !dbg !189
  %85 = sext i32 %84 to i64, !dbg !188
  %86 = getelementptr inbounds <4 x float>, ptr addrspace(1) %83, i64 %85, !dbg !188
  store <4 x float> %82, ptr addrspace(1) %86, align 16, !dbg !190
  %87 = load <4 x float>, ptr %12, align 16, !dbg !191
  %88 = fneg <4 x float> %87, !dbg !192
  %89 = load ptr addrspace(1), ptr %6, align 8, !dbg !193
  %90 = load i32, ptr %11, align 4, !dbg !194
  %91 = sext i32 %90 to i64, !dbg !193
  %92 = getelementptr inbounds <4 x float>, ptr addrspace(1) %89, i64 %91, !dbg !193
  store <4 x float> %88, ptr addrspace(1) %92, align 16, !dbg !195
  %93 = load i32, ptr %11, align 4, !dbg !196
  %94 = bitcast i32 %93 to float, !dbg !196
  %95 = load ptr addrspace(1), ptr %6, align 8, !dbg !197
  %96 = load i32, ptr %11, align 4, !dbg !198
  %97 = sext i32 %96 to i64, !dbg !197
  %98 = getelementptr inbounds <4 x float>, ptr addrspace(1) %95, i64 %97, !dbg !197
  %99 = load <4 x float>, ptr addrspace(1) %98, align 16, !dbg !199
  %100 = insertelement <4 x float> %99, float %94, i64 0, !dbg !199
  store <4 x float> %100, ptr addrspace(1) %98, align 16, !dbg !199
  %101 = load <4 x float>, ptr %12, align 16, !dbg !200
  %102 = extractelement <4 x float> %101, i64 1, !dbg !200
  %103 = call spir_func float @_Z4fmodff(float noundef %102, float noundef 2.000000e+00) #6, !dbg !201
  %104 = load ptr addrspace(1), ptr %6, align 8, !dbg !202
  %105 = load i32, ptr %11, align 4, !dbg !203
  %106 = sext i32 %105 to i64, !dbg !202
  %107 = getelementptr inbounds <4 x float>, ptr addrspace(1) %104, i64 %106, !dbg !202
  %108 = load <4 x float>, ptr addrspace(1) %107, align 16, !dbg !204
  %109 = insertelement <4 x float> %108, float %103, i64 1, !dbg !204
  store <4 x float> %109, ptr addrspace(1) %107, align 16, !dbg !204
  %110 = load ptr addrspace(1), ptr %10, align 8, !dbg !205
  %111 = load i32, ptr %11, align 4, !dbg !206
  %112 = sext i32 %111 to i64, !dbg !205
  %113 = getelementptr inbounds i64, ptr addrspace(1) %110, i64 %112, !dbg !205
  %114 = load i64, ptr addrspace(1) %113, align 8, !dbg !205
  %115 = uitofp i64 %114 to float, !dbg !207
  %116 = load ptr addrspace(1), ptr %6, align 8, !dbg !208
  %117 = load i32, ptr %11, align 4, !dbg !209
  %118 = sext i32 %117 to i64, !dbg !208
  %119 = getelementptr inbounds <4 x float>, ptr addrspace(1) %116, i64 %118, !dbg !208
  %120 = load <4 x float>, ptr addrspace(1) %119, align 16, !dbg !210
  %121 = insertelement <4 x float> %120, float %115, i64 2, !dbg !210
  store <4 x float> %121, ptr addrspace(1) %119, align 16, !dbg !210
  %122 = load <4 x float>, ptr %12, align 16, !dbg !211
  %123 = extractelement <4 x float> %122, i64 0, !dbg !211
  %124 = fcmp olt float %123, 1.000000e+00, !dbg !212
  br i1 %124, label %130, label %125, !dbg !213

125:                                              ; preds = %5
  %126 = load <4 x float>, ptr %12, align 16, !dbg !214
  %127 = extractelement <4 x float> %126, i64 1, !dbg !214
  %128 = call spir_func i32 @_Z5isnanf(float noundef %127) #6, !dbg !215
  %129 = icmp ne i32 %128, 0, !dbg !213
  br label %130, !dbg !213

130:                                              ; preds = %125, %5
  %131 = phi i1 [ true, %5 ], [ %129, %125 ]
  %132 = zext i1 %131 to i32, !dbg !213
  %133 = trunc i32 %132 to i8, !dbg !211
  %134 = load ptr addrspace(1), ptr %9, align 8, !dbg !216
  %135 = load i32, ptr %11, align 4, !dbg !217
  %136 = sext i32 %135 to i64, !dbg !216
  %137 = getelementptr inbounds <4 x i8>, ptr addrspace(1) %134, i64 %136, !dbg !216
  %138 = load <4 x i8>, ptr addrspace(1) %137, align 4, !dbg !218
  %139 = insertelement <4 x i8> %138, i8 %133, i64 0, !dbg !218
  store <4 x i8> %139, ptr addrspace(1) %137, align 4, !dbg !218
  ret void, !dbg !219
}

; Function Attrs: convergent nounwind willreturn memory(none)
declare dso_local spir_func <4 x float> @_Z6selectDv4_fS_Dv4_i(<4 x float> noundef, <4 x float> noundef, <4 x i32> noundef) #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare <8 x half> @llvm.fmuladd.v8f16(<8 x half>, <8 x half>, <8 x half>) #2

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fmuladd.f64(double, double, double) #2

; Function Attrs: convergent nounwind willreturn memory(none)
declare dso_local spir_func <4 x i8> @_Z18convert_uchar4_satDv4_f(<4 x float> noundef) #1

; Function Attrs: convergent nounwind willreturn memory(none)
declare dso_local spir_func <4 x float> @_Z14convert_float4Dv4_h(<4 x i8> noundef) #1

; Function Attrs: convergent nounwind willreturn memory(none)
declare dso_local spir_func <4 x float> @_Z3fmaDv4_fS_S_(<4 x float> noundef, <4 x float> noundef, <4 x float> noundef) #1

; Function Attrs: convergent nounwind willreturn memory(none)
declare dso_local spir_func float @_Z4fmodff(float noundef, float noundef) #1

; Function Attrs: convergent nounwind willreturn memory(none)
declare dso_local spir_func i32 @_Z5isnanf(float noundef) #1

; Function Attrs: convergent noinline norecurse nounwind optnone
define dso_local spir_kernel void @at(ptr addrspace(1) noundef align 4 %0, ptr addrspace(1) noundef align 4 %1, ptr addrspace(3) noundef align 4 %2) #0 !dbg !220 !kernel_arg_addr_space !221 !kernel_arg_access_qual !222 !kernel_arg_type !223 !kernel_arg_base_type !224 !kernel_arg_type_qual !225 !kernel_arg_name !226 {
  %4 = alloca ptr addrspace(1), align 8
  %5 = alloca ptr addrspace(1), align 8
  %6 = alloca ptr addrspace(3), align 8
  %7 = alloca i32, align 4
  %8 = alloca i32, align 4
  %9 = alloca i32, align 4
  %10 = alloca i32, align 4
  %11 = alloca i32, align 4
  %12 = alloca i32, align 4
  %13 = alloca i32, align 4
  %14 = alloca i32, align 4
  %15 = alloca i32, align 4
  %16 = alloca i32, align 4
  %17 = alloca i8, align 1
  store ptr addrspace(1) %0, ptr %4, align 8
  store ptr addrspace(1) %1, ptr %5, align 8
  store ptr addrspace(3) %2, ptr %6, align 8
  store i32 5, ptr %7, align 4, !dbg !227
  %18 = load ptr addrspace(1), ptr %4, align 8, !dbg !228
  %19 = addrspacecast ptr addrspace(1) %18 to ptr addrspace(4), !dbg !228
  %20 = call spir_func i32 @_Z16atomic_fetch_addPU3AS4VU7_Atomicii(ptr addrspace(4) noundef %19, i32 noundef 1) #7, !dbg !229
  %21 = load ptr addrspace(1), ptr %4, align 8, !dbg !230
  %22 = addrspacecast ptr addrspace(1) %21 to ptr addrspace(4), !dbg !230
  %23 = addrspacecast ptr %7 to ptr addrspace(4), !dbg !231
  %24 = call spir_func zeroext i1 @_Z30atomic_compare_exchange_strongPU3AS4VU7_AtomiciPU3AS4ii(ptr addrspace(4) noundef %22, ptr addrspace(4) noundef %23, i32 noundef 6) #7, !dbg !232
  %25 = load ptr addrspace(1), ptr %5, align 8, !dbg !233
  %26 = call spir_func i32 @_Z10atomic_incPU3AS1Vj(ptr addrspace(1) noundef %25) #7, !dbg !234
  %27 = load ptr addrspace(1), ptr %5, align 8, !dbg !235
  %28 = call spir_func i32 @_Z10atomic_minPU3AS1Vjj(ptr addrspace(1) noundef %27, i32 noundef 3) #7, !dbg !236
  %29 = load ptr addrspace(3), ptr %6, align 8, !dbg !237
  %30 = addrspacecast ptr addrspace(3) %29 to ptr addrspace(4), !dbg !237
  call spir_func void @_Z12atomic_storePU3AS4VU7_Atomicjj(ptr addrspace(4) noundef %30, i32 noundef 1) #7, !dbg !238
  %31 = load ptr addrspace(3), ptr %6, align 8, !dbg !239
  %32 = addrspacecast ptr addrspace(3) %31 to ptr addrspace(4), !dbg !239
  %33 = call spir_func i32 @_Z15atomic_exchangePU3AS4VU7_Atomicjj(ptr addrspace(4) noundef %32, i32 noundef 2) #7, !dbg !240
  %34 = load ptr addrspace(1), ptr %5, align 8, !dbg !241
  %35 = load i32, ptr %7, align 4, !dbg !242
  store i32 %35, ptr %8, align 4, !dbg !243
  %36 = load i32, ptr %8, align 4, !dbg !243
  %37 = bitcast ptr addrspace(1) %34 to ptr addrspace(4), !dbg !243
  %38 = call i32 @__atomic_fetch_max_4(ptr addrspace(4) noundef %37, i32 noundef %36, i32 noundef 5) #7, !dbg !243
  store i32 %38, ptr %9, align 4, !dbg !243
  %39 = load i32, ptr %9, align 4, !dbg !243
  %40 = load ptr addrspace(1), ptr %5, align 8, !dbg !244
  store i32 3, ptr %10, align 4, !dbg !245
  %41 = load i32, ptr %10, align 4, !dbg !245
  %42 = bitcast ptr addrspace(1) %40 to ptr addrspace(4), !dbg !245
  %43 = call i32 @__atomic_fetch_add_4(ptr addrspace(4) noundef %42, i32 noundef %41, i32 noundef 0) #7, !dbg !245
  store i32 %43, ptr %11, align 4, !dbg !245
  %44 = load i32, ptr %11, align 4, !dbg !245
  %45 = load ptr addrspace(1), ptr %5, align 8, !dbg !246
  %46 = bitcast ptr addrspace(1) %45 to ptr addrspace(4), !dbg !247
  %47 = call i32 @__atomic_load_4(ptr addrspace(4) noundef %46, i32 noundef 2) #7, !dbg !247
  store i32 %47, ptr %13, align 4, !dbg !247
  %48 = load i32, ptr %13, align 4, !dbg !247
  store i32 %48, ptr %12, align 4, !dbg !248
  %49 = load ptr addrspace(1), ptr %5, align 8, !dbg !249
  %50 = load i32, ptr %12, align 4, !dbg !250
  store i32 %50, ptr %14, align 4, !dbg !251
  %51 = load i32, ptr %14, align 4, !dbg !251
  %52 = bitcast ptr addrspace(1) %49 to ptr addrspace(4), !dbg !251
  call void @__atomic_store_4(ptr addrspace(4) noundef %52, i32 noundef %51, i32 noundef 3) #7, !dbg !251
  fence seq_cst, !dbg !252
  store i32 1, ptr %15, align 4, !dbg !253
  %53 = load ptr addrspace(1), ptr %5, align 8, !dbg !254
  store i32 9, ptr %16, align 4, !dbg !255
  %54 = load i32, ptr %16, align 4, !dbg !255
  %55 = bitcast ptr addrspace(1) %53 to ptr addrspace(4), !dbg !255
  %56 = bitcast ptr %15 to ptr addrspace(4), !dbg !255
  %57 = call zeroext i1 @__atomic_compare_exchange_4(ptr addrspace(4) noundef %55, ptr addrspace(4) noundef %56, i32 noundef %54, i32 noundef 5, i32 noundef 0) #7, !dbg !255
  %58 = load i32, ptr %15, align 4, !dbg !256
  %59 = icmp eq i32 %58, 3, !dbg !257
  br i1 %59, label %60, label %61, !dbg !256

60:                                               ; preds = %3
  unreachable, !dbg !258

61:                                               ; preds = %3
  ret void, !dbg !259
}

; Function Attrs: convergent nounwind
declare dso_local spir_func i32 @_Z16atomic_fetch_addPU3AS4VU7_Atomicii(ptr addrspace(4) noundef, i32 noundef) #3

; Function Attrs: convergent nounwind
declare dso_local spir_func zeroext i1 @_Z30atomic_compare_exchange_strongPU3AS4VU7_AtomiciPU3AS4ii(ptr addrspace(4) noundef, ptr addrspace(4) noundef, i32 noundef) #3

; Function Attrs: convergent nounwind
declare dso_local spir_func i32 @_Z10atomic_incPU3AS1Vj(ptr addrspace(1) noundef) #3

; Function Attrs: convergent nounwind
declare dso_local spir_func i32 @_Z10atomic_minPU3AS1Vjj(ptr addrspace(1) noundef, i32 noundef) #3

; Function Attrs: convergent nounwind
declare dso_local spir_func void @_Z12atomic_storePU3AS4VU7_Atomicjj(ptr addrspace(4) noundef, i32 noundef) #3

; Function Attrs: convergent nounwind
declare dso_local spir_func i32 @_Z15atomic_exchangePU3AS4VU7_Atomicjj(ptr addrspace(4) noundef, i32 noundef) #3

; Function Attrs: nounwind willreturn
declare dso_local spir_func i32 @__atomic_fetch_max_4(ptr addrspace(4), i32, i32) #4

; Function Attrs: nounwind willreturn
declare dso_local spir_func i32 @__atomic_fetch_add_4(ptr addrspace(4), i32, i32) #4

; Function Attrs: nounwind willreturn
declare dso_local spir_func i32 @__atomic_load_4(ptr addrspace(4), i32) #4

; Function Attrs: nounwind willreturn
declare dso_local spir_func void @__atomic_store_4(ptr addrspace(4), i32, i32) #4

; Function Attrs: nounwind willreturn
declare dso_local spir_func i1 @__atomic_compare_exchange_4(ptr addrspace(4), ptr addrspace(4), i32, i32, i32) #4

; Function Attrs: convergent noinline norecurse nounwind optnone
define dso_local spir_kernel void @grp(ptr addrspace(1) noundef align 4 %0) #0 !dbg !260 !kernel_arg_addr_space !261 !kernel_arg_access_qual !262 !kernel_arg_type !263 !kernel_arg_base_type !263 !kernel_arg_type_qual !264 !kernel_arg_name !265 {
  %2 = alloca ptr addrspace(1), align 8
  %3 = alloca i32, align 4
  %4 = alloca ptr addrspace(4), align 8
  store ptr addrspace(1) %0, ptr %2, align 8
  %5 = call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #6, !dbg !266
  %6 = trunc i64 %5 to i32, !dbg !266
  store i32 %6, ptr %3, align 4, !dbg !267
  %7 = load ptr addrspace(1), ptr %2, align 8, !dbg !268
  %8 = load i32, ptr %3, align 4, !dbg !269
  %9 = sext i32 %8 to i64, !dbg !268
  %10 = getelementptr inbounds i32, ptr addrspace(1) %7, i64 %9, !dbg !268
  %11 = load i32, ptr addrspace(1) %10, align 4, !dbg !268
  %12 = load i32, ptr %3, align 4, !dbg !270
  %13 = sext i32 %12 to i64, !dbg !271
  %14 = getelementptr inbounds [64 x i32], ptr addrspace(3) @grp.t, i64 0, i64 %13, !dbg !271
  store i32 %11, ptr addrspace(3) %14, align 4, !dbg !272
  %15 = load i32, ptr %3, align 4, !dbg !273
  store i32 %15, ptr addrspace(3) getelementptr inbounds (%struct.P, ptr addrspace(3) @grp.lp, i32 0, i32 1), align 16, !dbg !274
  call spir_func void @_Z7barrierj(i32 noundef 1) #7, !dbg !275
  %16 = load i32, ptr %3, align 4, !dbg !276
  %17 = sub nsw i32 63, %16, !dbg !277
  %18 = sext i32 %17 to i64, !dbg !278
  %19 = getelementptr inbounds [64 x i32], ptr addrspace(3) @grp.t, i64 0, i64 %18, !dbg !278
  %20 = load i32, ptr addrspace(3) %19, align 4, !dbg !278
  %21 = load i32, ptr addrspace(3) getelementptr inbounds (%struct.P, ptr addrspace(3) @grp.lp, i32 0, i32 1), align 16, !dbg !279
  %22 = add nsw i32 %20, %21, !dbg !280
  %23 = load ptr addrspace(1), ptr %2, align 8, !dbg !281
  %24 = load i32, ptr %3, align 4, !dbg !282
  %25 = sext i32 %24 to i64, !dbg !281
  %26 = getelementptr inbounds i32, ptr addrspace(1) %23, i64 %25, !dbg !281
  %27 = load i32, ptr addrspace(1) %26, align 4, !dbg !281
  %28 = call spir_func i32 @_Z20sub_group_reduce_addi(i32 noundef %27) #7, !dbg !283
  %29 = add nsw i32 %22, %28, !dbg !284
  %30 = load ptr addrspace(1), ptr %2, align 8, !dbg !285
  %31 = load i32, ptr %3, align 4, !dbg !286
  %32 = sext i32 %31 to i64, !dbg !285
  %33 = getelementptr inbounds i32, ptr addrspace(1) %30, i64 %32, !dbg !285
  store i32 %29, ptr addrspace(1) %33, align 4, !dbg !287
  %34 = load i32, ptr %3, align 4, !dbg !288
  %35 = icmp ne i32 %34, 0, !dbg !288
  br i1 %35, label %36, label %39, !dbg !288

36:                                               ; preds = %1
  %37 = load ptr addrspace(1), ptr %2, align 8, !dbg !289
  %38 = addrspacecast ptr addrspace(1) %37 to ptr addrspace(4), !dbg !290
  br label %40, !dbg !288

39:                                               ; preds = %1
  br label %40, !dbg !288

40:                                               ; preds = %39, %36
  %41 = phi ptr addrspace(4) [ %38, %36 ], [ addrspacecast (ptr addrspace(3) @grp.t to ptr addrspace(4)), %39 ], !dbg !288
  store ptr addrspace(4) %41, ptr %4, align 8, !dbg !291
  %42 = load ptr addrspace(4), ptr %4, align 8, !dbg !292
  store i32 3, ptr addrspace(4) %42, align 4, !dbg !293
  ret void, !dbg !294
}

; Function Attrs: convergent nounwind willreturn memory(none)
declare dso_local spir_func i64 @_Z12get_local_idj(i32 noundef) #1

; Function Attrs: convergent nounwind
declare dso_local spir_func void @_Z7barrierj(i32 noundef) #3

; Function Attrs: convergent nounwind
declare dso_local spir_func i32 @_Z20sub_group_reduce_addi(i32 noundef) #3

; Function Attrs: convergent noinline norecurse nounwind optnone
define dso_local spir_kernel void @places(ptr addrspace(1) noundef align 4 %0) #0 !dbg !295 !kernel_arg_addr_space !261 !kernel_arg_access_qual !262 !kernel_arg_type !297 !kernel_arg_base_type !297 !kernel_arg_type_qual !264 !kernel_arg_name !265 {
  %2 = alloca ptr addrspace(1), align 8
  store ptr addrspace(1) %0, ptr %2, align 8
  %3 = load ptr addrspace(1), ptr %2, align 8, !dbg !298
  %4 = getelementptr inbounds float, ptr addrspace(1) %3, i64 1, !dbg !298
  %5 = load float, ptr addrspace(1) %4, align 4, !dbg !298
  %6 = call spir_func float @inlined(float noundef %5) #7, !dbg !299
  %7 = load ptr addrspace(1), ptr %2, align 8, !dbg !300
  %8 = getelementptr inbounds float, ptr addrspace(1) %7, i64 0, !dbg !300
  store float %6, ptr addrspace(1) %8, align 4, !dbg !301
  %9 = load ptr addrspace(1), ptr %2, align 8, !dbg !302
  %10 = getelementptr inbounds float, ptr addrspace(1) %9, i64 3, !dbg !302
  %11 = load float, ptr addrspace(1) %10, align 4, !dbg !302
  %12 = call spir_func float @elsewhere(float noundef %11) #7, !dbg !305
  %13 = load ptr addrspace(1), ptr %2, align 8, !dbg !306
  %14 = getelementptr inbounds float, ptr addrspace(1) %13, i64 2, !dbg !306
  store float %12, ptr addrspace(1) %14, align 4, !dbg !307
  ret void, !dbg !308
}

; Function Attrs: convergent noinline norecurse nounwind optnone
define internal spir_func float @inlined(float noundef %0) #5 !dbg !309 {
  %2 = alloca float, align 4
  store float %0, ptr %2, align 4
  %3 = load float, ptr %2, align 4, !dbg !310
  %4 = call float @llvm.fmuladd.f32(float %3, float 3.000000e+00, float 1.000000e+00), !dbg !311
  ret float %4, !dbg !312
}

; Function Attrs: convergent noinline norecurse nounwind optnone
define internal spir_func float @elsewhere(float noundef %0) #5 !dbg !313 {
  %2 = alloca float, align 4
  store float %0, ptr %2, align 4
  %3 = load float, ptr %2, align 4, !dbg !314
  %4 = fdiv float %3, 7.000000e+00, !dbg !315, !fpmath !316
  ret float %4, !dbg !317
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fmuladd.f32(float, float, float) #2

attributes #0 = { convergent noinline norecurse nounwind optnone "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #1 = { convergent nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #2 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { convergent nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #4 = { nounwind willreturn }
attributes #5 = { convergent noinline norecurse nounwind optnone "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #6 = { convergent nounwind willreturn memory(none) }
attributes #7 = { convergent nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5}
!opencl.ocl.version = !{!6}
!opencl.spir.version = !{!6}
!llvm.ident = !{!7}

!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "Debian clang version 16.0.6 (15~deb12u1)", isOptimized: false, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "features.cl", directory: ".", checksumkind: CSK_MD5, checksum: "43e8fefd57545d146e91839d9f546b6c")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{i32 3, i32 0}
!7 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!8 = distinct !DISubprogram(name: "s", scope: !1, file: !1, line: 15, type: !9, scopeLine: 16, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0, retainedNodes: !10)
!9 = !DISubroutineType(types: !10)
!10 = !{}
!11 = !{i32 1, i32 0}
!12 = !{!"none", !"none"}
!13 = !{!"int*", !"int"}
!14 = !{!"", !""}
!15 = !{!"a", !"n"}
!16 = !DILocation(line: 17, column: 13, scope: !8)
!17 = !DILocation(line: 17, column: 9, scope: !8)
!18 = !DILocation(line: 18, column: 13, scope: !8)
!19 = !DILocation(line: 18, column: 15, scope: !8)
!20 = !DILocation(line: 18, column: 5, scope: !8)
!21 = !DILocation(line: 19, column: 13, scope: !8)
!22 = !DILocation(line: 19, column: 15, scope: !8)
!23 = !DILocation(line: 19, column: 18, scope: !8)
!24 = !DILocation(line: 19, column: 23, scope: !8)
!25 = !DILocation(line: 20, column: 14, scope: !8)
!26 = !DILocation(line: 20, column: 16, scope: !8)
!27 = !DILocation(line: 20, column: 19, scope: !8)
!28 = !DILocation(line: 21, column: 13, scope: !8)
!29 = !DILocation(line: 21, column: 15, scope: !8)
!30 = !DILocation(line: 21, column: 17, scope: !8)
!31 = !DILocation(line: 21, column: 21, scope: !8)
!32 = !DILocation(line: 23, column: 14, scope: !8)
!33 = !DILocation(line: 23, column: 16, scope: !8)
!34 = !DILocation(line: 23, column: 19, scope: !8)
!35 = !DILocation(line: 23, column: 24, scope: !8)
!36 = !DILocation(line: 24, column: 15, scope: !8)
!37 = !DILocation(line: 25, column: 5, scope: !8)
!38 = !DILocation(line: 26, column: 9, scope: !8)
!39 = !DILocation(line: 27, column: 14, scope: !8)
!40 = !DILocation(line: 27, column: 10, scope: !8)
!41 = !DILocation(line: 27, column: 21, scope: !8)
!42 = !DILocation(line: 27, column: 25, scope: !8)
!43 = !DILocation(line: 27, column: 23, scope: !8)
!44 = !DILocation(line: 27, column: 5, scope: !8)
!45 = !DILocation(line: 28, column: 13, scope: !8)
!46 = !DILocation(line: 28, column: 15, scope: !8)
!47 = !DILocation(line: 29, column: 13, scope: !8)
!48 = !DILocation(line: 30, column: 13, scope: !8)
!49 = !DILocation(line: 30, column: 15, scope: !8)
!50 = !DILocation(line: 30, column: 18, scope: !8)
!51 = !DILocation(line: 31, column: 13, scope: !8)
!52 = !DILocation(line: 32, column: 14, scope: !8)
!53 = !DILocation(line: 32, column: 16, scope: !8)
!54 = !DILocation(line: 32, column: 11, scope: !8)
!55 = !DILocation(line: 33, column: 13, scope: !8)
!56 = !DILocation(line: 33, column: 15, scope: !8)
!57 = !DILocation(line: 34, column: 13, scope: !8)
!58 = !DILocation(line: 35, column: 5, scope: !8)
!59 = !DILocation(line: 27, column: 29, scope: !8)
!60 = distinct !{!60, !44, !58}
!61 = !DILocation(line: 36, column: 12, scope: !8)
!62 = !DILocation(line: 36, column: 5, scope: !8)
!63 = !DILocation(line: 36, column: 7, scope: !8)
!64 = !DILocation(line: 36, column: 10, scope: !8)
!65 = !DILocation(line: 38, column: 16, scope: !8)
!66 = !DILocation(line: 38, column: 5, scope: !8)
!67 = !DILocation(line: 38, column: 7, scope: !8)
!68 = !DILocation(line: 38, column: 9, scope: !8)
!69 = !DILocation(line: 38, column: 14, scope: !8)
!70 = !DILocation(line: 39, column: 1, scope: !8)
!71 = distinct !DISubprogram(name: "st", scope: !1, file: !1, line: 40, type: !9, scopeLine: 41, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0, retainedNodes: !10)
!72 = !{i32 1, i32 0, i32 1, i32 3}
!73 = !{!"none", !"none", !"none", !"none"}
!74 = !{!"struct P*", !"struct P", !"Q*", !"float*"}
!75 = !{!"", !"", !"", !""}
!76 = !{!"p", !"q", !"z", !"l"}
!77 = !DILocation(line: 42, column: 13, scope: !71)
!78 = !DILocation(line: 42, column: 9, scope: !71)
!79 = !DILocation(line: 43, column: 16, scope: !71)
!80 = !DILocation(line: 43, column: 14, scope: !71)
!81 = !DILocation(line: 43, column: 23, scope: !71)
!82 = !DILocation(line: 43, column: 5, scope: !71)
!83 = !DILocation(line: 43, column: 7, scope: !71)
!84 = !DILocation(line: 43, column: 10, scope: !71)
!85 = !DILocation(line: 43, column: 12, scope: !71)
!86 = !DILocation(line: 44, column: 19, scope: !71)
!87 = !DILocation(line: 44, column: 21, scope: !71)
!88 = !DILocation(line: 44, column: 23, scope: !71)
!89 = !DILocation(line: 44, column: 17, scope: !71)
!90 = !DILocation(line: 44, column: 5, scope: !71)
!91 = !DILocation(line: 44, column: 7, scope: !71)
!92 = !DILocation(line: 44, column: 10, scope: !71)
!93 = !DILocation(line: 44, column: 15, scope: !71)
!94 = !DILocation(line: 45, column: 18, scope: !71)
!95 = !DILocation(line: 45, column: 20, scope: !71)
!96 = !DILocation(line: 45, column: 15, scope: !71)
!97 = !DILocation(line: 45, column: 25, scope: !71)
!98 = !DILocation(line: 45, column: 5, scope: !71)
!99 = !DILocation(line: 45, column: 7, scope: !71)
!100 = !DILocation(line: 45, column: 10, scope: !71)
!101 = !DILocation(line: 45, column: 12, scope: !71)
!102 = !DILocation(line: 46, column: 18, scope: !71)
!103 = !DILocation(line: 46, column: 20, scope: !71)
!104 = !DILocation(line: 46, column: 12, scope: !71)
!105 = !DILocation(line: 46, column: 32, scope: !71)
!106 = !DILocation(line: 46, column: 34, scope: !71)
!107 = !DILocation(line: 46, column: 27, scope: !71)
!108 = !DILocation(line: 46, column: 25, scope: !71)
!109 = !DILocation(line: 46, column: 5, scope: !71)
!110 = !DILocation(line: 46, column: 7, scope: !71)
!111 = !DILocation(line: 46, column: 10, scope: !71)
!112 = !DILocation(line: 48, column: 14, scope: !71)
!113 = !DILocation(line: 48, column: 10, scope: !71)
!114 = !DILocation(line: 48, column: 21, scope: !71)
!115 = !DILocation(line: 48, column: 23, scope: !71)
!116 = !DILocation(line: 48, column: 5, scope: !71)
!117 = !DILocation(line: 49, column: 16, scope: !71)
!118 = !DILocation(line: 49, column: 18, scope: !71)
!119 = !DILocation(line: 49, column: 11, scope: !71)
!120 = !DILocation(line: 49, column: 9, scope: !71)
!121 = !DILocation(line: 49, column: 14, scope: !71)
!122 = !DILocation(line: 48, column: 29, scope: !71)
!123 = distinct !{!123, !116, !124}
!124 = !DILocation(line: 49, column: 19, scope: !71)
!125 = !DILocation(line: 50, column: 20, scope: !71)
!126 = !DILocation(line: 50, column: 22, scope: !71)
!127 = !DILocation(line: 50, column: 16, scope: !71)
!128 = !DILocation(line: 50, column: 5, scope: !71)
!129 = !DILocation(line: 50, column: 7, scope: !71)
!130 = !DILocation(line: 50, column: 10, scope: !71)
!131 = !DILocation(line: 50, column: 14, scope: !71)
!132 = !DILocation(line: 51, column: 1, scope: !71)
!133 = distinct !DISubprogram(name: "vec", scope: !1, file: !1, line: 52, type: !9, scopeLine: 53, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0, retainedNodes: !10)
!134 = !{i32 1, i32 1, i32 1, i32 1, i32 1}
!135 = !{!"none", !"none", !"none", !"none", !"none"}
!136 = !{!"float4*", !"half8*", !"double*", !"uchar4*", !"long*"}
!137 = !{!"float __attribute__((ext_vector_type(4)))*", !"half __attribute__((ext_vector_type(8)))*", !"double*", !"uchar __attribute__((ext_vector_type(4)))*", !"long*"}
!138 = !{!"", !"", !"", !"", !""}
!139 = !{!"a", !"h", !"d", !"u", !"g"}
!140 = !DILocation(line: 54, column: 13, scope: !133)
!141 = !DILocation(line: 54, column: 9, scope: !133)
!142 = !DILocation(line: 55, column: 16, scope: !133)
!143 = !DILocation(line: 55, column: 18, scope: !133)
!144 = !DILocation(line: 55, column: 12, scope: !133)
!145 = !DILocation(line: 56, column: 19, scope: !133)
!146 = !DILocation(line: 56, column: 22, scope: !133)
!147 = !DILocation(line: 56, column: 30, scope: !133)
!148 = !DILocation(line: 56, column: 32, scope: !133)
!149 = !DILocation(line: 56, column: 12, scope: !133)
!150 = !DILocation(line: 56, column: 5, scope: !133)
!151 = !DILocation(line: 56, column: 7, scope: !133)
!152 = !DILocation(line: 56, column: 10, scope: !133)
!153 = !DILocation(line: 57, column: 12, scope: !133)
!154 = !DILocation(line: 57, column: 14, scope: !133)
!155 = !DILocation(line: 57, column: 30, scope: !133)
!156 = !DILocation(line: 57, column: 5, scope: !133)
!157 = !DILocation(line: 57, column: 7, scope: !133)
!158 = !DILocation(line: 57, column: 10, scope: !133)
!159 = !DILocation(line: 58, column: 12, scope: !133)
!160 = !DILocation(line: 58, column: 14, scope: !133)
!161 = !DILocation(line: 58, column: 24, scope: !133)
!162 = !DILocation(line: 58, column: 5, scope: !133)
!163 = !DILocation(line: 58, column: 7, scope: !133)
!164 = !DILocation(line: 58, column: 10, scope: !133)
!165 = !DILocation(line: 59, column: 46, scope: !133)
!166 = !DILocation(line: 59, column: 48, scope: !133)
!167 = !DILocation(line: 59, column: 31, scope: !133)
!168 = !DILocation(line: 59, column: 12, scope: !133)
!169 = !DILocation(line: 59, column: 55, scope: !133)
!170 = !DILocation(line: 59, column: 53, scope: !133)
!171 = !DILocation(line: 59, column: 5, scope: !133)
!172 = !DILocation(line: 59, column: 7, scope: !133)
!173 = !DILocation(line: 59, column: 10, scope: !133)
!174 = !DILocation(line: 60, column: 12, scope: !133)
!175 = !DILocation(line: 60, column: 14, scope: !133)
!176 = !DILocation(line: 60, column: 17, scope: !133)
!177 = !DILocation(line: 60, column: 30, scope: !133)
!178 = !DILocation(line: 60, column: 24, scope: !133)
!179 = !DILocation(line: 60, column: 32, scope: !133)
!180 = !DILocation(line: 60, column: 21, scope: !133)
!181 = !DILocation(line: 60, column: 5, scope: !133)
!182 = !DILocation(line: 60, column: 7, scope: !133)
!183 = !DILocation(line: 60, column: 10, scope: !133)
!184 = !DILocation(line: 61, column: 16, scope: !133)
!185 = !DILocation(line: 61, column: 19, scope: !133)
!186 = !DILocation(line: 61, column: 22, scope: !133)
!187 = !DILocation(line: 61, column: 12, scope: !133)
!188 = !DILocation(line: 61, column: 5, scope: !133)
!189 = !DILocation(line: 61, column: 7, scope: !133)
!190 = !DILocation(line: 61, column: 10, scope: !133)
!191 = !DILocation(line: 62, column: 13, scope: !133)
!192 = !DILocation(line: 62, column: 12, scope: !133)
!193 = !DILocation(line: 62, column: 5, scope: !133)
!194 = !DILocation(line: 62, column: 7, scope: !133)
!195 = !DILocation(line: 62, column: 10, scope: !133)
!196 = !DILocation(line: 63, column: 14, scope: !133)
!197 = !DILocation(line: 63, column: 5, scope: !133)
!198 = !DILocation(line: 63, column: 7, scope: !133)
!199 = !DILocation(line: 63, column: 12, scope: !133)
!200 = !DILocation(line: 64, column: 19, scope: !133)
!201 = !DILocation(line: 64, column: 14, scope: !133)
!202 = !DILocation(line: 64, column: 5, scope: !133)
!203 = !DILocation(line: 64, column: 7, scope: !133)
!204 = !DILocation(line: 64, column: 12, scope: !133)
!205 = !DILocation(line: 65, column: 28, scope: !133)
!206 = !DILocation(line: 65, column: 30, scope: !133)
!207 = !DILocation(line: 65, column: 14, scope: !133)
!208 = !DILocation(line: 65, column: 5, scope: !133)
!209 = !DILocation(line: 65, column: 7, scope: !133)
!210 = !DILocation(line: 65, column: 12, scope: !133)
!211 = !DILocation(line: 66, column: 14, scope: !133)
!212 = !DILocation(line: 66, column: 18, scope: !133)
!213 = !DILocation(line: 66, column: 22, scope: !133)
!214 = !DILocation(line: 66, column: 31, scope: !133)
!215 = !DILocation(line: 66, column: 25, scope: !133)
!216 = !DILocation(line: 66, column: 5, scope: !133)
!217 = !DILocation(line: 66, column: 7, scope: !133)
!218 = !DILocation(line: 66, column: 12, scope: !133)
!219 = !DILocation(line: 67, column: 1, scope: !133)
!220 = distinct !DISubprogram(name: "at", scope: !1, file: !1, line: 68, type: !9, scopeLine: 69, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0, retainedNodes: !10)
!221 = !{i32 1, i32 1, i32 3}
!222 = !{!"none", !"none", !"none"}
!223 = !{!"atomic_int*", !"uint*", !"atomic_uint*"}
!224 = !{!"_Atomic(int)*", !"uint*", !"_Atomic(unsigned int)*"}
!225 = !{!"", !"volatile", !""}
!226 = !{!"a", !"b", !"c"}
!227 = !DILocation(line: 70, column: 9, scope: !220)
!228 = !DILocation(line: 71, column: 22, scope: !220)
!229 = !DILocation(line: 71, column: 5, scope: !220)
!230 = !DILocation(line: 72, column: 36, scope: !220)
!231 = !DILocation(line: 72, column: 39, scope: !220)
!232 = !DILocation(line: 72, column: 5, scope: !220)
!233 = !DILocation(line: 73, column: 16, scope: !220)
!234 = !DILocation(line: 73, column: 5, scope: !220)
!235 = !DILocation(line: 74, column: 16, scope: !220)
!236 = !DILocation(line: 74, column: 5, scope: !220)
!237 = !DILocation(line: 75, column: 18, scope: !220)
!238 = !DILocation(line: 75, column: 5, scope: !220)
!239 = !DILocation(line: 76, column: 21, scope: !220)
!240 = !DILocation(line: 76, column: 5, scope: !220)
!241 = !DILocation(line: 77, column: 47, scope: !220)
!242 = !DILocation(line: 77, column: 50, scope: !220)
!243 = !DILocation(line: 77, column: 5, scope: !220)
!244 = !DILocation(line: 78, column: 24, scope: !220)
!245 = !DILocation(line: 78, column: 5, scope: !220)
!246 = !DILocation(line: 79, column: 30, scope: !220)
!247 = !DILocation(line: 79, column: 14, scope: !220)
!248 = !DILocation(line: 79, column: 10, scope: !220)
!249 = !DILocation(line: 80, column: 22, scope: !220)
!250 = !DILocation(line: 80, column: 25, scope: !220)
!251 = !DILocation(line: 80, column: 5, scope: !220)
!252 = !DILocation(line: 81, column: 5, scope: !220)
!253 = !DILocation(line: 82, column: 10, scope: !220)
!254 = !DILocation(line: 83, column: 33, scope: !220)
!255 = !DILocation(line: 83, column: 5, scope: !220)
!256 = !DILocation(line: 84, column: 9, scope: !220)
!257 = !DILocation(line: 84, column: 12, scope: !220)
!258 = !DILocation(line: 85, column: 9, scope: !220)
!259 = !DILocation(line: 86, column: 1, scope: !220)
!260 = distinct !DISubprogram(name: "grp", scope: !1, file: !1, line: 87, type: !9, scopeLine: 88, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0, retainedNodes: !10)
!261 = !{i32 1}
!262 = !{!"none"}
!263 = !{!"int*"}
!264 = !{!""}
!265 = !{!"a"}
!266 = !DILocation(line: 91, column: 13, scope: !260)
!267 = !DILocation(line: 91, column: 9, scope: !260)
!268 = !DILocation(line: 92, column: 12, scope: !260)
!269 = !DILocation(line: 92, column: 14, scope: !260)
!270 = !DILocation(line: 92, column: 7, scope: !260)
!271 = !DILocation(line: 92, column: 5, scope: !260)
!272 = !DILocation(line: 92, column: 10, scope: !260)
!273 = !DILocation(line: 93, column: 12, scope: !260)
!274 = !DILocation(line: 93, column: 10, scope: !260)
!275 = !DILocation(line: 94, column: 5, scope: !260)
!276 = !DILocation(line: 95, column: 19, scope: !260)
!277 = !DILocation(line: 95, column: 17, scope: !260)
!278 = !DILocation(line: 95, column: 12, scope: !260)
!279 = !DILocation(line: 95, column: 27, scope: !260)
!280 = !DILocation(line: 95, column: 22, scope: !260)
!281 = !DILocation(line: 95, column: 52, scope: !260)
!282 = !DILocation(line: 95, column: 54, scope: !260)
!283 = !DILocation(line: 95, column: 31, scope: !260)
!284 = !DILocation(line: 95, column: 29, scope: !260)
!285 = !DILocation(line: 95, column: 5, scope: !260)
!286 = !DILocation(line: 95, column: 7, scope: !260)
!287 = !DILocation(line: 95, column: 10, scope: !260)
!288 = !DILocation(line: 96, column: 23, scope: !260)
!289 = !DILocation(line: 96, column: 42, scope: !260)
!290 = !DILocation(line: 96, column: 27, scope: !260)
!291 = !DILocation(line: 96, column: 18, scope: !260)
!292 = !DILocation(line: 97, column: 6, scope: !260)
!293 = !DILocation(line: 97, column: 9, scope: !260)
!294 = !DILocation(line: 98, column: 1, scope: !260)
!295 = distinct !DISubprogram(name: "places", scope: !296, file: !296, line: 504, type: !9, scopeLine: 505, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition, unit: !0, retainedNodes: !10)
!296 = !DIFile(filename: "other.h", directory: ".")
!297 = !{!"float*"}
!298 = !DILocation(line: 506, column: 20, scope: !295)
!299 = !DILocation(line: 506, column: 12, scope: !295)
!300 = !DILocation(line: 506, column: 5, scope: !295)
!301 = !DILocation(line: 506, column: 10, scope: !295)
!302 = !DILocation(line: 900, column: 22, scope: !303)
!303 = !DILexicalBlockFile(scope: !295, file: !304, discriminator: 0)
!304 = !DIFile(filename: "third.h", directory: ".")
!305 = !DILocation(line: 900, column: 12, scope: !303)
!306 = !DILocation(line: 900, column: 5, scope: !303)
!307 = !DILocation(line: 900, column: 10, scope: !303)
!308 = !DILocation(line: 901, column: 1, scope: !303)
!309 = distinct !DISubprogram(name: "inlined", scope: !1, file: !1, line: 100, type: !9, scopeLine: 101, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !0, retainedNodes: !10)
!310 = !DILocation(line: 102, column: 12, scope: !309)
!311 = !DILocation(line: 102, column: 21, scope: !309)
!312 = !DILocation(line: 102, column: 5, scope: !309)
!313 = distinct !DISubprogram(name: "elsewhere", scope: !296, file: !296, line: 500, type: !9, scopeLine: 501, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition, unit: !0, retainedNodes: !10)
!314 = !DILocation(line: 502, column: 12, scope: !313)
!315 = !DILocation(line: 502, column: 14, scope: !313)
!316 = !{float 2.500000e+00}
!317 = !DILocation(line: 502, column: 5, scope: !313)
