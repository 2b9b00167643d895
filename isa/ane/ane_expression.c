/* Tasks to expressions. */
#include "isa/ane/ane_expression.h"
#include "isa/ane/ane_line.h"
#include "isa/list_grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The value of a place: of a buffer or a part of tile memory, which is named by where it begins. */
struct stored {
    enum ane_place place; /* chains count as tile memory, and the base of the ring names them */
    uint8_t bar;
    uint32_t base;
    uint32_t node;
};

struct follower {
    const struct ane_program *program;
    struct ane_expressions *e;
    struct stored *stored; /* one per task at most */
    size_t count;
};

/* ---- nodes ---- */

static uint32_t intern(struct ane_expressions *e, const char *op, double p, double q, uint32_t first, uint32_t second)
{
    for (uint32_t i = 0; i < e->count; i++) {
        const struct ane_node *n = &e->node[i];
        if (strcmp(n->op, op) == 0 && n->p == p && n->q == q && n->arg[0] == first && n->arg[1] == second)
            return i;
    }
    struct ane_node *const node = list_grow(e->node, e->count, &e->room, sizeof *node);
    if (!node) {
        e->failed = true;
        return 0;
    }
    e->node = node;
    e->node[e->count] = (struct ane_node){op, p, q, {first, second}};
    return e->count++;
}

static uint32_t unary(struct ane_expressions *e, const char *op, uint32_t x)
{
    return intern(e, op, 0, 0, x, ANE_NODE_NONE);
}

/* p * x + q; nested scales become one. */
static uint32_t scale(struct ane_expressions *e, double p, double q, uint32_t x)
{
    if (e->failed)
        return 0;
    if (x < e->count && strcmp(e->node[x].op, "scale") == 0) {
        const struct ane_node inner = e->node[x];
        q += p * inner.q;
        p *= inner.p;
        x = inner.arg[0];
    }
    if (isnan(p) || isnan(q)) /* it would never equal itself */
        return unary(e, "unknown", x);
    return p == 1 && q == 0 ? x : intern(e, "scale", p, q + 0.0 /* no -0 */, x, ANE_NODE_NONE);
}

static bool is_negation(const struct ane_expressions *e, uint32_t x)
{
    return !e->failed && strcmp(e->node[x].op, "scale") == 0 && e->node[x].p == -1 && e->node[x].q == 0;
}

static uint32_t sum(struct ane_expressions *e, uint32_t x, uint32_t y)
{
    if (is_negation(e, x))
        return intern(e, "sub", 0, 0, y, e->node[x].arg[0]);
    if (is_negation(e, y))
        return intern(e, "sub", 0, 0, x, e->node[y].arg[0]);
    return intern(e, "add", 0, 0, x, y);
}

/* ---- places ---- */

static uint32_t load(struct follower *f, const struct ane_operand *operand)
{
    const bool dram = operand->place == ANE_PLACE_DRAM;
    for (size_t i = f->count; i-- > 0;) {
        const struct stored *s = &f->stored[i];
        if ((s->place == ANE_PLACE_DRAM) == dram && s->base == operand->base && (!dram || s->bar == operand->bar))
            return s->node;
    }
    if (dram && f->program->port[operand->bar % ANE_BARS].kind == ANE_PORT_INPUT)
        return intern(f->e, "input", operand->bar, 0, ANE_NODE_NONE, ANE_NODE_NONE);
    return intern(f->e, "unwritten", operand->bar, operand->base, ANE_NODE_NONE, ANE_NODE_NONE);
}

static void store(struct follower *f, const struct ane_operand *operand, uint32_t node)
{
    f->stored[f->count++] = (struct stored){operand->place, operand->bar, operand->base, node};
    if (operand->place != ANE_PLACE_DRAM || f->program->port[operand->bar % ANE_BARS].kind != ANE_PORT_OUTPUT)
        return;
    for (uint32_t i = 0; i < f->e->outputs; i++)
        if (f->e->output[i] == node)
            return;
    f->e->output[f->e->outputs++] = node;
}

/* ---- tasks ---- */

bool ane_task_table(const struct ane_program *program, const struct ane_task *task, struct ane_table *table)
{
    struct isa_error error;
    if (task->engine != ANE_ENGINE_NE || task->nonlinear != ANE_TABLE)
        return false;
    for (unsigned k = 0; k < ANE_BANKS; k++) {
        const struct ane_bank *bank = &task->bank[k];
        if (bank->enabled)
            return bank->base <= program->const_bytes && ane_table_read(program->bytes + program->const_offset + bank->base,
                                                                        program->const_bytes - bank->base, table, &error);
    }
    return false;
}

static uint32_t activate(struct follower *f, const struct ane_task *task, uint32_t x)
{
    struct ane_table table;
    if (task->nonlinear == ANE_RELU)
        return unary(f->e, "relu", x);
    if (task->nonlinear != ANE_TABLE)
        return x;
    const char *name = ane_task_table(f->program, task, &table) ? ane_table_name(&table) : NULL;
    const double alpha = name ? ane_table_alpha(&table) : 0;
    return intern(f->e, name ? name : "unknown", isnan(alpha) ? 0 : alpha, 0, x, ANE_NODE_NONE);
}

