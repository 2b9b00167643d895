; ModuleID = 'annotated.cpp'
source_filename = "annotated.cpp"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64"

%struct.vec = type { [4 x float] }
%struct.vec.0 = type { [3 x i32] }
%struct.args = type { i32, float, %struct.vec }

$_ZN3vecIjLi3EEixEi = comdat any

$_ZNK3vecIfLi4EEplERKS0_ = comdat any

$_ZN3vecIfLi4EEC2Ef = comdat any

$_Z1gIfEvPU3AS1T_j = comdat any

$_Z1gIiEvPU3AS1T_j = comdat any

@.str = private unnamed_addr addrspace(1) constant [10 x i8] c"buffer(0)\00", section "llvm.metadata"
@.str.1 = private unnamed_addr addrspace(1) constant [14 x i8] c"annotated.cpp\00", section "llvm.metadata"
@.str.2 = private unnamed_addr addrspace(1) constant [10 x i8] c"buffer(1)\00", section "llvm.metadata"
@.str.3 = private unnamed_addr addrspace(1) constant [24 x i8] c"thread_position_in_grid\00", section "llvm.metadata"
@.str.4 = private unnamed_addr addrspace(1) constant [15 x i8] c"threadgroup(0)\00", section "llvm.metadata"
@_ZZ1kPU3AS13vecIfLi4EERU3AS6K4argsS_IjLi3EEPU3AS3fE1t = internal addrspace(3) global [8 x %struct.vec] zeroinitializer, align 4
@_ZL3tab = internal addrspace(6) constant [3 x float] [float 1.000000e+00, float 2.000000e+00, float 3.000000e+00], align 4
@.str.5 = private unnamed_addr addrspace(1) constant [7 x i8] c"kernel\00", section "llvm.metadata"
@hn0 = dso_local addrspace(1) global ptr @_Z1gIfEvPU3AS1T_j, align 8
@.str.6 = private unnamed_addr addrspace(1) constant [16 x i8] c"host_name=g_f32\00", section "llvm.metadata"
@hn1 = dso_local addrspace(1) global ptr @_Z1gIiEvPU3AS1T_j, align 8
@.str.7 = private unnamed_addr addrspace(1) constant [16 x i8] c"host_name=g_i32\00", section "llvm.metadata"
@llvm.global.annotations = appending global [5 x { ptr, ptr addrspace(1), ptr addrspace(1), i32, ptr addrspace(1) }] [{ ptr, ptr addrspace(1), ptr addrspace(1), i32, ptr addrspace(1) } { ptr @_Z1kPU3AS13vecIfLi4EERU3AS6K4argsS_IjLi3EEPU3AS3f, ptr addrspace(1) @.str.5, ptr addrspace(1) @.str.1, i32 35, ptr addrspace(1) null }, { ptr, ptr addrspace(1), ptr addrspace(1), i32, ptr addrspace(1) } { ptr addrspacecast (ptr addrspace(1) @hn0 to ptr), ptr addrspace(1) @.str.6, ptr addrspace(1) @.str.1, i32 58, ptr addrspace(1) null }, { ptr, ptr addrspace(1), ptr addrspace(1), i32, ptr addrspace(1) } { ptr addrspacecast (ptr addrspace(1) @hn1 to ptr), ptr addrspace(1) @.str.7, ptr addrspace(1) @.str.1, i32 59, ptr addrspace(1) null }, { ptr, ptr addrspace(1), ptr addrspace(1), i32, ptr addrspace(1) } { ptr @_Z1gIfEvPU3AS1T_j, ptr addrspace(1) @.str.5, ptr addrspace(1) @.str.1, i32 53, ptr addrspace(1) null }, { ptr, ptr addrspace(1), ptr addrspace(1), i32, ptr addrspace(1) } { ptr @_Z1gIiEvPU3AS1T_j, ptr addrspace(1) @.str.5, ptr addrspace(1) @.str.1, i32 53, ptr addrspace(1) null }], section "llvm.metadata"
@llvm.compiler.used = appending global [3 x ptr] [ptr @_Z1kPU3AS13vecIfLi4EERU3AS6K4argsS_IjLi3EEPU3AS3f, ptr addrspacecast (ptr addrspace(1) @hn0 to ptr), ptr addrspacecast (ptr addrspace(1) @hn1 to ptr)], section "llvm.metadata"

