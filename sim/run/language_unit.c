#include "sim/run/language_unit.h"

#include "isa/list_grow.h"
#include "sim/base/host_time.h"
#include "sim/chip/chip_units.h"
#include "sim/run/run_internal.h"
#include "sim/workload/cpu/library_home.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a shape took, of one kernel. */
struct known_shape {
    char key[160];
    struct run_result result;
    struct activity activity;
    double device_seconds, joules, launch_joules; /* joules without the launch */
    struct run_operation operation;
};

/* A kernel that is ready to be executed again. */
struct kept_run {
    char workload[160], key[160];
    struct run_request request;
    struct run *run;
    uint64_t used; /* when it was executed last */
};

enum { KEPT_RUNS = 64 };

struct language_unit {
    const struct run_request *request;
    struct run_result *result;
    struct library_home *home; /* executes kernels of the CPU; its memory is that of all units */
    struct mem_space *space;
    struct soc *soc;
    struct energy_model model;
    bool has_energy;
    struct known_shape *known;
    size_t count, room;
    struct activity activity;
    struct kept_run *kept[KEPT_RUNS];
    uint64_t executed;
    double seconds; /* of all kernels, for what is an average over time */
    double stall_seconds;
    uint64_t instructions;
    double host_seconds;
};

struct language_unit *language_unit_create(const struct run_request *request, struct run_result *result, struct orch_error *error)
{
    struct language_unit *const u = calloc(1, sizeof *u);
    struct mem_pool_params memory;
    if (!u) {
        orch_no_memory(error);
        return NULL;
    }
    *u = (struct language_unit){.request = request, .result = result};
    if (!chip_memory(request->chip, request->memory_gib, &memory, NULL))
        memory = (struct mem_pool_params){0}; /* not known: no limit */
    u->home = library_home_create(memory.capacity_bytes, error);
    if (!u->home) {
        free(u);
        return NULL;
    }
    u->space = library_home_space(u->home);
    u->has_energy = energy_model_open(&u->model, request->chip, NULL);
    return u;
}

static void forget(struct kept_run *kept)
{
    run_free(kept ? kept->run : NULL);
    free(kept);
}

/* Averages over time become shares. */
static void finish_shares(struct language_unit *u)
{
    struct run_result *const r = u->result;
    double largest = 0;
    for (int i = 0; i < RUN_UTILISATION_COUNT; i++)
        r->utilisation[i] = u->seconds > 0 ? r->utilisation[i] / u->seconds : NAN;
    for (size_t i = 0; i < r->stalls.count; i++) {
        r->stalls.item[i].value /= u->stall_seconds > 0 ? u->stall_seconds : 1;
        if (r->stalls.item[i].value <= largest)
            continue;
        largest = r->stalls.item[i].value;
        run_result_set_text(&r->bound_by, r->stalls.item[i].name);
    }
}

void language_unit_free(struct language_unit *u, struct run_measure *m)
{
    if (!u)
        return;
    if (m) {
        m->memory_bytes = (double)u->space->mapped_peak_bytes;
        m->activity = u->activity;
        m->cpu_instructions = u->instructions + library_home_instructions(u->home);
        m->host_seconds = u->host_seconds;
        m->end_ns = 1e9 * u->seconds;
        finish_shares(u);
    }
    for (size_t i = 0; i < u->count; i++)
        run_result_free(&u->known[i].result);
    free(u->known);
    for (int i = 0; i < KEPT_RUNS; i++)
        forget(u->kept[i]);
    library_home_free(u->home);
    soc_free(u->soc);
    free(u);
}

/* ---- memory ---- */

bool language_unit_place(struct language_unit *u, const void *from, uint64_t bytes, struct language_buffer *buffer,
                         struct orch_error *error)
{
    *buffer = (struct language_buffer){mem_space_alloc(u->space, bytes, MEM_PAGE_BYTES), bytes, NULL};
    buffer->host = buffer->address ? mem_at(u->space, buffer->address, bytes, MEM_READ | MEM_WRITE) : NULL;
    if (!buffer->host)
        return orch_fail(error, ORCH_USAGE,
                         "the model, its cache and its values need more than the memory of the machine, %.1f GiB",
                         (double)u->space->limit_bytes / 0x1p30);
    if (from)
        memcpy(buffer->host, from, bytes);
    return true;
}

