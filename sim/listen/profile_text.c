#include "sim/listen/profile_text.h"

#include "sim/base/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WHY_WIDTH = 42, REASONS_SHOWN = 3 };
#define SHARE_SHOWN 0.05 /* of a line's cycles: smaller reasons are left out */

const char *profile_why(const struct line_profile *p, const double *cycles, char text[PROFILE_WHY_BYTES])
{
    double all = 0;
    bool told[PROFILE_REASONS_MAX] = {false};
    size_t used = 0;
    text[0] = 0;
    for (size_t i = 0; i < p->reasons; i++)
        all += cycles[i];
    for (unsigned n = 0; all > 0 && n < REASONS_SHOWN; n++) {
        size_t most = 0;
        while (most < p->reasons && told[most])
            most++;
        for (size_t i = 0; i < p->reasons; i++)
            most = !told[i] && cycles[i] > cycles[most] ? i : most;
        if (most == p->reasons || cycles[most] < SHARE_SHOWN * all)
            break;
        told[most] = true;
        char one[PROFILE_WHY_BYTES];
        const int length =
            snprintf(one, sizeof one, "%s%.30s %.0f %%", used ? ", " : "", p->reason[most], 100 * cycles[most] / all);
        if (used + (size_t)length >= PROFILE_WHY_BYTES)
            break;
        memcpy(text + used, one, (size_t)length + 1);
        used += (size_t)length;
    }
    return text;
}

/* What a row costs: "         384   12.1 %  memory 83 %, issue 12 %   ". */
static void print_cost(FILE *out, const struct line_profile *p, uint64_t issued, const double *by, double cycles, double all)
{
    char why[PROFILE_WHY_BYTES], count[FORMAT_SIZE];
    fprintf(out, "  %10s %6.1f %%  %-*.*s", format_count(count, (double)issued), all > 0 ? 100 * cycles / all : 0, WHY_WIDTH,
            WHY_WIDTH, profile_why(p, by, why));
}

static void print_nothing(FILE *out)
{
    fprintf(out, "  %10s %8s  %-*s", "", "", WHY_WIDTH, "");
}

static void print_assembly(FILE *out, const struct line_profile *p, const struct profile_kernel *k,
                           const struct profile_line *line, double all)
{
    for (size_t i = 0; i < k->instructions; i++) {
        const struct profile_instruction *const x = &k->instruction[i];
        if (!profile_line_has(k, line, x))
            continue;
        print_cost(out, p, x->issued, x->cycles, profile_instruction_cycles(x), all);
        fprintf(out, "         0x%04x  %s\n", x->offset, x->text ? x->text : "");
    }
}

static void print_line(FILE *out, const struct line_profile *p, const struct profile_kernel *k, const struct profile_line *line,
                       double all)
{
    if (line->instructions)
        print_cost(out, p, line->issued, line->cycles, line->all_cycles, all);
    else
        print_nothing(out);
    if (!k->files)
        fprintf(out, "  0x%04x  %s", line->offset, line->text ? line->text : "");
    else if (line->line)
        fprintf(out, "%7" PRIu32 "  %s", line->line, line->text ? line->text : "");
    else
        fprintf(out, "%7s  %s", "-", "(of no line)");
    fputc('\n', out);
}

static void print_head(FILE *out, const struct profile_kernel *k, const char *chip)
{
    char issued[FORMAT_SIZE], cycles[FORMAT_SIZE];
    fprintf(out, "\nprofile      %s on %s: %s instructions of simdgroups, %s cycles of a core\n", k->name ? k->name : "kernel",
            chip ? chip : "?", format_count(issued, (double)profile_kernel_issued(k)),
            format_count(cycles, profile_kernel_cycles(k)));
    if (k->timed_share < 1)
        fprintf(out,
                "             cycles are scaled: %.2g %% of the instructions were timed ("
                "--detail instr times all of them)\n",
                100 * k->timed_share);
    fprintf(out, "  %10s %8s  %-*s%7s  %s\n", "issued", "cycles", WHY_WIDTH, "of these", k->files ? "line" : "at",
            k->files ? "source" : "instruction");
}

static bool print_kernel(FILE *out, const struct line_profile *p, const struct profile_kernel *k, const char *chip, bool assembly)
{
    const double all = profile_kernel_cycles(k);
    size_t count;
    struct profile_line *const line = profile_kernel_lines(k, &count);
    uint32_t file = UINT32_MAX;
    if (!line)
        return false;
    print_head(out, k, chip);
    for (size_t i = 0; i < count; i++) {
        if (line[i].line && line[i].file != file)
            fprintf(out, "  %s\n", k->file[file = line[i].file]);
        else if (i && line[i].line > line[i - 1].line + 1 && line[i - 1].line)
            fprintf(out, "  %10s\n", "...");
        print_line(out, p, k, &line[i], all);
        if (assembly && k->files && line[i].instructions)
            print_assembly(out, p, k, &line[i], all);
    }
    if (k->idle_cycles > 0.0005 * all)
        fprintf(out, "  %10s %6.1f %%  %s\n", "", 100 * k->idle_cycles / all, "threadgroups are being started, or none is left");
    free(line);
    return true;
}

bool profile_print(FILE *out, const struct line_profile *p, const char *chip, bool assembly)
{
    bool ok = true;
    for (size_t i = 0; ok && i < p->kernels; i++)
        ok = print_kernel(out, p, &p->kernel[i], chip, assembly);
    for (size_t i = 0; ok && i < p->warnings; i++) {
        const struct profile_warning *const w = &p->warning[i];
        fprintf(out, "%s%s: %s: %s\n             %s\n", i ? "" : "\n", w->place, w->kind, w->evidence, w->fix);
    }
    return ok && !ferror(out);
}
