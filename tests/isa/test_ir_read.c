/* Reading LLVM's text: every instruction, constants, places in the source, annotations. */
#include "isa/array_count.h"
#include "tests/isa/ir_text.h"

/* ---- instructions: text read, text printed ---- */

/* The body of `text` in a function of many arguments, printed without head and numbers of what is fixed. */
static void check_body(const char *body, const char *expected)
{
    char text[2048];
    snprintf(text, sizeof text,
             "%%pair = type { i32, <{ i8, float }>, [2 x i16] }\n"
             "define void @f(i32 %%i, float %%f, ptr addrspace(1) %%p, ptr %%q, <4 x float> %%v, i1 %%c, i64 %%l, half %%h, "
             "<4 x i32> %%w, %%pair %%s) {\nentry:\n%s\n}\n"
             "declare spir_func float @callee(i32 noundef, float)\n@g = internal addrspace(3) global [8 x float] undef\n",
             body);
    struct ir_module *const m = ir_text_read(body, text);
    if (!m)
        return;
    char *const printed = ir_text_print(m);
    const char *const from = strstr(printed, "b0:\n"), *const to = strstr(printed, "\n}\n");
    const size_t length = from && to ? (size_t)(to - from - 4) : 0;
    CHECK(length == strlen(expected) && memcmp(from + 4, expected, length) == 0, "%s\nbecomes\n%.*s\ninstead of\n%s", body,
          (int)length, from ? from + 4 : "", expected);
    free(printed);
    ir_text_check_round(body, m);
    ir_module_free(m);
}

static void test_arithmetic(void)
{
    check_body("  %x = add nuw nsw i32 %i, -1\n  %y = shl i32 %x, 3\n  %z = udiv exact i32 %y, %x\n  ret void",
               "  %10 = add nuw i32 %0, -1\n  %11 = shl i32 %10, 3\n  %12 = udiv i32 %11, %10\n  ret void");
    check_body(
        "  %x = fadd fast float %f, 1.0\n  %y = fmul nnan contract float %x, %x\n  %z = fneg float %y\n  ret void",
        "  %10 = fadd fast float %1, bits(0x3f800000)\n  %11 = fmul fast float %10, %10\n  %12 = fneg float %11\n  ret void");
    check_body("  %x = fsub nnan float %f, %f\n  %y = frem <4 x float> %v, %v\n  ret void",
               "  %10 = fsub float %1, %1\n  %11 = frem <4 x float> %4, %4\n  ret void");
    check_body("  %x = icmp samesign ult i32 %i, 7\n  %y = fcmp fast uno float %f, 0.0\n  %z = icmp eq ptr %q, null\n  ret void",
               "  %10 = icmp ult i32 %0, 7\n  %11 = fcmp fast uno float %1, bits(0x00000000)\n  %12 = icmp eq ptr %3, null\n"
               "  ret void");
    check_body("  %x = select i1 %c, float %f, float undef\n  %y = freeze i32 %i\n  ret void",
               "  %10 = select i1 %5, float %1, float undef\n  %11 = freeze i32 %0\n  ret void");
    check_body("  %x = xor i1 %c, true\n  %y = or disjoint i32 %i, 1\n  %z = fma fast float %f, float %f, float %f\n  ret void",
               "  %10 = xor i1 %5, true\n  %11 = or i32 %0, 1\n  %12 = fma fast float %1, float %1, float %1\n  ret void");
}

