#include "sim/prove/validate/launch.h"

#include <string.h>

bool validate_launch_add(struct validate_program *program, double times, const char *precision, const char *format, va_list args)
{
    if (program->launches == VALIDATE_LAUNCHES)
        return false;
    struct validate_launch *const l = &program->launch[program->launches++];
    *l = (struct validate_launch){.times = times};
    snprintf(l->precision, sizeof l->precision, "%s", precision);
    return vsnprintf(l->workload, sizeof l->workload, format, args) < (int)sizeof l->workload;
}

void validate_launch_cut_k(struct validate_program *program, uint64_t k, const char *before, const char *behind)
{
    /* Beyond SPLIT, the library divides k among threadgroups; the parts have to be long enough for that. */
    enum { BLOCK = 64, LONG = 3 * BLOCK, SPLIT = 1 << 16, SPLIT_SHARE = 16 };
    struct validate_launch *const l = &program->launch[program->launches - 1];
    if (k < LONG)
        return;
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t part = (k < SPLIT ? (1 + i) * BLOCK : k * (1 + i) / SPLIT_SHARE / BLOCK * BLOCK) + k % BLOCK;
        l->part_of[i] = (double)part / (double)k;
        snprintf(l->part[i], sizeof l->part[i], "%s%llu%s", before, (unsigned long long)part, behind);
    }
}

const char *validate_cell(const struct validate_row *row, const char *column)
{
    return csv_cell(row->table, row->number, csv_find(row->table, column));
}

void validate_launch_note(const struct validate_row *row, struct validate_program *program)
{
    if (*row->chip_id)
        snprintf(program->remark, sizeof program->remark, "orchard's GPU kernels instead of the measured ones");
    else
        snprintf(program->remark, sizeof program->remark,
                 "orchard's GPU kernels instead of the measured ones; GPU cores not given: the part that '%.32s' names",
                 program->chip);
    program->note = program->remark;
}
