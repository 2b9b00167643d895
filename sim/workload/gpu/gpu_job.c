#include "sim/workload/gpu/gpu_job_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Instructions that a simdgroup runs ahead of its timing: so few that its trace stays in the host's caches. Where laps are leapt
 * over, or the pass ends amid the launch, fewer, so that simdgroups stay where the timing left them. */
#define RUN_AHEAD      256
#define RUN_AHEAD_LEAP 24

/* ---- the source of instructions ---- */

/* Tells whether a slot gets what is under way in it when the pass begins; *left is false when that is nothing. */
static bool opening(const struct gpu_job *j, struct gpu_job_slot *s, bool *left)
{
    const struct gpu_schedule *open = j->selection.open;
    const bool first = open && !s->opened;
    s->opened = true;
    if (first)
        *left = gpu_schedule_slots(open)[s - j->slot].group != GPU_NO_GROUP;
    return first;
}

static void fill_slot(struct gpu_job *j, struct gpu_job_slot *s)
{
    const unsigned number = (unsigned)(s - j->slot);
    s->group = gpu_crowd_group(j->crowd, number);
    if (j->leaper)
        gpu_group_mark_laps(s->group, j->selection.leaps->lap);
    s->simdgroups = gpu_crowd_simdgroups(j->crowd, number);
    s->looked = false;
    for (unsigned i = 0; i < s->simdgroups; i++) {
        gpu_trace_clear(&s->trace[i]);
        s->done[i] = false;
    }
}

