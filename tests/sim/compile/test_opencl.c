/* Kernels in OpenCL C (and one in Metal) compute on the simulated GPU what the host computes: functions that the compiler
 * expands, integers of 64 bits, constant tables, copies of memory, functions of sub-groups and work-groups. Needs clang. */
#include "sim/compile/compile.h"
#include "sim/compile/kernel_launch.h"
#include "sim/workload/gpu/gpu_functional.h"
#include "tests/sim/agx_example.h"

#include <math.h>

enum { COUNT = 512, GROUP = 128 };

struct data {
    union {
        uint64_t u64[COUNT];
        uint32_t u32[COUNT];
        float f32[COUNT];
        uint16_t u16[COUNT];
        uint8_t u8[8 * COUNT];
    };
};

static bool no_clang(void)
{
    struct orch_error error = {0};
    const bool possible = compile_is_possible(COMPILE_OPENCL, &error);
    if (!possible)
        suite_skip(error.text);
    return !possible;
}

static bool execute(const struct abi_kernel *k, struct data *out, struct orch_error *error)
{
    struct gpu_setup setup = {.program = NULL};
    struct gpu_totals totals = {0};
    struct mem_space *const space = mem_space_create(0);
    const struct gpu_functional functional = {
        .threads = 1, .cores = 8, .checks = {.poison = true, .instruction_limit = 1u << 26}};
    const bool ok = gpu_setup_open(&setup, k, GPU_G14, space, NULL, error) && gpu_totals_init(&totals, setup.program, error) &&
                    gpu_functional_run(&setup, &functional, &totals, error);
    if (ok)
        memcpy(out, gpu_setup_bytes(&setup, 0), sizeof *out);
    gpu_totals_free(&totals);
    gpu_setup_close(&setup);
    mem_space_free(space);
    return ok;
}

static void begin_with(struct abi_arg *a, const struct data *data)
{
    a->initial = malloc(sizeof *data);
    memcpy(a->initial, data, sizeof *data);
    a->start = ABI_START_BYTES;
}

/* kernel void k(global ... *o, global const ... *a, global const ... *b) by COUNT threads. */
static bool run_file(const char *path, const char *source, const struct data *a, const struct data *b, struct data *out)
{
    static const char *const args[] = {"u8:4096", "u8:4096", "u8:4096"};
    const struct kernel_launch l = {{COUNT, 1, 1}, {GROUP, 1, 1}, args, 3};
    const struct compile_request q = {.path = path, .text = source, .text_bytes = strlen(source), .optimise = 2, .fresh = true};
    struct compile_result r;
    struct orch_error error = {0};
    bool ok = compile_source(&q, &r, &error) && kernel_launch_complete(&r.kernel, &l, &error);
    if (ok) {
        begin_with(&r.kernel.arg[1], a);
        begin_with(&r.kernel.arg[2], b);
        ok = execute(&r.kernel, out, &error);
    }
    CHECK(ok, "%s\n%s", error.text, source);
    compile_result_free(&r);
    return ok;
}

static bool run(const char *source, const struct data *a, const struct data *b, struct data *out)
{
    return run_file("k.cl", source, a, b, out);
}

/* ---- floats ---- */

static double ulps(float got, double wanted)
{
    const float near = (float)wanted;
    if (isnan(wanted) || isinf(near) || fabsf(near) < 0x1p-126F)
        return isnan(wanted) ? (isnan(got) ? 0 : INFINITY)
               : isinf(near) ? (got == near ? 0 : INFINITY)
                             : (fabsf(got) <= 0x1p-125F ? 0 : INFINITY);
    int exponent;
    frexp(wanted, &exponent);
    return fabs((double)got - wanted) / ldexp(1, exponent - 24 < -149 ? -149 : exponent - 24);
}

static double of_fmod(double x, double y)
{
    return fmod(x, y);
}
static double of_remainder(double x, double y)
{
    return remainder(x, y);
}
static double of_quotient(double x, double y)
{
    int n;
    remquo(x, y, &n);
    return n & 7; /* the three bits that the host gives are the lowest of ours */
}
static double of_asinh(double x, double y)
{
    return (void)y, asinh(x);
}
static double of_acosh(double x, double y)
{
    return (void)y, acosh(fabs(x));
}
static double of_atanh(double x, double y)
{
    return (void)y, atanh(x);
}
static double of_erf(double x, double y)
{
    return (void)y, erf(x);
}
static double of_erfc(double x, double y)
{
    return (void)y, erfc(x);
}
static double of_lgamma(double x, double y)
{
    return (void)y, lgamma(x);
}
static double of_tgamma(double x, double y)
{
    return (void)y, tgamma(x);
}

