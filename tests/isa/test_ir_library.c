/* Library functions by their mangled names, in functions read from LLVM's text, against the host's arithmetic. */
#include "isa/agx/compiler/ir_read.h"
#include "tests/isa/ir_bench.h"

#include <math.h>
#include <stdlib.h>

#define THREADS 256u

static float number_of(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, 4);
    return x;
}

static uint32_t bits_of(double x)
{
    const float y = (float)x;
    uint32_t bits;
    memcpy(&bits, &y, 4);
    return isnan(y) ? 0x7fc00000 : bits;
}

/* Runs the kernel k(in, out, n) of a text. */
static void run_text(const char *text, struct bench *b)
{
    struct isa_error error = {.text = ""};
    struct kit k = {.m = ir_read(text, strlen(text), &error)};
    CHECK(k.m != NULL, "line %lu: %s", error.line, error.text);
    const bool ran = k.m && run(&k, b, 0);
    CHECK(ran, "line %lu: %s in\n%s", b->error.line, b->error.text, text);
    if (k.m)
        ir_module_free(k.m);
}

#define HEAD                                                                                                                     \
    "declare i64 @_Z13get_global_idj(i32)\n"                                                                                     \
    "define spir_kernel void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i32 %n) {\n"                                        \
    "  %id = call i64 @_Z13get_global_idj(i32 0)\n"

/* ---- functions on scalars ---- */

struct function {
    const char *name, *code;  /* of the parameters, mangled */
    char result, operands[4]; /* f or i */
    uint32_t (*wanted)(const uint32_t *in);
};

#define REAL(name, expression)                                                                                                   \
    static uint32_t name(const uint32_t *in)                                                                                     \
    {                                                                                                                            \
        const double x = (double)number_of(in[0]), y = (double)number_of(in[1]), z = (double)number_of(in[2]);                   \
        (void)y, (void)z;                                                                                                        \
        return bits_of(expression);                                                                                              \
    }
#define WHOLE(name, expression)                                                                                                  \
    static uint32_t name(const uint32_t *in)                                                                                     \
    {                                                                                                                            \
        const int64_t x = (int32_t)in[0], y = (int32_t)in[1], z = (int32_t)in[2];                                                \
        const uint64_t ux = in[0], uy = in[1], uz = in[2];                                                                       \
        (void)x, (void)y, (void)z, (void)ux, (void)uy, (void)uz;                                                                 \
        return (uint32_t)(expression);                                                                                           \
    }
#define HOLDS(name, expression)                                                                                                  \
    static uint32_t name(const uint32_t *in)                                                                                     \
    {                                                                                                                            \
        const double x = (double)number_of(in[0]), y = (double)number_of(in[1]);                                                 \
        (void)y;                                                                                                                 \
        return expression;                                                                                                       \
    }

REAL(want_sin, sin(x))
REAL(want_cos, cos(x))
REAL(want_exp, exp(x))
REAL(want_exp10, pow(10, x))
REAL(want_log, log(x))
REAL(want_tanh, tanh(x))
REAL(want_atan2, atan2(x, y))
REAL(want_pow, pow(x, y))
REAL(want_fmod, fmod(x, y))
REAL(want_hypot, hypot(x, y))
REAL(want_round, round(x))
REAL(want_floor, floor(x))
REAL(want_fmin, fmin(x, y))
REAL(want_fmax, fmax(x, y))
REAL(want_clamp, fmin(fmax(x, y), z))
REAL(want_next, (double)nextafterf((float)x, (float)y))
REAL(want_recip, 1 / x)
REAL(want_copysign, copysign(x, y))
REAL(want_mad, (double)fmaf((float)x, (float)y, (float)z))
REAL(want_step, y < x ? 0.0 : 1.0)
HOLDS(want_isless, x < y)
HOLDS(want_isnan, isnan(x) ? 1 : 0)
HOLDS(want_signbit, signbit(x) ? 1 : 0)
WHOLE(want_abs, x < 0 ? -x : x)
WHOLE(want_abs_diff, x > y ? x - y : y - x)
WHOLE(want_hadd, (x + y) >> 1)
WHOLE(want_rhadd_u, (ux + uy + 1) >> 1)
WHOLE(want_mul_hi, x *y >> 32)
WHOLE(want_mul_hi_u, ux *uy >> 32)
WHOLE(want_max, x > y ? x : y)
WHOLE(want_max_u, ux > uy ? ux : uy)
WHOLE(want_clamp_u, ux<uy ? uy : ux> uz ? uz : ux)
WHOLE(want_mad_hi, (x * y >> 32) + z)
WHOLE(want_clz, ux ? (uint64_t)__builtin_clz((uint32_t)ux) : 32)
WHOLE(want_popcount, __builtin_popcountll(ux))
WHOLE(want_rotate, (ux << 32 | ux) >> (32 - (uy & 31)))
WHOLE(want_add_sat, x + y > INT32_MAX ? INT32_MAX : x + y < INT32_MIN ? INT32_MIN : x + y)
WHOLE(want_sub_sat_u, ux > uy ? ux - uy : 0)
WHOLE(want_select, uz ? uy : ux)
WHOLE(want_bitselect, (ux & ~uz) | (uy & uz))

