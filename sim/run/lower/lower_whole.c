/* Whole numbers and truth values: arithmetic, comparisons, choices, other types. */
#include "sim/run/lower/lowering.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The kernels' word for a type; NULL = they have none. */
static const char *word_of(enum net_type type)
{
    switch (type) {
    case NET_F32: return "number";
    case NET_U8:
    case NET_I8:
    case NET_BOOL: return "u8";
    case NET_I32:
    case NET_U32: return "i32";
    case NET_I64:
    case NET_U64: return "i64";
    default: return NULL;
    }
}

/* Kernels take bytes for unsigned and wider words for signed. */
static bool has_order(enum net_type type)
{
    return type == NET_F32 || type == NET_U8 || type == NET_I32 || type == NET_I64;
}

static struct lowered_step *add_step(struct lowering *l, const char *kernel, void *to, enum net_type type, int64_t count,
                                     const char *options)
{
    struct lowered_step *const step = lowering_step(l, to, count, "%s:%lld%s", kernel, (long long)count, options);
    if (step)
        step->operands.result_bytes = (uint64_t)count * net_type_bytes(type);
    return step;
}

static void *scratch_of(struct lowering *l, enum net_type type, int64_t count)
{
    return lowering_scratch(l, count * (lowering_words(type) > 1 ? 2 : 1));
}

/* One element of the type, known now. */
static void *one_of(struct lowering *l, enum net_type type, int64_t number)
{
    void *const own = scratch_of(l, type, 1);
    if (own)
        net_write_integers(type, own, 0, 1, &number);
    return own;
}

/* ---- two operands ---- */

/* to = a op b, as large as `shape`; b stands for all when it is one element, or begins again. */
static bool add_pair(struct lowering *l, const char *kernel, const char *op, const struct net_array *shape, const void *a,
                     const struct net_array *b, enum net_type result, void *to)
{
    const int64_t period = b->count == shape->count ? 0 : lowering_period(shape, b);
    const bool simple = b->count == shape->count || period > 0;
    char options[80];
    const void *const second = simple ? b->data : lowering_repeat(l, shape, b, scratch_of(l, b->type, shape->count));
    const int length = snprintf(options, sizeof options, ",op=%s,of=%s", op, word_of(b->type));
    if (period)
        snprintf(options + length, sizeof options - (size_t)length, ",period=%lld", (long long)period);
    struct lowered_step *const step = add_step(l, kernel, to, result, shape->count, options);
    lowering_read_elements(step, b->type, a, shape->count);
    lowering_read_elements(step, b->type, second, period ? period : shape->count);
    return lowering_holds(l);
}

/* The operands of an operator, of one type that the kernels have, the larger one first where that does not matter. */
static bool pair_of(struct lowering *l, bool either, const struct net_array **a, const struct net_array **b)
{
    const struct net_array *const out = l->out[0];
    *a = l->node->inputs > 0 ? l->in[0] : NULL;
    *b = l->node->inputs > 1 ? l->in[1] : NULL;
    if (l->node->inputs != 2 || !*a || !*b || !out || (*a)->type != (*b)->type || out->count == 0)
        return lowering_leave(l, "%zu operands, of several types or none", l->node->inputs);
    if (!word_of((*a)->type))
        return lowering_leave(l, "the library's %s has no version of type %s", l->node->op, net_type_name((*a)->type));
    if (either && (*a)->count != out->count && (*b)->count == out->count) {
        const struct net_array *const swapped = *a;
        *a = *b;
        *b = swapped;
    }
    return lowering_is_repeated(l, out, *a) && lowering_is_repeated(l, out, *b);
}

/* An operand as large as the result. */
static const void *whole_of(struct lowering *l, const struct net_array *x)
{
    const struct net_array *const out = l->out[0];
    return x->count == out->count ? x->data : lowering_repeat(l, out, x, scratch_of(l, x->type, out->count));
}

