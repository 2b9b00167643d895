/* Characteristics and measurements for the suites of the performance database, and the text that a query prints. */
#ifndef ORCHARD_TESTS_SIM_DB_STORE_EXAMPLE_H
#define ORCHARD_TESTS_SIM_DB_STORE_EXAMPLE_H

#include "tests/sim/db_example.h"

static const struct db_characteristic_key example_gemm_key = {.program_hash = "feed",
                                                              .kernel = "gemm_f32",
                                                              .shape = "64x64x64",
                                                              .precision = "f32",
                                                              .detail = "sampled",
                                                              .version = "0.1.0",
                                                              .part = PART_AMX};

static inline void example_characteristic(struct db_characteristic *c, double cycles)
{
    db_characteristic_init(c);
    c->cycles = cycles;
    c->activity.count[ACT_AMX_F32_MACS] = 262144;
    c->activity.count[ACT_L2_READ_BYTES] = UINT64_C(1) << 40;
    run_values_set(&c->traffic, "dram_read", 16384);
    run_values_set(&c->stalls, "amx.array", cycles * 0.75);
    run_values_set(&c->stalls, "amx.issue", cycles * 0.25);
    run_values_set(&c->other, "flops", 524288);
}

static inline bool example_put(struct orch_db *db, const struct db_characteristic_key *key, double z_latency, double cycles,
                               struct orch_error *error)
{
    struct db_characteristic c;
    const struct db_parameter read = {"amx.z_latency_cycles", z_latency};
    example_characteristic(&c, cycles);
    const bool ok = db_put_characteristic(db, key, &read, 1, &c, error);
    db_characteristic_free(&c);
    return ok;
}

static const struct db_measurement example_measurement = {.label = "HW1",
                                                          .chip = "m1_4p4e_8g",
                                                          .unit = "gpu",
                                                          .workload = "softmax",
                                                          .precision = "f32",
                                                          .shape = "64x1000000",
                                                          .metric = "time",
                                                          .value_unit = "ms",
                                                          .kind = "measured",
                                                          .source = "a paper",
                                                          .value = 20,
                                                          .watts = (double)NAN,
                                                          .flops = 1e9,
                                                          .min_bytes = (double)NAN};

static inline void example_printed(struct orch_db *db, const char *sql, enum db_format format, char *text, size_t size)
{
    struct orch_error error = {0};
    FILE *out = tmpfile();
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CHECK(db_print_query(db, sql, format, out, &error), "%s: %s", sql, error.text);
    rewind(out);
    text[fread(text, 1, size - 1, out)] = 0;
    fclose(out);
}

#endif
