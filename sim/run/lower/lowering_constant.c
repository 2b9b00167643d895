/* Steps that hang on constants alone: weights that are turned, biases that are repeated. They run once, when the network is
 * loaded, and are no part of an inference. */
#include "sim/run/lower/lowering.h"

/* Bytes of the host from `at` on. */
struct range {
    const char *at;
    uint64_t bytes;
};

static bool is_within(struct range inner, struct range outer)
{
    return outer.at && inner.at >= outer.at && inner.at + inner.bytes <= outer.at + outer.bytes;
}

static bool overlap(struct range a, struct range b)
{
    return a.at < b.at + b.bytes && b.at < a.at + a.bytes;
}

static struct range result_of(const struct lowered_step *step)
{
    return (struct range){step->operands.result, step->operands.result_bytes};
}

static struct range array_range(const struct net_array *a)
{
    return a ? (struct range){a->data, net_array_bytes(a)} : (struct range){NULL, 0};
}

/* Memory between the steps, which the rule fills with what follows from shapes unless a step writes it. */
static bool is_scratch(const struct lowering *l, struct range r)
{
    for (unsigned i = 0; i < l->scratches; i++)
        if (is_within(r, (struct range){l->scratch[i], l->scratch_bytes[i]}))
            return true;
    return false;
}

static bool is_constant(const struct lowering *l, struct range r)
{
    for (size_t k = 0; k < l->node->inputs; k++)
        if (is_within(r, array_range(l->in[k])))
            return lowering_is_constant(l, k);
    return false;
}

/* Whether what step `reader` reads there is known before the network runs. */
static bool is_known(const struct lowering *l, unsigned reader, struct range r)
{
    if (!is_constant(l, r) && !is_scratch(l, r))
        return false;
    for (unsigned i = 0; i < reader; i++)
        if (!l->step[i].at_load && overlap(result_of(&l->step[i]), r))
            return false;
    return true;
}

/* What another step writes at each inference would be gone in the next one. */
static bool is_kept(const struct lowering *l, unsigned writer)
{
    for (unsigned i = 0; i < l->steps; i++)
        if (i != writer && !l->step[i].at_load && overlap(result_of(&l->step[i]), result_of(&l->step[writer])))
            return false;
    return true;
}

static bool hangs_on_constants(const struct lowering *l, unsigned i)
{
    const struct lowered_step *const step = &l->step[i];
    bool known = step->operands.inputs > 0 && is_scratch(l, result_of(step));
    for (unsigned k = 0; known && k < step->operands.inputs; k++)
        known = is_known(l, i, (struct range){step->input[k].data, step->input[k].bytes});
    return known;
}

void lowering_find_constants(struct lowering *l)
{
    bool changed = true;
    for (unsigned i = 0; i < l->steps; i++)
        l->step[i].at_load = hangs_on_constants(l, i);
    while (changed) {
        changed = false;
        for (unsigned i = 0; i < l->steps; i++)
            if (l->step[i].at_load && !(is_kept(l, i) && hangs_on_constants(l, i))) {
                l->step[i].at_load = false;
                changed = true;
            }
    }
}