; Function Attrs: convergent mustprogress norecurse
define dso_local spir_func void @_Z1kPU3AS13vecIfLi4EERU3AS6K4argsS_IjLi3EEPU3AS3f(ptr addrspace(1) noundef %0, ptr addrspace(6) noundef align 4 dereferenceable(24) %1, ptr noundef byval(%struct.vec.0) align 4 %2, ptr addrspace(3) noundef %3) #0 !dbg !7 {
  %5 = alloca ptr addrspace(1), align 8
  %6 = alloca ptr addrspace(6), align 8
  %7 = alloca ptr addrspace(3), align 8
  %8 = alloca %struct.vec, align 4
  %9 = alloca %struct.vec, align 4
  %10 = alloca %struct.vec, align 4
  %11 = alloca float, align 4
  %12 = alloca i32, align 4
  %13 = alloca i32, align 4
  %14 = alloca %struct.vec, align 4
  %15 = addrspacecast ptr %5 to ptr addrspace(4)
  %16 = addrspacecast ptr %6 to ptr addrspace(4)
  %17 = addrspacecast ptr %7 to ptr addrspace(4)
  %18 = addrspacecast ptr %8 to ptr addrspace(4)
  %19 = addrspacecast ptr %9 to ptr addrspace(4)
  %20 = addrspacecast ptr %10 to ptr addrspace(4)
  %21 = addrspacecast ptr %11 to ptr addrspace(4)
  %22 = addrspacecast ptr %12 to ptr addrspace(4)
  %23 = addrspacecast ptr %14 to ptr addrspace(4)
  store ptr addrspace(1) %0, ptr addrspace(4) %15, align 8, !tbaa !10
  call void @llvm.var.annotation.p4.p1(ptr addrspace(4) %15, ptr addrspace(1) @.str, ptr addrspace(1) @.str.1, i32 35, ptr addrspace(1) null)
  store ptr addrspace(6) %1, ptr addrspace(4) %16, align 8, !tbaa !10
  call void @llvm.var.annotation.p4.p1(ptr addrspace(4) %16, ptr addrspace(1) @.str.2, ptr addrspace(1) @.str.1, i32 36, ptr addrspace(1) null)
  %24 = addrspacecast ptr %2 to ptr addrspace(4)
  call void @llvm.var.annotation.p4.p1(ptr addrspace(4) %24, ptr addrspace(1) @.str.3, ptr addrspace(1) @.str.1, i32 37, ptr addrspace(1) null)
  store ptr addrspace(3) %3, ptr addrspace(4) %17, align 8, !tbaa !10
  call void @llvm.var.annotation.p4.p1(ptr addrspace(4) %17, ptr addrspace(1) @.str.4, ptr addrspace(1) @.str.1, i32 38, ptr addrspace(1) null)
  %25 = load ptr addrspace(1), ptr addrspace(4) %15, align 8, !dbg !14, !tbaa !10
  %26 = call spir_func noundef align 4 dereferenceable(4) ptr addrspace(4) @_ZN3vecIjLi3EEixEi(ptr addrspace(4) noundef align 4 dereferenceable_or_null(12) %24, i32 noundef 0) #7, !dbg !15
  %27 = load i32, ptr addrspace(4) %26, align 4, !dbg !15, !tbaa !16
  %28 = zext i32 %27 to i64, !dbg !14
  %29 = getelementptr inbounds %struct.vec, ptr addrspace(1) %25, i64 %28, !dbg !14
  %30 = addrspacecast ptr addrspace(1) %29 to ptr addrspace(4), !dbg !14
  %31 = call spir_func noundef align 4 dereferenceable(4) ptr addrspace(4) @_ZN3vecIjLi3EEixEi(ptr addrspace(4) noundef align 4 dereferenceable_or_null(12) %24, i32 noundef 0) #7, !dbg !18
  %32 = load i32, ptr addrspace(4) %31, align 4, !dbg !18, !tbaa !16
  %33 = zext i32 %32 to i64, !dbg !19
  %34 = getelementptr inbounds [8 x %struct.vec], ptr addrspace(3) @_ZZ1kPU3AS13vecIfLi4EERU3AS6K4argsS_IjLi3EEPU3AS3fE1t, i64 0, i64 %33, !dbg !19
  %35 = addrspacecast ptr addrspace(3) %34 to ptr addrspace(4), !dbg !19
  call void @llvm.memcpy.p4.p4.i64(ptr addrspace(4) align 4 %35, ptr addrspace(4) align 4 %30, i64 16, i1 false), !dbg !20, !tbaa.struct !21
  call spir_func void @_Z10tg_barrierv() #7, !dbg !23
  call void @llvm.lifetime.start.p0(i64 16, ptr %8) #8, !dbg !24
  call void @llvm.lifetime.start.p0(i64 16, ptr %9) #8, !dbg !24
  %36 = call spir_func noundef align 4 dereferenceable(4) ptr addrspace(4) @_ZN3vecIjLi3EEixEi(ptr addrspace(4) noundef align 4 dereferenceable_or_null(12) %24, i32 noundef 0) #7, !dbg !25
  %37 = load i32, ptr addrspace(4) %36, align 4, !dbg !25, !tbaa !16
  %38 = sub i32 7, %37, !dbg !26
  %39 = zext i32 %38 to i64, !dbg !24
  %40 = getelementptr inbounds [8 x %struct.vec], ptr addrspace(3) @_ZZ1kPU3AS13vecIfLi4EERU3AS6K4argsS_IjLi3EEPU3AS3fE1t, i64 0, i64 %39, !dbg !24
  %41 = addrspacecast ptr addrspace(3) %40 to ptr addrspace(4), !dbg !24
  %42 = load ptr addrspace(6), ptr addrspace(4) %16, align 8, !dbg !27, !tbaa !10
  %43 = getelementptr inbounds %struct.args, ptr addrspace(6) %42, i32 0, i32 2, !dbg !28
  %44 = addrspacecast ptr addrspace(6) %43 to ptr addrspace(4), !dbg !27
  call spir_func void @_ZNK3vecIfLi4EEplERKS0_(ptr addrspace(4) sret(%struct.vec) align 4 %19, ptr addrspace(4) noundef align 4 dereferenceable_or_null(16) %41, ptr addrspace(4) noundef align 4 dereferenceable(16) %44) #7, !dbg !29
  call void @llvm.lifetime.start.p0(i64 16, ptr %10) #8, !dbg !30
  %45 = load ptr addrspace(6), ptr addrspace(4) %16, align 8, !dbg !31, !tbaa !10
  %46 = getelementptr inbounds %struct.args, ptr addrspace(6) %45, i32 0, i32 0, !dbg !32
  %47 = load i32, ptr addrspace(6) %46, align 4, !dbg !32, !tbaa !33
  %48 = sext i32 %47 to i64, !dbg !37
  %49 = getelementptr inbounds [3 x float], ptr addrspace(6) @_ZL3tab, i64 0, i64 %48, !dbg !37
  %50 = load float, ptr addrspace(6) %49, align 4, !dbg !37, !tbaa !38
  %51 = load ptr addrspace(6), ptr addrspace(4) %16, align 8, !dbg !39, !tbaa !10
  %52 = getelementptr inbounds %struct.args, ptr addrspace(6) %51, i32 0, i32 1, !dbg !40
  %53 = load float, ptr addrspace(6) %52, align 4, !dbg !40, !tbaa !41
  %54 = fmul float %50, %53, !dbg !42
  call spir_func void @_ZN3vecIfLi4EEC2Ef(ptr addrspace(4) noundef align 4 dereferenceable_or_null(16) %20, float noundef %54) #7, !dbg !30
  call spir_func void @_ZNK3vecIfLi4EEplERKS0_(ptr addrspace(4) sret(%struct.vec) align 4 %18, ptr addrspace(4) noundef align 4 dereferenceable_or_null(16) %19, ptr addrspace(4) noundef align 4 dereferenceable(16) %20) #7, !dbg !43
  %55 = load ptr addrspace(1), ptr addrspace(4) %15, align 8, !dbg !44, !tbaa !10
  %56 = call spir_func noundef align 4 dereferenceable(4) ptr addrspace(4) @_ZN3vecIjLi3EEixEi(ptr addrspace(4) noundef align 4 dereferenceable_or_null(12) %24, i32 noundef 1) #7, !dbg !45
  %57 = load i32, ptr addrspace(4) %56, align 4, !dbg !45, !tbaa !16
  %58 = zext i32 %57 to i64, !dbg !44
  %59 = getelementptr inbounds %struct.vec, ptr addrspace(1) %55, i64 %58, !dbg !44
  %60 = addrspacecast ptr addrspace(1) %59 to ptr addrspace(4), !dbg !44
  call void @llvm.memcpy.p4.p4.i64(ptr addrspace(4) align 4 %60, ptr addrspace(4) align 4 %18, i64 16, i1 false), !dbg !46, !tbaa.struct !21
  call void @llvm.lifetime.end.p0(i64 16, ptr %10) #8, !dbg !44
  call void @llvm.lifetime.end.p0(i64 16, ptr %9) #8, !dbg !44
  call void @llvm.lifetime.end.p0(i64 16, ptr %8) #8, !dbg !44
  %61 = load ptr addrspace(6), ptr addrspace(4) %16, align 8, !dbg !47, !tbaa !10
  %62 = getelementptr inbounds %struct.args, ptr addrspace(6) %61, i32 0, i32 1, !dbg !48
  %63 = load float, ptr addrspace(6) %62, align 4, !dbg !48, !tbaa !41
  %64 = fptrunc float %63 to half, !dbg !47
  %65 = fpext half %64 to float, !dbg !49
  %66 = load ptr addrspace(3), ptr addrspace(4) %17, align 8, !dbg !50, !tbaa !10
  %67 = getelementptr inbounds float, ptr addrspace(3) %66, i64 0, !dbg !50
  store float %65, ptr addrspace(3) %67, align 4, !dbg !51, !tbaa !38
  %68 = load ptr addrspace(6), ptr addrspace(4) %16, align 8, !dbg !52, !tbaa !10
  %69 = getelementptr inbounds %struct.args, ptr addrspace(6) %68, i32 0, i32 0, !dbg !53
  %70 = load i32, ptr addrspace(6) %69, align 4, !dbg !53, !tbaa !33
  %71 = icmp slt i32 %70, 0, !dbg !54
  br i1 %71, label %72, label %96, !dbg !52

