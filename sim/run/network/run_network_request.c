#include "sim/run/network/run_network_request.h"

#include "isa/list_grow.h"
#include "sim/chip/chip_units.h"
#include "sim/run/ane/run_ane.h"
#include "sim/run/run_internal.h"
#include "sim/run/network/run_network_schedule.h"
#include "sim/workload/ane/ane_link.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct program {
    char text[ANE_WORKLOAD_TEXT_BYTES], variant[96];
    const char *precision;
    enum ane_link_kind kind;
    struct ane_program program; /* its tasks and ports; no contents */
    unsigned operand[ANE_BARS]; /* which operand a base register stands for, from 1; 0 = none */
    unsigned result;            /* base register of the result */
    double macs, flops;
};

/* What the host had at a place for a while. */
struct tensor {
    const void *host;
    bool current, kept;
    unsigned request; /* that writes it; 0 = none does */
};

struct use {
    size_t program, placement;
    unsigned request;
    int32_t tensor[ANE_BARS];
};

struct network_requests {
    struct program *program;
    size_t programs, program_room;
    struct tensor *tensor;
    size_t tensors, tensor_room;
    struct use *use;
    size_t uses, use_room;
};

struct network_requests *network_requests_create(void)
{
    return calloc(1, sizeof(struct network_requests));
}

void network_requests_free(struct network_requests *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->programs; i++)
        free(r->program[i].program.task);
    free(r->program);
    free(r->tensor);
    free(r->use);
    free(r);
}

/* ---- kernels ---- */

static void name_operands(struct program *p, const struct ane_workload *w)
{
    unsigned operand = 0;
    for (unsigned i = 0; i < w->arrays; i++) {
        const struct ane_array *const a = &w->array[i];
        operand += a->role != ANE_TENSOR_OUTPUT;
        if (a->role == ANE_TENSOR_INPUT)
            p->operand[a->bar & 31] = operand;
        else if (a->role == ANE_TENSOR_OUTPUT)
            p->result = a->bar & 31;
    }
}

/* "concat:1x..." puts whole tensors behind one another, "elementwise:N,op=relu" is nothing else. */
static enum ane_link_kind kind_of(const struct ane_workload *w)
{
    const char *const relu = strstr(w->text, ",op=relu");
    if (strncmp(w->text, "concat:1x", 9) == 0)
        return ANE_LINK_JOIN;
    return strncmp(w->text, "elementwise:", 12) == 0 && relu && (relu[8] == 0 || relu[8] == ' ') ? ANE_LINK_RELU
                                                                                                 : ANE_LINK_PROGRAM;
}

static bool copy_program(struct program *p, const struct ane_workload *w)
{
    const struct ane_program *const from = &w->kernel.program;
    struct ane_task *const task = calloc(from->count + 1, sizeof *task);
    if (!task)
        return false;
    memcpy(task, from->task, from->count * sizeof *task);
    snprintf(p->text, sizeof p->text, "%s", w->text);
    snprintf(p->variant, sizeof p->variant, "%s", w->kernel.variant);
    p->precision = w->precision;
    p->program = (struct ane_program){.task = task, .count = from->count, .const_bytes = from->const_bytes};
    memcpy(p->program.port, from->port, sizeof p->program.port);
    p->macs = w->kernel.macs;
    p->flops = w->kernel.flops;
    p->kind = kind_of(w);
    name_operands(p, w);
    return true;
}

bool network_requests_program(struct network_requests *r, const struct ane_workload *w, size_t *program)
{
    for (*program = 0; *program < r->programs; ++*program)
        if (strcmp(r->program[*program].text, w->text) == 0 && strcmp(r->program[*program].precision, w->precision) == 0)
            return true;
    struct program *const grown = list_grow(r->program, r->programs, &r->program_room, sizeof *grown);
    if (!grown)
        return false;
    r->program = grown;
    grown[r->programs] = (struct program){.result = 0};
    return copy_program(&grown[r->programs], w) && ++r->programs;
}

/* ---- tensors ---- */