enum range { WIDE, SMALL, UNIT, POSITIVE };

static float number_in(uint64_t *state, enum range range)
{
    const uint64_t r = suite_random(state);
    const float unit = (float)(r >> 40) * 0x1p-23F - 1;
    switch (range) {
    case SMALL: return unit * 12;
    case UNIT: return unit;
    case POSITIVE: return fabsf(unit) * 35 + 0x1p-10F;
    default: return ldexpf(unit, (int)(r % 80) - 40);
    }
}

static void test_floats(void)
{
    if (no_clang())
        return;
    static const struct {
        const char *expression;
        double (*host)(double, double);
        enum range range;
        double most_ulps;
    } rows[] = {{"fmod(x, y)", of_fmod, WIDE, 0},       {"remainder(x, y)", of_remainder, WIDE, 0},
                {"q8(x, y)", of_quotient, SMALL, 0},    {"asinh(x)", of_asinh, WIDE, 4},
                {"acosh(fabs(x))", of_acosh, SMALL, 4}, {"atanh(x)", of_atanh, UNIT, 5},
                {"erf(x)", of_erf, SMALL, 16},          {"erfc(x)", of_erfc, SMALL, 16},
                {"lgamma(x)", of_lgamma, POSITIVE, 16}, {"tgamma(x)", of_tgamma, POSITIVE, 16},
                {"tgamma(x)", of_tgamma, SMALL, 16},    {"asinh((float4)(x)).z", of_asinh, SMALL, 4}};
    struct data a, b, out;
    char source[600];
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        uint64_t state = 77 + i;
        double most = 0;
        size_t worst = 0;
        for (size_t k = 0; k < COUNT; k++) {
            a.f32[k] = number_in(&state, rows[i].range);
            b.f32[k] = number_in(&state, rows[i].range);
        }
        snprintf(source, sizeof source,
                 "float q8(float x, float y) { int n; remquo(x, y, &n); return n & 7; }\n"
                 "kernel void k(global float *o, global const float *a, global const float *b) {\n"
                 "  const uint i = get_global_id(0); const float x = a[i], y = b[i]; o[i] = %s; }\n",
                 rows[i].expression);
        if (!run(source, &a, &b, &out))
            continue;
        for (size_t k = 0; k < COUNT; k++) {
            const double off = ulps(out.f32[k], rows[i].host((double)a.f32[k], (double)b.f32[k]));
            if (off > most) {
                most = off;
                worst = k;
            }
        }
        if (getenv("ORCHARD_TEST_ULPS"))
            printf("%s: %.2f ulp\n", rows[i].expression, most);
        CHECK(most <= rows[i].most_ulps, "%s: %g ulp at %a, %a: %a", rows[i].expression, most, (double)a.f32[worst],
              (double)b.f32[worst], (double)out.f32[worst]);
    }
}

/* ---- integers ---- */

static uint64_t whole_number(uint64_t *state)
{
    const uint64_t r = suite_random(state);
    return r % 3 == 0 ? r : r % 3 == 1 ? r >> (r % 61) : 0 - (r >> (r % 61));
}

#define HOST(name, type, expression)                                                                                             \
    static uint64_t name(uint64_t a, uint64_t b)                                                                                 \
    {                                                                                                                            \
        const type x = (type)a, y = (type)b;                                                                                     \
        return (uint64_t)(expression);                                                                                           \
    }
HOST(of_udiv, uint64_t, y ? x / y : 0)
HOST(of_urem, uint64_t, y ? x % y : 0)
HOST(of_sdiv, int64_t, y && !(x == INT64_MIN && y == -1) ? x / y : 0)
HOST(of_srem, int64_t, y && !(x == INT64_MIN && y == -1) ? x % y : 0)
HOST(of_mul_hi, int64_t, (int64_t)((__int128)x *y >> 64))
HOST(of_shift, int64_t, (int64_t)((uint64_t)x << (y & 63)) ^ (x >> (y & 63)))
HOST(of_max, int64_t, x > y ? x : y)
HOST(of_to_float, int64_t, (int64_t)(float)(x >> 1) + (int64_t)(float)(int32_t)y)

