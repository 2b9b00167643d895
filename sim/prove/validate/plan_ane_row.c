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

static bool add_product(struct ane_row *a, double times, const char *format, ...) __attribute__((format(printf, 3, 4)));
static bool add_product(struct ane_row *a, double times, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const bool ok = validate_launch_add(a->program, times, "f32", format, args);
    va_end(args);
    return ok || validate_refuse(a->row, "more than %d launches", VALIDATE_LAUNCHES);
}

bool plan_ane_core_gemv(struct ane_row *a, double times, uint64_t rows, uint64_t columns)
{
    if (!add_product(a, times, "gemm:%llux1x%llu", (unsigned long long)rows, (unsigned long long)columns))
        return false;
    struct validate_launch *const l = &a->program->launch[a->program->launches - 1];
    snprintf(l->unit, sizeof l->unit, "amx");
    l->cores = rows * columns >= VALIDATE_ACCELERATE_SHARES ? 0 : 1;
    return true;
}

void plan_ane_note(struct ane_row *a, const char *text)
{
    snprintf(a->program->remark, sizeof a->program->remark, "%s", text);
    a->program->note = a->program->remark;
}

void plan_ane_guess(struct ane_row *a, const char *text)
{
    plan_ane_note(a, text);
    a->program->guess = "the size";
}

bool plan_ane_unit(struct ane_row *a, double operations)
{
    if (a->watts > 0) {
        a->program->measure = VALIDATE_WATTS;
        a->program->work = a->watts;
        return true;
    }
    if (strcmp(a->row->unit, "mJ") == 0) {
        a->program->power = true;
        a->program->measure = VALIDATE_JOULES;
        a->program->work = 1e-3;
        return true;
    }
    static const struct {
        const char *unit;
        double nanoseconds, divisor; /* nanoseconds of a unit of time; divisor of rates in 1e9 per second */
    } units[] = {{"s", 1e9, 0},      {"ms", 1e6, 0},   {"ms/token", 1e6, 0}, {"ms/step", 1e6, 0}, {"us", 1e3, 0},
                 {"TFLOPS", 0, 1e3}, {"TOPS", 0, 1e3}, {"GFLOPS", 0, 1},     {"GB/s", 0, 1},      {"GMAC/s", 0, 2}};
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
 * them into a buffer and the results out of another. Back-to-back loops and zero-copy calls have no such cost. The single calls
 * of ane-guide go through the same runtime, and its chapter 11 says that what the smallest of them take is the way to the engine
 * and the operands' transfer. None of its rows measures the transfer alone, so that ANEForge's own streams stand for it. */
void plan_ane_harness(struct ane_row *a, double in, double out)
{
    static const struct {
        const char *source, *condition;
    } harnesses[] = {
        {"saturation sweep", ""},         {"rooflines.json", ""},        {"streaming", ""},
        {"watt-complete", "single call"}, {"watt-complete", "ANE rail"}, {"ane-guide", "single call incl. dispatch"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(harnesses); i++) {
        if (!strstr(a->row->source, harnesses[i].source) || !strstr(plan_ane_cell(a, "condition"), harnesses[i].condition))
            continue;
        snprintf(a->program->framework, sizeof a->program->framework, "aneforge");
        a->program->framework_bytes = in;
        a->program->framework_out_bytes = out;
        a->program->measures_overhead =
            !a->watts && (strncmp(a->row->what, "streaming relu", 14) == 0 || strncmp(a->row->what, "streaming sum", 13) == 0);
        return;
    }
}
