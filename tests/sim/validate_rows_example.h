/* A table of measurements, the programs of its rows, and a runner that says one microsecond for each of them. */
#ifndef ORCHARD_TESTS_SIM_VALIDATE_ROWS_EXAMPLE_H
#define ORCHARD_TESTS_SIM_VALIDATE_ROWS_EXAMPLE_H

#include "sim/prove/validate/csv.h"
#include "sim/prove/validate/row.h"
#include "tests/sim/chip_example.h"
#include "tests/support/suite.h"

#include <json-c/json.h>
#include <math.h>
#include <string.h>

#define EXAMPLE_ROW_KEYS "chip,instruction_or_kernel,condition,value,unit,kind,source,chip_id\n"

static const char example_table[] =
    EXAMPLE_ROW_KEYS "M1 Max,fma32 in matrix mode Z=f32[16][16],\"1 thread(s), 3 Z accumulators per "
                     "thread\",1000,GFLOPS,measured,one,m1_max_8p2e_32g\n"
                     "M1 Max,set + clr,Single P-core,8.31,ns per instruction,measured,github eugenehp/amx-rs "
                     "x,m1_max_8p2e_32g\n"
                     "M1 Max,\"vecfp XY=f64[8] Z=f64[8]\",\"2 thread(s), 9 Z accumulators per "
                     "thread\",170,GFLOPS,measured,two,m1_max_8p2e_32g\n"
                     "M1 Max,AMX power,all,12,W,measured,two,m1_max_8p2e_32g\n"
                     "M1 Max,fma64 matrix (8×8),Single P-core,1,GHz,guess,two,m1_max_8p2e_32g\n"
                     "M1 Pro,sgemm Accelerate,\"N=64 square\",741,GFLOPS,measured,three,m1_pro_8p2e_16g\n"
                     "M4 Pro (virtual machine),sgemm Accelerate,N=32,277,GFLOPS,measured,three,\n";

static inline struct csv_table *example_table_parse(const char *text, struct orch_error *error)
{
    *error = (struct orch_error){0};
    return csv_parse("t.csv", text, strlen(text), error);
}

/* Every program takes 1 microsecond on each thread. */
static inline bool example_one_microsecond(void *context, const struct validate_program *program, struct validate_timing *result,
                                           struct orch_error *error)
{
    (void)error;
    ++*(unsigned *)context;
    *result = (struct validate_timing){.seconds = 1e-6, .threads = program->threads ? program->threads : 4};
    for (unsigned i = 0; i < result->threads; i++)
        result->thread_seconds[i] = 1e-6, result->thread_cycles[i] = 3000;
    return true;
}

static inline struct validation *example_validated(const char *text)
{
    struct orch_error error = {0};
    unsigned runs = 0;
    struct validation *v = validation_create();
    struct chip_db *db = example_chips();
    CHECK(validation_find_fitted(v, db, &error), "%s", error.text);
    chip_db_close(db);
    CHECK(validation_add_text(v, "some/where/t.csv", text, strlen(text), &error), "%s", error.text);
    CHECK(validation_run(v, &(struct validate_runner){example_one_microsecond, &runs, NULL}, &error), "%s", error.text);
    return v;
}

static inline double json_number(struct json_object *o, const char *key)
{
    struct json_object *value = NULL;
    return json_object_object_get_ex(o, key, &value) && value ? json_object_get_double(value) : NAN;
}

static inline const char *json_text(struct json_object *o, const char *key)
{
    struct json_object *value = NULL;
    return json_object_object_get_ex(o, key, &value) && value ? json_object_get_string(value) : "(null)";
}

static inline struct json_object *json_member(struct json_object *o, const char *key)
{
    struct json_object *value = NULL;
    CHECK(json_object_object_get_ex(o, key, &value), "no key %s", key);
    return value;
}

static inline struct validate_program example_plan_row(const char *text, size_t number)
{
    struct orch_error error;
    struct validate_program program = {0};
    struct csv_table *t = example_table_parse(text, &error);
    struct validate_row row;
    validate_row_read(&row, t, "t", number);
    CHECK(validate_plan(&row, &program), "row %zu: %s", number, row.why);
    csv_free(t);
    return program;
}

#endif
