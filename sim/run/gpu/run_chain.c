#include "sim/run/gpu/run_chain.h"

#include "sim/run/run_internal.h"
#include "sim/workload/gpu/gpu_functional.h"

#include <stdio.h>
#include <string.h>

static bool no_memory(struct run_chain *c)
{
    return orch_no_memory(c->error);
}

/* ---- sums over steps ---- */

static void add_gpu(struct run_chain *c, const struct run_launch *l)
{
    const struct run_gpu *g = &l->m->gpu;
    struct run_gpu *const sum = &c->sum->gpu;
    run_gpu_add(sum, g);
    sum->overhead_ns = g->overhead_ns + (c->separate ? sum->overhead_ns : 0); /* else of the one command buffer */
    if (sum->longest_ns == g->device_ns)
        c->run->gpu_group_threads = l->setup->kernel->group[0] * l->setup->kernel->group[1] * l->setup->kernel->group[2];
}

static bool tell_step(struct run_chain *c, unsigned number, const struct run_measure *m)
{
    char name[48];
    snprintf(name, sizeof name, RUN_COUNTER_STEP, number - c->loading + 1);
    return !c->tell_steps || c->run->request->mode == RUN_FUNCTIONAL ||
           run_values_add(&c->result->counters, name, 1e-9 * m->gpu.device_ns) || no_memory(c);
}

static bool add_step(struct run_chain *c, struct run_launch *l, unsigned number)
{
    struct run_measure *m = l->m;
    add_gpu(c, l);
    activity_add(&c->sum->activity, &m->activity);
    run_memory_add(&c->sum->memory, &m->memory);
    c->sum->host_seconds += m->host_seconds;
    c->sampled |= c->run->detail && strcmp(c->run->detail, "sampled") == 0;
    return run_gpu_counters(l->setup, m, c->result, c->error) && tell_step(c, number, m) &&
           (run_placement_add(&c->result->placement, l->setup->kernel->name, "gpu", l->setup->kernel->code_name, c->why) ||
            no_memory(c));
}

/* ---- one step ---- */

bool run_chain_execute(const struct run_chain *c, const struct abi_kernel *step, const uint64_t *address)
{
    struct gpu_setup setup = {.program = NULL};
    struct gpu_totals totals = {0};
    double cores = 1;
    chip_number(c->run->request->chip, "gpu_cores", &cores, NULL);
    const struct gpu_functional plain = {.threads = c->run->request->threads, .cores = (unsigned)cores};
    const bool ok = gpu_setup_open(&setup, step, c->generation, c->space, address, c->error) &&
                    gpu_totals_init(&totals, setup.program, c->error) && gpu_functional_run(&setup, &plain, &totals, c->error);
    gpu_setup_close(&setup);
    gpu_totals_free(&totals);
    return ok;
}

/* A step is timed from the buffers as they are, then they get what the step makes of them. */
static bool work(struct run_chain *c, struct run_launch *l, unsigned number)
{
    const enum run_mode mode = c->run->request->mode;
    const bool last = number + 1 == c->steps;
    struct gpu_totals again = {0};
    l->setup->progress = c->run->progress;
    l->setup->instruction_limit = c->run->request->max_instructions;
    l->m->gpu.groups = l->setup->group_count;
    bool ok = gpu_totals_init(&l->m->gpu.totals, l->setup->program, c->error) &&
              (c->empty || gpu_setup_keep(l->setup, c->error)) && (mode == RUN_FUNCTIONAL || run_launch_open(l)) &&
              (mode == RUN_FUNCTIONAL || run_launch_prepare(l)) && (mode == RUN_TIMING || run_launch_execute(l));
    if (ok && last && mode != RUN_TIMING)
        ok = c->hand_over(c);
    if (ok && mode != RUN_FUNCTIONAL)
        ok = run_launch_time(l) && run_launch_end_profile(l, c->result);
    const bool lost = mode == RUN_TIMING ? c->contents : mode == RUN_FULL && !run_launch_keeps_memory(l);
    if (ok && lost && !c->empty && (!last || (c->given && mode != RUN_TIMING))) {
        const struct gpu_functional plain = {.threads = c->run->request->threads, .cores = l->m->gpu.params.cores};
        gpu_setup_restore(l->setup);
        ok = gpu_totals_init(&again, l->setup->program, c->error) && gpu_functional_run(l->setup, &plain, &again, c->error);
        gpu_totals_free(&again);
    }
    return ok && add_step(c, l, number);
}

/* Steps that follow find what this one touched. */
static void note_present(struct run_chain *c, unsigned number)
{
    const struct abi_kernel *const k = &c->step[number];
    const bool composed = c->run->request->inner && c->run->request->cold;
    for (unsigned i = 0; composed && i < k->args && c->presents < RUN_CHAIN_PRESENT; i++)
        if (k->arg[i].buffer && k->arg[i].bytes <= ABI_BUFFERS_MAX)
            c->present[c->presents++] = (struct run_range){c->address[number][i], k->arg[i].bytes};
}

static bool run_step(struct run_chain *c, unsigned number)
{
    struct run_measure m = {.soc = c->sum->soc, .moved_share = c->sum->moved_share};
    struct gpu_setup setup = {.program = NULL};
    struct run_launch l = {
        .run = c->run, .setup = &setup, .m = &m, .error = c->error, .present = c->present, .presents = c->presents};
    const bool ok = (c->contents ? gpu_setup_open : gpu_setup_open_steering)(&setup, &c->step[number], c->generation, c->space,
                                                                             c->address[number], c->error) &&
                    work(c, &l, number);
    c->sum->soc = m.soc;
    note_present(c, number);
    run_launch_close(&l);
    gpu_setup_close(&setup);
    gpu_totals_free(&m.gpu.totals);
    return ok;
}

bool run_chain(struct run_chain *c)
{
    for (unsigned i = 0; c->contents && !c->empty && i < c->loading; i++)
        if (!run_chain_execute(c, &c->step[i], c->address[i]))
            return false;
    for (unsigned i = c->loading; i < c->steps; i++)
        if (!run_step(c, i))
            return false;
    c->sum->end_ns = c->sum->gpu.device_ns + c->sum->gpu.overhead_ns;
    return c->run->request->mode == RUN_FUNCTIONAL || run_result_set_text(&c->run->detail, c->sampled ? "sampled" : "instr") ||
           no_memory(c);
}
