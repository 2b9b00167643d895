/* The AMX timing model's loads and stores against published throughputs (github corsix/amx, M1 Max and M2). Effects are written
 * out by hand: nothing here depends on decoding.
 */
#include "tests/units/amx_timing_effects.h"

/* xrq-phys/blis_apple, one thread of M2: 1440 GFLOPS of sgemm from loads of 64 bytes, one for each fma32 of 512
 * operations. Four products of a 32 x 32 tile use two neighbours of each panel. */
static double outer_product_rate(const struct amx_params *params, uint64_t start)
{
    enum { STEPS = 2000 };
    struct amx_block *block = amx_block_create(params, 1);
    struct amx_effect fma[4], x = load(1, 64), y = load(0, 64);
    y.y_write = 1;
    for (unsigned i = 0; i < 4; i++)
        fma[i] = compute(AMX_CLASS_MATRIX, AMX_E_F32, AMX_E_F32, class_rows(4, i));
    double now = 0;
    for (uint64_t k = 0; k < STEPS; k++) {
        for (uint64_t half = 0; half < 2; half++) {
            now = amx_block_send(block, 0, now, AMX_LDX, start + k * 128 + half * 64, &x);
            now = amx_block_send(block, 0, now, AMX_LDY, 0x1000000 + start + k * 128 + half * 64, &y);
        }
        for (unsigned i = 0; i < 4; i++)
            now = amx_block_send(block, 0, now, AMX_FMA32, 0, &fma[i]);
    }
    const double rate = 4 * STEPS / amx_block_idle_at(block, 0);
    amx_block_free(block);
    return rate;
}

static void test_neighbouring_loads(void)
{
    struct amx_params m2 = m1;
    m2.clock_ghz = 3.204;
    CHECK(outer_product_rate(&m2, 0) * 512 > 1440, "%f GFLOPS", outer_product_rate(&m2, 0) * 512);
    check_near("one a cycle", load_rate(&m2, 64, 64), 3.204, 0.01);
    check_near("across lines as well", load_rate_from(&m2, 16, 64, 64), 3.204, 0.01);
    check_near("unaligned panels too", outer_product_rate(&m2, 16), outer_product_rate(&m2, 0), 0.01);
    check_near("every other block is another line", load_rate(&m2, 64, 128), 3.204 / 1.75, 0.01);
}

static void test_loads(void)
{
    struct amx_params m2pro = m1;
    m2pro.clock_ghz = 3.264;
    /* zhen8838, M2 Pro: quads 483 GB/s, one line again and again 30 GB/s. */
    check_near("quads", load_rate(&m2pro, 256, 256) * 256, 483, 0.05);
    check_near("same line", load_rate(&m2pro, 128, 0) * 128, 30, 0.05);
    check_near("width does not matter", load_rate(&m2pro, 64, 256), load_rate(&m2pro, 256, 256), 0.001);
    m2pro.load_bytes_per_cycle = 64;
    check_near("a narrow path", load_rate(&m2pro, 256, 256) * 256, 64 * 3.264, 0.01);
}

/* GB/s of loads of X and Y in turn, out of different lines, whose widths in registers are x and y. */
static double both_gbps(const struct amx_params *params, unsigned x, unsigned y)
{
    enum { TURNS = 4000 };
    struct amx_block *block = amx_block_create(params, 1);
    struct amx_effect load_x = load(x, x * 64), load_y = load(0, y * 64);
    load_y.y_write = (uint8_t)((1u << y) - 1);
    load_x.x_write = (uint8_t)((1u << x) - 1);
    double now = 0;
    for (uint64_t i = 0; i < TURNS; i++) {
        now = amx_block_send(block, 0, now, AMX_LDX, i * 256, &load_x);
        now = amx_block_send(block, 0, now, AMX_LDY, 0x1000000 + i * 256, &load_y);
    }
    const double gbps = TURNS * 64.0 * (x + y) / amx_block_idle_at(block, 0);
    amx_block_free(block);
    return gbps;
}

/* zhen8838, M2 Pro, "ldx + ldy alternating" over consecutive rows and over two regions. */
static void test_wide_loads_of_y(void)
{
    static const struct {
        unsigned x, y;
        double gbps, alternating;
    } published[] = {{1, 1, 134.33, 130.6}, {1, 2, 162.08, 163.91}, {2, 1, 201.66, 195.61}, {2, 2, 214.77, 213.61},
                     {2, 4, 350.55, 298.6}, {4, 2, 349.53, 302.77}, {1, 4, 297.15, 254.92}};
    struct amx_params p = m1;
    p.clock_ghz = 3.264;
    p.load_request_cycles = 1.6;
    p.load_request_same_cycles = 0.2;
    p.load_y_wide_cycles = 0.7;
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
        check_near("published GB/s", both_gbps(&p, published[i].x, published[i].y),
                   (published[i].gbps + published[i].alternating) / 2, 0.05);
    check_near("X alone is a little slower", load_rate(&p, 128, 256), 3.264 / 1.8, 0.01);
}

