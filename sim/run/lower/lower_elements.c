/* Functions of elements. */
#include "sim/run/lower/lowering.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- one operand ---- */

static bool same(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b));
}

/* A function of a number of 0, which the library takes for none. */
static struct lowered_step *add_zero(struct lowering *l, const char *word, float *to, int64_t count)
{
    const char *const op = strncmp(word, "max", 3) == 0   ? "op=relu"
                           : strncmp(word, "min", 3) == 0 ? "op=neg+relu+neg"
                           : strncmp(word, "add", 3) == 0 ? "op=mul,number=1"
                                                          : NULL;
    if (op)
        return lowering_step(l, to, count, "elementwise:%lld,%s", (long long)count, op);
    lowering_leave(l, "%.3s 0", word);
    return NULL;
}

/* The same where the library takes the number with the request, one function at a time. */
static bool add_numbers(struct lowering *l, const char *words, const float *number, unsigned numbers, const float *from,
                        float *to, int64_t count)
{
    for (unsigned i = 0; i < numbers; i++, from = to) {
        const int length = (int)strcspn(words, "+");
        struct lowered_step *const step = number[i] == 0 ? add_zero(l, words, to, count)
                                                         : lowering_step(l, to, count, "elementwise:%lld,op=%.*s,number=%.9g",
                                                                         (long long)count, length, words, (double)number[i]);
        lowering_read(step, from, count);
        words += length + (words[length] != 0);
    }
    return lowering_holds(l);
}

/* The Neural Engine has numbers in half precision, and no powers: what it does not have is the cores'. */
static bool are_engines(const char *words, const float *number, unsigned numbers)
{
    static const float largest = 65504;
    for (unsigned i = 0; i < numbers; i++)
        if (!(fabsf(number[i]) <= largest))
            return false;
    return !strstr(words, "pow");
}

static bool add_operands(struct lowering *l, const char *words, const float *number, unsigned numbers, const float *from,
                         float *to, int64_t count)
{
    struct lowered_step *const step = lowering_step(l, to, count, "elementwise:%lld,op=%s,period=1", (long long)count, words);
    float *const own = lowering_scratch(l, numbers);
    lowering_read(step, from, count);
    for (unsigned i = 0; own && i < numbers; i++) {
        own[i] = number[i];
        lowering_read(step, own + i, 1);
    }
    return lowering_holds(l);
}

bool lowering_add_chain(struct lowering *l, const char *words, const float *number, unsigned numbers, const float *from,
                        float *to, int64_t count)
{
    if (l->part == PART_ANE && are_engines(words, number, numbers))
        return add_numbers(l, words, number, numbers, from, to, count);
    const struct lowering_cores before = lowering_begin_cores(l);
    const bool ok = add_operands(l, words, number, numbers, from, to, count);
    lowering_end_cores(l, &before);
    return ok;
}

static bool add_function(struct lowering *l, const char *word, double alpha, double beta, const float *from, float *to,
                         int64_t count)
{
    const bool sloped = strcmp(word, "leaky_relu") == 0 || strcmp(word, "elu") == 0;
    if (strcmp(word, "hard_sigmoid") == 0 && !(same(alpha, 1.0 / 6) && same(beta, 0.5)))
        return lowering_add_chain(l, "mul+add+max+min", (const float[]){(float)alpha, (float)beta, 0, 1}, 4, from, to, count);
    if (strcmp(word, "silu") == 0 && alpha != 1) { /* x sigmoid(alpha x) = silu(alpha x) / alpha */
        if (alpha == 0)
            return lowering_leave(l, "Swish with alpha 0");
        return lowering_add_chain(l, "mul", &(const float){(float)alpha}, 1, from, to, count) &&
               add_function(l, word, 1, 0, to, to, count) &&
               lowering_add_chain(l, "mul", &(const float){(float)(1 / alpha)}, 1, to, to, count);
    }
    if (sloped && alpha == 0)
        return lowering_leave(l, "%s with alpha 0", word);
    char option[40] = "";
    if (sloped)
        snprintf(option, sizeof option, ",alpha=%.9g", alpha);
    lowering_read(lowering_step(l, to, count, "elementwise:%lld,op=%s%s", (long long)count, word, option), from, count);
    return true;
}

