/* The operation that a chain of tasks implements, found by matching its expression with patterns.
 *
 * The names, with inputs x and y: the activation functions of the table library; copy, scale, abs, square, cube, exp, log, log10,
 * reciprocal and rsqrt with an epsilon; add, sub, mul, div, max, min, ave; ceil, floor; frac (with y = floor(|x|) as an input, as
 * in eiln/ane's program); softmax, softmin, logsoftmax, norm, layernorm, rmsnorm, reduce_sum, reduce_max, reduce_min,
 * reduce_mean, reduce_squares (along the width); conv2d, conv_transpose2d, matmul, avgpool, maxpool, minpool; scaled_add (alpha *
 * x + y); attention; concat; rearrange (a copy with other strides or parts).
 */
#include "isa/ane/ane_expression.h"
#include "isa/ane/ane_line.h"
#include "isa/ane/ane_text.h"
#include "isa/array_count.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* In patterns, x, y and z are different inputs, E is any expression (the same wherever it stands) and [p,q] are parameters, where
 * * matches any value; the first * is the operation's alpha, the second its bias. */
#define LOG2E          "1.442695"
#define LN2            "0.693147"
#define SIGMOID        "scale[1,0.5](sigmoid_half(x))"
#define EXP(x)         "exp2(scale[" LOG2E ",0](sub(" x ",rowmax(" x "))))"
#define SOFT(x)        "mul(" EXP(x) ",recip(sum(" EXP(x) ")))"
#define MINUS          "scale[-1,0](x)"
#define MINUS_FRACTION "scale[-1,0](fraction(x))"
#define SHIFTED        "sub(x,rowmax(x))"
#define SCORES         "scale[*,0](matmul(x,y))"
#define CENTRED        "sub(x,scale[*,0](sum(x)))"
#define LAYERNORM      "mul(rsqrt(scale[*,*](sum(mul(" CENTRED "," CENTRED "))))," CENTRED ")"
#define RMSNORM        "mul(rsqrt(scale[*,*](sum(mul(x,x)))),x)"
static const struct rule {
    const char *name, *pattern;
} rules[] = {
    {"copy", "x"},
    {"abs", "abs(x)"},
    {"leaky_relu", "leaky_relu[*](x)"},
    {"hardtanh", "hardtanh[*](x)"},
    {"elu", "elu[*](x)"},
    {"hardsigmoid", "hardsigmoid[*](x)"},
    {"sigmoid", SIGMOID},
    {"silu", "mul(x," SIGMOID ")"},
    {"silu", "mul(x,sigmoid(x))"},
    {"hardswish", "mul(x,hardsigmoid[*](x))"},
    {"mish", "mul(x,tanh(softplus(x)))"},
    {"softsign", "mul(x,reciprocal(scale[1,1](abs(x))))"},
    {"exp", "exp2(scale[" LOG2E ",0](x))"},
    {"log", "scale[" LN2 ",0](log2(x))"},
    {"log10", "scale[0.30103,0](log2(x))"},
    {"reciprocal", "reciprocal(scale[1,*](x))"},
    {"rsqrt", "rsqrt(scale[1,*](x))"},
    {"square", "mul(x,x)"},
    {"cube", "mul(mul(x,x),x)"},
    {"ceil", "add(integer(x),step(fraction(x)))"},
    {"floor", "sub(integer(x),step(" MINUS_FRACTION "))"},
    {"atan", "add(atan(x),atan_far(x))"},
    {"frac", "sub(x,mul(y,sign(x)))"},
    {"add", "add(x,y)"},
    {"sub", "sub(x,y)"},
    {"mul", "mul(x,y)"},
    {"max", "max(x,y)"},
    {"min", "min(x,y)"},
    {"ave", "scale[0.5,0](add(x,y))"},
    {"div", "mul(x,reciprocal(y))"},
    {"softmax", SOFT("x")},
    {"softmin", SOFT(MINUS)},
    {"logsoftmax", "scale[" LN2 ",0](log2(" SOFT("x") "))"},
    {"logsoftmax", "sub(" SHIFTED ",scale[" LN2 ",0](log2(sum(exp2(scale[" LOG2E ",0](" SHIFTED "))))))"},
    {"norm", "mul(x,reciprocal(relu(sqrt(sum(mul(E,E))))))"},
    {"norm", "mul(x,reciprocal(sqrt(sum(mul(E,E)))))"},
    {"norm", "mul(x,rsqrt(sum(mul(E,E))))"},
    {"layernorm", LAYERNORM},
    {"layernorm", "add(mul(" LAYERNORM ",y),z)"},
    {"rmsnorm", RMSNORM},
    {"rmsnorm", "mul(" RMSNORM ",y)"},
    {"attention", "matmul(z," SOFT(SCORES) ")"},
    {"attention", "mul(matmul(z," EXP(SCORES) "),recip(sum(" EXP(SCORES) ")))"},
    {"reduce_squares", "sum(mul(x,x))"},
    {"reduce_min", "scale[-1,0](rowmax(" MINUS "))"},
    {"reduce_sum", "sum(x)"},
    {"reduce_max", "rowmax(x)"},
    {"reduce_mean", "scale[*,0](sum(x))"},
    {"matmul", "matmul(x,y)"},
    {"conv2d", "conv[*,*](x)"},
    {"conv2d", "scale[*,*](conv[*,*](x))"},
    {"avgpool", "avgpool[*,*](x)"},
    {"maxpool", "maxpool[*,*](x)"},
    {"minpool", "minpool[*,*](x)"},
    {"scaled_add", "add(scale[*,0](x),y)"},
    {"scale", "scale[*,*](x)"},
};

