/* Requests and tasks of the Neural Engine in time.
 *
 * The task manager starts descriptors in order. Tasks linked by a ring in tile memory (ANE_PLACE_CHAIN) pass rows to each other
 * and form a step: MAC engines, planar engine and DMA work in parallel through it, each for the sum of what the tasks ask of it.
 * Only the first tile and first coefficients of a step, and its last result, are not overlapped. Loads of the next step start
 * while this one works: those of its results tile by tile (stacks of convolutions whose tensors pass through memory run at 96 %
 * of the peak: maderix/ANE, M4), and its coefficients when there is room (PrefetchParticipateEn of the descriptors).
 */
#include "units/ane/ane_timing_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct unit_state {
    double end_ns;
    bool used;
};

struct ane_timing {
    struct ane_params params;
    struct ane_memory memory;
    struct unit_state *unit;
    struct activity activity;
};

#define X(name, key, text) [ANE_STALL_##name] = key,
static const char *const stall_names[] = {ANE_STALL_TABLE(X)};
#undef X

const char *ane_stall_name(enum ane_stall stall)
{
    return (unsigned)stall < ANE_STALL_COUNT ? stall_names[stall] : NULL;
}

static bool usable(const struct ane_params *p)
{
    return p->clock_ghz > 0 && p->engines > 0 && p->macs_per_engine > 0 && p->units > 0 && p->l2_bytes > 0 &&
           p->coefficient_bytes > 0 && p->dma_GBps > 0 && p->dma_slc_rate >= 1 && p->dma_both_ways >= 1 &&
           p->l2_bytes_per_cycle > 0 && p->planar_elements_per_cycle > 0;
}

struct ane_timing *ane_timing_create(const struct ane_params *params, const struct ane_memory *memory)
{
    struct ane_timing *timing = usable(params) ? calloc(1, sizeof *timing) : NULL;
    if (!timing)
        return NULL;
    timing->params = *params;
    if (memory)
        timing->memory = *memory;
    timing->unit = calloc(params->units, sizeof timing->unit[0]);
    if (!timing->unit) {
        free(timing);
        return NULL;
    }
    return timing;
}

void ane_timing_free(struct ane_timing *timing)
{
    if (!timing)
        return;
    free(timing->unit);
    free(timing);
}

void ane_timing_restart(struct ane_timing *timing)
{
    memset(timing->unit, 0, timing->params.units * sizeof timing->unit[0]);
    memset(&timing->activity, 0, sizeof timing->activity);
}

void ane_timing_take_activity(struct ane_timing *timing, struct activity *into)
{
    activity_add(into, &timing->activity);
    memset(&timing->activity, 0, sizeof timing->activity);
}

/* ---- one task ---- */

static void demand_of(const struct ane_params *params, const struct ane_task *task, struct ane_demand *demand)
{
    memset(demand, 0, sizeof *demand);
    if (task->engine == ANE_ENGINE_NE)
        ane_demand_mac(params, task, demand);
    else
        ane_demand_planar(params, task, demand);
    ane_demand_dma(params, task, demand);
}

/* The part of a stream that belongs to one of `passes` tiles. */
static void time_part(const struct ane_timing *timing, struct ane_stream *stream, uint32_t pass, uint32_t passes, bool write)
{
    const uint64_t from = stream->bytes * pass / passes, end = stream->bytes * (pass + 1) / passes;
    struct ane_stream part = {.bar = stream->bar, .offset = stream->offset + from, .bytes = end - from};
    ane_stream_time(&timing->params, &timing->memory, &part, write);
    stream->ns += part.ns;
    stream->memory_ns += part.memory_ns;
}

/* What is streamed again for each tile meets the tiles in the SLC, so that it comes between them. */
static void time_streams(const struct ane_timing *timing, struct ane_demand *demand)
{
    const uint32_t passes = demand->passes > demand->second_passes ? demand->passes : demand->second_passes;
    for (uint32_t pass = 0; pass < passes; pass++) {
        time_part(timing, &demand->source, pass, passes, false);
        if (pass < demand->second_passes)
            time_part(timing, &demand->second, 0, 1, false);
        if (pass < demand->passes)
            time_part(timing, &demand->coefficients, 0, 1, false);
        time_part(timing, &demand->result, pass, passes, true);
    }
}