struct language_buffer language_part(const struct language_buffer *buffer, uint64_t first_byte, uint64_t bytes)
{
    return (struct language_buffer){buffer->address + first_byte, bytes, (uint8_t *)buffer->host + first_byte};
}

/* ---- a kernel on values ---- */

static struct run_request request_of(const struct language_unit *u, const struct language_call *call, const char *workload)
{
    struct run_request q = *u->request;
    q.workload = workload;
    q.unit = orch_part_name(call->part);
    q.unit_why = NULL;
    q.precision = call->precision ? call->precision : "f32";
    q.language = NULL;
    q.kernels = call->part == PART_GPU ? q.kernels : NULL;
    if (q.kernels) { /* characteristics are those of the library */
        q.known = NULL;
        q.detail = q.detail && strcmp(q.detail, "op") == 0 ? NULL : q.detail;
    }
    q.cores = call->part == PART_CPU ? q.cores : 1;
    q.program_output = NULL;
    q.operands = NULL;
    q.uncertainty = NULL;
    q.progress = NULL;
    q.cold |= call->cold;
    q.evict = q.cold && call->part != PART_GPU; /* programs have equal addresses: what one left would be found by the next */
    return q;
}

/* In the order of the kernel. */
static void addresses_of(const struct language_call *call, uint64_t address[LANGUAGE_INPUTS + 1])
{
    for (unsigned i = 0, at = 0; i <= call->inputs; i++)
        address[i] = i == call->result_place ? call->result->address : call->input[at++]->address;
}

/* The kernel of the framework that was asked for, or where that has none the library's. */
static struct run *prepare(struct run_request *q, struct orch_error *error)
{
    struct orch_error unused = {0};
    struct run *const run = q->kernels ? run_prepare(q, &unused) : NULL;
    if (run)
        return run;
    q->kernels = NULL;
    return run_prepare(q, error);
}

static bool run_on(struct language_unit *u, struct run *run, const struct language_call *call, struct run_measure *m,
                   struct run_result *r, struct orch_error *error)
{
    uint64_t address[LANGUAGE_INPUTS + 1] = {0};
    const struct run_given given = {u->space, address, LANGUAGE_INPUTS + 1};
    addresses_of(call, address);
    return run_time_given(run, run->kind->takes_buffers ? &given : NULL, m, r, error);
}

/* The energy of the kernel by itself, and what its command buffer adds. */
static void price(const struct language_unit *u, const struct run *run, const struct run_measure *m, const struct run_result *r,
                  struct known_shape *k)
{
    k->device_seconds = run->kind->part == PART_GPU ? r->device_seconds : r->seconds;
    k->joules = r->joules;
    if (run->kind->part != PART_GPU || !u->has_energy)
        return;
    k->joules = run_joules_of(run->kind, &u->model, m, u->request->celsius, k->device_seconds, k->device_seconds);
    k->launch_joules = r->joules - k->joules;
}

static struct known_shape *find(struct language_unit *u, const char *key)
{
    for (size_t i = u->count; i-- > 0;)
        if (strcmp(u->known[i].key, key) == 0)
            return &u->known[i];
    return NULL;
}

static struct known_shape *remember(struct language_unit *u, const char *key, struct orch_error *error)
{
    struct known_shape *const grown = list_grow(u->known, u->count, &u->room, sizeof *grown);
    if (!grown) {
        orch_no_memory(error);
        return NULL;
    }
    u->known = grown;
    struct known_shape *const k = &grown[u->count++];
    memset(k, 0, sizeof *k);
    run_result_init(&k->result);
    snprintf(k->key, sizeof k->key, "%s", key);
    return k;
}

/* Names a kernel the first time that it does this; attention over longer caches is the same one. */
static bool show(struct language_unit *u, const struct language_call *call, const char *workload, const char *name,
                 const char *bound_by)
{
    char kernel[240], why[96] = "the library's kernel for it";
    const struct run_placements *const list = &u->result->placement;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->item[i].op, call->title) == 0 && strncmp(list->item[i].kernel, name, strlen(name)) == 0)
            return true;
    snprintf(kernel, sizeof kernel, "%s %s", name, workload);
    if (bound_by)
        snprintf(why, sizeof why, "bound by %s", bound_by);
    return run_placement_add(&u->result->placement, call->title, orch_part_name(call->part), kernel, why);
}

