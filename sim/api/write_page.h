/* Of verbs that make pages: writing one, or a figure of it. */
#ifndef ORCHARD_SIM_API_WRITE_PAGE_H
#define ORCHARD_SIM_API_WRITE_PAGE_H

#include "reports/page.h"
#include "sim/api/api.h"

/* To the file of the option "output" ("-" = the text output), else to NAME.html, or NAME.svg with the option "figure". */
bool verb_write_page(struct api_context *context, struct page *page, const char *name, struct orch_error *error);

#endif
