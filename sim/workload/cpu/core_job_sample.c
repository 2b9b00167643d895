/* The sample of a program on one core: which stretches are timed, which are skipped, and which loops are leapt over. */
#include "sim/workload/cpu/core_job_internal.h"

#include <math.h>

#define LEAP_TRACE 4 /* times the room of a usual trace, where loops are leapt over */

bool core_job_leaps(const struct core_job *j)
{
    return j->samples && j->leap && j->sample.part == CORE_SAMPLE_START;
}

/* From now on nothing is leapt over. */
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

void core_job_sample_stretch(struct core_job *j, double instructions)
{
    const bool timed = core_sample_times(&j->sample, 0);
    if (timed && j->piece == 0) {
        if (j->skipped && !j->leap)
            cpu_timing_catch_up(j->core->timing);
        take_reading(j, &j->before);
    }
    core_phases_note(&j->phases, &j->trace);
    if (core_job_leaps(j))
        leap_stretch(j);
    else
        run_fed(j, timed);
    j->piece += instructions;
    if (!j->running) { /* what follows on the core is no part of this sample */
        cpu_timing_defer(j->core->timing, false);
        end_leaps(j);
    }
    end_piece(j, timed);
    /* Leaps belong to the start of a sample: later, whole stretches are skipped. */
    if (j->sample.part != CORE_SAMPLE_START)
        end_leaps(j);
}

void core_job_sample(struct core_job *job, const struct core_sample_shape *shape, const struct core_sample_shape *with_amx)
{
    job->samples = true;
    job->with_amx = *with_amx;
    core_sample_begin(&job->sample, shape);
    if (job->core && shape->leaps && !shape->blind && !job->leap)
        job->leap = core_job_take_room(job, LEAP_TRACE) ? core_leap_create() : NULL; /* without it, everything is timed */
    if (job->core)
        cpu_timing_defer(job->core->timing, !shape->blind || shape->dear > 0);
}

void core_job_end_sample(struct core_job *j)
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

void core_job_add_alone(const struct core_job *j, struct core_sampled *sum)
{
    const struct core_sampled *const own = &j->sampled;
    for (int i = 0; i < MEM_TIMED_COUNTS; i++)
        sum->memory[i] += own->sampled ? own->memory[i] : j->after_sample.memory[i];
    if (own->sampled)
        core_sampled_add(sum, own);
}
