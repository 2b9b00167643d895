/* The program of a row as a file: an ELF file, assembler text of the GPU, or descriptors of the Neural Engine. */
#include "sim/prove/validate/row_chip.h"
#include "sim/prove/validate/validation.h"
#include "sim/workload/ane/ane_workload.h"

#include <stdlib.h>
#include <string.h>

static const struct validate_row *find_row(const struct validation *v, const char *id)
{
    for (size_t i = 0; i < v->rows; i++)
        if (strcmp(v->row[i].id, id) == 0)
            return &v->row[i];
    return NULL;
}

bool validation_plan_row(const struct validation *v, const char *id, struct validate_program *program, struct orch_error *error)
{
    const struct validate_row *const found = find_row(v, id);
    if (!found)
        return orch_fail(error, ORCH_USAGE, "no row is called '%.100s'", id);
    struct validate_row row = *found;
    return validate_plan(&row, program) || orch_fail(error, ORCH_UNMODELLED, "%.100s: %s", id, row.why);
}

static uint8_t *copy_of(const void *bytes, size_t size, struct orch_error *error)
{
    uint8_t *const copy = malloc(size ? size : 1);
    if (copy)
        memcpy(copy, bytes, size);
    else
        orch_no_memory(error);
    return copy;
}

/* The descriptors of the first kernel. */
static uint8_t *dump_descriptors(const struct validate_program *p, struct row_chip *chips, size_t *bytes,
                                 struct orch_error *error)
{
    const struct validate_launch *const l = &p->launch[0];
    struct ane_workload workload = {.arrays = 0};
    uint8_t *copy = NULL;
    const struct chip *const chip = row_chip_open(chips, p, error);
    if (chip && ane_workload_open_kernel(&workload, l->workload, *l->precision ? l->precision : NULL, chip, 1, NULL, 0, error)) {
        *bytes = workload.kernel.program.size;
        copy = copy_of(workload.kernel.program.bytes, *bytes, error);
    }
    ane_workload_close(&workload);
    return copy;
}

uint8_t *validation_dump(const struct validation *v, const char *id, const struct chip_db *db,
                         const struct chip_overrides *overrides, size_t *bytes, struct orch_error *error)
{
    struct validate_program program;
    uint8_t *file = NULL;
    if (!validation_plan_row(v, id, &program, error))
        return NULL;
    if (program.ane) {
        struct row_chip *const chips = row_chip_create(db, overrides);
        file = chips ? dump_descriptors(&program, chips, bytes, error) : (orch_no_memory(error), NULL);
        row_chip_free(chips);
    } else if (program.code) {
        file = validate_program_elf(&program, true, bytes, error);
    } else if (program.gpu.text) {
        *bytes = strlen(program.gpu.text);
        file = copy_of(program.gpu.text, *bytes, error);
    } else {
        const char *const kernel = program.launches ? program.launch[0].workload : program.workload;
        orch_fail(error, ORCH_USAGE,
                  *kernel ? "%.100s is run as '%s'%s, which has no program of its own" : "%.100s has no program%s%s", id, kernel,
                  program.launches > 1 ? " and others" : "");
    }
    validate_program_free(&program);
    return file;
}
