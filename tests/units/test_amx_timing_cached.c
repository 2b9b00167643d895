/* The caches of decoded operands must never change an answer: cached and uncached paths agree on random
 * programs. */
#include "tests/support/suite.h"
#include "tests/units/amx_timing_example.h"

#include <stdlib.h>
#include <string.h>

static const struct amx_params params = AMX_EXAMPLE_PARAMS(3, 12, 32);

/* Few operands, so that slots are hit, refilled and hit again; pointers differ from call to call. */
static uint64_t random_operand(unsigned op, uint64_t *seed)
{
    uint64_t pick = suite_random(seed) % 300 + 1;
    const uint64_t fields = suite_random(&pick);
    return op <= AMX_STZI     ? (fields & ~((UINT64_C(1) << 56) - 1)) | (suite_random(seed) & 0xffff80)
           : op == AMX_SETCLR ? fields & 1
                              : fields;
}

static void test_effects(void)
{
    struct amx_effect_cache *cache = calloc(1, sizeof *cache);
    uint64_t seed = 5;
    for (unsigned i = 0; i < 200000; i++) {
        const unsigned op = (unsigned)(suite_random(&seed) % AMX_OP_COUNT);
        const uint64_t operand = random_operand(op, &seed);
        const enum amx_gen gen = suite_random(&seed) & 1 ? AMX_GEN_M1 : AMX_GEN_M3;
        struct amx_effect plain;
        memset(&plain, 0, sizeof plain);
        amx_effect_of(op, operand, gen, &plain);
        const struct amx_effect *cached = amx_effect_cached(cache, op, operand, gen);
        CHECK(cached->unit_class == plain.unit_class && cached->z_read == plain.z_read && cached->z_write == plain.z_write &&
                  cached->macs == plain.macs && cached->memory_bytes == plain.memory_bytes && cached->x_write == plain.x_write,
              "op %u operand %#llx", op, (unsigned long long)operand);
    }
    free(cache);
}

static void test_pointer_bits(void)
{
    /* amx_effect_cached writes the mask of amx_pointer_mask out. */
    for (unsigned op = 0; op < AMX_OP_COUNT; op++)
        CHECK(amx_pointer_mask(op) == (op <= AMX_STZI ? (UINT64_C(1) << 56) - 1 : 0), "op %u", op);
}

static void test_send(void)
{
    struct amx_block *a = amx_block_create(&params, 2), *b = amx_block_create(&params, 2);
    double now_a[2] = {0}, now_b[2] = {0};
    uint64_t seed = 9;
    for (unsigned i = 0; i < 100000; i++) {
        const unsigned op = (unsigned)(suite_random(&seed) % AMX_OP_COUNT), core = i & 1;
        const uint64_t operand = random_operand(op, &seed);
        struct amx_effect effect;
        memset(&effect, 0, sizeof effect);
        amx_effect_of(op, operand, AMX_GEN_M2, &effect);
        now_a[core] = amx_block_send(a, core, now_a[core], op, operand, &effect);
        now_b[core] = amx_block_send_cached(b, core, now_b[core], op, operand, AMX_GEN_M2);
        if (now_a[core] != now_b[core] || amx_block_idle_at(a, core) != amx_block_idle_at(b, core)) {
            CHECK(0, "instruction %u differs: %f %f", i, now_a[core], now_b[core]);
            break;
        }
    }
    struct activity x = {{0}}, y = {{0}};
    amx_block_take_activity(a, &x);
    amx_block_take_activity(b, &y);
    CHECK(memcmp(&x, &y, sizeof x) == 0 && x.count[ACT_AMX_INSTRUCTIONS] == 100000, "activity differs");
    amx_block_free(a);
    amx_block_free(b);
}

/* ---- words at once ---- */

enum { WORDS = 24 };

struct sent {
    struct unit_clock clock;
    uint8_t op[WORDS];
    uint64_t operand[WORDS], answered[WORDS];
    uint32_t when[WORDS], answer[WORDS];
};

/* Mostly matrix instructions and loads, as in a product, in cycles that climb. */
static void choose_words(struct sent *s, uint64_t *seed)
{
    uint32_t when = 0;
    for (unsigned i = 0; i < WORDS; i++) {
        const uint64_t pick = suite_random(seed) % 16;
        s->op[i] = (uint8_t)(pick < 10   ? AMX_FMA32
                             : pick < 12 ? AMX_LDX
                             : pick < 14 ? AMX_LDY
                                         : suite_random(seed) % AMX_OP_COUNT);
        s->operand[i] = pick < 10 ? (suite_random(seed) & 3) << 20 : random_operand(s->op[i], seed);
        s->when[i] = when += (uint32_t)(suite_random(seed) % 3);
    }
}

/* Sends them one by one, each without waiting for the answer to the one before, as a core does that expects it. */
static void send_apart(struct amx_block *block, struct sent *s, uint64_t now)
{
    for (unsigned i = 0; i < WORDS; i++) {
        const uint64_t at = now + s->when[i];
        const double sent_ns = unit_ns_of(&s->clock, at);
        const double next_ns = amx_block_send_cached(block, 0, sent_ns, s->op[i], s->operand[i], AMX_GEN_M1);
        const uint64_t next = next_ns > sent_ns ? unit_cycle_of(&s->clock, next_ns) : at;
        s->answered[i] = next > at ? next : at;
        s->answer[i] = (uint32_t)(s->answered[i] - at);
    }
}

