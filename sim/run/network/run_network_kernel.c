#include "sim/run/network/run_network_kernel.h"

#include "isa/list_grow.h"
#include "sim/run/run_internal.h"
#include "sim/run/ane/run_ane.h"
#include "sim/run/network/run_network_request.h"
#include "sim/run/network/run_network_residency.h"
#include "sim/run/network/run_network_schedule.h"
#include "sim/run/network/run_network_step.h"
#include "sim/run/run_timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A kernel of a unit, however many nodes need it. */
struct kernel {
    char *workload;
    size_t common;         /* as in lowered_step */
    const char *precision; /* NULL = the network's */
    enum orch_part asked;
    bool elsewhere, lacks, timed, e_core;
    uint32_t present; /* operands that it finds in the caches, where not all are */
    bool used;        /* in the run, not only when the network is loaded */
    bool multiplies;
    double flops;
    size_t program;        /* of the Neural Engine's: its number among those that requests are made of */
    struct orch_error why; /* it is lacking */
    struct run_request request;
    const struct run_kind *kind;
    struct run_measure pass;
    struct run_result result;
};

/* A kernel at its place in the network. */
struct use {
    char *title;
    size_t kernel, placement;
};

struct network_kernels {
    struct kernel *kernel;
    size_t kernels, kernel_room;
    struct use *use;
    size_t uses, use_room;
};

struct network_kernels *network_kernels_create(void)
{
    return calloc(1, sizeof(struct network_kernels));
}

void network_kernels_free(struct network_kernels *k)
{
    if (!k)
        return;
    for (size_t i = 0; i < k->kernels; i++) {
        run_result_free(&k->kernel[i].result);
        run_measure_release(&k->kernel[i].pass);
        free(k->kernel[i].workload);
    }
    for (size_t i = 0; i < k->uses; i++)
        free(k->use[i].title);
    free(k->kernel);
    free(k->use);
    free(k);
}

/* ---- one kernel ---- */

/* From its characteristic, which has the costs of a command buffer of its own. */
static bool take(struct run_network *n, struct kernel *k, const struct run_timing *timing, struct orch_error *error)
{
    k->kind = timing->kind;
    k->timed = true;
    if (!run_timing_measure(timing, &k->request, &k->pass, &k->result, error))
        return false;
    network_step_without_buffer(n, &k->request, k->kind, &k->pass, &k->result);
    k->multiplies = k->result.macs > 0;
    k->flops = isnan(k->result.flops) ? 0 : k->result.flops;
    return true;
}

/* A program of the Neural Engine is timed as a part of its request. */
static bool in_request(const struct run_network *n, const struct kernel *k)
{
    return n->asks && k->kind->part == PART_ANE;
}

static bool take_open(struct run_network *n, struct kernel *k, const struct network_step *step, struct orch_error *error)
{
    const struct run_operation operation = step->run->kind->operation(step->run);
    k->kind = step->run->kind;
    k->multiplies = operation.macs > 0;
    k->timed = in_request(n, k);
    k->flops = k->timed ? operation.flops : 0;
    return !k->timed || network_requests_program(n->asks, run_ane_workload(step->run), &k->program) || orch_no_memory(error);
}

/* Looks it up; else whether there is such a kernel is found by opening it. */
static bool open_on(struct run_network *n, struct kernel *k, enum orch_part part, bool *there, struct orch_error *error)
{
    const struct run_known *const known = n->request->known;
    const struct run_timing *timing = NULL;
    struct network_step step = {.run = NULL};
    network_step_ask(n, k->workload, k->precision, part, &k->request);
    network_residency_ask(n->residency, k->present, &k->request);
    if (known && known->find && !(n->asks && part == PART_ANE) && !known->find(known->context, &k->request, &timing, error))
        return false;
    *there = true;
    if (timing)
        return take(n, k, timing, error);
    *there = network_step_prepare(&k->request, &step, &k->why);
    if (!*there && k->why.exit_code == ORCH_INTERNAL) {
        *error = k->why;
        return false;
    }
    const bool ok = !*there || take_open(n, k, &step, error);
    network_step_close(&step);
    return ok;
}

