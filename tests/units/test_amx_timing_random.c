/* Random loops that an AMX block accounts for at once leave every time, stall, counter and cache exactly as instructions sent one
 * by one do.
 */
#include "tests/units/amx_timing_pair.h"

/* ---- random loops ---- */

#define STREAM_MAX 20000

struct stream {
    uint8_t op[STREAM_MAX];
    uint64_t operand[STREAM_MAX];
    uint32_t count;
};

static void add(struct stream *s, unsigned op, uint64_t operand)
{
    if (s->count < STREAM_MAX) {
        s->op[s->count] = (uint8_t)op;
        s->operand[s->count++] = operand;
    }
}

static unsigned random_compute(uint64_t *seed, uint64_t *operand)
{
    static const unsigned ops[] = {AMX_FMA32, AMX_FMA64, AMX_FMA32, AMX_FMA16, AMX_MAC16};
    const uint64_t r = suite_random(seed);
    *operand = (r & 7) << 16 | (r >> 3 & 7) << 6 | (r >> 6 & 63) << 20 | (r >> 12 & 7 ? 0 : UINT64_C(1) << 63);
    return ops[(r >> 20) % 5];
}

/* A loop of a few loads and products; steps, bases and overlaps of all kinds. Returns how many instructions a pass has. */
static unsigned add_loop(struct stream *s, uint64_t *seed, int quads)
{
    static const uint64_t steps[] = {512, 512, 512, 256, 128, 64, 0, 1024, 4096, 16384, 384};
    const uint64_t r = suite_random(seed);
    const unsigned period = 1 + (unsigned)(r % 24), turns = 4 + (unsigned)(r >> 8 & 255), common = (r >> 16 & 3) != 0;
    unsigned op[24];
    uint64_t operand[24], step[24] = {0};
    const uint64_t shared_step = steps[(r >> 20) % 11];
    for (unsigned i = 0; i < period; i++) {
        const uint64_t q = suite_random(seed);
        if (q % 3) {
            op[i] = random_compute(seed, &operand[i]);
            continue;
        }
        op[i] = q >> 8 & 1 ? AMX_LDX : AMX_LDY;
        const uint64_t base = 0x100000 * (1 + (q >> 10 & 3)) + 64 * (q >> 12 & 31);
        const int two = (q >> 20 & 1) && base % 128 == 0;
        const int four = two && quads && (q >> 21 & 1);
        operand[i] = base | (q >> 24 & (four ? 4 : 6)) << 56 | (two ? UINT64_C(1) << 62 : 0) | (four ? UINT64_C(1) << 60 : 0);
        step[i] = common ? shared_step : steps[(q >> 30) % 11];
    }
    for (unsigned t = 0; t < turns; t++)
        for (unsigned i = 0; i < period; i++)
            add(s, op[i], operand[i] + step[i] * t);
    return period;
}

static void add_stores(struct stream *s, uint64_t *seed)
{
    const uint64_t r = suite_random(seed);
    for (unsigned i = 0; i < (r & 31); i++)
        add(s, AMX_STZ, (0x100000 * (1 + (r >> 8 & 7)) + 128 * i) | UINT64_C(2) * i << 56);
}

/* What was seen under another clock holds no more. */
static void change_clock(struct pair *p, double ghz)
{
    amx_block_set_clock(p->fast.core->amx, ghz);
    amx_block_set_clock(p->plain.core->amx, ghz);
}

static void random_loops(const char *chip, uint64_t seed)
{
    struct pair p;
    struct stream *s = calloc(1, sizeof *s);
    if (!s || !open_pair(&p, chip))
        return;
    for (unsigned round = 0; round < 12; round++) {
        s->count = 0;
        if (round % 4 == 2)
            change_clock(&p, round == 6 ? 1.5 : 2.0 + 0.1 * round);
        while (s->count < STREAM_MAX - 8000) {
            add_loop(s, &seed, p.fast.core->gen >= AMX_GEN_M2);
            if (suite_random(&seed) % 3 == 0)
                add_stores(s, &seed);
        }
        for (uint32_t at = 0; at < s->count;) {
            const uint32_t most = 1 + (uint32_t)(suite_random(&seed) % 4096), left = s->count - at;
            const uint32_t count = left < most ? left : most;
            send_both(&p, s->op + at, s->operand + at, count);
            at += count;
        }
        touch(&p.fast, 0x100000, 0x8000, MEM_ACCESS_STORE);
        touch(&p.plain, 0x100000, 0x8000, MEM_ACCESS_STORE);
    }
    const double share = compare_machines(&p);
    CHECK(share > 0.05, "%s: only %.3f at once", chip, share);
    free(s);
    close_pair(&p);
}

static void test_random_loops(void)
{
    random_loops("m1", 1);
    random_loops("m1", 2);
    random_loops("m2", 3);
    random_loops("m3-max", 4);
    random_loops("m4", 5);
    random_loops("m2-max", 6);
    random_loops("m3-max", 7);
}

static void random_passes(const char *chip, uint64_t seed)
{
    struct pair p;
    struct stream *s = calloc(1, sizeof *s);
    unsigned loops = 0;
    if (!s || !open_pair(&p, chip))
        return;
    for (unsigned round = 0; round < 120; round++) {
        struct amx_passes passes;
        s->count = 0;
        const unsigned period = add_loop(s, &seed, p.fast.core->gen >= AMX_GEN_M2);
        if (round % 3 == 0) {
            send_both(&p, s->op, s->operand, s->count);
        } else if (amx_passes_of(&passes, s->op, s->operand, period, s->count / period)) {
            send_passes(&p, &passes);
            loops++;
        }
        s->count = 0;
        add_stores(s, &seed);
        send_both(&p, s->op, s->operand, s->count);
    }
    compare_machines(&p);
    CHECK(loops > 70, "%s: %u loops", chip, loops);
    free(s);
    close_pair(&p);
}

static void test_passes(void)
{
    random_passes("m1", 11);
    random_passes("m1-max", 12);
    random_passes("m2-max", 13);
    random_passes("m3-max", 14);
    random_passes("m4", 15);
}

/* After a restart, what was seen before it serves on. */
static void test_restarts(void)
{
    static const char *const chips[] = {"m1-max", "m2-max", "m4"};
    struct stream *s = calloc(1, sizeof *s);
    for (unsigned i = 0; s && i < 3; i++) {
        struct pair p;
        uint64_t seed = 50 + i;
        if (!open_pair(&p, chips[i]))
            break;
        s->count = 0;
        while (s->count < STREAM_MAX - 8000)
            add_loop(s, &seed, p.fast.core->gen >= AMX_GEN_M2);
        for (unsigned run = 0; run < 3; run++) {
            struct activity before = {{0}};
            soc_take_activity(p.fast.soc, &before);
            soc_take_activity(p.plain.soc, &before);
            soc_restart(p.fast.soc, run == 1);
            soc_restart(p.plain.soc, run == 1);
            p.fast.now_ns = p.plain.now_ns = 0;
            p.instructions = 0;
            send_both(&p, s->op, s->operand, s->count);
            const double share = compare_machines(&p);
            /* Few: answers of DRAM hang on its open rows and its clock, and a loop is done at once when they repeat. */
            CHECK(share > 0.01, "%s: only %.3f at once", chips[i], share);
        }
        close_pair(&p);
    }
    free(s);
}

static const struct suite_test tests[] = {
    {"random loops", test_random_loops},
    {"random loops written down once", test_passes},
    {"loops after a restart", test_restarts},
};
SUITE_MAIN("amx timing random", tests)