static int32_t find(const struct network_requests *r, const void *host)
{
    for (size_t i = r->tensors; i-- > 0;)
        if (r->tensor[i].current && r->tensor[i].host == host)
            return (int32_t)i;
    return ANE_LINK_NONE;
}

void network_requests_begin(struct network_requests *r, const void *host)
{
    const int32_t known = r ? find(r, host) : ANE_LINK_NONE;
    if (known >= 0)
        r->tensor[known].current = false;
}

void network_requests_keep(struct network_requests *r, const void *host)
{
    const int32_t known = r ? find(r, host) : ANE_LINK_NONE;
    if (known >= 0)
        r->tensor[known].kept = true;
}

static bool add_tensor(struct network_requests *r, const void *host, unsigned request, int32_t *number)
{
    struct tensor *const grown = list_grow(r->tensor, r->tensors, &r->tensor_room, sizeof *grown);
    if (!grown)
        return false;
    r->tensor = grown;
    network_requests_begin(r, host);
    grown[r->tensors] = (struct tensor){.host = host, .current = true, .request = request};
    *number = (int32_t)r->tensors++;
    return true;
}

static bool read_tensor(struct network_requests *r, const void *host, unsigned request, int32_t *number)
{
    *number = find(r, host);
    if (*number < 0)
        return add_tensor(r, host, 0, number);
    if (r->tensor[*number].request != request)
        r->tensor[*number].kept = true;
    return true;
}

bool network_requests_add(struct network_requests *r, const struct run_network *n, size_t program,
                          const struct lowered_step *step, size_t placement)
{
    const struct program *const p = &r->program[program];
    struct use *const grown = list_grow(r->use, r->uses, &r->use_room, sizeof *grown);
    if (!grown)
        return false;
    r->use = grown;
    struct use *const u = &grown[r->uses++];
    *u = (struct use){.program = program, .placement = placement, .request = n->requests};
    for (unsigned bar = 0; bar < ANE_BARS; bar++) {
        const unsigned operand = p->operand[bar];
        u->tensor[bar] = ANE_LINK_NONE;
        if (operand && operand <= step->operands.inputs &&
            !read_tensor(r, step->input[operand - 1].data, n->requests, &u->tensor[bar]))
            return false;
    }
    const bool begins = r->uses == 1 || u[-1].request != n->requests;
    return add_tensor(r, step->operands.result, n->requests, &u->tensor[p->result]) &&
           network_schedule_add_to_request(n->schedule, begins, placement, step);
}

/* ---- one request ---- */

struct request {
    const struct use *use;
    size_t uses;
    struct ane_linked linked;
    double macs, flops;
};

static bool link_uses(const struct network_requests *r, double tile_memory_bytes, struct request *q)
{
    struct ane_linker *const l = ane_linker_create((uint64_t)tile_memory_bytes);
    bool ok = l != NULL;
    for (size_t i = 0; ok && i < q->uses; i++) {
        const struct program *const p = &r->program[q->use[i].program];
        ok = ane_linker_add(l, p->kind, &p->program, q->use[i].tensor);
        q->macs += p->macs;
        q->flops += p->flops;
    }
    for (size_t t = 0; ok && t < r->tensors; t++)
        if (r->tensor[t].kept || r->tensor[t].request != q->use[0].request)
            ok = ane_linker_keep(l, (int32_t)t);
    ok = ok && ane_linker_finish(l, &q->linked);
    ane_linker_free(l);
    return ok;
}

/* Times the request by the account that any program of the engine has. */
static bool time_request(struct run_network *n, const struct request *q, const struct run_request *asked,
                         struct run_measure *pass, struct run_result *result, struct orch_error *error)
{
    struct ane_workload w = {
        .kernel = {.program = {.task = q->linked.task, .count = q->linked.count}, .macs = q->macs, .flops = q->flops}};
    struct run run = {.request = asked, .kind = &run_kind_ane_program, .work = &w};
    run.begin.unit = orch_part_name(PART_ANE);
    const struct ane_time_options options = {.cold = asked->cold, .repeat = 1};
    struct ane_timed *const t = &pass->ane.timed;
    if (!run_soc_open(&run, pass, error) || !ane_time_program(&w.kernel.program, NULL, pass->soc, &options, t, error))
        return false;
    pass->host_seconds += t->host_seconds;
    activity_add(&pass->activity, &t->activity);
    run_memory_add(&pass->memory, &t->memory);
    pass->end_ns = t->device_ns + t->overhead_ns;
    if (!run_ane_account(&run, pass, result, error) || !run_joules(&run, pass, result, error))
        return false;
    network_step_without_buffer(n, asked, run.kind, pass, result);
    return true;
}

