/* Vector handlers of functions, conversions, 16-bit arithmetic and wide integers against the plain path, number by number: every
 * half, random words, words that lie badly (around zero, one, the ends of ranges, the middle between two results). */
#include "isa/array_count.h"
#include "isa/float_bits.h"
#include "tests/units/gpu_exec_example.h"

#include <inttypes.h>
#include <math.h>

#define BANK       24 /* registers of a bank: first sources, second sources, third sources, results */
#define ROUNDS     40 /* of random banks */
#define FIRST_WORD 4  /* r0 holds the mask counter */

enum values { HALVES, MIXED, TAME };

/* Text of one instruction: %d destination, %a, %b, %c sources; capitals: the register behind, for pairs. */
struct shape {
    const char *text;
    enum values values;
};

static struct gpu_lanes start;

static uint32_t near(uint32_t bits, uint64_t x)
{
    return bits + (uint32_t)(x & 7) - 3;
}

/* A number whose reciprocal root, power or logarithm lies near the middle of two floats. */
static uint32_t near_middle(uint64_t x)
{
    const double middle = 1.0 + (double)((x >> 20 & 0x7fffff) * 2 + 1) * 0x1p-24;
    const float root = (float)(1.0 / (middle * middle)), power = (float)log2(middle), inverse = (float)exp2(middle);
    return f32_bits(x & 1 ? root : x & 2 ? power : inverse);
}

static uint32_t mixed_word(uint64_t *seed)
{
    static const uint32_t special[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
                                       0xffc00001, 0x7f800001, 0x00800000, 0x80800000, 0x00400000, 0x43000000, 0xc2fc0000,
                                       0xc3160000, 0x4f000000, 0x4f800000, 0xcf000000, 0x477fe000, 0x477ff000, 0x33000000,
                                       0x33800000, 0x38800000, 0x387fc000, 0x47800000, 0xc7000000, 0x3f000000, 0x3fc00000,
                                       0x40400000, 0x40800000, 0x4b000000, 0x7fffffff, 0xffffffff, 0x00010000, 0x3c003c00,
                                       0x7bff7bff, 0x04000400, 0x03ff03ff, 0x00010001, 0x7c007c00, 0xfc00fc00};
    const uint64_t x = suite_random(seed), pick = x >> 40 & 0xff;
    switch (x >> 60) {
    case 0:
    case 1: return near(special[pick % (ARRAY_COUNT(special))], x);
    case 2: return special[pick % (ARRAY_COUNT(special))];
    case 3:
    case 4: return near_middle(x);
    case 5: return ((uint32_t)x & 0x807fffff) | (uint32_t)(120 + (pick & 15)) << 23; /* 2^-7 .. 2^8 */
    case 6: return ((uint32_t)x & 0x80ffffff) | 0x3f000000;
    case 7: return (uint32_t)x & 0xffff;
    case 8: return (uint32_t)((int32_t)(x << 16) >> 16);
    case 9: return ((uint32_t)x & 0x87ff87ff) | 0x38003800;
    default: return (uint32_t)x;
    }
}

static void fill(enum values values, uint64_t *seed, uint32_t *half)
{
    for (unsigned r = FIRST_WORD; r < FIRST_WORD + 4 * BANK; r++)
        for (unsigned lane = 0; lane < GPU_LANES; lane++) {
            start.word[r][lane] = mixed_word(seed);
            if (values == TAME) /* nothing that sums and products of many lanes would trip over */
                start.word[r][lane] = suite_random(seed) % 5 ? (start.word[r][lane] & 0x80ffffff) | 0x3f000000 : 0;
            if (values == HALVES && r < FIRST_WORD + BANK)
                start.word[r][lane] = (start.word[r][lane] << 16) | ((*half)++ & 0xffff);
        }
    start.mask = suite_random(seed) & 7 ? UINT32_MAX : (uint32_t)suite_random(seed);
}

static size_t append(char *to, size_t room, const char *text, unsigned i)
{
    size_t n = 0;
    for (; *text && n + 8 < room; text++) {
        const char *letters = "abcdABCD", *at = *text == '%' ? strchr(letters, text[1]) : NULL;
        if (!at) {
            to[n++] = *text;
            continue;
        }
        const unsigned place = (unsigned)(at - letters);
        n += (size_t)snprintf(to + n, room - n, "r%u", FIRST_WORD + place % 4 * BANK + i + place / 4);
        text++;
    }
    to[n++] = '\n';
    return n;
}

