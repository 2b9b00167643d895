/* The text format of Prometheus (0.0.4), a line at a time. */
#ifndef ORCHARD_SIM_SERVE_EXPOSITION_H
#define ORCHARD_SIM_SERVE_EXPOSITION_H

#include "reports/text.h"

/* The two lines before the values of a metric. */
void exposition_head(struct text *to, const char *name, const char *type, const char *help);
/* `labels` is what stands between the braces; "" = none. */
void exposition_value(struct text *to, const char *name, const char *labels, double value);
/* name="value": backslash and quote are escaped, control characters become blanks. */
void exposition_label(struct text *to, const char *name, const char *value);

#endif
