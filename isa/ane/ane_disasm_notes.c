/* Notes on a task, in the words of an engineer. */
#include "isa/ane/ane_disasm_parts.h"
#include "isa/ane/ane_expression.h"
#include "isa/ane/ane_half.h"
#include "isa/ane/ane_line.h"

#include <string.h>

static const char *const format_names[] = {"u8", "i8", "f16"};

/* Writes a base register with the name of its port, as in bar 5 "image". */
static void ane_write_bar(const struct ane_program *program, unsigned bar, FILE *out)
{
    const struct ane_port *port = &program->port[bar % ANE_BARS];
    fprintf(out, "bar %u", bar);
    if (port->kind == ANE_PORT_SCRATCH)
        fprintf(out, " (scratch)");
    else if (port->name[0])
        fprintf(out, " \"%s\"", port->name);
}

/* ---- the formula, from the inside outwards ---- */

#define FORMULA_BYTES 400

struct formula {
    char text[FORMULA_BYTES];
};

/* Puts text before and after the formula. */
static void wrap(struct formula *f, const char *before, const char *after)
{
    struct formula old = *f;
    struct ane_line line = {f->text, sizeof f->text, 0};
    ane_line_add(&line, "%s%s%s", before, old.text, after);
}

static bool is_sum(const char *text)
{
    int depth = 0;
    for (; *text; text++) {
        depth += (*text == '(') - (*text == ')');
        if (depth == 0 && *text == ' ')
            return true;
    }
    return false;
}

static void scale(struct formula *f, double factor)
{
    char before[40];
    const bool brackets = is_sum(f->text);
    if (factor == 1)
        return;
    if (factor == -1)
        snprintf(before, sizeof before, "-%s", brackets ? "(" : "");
    else
        snprintf(before, sizeof before, "%.5g * %s", factor, brackets ? "(" : "");
    wrap(f, before, brackets ? ")" : "");
}

static void offset(struct formula *f, double bias)
{
    char after[40];
    if (bias == 0)
        return;
    snprintf(after, sizeof after, " %c %.5g", bias < 0 ? '-' : '+', fabs(bias));
    wrap(f, "", after);
}

static void call(struct formula *f, const char *function)
{
    char before[80];
    snprintf(before, sizeof before, "%s(", function);
    wrap(f, before, ")");
}

static void activate(const struct ane_program *program, const struct ane_task *task, struct formula *f)
{
    struct ane_table table;
    char with[64];
    if (task->nonlinear == ANE_RELU)
        call(f, "relu");
    if (task->nonlinear != ANE_TABLE)
        return;
    const char *name = ane_task_table(program, task, &table) ? ane_table_name(&table) : NULL;
    const double alpha = name ? ane_table_alpha(&table) : (double)NAN;
    snprintf(with, sizeof with, isnan(alpha) ? "%s" : "%s[%.4g]", name ? name : "table", alpha);
    call(f, with);
}

static void neural(const struct ane_program *program, const struct ane_task *task, struct formula *f)
{
    char with[64];
    if (task->input_relu)
        call(f, "relu");
    if (task->ne_op == ANE_NE_MATMUL)
        wrap(f, "matmul(", ", x2)");
    if (task->ne_op == ANE_NE_CONVOLUTION) {
        snprintf(with, sizeof with, "conv %ux%u", task->kernel_width, task->kernel_height);
        call(f, with);
        if (task->bias)
            wrap(f, "", " + bias");
    }
    offset(f, task->acc_bias);
    scale(f, ldexp(task->post_scale, -(int)task->post_shift));
    activate(program, task, f);
}

static void combine(const struct ane_task *task, struct formula *f)
{
    static const char *const signs[] = {" + x2", " * x2"};
    if (!ane_task_has_second(task))
        return;
    if (task->pe_op >= ANE_PE_MAX)
        wrap(f, task->pe_op == ANE_PE_MAX ? "max(" : "min(", task->pe_subtract_second ? ", -x2)" : ", x2)");
    else if (task->pe_op == ANE_PE_ADD && task->pe_subtract_second)
        wrap(f, "", " - x2");
    else
        wrap(f, "", signs[task->pe_op]);
}