static uint64_t second_bytes(const struct ane_demand *demand)
{
    return demand->second.bytes * demand->second_passes;
}

static void count(struct activity *activity, const struct ane_task *task, const struct ane_demand *demand)
{
    const uint64_t coefficients = demand->coefficients.bytes * demand->passes;
    uint64_t *const counts = activity->count;
    counts[demand->int8 ? ACT_ANE_INT8_MACS : ACT_ANE_F16_MACS] += demand->macs;
    counts[ACT_ANE_TABLE_LOOKUPS] += demand->table ? demand->elements : 0;
    counts[ACT_ANE_PLANAR_OPS] += task->engine == ANE_ENGINE_PE ? demand->elements : 0;
    counts[ACT_ANE_TILE_READ_BYTES] += demand->tile_read;
    counts[ACT_ANE_TILE_WRITE_BYTES] += demand->tile_write;
    counts[ACT_ANE_COEFFICIENT_BYTES] += coefficients;
    counts[ACT_ANE_DMA_BYTES] += demand->source.bytes + second_bytes(demand) + demand->result.bytes + coefficients;
    counts[ACT_ANE_TASKS]++;
}

/* ---- one step: tasks that run at the same time ---- */

struct step {
    double mac_full, mac, planar; /* cycles */
    double tile_ns, tile_first_ns, store_ns, store_last_ns;
    double coefficient_ns, coefficient_first_ns;
    double memory_ns;       /* of all streams, at the memory side */
    double tiles;           /* of the task that has the fewest */
    uint64_t bank;          /* largest bank of coefficients */
    double first_bytes;     /* of that bank, which must arrive before work starts */
    uint32_t read, written; /* base registers */
    bool follows;           /* its first task reads results of the task before it in tile memory */
};

static uint32_t bar_bit(const struct ane_operand *operand)
{
    return operand->place == ANE_PLACE_DRAM ? UINT32_C(1) << (operand->bar & 31) : 0;
}

static void step_add(struct step *step, const struct ane_task *task, const struct ane_demand *demand)
{
    const double load = demand->source.ns + demand->second.ns;
    step->mac_full += demand->mac_full;
    step->mac += demand->mac;
    step->planar += demand->planar;
    step->tile_ns += load;
    step->tile_first_ns = fmax(step->tile_first_ns, load / demand->tiles);
    step->store_ns += demand->result.ns;
    step->store_last_ns = fmax(step->store_last_ns, demand->result.ns / demand->tiles);
    step->coefficient_ns += demand->coefficients.ns;
    step->coefficient_first_ns += demand->coefficients.ns / demand->passes * demand->coefficient_first;
    step->memory_ns +=
        demand->source.memory_ns + demand->second.memory_ns + demand->coefficients.memory_ns + demand->result.memory_ns;
    step->tiles = step->tiles > 0 ? fmin(step->tiles, demand->tiles) : demand->tiles;
    step->bank = demand->coefficient_bank > step->bank ? demand->coefficient_bank : step->bank;
    step->first_bytes = fmax(step->first_bytes, demand->coefficient_first * (double)demand->coefficient_bank);
    step->read |= bar_bit(&task->source) | bar_bit(&task->second);
    step->written |= bar_bit(&task->result);
}

static bool linked(const struct ane_task *task)
{
    const struct ane_task *next = task + 1;
    return task->result.place == ANE_PLACE_CHAIN &&
           (next->source.place == ANE_PLACE_CHAIN || next->second.place == ANE_PLACE_CHAIN);
}

/* Whether an operand begins inside the results that a task left in tile memory. */
static bool reads_results(const struct ane_operand *operand, const struct ane_task *before)
{
    const uint64_t planes = (uint64_t)before->result.plane * before->channels_out,
                   rows = (uint64_t)before->result.row * before->height_out;
    return operand->place == ANE_PLACE_L2 && before->result.place == ANE_PLACE_L2 && operand->base >= before->result.base &&
           operand->base - before->result.base <= (planes > rows ? planes : rows);
}

