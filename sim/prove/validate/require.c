#include "sim/prove/validate/require.h"

#include "isa/array_count.h"
#include "sim/base/suggest.h"
#include "sim/prove/validate/validation.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Names as in the JSON document. */
static const struct {
    const char *name;
    size_t offset;
} values[] = {
    {"mape", offsetof(struct score, mape)},
    {"median_ape", offsetof(struct score, median_ape)},
    {"p90_ape", offsetof(struct score, p90_ape)},
    {"symmetric_error", offsetof(struct score, symmetric)},
    {"bias", offsetof(struct score, bias)},
    {"within10", offsetof(struct score, within10)},
    {"within25", offsetof(struct score, within25)},
    {"spearman", offsetof(struct score, spearman)},
    {"interval_coverage", offsetof(struct score, interval_coverage)},
    {"interval_coverage_across_sources", offsetof(struct score, cross_coverage)},
};

static bool find_value(const struct score *score, const char *name, size_t length, double *value, struct orch_error *error)
{
    struct suggest s;
    char text[64], phrase[96];
    snprintf(text, sizeof text, "%.*s", (int)(length < 60 ? length : 60), name);
    suggest_start(&s, text);
    for (size_t i = 0; i < ARRAY_COUNT(values); i++) {
        if (strcmp(values[i].name, text) == 0) {
            memcpy(value, (const char *)score + values[i].offset, sizeof *value);
            return true;
        }
        suggest_offer(&s, values[i].name);
    }
    return orch_fail(error, ORCH_USAGE, ORCH_OPTION("require") ": no score is called '%s'%s", text,
                     suggest_phrase(&s, phrase, sizeof phrase));
}

/* Checks one bound and moves *at past it. */
static bool check(const struct score *score, const char **at, char *missed, size_t size, struct orch_error *error)
{
    const size_t name = strcspn(*at, "<>,");
    const char sign = (*at)[name];
    double value;
    char *end;
    if (sign != '<' && sign != '>')
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("require") " %.60s: expected NAME<NUMBER or NAME>NUMBER", *at);
    if (!find_value(score, *at, name, &value, error))
        return false;
    const double bound = strtod(*at + name + 1, &end);
    if (end == *at + name + 1 || (*end != '\0' && *end != ','))
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("require") " %.60s: not a number behind '%c'", *at, sign);
    if (!(sign == '<' ? value < bound : value > bound)) {
        const size_t used = strlen(missed);
        snprintf(missed + used, size - used, "%s%.*s is %.4g, not %c %.4g", used ? "; " : "", (int)name, *at, value, sign, bound);
    }
    *at = *end ? end + 1 : end;
    return true;
}

bool validation_require(const struct validation *v, const char *bounds, struct orch_error *error)
{
    struct validation_groups groups;
    char missed[400] = "";
    if (!validation_group_rows(v, "chip", &groups, error))
        return false;
    bool ok = true;
    for (const char *at = bounds; ok && *at;)
        ok = check(&groups.all.score, &at, missed, sizeof missed, error);
    validation_groups_free(&groups);
    return ok && (!*missed || orch_fail(error, ORCH_FAILED, "%s", missed));
}