72:                                               ; preds = %4
  call void @llvm.lifetime.start.p0(i64 4, ptr %11) #8, !dbg !55
  store float 0.000000e+00, ptr addrspace(4) %21, align 4, !dbg !56, !tbaa !38
  call void @llvm.lifetime.start.p0(i64 4, ptr %12) #8, !dbg !57
  store i32 0, ptr addrspace(4) %22, align 4, !dbg !58, !tbaa !16
  br label %73, !dbg !57

73:                                               ; preds = %88, %72
  %74 = load i32, ptr addrspace(4) %22, align 4, !dbg !59, !tbaa !16
  %75 = load ptr addrspace(6), ptr addrspace(4) %16, align 8, !dbg !60, !tbaa !10
  %76 = getelementptr inbounds %struct.args, ptr addrspace(6) %75, i32 0, i32 0, !dbg !61
  %77 = load i32, ptr addrspace(6) %76, align 4, !dbg !61, !tbaa !33
  %78 = icmp slt i32 %74, %77, !dbg !62
  br i1 %78, label %80, label %79, !dbg !63

79:                                               ; preds = %73
  call void @llvm.lifetime.end.p0(i64 4, ptr %12) #8, !dbg !63
  br label %91

80:                                               ; preds = %73
  %81 = load ptr addrspace(3), ptr addrspace(4) %17, align 8, !dbg !64, !tbaa !10
  %82 = load i32, ptr addrspace(4) %22, align 4, !dbg !65, !tbaa !16
  %83 = sext i32 %82 to i64, !dbg !64
  %84 = getelementptr inbounds float, ptr addrspace(3) %81, i64 %83, !dbg !64
  %85 = load float, ptr addrspace(3) %84, align 4, !dbg !64, !tbaa !38
  %86 = load float, ptr addrspace(4) %21, align 4, !dbg !66, !tbaa !38
  %87 = fadd float %86, %85, !dbg !66
  store float %87, ptr addrspace(4) %21, align 4, !dbg !66, !tbaa !38
  br label %88, !dbg !67

