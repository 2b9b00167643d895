/* Lowering keeps what a kernel computes: each case is run by the interpreter as it was read and as it was lowered, on numbers
 * from the corners of their type and random ones. */
#include "tests/isa/ir_lower_case.h"

static void test_integers(void)
{
    static const struct example examples[] = {
        BINARY(udiv, "i32", NOT_ZERO),
        BINARY(urem, "i32", NOT_ZERO),
        BINARY(udiv, "i8", NOT_ZERO),
        BINARY(urem, "i8", NOT_ZERO),
        BINARY(udiv, "i16", NOT_ZERO),
        BINARY(urem, "i16", NOT_ZERO),
        BINARY(udiv, "i64", NOT_ZERO),
        BINARY(urem, "i64", NOT_ZERO),
        WITH(udiv, "i32", 3),
        WITH(udiv, "i32", 7),
        WITH(udiv, "i32", 10),
        WITH(udiv, "i32", 641),
        WITH(udiv, "i32", 65537),
        WITH(udiv, "i32", 2147483649),
        WITH(udiv, "i32", 4294967295),
        WITH(udiv, "i32", 64),
        WITH(urem, "i32", 10),
        WITH(urem, "i32", 64),
        WITH(sdiv, "i32", 3),
        WITH(sdiv, "i32", -3),
        WITH(sdiv, "i32", 7),
        WITH(sdiv, "i32", 2),
        WITH(sdiv, "i32", 8),
        WITH(sdiv, "i32", -8),
        WITH(sdiv, "i32", 1000000007),
        WITH(sdiv, "i32", -2147483648),
        WITH(srem, "i32", 10),
        WITH(srem, "i32", 16),
        WITH(srem, "i32", -7),
        WITH(udiv, "i64", 10),
        WITH(udiv, "i16", 10),
        WITH(udiv, "i8", 10),
        BINARY(mul, "i64", WHOLE),
        BINARY(shl, "i64", SHIFTS),
        BINARY(lshr, "i64", SHIFTS),
        BINARY(ashr, "i64", SHIFTS),
        WITH(ashr, "i64", 5),
        WITH(ashr, "i64", 32),
        WITH(ashr, "i64", 47),
        BINARY(add, "i8", WHOLE),
        BINARY(mul, "i8", WHOLE),
        BINARY(sub, "i8", WHOLE),
        BINARY(shl, "i8", SHIFTS),
        BINARY(lshr, "i8", SHIFTS),
        BINARY(ashr, "i8", SHIFTS),
        BINARY(mul, "i16", WHOLE),
        BINARY(ashr, "i16", SHIFTS),
        WITH(mul, "i32", 8),
        WITH(mul, "i64", 12),
        BINARY(add, "<4 x i32>", WHOLE),
        BINARY(mul, "<3 x i16>", WHOLE),
        BINARY(xor, "<4 x i8>", WHOLE),
    };
    check_all(examples, ARRAY_COUNT(examples));
}

/* The one quotient that does not exist, INT_MIN / -1, is kept away by halving. */
static void test_signed_division(void)
{
#define SIGNED(op, type)                                                                                                         \
    {                                                                                                                            \
#op " " type, type, type, "  %h = ashr " type " %a, 1\n  %r = " #op " " type " %h, %b", NULL, WHOLE, NOT_ZERO, 0         \
    }
    static const struct example examples[] = {SIGNED(sdiv, "i32"), SIGNED(srem, "i32"), SIGNED(sdiv, "i8"),  SIGNED(srem, "i8"),
                                              SIGNED(sdiv, "i16"), SIGNED(srem, "i16"), SIGNED(sdiv, "i64"), SIGNED(srem, "i64")};
    check_all(examples, ARRAY_COUNT(examples));
}