enum { X, Y, Z, ANY, BOUND };
struct match {
    const struct ane_expressions *e;
    uint32_t bound[BOUND];
    double free[4]; /* the values of the stars */
    unsigned stars;
};

static bool match_at(struct match *m, const char **pattern, uint32_t node);

static bool bind(struct match *m, unsigned letter, uint32_t node)
{
    if (m->bound[letter] == ANE_NODE_NONE && (letter == ANY || strcmp(m->e->node[node].op, "input") == 0)) {
        m->bound[letter] = node;
        return letter == ANY || ((letter == X || m->bound[X] != node) && (letter == Y || m->bound[Y] != node) &&
                                 (letter == Z || m->bound[Z] != node));
    }
    return m->bound[letter] == node;
}

/* Matches [p,q], [p] or nothing; parameters that the pattern does not name may have any value. */
static bool match_parameters(struct match *m, const char **pattern, const struct ane_node *node)
{
    const double have[2] = {node->p, node->q};
    if (**pattern != '[')
        return true;
    for (unsigned i = 0; i < 2; i++) {
        ++*pattern; /* beyond [ or , */
        if (**pattern == '*') {
            ++*pattern;
            if (m->stars < 4)
                m->free[m->stars++] = have[i];
        } else {
            char *end;
            const double wanted = strtod(*pattern, &end);
            *pattern = end;
            if (!(fabs(have[i] - wanted) <= 2e-3 * fabs(wanted)))
                return false;
        }
        if (**pattern == ']')
            break;
    }
    ++*pattern;
    return true;
}

static bool match_arguments(struct match *m, const char **pattern, uint32_t first, uint32_t second)
{
    if (first == ANE_NODE_NONE || **pattern != '(')
        return false;
    ++*pattern;
    if (!match_at(m, pattern, first))
        return false;
    if (second != ANE_NODE_NONE) {
        if (**pattern != ',')
            return false;
        ++*pattern;
        if (!match_at(m, pattern, second))
            return false;
    }
    if (**pattern != ')')
        return false;
    ++*pattern;
    return true;
}

static bool commutes(const char *op)
{
    return strcmp(op, "add") == 0 || strcmp(op, "mul") == 0 || strcmp(op, "max") == 0 || strcmp(op, "min") == 0;
}

static bool match_at(struct match *m, const char **pattern, uint32_t number)
{
    static const char letters[] = "xyzE";
    const struct ane_node *node = &m->e->node[number];
    size_t length = 0;
    while (isalnum((unsigned char)(*pattern)[length]) || (*pattern)[length] == '_')
        length++;
    if (length == 1 && strchr(letters, **pattern))
        return bind(m, (unsigned)(strchr(letters, *(*pattern)++) - letters), number);
    if (strlen(node->op) != length || memcmp(node->op, *pattern, length) != 0)
        return false;
    *pattern += length;
    if (!match_parameters(m, pattern, node))
        return false;
    const struct match before = *m;
    const char *at = *pattern;
    if (match_arguments(m, pattern, node->arg[0], node->arg[1]))
        return true;
    if (!commutes(node->op))
        return false;
    *m = before;
    *pattern = at;
    return match_arguments(m, pattern, node->arg[1], node->arg[0]);
}