bool lowering_whole_pair(struct lowering *l, const char *word)
{
    const bool orders = strcmp(word, "min") == 0 || strcmp(word, "max") == 0;
    const struct net_array *a, *b;
    const bool divides = strcmp(word, "div") == 0;
    if (strcmp(word, "pow") == 0 && l->node->inputs == 2 && l->in[1] && l->out[0])
        return lowering_whole_power(l, l->in[0], l->in[1]);
    if (lowering_is_narrow(l, orders || divides))
        return lowering_narrow_pair(l, word);
    if (strcmp(word, "add") != 0 && strcmp(word, "sub") != 0 && strcmp(word, "mul") != 0 && !orders && !divides)
        return lowering_leave(l, "the library's %s has no version of whole numbers", l->node->op);
    if (!pair_of(l, strcmp(word, "sub") != 0 && !divides, &a, &b))
        return false;
    if (l->out[0]->type != a->type || a->type == NET_F32 || ((orders || divides) && !has_order(a->type)))
        return lowering_leave(l, "the library's %s has no version of type %s", l->node->op, net_type_name(a->type));
    return add_pair(l, "integer", word, l->out[0], whole_of(l, a), b, a->type, l->out[0]->data);
}

bool lowering_whole_clip(struct lowering *l, const char *word)
{
    static const char *const ops[] = {"max", "min"};
    const struct net_array *const x = l->in[0], *const out = l->out[0];
    const void *from = x->data;
    (void)word;
    if (lowering_is_narrow(l, true))
        return lowering_narrow_clip(l);
    if (!out || x->count == 0 || x->type == NET_F32 || !has_order(x->type))
        return lowering_leave(l, "the library's Clip has no version of type %s", net_type_name(x->type));
    for (size_t k = 1; k < l->node->inputs && k < 3; k++) {
        if (!l->in[k])
            continue;
        if (l->in[k]->count != 1 || l->in[k]->type != x->type)
            return lowering_leave(l, "bounds that are not one number");
        add_pair(l, "integer", ops[k - 1], out, from, l->in[k], x->type, out->data);
        from = out->data;
    }
    return from == out->data ? lowering_holds(l) : lowering_leave(l, "Clip without bounds");
}

bool lowering_compare(struct lowering *l, const char *word)
{
    static const char *const turned[][2] = {{"eq", "eq"}, {"lt", "gt"}, {"le", "ge"}, {"gt", "lt"}, {"ge", "le"}};
    const struct net_array *a, *b;
    if (!pair_of(l, true, &a, &b))
        return false;
    if (strcmp(word, "eq") != 0 && !has_order(a->type))
        return lowering_leave(l, "the library's %s has no version of type %s", l->node->op, net_type_name(a->type));
    for (size_t i = 0; a != l->in[0] && i < sizeof turned / sizeof turned[0]; i++)
        if (strcmp(word, turned[i][0]) == 0) {
            word = turned[i][1];
            break;
        }
    return add_pair(l, "compare", word, l->out[0], whole_of(l, a), b, NET_BOOL, l->out[0]->data);
}

/* to = the truth values of x, the other way round. */
static bool add_not(struct lowering *l, const void *x, int64_t count, void *to)
{
    const void *const one = one_of(l, NET_BOOL, 1);
    struct lowered_step *const step = add_step(l, "integer", to, NET_BOOL, count, ",op=xor,of=u8,period=1");
    lowering_read_elements(step, NET_BOOL, x, count);
    lowering_read_elements(step, NET_BOOL, one, 1);
    return lowering_holds(l);
}

bool lowering_logic(struct lowering *l, const char *word)
{
    const struct net_array *a = l->node->inputs ? l->in[0] : NULL, *b;
    if (!a || !l->out[0] || a->count == 0 || a->type != NET_BOOL)
        return lowering_leave(l, "no elements, or other types than truth values");
    if (strcmp(word, "not") == 0)
        return add_not(l, a->data, a->count, l->out[0]->data);
    return pair_of(l, true, &a, &b) && add_pair(l, "integer", word, l->out[0], whole_of(l, a), b, NET_BOOL, l->out[0]->data);
}

/* What is not as large as itself. */
bool lowering_is_nan(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->node->inputs ? l->in[0] : NULL;
    (void)word;
    if (!x || !l->out[0] || x->count == 0 || x->type != NET_F32)
        return lowering_leave(l, "no elements, or other types than f32");
    void *const same = lowering_scratch(l, x->count);
    return add_pair(l, "compare", "eq", x, x->data, x, NET_BOOL, same) && add_not(l, same, x->count, l->out[0]->data);
}

