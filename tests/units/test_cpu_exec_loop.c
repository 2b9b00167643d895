/* Loops of multiply-adds that run many laps at once, against the interpreter's own laps: a run that records a trace takes them
 * one by one (and is held to Unicorn elsewhere), a run without a trace does not. Registers, flags, the program counter and the
 * number of instructions must be the same, wherever the run stops. */
#include "isa/a64/a64_isa.h"
#include "isa/array_count.h"
#include "tests/units/cpu_exec_example.h"

enum { COUNTER = 0, ELEMENTS = 1, VECTORS = 2, END = 3, FIRST_VECTOR = 2, FIRST_SUM = 8, WORDS_MAX = 48 };

/* One loop. */
struct shape {
    unsigned form, size, rows, tiles, columns;
    bool post;   /* addresses move on behind each load */
    bool fixed;  /* the first vector stays as it is */
    bool to_end; /* ends where an address is reached, not by counting */
    bool narrow; /* counts in 32 bits */
    unsigned laps;
    uint64_t budget;
};

struct words {
    uint32_t word[WORDS_MAX];
    uint32_t count;
};

static void add(struct words *w, struct a64_insn insn)
{
    CU_ASSERT_FATAL(w->count < WORDS_MAX && a64_encode(&insn, &w->word[w->count]));
    w->count++;
}

static void add_load(struct words *w, unsigned reg, unsigned base, unsigned at, bool post)
{
    add(w, (struct a64_insn){.form = post ? A64_LDR_Q_POST : A64_LDR_Q_UIMM,
                             .rd = (uint8_t)reg,
                             .rn = (uint8_t)base,
                             .size = 4,
                             .imm = post ? 16 : 16 * (int64_t)at});
}

static void add_constant(struct words *w, unsigned form, unsigned rd, unsigned size, int64_t value)
{
    add(w, (struct a64_insn){.form = (uint16_t)form, .rd = (uint8_t)rd, .rn = (uint8_t)rd, .size = (uint8_t)size, .imm = value});
}

static struct words loop_of(const struct shape *s)
{
    struct words w = {.count = 0};
    const unsigned first = s->fixed ? 1 : 0;
    for (unsigned t = 0; t < s->tiles; t++)
        add_load(&w, t, ELEMENTS, t, s->post);
    if (!s->to_end)
        add_constant(&w, A64_SUBS_IMM, COUNTER, s->narrow ? 2 : 3, 1);
    for (unsigned c = first; c < s->columns; c++)
        add_load(&w, FIRST_VECTOR + c, VECTORS, c - first, s->post);
    if (!s->post) {
        add_constant(&w, A64_ADD_IMM, ELEMENTS, 3, 16 * s->tiles);
        add_constant(&w, A64_ADD_IMM, VECTORS, 3, 16 * s->columns);
    }
    if (s->to_end)
        add(&w, (struct a64_insn){.form = A64_SUBS_REG, .rd = 31, .rn = ELEMENTS, .rm = END, .size = 3});
    for (unsigned i = 0; i < s->tiles * s->rows * s->columns; i++)
        add(&w, (struct a64_insn){.form = (uint16_t)s->form,
                                  .rd = (uint8_t)(FIRST_SUM + i),
                                  .rn = (uint8_t)(FIRST_VECTOR + i % s->columns),
                                  .rm = (uint8_t)(i / s->columns / s->rows),
                                  .amount = (uint8_t)(i / s->columns % s->rows),
                                  .size = (uint8_t)s->size,
                                  .q = 1});
    add(&w, (struct a64_insn){.form = A64_B_COND, .cond = 1, .imm = -4 * (int64_t)w.count});
    return w;
}

static void start(struct example *e, const struct shape *s, const struct words *w, uint64_t seed, bool special)
{
    for (uint64_t at = EXAMPLE_DATA; at < EXAMPLE_DATA_END; at += 8)
        example_set_word(e, at, (suite_random(&seed) & UINT64_C(0x8fffffff8fffffff)) | UINT64_C(0x3000000030000000));
    if (special) { /* an infinity, which later becomes NaN, and a denormal number */
        example_set_word(e, EXAMPLE_DATA + 16 * (seed >> 8 & 127), UINT64_C(0x7f8000007f800000));
        example_set_word(e, EXAMPLE_DATA + 16 * (seed >> 16 & 127), 1);
    }
    for (unsigned v = 0; v < 32; v++) {
        const uint64_t bits[2] = {suite_random(&seed) >> 2, suite_random(&seed) >> 2};
        cpu_core_set_v(e->core, v, (const uint8_t *)bits);
    }
    example_put(e, EXAMPLE_CODE, w->word, w->count);
    cpu_core_set_x(e->core, COUNTER, s->laps);
    cpu_core_set_x(e->core, ELEMENTS, EXAMPLE_DATA);
    cpu_core_set_x(e->core, VECTORS, EXAMPLE_DATA + MEM_PAGE_BYTES);
    cpu_core_set_x(e->core, END, EXAMPLE_DATA + UINT64_C(16) * s->tiles * s->laps);
    cpu_core_set_nzcv(e->core, 0);
}

struct outcome {
    struct cpu_context context;
    uint64_t instructions;
    enum cpu_stop stop;
};

