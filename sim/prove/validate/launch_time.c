#include "sim/prove/validate/launch_time.h"

#include "sim/workload/gpu/gpu_job.h"
#include "sim/workload/gpu/gpu_setup.h"
#include "sim/run/interval.h"

#include <math.h>
#include <stdlib.h>

/* Data that a sample touches: enough lines to find the pace of a memory system with some hundred requests in flight. */
#define SAMPLE_BYTES (2.0 * 1024 * 1024)

enum { WHOLE_WAVES = 4 }; /* launches with fewer waves are run completely */

struct timed {
    const struct launch_time *t;
    const struct gpu_library *library;
    struct soc_gpu *gpu;
    struct mem_space *space;
    uint64_t address[GPU_KERNEL_BUFFERS];
    struct orch_error *error;
};

static uint64_t bytes_of(const struct timed *d, unsigned buffer)
{
    const struct gpu_kernel_buffer *const b = &d->library->kernel.buffer[buffer];
    return gpu_type_bytes(b->type, b->count);
}

/* Buffers hold zeros: the pace of these kernels does not depend on values, and memory that a sample does not touch costs the host
 * nothing. */
static bool place_buffers(struct timed *d)
{
    for (unsigned i = 0; i < d->library->kernel.buffers; i++) {
        d->address[i] = mem_space_alloc(d->space, bytes_of(d, i), MEM_PAGE_BYTES);
        if (!d->address[i])
            return orch_fail(d->error, ORCH_USAGE, "%.200s: %s does not fit the simulated memory", d->library->text,
                             d->library->kernel.buffer[i].name);
    }
    return true;
}

/* ---- what the time before has left in the caches ---- */

/* Addresses of other data, which the operation touched long before. */
#define ELSEWHERE (UINT64_C(1) << 40)

static void touch(struct timed *d, uint64_t begin, double bytes, double stored_share)
{
    const uint64_t lines = (uint64_t)(bytes / MEM_LINE_BYTES);
    double stored = 0;
    for (uint64_t i = 0; i < lines; i++) {
        stored += stored_share;
        const bool store = stored >= 1;
        stored -= store;
        mem_port_access(d->gpu->port[i % d->gpu->params.cores], (double)i, begin + i * MEM_LINE_BYTES, MEM_LINE_BYTES,
                        store ? MEM_ACCESS_STORE : MEM_ACCESS_LOAD, 0);
    }
}

static bool is_stored(enum gpu_buffer_role role)
{
    return role != GPU_BUFFER_INPUT;
}

/* Data larger than the system-level cache leave it full of other parts of themselves; smaller data are still there, as far as
 * they fit. */
static void fill_caches(struct timed *d, double whole_bytes)
{
    double all = 0, stored = 0;
    soc_restart(d->t->soc, false);
    for (unsigned i = 0; i < d->library->kernel.buffers; i++) {
        const double bytes = (double)bytes_of(d, i);
        all += bytes;
        stored += is_stored(d->library->kernel.buffer[i].role) ? bytes : 0;
    }
    if (whole_bytes > d->t->slc_bytes) {
        touch(d, ELSEWHERE, d->t->slc_bytes + d->t->l2_bytes, stored / all);
    } else {
        for (unsigned i = 0; i < d->library->kernel.buffers; i++)
            touch(d, d->address[i], (double)bytes_of(d, i), is_stored(d->library->kernel.buffer[i].role));
        if (whole_bytes > d->t->l2_bytes)
            touch(d, ELSEWHERE, d->t->l2_bytes, 0);
    }
}

/* ---- threadgroups ---- */

static void read_pass(const struct timed *d, struct launch_spent *pass)
{
    struct activity activity = {{0}};
    double cycles[GPU_STALL_COUNT], all = 0;
    interval_gpu_stalls(d->gpu->timing, d->gpu->params.cores, cycles);
    for (int i = 0; i < GPU_STALL_COUNT; i++)
        all += cycles[i];
    for (int i = 0; i < GPU_STALL_COUNT; i++)
        pass->stalls_ns[i] = all > 0 ? pass->ns * cycles[i] / all : 0;
    soc_take_activity(d->t->soc, &activity);
    pass->read_bytes = (double)activity.count[ACT_DRAM_READ_BYTES];
    pass->write_bytes = (double)activity.count[ACT_DRAM_WRITE_BYTES];
}