void lowering_add_test(struct lowering *l, const char *op, const float *x, float number, int64_t count, void *to)
{
    float *const own = lowering_scratch(l, 1);
    char options[40];
    if (own)
        *own = number;
    snprintf(options, sizeof options, ",op=%s,period=1", op);
    struct lowered_step *const step = add_step(l, "compare", to, NET_BOOL, count, options);
    lowering_read(step, x, count);
    lowering_read(step, own, 1);
}

void lowering_add_comparison(struct lowering *l, const char *op, const float *a, const float *b, int64_t count, void *to)
{
    char options[40];
    snprintf(options, sizeof options, ",op=%s", op);
    struct lowered_step *const step = add_step(l, "compare", to, NET_BOOL, count, options);
    lowering_read(step, a, count);
    lowering_read(step, b, count);
}

bool lowering_add_choice(struct lowering *l, const struct lowering_choice *c, int64_t count, void *to)
{
    static const char *const words[] = {"none", "a", "b", "both"};
    const unsigned one_a = c->one_a && count > 1, one_b = c->one_b && count > 1;
    char options[60];
    snprintf(options, sizeof options, ",of=%s,single=%s", word_of(c->type), words[one_a + 2 * one_b]);
    struct lowered_step *const step = add_step(l, "select", to, c->type, count, options);
    lowering_read_elements(step, NET_BOOL, c->condition, count);
    lowering_read_elements(step, c->type, c->a, one_a ? 1 : count);
    lowering_read_elements(step, c->type, c->b, one_b ? 1 : count);
    return lowering_holds(l);
}

/* What is as large as infinity, of either sign or of one. */
bool lowering_is_inf(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->node->inputs ? l->in[0] : NULL;
    const bool above = net_attr_int(l->node, "detect_positive", 1), below = net_attr_int(l->node, "detect_negative", 1);
    (void)word;
    if (!x || !l->out[0] || x->count == 0 || x->type != NET_F32 || (!above && !below))
        return lowering_leave(l, "no elements, other types than f32, or infinities of no sign");
    lowering_add_test(l, "eq", x->data, above ? INFINITY : -INFINITY, x->count, l->out[0]->data);
    if (above && below) {
        void *const other = lowering_scratch(l, x->count);
        lowering_add_test(l, "eq", x->data, -INFINITY, x->count, other);
        struct lowered_step *const step = add_step(l, "integer", l->out[0]->data, NET_BOOL, x->count, ",op=or,of=u8");
        lowering_read_elements(step, NET_BOOL, l->out[0]->data, x->count);
        lowering_read_elements(step, NET_BOOL, other, x->count);
    }
    return lowering_holds(l);
}

/* Elements above a number, and 0. */
bool lowering_threshold(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0];
    void *const above = lowering_scratch(l, x->count), *const zero = lowering_scratch(l, 1);
    (void)word;
    const struct lowering_choice choice = {.condition = above, .a = x->data, .b = zero, .one_b = true, .type = NET_F32};
    lowering_add_test(l, "gt", x->data, (float)net_attr_real(l->node, "alpha", 1), x->count, above);
    return lowering_add_choice(l, &choice, x->count, l->out[0]->data);
}

/* x + bias below -lambda, x - bias above lambda, and 0 in between. */
bool lowering_shrink(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0];
    const float lambda = (float)net_attr_real(l->node, "lambd", 0.5), bias = (float)net_attr_real(l->node, "bias", 0);
    float *const part = lowering_scratch(l, x->count), *const zero = lowering_scratch(l, 1), *const out = l->out[0]->data;
    void *const holds = lowering_scratch(l, x->count);
    const struct lowering_choice below = {.condition = holds, .a = part, .b = zero, .one_b = true, .type = NET_F32};
    const struct lowering_choice above = {.condition = holds, .a = part, .b = out, .type = NET_F32};
    (void)word;
    lowering_add_test(l, "lt", x->data, -lambda, x->count, holds);
    if (!lowering_add_chain(l, "add", &bias, 1, x->data, part, x->count) || !lowering_add_choice(l, &below, x->count, out))
        return false;
    lowering_add_test(l, "gt", x->data, lambda, x->count, holds);
    return lowering_add_chain(l, "add", &(const float){-bias}, 1, x->data, part, x->count) &&
           lowering_add_choice(l, &above, x->count, out);
}

