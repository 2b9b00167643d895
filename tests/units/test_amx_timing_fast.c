/* Loops that an AMX block accounts for at once leave every time, stall, counter and cache exactly as instructions sent one
 * by one do: the library's kernels on several chips, and random loops, through both ways on two equal machines.
 */
#include "isa/array_count.h"
#include "sim/soc/soc.h"
#include "tests/support/suite.h"
#include "units/amx/kernels/amx_intrinsics.h"
#include "units/amx/kernels/gemm.h"
#include "units/mem/mem_internal.h"

#include <stdlib.h>
#include <string.h>

struct machine {
    struct soc *soc;
    struct soc_core *core;
    double now_ns, step_ns;
};

struct pair {
    struct chip_db *db;
    struct chip *chip;
    struct machine fast, plain;
    uint64_t instructions, differences;
};

static int open_machine(struct machine *m, const struct chip *chip, bool repeats)
{
    struct orch_error error = {0};
    m->soc = soc_create(chip, &error);
    if (!m->soc || !soc_place(m->soc, 1, SOC_P_CORE, &m->core, &error))
        return 0;
    soc_restart(m->soc, false);
    amx_block_set_repeats(m->core->amx, repeats);
    m->now_ns = 0;
    m->step_ns = soc_core_send_step_ns(m->core);
    return 1;
}

static int open_pair(struct pair *p, const char *chip)
{
    struct orch_error error = {0};
    memset(p, 0, sizeof *p);
    p->db = chip_db_open(ORCHARD_SOURCE_DIR "/sim/chips", &error);
    p->chip = p->db ? chip_open(p->db, chip, NULL, &error) : NULL;
    const int ok = p->chip && open_machine(&p->fast, p->chip, true) && open_machine(&p->plain, p->chip, false);
    CHECK(ok, "%s: %s", chip, error.text);
    return ok;
}

static void close_pair(struct pair *p)
{
    soc_free(p->fast.soc);
    soc_free(p->plain.soc);
    chip_close(p->chip);
    chip_db_close(p->db);
}

static void send(struct machine *m, const uint8_t *op, const uint64_t *operand, uint32_t count)
{
    m->now_ns = soc_core_send_amx_batch(m->core, m->now_ns, m->step_ns, op, operand, count);
}

static int same_stalls(const struct soc_core *a, const struct soc_core *b)
{
    double x[AMX_STALL_COUNT], y[AMX_STALL_COUNT], total_x, total_y;
    amx_block_stalls(a->amx, a->slot, x, &total_x);
    amx_block_stalls(b->amx, b->slot, y, &total_y);
    return memcmp(x, y, sizeof x) == 0 && total_x == total_y;
}

static void compare_times(struct pair *p)
{
    const struct soc_core *a = p->fast.core, *b = p->plain.core;
    const int same = p->fast.now_ns == p->plain.now_ns && soc_core_done_at(a) == soc_core_done_at(b) &&
                     amx_block_stores_done_at(a->amx, a->slot) == amx_block_stores_done_at(b->amx, b->slot) && same_stalls(a, b);
    if (!same && p->differences++ == 0)
        CHECK(0, "after %llu instructions: %.9f and %.9f ns", (unsigned long long)p->instructions, p->fast.now_ns,
              p->plain.now_ns);
}

static void send_both(struct pair *p, const uint8_t *op, const uint64_t *operand, uint32_t count)
{
    send(&p->fast, op, operand, count);
    send(&p->plain, op, operand, count);
    p->instructions += count;
    compare_times(p);
}

/* A loop, written down once for one machine and in full for the other. */
static void send_passes(struct pair *p, const struct amx_passes *passes)
{
    struct amx_passes next = *passes;
    p->fast.now_ns = soc_core_send_amx_passes(p->fast.core, p->fast.now_ns, p->fast.step_ns, passes);
    for (uint32_t pass = 0; pass < passes->passes; pass++, amx_passes_advance(&next, 1))
        send(&p->plain, next.op, next.operand, next.length);
    p->instructions += (uint64_t)passes->passes * passes->length;
    compare_times(p);
}

/* ---- what both machines hold at the end ---- */

static void compare_caches(const char *what, const struct mem_cache *a, const struct mem_cache *b)
{
    if (a->sets == 0)
        return;
    CHECK(a->settled == b->settled && a->settled_ns == b->settled_ns && a->used == b->used, "%s: contents differ", what);
    unsigned lines = 0, ages = 0, states = 0;
    for (uint32_t set = 0; set < a->sets; set++) {
        const struct mem_set_header *x = mem_cache_header(a, set), *y = mem_cache_header(b, set);
        ages += x->order != y->order;
        states += memcmp(x->flags, y->flags, sizeof x->flags) != 0 || x->settled != y->settled;
        lines += memcmp(mem_cache_ways(a, set), mem_cache_ways(b, set), a->ways * (sizeof(struct mem_way) + sizeof(double))) != 0;
    }
    CHECK(lines == 0, "%s: lines or arrivals differ in %u sets", what, lines);
    CHECK(ages == 0, "%s: ages differ in %u sets", what, ages);
    CHECK(states == 0, "%s: states differ in %u sets", what, states);
}

