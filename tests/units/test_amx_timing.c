/* The AMX timing model against published throughputs (github corsix/amx, M1 Max and M2) and against its own
 * conservation laws. Effects are written out by hand: nothing here depends on decoding.
 */
#include "tests/units/amx_timing_effects.h"

/* The order in which the published vector loops take rows ("far" spacing): bit-reversed. */
static unsigned far_row(unsigned i)
{
    unsigned row = 0;
    for (unsigned bit = 0; bit < 6; bit++)
        if (i >> bit & 1)
            row |= 32u >> bit;
    return row;
}

/* Instructions per ns of one core that rotates over n accumulators; the CPU sends as early as it may. */
static double rate(const struct amx_params *params, const struct amx_effect *effects, unsigned n)
{
    enum { LOOP = 20000 };
    struct amx_block *block = amx_block_create(params, 4);
    double now = 0;
    for (unsigned i = 0; i < LOOP; i++)
        now = amx_block_send(block, 0, now, AMX_FMA32, 0, &effects[i % n]);
    const double rate = LOOP / amx_block_idle_at(block, 0);
    amx_block_free(block);
    return rate;
}

static double matrix_rate(const struct amx_params *params, enum amx_element x, enum amx_element z, unsigned step, unsigned n)
{
    struct amx_effect effects[8];
    for (unsigned i = 0; i < n; i++)
        effects[i] = compute(AMX_CLASS_MATRIX, x, z, class_rows(step, i));
    return rate(params, effects, n);
}

static double vector_rate(const struct amx_params *params, enum amx_element x, unsigned rows, unsigned n)
{
    struct amx_effect effects[16];
    for (unsigned i = 0; i < n; i++)
        effects[i] = compute(AMX_CLASS_VECTOR, x, AMX_E_F32, (rows == 2 ? UINT64_C(3) : UINT64_C(1)) << far_row(i));
    return rate(params, effects, n);
}

static void test_matrix_tables(void)
{
    /* corsix/amx issue 6, second M1 Max run, f64 matrix, 1 thread: GFLOPS / 128 operations. */
    static const double f64[] = {92.8, 185.4, 278.0, 370.8, 370.9, 371.0, 370.7, 370.9};
    for (unsigned n = 1; n <= 8; n++)
        check_near("f64 matrix", matrix_rate(&m1, AMX_E_F64, AMX_E_F64, 8, n), f64[n - 1] / 128, 0.005);
    /* fma.md, mac16.md: 16-bit types, 2048 operations. */
    check_near("f16, 1", matrix_rate(&m1, AMX_E_F16, AMX_E_F16, 2, 1), 1453.0 / 2048, 0.03);
    check_near("f16, 2", matrix_rate(&m1, AMX_E_F16, AMX_E_F16, 2, 2), 2958.9 / 2048, 0.01);
    check_near("i16, 1", matrix_rate(&m1, AMX_E_I16, AMX_E_I16, 2, 1), 1459.3 / 2048, 0.03);
    check_near("i16, 2", matrix_rate(&m1, AMX_E_I16, AMX_E_I16, 2, 2), 1467.4 / 2048, 0.02);
    check_near("i8 to i16, 2", matrix_rate(&m1, AMX_E_I8, AMX_E_I16, 2, 2), 2964.4 / 2048, 0.01);
}

