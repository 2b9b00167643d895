/* The source of GPU programs with what each line costs, their instructions, and warnings. */
#include "isa/array_count.h"
#include "reports/chart.h"
#include "sim/base/format.h"
#include "sim/listen/profile_text.h"
#include "sim/report/run_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLOURS = SVG_COLOURS, HOVER_BYTES = 256, NUMBER_BYTES = 24, SHOWN_BYTES = 32, ROWS_MAX = 600 };

/* Reasons by their share, each with a colour; the last colour is for all that come after. */
struct colours {
    size_t of[PROFILE_REASONS_MAX]; /* by reason */
    const char *name[COLOURS];
    size_t count;
};

static struct colours colours_of(const struct line_profile *p, const struct profile_kernel *k)
{
    struct colours c = {.count = 0};
    double sum[PROFILE_REASONS_MAX] = {0};
    for (size_t i = 0; i < k->instructions; i++)
        for (size_t r = 0; r < p->reasons; r++)
            sum[r] += k->instruction[i].cycles[r];
    for (size_t n = 0; n < p->reasons; n++) {
        size_t most = 0;
        for (size_t r = 0; r < p->reasons; r++)
            most = sum[r] > sum[most] ? r : most;
        if (sum[most] <= 0)
            break;
        sum[most] = -1;
        if (c.count < COLOURS)
            c.name[c.count++] = n + 1 < COLOURS ? p->reason[most] : "others";
        c.of[most] = c.count - 1;
    }
    return c;
}

/* What the rows of a listing point to. */
struct listing {
    struct chart_listing_row *row;
    double (*values)[COLOURS];
    char (*hover)[HOVER_BYTES], (*number)[NUMBER_BYTES], (*shown)[SHOWN_BYTES];
    size_t rows;
};

static void listing_free(struct listing *l)
{
    free(l->row);
    free(l->values);
    free(l->hover);
    free(l->number);
    free(l->shown);
}

static bool listing_create(struct listing *l, size_t rows)
{
    *l = (struct listing){.row = calloc(rows, sizeof *l->row),
                          .values = calloc(rows, sizeof *l->values),
                          .hover = calloc(rows, sizeof *l->hover),
                          .number = calloc(rows, sizeof *l->number),
                          .shown = calloc(rows, sizeof *l->shown)};
    return l->row && l->values && l->hover && l->number && l->shown;
}

static void add_row(struct listing *l, const struct line_profile *p, const struct profile_kernel *k, const struct colours *c,
                    const struct profile_line *line, double all)
{
    const size_t i = l->rows++;
    char why[PROFILE_WHY_BYTES], count[FORMAT_SIZE], share[FORMAT_SIZE];
    if (k->files && line->line)
        snprintf(l->number[i], NUMBER_BYTES, "%" PRIu32, line->line);
    else
        snprintf(l->number[i], NUMBER_BYTES, k->files ? "-" : "0x%04" PRIx32, line->offset);
    l->row[i] = (struct chart_listing_row){.number = l->number[i], .text = k->files && !line->line ? "(of no line)" : line->text};
    if (!line->instructions)
        return;
    for (size_t r = 0; r < p->reasons; r++)
        l->values[i][c->of[r]] += all > 0 ? 100 * line->cycles[r] / all : 0;
    format_share(share, all > 0 ? line->all_cycles / all : 0);
    snprintf(l->shown[i], SHOWN_BYTES, "%.24s", share);
    snprintf(l->hover[i], HOVER_BYTES, "%.20s: %.24s of the cycles (%s), %.24s instructions issued", l->number[i], share,
             profile_why(p, line->cycles, why), format_count(count, (double)line->issued));
    l->row[i].values = l->values[i];
    l->row[i].shown = l->shown[i];
    l->row[i].hover = l->hover[i];
}

static struct result_table *line_table(const struct line_profile *p, const struct profile_kernel *k,
                                       const struct profile_line *line, size_t count, double all)
{
    static const struct result_column columns[] = {{"file", NULL, false},  {"line", NULL, true},  {"issued", NULL, true},
                                                   {"cycles", NULL, true}, {"share", NULL, true}, {"of these", NULL, false},
                                                   {"source", NULL, false}};
    struct result_table *const t = result_table_create(columns, ARRAY_COUNT(columns));
    char text[FORMAT_SIZE], why[PROFILE_WHY_BYTES];
    for (size_t i = 0; i < count; i++) {
        if (!line[i].instructions)
            continue;
        result_table_text(t, k->files && line[i].line ? k->file[line[i].file] : NULL);
        result_table_number(t, line[i].line ? line[i].line : (double)NAN, NULL);
        result_table_number(t, (double)line[i].issued, format_count(text, (double)line[i].issued));
        result_table_number(t, line[i].all_cycles, format_digits(text, line[i].all_cycles, 4));
        result_table_number(t, line[i].all_cycles / all, format_share(text, line[i].all_cycles / all));
        result_table_text(t, profile_why(p, line[i].cycles, why));
        result_table_text(t, line[i].text);
    }
    return t;
}

