#define _GNU_SOURCE /* asprintf */
#include "sim/prove/validate/tables.h"

#include "isa/array_count.h"
#include "sim/prove/validate/columns.inc"

#include <stdlib.h>
#include <unistd.h>

/* In the order of reports. */
static const char *const names[] = {"amx-timing.csv",  "cpu-mem-timing.csv", "gpu-timing.csv",
                                    "hw-measured.csv", "ane-measured.csv",   "power.csv"};

char *validation_shipped_path(const char *name, struct orch_error *error)
{
    static const char *const places[] = {ORCHARD_SOURCE_DIR "/sim/prove/tables", ORCHARD_DATA_DIR "/tables"};
    for (size_t i = 0; i < ARRAY_COUNT(places); i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s", places[i], name) < 0) {
            orch_no_memory(error);
            return NULL;
        }
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    orch_fail(error, ORCH_USAGE, "%s is not where orchard was built or installed: %s, %s", name, places[0], places[1]);
    return NULL;
}

bool validation_add_shipped(struct validation *v, struct orch_error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < ARRAY_COUNT(names); i++) {
        char *const path = validation_shipped_path(names[i], error);
        ok = path && validation_add_file(v, path, error);
        free(path);
    }
    return ok;
}

const struct validation_column *validation_column_at(size_t index)
{
    static const struct validation_column columns[] = {
#define X(name, unit, values, text) {name, unit, values, text},
        VALIDATE_COLUMNS(X)
#undef X
    };
    return index < ARRAY_COUNT(columns) ? &columns[index] : NULL;
}

const char validation_columns_help[] =
#define X(name, unit, values, text) "  " name "  [" values "]\n      " text "\n"
    VALIDATE_COLUMNS(X)
#undef X
    ;

void validation_write_template(FILE *out)
{
    for (size_t i = 0; validation_column_at(i); i++)
        fprintf(out, "%s%s", i ? "," : "", validation_column_at(i)->name);
    fputc('\n', out);
}
