#include "sim/workload/gpu/gpu_functional.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS_MAX 256
#define CHUNK_MAX   64 /* threadgroups taken at a time: few enough that the last thread does not work alone */

bool gpu_totals_init(struct gpu_totals *totals, const struct gpu_program *program, struct orch_error *error)
{
    *totals = (struct gpu_totals){.issues = calloc((size_t)gpu_program_count(program) + 1, sizeof *totals->issues)};
    return totals->issues || orch_no_memory(error);
}

void gpu_totals_free(struct gpu_totals *totals)
{
    free(totals->issues);
    totals->issues = NULL;
}

void gpu_totals_add(struct gpu_totals *totals, const struct gpu_group *group)
{
    const struct gpu_counts counts = gpu_group_counts(group);
    totals->instructions += counts.instructions;
    totals->active_lanes += counts.active_lanes;
    gpu_group_issue_counts(group, totals->issues);
}

void gpu_totals_merge(struct gpu_totals *totals, const struct gpu_totals *more, const struct gpu_program *program)
{
    totals->instructions += more->instructions;
    totals->active_lanes += more->active_lanes;
    for (uint32_t i = 0; i < gpu_program_count(program); i++)
        totals->issues[i] += more->issues[i];
}

uint64_t gpu_totals_scaled(uint64_t issues, double factor, double *rest)
{
    if (!issues)
        return 0;
    const double exact = (double)issues * factor + *rest, whole = fmax(0, round(exact));
    *rest = exact - whole;
    return (uint64_t)whole;
}

/* What the threads of a pass share. */
struct pass {
    const struct gpu_setup *setup;
    const struct gpu_functional *options;
    _Atomic uint64_t next;         /* first threadgroup that nobody has taken */
    _Atomic uint64_t finished;     /* number of threadgroups */
    _Atomic uint64_t first_faulty; /* number of a threadgroup; later ones need not run */
    uint64_t chunk;
    pthread_mutex_t lock; /* of the two below */
    uint64_t faulty;
    struct unit_fault fault;
};

struct worker {
    struct pass *pass;
    struct gpu_group *group;
    pthread_t thread;
    bool started;
    bool tells; /* works in the thread of the caller, whom progress is told */
};

static void note_fault(struct pass *p, uint64_t number, const struct unit_fault *fault)
{
    pthread_mutex_lock(&p->lock);
    if (number < p->faulty) {
        p->faulty = number;
        p->fault = *fault;
        atomic_store(&p->first_faulty, number);
    }
    pthread_mutex_unlock(&p->lock);
}

static void run_group(struct worker *w, uint64_t number)
{
    struct pass *p = w->pass;
    struct unit_fault fault = {0};
    gpu_setup_start(p->setup, w->group, number, (uint32_t)(number % p->options->cores));
    if (!gpu_group_finish(w->group, NULL, &fault))
        note_fault(p, number, &fault);
}

static void *work(void *context)
{
    struct worker *w = context;
    struct pass *p = w->pass;
    for (;;) {
        const uint64_t first = atomic_fetch_add(&p->next, p->chunk);
        for (uint64_t i = first; i < first + p->chunk; i++) {
            if (i >= p->setup->group_count || i > atomic_load(&p->first_faulty))
                return NULL;
            run_group(w, i);
            const uint64_t finished = atomic_fetch_add(&p->finished, 1) + 1;
            if (w->tells)
                work_progress_tell(p->setup->progress, "executing", (double)finished / (double)p->setup->group_count, 0);
        }
    }
}

static unsigned thread_count(const struct gpu_setup *s, const struct gpu_functional *o)
{
    uint64_t count = o->threads ? o->threads : 1;
    if (!gpu_program_order_free(s->program) || o->checks.sanitize)
        count = 1;
    count = count < s->group_count ? count : s->group_count;
    return (unsigned)(count < THREADS_MAX ? count : THREADS_MAX);
}

void gpu_findings_free(struct gpu_findings *findings)
{
    free(findings->text);
    *findings = (struct gpu_findings){.text = NULL};
}

static bool take_findings(const struct gpu_group *group, struct gpu_findings *into, struct orch_error *error)
{
    const struct gpu_finding *found;
    const size_t count = into ? gpu_group_findings(group, &found) : 0;
    if (!count)
        return true;
    into->text = calloc(count, sizeof *into->text);
    if (!into->text)
        return orch_no_memory(error);
    for (size_t i = 0; i < count; i++)
        snprintf(into->text[i], sizeof into->text[i], "%s: pc 0x%llx: %s%s", gpu_finding_name(found[i].kind),
                 (unsigned long long)found[i].pc, found[i].text, found[i].times > 1 ? " (more than once)" : "");
    into->count = count;
    return true;
}

static bool run_workers(struct worker *workers, unsigned count)
{
    for (unsigned i = 1; i < count; i++)
        workers[i].started = pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0;
    work(&workers[0]); /* also does what threads that could not start would have done */
    for (unsigned i = 1; i < count; i++)
        if (workers[i].started)
            pthread_join(workers[i].thread, NULL);
    return workers[0].pass->faulty == UINT64_MAX;
}

bool gpu_functional_run(const struct gpu_setup *s, const struct gpu_functional *o, struct gpu_totals *totals,
                        struct orch_error *error)
{
    const unsigned count = thread_count(s, o);
    struct gpu_checks checks = o->checks;
    checks.instruction_limit = gpu_setup_instruction_limit(s);
    struct pass pass = {.setup = s, .options = o, .faulty = UINT64_MAX, .lock = PTHREAD_MUTEX_INITIALIZER};
    struct worker *workers = calloc(count, sizeof *workers);
    bool ok = workers != NULL;
    atomic_store(&pass.first_faulty, UINT64_MAX);
    pass.chunk = s->group_count / (16 * (uint64_t)count) + 1;
    pass.chunk = count == 1 ? s->group_count : pass.chunk < CHUNK_MAX ? pass.chunk : CHUNK_MAX;
    for (unsigned i = 0; ok && i < count; i++) {
        workers[i].pass = &pass;
        workers[i].tells = i == 0;
        workers[i].group = gpu_group_create(&s->launch, &checks);
        ok = workers[i].group != NULL;
    }
    if (!ok)
        orch_no_memory(error);
    else if (!run_workers(workers, count))
        ok = gpu_setup_explain_group(pass.setup, &pass.fault, pass.faulty, error);
    ok = ok && take_findings(workers[0].group, o->findings, error);
    for (unsigned i = 0; workers && i < count; i++) {
        if (ok)
            gpu_totals_add(totals, workers[i].group);
        gpu_group_free(workers[i].group);
    }
    free(workers);
    pthread_mutex_destroy(&pass.lock);
    return ok;
}