static const struct function functions[] = {
    {"sin", "f", 'f', "f", want_sin},
    {"native_sin", "f", 'f', "f", want_sin},
    {"cos", "f", 'f', "f", want_cos},
    {"exp", "f", 'f', "f", want_exp},
    {"native_exp", "f", 'f', "f", want_exp},
    {"exp10", "f", 'f', "f", want_exp10},
    {"log", "f", 'f', "f", want_log},
    {"tanh", "f", 'f', "f", want_tanh},
    {"atan2", "ff", 'f', "ff", want_atan2},
    {"pow", "ff", 'f', "ff", want_pow},
    {"fmod", "ff", 'f', "ff", want_fmod},
    {"hypot", "ff", 'f', "ff", want_hypot},
    {"round", "f", 'f', "f", want_round},
    {"floor", "f", 'f', "f", want_floor},
    {"fmin", "ff", 'f', "ff", want_fmin},
    {"fmax", "ff", 'f', "ff", want_fmax},
    {"clamp", "fff", 'f', "fff", want_clamp},
    {"nextafter", "ff", 'f', "ff", want_next},
    {"native_recip", "f", 'f', "f", want_recip},
    {"copysign", "ff", 'f', "ff", want_copysign},
    {"mad", "fff", 'f', "fff", want_mad},
    {"step", "ff", 'f', "ff", want_step},
    {"isless", "ff", 'i', "ff", want_isless},
    {"isnan", "f", 'i', "f", want_isnan},
    {"signbit", "f", 'i', "f", want_signbit},
    {"abs", "i", 'i', "i", want_abs},
    {"abs_diff", "ii", 'i', "ii", want_abs_diff},
    {"hadd", "ii", 'i', "ii", want_hadd},
    {"rhadd", "jj", 'i', "ii", want_rhadd_u},
    {"mul_hi", "ii", 'i', "ii", want_mul_hi},
    {"mul_hi", "jj", 'i', "ii", want_mul_hi_u},
    {"max", "ii", 'i', "ii", want_max},
    {"max", "jj", 'i', "ii", want_max_u},
    {"clamp", "jjj", 'i', "iii", want_clamp_u},
    {"mad_hi", "iii", 'i', "iii", want_mad_hi},
    {"clz", "j", 'i', "i", want_clz},
    {"popcount", "j", 'i', "i", want_popcount},
    {"rotate", "jj", 'i', "ii", want_rotate},
    {"add_sat", "ii", 'i', "ii", want_add_sat},
    {"sub_sat", "jj", 'i', "ii", want_sub_sat_u},
    {"select", "jjj", 'i', "iii", want_select},
    {"bitselect", "jjj", 'i', "iii", want_bitselect},
};

