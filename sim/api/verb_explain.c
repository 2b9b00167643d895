/* The verb explain: says why a recorded run took as long as it did. */
#include "sim/api/api.h"
#include "sim/db/db.h"
#include "sim/listen/profile_text.h"
#include "sim/run/run_explain.h"

#include <string.h>

/* The roofline needs the chip and the shape again. The file of a program may be gone by now; then the roofline is left out. */
static void explain(struct api_context *context, const struct run_result *r)
{
    struct orch_error ignored = {0};
    struct run *run = NULL;
    struct chip *chip = api_chip_db(context, &ignored) ? chip_open(context->chip_db, r->chip, NULL, &ignored) : NULL;
    const struct run_request request = {.chip = chip, .workload = r->workload, .precision = r->precision};
    if (chip)
        run = run_prepare(&request, &ignored);
    run_explain(context->out, run, r);
    run_free(run);
    if (chip)
        chip_close(chip);
}

static bool show(struct api_context *context, const char *text, struct orch_error *error)
{
    struct run_result result;
    int64_t id = 0;
    struct orch_db *db = db_open(context->common.db, DB_READ, error);
    run_result_init(&result);
    bool ok = db && db_resolve_run(db, text, &id, error) && db_read_run(db, id, &result, error);
    ok = ok && api_summary(context, &result, 64, 8, error);
    if (ok)
        explain(context, &result);
    ok = ok && (!result.profile || profile_print(context->out, result.profile, result.chip, false) || orch_no_memory(error));
    run_result_free(&result);
    db_close(db);
    return ok;
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    if (words > 1)
        return api_usage(context, "one run, got '%s' and more", word[0]);
    return show(context, words ? word[0] : "last", &error) ? ORCH_OK : api_fail(context, &error);
}

const struct api_verb verb_explain = {
    .help =
        {
            .name = "explain",
            .synopsis = "[RUN]",
            .summary = "why a recorded run took as long as it did",
            .text = "RUN is the number of a run, the beginning of its uid, or last (default).",
            .examples = "orchard explain\n"
                        "orchard explain 2",
        },
    .ask = ask,
};