static void test_conversions(void)
{
    check_body("  %1 = trunc i64 %l to i32\n  %2 = zext nneg i32 %1 to i64\n  %3 = sext i1 %c to i32\n  ret void",
               "  %10 = trunc i64 %6 to i32\n  %11 = zext i32 %10 to i64\n  %12 = sext i1 %5 to i32\n  ret void");
    check_body("  %1 = fptrunc float %f to half\n  %2 = fpext half %h to float\n  %3 = fptoui float %f to i8\n"
               "  %4 = fptosi half %h to i32\n  ret void",
               "  %10 = fptrunc float %1 to half\n  %11 = fpext half %7 to float\n  %12 = fptoui float %1 to i8\n"
               "  %13 = fptosi half %7 to i32\n  ret void");
    check_body("  %1 = uitofp i32 %i to float\n  %2 = sitofp <4 x i32> %w to <4 x float>\n  %3 = bitcast <4 x i32> %w to i128\n"
               "  ret void",
               "  %10 = uitofp i32 %0 to float\n  %11 = sitofp <4 x i32> %8 to <4 x float>\n"
               "  %12 = bitcast <4 x i32> %8 to i128\n  ret void");
    check_body("  %1 = ptrtoint ptr %q to i64\n  %2 = inttoptr i64 %l to ptr addrspace(1)\n"
               "  %3 = addrspacecast ptr addrspace(1) %p to ptr addrspace(4)\n  ret void",
               "  %10 = ptrtoint ptr %3 to i64\n  %11 = inttoptr i64 %6 to ptr addrspace(1)\n"
               "  %12 = addrspacecast ptr addrspace(1) %2 to ptr addrspace(4)\n  ret void");
}

static void test_parts(void)
{
    check_body(
        "  %1 = extractelement <4 x float> %v, i64 2\n  %2 = insertelement <4 x float> poison, float %1, i32 %i\n  ret void",
        "  %10 = extractelement <4 x float> %4, i64 2\n"
        "  %11 = insertelement <4 x float> undef, float %10, i32 %0\n  ret void");
    check_body("  %1 = shufflevector <4 x float> %v, <4 x float> poison, <3 x i32> <i32 2, i32 undef, i32 7>\n"
               "  %2 = shufflevector <4 x float> %v, <4 x float> %v, <2 x i32> zeroinitializer\n  ret void",
               "  %10 = shufflevector <4 x float> %4, <4 x float> undef, <3 x i32> <i32 2, i32 undef, i32 7>\n"
               "  %11 = shufflevector <4 x float> %4, <4 x float> %4, <2 x i32> <i32 0, i32 0>\n  ret void");
    check_body("  %1 = extractvalue %pair %s, 1, 1\n  %2 = insertvalue %pair %s, i32 %i, 0\n  ret void",
               "  %10 = extractvalue { i32, <{ i8, float }>, [2 x i16] } %9, 1, 1\n"
               "  %11 = insertvalue { i32, <{ i8, float }>, [2 x i16] } %9, i32 %0, 0\n  ret void");
}

static void test_memory(void)
{
    check_body("  %1 = alloca %pair, align 4\n  %2 = alloca [4 x i8], i32 %i, align 1, addrspace(4)\n  ret void",
               "  %10 = alloca { i32, <{ i8, float }>, [2 x i16] }, i32 1, align 4\n"
               "  %11 = alloca [4 x i8], i32 %0, align 1, addrspace(4)\n  ret void");
    check_body("  %1 = load volatile <4 x float>, ptr addrspace(1) %p, align 4, !tbaa !{}\n  store float %f, ptr %q\n  ret void",
               "  %10 = load volatile <4 x float>, ptr addrspace(1) %2, align 4\n  store float %1, ptr %3\n  ret void");
    check_body("  %1 = getelementptr inbounds nuw %pair, ptr addrspace(1) %p, i64 %l, i32 2, i64 1\n"
               "  %2 = getelementptr i32, ptr %q, i32 %i offset -3\n  %3 = load i32 held i8, ptr %2, align 1\n  ret void",
               "  %10 = getelementptr { i32, <{ i8, float }>, [2 x i16] }, ptr addrspace(1) %2, i64 %6, i32 2, i64 1\n"
               "  %11 = getelementptr i32, ptr %3, i32 %0 offset -3\n  %12 = load i32 held i8, ptr %11, align 1\n  ret void");
}

