/* The table of accuracy for a README. */
#include "isa/array_count.h"
#include "sim/prove/validate/validation.h"

#include <math.h>
#include <string.h>

static void share(FILE *out, double value)
{
    if (isnan(value))
        fprintf(out, " - |");
    else
        fprintf(out, " %.*f %% |", fabs(value) < 0.0995 ? 1 : 0, 100 * value);
}

static void line(FILE *out, const char *name, const struct validation_group *g)
{
    const struct score *const s = &g->score;
    fprintf(out, "| %s | %zu | %zu | %zu | %zu |", name, g->rows, g->modelled, g->fitted, g->guessed);
    const double shares[] = {s->mape,     s->symmetric, s->median_ape,        s->bias,
                             s->within10, s->within25,  s->interval_coverage, s->cross_coverage};
    for (size_t i = 0; i < ARRAY_COUNT(shares); i++)
        share(out, shares[i]);
    fprintf(out, " %zu |", g->sheet.count);
    share(out, g->sheet.mape);
    share(out, g->sheet.median_ape);
    if (g->sheet.count)
        fprintf(out, " %.2f |\n", validation_ratio(g));
    else
        fputs(" - |\n", out);
}

/* Rows of the GPU by whose kernels they have measured. */
static bool write_frameworks(const struct validation *v, FILE *out, struct orch_error *error)
{
    struct validation_groups groups;
    if (!validation_group_rows(v, "part,framework", &groups, error))
        return false;
    for (size_t i = 0; i < groups.count; i++) {
        const char *const key = groups.group[i].key;
        char name[160];
        snprintf(name, sizeof name, "GPU, kernels of %.100s", key + 4);
        if (strncmp(key, "gpu", 3) == 0 && strcmp(key + 4, "-") != 0 && groups.group[i].modelled)
            line(out, name, &groups.group[i]);
    }
    validation_groups_free(&groups);
    return true;
}

bool validation_write_markdown(const struct validation *v, const char *version, FILE *out, struct orch_error *error)
{
    struct validation_groups groups;
    fprintf(
        out,
        "Errors are of rows that no parameter was taken from or chosen over and in which nothing is guessed (*fitted* and "
        "*guessed* "
        "rows are left out), as `orchard validate --markdown` of %s wrote them. *Spreadsheet*: the roofline of published peaks "
        "and "
        "0.85 of the published bandwidth, with the same overheads, over the rows for which it has a figure; *ratio* is our mean "
        "error over these rows divided by its.\n\n",
        version);
    fputs("| measurements | rows | modelled | fitted | guessed | mean error | symmetrical | median | bias | within 10 % | within "
          "25 % "
          "| in 90 % interval | of other sources | spreadsheet: rows | its mean | its median | ratio |\n"
          "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
          out);
    for (size_t i = 0; i < v->tables; i++) {
        if (!validation_group_file(v, v->table[i], "part", &groups, error))
            return false;
        line(out, v->file[i].name, &groups.all);
        for (size_t g = 0; g < groups.count; g++) {
            char name[160];
            snprintf(name, sizeof name, "of these, %.100s", groups.group[g].key);
            if (groups.group[g].modelled && groups.group[g].modelled < groups.all.modelled)
                line(out, name, &groups.group[g]);
        }
        validation_groups_free(&groups);
    }
    if (!write_frameworks(v, out, error) || !validation_group_rows(v, "chip", &groups, error))
        return false;
    line(out, "all", &groups.all);
    line(out, "fitted rows", &groups.taken);
    line(out, "rows with guessed sizes or parts", &groups.guess);
    validation_groups_free(&groups);
    return validation_write_coverage(v, true, out, error);
}