static void compare_links(const char *what, const struct mem_link *a, const struct mem_link *b)
{
    CHECK(a->count == b->count && a->floor_ns == b->floor_ns &&
              memcmp(a->start_ns + a->first, b->start_ns + b->first, a->count * sizeof a->start_ns[0]) == 0 &&
              memcmp(a->end_ns + a->first, b->end_ns + b->first, a->count * sizeof a->end_ns[0]) == 0,
          "%s: %u and %u intervals, %.9f and %.9f", what, a->count, b->count, a->floor_ns, b->floor_ns);
}

static void compare_slots(const struct mem_slots *a, const struct mem_slots *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        CHECK(a->free_ns[(a->first + i) % a->count] == b->free_ns[(b->first + i) % b->count], "miss register %u differs", i);
}

static void compare_memory(const struct machine *a, const struct machine *b)
{
    const struct mem_port *x = a->core->amx_port, *y = b->core->amx_port;
    struct mem_counters p, q;
    mem_system_counters(soc_memory(a->soc), &p);
    mem_system_counters(soc_memory(b->soc), &q);
    CHECK(memcmp(&p, &q, sizeof p) == 0, "counters: %llu and %llu L2 hits", (unsigned long long)p.hits[MEM_L2],
          (unsigned long long)q.hits[MEM_L2]);
    compare_caches("L2", &x->cluster->l2, &y->cluster->l2);
    compare_caches("L1", &a->core->port->l1, &b->core->port->l1);
    compare_caches("TLB", &x->tlb.level[0], &y->tlb.level[0]);
    compare_caches("TLB 2", &x->tlb.level[1], &y->tlb.level[1]);
    CHECK(memcmp(x->tlb.hint, y->tlb.hint, sizeof x->tlb.hint) == 0, "hints of the TLB differ");
    compare_links("L2 link", &x->cluster->l2_link, &y->cluster->l2_link);
    compare_links("port's link", &x->l2_read, &y->l2_read);
    compare_slots(&x->misses, &y->misses);
}

/* Returns which share of the instructions was accounted for at once. */
static double compare_machines(struct pair *p)
{
    compare_memory(&p->fast, &p->plain);
    struct activity a = {{0}}, b = {{0}};
    soc_take_activity(p->fast.soc, &a);
    soc_take_activity(p->plain.soc, &b);
    CHECK(memcmp(&a, &b, sizeof a) == 0, "activity differs");
    CHECK(a.count[ACT_AMX_INSTRUCTIONS] == p->instructions, "instructions lost");
    CHECK(amx_block_repeated(p->plain.core->amx) == 0, "the plain way took loops at once");
    return (double)amx_block_repeated(p->fast.core->amx) / (double)p->instructions;
}

/* ---- the library's kernels ---- */

static void flush(struct amx_ctx *ctx)
{
    send_both(ctx->owner, ctx->op, ctx->operand, ctx->count);
    ctx->count = 0;
}

static int take_passes(struct amx_ctx *ctx, uint32_t first, uint32_t second, uint32_t left)
{
    struct amx_passes passes;
    if (!amx_passes_of(&passes, ctx->op + first, ctx->operand + first, second - first, left + 2))
        return 0;
    ctx->count = first;
    flush(ctx);
    send_passes(ctx->owner, &passes);
    return 1;
}

/* The CPU's part of packing: it reads and writes these bytes. */
static void touch(struct machine *m, uint64_t address, uint64_t bytes, enum mem_access_kind kind)
{
    const uint64_t tag = (uint64_t)(m->core->number + 1) << 48;
    for (uint64_t at = address; at < address + bytes; at += 64) {
        mem_port_access(m->core->port, m->now_ns, at | tag, 32, kind, 0x40);
        m->now_ns += 2;
    }
}

static void touch_both(struct amx_ctx *ctx, const void *host, uint64_t bytes, enum mem_access_kind kind)
{
    struct pair *p = ctx->owner;
    touch(&p->fast, (uint64_t)(uintptr_t)host - ctx->host_base, bytes, kind);
    touch(&p->plain, (uint64_t)(uintptr_t)host - ctx->host_base, bytes, kind);
}

static void copied(struct amx_ctx *ctx, const void *dst, const void *src, uint32_t rows, uint32_t row_bytes, uint64_t stride)
{
    (void)stride;
    touch_both(ctx, src, row_bytes, MEM_ACCESS_LOAD);
    touch_both(ctx, dst, (uint64_t)rows * row_bytes, MEM_ACCESS_STORE);
}

