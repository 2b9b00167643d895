/* How near two networks are, output by output. */
#include "sim/network/operators/run.h"
#include "sim/network/quantise/quantise.h"

#include <math.h>
#include <stdlib.h>

struct sums {
    double ab, aa, bb;
    uint64_t rows, same;
};

static int64_t largest_of(const struct net_array *a, int64_t from, int64_t count)
{
    int64_t best = 0;
    for (int64_t k = 1; k < count; k++)
        if (net_array_double(a, from + k) > net_array_double(a, from + best))
            best = k;
    return best;
}

static bool add(const struct net_array *a, const struct net_array *b, struct sums *s, struct net_likeness *l,
                struct orch_error *error)
{
    if (a->count != b->count)
        return orch_fail(error, ORCH_INTERNAL, "an output of other sizes");
    for (int64_t k = 0; k < a->count; k++) {
        const double x = net_array_double(a, k), y = net_array_double(b, k);
        s->ab += x * y;
        s->aa += x * x;
        s->bb += y * y;
        l->largest = fmax(l->largest, fabs(x));
        l->largest_error = fmax(l->largest_error, fabs(x - y));
    }
    const int64_t row = a->dims ? a->shape[a->dims - 1] : 1;
    for (int64_t at = 0; row > 1 && at < a->count; at += row) {
        s->rows++;
        s->same += largest_of(a, at, row) == largest_of(b, at, row);
    }
    return true;
}

static void release(struct net_array **output, size_t outputs)
{
    for (size_t k = 0; k < outputs; k++) {
        net_array_release(output[k]);
        output[k] = NULL;
    }
}

static bool compare_sample(const struct net_model *const model[2], struct net_array *const *input, struct net_array **output,
                           struct sums *sums, struct net_likenesses *report, struct orch_error *error)
{
    bool ok = true;
    for (size_t m = 0; ok && m < 2; m++) {
        const struct net_run run = {.model = model[m], .input = input};
        ok = net_run(&run, output + m * report->outputs, error);
    }
    for (size_t k = 0; ok && k < report->outputs; k++)
        ok = add(output[k], output[report->outputs + k], &sums[k], &report->output[k], error);
    release(output, 2 * report->outputs);
    return ok;
}

bool net_compare_networks(const struct net_model *before, const struct net_model *after, const struct net_samples *samples,
                          struct net_likenesses *report, struct orch_error *error)
{
    const struct net_model *const model[2] = {before, after};
    const size_t outputs = before->graph->outputs;
    *report = (struct net_likenesses){calloc(outputs + 1, sizeof *report->output), outputs, samples->count};
    struct sums *const sums = calloc(outputs + 1, sizeof *sums);
    struct net_array **const output = calloc(2 * outputs + 1, sizeof(*output));
    bool ok = (report->output && sums && output) || orch_no_memory(error);
    for (size_t s = 0; ok && s < samples->count; s++)
        ok = compare_sample(model, samples->set[s], output, sums, report, error);
    for (size_t k = 0; ok && k < outputs; k++) {
        struct net_likeness *const l = &report->output[k];
        l->cosine = sums[k].aa > 0 && sums[k].bb > 0 ? sums[k].ab / sqrt(sums[k].aa * sums[k].bb) : NAN;
        l->top1 = sums[k].rows ? (double)sums[k].same / (double)sums[k].rows : NAN;
    }
    free(sums);
    free(output);
    return ok;
}

void net_likenesses_free(struct net_likenesses *report)
{
    free(report->output);
    *report = (struct net_likenesses){.output = NULL};
}
