/* Requests as `orchard run` makes them, and their outcome. */
#ifndef ORCHARD_TESTS_SIM_RUN_EXAMPLE_H
#define ORCHARD_TESTS_SIM_RUN_EXAMPLE_H

#include "sim/run/run.h"
#include "tests/sim/chip_example.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <string.h>

struct outcome {
    struct run_result result; /* free with run_result_free */
    struct orch_error error;
    bool ok;
    char remark[400]; /* the first one */
};

/* With values of the chip set, each as "KEY=VALUE". */
static inline struct outcome run_on_sets(const struct chip_db *db, const char *chip_name, const char *const *set, size_t sets,
                                         const char *workload, struct run_request request)
{
    struct outcome o = {.ok = false};
    const struct chip_overrides overrides = {set, sets};
    struct chip *chip = chip_open(db, chip_name, &overrides, &o.error);
    run_result_init(&o.result);
    if (!chip)
        return o;
    const struct run_source source = {db, &overrides};
    request.chip = chip;
    request.source_of_chip = &source;
    request.workload = workload;
    struct run *run = run_prepare(&request, &o.error);
    o.ok = run && run_execute(run, NULL, 1, &o.result, &o.error);
    if (run && run_remark_count(run))
        snprintf(o.remark, sizeof o.remark, "%s", run_remark(run, 0));
    run_free(run);
    chip_close(chip);
    return o;
}

/* With "KEY=VALUE" of the chip set unless it is NULL. */
static inline struct outcome run_on_set(const struct chip_db *db, const char *chip_name, const char *set, const char *workload,
                                        struct run_request request)
{
    return run_on_sets(db, chip_name, &set, set != NULL, workload, request);
}

static inline struct outcome run_on(const struct chip_db *db, const char *chip_name, const char *workload,
                                    struct run_request request)
{
    return run_on_set(db, chip_name, NULL, workload, request);
}

/* Checksum of the output of that name; 0 when there is none. */
static inline uint64_t checksum(const struct outcome *o, const char *output)
{
    for (size_t i = 0; i < o->result.checksum.count; i++)
        if (strcmp(o->result.checksum.item[i].output, output) == 0)
            return o->result.checksum.item[i].fnv1a64;
    return 0;
}

static inline double counter(const struct outcome *o, const char *name)
{
    return run_values_get(&o->result.counters, name);
}

/* ---- kernels of the GPU library ---- */

/* Runs one; a failed check unless it runs, at the level of detail that was asked for. */
static inline struct outcome run_gpu(const struct chip_db *db, const char *chip_name, const char *set, const char *workload,
                                     struct run_request request)
{
    request.unit = "gpu";
    request.threads = 1;
    struct outcome o = run_on_set(db, chip_name, set, workload, request);
    const bool as_asked = !o.ok || request.mode == RUN_FUNCTIONAL || strcmp(o.result.detail, request.detail) == 0;
    CHECK(o.ok && as_asked, "%s on %s: %s", workload, chip_name, o.ok ? o.result.detail : o.error.text);
    o.ok = o.ok && as_asked;
    return o;
}

/* The same launch timed whole, and from a sample. */
struct whole_and_sample {
    struct outcome whole, sample;
    bool ok;    /* both */
    double off; /* error of the sample's time, as a share; 1 = unknown */
};

static inline struct whole_and_sample run_gpu_both(const struct chip_db *db, const char *chip_name, const char *workload,
                                                   struct run_request request)
{
    struct whole_and_sample both = {.off = 1};
    request.detail = "instr";
    both.whole = run_gpu(db, chip_name, NULL, workload, request);
    request.detail = "sampled";
    both.sample = run_gpu(db, chip_name, NULL, workload, request);
    both.ok = both.whole.ok && both.sample.ok;
    if (both.ok)
        both.off = both.sample.result.device_seconds / both.whole.result.device_seconds - 1;
    return both;
}

static inline void free_both(struct whole_and_sample *both)
{
    run_result_free(&both->whole.result);
    run_result_free(&both->sample.result);
}

/* --mode full gives the results and counts of every threadgroup, whatever was timed. */
static inline void check_full_results(const struct chip_db *db, const char *chip_name, const char *workload)
{
    struct whole_and_sample both = run_gpu_both(db, chip_name, workload, (struct run_request){.mode = RUN_FULL, .cold = true});
    const struct run_result *whole = &both.whole.result, *sample = &both.sample.result;
    CU_ASSERT_TRUE(both.ok && whole->checksum.count > 0);
    CU_ASSERT_EQUAL(whole->checksum.count, sample->checksum.count);
    for (size_t i = 0; both.ok && i < whole->checksum.count; i++)
        CU_ASSERT_EQUAL(whole->checksum.item[i].fnv1a64, sample->checksum.item[i].fnv1a64);
    CU_ASSERT_EQUAL(whole->flops, sample->flops);
    free_both(&both);
}

#endif