88:                                               ; preds = %80
  %89 = load i32, ptr addrspace(4) %22, align 4, !dbg !68, !tbaa !16
  %90 = add nsw i32 %89, 1, !dbg !68
  store i32 %90, ptr addrspace(4) %22, align 4, !dbg !68, !tbaa !16
  br label %73, !dbg !63, !llvm.loop !69

91:                                               ; preds = %79
  call void @llvm.lifetime.start.p0(i64 16, ptr %14) #8, !dbg !73
  %92 = load float, ptr addrspace(4) %21, align 4, !dbg !73, !tbaa !38
  call spir_func void @_ZN3vecIfLi4EEC2Ef(ptr addrspace(4) noundef align 4 dereferenceable_or_null(16) %23, float noundef %92) #7, !dbg !73
  %93 = load ptr addrspace(1), ptr addrspace(4) %15, align 8, !dbg !74, !tbaa !10
  %94 = getelementptr inbounds %struct.vec, ptr addrspace(1) %93, i64 0, !dbg !74
  %95 = addrspacecast ptr addrspace(1) %94 to ptr addrspace(4), !dbg !74
  call void @llvm.memcpy.p4.p4.i64(ptr addrspace(4) align 4 %95, ptr addrspace(4) align 4 %23, i64 16, i1 false), !dbg !75, !tbaa.struct !21
  call void @llvm.lifetime.end.p0(i64 16, ptr %14) #8, !dbg !74
  call void @llvm.lifetime.end.p0(i64 4, ptr %11) #8, !dbg !76
  br label %96, !dbg !76

96:                                               ; preds = %91, %4
  ret void, !dbg !77
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @llvm.var.annotation.p4.p1(ptr addrspace(4), ptr addrspace(1), ptr addrspace(1), i32, ptr addrspace(1)) #1

; Function Attrs: convergent mustprogress norecurse nounwind
define linkonce_odr dso_local spir_func noundef align 4 dereferenceable(4) ptr addrspace(4) @_ZN3vecIjLi3EEixEi(ptr addrspace(4) noundef align 4 dereferenceable_or_null(12) %0, i32 noundef %1) #2 comdat align 2 !dbg !78 {
  %3 = alloca ptr addrspace(4), align 8
  %4 = alloca ptr addrspace(4), align 8
  %5 = alloca i32, align 4
  %6 = addrspacecast ptr %3 to ptr addrspace(4)
  %7 = addrspacecast ptr %4 to ptr addrspace(4)
  %8 = addrspacecast ptr %5 to ptr addrspace(4)
  store ptr addrspace(4) %0, ptr addrspace(4) %7, align 8, !tbaa !10
  store i32 %1, ptr addrspace(4) %8, align 4, !tbaa !16
  %9 = load ptr addrspace(4), ptr addrspace(4) %7, align 8
  %10 = getelementptr inbounds %struct.vec.0, ptr addrspace(4) %9, i32 0, i32 0, !dbg !79
  %11 = load i32, ptr addrspace(4) %8, align 4, !dbg !80, !tbaa !16
  %12 = sext i32 %11 to i64, !dbg !79
  %13 = getelementptr inbounds [3 x i32], ptr addrspace(4) %10, i64 0, i64 %12, !dbg !79
  ret ptr addrspace(4) %13, !dbg !81
}

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p4.p4.i64(ptr addrspace(4) noalias nocapture writeonly, ptr addrspace(4) noalias nocapture readonly, i64, i1 immarg) #3

; Function Attrs: convergent
declare !dbg !82 dso_local spir_func void @_Z10tg_barrierv() #4

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture) #5

