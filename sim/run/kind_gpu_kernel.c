/* Kind "gpu": a kernel of the GPU library. Its steps run one after another in one command buffer, over the same buffers. */
#include "sim/base/checksum.h"
#include "sim/run/run_internal.h"
#include "sim/run/run_launch.h"
#include "sim/workload/gpu/gpu_functional.h"
#include "sim/workload/gpu/gpu_library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has(const struct run_request *q)
{
    return gpu_library_has(q->workload);
}

static bool open_workload(struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    struct gpu_library *const library = run->work = calloc(1, sizeof *library);
    enum gpu_generation generation;
    struct abi_target target;
    double cores = 1;
    if (!library)
        return orch_no_memory(error);
    chip_number(q->chip, "gpu_cores", &cores, NULL);
    if (!run_gpu_target(q->chip, &target, &generation, error) ||
        !gpu_library_open(library, q->workload, q->precision, generation, (uint32_t)cores, error))
        return false;
    snprintf(run->program_name, sizeof run->program_name, "%s", library->request.info->name);
    return true;
}

static void close_workload(struct run *run)
{
    gpu_library_close(run->work);
}

static bool check(const struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    if (!run_check_no_program_options(q, "is a kernel of the GPU", error))
        return false;
    const char *const option = q->input_count ? "input" : q->output_folder ? "output" : NULL;
    return !option || orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " belongs to GPU launches (abi.json)", option);
}

static uint64_t hash(const struct run *run)
{
    const struct gpu_library *const library = run->work;
    return checksum_add(checksum_add(CHECKSUM_START, "gpu", 3), library->text, strlen(library->text));
}

static const char *precision(const struct run *run)
{
    const struct gpu_library *const library = run->work;
    return gpu_type_name(library->request.type);
}

static double bytes(const struct run *run)
{
    return gpu_library_bytes(run->work);
}

static struct run_operation operation(const struct run *run)
{
    const struct gpu_library *const library = run->work;
    return (struct run_operation){library->kernel.flops, library->kernel.macs};
}

struct chain {
    struct run *run;
    const struct gpu_library *library;
    struct mem_space *space;
    uint64_t address[GPU_KERNEL_BUFFERS];
    enum gpu_generation generation;
    struct run_measure *sum;
    struct run_result *result;
    struct orch_error *error;
    double longest_ns;
    bool sampled, given; /* somebody else reads the buffers afterwards */
    bool contents;       /* buffers have contents */
};

static bool no_memory(struct chain *c)
{
    return orch_no_memory(c->error);
}

/* ---- sums over steps ---- */

static void add_gpu(struct chain *c, const struct run_launch *l)
{
    const struct run_gpu *g = &l->m->gpu;
    struct run_gpu *sum = &c->sum->gpu;
    const double all = sum->device_ns + g->device_ns;
    if (all > 0) {
        sum->issue_share = (sum->issue_share * sum->device_ns + g->issue_share * g->device_ns) / all;
        sum->scale_uncertainty = (sum->scale_uncertainty * sum->device_ns + g->scale_uncertainty * g->device_ns) / all;
    }
    sum->params = g->params;
    sum->device_ns = all;
    sum->overhead_ns = g->overhead_ns; /* of the one command buffer */
    sum->groups += g->groups;
    sum->groups_timed += g->groups_timed;
    sum->timed_share = all > 0 ? (sum->timed_share * (all - g->device_ns) + g->timed_share * g->device_ns) / all : 1;
    for (int i = 0; i < GPU_STALL_COUNT; i++)
        sum->stalls[i] += g->stalls[i];
    if (g->device_ns < c->longest_ns)
        return;
    c->longest_ns = g->device_ns;
    sum->occupancy = g->occupancy;
    c->run->gpu_group_threads = l->setup->kernel->group[0] * l->setup->kernel->group[1] * l->setup->kernel->group[2];
}

static bool add_step(struct chain *c, struct run_launch *l)
{
    struct run_measure *m = l->m;
    add_gpu(c, l);
    activity_add(&c->sum->activity, &m->activity);
    run_memory_add(&c->sum->memory, &m->memory);
    c->sum->host_seconds += m->host_seconds;
    c->sampled |= c->run->detail && strcmp(c->run->detail, "sampled") == 0;
    return run_gpu_counters(l->setup, m, c->result, c->error) &&
           (run_placement_add(&c->result->placement, l->setup->kernel->name, "gpu", l->setup->kernel->code_name,
                              "a program of the kernel library") ||
            no_memory(c));
}

/* ---- one step ---- */

static bool hand_over(struct chain *c)
{
    for (unsigned i = 0; i < c->library->kernel.buffers; i++) {
        const struct gpu_kernel_buffer *b = &c->library->kernel.buffer[i];
        const uint64_t bytes = gpu_type_bytes(b->type, b->count);
        if (b->role != GPU_BUFFER_OUTPUT && b->role != GPU_BUFFER_IN_OUT)
            continue;
        const uint8_t *at = mem_at(c->space, c->address[i], bytes, MEM_READ);
        if (at && !run_checksum_add(&c->result->checksum, b->name, checksum_fnv1a64(at, bytes)))
            return no_memory(c);
    }
    return true;
}