static bool open_kernel(struct run_network *n, struct kernel *k, struct orch_error *error)
{
    bool there = false;
    if (!open_on(n, k, k->asked, &there, error))
        return false;
    if (!there && k->asked != PART_CPU) {
        k->why = (struct orch_error){0};
        k->elsewhere = true;
        k->workload[k->common] = 0;
        if (!open_on(n, k, PART_CPU, &there, error))
            return false;
    }
    k->lacks = !there;
    return true;
}

static bool is_same(const struct kernel *k, const struct run_network *n, enum orch_part asked, const struct lowered_step *step,
                    uint32_t present)
{
    const bool same = k->elsewhere
                          ? strlen(k->workload) == step->common && strncmp(k->workload, step->workload, step->common) == 0
                          : strcmp(k->workload, step->workload) == 0;
    return k->asked == asked && k->e_core == n->e_core && k->present == present && same &&
           strcmp(k->precision ? k->precision : "", step->precision ? step->precision : "") == 0;
}

static bool kernel_of(struct run_network *n, enum orch_part asked, const struct lowered_step *step, size_t *index,
                      struct orch_error *error)
{
    struct network_kernels *const all = n->kernel_list;
    const uint32_t present = network_residency_use(n->residency, step);
    for (*index = 0; *index < all->kernels; ++*index)
        if (is_same(&all->kernel[*index], n, asked, step, present))
            return true;
    struct kernel *const grown = list_grow(all->kernel, all->kernels, &all->kernel_room, sizeof *grown);
    char *const text = strdup(step->workload);
    if (grown)
        all->kernel = grown;
    if (!grown || !text) {
        free(text);
        return orch_no_memory(error);
    }
    struct kernel *const k = &grown[all->kernels++];
    *k = (struct kernel){.workload = text,
                         .common = step->common,
                         .precision = step->precision,
                         .asked = asked,
                         .e_core = n->e_core,
                         .present = present};
    run_result_init(&k->result);
    return open_kernel(n, k, error);
}

/* ---- the uses ---- */

static void keep_operands(const struct run_network *n, const struct lowered_step *step)
{
    for (unsigned i = 0; i < step->operands.inputs; i++)
        network_requests_keep(n->asks, step->input[i].data);
    network_requests_begin(n->asks, step->operands.result);
}

static bool add_use(struct run_network *n, const char *title, size_t kernel, const struct lowered_step *step,
                    struct orch_error *error)
{
    struct network_kernels *const all = n->kernel_list;
    const enum orch_part part = all->kernel[kernel].kind->part;
    struct use *const grown = list_grow(all->use, all->uses, &all->use_room, sizeof *grown);
    char *const copy = strdup(title);
    if (grown)
        all->use = grown;
    if (!grown || !copy || !run_placement_add(&n->result->placement, title, orch_part_name(part), "", "")) {
        free(copy);
        return orch_no_memory(error);
    }
    all->kernel[kernel].used = true;
    grown[all->uses++] = (struct use){copy, kernel, n->result->placement.count - 1};
    network_step_count_buffer(n, part);
    if (in_request(n, &all->kernel[kernel]))
        return network_requests_add(n->asks, n, all->kernel[kernel].program, step, n->result->placement.count - 1) ||
               orch_no_memory(error);
    keep_operands(n, step);
    return (network_schedule_add(n->schedule, part, n->result->placement.count - 1, step) &&
            network_schedule_core(n->schedule, all->kernel[kernel].request.core_choice)) ||
           orch_no_memory(error);
}

