/* The verb trace, replay: the same launches on another chip. */
#include "sim/api/record.h"
#include "sim/api/verb_trace.h"

#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/listen/run_json.h"
#include "sim/trace/trace_replay.h"

#include <inttypes.h>
#include <math.h>

struct session {
    struct api_context *context;
    struct trace_replay_request request;
    struct api_record record;
    json_object *rows;
    uint64_t number;
};

struct subject {
    const struct trace_replay_request *request;
    struct trace_replay_account *account;
};

static bool execute(void *context, struct event_bus *bus, uint64_t number, struct run_result *result, struct orch_error *error)
{
    const struct subject *s = context;
    return trace_replay(s->request, bus, number, result, s->account, error);
}

static json_object *document(const struct session *s, const struct run_result *r, const struct trace_replay_account *a)
{
    json_object *j = run_json(r, NULL), *replay = json_object_new_object();
    json_add_text(replay, "trace", s->request.path);
    json_add_text(replay, "timing", s->request.timing == TRACE_TIMING_ARRIVAL ? "arrival" : "dependency");
    json_add_text(replay, "how", a->again ? "run again as recorded" : "launch by launch");
    json_add_number(replay, "launches", (double)a->launches);
    json_add_number(replay, "kernels", (double)a->works[0]);
    json_add_number(replay, "estimates", (double)a->works[1]);
    json_add_number(replay, "no_work", (double)a->works[2]);
    json_add_number(replay, "kernel_seconds", a->again ? (double)NAN : a->seconds[0]);
    json_add_number(replay, "estimate_seconds", a->again ? (double)NAN : a->seconds[1]);
    json_add_number(replay, "distinct_kernels", a->again ? (double)NAN : (double)a->distinct);
    json_add_number(replay, "recorded_seconds", a->recorded_seconds > 0 ? a->recorded_seconds : (double)NAN);
    json_add_text(replay, "missing", a->missing[0] ? a->missing : NULL);
    json_object_object_add(j, "replay", replay);
    return j;
}

static void print_account(const struct session *s, const struct run_result *r, const struct trace_replay_account *a)
{
    FILE *out = s->context->out;
    char text[FORMAT_SIZE], other[FORMAT_SIZE];
    fprintf(out, "\nreplayed %s", s->request.path);
    if (a->again) {
        fprintf(out, ": the recorded workload, run again");
    } else {
        fprintf(out, ": %" PRIu64 " launches, %" PRIu64 " by kernels (%s, %" PRIu64 " different), ", a->launches, a->works[0],
                format_si(text, a->seconds[0], "s"), a->distinct);
        fprintf(out, "%" PRIu64 " by copies of their bytes (%s), %" PRIu64 " without work", a->works[1],
                format_si(other, a->seconds[1], "s"), a->works[2]);
    }
    if (a->recorded_seconds > 0)
        fprintf(out, "; recorded %s, now %.4g times that", format_si(text, a->recorded_seconds, "s"),
                r->seconds / a->recorded_seconds);
    fputc('\n', out);
    if (a->missing[0])
        fprintf(out, "  without a kernel: %s\n", a->missing);
}

static bool one_chip(struct session *s, const struct chip *chip, struct orch_error *error)
{
    struct run_result result;
    struct trace_replay_account account;
    struct api_context *c = s->context;
    s->request.chip = chip;
    s->request.chip_name = chip_id(chip);
    run_result_init(&result);
    struct subject subject = {&s->request, &account};
    bool ok = api_record_run(&s->record, chip, execute, &subject, ++s->number, &result, error);
    if (ok && api_wants_document(c))
        json_object_array_add(s->rows, document(s, &result, &account));
    if (ok && api_wants_text(c)) {
        ok = api_summary(c, &result, 4, 8, error);
        if (ok)
            print_account(s, &result, &account);
    }
    run_result_free(&result);
    return ok;
}

static bool read_request(struct session *s, const char *path, struct orch_error *error)
{
    const struct api_args *a = &s->context->args;
    const struct api_common *common = &s->context->common;
    unsigned timing = TRACE_TIMING_DEPENDENCY;
    s->request = (struct trace_replay_request){.path = path,
                                               .force = api_has(a, "force"),
                                               .unit = api_value(a, "unit"),
                                               .db = NULL,
                                               .chips = api_chip_db(s->context, error),
                                               .sets = {common->sets, common->set_count},
                                               .common = {.threads = common->threads, .seed = common->seed}};
    if (!s->request.chips || !api_chosen(a, "timing", "dependency|arrival", &timing, error) || !api_unit_is_known(a, error) ||
        !api_unsigned(a, "run", 1, UINT64_MAX, &s->request.run, error))
        return false;
    s->request.timing = (enum trace_timing)timing;
    s->record = (struct api_record){.context = s->context, .db = db_open(common->db, DB_WRITE, error)};
    s->request.db = s->record.db;
    s->rows = json_object_new_array();
    return s->record.db != NULL;
}

int verb_trace_replay(struct api_context *context, const char *path)
{
    struct session s = {.context = context};
    struct orch_error error = {0};
    struct api_chips chips = {0};
    bool ok = read_request(&s, path, &error) && api_chips_open(context, NULL, &chips, &error);
    for (size_t i = 0; ok && i < chips.count; i++)
        ok = one_chip(&s, chips.chip[i], &error);
    if (ok && api_wants_document(context))
        api_documents(context, json_object_get(s.rows));
    json_object_put(s.rows);
    db_close(s.record.db);
    api_chips_close(&chips);
    return ok ? ORCH_OK : api_fail(context, &error);
}