static uint32_t neural(struct follower *f, const struct ane_task *task)
{
    uint32_t x = load(f, &task->source);
    if (task->input_relu)
        x = unary(f->e, "relu", x);
    if (task->ne_op == ANE_NE_MATMUL)
        x = intern(f->e, "matmul", 0, 0, x, load(f, &task->second));
    else if (task->ne_op == ANE_NE_CONVOLUTION)
        x = intern(f->e, "conv", task->kernel_width, task->kernel_height, x, ANE_NODE_NONE);
    x = scale(f->e, task->post_scale, (double)task->post_scale * (double)task->acc_bias, x);
    return activate(f, task, x);
}

static uint32_t combine(struct follower *f, const struct ane_task *task, uint32_t x)
{
    static const char *const names[] = {"add", "mul", "max", "min"};
    if (!ane_task_has_second(task))
        return x;
    uint32_t y = load(f, &task->second);
    if (task->pe_subtract_second && task->pe_op == ANE_PE_ADD)
        return intern(f->e, "sub", 0, 0, x, y);
    if (task->pe_subtract_second)
        y = scale(f->e, -1, 0, y);
    return task->pe_op == ANE_PE_ADD ? sum(f->e, x, y) : intern(f->e, names[task->pe_op & 3], 0, 0, x, y);
}

static uint32_t reduce(struct follower *f, const struct ane_task *task, uint32_t x)
{
    static const char *const names[] = {NULL, "sum", "rowmax", "avgpool", "maxpool", "minpool"};
    const char *name = names[task->pe_reduce];
    if (!name)
        return x;
    if (task->pe_reduce == ANE_REDUCE_SUM || task->pe_reduce == ANE_REDUCE_MAX)
        return unary(f->e, name, x);
    return intern(f->e, name, task->kernel_width, task->kernel_height, x, ANE_NODE_NONE);
}

static uint32_t planar(struct follower *f, const struct ane_task *task)
{
    const double final_scale = task->pe_final_scale;
    uint32_t x = combine(f, task, scale(f->e, task->pe_pre_scale, 0, load(f, &task->source)));
    if (task->pe_absolute)
        x = unary(f->e, "abs", x);
    x = reduce(f, task, x);
    if (task->pe_reciprocal)
        x = unary(f->e, "recip", x);
    x = scale(f->e, final_scale * (double)task->pe_scale, final_scale * (double)task->pe_bias, x);
    return task->pe_relu ? unary(f->e, "relu", x) : x;
}

bool ane_expressions_make(const struct ane_program *program, struct ane_expressions *expressions)
{
    *expressions = (struct ane_expressions){.result = calloc(program->count + 1, sizeof *expressions->result),
                                            .output = calloc(program->count + 1, sizeof *expressions->output)};
    struct follower f = {program, expressions, calloc(program->count + 1, sizeof *f.stored), 0};
    expressions->failed = !expressions->result || !expressions->output || !f.stored;
    for (size_t i = 0; !expressions->failed && i < program->count; i++) {
        const struct ane_task *task = &program->task[i];
        const uint32_t node = task->engine == ANE_ENGINE_NE ? neural(&f, task) : planar(&f, task);
        if (expressions->failed)
            break;
        expressions->result[i] = node;
        store(&f, &task->result, node);
    }
    free(f.stored);
    if (expressions->failed)
        ane_expressions_free(expressions);
    return !expressions->failed;
}

void ane_expressions_free(struct ane_expressions *expressions)
{
    free(expressions->node);
    free(expressions->result);
    free(expressions->output);
    *expressions = (struct ane_expressions){.failed = expressions->failed};
}

/* Shared parts are written wherever they occur, so the text of some expressions ends only where the buffer is full. */
static void write_node(const struct ane_expressions *e, uint32_t number, struct ane_line *line)
{
    const struct ane_node *n = &e->node[number];
    if (line->used >= line->size)
        return;
    if (strcmp(n->op, "input") == 0) {
        ane_line_add(line, "bar%g", n->p);
        return;
    }
    ane_line_add(line, "%s", n->op);
    if (strcmp(n->op, "scale") == 0)
        ane_line_add(line, "[%.5g,%.5g]", n->p, n->q);
    for (unsigned i = 0; i < 2 && n->arg[i] != ANE_NODE_NONE; i++) {
        ane_line_add(line, i ? "," : "(");
        write_node(e, n->arg[i], line);
    }
    if (n->arg[0] != ANE_NODE_NONE)
        ane_line_add(line, ")");
}

void ane_expression_text(const struct ane_expressions *expressions, uint32_t node, char *text, size_t size)
{
    struct ane_line line = {text, size, 0};
    if (size)
        text[0] = '\0';
    write_node(expressions, node, &line);
}
