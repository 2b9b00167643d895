#include "sim/run/run_timing.h"
#include "sim/base/host_time.h"
#include "sim/run/run_internal.h"
#include "sim/workload/amx/kernel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void run_timing_init(struct run_timing *timing)
{
    memset(timing, 0, sizeof *timing);
    run_result_init(&timing->result);
}

void run_timing_free(struct run_timing *timing)
{
    run_result_free(&timing->result);
    run_timing_init(timing);
}

bool run_is_operator(const struct run_request *q)
{
    return q->detail && strcmp(q->detail, "op") == 0;
}

/* ---- simulating ---- */

static void take(const struct run *run, const struct run_measure *m, struct run_timing *t)
{
    t->kind = run->kind;
    t->end_ns = m->end_ns;
    t->activity = m->activity;
    memcpy(t->by, m->by, sizeof t->by);
    t->busy = m->busy;
    t->gpu_groups = m->gpu.groups;
    t->gpu_clock_ghz = m->gpu.params.clock_ghz;
    t->ane_clock_ghz = m->ane.timed.params.clock_ghz;
    t->gpu_bytes = run->gpu_bytes;
    t->gpu_group_threads = run->gpu_group_threads;
}

/* Gives back what run_joules and the event stream read from a measure. */
static void give(const struct run_timing *t, struct run *run, struct run_measure *m)
{
    m->end_ns = t->end_ns;
    m->activity = t->activity;
    memcpy(m->by, t->by, sizeof m->by);
    m->busy = t->busy;
    m->gpu.groups = t->gpu_groups;
    m->gpu.params.clock_ghz = t->gpu_clock_ghz;
    m->ane.timed.params.clock_ghz = t->ane_clock_ghz;
    run->gpu_bytes = t->gpu_bytes;
    run->gpu_group_threads = t->gpu_group_threads;
}

/* Some kernels are timed while they execute. */
static enum run_mode mode_without_values(const struct run_request *q)
{
    const struct run_kind *const kind = kernel_is_workload(q->workload) ? run_kind_of_kernel(q) : NULL;
    return kind && kind->needs_values ? RUN_FULL : RUN_TIMING;
}

bool run_timing_simulate(const struct run_request *request, struct run_timing *timing, struct orch_error *error)
{
    struct run_request q = *request;
    struct run_measure m = {0};
    q.mode = mode_without_values(request);
    q.detail = run_is_operator(request) ? NULL : request->detail;
    /* Drops what does not decide the timing and what would tie it to this moment. */
    q.known = NULL;
    q.watch = NULL;
    q.program_output = NULL;
    q.output_folder = NULL;
    q.sanitize = false;
    struct run *const run = run_prepare(&q, error);
    const bool ok = run && run_time(run, &m, &timing->result, error);
    if (ok)
        take(run, &m, timing);
    run_measure_release(&m);
    run_free(run);
    timing->result.host_seconds = NAN; /* it describes this host, not the simulated machine */
    run_checksums_free(&timing->result.checksum);
    return ok;
}

/* ---- from timing to result ---- */

/* The result of an operator says at which level it was timed. */
static bool name_detail(const struct run_timing *t, const struct run_request *q, struct run_result *r)
{
    char text[96];
    if (!run_is_operator(q))
        return true;
    snprintf(text, sizeof text, "an operator: timed at %s, without values", t->result.detail);
    return run_result_set_text(&r->detail, "op") && run_result_set_text(&r->mode, "timing") &&
           run_assumption_add(&r->assumptions, "detail", "inferred", text);
}

static bool finish(const struct run_timing *t, struct run *run, struct run_measure *m, struct run_result *r,
                   struct orch_error *error)
{
    const struct run_request *q = run->request;
    give(t, run, m);
    if (!run_result_copy(r, &t->result) || !run_result_set_text(&r->chip, chip_id(q->chip)) ||
        !run_result_set_text(&r->workload, q->workload) || !name_detail(t, q, r))
        return orch_no_memory(error);
    return run_joules(run, m, r, error);
}

bool run_timing_result(const struct run_timing *timing, const struct run_request *request, struct run_result *result,
                       struct energy_run *energy, bool *has_energy, struct orch_error *error)
{
    struct run_request q = *request;
    struct run_measure m = {0};
    struct run run = {.request = &q, .kind = timing->kind};
    q.mode = mode_without_values(request);
    if (!finish(timing, &run, &m, result, error))
        return false;
    if (energy)
        *energy = run.energy;
    if (has_energy)
        *has_energy = run.has_energy;
    return true;
}

bool run_timing_measure(const struct run_timing *timing, const struct run_request *request, struct run_measure *measure,
                        struct run_result *result, struct orch_error *error)
{
    struct run run = {.request = request, .kind = timing->kind};
    return finish(timing, &run, measure, result, error);
}

/* ---- work in other times ---- */

struct run_timing_work run_timing_work(const struct run_timing *timing)
{
    const bool gpu = timing->gpu_groups > 0 && !isnan(timing->result.device_seconds);
    return (struct run_timing_work){gpu ? timing->kind : NULL, timing->activity, timing->gpu_groups};
}

/* Makes DRAM traffic `bytes`, reads and writes in the same proportion; all of it reads where there was none. */
static void set_dram_bytes(struct activity *activity, double bytes)
{
    uint64_t *const reads = &activity->count[ACT_DRAM_READ_BYTES], *const writes = &activity->count[ACT_DRAM_WRITE_BYTES];
    const double before = (double)(*reads + *writes), share = before > 0 ? (double)*reads / before : 1;
    *reads = (uint64_t)(share * bytes + 0.5);
    *writes = (uint64_t)((1 - share) * bytes + 0.5);
}

double run_timing_work_joules(const struct run_timing_work *work, const struct chip *chip, double celsius,
                              const struct run_timing_took *took)
{
    struct run_measure m = {.activity = work->activity};
    struct energy_model model;
    m.gpu.groups = work->gpu_groups;
    if (!work->kind || !chip_number(chip, "gpu.clock_ghz", &m.gpu.params.clock_ghz, NULL) ||
        !energy_model_open(&model, chip, NULL))
        return NAN;
    if (!isnan(took->dram_bytes))
        set_dram_bytes(&m.activity, fmax(took->dram_bytes, 0));
    return run_joules_of(work->kind, &model, &m, celsius, took->seconds, took->device_seconds);
}

/* ---- an operator as a run ---- */

static bool tell_way(struct run_result *r, bool known)
{
    struct run_placement *const first = r->placement.count ? &r->placement.item[0] : NULL;
    char text[256];
    if (!first)
        return true;
    snprintf(text, sizeof text, "%.160s; its characteristic was %s", first->why, known ? "known" : "made by simulating");
    return run_result_set_text(&first->why, text);
}

bool run_operator(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error)
{
    const struct run_request *q = run->request;
    const struct run_known *known = q->known;
    const double begin = host_seconds();
    struct run_timing own;
    bool was_known = false;
    run_timing_init(&own);
    const struct run_timing *const t = known                                 ? known->timing(known->context, q, &was_known, error)
                                       : run_timing_simulate(q, &own, error) ? &own
                                                                             : NULL;
    const bool ok = t && finish(t, run, m, result, error) && (tell_way(result, was_known) || orch_no_memory(error));
    result->host_seconds = host_seconds() - begin;
    run_timing_free(&own);
    return ok;
}
