/* The pool of unified memory against an explicit model of what is in use: classes, reuse, high-water marks, pressure, trimming.
 * Also what does not fit into a machine's memory.
 */
#include "isa/array_count.h"
#include "sim/chip/chip.h"
#include "sim/run/run.h"
#include "tests/sim/chip_example.h"
#include "tests/support/suite.h"
#include "units/mem/mem_pool.h"

#include <string.h>

#define MIB (UINT64_C(1) << 20)

static void test_classes(void)
{
    CU_ASSERT_EQUAL(mem_pool_class_bytes(1), 128);
    CU_ASSERT_EQUAL(mem_pool_class_bytes(128), 128);
    CU_ASSERT_EQUAL(mem_pool_class_bytes(129), 256);
    CU_ASSERT_EQUAL(mem_pool_class_bytes(1024), 1024);
    CU_ASSERT_EQUAL(mem_pool_class_bytes(1025), 1280);
    CU_ASSERT_EQUAL(mem_pool_class_bytes(16384), 16384);
    CU_ASSERT_EQUAL(mem_pool_class_bytes(5 * MIB), 5 * MIB);
    CU_ASSERT_EQUAL(mem_pool_class_bytes(5 * MIB + 1), 6 * MIB);
    for (uint64_t bytes = 1; bytes < 64 * MIB; bytes += 1 + bytes / 7) {
        const uint64_t got = mem_pool_class_bytes(bytes);
        CHECK(got >= bytes && (got <= 2 * 16384 || got <= bytes + bytes / 4 + 16384), "%lu gets %lu", (unsigned long)bytes,
              (unsigned long)got);
        CHECK(mem_pool_class_bytes(got) == got, "%lu is no class of its own", (unsigned long)got);
    }
}

enum { SLOTS = 300 };

struct model {
    uint64_t address[SLOTS], bytes[SLOTS], used, peak;
    uint8_t mark[SLOTS];
};

static void drop(struct mem_pool *pool, struct mem_space *space, struct model *m, unsigned i)
{
    const uint8_t *at = mem_at(space, m->address[i], m->bytes[i], MEM_READ);
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    if (!at)
        return;
    CHECK(at[0] == m->mark[i] && at[m->bytes[i] - 1] == m->mark[i], "slot %u was overwritten", i);
    CU_ASSERT(mem_pool_release(pool, m->address[i]));
    m->used -= mem_pool_class_bytes(m->bytes[i]);
    m->address[i] = 0;
}

static void take(struct mem_pool *pool, struct mem_space *space, struct model *m, unsigned i, uint64_t bytes)
{
    const uint64_t address = mem_pool_alloc(pool, bytes);
    uint8_t *at = address ? mem_at(space, address, bytes, MEM_READ | MEM_WRITE) : NULL;
    CU_ASSERT_PTR_NOT_NULL_FATAL(at);
    if (!at)
        return;
    CHECK(at[0] == 0 && at[bytes / 2] == 0 && at[bytes - 1] == 0, "block of %lu is not zero", (unsigned long)bytes);
    m->address[i] = address;
    m->bytes[i] = bytes;
    m->mark[i] = (uint8_t)(1 + i % 250);
    memset(at, m->mark[i], bytes);
    m->used += mem_pool_class_bytes(bytes);
    m->peak = m->used > m->peak ? m->used : m->peak;
}

static void test_random_use(void)
{
    const struct mem_pool_params params = {0};
    struct mem_space *space = mem_space_create(UINT64_C(1) << 34);
    struct mem_pool *pool = mem_pool_create(space, &params);
    struct model m = {.used = 0};
    struct mem_pool_stats stats;
    uint64_t seed = 3;
    CU_ASSERT_PTR_NOT_NULL_FATAL(pool);
    for (int step = 0; step < 4000; step++) {
        const unsigned i = (unsigned)(suite_random(&seed) % SLOTS);
        if (m.address[i])
            drop(pool, space, &m, i);
        else
            take(pool, space, &m, i, 1 + suite_random(&seed) % (UINT64_C(1) << (5 + suite_random(&seed) % 14)));
        if (step % 997 == 996)
            mem_pool_trim(pool);
        mem_pool_stats(pool, &stats);
        CHECK(stats.used_bytes == m.used && stats.used_peak_bytes == m.peak && stats.held_bytes >= m.used,
              "step %d: %lu, %lu, %lu held", step, (unsigned long)stats.used_bytes, (unsigned long)stats.used_peak_bytes,
              (unsigned long)stats.held_bytes);
        CHECK(stats.held_bytes == space->mapped_bytes, "step %d: %lu held, %lu mapped", step, (unsigned long)stats.held_bytes,
              (unsigned long)space->mapped_bytes);
    }
    CU_ASSERT(stats.reused > 500);
    for (unsigned i = 0; i < SLOTS; i++)
        if (m.address[i])
            drop(pool, space, &m, i);
    mem_pool_trim(pool);
    mem_pool_stats(pool, &stats);
    CU_ASSERT_EQUAL(stats.held_bytes, 0);
    CU_ASSERT_EQUAL(stats.blocks, 0);
    CU_ASSERT_EQUAL(space->mapped_bytes, 0);
    CU_ASSERT(!mem_pool_release(pool, 0x10000));
    mem_pool_free(pool);
    mem_space_free(space);
}

