#include "sim/prove/validate/row.h"
#include "isa/array_count.h"

#include <stdlib.h>
#include <string.h>

static const char *first_of(const struct csv_table *table, size_t row, const char *const *names)
{
    for (; *names; names++) {
        const int column = csv_find(table, *names);
        if (column >= 0)
            return csv_cell(table, row, column);
    }
    return "";
}

static bool read_number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && *end == '\0';
}

void validate_row_read(struct validate_row *row, const struct csv_table *table, const char *stem, size_t number)
{
    static const char *const id[] = {"id", NULL}, *const chip[] = {"chip", "chip_or_core", "scope", NULL},
                             *const chip_id[] = {"chip_id", NULL},
                             *const what[] = {"instruction_or_kernel", "item", "workload", "load", "metric", NULL},
                             *const condition[] = {"condition", "note", NULL},
                             *const unit[] = {"value_unit", "unit_of_value", "unit", NULL}, *const kind[] = {"kind", NULL},
                             *const source[] = {"source", NULL}, *const value[] = {"value", NULL},
                             *const shape[] = {"shape", NULL};
    memset(row, 0, sizeof *row);
    row->table = table;
    row->number = number;
    const char *const given = first_of(table, number, id);
    if (*given)
        snprintf(row->id, sizeof row->id, "%s", given);
    else
        snprintf(row->id, sizeof row->id, "%.80s:%u", stem, csv_line(table, number));
    row->chip = first_of(table, number, chip);
    row->chip_id = first_of(table, number, chip_id);
    row->what = first_of(table, number, what);
    row->condition = first_of(table, number, condition);
    row->unit = first_of(table, number, unit);
    row->shape = first_of(table, number, shape);
    row->device = csv_find(table, "value_unit") >= 0 ? csv_cell(table, number, csv_find(table, "unit")) : "";
    row->kind = first_of(table, number, kind);
    row->source = first_of(table, number, source);
    row->part = row->work = "";
    row->has_value = read_number(first_of(table, number, value), &row->measured);
}

/* Numbers of pipes are rates of loops. */
static bool counts_pipes(const struct validate_row *row)
{
    const size_t length = strlen(row->what);
    return (length > 6 && strcmp(row->what + length - 6, " pipes") == 0) || strcmp(row->what, "taken branches per cycle") == 0;
}

/* Refuses rows that no simulation predicts: not measured, without a value, or no time. Sizes of caches stand in device trees,
 * which is as good. */
static bool is_prediction_target(struct validate_row *row)
{
    const bool capacity = validate_is_capacity(row);
    if (strcmp(row->kind, "measured") != 0 && !(capacity && strcmp(row->kind, "reverse-engineered") == 0))
        return validate_refuse(row, "not measured (kind: %.40s)", *row->kind ? row->kind : "none given");
    if (!row->has_value || row->measured <= 0)
        return validate_refuse(row, "no value to compare with");
    if (capacity)
        return true;
    static const char *const other[] = {"W",      "mW", "%",  "MHz", "GHz",    "count", "ratio",  "MB",     "KB",
                                        "groups", "us", "mV", "J",   "TOPS/W", "C",     "W/core", "pJ/byte"};
    for (size_t i = 0; i < ARRAY_COUNT(other); i++)
        if (strcmp(row->unit, other[i]) == 0 && (strcmp(row->unit, "us") != 0 || strcmp(row->device, "gpu") != 0) &&
            !(strcmp(row->unit, "count") == 0 && counts_pipes(row)))
            return validate_refuse(row, "unit '%s': not the speed of a program", row->unit);
    if (strncmp(row->unit, "GFLOPS/", 7) == 0)
        return validate_refuse(row, "eigenvalue solver: no kernel for it");
    return true;
}