/* What an order asks for stands before and behind as a fence. */
static void test_atomics(void)
{
    check_body("  %1 = atomicrmw volatile umax ptr addrspace(1) %p, i32 %i syncscope(\"workgroup\") monotonic, align 4\n"
               "  %2 = atomicrmw xchg ptr %q, i32 %1 seq_cst\n  fence acquire\n  ret void",
               "  %10 = builtin i32 atomic(ptr addrspace(1) %2, i32 %0) [5]\n  builtin void fence()\n"
               "  %12 = builtin i32 atomic(ptr %3, i32 %10) [2]\n  builtin void fence()\n  builtin void fence()\n  ret void");
    check_body("  %1 = cmpxchg weak ptr %q, i32 %i, i32 9 release monotonic\n  %2 = extractvalue { i32, i1 } %1, 1\n  ret void",
               "  builtin void fence()\n  %11 = builtin i32 atomic_cmpxchg(ptr %3, i32 %0, i32 9)\n"
               "  %12 = icmp eq i32 %11, %0\n  %13 = insertvalue { i32, i1 } undef, i32 %11, 0\n"
               "  %14 = insertvalue { i32, i1 } %13, i1 %12, 1\n  %15 = extractvalue { i32, i1 } %14, 1\n  ret void");
    check_body("  %1 = load atomic i32, ptr %q acquire, align 4\n  store atomic i32 %1, ptr %q release, align 4\n  ret void",
               "  %10 = load volatile i32, ptr %3, align 4\n  builtin void fence()\n  builtin void fence()\n"
               "  store volatile i32 %10, ptr %3, align 4\n  ret void");
}

static void test_control(void)
{
    check_body("  br i1 %c, label %loop, label %\"the end\"\nloop:\n  %n = phi i32 [ 0, %entry ], [ %m, %loop ]\n"
               "  %m = add i32 %n, 1\n  %again = icmp ult i32 %m, %i\n"
               "  br i1 %again, label %loop, label %\"the end\", !llvm.loop !7\n\"the end\":\n  ret void",
               "  br i1 %5, label %b1, label %b2\nb1:\n  %11 = phi i32 [ 0, %b0 ], [ %12, %b1 ]\n  %12 = add i32 %11, 1\n"
               "  %13 = icmp ult i32 %12, %0\n  br i1 %13, label %b1, label %b2\nb2:\n  ret void");
    check_body("  switch i32 %i, label %a [\n    i32 1, label %b\n    i32 -2, label %a\n    i32 3, label %b\n  ]\n"
               "b:\n  %x = phi i32 [ 4, %entry ], [ 4, %entry ]\n  unreachable\na:\n  ret void",
               "  switch i32 %0, label %b2 [ i32 1, label %b1  i32 -2, label %b2  i32 3, label %b1 ]\nb1:\n"
               "  %11 = phi i32 [ 4, %b0 ]\n  unreachable\nb2:\n  ret void");
    check_body(
        "  %1 = tail call fast spir_func noundef float @callee(i32 noundef %i, float nofpclass(nan inf) %f) #3\n  ret void",
        "  %10 = call fast float @callee(i32 %0, float %1)\n  ret void");
    check_body("  call void @llvm.dbg.value(metadata i32 %i, metadata !7, metadata !DIExpression()), !range !{}\n"
               "    #dbg_value(i32 %i, !7, !DIExpression(), !8)\n"
               "  call void @llvm.experimental.noalias.scope.decl(metadata !12)\n  ret void",
               "  ret void");
    check_body("  %1 = builtin float simd_reduce(float %f) [4]\n  %2 = builtin i32 global_id(i32 0)\n  ret void",
               "  %10 = builtin float simd_reduce(float %1) [4]\n  %11 = builtin i32 global_id(i32 0)\n  ret void");
}

