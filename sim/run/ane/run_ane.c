/* Requests to the Neural Engine: executed for their results, timed for their duration. Executing never depends on time. */
#include "sim/run/ane/run_ane.h"

#include "sim/base/host_time.h"
#include "isa/ane/ane_text.h"
#include "sim/chip/chip_units.h"
#include "sim/run/run_internal.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct work {
    struct run *run;
    struct run_measure *m;
    struct run_result *result;
    struct ane_buffers buffers;
    const struct mem_space *theirs; /* where the caller's buffers are */
    const uint64_t *given;          /* their addresses by array, elements in order; NULL = none */
    unsigned given_count;
    struct orch_error *error;
};

/* ---- buffers of the caller: elements in order, which host software lays out for the engine and back ---- */

static uint8_t *given_at(const struct work *k, unsigned i)
{
    const struct ane_array *v = &run_ane_workload(k->run)->array[i];
    return k->given && k->given[i] ? mem_at(k->theirs, k->given[i], ane_array_dense_bytes(v), MEM_READ | MEM_WRITE) : NULL;
}

static bool check_given(struct work *k)
{
    const struct ane_workload *w = run_ane_workload(k->run);
    for (unsigned i = 0; k->given && i < w->arrays && i < k->given_count; i++)
        if (k->given[i] && !given_at(k, i))
            return orch_fail(k->error, ORCH_USAGE, "%.200s: buffer %s at 0x%llx is shorter than %llu bytes", w->name,
                             w->array[i].name, (unsigned long long)k->given[i],
                             (unsigned long long)ane_array_dense_bytes(&w->array[i]));
    return true;
}

/* Takes constants as fp16 elements; the program is built again with them. */
static bool take_constants(struct work *k)
{
    struct ane_workload *w = run_ane_workload(k->run);
    float *values[ANE_WORKLOAD_CONSTANTS] = {NULL};
    size_t number = 0;
    bool any = false, ok = true;
    for (unsigned i = 0; ok && k->given && i < w->arrays && i < k->given_count && number < ANE_WORKLOAD_CONSTANTS; i++) {
        if (w->array[i].role != ANE_TENSOR_CONSTANT)
            continue;
        const uint8_t *at = given_at(k, i);
        if (at) {
            values[number] = ane_array_floats(&w->array[i], at);
            ok = any = values[number] != NULL;
        }
        number++;
    }
    ok = ok ? !any || ane_workload_set_constants(w, (const float *const *)values, k->error) : orch_no_memory(k->error);
    for (size_t i = 0; i < ANE_WORKLOAD_CONSTANTS; i++)
        free(values[i]);
    return ok;
}

bool run_ane_set_constants(struct run *run, const struct run_given *given, struct orch_error *error)
{
    struct work k = {.run = run, .theirs = given->space, .given = given->address, .given_count = given->count, .error = error};
    return check_given(&k) && take_constants(&k);
}

static void take_inputs(struct work *k)
{
    const struct ane_workload *w = run_ane_workload(k->run);
    for (unsigned i = 0; k->given && i < w->arrays && i < k->given_count; i++) {
        const uint8_t *at = w->array[i].role == ANE_TENSOR_INPUT ? given_at(k, i) : NULL;
        if (at)
            ane_array_unpack(&w->array[i], at, ane_buffers_at(&k->buffers, &w->array[i]));
    }
}

static void give_outputs(struct work *k)
{
    const struct ane_workload *w = run_ane_workload(k->run);
    for (unsigned i = 0; k->given && i < w->arrays && i < k->given_count; i++) {
        uint8_t *at = w->array[i].role == ANE_TENSOR_OUTPUT ? given_at(k, i) : NULL;
        if (at)
            ane_array_pack(&w->array[i], ane_buffers_at(&k->buffers, &w->array[i]), at);
    }
}

/* ---- results ---- */

static bool save_output(const struct work *k, const struct ane_array *v)
{
    const char *folder = k->run->request->output_folder;
    char path[PATH_MAX + 128];
    if (!run_output_folder(folder, k->error))
        return false;
    snprintf(path, sizeof path, "%s/%s.npy", folder, v->name);
    for (char *c = path + strlen(folder) + 1; *c; c++) /* port names come from the container */
        *c = *c == '/' ? '_' : *c;
    return ane_array_save(v, path, ane_buffers_at(&k->buffers, v), k->error);
}

static bool hand_over(struct work *k)
{
    const struct ane_workload *w = run_ane_workload(k->run);
    unsigned files = 0;
    for (unsigned i = 0; i < w->arrays; i++) {
        const struct ane_array *v = &w->array[i];
        if (v->role != ANE_TENSOR_OUTPUT)
            continue;
        if (!run_checksum_add(&k->result->checksum, v->name, ane_array_checksum(v, ane_buffers_at(&k->buffers, v))))
            return orch_no_memory(k->error);
        if (!k->run->request->output_folder)
            continue;
        if (!save_output(k, v))
            return false;
        files++;
    }
    return !files || run_values_add(&k->result->counters, RUN_COUNTER_FILES, files) || orch_no_memory(k->error);
}

