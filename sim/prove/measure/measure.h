/* Measurements of one's own on a real Mac: the steps to run there, and its answers as a table that validate and calibrate take.
 *
 *     struct measure_case cases[] = {{"amx", "f32", 512, 512, 512}};
 *     bool ok = measure_write(cases, 1, "folder", &error);            // there: sh run.sh, which writes result.csv
 *     struct measure_rows *rows = measure_read("result.csv", chips, NULL, &error);
 */
#ifndef ORCHARD_SIM_PROVE_MEASURE_H
#define ORCHARD_SIM_PROVE_MEASURE_H

#include "sim/base/error.h"
#include "sim/chip/chip.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { MEASURE_CASES = 256, MEASURE_SIZE = 8192 /* rows, columns or depth of a product */ };
#define MEASURE_BYTES (UINT64_C(1) << 32) /* of an operand of a stream, at most */

struct measure_case {
    char unit[4], precision[8], kernel[16];
    unsigned m, n, k; /* of a product */
    uint64_t bytes;   /* of each operand of a stream; 0 = a product */
};

/* Reads "gemm:MxNxK" (on the GPU also with the tile that its steps have), "copy:BYTES", "stream-triad:BYTES" ... on the GPU, for
 * an element type. What the steps cannot measure is refused with the reason. */
bool measure_case_read(const char *workload, const char *unit, const char *precision, struct measure_case *to,
                       struct orch_error *error);

/* Writes a folder with everything that the Mac needs; makes it where it is missing. A folder that holds anything else is left
 * alone. */
bool measure_write(const struct measure_case *cases, size_t count, const char *folder, struct orch_error *error);

/* One row of the answer: the median of all passes of a case. */
struct measure_row {
    char chip[32], chip_id[64], family[4], gpu_cores[8], os[48];
    char unit[8], workload[64], precision[8];
    unsigned passes;
    double seconds, least, most;
    unsigned line; /* of its first pass */
};
struct measure_rows {
    struct measure_row *row;
    size_t count;
    char (*fault)[512]; /* what is wrong with the file, line by line */
    size_t faults;
};
/* Reads result.csv, or its text under that name. `chip_id` names the chip (NULL = by the machine's name and cores). NULL, with
 * *error, when the file is no result; rows with faults are left out and told. Free with measure_rows_free. */
struct measure_rows *measure_read(const char *path, const struct chip_db *db, const char *chip_id, struct orch_error *error);
struct measure_rows *measure_parse(const char *name, const char *text, size_t bytes, const struct chip_db *db,
                                   const char *chip_id, struct orch_error *error);
void measure_rows_free(struct measure_rows *rows);
/* Writes them as a table of validate --template. */
void measure_rows_write(const struct measure_rows *rows, FILE *out);

#endif