static void planar(const struct ane_task *task, struct formula *f)
{
    static const char *const windows[] = {NULL, "sum over width ", "max over width ", "average", "max", "min"};
    char with[64];
    scale(f, task->pe_pre_scale);
    combine(task, f);
    if (task->pe_absolute)
        call(f, "abs");
    if (task->pe_reduce == ANE_REDUCE_SUM || task->pe_reduce == ANE_REDUCE_MAX) {
        call(f, windows[task->pe_reduce]);
    } else if (task->pe_reduce != ANE_REDUCE_NONE) {
        snprintf(with, sizeof with, "%s pool %ux%u ", windows[task->pe_reduce], task->kernel_width, task->kernel_height);
        call(f, with);
    }
    if (task->pe_reciprocal)
        wrap(f, is_sum(f->text) ? "1 / (" : "1 / ", is_sum(f->text) ? ")" : "");
    scale(f, task->pe_scale);
    offset(f, task->pe_bias);
    scale(f, task->pe_final_scale);
    if (task->pe_relu)
        call(f, "relu");
}

/* ---- operands ---- */

static void write_strides(const struct ane_operand *operand, FILE *out)
{
    const uint32_t stride[] = {operand->row, operand->plane, operand->depth, operand->group};
    static const char *const names[] = {"row", "plane", "depth", "group"};
    for (unsigned i = 0; i < 4; i++)
        if (stride[i])
            fprintf(out, ", %s 0x%x", names[i], stride[i]);
}

static void write_operand(const struct ane_program *program, const char *name, const struct ane_operand *operand, FILE *out)
{
    fprintf(out, ";   %-2s = %s, ", name, format_names[operand->format % 3]);
    if (operand->place == ANE_PLACE_DRAM) {
        ane_write_bar(program, operand->bar, out);
        if (operand->base)
            fprintf(out, " + 0x%x", operand->base);
    } else if (operand->place == ANE_PLACE_CHAIN) {
        fprintf(out, "chained to the neighbour task through tile memory 0x%x", operand->base);
    } else {
        fprintf(out, "tile memory 0x%x", operand->base);
    }
    write_strides(operand, out);
    if (operand->interleave > 1)
        fprintf(out, ", %u channels interleaved", operand->interleave);
    if (operand->broadcast_width)
        fprintf(out, ", one value per row for the whole width");
    fprintf(out, "\n");
}

static void write_shape(const struct ane_task *task, FILE *out)
{
    const bool rows = task->pe_reduce == ANE_REDUCE_SUM || task->pe_reduce == ANE_REDUCE_MAX;
    fprintf(out, ";   shape: ");
    if (task->engine == ANE_ENGINE_PE && rows) {
        fprintf(out, "%u rows of %u to one value each", task->groups, task->width_in);
    } else {
        fprintf(out, "channels %u, height %u, width %u", task->channels_in, task->height_in, task->width_in);
        if (task->channels_in != task->channels_out || task->height_in != task->height_out || task->width_in != task->width_out)
            fprintf(out, " to %u, %u, %u", task->channels_out, task->height_out, task->width_out);
        if (task->groups > 1)
            fprintf(out, ", %u groups", task->groups);
    }
    fprintf(out, "; %s", task->engine == ANE_ENGINE_NE ? "neural engine" : "planar engine");
    if (task->engine == ANE_ENGINE_NE)
        fprintf(out, " x %u", task->engines);
    fprintf(out, ", %u row%s at a time\n", task->tile_height, task->tile_height == 1 ? "" : "s");
}

static void write_convolution(const struct ane_task *task, FILE *out)
{
    const bool window = (task->engine == ANE_ENGINE_NE && task->ne_op != ANE_NE_ELEMENT) || task->pe_reduce >= ANE_POOL_AVERAGE;
    if (!window)
        return;
    fprintf(out, ";   window: %ux%u, stride %ux%u, padding left %u top %u", task->kernel_width, task->kernel_height,
            task->stride_x, task->stride_y, task->pad_left, task->pad_top);
    if (task->step_x > 1 || task->step_y > 1)
        fprintf(out, ", transposed: %ux%u results per position", task->step_x, task->step_y);
    if (task->depthwise)
        fprintf(out, ", depthwise");
    if (task->engine == ANE_ENGINE_NE)
        fprintf(out, ", %u channel%s per engine at once", 1u << (task->channel_group_log2 & 7),
                task->channel_group_log2 ? "s" : "");
    fprintf(out, "\n");
}