static bool pass(struct timed *d, const struct gpu_setup *setup, const struct gpu_selection *selection,
                 struct launch_spent *spent)
{
    double end_ns;
    struct activity unused = {{0}};
    soc_take_activity(d->t->soc, &unused);
    soc_restart(d->t->soc, true);
    struct engine *const engine = engine_create();
    struct gpu_job *const job = gpu_job_create(setup, &d->gpu->params, d->gpu->timing, selection, d->error);
    bool ok = job != NULL;
    if (ok) {
        const struct engine_task task = gpu_job_task(job);
        ok = ((engine && engine_add(engine, &task, NULL, 0) >= 0) || orch_no_memory(d->error)) &&
             engine_run(engine, &end_ns, d->error);
    }
    if (ok) {
        spent->ns = gpu_job_end_ns(job) - gpu_job_begin_ns(job);
        read_pass(d, spent);
    }
    gpu_job_free(job);
    engine_free(engine);
    return ok;
}

/* The threadgroups that the cores hold at a time, as often as it takes to touch enough data. */
static uint64_t wave_of(const struct timed *d, const struct gpu_setup *setup)
{
    const struct gpu_timing_launch launch = gpu_job_launch(setup);
    const uint64_t held = (uint64_t)gpu_timing_occupancy(&d->gpu->params, &launch, NULL) * d->gpu->params.cores;
    double bytes = 0;
    for (unsigned i = 0; i < setup->kernel->args; i++)
        bytes += setup->kernel->arg[i].buffer ? (double)setup->kernel->arg[i].bytes : 0;
    const double touching = bytes > 0 ? ceil(SAMPLE_BYTES / bytes * (double)setup->group_count) : 0;
    if (!held || touching <= (double)held)
        return held;
    return (uint64_t)ceil(touching / (double)held) * held;
}

void launch_spent_add(struct launch_spent *to, const struct launch_spent *part, double times)
{
    const struct launch_spent copy = *part;
    to->ns += times * copy.ns;
    to->read_bytes += times * copy.read_bytes;
    to->write_bytes += times * copy.write_bytes;
    for (int i = 0; i < GPU_STALL_COUNT; i++)
        to->stalls_ns[i] += times * copy.stalls_ns[i];
}

/* Runs one wave from the first quarter and two from the middle on: the difference is the pace without start and end. */
static bool sample(struct timed *d, const struct gpu_setup *setup, uint64_t wave, struct launch_spent *spent)
{
    const uint64_t groups = setup->group_count;
    struct launch_spent less = {.ns = 0};
    const struct gpu_stretch one = {.first = groups / 8, .count = wave, .warm_first = groups / 8};
    const struct gpu_stretch two = {.first = groups / 2, .count = 2 * wave, .warm_first = groups / 2};
    const struct gpu_selection few = {.stretch = &one, .stretches = 1}, many = {.stretch = &two, .stretches = 1};
    const bool ok = pass(d, setup, &few, &less) && pass(d, setup, &many, spent);
    const double few_ns = less.ns, many_ns = spent->ns;
    const double pace = many_ns > few_ns ? (many_ns - few_ns) / (double)wave : many_ns / (2 * (double)wave);
    launch_spent_add(spent, spent, pace * (double)(groups - 2 * wave) / fmax(many_ns, 1e-9));
    return ok;
}

static bool time_step(struct timed *d, unsigned number, struct launch_spent *spent)
{
    const struct gpu_selection all = {0};
    const struct abi_kernel *const k = &d->library->step[number];
    struct gpu_setup setup = {.program = NULL};
    uint64_t given[ABI_ARGS_MAX] = {0};
    for (unsigned i = 0; i < k->args; i++)
        if (k->arg[i].buffer)
            given[i] = d->address[d->library->place[number][i].buffer] + d->library->place[number][i].offset_bytes;
    bool ok = gpu_setup_open(&setup, k, d->t->generation, d->space, given, d->error);
    if (ok) {
        const uint64_t wave = wave_of(d, &setup);
        ok = wave && setup.group_count >= WHOLE_WAVES * wave ? sample(d, &setup, wave, spent) : pass(d, &setup, &all, spent);
    }
    gpu_setup_close(&setup);
    return ok;
}

bool launch_time_kernel(const struct launch_time *t, const struct gpu_library *library, double whole_bytes,
                        struct launch_spent *spent, struct orch_error *error)
{
    struct timed d = {.t = t, .library = library, .error = error, .space = mem_space_create(0)};
    *spent = (struct launch_spent){.ns = 0};
    bool ok = d.space || orch_no_memory(d.error);
    d.gpu = ok ? soc_gpu(t->soc, error) : NULL;
    ok = d.gpu && place_buffers(&d);
    if (ok)
        fill_caches(&d, whole_bytes);
    for (unsigned i = 0; ok && i < library->kernel.steps; i++) {
        struct launch_spent step = {.ns = 0};
        ok = time_step(&d, i, &step);
        launch_spent_add(spent, &step, 1);
    }
    mem_space_free(d.space);
    return ok;
}