static void test_load_to_use(void)
{
    struct amx_block *block = amx_block_create(&m1, 1);
    const struct amx_effect x = load(1, 64), fma = compute(AMX_CLASS_MATRIX, AMX_E_F32, AMX_E_F32, class_rows(4, 0));
    amx_block_send(block, 0, 0, AMX_LDX, 0, &x);
    amx_block_send(block, 0, 0, AMX_FMA32, 0, &fma);
    check_near("load latency, then the chain", amx_block_idle_at(block, 0), (12 + 4) / 2.904, 1e-9);
    CHECK(reason_share(block, AMX_STALL_LOAD_DATA) > 0.7, "%f", reason_share(block, AMX_STALL_LOAD_DATA));
    struct amx_effect other = fma;
    amx_block_restart(block, 0);
    other.x_read = other.y_read = 2;
    amx_block_send(block, 0, 0, AMX_LDX, 0, &x);
    amx_block_send(block, 0, 0, AMX_FMA32, 0, &other);
    check_near("another register does not wait", amx_block_idle_at(block, 0), 12 / 2.904, 1e-9);
    amx_block_free(block);
}

static void test_stores(void)
{
    struct amx_params p = m1;
    struct amx_block *block = amx_block_create(&p, 1);
    const struct amx_effect fma = compute(AMX_CLASS_MATRIX, AMX_E_F32, AMX_E_F32, class_rows(4, 0)), z = store_row(0);
    amx_block_send(block, 0, 0, AMX_FMA32, 0, &fma);
    amx_block_send(block, 0, 0, AMX_STZ, 0, &z);
    check_near("waits for Z, leaves the buffer, becomes visible", amx_block_stores_done_at(block, 0), (4 + 16 + 9) / 2.904, 1e-9);
    const struct amx_effect x = load(1, 64);
    amx_block_send(block, 0, 0, AMX_LDX, 0, &x);
    check_near("a load of the line waits for it", amx_block_idle_at(block, 0), (4 + 16 + 9 + 12) / 2.904, 1e-9);
    amx_block_restart(block, 0);
    double now = 0;
    for (uint64_t i = 0; i < 4096; i++)
        now = amx_block_send(block, 0, now, AMX_STZ, i * 64, &z);
    check_near("steady stores", 4096 * 64 / amx_block_idle_at(block, 0), 4 * 2.904, 0.01);
    amx_block_free(block);
}

/* ns per store when `passes` half lines of each of 16 lines are written in turn, 16 stores apart. */
static double half_lines_ns(const struct amx_params *params, unsigned passes)
{
    enum { TURNS = 200, LINES = 16 };
    struct amx_block *block = amx_block_create(params, 1);
    const struct amx_effect z = store_row(0);
    double now = 0;
    for (unsigned t = 0; t < TURNS; t++)
        for (unsigned h = 0; h < passes; h++)
            for (unsigned i = 0; i < LINES; i++)
                now = amx_block_send(block, 0, now, AMX_STZ, i * 2048 + h * 64, &z);
    const double ns = amx_block_idle_at(block, 0) / (TURNS * passes * LINES);
    amx_block_free(block);
    return ns;
}

/* The stores of zhen8838's table (M2 Pro) into rows 2048 bytes apart, one register per store: 12.9, 7.6, 11.4 and 9.9
 * GB/s for one to four accumulators. Between the first two lies the merging of the halves of a line; with three, the
 * first two halves share a line, with four also the last two. */
static void test_half_lines(void)
{
    struct amx_params p = m1;
    p.clock_ghz = 3.264;
    p.store_merge_cycles = 14;
    p.store_merge_rows = 16;
    const double published[] = {12.9423, 7.55092, 11.4118, 9.85956};
    for (unsigned n = 1; n <= 4; n++)
        check_near("published GB/s", 64 / half_lines_ns(&p, n), published[n - 1], 0.15);
    check_near("the other half costs", half_lines_ns(&p, 2), (16 + 14) / 3.264, 0.01);
    check_near("one of three costs", half_lines_ns(&p, 3), (16 + 14 / 3.0) / 3.264, 0.01);
    p.store_merge_rows = 15;
    check_near("not for stores longer ago", half_lines_ns(&p, 2), 16 / 3.264, 0.01);
    p.store_merge_rows = 64;
    check_near("the same half costs nothing", half_lines_ns(&p, 1), 16 / 3.264, 0.01);
}

/* GB/s when `passes` stores of `width` registers each go to every of 16 rows of 256 bytes, a row at a time. */
static double small_target_gbps(const struct amx_params *params, unsigned passes, unsigned width)
{
    enum { TURNS = 200, ROWS = 16 };
    struct amx_block *block = amx_block_create(params, 1);
    struct amx_effect z = store_row(0);
    z.memory_bytes = 64 * width;
    double now = 0;
    for (unsigned t = 0; t < TURNS; t++)
        for (unsigned pass = 0; pass < passes; pass++)
            for (unsigned row = 0; row < ROWS; row++)
                now = amx_block_send(block, 0, now, AMX_STZ, row * 256 + pass * width * 64, &z);
    const double gbps = TURNS * passes * ROWS * 64.0 * width / amx_block_idle_at(block, 0);
    amx_block_free(block);
    return gbps;
}