/* ---- coefficients ---- */

static void write_banks(const struct ane_task *task, FILE *out)
{
    unsigned first = ANE_BANKS, count = 0;
    uint64_t bytes = 0;
    for (unsigned k = 0; k < ANE_BANKS; k++) {
        const struct ane_bank *bank = &task->bank[k];
        if (!bank->enabled)
            continue;
        if (first == ANE_BANKS)
            first = k;
        count++;
        bytes += bank->bytes;
    }
    fprintf(out, "%u bank%s from 0x%x, 0x%llx bytes", count, count == 1 ? "" : "s",
            first < ANE_BANKS ? task->bank[first].base : 0, (unsigned long long)bytes);
}

static void write_range(const struct ane_weights *weights, FILE *out)
{
    double least = (double)INFINITY, most = -(double)INFINITY;
    for (size_t i = 0; i < weights->channels * weights->per_channel; i++) {
        const double value = ane_half_value(weights->weight[i]);
        least = fmin(least, value);
        most = fmax(most, value);
    }
    fprintf(out, "; %zu weights, %llu not zero, %.5g to %.5g", weights->channels * weights->per_channel,
            (unsigned long long)weights->nonzero, least, most);
    for (size_t i = 0; weights->bias && i < weights->channels && i < 8; i++)
        fprintf(out, "%s%.5g", i ? ", " : "; bias ", ane_half_value(weights->bias[i]));
}

static void write_weights(const struct ane_program *program, const struct ane_task *task, FILE *out)
{
    static const char *const kernel_names[] = {"u8", "i8", "f16"};
    struct ane_weights weights;
    struct isa_error error = {.text = ""};
    fprintf(out, ";   weights: %s", kernel_names[task->kernel_format % 3]);
    if (task->palette_bits)
        fprintf(out, ", palette of %u bits", task->palette_bits);
    fprintf(out, "%s%s, ", task->sparse ? ", sparse" : "", task->bias ? ", bias first" : "");
    write_banks(task, out);
    if (ane_weights_unpack(task, program->bytes + program->const_offset, program->const_bytes, &weights, &error)) {
        write_range(&weights, out);
        ane_weights_free(&weights);
    } else {
        fprintf(out, "; %s", error.text);
    }
    fprintf(out, "\n");
}

static void write_table(const struct ane_program *program, const struct ane_task *task, FILE *out)
{
    struct ane_table table;
    fprintf(out, ";   table: ");
    write_banks(task, out);
    if (!ane_task_table(program, task, &table)) {
        fprintf(out, "; not understood\n");
        return;
    }
    const char *name = ane_table_name(&table);
    fprintf(out, "; %s, mode 0x%02x, ", name ? name : "of no known function", table.mode);
    if (table.spacing_log2 == 0x40)
        fprintf(out, "two lines that meet at 0, ");
    else
        fprintf(out, "33 knots %g apart, ", ldexp(1, -table.spacing_log2));
    fprintf(out, "clamped at %g (y = %g) and %g (y = %g)\n", ane_half_value(table.low), ane_half_value(table.below),
            ane_half_value(table.high), ane_half_value(table.above));
}

void ane_write_notes(const struct ane_program *program, size_t number, FILE *out)
{
    const struct ane_task *task = &program->task[number];
    struct formula formula = {"x"};
    if (task->engine == ANE_ENGINE_NE)
        neural(program, task, &formula);
    else
        planar(task, &formula);
    fprintf(out, "\n; ---- task %zu: y = %s\n", number, formula.text);
    write_operand(program, "x", &task->source, out);
    if (ane_task_has_second(task))
        write_operand(program, "x2", &task->second, out);
    write_operand(program, "y", &task->result, out);
    write_shape(task, out);
    write_convolution(task, out);
    if (task->engine == ANE_ENGINE_NE && task->nonlinear == ANE_TABLE)
        write_table(program, task, out);
    else if (task->engine == ANE_ENGINE_NE && task->ne_op == ANE_NE_CONVOLUTION)
        write_weights(program, task, out);
}
