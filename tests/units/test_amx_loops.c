/* Lists with loops in them (loads and outer products that repeat with constant steps) on every kernel set against the
 * reference path, which goes one instruction at a time: loops of all lengths, left early, disturbed by stores into what
 * they read, and running into memory that is not there. */
#include "isa/array_count.h"
#include "tests/units/amx_machine.h"

#include <inttypes.h>

#define LIST_MOST 1200
#define LISTS     40 /* per generation and kernel set */

struct list {
    size_t count;
    uint8_t op[LIST_MOST];
    uint64_t operand[LIST_MOST];
};

static void add(struct list *l, unsigned op, uint64_t operand)
{
    if (l->count == LIST_MOST)
        return;
    l->op[l->count] = (uint8_t)op;
    l->operand[l->count++] = operand;
}

static unsigned below(uint64_t *seed, unsigned limit)
{
    return (unsigned)((suite_random(seed) >> 16) % limit);
}

#define BODY_MOST 40

struct body {
    unsigned count;
    unsigned op[BODY_MOST];
    uint64_t operand[BODY_MOST];
    uint64_t step[BODY_MOST];
};

static void random_load(struct body *b, uint64_t block, uint64_t *seed)
{
    static const int64_t steps[] = {0, 64, 128, 256, 384, -64, -128, -256, 4, 68, -12};
    const unsigned several = below(seed, 3);
    int64_t step = steps[below(seed, ARRAY_COUNT(steps))];
    uint64_t offset = below(seed, BLOCK_BYTES - 256), fields = (uint64_t)below(seed, 8) << 56;
    if (several && below(seed, 8)) /* else a misaligned pass sooner or later */
        step &= ~INT64_C(127);
    if (several && below(seed, 32))
        offset &= ~UINT64_C(127);
    if (several)
        fields |= BIT(62) | (uint64_t)below(seed, 4) << 60;
    b->op[b->count] = below(seed, 2) ? AMX_LDX : AMX_LDY;
    b->operand[b->count] = fields | (block + offset);
    b->step[b->count++] = (uint64_t)step;
}

static uint64_t random_registers(uint64_t *seed)
{
    return (uint64_t)below(seed, 8) << 6 | (uint64_t)below(seed, 8) << 16 | (uint64_t)below(seed, 8) << 20;
}

static void random_body(struct body *b, unsigned kind, uint64_t block, uint64_t *seed)
{
    const unsigned count = 1 + below(seed, BODY_MOST), loads = below(seed, 6);
    for (b->count = 0; b->count < count;) {
        if (below(seed, 8) < loads) {
            random_load(b, block, seed);
            continue;
        }
        b->op[b->count] = plain[kind].op;
        b->operand[b->count] = plain[kind].mode | random_registers(seed);
        if (below(seed, 200) == 0)
            b->operand[b->count] ^= BIT(27) | (uint64_t)below(seed, 32) << 41; /* without Z, masked */
        b->step[b->count++] = 0;
    }
}

/* Something that does not belong: a store into what the loop reads, another address, register or op. */
static void disturb(struct list *l, uint64_t block, uint64_t *seed)
{
    const size_t n = l->count - 1;
    const uint64_t row = (uint64_t)below(seed, 64) << 56, at = block + below(seed, BLOCK_BYTES - 64);
    switch (below(seed, 6)) {
    case 0: l->op[n] = AMX_STZ, l->operand[n] = row | at; break;
    case 1: l->op[n] = AMX_STX, l->operand[n] = row | at; break;
    case 2: l->op[n] = AMX_LDY, l->operand[n] = row | at; break;
    case 3: l->operand[n] ^= BIT(16) | BIT(6); break;
    case 4: l->op[n] = AMX_SETCLR, l->operand[n] = 0; break; /* faults: already set */
    default: l->operand[n] += 64;
    }
}

