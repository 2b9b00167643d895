/* Kernels that will be timed by their shapes, asked for at once: what nobody knows is simulated by all threads of the host. The
 * sums are made afterwards, one kernel after another, from what is known then.
 */
#include "isa/list_grow.h"
#include "sim/run/language/language_unit_internal.h"
#include "sim/run/run_timing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct foreseen_shape {
    char key[160], workload[160];
    const char *title;
    struct run_request request;
    struct run *run; /* prepared for the request; NULL = somebody took it */
};

static void drop(struct foreseen_shape *f)
{
    run_free(f->run);
    f->run = NULL;
}

static void forget(struct foreseen_shape *f)
{
    drop(f);
    free(f);
}

void language_foresee_end(struct language_unit *u)
{
    for (size_t i = 0; i < u->foreseen_count; i++)
        forget(u->foreseen[i]);
    free(u->foreseen);
}

struct run *language_foreseen(struct language_unit *u, const char *key)
{
    struct run *run = NULL;
    for (size_t i = 0; key && !run && i < u->foreseen_count; i++)
        if (strcmp(u->foreseen[i]->key, key) == 0) {
            run = u->foreseen[i]->run;
            u->foreseen[i]->run = NULL;
        }
    return run;
}

bool language_unit_foresee(struct language_unit *u)
{
    const struct run_known *const known = u->request->known;
    u->foresees = known && known->find && known->learn && u->request->threads > 1;
    return u->foresees;
}

bool language_foresee(struct language_unit *u, const struct language_call *call, const struct run_request *request,
                      const char *key, struct orch_error *error)
{
    for (size_t i = 0; i < u->foreseen_count; i++)
        if (strcmp(u->foreseen[i]->key, key) == 0)
            return true;
    struct foreseen_shape **const grown = list_grow(u->foreseen, u->foreseen_count, &u->foreseen_room, sizeof *grown);
    struct foreseen_shape *const f = grown ? calloc(1, sizeof *f) : NULL;
    if (grown)
        u->foreseen = grown;
    if (!f)
        return orch_no_memory(error);
    *f = (struct foreseen_shape){.title = call->title, .request = *request};
    snprintf(f->key, sizeof f->key, "%s", key);
    snprintf(f->workload, sizeof f->workload, "%s", request->workload);
    f->request.workload = f->workload;
    f->run = language_prepare(&f->request, error);
    if (!f->run) {
        forget(f);
        return orch_fail_in(error, "%s", call->title);
    }
    u->foreseen[u->foreseen_count++] = f;
    return true;
}

/* Those that nobody knows, in the order of the list. */
static bool find_unknown(struct language_unit *u, struct run_request *request, size_t *which, size_t *count,
                         struct orch_error *error)
{
    const struct run_known *const known = u->request->known;
    for (size_t i = 0; i < u->foreseen_count; i++) {
        const struct foreseen_shape *const f = u->foreseen[i];
        const struct run_timing *timing = NULL;
        if (!known->find(known->context, &f->request, &timing, error))
            return false;
        if (timing)
            continue;
        which[*count] = i;
        request[(*count)++] = f->request;
    }
    return true;
}

bool language_unit_learn(struct language_unit *u, struct orch_error *error)
{
    const struct run_known *const known = u->request->known;
    if (!u->foresees)
        return true;
    u->foresees = false;
    struct run_request *const request = calloc(u->foreseen_count + 1, sizeof *request);
    size_t *const which = calloc(u->foreseen_count + 1, sizeof *which), count = 0, failed = 0;
    bool ok = (request && which) || orch_no_memory(error);
    ok = ok && find_unknown(u, request, which, &count, error);
    failed = count;
    for (size_t i = 0; count && i < u->foreseen_count; i++) /* simulating needs the memory more */
        drop(u->foreseen[i]);
    if (ok && count && !known->learn(known->context, request, count, u->request->threads, &failed, error))
        ok = failed < count ? orch_fail_in(error, "%s", u->foreseen[which[failed]]->title) : false;
    free(request);
    free(which);
    return ok;
}