static void function_text(const struct function *f, char *text, size_t room)
{
    char declared[128] = "", given[128] = "", loads[1024] = "";
    for (unsigned i = 0; f->operands[i]; i++) {
        const char *const type = f->operands[i] == 'f' ? "float" : "i32";
        snprintf(declared + strlen(declared), sizeof declared - strlen(declared), "%s%s", i ? ", " : "", type);
        snprintf(given + strlen(given), sizeof given - strlen(given), "%s%s %%x%u", i ? ", " : "", type, i);
        snprintf(loads + strlen(loads), sizeof loads - strlen(loads),
                 "  %%i%u = add i64 %%id, %u\n  %%p%u = getelementptr inbounds i32, ptr addrspace(1) %%in, i64 %%i%u\n"
                 "  %%x%u = load %s, ptr addrspace(1) %%p%u, align 4\n",
                 i, i * THREADS, i, i, i, type, i);
    }
    const char *const result = f->result == 'f' ? "float" : "i32";
    snprintf(text, room,
             "declare %s @_Z%zu%s%s(%s)\n%s%s  %%y = call %s @_Z%zu%s%s(%s)\n"
             "  %%q = getelementptr inbounds i32, ptr addrspace(1) %%out, i64 %%id\n"
             "  store %s %%y, ptr addrspace(1) %%q, align 4\n  ret void\n}\n",
             result, strlen(f->name), f->name, f->code, declared, HEAD, loads, result, strlen(f->name), f->name, f->code, given,
             result);
}

/* Numbers of both signs and many sizes, with some that are equal, not numbers, or without end. */
static void set_operands(const struct function *f, struct bench *b, uint64_t *state)
{
    static const uint32_t odd[] = {0x7fc00000, 0x7f800000, 0xff800000, 0, 0x80000000, 0x3f800000, 0xc2280000};
    for (uint32_t i = 0; i < THREADS; i++) {
        for (unsigned k = 0; k < 3; k++) {
            const uint64_t r = suite_random(state);
            const uint32_t real = (uint32_t)(r & 0x807fffff) | (uint32_t)(118 + (r >> 40) % 14) << 23;
            const uint32_t whole = r >> 62 ? (uint32_t)(r >> 8) : (uint32_t)(r >> 8) % 40;
            b->in[k * THREADS + i] = f->operands[0] == 'f' ? (i % 8 == 7 ? odd[(r >> 33) % ARRAY_COUNT(odd)] : real) : whole;
        }
        if (i % 5 == 0)
            b->in[THREADS + i] = b->in[i];
    }
}

static void test_scalars(void)
{
    uint64_t state = 1;
    for (unsigned i = 0; i < ARRAY_COUNT(functions); i++) {
        const struct function *const f = &functions[i];
        struct bench b = bench_new(THREADS, 64);
        char text[4096];
        function_text(f, text, sizeof text);
        set_operands(f, &b, &state);
        run_text(text, &b);
        for (uint32_t t = 0; t < THREADS; t++) {
            const uint32_t in[] = {b.in[t], b.in[THREADS + t], b.in[2 * THREADS + t]}, wanted = f->wanted(in);
            /* Zeros of either sign are equal for a minimum. */
            const bool zeros = f->result == 'f' && !((wanted | b.out[t]) & 0x7fffffff);
            CHECK(b.out[t] == wanted || zeros, "%s(%x, %x, %x) gives %x, not %x", f->name, (unsigned)in[0], (unsigned)in[1],
                  (unsigned)in[2], (unsigned)b.out[t], (unsigned)wanted);
        }
    }
}

/* ---- vectors in memory, conversions, relations ---- */