static void random_list(struct list *l, uint64_t block, uint64_t *seed)
{
    const unsigned kind = below(seed, PLAIN_COUNT);
    l->count = 0;
    while (l->count < LIST_MOST / 2) {
        struct body body;
        random_body(&body, kind, block, seed);
        const unsigned passes = 1 + below(seed, 30), total = passes * body.count - below(seed, body.count);
        const unsigned disturbed = below(seed, 3) ? total : below(seed, total);
        for (unsigned n = 0; n < total; n++) {
            const unsigned i = n % body.count;
            add(l, body.op[i], body.operand[i] + n / body.count * body.step[i]);
            if (n == disturbed)
                disturb(l, block, seed);
        }
    }
}

/* Executes the list, past the instructions that fault; returns a number made of which did and why. */
static uint64_t run(struct machine *m, const struct list *l)
{
    uint64_t faults = 0;
    for (size_t n = 0; n < l->count; n++) {
        struct unit_fault fault = {.kind = UNIT_FAULT_NONE};
        n += amx_core_execute_list(m->core, l->op + n, l->operand + n, l->count - n, &fault);
        faults = faults * 31 + n + (uint64_t)fault.kind * 4099 + fault.address * 65537 + strlen(fault.text);
    }
    return faults;
}

/* NaNs and infinities swallow everything after them; half of the lists go without. */
static void tame(uint8_t *bytes, size_t count)
{
    for (size_t n = 1; n < count; n += 2)
        bytes[n] = (uint8_t)((bytes[n] & 0x83) | 0x38);
}

static void compare_list(struct machine *reference, struct machine *fast, const char *set, uint64_t seed)
{
    static struct amx_state state;
    static uint8_t memory[BLOCK_BYTES];
    static struct list list;
    const uint64_t name = seed;
    const unsigned kind = below(&seed, 5);
    fill(state.x, sizeof state.x, kind, &seed);
    fill(state.y, sizeof state.y, kind, &seed);
    fill(&state.z[0][0], sizeof state.z, kind, &seed);
    fill(memory, sizeof memory, kind, &seed);
    if (below(&seed, 2)) {
        tame(memory, sizeof memory);
        tame(state.x, sizeof state.x);
        tame(state.y, sizeof state.y);
    }
    random_list(&list, reference->block, &seed);
    start(reference, &state, memory);
    start(fast, &state, memory);
    const uint64_t expected = run(reference, &list), got = run(fast, &list);
    CHECK(expected == got, "%s, list %" PRIx64 ": other faults", set, name);
    CHECK(same_state(reference, fast), "%s, list %" PRIx64 ": other values", set, name);
}

static void compare_set(const char *set)
{
    for (enum amx_gen gen = AMX_GEN_M1; gen <= AMX_GEN_M4; gen++) {
        struct machine reference, fast;
        if (!open_machine_pair(&reference, &fast, gen, set))
            return;
        for (uint64_t n = 0; n < LISTS; n++)
            compare_list(&reference, &fast, set, n * 1009 + (uint64_t)gen);
        close_machine(&reference);
        close_machine(&fast);
    }
}

AMX_SET_TESTS(compare_set)

/* A f32 product whose k runs through memory, written as a kernel does: loads a step ahead. Integers, so exact. */
static void check_product(const char *set)
{
    struct machine m;
    if (!open_machine(&m, AMX_GEN_M1, set))
        return;
    static struct list list;
    static struct amx_state state;
    float expected[16][16] = {{0}};
    for (unsigned n = 0; n < BLOCK_BYTES / 4; n++) {
        const float value = (float)(int)(n * 7 % 23) - 11;
        memcpy(m.bytes + 4 * n, &value, 4);
    }
    list.count = 0;
    add(&list, AMX_SETCLR, 0);
    add(&list, AMX_LDX, m.block);
    add(&list, AMX_LDY, m.block + 8192);
    for (unsigned k = 0; k < 127; k++) {
        const uint64_t next = (k + 1) % 8;
        add(&list, AMX_LDX, (m.block + 64 * (k + 1)) | next << 56);
        add(&list, AMX_LDY, (m.block + 8192 + 64 * (k + 1)) | next << 56);
        add(&list, AMX_FMA32, (uint64_t)(k % 8) << 16 | (uint64_t)(k % 8) << 6 | BIT(21));
        float x[16], y[16];
        memcpy(x, m.bytes + 64 * k, 64);
        memcpy(y, m.bytes + 8192 + 64 * k, 64);
        for (unsigned i = 0; i < 256; i++)
            expected[i / 16][i % 16] += x[i % 16] * y[i / 16];
    }
    struct unit_fault fault;
    CU_ASSERT_EQUAL(amx_core_execute_list(m.core, list.op, list.operand, list.count, &fault), list.count);
    amx_core_read_state(m.core, &state);
    for (unsigned j = 0; j < 16; j++)
        CHECK(memcmp(state.z[4 * j + 2], expected[j], 64) == 0, "%s: row %u", set, j);
    CHECK(memcmp(state.x + 64 * 7, m.bytes + 64 * 127, 64) == 0, "%s: x7 is not what was loaded last", set);
    CHECK(memcmp(state.y + 64 * 6, m.bytes + 8192 + 64 * 126, 64) == 0, "%s: y6 is not what was loaded last", set);
    close_machine(&m);
}