/* The times of the engine's parts in ns since the start of the first task, and what the last step leaves behind. */
struct clockwork {
    double work_start, work_end; /* engines */
    double tile_ns;              /* of one tile */
    uint64_t bank;               /* coefficients */
    uint32_t written;            /* base registers */
    double dma_free;
    double end; /* all results stored */
    /* The same for all steps before it. */
    uint32_t written_before;
    double end_before;
};

/* When a step may load its first tile: what the previous step stores becomes available tile by tile, and windows reach into the
 * next tile. */
static double tiles_from(const struct clockwork *c, const struct step *step)
{
    if (step->read & c->written)
        return fmin(c->end, c->work_start + 2 * c->tile_ns + (c->end - c->work_end));
    return step->read & c->written_before ? fmax(c->end_before, c->work_start) : c->work_start;
}

/* When a step's first coefficients find room: beside those of the previous step, or in the half of the memory that these no
 * longer need while their last part is in use. */
static double coefficients_from(const struct ane_params *params, const struct clockwork *c, const struct step *step)
{
    if ((double)c->bank + step->first_bytes <= params->coefficient_bytes)
        return c->work_start;
    const double last_part = fmin(1, params->coefficient_bytes / 2 / (double)c->bank);
    return c->work_end - last_part * fmin(c->tile_ns, c->work_end - c->work_start);
}

/* When a step's first coefficients and its first tile are there. Kernel DMA and tile DMA are two queues on one path to memory:
 * whichever finds room first goes first, and the other waits for the path alone; coefficients where both do. A tile does not wait
 * for the memory of coefficients. */
static void first_loads(const struct ane_params *params, const struct clockwork *c, const struct step *step,
                        double *coefficients_there, double *tiles_there)
{
    const double coefficients = fmax(coefficients_from(params, c, step), c->dma_free);
    const double tiles = fmax(tiles_from(c, step), c->dma_free);
    const bool loads_coefficients = step->coefficient_first_ns > 0, loads_tiles = step->tile_first_ns > 0;
    const bool tile_first = loads_tiles && (!loads_coefficients || tiles < coefficients);
    if (tile_first)
        *tiles_there = tiles + step->tile_first_ns;
    if (loads_coefficients)
        *coefficients_there = fmax(coefficients, *tiles_there) + step->coefficient_first_ns;
    if (loads_tiles && !tile_first)
        *tiles_there = fmax(tiles, *coefficients_there) + step->tile_first_ns;
}

/* Splits `ns` of waiting between coefficients and tiles. */
static void add_dma(double *by, double ns, double coefficient_ns, double tile_ns)
{
    const double sum = coefficient_ns + tile_ns;
    const double share = sum > 0 ? coefficient_ns / sum : 0;
    by[ANE_STALL_COEFFICIENTS] += ns * share;
    by[ANE_STALL_TILE_DMA] += ns * (1 - share);
}

/* Time of a step's streams apart from its first tile and coefficients and its last result. Reads and writes overlap as far as the
 * DMA and the memory behind it allow. */
static double streams_left_ns(const struct ane_params *params, const struct step *step, double reads_ns, double stores_ns)
{
    const double all = step->tile_ns + step->coefficient_ns + step->store_ns, left = reads_ns + stores_ns;
    const double memory_ns = all > 0 ? step->memory_ns * left / all : 0;
    return fmax(fmax(reads_ns, stores_ns), fmax(left / params->dma_both_ways, memory_ns));
}