/* Finds the chip: its id, or else its name as an alias ("M1 Pro" -> "m1-pro"), without what is in brackets. */
static bool read_chip(struct validate_row *row, struct validate_program *program)
{
    if (*row->chip_id) {
        snprintf(program->chip, sizeof program->chip, "%s", row->chip_id);
        return true;
    }
    static const char *const tiers[] = {"M1", "M1 Pro", "M1 Max", "M1 Ultra", "M2", "M2 Pro", "M2 Max", "M2 Ultra",
                                        "M3", "M3 Pro", "M3 Max", "M3 Ultra", "M4", "M4 Pro", "M4 Max"};
    const char *const family = strstr(row->chip, " family");
    const char *const chip = strcmp(row->chip, "all") == 0 ? tiers[0] : row->chip;
    /* of several chips with the same core and value */
    const size_t first = family ? (size_t)(family - row->chip) : strcspn(chip, ",");
    for (size_t i = 0; i < ARRAY_COUNT(tiers); i++)
        if (strlen(tiers[i]) == first && strncmp(chip, tiers[i], first) == 0) {
            snprintf(program->chip, sizeof program->chip, "%s", tiers[i]);
            for (char *c = program->chip; *c; c++)
                *c = *c == ' ' ? '-' : *c >= 'A' && *c <= 'Z' ? (char)(*c + 32) : *c;
            return true;
        }
    return validate_refuse(row, "which chip '%.60s' is remains open", row->chip);
}

/* Refuses rows that no recogniser took. */
static bool refuse_rest(struct validate_row *row)
{
    static const char *const parts[][2] = {
        {"GPU", "a GPU figure: only CPU and AMX programs are built"},
        {"_gpu", "a GPU figure: only CPU and AMX programs are built"},
        {"_mps", "a GPU figure: only CPU and AMX programs are built"},
        {"gemv_", "a GPU figure: only CPU and AMX programs are built"},
        {"torch", "an operator of a framework, not a program"},
        {"_cpu", "an operator of a framework, not a program"},
        {"SME", "SME instructions are not AMX"},
        {"ZGEMM", "a complex product: no kernel for it"},
        {"interleaved operand loads", "the source does not say how many loads there are per fma32"},
        {"largest observed", "the best figure seen, without what ran"},
        {"best", "the best figure seen, without what ran"},
    };
    if (*row->device && strcmp(row->device, "cpu") != 0 && strcmp(row->device, "amx") != 0 && strcmp(row->device, "mem") != 0)
        return validate_refuse(row, "unit '%.20s': no program for '%.60s'", row->device, row->what);
    for (size_t i = 0; i < ARRAY_COUNT(parts); i++)
        if (strstr(row->what, parts[i][0]))
            return validate_refuse(row, "%s", parts[i][1]);
    return validate_refuse(row, "no program for '%.80s'", row->what);
}

static bool take_note(struct validate_row *row, const struct validate_program *program)
{
    snprintf(row->remark, sizeof row->remark, "%s", program->note ? program->note : "");
    row->note = program->note ? row->remark : NULL;
    row->guessed = program->guess                                           ? program->guess
                   : csv_find(row->table, "chip_id") >= 0 && !*row->chip_id ? "the part: the full one of its name is taken"
                                                                            : NULL;
    return true;
}

/* Plans rows of tables with units that other tables do not have. */
static bool plan_apart(struct validate_row *row, struct validate_program *program,
                       bool (*plan)(struct validate_row *row, struct validate_program *program))
{
    *program = (struct validate_program){0};
    if (strcmp(row->kind, "measured") != 0)
        return validate_refuse(row, "not measured (kind: %.40s)", *row->kind ? row->kind : "none given");
    if (!row->has_value || row->measured <= 0)
        return validate_refuse(row, "no value to compare with");
    if (plan(row, program) && (*program->chip || read_chip(row, program)))
        return take_note(row, program);
    validate_program_free(program);
    return false;
}

bool validate_plan(struct validate_row *row, struct validate_program *program)
{
    static bool (*const all[])(struct validate_row *, struct validate_program *) = {
        validate_plan_kernel,   validate_plan_operation, validate_plan_core_operation,
        validate_plan_language, validate_plan_figure,    validate_plan_gpu_peak,
        validate_plan_gpu,      validate_plan_amx_loop,  validate_plan_amx_memory,
        validate_plan_capacity, validate_plan_cpu,       validate_plan_memory,
        validate_plan_gemm};
    row->why[0] = '\0';
    if (validate_is_power(row))
        return plan_apart(row, program, validate_plan_power);
    if (validate_is_ane(row))
        return plan_apart(row, program, validate_plan_ane);
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        *program = (struct validate_program){0};
        if (!is_prediction_target(row) || !read_chip(row, program))
            return false;
        if (all[i](row, program))
            return take_note(row, program);
        validate_program_free(program);
        if (row->why[0])
            return false;
    }
    return refuse_rest(row);
}