static void test_expressions(void)
{
    check_body("  store float 1.0, ptr addrspace(3) getelementptr inbounds ([8 x float], ptr addrspace(3) @g, i64 0, i64 2)\n"
               "  store float 1.0, ptr addrspace(3) getelementptr ([8 x float], ptr addrspace(3) @g, i64 0, i64 0)\n  ret void",
               "  %10 = getelementptr [8 x float], ptr addrspace(3) @g, i64 0, i64 2\n"
               "  store float bits(0x3f800000), ptr addrspace(3) %10\n"
               "  store float bits(0x3f800000), ptr addrspace(3) @g\n  ret void");
    check_body("  %1 = icmp eq i64 ptrtoint (ptr addrspace(3) @g to i64), 0\n"
               "  store i32 %i, ptr inttoptr (i64 4096 to ptr)\n  ret void",
               "  %10 = ptrtoint ptr addrspace(3) @g to i64\n  %11 = icmp eq i64 %10, 0\n"
               "  store i32 %0, ptr address(0x1000)\n  ret void");
    check_body(
        "  br label %b\nb:\n  %1 = phi ptr addrspace(4) [ addrspacecast (ptr addrspace(3) @g to ptr addrspace(4)), %entry ]\n"
        "  ret void",
        "  %10 = addrspacecast ptr addrspace(3) @g to ptr addrspace(4)\n  br label %b1\nb1:\n"
        "  %12 = phi ptr addrspace(4) [ %10, %b0 ]\n  ret void");
}

/* ---- constants ---- */

static void check_constant(const char *type, const char *text, uint64_t bits)
{
    char whole[256];
    snprintf(whole, sizeof whole, "@g = constant %s %s\n", type, text);
    struct ir_module *const m = ir_text_read(whole, whole);
    const struct ir_value *const g = m ? ir_module_globals(m) : NULL;
    CHECK(g && g->initial && g->initial->op == IR_CONSTANT && g->initial->bits == bits, "%s %s: %llx", type, text,
          g && g->initial ? (unsigned long long)g->initial->bits : 0);
    ir_module_free(m);
}

static void test_numbers(void)
{
    check_constant("i32", "-1", UINT32_MAX);
    check_constant("i8", "255", 255);
    check_constant("i64", "-9223372036854775808", UINT64_C(1) << 63);
    check_constant("i64", "18446744073709551615", UINT64_MAX);
    check_constant("i1", "true", 1);
    check_constant("float", "1.000000e+00", 0x3f800000);
    check_constant("float", "-2.5", 0xc0200000);
    check_constant("float", "0x3FB99999A0000000", 0x3dcccccd); /* 0.1f */
    check_constant("float", "0x7FF0000000000000", 0x7f800000);
    check_constant("float", "0x7FF8000000000000", 0x7fc00000);
    check_constant("float", "0xFFF0000020000000", 0xff800001); /* keeps what a NaN says */
    check_constant("float", "0x36A0000000000000", 0x00000001); /* the least subnormal */
    check_constant("float", "0x380FFFFFC0000000", 0x007fffff); /* the largest */
    check_constant("half", "0xH3C00", 0x3c00);
    check_constant("half", "1.5", 0x3e00);
    check_constant("half", "0x3E70000000000000", 0x0001);
    check_constant("double", "0x3FF0000000000000", UINT64_C(0x3ff0000000000000));
    check_constant("double", "1.0e+01", UINT64_C(0x4024000000000000));
    check_constant("ptr addrspace(1)", "null", 0);
    check_constant("[4 x i32]", "zeroinitializer", 0);
    check_constant("[2 x i8]", "c\"\\00\\00\"", 0);
}

static void check_global(const char *line, const char *expected)
{
    char text[512];
    snprintf(text, sizeof text, "%%t = type { i8, [2 x half] }\n%s\ndeclare void @fn()\n@other = global i32 7\n", line);
    struct ir_module *const m = ir_text_read(line, text);
    if (!m)
        return;
    char *const printed = ir_text_print(m);
    const size_t length = strcspn(printed, "\n");
    CHECK(length == strlen(expected) && memcmp(printed, expected, length) == 0, "%.*s instead of %s", (int)length, printed,
          expected);
    free(printed);
    ir_text_check_round(line, m);
    ir_module_free(m);
}