/* Adds a share of the joules of each part. */
static bool add_parts(struct language_unit *u, const struct run_result *r, double share)
{
    bool ok = true;
    for (size_t i = 0; ok && i < r->joules_by.count; i++)
        ok = run_values_add(&u->result->joules_by, r->joules_by.item[i].name, share * r->joules_by.item[i].value);
    for (size_t i = 0; ok && i < r->counters.count; i++)
        if (strncmp(r->counters.item[i].name, "energy.", 7) == 0)
            ok = run_values_add(&u->result->counters, r->counters.item[i].name, share * r->counters.item[i].value);
    return ok;
}

/* Adds `times` kernels of a known shape. */
static bool add(struct language_unit *u, const struct known_shape *k, double times, struct language_sum *sum)
{
    const struct run_result *const r = &k->result;
    const double seconds = times * k->device_seconds, share = r->seconds > 0 ? k->device_seconds / r->seconds : 0;
    const double joules_share = r->joules > 0 ? k->joules / r->joules : 0;
    bool ok = true;
    *sum = (struct language_sum){sum->seconds + seconds,
                                 sum->seconds_low + times * share * r->seconds_low,
                                 sum->seconds_high + times * share * r->seconds_high,
                                 sum->joules + times * k->joules,
                                 sum->joules_low + times * joules_share * r->joules_low,
                                 sum->joules_high + times * joules_share * r->joules_high,
                                 sum->flops + times * k->operation.flops,
                                 sum->macs + times * k->operation.macs,
                                 sum->launch_seconds,
                                 sum->launch_joules,
                                 sum->launch_shape,
                                 sum->kernels + (uint64_t)times};
    if (r->seconds - k->device_seconds > sum->launch_seconds) {
        sum->launch_seconds = r->seconds - k->device_seconds;
        sum->launch_joules = k->launch_joules;
        sum->launch_shape = (size_t)(k - u->known);
    }
    for (unsigned i = 0; i < (unsigned)times; i++)
        activity_add(&u->activity, &k->activity);
    u->seconds += seconds;
    for (int i = 0; i < RUN_UTILISATION_COUNT; i++)
        if (!isnan(r->utilisation[i]))
            u->result->utilisation[i] =
                (isnan(u->result->utilisation[i]) ? 0 : u->result->utilisation[i]) + seconds * r->utilisation[i];
    for (size_t i = 0; ok && i < r->stalls.count; i++) {
        if (strcmp(r->stalls.item[i].name, "launch") == 0)
            continue; /* once for a step, not for each kernel */
        u->stall_seconds += seconds * r->stalls.item[i].value;
        ok = run_values_add(&u->result->stalls, r->stalls.item[i].name, seconds * r->stalls.item[i].value);
    }
    ok = ok && add_parts(u, r, times * joules_share);
    u->result->watts_peak = fmax(u->result->watts_peak, r->watts_peak);
    const struct run_assumption *const adopted = run_assumption_find(&r->assumptions, RUN_ENERGY_ADOPTED);
    if (ok && adopted && !run_assumption_find(&u->result->assumptions, RUN_ENERGY_ADOPTED))
        ok = run_assumption_add(&u->result->assumptions, adopted->key, adopted->kind, adopted->effect);
    return ok;
}