static void transposed(struct amx_ctx *ctx, const void *dst, uint64_t dst_row, const void *src, uint64_t src_row,
                       uint32_t vectors, uint32_t count, uint32_t element_bytes)
{
    (void)src_row;
    (void)vectors;
    touch_both(ctx, src, (uint64_t)count * element_bytes, MEM_ACCESS_LOAD);
    touch_both(ctx, dst, (uint64_t)count * dst_row, MEM_ACCESS_STORE);
}

static void run_gemm_in(const char *chip, enum gemm_kind kind, uint32_t m, uint32_t n, uint32_t k, double least_share,
                        bool passes)
{
    struct pair p;
    const struct gemm_shape *s = gemm_shape_of(kind);
    const uint64_t each = (uint64_t)1 << 23, work = gemm_workspace_bytes(kind, m, n, k);
    uint8_t *memory = aligned_alloc(1 << 14, 4 * each + (work + (1 << 14)) / (1 << 14) * (1 << 14));
    if (!memory || !open_pair(&p, chip))
        return;
    memset(memory, 0, 3 * each);
    const uint64_t base = (uint64_t)(uintptr_t)memory;
    struct amx_ctx *ctx = calloc(1, sizeof *ctx);
    *ctx = (struct amx_ctx){.host_base = base - (1 << 20),
                            .flush = flush,
                            .copy = copied,
                            .transpose = transposed,
                            .owner = &p,
                            .passes = passes ? take_passes : NULL};
    const struct gemm_args args = {.a = base,
                                   .b = base + each,
                                   .c = base + 2 * each,
                                   .workspace = base + 3 * each,
                                   .lda = k,
                                   .ldb = n,
                                   .ldc = n,
                                   .m = m,
                                   .n = n,
                                   .k = k,
                                   .batch = 1,
                                   .kind = kind,
                                   .quad_loads = p.fast.core->gen >= AMX_GEN_M2,
                                   .alpha_bits = s->out_bytes == 8                             ? UINT64_C(0x3ff0000000000000)
                                                 : kind == GEMM_F16                            ? 0x3c00
                                                 : kind == GEMM_I8_I32 || kind == GEMM_I16_I32 ? 1
                                                                                               : 0x3f800000};
    gemm_run(ctx, &args);
    if (ctx->count)
        flush(ctx);
    const double share = compare_machines(&p);
    CHECK(share >= least_share, "%s, kind %d: only %.3f at once", chip, (int)kind, share);
    free(ctx);
    free(memory);
    close_pair(&p);
}

static void run_gemm(const char *chip, enum gemm_kind kind, uint32_t m, uint32_t n, uint32_t k, double least_share)
{
    run_gemm_in(chip, kind, m, n, k, least_share, false);
    run_gemm_in(chip, kind, m, n, k, least_share, true);
}

static void test_kernels_m1(void)
{
    run_gemm("m1", GEMM_F32, 256, 256, 1024, 0.5);
    run_gemm("m1", GEMM_F64, 128, 128, 512, 0.5);
    run_gemm("m1", GEMM_F16, 256, 256, 512, 0.3);
    run_gemm("m1", GEMM_I8_I32, 128, 256, 512, 0.3);
    run_gemm("m1", GEMM_F16_F32, 128, 128, 512, 0.3);
}

static void test_kernels_elsewhere(void)
{
    static const char *const chips[] = {"m1-max", "m2", "m3-max", "m4"};
    for (unsigned i = 0; i < ARRAY_COUNT(chips); i++) {
        run_gemm(chips[i], GEMM_F32, 128, 128, 512, 0);
        run_gemm(chips[i], GEMM_F64, 96, 80, 300, 0);
        run_gemm(chips[i], GEMM_I8_I32, 64, 128, 512, 0);
        run_gemm(chips[i], GEMM_BF16_F32, 64, 128, 512, 0);
    }
    run_gemm("m2-max", GEMM_F32, 128, 128, 1024, 0.5);
    run_gemm("m3-max", GEMM_F32, 128, 128, 1024, 0.5);
    run_gemm("m2-max", GEMM_F16, 128, 128, 1024, 0.3);
}

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
            CHECK(compare_machines(&p) > 0.05, "%s: few loops at once", chips[i]);
        }
        close_pair(&p);
    }
    free(s);
}

static const struct suite_test tests[] = {
    {"gemm on M1", test_kernels_m1},          {"gemm on other chips", test_kernels_elsewhere},
    {"random loops", test_random_loops},      {"random loops written down once", test_passes},
    {"loops after a restart", test_restarts},
};
SUITE_MAIN("amx timing fast", tests)
