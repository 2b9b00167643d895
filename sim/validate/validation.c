#include "sim/validate/validation.h"

#include "isa/elf/elf_write.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DUMP_LIMIT (UINT64_C(64) << 20)

struct validation *validation_create(void)
{
    return calloc(1, sizeof(struct validation));
}

void validation_free(struct validation *v)
{
    if (!v)
        return;
    for (size_t i = 0; i < v->tables; i++)
        csv_free(v->table[i]);
    free(v->table);
    free(v->row);
    free(v);
}

size_t validation_rows(const struct validation *v)
{
    return v->rows;
}

/* "a/b/amx-timing.csv" -> "amx-timing" */
static void stem_of(const char *path, char *stem, size_t size)
{
    const char *base = strrchr(path, '/');
    snprintf(stem, size, "%s", base ? base + 1 : path);
    char *dot = strrchr(stem, '.');
    if (dot && dot != stem)
        *dot = '\0';
}

static bool add_table(struct validation *v, const char *path, struct csv_table *table, struct orch_error *error)
{
    char stem[VALIDATE_ID_SIZE];
    stem_of(path, stem, sizeof stem);
    const size_t rows = csv_rows(table);
    if (csv_find(table, "value") < 0) {
        csv_free(table);
        return orch_fail(error, ORCH_USAGE, "%s:1:1: no column 'value': not a table of measurements", path);
    }
    struct csv_table **tables = realloc(v->table, (v->tables + 1) * sizeof *tables);
    if (tables)
        v->table = tables;
    struct validate_row *grown = tables ? realloc(v->row, (v->rows + rows + 1) * sizeof *grown) : NULL;
    if (!grown) {
        csv_free(table);
        return orch_fail(error, ORCH_INTERNAL, "%s: out of memory", path);
    }
    v->row = grown;
    v->table[v->tables++] = table;
    for (size_t i = 0; i < rows; i++)
        validate_row_read(&v->row[v->rows++], table, stem, i);
    return true;
}

bool validation_add_file(struct validation *v, const char *path, struct orch_error *error)
{
    struct csv_table *table = csv_read(path, error);
    return table && add_table(v, path, table, error);
}

bool validation_add_text(struct validation *v, const char *name, const char *text, size_t bytes, struct orch_error *error)
{
    struct csv_table *table = csv_parse(name, text, bytes, error);
    return table && add_table(v, name, table, error);
}

static void predict(struct validate_row *row, const struct validate_program *program, const struct validate_timing *timing)
{
    row->predicted = validate_value(program, timing);
    if (!isfinite(row->predicted) || row->predicted <= 0) {
        validate_refuse(row, "the run took no time");
        return;
    }
    row->state = VALIDATE_PREDICTED;
    if (timing->low_factor <= 0 || timing->high_factor <= 0)
        return;
    const double a = row->predicted * timing->low_factor, b = row->predicted * timing->high_factor;
    const bool time = program->measure == VALIDATE_NS_PER_WORK || program->measure == VALIDATE_CYCLES_PER_WORK;
    row->low = time ? a : row->predicted / timing->high_factor;
    row->high = time ? b : row->predicted / timing->low_factor;
}

static bool run_row(struct validate_row *row, const struct validate_runner *runner, struct orch_error *error)
{
    struct validate_program program;
    row->state = VALIDATE_UNMODELLED;
    row->parameter = validate_fitted(row);
    if (!validate_plan(row, &program))
        return true;
    struct validate_timing timing = {0};
    struct orch_error why = {0};
    const bool ran = runner->run(runner->context, &program, &timing, &why);
    if (ran)
        predict(row, &program, &timing);
    else
        validate_refuse(row, "%.150s", why.text);
    validate_program_free(&program);
    if (!ran && why.exit_code == ORCH_INTERRUPTED) {
        if (error)
            *error = why;
        return false;
    }
    return true;
}

bool validation_run(struct validation *v, const struct validate_runner *runner, struct orch_error *error)
{
    for (size_t i = 0; i < v->rows; i++)
        if (!run_row(&v->row[i], runner, error))
            return false;
    return true;
}

static struct validate_row *find_row(const struct validation *v, const char *id)
{
    for (size_t i = 0; i < v->rows; i++)
        if (strcmp(v->row[i].id, id) == 0)
            return &v->row[i];
    return NULL;
}

/* Bytes of the data up to the last word that is not 0. */
static uint8_t *data_bytes(const struct validate_program *program, size_t *bytes)
{
    *bytes = 0;
    for (size_t i = 0; i < program->patches; i++)
        if (program->patch[i].offset + 8 > *bytes)
            *bytes = program->patch[i].offset + 8;
    uint8_t *data = *bytes <= DUMP_LIMIT ? calloc(1, *bytes + 1) : NULL;
    for (size_t i = 0; data && i < program->patches; i++)
        for (unsigned b = 0; b < 8; b++)
            data[program->patch[i].offset + b] = (uint8_t)(program->patch[i].value >> 8 * b);
    return data;
}

static uint8_t *write_elf(const struct validate_program *program, size_t *bytes, struct orch_error *error)
{
    size_t used;
    uint8_t *data = data_bytes(program, &used);
    if (!data) {
        orch_fail(error, ORCH_USAGE, "its data take more than %u MiB", (unsigned)(DUMP_LIMIT >> 20));
        return NULL;
    }
    const uint64_t bss = (VALIDATE_DATA_ADDR + used + ELF_WRITE_ALIGN - 1) / ELF_WRITE_ALIGN * ELF_WRITE_ALIGN;
    const uint64_t end = VALIDATE_DATA_ADDR + program->data_bytes;
    const struct elf_label start = {"_start", VALIDATE_CODE_ADDR, program->words * 4, true};
    const struct elf_program elf = {
        .code = {VALIDATE_CODE_ADDR, program->code, program->words * 4},
        .data = {VALIDATE_DATA_ADDR, used ? data : NULL, used},
        .bss_addr = bss,
        .bss_bytes = end > bss ? end - bss : 0,
        .labels = &start,
        .label_count = 1,
    };
    struct isa_error why = {0};
    uint8_t *file = elf_write(&elf, bytes, &why);
    if (!file)
        orch_fail(error, ORCH_INTERNAL, "%.200s", why.text);
    free(data);
    return file;
}

uint8_t *validation_dump(const struct validation *v, const char *id, size_t *bytes, struct orch_error *error)
{
    const struct validate_row *found = find_row(v, id);
    if (!found) {
        orch_fail(error, ORCH_USAGE, "no row is called '%.100s'", id);
        return NULL;
    }
    struct validate_row row = *found;
    struct validate_program program;
    if (!validate_plan(&row, &program)) {
        orch_fail(error, ORCH_UNMODELLED, "%.100s: %s", id, row.why);
        return NULL;
    }
    uint8_t *file = NULL;
    if (program.workload[0])
        orch_fail(error, ORCH_USAGE, "%.100s is run as '%s', which has no program of its own", id, program.workload);
    else
        file = write_elf(&program, bytes, error);
    validate_program_free(&program);
    return file;
}
