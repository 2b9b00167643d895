#include "sim/run/lower/lowering.h"

#include "isa/array_count.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- applying ---- */

/* Rules that read whole numbers behind their first operand, element by element. */
static bool reads_integers(const struct lowering_rule *rule)
{
    return rule->lower == lowering_gather || rule->lower == lowering_slice || rule->lower == lowering_reduce ||
           rule->lower == lowering_reduce_sum_of || rule->lower == lowering_reduce_log_sum_exp ||
           rule->lower == lowering_expand || rule->lower == lowering_by_places || rule->lower == lowering_resize ||
           rule->lower == lowering_cache_rows || rule->lower == lowering_scatter || rule->lower == lowering_tensor_scatter ||
           rule->lower == lowering_running_sum || rule->lower == lowering_place_of || rule->lower == lowering_dft ||
           rule->lower == lowering_stft || rule->lower == lowering_loss || strcmp(rule->word, "pow") == 0;
}

/* Rules that only move elements, whatever they are. */
static bool moves_elements(const struct lowering_rule *rule)
{
    return rule->lower == lowering_gather || rule->lower == lowering_slice || rule->lower == lowering_expand ||
           rule->lower == lowering_by_places || rule->lower == lowering_transpose || rule->lower == lowering_concat ||
           rule->lower == lowering_scatter || rule->lower == lowering_tensor_scatter;
}

/* What of whole numbers is left to other rules. */
static const struct {
    bool (*lower)(struct lowering *l, const char *word), (*whole)(struct lowering *l, const char *word);
} whole_rules[] = {
    {lowering_pair, lowering_whole_pair}, {lowering_clip, lowering_whole_clip}, {lowering_reduce, lowering_whole_sum}};

static bool (*rule_for(const struct lowering *l, const struct lowering_rule *rule))(struct lowering *l, const char *word)
{
    const enum net_type type = l->node->inputs && l->in[0] ? l->in[0]->type : NET_TYPES;
    for (size_t i = 0; i < ARRAY_COUNT(whole_rules); i++)
        if (whole_rules[i].lower == rule->lower && type != NET_TYPES && !net_type_is_float(type))
            return whole_rules[i].whole;
    return rule->lower;
}

/* Operands that a rule reads without asking whether they are there. */
static size_t least_operands(const struct lowering *l, const struct lowering_rule *rule)
{
    static const struct {
        bool (*lower)(struct lowering *l, const char *word);
        size_t least;
    } rows[] = {{lowering_conv, 2},          {lowering_product, 2},    {lowering_pair, 2},
                {lowering_norm, 2},          {lowering_gather, 2},     {lowering_slice, 2},
                {lowering_rotary, 3},        {lowering_attention, 3},  {lowering_batch_norm, 5},
                {lowering_instance_norm, 3}, {lowering_group_norm, 3}, {lowering_conv_transpose, 2},
                {lowering_lstm, 3},          {lowering_gru, 3},        {lowering_rnn, 3},
                {lowering_cache_rows, 3},    {lowering_scatter, 3},    {lowering_tensor_scatter, 2},
                {lowering_grid_sample, 2},   {lowering_stft, 2},       {lowering_loss, 2}};
    if (rule->lower == lowering_concat)
        return l->node->inputs;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (rows[i].lower == rule->lower)
            return strcmp(rule->word, "split") == 0 ? 1 : rows[i].least;
    return 1;
}