static uint64_t of_mad_sat(uint64_t a, uint64_t b)
{
    const __int128 sum = (__int128)(int64_t)a * (int64_t)b + (int64_t)a;
    return (uint64_t)(sum > INT64_MAX ? INT64_MAX : sum < INT64_MIN ? INT64_MIN : (int64_t)sum);
}

static uint64_t of_round_down(uint64_t a, uint64_t b)
{
    const int64_t x = (int64_t)a;
    float f = (float)x;
    if (f >= 0x1p63F || (int64_t)f > x)
        f = nextafterf(f, -INFINITY);
    return (void)b, (uint64_t)(int64_t)f;
}

static void test_integers(void)
{
    if (no_clang())
        return;
    static const struct {
        const char *type, *expression;
        uint64_t (*host)(uint64_t, uint64_t);
    } rows[] = {{"ulong", "y ? x / y : 0", of_udiv},
                {"ulong", "y ? x % y : 0", of_urem},
                {"long", "y && !(x == LONG_MIN && y == -1) ? x / y : 0", of_sdiv},
                {"long", "y && !(x == LONG_MIN && y == -1) ? x % y : 0", of_srem},
                {"long", "mul_hi(x, y)", of_mul_hi},
                {"long", "(x << (y & 63)) ^ (x >> (y & 63))", of_shift},
                {"long", "max(x, y)", of_max},
                {"long", "mad_sat(x, y, x)", of_mad_sat},
                {"long", "(long)(float)(x >> 1) + (long)(float)(int)y", of_to_float},
                {"long", "(long)convert_float_rtn(x)", of_round_down}};
    struct data a, b, out;
    char source[600];
    uint64_t state = 5;
    for (size_t i = 0; i < COUNT; i++) {
        a.u64[i] = whole_number(&state);
        b.u64[i] = whole_number(&state);
    }
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        snprintf(source, sizeof source,
                 "kernel void k(global %s *o, global const %s *a, global const %s *b) {\n"
                 "  const uint i = get_global_id(0); const %s x = a[i], y = b[i]; o[i] = %s; }\n",
                 rows[i].type, rows[i].type, rows[i].type, rows[i].type, rows[i].expression);
        if (!run(source, &a, &b, &out))
            continue;
        for (size_t k = 0; k < COUNT; k++) {
            const uint64_t wanted = rows[i].host(a.u64[k], b.u64[k]);
            CHECK(out.u64[k] == wanted, "%s of %llx and %llx: %llx, not %llx", rows[i].expression, (unsigned long long)a.u64[k],
                  (unsigned long long)b.u64[k], (unsigned long long)out.u64[k], (unsigned long long)wanted);
            if (out.u64[k] != wanted)
                break;
        }
    }
}

/* ---- memory and threads together: each source says by itself what it wants, its result is 1 for every thread that got it ----
 */

