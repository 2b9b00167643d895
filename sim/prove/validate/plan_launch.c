#include "sim/prove/validate/plan_launch.h"

#include <stdio.h>

bool validate_launch_add(struct validate_program *program, double times, const char *precision, const char *format, va_list args)
{
    if (program->launches == VALIDATE_LAUNCHES)
        return false;
    struct validate_launch *const l = &program->launch[program->launches++];
    *l = (struct validate_launch){.times = times};
    snprintf(l->precision, sizeof l->precision, "%s", precision);
    return vsnprintf(l->workload, sizeof l->workload, format, args) < (int)sizeof l->workload;
}

const char *validate_cell(const struct validate_row *row, const char *column)
{
    return csv_cell(row->table, row->number, csv_find(row->table, column));
}

static const char *whose(const struct validate_program *program)
{
    unsigned theirs = 0;
    for (unsigned i = 0; i < program->launches; i++)
        theirs += program->launch[i].kernels[0] != 0;
    return !theirs                      ? "orchard's GPU kernels instead of the measured ones"
           : theirs < program->launches ? "kernels written after the measured ones, and some of orchard's own"
                                        : "kernels written after the measured ones";
}

void validate_launch_note(const struct validate_row *row, struct validate_program *program)
{
    if (*row->chip_id)
        snprintf(program->remark, sizeof program->remark, "%s", whose(program));
    else
        snprintf(program->remark, sizeof program->remark, "%s; GPU cores not given: the part that '%.32s' names", whose(program),
                 program->chip);
    program->note = program->remark;
}
