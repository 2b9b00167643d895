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

static const struct suite_test tests[] = {
    {"effects from the cache", test_effects},
    {"pointer bits", test_pointer_bits},
    {"sending by operand", test_send},
};
SUITE_MAIN("amx timing cached", tests)