/* A step is timed from the buffers as they are, then they get what the step makes of them. */
static bool work(struct chain *c, struct run_launch *l, bool last)
{
    const enum run_mode mode = c->run->request->mode;
    struct gpu_totals again = {0};
    l->setup->progress = c->run->progress;
    l->m->gpu.groups = l->setup->group_count;
    bool ok = gpu_totals_init(&l->m->gpu.totals, l->setup->program, c->error) &&
              (c->library->empty || gpu_setup_keep(l->setup, c->error)) && (mode == RUN_FUNCTIONAL || run_launch_open(l)) &&
              (mode == RUN_FUNCTIONAL || run_launch_prepare(l)) && (mode == RUN_TIMING || run_launch_execute(l));
    if (ok && last && mode != RUN_TIMING)
        ok = hand_over(c);
    if (ok && mode != RUN_FUNCTIONAL)
        ok = run_launch_time(l) && run_launch_end_profile(l, c->result);
    const bool lost = mode == RUN_TIMING ? c->contents : mode == RUN_FULL && !run_launch_keeps_memory(l);
    if (ok && lost && !c->library->empty && (!last || (c->given && mode != RUN_TIMING))) {
        const struct gpu_functional plain = {.threads = c->run->request->threads, .cores = l->m->gpu.params.cores};
        gpu_setup_restore(l->setup);
        ok = gpu_totals_init(&again, l->setup->program, c->error) && gpu_functional_run(l->setup, &plain, &again, c->error);
        gpu_totals_free(&again);
    }
    return ok && add_step(c, l);
}

static bool run_step(struct chain *c, unsigned number)
{
    struct run_measure m = {.soc = c->sum->soc, .moved_share = c->sum->moved_share};
    struct gpu_setup setup = {.program = NULL};
    struct run_launch l = {.run = c->run, .setup = &setup, .m = &m, .error = c->error};
    const struct abi_kernel *k = &c->library->step[number];
    uint64_t given[ABI_ARGS_MAX] = {0};
    for (unsigned i = 0; i < k->args; i++)
        if (k->arg[i].buffer)
            given[i] = c->address[c->library->place[number][i].buffer] + c->library->place[number][i].offset_bytes;
    const bool ok =
        (c->contents ? gpu_setup_open : gpu_setup_open_steering)(&setup, k, c->generation, c->space, given, c->error) &&
        work(c, &l, number + 1 == c->library->kernel.steps);
    c->sum->soc = m.soc;
    run_launch_close(&l);
    gpu_setup_close(&setup);
    gpu_totals_free(&m.gpu.totals);
    return ok;
}

static bool run_steps(struct chain *c)
{
    for (unsigned i = 0; i < c->library->kernel.steps; i++)
        if (!run_step(c, i))
            return false;
    c->run->gpu_bytes = c->library->kernel.min_bytes;
    c->sum->end_ns = c->sum->gpu.device_ns + c->sum->gpu.overhead_ns;
    return c->run->request->mode == RUN_FUNCTIONAL || run_result_set_text(&c->run->detail, c->sampled ? "sampled" : "instr") ||
           no_memory(c);
}

/* Bytes that the host holds: buffers, and the start contents of those that a launch writes (gpu_setup_keep). */
static double host_bytes(const struct gpu_library *library)
{
    const double buffers = gpu_library_bytes(library);
    double most = 0;
    for (unsigned i = 0; i < library->kernel.steps; i++) {
        double kept = 0;
        for (unsigned a = 0; a < library->step[i].args; a++)
            kept +=
                library->step[i].arg[a].buffer && !library->step[i].arg[a].unchanged ? (double)library->step[i].arg[a].bytes : 0;
        most = kept > most ? kept : most;
    }
    return buffers + most;
}

/* What is only timed needs contents where values steer, and those of places alone where the host would not hold all. Where there
 * are contents, the host has to hold them. */
static bool choose_contents(struct chain *c)
{
    const bool timing = c->run->request->mode == RUN_TIMING;
    struct gpu_library *const library = c->run->work;
    const double bytes = gpu_library_bytes(library);
    char text[160];
    c->contents = !timing;
    if (timing && !gpu_library_steered(library, c->generation, &c->contents, c->error))
        return false;
    library->empty = timing && c->contents && !c->given && bytes > (double)ABI_BUFFERS_MAX;
    if (!c->contents || c->given)
        return true;
    if (!library->empty)
        return run_host_holds(library->text, host_bytes(library), "; " ORCH_OPTION("mode") " timing needs none", c->error);
    snprintf(text, sizeof text, "buffers of %.1f GiB have no contents: the time of these kernels does not depend on values",
             bytes / 0x1p30);
    return run_assumption_add(&c->result->assumptions, "contents", "inferred", text) || orch_no_memory(c->error);
}

static bool time_at(struct run *run, struct mem_space *space, const uint64_t *given, struct run_measure *m,
                    struct run_result *result, struct orch_error *error)
{
    struct chain c = {
        .run = run, .library = run->work, .space = space, .sum = m, .result = result, .error = error, .given = given != NULL};
    return run_gpu_generation(run, &c.generation, result, error) && choose_contents(&c) &&
           gpu_library_place(c.library, space, given, c.contents, run->request->seed, c.address, error) && run_steps(&c);
}

static bool time_in(struct run *run, const struct run_given *given, struct run_measure *m, struct run_result *result,
                    struct orch_error *error)
{
    if (given)
        return time_at(run, given->space, given->address, m, result, error);
    struct mem_space *const space = run_space_create(run, error);
    const bool ok = space && time_at(run, space, NULL, m, result, error);
    run_space_free(space, run, m);
    return ok;
}

const struct run_kind run_kind_gpu_kernel = {
    .name = "gpu",
    .program_kind = "kernel",
    .part = PART_GPU,
    .may_sample = true,
    .takes_buffers = true,
    .has = has,
    .open = open_workload,
    .close = close_workload,
    .check = check,
    .hash = hash,
    .precision = precision,
    .bytes = bytes,
    .operation = operation,
    .work = run_work_named,
    .time_in = time_in,
    .account = run_gpu_account,
    .energy = run_energy_of_gpu,
    .explain = run_gpu_explain,
};
