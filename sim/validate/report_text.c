#include "sim/validate/validation.h"

#include <math.h>
#include <string.h>

static void print_share(FILE *out, double value)
{
    if (isnan(value))
        fprintf(out, " %8s", "-");
    else
        fprintf(out, " %7.2f%%", 100 * value);
}

static void print_line(FILE *out, const char *name, const struct validation_group *group)
{
    const struct score *s = &group->score;
    fprintf(out, "%-60.60s %5zu %8zu %6zu", name, group->rows, group->modelled, group->fitted);
    const double shares[] = {s->mape,      s->median_ape, s->p90_ape, s->bias,
                             s->symmetric, s->within10,   s->within25};
    for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++)
        print_share(out, shares[i]);
    if (isnan(s->spearman))
        fprintf(out, " %6s", "-");
    else
        fprintf(out, " %6.3f", s->spearman);
    print_share(out, s->interval_coverage);
    print_share(out, group->framed ? group->bare.mape : NAN);
    print_share(out, group->framed ? group->bare.median_ape : NAN);
    fputc('\n', out);
}

static void print_group(FILE *out, const struct validation_group *group)
{
    char name[160];
    snprintf(name, sizeof name, "%s", *group->key ? group->key : "(empty)");
    for (char *c = strchr(name, '\x1f'); c; c = strchr(c, '\x1f'))
        *c = '|';
    print_line(out, name, group);
}

static bool first_with_reason(const struct validation *v, size_t row)
{
    for (size_t i = 0; i < row; i++)
        if (v->row[i].state != VALIDATE_PREDICTED && strcmp(v->row[i].why, v->row[row].why) == 0)
            return false;
    return true;
}

static void print_unmodelled(const struct validation *v, FILE *out)
{
    bool any = false;
    for (size_t i = 0; i < v->rows; i++) {
        if (v->row[i].state == VALIDATE_PREDICTED || !first_with_reason(v, i))
            continue;
        if (!any)
            fprintf(out, "\nnot modelled:\n");
        any = true;
        fprintf(out, "  %s:", v->row[i].why);
        for (size_t j = i; j < v->rows; j++)
            if (v->row[j].state != VALIDATE_PREDICTED && strcmp(v->row[j].why, v->row[i].why) == 0)
                fprintf(out, " %s", v->row[j].id);
        fputc('\n', out);
    }
}

bool validation_write_text(const struct validation *v, const char *group_by, FILE *out,
                           struct orch_error *error)
{
    struct validation_groups groups;
    if (!validation_group_rows(v, group_by, &groups, error))
        return false;
    fprintf(out, "%-60s %5s %8s %6s %8s %8s %8s %8s %8s %8s %8s %6s %8s %9s %9s\n", "group", "rows", "modelled",
            "fitted", "MAPE", "median", "p90", "bias", "symm.", "in 10%", "in 25%", "rank", "interval", "bare MAPE", "bare med.");
    for (size_t i = 0; i < groups.count; i++)
        print_group(out, &groups.group[i]);
    print_line(out, "all (errors without fitted rows)", &groups.all);
    print_line(out, "rows that a parameter was taken from", &groups.taken);
    if (groups.engine.rows)
        print_line(out, "engine level: single operations and stacks, M1 to M2 Max", &groups.engine);
    if (groups.all.framed)
        fputs("bare: without the fitted time of frameworks, two numbers for each version; --json lists them\n", out);
    print_unmodelled(v, out);
    validation_groups_free(&groups);
    return true;
}
