#include "sim/workload/gpu/gpu_job_internal.h"

#include <stdlib.h>
#include <string.h>

/* Instructions that a simdgroup runs ahead of its timing: so few that its trace stays in the host's caches. Where laps are leapt
 * over, fewer, so that simdgroups which leap together land together. */
#define RUN_AHEAD      256
#define RUN_AHEAD_LEAP 24

/* ---- the source of instructions ---- */

/* Leaps are settled when a threadgroup begins, and marks are taken then. */
static struct gpu_mark mark(const struct gpu_job *j)
{
    const struct gpu_reader *reader = &j->selection.reader;
    struct gpu_mark m = {.ns = gpu_timing_now_ns(j->timing) + j->leapt.ns};
    for (size_t i = 0; i < (size_t)j->params->cores * j->slots; i++)
        if (j->slot[i].group)
            m.work += (double)gpu_group_counts(j->slot[i].group).instructions;
    if (reader->read) {
        reader->read(reader->context, &m.counts);
        gpu_counted_add(&m.counts, &j->leapt.counts, 1);
    }
    return m;
}

/* Leaves a stretch and enters the next one; false on a fault of a threadgroup that runs between them. */
static bool next_stretch(struct gpu_job *j)
{
    const struct gpu_selection *s = &j->selection;
    if (s->progress)
        s->progress[j->stretch].end = mark(j);
    j->next = 0;
    if (++j->stretch == s->stretches)
        return true;
    const struct gpu_stretch *to = &s->stretch[j->stretch];
    if (to->warm_first == to->first)
        return true;
    const uint64_t before = gpu_warmer_counts(s->warmer).work;
    const bool ok = gpu_warmer_run(s->warmer, to->warm_first, to->first, gpu_timing_now_ns(j->timing), &j->fault);
    if (s->progress)
        s->progress[j->stretch].warm_work = (double)(gpu_warmer_counts(s->warmer).work - before);
    j->no_memory = j->no_memory || (!ok && j->fault.kind == UNIT_FAULT_NONE);
    return ok;
}

/* Takes the next threadgroup of the selection; *left is false when there is none. False on a fault. */
static bool next_group(struct gpu_job *j, uint64_t *number, bool *left)
{
    const struct gpu_selection *s = &j->selection;
    if (j->stretch < s->stretches && j->next == s->stretch[j->stretch].count && !next_stretch(j))
        return false;
    *left = j->stretch < s->stretches;
    if (!*left)
        return true;
    const struct gpu_stretch *in = &s->stretch[j->stretch];
    if (s->progress && j->next == in->lead)
        s->progress[j->stretch].lead = mark(j);
    *number = in->first + j->next++;
    return true;
}

static bool open_slot(struct gpu_job *j, struct gpu_job_slot *s)
{
    const struct gpu_checks checks = {.steer = true, .instruction_limit = GPU_WATCHDOG_INSTRUCTIONS};
    if (!s->group)
        s->group = gpu_group_create(&j->setup->launch, &checks);
    j->no_memory = j->no_memory || !s->group;
    if (s->group && j->leaper)
        gpu_group_mark_laps(s->group, j->selection.leaps->lap);
    return s->group != NULL;
}

static unsigned start(void *context, unsigned core, unsigned slot, bool *ok)
{
    struct gpu_job *j = context;
    struct gpu_job_slot *s = gpu_job_slot(j, core, slot);
    uint32_t position[3];
    uint64_t number = 0;
    bool left = false;
    gpu_job_end_pace(j);
    *ok = next_group(j, &number, &left);
    if (!*ok || !left)
        return 0;
    *ok = slot < j->slots && open_slot(j, s);
    if (!*ok)
        return 0;
    j->started++;
    gpu_setup_position(j->setup, number, position);
    gpu_group_start(s->group, position, core);
    s->simdgroups = gpu_group_simdgroups(s->group);
    s->looked = false;
    for (unsigned i = 0; i < s->simdgroups; i++) {
        gpu_trace_clear(&s->trace[i]);
        s->done[i] = false;
    }
    return s->simdgroups;
}

/* Continues one simdgroup; false on a fault. *moved becomes true when the simdgroup did anything. */
static bool advance(struct gpu_job *j, struct gpu_job_slot *s, unsigned simdgroup, bool *moved)
{
    struct gpu_trace *trace = &s->trace[simdgroup];
    if (s->done[simdgroup])
        return true;
    gpu_trace_compact(trace);
    const size_t before = trace->written - trace->read;
    const enum gpu_step step = gpu_group_run(s->group, simdgroup, j->leaper ? RUN_AHEAD_LEAP : RUN_AHEAD, trace, &j->fault);
    s->done[simdgroup] = step == GPU_STEP_DONE;
    if (step == GPU_STEP_LAP && s->looked && s->ahead.left[simdgroup]-- == 0)
        s->looked = false; /* another loop */
    *moved = *moved || trace->written - trace->read != before || s->done[simdgroup];
    j->no_memory = j->no_memory || trace->failed;
    return step != GPU_STEP_FAULT && !trace->failed;
}

/* A simdgroup that waits at a barrier continues once its neighbours have reached it, so they are run as well. */
static bool refill(void *context, unsigned core, unsigned slot, unsigned simdgroup, bool *ok)
{
    struct gpu_job *j = context;
    struct gpu_job_slot *s = gpu_job_slot(j, core, slot);
    struct gpu_trace *trace = &s->trace[simdgroup];
    bool moved = true;
    *ok = true;
    work_progress_tell(j->setup->progress, "timing", (double)(j->started - 1) / (double)j->all, gpu_timing_now_ns(j->timing));
    while (*ok && trace->read == trace->written && !s->done[simdgroup] && moved) {
        moved = false;
        *ok = advance(j, s, simdgroup, &moved);
        for (unsigned i = 0; *ok && !moved && i < s->simdgroups; i++) {
            bool neighbour = false;
            *ok = advance(j, s, i, &neighbour);
            moved = moved || neighbour;
        }
    }
    return *ok && trace->read < trace->written;
}

