#include "sim/serve/exposition.h"

#include <math.h>

void exposition_head(struct text *to, const char *name, const char *type, const char *help)
{
    text_printf(to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void exposition_value(struct text *to, const char *name, const char *labels, double value)
{
    text_printf(to, "%s%s%s%s ", name, *labels ? "{" : "", labels, *labels ? "}" : "");
    text_printf(to, isnan(value) ? "NaN\n" : "%.15g\n", value);
}

void exposition_label(struct text *to, const char *name, const char *value)
{
    struct text clean = {.data = NULL};
    text_clean(&clean, value);
    text_printf(to, "%s=\"", name);
    for (size_t i = 0; i < clean.size; i++) {
        if (clean.data[i] == '\\' || clean.data[i] == '"')
            text_put(to, "\\");
        text_bytes(to, &clean.data[i], 1);
    }
    text_put(to, "\"");
    to->failed |= clean.failed;
    text_free(&clean);
}
