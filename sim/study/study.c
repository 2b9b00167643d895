#include "sim/study/study.h"
#include "sim/study/study_internal.h"

#include "sim/kernel/cpu_kernel.h"
#include "sim/run/run_sustained.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct study {
    const struct study_base *base;
    struct orch_db *db;
    struct device_list devices;
    bool has_devices;
};

void study_answer_init(struct study_answer *answer)
{
    run_result_init(&answer->result);
    answer->method = STUDY_SIMULATED;
    answer->host_seconds = 0;
}

void study_answer_free(struct study_answer *answer)
{
    run_result_free(&answer->result);
    study_answer_init(answer);
}

struct study *study_create(const struct study_base *base, struct orch_db *db, struct orch_error *error)
{
    struct study *const s = calloc(1, sizeof *s);
    if (!s) {
        orch_fail(error, ORCH_INTERNAL, "out of memory");
        return NULL;
    }
    s->base = base;
    s->db = db;
    return s;
}

void study_free(struct study *study)
{
    if (!study)
        return;
    if (study->has_devices)
        device_list_free(&study->devices);
    free(study);
}

static double host_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool simulate(const struct run_request *q, struct run_result *result, struct orch_error *error)
{
    struct run *const run = run_prepare(q, error);
    const bool ok = run && run_execute(run, NULL, 1, result, error);
    run_free(run);
    return ok;
}

static const struct device *machine(struct study *s, const char *name, const char *chip, struct orch_error *error)
{
    if (!s->has_devices && !device_list_load(NULL, &s->devices, error))
        return NULL;
    s->has_devices = true;
    return device_find(&s->devices, name, chip, error);
}

static bool simulate_in_device(struct study *s, const struct study_asked *a, const struct run_request *run, struct run_result *result,
                               struct orch_error *error)
{
    const struct run_sustained_request q = {
        .run = *run, .db = s->base->chips, .overrides = a->sets, .device = a->device,
        .machine = machine(s, a->device, chip_id(run->chip), error), .duration_s = a->duration_s, .ambient_c = a->ambient_c,
        .policy = a->policy, .low_power = a->low_power, .power_cap_w = a->power_cap_w, .battery_percent = NAN};
    struct sustain_result series = {0};
    struct run_sustained *const sustained = q.machine ? run_sustained_prepare(&q, error) : NULL;
    const bool ok = sustained && run_sustained_execute(sustained, NULL, 1, result, &series, error);
    sustain_result_free(&series);
    run_sustained_free(sustained);
    return ok;
}

static bool evaluate(struct study *s, const struct study_asked *a, struct run_result *result, struct orch_error *error)
{
    struct run_request q = a->request;
    struct chip *const chip = chip_open(s->base->chips, a->chip, &a->sets, error);
    if (!chip)
        return false;
    q.chip = chip;
    q.mode = q.unit && strcmp(q.unit, "cpu") == 0 && cpu_kernel_has(q.workload) ? RUN_FULL : RUN_TIMING;
    if (q.detail && strcmp(q.detail, "op") == 0)
        q.detail = NULL;
    const bool ok = a->device ? simulate_in_device(s, a, &q, result, error) : simulate(&q, result, error);
    chip_close(chip);
    return ok;
}

bool study_evaluate_fresh(struct study *study, const struct study_setting *setting, struct study_answer *answer,
                          struct orch_error *error)
{
    const double begin = host_seconds();
    struct study_asked asked;
    study_answer_free(answer);
    const bool ok = study_ask(&asked, study->base, setting, error) && evaluate(study, &asked, &answer->result, error);
    study_asked_free(&asked);
    answer->host_seconds = host_seconds() - begin;
    return ok;
}

bool study_evaluate(struct study *study, const struct study_setting *setting, struct study_answer *answer, struct orch_error *error)
{
    return study_evaluate_fresh(study, setting, answer, error);
}

void study_last_reads(const struct study *study, struct study_reads *reads)
{
    (void)study;
    *reads = (struct study_reads){0};
}