static bool of_floats(struct lowering *l, const struct lowering_rule *rule)
{
    const char *const op = l->node->op;
    const struct net_array *const x = l->node->inputs ? l->in[0] : NULL;
    const size_t least = least_operands(l, rule);
    const struct net_array *out = NULL;
    for (size_t k = 0; k < l->node->outputs && !out; k++)
        out = l->out[k];
    bool is_whole = x && out &&
                    (l->out[0] || rule->lower == lowering_lstm || rule->lower == lowering_gru || rule->lower == lowering_rnn) &&
                    l->node->inputs >= least;
    for (size_t k = 1; is_whole && k < least; k++)
        is_whole = l->in[k] != NULL;
    if (!is_whole)
        return lowering_leave(l, "%s without all its operands", op);
    const bool moved = moves_elements(rule) && x->type == out->type && lowering_words(x->type);
    if (!moved && (x->type != NET_F32 || out->type != NET_F32))
        return lowering_leave(l, "the library's %s has no version of type %s", op,
                              net_type_name(x->type != NET_F32 ? x->type : out->type));
    for (size_t k = 1; k < l->node->inputs && !moved && !reads_integers(rule); k++)
        if (l->in[k] && l->in[k]->type != NET_F32)
            return lowering_leave(l, "the library's %s has no version with an operand of type %s", op,
                                  net_type_name(l->in[k]->type));
    for (size_t k = 0; k < l->node->outputs; k++)
        if (l->out[k] && l->out[k]->count == 0)
            return lowering_leave(l, "there are no elements");
    return x->count > 0 || lowering_leave(l, "there are no elements");
}

/* Rules that look at the types themselves. */
static bool has_integers(const struct lowering *l, const struct lowering_rule *rule)
{
    static bool (*const rules[])(struct lowering * l, const char *word) = {lowering_conv_integer,
                                                                           lowering_matmul_integer,
                                                                           lowering_quantise,
                                                                           lowering_dequantise,
                                                                           lowering_dynamic_quantise,
                                                                           lowering_rescale,
                                                                           lowering_bits,
                                                                           lowering_cast,
                                                                           lowering_compare,
                                                                           lowering_logic,
                                                                           lowering_where,
                                                                           lowering_is_nan,
                                                                           lowering_top,
                                                                           lowering_place_of,
                                                                           lowering_one_hot,
                                                                           lowering_range,
                                                                           lowering_running_sum,
                                                                           lowering_modulo,
                                                                           lowering_is_inf,
                                                                           lowering_window,
                                                                           lowering_eye_like,
                                                                           lowering_constant_of_shape,
                                                                           lowering_non_zero,
                                                                           lowering_nms};
    for (size_t i = 0; i < ARRAY_COUNT(rules); i++)
        if (rules[i] == rule->lower)
            return true;
    return rule_for(l, rule) != rule->lower;
}

bool lowering_apply(struct lowering *l, const struct lowering_rule *rule)
{
    if (!((has_integers(l, rule) || of_floats(l, rule)) && rule_for(l, rule)(l, rule->word) && lowering_holds(l)))
        return false;
    lowering_find_constants(l);
    return true;
}

void lowering_free(struct lowering *l)
{
    for (unsigned i = 0; i < l->scratches; i++)
        free(l->scratch[i]);
    l->scratches = 0;
}

bool lowering_leave(struct lowering *l, const char *format, ...)
{
    va_list list;
    if (l->why[0])
        return false;
    va_start(list, format);
    vsnprintf(l->why, sizeof l->why, format, list);
    va_end(list);
    return false;
}

bool lowering_is_constant(const struct lowering *l, size_t operand)
{
    return operand < l->node->inputs && l->node->input[operand] != NET_NONE && l->model->value[l->node->input[operand]].constant;
}

bool lowering_holds_constant(const struct lowering *l, const struct net_array *array)
{
    for (size_t k = 0; k < l->node->inputs; k++)
        if (l->in[k] && l->in[k]->data == array->data)
            return lowering_is_constant(l, k);
    return false;
}

bool lowering_wants(const struct lowering *l, size_t result)
{
    return result < l->node->outputs && l->node->output[result] != NET_NONE && l->out[result];
}

bool lowering_holds(const struct lowering *l)
{
    return l->why[0] == 0;
}

struct lowered_step *lowering_step(struct lowering *l, void *result, int64_t count, const char *format, ...)
{
    va_list list;
    if (l->steps == LOWERED_STEPS) {
        lowering_leave(l, "more than %d kernels", LOWERED_STEPS);
        return NULL;
    }
    struct lowered_step *const step = &l->step[l->steps++];
    va_start(list, format);
    const int length = vsnprintf(step->workload, sizeof step->workload, format, list);
    va_end(list);
    if (length < 0 || (size_t)length >= sizeof step->workload)
        lowering_leave(l, "a kernel with too long a name");
    else
        step->common = (size_t)length;
    step->part = l->part;
    step->precision = l->whole ? "f32" : NULL;
    step->operands = (struct run_operands){.input = step->input, .result = result, .result_bytes = 4 * (uint64_t)count};
    return step;
}