static const char *const programs_of[] = {
    /* constant tables: scalars, structures in structures, vectors, bytes, words of 64 bits, through a chosen pointer */
    "constant float t1[4] = {1, 2, 3, 5};\n"
    "typedef struct { int n; float b[2]; uchar c; struct { short s; char z; } in[2]; } S;\n"
    "constant S t2[3] = {{1, {2, 3}, 4, {{5, 6}, {7, 8}}}, {9, {10, 11}, 12, {{13, 14}, {15, 16}}}};\n"
    "constant ulong t3[3] = {1, 1ul << 40, 77}; constant uchar4 t4[2] = {(uchar4)(1, 2, 3, 4), (uchar4)(5, 6, 7, 8)};\n"
    "kernel void k(global uint *o, global const uint *a, global const uint *b) {\n"
    "  const uint i = get_global_id(0), j = i % 2; const float w[3] = {7, 8, 9}; constant float *p = j ? t1 : t2[1].b;\n"
    "  float f = i % 4 == 3 ? 5 : i % 4 + 1;\n"
    "  o[i] = t1[i % 4] == f && t2[j].n == (j ? 9 : 1) && t2[j].b[1] == (j ? 11 : 3) && t2[j].c == (j ? 12 : 4) &&\n"
    "         t2[j].in[1].z == (j ? 16 : 8) && t2[2].n == 0 && t2[j].in[j].s == (j ? 15 : 5) &&\n"
    "         t3[j] == (j ? 1ul << 40 : 1) && t4[j].z == (j ? 7 : 3) && w[i % 3] == 7 + i % 3 && p[j] == (j ? 2 : 10); }\n",
    /* memset, memcpy and memmove of variable size, bytes of private arrays */
    "kernel void k(global uint *o, global const uchar *a, global const uchar *b) {\n"
    "  const uint i = get_global_id(0), n = 200 + i % 7; uchar s[300]; uint good = 1;\n"
    "  for (uint j = 0; j < n; j++) s[j] = a[j];\n"
    "  for (uint j = 0; j < n; j++) s[j + 1 + i % 3] = 9;\n"
    "  s[(i * 37) % 150] = i; s[(i * 37) % 150 + 1] += 3;\n"
    "  good &= s[(i * 37) % 150] == (uchar)i;\n"
    "  good &= s[(i * 37) % 150 + 1] == ((i * 37) % 150 + 1 < 1 + i % 3 ? (uchar)(a[(i * 37) % 150 + 1] + 3) : 12);\n"
    "  o[i] = good; }\n",
    "kernel void k(global uint *o, global const uint *a, global const uint *b) {\n"
    "  const uint i = get_global_id(0); uint s[40], n = 20 + i % 5, good = 1;\n"
    "  for (uint j = 0; j < 40; j++) s[j] = a[j];\n"
    "  if (i & 1) for (int j = n; j >= 0; j--) s[j + 1] = s[j]; else for (uint j = 0; j < n; j++) s[j] = s[j + 1];\n"
    "  for (uint j = 1; j < 40; j++)\n"
    "    good &= s[j] == ((i & 1) ? a[j <= n + 1 ? j - 1 : j] : a[j < n ? j + 1 : j]);\n"
    "  o[i] = good; }\n",
    /* work-groups and sub-groups, 64 bits and floats */
    "kernel void k(global uint *o, global const uint *a, global const uint *b) {\n"
    "  const uint i = get_global_id(0), l = get_local_id(0), g = i - l; long sum = 0, before = 0, least = LONG_MAX; float "
    "top = 0;\n"
    "  for (uint j = 0; j < 128; j++) { long x = (long)a[g + j] * 77777; sum += x; before += j < l ? x : 0;\n"
    "    least = min(least, x - (1l << 40)); if (j < l) top = max(top, (float)(a[g + j] >> 8)); }\n"
    "  const long x = (long)a[i] * 77777;\n"
    "  uint good = work_group_reduce_add(x) == sum && work_group_scan_exclusive_add(x) == before;\n"
    "  good &= work_group_scan_inclusive_add(x) == before + x && work_group_reduce_min(x - (1l << 40)) == least;\n"
    "  good &= max(work_group_scan_exclusive_max((float)(a[i] >> 8)), 0.0f) == top;\n"
    "  good &= work_group_broadcast(a[i], 77) == a[g + 77] && work_group_any(l == 100) && !work_group_all(l != 100);\n"
    "  good &= get_num_sub_groups() == 4; o[i] = good; }\n",
    "#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable\n"
    "#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle_relative : enable\n"
    "kernel void k(global uint *o, global const uint *a, global const uint *b) {\n"
    "  const uint i = get_global_id(0), l = i % 32, g = i - l; uint good = 1; long most = LONG_MIN;\n"
    "  for (uint d = 16; d > 0; d >>= 1) { good &= sub_group_shuffle_xor(a[i], d) == a[g + (l ^ d)];\n"
    "    const uint up = sub_group_shuffle_up(a[i], d), down = sub_group_shuffle_down(a[i], d);\n"
    "    good &= (l < d || up == a[i - d]) && (l + d > 31 || down == a[i + d]); }\n"
    "  for (uint d = b[0] % 2 + 1; d < 32; d++) { const uint x = sub_group_shuffle_xor(a[i], d);\n"
    "    const uint up = sub_group_shuffle_up(a[i], d), down = sub_group_shuffle_down(a[i], d);\n"
    "    good &= x == a[g + (l ^ d)] && (l < d || up == a[i - d]) && (l + d > 31 || down == a[i + d]); }\n"
    "  for (uint j = 0; j < l; j++) most = max(most, ((long)a[g + j] << 20) - (1l << 51));\n"
    "  good &= sub_group_scan_exclusive_max(((long)a[i] << 20) - (1l << 51)) == most; o[i] = good; }\n",
    /* copies by the group */
    "kernel void k(global uint *o, global const uint *a, global const uint *b) {\n"
    "  const uint i = get_global_id(0), l = get_local_id(0), g = i - l; local uint s[128]; local uint3 t[40];\n"
    "  event_t e = async_work_group_copy(s, a + g, 128, 0);\n"
    "  e = async_work_group_strided_copy(t, (global const uint3 *)a, 40, 2, e); wait_group_events(1, &e);\n"
    "  o[i] = s[127 - l] == a[g + 127 - l] && t[l % 40].y == a[l % 40 * 8 + 1]; }\n",
    /* directed rounding */
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "kernel void k(global uint *o, global const float *a, global const float *b) {\n"
    "  const uint i = get_global_id(0); const float x = (float)(as_int(a[i]) >> 8) * 0x1p-10f;\n"
    "  const float n = convert_half(x), z = convert_half_rtz(x), p = convert_half_rtp(x), m = convert_half_rtn(x);\n"
    "  half h; vstore_half_rtp(x, 0, &h);\n"
    "  o[i] = p >= x && m <= x && (x < 0 ? z == p : z == m) && (n == p || n == m) && (isinf(p) || isinf(m) || p == m ||\n"
    "         as_short((half)fabs(p)) - as_short((half)fabs(m)) == (x < 0 ? -1 : 1)) && (float)h == p; }\n",
    /* atomic functions that are compared and tried again */
    "kernel void k(global uint *o, global const uint *a, global const uint *b) {\n"
    "  local atomic_int n; local int seen[128]; const uint l = get_local_id(0); seen[l] = 0;\n"
    "  if (l == 0) atomic_init(&n, 0);\n"
    "  barrier(CLK_LOCAL_MEM_FENCE); int e = atomic_load(&n);\n"
    "  while (!atomic_compare_exchange_weak_explicit(&n, &e, e + 1, memory_order_relaxed, memory_order_relaxed,\n"
    "                                                memory_scope_work_group)) ;\n"
    "  seen[e] = 1; barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);\n"
    "  o[get_global_id(0)] = seen[l] == 1 && atomic_load(&n) == 128; }\n",
};