; Function Attrs: convergent mustprogress norecurse nounwind
define linkonce_odr dso_local spir_func void @_ZNK3vecIfLi4EEplERKS0_(ptr addrspace(4) noalias sret(%struct.vec) align 4 %0, ptr addrspace(4) noundef align 4 dereferenceable_or_null(16) %1, ptr addrspace(4) noundef align 4 dereferenceable(16) %2) #2 comdat align 2 !dbg !83 {
  %4 = alloca ptr addrspace(4), align 8
  %5 = alloca ptr addrspace(4), align 8
  %6 = alloca i32, align 4
  %7 = alloca i32, align 4
  %8 = addrspacecast ptr %4 to ptr addrspace(4)
  %9 = addrspacecast ptr %5 to ptr addrspace(4)
  %10 = addrspacecast ptr %6 to ptr addrspace(4)
  store ptr addrspace(4) %1, ptr addrspace(4) %8, align 8, !tbaa !10
  store ptr addrspace(4) %2, ptr addrspace(4) %9, align 8, !tbaa !10
  %11 = load ptr addrspace(4), ptr addrspace(4) %8, align 8
  call void @llvm.lifetime.start.p0(i64 4, ptr %6) #8, !dbg !84
  store i32 0, ptr addrspace(4) %10, align 4, !dbg !85, !tbaa !16
  br label %12, !dbg !84

12:                                               ; preds = %33, %3
  %13 = load i32, ptr addrspace(4) %10, align 4, !dbg !86, !tbaa !16
  %14 = icmp slt i32 %13, 4, !dbg !87
  br i1 %14, label %16, label %15, !dbg !88

15:                                               ; preds = %12
  call void @llvm.lifetime.end.p0(i64 4, ptr %6) #8, !dbg !88
  br label %36

16:                                               ; preds = %12
  %17 = getelementptr inbounds %struct.vec, ptr addrspace(4) %11, i32 0, i32 0, !dbg !89
  %18 = load i32, ptr addrspace(4) %10, align 4, !dbg !90, !tbaa !16
  %19 = sext i32 %18 to i64, !dbg !89
  %20 = getelementptr inbounds [4 x float], ptr addrspace(4) %17, i64 0, i64 %19, !dbg !89
  %21 = load float, ptr addrspace(4) %20, align 4, !dbg !89, !tbaa !38
  %22 = load ptr addrspace(4), ptr addrspace(4) %9, align 8, !dbg !91, !tbaa !10
  %23 = getelementptr inbounds %struct.vec, ptr addrspace(4) %22, i32 0, i32 0, !dbg !92
  %24 = load i32, ptr addrspace(4) %10, align 4, !dbg !93, !tbaa !16
  %25 = sext i32 %24 to i64, !dbg !91
  %26 = getelementptr inbounds [4 x float], ptr addrspace(4) %23, i64 0, i64 %25, !dbg !91
  %27 = load float, ptr addrspace(4) %26, align 4, !dbg !91, !tbaa !38
  %28 = fadd float %21, %27, !dbg !94
  %29 = getelementptr inbounds %struct.vec, ptr addrspace(4) %0, i32 0, i32 0, !dbg !95
  %30 = load i32, ptr addrspace(4) %10, align 4, !dbg !96, !tbaa !16
  %31 = sext i32 %30 to i64, !dbg !97
  %32 = getelementptr inbounds [4 x float], ptr addrspace(4) %29, i64 0, i64 %31, !dbg !97
  store float %28, ptr addrspace(4) %32, align 4, !dbg !98, !tbaa !38
  br label %33, !dbg !97

33:                                               ; preds = %16
  %34 = load i32, ptr addrspace(4) %10, align 4, !dbg !99, !tbaa !16
  %35 = add nsw i32 %34, 1, !dbg !99
  store i32 %35, ptr addrspace(4) %10, align 4, !dbg !99, !tbaa !16
  br label %12, !dbg !88, !llvm.loop !100

36:                                               ; preds = %15
  ret void, !dbg !102
}

; Function Attrs: convergent norecurse nounwind
define linkonce_odr dso_local spir_func void @_ZN3vecIfLi4EEC2Ef(ptr addrspace(4) noundef align 4 dereferenceable_or_null(16) %0, float noundef %1) unnamed_addr #6 comdat align 2 !dbg !103 {
  %3 = alloca ptr addrspace(4), align 8
  %4 = alloca float, align 4
  %5 = alloca i32, align 4
  %6 = alloca i32, align 4
  %7 = addrspacecast ptr %3 to ptr addrspace(4)
  %8 = addrspacecast ptr %4 to ptr addrspace(4)
  %9 = addrspacecast ptr %5 to ptr addrspace(4)
  store ptr addrspace(4) %0, ptr addrspace(4) %7, align 8, !tbaa !10
  store float %1, ptr addrspace(4) %8, align 4, !tbaa !38
  %10 = load ptr addrspace(4), ptr addrspace(4) %7, align 8
  call void @llvm.lifetime.start.p0(i64 4, ptr %5) #8, !dbg !104
  store i32 0, ptr addrspace(4) %9, align 4, !dbg !105, !tbaa !16
  br label %11, !dbg !104

