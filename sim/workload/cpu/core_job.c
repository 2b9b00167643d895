#include "sim/workload/cpu/core_job.h"

#include "sim/workload/cpu/core_leap.h"
#include "sim/workload/cpu/core_phases.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* The trace of a stretch fits the host's caches: 4096 blocks and 16384 addresses are 160 KiB. */
#define TRACE_BLOCKS    4096
#define TRACE_ADDRESSES 16384
#define STRETCH         65536 /* most instructions of a stretch; a full trace ends it earlier */
#define LEAP_STRETCH    262144 /* the same where loops are leapt over: as far as a trace shows that they go on */
#define LEAP_TRACE      4      /* and so many times the room */
#define SHARED_STRETCH  2048  /* the same where several cores share memory: nobody sees less than that happen at once */

_Static_assert(CORE_PHASES <= CORE_SAMPLE_KINDS, "each phase is a kind of work");

struct core_job {
    struct cpu_core *cpu;
    struct amx_core *amx, *own_amx; /* the one that is in use, and the one to be freed */
    struct mem_space *space;
    enum amx_gen gen;
    struct soc_core *core;
    struct cpu_trace trace;
    struct unit_fault fault;
    enum cpu_stop stop;
    bool running, shared, interrupted;
    double begin_ns, idle_ns; /* idle: of a core without timing */
    bool samples, skipped;    /* the latest stretch was */
    struct core_sample sample;
    struct core_sampled sampled;      /* of a sample that has ended before the program */
    struct core_reading after_sample; /* what the core showed then */
    struct core_sample_shape with_amx;
    bool reshaped; /* to that */
    struct core_phases phases;
    struct core_leap *leap; /* NULL: loops are not leapt over */
    struct core_reading before; /* of the piece under way */
    double piece;               /* its instructions so far */
    const struct work_progress *progress;
    const char *doing;
    uint64_t first_instruction, max_instructions, amx_instructions, amx_count[32];
};

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

static void free_room(struct core_job *j)
{
    free(j->trace.block);
    free(j->trace.address);
}

/* Room for a trace so many times as long as usual. False: memory is out. */
static bool take_room(struct core_job *j, unsigned times)
{
    free_room(j);
    j->trace.block = calloc(times * TRACE_BLOCKS, sizeof *j->trace.block);
    j->trace.address = calloc(times * TRACE_ADDRESSES, sizeof *j->trace.address);
    j->trace.block_capacity = times * TRACE_BLOCKS;
    j->trace.address_capacity = times * TRACE_ADDRESSES;
    return j->trace.block && j->trace.address;
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
        take_room(j, 1);
    }
    if (!j || !j->amx || !j->trace.block || !j->trace.address) {
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
    free_room(j);
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
    if (j->leap && j->sample.part == CORE_SAMPLE_START)
        return LEAP_STRETCH;
    return (uint64_t)ceil(fmax(1, core_sample_piece(&j->sample) - j->piece));
}

static void end_leaps(struct core_job *j)
{
    struct core_reading shown;
    if (!j->leap)
        return;
    core_reading_take(&shown, j->core, cpu_timing_done_at(j->core->timing));
    core_leap_stop(j->leap, &shown);
    core_sample_leapt(&j->sample, core_leap_work(j->leap), core_leap_extra(j->leap));
}

/* What the core would show if it had leapt over nothing. */
static void take_reading(const struct core_job *j, struct core_reading *reading)
{
    core_reading_take(reading, j->core, cpu_timing_done_at(j->core->timing));
    if (j->leap)
        core_reading_add(reading, core_leap_extra(j->leap), 1);
}

/* A piece is over when it is long enough or its part of the sample ends. */
static void end_piece(struct core_job *j, bool timed)
{
    struct core_sample *const s = &j->sample;
    struct core_reading after;
    if (j->running && j->piece < core_sample_piece(s))
        return;
    const unsigned phase = core_phases_of(&j->phases);
    if (timed) {
        take_reading(j, &after);
        core_sample_timed(s, phase, j->piece, &j->before, &after);
    } else {
        core_sample_skipped(s, phase, j->piece);
    }
    j->piece = 0;
    if (j->amx_instructions && !j->reshaped)
        core_sample_reshape(s, &j->with_amx);
    j->reshaped = j->amx_instructions > 0;
}

/* Times what was fed, or skips it. */
static void run_fed(struct core_job *j, bool timed)
{
    struct cpu_timing *const timing = j->core->timing;
    if (timed && j->skipped)
        cpu_timing_catch_up(timing);
    if (!timed)
        cpu_timing_skip(timing);
    else if (j->skipped)
        soc_core_resume(j->core, cpu_timing_now(timing));
    j->skipped = !timed;
    while (cpu_timing_pending(timing))
        cpu_timing_advance(timing, INFINITY);
}