static void test_vector_tables(void)
{
    /* corsix/amx issue 7 (rows 1..7) and fma64 vector of fma.md (9, 11, 16), per operation of f32 and f64
     * vectors. */
    static const double f32[] = {23.2, 46.4, 69.6, 92.7, 115.8, 139.0, 162.2, 185.5};
    for (unsigned n = 1; n <= 8; n++)
        check_near("f32 vector", vector_rate(&m1, AMX_E_F32, 1, n), f32[n - 1] / 32, 0.005);
    check_near("dip at 9 rows", vector_rate(&m1, AMX_E_F64, 1, 9), 85.3 / 16, 0.03);
    check_near("no dip at 11", vector_rate(&m1, AMX_E_F64, 1, 11), 92.1 / 16, 0.02);
    check_near("no dip at 16", vector_rate(&m1, AMX_E_F64, 1, 16), 92.2 / 16, 0.02);
    check_near("two rows, 4", vector_rate(&m1, AMX_E_F16, 2, 4), 184.1 / 64, 0.02);
    check_near("two rows, 6", vector_rate(&m1, AMX_E_F16, 2, 6), 184.6 / 64, 0.02);
    check_near("i16, 4", vector_rate(&m1, AMX_E_I16, 1, 4), 185.5 / 64, 0.01);
    check_near("i16, 8", vector_rate(&m1, AMX_E_I16, 1, 8), 185.1 / 64, 0.01);
    struct amx_params m2 = m1;
    m2.clock_ghz = 3.204, m2.vector_cross_cycles = 0;
    check_near("M2, 9 rows", vector_rate(&m2, AMX_E_BF16, 1, 9), 409.2 / 64, 0.01);
}

static void test_mixed_precision_occupies_longer(void)
{
    struct amx_effect mixed = compute(AMX_CLASS_MATRIX, AMX_E_F16, AMX_E_F32, ~UINT64_C(0));
    struct amx_block *block = amx_block_create(&m1, 1);
    for (int i = 0; i < 1000; i++)
        amx_block_send(block, 0, 0, AMX_MATFP, 0, &mixed);
    check_near("f16 to f32", 1000 / amx_block_idle_at(block, 0), 1466.1 / 2048, 0.02); /* matfp.md */
    amx_block_free(block);
}

/* Cycles by reason of a mixed random program of `cores` cores, and the sum that they must have. */
static void random_program(struct amx_block *block, unsigned cores, uint64_t seed, unsigned length)
{
    double now[4] = {0};
    for (unsigned i = 0; i < length; i++) {
        const unsigned core = i % cores;
        const uint64_t r = suite_random(&seed);
        struct amx_effect e;
        unsigned op = AMX_FMA32;
        switch (r % 8) {
        case 0: e = load((uint8_t)(3u << (r >> 8) % 7), 128), op = AMX_LDX; break;
        case 1: e = store_row((r >> 8) % 64), op = AMX_STZ; break;
        case 2: e = (struct amx_effect){.unit_class = r & 64 ? AMX_CLASS_SET : AMX_CLASS_CLR}, op = AMX_SETCLR; break;
        case 3:
        case 4: e = compute(AMX_CLASS_VECTOR, AMX_E_F32, AMX_E_F32, UINT64_C(1) << (r >> 8) % 64); break;
        default: e = compute(AMX_CLASS_MATRIX, AMX_E_F32, AMX_E_F32, class_rows(4, (r >> 8) % 4)); break;
        }
        now[core] += (double)(r >> 40 & 15) * 0.1;
        const double next = amx_block_send(block, core, now[core], op, (r >> 16 & 0xffff) << 6, &e);
        CHECK(next >= now[core], "the CPU may go on at %f, sent at %f", next, now[core]);
        now[core] = next;
    }
}

static void test_every_cycle_has_one_reason(void)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct amx_block *block = amx_block_create(&m1, 4);
        random_program(block, 4, seed, 4000);
        for (unsigned core = 0; core < 4; core++) {
            double cycles[AMX_STALL_COUNT], total, sum = 0;
            amx_block_stalls(block, core, cycles, &total);
            for (int i = 0; i < AMX_STALL_COUNT; i++) {
                CHECK(cycles[i] >= -1e-6, "%s: %f", amx_stall_name((enum amx_stall)i), cycles[i]);
                sum += cycles[i];
            }
            CHECK(total > 0 && fabs(sum - total) <= 1e-6 * total, "reasons %f, total %f", sum, total);
        }
        amx_block_free(block);
    }
}