static const struct rule *find_rule(struct match *m, uint32_t node)
{
    for (size_t i = 0; i < ARRAY_COUNT(rules); i++) {
        const char *at = rules[i].pattern;
        *m = (struct match){.e = m->e, .bound = {ANE_NODE_NONE, ANE_NODE_NONE, ANE_NODE_NONE, ANE_NODE_NONE}};
        if (match_at(m, &at, node) && *at == '\0')
            return &rules[i];
    }
    return NULL;
}

/* Matches a function of the table library, or relu, of an input. */
static bool is_function(const struct ane_node *node)
{
    struct ane_table table;
    return node->arg[0] != ANE_NODE_NONE && node->arg[1] == ANE_NODE_NONE &&
           (strcmp(node->op, "relu") == 0 || ane_table_make(node->op, (double)NAN, &table));
}

static bool uses_alpha(const char *name)
{
    return strcmp(name, "conv2d") != 0 && !strstr(name, "pool");
}

static bool name_plain(const struct ane_expressions *e, uint32_t node, struct ane_operation *operation)
{
    struct match m = {.e = e};
    const struct rule *rule = find_rule(&m, node);
    if (rule) {
        operation->name = rule->name;
        if (m.stars && uses_alpha(rule->name))
            operation->alpha = m.free[0];
        operation->bias = m.stars > 1 && strcmp(rule->name, "scale") == 0 ? m.free[1] : 0;
        for (unsigned i = X; i <= Z; i++)
            if (m.bound[i] != ANE_NODE_NONE)
                operation->input[operation->inputs++] = (uint8_t)e->node[m.bound[i]].p;
        return true;
    }
    const struct ane_node *n = &e->node[node];
    if (!is_function(n) || strcmp(e->node[n->arg[0]].op, "input") != 0)
        return false;
    operation->name = n->op;
    operation->input[0] = (uint8_t)e->node[n->arg[0]].p;
    operation->inputs = 1;
    return true;
}

static bool name_node(const struct ane_expressions *e, uint32_t node, struct ane_operation *operation)
{
    if (name_plain(e, node, operation))
        return true;
    const struct ane_node *n = &e->node[node];
    if (!is_function(n) || !name_plain(e, n->arg[0], operation))
        return false;
    operation->activation = n->op;
    operation->activation_alpha = n->p;
    return true;
}

/* Matches several different inputs that are copied into one output. */
static bool name_concat(const struct ane_expressions *e, struct ane_operation *operation)
{
    if (e->outputs < 2)
        return false;
    for (uint32_t i = 0; i < e->outputs; i++) {
        if (strcmp(e->node[e->output[i]].op, "input") != 0)
            return false;
        if (i < 2)
            operation->input[i] = (uint8_t)e->node[e->output[i]].p;
    }
    operation->name = "concat";
    operation->inputs = e->outputs;
    return true;
}

/* The task that has the shape: the convolution or window, else the first one. */
static size_t shape_task(const struct ane_program *program)
{
    for (size_t i = 0; i < program->count; i++) {
        const struct ane_task *task = &program->task[i];
        if (task->engine == ANE_ENGINE_NE ? task->ne_op != ANE_NE_ELEMENT : task->pe_reduce != ANE_REDUCE_NONE)
            return i;
    }
    return 0;
}

static uint8_t output_bar(const struct ane_program *program)
{
    for (unsigned bar = 0; bar < ANE_BARS; bar++)
        if (program->port[bar].kind == ANE_PORT_OUTPUT)
            return (uint8_t)bar;
    return 0;
}

/* Whether the only task that moves the data leaves every element where it was. */
static bool same_layout(const struct ane_program *program)
{
    const struct ane_operand *x = &program->task[0].source, *y = &program->task[program->count - 1].result;
    return x->base == y->base && x->row == y->row && x->plane == y->plane && x->depth == y->depth && x->group == y->group;
}

static unsigned output_ports(const struct ane_program *program)
{
    unsigned count = 0;
    for (unsigned bar = 0; bar < ANE_BARS; bar++)
        count += program->port[bar].kind == ANE_PORT_OUTPUT;
    return count;
}

/* Considers what expressions do not show: layouts, widths, steps. False when the name does not hold after all. */
static bool refine(const struct ane_program *program, struct ane_operation *operation)
{
    const struct ane_task *task = &program->task[operation->task];
    if (strcmp(operation->name, "copy") == 0 && !operation->activation && (output_ports(program) != 1 || !same_layout(program)))
        operation->name = "rearrange";
    if (strcmp(operation->name, "conv2d") == 0 && (task->step_x > 1 || task->step_y > 1))
        operation->name = "conv_transpose2d";
    const bool mean = strcmp(operation->name, "reduce_mean") == 0 || strcmp(operation->name, "rmsnorm") == 0 ||
                      strcmp(operation->name, "layernorm") == 0;
    return !mean || fabs(operation->alpha * task->width_in - 1) < 2e-3;
}

