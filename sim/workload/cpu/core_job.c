#include "sim/workload/cpu/core_job_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* The trace of a stretch fits the host's caches: 4096 blocks and 16384 addresses are 160 KiB. */
#define TRACE_BLOCKS    4096
#define TRACE_ADDRESSES 16384
#define STRETCH         65536  /* most instructions of a stretch; a full trace ends it earlier */
#define LEAP_STRETCH    262144 /* the same where loops are leapt over: as far as a trace shows that they go on */
#define SHARED_STRETCH  2048   /* the same where several cores share memory: nobody sees less than that happen at once */

_Static_assert(CORE_PHASES <= CORE_SAMPLE_KINDS, "each phase is a kind of work");

static bool amx_execute(void *context, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    struct core_job *j = context;
    if (!amx_core_execute(j->amx, op, operand, fault))
        return false;
    j->amx_instructions++;
    j->amx_count[op]++;
    return true;
}

/* In its place where values do not matter. */
static bool amx_count(void *context, unsigned op, uint64_t operand, struct unit_fault *fault)
{
    struct core_job *j = context;
    (void)operand;
    (void)fault;
    j->amx_instructions++;
    j->amx_count[op]++;
    return true;
}

static void amx_finish(void *context)
{
    amx_core_finish(((struct core_job *)context)->amx);
}

/* The clock as the program reads it: the time at which everything before has retired, as after a barrier. AMX work that nobody
 * waits for may still be under way. */
static uint64_t simulated_clock(void *context)
{
    const struct core_job *j = context;
    const double extra_ns = j->samples ? core_sample_extra_ns(&j->sample) : j->sampled.extra_ns;
    return (uint64_t)(cpu_timing_done_at(j->core->timing) - j->begin_ns + extra_ns);
}

static uint64_t counted_clock(void *context)
{
    const struct core_job *j = context;
    return cpu_core_instructions(j->cpu) + (uint64_t)j->idle_ns;
}

bool core_job_take_room(struct core_job *j, unsigned times)
{
    const struct cpu_block **const block = calloc(times * TRACE_BLOCKS, sizeof *block);
    uint64_t *const address = calloc(times * TRACE_ADDRESSES, sizeof *address);
    if (!block || !address) {
        free(block);
        free(address);
        return false;
    }
    free(j->trace.block);
    free(j->trace.address);
    j->trace = (struct cpu_trace){
        .block = block, .address = address, .block_capacity = times * TRACE_BLOCKS, .address_capacity = times * TRACE_ADDRESSES};
    return true;
}

struct core_job *core_job_create(struct cpu_core *cpu, struct mem_space *space, enum amx_gen gen, struct soc_core *core,
                                 uint64_t max_instructions, struct orch_error *error)
{
    struct core_job *j = calloc(1, sizeof *j);
    if (j) {
        j->cpu = cpu;
        j->core = core;
        j->running = true;
        j->max_instructions = max_instructions ? max_instructions : UINT64_MAX;
        j->first_instruction = cpu_core_instructions(cpu);
        j->space = space;
        j->gen = gen;
        cpu_core_set_v86(cpu, gen >= AMX_GEN_M2);
        j->amx = j->own_amx = amx_core_create(gen, space, AMX_PATH_FAST);
    }
    if (!j || !j->amx || !core_job_take_room(j, 1)) {
        core_job_free(j);
        orch_no_memory(error);
        return NULL;
    }
    if (core) {
        const struct cpu_clock clock = {simulated_clock, j};
        j->begin_ns = cpu_timing_done_at(core->timing);
        cpu_core_set_clock(cpu, &clock);
    }
    const struct cpu_coprocessor coprocessor = {amx_execute, amx_finish, j};
    cpu_core_set_coprocessor(cpu, &coprocessor);
    return j;
}

void core_job_steer(struct core_job *j)
{
    const struct cpu_coprocessor counts = {amx_count, NULL, j};
    cpu_core_steer(j->cpu);
    cpu_core_set_coprocessor(j->cpu, &counts);
}

void core_job_free(struct core_job *j)
{
    if (!j)
        return;
    amx_core_free(j->own_amx);
    core_leap_free(j->leap);
    free(j->trace.block);
    free(j->trace.address);
    free(j);
}

static double job_now(void *context)
{
    const struct core_job *j = context;
    if (!j->core)
        return j->shared ? (double)counted_clock(context) : 0;
    /* A program that has ended lasts until its last instruction is complete, in the core or in the AMX block. */
    if (!j->running && !cpu_timing_pending(j->core->timing))
        return soc_core_done_at(j->core);
    return cpu_timing_now(j->core->timing);
}

/* Most instructions of the next stretch; those of a sample end with their piece. */
static uint64_t stretch(const struct core_job *j)
{
    if (j->shared)
        return SHARED_STRETCH;
    if (!j->samples || j->sample.shape.blind)
        return STRETCH;
    if (core_job_leaps(j))
        return LEAP_STRETCH;
    return (uint64_t)ceil(fmax(1, core_sample_piece(&j->sample) - j->piece));
}