static void test_reasons_name_the_bottleneck(void)
{
    const struct amx_effect chain = compute(AMX_CLASS_MATRIX, AMX_E_F32, AMX_E_F32, class_rows(4, 0));
    struct amx_block *block = amx_block_create(&m1, 1);
    double now = 0;
    for (int i = 0; i < 1000; i++)
        now = amx_block_send(block, 0, now, AMX_FMA32, 0, &chain);
    CHECK(reason_share(block, AMX_STALL_Z_DEPENDENCY) > 0.7, "%f", reason_share(block, AMX_STALL_Z_DEPENDENCY));
    amx_block_restart(block, 0);
    for (int i = 0; i < 1000; i++)
        amx_block_send(block, 0, i * 10.0, AMX_FMA32, 0, &chain);
    CHECK(reason_share(block, AMX_STALL_CPU) > 0.99, "%f", reason_share(block, AMX_STALL_CPU));
    amx_block_restart(block, 0);
    const struct amx_effect x = load(1, 64);
    for (uint64_t i = 0, at = 0; i < 1000; i++, at += 64)
        amx_block_send(block, 0, 0, AMX_LDX, at, &x);
    CHECK(reason_share(block, AMX_STALL_LOAD_PORT) > 0.9, "%f", reason_share(block, AMX_STALL_LOAD_PORT));
    amx_block_free(block);
}

/* Instructions of two cycles each, one of which may start every four: half the time the array works. */
static void test_array_before_issue(void)
{
    static const double starts[] = {0.5, 0.25}, array[] = {1, 0.5};
    const struct amx_effect f16[] = {compute(AMX_CLASS_MATRIX, AMX_E_F16, AMX_E_F16, class_rows(2, 0)),
                                     compute(AMX_CLASS_MATRIX, AMX_E_F16, AMX_E_F16, class_rows(2, 1))};
    for (unsigned k = 0; k < 2; k++) {
        struct amx_params p = m1;
        p.issue_per_cycle = starts[k];
        struct amx_block *block = amx_block_create(&p, 1);
        double now = 0;
        for (int i = 0; i < 4000; i++)
            now = amx_block_send(block, 0, now, AMX_FMA16, 0, &f16[i % 2]);
        check_near("array", reason_share(block, AMX_STALL_ARRAY), array[k], 0.01);
        CHECK(fabs(reason_share(block, AMX_STALL_ISSUE) - (1 - array[k])) < 0.01, "issue %f",
              reason_share(block, AMX_STALL_ISSUE));
        amx_block_free(block);
    }
}

static void test_set_and_clr(void)
{
    struct amx_block *block = amx_block_create(&m1, 1);
    const struct amx_effect set = {.unit_class = AMX_CLASS_SET}, clr = {.unit_class = AMX_CLASS_CLR};
    double now = 0;
    for (int i = 0; i < 1000; i++) {
        now = amx_block_send(block, 0, now, AMX_SETCLR, 0, &set);
        now = amx_block_send(block, 0, now, AMX_SETCLR, 1, &clr);
    }
    check_near("set and clr", amx_block_idle_at(block, 0) / 1000, 8.31, 0.01); /* eugenehp/amx-rs, M1 Max P core */
    CHECK(reason_share(block, AMX_STALL_SETCLR) > 0.95, "%f", reason_share(block, AMX_STALL_SETCLR));
    amx_block_free(block);
}

static void test_queue_holds_the_cpu_back(void)
{
    struct amx_params p = m1;
    p.queue_entries = 8, p.clock_ghz = 1;
    struct amx_block *block = amx_block_create(&p, 1);
    const struct amx_effect chain = compute(AMX_CLASS_MATRIX, AMX_E_F32, AMX_E_F32, class_rows(4, 0));
    for (int i = 0; i < 7; i++)
        CHECK(amx_block_send(block, 0, 0, AMX_FMA32, 0, &chain) == 0, "place for instruction %d", i + 1);
    for (int i = 7; i < 100; i++) {
        const double next = amx_block_send(block, 0, 0, AMX_FMA32, 0, &chain);
        CHECK(next == 4.0 * (i - 7), "instruction %d: next at %f", i, next);
    }
    amx_block_free(block);
}