bool ane_program_find_operation(const struct ane_program *program, struct ane_operation *operation)
{
    struct ane_expressions e;
    *operation = (struct ane_operation){.alpha = (double)NAN, .activation_alpha = (double)NAN};
    if (!ane_expressions_make(program, &e))
        return false;
    bool found = e.outputs == 1 ? name_node(&e, e.output[0], operation) : name_concat(&e, operation);
    operation->output = output_bar(program);
    operation->task = found ? shape_task(program) : 0;
    found = found && refine(program, operation);
    ane_expressions_free(&e);
    return found;
}

/* ---- details ---- */

static void add_convolution(struct ane_line *d, const struct ane_program *program, const struct ane_task *task)
{
    size_t parts = 0;
    for (size_t i = 0; i < program->count; i++)
        parts += program->task[i].engine == ANE_ENGINE_NE && program->task[i].ne_op == ANE_NE_CONVOLUTION;
    ane_line_add(d, "kernel=%ux%u stride=%ux%u pad=%u,%u channels=%u->%u", task->kernel_width, task->kernel_height,
                 task->stride_x, task->stride_y, task->pad_left, task->pad_top, task->channels_in, task->channels_out);
    if (task->groups > 1)
        ane_line_add(d, " groups=%u", task->groups);
    if (task->depthwise)
        ane_line_add(d, " depthwise");
    if (task->bias)
        ane_line_add(d, " with bias");
    if (task->width_in * task->height_in == 1 && task->kernel_width * task->kernel_height == 1)
        ane_line_add(d, " (inner product: gemm 1x%ux%u)", task->channels_in, task->channels_out);
    if (parts > 1)
        ane_line_add(d, ", first of %zu parts", parts);
}

static void add_inputs(struct ane_line *d, const struct ane_operation *operation)
{
    if (operation->inputs == 2)
        ane_line_add(d, "x=bar %u y=bar %u", operation->input[0], operation->input[1]);
    else if (strcmp(operation->name, "concat") == 0)
        ane_line_add(d, "%u inputs", operation->inputs);
}

static bool along_width(const char *name)
{
    return strncmp(name, "soft", 4) == 0
               ? strcmp(name, "softmax") == 0 || strcmp(name, "softmin") == 0
               : strcmp(name, "logsoftmax") == 0 || strcmp(name, "norm") == 0 || strncmp(name, "reduce", 6) == 0 ||
                     strcmp(name, "layernorm") == 0 || strcmp(name, "rmsnorm") == 0;
}

static void add_alpha(struct ane_line *d, const struct ane_operation *operation)
{
    const bool epsilon = strcmp(operation->name, "reciprocal") == 0 || strcmp(operation->name, "rsqrt") == 0;
    if (isnan(operation->alpha) || strcmp(operation->name, "reduce_mean") == 0)
        return;
    if (strcmp(operation->name, "scale") == 0)
        ane_line_add(d, "factor=%g bias=%g", operation->alpha, operation->bias);
    else
        ane_line_add(d, "%s=%g", epsilon ? "epsilon" : "alpha", operation->alpha);
}

const char *ane_program_operation(const struct ane_program *program, char *detail, size_t size)
{
    struct ane_operation operation;
    struct ane_line d = {detail, size, 0};
    if (size)
        detail[0] = '\0';
    if (!ane_program_find_operation(program, &operation))
        return NULL;
    const struct ane_task *task = &program->task[operation.task];
    if (strncmp(operation.name, "conv", 4) == 0)
        add_convolution(&d, program, task);
    else if (strstr(operation.name, "pool"))
        ane_line_add(&d, "kernel=%ux%u stride=%ux%u", task->kernel_width, task->kernel_height, task->stride_x, task->stride_y);
    else if (along_width(operation.name))
        ane_line_add(&d, "axis=width");
    else if (!isnan(operation.alpha))
        add_alpha(&d, &operation);
    else
        add_inputs(&d, &operation);
    if (operation.activation)
        ane_line_add(&d, "%sthen %s", d.used ? ", " : "", operation.activation);
    return operation.name;
}