bool network_kernels_add(struct run_network *n, const char *title, const struct lowering *l, bool *here, struct orch_error *lacks,
                         struct orch_error *error)
{
    size_t index[LOWERED_STEPS];
    bool ok = true;
    *here = true;
    for (unsigned i = 0; i < l->steps; i++) {
        if (!kernel_of(n, l->step[i].part, &l->step[i], &index[i], error))
            return orch_fail_in(error, "%s", title);
        const struct kernel *const k = &n->kernel_list->kernel[index[i]];
        if (k->lacks) {
            *lacks = k->why;
            return true;
        }
        *here = *here && !(k->elsewhere && k->multiplies);
    }
    for (unsigned i = 0; ok && i < l->steps; i++) {
        const struct kernel *const k = &n->kernel_list->kernel[index[i]];
        if (l->step[i].at_load) {
            ok = network_step_note_load(n, title, &l->step[i], k->kind->part) || orch_no_memory(error);
            keep_operands(n, &l->step[i]);
        } else {
            ok = add_use(n, title, index[i], &l->step[i], error);
        }
    }
    return ok;
}

/* ---- timing ---- */

static const char *title_of(const struct network_kernels *all, size_t kernel)
{
    for (size_t i = 0; i < all->uses; i++)
        if (all->use[i].kernel == kernel)
            return all->use[i].title;
    return all->kernel[kernel].workload;
}

/* Simulated here when nobody keeps characteristics. */
static bool simulate(struct run_network *n, const struct run_request *request, const size_t *which, size_t count, size_t *failed,
                     struct orch_error *error)
{
    struct run_timing *const timing = calloc(count + 1, sizeof *timing);
    if (!timing)
        return orch_no_memory(error);
    for (size_t i = 0; i < count; i++)
        run_timing_init(&timing[i]);
    bool ok = run_timing_simulate_all(request, count, n->request->threads, timing, failed, error);
    for (size_t i = 0; ok && i < count; i++)
        ok = take(n, &n->kernel_list->kernel[which[i]], &timing[i], error);
    for (size_t i = 0; i < count; i++)
        run_timing_free(&timing[i]);
    free(timing);
    return ok;
}

static bool learn(struct run_network *n, const struct run_request *request, const size_t *which, size_t count, size_t *failed,
                  struct orch_error *error)
{
    const struct run_known *const known = n->request->known;
    if (known->learn && !known->learn(known->context, request, count, n->request->threads, failed, error))
        return false;
    for (size_t i = 0; i < count; i++) {
        bool unused;
        const struct run_timing *const timing = known->timing(known->context, &request[i], &unused, error);
        if (!timing || !take(n, &n->kernel_list->kernel[which[i]], timing, error))
            return false;
    }
    return true;
}

static bool time_unknown(struct run_network *n, struct orch_error *error)
{
    struct network_kernels *const all = n->kernel_list;
    struct run_request *const request = calloc(all->kernels + 1, sizeof *request);
    size_t *const which = calloc(all->kernels + 1, sizeof *which), count = 0, failed = 0;
    bool ok = (request && which) || orch_no_memory(error);
    for (size_t i = 0; ok && i < all->kernels; i++)
        if (all->kernel[i].used && !all->kernel[i].timed && !all->kernel[i].lacks) {
            request[count] = all->kernel[i].request;
            which[count++] = i;
        }
    failed = count;
    ok = ok && (!count || (n->request->known ? learn : simulate)(n, request, which, count, &failed, error));
    if (!ok && failed < count)
        orch_fail_in(error, "%s", title_of(all, which[failed]));
    free(request);
    free(which);
    return ok;
}

bool network_kernels_finish(struct run_network *n, struct orch_error *error)
{
    struct network_kernels *const all = n->kernel_list;
    if (!time_unknown(n, error))
        return false;
    for (size_t i = 0; i < all->uses; i++) {
        const struct use *const u = &all->use[i];
        struct kernel *const k = &all->kernel[u->kernel];
        const struct network_step step = {.request = k->request, .asked = k->asked, .elsewhere = k->elsewhere};
        n->flops += k->flops;
        if (in_request(n, k)) {
            n->kernels++;
            continue;
        }
        if (!network_step_add(n, &step, k->kind, &k->pass, &k->result, u->placement))
            return orch_no_memory(error);
    }
    return true;
}