/* Blocks [from, to) of the stretch, which begin at `address`. Returns where the addresses of those after them begin. */
static uint32_t run_part(struct core_job *j, uint32_t from, uint32_t to, uint32_t address)
{
    struct cpu_trace part = j->trace;
    uint32_t end = address;
    for (uint32_t i = from; i < to; i++)
        end += j->trace.block[i]->mem_count;
    if (from == to)
        return address;
    part.block += from;
    part.blocks = to - from;
    part.address += address;
    part.addresses = end - address;
    part.last_count = to < j->trace.blocks ? j->trace.block[to - 1]->count : j->trace.last_count;
    cpu_timing_feed(j->core->timing, &part);
    run_fed(j, !core_leap_skips(j->leap));
    return end;
}

static void leap_stretch(struct core_job *j)
{
    const uint32_t blocks = j->trace.blocks;
    struct core_reading shown;
    for (uint32_t from = 0, to, address = 0; from < blocks; from = to) {
        to = core_leap_next(j->leap, &j->trace, from, from == 0);
        address = run_part(j, from, to, address);
        if (to == blocks)
            break;
        core_reading_take(&shown, j->core, cpu_timing_done_at(j->core->timing));
        core_leap_arrive(j->leap, &j->trace, to, &shown);
    }
}

static void sample_stretch(struct core_job *j, double instructions)
{
    const bool timed = core_sample_times(&j->sample, 0);
    if (timed && j->piece == 0) {
        if (j->skipped && !j->leap)
            cpu_timing_catch_up(j->core->timing);
        take_reading(j, &j->before);
    }
    core_phases_note(&j->phases, &j->trace);
    if (j->leap && j->sample.part == CORE_SAMPLE_START)
        leap_stretch(j);
    else
        run_fed(j, timed);
    j->piece += instructions;
    if (!j->running)
        cpu_timing_catch_up(j->core->timing);
    if (!j->running)
        end_leaps(j);
    end_piece(j, timed);
    /* Leaps belong to the start of a sample: later, whole stretches are skipped. */
    if (j->sample.part != CORE_SAMPLE_START)
        end_leaps(j);
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
    if (j->core && j->trace.blocks && !(j->leap && j->sample.part == CORE_SAMPLE_START))
        cpu_timing_feed(j->core->timing, &j->trace);
    if (j->samples)
        sample_stretch(j, (double)(core_job_instructions(j) - done));
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

void core_job_sample(struct core_job *job, const struct core_sample_shape *shape, const struct core_sample_shape *with_amx)
{
    job->samples = true;
    job->with_amx = *with_amx;
    core_sample_begin(&job->sample, shape);
    if (job->core && shape->leaps && !shape->blind && !job->leap)
        job->leap = take_room(job, LEAP_TRACE) ? core_leap_create() : NULL; /* without it, everything is timed */
    if (job->core && !shape->blind)
        cpu_timing_defer(job->core->timing, true);
}

/* Ends a sample before the program: from now on everything is timed. */
static void end_sample(struct core_job *j)
{
    struct core_reading now;
    if (!j->samples)
        return;
    cpu_timing_defer(j->core->timing, false);
    end_leaps(j);
    take_reading(j, &now);
    if (j->piece > 0 && j->skipped)
        core_sample_skipped(&j->sample, core_phases_of(&j->phases), j->piece);
    else if (j->piece > 0)
        core_sample_timed(&j->sample, core_phases_of(&j->phases), j->piece, &j->before, &now);
    j->samples = false;
    j->sampled = core_sample_end(&j->sample);
    j->after_sample = now;
    if (j->skipped)
        soc_core_resume(j->core, cpu_timing_now(j->core->timing));
    j->skipped = false;
}

struct core_sampled core_job_sampled(struct core_job *j)
{
    struct core_reading now;
    if (j->samples)
        return core_sample_end(&j->sample);
    struct core_sampled r = j->sampled;
    if (!r.sampled)
        return r;
    core_reading_take(&now, j->core, cpu_timing_done_at(j->core->timing));
    for (int i = 0; i < MEM_TIMED_COUNTS; i++)
        r.memory[i] += now.memory[i] - j->after_sample.memory[i];
    const double later = (double)core_job_instructions(j) - r.work;
    r.work += later;
    r.timed_work += later;
    return r;
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

void core_job_share(struct core_job *j)
{
    const struct cpu_clock counted = {counted_clock, j};
    if (j->shared)
        return;
    j->shared = true;
    end_sample(j);
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