/* Matrix instructions per ns of `threads` cores with n accumulators each on one block, in chunks of `chunk` instructions. */
static double rate_of_cores(const struct amx_params *params, unsigned threads, unsigned n, unsigned chunk)
{
    struct amx_block *block = amx_block_create(params, 4);
    struct amx_effect effects[8];
    for (unsigned i = 0; i < 8; i++)
        effects[i] = compute(AMX_CLASS_MATRIX, AMX_E_F64, AMX_E_F64, class_rows(8, i));
    double now[4] = {0}, end = 0;
    for (unsigned i = 0; i < 40000; i += chunk)
        for (unsigned t = 0; t < threads; t++)
            for (unsigned j = i; j < i + chunk; j++)
                now[t] = amx_block_send(block, t, now[t], AMX_FMA64, 0, &effects[j % n]);
    for (unsigned t = 0; t < threads; t++)
        end = fmax(end, amx_block_idle_at(block, t));
    amx_block_free(block);
    return threads * 40000 / end;
}

static double shared_rate(unsigned threads, unsigned chunk)
{
    return rate_of_cores(&m1, threads, 8, chunk) / 2.904;
}

static void test_width_of_the_array(void)
{
    struct amx_params p = m1;
    p.array_width = 2;
    check_near("one core has its own lanes alone", rate_of_cores(&p, 1, 8, 8), 2.904, 0.01);
    check_near("two cores at a time", rate_of_cores(&p, 2, 8, 8), 2 * 2.904, 0.02);
    check_near("no third one", rate_of_cores(&p, 3, 8, 8), 2 * 2.904, 0.02);
    p.array_clock_ghz = 1.452;
    check_near("per cycle of the array's clock", rate_of_cores(&p, 3, 8, 8), 2.904, 0.02);
}

/* corsix/amx issue 6, M2, matfp of f64: two threads with one accumulator each come to 1.286 instructions per ns and three with
 * two to 2.959, of 3.204 that the array takes. Chains alone would allow 1.284 and 3.204. */
static void test_cores_wait_for_turns(void)
{
    struct amx_params p = m1;
    p.clock_ghz = 2.568;
    p.array_clock_ghz = 3.204;
    check_near("without turns the array fills up", rate_of_cores(&p, 3, 2, 8), 3.204, 0.02);
    p.array_turn_power = 2;
    check_near("a core without others in the pipeline goes first", rate_of_cores(&p, 2, 1, 8), 1.286, 0.01);
    check_near("so do four", rate_of_cores(&p, 4, 1, 8), 2.568, 0.01);
    check_near("three with two chains each lose", rate_of_cores(&p, 3, 2, 8), 2.959, 0.02);
    check_near("a full array stays full", rate_of_cores(&p, 4, 8, 8), 3.204, 0.03);
    check_near("one core waits for nobody", rate_of_cores(&p, 1, 8, 8), 2.568, 0.001);
    check_near("in any order of calls", rate_of_cores(&p, 3, 2, 32), rate_of_cores(&p, 3, 2, 8), 0.03);
}

static void test_cores_share_the_array(void)
{
    check_near("one core", shared_rate(1, 8), 1, 0.01);
    check_near("two cores", shared_rate(2, 8), 1, 0.02);
    check_near("four cores", shared_rate(4, 8), 1, 0.02);
    check_near("order of calls", shared_rate(2, 100), shared_rate(2, 8), 0.02);
    struct amx_block *block = amx_block_create(&m1, 2);
    const struct amx_effect e = compute(AMX_CLASS_MATRIX, AMX_E_F64, AMX_E_F64, class_rows(8, 0));
    double now[2] = {0};
    for (int i = 0; i < 1000; i++)
        for (unsigned t = 0; t < 2; t++)
            now[t] = amx_block_send(block, t, now[t], AMX_FMA64, 0, &e);
    check_near("two dependent chains do not meet", amx_block_idle_at(block, 0), 4000 / 2.904, 0.01);
    amx_block_free(block);
}

