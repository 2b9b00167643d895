/* What a program hears while a question is answered: events, remarks, progress. */
#include "tests/sim/api/ask_session.h"

#include <math.h>
#include <string.h>

struct heard {
    unsigned events[ORCHARD_EVENT_KINDS], notes, warnings;
    double run_seconds, op_seconds, stalls;
    char chip[64], note[200];
};

static void hear_event(void *context, const struct orchard_event *e)
{
    struct heard *const h = context;
    h->events[e->kind]++;
    if (e->kind == ORCHARD_RUN_BEGIN)
        snprintf(h->chip, sizeof h->chip, "%s", orchard_event_text(e, "chip"));
    if (e->kind == ORCHARD_OP_END)
        h->op_seconds += orchard_event_number(e, "seconds");
    if (e->kind == ORCHARD_RUN_END)
        h->run_seconds = orchard_event_number(e, "seconds");
    for (size_t i = 0; e->kind == ORCHARD_RUN_END && i < e->values; i++)
        h->stalls += strncmp(e->value[i].name, "stalls.", 7) == 0 ? e->value[i].value : 0;
    CU_ASSERT(e->kind_name && e->run >= 1 && e->seconds >= 0);
    CU_ASSERT(isnan(orchard_event_number(e, "no such value")) && !orchard_event_text(e, "no such text"));
}

static void hear_remark(void *context, enum orchard_remark kind, const char *text)
{
    struct heard *const h = context;
    h->notes += kind == ORCHARD_NOTE;
    h->warnings += kind == ORCHARD_WARNING;
    snprintf(h->note, sizeof h->note, "%s", text);
}