/* zhen8838, M2 Pro, "small target": one accumulator of one row and of two rows, two of one and of two rows, three and four of
 * one. */
static void test_gaps_between_stores(void)
{
    static const struct {
        unsigned passes, width;
        double gbps, tolerance;
    } published[] = {{1, 1, 10.38, 0.25}, {1, 2, 8.93, 0.12}, {2, 1, 5.70, 0.1},
                     {2, 2, 12.37, 0.06}, {3, 1, 6.58, 0.15}, {4, 1, 8.88, 0.06}};
    struct amx_params p = m1;
    p.clock_ghz = 3.264;
    p.store_bytes_per_cycle = 3.8;
    p.store_merge_cycles = 14;
    p.store_merge_rows = 16;
    p.store_gap_cycles = 9;
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
        check_near("published GB/s", small_target_gbps(&p, published[i].passes, published[i].width), published[i].gbps,
                   published[i].tolerance);
    check_near("rows apart have no gap", 64 / half_lines_ns(&p, 1), 3.8 * 3.264, 0.02);
}

/* Cores that store lines of their own, by turns; all finish at about the same time. */
static double stored_bytes_per_cycle(const struct amx_params *params, unsigned cores)
{
    enum { STORES = 4000 };
    struct amx_block *block = amx_block_create(params, cores);
    const struct amx_effect z = store_row(0);
    double now[4] = {0}, end = 0;
    for (unsigned i = 0; i < STORES; i++)
        for (unsigned core = 0; core < cores; core++)
            now[core] = amx_block_send(block, core, now[core], AMX_STZ, ((uint64_t)core << 24) + i * 64, &z);
    for (unsigned core = 0; core < cores; core++)
        end = fmax(end, amx_block_idle_at(block, core));
    amx_block_free(block);
    return 64.0 * STORES * cores / (end * params->clock_ghz);
}

static void test_stores_of_cores(void)
{
    struct amx_params p = m1;
    p.store_bytes_per_cycle = 4;
    p.store_shared_bytes_per_cycle = 10;
    check_near("one core's path", stored_bytes_per_cycle(&p, 1), 4, 0.02);
    check_near("two cores have a path each", stored_bytes_per_cycle(&p, 2), 8, 0.02);
    check_near("four cores share what all have", stored_bytes_per_cycle(&p, 4), 10, 0.02);
}

/* Loads a cycle of cores that wait four cycles for their own sums after each, in stretches of so many loads of one core before
 * the next one's turn comes. */
static double loaded_a_cycle(const struct amx_params *params, unsigned cores, unsigned stretch)
{
    enum { LOADS = 4000 };
    struct amx_block *block = amx_block_create(params, cores);
    const struct amx_effect x = load(1, 64), sum = compute(AMX_CLASS_MATRIX, AMX_E_F32, AMX_E_F32, class_rows(4, 0));
    double now[4] = {0}, end = 0;
    for (unsigned from = 0; from < LOADS; from += stretch)
        for (unsigned core = 0; core < cores; core++)
            for (unsigned i = from; i < from + stretch; i++) {
                now[core] = amx_block_send(block, core, now[core], AMX_LDX, ((uint64_t)core << 24) + i * 256, &x);
                now[core] = amx_block_send(block, core, now[core], AMX_FMA32, 0, &sum);
            }
    for (unsigned core = 0; core < cores; core++)
        end = fmax(end, amx_block_idle_at(block, core));
    amx_block_free(block);
    return (double)LOADS * cores / (end * params->clock_ghz);
}

/* Requests 1.6 cycles apart: two such cores leave the path idle for a fifth of the time, four want 1.6 times what it has. */
static void test_loads_of_cores(void)
{
    struct amx_params p = m1;
    p.load_request_cycles = 1.6;
    p.load_request_same_cycles = 0;
    check_near("one core waits for its sums", loaded_a_cycle(&p, 1, 8), 0.25, 0.01);
    check_near("two cores do not meet", loaded_a_cycle(&p, 2, 8), 0.5, 0.02);
    check_near("nor in long stretches", loaded_a_cycle(&p, 2, 400), 0.5, 0.02);
    check_near("four cores take what the path has", loaded_a_cycle(&p, 4, 8), 1 / 1.6, 0.03);
    check_near("in long stretches, too", loaded_a_cycle(&p, 4, 400), 1 / 1.6, 0.03);
}

static const struct suite_test tests[] = {
    {"loads: width, bandwidth, same line", test_loads},
    {"loads: neighbours share a request", test_neighbouring_loads},
    {"two registers of Y take longer than one", test_wide_loads_of_y},
    {"load to use", test_load_to_use},
    {"stores wait, drain and become visible", test_stores},
    {"halves of a line stored apart", test_half_lines},
    {"stores that leave gaps", test_gaps_between_stores},
    {"stores of several cores", test_stores_of_cores},
    {"loads of several cores", test_loads_of_cores},
};
SUITE_MAIN("amx timing memory", tests)
