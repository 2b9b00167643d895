#include "sim/api/verb_compare_many.h"

#include "sim/base/format.h"
#include "sim/base/json_out.h"
#include "sim/base/table.h"

#include <math.h>

static size_t fastest_of(const struct report_run *runs, size_t count)
{
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        if (runs[i].r.seconds < runs[best].r.seconds || isnan(runs[best].r.seconds))
            best = i;
    return best;
}

/* How many times as long as the fastest a run takes, with the 90 % interval that those of both give when they are independent;
 * NAN without intervals. */
struct relative {
    double times, low, high;
};

static struct relative relative_to(const struct run_result *r, const struct run_result *fastest)
{
    struct relative x = {r->seconds / fastest->seconds, NAN, NAN};
    const double up = hypot(log(r->seconds_high / r->seconds), log(fastest->seconds / fastest->seconds_low));
    const double down = hypot(log(r->seconds / r->seconds_low), log(fastest->seconds_high / fastest->seconds));
    if (r != fastest && isfinite(up) && isfinite(down)) {
        x.low = x.times * exp(-down);
        x.high = x.times * exp(up);
    }
    return x;
}

static void give_document(struct api_context *context, const struct report_run *runs, size_t count, size_t best)
{
    json_object *const document = json_object_new_object(), *const list = json_object_new_array();
    json_add_count(document, "fastest", (uint64_t)runs[best].r.run_id);
    for (size_t i = 0; i < count; i++) {
        const struct run_result *const r = &runs[i].r;
        const struct relative x = relative_to(r, &runs[best].r);
        json_object *const row = json_object_new_object();
        json_add_count(row, "run_id", (uint64_t)r->run_id);
        json_add_text(row, "workload", r->workload);
        json_add_text(row, "chip", r->chip);
        json_add_text(row, "unit", r->unit);
        json_add_text(row, "precision", r->precision);
        json_add_text(row, "device", r->device);
        json_add_number(row, "seconds", r->seconds);
        json_add_number(row, "seconds_low", r->seconds_low);
        json_add_number(row, "seconds_high", r->seconds_high);
        json_add_number(row, "joules", r->joules);
        json_add_number(row, "relative", x.times);
        json_add_number(row, "relative_low", x.low);
        json_add_number(row, "relative_high", x.high);
        json_object_array_add(list, row);
    }
    json_object_object_add(document, "runs", list);
    api_document(context, document);
}

static void print_text(struct api_context *context, const struct report_run *runs, size_t count, size_t best)
{
    static const struct table_column columns[] = {{"run", NULL, true, 0},        {"workload", NULL, false, 48},
                                                  {"chip", NULL, false, 0},      {"unit", NULL, false, 0},
                                                  {"precision", NULL, false, 0}, {"time", NULL, true, 0},
                                                  {"energy", NULL, true, 0},     {"times the fastest", NULL, false, 0}};
    struct table *const t = table_create(columns, 8);
    char time[FORMAT_SIZE], joules[FORMAT_SIZE], value[FORMAT_SIZE], low[FORMAT_SIZE], high[FORMAT_SIZE];
    for (size_t i = 0; i < count; i++) {
        const struct run_result *const r = &runs[i].r;
        const struct relative x = relative_to(r, &runs[best].r);
        table_row(t);
        table_cell(t, "%lld", (long long)r->run_id);
        table_cell(t, "%s", r->workload ? r->workload : "-");
        table_cell(t, "%s", r->chip ? r->chip : "-");
        table_cell(t, "%s", r->unit ? r->unit : "-");
        table_cell(t, "%s", r->precision ? r->precision : "-");
        table_cell(t, "%s", format_seconds(time, r->seconds, r->seconds_low, r->seconds_high));
        table_cell(t, "%s", isnan(r->joules) ? "-" : format_si(joules, r->joules, "J"));
        if (isnan(x.low))
            table_cell(t, "%s", format_digits(value, x.times, 4));
        else
            table_cell(t, "%s (%s-%s)", format_digits(value, x.times, 4), format_digits(low, x.low, 3),
                       format_digits(high, x.high, 3));
    }
    api_table(context, t);
    fprintf(context->out, "fastest: run %lld; in brackets, the 90 %% interval when errors of both are independent\n",
            (long long)runs[best].r.run_id);
}

void verb_compare_many(struct api_context *context, const struct report_run *runs, size_t count)
{
    const size_t best = fastest_of(runs, count);
    if (api_wants_document(context))
        give_document(context, runs, count, best);
    if (api_wants_text(context))
        print_text(context, runs, count, best);
}
