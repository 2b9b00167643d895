/* The page of a load test: latency over rate, batch sizes, queues, power and temperature over time. */
#ifndef ORCHARD_SIM_REPORT_LOAD_PAGE_H
#define ORCHARD_SIM_REPORT_LOAD_PAGE_H

#include "reports/page.h"
#include "sim/load/load.h"

/* One rate of arrivals and what came of it. */
struct load_rate {
    double rate, done_rate; /* requests asked for and done, a second */
    double p50_s, p95_s, p99_s;
    double batch;  /* samples in the mean */
    double joules; /* of a request; NAN = not known */
};

struct load_page {
    const char *title, *subtitle, *limits; /* limits: what was not modelled, a sentence */
    const struct load_setup *setup;
    struct load_result *result;
    const struct load_rate *rate;
    unsigned rates;
};
/* NULL when memory ran out. */
struct page *load_page(const struct load_page *data);

#endif