static void test_vectors(void)
{
    struct bench b = bench_new(32, 32);
    for (uint32_t i = 0; i < 128; i++)
        b.in[i] = bits_of(i % 9 == 4 ? NAN : ((double)i - 40) * 7.75);
    run_text("declare <4 x float> @_Z6vload4mPU3AS1Kf(i64, ptr addrspace(1))\n"
             "declare void @_Z7vstore3Dv3_hmPU3AS1h(<3 x i8>, i64, ptr addrspace(1))\n"
             "declare <4 x i8> @_Z22convert_uchar4_sat_rteDv4_f(<4 x float>)\n"
             "declare <4 x i32> @_Z5isnanDv4_f(<4 x float>)\n"
             "declare <4 x float> @_Z6selectDv4_fS_Dv4_i(<4 x float>, <4 x float>, <4 x i32>)\n"
             "declare float @_Z3dotDv4_fS_(<4 x float>, <4 x float>)\n"
             "declare <4 x float> @_Z3maxDv4_ff(<4 x float>, float)\n" HEAD
             "  %v = call <4 x float> @_Z6vload4mPU3AS1Kf(i64 %id, ptr addrspace(1) %in)\n"
             "  %nan = call <4 x i32> @_Z5isnanDv4_f(<4 x float> %v)\n"
             "  %s = call <4 x float> @_Z6selectDv4_fS_Dv4_i(<4 x float> %v, <4 x float> <float 1.0, float 2.0, float 3.0, float "
             "4.0>, <4 x i32> %nan)\n"
             "  %c = call <4 x i8> @_Z22convert_uchar4_sat_rteDv4_f(<4 x float> %s)\n"
             "  %d = shufflevector <4 x i8> %c, <4 x i8> undef, <3 x i32> <i32 0, i32 1, i32 3>\n"
             "  call void @_Z7vstore3Dv3_hmPU3AS1h(<3 x i8> %d, i64 %id, ptr addrspace(1) %out)\n"
             "  %m = call <4 x float> @_Z3maxDv4_ff(<4 x float> %s, float 0.0)\n"
             "  %dot = call float @_Z3dotDv4_fS_(<4 x float> %m, <4 x float> <float 1.0, float 0.0, float -1.0, float 0.5>)\n"
             "  %i = add i64 %id, 64\n"
             "  %q = getelementptr inbounds float, ptr addrspace(1) %out, i64 %i\n"
             "  store float %dot, ptr addrspace(1) %q, align 4\n  ret void\n}\n",
             &b);
    for (uint32_t i = 0; i < 32; i++) {
        double x[4];
        for (unsigned j = 0; j < 4; j++)
            x[j] = isnan(number_of(b.in[4 * i + j])) ? j + 1.0 : (double)number_of(b.in[4 * i + j]);
        for (unsigned j = 0; j < 3; j++) {
            const double wanted = fmin(fmax(rint(x[j == 2 ? 3 : j]), 0), 255);
            CHECK(((const uint8_t *)b.out)[3 * i + j] == (uint8_t)wanted, "thread %u, element %u: %u, not %g", i, j,
                  ((const uint8_t *)b.out)[3 * i + j], wanted);
        }
        const double wanted = fmax(x[0], 0) - fmax(x[2], 0) + 0.5 * fmax(x[3], 0); /* exact: multiples of 1/8 */
        CHECK((double)number_of(b.out[64 + i]) == wanted, "product of thread %u: %g", i, (double)number_of(b.out[64 + i]));
    }
}

/* ---- sub-groups, atomics, memory by LLVM's own functions ---- */

static void test_sub_groups(void)
{
    struct bench b = bench_new(64, 64);
    run_text(
        "declare i32 @_Z28sub_group_scan_inclusive_addi(i32)\n"
        "declare i32 @_Z13sub_group_anyi(i32)\n"
        "declare i32 @_Z25sub_group_broadcast_firsti(i32)\n"
        "declare i32 @_Z22get_sub_group_local_idv()\n"
        "declare i32 @_Z25atomic_fetch_max_explicitPU3AS1VU7_Atomicjj12memory_order12memory_scope(ptr addrspace(1), i32, i32, "
        "i32)\n" HEAD "  %x = trunc i64 %id to i32\n"
        "  %sum = call i32 @_Z28sub_group_scan_inclusive_addi(i32 %x)\n"
        "  %lane = call i32 @_Z22get_sub_group_local_idv()\n"
        "  %is = icmp eq i32 %x, 40\n  %one = zext i1 %is to i32\n"
        "  %any = call i32 @_Z13sub_group_anyi(i32 %one)\n"
        "  %big = mul i32 %any, 1000000\n  %s = add i32 %sum, %big\n  %l = mul i32 %lane, 10000\n  %t = add i32 %s, %l\n"
        "  %q = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %id\n"
        "  store i32 %t, ptr addrspace(1) %q, align 4\n"
        "  %far = getelementptr inbounds i32, ptr addrspace(1) %out, i64 100\n"
        "  %old = call i32 @_Z25atomic_fetch_max_explicitPU3AS1VU7_Atomicjj12memory_order12memory_scope(ptr addrspace(1) %far, "
        "i32 %x, i32 5, i32 2)\n"
        "  ret void\n}\n",
        &b);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < 64; i++) {
        sum = i == 32 ? i : sum + i;
        CHECK(b.out[i] == sum + (i >= 32 ? 1000000 : 0) + i % 32 * 10000, "thread %u: %u", i, (unsigned)b.out[i]);
    }
    CU_ASSERT_EQUAL(b.out[100], 63);
}