11:                                               ; preds = %21, %2
  %12 = load i32, ptr addrspace(4) %9, align 4, !dbg !106, !tbaa !16
  %13 = icmp slt i32 %12, 4, !dbg !107
  br i1 %13, label %15, label %14, !dbg !108

14:                                               ; preds = %11
  call void @llvm.lifetime.end.p0(i64 4, ptr %5) #8, !dbg !108
  br label %24

15:                                               ; preds = %11
  %16 = load float, ptr addrspace(4) %8, align 4, !dbg !109, !tbaa !38
  %17 = getelementptr inbounds %struct.vec, ptr addrspace(4) %10, i32 0, i32 0, !dbg !110
  %18 = load i32, ptr addrspace(4) %9, align 4, !dbg !111, !tbaa !16
  %19 = sext i32 %18 to i64, !dbg !110
  %20 = getelementptr inbounds [4 x float], ptr addrspace(4) %17, i64 0, i64 %19, !dbg !110
  store float %16, ptr addrspace(4) %20, align 4, !dbg !112, !tbaa !38
  br label %21, !dbg !110

21:                                               ; preds = %15
  %22 = load i32, ptr addrspace(4) %9, align 4, !dbg !113, !tbaa !16
  %23 = add nsw i32 %22, 1, !dbg !113
  store i32 %23, ptr addrspace(4) %9, align 4, !dbg !113, !tbaa !16
  br label %11, !dbg !108, !llvm.loop !114

24:                                               ; preds = %14
  ret void, !dbg !115
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(i64 immarg, ptr nocapture) #5

; Function Attrs: convergent mustprogress norecurse nounwind
define linkonce_odr dso_local spir_func void @_Z1gIfEvPU3AS1T_j(ptr addrspace(1) noundef %0, i32 noundef %1) #2 comdat !dbg !116 {
  %3 = alloca ptr addrspace(1), align 8
  %4 = alloca i32, align 4
  %5 = addrspacecast ptr %3 to ptr addrspace(4)
  %6 = addrspacecast ptr %4 to ptr addrspace(4)
  store ptr addrspace(1) %0, ptr addrspace(4) %5, align 8, !tbaa !10
  call void @llvm.var.annotation.p4.p1(ptr addrspace(4) %5, ptr addrspace(1) @.str, ptr addrspace(1) @.str.1, i32 53, ptr addrspace(1) null)
  store i32 %1, ptr addrspace(4) %6, align 4, !tbaa !16
  call void @llvm.var.annotation.p4.p1(ptr addrspace(4) %6, ptr addrspace(1) @.str.3, ptr addrspace(1) @.str.1, i32 54, ptr addrspace(1) null)
  %7 = load ptr addrspace(1), ptr addrspace(4) %5, align 8, !dbg !117, !tbaa !10
  %8 = load i32, ptr addrspace(4) %6, align 4, !dbg !118, !tbaa !16
  %9 = zext i32 %8 to i64, !dbg !117
  %10 = getelementptr inbounds float, ptr addrspace(1) %7, i64 %9, !dbg !117
  %11 = load float, ptr addrspace(1) %10, align 4, !dbg !117, !tbaa !38
  %12 = fmul float %11, 2.000000e+00, !dbg !119
  %13 = load ptr addrspace(1), ptr addrspace(4) %5, align 8, !dbg !120, !tbaa !10
  %14 = load i32, ptr addrspace(4) %6, align 4, !dbg !121, !tbaa !16
  %15 = zext i32 %14 to i64, !dbg !120
  %16 = getelementptr inbounds float, ptr addrspace(1) %13, i64 %15, !dbg !120
  store float %12, ptr addrspace(1) %16, align 4, !dbg !122, !tbaa !38
  ret void, !dbg !123
}

; Function Attrs: convergent mustprogress norecurse nounwind
define linkonce_odr dso_local spir_func void @_Z1gIiEvPU3AS1T_j(ptr addrspace(1) noundef %0, i32 noundef %1) #2 comdat !dbg !124 {
  %3 = alloca ptr addrspace(1), align 8
  %4 = alloca i32, align 4
  %5 = addrspacecast ptr %3 to ptr addrspace(4)
  %6 = addrspacecast ptr %4 to ptr addrspace(4)
  store ptr addrspace(1) %0, ptr addrspace(4) %5, align 8, !tbaa !10
  call void @llvm.var.annotation.p4.p1(ptr addrspace(4) %5, ptr addrspace(1) @.str, ptr addrspace(1) @.str.1, i32 53, ptr addrspace(1) null)
  store i32 %1, ptr addrspace(4) %6, align 4, !tbaa !16
  call void @llvm.var.annotation.p4.p1(ptr addrspace(4) %6, ptr addrspace(1) @.str.3, ptr addrspace(1) @.str.1, i32 54, ptr addrspace(1) null)
  %7 = load ptr addrspace(1), ptr addrspace(4) %5, align 8, !dbg !125, !tbaa !10
  %8 = load i32, ptr addrspace(4) %6, align 4, !dbg !126, !tbaa !16
  %9 = zext i32 %8 to i64, !dbg !125
  %10 = getelementptr inbounds i32, ptr addrspace(1) %7, i64 %9, !dbg !125
  %11 = load i32, ptr addrspace(1) %10, align 4, !dbg !125, !tbaa !16
  %12 = mul nsw i32 %11, 2, !dbg !127
  %13 = load ptr addrspace(1), ptr addrspace(4) %5, align 8, !dbg !128, !tbaa !10
  %14 = load i32, ptr addrspace(4) %6, align 4, !dbg !129, !tbaa !16
  %15 = zext i32 %14 to i64, !dbg !128
  %16 = getelementptr inbounds i32, ptr addrspace(1) %13, i64 %15, !dbg !128
  store i32 %12, ptr addrspace(1) %16, align 4, !dbg !130, !tbaa !16
  ret void, !dbg !131
}

