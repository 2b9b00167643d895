/* Arbitrary bytes as the result of measure: refused, or rows with finite medians between their ends, and one line for each fault.
 */
#include "sim/prove/measure/measure.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct chip_db *db;
    struct orch_error error = {0};
    if (!db && !(db = chip_db_open(NULL, &error)))
        abort();
    struct measure_rows *const rows = measure_parse("result.csv", (const char *)data, size, db, "m1", &error);
    if (!rows && (error.exit_code == 0 || !*error.text || strchr(error.text, '\n')))
        abort();
    for (size_t i = 0; rows && i < rows->count; i++) {
        const struct measure_row *const m = &rows->row[i];
        if (!isfinite(m->seconds) || m->seconds < m->least || m->seconds > m->most || m->least <= 0 || !m->passes)
            abort();
    }
    for (size_t i = 0; rows && i < rows->faults; i++)
        if (strchr(rows->fault[i], '\n') || !strstr(rows->fault[i], ":"))
            abort();
    measure_rows_free(rows);
    return 0;
}
