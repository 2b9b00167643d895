/* The state of a core's scoreboard as words: written, read back and written again, amid random programs. What the words leave out
 * is only the past. */
#include "tests/units/cpu_timing_rig.h"
#include "units/cpu/cpu_timing_internal.h"

enum { BLOCKS = 6, STOPS = 400, WINDOW = 623 };

static unsigned pick(uint64_t *seed, unsigned n)
{
    return (unsigned)(suite_random(seed) % n);
}

/* Blocks that retire many instructions in one cycle, and some that wait for divisions, roots and stores. */
static void make_block(struct example_block *b, uint32_t id, uint64_t *seed)
{
    example_block_init(b, id, 0x4000 + id * 0x1000);
    const unsigned count = 8 + pick(seed, 40), slow = 2 + pick(seed, 12);
    for (unsigned i = 0; i < count; i++) {
        const unsigned a = pick(seed, 8);
        if (pick(seed, slow))
            example_add(b, pick(seed, 2) ? A64_C_INT : A64_C_NOP, a, A64_DEP_NONE, A64_DEP_NONE);
        else if (pick(seed, 2))
            example_add(b, pick(seed, 2) ? A64_C_DIV : A64_C_FP_SQRT, a, a, A64_DEP_NONE);
        else if (pick(seed, 2))
            example_load(b, A64_C_LOAD, a, a, 8);
        else
            example_store(b, a, pick(seed, 8), 16);
    }
    example_add(b, A64_C_BRANCH_COND, A64_DEP_NONE, 0, A64_DEP_NONE);
}

/* What of the window can matter: when each instruction in it retires, and no sooner than now. */
static void take_window(const struct cpu_board *b, uint64_t window[WINDOW])
{
    for (uint32_t i = 1; i <= WINDOW; i++) {
        const uint64_t at = b->retired[(b->instructions - i) & b->retired_mask];
        window[i - 1] = at > b->now ? at : b->now;
    }
}

/* Writes the board down and puts it back from the words. Returns whether times that lie together for eight instructions or more,
 * and others, were among them. */
static bool check_state(struct cpu_timing *t, uint32_t *words, uint32_t *again)
{
    static uint64_t window[WINDOW], after[WINDOW];
    struct cpu_board *b = &t->board;
    const uint64_t glance = cpu_state_glance(t), look = cpu_state_look(t);
    unsigned together = 0, alone = 0, run = 1;
    take_window(b, window);
    for (unsigned i = 1; i < WINDOW; i++) {
        run = window[i] == window[i - 1] ? run + 1 : 1;
        together += run == 9 && window[i] > b->now;
        alone += run == 1 && window[i] > b->now;
    }
    const uint32_t count = cpu_state_write(t, words);
    cpu_state_rest(b);
    cpu_state_read(t, words);
    take_window(b, after);
    CHECK(memcmp(window, after, sizeof window) == 0, "the window after reading, %u words", count);
    CHECK(cpu_state_write(t, again) == count && memcmp(words, again, count * sizeof words[0]) == 0, "%u words again", count);
    CU_ASSERT_EQUAL(cpu_state_glance(t), glance);
    CU_ASSERT_EQUAL(cpu_state_look(t), look);
    return together > 0 && alone > 0;
}

/* Times the same blocks without and with such a pause behind each. */
static void test_states_are_whole(void)
{
    struct example_block block[BLOCKS];
    struct rig whole = example_rig(), paused = example_rig();
    uint64_t seed = 5;
    unsigned mixed = 0;
    uint32_t *words = calloc(2, cpu_state_words_max(paused.timing) * sizeof *words);
    CU_ASSERT_PTR_NOT_NULL_FATAL(words);
    for (uint32_t i = 0; i < BLOCKS; i++)
        make_block(&block[i], i, &seed);
    cpu_timing_set_memo(whole.timing, false);
    cpu_timing_set_memo(paused.timing, false);
    for (unsigned stop = 0; stop < STOPS; stop++) {
        struct cpu_trace trace = {0};
        uint64_t address[EXAMPLE_INSNS];
        for (unsigned i = 0; i < EXAMPLE_INSNS; i++)
            address[i] = 0x1000000 + (uint64_t)pick(&seed, 1 << 16) * 64;
        CU_ASSERT_TRUE_FATAL(example_trace_add(&trace, &block[pick(&seed, BLOCKS)].block, address));
        cpu_timing_feed(whole.timing, &trace);
        cpu_timing_advance(whole.timing, 1e300);
        cpu_timing_feed(paused.timing, &trace);
        cpu_timing_advance(paused.timing, 1e300);
        CHECK(whole.timing->board.now == paused.timing->board.now, "stop %u: the next instruction", stop);
        CHECK(whole.timing->board.last_retire == paused.timing->board.last_retire, "stop %u: the last one retires", stop);
        mixed += check_state(paused.timing, words, words + cpu_state_words_max(paused.timing));
        example_trace_free(&trace);
    }
    CHECK(mixed > STOPS / 4, "%u windows hold both", mixed);
    free(words);
    rig_free(&whole);
    rig_free(&paused);
}

/* Boards that differ in one entry of the window that is looked at differ in the look. */
static void test_looks_tell_boards_apart(void)
{
    struct rig r = example_rig();
    struct cpu_board *b = &r.timing->board;
    unsigned same = 0;
    for (uint32_t i = 0; i <= b->retired_mask; i++)
        b->retired[i] = b->now + 7;
    const uint64_t look = cpu_state_look(r.timing);
    for (uint32_t i = 1; i <= WINDOW; i += 5) {
        uint64_t *at = &b->retired[(b->instructions - i) & b->retired_mask];
        (*at)++;
        same += cpu_state_look(r.timing) == look;
        (*at)--;
    }
    for (unsigned i = 0; i < A64_DEP_COUNT; i++) {
        b->ready[i] = b->now + 1;
        same += cpu_state_look(r.timing) == look;
        b->ready[i] = 0;
    }
    CU_ASSERT_EQUAL(same, 0);
    CU_ASSERT_EQUAL(cpu_state_look(r.timing), look);
    rig_free(&r);
}

static const struct suite_test tests[] = {
    {"states read back are whole", test_states_are_whole},
    {"looks tell boards apart", test_looks_tell_boards_apart},
};
SUITE_MAIN("cpu_timing_state", tests)