attributes #0 = { convergent mustprogress norecurse "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite) }
attributes #2 = { convergent mustprogress norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #3 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #4 = { convergent "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #5 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #6 = { convergent norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #7 = { convergent }
attributes #8 = { nounwind }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5}
!llvm.ident = !{!6}

!0 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !1, producer: "Debian clang version 16.0.6 (15~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: LineTablesOnly, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "annotated.cpp", directory: ".", checksumkind: CSK_MD5, checksum: "badb5e6e2171cce3f8952c7d13562f71")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{!"Debian clang version 16.0.6 (15~deb12u1)"}
!7 = distinct !DISubprogram(name: "k", scope: !1, file: !1, line: 35, type: !8, scopeLine: 39, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !9)
!8 = !DISubroutineType(types: !9)
!9 = !{}
!10 = !{!11, !11, i64 0}
!11 = !{!"any pointer", !12, i64 0}
!12 = !{!"omnipotent char", !13, i64 0}
!13 = !{!"Simple C++ TBAA"}
!14 = !DILocation(line: 41, column: 17, scope: !7)
!15 = !DILocation(line: 41, column: 19, scope: !7)
!16 = !{!17, !17, i64 0}
!17 = !{!"int", !12, i64 0}
!18 = !DILocation(line: 41, column: 7, scope: !7)
!19 = !DILocation(line: 41, column: 5, scope: !7)
!20 = !DILocation(line: 41, column: 15, scope: !7)
!21 = !{i64 0, i64 16, !22}
!22 = !{!12, !12, i64 0}
!23 = !DILocation(line: 42, column: 5, scope: !7)
!24 = !DILocation(line: 43, column: 17, scope: !7)
!25 = !DILocation(line: 43, column: 23, scope: !7)
!26 = !DILocation(line: 43, column: 21, scope: !7)
!27 = !DILocation(line: 43, column: 33, scope: !7)
!28 = !DILocation(line: 43, column: 35, scope: !7)
!29 = !DILocation(line: 43, column: 31, scope: !7)
!30 = !DILocation(line: 43, column: 39, scope: !7)
!31 = !DILocation(line: 43, column: 50, scope: !7)
!32 = !DILocation(line: 43, column: 52, scope: !7)
!33 = !{!34, !17, i64 0}
!34 = !{!"_ZTS4args", !17, i64 0, !35, i64 4, !36, i64 8}
!35 = !{!"float", !12, i64 0}
!36 = !{!"_ZTS3vecIfLi4EE", !12, i64 0}
!37 = !DILocation(line: 43, column: 46, scope: !7)
!38 = !{!35, !35, i64 0}
!39 = !DILocation(line: 43, column: 57, scope: !7)
!40 = !DILocation(line: 43, column: 59, scope: !7)
!41 = !{!34, !35, i64 4}
!42 = !DILocation(line: 43, column: 55, scope: !7)
!43 = !DILocation(line: 43, column: 37, scope: !7)
!44 = !DILocation(line: 43, column: 5, scope: !7)
!45 = !DILocation(line: 43, column: 7, scope: !7)
!46 = !DILocation(line: 43, column: 15, scope: !7)
!47 = !DILocation(line: 44, column: 23, scope: !7)
!48 = !DILocation(line: 44, column: 25, scope: !7)
!49 = !DILocation(line: 44, column: 13, scope: !7)
!50 = !DILocation(line: 44, column: 5, scope: !7)
!51 = !DILocation(line: 44, column: 11, scope: !7)
!52 = !DILocation(line: 45, column: 9, scope: !7)
!53 = !DILocation(line: 45, column: 11, scope: !7)
!54 = !DILocation(line: 45, column: 13, scope: !7)
!55 = !DILocation(line: 46, column: 9, scope: !7)
!56 = !DILocation(line: 46, column: 15, scope: !7)
!57 = !DILocation(line: 47, column: 14, scope: !7)
!58 = !DILocation(line: 47, column: 18, scope: !7)
!59 = !DILocation(line: 47, column: 25, scope: !7)
!60 = !DILocation(line: 47, column: 29, scope: !7)
!61 = !DILocation(line: 47, column: 31, scope: !7)
!62 = !DILocation(line: 47, column: 27, scope: !7)
!63 = !DILocation(line: 47, column: 9, scope: !7)
!64 = !DILocation(line: 48, column: 18, scope: !7)
!65 = !DILocation(line: 48, column: 21, scope: !7)
!66 = !DILocation(line: 48, column: 15, scope: !7)
!67 = !DILocation(line: 48, column: 13, scope: !7)
!68 = !DILocation(line: 47, column: 35, scope: !7)
!69 = distinct !{!69, !63, !70, !71, !72}
!70 = !DILocation(line: 48, column: 22, scope: !7)
!71 = !{!"llvm.loop.mustprogress"}
!72 = !{!"llvm.loop.unroll.disable"}
!73 = !DILocation(line: 49, column: 16, scope: !7)
!74 = !DILocation(line: 49, column: 9, scope: !7)
!75 = !DILocation(line: 49, column: 14, scope: !7)
!76 = !DILocation(line: 50, column: 5, scope: !7)
!77 = !DILocation(line: 51, column: 1, scope: !7)
!78 = distinct !DISubprogram(name: "operator[]", scope: !1, file: !1, line: 14, type: !8, scopeLine: 15, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !9)
!79 = !DILocation(line: 16, column: 16, scope: !78)
!80 = !DILocation(line: 16, column: 18, scope: !78)
!81 = !DILocation(line: 16, column: 9, scope: !78)
!82 = !DISubprogram(name: "tg_barrier", scope: !1, file: !1, line: 28, type: !8, flags: DIFlagPrototyped, spFlags: DISPFlagOptimized, retainedNodes: !9)
!83 = distinct !DISubprogram(name: "operator+", scope: !1, file: !1, line: 18, type: !8, scopeLine: 19, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !9)
!84 = !DILocation(line: 21, column: 14, scope: !83)
!85 = !DILocation(line: 21, column: 18, scope: !83)
!86 = !DILocation(line: 21, column: 25, scope: !83)
!87 = !DILocation(line: 21, column: 27, scope: !83)
!88 = !DILocation(line: 21, column: 9, scope: !83)
!89 = !DILocation(line: 22, column: 22, scope: !83)
!90 = !DILocation(line: 22, column: 24, scope: !83)
!91 = !DILocation(line: 22, column: 29, scope: !83)
!92 = !DILocation(line: 22, column: 31, scope: !83)
!93 = !DILocation(line: 22, column: 33, scope: !83)
!94 = !DILocation(line: 22, column: 27, scope: !83)
!95 = !DILocation(line: 22, column: 15, scope: !83)
!96 = !DILocation(line: 22, column: 17, scope: !83)
!97 = !DILocation(line: 22, column: 13, scope: !83)
!98 = !DILocation(line: 22, column: 20, scope: !83)
!99 = !DILocation(line: 21, column: 33, scope: !83)
!100 = distinct !{!100, !88, !101, !71, !72}
!101 = !DILocation(line: 22, column: 34, scope: !83)
!102 = !DILocation(line: 23, column: 9, scope: !83)
!103 = distinct !DISubprogram(name: "vec", scope: !1, file: !1, line: 9, type: !8, scopeLine: 10, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !9)
!104 = !DILocation(line: 11, column: 14, scope: !103)
!105 = !DILocation(line: 11, column: 18, scope: !103)
!106 = !DILocation(line: 11, column: 25, scope: !103)
!107 = !DILocation(line: 11, column: 27, scope: !103)
!108 = !DILocation(line: 11, column: 9, scope: !103)
!109 = !DILocation(line: 12, column: 20, scope: !103)
!110 = !DILocation(line: 12, column: 13, scope: !103)
!111 = !DILocation(line: 12, column: 15, scope: !103)
!112 = !DILocation(line: 12, column: 18, scope: !103)
!113 = !DILocation(line: 11, column: 33, scope: !103)
!114 = distinct !{!114, !108, !109, !71, !72}
!115 = !DILocation(line: 13, column: 5, scope: !103)
!116 = distinct !DISubprogram(name: "g<float>", scope: !1, file: !1, line: 53, type: !8, scopeLine: 55, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !9)
!117 = !DILocation(line: 56, column: 12, scope: !116)
!118 = !DILocation(line: 56, column: 14, scope: !116)
!119 = !DILocation(line: 56, column: 17, scope: !116)
!120 = !DILocation(line: 56, column: 5, scope: !116)
!121 = !DILocation(line: 56, column: 7, scope: !116)
!122 = !DILocation(line: 56, column: 10, scope: !116)
!123 = !DILocation(line: 57, column: 1, scope: !116)
!124 = distinct !DISubprogram(name: "g<int>", scope: !1, file: !1, line: 53, type: !8, scopeLine: 55, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !9)
!125 = !DILocation(line: 56, column: 12, scope: !124)
!126 = !DILocation(line: 56, column: 14, scope: !124)
!127 = !DILocation(line: 56, column: 17, scope: !124)
!128 = !DILocation(line: 56, column: 5, scope: !124)
!129 = !DILocation(line: 56, column: 7, scope: !124)
!130 = !DILocation(line: 56, column: 10, scope: !124)
!131 = !DILocation(line: 57, column: 1, scope: !124)
