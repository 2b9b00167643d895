/* Of the verb report: claims, asked anew. */
#ifndef ORCHARD_SIM_API_VERB_REPORT_CLAIMS_H
#define ORCHARD_SIM_API_VERB_REPORT_CLAIMS_H

#include "reports/page.h"
#include "sim/api/api.h"

/* Asks all claims, says what came of them as a document or as text, and makes the page. */
bool verb_report_claims(struct api_context *context, struct page **page, struct orch_error *error);

#endif