static void test_programs(void)
{
    if (no_clang())
        return;
    struct data a, b, out;
    uint64_t state = 9;
    for (size_t i = 0; i < 2 * COUNT; i++)
        a.u8[4 * i] = (uint8_t)suite_random(&state);
    for (size_t i = 0; i < COUNT; i++)
        a.u32[i] = b.u32[i] = (uint32_t)suite_random(&state) & 0x7fffffff;
    for (size_t i = 0; i < ARRAY_COUNT(programs_of); i++) {
        if (!run(programs_of[i], &a, &b, &out))
            continue;
        unsigned wrong = 0;
        for (size_t k = 0; k < COUNT; k++)
            wrong += out.u32[k] != 1;
        CHECK(wrong == 0, "program %zu: wrong in %u threads", i, wrong);
    }
}

/* ---- control flow that no loop of C makes ---- */

#define TEXT_OF(...) #__VA_ARGS__
#define TEXT(...)    TEXT_OF(__VA_ARGS__)
/* clang-format off */
#define TANGLE                                                                                                                   \
    unsigned tangle(unsigned n)                                                                                                  \
    {                                                                                                                            \
        unsigned m = 0, t = 0;                                                                                                   \
        if (n & 1) goto b;                                                                                                       \
    a:  n += 3; m ^= n; if (n > 100) goto e;                                                                                     \
    b:  n = n * 2 + 1; t += m; if (++m > 1000) goto e; if (n & 64) goto a;                                                       \
    c:  n += 1; if ((n & 7) == 3) goto d; if (n < 50) goto a; if (n % 5) goto b; goto e;                                         \
    d:  t ^= n << 3; if (t & 1) goto c; if (n < 90) goto b;                                                                      \
        for (unsigned i = 0; i < (n & 3); i++) {                                                                                 \
            if (t & 2) goto g;                                                                                                   \
        f:  t += i; if (t % 11 == 3) break;                                                                                      \
        g:  t = t * 5 + 1; if (t & 8) goto f;                                                                                    \
        }                                                                                                                        \
    e:  return n * 1000 + m * 7 + t;                                                                                             \
    }
