#include "isa/array_count.h"
#include "sim/prove/validate/validation.h"

#include <math.h>
#include <stdlib.h>
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
    const struct score *const s = &group->score;
    fprintf(out, "%-60.60s %5zu %8zu %6zu %7zu", name, group->rows, group->modelled, group->fitted, group->guessed);
    const double shares[] = {s->mape, s->median_ape, s->p90_ape, s->bias, s->symmetric, s->within10, s->within25};
    for (size_t i = 0; i < ARRAY_COUNT(shares); i++)
        print_share(out, shares[i]);
    if (isnan(s->spearman))
        fprintf(out, " %6s", "-");
    else
        fprintf(out, " %6.3f", s->spearman);
    print_share(out, s->interval_coverage);
    print_share(out, s->cross_coverage);
    print_share(out, group->framed ? group->bare.mape : NAN);
    print_share(out, group->framed ? group->bare.median_ape : NAN);
    fprintf(out, " %6zu", group->sheet.count);
    print_share(out, group->sheet.mape);
    print_share(out, group->sheet.median_ape);
    if (group->sheet.count)
        fprintf(out, " %6.2f", validation_ratio(group));
    else
        fprintf(out, " %6s", "-");
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

/* ---- rows that are not modelled, by reason ---- */

struct reason {
    const char *why;
    size_t first, rows;
};

static int more_rows_first(const void *a, const void *b)
{
    const struct reason *const x = a, *const y = b;
    return x->rows != y->rows ? (x->rows < y->rows) - (x->rows > y->rows) : (x->first > y->first) - (x->first < y->first);
}

static size_t gather_reasons(const struct validation *v, struct reason *reason)
{
    size_t count = 0;
    for (size_t i = 0; i < v->rows; i++) {
        size_t at = 0;
        if (v->row[i].state == VALIDATE_PREDICTED)
            continue;
        while (at < count && strcmp(reason[at].why, v->row[i].why) != 0)
            at++;
        if (at == count)
            reason[count++] = (struct reason){v->row[i].why, i, 0};
        reason[at].rows++;
    }
    qsort(reason, count, sizeof *reason, more_rows_first);
    return count;
}

/* The JSON document lists all rows. */
static void print_reason(const struct validation *v, const struct reason *reason, FILE *out)
{
    enum { SHOWN = 4 };
    size_t shown = 0;
    fprintf(out, "%5zu  %s:", reason->rows, reason->why);
    for (size_t i = reason->first; i < v->rows && shown < SHOWN; i++)
        if (v->row[i].state != VALIDATE_PREDICTED && strcmp(v->row[i].why, reason->why) == 0) {
            fprintf(out, " %s", v->row[i].id);
            shown++;
        }
    fputs(reason->rows > SHOWN ? " ...\n" : "\n", out);
}

static bool print_unmodelled(const struct validation *v, FILE *out)
{
    struct reason *const reason = malloc((v->rows + 1) * sizeof *reason);
    if (!reason)
        return false;
    const size_t count = gather_reasons(v, reason);
    if (count)
        fprintf(out, "\nnot modelled, rows by reason (--json lists all):\n");
    for (size_t i = 0; i < count; i++)
        print_reason(v, &reason[i], out);
    free(reason);
    return true;
}

/* ---- the report ---- */

static void print_header(const char *name, FILE *out)
{
    fprintf(out, "%-60s %5s %8s %6s %7s %8s %8s %8s %8s %8s %8s %8s %6s %8s %8s %8s %8s %6s %8s %8s %6s\n", name, "rows",
            "modelled", "fitted", "guessed", "MAPE", "median", "p90", "bias", "symm.", "in 10%", "in 25%", "rank", "interval",
            "across", "bare", "bare med", "sheet", "MAPE", "median", "ratio");
}

/* Prints the groups of a choice of columns; for the last choice also the line of all rows together. */
static bool print_groups(const struct validation *v, const char *group_by, const char *header, bool last, FILE *out,
                         struct orch_error *error)
{
    struct validation_groups groups;
    if (!validation_group_rows(v, group_by, &groups, error))
        return false;
    print_header(header, out);
    for (size_t i = 0; i < groups.count; i++)
        print_group(out, &groups.group[i]);
    if (last) {
        fputc('\n', out);
        print_line(out, "all (errors of untouched rows)", &groups.all);
        print_line(out, "fitted: rows that a parameter was taken from or chosen over", &groups.taken);
        print_line(out, "guessed: rows with a size or part that no source gives", &groups.guess);
        if (groups.engine.rows)
            print_line(out, "engine level: single operations and stacks of the Neural Engine", &groups.engine);
        if (groups.all.framed)
            fputs("bare: without the measured time of frameworks; --json lists it\n", out);
        fputs("sheet: rows for which a spreadsheet has a figure (roofline of published peaks, 0.85 of the bandwidth, the same "
              "overhead), its errors, and ours over its\n",
              out);
        fputs("interval: rows inside their 90 % interval; across: inside the one that all other sources give them\n", out);
        fputs("symm.: |predicted - measured| / the smaller of both\n", out);
    } else {
        fputc('\n', out);
    }
    validation_groups_free(&groups);
    return true;
}

bool validation_write_text(const struct validation *v, const char *group_by, FILE *out, struct orch_error *error)
{
    const bool ok = group_by ? print_groups(v, group_by, "group", true, out, error)
                             : print_groups(v, "source", "source", false, out, error) &&
                                   print_groups(v, "chip", "chip", false, out, error) &&
                                   print_groups(v, "part,framework", "unit|framework", false, out, error) &&
                                   print_groups(v, "file", "file", true, out, error);
    return ok && validation_write_coverage(v, false, out, error) && (print_unmodelled(v, out) || orch_no_memory(error));
}