static void test_globals(void)
{
    check_global("@\"a b\" = internal unnamed_addr addrspace(3) global [16 x [17 x float]] undef, align 4",
                 "@\"a b\" = addrspace(3) global [16 x [17 x float]] undef, align 4");
    check_global("@s = private unnamed_addr addrspace(2) constant [5 x i8] c\"a\\0A\\22\\\\\\00\", comdat, align 1, !dbg !3",
                 "@s = addrspace(2) constant [5 x i8] [i8 97, i8 10, i8 34, i8 92, i8 0], align 1");
    check_global("@t = constant %t { i8 1, [2 x half] [half 0xH3C00, half poison] }",
                 "@t = constant { i8, [2 x half] } { i8 1, [2 x half] [half bits(0x3c00), half undef] }");
    check_global("@v = constant <3 x i32> <i32 1, i32 0, i32 -1>", "@v = constant <3 x i32> <i32 1, i32 0, i32 -1>");
    check_global("@z = constant <2 x i32> zeroinitializer", "@z = constant <2 x i32> <i32 0, i32 0>");
    check_global("@w = constant <2 x i16> splat (i16 3)", "@w = constant <2 x i16> <i16 3, i16 3>");
    check_global("@k = constant <{ i8, i32 }> <{ i8 1, i32 2 }>", "@k = constant <{ i8, i32 }> <{ i8 1, i32 2 }>");
    check_global("@p = global { ptr, ptr } { ptr @fn, ptr @other }", "@p = global { ptr, ptr } { ptr @fn, ptr @other }");
    check_global("@e = external addrspace(1) global i32, align 8", "@e = addrspace(1) global i32 undef, align 8");
}

/* ---- heads, metadata, annotations ---- */

static const char kernel_text[] =
    "%struct.P = type { <4 x float>, i32 }\n"
    "@.str = private unnamed_addr constant [10 x i8] c\"buffer(0)\\00\", section \"llvm.metadata\"\n"
    "@.str.1 = private unnamed_addr constant [7 x i8] c\"kernel\\00\", section \"llvm.metadata\"\n"
    "@.str.2 = private unnamed_addr addrspace(1) constant [14 x i8] c\"host_name=abc\\00\", section \"llvm.metadata\"\n"
    "@hn = internal addrspace(1) global ptr @k\n"
    "@llvm.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(1) @hn to ptr)], section \"llvm.metadata\"\n"
    "@llvm.global.annotations = appending global [2 x { ptr, ptr, ptr, i32, ptr }] [{ ptr, ptr, ptr, i32, ptr } { ptr @k, ptr "
    "@.str.1, "
    "ptr @.str, i32 1, ptr null }, { ptr, ptr, ptr, i32, ptr } { ptr addrspacecast (ptr addrspace(1) @hn to ptr), ptr "
    "addrspacecast (ptr addrspace(1) @.str.2 to ptr), ptr @.str, i32 1, ptr null }], section \"llvm.metadata\"\n"
    "define dso_local spir_kernel void @k(ptr addrspace(1) noundef align 4 %0, ptr nocapture byval(%struct.P) align 16 %1, i32 "
    "%x)"
    " local_unnamed_addr #0 !dbg !3 !kernel_arg_name !8 !reqd_work_group_size !9 {\n"
    "  %3 = alloca ptr addrspace(1), align 8\n"
    "  %4 = addrspacecast ptr %3 to ptr addrspace(4)\n"
    "  store ptr addrspace(1) %0, ptr addrspace(4) %4, align 8\n"
    "  call void @llvm.var.annotation.p0.p0(ptr %3, ptr @.str, ptr @.str, i32 3, ptr null), !dbg !4\n"
    "  %5 = add i32 %x, 1, !dbg !4\n"
    "  %6 = add i32 %5, 1, !dbg !6\n"
    "  %7 = add i32 %6, 1\n"
    "  ret void, !dbg !10\n"
    "}\n"
    "declare void @llvm.var.annotation.p0.p0(ptr, ptr, ptr, i32, ptr)\n"
    "attributes #0 = { nounwind \"frame-pointer\"=\"all\" }\n"
    "!llvm.ident = !{!0}\n"
    "!0 = !{!\"clang\"}\n"
    "!1 = !DIFile(filename: \"a.cl\", directory: \"/d\")\n"
    "!2 = !DIFile(filename: \"b.h\", directory: \"/d\", checksumkind: CSK_MD5, checksum: \"00\")\n"
    "!3 = distinct !DISubprogram(name: \"k\", scope: !1, file: !1, line: 3, flags: DIFlagPrototyped | DIFlagZero, unit: !{})\n"
    "!4 = !DILocation(line: 12, column: 3, scope: !5)\n"
    "!5 = distinct !DILexicalBlock(scope: !3, line: 11)\n"
    "!6 = !DILocation(line: 70, scope: !7, inlinedAt: !4)\n"
    "!7 = !DILexicalBlockFile(scope: !5, file: !2, discriminator: 0)\n"
    "!8 = !{!\"in\", !\"p\", !\"count\"}\n"
    "!9 = !{i32 16, i32 8, i32 1}\n"
    "!10 = distinct !DILocation(line: 14, scope: !3)\n";

