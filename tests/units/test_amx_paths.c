/* The fast path against the reference path: random programs on every kernel set that this host can run, and the
 * promises that holding work back must not break. The reference path is held to corsix/amx's vectors elsewhere. */
#include "isa/array_count.h"
#include "tests/units/amx_machine.h"

#include <inttypes.h>

#define PROGRAM_LENGTH 160
#define PROGRAMS       150 /* per generation */

struct instruction {
    unsigned op;
    uint64_t operand;
};

/* --- random instructions --- */

static struct instruction random_transfer(uint64_t block, uint64_t *seed)
{
    const uint64_t r = suite_random(seed);
    /* Loads of X and Y most often. */
    const unsigned op = (r & 3) ? (unsigned)(r >> 2 & 1) : (unsigned)(r >> 2 & 7);
    const bool several = (r >> 5 & 1) && op != AMX_LDZI && op != AMX_STZI;
    const uint64_t offset = several ? (r >> 8) % (BLOCK_BYTES - 256) & ~UINT64_C(127) : (r >> 8) % (BLOCK_BYTES - 64);
    uint64_t fields = r & UINT64_C(0xbf) << 56;
    if (several)
        fields |= BIT(62);
    return (struct instruction){.op = op, .operand = fields | (block + offset)};
}

/* A plain outer product of the program's kind, sometimes with one field that makes it special. */
static struct instruction random_outer(unsigned kind, uint64_t *seed)
{
    const uint64_t r = suite_random(seed);
    struct instruction i = {.op = plain[kind].op, .operand = plain[kind].mode};
    i.operand |= (r & 7) << 6 | (r >> 3 & 7) << 16 | (r >> 6 & 3) << 20;
    const uint64_t s = suite_random(seed);
    switch (r >> 60) {
    case 0: i.operand ^= s & UINT64_C(0x1f) << 27; break;                          /* skips, shuffles */
    case 1: i.operand ^= s & (UINT64_C(0x7f) << 32 | UINT64_C(0x7f) << 41); break; /* masks (and ALU, lanes) */
    case 2: i.operand ^= s & (UINT64_C(0x3f) | UINT64_C(0x3f) << 10); break;       /* odd offsets */
    case 3: i.operand ^= s & UINT64_C(0x1ff) << 32; break;
    case 4: i.operand ^= s & (UINT64_C(7) << 23 | UINT64_C(0x1f) << 58); break;
    case 5: i.operand ^= BIT(53) | (s & UINT64_C(0x1f) << 47); break; /* indexed */
    case 6: i.operand ^= BIT(s % 64); break;
    default: break;
    }
    return i;
}

static struct instruction random_other(uint64_t *seed)
{
    static const unsigned ops[] = {AMX_EXTRX, AMX_EXTRY, AMX_VECINT, AMX_VECFP, AMX_GENLUT,
                                   AMX_FMA32, AMX_FMS16, AMX_MATINT, AMX_MATFP, AMX_MAC16};
    const uint64_t r = suite_random(seed);
    uint64_t operand = suite_random(seed);
    if (r >> 63) /* reserved bits and shuffles off, so that most do something */
        operand &= ~(UINT64_C(7) << 54 | UINT64_C(0x3f) << 47);
    return (struct instruction){.op = ops[r % (ARRAY_COUNT(ops))], .operand = operand};
}

static void random_program(struct instruction program[PROGRAM_LENGTH], uint64_t block, uint64_t *seed)
{
    unsigned kind = (unsigned)(suite_random(seed) % PLAIN_COUNT);
    const unsigned wild = (unsigned)(suite_random(seed) % 4); /* share of other instructions, and of changes of kind */
    for (unsigned n = 0; n < PROGRAM_LENGTH; n++) {
        const unsigned draw = (unsigned)(suite_random(seed) % 64);
        if (draw < 16)
            program[n] = random_transfer(block, seed);
        else if (draw < 16 + 4 * wild)
            program[n] = random_other(seed);
        else
            program[n] = random_outer(kind, seed);
        if (draw == 63 && wild)
            kind = (unsigned)(suite_random(seed) % PLAIN_COUNT);
    }
}

/* --- comparison --- */

/* How many of `count` instructions ran. */
static size_t run_list(struct machine *m, const struct instruction *program, size_t count, struct unit_fault *fault)
{
    uint8_t op[PROGRAM_LENGTH];
    uint64_t operand[PROGRAM_LENGTH];
    for (size_t n = 0; n < count; n++) {
        op[n] = (uint8_t)program[n].op;
        operand[n] = program[n].operand;
    }
    return amx_core_execute_list(m->core, op, operand, count, fault);
}

/* Runs [from, to) and lets the "CPU" change a byte of memory between some instructions, as both machines see it. */
static bool run_part(struct machine *m, const struct instruction *program, unsigned from, unsigned to, uint64_t seed,
                     bool as_list)
{
    struct unit_fault fault = {.kind = UNIT_FAULT_NONE};
    if (as_list)
        return run_list(m, program + from, to - from, &fault) == to - from;
    for (unsigned n = from; n < to; n++) {
        if (!amx_core_execute(m->core, program[n].op, program[n].operand, &fault))
            return false;
        const uint64_t poke = suite_random(&seed);
        m->bytes[poke % BLOCK_BYTES] = (uint8_t)(poke >> 32);
    }
    return true;
}