struct lowering_cores lowering_begin_cores(struct lowering *l)
{
    const struct lowering_cores before = {l->part, l->steps};
    l->part = l->part == PART_ANE ? PART_CPU : l->part;
    return before;
}

void lowering_end_cores(struct lowering *l, const struct lowering_cores *before)
{
    for (unsigned k = before->first; l->part != before->part && k < l->steps; k++)
        l->step[k].precision = l->step[k].precision ? l->step[k].precision : "f32";
    l->part = before->part;
}

int64_t lowering_amx_rows(const struct lowering *l, int64_t count)
{
    enum { TILE = 32 };
    const int64_t rows = (int64_t)(l->amx_share * (double)count / TILE + 0.5) * TILE;
    return l->part == PART_GPU && l->amx_share > 0 && rows > 0 && rows < count ? rows : 0;
}

void lowering_load_weights(struct lowering *l, struct lowered_step *step)
{
    static const char option[] = ",packed=1";
    if (!step || step->part == PART_ANE) /* whose programs have their weights in the layout of the engine */
        return;
    if (step->common + sizeof option > sizeof step->workload)
        lowering_leave(l, "a kernel with too long a name");
    else
        memcpy(step->workload + step->common, option, sizeof option);
}

void lowering_read(struct lowered_step *step, const void *data, int64_t count)
{
    if (step)
        step->input[step->operands.inputs++] = (struct run_operand){data, 4 * (uint64_t)count};
}

int64_t lowering_words(enum net_type type)
{
    const size_t bytes = type == NET_TYPES ? 0 : net_type_bytes(type);
    return bytes == 1 ? 1 : (int64_t)bytes / 4;
}

/* Numbers of f32 are in the network's type on the unit; everything else keeps its bits. */
struct lowered_step *lowering_moves(struct lowered_step *step, enum net_type type, int64_t count)
{
    if (step && type != NET_F32)
        step->precision = net_type_bytes(type) == 1 ? "u8" : "i32";
    if (step)
        step->operands.result_bytes = (uint64_t)count * net_type_bytes(type);
    return step;
}

void lowering_read_elements(struct lowered_step *step, enum net_type type, const void *data, int64_t count)
{
    if (step)
        step->input[step->operands.inputs++] = (struct run_operand){data, (uint64_t)count * net_type_bytes(type)};
}

void lowering_read_bytes(struct lowered_step *step, const void *data, int64_t count)
{
    if (!step)
        return;
    step->precision = "i8";
    step->input[step->operands.inputs++] = (struct run_operand){data, (uint64_t)count};
}

bool lowering_is_bytes(struct lowering *l)
{
    for (size_t k = 0; k < 2; k++)
        if (k >= l->node->inputs || !l->in[k] || l->in[k]->type != NET_I8 || l->in[k]->count == 0)
            return lowering_leave(l, "operands of other types than i8");
    for (size_t k = 2; k < l->node->inputs; k++)
        for (int64_t i = 0; l->in[k] && i < l->in[k]->count; i++)
            if (net_array_integer(l->in[k], i) != 0)
                return lowering_leave(l, "a zero point that is not 0");
    return l->out[0] != NULL || lowering_leave(l, "nobody wants the result");
}

void *lowering_scratch(struct lowering *l, int64_t count)
{
    void *const memory = l->scratches < LOWERED_SCRATCHES ? calloc((size_t)count + 1, 4) : NULL;
    if (memory) {
        l->scratch_bytes[l->scratches] = 4 * (uint64_t)count;
        l->scratch[l->scratches++] = memory;
    } else {
        lowering_leave(l, "memory between kernels is out");
    }
    return memory;
}
