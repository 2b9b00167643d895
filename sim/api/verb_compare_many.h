/* Of the verb compare: more than two runs. */
#ifndef ORCHARD_SIM_API_VERB_COMPARE_MANY_H
#define ORCHARD_SIM_API_VERB_COMPARE_MANY_H

#include "sim/api/api.h"
#include "sim/report/report_run.h"

/* Says how the runs stand to the fastest of them, with the interval of the ratio, as a document or as text. */
void verb_compare_many(struct api_context *context, const struct report_run *runs, size_t count);

#endif