/* 1 above zero, less 1 below it. */
bool lowering_sign(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0];
    void *const holds[2] = {lowering_scratch(l, x->count), lowering_scratch(l, x->count)};
    float *const number[2] = {lowering_scratch(l, x->count), lowering_scratch(l, x->count)};
    (void)word;
    for (unsigned i = 0; i < 2; i++) {
        lowering_add_test(l, i ? "lt" : "gt", x->data, 0, x->count, holds[i]);
        lowering_read_elements(add_step(l, "cast", number[i], NET_F32, x->count, ",from=u8"), NET_BOOL, holds[i], x->count);
    }
    return lowering_add_pair(l, "sub", number[0], number[1], x->count, l->out[0]->data);
}

bool lowering_where(struct lowering *l, const char *word)
{
    const struct net_array *const out = l->out[0];
    const bool whole = l->node->inputs == 3 && l->in[0] && l->in[1] && l->in[2] && out && out->count > 0;
    (void)word;
    if (!whole || l->in[0]->type != NET_BOOL || l->in[1]->type != out->type || l->in[2]->type != out->type || !word_of(out->type))
        return lowering_leave(l, "the library's Where has no version of type %s", out ? net_type_name(out->type) : "nothing");
    for (size_t k = 0; k < 3; k++)
        if (!lowering_is_repeated(l, out, l->in[k]))
            return false;
    const bool one_a = l->in[1]->count == 1 && out->count > 1, one_b = l->in[2]->count == 1 && out->count > 1;
    const struct lowering_choice choice = {.condition = whole_of(l, l->in[0]),
                                           .a = one_a ? l->in[1]->data : whole_of(l, l->in[1]),
                                           .b = one_b ? l->in[2]->data : whole_of(l, l->in[2]),
                                           .one_a = one_a,
                                           .one_b = one_b,
                                           .type = out->type};
    return lowering_add_choice(l, &choice, out->count, out->data);
}

void lowering_add_cast(struct lowering *l, enum net_type from, const void *x, enum net_type to, void *out, int64_t count)
{
    char options[60];
    snprintf(options, sizeof options, ",from=%s,to=%s", word_of(from), to == NET_BOOL ? "bool" : word_of(to));
    lowering_read_elements(add_step(l, "cast", out, to, count, options), from, x, count);
}

/* first + i step: how many there are is known, and so is i. */
bool lowering_range(struct lowering *l, const char *word)
{
    const struct net_array *const out = l->out[0];
    const bool whole = l->node->inputs == 3 && l->in[0] && l->in[2] && out && out->count > 0;
    (void)word;
    if (!whole || (out->type != NET_F32 && out->type != NET_I32 && out->type != NET_I64) || l->in[0]->type != out->type)
        return lowering_leave(l, "no elements, or of another type than f32, i32 and i64");
    void *const count = scratch_of(l, out->type, out->count);
    for (int64_t i = 0; count && i < out->count; i++)
        net_write_integers(out->type, count, i, 1, &i);
    if (out->type != NET_F32)
        return count && add_pair(l, "integer", "mul", out, count, l->in[2], out->type, out->data) &&
               add_pair(l, "integer", "add", out, out->data, l->in[0], out->type, out->data);
    return count && lowering_broadcast_pair(l, "mul", count, out, l->in[2], out->data) &&
           lowering_broadcast_pair(l, "add", out->data, out, l->in[0], out->data);
}

/* ---- bits and remainders ---- */

/* Elements of 16 bits as twice as many bytes: bits do not care. */
static bool add_bits_of_halves(struct lowering *l, const char *op, const struct net_array *a, const struct net_array *b)
{
    const int64_t bytes = 2 * a->count;
    uint8_t *const ones = b ? NULL : lowering_scratch(l, 1);
    char options[40];
    if (b && b->count != a->count)
        return lowering_leave(l, "operands of 16 bits that are not of one shape");
    if (ones)
        *ones = UINT8_MAX;
    snprintf(options, sizeof options, ",op=%s,of=u8%s", op, b ? "" : ",period=1");
    struct lowered_step *const step = add_step(l, "integer", l->out[0]->data, NET_U8, bytes, options);
    lowering_read_elements(step, NET_U8, a->data, bytes);
    lowering_read_elements(step, NET_U8, b ? b->data : ones, b ? bytes : 1);
    return lowering_holds(l);
}

