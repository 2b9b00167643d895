/* Workloads at the same time: who runs on which cores, and what decides the answer. */
#include "sim/scenario/together_internal.h"

#include "isa/array_count.h"
#include "sim/base/checksum.h"
#include "sim/base/json_out.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- who runs where ---- */

static bool uses_cores(const struct run *run)
{
    return run_part(run) == PART_CPU || run_part(run) == PART_AMX;
}

/* Gives every CPU program cores of its own, in the order of the text. */
static bool prepare_members(struct together *t, struct orch_error *error)
{
    unsigned all = 0;
    double bytes = 0;
    for (unsigned i = 0; i < t->count; i++) {
        struct member *w = &t->member[i];
        if (w->part.request.mode == RUN_FUNCTIONAL)
            return orch_fail(error, ORCH_USAGE, ORCH_OPTION("mode") " functional has no time in which workloads could meet");
        if (run_is_operator(&w->part.request))
            return orch_fail(error, ORCH_UNMODELLED,
                             ORCH_OPTION("detail") " op: workloads at once are simulated, operators are not");
        struct run *probe = run_prepare(&w->part.request, error);
        if (!probe)
            return false;
        w->cores = !uses_cores(probe) ? 0 : w->part.request.cores ? w->part.request.cores : 1;
        w->first_core = all;
        all += w->cores;
        run_free(probe);
    }
    for (unsigned i = 0; i < t->count; i++) {
        struct member *w = &t->member[i];
        if (w->cores) {
            w->part.request.skip_cores = w->first_core;
            w->part.request.other_cores = all - w->first_core - w->cores;
        }
        w->run = run_prepare(&w->part.request, error);
        if (!w->run)
            return false;
        bytes += run_memory_need(w->run);
    }
    const struct run_request *first = &t->member[0].part.request;
    return run_memory_fits(first->chip, first->memory_gib, t->text, bytes, error); /* all share one memory */
}

/* ---- the event that decides the answer ---- */

static uint64_t hash_text(uint64_t h, const char *text)
{
    return text ? checksum_add(h, text, strlen(text) + 1) : checksum_add(h, "", 1);
}

static void name_units(struct together *t)
{
    for (unsigned i = 0; i < t->count; i++) {
        const char *name = orch_part_name(run_part(t->member[i].run));
        const size_t used = strlen(t->unit);
        if (!strstr(t->unit, name))
            snprintf(t->unit + used, sizeof t->unit - used, "%s%s", used ? "+" : "", name);
    }
}

static bool fill_begin(struct together *t, struct orch_error *error)
{
    char hash[20];
    uint64_t options = CHECKSUM_START, program = CHECKSUM_START;
    for (unsigned i = 0; i < t->count; i++) {
        const struct member *w = &t->member[i];
        const struct event_run_begin *b = run_begin_event(w->run);
        const char *const texts[] = {b->options, b->unit, b->precision, b->detail, b->mode};
        program = hash_text(program, b->program_hash);
        for (size_t k = 0; k < ARRAY_COUNT(texts); k++)
            options = hash_text(options, texts[k]);
        options = checksum_add(options, &w->part.priority, sizeof w->part.priority);
        options = checksum_add(options, &w->part.weight, sizeof w->part.weight);
        options = checksum_add(options, &w->part.start_seconds, sizeof w->part.start_seconds);
    }
    const struct event_run_begin *first = run_begin_event(t->member[0].run);
    snprintf(t->program_hash, sizeof t->program_hash, "%016" PRIx64, program);
    snprintf(hash, sizeof hash, "%016" PRIx64, options);
    json_object *const document = json_object_new_object();
    json_add_text(document, "together", hash);
    t->options = json_line(document);
    if (!t->options)
        return orch_no_memory(error);
    name_units(t);
    t->begin = *first;
    t->begin.workload = t->text;
    t->begin.program_name = "concurrent";
    t->begin.program_kind = "concurrent";
    t->begin.program_hash = t->program_hash;
    t->begin.unit = t->unit;
    t->begin.precision = NULL;
    t->begin.detail = "auto";
    t->begin.options = t->options;
    return true;
}

struct together *together_prepare(const struct together_part *part, unsigned count, const char *text, struct orch_error *error)
{
    struct together *t = calloc(1, sizeof *t);
    if (!t || !(t->text = strdup(text))) {
        free(t);
        orch_no_memory(error);
        return NULL;
    }
    t->count = count < TOGETHER_PARTS ? count : TOGETHER_PARTS;
    for (unsigned i = 0; i < t->count; i++) {
        t->member[i].part = part[i];
        run_result_init(&t->member[i].outcome.alone);
        t->member[i].outcome.dynamic_joules = NAN;
    }
    if (!prepare_members(t, error) || !fill_begin(t, error)) {
        together_free(t);
        return NULL;
    }
    return t;
}

void together_free(struct together *t)
{
    if (!t)
        return;
    for (unsigned i = 0; i < t->count; i++) {
        run_measure_release(&t->member[i].measure);
        run_result_free(&t->member[i].outcome.alone);
        run_free(t->member[i].run);
    }
    free(t->text);
    free(t->options);
    free(t);
}

const struct event_run_begin *together_begin_event(const struct together *t)
{
    return &t->begin;
}