static double usual_alpha(const char *word)
{
    return strcmp(word, "leaky_relu") == 0 ? 0.01 : strcmp(word, "hard_sigmoid") == 0 ? 0.2 : 1;
}

bool lowering_add_pair(struct lowering *l, const char *word, const float *a, const float *b, int64_t count, float *to)
{
    struct lowered_step *const step = lowering_step(l, to, count, "elementwise:%lld,op=%s", (long long)count, word);
    lowering_read(step, a, count);
    lowering_read(step, b, count);
    return lowering_holds(l);
}

/* Klambauer and others, Self-Normalizing Neural Networks, 2017: the numbers that keep means and variances. */
#define SELU_ALPHA 1.67326319217681884765625
#define SELU_GAMMA 1.05070102214813232421875

bool lowering_function(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0];
    const double gamma = net_attr_real(l->node, "gamma", SELU_GAMMA), alpha = net_attr_real(l->node, "alpha", SELU_ALPHA);
    if (strcmp(word, "selu") == 0 && !(same(alpha, SELU_ALPHA) && same(gamma, SELU_GAMMA)))
        return add_function(l, "elu", alpha, 0, x->data, l->out[0]->data, x->count) &&
               lowering_add_chain(l, "mul", &(const float){(float)gamma}, 1, l->out[0]->data, l->out[0]->data, x->count);
    const bool by_tanh = strcmp(net_attr_text(l->node, "approximate", "none"), "tanh") == 0;
    return add_function(l, by_tanh ? "gelu_tanh" : word, net_attr_real(l->node, "alpha", usual_alpha(word)),
                        net_attr_real(l->node, "beta", 0.5), x->data, l->out[0]->data, x->count);
}

static bool add_clip(struct lowering *l, double low, double high, const float *from, float *to, int64_t count)
{
    const float both[] = {(float)low, (float)high};
    const bool has_low = isfinite(low), has_high = isfinite(high);
    if (has_low && has_high)
        return lowering_add_chain(l, "max+min", both, 2, from, to, count);
    if (!has_low && !has_high)
        return lowering_leave(l, "Clip without bounds");
    return lowering_add_chain(l, has_low ? "max" : "min", has_low ? both : both + 1, 1, from, to, count);
}

bool lowering_clip(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0], *const low = l->node->inputs > 1 ? l->in[1] : NULL;
    const struct net_array *const high = l->node->inputs > 2 ? l->in[2] : NULL;
    (void)word;
    return add_clip(l, low ? net_array_double(low, 0) : -INFINITY, high ? net_array_double(high, 0) : INFINITY, x->data,
                    l->out[0]->data, x->count);
}

/* ---- activations of fused nodes ---- */

struct activation {
    const char *word; /* "" = none; NULL = Clip */
    double alpha, beta;
};

static struct activation activation_of(const struct net_node *node)
{
    static const struct {
        const char *op, *word;
    } names[] = {{"Relu", "relu"}, {"LeakyRelu", "leaky_relu"},     {"Sigmoid", "sigmoid"},      {"Tanh", "tanh"},
                 {"Elu", "elu"},   {"HardSigmoid", "hard_sigmoid"}, {"HardSwish", "hard_swish"}, {"Swish", "silu"}};
    const char *const op = net_attr_text(node, "activation", "");
    struct activation a = {"", net_attr_real(node, "activation_alpha", NAN), net_attr_real(node, "activation_beta", NAN)};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(op, names[i].op) == 0)
            a.word = names[i].word;
    if (strcmp(op, "Gelu") == 0)
        a.word = a.alpha == 1 ? "gelu_tanh" : "gelu";
    if (strcmp(op, "Clip") == 0)
        a.word = same(a.alpha, 0) && same(a.beta, 6) ? "relu6" : NULL;
    if (a.word && isnan(a.alpha))
        a.alpha = usual_alpha(a.word);
    if (a.word && isnan(a.beta))
        a.beta = 0.5;
    return a;
}

const char *lowering_activation_word(const struct net_node *node)
{
    const struct activation a = activation_of(node);
    if (!a.word || a.word[0] == 0)
        return a.word;
    const bool plain = strcmp(a.word, "leaky_relu") == 0                           ? same(a.alpha, 0.01)
                       : strcmp(a.word, "hard_sigmoid") == 0                       ? same(a.alpha, 1.0 / 6) && same(a.beta, 0.5)
                       : strcmp(a.word, "elu") == 0 || strcmp(a.word, "silu") == 0 ? a.alpha == 1
                                                                                   : true;
    return plain ? a.word : NULL;
}