/* Builtins by their own names, as our Metal headers call them: some begin like others. */
static void test_builtin_names(void)
{
    struct bench b = bench_new(32, 32);
    run_text("declare i32 @__orchard_simd_shuffle_xor_i32(i32, i32)\n"
             "declare i32 @__orchard_simd_shuffle_i32(i32, i32)\n"
             "declare i32 @__orchard_simd_reduce_umax_u32(i32)\n"
             "declare i32 @__orchard_lane()\n" HEAD "  %x = call i32 @__orchard_lane()\n"
             "  %a = call i32 @__orchard_simd_shuffle_xor_i32(i32 %x, i32 5)\n"
             "  %c = call i32 @__orchard_simd_shuffle_i32(i32 %x, i32 9)\n"
             "  %d = call i32 @__orchard_simd_reduce_umax_u32(i32 %x)\n"
             "  %e = mul i32 %a, 10000\n  %f = mul i32 %c, 100\n  %g = add i32 %e, %f\n  %h = add i32 %g, %d\n"
             "  %q = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %id\n"
             "  store i32 %h, ptr addrspace(1) %q, align 4\n  ret void\n}\n",
             &b);
    EXPECT(b, 32, i, (i ^ 5) * 10000 + 931);
}

/* A structure by value to a function that changes its own copy; copies and fills of memory; a table of the module. */
static void test_memory(void)
{
    struct bench b = bench_new(32, 32);
    run_text("%pair = type { i32, [3 x i32] }\n"
             "@table = internal addrspace(2) constant [4 x i32] [i32 11, i32 22, i32 33, i32 44], align 4\n"
             "declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)\n"
             "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n"
             "define internal i32 @take(ptr byval(%pair) align 4 %p) {\n"
             "  %q = getelementptr inbounds %pair, ptr %p, i64 0, i32 1, i64 1\n"
             "  %x = load i32, ptr %q, align 4\n  store i32 -1, ptr %q, align 4\n  ret i32 %x\n}\n" HEAD
             "  %s = alloca %pair, align 4\n  %t = alloca i32, align 4\n"
             "  call void @llvm.memset.p0.i64(ptr %t, i8 5, i64 4, i1 false)\n"
             "  %four = shl i64 %id, 2\n"
             "  %from = getelementptr inbounds i32, ptr addrspace(1) %in, i64 %four\n"
             "  call void @llvm.memcpy.p0.p1.i64(ptr %s, ptr addrspace(1) %from, i64 16, i1 false)\n"
             "  %a = call i32 @take(ptr byval(%pair) align 4 %s)\n"
             "  %c = call i32 @take(ptr byval(%pair) align 4 %s)\n"
             "  %same = icmp eq i32 %a, %c\n  %five = load i32, ptr %t, align 4\n"
             "  %low = and i64 %id, 3\n"
             "  %e = getelementptr inbounds [4 x i32], ptr addrspace(2) @table, i64 0, i64 %low\n"
             "  %k = load i32, ptr addrspace(2) %e, align 4\n"
             "  %u = add i32 %a, %k\n  %v = sub i32 %u, %five\n  %w = select i1 %same, i32 %v, i32 0\n"
             "  %q = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %id\n"
             "  store i32 %w, ptr addrspace(1) %q, align 4\n  ret void\n}\n",
             &b);
    EXPECT(b, 32, i, b.in[4 * i + 2] + (i % 4 + 1) * 11 - 0x05050505);
}

