#include "sim/base/host_time.h"
#include "sim/run/language/language_unit_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void language_forget(struct kept_run *kept)
{
    run_free(kept ? kept->run : NULL);
    free(kept);
}

/* In the order of the kernel. */
static void addresses_of(const struct language_call *call, uint64_t address[LANGUAGE_INPUTS + 1])
{
    for (unsigned i = 0, at = 0; i <= call->inputs; i++)
        address[i] = i == call->result_place ? call->result->address : call->input[at++]->address;
}

/* The kernel of the framework that was asked for, or where that has none the library's. */
struct run *language_prepare(struct run_request *q, struct orch_error *error)
{
    struct orch_error unused = {0};
    struct run *const run = q->kernels ? run_prepare(q, &unused) : NULL;
    if (run)
        return run;
    q->kernels = NULL;
    return run_prepare(q, error);
}

/* `has_constants`: they are in the program since it ran last. */
static bool run_on(struct language_unit *u, struct run *run, const struct language_call *call, bool has_constants,
                   struct run_measure *m, struct run_result *r, struct orch_error *error)
{
    uint64_t address[LANGUAGE_INPUTS + 1] = {0};
    const struct run_given given = {u->space, address, LANGUAGE_INPUTS + 1};
    addresses_of(call, address);
    for (unsigned i = 0; has_constants && i < call->inputs; i++)
        if (call->constants >> i & 1)
            address[i < call->result_place ? i : i + 1] = 0;
    const uint64_t mark = mem_space_mark(u->space);
    const bool ok = run_time_given(run, run->kind->takes_buffers ? &given : NULL, m, r, error);
    mem_space_release(u->space, mark); /* code and scratch memory of the launch */
    return ok;
}

bool language_run_on(struct language_unit *u, struct run *run, const struct language_call *call, struct run_measure *m,
                     struct run_result *r, struct orch_error *error)
{
    return run_on(u, run, call, false, m, r, error);
}

/* What has a time already is executed where its values are. */
bool language_execute_here(struct language_unit *u, const struct language_call *call, const struct run_request *q,
                           struct orch_error *error)
{
    uint64_t address[LANGUAGE_INPUTS + 1] = {0};
    const double begun_s = host_seconds();
    addresses_of(call, address);
    const bool ok = library_home_run(u->home, q->workload, q->precision, address, call->inputs + 1, error);
    u->host_seconds += host_seconds() - begun_s;
    return ok || orch_fail_in(error, "%s", call->title);
}

/* The kernel that was executed longest ago makes room. Programs that hold their constants are as many as matrices. */
static struct kept_run **place_to_keep(struct language_unit *u, bool constants)
{
    const int first = constants ? KEPT_RUNS : 0, end = constants ? KEPT_RUNS + KEPT_PROGRAMS : KEPT_RUNS;
    struct kept_run **place = &u->kept[first];
    for (int i = first; i < end && *place; i++)
        if (!u->kept[i] || u->kept[i]->used < (*place)->used)
            place = &u->kept[i];
    language_forget(*place);
    *place = NULL;
    return place;
}

/* Where the constants of a call are; 0 = it has none. */
static uint64_t constants_of(const struct language_call *call)
{
    for (unsigned i = 0; i < call->inputs; i++)
        if (call->constants >> i & 1)
            return call->input[i]->address;
    return 0;
}

static struct kept_run *keep(struct language_unit *u, const struct language_call *call, const struct run_request *q,
                             const char *key, struct orch_error *error)
{
    const uint64_t constants = constants_of(call);
    for (int i = 0; i < KEPT_RUNS + KEPT_PROGRAMS; i++)
        if (u->kept[i] && u->kept[i]->constants == constants && strcmp(u->kept[i]->workload, q->workload) == 0 &&
            strcmp(u->kept[i]->key, key) == 0)
            return u->kept[i];
    struct kept_run *const k = calloc(1, sizeof *k);
    if (!k) {
        orch_no_memory(error);
        return NULL;
    }
    snprintf(k->workload, sizeof k->workload, "%s", q->workload);
    snprintf(k->key, sizeof k->key, "%s", key);
    k->constants = constants;
    k->request = *q;
    k->request.workload = k->workload;
    k->request.mode = RUN_FUNCTIONAL;
    k->request.operands = NULL;
    k->run = language_prepare(&k->request, error);
    if (!k->run) {
        free(k);
        return NULL;
    }
    return *place_to_keep(u, constants != 0) = k;
}

/* The same where other units have the kernel: it is prepared once. */
bool language_execute_there(struct language_unit *u, const struct language_call *call, const struct run_request *q,
                            const char *key, struct orch_error *error)
{
    struct kept_run *const k = keep(u, call, q, key, error);
    struct run_measure m = {.soc = u->soc};
    struct run_result r;
    run_result_init(&r);
    const double begun_s = host_seconds();
    const bool ok = k && run_on(u, k->run, call, k->used > 0, &m, &r, error);
    u->host_seconds += host_seconds() - begun_s;
    if (k)
        k->used = ++u->executed;
    u->soc = m.soc;
    m.soc = NULL;
    run_measure_release(&m);
    run_result_free(&r);
    return ok || orch_fail_in(error, "%s", call->title);
}