/* One program that does the same to every register of the banks (every second one: pairs). */
static struct gpu_program *program_of(const char *text)
{
    static char all[BANK * 96 + 16];
    struct unit_fault fault;
    size_t n = 0;
    for (unsigned i = 0; i < BANK; i += 2) {
        n += append(all + n, sizeof all - n, text, i);
        if (!strstr(text, "%d_"))
            n += append(all + n, sizeof all - n, text, i + 1);
    }
    snprintf(all + n, sizeof all - n, "stop\n");
    return gpu_example_program(all, GPU_G13, &fault);
}

static void run(struct gpu_group *group, struct gpu_lanes *out)
{
    struct unit_fault fault;
    gpu_group_start_bare(group, &start);
    CU_ASSERT_EQUAL(gpu_group_run(group, 0, 0, NULL, &fault), GPU_STEP_DONE);
    gpu_group_read_state(group, 0, out);
}

static bool compare(const char *path, const char *text, const struct gpu_lanes *got, const struct gpu_lanes *expected)
{
    for (unsigned r = 0; r < AGX_REGISTERS; r++)
        for (unsigned lane = 0; lane < GPU_LANES; lane++)
            if (got->word[r][lane] != expected->word[r][lane]) {
                const unsigned a = r >= FIRST_WORD + 3 * BANK ? r - 3 * BANK : r;
                CHECK(false, "%s, %s: r%u lane %u is %08x, should be %08x; A %08x B %08x C %08x", path, text, r, lane,
                      got->word[r][lane], expected->word[r][lane], start.word[a][lane], start.word[a + BANK][lane],
                      start.word[a + 2 * BANK][lane]);
                return false;
            }
    return true;
}

static void check_shape(const struct shape *shape)
{
    static const uint16_t uniforms[AGX_UNIFORM_HALVES];
    static struct gpu_lanes expected, got;
    struct gpu_program *program = program_of(shape->text);
    struct gpu_group *group[GPU_PATHS] = {NULL};
    if (!program)
        return;
    const struct gpu_launch launch = {
        .program = program, .uniforms = uniforms, .grid_threads = {32, 1, 1}, .group_threads = {32, 1, 1}};
    for (unsigned path = 0; path < GPU_PATHS; path++)
        group[path] = gpu_example_group(&launch, gpu_paths[path]);
    uint64_t seed = 1 + (uint64_t)shape->text[0] * 7919 + strlen(shape->text);
    uint32_t half = 0;
    bool fine = group[0] != NULL;
    CU_ASSERT_TRUE(fine);
    for (unsigned round = 0; fine && (shape->values == HALVES ? half < 0x10000 : round < ROUNDS); round++) {
        fill(shape->values, &seed, &half);
        if (shape->values == HALVES)
            start.mask = UINT32_MAX; /* none is left out */
        run(group[0], &expected);
        for (unsigned path = 1; path < GPU_PATHS; path++)
            if (group[path]) {
                run(group[path], &got);
                fine = compare(gpu_paths[path], shape->text, &got, &expected) && fine;
            }
    }
    for (unsigned path = 0; path < GPU_PATHS; path++)
        gpu_group_free(group[path]);
    gpu_program_free(program);
}

static void check_shapes(const struct shape *shapes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check_shape(&shapes[i]);
}
#define CHECK_SHAPES(shapes) check_shapes(shapes, ARRAY_COUNT(shapes))

static void test_functions(void)
{
    static const struct shape shapes[] = {
#define UNARY(name)                                                                                                              \
    {name " %d, %a", MIXED}, {name " %dl, %al", HALVES}, {name " %d, %ah", MIXED}, {name " %dh, %a.neg", MIXED},                 \
        {name ".sat %d, %a", MIXED}, {name " %d, %a.abs", MIXED}
        UNARY("floor"),         UNARY("ceil"),     UNARY("trunc"),    UNARY("rint"), UNARY("rcp"),  UNARY("rsqrt"),
        UNARY("rsqrt_special"), UNARY("sin_pt_1"), UNARY("sin_pt_2"), UNARY("log2"), UNARY("exp2"),
    };
    CHECK_SHAPES(shapes);
}