static void test_product(void)
{
    for (unsigned s = 0; s < SET_COUNT; s++)
        check_product(set_names[s]);
}

/* A loop that starts when the renamed registers run out of places: Y5, loaded long before, stays what it was. */
static void check_old_register(const char *set)
{
    struct machine reference, fast;
    static struct list list;
    if (!open_machine(&fast, AMX_GEN_M1, set))
        return;
    CU_ASSERT_TRUE_FATAL(open_machine(&reference, AMX_GEN_M1, NULL));
    uint64_t seed = 5;
    for (unsigned before = 100; before < 140; before++) {
        static struct amx_state state;
        static uint8_t memory[BLOCK_BYTES];
        fill(memory, sizeof memory, 2, &seed);
        tame(memory, sizeof memory);
        start(&reference, &state, memory);
        start(&fast, &state, memory);
        list.count = 0;
        add(&list, AMX_LDY, fast.block | UINT64_C(5) << 56);
        add(&list, AMX_FMA32, UINT64_C(5) << 6);
        for (unsigned n = 0; n < before; n++)
            add(&list, AMX_LDY, (fast.block + 64 * (n * n % 99)) | (uint64_t)(n * n % 5) << 56);
        for (unsigned pass = 0; pass < 20; pass++) {
            for (unsigned n = 0; n < 8; n++)
                add(&list, n & 1 ? AMX_LDY : AMX_LDX, (fast.block + 64 * (11 * n + pass)) | (uint64_t)(n & 3) << 56);
            for (unsigned n = 0; n < 4; n++)
                add(&list, AMX_FMA32, (uint64_t)n << 16 | UINT64_C(5) << 6 | (uint64_t)n << 20);
        }
        CHECK(run(&reference, &list) == run(&fast, &list) && same_state(&reference, &fast), "%s, %u loads before", set, before);
    }
    close_machine(&reference);
    close_machine(&fast);
}

static void test_old_register(void)
{
    for (unsigned s = 0; s < SET_COUNT; s++)
        check_old_register(set_names[s]);
}

/* ---- loops written down once ---- */

/* The reference goes through all passes one instruction at a time, up to the first that faults. */
static bool run_passes_singly(struct machine *m, const struct amx_passes *passes, struct unit_fault *fault)
{
    struct amx_passes p = *passes;
    for (uint32_t pass = 0; pass < p.passes; pass++, amx_passes_advance(&p, 1))
        for (uint32_t n = 0; n < p.length; n++)
            if (!amx_core_execute(m->core, p.op[n], p.operand[n], fault))
                return false;
    return true;
}

static bool random_passes(struct amx_passes *passes, uint64_t block, uint64_t *seed)
{
    struct list list = {.count = 0};
    struct body body;
    random_body(&body, below(seed, PLAIN_COUNT), block, seed);
    for (unsigned n = 0; n < 2 * body.count; n++)
        add(&list, body.op[n % body.count], body.operand[n % body.count] + n / body.count * body.step[n % body.count]);
    if (below(seed, 12) == 0)
        disturb(&list, block, seed);
    return amx_passes_of(passes, list.op, list.operand, body.count, 2 + below(seed, 60));
}

