/* Loops and chases are written as rows of the tables that `orchard validate` reads, and measured by its programs. */
#include "isa/array_count.h"
#include "sim/base/json_read.h"
#include "sim/prove/regress/measure.h"
#include "sim/prove/validate/soc_runner.h"
#include "sim/prove/validate/validate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns of the tables of published figures; the value only has to be present. */
static const struct table {
    const char *name, *columns;
} tables[] = {
    [REGRESS_AMX_LOOP] = {"amx", "id,chip,instruction_or_kernel,condition,value,unit,kind,source,chip_id"},
    [REGRESS_CPU_LOOP] = {"cpu", "id,chip_or_core,item,value,unit,kind,source,note,chip_id"},
    [REGRESS_GPU_LOOP] = {"gpu", "id,category,item,scope,value,unit,raw_latency_min_cycles,kind,source,note,chip_id"},
};
enum { TABLES = ARRAY_COUNT(tables) };

static void write_row(FILE *out, const struct regress_metric *m, const char *chip)
{
    const struct regress_program *const p = m->program;
    switch (p->way) {
    case REGRESS_AMX_LOOP:
        fprintf(out, "%s,%s,\"%s\",\"%s\",1,%s,measured,regress,%s\n", m->name, chip, p->what, p->detail, p->unit, chip);
        break;
    case REGRESS_CPU_LOOP:
        fprintf(out, "%s,%s,\"%s\",1,%s,measured,regress,,%s\n", m->name, p->detail, p->what, p->unit, chip);
        break;
    case REGRESS_GPU_LOOP:
        fprintf(out, "%s,%s,\"%s\",%s,1,%s,,measured,regress,,%s\n", m->name, p->detail, p->what, chip, p->unit, chip);
        break;
    default: break;
    }
}

/* *rows counts the rows of this table that are wanted. */
static bool add_table(struct validation *v, unsigned way, const struct regress_job *job, size_t *rows, struct orch_error *error)
{
    struct regress_metric m;
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    if (!out)
        return orch_no_memory(error);
    *rows = 0;
    fprintf(out, "%s\n", tables[way].columns);
    for (size_t i = 0; regress_metric_at(i, &m); i++) {
        if (!job->value[i].wanted || m.program->way != way)
            continue;
        write_row(out, &m, job->chip);
        (*rows)++;
    }
    const bool ok =
        fclose(out) == 0 ? !*rows || validation_add_text(v, tables[way].name, text, size, error) : orch_no_memory(error);
    free(text);
    return ok;
}

static struct regress_value *value_named(struct regress_job *job, const char *name)
{
    struct regress_metric m;
    for (size_t i = 0; regress_metric_at(i, &m); i++)
        if (strcmp(m.name, name) == 0)
            return &job->value[i];
    return NULL;
}

static void take_rows(struct regress_job *job, json_object *rows, bool modelled)
{
    for (size_t i = 0; rows && i < json_object_array_length(rows); i++) {
        json_object *const row = json_object_array_get_idx(rows, i);
        struct regress_value *const value = value_named(job, json_peek_string(row, "id"));
        if (value && modelled)
            value->value = json_peek_number(row, "predicted", 0);
        else if (value)
            regress_refuse(value, json_peek_string(row, "why"));
    }
}

static bool predict(const struct regress_worker *worker, struct regress_job *job, struct validation *v, struct orch_error *error)
{
    struct soc_runner *const runner = soc_runner_create(worker->chips, &job->sets, NULL);
    if (!runner)
        return orch_no_memory(error);
    const struct validate_runner hook = soc_runner_hook(runner);
    json_object *const document = validation_run(v, &hook, error) ? validation_json(v, NULL, error) : NULL;
    if (document) {
        take_rows(job, json_peek(document, "rows_detail", json_type_array), true);
        take_rows(job, json_peek(document, "unmodelled", json_type_array), false);
    }
    json_object_put(document);
    soc_runner_free(runner);
    return document != NULL;
}

bool regress_measure_loops(const struct regress_worker *worker, struct regress_job *job, struct orch_error *error)
{
    struct validation *const v = validation_create();
    bool ok = v || orch_no_memory(error);
    size_t rows = 0, all = 0;
    for (unsigned way = 0; ok && way < TABLES; way++) {
        ok = add_table(v, way, job, &rows, error);
        all += rows;
    }
    ok = ok && (!all || predict(worker, job, v, error));
    validation_free(v);
    return ok;
}