static void test_conversions(void)
{
#define CONVERT(op, from, to, x)                                                                                                 \
    {                                                                                                                            \
#op " " from " " to, from, to, "  %r = " #op " " from " %a to " to, NULL, x, x, 0                                        \
    }
    static const struct example examples[] = {
        CONVERT(zext, "i8", "i32", WHOLE),
        CONVERT(sext, "i8", "i32", WHOLE),
        CONVERT(zext, "i8", "i64", WHOLE),
        CONVERT(sext, "i8", "i64", WHOLE),
        CONVERT(sext, "i8", "i16", WHOLE),
        CONVERT(trunc, "i32", "i8", WHOLE),
        CONVERT(trunc, "i64", "i8", WHOLE),
        CONVERT(trunc, "i16", "i8", WHOLE),
        CONVERT(uitofp, "i8", "float", WHOLE),
        CONVERT(sitofp, "i8", "float", WHOLE),
        CONVERT(uitofp, "i64", "float", WHOLE),
        CONVERT(sitofp, "i64", "float", WHOLE),
        CONVERT(uitofp, "i32", "float", WHOLE),
        CONVERT(sitofp, "i16", "float", WHOLE),
        CONVERT(fptosi, "float", "i64", SMALL_FLOAT),
        CONVERT(fptosi, "float", "i8", SMALL_FLOAT),
        CONVERT(bitcast, "<2 x i32>", "i64", WHOLE),
        CONVERT(bitcast, "i64", "<4 x i16>", WHOLE),
        CONVERT(bitcast, "<4 x i8>", "i32", WHOLE),
        CONVERT(bitcast, "i32", "<2 x half>", WHOLE),
        {"wide to i64", "float", "i64", "  %w = fmul float %a, 1099511627776.0\n  %r = fptosi float %w to i64", NULL, SMALL_FLOAT,
         WHOLE, 0},
        {"compare i8", "i8", "i32",
         "  %c = icmp slt i8 %a, %b\n  %d = icmp ult i8 %a, %b\n  %e = zext i1 %c to i32\n"
         "  %f = select i1 %d, i32 2, i32 0\n  %r = or i32 %e, %f",
         NULL, WHOLE, WHOLE, 0},
        {"truths of a vector", "<4 x i32>", "i32",
         "  %c = icmp ult <4 x i32> %a, %b\n  %d = bitcast <4 x i1> %c to i4\n"
         "  %e = icmp eq i4 %d, -1\n  %f = icmp ne i4 %d, 0\n  %h = zext i1 %e to i32\n  %i = zext i1 %f to i32\n"
         "  %j = shl i32 %h, 1\n  %r = or i32 %i, %j",
         NULL, WHOLE, WHOLE, 0},
        {"bits of truths", "<4 x i32>", "i8",
         "  %c = icmp slt <4 x i32> %a, %b\n  %d = bitcast <4 x i1> %c to i4\n"
         "  %r = zext i4 %d to i8",
         NULL, WHOLE, WHOLE, 0},
        {"shuffle", "<4 x i32>", "<2 x i32>", "  %r = shufflevector <4 x i32> %a, <4 x i32> %b, <2 x i32> <i32 6, i32 1>", NULL,
         WHOLE, WHOLE, 0},
        {"element by number", "<4 x i32>", "i32",
         "  %e = extractelement <4 x i32> %b, i64 0\n  %i = and i32 %e, 3\n"
         "  %v = insertelement <4 x i32> %a, i32 9, i32 %i\n  %j = lshr i32 %e, 30\n  %r = extractelement <4 x i32> %v, i32 %j",
         NULL, WHOLE, WHOLE, 0},
    };
    check_all(examples, ARRAY_COUNT(examples));
}

