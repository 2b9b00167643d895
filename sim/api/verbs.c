#include "sim/api/verbs.h"

#include "isa/array_count.h"
#include "sim/base/suggest.h"

#include <string.h>

/* Every verb, in the order of the help; each is the row `verb_NAME` of the file verb_NAME.c. */
/* clang-format off */
#define VERBS(X) \
    X(run) \
    X(build) \
    X(compile) \
    X(sweep) \
    X(whatif) \
    X(explain) \
    X(compare) \
    X(report) \
    X(kernel) \
    X(kernels) \
    X(model) \
    X(models) \
    X(bench_llm) \
    X(loadtest) \
    X(serve) \
    X(validate) \
    X(tune) \
    X(calibrate) \
    X(measure) \
    X(regress) \
    X(chips) \
    X(capabilities) \
    X(isa) \
    X(thermal) \
    X(db) \
    X(trace) \
    X(examples) \
    X(schema) \
    X(doctor)
/* clang-format on */

#define X(name) extern const struct api_verb verb_##name;
VERBS(X)
#undef X

static const struct api_verb *const verbs[] = {
#define X(name) &verb_##name,
    VERBS(X)
#undef X
};

const struct api_verb *verb_at(size_t index)
{
    return index < ARRAY_COUNT(verbs) ? verbs[index] : NULL;
}

const struct api_verb *verb_find(const char *name, struct orch_error *error)
{
    char hint[96];
    struct suggest s;
    suggest_start(&s, name);
    for (size_t i = 0; i < ARRAY_COUNT(verbs); i++) {
        if (strcmp(verbs[i]->help.name, name) == 0)
            return verbs[i];
        suggest_offer(&s, verbs[i]->help.name);
    }
    suggest_phrase(&s, hint, sizeof hint);
    orch_fail(error, ORCH_USAGE, "unknown command '%.60s'%s", name,
              *hint ? hint : " (orchard " ORCH_OPTION("help") " lists them)");
    return NULL;
}