bool lowering_activation(struct lowering *l, float *data, int64_t count)
{
    const struct activation a = activation_of(l->node);
    if (!a.word)
        return add_clip(l, isnan(a.alpha) ? -INFINITY : a.alpha, isnan(a.beta) ? INFINITY : a.beta, data, data, count);
    return a.word[0] == 0 || add_function(l, a.word, a.alpha, a.beta, data, data, count);
}

/* ---- two operands ---- */

/* Each dimension of `b` is 1 or that of `shape`. */
bool lowering_is_repeated(struct lowering *l, const struct net_array *shape, const struct net_array *b)
{
    bool fits = b->dims <= shape->dims;
    for (unsigned d = 1; fits && d <= b->dims; d++)
        fits = b->shape[b->dims - d] == 1 || b->shape[b->dims - d] == shape->shape[shape->dims - d];
    return fits || lowering_leave(l, "an operand of %u dimensions that are not those of the result", b->dims);
}

int64_t lowering_period(const struct net_array *shape, const struct net_array *b)
{
    bool ones = false;
    for (unsigned d = 1; d <= b->dims; d++) {
        const int64_t have = b->shape[b->dims - d], want = d <= shape->dims ? shape->shape[shape->dims - d] : 1;
        if (have != want || (ones && have != 1)) {
            ones = true;
            if (have != 1)
                return 0;
        }
    }
    return b->count;
}

/* The rows of `b` that a larger array repeats, one place for each of its rows: rows are what is not repeated at the end. */
static uint32_t *places_of(struct lowering *l, const struct net_array *shape, const struct net_array *b, int64_t *columns)
{
    int64_t stride[NET_DIMS_MAX] = {0}, each = 1;
    unsigned whole = 0;
    *columns = 1;
    for (; whole < b->dims && b->shape[b->dims - 1 - whole] == shape->shape[shape->dims - 1 - whole]; whole++)
        *columns *= b->shape[b->dims - 1 - whole];
    for (unsigned d = whole; d < b->dims; d++) {
        const int64_t have = b->shape[b->dims - 1 - d];
        stride[shape->dims - 1 - d] = have == 1 ? 0 : each;
        each *= have;
    }
    const int64_t rows = shape->count / *columns;
    uint32_t *const place = lowering_scratch(l, rows);
    for (int64_t i = 0; place && i < rows; i++) {
        int64_t left = i, at = 0;
        for (unsigned d = shape->dims - whole; d-- > 0; left /= shape->shape[d])
            at += left % shape->shape[d] * stride[d];
        place[i] = (uint32_t)at;
    }
    return place;
}

/* How often each element of `b` stands in a row when it is repeated along the last dimensions and, as a whole, along the first
 * ones; 0 = it is otherwise. */
static int64_t run_of(const struct net_array *shape, const struct net_array *b)
{
    int64_t run = 1;
    unsigned d = 1;
    for (; d <= b->dims && b->shape[b->dims - d] == 1; d++)
        run *= shape->shape[shape->dims - d];
    while (d <= b->dims && b->shape[b->dims - d] == shape->shape[shape->dims - d])
        d++;
    for (; d <= b->dims; d++)
        if (b->shape[b->dims - d] != 1)
            return 0;
    return run;
}

/* The Neural Engine has no places, but products: a column times a row of ones, which is exact. */
static const float *expand_by_product(struct lowering *l, const struct net_array *b, int64_t run, float *to)
{
    float *const ones = lowering_scratch(l, run);
    for (int64_t i = 0; ones && i < run; i++)
        ones[i] = 1;
    struct lowered_step *const step =
        lowering_step(l, to, b->count * run, "gemm:%lldx%lldx1,weights=b", (long long)b->count, (long long)run);
    lowering_read(step, b->data, b->count);
    lowering_read(step, ones, run);
    return to;
}