static void test_deterministic(void)
{
    double end[2][4];
    for (int run = 0; run < 2; run++) {
        struct amx_block *block = amx_block_create(&m1, 4);
        random_program(block, 4, 77, 8000);
        for (unsigned c = 0; c < 4; c++)
            end[run][c] = amx_block_idle_at(block, c);
        amx_block_free(block);
    }
    CHECK(memcmp(end[0], end[1], sizeof end[0]) == 0, "two runs of one program differ");
}

static void test_clock_and_restart(void)
{
    struct amx_block *block = amx_block_create(&m1, 1);
    const struct amx_effect chain = compute(AMX_CLASS_MATRIX, AMX_E_F32, AMX_E_F32, class_rows(4, 0));
    double now = 0;
    for (int i = 0; i < 1000; i++)
        now = amx_block_send(block, 0, now, AMX_FMA32, 0, &chain);
    const double half = amx_block_idle_at(block, 0);
    amx_block_set_clock(block, 2.904 / 2);
    for (int i = 0; i < 1000; i++)
        now = amx_block_send(block, 0, now, AMX_FMA32, 0, &chain);
    check_near("half the clock, twice the time", amx_block_idle_at(block, 0), 3 * half, 0.005);
    amx_block_restart(block, 5000);
    CHECK(amx_block_instructions(block, 0) == 0, "history is forgotten");
    amx_block_send(block, 0, 5000, AMX_FMA32, 0, &chain);
    check_near("starts at the new origin", amx_block_idle_at(block, 0) - 5000, 4 / 1.452, 1e-6);
    amx_block_free(block);
}

static void test_activity(void)
{
    struct amx_block *block = amx_block_create(&m1, 1);
    const struct amx_effect fma = compute(AMX_CLASS_MATRIX, AMX_E_F32, AMX_E_F32, class_rows(4, 0)), x = load(3, 128);
    struct activity a = {{0}};
    for (int i = 0; i < 10; i++) {
        amx_block_send(block, 0, 0, AMX_FMA32, 0, &fma);
        amx_block_send(block, 0, 0, AMX_LDX, 0, &x);
    }
    amx_block_take_activity(block, &a);
    CHECK(a.count[ACT_AMX_INSTRUCTIONS] == 20, "instructions");
    CHECK(a.count[ACT_AMX_F32_MACS] == 640, "macs");
    CHECK(a.count[ACT_AMX_LOAD_BYTES] == 1280, "load bytes");
    CHECK(a.count[ACT_AMX_XY_READ_BYTES] == 10 * 128, "X and Y bytes");
    CHECK(a.count[ACT_AMX_Z_READ_BYTES] == 10 * 16 * 64 && a.count[ACT_AMX_Z_WRITE_BYTES] == 10 * 16 * 64, "Z bytes");
    struct activity again = {{0}};
    amx_block_take_activity(block, &again);
    CHECK(again.count[ACT_AMX_INSTRUCTIONS] == 0, "taken once");
    amx_block_free(block);
}