static unsigned start(void *context, unsigned core, unsigned slot, bool *ok)
{
    struct gpu_job *j = context;
    struct gpu_job_slot *s = gpu_job_slot(j, core, slot);
    const unsigned number = (unsigned)(s - j->slot);
    bool left = j->next < j->setup->group_count;
    uint64_t unused;
    gpu_job_end_pace(j);
    const bool open = opening(j, s, &left);
    *ok = true;
    if (!left)
        return open ? GPU_SLOT_EMPTY : 0;
    *ok = open ? gpu_crowd_holds(j->crowd, number, &unused) : gpu_crowd_start(j->crowd, number, j->next);
    j->no_memory = j->no_memory || !*ok;
    if (!*ok)
        return 0;
    j->next += !open;
    fill_slot(j, s);
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
    const unsigned number = (unsigned)(s - j->slot);
    const enum gpu_step step = gpu_crowd_run(j->crowd, number, simdgroup,
                                             j->leaper || j->selection.window ? RUN_AHEAD_LEAP : RUN_AHEAD, trace, &j->fault);
    s->done[simdgroup] = step == GPU_STEP_DONE;
    if (step == GPU_STEP_LAP && s->looked && s->ahead.left[simdgroup]-- == 0)
        s->looked = false; /* another loop */
    *moved = *moved || trace->written - trace->read != before || s->done[simdgroup];
    j->no_memory = j->no_memory || trace->failed;
    if (step == GPU_STEP_FAULT)
        gpu_crowd_holds(j->crowd, number, &j->faulty);
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
    work_progress_tell(j->setup->progress, "timing", (double)(j->next - 1) / (double)j->setup->group_count,
                       gpu_timing_now_ns(j->timing));
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

/* ---- windows ---- */

double gpu_job_issued(const struct gpu_job *j)
{
    double sum = 0;
    for (unsigned core = 0; core < j->params->cores; core++)
        sum += (double)gpu_timing_issued(j->timing, core);
    return sum;
}

void gpu_job_take_mark(const struct gpu_job *j, struct gpu_mark *mark)
{
    mark->ns = gpu_timing_now_ns(j->timing);
    mark->issued = gpu_job_issued(j);
    mark->next = j->next;
    j->selection.reader.read(j->selection.reader.context, &mark->counts);
}

/* Tells how far each core is. */
static void tell_drift(struct gpu_job *j)
{
    struct gpu_drift *drift = j->selection.window->drift;
    if (!drift)
        return;
    for (unsigned core = 0; core < j->params->cores; core++)
        j->by_slot[core] = (double)gpu_timing_issued(j->timing, core);
    gpu_drift_moment(drift, gpu_timing_now_ns(j->timing), j->by_slot);
}

/* Tells what each core has fetched from beyond the L2, now and then. */
static void tell_convoy(struct gpu_job *j, double issued)
{
    const struct gpu_window *w = j->selection.window;
    if (!w->convoy || issued < j->told)
        return;
    for (unsigned core = 0; core < j->params->cores; core++) {
        struct mem_counters counters;
        mem_port_counters(w->port[core], &counters);
        j->by_slot[core] = (double)gpu_timing_issued(j->timing, core);
        j->fetched[core] = (struct gpu_fetched){(double)counters.hits[MEM_SLC], (double)counters.hits[MEM_DRAM]};
    }
    gpu_convoy_moment(w->convoy, j->by_slot, j->fetched);
    j->told = issued + w->moments_apart;
}

static double pace_between(const struct gpu_mark *from, const struct gpu_mark *to)
{
    return (to->ns - from->ns) / fmax(1, to->issued - from->issued);
}

/* Begins to count. */
static void begin_counting(struct gpu_job *j, const struct gpu_mark *from)
{
    j->selection.window->from = *from;
    j->middle.ns = 0;
    gpu_timing_take_profile(j->timing, NULL);
    j->settled = true;
}

/* Threadgroups that share lines come into step with one another, or fall out of it, over many of their lives. While that changes
 * the pace, what was counted was not the pace of the launch yet: as much is timed again. */
static bool puts_off(struct gpu_job *j, const struct gpu_mark *to)
{
    struct gpu_window *w = j->selection.window;
    const double counted = w->end - w->settling, later = w->end + counted;
    const double pace = pace_between(&w->from, to);
    const double before = j->pace_before > 0 ? j->pace_before : pace_between(&w->from, &j->middle);
    const double now = j->pace_before > 0 ? pace : pace_between(&j->middle, to);
    if (later > w->latest || fabs(now / before - 1) <= GPU_WINDOW_STEADY)
        return false;
    w->settling = w->end;
    w->end = later;
    j->pace_before = now;
    if (w->drift)
        gpu_drift_begin(w->drift);
    if (w->convoy)
        gpu_convoy_begin(w->convoy);
    begin_counting(j, to);
    return true;
}

/* Takes the marks that are due. */
static void look_through_window(struct gpu_job *j)
{
    struct gpu_window *w = j->selection.window;
    if (!w || j->stopped)
        return;
    const double now = gpu_job_issued(j);
    struct gpu_mark mark;
    if (!j->settled && now >= w->settling) {
        gpu_job_take_mark(j, &mark);
        w->first = mark;
        begin_counting(j, &mark);
    }
    if (j->settled) {
        tell_drift(j);
        tell_convoy(j, now);
        if (j->middle.ns <= 0 && now >= (w->settling + w->end) / 2)
            gpu_job_take_mark(j, &j->middle);
    }
    if (now < w->end)
        return;
    gpu_job_take_mark(j, &mark);
    if (puts_off(j, &mark))
        return;
    w->to = mark;
    gpu_timing_take_profile(j->timing, j->selection.profile);
    j->stopped = true;
}

/* Everything has ended before the window did. */
static void end_window(struct gpu_job *j)
{
    struct gpu_window *w = j->selection.window;
    if (!w || j->stopped)
        return;
    if (!j->settled) {
        gpu_job_take_mark(j, &w->from);
        w->first = w->from;
    }
    gpu_job_take_mark(j, &w->to);
}

static enum gpu_look look(void *job)
{
    struct gpu_job *j = job;
    look_through_window(j);
    if (j->leaper && !gpu_job_leap(j))
        return GPU_LOOK_FAULT;
    if (j->selection.skips && !gpu_job_skip(j))
        return GPU_LOOK_FAULT;
    return j->stopped ? GPU_LOOK_STOP : GPU_LOOK_ON;
}

/* ---- the task ---- */

/* Threadgroups that are wider than the grid are cut to its width, and have as many simdgroups as that takes. */
struct gpu_timing_launch gpu_job_launch(const struct gpu_launch *launch)
{
    uint32_t threads = 1;
    for (unsigned axis = 0; axis < 3; axis++)
        threads *=
            launch->grid_threads[axis] < launch->group_threads[axis] ? launch->grid_threads[axis] : launch->group_threads[axis];
    return (struct gpu_timing_launch){.program = launch->program,
                                      .threads_per_group = threads,
                                      .simdgroups_per_group = (threads + GPU_LANES - 1) / GPU_LANES,
                                      .register_halves = launch->register_halves,
                                      .holds_more = launch->holds_more,
                                      .threadgroup_memory_bytes = launch->threadgroup_memory_bytes};
}

double gpu_job_mean_simdgroups(const struct gpu_launch *launch)
{
    double sum = 0, groups = 0;
    for (unsigned corner = 0; corner < 8; corner++) { /* bit = axis: at the edge, or before it */
        double count = 1, threads = 1;
        for (unsigned axis = 0; axis < 3; axis++) {
            const uint32_t grid = launch->grid_threads[axis], size = launch->group_threads[axis];
            const bool edge = corner >> axis & 1;
            count *= edge ? grid % size != 0 : grid / size;
            threads *= edge ? grid % size : size;
        }
        sum += count * ceil(threads / GPU_LANES);
        groups += count;
    }
    return sum / groups;
}

static double job_now(void *context)
{
    const struct gpu_job *j = context;
    return j->begun ? gpu_timing_now_ns(j->timing) : j->begin_ns;
}

static void job_start(void *context, double now_ns)
{
    struct gpu_job *j = context;
    struct gpu_timing_launch launch = gpu_job_launch(&j->setup->launch);
    launch.code_address = j->setup->code_address;
    launch.source =
        (struct gpu_source){j, start, refill, trace_of, j->leaper || j->selection.window || j->selection.skips ? look : NULL};
    launch.lap = j->leaper ? j->selection.leaps->lap : NULL;
    launch.profile = j->selection.profile != NULL;
    j->begin_ns = now_ns + 1e3 * j->params->submit_us;
    if (j->selection.window)
        j->selection.window->begin_ns = j->begin_ns;
    j->begun = gpu_timing_begin(j->timing, &launch, j->begin_ns);
}

static enum engine_progress failed(const struct gpu_job *j, struct orch_error *error)
{
    if (j->no_memory)
        orch_no_memory(error);
    else if (j->faulty == GPU_NO_GROUP)
        gpu_setup_explain(j->setup, &j->fault, error);
    else /* also where it did not begin: the first instructions of threadgroups run then */
        gpu_setup_explain_group(j->setup, &j->fault, j->faulty, error);
    return ENGINE_FAILED;
}

static enum engine_progress job_step(void *context, double limit_ns, struct orch_error *error)
{
    struct gpu_job *j = context;
    if (!j->begun)
        return failed(j, error);
    if (gpu_timing_advance(j->timing, limit_ns))
        return ENGINE_MORE;
    if (j->stopped)
        return ENGINE_DONE;
    gpu_job_end_pace(j);
    gpu_job_end_skips(j);
    end_window(j);
    gpu_timing_take_profile(j->timing, j->selection.profile);
    return gpu_timing_failed(j->timing) ? failed(j, error) : ENGINE_DONE;
}

unsigned gpu_job_slots(const struct gpu_setup *setup, const struct gpu_params *params, const char **limit,
                       struct orch_error *error)
{
    const struct gpu_timing_launch launch = gpu_job_launch(&setup->launch);
    const unsigned slots = gpu_timing_occupancy(params, &launch, limit);
    if (!slots)
        orch_fail(error, ORCH_USAGE, "%.200s: impossible launch: no threadgroup of %u threads fits a core: %s",
                  setup->kernel->path, launch.threads_per_group, (*limit)[0] ? *limit : "its resources");
    return slots;
}

static bool create_parts(struct gpu_job *j)
{
    const struct gpu_leaps *leaps = j->selection.leaps;
    j->slot = calloc((size_t)j->params->cores * j->slots, sizeof *j->slot);
    j->by_slot = calloc((size_t)j->params->cores * j->slots, sizeof *j->by_slot);
    j->fetched = calloc(j->params->cores, sizeof *j->fetched);
    j->behind = calloc((size_t)j->params->cores * j->slots, sizeof *j->behind);
    j->own = j->selection.crowd ? NULL : gpu_crowd_create(j->setup, j->params->cores, j->slots, NULL);
    if (j->own)
        gpu_crowd_set_replay(j->own, leaps ? NULL : j->selection.replay); /* what is played marks no laps */
    j->crowd = j->own ? j->own : j->selection.crowd;
    j->leaper = leaps ? gpu_leaper_create(j->setup, leaps->lap, leaps->lines) : NULL;
    j->drift = leaps ? gpu_drift_create(j->params->cores, j->slots) : NULL;
    return j->slot && j->by_slot && j->fetched && j->behind && j->crowd && (!leaps || (j->leaper && j->drift));
}

struct gpu_job *gpu_job_create(const struct gpu_setup *setup, const struct gpu_params *params, struct gpu_timing *timing,
                               const struct gpu_selection *selection, struct orch_error *error)
{
    const char *limit = "";
    const unsigned slots = gpu_job_slots(setup, params, &limit, error);
    if (!slots)
        return NULL;
    struct gpu_job *j = calloc(1, sizeof *j);
    if (j) {
        *j = (struct gpu_job){
            .setup = setup, .params = params, .timing = timing, .selection = *selection, .slots = slots, .faulty = GPU_NO_GROUP};
        j->next = selection->open ? gpu_schedule_next(selection->open) : selection->first;
    }
    if (j && create_parts(j))
        return j;
    gpu_job_free(j);
    orch_no_memory(error);
    return NULL;
}

void gpu_job_free(struct gpu_job *j)
{
    if (!j)
        return;
    for (size_t i = 0; j->slot && i < (size_t)j->params->cores * j->slots; i++)
        for (unsigned t = 0; t < GPU_SIMDGROUPS_MAX; t++)
            if (j->slot[i].trace[t].record || j->slot[i].trace[t].line) /* others were never written, and need no memory yet */
                gpu_trace_release(&j->slot[i].trace[t]);
    gpu_leaper_free(j->leaper);
    gpu_drift_free(j->drift);
    gpu_crowd_free(j->own);
    free(j->slot);
    free(j->by_slot);
    free(j->fetched);
    free(j->behind);
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

double gpu_job_timed_share(const struct gpu_job *job)
{
    const double executed = (double)gpu_crowd_counts(job->crowd).instructions;
    return executed > 0 ? (executed - job->leapt.work) / (executed + job->skipping.skipped) : 1;
}

uint64_t gpu_job_skipped(const struct gpu_job *job)
{
    return job->skipping.groups;
}

double gpu_job_uncertainty(const struct gpu_job *job)
{
    const double executed = (double)gpu_crowd_counts(job->crowd).instructions;
    return sqrt(job->skipping.squares) / (executed + job->skipping.skipped + 1);
}

static uint64_t with_skipped(const struct gpu_job *j, uint64_t count)
{
    const double executed = (double)gpu_crowd_counts(j->crowd).instructions;
    return executed > 0 ? count + (uint64_t)llround((double)count * j->skipping.skipped / executed) : count;
}

bool gpu_job_add_totals(const struct gpu_job *j, struct gpu_totals *totals, struct orch_error *error)
{
    const struct gpu_program *program = j->setup->program;
    struct gpu_totals own;
    if (!gpu_totals_init(&own, program, error))
        return false;
    gpu_crowd_add_totals(j->crowd, &own);
    own.instructions = with_skipped(j, own.instructions);
    own.active_lanes = with_skipped(j, own.active_lanes);
    for (uint32_t i = 0; i < gpu_program_count(program); i++)
        own.issues[i] = with_skipped(j, own.issues[i]);
    gpu_totals_merge(totals, &own, program);
    gpu_totals_free(&own);
    return true;
}
