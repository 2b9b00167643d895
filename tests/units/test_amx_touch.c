/* What amx_effect_of says an instruction reads and writes, against what the executing unit does: replacing everything
 * that it does not claim to read must not change what it writes, and nothing else may change. */
#include "tests/support/suite.h"
#include "units/amx/amx_core.h"

#include <inttypes.h>
#include <string.h>

enum { BLOCK_BYTES = 1024, TRIES = 1500 };

struct machine {
    struct mem_space *space;
    struct amx_core *core;
    uint64_t block;
};

struct snapshot {
    struct amx_state state;
    uint8_t memory[BLOCK_BYTES];
};

/* Rows that were claimed and changed, over all tries of an op. */
struct tally {
    unsigned claimed, changed;
};

static void fill(uint64_t *random, void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i += 8) {
        const uint64_t r = suite_random(random);
        memcpy((uint8_t *)bytes + i, &r, 8);
    }
}

static void open_machine(struct machine *m, enum amx_gen gen)
{
    m->space = mem_space_create(8 * MEM_PAGE_BYTES);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m->space);
    m->block = mem_space_alloc(m->space, BLOCK_BYTES, 256);
    m->core = amx_core_create(gen, m->space, AMX_PATH_REFERENCE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m->core);
}

static void close_machine(struct machine *m)
{
    amx_core_free(m->core);
    mem_space_free(m->space);
}

static void run(struct machine *m, unsigned op, uint64_t operand, const struct snapshot *before, struct snapshot *after)
{
    struct unit_fault fault = {.text = ""};
    uint8_t *memory = mem_at(m->space, m->block, BLOCK_BYTES, MEM_READ | MEM_WRITE);
    memcpy(memory, before->memory, BLOCK_BYTES);
    amx_core_write_state(m->core, &before->state);
    CHECK(amx_core_execute(m->core, op, operand, &fault), "%s: %s", amx_op_name(op, operand), fault.text);
    amx_core_finish(m->core);
    amx_core_read_state(m->core, &after->state);
    memcpy(after->memory, memory, BLOCK_BYTES);
}

/* Registers as 80 rows of 64 bytes: X, Y, Z. */
static uint8_t *row_of(struct amx_state *state, unsigned row)
{
    return row < 8 ? state->x + 64 * row : row < 16 ? state->y + 64 * (row - 8) : state->z[row - 16];
}

static bool in_set(unsigned row, unsigned x, unsigned y, uint64_t z)
{
    return (row < 8 ? x >> row : row < 16 ? y >> (row - 8) : z >> (row - 16)) & 1;
}

/* Operands that do something interesting: random bits, and half of the time sparse upper halves. */
static uint64_t random_operand(uint64_t *random, const struct machine *m, unsigned op)
{
    uint64_t operand = suite_random(random);
    if (suite_random(random) & 1)
        operand &= suite_random(random) | UINT64_C(0x07ffffff);
    if ((op >= AMX_VECINT && op <= AMX_MATFP) && suite_random(random) & 7)
        operand &= ~(UINT64_C(0x1f8) << 47); /* most ALU modes above 7 and bits 54..56 are no-ops */
    if (op <= AMX_STZI)
        operand = (operand & UINT64_C(0xff00000000000000)) | (m->block + (operand & 0x300 & ~UINT64_C(0x100)));
    return operand;
}

/* A byte of a written row either has the same new value in both runs or was left alone in both. */
static bool row_agrees(const uint8_t *a0, const uint8_t *a1, const uint8_t *b0, const uint8_t *b1)
{
    for (unsigned i = 0; i < 64; i++)
        if (a1[i] != b1[i] && (a1[i] != a0[i] || b1[i] != b0[i]))
            return false;
    return true;
}