static void execute_stretch(struct core_job *j)
{
    const uint64_t done = core_job_instructions(j);
    const uint64_t left = j->max_instructions > done ? j->max_instructions - done : 0, most = stretch(j);
    j->trace.blocks = j->trace.addresses = 0;
    j->stop = cpu_core_run(j->cpu, left < most ? left : most, j->core ? &j->trace : NULL, &j->fault);
    j->running = (j->stop == CPU_STOP_BUDGET && left > 0) || j->stop == CPU_STOP_PAUSE;
    if (!j->running)
        amx_core_finish(j->amx);
    if (j->core && j->trace.blocks && !core_job_leaps(j))
        cpu_timing_feed(j->core->timing, &j->trace);
    if (j->samples)
        core_job_sample_stretch(j, (double)(core_job_instructions(j) - done));
    else if (j->crew)
        crew_sample_ran(j->crew, j->number, &j->trace, (double)(core_job_instructions(j) - done));
    if (work_progress_ends(j->progress, j->doing, NAN, j->core ? cpu_timing_now(j->core->timing) : 0) && j->running) {
        j->running = false;
        j->stop = CPU_STOP_BUDGET;
        j->interrupted = true;
    }
}

enum engine_progress core_job_run(struct core_job *j, double limit_ns)
{
    bool paused = false;
    do {
        if (!j->core || !cpu_timing_pending(j->core->timing)) {
            if (!j->running)
                return ENGINE_DONE;
            if (paused)
                return ENGINE_MORE;
            execute_stretch(j);
            paused = j->stop == CPU_STOP_PAUSE;
        }
        if (j->core)
            cpu_timing_advance(j->core->timing, paused ? INFINITY : limit_ns);
        core_job_settle(j);
    } while (paused || job_now(j) <= limit_ns);
    return ENGINE_MORE;
}

static enum engine_progress job_step(void *context, double limit_ns, struct orch_error *error)
{
    (void)error; /* the caller judges how the program ended */
    return core_job_run(context, limit_ns);
}

struct engine_task core_job_task(struct core_job *job)
{
    return (struct engine_task){.name = "program", .now_ns = job_now, .step = job_step, .context = job};
}

void core_job_tell(struct core_job *job, const struct work_progress *progress, const char *doing)
{
    job->progress = progress;
    job->doing = doing;
}

/* ---- cores of a program with threads ---- */

double core_job_now(const struct core_job *j)
{
    return j->core ? cpu_timing_now(j->core->timing) : (double)cpu_core_now_ns(j->cpu);
}

double core_job_clock_ns(const struct core_job *j)
{
    return (double)cpu_core_now_ns(j->cpu);
}

void core_job_join(struct core_job *j, const struct core_job *first, double clock_ns)
{
    const struct cpu_clock counted = {counted_clock, j};
    if (j->core) {
        j->begin_ns = first->begin_ns;
        j->sampled.extra_ns = first->sampled.extra_ns;
        cpu_timing_restart(j->core->timing, clock_ns + j->begin_ns - j->sampled.extra_ns);
    } else {
        j->idle_ns = clock_ns;
        cpu_core_set_clock(j->cpu, &counted);
    }
}

void core_job_idle_until(struct core_job *j, double clock_ns)
{
    if (j->core)
        cpu_timing_wait_until(j->core->timing, clock_ns + j->begin_ns - j->sampled.extra_ns, CPU_STALL_IDLE);
    else
        j->idle_ns += fmax(0, clock_ns - core_job_clock_ns(j));
}

void core_job_sleep(struct core_job *j, double wait_ns, bool idle)
{
    if (!j->core)
        return;
    if (idle)
        cpu_timing_wait_until(j->core->timing, cpu_timing_done_at(j->core->timing) + wait_ns, CPU_STALL_IDLE);
    j->begin_ns += wait_ns;
}

void core_job_settle(struct core_job *j)
{
    if (j->crew)
        crew_sample_settle(j->crew, j->number);
}

void core_job_share(struct core_job *j, struct crew_sample *sample, unsigned number)
{
    const struct cpu_clock counted = {counted_clock, j};
    if (j->shared)
        return;
    j->shared = true;
    core_job_end_sample(j);
    if (sample && j->core)
        crew_sample_join(sample, number, j->core);
    j->crew = j->core ? sample : NULL;
    j->number = number;
    if (!j->core)
        cpu_core_set_clock(j->cpu, &counted);
}

void core_job_go_on(struct core_job *j)
{
    j->running = true;
    j->stop = CPU_STOP_BUDGET;
}

struct amx_core *core_job_take_amx(struct core_job *j, struct amx_core *amx)
{
    struct amx_core *const next = amx ? amx : amx_core_create(j->gen, j->space, AMX_PATH_FAST);
    if (next)
        j->amx = next;
    return next;
}

struct amx_core *core_job_amx(const struct core_job *j)
{
    return j->amx;
}

enum cpu_stop core_job_stop(const struct core_job *job)
{
    return job->stop;
}

bool core_job_interrupted(const struct core_job *job)
{
    return job->interrupted;
}

const struct unit_fault *core_job_fault(const struct core_job *job)
{
    return &job->fault;
}

uint64_t core_job_instructions(const struct core_job *job)
{
    return cpu_core_instructions(job->cpu) - job->first_instruction;
}

uint64_t core_job_amx_instructions(const struct core_job *job)
{
    return job->amx_instructions;
}

const uint64_t *core_job_amx_counts(const struct core_job *job)
{
    return job->amx_count;
}
