#include "sim/prove/check/thermal_cases.h"

#include "sim/prove/check/case_folders.h"
#include "sim/machine/thermal/thermal_case.h"

#include <math.h>
#include <string.h>

static const char *last_part(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* A case fails when a temperature differs by more than the bound; the worst is named. */
struct worst {
    double difference_k;
    char where[80];
};

static void look(struct worst *w, double got_k, double expected_k, const char *name, const char *where, size_t number)
{
    const double difference = fabs(got_k - expected_k);
    if (!(difference > w->difference_k))
        return;
    w->difference_k = difference;
    snprintf(w->where, sizeof w->where, "%s%s%zu", name, where, number);
}

static bool judge(const struct worst *w, double bound_k, const char *title, const char *what, struct check_report *report)
{
    if (w->difference_k <= bound_k)
        return true;
    check_fail(report, "%s: %s differs by %.3g K (at most %g K) at %s", title, what, w->difference_k, bound_k, w->where);
    return false;
}

static bool judge_steady(const struct thermal_case *c, const struct thermal_answer *a, const char *title,
                         struct check_report *report)
{
    struct worst worst = {0};
    for (size_t e = 0; e < c->steady_count; e++)
        for (size_t n = 0; n < a->nodes; n++)
            if (strcmp(c->steady[e].name, a->steady[n].name) == 0)
                look(&worst, a->steady[n].kelvin, c->steady[e].kelvin, a->steady[n].name, ", node ", n);
    if (!c->package.grid && c->steady_count && c->steady_count != a->nodes) {
        check_fail(report, "%s: %zu nodes expected, the model has %zu", title, c->steady_count, a->nodes);
        return false;
    }
    return judge(&worst, c->package.grid ? THERMAL_GRID_K : THERMAL_BLOCK_STEADY_K, title, "steady state", report);
}

static bool judge_grid(const struct thermal_case *c, const struct thermal_answer *a, const char *title,
                       struct check_report *report)
{
    const size_t cells = (size_t)c->package.grid_rows * c->package.grid_cols;
    struct worst worst = {0};
    for (size_t i = 0; c->grid_k && a->grid_k && i < 4 * cells; i++)
        look(&worst, a->grid_k[i], c->grid_k[i], "layer,cell ", "", i);
    return judge(&worst, THERMAL_GRID_K, title, "steady map", report);
}

static bool judge_trace(const struct thermal_case *c, const struct thermal_answer *a, const char *title,
                        struct check_report *report)
{
    struct worst worst = {0};
    for (size_t i = 0; c->trace_k && i < c->rows * c->plan.count; i++)
        look(&worst, a->trace_k[i], c->trace_k[i], c->plan.block[i % c->plan.count].name, ", interval ", i / c->plan.count + 1);
    return judge(&worst, c->package.grid ? THERMAL_GRID_K : THERMAL_BLOCK_TRACE_K, title, "trace", report);
}

static void check_case(void *context, const char *path)
{
    struct check_report *const report = context;
    const char *const title = last_part(path);
    struct thermal_case c;
    struct thermal_answer answer;
    struct orch_error why = {0};
    if (!thermal_case_load(path, &c, &why)) {
        check_fail(report, "%s", why.text);
        return;
    }
    if (!c.steady && !c.trace_k && !c.grid_k) {
        check_skip(report, "%s: nothing to compare with", title);
    } else if (!thermal_case_solve(&c, &answer, &why)) {
        check_fail(report, "%s: %s", title, why.text);
    } else {
        const bool steady = judge_steady(&c, &answer, title, report), map = judge_grid(&c, &answer, title, report);
        if (judge_trace(&c, &answer, title, report) && steady && map)
            check_pass(report);
        thermal_answer_free(&answer);
    }
    thermal_case_free(&c);
}

bool check_thermal_cases(const char *folder, const char *const *names, size_t name_count, struct check_report *report,
                         struct orch_error *error)
{
    const struct case_kind kind = {.noun = "case", .marker = "floorplan.flp", .check = check_case, .context = report};
    return case_folders_run(folder, names, name_count, &kind, error);
}