static void check_once(struct machine *m, uint64_t *random, unsigned op, enum amx_gen gen, struct tally *tally)
{
    static struct snapshot a0, a1, b0, b1;
    struct amx_effect e;
    const uint64_t operand = random_operand(random, m, op);
    amx_effect_of(op, operand, gen, &e);
    fill(random, &a0, sizeof a0);
    fill(random, &b0, sizeof b0);
    memcpy(b0.memory, a0.memory, sizeof a0.memory);
    for (unsigned row = 0; row < 80; row++)
        if (in_set(row, e.x_read, e.y_read, e.z_read))
            memcpy(row_of(&b0.state, row), row_of(&a0.state, row), 64);
    run(m, op, operand, &a0, &a1);
    run(m, op, operand, &b0, &b1);
    bool good = memcmp(a1.memory, b1.memory, sizeof a1.memory) == 0;
    for (unsigned row = 0; row < 80; row++) {
        const bool changed = memcmp(row_of(&a0.state, row), row_of(&a1.state, row), 64) != 0;
        const bool claimed = in_set(row, e.x_write, e.y_write, e.z_write);
        good = good && (claimed || !changed) &&
               row_agrees(row_of(&a0.state, row), row_of(&a1.state, row), row_of(&b0.state, row), row_of(&b1.state, row));
        tally->claimed += claimed;
        tally->changed += claimed && changed;
    }
    CHECK(good, "M%d %s %016" PRIx64, (int)gen, amx_op_name(op, operand), operand);
    CHECK(e.z_rows_written == (unsigned)__builtin_popcountll(e.z_write), "%s %016" PRIx64, amx_op_name(op, operand), operand);
}

static void test_reads_and_writes(void)
{
    uint64_t random = 7;
    struct tally tally[AMX_OP_COUNT] = {{0, 0}};
    for (enum amx_gen gen = AMX_GEN_M1; gen <= AMX_GEN_M4; gen++) {
        struct machine m;
        open_machine(&m, gen);
        for (unsigned op = 0; op < AMX_OP_COUNT; op++)
            for (unsigned i = 0; i < TRIES && op != AMX_SETCLR; i++)
                check_once(&m, &random, op, gen, &tally[op]);
        close_machine(&m);
    }
    /* Rows claimed without need would show here. Not all change: beside a large random Z a product vanishes, and a
     * single enabled lane may hold a NaN already. */
    for (unsigned op = 0; op < AMX_OP_COUNT; op++)
        CHECK(4 * tally[op].changed >= 3 * tally[op].claimed, "%s: %u of %u claimed rows change", amx_op_name(op, 0),
              tally[op].changed, tally[op].claimed);
}

static void test_memory_bytes(void)
{
    uint64_t random = 9;
    for (enum amx_gen gen = AMX_GEN_M1; gen <= AMX_GEN_M4; gen++) {
        static struct snapshot before, after;
        struct machine m;
        open_machine(&m, gen);
        for (unsigned i = 0; i < 600; i++) {
            static const unsigned stores[] = {AMX_STX, AMX_STY, AMX_STZ, AMX_STZI};
            const unsigned op = stores[i % 4];
            const uint64_t operand = random_operand(&random, &m, op);
            struct amx_effect e;
            amx_effect_of(op, operand, gen, &e);
            fill(&random, &before, sizeof before);
            run(&m, op, operand, &before, &after);
            unsigned last = 0;
            for (unsigned b = 0; b < BLOCK_BYTES; b++)
                if (before.memory[b] != after.memory[b])
                    last = b + 1;
            const unsigned offset = (unsigned)((operand & amx_pointer_mask(op)) - m.block);
            CHECK(last <= offset + e.memory_bytes && last + 8 >= offset + e.memory_bytes, "%s %016" PRIx64 ": %u bytes",
                  amx_op_name(op, operand), operand, last - offset);
            CU_ASSERT_EQUAL(e.needs_128_alignment, e.memory_bytes > 64);
        }
        close_machine(&m);
    }
}

static const struct suite_test tests[] = {
    {"results depend on claimed reads only, and only claimed rows change", test_reads_and_writes},
    {"stores write as many bytes as claimed", test_memory_bytes},
};
SUITE_MAIN("amx touch", tests)
