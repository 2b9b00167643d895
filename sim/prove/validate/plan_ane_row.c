#include "isa/array_count.h"
#include "sim/prove/validate/plan_ane.h"

#include <stdio.h>
#include <string.h>

const char *plan_ane_cell(const struct ane_row *a, const char *column)
{
    return validate_cell(a->row, column);
}

bool plan_ane_launch(struct ane_row *a, double times, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const bool ok = validate_launch_add(a->program, times, a->precision, format, args);
    va_end(args);
    return ok || validate_refuse(a->row, "more than %d launches", VALIDATE_LAUNCHES);
}

void plan_ane_note(struct ane_row *a, const char *text)
{
    snprintf(a->program->remark, sizeof a->program->remark, "%s", text);
    a->program->note = a->program->remark;
}

bool plan_ane_unit(struct ane_row *a, double operations)
{
    if (a->watts > 0) {
        a->program->measure = VALIDATE_WATTS;
        a->program->work = a->watts;
        return true;
    }
    static const struct {
        const char *unit;
        double nanoseconds, divisor; /* nanoseconds of a unit of time; divisor of rates in 1e9 per second */
    } units[] = {{"ms", 1e6, 0},   {"us", 1e3, 0}, {"TFLOPS", 0, 1e3}, {"TOPS", 0, 1e3},
                 {"GFLOPS", 0, 1}, {"GB/s", 0, 1}, {"GMAC/s", 0, 2}};
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        if (strcmp(a->row->unit, units[i].unit) != 0)
            continue;
        a->program->measure = units[i].nanoseconds > 0 ? VALIDATE_NS_PER_WORK : VALIDATE_RATE;
        a->program->work = units[i].nanoseconds > 0 ? units[i].nanoseconds : operations / units[i].divisor;
        return true;
    }
    return validate_refuse(a->row, "unit '%.20s' is not the speed of a request", a->row->unit);
}

/* ---- whose time ---- */

/* Harnesses copy operands to and from the buffers of the engine. ANEForge's benchmarks call a network with arrays, which copies
 * them into a buffer and the results out of another; those of ane-guide are older and show a cost for rows that the layout of the
 * engine pads. Back-to-back loops and zero-copy calls have no such cost. */
void plan_ane_harness(struct ane_row *a, double in, double out, unsigned row_bytes)
{
    enum { ROW_UNIT = 64 };
    static const struct {
        const char *source, *condition, *framework;
        bool by_rows;
    } harnesses[] = {
        {"saturation sweep", "", "aneforge", false},
        {"rooflines.json", "", "aneforge", false},
        {"streaming", "", "aneforge", false},
        {"watt-complete", "single call", "aneforge", false},
        {"watt-complete", "ANE rail", "aneforge", false},
        {"ane-guide", "single call", "ane-guide", true},
    };
    for (size_t i = 0; i < ARRAY_COUNT(harnesses); i++) {
        if (!strstr(a->row->source, harnesses[i].source) || !strstr(plan_ane_cell(a, "condition"), harnesses[i].condition))
            continue;
        snprintf(a->program->framework, sizeof a->program->framework, "%s", harnesses[i].framework);
        a->program->framework_bytes = harnesses[i].by_rows ? in + out : in;
        a->program->framework_out_bytes = harnesses[i].by_rows ? 0 : out;
        a->program->framework_rows = harnesses[i].by_rows && row_bytes % ROW_UNIT ? (in + out) / row_bytes : 0;
        return;
    }
}