static void compare_program(struct machine *reference, struct machine *fast, const char *set, enum amx_gen gen, uint64_t seed)
{
    static struct amx_state state;
    static uint8_t memory[BLOCK_BYTES];
    struct instruction program[PROGRAM_LENGTH];
    const uint64_t name = seed;
    const unsigned kind = (unsigned)(suite_random(&seed) % 5);
    fill(state.x, sizeof state.x, kind, &seed);
    fill(state.y, sizeof state.y, kind, &seed);
    fill(&state.z[0][0], sizeof state.z, kind, &seed);
    fill(memory, sizeof memory, kind, &seed);
    random_program(program, reference->block, &seed);
    start(reference, &state, memory);
    start(fast, &state, memory);
    for (unsigned from = 0; from < PROGRAM_LENGTH;) {
        const uint64_t draw = suite_random(&seed);
        unsigned to = from + 1 + (unsigned)(draw % PROGRAM_LENGTH);
        to = to < PROGRAM_LENGTH ? to : PROGRAM_LENGTH;
        const bool as_list = draw >> 63;
        const bool ran =
            run_part(reference, program, from, to, draw, as_list) && run_part(fast, program, from, to, draw, as_list);
        const bool same = ran && same_state(reference, fast);
        CHECK(same, "%s, generation M%d, program %" PRIx64 ", instructions %u to %u", set, (int)gen, name, from, to);
        if (!same)
            return;
        from = to;
    }
}

static void compare_set(const char *set)
{
    for (enum amx_gen gen = AMX_GEN_M1; gen <= AMX_GEN_M4; gen++) {
        struct machine reference, fast;
        if (!open_machine_pair(&reference, &fast, gen, set))
            return;
        for (uint64_t n = 0; n < PROGRAMS; n++)
            compare_program(&reference, &fast, set, gen, n * 977 + (uint64_t)gen);
        close_machine(&reference);
        close_machine(&fast);
    }
}

AMX_SET_TESTS(compare_set)

/* --- promises --- */

static void on_sets(void (*test)(struct machine *, const char *))
{
    for (unsigned s = 0; s < SET_COUNT; s++) {
        struct machine m;
        if (!open_machine(&m, AMX_GEN_M2, set_names[s]))
            continue;
        test(&m, set_names[s]);
        close_machine(&m);
    }
}

static void execute(struct machine *m, unsigned op, uint64_t operand)
{
    struct unit_fault fault;
    CHECK(amx_core_execute(m->core, op, operand, &fault), "%s", fault.text);
}

static void set_floats(uint8_t *bytes, unsigned count, float value)
{
    for (unsigned n = 0; n < count; n++)
        memcpy(bytes + 4 * n, &value, 4);
}

/* Values in X and Y are those of the time of the load: 300 steps, more than any queue or ring holds, each with the
 * memory overwritten right after. The sum 1*1 + 2*2 + ... + 300*300 is below 2^24, so exact in f32. */
static void check_eager_loads(struct machine *m, const char *set)
{
    float sum = 0, got;
    execute(m, AMX_SETCLR, 0);
    for (unsigned k = 1; k <= 300; k++) {
        set_floats(m->bytes, 32, (float)k);
        execute(m, AMX_LDX, m->block | UINT64_C(2) << 56);
        execute(m, AMX_LDY, (m->block + 64) | UINT64_C(5) << 56);
        set_floats(m->bytes, 32, -1e9f);
        execute(m, AMX_FMA32, UINT64_C(2) << 16 | UINT64_C(5) << 6 | UINT64_C(3) << 20);
        sum += (float)k * (float)k;
    }
    for (unsigned row = 3; row < 64; row += 4) {
        execute(m, AMX_STZ, (m->block + 128) | (uint64_t)row << 56);
        memcpy(&got, m->bytes + 128 + 60, 4);
        CHECK(got == sum, "%s: row %u holds %g, not %g", set, row, (double)got, (double)sum);
    }
}

static void test_eager_loads(void)
{
    on_sets(check_eager_loads);
}

/* A fault in the middle of held-back work changes nothing, and the work is still done. */
static void check_fault_keeps_work(struct machine *m, const char *set)
{
    struct unit_fault fault;
    struct amx_state state;
    float got;
    execute(m, AMX_SETCLR, 0);
    set_floats(m->bytes, 32, 3.0f);
    const struct instruction list[] = {
        {.op = AMX_LDX, .operand = m->block}, {.op = AMX_LDY, .operand = m->block},
        {.op = AMX_FMA32, .operand = 0},      {.op = AMX_LDX, .operand = (m->block + 64) | BIT(62)}, /* 128 bytes at 64 */
        {.op = AMX_FMA32, .operand = 0},
    };
    CHECK(run_list(m, list, 5, &fault) == 3, "%s: stopped elsewhere", set);
    CHECK(fault.kind == UNIT_FAULT_ALIGNMENT && fault.address == m->block + 64, "%s: %s", set, fault.text);
    CHECK(strstr(fault.text, "ldx") && strstr(fault.text, "x0"), "%s: %s", set, fault.text);
    amx_core_read_state(m->core, &state);
    memcpy(&got, state.z[60] + 60, 4);
    CHECK(got == 9.0f, "%s: %g", set, (double)got);
    execute(m, AMX_SETCLR, 1);
    CHECK(run_list(m, list + 2, 1, &fault) == 0 && fault.kind == UNIT_FAULT_UNDEFINED, "%s: runs while disabled", set);
}