/* Sends them at once; where one was told to expect another answer, the rest follow. */
static void send_at_once(struct amx_block *block, const struct sent *s, const uint32_t *expected, uint64_t now)
{
    for (uint32_t i = 0; i < WORDS;) {
        const struct unit_words words = {.clock = &s->clock,
                                         .now = now,
                                         .op = s->op + i,
                                         .operand = s->operand + i,
                                         .when = s->when + i,
                                         .answer = expected + i,
                                         .count = WORDS - i};
        uint64_t answered = 0;
        const uint32_t same = amx_block_send_words(block, 0, &words, AMX_GEN_M1, &answered);
        for (uint32_t k = i; k < i + same; k++)
            CHECK(expected[k] == s->answer[k], "word %u: the wrong answer was taken", k);
        i += same;
        if (i == WORDS)
            break;
        CHECK(expected[i] != s->answer[i] && answered == s->answered[i], "word %u: %llu, not %llu", i,
              (unsigned long long)answered, (unsigned long long)s->answered[i]);
        i++;
    }
}

static void check_alike(const struct amx_block *a, const struct amx_block *b)
{
    double stall_a[AMX_STALL_COUNT], stall_b[AMX_STALL_COUNT], total_a, total_b;
    amx_block_stalls(a, 0, stall_a, &total_a);
    amx_block_stalls(b, 0, stall_b, &total_b);
    CHECK(total_a == total_b && memcmp(stall_a, stall_b, sizeof stall_a) == 0, "%f and %f cycles", total_a, total_b);
    CHECK(amx_block_idle_at(a, 0) == amx_block_idle_at(b, 0), "idle at %f and %f ns", amx_block_idle_at(a, 0),
          amx_block_idle_at(b, 0));
}

/* With `others`, a second core computes in between, which the quickest way does not allow for. */
static void compare_words(bool others, uint64_t seed)
{
    struct amx_block *a = amx_block_create(&params, 2), *b = amx_block_create(&params, 2);
    struct sent s = {.clock = {.base_ns = 17.3, .ns_per_cycle = 1 / 3.204, .cycles_per_ns = 3.204, .base_cycle = 1 << 20}};
    uint64_t now = s.clock.base_cycle + 5;
    for (unsigned i = 0; i < 4000; i++) {
        uint32_t expected[WORDS];
        choose_words(&s, &seed);
        send_apart(a, &s, now);
        for (unsigned k = 0; k < WORDS; k++)
            expected[k] = s.answer[k] + (suite_random(&seed) % 50 == 0);
        send_at_once(b, &s, expected, now);
        now = s.answered[WORDS - 1] + suite_random(&seed) % 8;
        if (others && i % 5 == 0) {
            const double at = unit_ns_of(&s.clock, now);
            CHECK(amx_block_send_cached(a, 1, at, AMX_FMA32, 0, AMX_GEN_M1) ==
                      amx_block_send_cached(b, 1, at, AMX_FMA32, 0, AMX_GEN_M1),
                  "the other core's word %u", i);
        }
    }
    check_alike(a, b);
    amx_block_free(a);
    amx_block_free(b);
}

static void test_words_at_once(void)
{
    compare_words(false, 21);
    compare_words(true, 22);
}

static void test_cycles(void)
{
    const struct unit_clock clock = {.base_ns = -3.7, .ns_per_cycle = 1 / 2.988, .cycles_per_ns = 2.988, .base_cycle = 1000};
    uint64_t seed = 3;
    for (unsigned i = 0; i < 200000; i++) {
        /* near the borders of cycles as well as anywhere */
        const uint64_t cycle = 1000 + suite_random(&seed) % (i % 2 ? 100 : 200000000);
        const double off = ((double)(suite_random(&seed) % 2001) - 1000) * (i % 3 ? 2e-6 : 1e-3);
        const double ns = unit_ns_of(&clock, cycle) + off * clock.ns_per_cycle;
        const uint64_t in = unit_cycle_of(&clock, ns);
        for (uint64_t c = cycle - (cycle > 1000); c <= cycle + 2; c++)
            CHECK(!unit_is_surely_in(&clock, ns, c) || c == in, "%.9f ns is in cycle %.0f, not %.0f", ns, (double)in, (double)c);
        CHECK(in == 1000 || (unit_ns_of(&clock, in - 1) < ns && ns < unit_ns_of(&clock, in) + 0.0011 * clock.ns_per_cycle),
              "%.9f ns is not in cycle %.0f", ns, (double)in);
    }
}

static const struct suite_test tests[] = {
    {"effects from the cache", test_effects},   {"pointer bits", test_pointer_bits},
    {"sending by operand", test_send},          {"words at once as one by one", test_words_at_once},
    {"cycles without a division", test_cycles},
};
SUITE_MAIN("amx timing cached", tests)