static void test_kernel(void)
{
    struct ir_module *const m = ir_text_read("kernel", kernel_text);
    if (!m)
        return;
    const struct ir_function *const f = ir_find_function(m, "k");
    CU_ASSERT(f->kernel && f->group_size[0] == 16 && f->group_size[1] == 8 && f->group_size[2] == 1);
    CU_ASSERT_STRING_EQUAL(f->host_name, "abc");
    CU_ASSERT_STRING_EQUAL(f->argument[0]->name, "in");
    CU_ASSERT_STRING_EQUAL(f->argument[2]->name, "count");
    CU_ASSERT_STRING_EQUAL(f->argument[0]->annotation, "buffer(0)");
    CU_ASSERT_PTR_NULL(f->argument[2]->annotation);
    CU_ASSERT(f->by_value[1] && f->by_value[1]->bytes == 32 && !f->by_value[0]);
    static const struct {
        uint32_t line;
        const char *file;
    } places[] = {{0, NULL}, {0, NULL}, {0, NULL}, {12, "a.cl"}, {70, "b.h"}, {0, NULL}, {14, "a.cl"}};
    unsigned i = 0;
    for (const struct ir_value *v = f->first->first; v; v = v->next, i++) {
        CHECK(i < ARRAY_COUNT(places) && v->line == places[i].line, "instruction %u is of line %u", i, v->line);
        if (v->line && i < ARRAY_COUNT(places))
            CHECK(strcmp(ir_module_file(m, v->file), places[i].file) == 0, "instruction %u", i);
    }
    CU_ASSERT_EQUAL(i, ARRAY_COUNT(places));
    const struct ir_value *const only = ir_module_globals(m); /* what is metadata is gone */
    CU_ASSERT(only && !only->next && strcmp(only->name, "hn") == 0 && strcmp(only->annotation, "host_name=abc") == 0);
    ir_text_check_round("kernel", m);
    ir_module_free(m);
}