static struct result_table *code_table(const struct line_profile *p, const struct profile_kernel *k, double all)
{
    static const struct result_column columns[] = {{"at", NULL, false},
                                                   {"instruction", NULL, false},
                                                   {"line", NULL, true},
                                                   {"issued", NULL, true},
                                                   {"lanes", NULL, true},
                                                   {"share", NULL, true},
                                                   {"units an access", NULL, true},
                                                   {"at least", NULL, true},
                                                   {"of these", NULL, false}};
    struct result_table *const t = result_table_create(columns, ARRAY_COUNT(columns));
    char text[FORMAT_SIZE], why[PROFILE_WHY_BYTES], at[16];
    for (size_t i = 0; i < k->instructions; i++) {
        const struct profile_instruction *const x = &k->instruction[i];
        snprintf(at, sizeof at, "0x%04" PRIx32, x->offset);
        result_table_text(t, at);
        result_table_text(t, x->text);
        result_table_number(t, x->line ? x->line : (double)NAN, NULL);
        result_table_number(t, (double)x->issued, format_count(text, (double)x->issued));
        result_table_number(t, x->lanes, format_digits(text, x->lanes, 3));
        result_table_number(t, profile_instruction_cycles(x) / all, format_share(text, profile_instruction_cycles(x) / all));
        result_table_number(t, x->units, format_digits(text, x->units, 3));
        result_table_number(t, x->least_units, format_digits(text, x->least_units, 3));
        result_table_text(t, profile_why(p, x->cycles, why));
    }
    return t;
}

/* The rows of a listing that are drawn; the table has all. */
static bool fill(struct listing *l, const struct line_profile *p, const struct profile_kernel *k, const struct colours *c,
                 const struct profile_line *line, size_t count, double all)
{
    if (!listing_create(l, 2 * count + 1))
        return false;
    for (size_t i = 0; i < count && l->rows < ROWS_MAX; i++) {
        const bool other = line[i].line && (i == 0 || !line[i - 1].line || line[i].file != line[i - 1].file);
        if (k->files && other)
            l->row[l->rows++] = (struct chart_listing_row){.number = "", .text = k->file[line[i].file]};
        else if (k->files && i && line[i - 1].line && line[i].line > line[i - 1].line + 1)
            l->row[l->rows++] = (struct chart_listing_row){.text = ""};
        add_row(l, p, k, c, &line[i], all);
    }
    return true;
}

static bool kernel_part(struct page *page, const struct line_profile *p, const struct profile_kernel *k)
{
    const struct colours colours = colours_of(p, k);
    const double all = profile_kernel_cycles(k);
    char title[160], caption[400], name[160];
    size_t count;
    struct listing l = {.rows = 0};
    struct profile_line *const line = profile_kernel_lines(k, &count);
    const bool ok = line && fill(&l, p, k, &colours, line, count, all);
    if (ok) {
        struct result_table *const lines = line_table(p, k, line, count, all), *const code = code_table(p, k, all);
        const struct chart_listing chart = {.axis = {.label = "share of cycles", .unit = "%", .zero = true},
                                            .segments = colours.name,
                                            .segment_count = colours.count,
                                            .row = l.row,
                                            .rows = l.rows};
        snprintf(title, sizeof title, "%.80s by %s", k->name ? k->name : "kernel", k->files ? "line" : "instruction");
        snprintf(caption, sizeof caption,
                 "Cycles of a core in the mean of the cores, by what they went to: to the instruction that issues or, while none "
                 "can, to the next one to issue. %.1f %% belong to none: threadgroups are being started, or none is left.%s",
                 all > 0 ? 100 * k->idle_cycles / all : 0,
                 k->timed_share < 1 ? " Cycles are scaled from a part of the launch that was timed." : "");
        page_figure(page, &(struct page_figure){
                              .title = title, .caption = caption, .draw = chart_listing, .chart = &chart, .table = lines});
        snprintf(name, sizeof name, "Instructions of %.80s", k->name ? k->name : "kernel");
        page_fold(page, name, code);
        result_table_free(lines);
        result_table_free(code);
    }
    listing_free(&l);
    free(line);
    return ok;
}

static void warnings_part(struct page *page, const struct line_profile *p)
{
    for (size_t i = 0; i < p->warnings; i++) {
        const struct profile_warning *const w = &p->warning[i];
        page_paragraph(page, "%s: %s: %s.", w->place, w->kind, w->evidence);
        page_note(page, "To do: %s.", w->fix);
    }
}

bool run_part_profile(struct page *page, const struct report_run *run)
{
    const struct line_profile *const p = run->r.profile;
    bool ok = true;
    if (!p)
        return true;
    page_section(page, "Source");
    warnings_part(page, p);
    for (size_t i = 0; ok && i < p->kernels; i++)
        ok = kernel_part(page, p, &p->kernel[i]);
    return ok;
}