static struct gpu_trace *trace_of(void *context, unsigned core, unsigned slot, unsigned simdgroup)
{
    return &gpu_job_slot(context, core, slot)->trace[simdgroup];
}

/* ---- the task ---- */

struct gpu_timing_launch gpu_job_launch(const struct gpu_setup *s)
{
    const uint32_t *g = s->launch.group_threads;
    const uint32_t threads = g[0] * g[1] * g[2];
    return (struct gpu_timing_launch){.program = s->program,
                                      .threads_per_group = threads,
                                      .simdgroups_per_group = (threads + GPU_LANES - 1) / GPU_LANES,
                                      .register_halves = s->launch.register_halves,
                                      .threadgroup_memory_bytes = s->launch.threadgroup_memory_bytes,
                                      .code_address = s->code_address};
}

static double job_now(void *context)
{
    const struct gpu_job *j = context;
    return j->begun ? gpu_timing_now_ns(j->timing) : j->begin_ns;
}

static void job_start(void *context, double now_ns)
{
    struct gpu_job *j = context;
    struct gpu_timing_launch launch = gpu_job_launch(j->setup);
    launch.source = (struct gpu_source){j, start, refill, trace_of, j->leaper ? gpu_job_leap : NULL};
    launch.lap = j->leaper ? j->selection.leaps->lap : NULL;
    j->begin_ns = now_ns + 1e3 * j->params->submit_us;
    j->begun = gpu_timing_begin(j->timing, &launch, j->begin_ns);
    j->failed_to_begin = !j->begun;
}

static enum engine_progress failed(const struct gpu_job *j, struct orch_error *error)
{
    if (j->no_memory || j->failed_to_begin)
        orch_no_memory(error);
    else
        gpu_setup_explain(j->setup, &j->fault, error);
    return ENGINE_FAILED;
}

static enum engine_progress job_step(void *context, double limit_ns, struct orch_error *error)
{
    struct gpu_job *j = context;
    if (!j->begun)
        return failed(j, error);
    if (gpu_timing_advance(j->timing, limit_ns))
        return ENGINE_MORE;
    gpu_job_end_pace(j);
    return gpu_timing_failed(j->timing) ? failed(j, error) : ENGINE_DONE;
}

struct gpu_job *gpu_job_create(const struct gpu_setup *setup, const struct gpu_params *params, struct gpu_timing *timing,
                               const struct gpu_selection *selection, struct orch_error *error)
{
    const struct gpu_timing_launch launch = gpu_job_launch(setup);
    const char *limit = "";
    struct gpu_job *j = calloc(1, sizeof *j);
    if (j) {
        *j = (struct gpu_job){
            .setup = setup, .params = params, .timing = timing, .selection = *selection, .whole = {.count = setup->group_count}};
        if (!selection->stretch) {
            j->selection.stretch = &j->whole;
            j->selection.stretches = 1;
        }
        for (unsigned i = 0; i < j->selection.stretches; i++)
            j->all += j->selection.stretch[i].count;
        j->slots = gpu_timing_occupancy(params, &launch, &limit);
        j->slot = calloc((size_t)params->cores * (j->slots ? j->slots : 1), sizeof *j->slot);
    }
    const struct gpu_leaps *leaps = selection->leaps;
    if (j && leaps) {
        j->leaper = gpu_leaper_create(setup, leaps->lap, leaps->lines);
    }
    if (j && j->slot && j->slots && (!leaps || j->leaper))
        return j;
    if (j && j->slot)
        orch_fail(error, ORCH_USAGE, "%.200s: impossible launch: no threadgroup of %u threads fits a core: %s",
                  setup->kernel->path, launch.threads_per_group, limit ? limit : "its resources");
    else
        orch_no_memory(error);
    gpu_job_free(j);
    return NULL;
}

void gpu_job_free(struct gpu_job *j)
{
    if (!j)
        return;
    for (size_t i = 0; j->slot && i < (size_t)j->params->cores * j->slots; i++) {
        gpu_group_free(j->slot[i].group);
        for (unsigned t = 0; t < GPU_SIMDGROUPS_MAX; t++)
            gpu_trace_release(&j->slot[i].trace[t]);
    }
    gpu_leaper_free(j->leaper);
    free(j->slot);
    free(j);
}

struct engine_task gpu_job_task(struct gpu_job *job)
{
    return (struct engine_task){
        .name = job->setup->kernel->name, .now_ns = job_now, .step = job_step, .start = job_start, .context = job};
}

double gpu_job_begin_ns(const struct gpu_job *job)
{
    return job->begin_ns;
}

double gpu_job_end_ns(const struct gpu_job *job)
{
    return gpu_timing_end_ns(job->timing) + job->leapt.ns;
}

const struct gpu_counted *gpu_job_leapt(const struct gpu_job *job)
{
    return &job->leapt.counts;
}

double gpu_job_leapt_work(const struct gpu_job *job)
{
    return job->leapt.work;
}

void gpu_job_add_totals(const struct gpu_job *j, struct gpu_totals *totals)
{
    for (size_t i = 0; i < (size_t)j->params->cores * j->slots; i++)
        if (j->slot[i].group)
            gpu_totals_add(totals, j->slot[i].group);
}