/* Advances the times over a step. by: ns per reason from the previous work_end to the new one. */
static void step_run(const struct ane_params *params, const struct step *step, struct clockwork *c, double *by)
{
    const double task_ns = (params->task_cycles + (step->follows ? params->handover_cycles : 0)) / params->clock_ghz;
    const double issued = c->work_end + task_ns;

    double coefficients_there = 0, tiles_there = 0;
    first_loads(params, c, step, &coefficients_there, &tiles_there);
    const double start = fmax(issued, fmax(coefficients_there, tiles_there));
    const double mac_ns = step->mac / params->clock_ghz, planar_ns = step->planar / params->clock_ghz;
    const double work_ns = fmax(mac_ns, planar_ns);
    const double coefficients_left = step->coefficient_ns - step->coefficient_first_ns;
    const double tiles_left = step->tile_ns - step->tile_first_ns, stores_left = step->store_ns - step->store_last_ns;
    const double dma_ns = streams_left_ns(params, step, coefficients_left + tiles_left, stores_left);
    const double busy = fmax(work_ns, dma_ns);

    by[ANE_STALL_TASK] += task_ns;
    if (start > issued) {
        const double earlier = fmax(issued, fmin(coefficients_there, tiles_there));
        const double for_coefficients = coefficients_there > tiles_there ? coefficients_there - earlier : earlier - issued;
        add_dma(by, start - issued, for_coefficients, start - issued - for_coefficients);
    }
    by[ANE_STALL_MAC] += fmin(step->mac_full, step->mac) / params->clock_ghz;
    by[ANE_STALL_UTILISATION] += fmax(step->mac - step->mac_full, 0) / params->clock_ghz;
    by[ANE_STALL_PLANAR] += fmax(planar_ns - mac_ns, 0);
    if (busy > work_ns)
        add_dma(by, busy - work_ns, coefficients_left, tiles_left + stores_left);

    c->work_start = start;
    c->work_end = start + busy;
    c->tile_ns = busy / step->tiles;
    c->bank = step->bank;
    c->dma_free = start + dma_ns;
    c->end_before = c->end;
    c->end = fmax(c->end, c->work_end + step->store_last_ns);
    c->written_before |= c->written;
    c->written = step->written;
}

/* ---- a request ---- */

static double wake_ns(const struct ane_params *params, const struct unit_state *unit, double start_ns)
{
    const double idle_us = unit->used ? (start_ns - unit->end_ns) / 1000 : 0;
    if (params->deep_wake_after_us > 0 && idle_us >= params->deep_wake_after_us)
        return params->deep_wake_us * 1000;
    /* Nothing for requests back to back, then more with the length of the gap, up to a plateau (sbryngelson/ane-guide, chapter
     * 31). */
    return params->wake_after_us > 0 ? params->wake_us * 1000 * fmin(1, idle_us / params->wake_after_us) : 0;
}

static double cycles_sum(const double by[ANE_STALL_COUNT])
{
    double sum = 0;
    for (int i = 0; i < ANE_STALL_COUNT; i++)
        sum += by[i];
    return sum;
}

static void describe(struct ane_task_time *time, const struct ane_demand *demand)
{
    memset(time, 0, sizeof *time);
    time->engines_used = demand->engines;
    time->coefficient_passes = demand->coefficients.bytes ? demand->passes : 0;
    time->source_bytes = demand->source.bytes + second_bytes(demand);
    time->result_bytes = demand->result.bytes;
    time->coefficient_bytes = demand->coefficients.bytes * demand->passes;
    time->l2_bytes = demand->tile_read + demand->tile_write;
    time->macs = demand->macs;
    time->elements = demand->elements;
}

/* A task's share of the time of its step: what it asks of the parts of the engine. */
static double weight_of(const struct ane_params *params, const struct ane_demand *demand)
{
    const double dma_ns = demand->source.ns + demand->second.ns + demand->result.ns + demand->coefficients.ns;
    return params->task_cycles + demand->mac + demand->planar + dma_ns * params->clock_ghz;
}