static void compare_passes(struct machine *reference, struct machine *fast, const char *set, uint64_t seed)
{
    static struct amx_state state;
    static uint8_t memory[BLOCK_BYTES];
    struct amx_passes passes;
    struct unit_fault expected = {.kind = UNIT_FAULT_NONE}, got = {.kind = UNIT_FAULT_NONE};
    const uint64_t name = seed;
    fill(state.x, sizeof state.x, 2, &seed);
    fill(memory, sizeof memory, below(&seed, 5), &seed);
    tame(memory, sizeof memory);
    start(reference, &state, memory);
    start(fast, &state, memory);
    for (unsigned loops = 0; loops < 4;) {
        if (!random_passes(&passes, reference->block, &seed))
            continue;
        loops++;
        const bool done = run_passes_singly(reference, &passes, &expected);
        CHECK(amx_core_execute_passes(fast->core, &passes, &got) == done && strcmp(expected.text, got.text) == 0,
              "%s, loop %" PRIx64 ": other faults: %s; %s", set, name, expected.text, got.text);
    }
    CHECK(same_state(reference, fast), "%s, loops %" PRIx64 ": other values", set, name);
}

static void test_passes(void)
{
    for (unsigned s = 0; s < SET_COUNT; s++) {
        struct machine reference, fast;
        CU_ASSERT_TRUE_FATAL(open_machine(&reference, AMX_GEN_M2, NULL));
        if (open_machine(&fast, AMX_GEN_M2, set_names[s])) {
            for (uint64_t n = 0; n < 2 * LISTS; n++)
                compare_passes(&reference, &fast, set_names[s], n * 3001);
            close_machine(&fast);
        }
        close_machine(&reference);
    }
}

static void test_no_passes(void)
{
    struct amx_passes p;
    const uint8_t loads[2] = {AMX_LDX, AMX_LDX}, stores[2] = {AMX_STX, AMX_STX}, products[2] = {AMX_FMA32, AMX_FMA32},
                  mixed[2] = {AMX_LDX, AMX_LDY};
    const uint64_t forth[2] = {0x1000, 0x1080}, back[2] = {0x1080, 0x1000}, same[2] = {64, 64};
    const uint64_t end = (UINT64_C(1) << 56) - 0x400, last[2] = {end, end + 0x80};
    CU_ASSERT_TRUE(amx_passes_of(&p, loads, forth, 1, 1000));
    CU_ASSERT_TRUE(p.step[0] == 0x80 && p.operand[0] == 0x1000 && p.passes == 1000 && p.length == 1);
    CU_ASSERT_TRUE(amx_passes_of(&p, products, same, 1, 1000));
    CU_ASSERT_FALSE(amx_passes_of(&p, loads, back, 1, 1000));
    CU_ASSERT_FALSE(amx_passes_of(&p, stores, forth, 1, 1000));
    CU_ASSERT_FALSE(amx_passes_of(&p, products, forth, 1, 1000));
    CU_ASSERT_FALSE(amx_passes_of(&p, mixed, forth, 1, 1000));
    CU_ASSERT_TRUE(amx_passes_of(&p, loads, last, 1, 4));
    CU_ASSERT_FALSE(amx_passes_of(&p, loads, last, 1, 8)); /* the pointer would run into the register number */
}

static const struct suite_test tests[] = {
    {"random loops: avx512fp16 as the reference", test_avx512fp16},
    {"random loops: avx512 as the reference", test_avx512},
    {"random loops: avx2 as the reference", test_avx2},
    {"random loops: portable as the reference", test_portable},
    {"a product over memory, loads a step ahead", test_product},
    {"loops written down once as the reference, one by one", test_passes},
    {"what is no loop of that kind", test_no_passes},
    {"registers that a loop does not load keep their values", test_old_register},
};

SUITE_MAIN("amx_loops", tests)