/* Every bit changed. */
static bool add_complement(struct lowering *l, const struct net_array *x)
{
    const void *const ones = one_of(l, x->type, -1);
    char options[40];
    snprintf(options, sizeof options, ",op=xor,of=%s,period=1", word_of(x->type));
    struct lowered_step *const step = add_step(l, "integer", l->out[0]->data, x->type, x->count, options);
    lowering_read_elements(step, x->type, x->data, x->count);
    lowering_read_elements(step, x->type, ones, 1);
    return lowering_holds(l);
}

bool lowering_bits(struct lowering *l, const char *word)
{
    const struct net_array *a = l->node->inputs ? l->in[0] : NULL, *b = l->node->inputs > 1 ? l->in[1] : NULL;
    const bool shift = strcmp(word, "shift") == 0, not = strcmp(word, "not") == 0;
    if (!a || !l->out[0] || a->count == 0 || net_type_is_float(a->type) || l->out[0]->type != a->type)
        return lowering_leave(l, "no elements, or no whole numbers");
    if (strcmp(word, "xor") == 0 && lowering_flip(l))
        return true;
    if (net_type_bytes(a->type) == 2 && !shift && (not || b))
        return add_bits_of_halves(l, not ? "xor" : word, a, b);
    if (not )
        return word_of(a->type)
                   ? add_complement(l, a)
                   : lowering_leave(l, "the library's %s has no version of type %s", l->node->op, net_type_name(a->type));
    if (shift && lowering_is_narrow(l, false))
        return lowering_narrow_pair(l, strcmp(net_attr_text(l->node, "direction", "LEFT"), "LEFT") == 0 ? "shl" : "shr");
    if (shift)
        word = strcmp(net_attr_text(l->node, "direction", "LEFT"), "LEFT") == 0 ? "shl" : "shr";
    return pair_of(l, !shift, &a, &b) && add_pair(l, "integer", word, l->out[0], whole_of(l, a), b, a->type, l->out[0]->data);
}

/* x - y times what x / y is toward zero: the remainder as Metal's fmod has it. */
static bool add_float_rest(struct lowering *l, const struct net_array *a, const struct net_array *b)
{
    const struct net_array *const out = l->out[0];
    float *const q = lowering_scratch(l, out->count);
    void *const whole = scratch_of(l, NET_I64, out->count);
    const float *const x = whole_of(l, a);
    if (!lowering_broadcast_pair(l, "div", x, out, b, q))
        return false;
    lowering_add_cast(l, NET_F32, q, NET_I64, whole, out->count);
    lowering_add_cast(l, NET_I64, whole, NET_F32, q, out->count);
    return lowering_broadcast_pair(l, "mul", q, out, b, q) && lowering_add_pair(l, "sub", x, q, out->count, out->data);
}

bool lowering_modulo(struct lowering *l, const char *word)
{
    const bool as_c = net_attr_int(l->node, "fmod", 0) != 0;
    const struct net_array *a, *b;
    (void)word;
    if (lowering_is_narrow(l, true))
        return lowering_narrow_pair(l, as_c ? "rem" : "mod");
    if (!pair_of(l, false, &a, &b))
        return false;
    if (!has_order(a->type) || l->out[0]->type != a->type)
        return lowering_leave(l, "the library's Mod has no version of type %s", net_type_name(a->type));
    if (a->type == NET_F32)
        return as_c ? add_float_rest(l, a, b) : lowering_leave(l, "numbers without fmod");
    return add_pair(l, "integer", as_c ? "rem" : "mod", l->out[0], whole_of(l, a), b, a->type, l->out[0]->data);
}

/* ---- other types ---- */

bool lowering_whole_cast(struct lowering *l)
{
    const struct net_array *const x = l->in[0], *const out = l->out[0];
    const bool from_byte = x->type == NET_U8 || x->type == NET_BOOL;
    if ((!from_byte && x->type != NET_F32 && x->type != NET_I32 && x->type != NET_I64) || x->count == 0)
        return false;
    if (out->type != NET_F32 && out->type != NET_U8 && out->type != NET_BOOL && out->type != NET_I32 && out->type != NET_I64)
        return false;
    lowering_add_cast(l, x->type, x->data, out->type, out->data, x->count);
    return lowering_holds(l);
}