/* Distributes a step's cycles over its tasks; on entry, cycles holds their weights. */
static void share_out(const struct ane_params *params, struct ane_task_time *tasks, size_t count,
                      const double by[ANE_STALL_COUNT])
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += tasks[i].cycles;
    for (size_t i = 0; i < count; i++) {
        const double share = sum > 0 ? tasks[i].cycles / sum : 1.0 / (double)count;
        for (int k = 0; k < ANE_STALL_COUNT; k++)
            tasks[i].cycles_by[k] = by[k] * share;
        tasks[i].cycles = cycles_sum(tasks[i].cycles_by);
        const double lanes = (double)params->engines * params->macs_per_engine;
        tasks[i].mac_utilisation = tasks[i].cycles > 0 ? (double)tasks[i].macs / (lanes * tasks[i].cycles) : 0;
    }
}

/* Coefficients that are still in the engines' memory, since they fit it and the task before had them too, are not loaded again.
 */
static void keep_coefficients(const struct ane_params *params, struct ane_stream *kept, struct ane_demand *demand)
{
    const struct ane_stream own = demand->coefficients;
    if (own.bytes == 0 && demand->second_passes == 0)
        return;
    if (own.bytes > 0 && own.bytes == kept->bytes && own.offset == kept->offset && own.bar == kept->bar) {
        demand->coefficients.bytes = 0;
        demand->coefficient_first = 0;
    } else {
        *kept = (double)demand->coefficient_bank <= params->coefficient_bytes ? own : (struct ane_stream){.bytes = 0};
    }
}

/* Runs the steps of all tasks. by: cycles per reason. Returns ns. */
static double run_tasks(struct ane_timing *timing, const struct ane_task *task, size_t total, struct ane_task_time *tasks,
                        double by[ANE_STALL_COUNT])
{
    const struct ane_params *params = &timing->params;
    struct clockwork clock = {0};
    struct ane_stream kept = {.bytes = 0};
    for (size_t first = 0, i = 0; i < total; first = i) {
        struct step step = {
            .follows = i > 0 && (reads_results(&task[i].source, &task[i - 1]) || reads_results(&task[i].second, &task[i - 1]))};
        bool more = true;
        for (; more; i++) {
            struct ane_demand demand;
            demand_of(params, &task[i], &demand);
            keep_coefficients(params, &kept, &demand);
            time_streams(timing, &demand);
            count(&timing->activity, &task[i], &demand);
            step_add(&step, &task[i], &demand);
            if (tasks) {
                describe(&tasks[i], &demand);
                tasks[i].cycles = weight_of(params, &demand);
            }
            more = i + 1 < total && linked(&task[i]);
        }
        double here[ANE_STALL_COUNT] = {0};
        step_run(params, &step, &clock, here);
        if (i == total)
            here[ANE_STALL_TILE_DMA] += clock.end - clock.work_end;
        for (int k = 0; k < ANE_STALL_COUNT; k++) {
            here[k] *= params->clock_ghz;
            by[k] += here[k];
        }
        if (tasks)
            share_out(params, tasks + first, i - first, here);
    }
    return clock.end;
}

double ane_timing_tasks(struct ane_timing *timing, const struct ane_task *task, size_t total, unsigned unit, double now_ns,
                        struct ane_task_time *tasks, double cycles_by[ANE_STALL_COUNT])
{
    const struct ane_params *params = &timing->params;
    if (unit >= params->units)
        return NAN;
    struct unit_state *state = &timing->unit[unit];
    const double start = state->used && state->end_ns > now_ns ? state->end_ns : now_ns;
    const double wake = wake_ns(params, state, start), request = params->request_us * 1000;
    double by[ANE_STALL_COUNT] = {0};
    by[ANE_STALL_WAKE] = wake * params->clock_ghz;
    by[ANE_STALL_REQUEST] = request * params->clock_ghz;
    const double end = start + wake + request + run_tasks(timing, task, total, tasks, by);
    state->used = true;
    state->end_ns = end;
    if (cycles_by)
        memcpy(cycles_by, by, sizeof by);
    return end;
}

double ane_timing_request(struct ane_timing *timing, const struct ane_program *program, unsigned unit, double now_ns,
                          struct ane_task_time *tasks, double cycles_by[ANE_STALL_COUNT])
{
    return ane_timing_tasks(timing, program->task, program->count, unit, now_ns, tasks, cycles_by);
}
