/* Studies of the example chips: questions put as text, and answers compared with fresh simulations. */
#ifndef ORCHARD_TESTS_SIM_STUDY_EXAMPLE_H
#define ORCHARD_TESTS_SIM_STUDY_EXAMPLE_H

#include "isa/array_count.h"
#include "sim/ask/study/study.h"
#include "tests/sim/chip_example.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A study of the example chips. */
struct study_example {
    struct chip_db *chips;
    struct study_base base;
    struct study *study;
};

static inline struct study_example study_example_open(const char *workload, const char *unit)
{
    struct study_example b = {.chips = example_chips()};
    b.base =
        (struct study_base){.request = {.workload = workload, .unit = unit}, .chip = "m1", .ambient_c = NAN, .chips = b.chips};
    return b;
}

/* Creates the study, with characteristics from a database unless `db` is NULL. */
static inline bool study_example_start(struct study_example *b, struct orch_db *db)
{
    struct orch_error error = {0};
    b->study = study_create(&b->base, db, &error);
    CHECK(b->study != NULL, "%s", error.text);
    return b->study != NULL;
}

static inline void study_example_close(struct study_example *b)
{
    study_free(b->study);
    chip_db_close(b->chips);
}

/* Evaluates the study at "KEY=VALUE KEY=VALUE ...". */
static inline bool example_ask(struct study_example *b, const char *words, bool fresh, struct study_answer *answer,
                               struct orch_error *error)
{
    struct study_setting s = {0};
    char copy[512], *save = NULL;
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *const equals = strchr(word, '=');
        *equals = 0;
        study_setting_set(&s, word, equals + 1);
    }
    const bool ok = (fresh ? study_evaluate_fresh : study_evaluate)(b->study, &s, answer, error);
    study_setting_free(&s);
    return ok;
}

static inline bool example_same_number(double a, double b)
{
    return isnan(a) ? isnan(b) : a == b;
}

static inline bool example_same_values(const struct run_values *a, const struct run_values *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = strcmp(a->item[i].name, b->item[i].name) == 0 && a->item[i].value == b->item[i].value;
    return same;
}

/* The first field that differs, NULL when there is none. Every number, name and assumption counts, but not the host's time. */
static inline const char *example_difference(const struct run_result *a, const struct run_result *b)
{
    for (size_t i = 0; i < run_number_field_count(); i++) {
        const struct run_number_field *f = run_number_field(i);
        if (strcmp(f->name, "host_seconds") != 0 && !example_same_number(run_number_of(a, f), run_number_of(b, f)))
            return f->name;
    }
    for (size_t i = 0; i < run_text_field_count(); i++) {
        const char *x = run_text_of(a, run_text_field(i)), *y = run_text_of(b, run_text_field(i));
        if (strcmp(x ? x : "", y ? y : "") != 0)
            return run_text_field(i)->name;
    }
    for (int i = 0; i < RUN_UTILISATION_COUNT; i++)
        if (!example_same_number(a->utilisation[i], b->utilisation[i]))
            return "utilisation";
    if (a->assumptions.count != b->assumptions.count || a->placement.count != b->placement.count || a->placement.count == 0)
        return "assumptions or placement";
    for (size_t i = 0; i < a->assumptions.count; i++)
        if (strcmp(a->assumptions.item[i].key, b->assumptions.item[i].key) != 0 ||
            strcmp(a->assumptions.item[i].effect, b->assumptions.item[i].effect) != 0)
            return a->assumptions.item[i].key;
    return !example_same_values(&a->joules_by, &b->joules_by) ? "joules_by"
           : !example_same_values(&a->stalls, &b->stalls)     ? "stalls"
           : !example_same_values(&a->counters, &b->counters) ? "counters"
                                                              : NULL;
}

/* Asks, and checks how the question was answered and that a fresh simulation gives the same. */
static inline void example_check_answer(struct study_example *b, const char *words, enum study_method method,
                                        struct study_answer *answer)
{
    struct study_answer fresh;
    struct orch_error error = {0};
    study_answer_init(&fresh);
    CHECK(example_ask(b, words, false, answer, &error), "%s: %s", words, error.text);
    CHECK(answer->method == method, "%s %s", words, method == STUDY_KNOWN ? "is known" : "is simulated");
    CHECK(example_ask(b, words, true, &fresh, &error) && fresh.method == STUDY_SIMULATED, "%s: %s", words, error.text);
    const char *const differs = example_difference(&answer->result, &fresh.result);
    CHECK(differs == NULL, "%s: %s differs", words, differs ? differs : "");
    study_answer_free(&fresh);
}

/* One kernel of each unit, with a key that its timing reads and one that only another unit's timing reads. */
static const struct {
    const char *workload, *unit, *read, *unread;
} study_kernels[] = {
    {"gemm:64x64x64", "gpu", "gpu.latency_32_cycles=9", "ane.clock_ghz=1.0"},
    {"gemm:32x32x32", "amx", "amx.z_latency_cycles=8", "gpu.submit_us=10"},
    {"conv2d:n=1,c=16,h=8,w=8,k=16,r=3,s=3,stride=1,pad=1,groups=1", "ane", "ane.dma_GBps=20", "cpu_p.dispatch_width=4"},
    {"stream-triad:16K", "cpu", "cpu_p.dispatch_width=4", "gpu.latency_32_cycles=9"},
};
enum { STUDY_KERNELS = ARRAY_COUNT(study_kernels) };

#endif