static void test_library_integers(void)
{
    static const struct example examples[] = {
        CALL2("mul_hi u32", "_Z6mul_hijj", "i32", WHOLE, WHOLE, 0),
        CALL2("mul_hi s64", "_Z6mul_hill", "i64", WHOLE, WHOLE, 0),
        CALL2("mul_hi u64", "_Z6mul_himm", "i64", WHOLE, WHOLE, 0),
        CALL2("mul_hi u8", "_Z6mul_hihh", "i8", WHOLE, WHOLE, 0),
        CALL2("mul_hi s16", "_Z6mul_hiss", "i16", WHOLE, WHOLE, 0),
        CALL2("rotate", "_Z6rotatejj", "i32", WHOLE, WHOLE, 0),
        CALL2("rotate u8", "_Z6rotatehh", "i8", WHOLE, WHOLE, 0),
        CALL2("rotate u64", "_Z6rotatemm", "i64", WHOLE, WHOLE, 0),
        CALL2("hadd", "_Z4haddjj", "i32", WHOLE, WHOLE, 0),
        CALL2("hadd s", "_Z4haddii", "i32", WHOLE, WHOLE, 0),
        CALL2("rhadd", "_Z5rhaddjj", "i32", WHOLE, WHOLE, 0),
        CALL2("rhadd s", "_Z5rhaddii", "i32", WHOLE, WHOLE, 0),
        CALL2("add_sat s8", "_Z7add_satcc", "i8", WHOLE, WHOLE, 0),
        CALL2("sub_sat u8", "_Z7sub_sathh", "i8", WHOLE, WHOLE, 0),
        CALL2("add_sat s64", "_Z7add_satll", "i64", WHOLE, WHOLE, 0),
        CALL2("sub_sat u64", "_Z7sub_satmm", "i64", WHOLE, WHOLE, 0),
        CALL2("sub_sat s64", "_Z7sub_satll", "i64", WHOLE, WHOLE, 0),
        CALL2("max s8", "_Z3maxcc", "i8", WHOLE, WHOLE, 0),
        CALL2("min u64", "_Z3minmm", "i64", WHOLE, WHOLE, 0),
        CALL1("clz u8", "_Z3clzh", "i8", WHOLE, 0),
        CALL1("clz u64", "_Z3clzm", "i64", WHOLE, 0),
        CALL1("ctz u64", "_Z3ctzm", "i64", NOT_ZERO, 0),
        CALL1("popcount u64", "_Z8popcountm", "i64", WHOLE, 0),
        CALL1("popcount u16", "_Z8popcountt", "i16", WHOLE, 0),
        CALL3("mad_hi", "_Z6mad_hijjj", "i32", WHOLE, WHOLE, 0),
        CALL3("mad_sat", "_Z7mad_satiii", "i32", WHOLE, WHOLE, 0),
        CALL3("mad_sat u", "_Z7mad_satjjj", "i32", WHOLE, WHOLE, 0),
        CALL3("bitselect", "_Z9bitselectjjj", "i32", WHOLE, WHOLE, 0),
        CALL2("bswap", "_Z6rotatejj", "i32", WHOLE, WHOLE, 0),
        CALL2("abs_diff", "_Z8abs_diffjj", "i32", WHOLE, WHOLE, 0),
        CALL1("bitreverse", "llvm.bitreverse.i64", "i64", WHOLE, 0),
        CALL1("bitreverse 8", "llvm.bitreverse.i8", "i8", WHOLE, 0),
        CALL1("bswap 32", "llvm.bswap.i32", "i32", WHOLE, 0),
        CALL1("bswap 64", "llvm.bswap.i64", "i64", WHOLE, 0),
        CALL3("fshl 64", "llvm.fshl.i64", "i64", WHOLE, WHOLE, 0),
        CALL3("fshr 32", "llvm.fshr.i32", "i32", WHOLE, WHOLE, 0),
        CALL3("fshr 16", "llvm.fshr.i16", "i16", WHOLE, WHOLE, 0),
    };
    check_all(examples, ARRAY_COUNT(examples));
}

/* ---- arguments ---- */

