#include "sim/ask/sweep/sweep_answer.h"

#include "sim/base/suggest.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
#define X(name) #name,
    DB_SWEEP_VALUE_TABLE(X)
#undef X
};

static const size_t offsets[] = {
#define X(name) offsetof(struct run_result, name),
    DB_SWEEP_VALUE_TABLE(X)
#undef X
};

static const struct run_number_field *field_of(enum sweep_response response)
{
    for (size_t i = 0; i < run_number_field_count(); i++)
        if (run_number_field(i)->offset == offsets[response])
            return run_number_field(i);
    return NULL;
}

const char *sweep_response_name(enum sweep_response response)
{
    return names[response];
}

const char *sweep_response_unit(enum sweep_response response)
{
    const struct run_number_field *const field = field_of(response);
    return field ? field->unit : "";
}

int sweep_response_better(enum sweep_response response)
{
    const struct run_number_field *const field = field_of(response);
    return field ? field->higher_is_better : -1;
}

bool sweep_response_find(const char *name, enum sweep_response *response, struct orch_error *error)
{
    struct suggest nearest;
    char phrase[160];
    suggest_start(&nearest, name);
    for (unsigned r = 0; r < SWEEP_RESPONSE_COUNT; r++) {
        *response = (enum sweep_response)r;
        if (strcmp(names[r], name) == 0)
            return true;
        suggest_offer(&nearest, names[r]);
    }
    return orch_fail(error, ORCH_USAGE, "unknown response '%.60s'%s", name, suggest_phrase(&nearest, phrase, sizeof phrase));
}

const char *sweep_status_name(enum sweep_status status)
{
    static const char *const text[] = {"open", "done", "failed"};
    return text[status];
}

const char *sweep_method_name(enum sweep_method method)
{
    static const char *const text[] = {"simulated", "known", "interpolated"};
    return text[method];
}

void sweep_answer_init(struct sweep_answer *answer)
{
    *answer = (struct sweep_answer){.status = SWEEP_OPEN, .expected_error = NAN};
    for (unsigned r = 0; r < SWEEP_RESPONSE_COUNT; r++)
        answer->response[r] = NAN;
}

void sweep_answer_from_run(struct sweep_answer *answer, const struct run_result *result)
{
    for (unsigned r = 0; r < SWEEP_RESPONSE_COUNT; r++)
        memcpy(&answer->response[r], (const char *)result + offsets[r], sizeof(double));
    snprintf(answer->bound_by, sizeof answer->bound_by, "%s", result->bound_by ? result->bound_by : "");
}

static enum sweep_method method_of(const char *name)
{
    for (int m = 0; name && m < SWEEP_METHOD_COUNT; m++)
        if (strcmp(name, sweep_method_name((enum sweep_method)m)) == 0)
            return (enum sweep_method)m;
    return SWEEP_SIMULATED;
}

void sweep_answer_from_row(struct sweep_answer *answer, const struct db_sweep_point *row)
{
    sweep_answer_init(answer);
    answer->status = strcmp(row->status, "done") == 0 ? SWEEP_DONE : SWEEP_FAILED;
    answer->method = method_of(row->method);
    answer->expected_error = row->expected_error;
    memcpy(answer->response, row->value, sizeof row->value);
    snprintf(answer->bound_by, sizeof answer->bound_by, "%s", row->bound_by ? row->bound_by : "");
    snprintf(answer->error, sizeof answer->error, "%s", row->error ? row->error : "");
}
