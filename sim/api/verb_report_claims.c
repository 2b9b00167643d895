#include "sim/api/verb_report_claims.h"

#include "sim/base/table.h"
#include "sim/report/claims.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct asker {
    struct api_context *context;
    struct orchard_session session;
};

/* Questions are those of the command line, in the database of this one. */
static json_object *ask(void *context, const char *verb, const char *workload, const char *const *options, char *why, size_t size)
{
    struct asker *const a = context;
    const char *const words[] = {workload, NULL};
    struct orchard_answer *answer = NULL;
    struct orchard_error error;
    orchard_ask(&a->session, verb, words, options, &answer, &error);
    const char *const text = answer ? orchard_answer_json(answer) : NULL;
    json_object *const document = text ? json_tokener_parse(text) : NULL;
    if (!document)
        snprintf(why, size, "%s", error.text);
    orchard_answer_free(answer);
    return document;
}

static void progress(void *context, size_t done, size_t all)
{
    const struct asker *const a = context;
    const struct orchard_progress p = {
        .line = "claims", .fraction = NAN, .done = (double)done, .all = (double)all, .host_seconds = NAN};
    api_progress(a->context, &p);
}

static void print(struct api_context *context, const struct claims *c)
{
    static const struct table_column columns[] = {
        {"claim", NULL, false, 60}, {"chip", NULL, false, 0}, {"verdict", NULL, false, 0}, {"reason", NULL, false, 110}};
    struct table *const t = table_create(columns, 4);
    for (size_t i = 0; i < claims_count(c); i++) {
        const struct claim *const one = claims_at(c, i);
        for (size_t k = 0; k < one->answers; k++) {
            table_row(t);
            table_cell(t, "%s", one->text);
            table_cell(t, "%s", *one->answer[k].chip ? one->answer[k].chip : "-");
            table_cell(t, "%s", claim_verdict_name(one->answer[k].verdict));
            table_cell(t, "%s", one->answer[k].reason);
        }
    }
    api_table(context, t);
    fprintf(context->out, "%zu plausible, %zu implausible, %zu not modelled\n", claims_with(c, CLAIM_PLAUSIBLE),
            claims_with(c, CLAIM_IMPLAUSIBLE), claims_with(c, CLAIM_NOT_MODELLED));
}

bool verb_report_claims(struct api_context *context, struct page **page, struct orch_error *error)
{
    char db[4096], threads[40], seed[40];
    const struct api_common *const common = &context->common;
    const char *const options[] = {"quiet", threads, seed, common->db ? db : NULL, NULL};
    snprintf(db, sizeof db, "db=%s", common->db ? common->db : "");
    snprintf(threads, sizeof threads, "threads=%u", (unsigned)common->threads);
    snprintf(seed, sizeof seed, "seed=%llu", (unsigned long long)common->seed);
    struct asker a = {.context = context, .session = {.options = options, .dashes = true}};
    const struct claims_asker asker = {&a, ask, progress};
    struct claims *const c = claims_open(NULL, api_value(&context->args, "only"), error);
    const bool ok = c && claims_ask(c, &asker, error) && claims_page(c, orchard_version(), page, error);
    api_progress(context, &(struct orchard_progress){.fraction = NAN, .host_seconds = NAN});
    if (ok && api_wants_document(context))
        api_document(context, claims_document(c));
    if (ok && api_wants_text(context))
        print(context, c);
    claims_close(c);
    return ok;
}