/* Small numbers, a structure by value, which the kernel changes for itself alone, and threadgroup memory that the launch gives.
 */
static void test_arguments(void)
{
    static const char text[] =
        "%pair = type { i8, i32 }\n"
        "declare i64 @_Z12get_local_idj(i32)\n"
        "declare void @_Z7barrierj(i32)\n"
        "define spir_kernel void @k(ptr addrspace(1) %out, i8 %a, i8 %b, ptr byval(%pair) %p, ptr addrspace(3) %s, half %h) {\n"
        "  %id = call i64 @_Z12get_local_idj(i32 0)\n  %x = trunc i64 %id to i32\n"
        "  %at = getelementptr inbounds i32, ptr addrspace(3) %s, i64 %id\n  store i32 %x, ptr addrspace(3) %at\n"
        "  call void @_Z7barrierj(i32 1)\n"
        "  %back = sub i64 63, %id\n"
        "  %from = getelementptr inbounds i32, ptr addrspace(3) %s, i64 %back\n  %y = load i32, ptr addrspace(3) %from\n"
        "  %m = getelementptr inbounds %pair, ptr %p, i64 0, i32 1\n  %z = load i32, ptr %m\n"
        "  %more = add i32 %z, %x\n  store i32 %more, ptr %m\n  %w = load i32, ptr %m\n"
        "  %a32 = sext i8 %a to i32\n  %b32 = zext i8 %b to i32\n  %h32 = fptosi half %h to i32\n"
        "  %s1 = add i32 %a32, %b32\n  %s2 = add i32 %s1, %w\n  %s3 = mul i32 %s2, %y\n  %s4 = add i32 %s3, %h32\n"
        "  %q = getelementptr inbounds i32, ptr addrspace(1) %out, i64 %id\n  store i32 %s4, ptr addrspace(1) %q\n  ret "
        "void\n}\n";
    const struct {
        uint64_t out;
        int8_t a, none, b, none_2[1];
        struct {
            int8_t first;
            int32_t second;
        } p;
        uint64_t s;
        uint16_t h;
    } block = {OUT_ADDRESS, -3, 0, 7, {0}, {1, 100}, 0, 0xc500 /* -5 */};
    struct bench b = bench_new(64, 64);
    struct isa_error error = {.text = ""};
    struct ir_module *const m = ir_read(text, strlen(text), &error);
    struct ir_launch launch = {.grid = {64, 1, 1},
                               .group = {64, 1, 1},
                               .arguments = &block,
                               .argument_bytes = offsetof(__typeof__(block), h) + 2,
                               .threadgroup_bytes = 256,
                               .memory = {memory_at, &b}};
    CHECK(m && ir_interpret(ir_find_function(m, "k"), &launch, &error), "line %lu: %s", error.line, error.text);
    EXPECT(b, 64, i, (-3 + 7 + 100 + i) * (63 - i) - 5);
    launch.threadgroup_bytes = 252;
    CU_ASSERT(m && !ir_interpret(ir_find_function(m, "k"), &launch, &error));
    launch.argument_bytes--;
    CHECK(m && !ir_interpret(ir_find_function(m, "k"), &launch, &error) && strstr(error.text, "argument 5 of k"), "%s",
          error.text);
    if (m)
        ir_module_free(m);
}

static const struct suite_test tests[] = {
    {"functions on scalars", test_scalars},
    {"vectors in memory, conversions, choices", test_vectors},
    {"sub-groups and atomics", test_sub_groups},
    {"builtins by their own names", test_builtin_names},
    {"structures by value, copies, tables of the module", test_memory},
    {"arguments of all kinds", test_arguments},
};

SUITE_MAIN("ir_library", tests)