static bool execute(struct work *k)
{
    const struct run_request *q = k->run->request;
    struct ane_core *core = ane_request_core(q->chip, k->error);
    bool ok = core && ane_buffers_fill(&k->buffers, q->seed, q->inputs, q->input_count, k->error);
    if (ok)
        take_inputs(k);
    const double begin = host_seconds();
    for (unsigned i = 0; ok && i < run_repeats(k->run); i++) {
        work_progress_tell(k->run->progress, "executing", (double)i / run_repeats(k->run), 0);
        ok = ane_buffers_run(&k->buffers, core, q->threads, &k->m->ane.counts, k->error);
    }
    k->m->host_seconds += host_seconds() - begin;
    ane_core_free(core);
    if (ok)
        give_outputs(k);
    return ok && hand_over(k);
}

/* ---- time ---- */

/* Requests that each begin with empty caches: sums, and the last one in detail. */
static bool time_evicted(const struct run *run, const struct ane_buffers *b, struct soc *soc, struct ane_timed *t,
                         struct orch_error *error)
{
    const struct ane_time_options cold = {.cold = true, .repeat = 1};
    bool ok = true;
    for (unsigned i = 0; ok && i < run_repeats(run); i++) {
        const struct ane_timed sum = *t;
        ok = ane_time_run(b, soc, &cold, t, error);
        for (unsigned s = 0; s < ANE_STALL_COUNT; s++)
            t->cycles_by[s] += sum.cycles_by[s];
        t->device_ns += sum.device_ns;
        t->overhead_ns += sum.overhead_ns;
        t->host_seconds += sum.host_seconds;
        activity_add(&t->activity, &sum.activity);
        run_memory_add(&t->memory, &sum.memory);
        free(sum.task);
    }
    return ok;
}

static bool time_with(const struct run *run, const struct ane_buffers *b, struct run_measure *m, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    const struct ane_time_options options = {.cold = q->cold, .repeat = run_repeats(run), .idle_ns = q->idle_s * 1e9};
    struct ane_timed *t = &m->ane.timed;
    work_progress_tell(run->progress, "timing", NAN, 0);
    if (!run_soc_open(run, m, error) ||
        !(run->request->evict ? time_evicted(run, b, m->soc, t, error) : ane_time_run(b, m->soc, &options, t, error)))
        return false;
    m->host_seconds += t->host_seconds;
    activity_add(&m->activity, &t->activity);
    run_memory_add(&m->memory, &t->memory);
    m->end_ns = t->device_ns + t->overhead_ns;
    return true;
}

bool run_ane_time(const struct run *run, struct run_measure *m, struct orch_error *error)
{
    struct ane_buffers buffers;
    struct mem_space *space = run_space_create(run, error);
    const bool ok =
        space && ane_buffers_open(&buffers, run_ane_workload(run), space, error) && time_with(run, &buffers, m, error);
    run_space_free(space, run, m);
    return ok;
}

/* ---- the whole ---- */

/* Tells when code of one generation runs on the engine of another: a real machine needs the program compiled again. */
static bool tell_generation(struct work *k)
{
    struct ane_limits limits;
    char text[160];
    const enum ane_generation own = run_ane_workload(k->run)->kernel.program.generation;
    if (!chip_ane_limits(k->run->request->chip, &limits, k->error))
        return false;
    if (limits.generation == own)
        return true;
    snprintf(text, sizeof text, "descriptors are those of H%d; this chip's H%d engine is taken to run them at its own pace",
             (int)own, (int)limits.generation);
    return run_assumption_add(&k->result->assumptions, "ane.generation", "guess", text) || orch_no_memory(k->error);
}

static bool place(struct work *k)
{
    const struct ane_workload *w = run_ane_workload(k->run);
    char kernel[96], detail[64] = "", op[128];
    const char *operation = w->request.info ? NULL : ane_program_operation(&w->kernel.program, detail, sizeof detail);
    snprintf(op, sizeof op, "%s", operation ? operation : w->name);
    if (w->request.info)
        snprintf(kernel, sizeof kernel, "%s", w->kernel.variant);
    else
        snprintf(kernel, sizeof kernel, "%zu descriptor%s", w->kernel.program.count, w->kernel.program.count == 1 ? "" : "s");
    return run_placement_add(&k->result->placement, op, "ane", kernel,
                             w->request.info ? "a program of the kernel library"
                                             : "a Neural Engine program runs on the Neural Engine") ||
           orch_no_memory(k->error);
}

bool run_ane_time_in(struct run *run, const struct run_given *given, struct run_measure *m, struct run_result *result,
                     struct orch_error *error)
{
    struct work k = {.run = run, .m = m, .result = result, .error = error};
    const enum run_mode mode = run->request->mode;
    if (given) {
        k.theirs = given->space;
        k.given = given->address;
        k.given_count = given->count;
    }
    struct mem_space *const space = run_space_create(run, error);
    const bool ok = space && tell_generation(&k) && check_given(&k) && take_constants(&k) &&
                    ane_buffers_open(&k.buffers, run_ane_workload(run), space, error) && (mode == RUN_TIMING || execute(&k)) &&
                    (mode == RUN_FUNCTIONAL || time_with(run, &k.buffers, m, error)) && place(&k);
    run_space_free(space, run, m);
    return ok;
}