static void test_capacity_and_pressure(void)
{
    const struct mem_pool_params params = {64 * MIB, 0.5, 0.875};
    struct mem_space *space = mem_space_create(UINT64_C(1) << 30);
    struct mem_pool *pool = mem_pool_create(space, &params);
    struct mem_pool_stats stats;
    const uint64_t a = mem_pool_alloc(pool, 16 * MIB), b = mem_pool_alloc(pool, 16 * MIB);
    mem_pool_stats(pool, &stats);
    CU_ASSERT_EQUAL(stats.pressure, MEM_PRESSURE_WARN);
    const uint64_t c = mem_pool_alloc(pool, 24 * MIB);
    mem_pool_stats(pool, &stats);
    CU_ASSERT(a && b && c);
    CU_ASSERT_EQUAL(stats.pressure, MEM_PRESSURE_CRITICAL);
    CU_ASSERT_EQUAL(mem_pool_alloc(pool, 16 * MIB), 0);
    CU_ASSERT(mem_pool_release(pool, a));
    CU_ASSERT(mem_pool_release(pool, b));
    mem_pool_stats(pool, &stats);
    CU_ASSERT_EQUAL(stats.pressure, MEM_PRESSURE_NOMINAL);
    CU_ASSERT_EQUAL(stats.pressure_peak, MEM_PRESSURE_CRITICAL);
    /* 32 MiB of another class: the freed blocks are returned first. */
    CU_ASSERT(mem_pool_alloc(pool, 32 * MIB) != 0);
    mem_pool_stats(pool, &stats);
    CU_ASSERT_EQUAL(stats.refused, 1);
    CU_ASSERT_EQUAL(stats.held_peak_bytes, 56 * MIB);
    CU_ASSERT_EQUAL(mem_pool_alloc(pool, UINT64_C(1) << 60), 0);
    mem_pool_free(pool);
    mem_space_free(space);
}

static struct chip_db *db;

static void refuse_or_run(const char *chip_name, const char *workload, struct run_request request, bool runs, const char *words)
{
    struct orch_error error = {0};
    struct chip *chip = chip_open(db, chip_name, NULL, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(chip);
    request.chip = chip;
    request.workload = workload;
    struct run *run = run_prepare(&request, &error);
    CHECK((run != NULL) == runs, "%s on %s: %s", workload, chip_name, error.text);
    CHECK(runs || (error.exit_code == ORCH_USAGE && strstr(error.text, words)), "%s: %s", workload, error.text);
    run_free(run);
    chip_close(chip);
}

static void test_what_does_not_fit_is_refused(void)
{
    const struct run_request gpu = {.unit = "gpu"}, cpu = {.unit = "cpu"}, small = {.unit = "gpu", .memory_gib = 8};
    refuse_or_run("m1", "stream-triad:4G", small, false, "needs 12.0 GiB");
    refuse_or_run("m1", "stream-triad:4G", small, false, "--memory 16");
    refuse_or_run("m1", "copy:6G", (struct run_request){.unit = "cpu", .memory_gib = 8}, false, "8, 16 GiB");
    refuse_or_run("m1", "copy:16G", cpu, false, "needs 32.0 GiB");
    refuse_or_run("m1", "gemm:65536x65536x65536", (struct run_request){.unit = "amx"}, false, "needs 48.");
    refuse_or_run("m1", "stream-triad:64M", (struct run_request){.unit = "gpu", .memory_gib = 12}, false, "8, 16");
    refuse_or_run("m1", "stream-triad:2G", gpu, true, "");
    refuse_or_run("m1-max", "copy:16G", cpu, true, "");
}

static void test_pressure_of_a_run(void)
{
    struct orch_error error = {0};
    struct chip *chip = chip_open(db, "m1", NULL, &error);
    struct run_result result;
    run_result_init(&result);
    const struct run_request request = {
        .chip = chip, .workload = "copy:1M", .unit = "cpu", .mode = RUN_FUNCTIONAL, .memory_gib = 8};
    struct run *run = run_prepare(&request, &error);
    CU_ASSERT(run && run_execute(run, NULL, 1, &result, &error));
    CU_ASSERT_EQUAL(run_values_get(&result.counters, "memory.capacity_bytes"), 8 * 1024.0 * 1048576);
    CU_ASSERT(run_values_get(&result.counters, "memory.used_bytes") >= 2097152);
    CU_ASSERT(run_values_get(&result.counters, "memory.used_bytes") < 64.0 * 1048576);
    CU_ASSERT_EQUAL(run_values_get(&result.counters, "memory.pressure"), MEM_PRESSURE_NOMINAL);
    run_free(run);
    run_result_free(&result);
    chip_close(chip);
}

static const struct suite_test tests[] = {
    {"blocks come in size classes", test_classes},
    {"random use agrees with the model", test_random_use},
    {"pressure follows from the capacity in use", test_capacity_and_pressure},
    {"what does not fit is refused", test_what_does_not_fit_is_refused},
    {"a run reports its memory pressure", test_pressure_of_a_run},
};

int main(void)
{
    return example_chips_run("memory pool", tests, ARRAY_COUNT(tests), &db);
}