const void *lowering_repeat(struct lowering *l, const struct net_array *shape, const struct net_array *b, void *to)
{
    const int64_t run = l->part == PART_ANE && b->type == NET_F32 ? run_of(shape, b) : 0;
    if (run > 1 && run * b->count == shape->count)
        return expand_by_product(l, b, run, to);
    int64_t columns;
    const uint32_t *const place = places_of(l, shape, b, &columns);
    const int64_t rows = shape->count / columns;
    struct lowered_step *const step =
        lowering_moves(lowering_step(l, to, shape->count, "gather:%lldx%lldx%lld", (long long)(b->count / columns),
                                     (long long)(columns * lowering_words(b->type)), (long long)rows),
                       b->type, shape->count);
    lowering_read_elements(step, b->type, b->data, b->count);
    lowering_read(step, place, rows);
    return to;
}

/* The same of a constant, before the network runs: no kernel is needed. */
static const float *write_out(struct lowering *l, const struct net_array *shape, const struct net_array *b)
{
    int64_t columns;
    const uint32_t *const place = places_of(l, shape, b, &columns);
    float *const to = lowering_scratch(l, shape->count);
    for (int64_t i = 0; place && to && !b->blank && i < shape->count / columns; i++)
        memcpy(to + i * columns, (const float *)b->data + place[i] * columns, (size_t)columns * sizeof *to);
    return to;
}

/* The Neural Engine repeats arrays of whole rows, each time as a channel (units/ane/kernels/ane_kernel_elementwise.c). */
static bool ane_repeats(int64_t period, int64_t count)
{
    enum { ROW = 32, MOST = 65536 };
    return period > 1 && period % ROW == 0 && count / period <= MOST;
}

/* Numbers of channels on the Neural Engine: its convolution of single pixels scales each channel, or adds to it, while an array
 * of all elements would pass through memory. 0 = it is something else. */
static int64_t channel_run(const struct lowering *l, const char *word, const struct net_array *shape, const struct net_array *b)
{
    const bool fits = l->part == PART_ANE && shape->dims == 4 && b->count > 1 && b->count < shape->count &&
                      (strcmp(word, "mul") == 0 || strcmp(word, "add") == 0) && lowering_holds_constant(l, b);
    const int64_t run = fits ? run_of(shape, b) : 0;
    return run == shape->shape[2] * shape->shape[3] && b->count == shape->shape[1] ? run : 0;
}

static bool add_channels(struct lowering *l, const char *word, const float *a, const struct net_array *shape,
                         const struct net_array *b, float *to)
{
    const bool scales = strcmp(word, "mul") == 0;
    float *const zero = lowering_scratch(l, b->count), *const one = lowering_scratch(l, b->count);
    for (int64_t i = 0; zero && one && i < b->count; i++) {
        zero[i] = 0;
        one[i] = 1;
    }
    struct lowered_step *const step =
        lowering_step(l, to, shape->count, "batchnorm:n=%lld,c=%lld,h=%lld,w=%lld,eps=0", (long long)shape->shape[0],
                      (long long)shape->shape[1], (long long)shape->shape[2], (long long)shape->shape[3]);
    lowering_read(step, a, shape->count);
    lowering_read(step, scales ? b->data : one, b->count);
    lowering_read(step, scales ? zero : b->data, b->count);
    lowering_read(step, zero, b->count);
    lowering_read(step, one, b->count);
    return lowering_holds(l);
}

bool lowering_broadcast_pair(struct lowering *l, const char *word, const float *a, const struct net_array *shape,
                             const struct net_array *b, float *to)
{
    if (!lowering_is_repeated(l, shape, b))
        return false;
    if (channel_run(l, word, shape, b))
        return add_channels(l, word, a, shape, b, to);
    const int64_t count = shape->count, run = l->part == PART_ANE && b->count < count ? run_of(shape, b) : 0;
    int64_t period = b->count == count ? 0 : lowering_period(shape, b);
    const bool ahead = l->part == PART_ANE && b->count > 1 && lowering_holds_constant(l, b) && !ane_repeats(period, count);
    const bool twice = !ahead && !period && run > 1 && ane_repeats(run * b->count, count);
    const bool simple = b->count == count || (period > 0 && !ahead);
    if (ahead || twice)
        period = twice ? run * b->count : 0;
    if (period == 1 && l->part == PART_ANE && !strchr(word, '+') && lowering_holds_constant(l, b) && *(const float *)b->data != 0)
        return lowering_add_chain(l, word, b->data, 1, a, to, count);
    char option[40] = "";
    if (period)
        snprintf(option, sizeof option, ",period=%lld", (long long)period);
    const float *const second = simple  ? b->data
                                : ahead ? write_out(l, shape, b)
                                : twice ? expand_by_product(l, b, run, lowering_scratch(l, period))
                                        : lowering_repeat(l, shape, b, lowering_scratch(l, count));
    struct lowered_step *const step = lowering_step(l, to, count, "elementwise:%lld,op=%s%s", (long long)count, word, option);
    lowering_read(step, a, count);
    lowering_read(step, second, period ? period : count);
    return lowering_holds(l);
}