static void test_fault_keeps_work(void)
{
    on_sets(check_fault_keeps_work);
}

/* NaNs with payloads and signs in Z, X and Y: after any number of outer products every NaN is the default one; elements
 * that nothing touched keep theirs. */
static void check_default_nans(struct machine *m, const char *set)
{
    static struct amx_state state;
    memset(&state, 0, sizeof state);
    for (unsigned n = 0; n < sizeof state.z; n += 4)
        memcpy(&state.z[0][0] + n, &(uint32_t){0xff800123}, 4);
    set_floats(state.x, 128, 1.0f);
    set_floats(state.y, 128, 1.0f);
    for (unsigned count = 1; count <= 70; count += 23) {
        amx_core_write_state(m->core, &state);
        for (unsigned n = 0; n < count; n++)
            execute(m, AMX_FMA32, UINT64_C(1) << 20);
        struct amx_state after;
        amx_core_read_state(m->core, &after);
        for (unsigned n = 0; n < sizeof after.z / 4; n++) {
            uint32_t bits;
            memcpy(&bits, &after.z[0][0] + 4 * n, 4);
            const uint32_t expected = n / 16 % 4 == 1 ? 0x7fc00000 : 0xff800123;
            if (bits != expected) {
                CHECK(false, "%s: %u products, word %u is %08" PRIx32, set, count, n, bits);
                return;
            }
        }
    }
    CHECK(true, "%s", set);
}

static void test_default_nans(void)
{
    on_sets(check_default_nans);
}

/* Skipping Z starts an accumulator anew; the sign of a zero product survives: -0 from (-1)*0, +0 from 1*0. */
static void check_products_alone(struct machine *m, const char *set)
{
    static struct amx_state state;
    memset(&state, 0, sizeof state);
    set_floats(state.x, 16, -1.0f);
    set_floats(state.x + 64, 16, 1.0f);
    set_floats(&state.z[0][0], sizeof state.z / 4, 7.0f);
    amx_core_write_state(m->core, &state);
    for (unsigned n = 0; n < 5; n++)
        execute(m, AMX_FMA32, 0);
    execute(m, AMX_FMA32, BIT(27));                               /* accumulator 0: (-1)*0 */
    execute(m, AMX_FMA32, BIT(27) | UINT64_C(1) << 16 | BIT(20)); /* accumulator 1: 1*0 */
    execute(m, AMX_FMS32, BIT(27) | BIT(21));                     /* accumulator 2: -0 - (-1)*0 = +0 */
    struct amx_state after;
    amx_core_read_state(m->core, &after);
    const uint32_t expected[4] = {0x80000000, 0, 0, 0x40e00000};
    for (unsigned row = 0; row < 64; row++) {
        uint32_t bits;
        memcpy(&bits, after.z[row] + 32, 4);
        CHECK(bits == expected[row % 4], "%s: row %u is %08" PRIx32, set, row, bits);
    }
}

static void test_products_alone(void)
{
    on_sets(check_products_alone);
}

static void test_path_names(void)
{
    struct mem_space *space = mem_space_create(MEM_PAGE_BYTES);
    struct amx_core *portable = amx_core_create(AMX_GEN_M1, space, AMX_PATH_PORTABLE);
    struct amx_core *reference = amx_core_create(AMX_GEN_M1, space, AMX_PATH_REFERENCE);
    CU_ASSERT_STRING_EQUAL(amx_core_path_name(portable), "portable");
    CU_ASSERT_STRING_EQUAL(amx_core_path_name(reference), "reference");
    CU_ASSERT_PTR_NULL(amx_core_create_named(AMX_GEN_M1, space, "altivec"));
    amx_core_free(portable);
    amx_core_free(reference);
    mem_space_free(space);
}

static const struct suite_test tests[] = {
    {"random programs: avx512fp16 as the reference", test_avx512fp16},
    {"random programs: avx512 as the reference", test_avx512},
    {"random programs: avx2 as the reference", test_avx2},
    {"random programs: portable as the reference", test_portable},
    {"loads take memory as it is at their time", test_eager_loads},
    {"a fault leaves earlier work to be done", test_fault_keeps_work},
    {"NaNs become the default NaN where something was computed", test_default_nans},
    {"products without Z start anew and keep zero signs", test_products_alone},
    {"paths say their names", test_path_names},
};

SUITE_MAIN("amx_paths", tests)
