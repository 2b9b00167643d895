/* NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss. */
#include "sim/network/operators/families.h"

#include <math.h>
#include <string.h>

bool net_rule_loss(struct net_infer *i)
{
    const bool each = strcmp(net_attr_text(i->node, "reduction", "mean"), "none") == 0;
    const struct net_shape scalar = {.known = true};
    const struct net_shape *const target = &i->in[1].shape;
    net_state(i, 0, i->in[0].type, !each ? &scalar : target->known ? target : NULL);
    net_state(i, 1, i->in[0].type, i->in[0].shape.known ? &i->in[0].shape : NULL);
    return true;
}

/* log softmax over the classes, at one place. */
static double log_probability(const struct net_array *x, int64_t base, int64_t step, int64_t classes, int64_t wanted)
{
    double top = -INFINITY, sum = 0;
    for (int64_t c = 0; c < classes; c++)
        top = fmax(top, net_array_double(x, base + c * step));
    for (int64_t c = 0; c < classes; c++)
        sum += exp(net_array_double(x, base + c * step) - top);
    return net_array_double(x, base + wanted * step) - top - log(sum);
}

struct loss {
    double sum, weight;
};

static bool add_losses(const struct net_call *call, bool softmax, bool each, struct loss *all)
{
    const struct net_array *const x = call->in[0], *const target = call->in[1], *const weight = net_in(call, 2);
    struct net_array *const out = net_out(call, 0), *const logs = net_out(call, 1);
    const int64_t classes = x->shape[1], plane = net_extent(x->shape, 2, x->dims);
    const bool ignores = net_attribute(call->node, "ignore_index") != NULL;
    const int64_t ignored = net_attr_int(call->node, "ignore_index", -1);
    for (int64_t k = 0; k < target->count; k++) {
        const int64_t wanted = net_array_integer(target, k), base = k / plane * classes * plane + k % plane;
        const bool counts = !ignores || wanted != ignored;
        if (counts && (wanted < 0 || wanted >= classes))
            return net_refuse(call->error, "class %lld of %lld", (long long)wanted, (long long)classes);
        for (int64_t c = 0; logs && c < classes; c++) {
            const double one = log_probability(x, base, plane, classes, c);
            net_write_doubles(logs->type, logs->data, base + c * plane, 1, &one);
        }
        const double w = !counts ? 0 : weight ? net_array_double(weight, wanted) : 1;
        const double p = !counts   ? 0
                         : softmax ? log_probability(x, base, plane, classes, wanted)
                                   : net_array_double(x, base + wanted * plane);
        const double loss = counts ? -p * w : 0;
        all->sum += loss;
        all->weight += w;
        if (each && out)
            net_write_doubles(out->type, out->data, k, 1, &loss);
    }
    return true;
}

bool net_eval_loss(struct net_call *call)
{
    const char *const reduction = net_attr_text(call->node, "reduction", "mean");
    const bool softmax = *call->node->op == 'S', each = strcmp(reduction, "none") == 0;
    struct loss all = {0, 0};
    if (call->in[0]->dims < 2 || call->in[1]->count * call->in[0]->shape[1] != call->in[0]->count ||
        (net_in(call, 2) && call->in[2]->count != call->in[0]->shape[1]))
        return net_refuse(call->error, "scores, classes and weights do not fit");
    if (!add_losses(call, softmax, each, &all))
        return false;
    const double total = strcmp(reduction, "sum") == 0 ? all.sum : all.sum / all.weight;
    if (!each && net_out(call, 0))
        net_write_doubles(call->out[0]->type, call->out[0]->data, 0, 1, &total);
    return true;
}
