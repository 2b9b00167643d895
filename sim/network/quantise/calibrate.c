/* Ranges of activations: the largest magnitude, one that all but a few elements keep within, or the one that loses least of the
 * distribution. */
#include "sim/network/operators/run.h"
#include "sim/network/quantise/quantise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 2048, LEVELS = 128 };

struct watcher {
    const struct net_model *model;
    struct net_ranges *ranges;
    double *bins; /* by value: BINS counts of magnitudes up to its range; NULL = only ranges are looked for */
};

static void look(struct watcher *w, net_id id, const struct net_array *a)
{
    double *const most = &w->ranges->most[id], *const bins = w->bins ? w->bins + (size_t)id * BINS : NULL;
    for (int64_t k = 0; k < a->count; k++) {
        const double number = fabs(net_array_double(a, k));
        if (!bins && isfinite(number) && number > *most)
            *most = number;
        if (bins && number > 0 && *most > 0) {
            const double place = number / *most * BINS;
            bins[place < BINS ? (size_t)place : BINS - 1]++;
        }
    }
}

static void observe(void *context, const struct net_node *node, struct net_array *const *in, struct net_array *const *out)
{
    struct watcher *const w = context;
    (void)out;
    if (net_weights_of(w->model, node) && node->input[0] != NET_NONE && in[0] && net_type_is_float(in[0]->type))
        look(w, node->input[0], in[0]);
}

static bool run_samples(struct watcher *w, const struct net_samples *samples, struct orch_error *error)
{
    const size_t outputs = w->model->graph->outputs;
    struct net_array **const output = calloc(outputs + 1, sizeof(*output));
    bool ok = output || orch_no_memory(error);
    for (size_t s = 0; ok && s < samples->count; s++) {
        const struct net_run run = {.model = w->model, .input = samples->set[s], .observer = observe, .context = w};
        ok = net_run(&run, output, error);
        for (size_t k = 0; ok && k < outputs; k++)
            net_array_release(output[k]);
    }
    free(output);
    return ok;
}

/* ---- distributions ---- */

static double by_percentile(const double *bins, double most, double percentile)
{
    double all = 0, so_far = 0;
    for (unsigned k = 0; k < BINS; k++)
        all += bins[k];
    for (unsigned k = 0; k < BINS; k++) {
        so_far += bins[k];
        if (so_far >= all * percentile / 100)
            return most * (k + 1) / BINS;
    }
    return most;
}

/* How much of the first `kept` bins, with all that is beyond in the last, is lost by LEVELS levels: the relative entropy. */
static double loss(const double *bins, unsigned kept)
{
    double p[BINS], q[BINS] = {0}, beyond = 0, sum_p = 0, sum_q = 0, lost = 0;
    for (unsigned k = kept; k < BINS; k++)
        beyond += bins[k];
    memcpy(p, bins, kept * sizeof *p);
    p[kept - 1] += beyond;
    for (unsigned level = 0; level < LEVELS; level++) {
        const unsigned from = level * kept / LEVELS, to = (level + 1) * kept / LEVELS;
        double sum = 0;
        unsigned used = 0;
        for (unsigned k = from; k < to; k++) {
            sum += bins[k];
            used += bins[k] > 0;
        }
        for (unsigned k = from; k < to && used; k++)
            q[k] = bins[k] > 0 ? sum / used : 0;
    }
    for (unsigned k = 0; k < kept; k++) {
        sum_p += p[k];
        sum_q += q[k];
    }
    for (unsigned k = 0; k < kept; k++)
        if (p[k] > 0)
            lost += p[k] / sum_p * log(p[k] / sum_p / (q[k] > 0 ? q[k] / sum_q : 1e-9));
    return sum_q > 0 ? lost : INFINITY;
}

static double by_entropy(const double *bins, double most)
{
    unsigned best = BINS;
    double least = INFINITY;
    for (unsigned kept = LEVELS; kept <= BINS; kept += 8) {
        const double lost = loss(bins, kept);
        if (lost <= least) {
            least = lost;
            best = kept;
        }
    }
    return most * best / BINS;
}

static void choose(struct watcher *w, enum net_range_method method, double percentile)
{
    for (size_t id = 0; id < w->ranges->count; id++) {
        double *const most = &w->ranges->most[id];
        const double *const bins = w->bins + id * BINS;
        if (*most > 0)
            *most = method == NET_BY_PERCENTILE ? by_percentile(bins, *most, percentile) : by_entropy(bins, *most);
    }
}

bool net_calibrate(const struct net_model *model, const struct net_samples *samples, enum net_range_method method,
                   double percentile, struct net_ranges *ranges, struct orch_error *error)
{
    struct watcher w = {.model = model, .ranges = ranges};
    *ranges = (struct net_ranges){calloc(model->values + 1, sizeof *ranges->most), model->values};
    bool ok = (ranges->most || orch_no_memory(error)) && run_samples(&w, samples, error);
    if (ok && method != NET_BY_MINMAX) {
        w.bins = calloc((model->values + 1) * BINS, sizeof *w.bins);
        ok = (w.bins || orch_no_memory(error)) && run_samples(&w, samples, error);
        if (ok)
            choose(&w, method, percentile);
        free(w.bins);
    }
    return ok;
}

void net_ranges_free(struct net_ranges *ranges)
{
    free(ranges->most);
    *ranges = (struct net_ranges){.most = NULL};
}