/* clang-format on */
static TANGLE

    static void
    test_tangles(void)
{
    static const char source[] = TEXT(TANGLE) "\nkernel void k(global uint *o, global const uint *a, global const uint *b) {\n"
                                              "  o[get_global_id(0)] = tangle(a[get_global_id(0)]); }\n";
    struct data a, b, out;
    for (size_t i = 0; i < COUNT; i++)
        a.u32[i] = b.u32[i] = (uint32_t)(i % 97);
    const bool ran = !no_clang() && run(source, &a, &b, &out);
    for (size_t i = 0; ran && i < COUNT; i++)
        CHECK(out.u32[i] == tangle(a.u32[i]), "of %u: %u, not %u", a.u32[i], out.u32[i], tangle(a.u32[i]));
}

/* Functions of Metal's library that no other suite runs: each thread says whether it got what it should. */
static void test_metal(void)
{
    if (no_clang())
        return;
    static const char source[] =
        "#include <metal_stdlib>\nusing namespace metal;\nconstant uchar t[4] = {3, 1, 4, 1};\n"
        "kernel void k(device uint *o, device const uint *a, device const uint *b, uint i [[thread_position_in_grid]],\n"
        "              uint groups [[simdgroups_per_threadgroup]]) {\n"
        "  const uint q = i & 3u, f = i - q; uint sum = 0, product = 1; bool good = true;\n"
        "  for (uint j = 0; j < q; j++) { sum += a[f + j]; product *= a[f + j]; }\n"
        "  good = good && quad_prefix_exclusive_sum(a[i]) == sum && quad_prefix_inclusive_sum(a[i]) == sum + a[i];\n"
        "  good = good && quad_prefix_exclusive_product(a[i]) == product;\n"
        "  good = good && quad_prefix_inclusive_product(a[i]) == product * a[i];\n"
        "  good = good && quad_shuffle_rotate_up(a[i], ushort(1)) == a[f + ((q + 3) & 3)];\n"
        "  good = good && quad_shuffle_rotate_down(a[i], ushort(1)) == a[f + ((q + 1) & 3)];\n"
        "  int3 e; const float3 x = float3(a[i] >> 8, 12.0f, -0.375f), m = frexp(x, e);\n"
        "  good = good && all(ldexp(m, e) == x) && e.y == 4 && m.z == -0.75f && e.z == -1;\n"
        "  float2 w; const float2 p = modf(float2(-2.75f, 5.5f), w);\n"
        "  good = good && p.x == -0.75f && w.x == -2.0f && p.y == 0.5f && w.y == 5.0f;\n"
        "  good = good && nextafter(float2(1.0f), float2(2.0f)).y == 0x1.000002p+0f && precise::fract(2.25f) == 0.25f;\n"
        "  good = good && fabs(tanpi(float2(0.25f)).y - 1.0f) < 1e-5f && t[i & 3u] == (q == 0 ? 3 : q == 2 ? 4 : 1) && groups == "
        "4;\n"
        "  o[i] = good; }\n";
    struct data a, b, out;
    uint64_t state = 3;
    for (size_t i = 0; i < COUNT; i++)
        a.u32[i] = b.u32[i] = (uint32_t)suite_random(&state);
    const bool ran = run_file("k.metal", source, &a, &b, &out);
    for (size_t i = 0; ran && i < COUNT; i++)
        CHECK(out.u32[i] == 1, "thread %zu", i);
}

static const struct suite_test tests[] = {{"functions of floats", test_floats},
                                          {"functions of integers", test_integers},
                                          {"control flow", test_tangles},
                                          {"functions of Metal", test_metal},
                                          {"memory and threads together", test_programs}};
SUITE_MAIN("opencl", tests)
