/* Decides which unit a row is about and what kind of work it is: the rows of a group have similar residuals. */
#include "isa/amx/amx_isa.h"
#include "isa/array_count.h"
#include "sim/run/residual.h"
#include "sim/prove/validate/row.h"

#include <string.h>

static bool is_near(const struct validate_row *row)
{
    static const char *const near[] = {"L1", "L2", "SLC", "cache", "local", "threadgroup"};
    for (size_t i = 0; i < ARRAY_COUNT(near); i++)
        if (strstr(row->what, near[i]))
            return true;
    return strcmp(row->part, "amx") == 0; /* the loads and stores of these loops go to small arrays */
}

/* Loops written by the recognisers of a table: streams of bytes, chains of loads, or instructions. */
static const char *work_of_loop(const struct validate_row *row, const struct validate_program *p)
{
    if (strstr(row->unit, "B/s") || strstr(row->unit, "bytes/cycle"))
        return is_near(row) ? "cache" : "stream";
    const bool time = p->measure == VALIDATE_NS_PER_WORK || p->measure == VALIDATE_CYCLES_PER_WORK;
    return time && p->patches ? "latency" : "instruction"; /* only chains of pointers patch the data */
}

/* Of operations of frameworks, what their products run on counts; the rest runs on cores. */
static const char *of_cores(const struct validate_program *p)
{
    for (unsigned i = 0; i < p->launches; i++)
        if (strcmp(p->launch[i].unit, "amx") == 0)
            return "amx";
    return "cpu";
}

static const char *part_of(const struct validate_program *p)
{
    if (p->power)
        return "power";
    if (p->ane)
        return "ane";
    if (p->launches && *p->launch[0].unit)
        return of_cores(p);
    if (p->launches || p->gpu.text)
        return "gpu";
    if (p->workload[0])
        return "amx"; /* products of a BLAS run on the AMX library */
    for (size_t i = 0; i < p->words; i++)
        if (amx_is_word(p->code[i]))
            return "amx";
    return "cpu";
}

void validate_classify(struct validate_row *row, const struct validate_program *p)
{
    row->part = part_of(p);
    if (p->power)
        row->work = p->measure == VALIDATE_WATTS ? "watts" : "joules";
    else if (p->launches)
        row->work = strncmp(p->launch[0].workload, "model:", 6) == 0 ? "language" : residual_work(p->launch[0].workload);
    else if (p->workload[0])
        row->work = residual_work(p->workload);
    else
        row->work = work_of_loop(row, p);
}
