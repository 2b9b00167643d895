/* What was measured on the chips that claims are asked of. */
#include "sim/report/claims_internal.h"

#include <math.h>

static const char *text_of(json_object *o, const char *name)
{
    json_object *value = NULL;
    return o && json_object_object_get_ex(o, name, &value) ? json_object_get_string(value) : NULL;
}

void claim_find_measured(const struct claims_asker *asker, json_object *measured, json_object *run, struct claim_answer *a)
{
    const char *const chip = text_of(run, "chip");
    const struct claim_measurement wanted = {text_of(measured, "workload"), text_of(measured, "precision"),
                                             text_of(measured, "shape"), text_of(measured, "unit")};
    a->measured = NAN;
    if (asker->measured && wanted.workload && wanted.precision && wanted.unit && chip &&
        !asker->measured(asker->context, &wanted, chip, &a->measured, a->measured_row, sizeof a->measured_row))
        a->measured = NAN;
}