/* What is inlined from a library belongs to the line of its call, however deep; what is not inlined has no line. */
static void test_library(void)
{
    static const char text[] = "define spir_kernel void @k(i32 %x) {\n"
                               "  %1 = add i32 %x, 1, !dbg !4\n"
                               "  %2 = add i32 %1, 1, !dbg !6\n"
                               "  %3 = add i32 %2, 1, !dbg !9\n"
                               "  %4 = add i32 %3, 1, !dbg !11\n"
                               "  ret void, !dbg !4\n"
                               "}\n"
                               "!1 = !DIFile(filename: \"a.metal\", directory: \"/d\")\n"
                               "!2 = !DIFile(filename: \"/lib/inner\", directory: \"\")\n"
                               "!3 = distinct !DISubprogram(name: \"k\", scope: !1, file: !1, line: 3)\n"
                               "!4 = !DILocation(line: 12, scope: !3)\n"
                               "!5 = distinct !DISubprogram(name: \"f\", scope: !2, file: !2, line: 30)\n"
                               "!6 = !DILocation(line: 31, scope: !5, inlinedAt: !7)\n"
                               "!7 = distinct !DILocation(line: 40, scope: !5, inlinedAt: !8)\n"
                               "!8 = distinct !DILocation(line: 14, scope: !3)\n"
                               "!9 = !DILocation(line: 33, scope: !5)\n"
                               "!10 = !DIFile(filename: \"/library/other\", directory: \"\")\n"
                               "!11 = !DILocation(line: 50, scope: !12, inlinedAt: !8)\n"
                               "!12 = distinct !DISubprogram(name: \"g\", scope: !10, file: !10, line: 30)\n";
    static const uint32_t without[] = {12, 31, 33, 50, 12}, with[] = {12, 14, 0, 50, 12};
    for (unsigned library = 0; library < 2; library++) {
        struct isa_error error = {0};
        struct ir_module *const m = ir_read_with_library(text, strlen(text), library ? "/lib" : NULL, &error);
        CHECK(m != NULL, "line %lu: %s", error.line, error.text);
        if (!m)
            return;
        const struct ir_value *v = ir_find_function(m, "k")->first->first;
        for (unsigned i = 0; i < ARRAY_COUNT(with) && v; i++, v = v->next)
            CHECK(v->line == (library ? with : without)[i], "instruction %u is of line %u", i, v->line);
        ir_module_free(m);
    }
    struct isa_error error = {0};
    const char circle[] = "define void @f() {\n  ret void, !dbg !1\n}\n!1 = !DILocation(line: 1, scope: !2, inlinedAt: !1)\n"
                          "!2 = !DIFile(filename: \"/lib/x\", directory: \"\")\n";
    CU_ASSERT_PTR_NULL(ir_read_with_library(circle, strlen(circle), "/lib", &error));
    CHECK(strstr(error.text, "circle") != NULL, "%s", error.text);
}

static void test_heads(void)
{
    static const char text[] = "!file \"x.cl\"\n"
                               "define linkonce_odr hidden noundef zeroext i1 @a(ptr nonnull dereferenceable(4) %this, i32) #1 "
                               "comdat align 2 {\n  ret i1 false\n}\n"
                               "declare !dbg !2 dso_local i32 @printf(ptr addrspace(2), ...) #2\n"
                               "define spir_kernel void @b(i32 %0 name(\"n\") annotation(\"x\\22\")) group(4, 2, 1) host(\"B\") "
                               "annotation(\"kernel\") {\n  ret void, !place(3, 0)\n}\n";
    struct ir_module *const m = ir_text_read("heads", text);
    if (!m)
        return;
    const struct ir_function *const a = ir_find_function(m, "a"), *const b = ir_find_function(m, "b");
    CU_ASSERT(!a->kernel && a->arguments == 2 && a->argument[1]->name == NULL && !a->declared_only);
    CU_ASSERT_STRING_EQUAL(a->argument[0]->name, "this");
    CU_ASSERT(b->kernel && b->group_size[1] == 2 && b->first->last->line == 3);
    CU_ASSERT_STRING_EQUAL(b->host_name, "B");
    CU_ASSERT_STRING_EQUAL(b->argument[0]->annotation, "x\"");
    CU_ASSERT_PTR_EQUAL(ir_module_functions(m), a);
    CU_ASSERT(ir_find_function(m, "printf")->declared_only);
    ir_text_check_round("heads", m);
    ir_module_free(m);
}

static const struct suite_test tests[] = {
    {"arithmetic", test_arithmetic},
    {"conversions", test_conversions},
    {"vectors and aggregates", test_parts},
    {"memory", test_memory},
    {"atomics", test_atomics},
    {"control flow and calls", test_control},
    {"constant expressions", test_expressions},
    {"numbers", test_numbers},
    {"global variables", test_globals},
    {"kernels, places and annotations", test_kernel},
    {"lines of a library", test_library},
    {"heads of functions", test_heads},
};
SUITE_MAIN("ir read", tests)