/* ---- lines of the placement ---- */

static const char *limit_of(const struct ane_task_time *task, size_t first, size_t end, double *cycles)
{
    double by[ANE_STALL_COUNT] = {0};
    int largest = 0;
    *cycles = 0;
    for (size_t i = first; i < end; i++) {
        *cycles += task[i].cycles;
        for (int k = 0; k < ANE_STALL_COUNT; k++)
            by[k] += task[i].cycles_by[k];
    }
    for (int k = 1; k < ANE_STALL_COUNT; k++)
        largest = by[k] > by[largest] ? k : largest;
    return ane_stall_name((enum ane_stall)largest);
}

static bool complete_line(const struct network_requests *r, struct run_network *n, const struct request *q, size_t index,
                          const struct ane_timed *t, double joules_per_s)
{
    const struct use *const u = &q->use[index];
    const struct program *const p = &r->program[u->program];
    char kernel[sizeof p->text + sizeof p->variant], why[120];
    double cycles;
    const char *const limit = limit_of(t->task, q->linked.first[index], q->linked.first[index + 1], &cycles);
    const double seconds = 1e-9 * cycles / t->params.clock_ghz;
    snprintf(kernel, sizeof kernel, "%s %s", p->variant, p->text);
    if (q->linked.first[index] == q->linked.first[index + 1])
        return network_step_complete(n, u->placement, kernel, "done by the kernels that write its operands", 0, 0);
    snprintf(why, sizeof why, "bound by ane.%s%s", limit,
             q->linked.inside[u->tensor[p->result]] ? "; its result stays in tile memory" : "");
    return network_step_complete(n, u->placement, kernel, why, seconds, joules_per_s * seconds);
}

static bool finish_request(struct network_requests *r, struct run_network *n, struct request *q, struct orch_error *error)
{
    struct run_measure pass = {.soc = n->sum->soc};
    struct run_result result;
    struct run_request asked;
    double tile_memory;
    run_result_init(&result);
    network_step_ask(n, "a request to the Neural Engine", NULL, PART_ANE, &asked);
    asked.mode = RUN_TIMING;
    bool ok = chip_number(asked.chip, "ane.l2_bytes", &tile_memory, error) &&
              (link_uses(r, tile_memory, q) || orch_no_memory(error)) && time_request(n, q, &asked, &pass, &result, error);
    const double joules_per_s = ok && !isnan(result.joules) ? result.joules / result.device_seconds : NAN;
    for (size_t i = 0; ok && i < q->uses; i++)
        ok = complete_line(r, n, q, i, &pass.ane.timed, joules_per_s) || orch_no_memory(error);
    if (ok) {
        network_schedule_took(n->schedule, q->use[0].placement, result.device_seconds, &pass.activity);
        n->tensors += (unsigned)q->linked.tensors;
        n->tensors_inside += (unsigned)q->linked.tensors_inside;
        network_step_note_waiting(n, &run_kind_ane_program, &pass, &result);
        ok = network_step_add_measure(n, &pass, PART_ANE, &result) || orch_no_memory(error);
    }
    if (n->sum->soc)
        pass.soc = NULL;
    run_measure_release(&pass);
    run_result_free(&result);
    ane_linked_free(&q->linked);
    return ok;
}

bool network_requests_finish(struct network_requests *r, struct run_network *n, struct orch_error *error)
{
    for (size_t first = 0, end; first < r->uses; first = end) {
        for (end = first; end < r->uses && r->use[end].request == r->use[first].request;)
            end++;
        struct request q = {.use = &r->use[first], .uses = end - first};
        if (!finish_request(r, n, &q, error))
            return false;
    }
    return true;
}