/* The kernel's powers are of positive numbers, and not defined for others, where only whole powers are anything: so these are
 * products. */
static bool add_power(struct lowering *l, const struct net_array *a, const struct net_array *b)
{
    enum { PRODUCTS_MOST = 8 };
    const double power = b->count == 1 ? net_array_double(b, 0) : NAN;
    float *const to = l->out[0]->data;
    const float number = (float)power;
    if (a->type != NET_F32 || l->out[0]->type != NET_F32)
        return lowering_whole_power(l, a, b);
    if (isnan(power) || l->out[0]->count != a->count)
        return lowering_add_power(l, a, b);
    if (power == 2 || power == 0.5)
        return add_function(l, power == 2 ? "square" : "sqrt", 1, 0, a->data, to, a->count);
    if (power != floor(power))
        return lowering_add_chain(l, "pow", &number, 1, a->data, to, a->count);
    if (power < 2 || power > PRODUCTS_MOST)
        return lowering_add_power(l, a, b);
    float *const product = lowering_scratch(l, a->count);
    const float *from = a->data;
    for (int left = (int)power - 1; left > 0; left--, from = product)
        if (!lowering_add_pair(l, "mul", from, a->data, a->count, left == 1 ? to : product))
            return false;
    return true;
}

bool lowering_pair(struct lowering *l, const char *word)
{
    const struct net_array *a = l->in[0], *b = l->node->inputs > 1 ? l->in[1] : NULL;
    const struct net_array *const out = l->out[0];
    const bool either =
        strncmp(word, "add", 3) == 0 || strcmp(word, "mul") == 0 || strcmp(word, "max") == 0 || strcmp(word, "min") == 0;
    if (l->node->inputs != 2 && (strcmp(word, "max") == 0 || strcmp(word, "min") == 0))
        return lowering_sum(l, word);
    if (strcmp(word, "pow") == 0 && l->node->inputs == 2 && b)
        return add_power(l, a, b);
    if (l->node->inputs != 2 || !b || b->type != NET_F32)
        return lowering_leave(l, "%zu operands, or of several types", l->node->inputs);
    if (a->count != out->count && b->count == out->count && either) {
        const struct net_array *const swapped = a;
        a = b;
        b = swapped;
    }
    if (!lowering_is_repeated(l, out, a))
        return false;
    const float *const first =
        a->count == out->count ? (const float *)a->data : lowering_repeat(l, out, a, lowering_scratch(l, out->count));
    return lowering_broadcast_pair(l, word, first, out, b, out->data);
}

/* Operands one after another; the first that is as large as the result is where they are added to. */
bool lowering_sum(struct lowering *l, const char *word)
{
    const struct net_array *const out = l->out[0];
    const char *const op = strcmp(word, "mean") == 0 ? "add" : word;
    const float part = 1 / (float)l->node->inputs;
    size_t first = 0;
    while (first < l->node->inputs && (!l->in[first] || l->in[first]->count != out->count))
        first++;
    if (l->node->inputs < 2 || first == l->node->inputs)
        return lowering_leave(l, "%zu operands, none as large as the result", l->node->inputs);
    const float *sum = l->in[first]->data;
    for (size_t k = 0; k < l->node->inputs; k++) {
        if (k == first)
            continue;
        if (!l->in[k] || !lowering_broadcast_pair(l, op, sum, out, l->in[k], out->data))
            return lowering_leave(l, "an operand is missing");
        sum = out->data;
    }
    return op == word || lowering_add_chain(l, "mul", &part, 1, out->data, out->data, out->count);
}