/* Each parameter moves the predictions that use it and no other. */
static void test_parameters_act_alone(void)
{
    struct amx_params p = m1;
    p.z_latency_cycles += 1;
    CHECK(matrix_rate(&p, AMX_E_F64, AMX_E_F64, 8, 1) < 0.81 * matrix_rate(&m1, AMX_E_F64, AMX_E_F64, 8, 1), "chain");
    CHECK(matrix_rate(&p, AMX_E_F64, AMX_E_F64, 8, 4) < 0.81 * matrix_rate(&m1, AMX_E_F64, AMX_E_F64, 8, 4), "four chains");
    check_near("eight chains hide it", matrix_rate(&p, AMX_E_F64, AMX_E_F64, 8, 8), matrix_rate(&m1, AMX_E_F64, AMX_E_F64, 8, 8),
               0.001);
    check_near("loads do not see it", load_rate(&p, 64, 256), load_rate(&m1, 64, 256), 1e-9);
    p = m1;
    p.load_request_cycles *= 2;
    check_near("half the requests", load_rate(&p, 64, 256), load_rate(&m1, 64, 256) / 2, 0.01);
    check_near("neighbours see it as far as they ask", load_rate(&p, 64, 64), 2.904 * 2 / 3.5, 0.01);
    p = m1;
    p.load_issue_cycles *= 2;
    check_near("half the loads", load_rate(&p, 64, 64), load_rate(&m1, 64, 64) / 2, 0.01);
    check_near("requests of lines hardly", load_rate(&p, 64, 256), 2.904 / 2, 0.01);
    check_near("arithmetic does not see it", vector_rate(&p, AMX_E_F32, 1, 8), vector_rate(&m1, AMX_E_F32, 1, 8), 1e-9);
    p = m1;
    p.array_f64_cycles = 2;
    check_near("array time", matrix_rate(&p, AMX_E_F64, AMX_E_F64, 8, 8), 2.904 / 2, 0.01);
    check_near("other types do not see it", matrix_rate(&p, AMX_E_F32, AMX_E_F32, 4, 4),
               matrix_rate(&m1, AMX_E_F32, AMX_E_F32, 4, 4), 1e-9);
    check_near("a chain slower than the array does not see it", matrix_rate(&p, AMX_E_F64, AMX_E_F64, 8, 1),
               matrix_rate(&m1, AMX_E_F64, AMX_E_F64, 8, 1), 1e-9);
    p = m1;
    p.vector_cross_cycles = 0;
    CHECK(vector_rate(&p, AMX_E_F32, 1, 9) > 1.08 * vector_rate(&m1, AMX_E_F32, 1, 9), "the dip is the lane crossing");
    for (unsigned n = 1; n <= 16; n++)
        if (n != 9)
            check_near("other rows", vector_rate(&p, AMX_E_F32, 1, n), vector_rate(&m1, AMX_E_F32, 1, n), 0.001);
    p = m1;
    p.vector_cross_cycles = 0.87, p.vector_cross_pass_cycles = 0.47;
    /* vecfp.md, f16 to f32, one and two threads; mac16.md, i16: 64 operations each. */
    check_near("five chains of two rows", vector_rate(&p, AMX_E_F16, 2, 5), 345.7 / 2 / 64, 0.02);
    check_near("five chains of i16", vector_rate(&p, AMX_E_I16, 1, 5), 346.1 / 2 / 64, 0.02);
    CHECK(vector_rate(&m1, AMX_E_I16, 1, 5) > 1.04 * vector_rate(&p, AMX_E_I16, 1, 5), "that dip is the second pass");
    check_near("one row has one pass", vector_rate(&p, AMX_E_F32, 1, 9), 9 / 4.87 * 2.904, 0.01);
    p = m1;
    p.load_array_cycles = 2.5;
    check_near("without loads nothing is lost", matrix_rate(&p, AMX_E_F64, AMX_E_F64, 8, 8),
               matrix_rate(&m1, AMX_E_F64, AMX_E_F64, 8, 8), 1e-9);
}

static const struct suite_test tests[] = {
    {"matrix throughputs of the published tables", test_matrix_tables},
    {"vector throughputs of the published tables", test_vector_tables},
    {"mixed precision takes four cycles", test_mixed_precision_occupies_longer},
    {"every cycle has one reason", test_every_cycle_has_one_reason},
    {"reasons name the bottleneck", test_reasons_name_the_bottleneck},
    {"array before issue", test_array_before_issue},
    {"set and clr", test_set_and_clr},
    {"a full queue holds the CPU back", test_queue_holds_the_cpu_back},
    {"cores share the array", test_cores_share_the_array},
    {"an array takes instructions of several cores", test_width_of_the_array},
    {"cores wait for each other's turns", test_cores_wait_for_turns},
    {"two runs agree", test_deterministic},
    {"clock changes and restart", test_clock_and_restart},
    {"activity is counted", test_activity},
    {"parameters act alone", test_parameters_act_alone},
};
SUITE_MAIN("amx timing", tests)