/* One run of a kernel, on values unless only its time is asked for. */
static bool run_kernel(struct language_unit *u, const struct language_call *call, struct run_request *q, const char *key,
                       struct orch_error *error)
{
    struct run_measure m = {.soc = u->soc};
    struct run_result r;
    struct known_shape *k = NULL;
    run_result_init(&r);
    struct run *const run = prepare(q, error);
    const double begun_s = host_seconds();
    bool ok = run && (call->result ? run_on(u, run, call, &m, &r, error) : run_simulate(run, &m, &r, error));
    u->host_seconds += host_seconds() - begun_s;
    u->instructions += m.cpu_instructions;
    u->soc = m.soc;
    if (ok && key) {
        k = remember(u, key, error);
        ok = k != NULL && (show(u, call, q->workload, r.placement.count ? r.placement.item[0].kernel : "", r.bound_by) ||
                           orch_no_memory(error));
    }
    if (ok && key) {
        k->result = r;
        k->activity = m.activity;
        k->operation = run->kind->operation ? run->kind->operation(run) : (struct run_operation){0, 0};
        price(u, run, &m, &r, k);
    }
    if (!k)
        run_result_free(&r);
    m.soc = NULL;
    run_measure_release(&m);
    run_free(run);
    return ok || orch_fail_in(error, "%s", call->title);
}

/* What has a time already is executed where its values are. */
static bool execute_here(struct language_unit *u, const struct language_call *call, const struct run_request *q,
                         struct orch_error *error)
{
    uint64_t address[LANGUAGE_INPUTS + 1] = {0};
    const double begun_s = host_seconds();
    addresses_of(call, address);
    const bool ok = library_home_run(u->home, q->workload, q->precision, address, call->inputs + 1, error);
    u->host_seconds += host_seconds() - begun_s;
    return ok || orch_fail_in(error, "%s", call->title);
}

/* The kernel that was executed longest ago makes room. */
static struct kept_run **place_to_keep(struct language_unit *u)
{
    struct kept_run **place = &u->kept[0];
    for (int i = 0; i < KEPT_RUNS && *place; i++)
        if (!u->kept[i] || u->kept[i]->used < (*place)->used)
            place = &u->kept[i];
    forget(*place);
    *place = NULL;
    return place;
}

static struct kept_run *keep(struct language_unit *u, const struct run_request *q, const char *key, struct orch_error *error)
{
    for (int i = 0; i < KEPT_RUNS; i++)
        if (u->kept[i] && strcmp(u->kept[i]->workload, q->workload) == 0 && strcmp(u->kept[i]->key, key) == 0)
            return u->kept[i];
    struct kept_run *const k = calloc(1, sizeof *k);
    if (!k) {
        orch_no_memory(error);
        return NULL;
    }
    snprintf(k->workload, sizeof k->workload, "%s", q->workload);
    snprintf(k->key, sizeof k->key, "%s", key);
    k->request = *q;
    k->request.workload = k->workload;
    k->request.mode = RUN_FUNCTIONAL;
    k->request.operands = NULL;
    k->run = prepare(&k->request, error);
    if (!k->run) {
        free(k);
        return NULL;
    }
    return *place_to_keep(u) = k;
}

/* The same where other units have the kernel: it is prepared once. */
static bool execute_there(struct language_unit *u, const struct language_call *call, const struct run_request *q, const char *key,
                          struct orch_error *error)
{
    struct kept_run *const k = keep(u, q, key, error);
    struct run_measure m = {.soc = u->soc};
    struct run_result r;
    run_result_init(&r);
    const double begun_s = host_seconds();
    const bool ok = k && run_on(u, k->run, call, &m, &r, error);
    u->host_seconds += host_seconds() - begun_s;
    if (k)
        k->used = ++u->executed;
    u->soc = m.soc;
    m.soc = NULL;
    run_measure_release(&m);
    run_result_free(&r);
    return ok || orch_fail_in(error, "%s", call->title);
}

/* What has no time at all needs no run of its own either. */
static bool execute(struct language_unit *u, const struct language_call *call, struct run_request *q, const char *key, bool known,
                    struct orch_error *error)
{
    if (call->part != PART_CPU)
        return known ? execute_there(u, call, q, key, error) : run_kernel(u, call, q, key, error);
    if (!execute_here(u, call, q, error))
        return false;
    const struct cpu_library *const l = library_home_kernel(u->home);
    struct known_shape *const k = known ? NULL : remember(u, key, error);
    if (k)
        k->operation = (struct run_operation){l->work.flops, l->work.macs};
    return known || (k && (show(u, call, q->workload, l->work.variant, NULL) || orch_no_memory(error)));
}

