/* All points of a sweep, to choose from by ranges of keys and responses. */
#include "isa/array_count.h"
#include "sim/base/format.h"
#include "sim/report/sweep_parts.h"

#include <string.h>

enum { KEY_TEXT = 64 };

static const struct {
    enum sweep_response response;
    struct result_column column;
} responses[] = {
    {SWEEP_seconds, {"time", "s", true}},
    {SWEEP_joules, {"energy", "J", true}},
    {SWEEP_celsius_max, {"hottest", "degC", true}},
};

/* Responses that no point has would be empty axes. */
static bool has(const struct sweep_data *data, size_t workload, enum sweep_response response)
{
    for (size_t i = 0; i < data->point_count; i++)
        if (sweep_counts(data, &data->point[i], workload, response))
            return true;
    return false;
}

static void add_row(struct result_table *t, const struct sweep_data *data, const struct sweep_point *p, const bool *used)
{
    char value[KEY_TEXT];
    for (size_t k = 0; k < data->spec->key_count; k++) {
        const char *const text = sweep_value_text(data, p, k, value, sizeof value);
        if (data->spec->key[k].numeric)
            result_table_number(t, p->value[k], text);
        else
            result_table_text(t, text);
    }
    for (size_t i = 0; i < ARRAY_COUNT(responses); i++)
        if (used[i])
            result_table_number(t, p->answer.response[responses[i].response], NULL);
    result_table_text(t, *p->answer.bound_by ? p->answer.bound_by : NULL);
}

bool sweep_part_brush(struct page *page, const struct sweep_data *data, size_t workload)
{
    struct result_column columns[SWEEP_KEYS_MAX + ARRAY_COUNT(responses) + 1];
    bool used[ARRAY_COUNT(responses)];
    size_t count = 0;
    for (size_t k = 0; k < data->spec->key_count; k++)
        columns[count++] = (struct result_column){data->spec->key[k].name, NULL, data->spec->key[k].numeric};
    for (size_t i = 0; i < ARRAY_COUNT(responses); i++) {
        used[i] = has(data, workload, responses[i].response);
        if (used[i])
            columns[count++] = responses[i].column;
    }
    columns[count++] = (struct result_column){"bound by", NULL, false};
    struct result_table *const t = result_table_create(columns, count);
    for (size_t i = 0; i < data->point_count; i++)
        if (sweep_counts(data, &data->point[i], workload, SWEEP_seconds))
            add_row(t, data, &data->point[i], used);
    const bool ok = !result_table_failed(t);
    page_brush(page, "Choose points",
               "A line is a point. Drag along an axis, or type a range; a click on an axis lets all through again.", t);
    result_table_free(t);
    return ok;
}
