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

/* The one M2 Pro had other work on its cores while it ran the sweep: numpy's product of 512 x 512 x 512 took 17 ms of them
 * (sbryngelson/ANEForge, bench/results/rooflines), a hundred times as long as it should. */
static bool is_busy_machine(const struct ane_row *a)
{
    return strcmp(a->row->chip, "M2 Pro") == 0;
}

/* Streams measure copies. There are none of the busy machine, of which the two requests with the least work for the engine do. */
static bool measures_copies(const struct ane_row *a)
{
    const char *const what = a->row->what;
    return is_busy_machine(a) ? strcmp(what, "GEMM N=512 cubed") == 0 || strcmp(what, "conv3x3 C64 64x64 batch 8") == 0
                              : strncmp(what, "streaming relu", 14) == 0 || strncmp(what, "streaming sum", 13) == 0;
}

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
        snprintf(a->program->framework, sizeof a->program->framework, is_busy_machine(a) ? "aneforge (M2 Pro)" : "aneforge");
        a->program->framework_bytes = in;
        a->program->framework_out_bytes = out;
        a->program->measures_overhead = !a->watts && measures_copies(a);
        return;
    }
}

bool plan_ane_compares(const struct ane_row *a)
{
    return strstr(a->row->source, "watt-complete") != NULL;
}

/* maderix/ANE's benchmarks (and dev-erik/ANE's, which are theirs and more) call the engine with buffers of its own kind. What a
 * call takes there differs by machine and macOS from 0.1 to 0.2 ms; a layer of few channels on few pixels measures it. Machines
 * without such a row, and M4 Max, where thirteen of them are about the stream of weights, have the request of the chip database.
 */
void plan_ane_caller(struct ane_row *a, unsigned layers, double bytes)
{
    static const struct {
        const char *chip, *what, *framework;
    } callers[] = {
        {"M3 Ultra", "inmem_peak", "inmem (M3 Ultra)"},
        {"M3 Ultra", "single conv", "inmem (M3 Ultra)"},
        {"M4", "inmem_peak", "inmem (M4)"},
        {"M4", "single conv", "inmem (M4)"},
        {"M4 Max", "execution path standard", "bench-paths (M4 Max)"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(callers); i++) {
        if (strcmp(a->row->chip, callers[i].chip) != 0 || strncmp(a->row->what, callers[i].what, strlen(callers[i].what)) != 0)
            continue;
        snprintf(a->program->framework, sizeof a->program->framework, "%s", callers[i].framework);
        const struct validate_overhead *const known = validate_overhead_of(a->program->framework);
        a->program->framework_bytes = bytes;
        a->program->measures_overhead = layers == 1;
        a->program->submitted = !known || known->call_us <= 0; /* a measured call contains the request */
        return;
    }
}