static struct outcome run(struct example *e, const struct shape *s, uint64_t seed, bool special, bool traced)
{
    struct outcome out;
    const struct words w = loop_of(s);
    const uint64_t before = cpu_core_instructions(e->core);
    memset(&out, 0, sizeof out);
    start(e, s, &w, seed, special);
    out.stop = cpu_core_run(e->core, s->budget, traced ? &e->trace : NULL, &e->fault);
    cpu_core_save(e->core, &out.context);
    out.instructions = cpu_core_instructions(e->core) - before;
    return out;
}

static struct shape random_shape(uint64_t *seed)
{
    static const struct {
        unsigned form, size, rows;
    } kinds[] = {{A64_FMLA_E, 2, 4}, {A64_FMLA_E, 3, 2}, {A64_SDOT_E, 2, 4}};
    const uint64_t x = suite_random(seed);
    const unsigned kind = (unsigned)(x >> 8) % ARRAY_COUNT(kinds);
    struct shape s = {.form = kinds[kind].form, .size = kinds[kind].size, .rows = kinds[kind].rows, .laps = 1 + (x >> 16) % 120};
    s.columns = 1 + (x >> 24) % 4;
    s.tiles = s.rows * s.columns <= 12 ? 1 + (x >> 32 & 1) : 1;
    s.post = x >> 33 & 1;
    s.fixed = x >> 34 & 1 && x >> 35 & 1;
    s.to_end = x >> 36 & 1;
    s.narrow = x >> 37 & 1;
    s.budget = x >> 38 & 1 ? 10000 : 1 + (x >> 40) % 2000;
    return s;
}

static void test_random_loops(void)
{
    struct example *e = example_open();
    uint64_t seed = 11;
    for (unsigned i = 0; i < 1500; i++) {
        const struct shape s = random_shape(&seed);
        const uint64_t data = suite_random(&seed);
        const struct outcome one = run(e, &s, data, i % 3 == 0, true), many = run(e, &s, data, i % 3 == 0, false);
        CHECK(memcmp(&one, &many, sizeof one) == 0, "loop %u differs: %u x %u of form %u, %u laps, %lu and %lu instructions", i,
              s.rows, s.columns, s.form, s.laps, (unsigned long)one.instructions, (unsigned long)many.instructions);
    }
    example_close(e);
}

/* A lap that leaves the mapped pages faults where the interpreter does, with the sums of the laps before it. */
static void test_end_of_memory(void)
{
    struct example *e = example_open();
    const struct shape s = {.form = A64_FMLA_E, .size = 2, .rows = 4, .tiles = 1, .columns = 4, .laps = 100000, .budget = 20000};
    struct outcome out[2];
    memset(out, 0, sizeof out); /* also what lies between its members */
    for (unsigned traced = 0; traced < 2; traced++) {
        const struct words w = loop_of(&s);
        const uint64_t before = cpu_core_instructions(e->core);
        start(e, &s, &w, 3, false);
        cpu_core_set_x(e->core, VECTORS, EXAMPLE_DATA_END - 64 * 50 - 32);
        out[traced].stop = cpu_core_run(e->core, s.budget, traced ? &e->trace : NULL, &e->fault);
        out[traced].instructions = cpu_core_instructions(e->core) - before;
        cpu_core_save(e->core, &out[traced].context);
        CHECK(out[traced].stop == CPU_STOP_FAULT && e->fault.kind == UNIT_FAULT_UNMAPPED && e->fault.address == EXAMPLE_DATA_END,
              "%s", e->fault.text);
    }
    CU_ASSERT_EQUAL(memcmp(&out[0].context, &out[1].context, sizeof out[0].context), 0);
    CU_ASSERT_EQUAL(out[0].instructions, out[1].instructions);
    example_close(e);
}

/* Sums of small whole numbers, known in closed form: lap l adds (l + 1) * 2. */
static void test_closed_form(void)
{
    struct example *e = example_open();
    const struct shape s = {.form = A64_FMLA_E, .size = 2, .rows = 4, .tiles = 1, .columns = 3, .laps = 100, .budget = 100000};
    const struct words w = loop_of(&s);
    const uint8_t zero[16] = {0};
    start(e, &s, &w, 1, false);
    for (unsigned lap = 0; lap < s.laps; lap++)
        for (unsigned i = 0; i < 12; i++) {
            const float value = i < 4 ? (float)(lap + 1) : 0, two = 2;
            if (i < 4)
                memcpy(e->space->host + EXAMPLE_DATA + 16 * lap + 4 * i, &value, 4);
            memcpy(e->space->host + EXAMPLE_DATA + MEM_PAGE_BYTES + 48 * lap + 4 * i, &two, 4);
        }
    for (unsigned v = FIRST_SUM; v < 32; v++)
        cpu_core_set_v(e->core, v, zero);
    (void)cpu_core_run(e->core, s.budget, NULL, &e->fault);
    for (unsigned v = FIRST_SUM; v < FIRST_SUM + 12; v++) {
        float lanes[4];
        cpu_core_v(e->core, v, (uint8_t *)lanes);
        for (unsigned i = 0; i < 4; i++)
            CHECK(lanes[i] == 10100, "v%u lane %u is %g", v, i, (double)lanes[i]);
    }
    example_close(e);
}

static const struct suite_test tests[] = {{"laps at once leave what laps one by one leave", test_random_loops},
                                          {"the end of the memory stops both at the same place", test_end_of_memory},
                                          {"sums of a hundred laps in closed form", test_closed_form}};
SUITE_MAIN("cpu execution of loops", tests)
