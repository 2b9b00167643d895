/* Rows whose workload is a kernel of orchard's own library, KERNEL:SHAPE as for orchard run, measured on hardware: `orchard
 * measure` writes the steps, and who measures something else of the kind may write such rows, too. The row is the run. */
#include "isa/array_count.h"
#include "sim/prove/validate/plan_launch.h"
#include "sim/prove/validate/spreadsheet.h"
#include "sim/workload/kernel_info.h"

#include <string.h>

static const struct {
    const char *unit;
    double nanoseconds, giga; /* of a time; of a rate, 0 = it is no rate */
    bool bytes;
} units[] = {{"s", 1e9, 0, false},    {"ms", 1e6, 0, false}, {"us", 1e3, 0, false},      {"ns", 1, 0, false},
             {"GFLOPS", 0, 1, false}, {"GOPS", 0, 1, false}, {"TFLOPS", 0, 1000, false}, {"GB/s", 0, 1, true}};

static bool take_unit(struct validate_row *row, struct validate_program *program, const struct validate_launch *l)
{
    struct spreadsheet_work work = {0, 0};
    size_t u = 0;
    while (u < ARRAY_COUNT(units) && strcmp(units[u].unit, row->unit) != 0)
        u++;
    if (u == ARRAY_COUNT(units))
        return validate_refuse(row, "value_unit '%.20s': s, ms, ns, GFLOPS, GOPS, TFLOPS and GB/s are read", row->unit);
    program->measure = units[u].giga > 0 ? VALIDATE_RATE : VALIDATE_NS_PER_WORK;
    program->work = units[u].nanoseconds;
    if (units[u].giga <= 0)
        return true;
    if (!spreadsheet_kernel(l->workload, l->precision, 1, &work) || (units[u].bytes ? work.bytes : work.flop) <= 0)
        return validate_refuse(row, "how much work '%.60s' is has no formula: give its time", row->what);
    program->work = (units[u].bytes ? work.bytes : work.flop) / units[u].giga;
    return true;
}

bool validate_plan_kernel(struct validate_row *row, struct validate_program *program)
{
    const bool gpu = strcmp(row->device, "gpu") == 0;
    if (!strchr(row->what, ':') || !kernel_is_workload(row->what) ||
        (!gpu && strcmp(row->device, "cpu") != 0 && strcmp(row->device, "amx") != 0))
        return false;
    struct validate_launch *const l = &program->launch[program->launches++];
    const char *const precision = validate_cell(row, "precision");
    const char *const threads = strstr(row->condition, " thread");
    if (strlen(row->what) >= sizeof l->workload || strlen(precision) >= sizeof l->precision)
        return validate_refuse(row, "workload or precision is too long");
    *l = (struct validate_launch){.times = 1};
    snprintf(l->workload, sizeof l->workload, "%s", row->what);
    snprintf(l->precision, sizeof l->precision, "%s", *precision ? precision : "f32");
    if (!gpu) {
        snprintf(l->unit, sizeof l->unit, "%s", row->device);
        l->cores = 1;
        program->core = VALIDATE_P_CORE;
    }
    if (!gpu && threads && (sscanf(row->condition, "%u thread", &l->cores) != 1 || !l->cores))
        return validate_refuse(row, "condition '%.40s': how many threads? write '4 thread(s), ...'", row->condition);
    if (gpu)
        validate_launch_note(row, program);
    return take_unit(row, program, l);
}