/* A structure by value, a byte and a vector between plain arguments; the block is what it was before lowering. */
static void test_arguments(void)
{
    static const char text[] =
        "%struct.s = type { i32, float, [2 x i16], i64 }\n"
        "define spir_kernel void @k(ptr addrspace(1) %o, i8 %c, i16 %h, ptr byval(%struct.s) align 8 %s, <4 x i32> %v, i32 %n) "
        "{\n"
        "  %p1 = getelementptr %struct.s, ptr %s, i64 0, i32 1\n  %f = load float, ptr %p1\n  %fi = bitcast float %f to i32\n"
        "  %p2 = getelementptr %struct.s, ptr %s, i64 0, i32 2, i64 1\n  %z = load i16, ptr %p2\n  %zi = zext i16 %z to i32\n"
        "  %p3 = getelementptr %struct.s, ptr %s, i64 0, i32 3\n  %l = load i64, ptr %p3\n  %lh = lshr i64 %l, 32\n"
        "  %li = trunc i64 %lh to i32\n  %ci = sext i8 %c to i32\n  %hi = zext i16 %h to i32\n"
        "  %e = extractelement <4 x i32> %v, i64 2\n"
        "  store i32 %fi, ptr addrspace(1) %o\n"
        "  %o1 = getelementptr i32, ptr addrspace(1) %o, i64 1\n  store i32 %zi, ptr addrspace(1) %o1\n"
        "  %o2 = getelementptr i32, ptr addrspace(1) %o, i64 2\n  store i32 %li, ptr addrspace(1) %o2\n"
        "  %o3 = getelementptr i32, ptr addrspace(1) %o, i64 3\n  store i32 %ci, ptr addrspace(1) %o3\n"
        "  %o4 = getelementptr i32, ptr addrspace(1) %o, i64 4\n  store i32 %hi, ptr addrspace(1) %o4\n"
        "  %o5 = getelementptr i32, ptr addrspace(1) %o, i64 5\n  store i32 %e, ptr addrspace(1) %o5\n"
        "  %o6 = getelementptr i32, ptr addrspace(1) %o, i64 6\n  store i32 %n, ptr addrspace(1) %o6\n  ret void\n}\n";
    struct isa_error error = {0};
    struct device *d = calloc(1, sizeof *d);
    uint32_t block[24] = {BASE, 0}, got[7];
    for (unsigned i = 2; i < 24; i++)
        block[i] = 0x01020381U * i;
    struct ir_module *m = ir_read(text, sizeof text - 1, &error);
    CHECK(m != NULL, "line %lu: %s", error.line, error.text);
    const struct ir_launch launch = {.grid = {1, 1, 1},
                                     .group = {1, 1, 1},
                                     .arguments = block,
                                     .argument_bytes = sizeof block,
                                     .memory = {device_at, d},
                                     .most_instructions = 10000};
    const struct ir_lower_options options = {.fast_math = false};
    bool ok = m && ir_lower(m, ir_find_function(m, "k"), &options, &error);
    CHECK(ok, "%s", error.text);
    ok = ok && ir_interpret(ir_find_function(m, "k"), &launch, &error);
    CHECK(ok, "%s", error.text);
    memcpy(got, d->bytes, sizeof got);
    /* o at 0, c at 8, h at 10, s at 16 (members at 0, 4, 8, 16), v at 48, n at 64 */
    const uint32_t wanted[] = {block[5],       block[6] >> 16, block[9], (uint32_t)(int8_t)(block[2] & 255),
                               block[2] >> 16, block[14],      block[16]};
    for (unsigned i = 0; ok && i < ARRAY_COUNT(wanted); i++)
        CHECK(got[i] == wanted[i], "%u: %#x instead of %#x", i, got[i], wanted[i]);
    if (m)
        ir_module_free(m);
    free(d);
}

static void test_refusals(void)
{
    static const struct {
        const char *body, *says;
    } cases[] = {
        {"declare i32 @_Z6printfPU3AS2Kcz(ptr addrspace(2))\n"
         "define spir_kernel void @k() {\n  %r = call i32 @_Z6printfPU3AS2Kcz(ptr addrspace(2) null)\n  ret void\n}\n",
         "printf"},
        {"declare void @other()\ndefine spir_kernel void @k() {\n  call void @other()\n  ret void\n}\n", "other"},
        {"define spir_kernel void @k(ptr addrspace(1) %p) {\n  %x = load double, ptr addrspace(1) %p\n  %y = fadd double %x, %x\n"
         "  store double %y, ptr addrspace(1) %p\n  ret void\n}\n",
         "double"},
        {"define void @f() {\n  call void @f()\n  ret void\n}\ndefine spir_kernel void @k() {\n  call void @f()\n  ret void\n}\n",
         "calls itself"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct isa_error error = {0};
        struct ir_module *m = ir_read(cases[i].body, strlen(cases[i].body), &error);
        CHECK(m != NULL, "%zu: %s", i, error.text);
        const struct ir_lower_options options = {.fast_math = false};
        CHECK(m && !ir_lower(m, ir_find_function(m, "k"), &options, &error), "case %zu is lowered", i);
        CHECK(strstr(error.text, cases[i].says) != NULL, "%zu: %s", i, error.text);
        if (m)
            ir_module_free(m);
    }
}

static const struct suite_test tests[] = {{"keeps integers of all widths", test_integers},
                                          {"keeps signed division", test_signed_division},
                                          {"keeps conversions and vectors", test_conversions},
                                          {"keeps library functions of integers", test_library_integers},
                                          {"keeps arguments of all kinds in their places", test_arguments},
                                          {"names what it refuses", test_refusals}};

SUITE_MAIN("ir_lower", tests)
