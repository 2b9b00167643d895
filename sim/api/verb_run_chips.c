#include "sim/api/verb_run_chips.h"

#include <stdlib.h>
#include <string.h>

/* Says which chip it was, unless the error names it. */
static void tell(struct api_context *context, const struct chip *chip, const struct orch_error *error)
{
    if (strstr(error->plain, chip_id(chip)))
        api_warn(context, "%s", error->plain);
    else
        api_warn(context, "%s: %s", chip_id(chip), error->plain);
}

bool verb_run_each_chip(struct api_context *context, const struct api_chips *chips,
                        bool (*ask)(void *question, const struct chip *chip, struct orch_error *error), void *question,
                        struct orch_error *error)
{
    struct orch_error *const left_out = calloc(chips->count, sizeof *left_out);
    size_t answers = 0, first = chips->count;
    bool ok = left_out || orch_no_memory(error);
    for (size_t i = 0; ok && i < chips->count; i++) {
        if (ask(question, chips->chip[i], &left_out[i])) {
            answers++;
            continue;
        }
        first = first < i ? first : i;
        ok = api_leaves_out(&left_out[i]);
        if (!ok)
            *error = left_out[i];
    }
    if (ok && answers == 0 && first < chips->count) {
        *error = left_out[first];
        ok = false;
    }
    for (size_t i = 0; ok && i < chips->count; i++)
        if (left_out[i].exit_code)
            tell(context, chips->chip[i], &left_out[i]);
    free(left_out);
    return ok;
}