static void test_conversions(void)
{
    static const struct shape shapes[] = {
#define CONVERT(mode)                                                                                                            \
    {"convert " mode ", %d, %a, rte", MIXED}, {"convert " mode ", %d, %a, rtz", MIXED},                                          \
        {"convert " mode ", %dl, %a, rte", MIXED}, {"convert " mode ", %dh, %al, rtz", HALVES},                                  \
        {"convert " mode ", %d, %al, rte", HALVES}, {"convert " mode ", %dl, %ah, rte", MIXED}
        CONVERT("u8_to_f"),  CONVERT("s8_to_f"),  CONVERT("u16_to_f"), CONVERT("s16_to_f"), CONVERT("u32_to_f"),
        CONVERT("s32_to_f"), CONVERT("f_to_u16"), CONVERT("f_to_s16"), CONVERT("f_to_u32"), CONVERT("f_to_s32"),
    };
    CHECK_SHAPES(shapes);
}

static void test_halves(void)
{
    static const struct shape shapes[] = {
#define BINARY(name)                                                                                                             \
    {name " %dl, %al, %bl", HALVES}, {name " %dh, %ah, %bl.neg", MIXED}, {name ".sat %dl, %al.abs, %bh", HALVES},                \
        {name " %dl, %al, 0.5", HALVES}, {name " %dl, %ah, %al", MIXED}
        BINARY("fadd16"),
        BINARY("fmul16"),
        {"fmadd16 %dl, %al, %bl, %cl", HALVES},
        {"fmadd16 %dl, %ah, %bl, %ch", MIXED},
        {"fmadd16 %dh, %al, %bh.neg, %cl.abs", MIXED},
        {"fmadd16.sat %dl, %al, 0.75, %cl", HALVES},
        {"fmadd16 %dl, %al, 1.5, %cl", HALVES},
        {"fmadd16 %dl, %al, 0.625, %ch.neg", HALVES}, /* many lie in the middle */
    };
    CHECK_SHAPES(shapes);
}

static void test_wide_integers(void)
{
    static const struct shape shapes[] = {
        {"iadd %d_%D, %a_%A, %b_%B", MIXED},     {"isub %d_%D, %a_%A, %b", MIXED},
        {"iadd %d_%D, %a, %b_%B, lsl 3", MIXED}, {"iadd %d_%D, %a_%A, 77, lsl 4", MIXED},
        {"iadd %d_%D, %a.sx, %bl.sx", MIXED},    {"isub %d_%D, %ah, %b.sx, lsl 2", MIXED},
        {"imadd %d_%D, %a, %b, %c_%C", MIXED},   {"imadd %d_%D, %a.sx, %b.sx, %c_%C, lsl 1", MIXED},
        {"imsub %d_%D, %a, %b, %c", MIXED},      {"imadd %d_%D, %al.sx, %b, 0", MIXED},
        {"imadd %d_%D, %a, 200, %c.sx", MIXED},
    };
    CHECK_SHAPES(shapes);
}

static void test_reductions(void)
{
    static const struct shape shapes[] = {
#define REDUCE(name)                                                                                                             \
    {"simd_" name " %d, %a", MIXED}, {"quad_" name " %d, %a", MIXED}, {"simd_" name " %dl, %ah", MIXED},                         \
        {"simd_" name " %d, %a", TAME}, {"quad_" name " %dh, %a", TAME}, {"simd_" name " %dl, %ah", TAME}
        REDUCE("and"),   REDUCE("or"),    REDUCE("xor"),         REDUCE("iadd"),        REDUCE("fadd"),
        REDUCE("fmul"),  REDUCE("min.u"), REDUCE("max.u"),       REDUCE("min.s"),       REDUCE("max.s"),
        REDUCE("min.f"), REDUCE("max.f"), REDUCE("prefix_iadd"), REDUCE("prefix_fadd"), REDUCE("prefix_fmul"),
    };
    CHECK_SHAPES(shapes);
}

static const struct suite_test tests[] = {
    {"functions give the bits of the plain path", test_functions},
    {"conversions give the bits of the plain path", test_conversions},
    {"16-bit arithmetic gives the bits of the plain path", test_halves},
    {"64-bit integers give the bits of the plain path", test_wide_integers},
    {"reductions give the bits of the plain path", test_reductions},
};
SUITE_MAIN("gpu functions and conversions", tests)