/* A run that is found in the database tells what it told when it was simulated, but not how it went by. */
static void test_events(void)
{
    struct orchard_session session = silent();
    struct heard first = {0}, again = {0};
    struct orchard_error error;
    session.event = hear_event;
    session.remark = hear_remark;
    session.context = &first;
    struct orchard_answer *a = orchard_run(&session, "softmax:64x64", LIST("unit=gpu", "chip=m2", "rerun"), &error);
    CHECK(a != NULL, "%s", error.text);
    if (!a)
        return;
    CU_ASSERT(first.events[ORCHARD_RUN_BEGIN] == 1 && first.events[ORCHARD_RUN_END] == 1);
    CU_ASSERT(first.events[ORCHARD_LAUNCH] >= 1 && first.events[ORCHARD_OP_BEGIN] == first.events[ORCHARD_OP_END]);
    CU_ASSERT_EQUAL(first.run_seconds, orchard_answer_number(a, "seconds"));
    CU_ASSERT(first.op_seconds > 0 && first.op_seconds <= first.run_seconds * (1 + 1e-9));
    CU_ASSERT_DOUBLE_EQUAL(first.stalls, 1, 1e-9);
    CHECK(strncmp(first.chip, "m2", 2) == 0 && first.notes == 0, "%s %u", first.chip, first.notes);
    orchard_answer_free(a);
    session.context = &again;
    a = orchard_run(&session, "softmax:64x64", LIST("unit=gpu", "chip=m2"), &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(a);
    CU_ASSERT_EQUAL(again.run_seconds, first.run_seconds);
    CU_ASSERT_EQUAL(again.events[ORCHARD_OP_END], first.events[ORCHARD_OP_END]);
    CHECK(again.notes == 1 && strstr(again.note, "(rerun simulates again)"), "%s", again.note);
    orchard_answer_free(a);
    again.notes = 0;
    orchard_answer_free(orchard_run(&session, "softmax:64x64", LIST("unit=gpu", "chip=m2", "quiet"), &error));
    CU_ASSERT_EQUAL(again.notes, 0);
}

static void test_events_of_a_machine(void)
{
    struct orchard_session session = silent();
    struct heard h = {0};
    struct orchard_error error;
    session.event = hear_event;
    session.context = &h;
    struct orchard_answer *a =
        orchard_run(&session, "gemm:256x256x256", LIST("unit=gpu", "chip=m1", "device=macbook-air", "duration=20"), &error);
    CHECK(a != NULL, "%s", error.text);
    if (!a)
        return;
    CU_ASSERT(h.events[ORCHARD_SAMPLE] > 10 && h.events[ORCHARD_RUN_END] == 1);
    CU_ASSERT(orchard_answer_count(a, "device_run.samples.time_s") > 1);
    orchard_answer_free(a);
}

/* ---- progress ---- */

struct progress {
    unsigned lines, over;
    double done, all, fraction;
    char line[200];
};

static void hear_progress(void *context, const struct orchard_progress *now)
{
    struct progress *const p = context;
    if (!now->line) {
        p->over++;
        return;
    }
    p->lines++;
    CU_ASSERT(now->done >= p->done && !(now->fraction > 1));
    p->done = now->done;
    p->all = now->all;
    p->fraction = now->fraction;
    snprintf(p->line, sizeof p->line, "%s", now->line);
}

static struct orchard_session watched(struct progress *p)
{
    struct orchard_session session = silent();
    session.progress = hear_progress;
    session.context = p;
    return session;
}

/* Long enough that a host of today needs more than a tenth of a second. */
static void test_progress_of_a_run(void)
{
    struct progress p = {0};
    const struct orchard_session session = watched(&p);
    struct orchard_error error;
    struct orchard_answer *a = orchard_run(&session, "gemm:768x768x768", LIST("unit=gpu", "chip=m1", "detail=instr"), &error);
    CHECK(a != NULL, "%s", error.text);
    CHECK(p.lines > 0 && strstr(p.line, "gemm") && p.over >= 1, "%u lines, the last: %s", p.lines, p.line);
    orchard_answer_free(a);
}

static void test_progress_of_a_sweep(void)
{
    struct progress p = {0};
    const struct orchard_session session = watched(&p);
    struct orchard_error error;
    struct orchard_answer *a = orchard_sweep(&session, "gemm:64x64x64", LIST("gpu_cores=4,8", "chip=m1,m2"),
                                             LIST("unit=gpu", "jobs=1", "exact"), &error);
    CHECK(a != NULL, "%s", error.text);
    if (!a)
        return;
    CU_ASSERT_EQUAL(orchard_answer_number(a, "points"), 4);
    CU_ASSERT_EQUAL(p.over, 1);
    orchard_answer_free(a);
}

static void test_progress_of_a_search(void)
{
    struct progress p = {0};
    const struct orchard_session session = watched(&p);
    struct orchard_error error;
    struct orchard_answer *a =
        orchard_whatif(&session, "gemm:64x64x64", "seconds<1e-9", LIST("gpu_cores=7:8"), LIST("unit=gpu", "chip=m1"), &error);
    CHECK(a != NULL, "%s", error.text);
    if (!a)
        return;
    CHECK(p.lines == orchard_answer_number(a, "points") && p.done == p.lines && p.over == 1, "%u lines", p.lines);
    orchard_answer_free(a);
}

static void test_progress_of_a_validation(void)
{
    struct progress p = {0};
    const struct orchard_session session = watched(&p);
    struct orchard_error error;
    const char *const table = in_folder("rows.csv");
    FILE *const out = fopen(table, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    fputs("chip,instruction_or_kernel,condition,value,unit,kind,source,chip_id\n", out);
    for (int i = 1; i <= 5; i++)
        fprintf(out,
                "M1 Max,fma16 in matrix mode Z=f16[32][32],\"1 thread(s), 1 Z accumulators per thread, no loads or stores\","
                "%d.0,GFLOPS,measured,github corsix/amx fma.md,m1_max_8p2e_32g\n",
                1450 + i);
    fclose(out);
    struct orchard_answer *a = orchard_validate(&session, LIST(table), LIST("jobs=3"), &error);
    CHECK(a != NULL, "%s", error.text);
    CHECK(p.lines == 5 && p.done == 5 && p.all == 5 && p.over == 1 && strstr(p.line, "5 of 5 rows"), "%u lines, the last: %s",
          p.lines, p.line);
    orchard_answer_free(a);
}

static const struct suite_test tests[] = {
    {"events, and again from the database", test_events}, {"events of a machine", test_events_of_a_machine},
    {"progress of a run", test_progress_of_a_run},        {"progress of a sweep", test_progress_of_a_sweep},
    {"progress of a search", test_progress_of_a_search},  {"progress of a validation", test_progress_of_a_validation},
    {"files are deleted", test_nothing_is_left},
};
SUITE_MAIN("callbacks of questions", tests)