/* How long a rotation takes does not depend on the position. */
static void write_key(const struct language_call *call, const char *precision, const char *workload, char *key, size_t size)
{
    const char *const offset = strstr(workload, ",offset=");
    const int before = offset ? (int)(offset - workload) : (int)strlen(workload);
    const char *const rest = offset ? offset + 1 + strcspn(offset + 1, ",") : "";
    snprintf(key, size, "%s%s %s %.*s%s", call->cold ? "cold " : "", orch_part_name(call->part), precision, before, workload,
             rest);
}

/* Kernels with values are executed each time; their time is found once for each shape. */
static bool call_shape(struct language_unit *u, const struct language_call *call, const char *workload, double times,
                       struct language_sum *sum, struct orch_error *error)
{
    struct run_request q = request_of(u, call, workload);
    struct run_operand operand[LANGUAGE_INPUTS];
    struct run_operands operands = {.input = operand, .inputs = call->inputs};
    char key[160];
    write_key(call, q.precision, workload, key, sizeof key);
    struct known_shape *const known = find(u, key);
    for (unsigned i = 0; i < call->inputs; i++)
        operand[i] = (struct run_operand){call->input[i]->host, call->input[i]->bytes};
    if (!call->result) {
        q.mode = call->part == PART_GPU ? RUN_TIMING : RUN_FULL; /* the others are timed while they execute */
    } else {
        operands.result = call->result->host;
        operands.result_bytes = call->result->bytes;
        q.operands = &operands;
        q.mode = known ? RUN_FUNCTIONAL : q.mode;
    }
    const bool values_alone = call->result && (known || q.mode == RUN_FUNCTIONAL);
    if (values_alone ? !execute(u, call, &q, key, known != NULL, error) : !known && !run_kernel(u, call, &q, key, error))
        return false;
    const struct known_shape *const shape = known ? known : find(u, key);
    if (u->request->mode != RUN_FUNCTIONAL)
        return add(u, shape, times, sum) || orch_no_memory(error);
    sum->kernels += (uint64_t)times;
    sum->flops += times * shape->operation.flops;
    sum->macs += times * shape->operation.macs;
    return true;
}

bool language_unit_call(struct language_unit *unit, const struct language_call *call, struct language_sum *sum,
                        struct orch_error *error, const char *format, ...)
{
    char workload[160];
    va_list args;
    va_start(args, format);
    vsnprintf(workload, sizeof workload, format, args);
    va_end(args);
    return call_shape(unit, call, workload, 1, sum, error);
}

bool language_unit_time(struct language_unit *unit, const struct language_call *call, const char *workload, double times,
                        struct language_sum *sum, struct orch_error *error)
{
    return call_shape(unit, call, workload, times, sum, error);
}

/* ---- sums ---- */

void language_sum_add(struct language_sum *sum, const struct language_sum *part)
{
    *sum = (struct language_sum){sum->seconds + part->seconds,
                                 sum->seconds_low + part->seconds_low,
                                 sum->seconds_high + part->seconds_high,
                                 sum->joules + part->joules,
                                 sum->joules_low + part->joules_low,
                                 sum->joules_high + part->joules_high,
                                 sum->flops + part->flops,
                                 sum->macs + part->macs,
                                 sum->launch_seconds + part->launch_seconds,
                                 sum->launch_joules + part->launch_joules,
                                 sum->launch_shape,
                                 sum->kernels + part->kernels};
}

bool language_unit_close_steps(struct language_unit *u, struct language_sum *sum, double steps, struct orch_error *error)
{
    if (sum->launch_seconds <= 0)
        return true;
    const struct known_shape *const k = &u->known[sum->launch_shape];
    const double seconds = sum->launch_seconds *= steps, joules = sum->launch_joules *= steps;
    sum->seconds += seconds;
    sum->seconds_low += seconds;
    sum->seconds_high += seconds;
    sum->joules += joules;
    sum->joules_low += joules;
    sum->joules_high += joules;
    u->seconds += seconds;
    u->stall_seconds += seconds;
    const double share = k->result.joules > 0 ? joules / k->result.joules : 0;
    return (run_values_add(&u->result->stalls, "launch", seconds) && add_parts(u, &k->result, share)) || orch_no_memory(error);
}
