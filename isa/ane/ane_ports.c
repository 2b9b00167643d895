/* What base registers stand for, derived from what tasks do with them. */
#include "isa/ane/ane_bytes.h"
#include "isa/ane/ane_program_parts.h"
#include "isa/array_count.h"

#include <stdio.h>
#include <string.h>

/* What the tasks do with a base register. */
struct bar_use {
    bool read, written;
    uint64_t end; /* after the last byte touched, counting whole rows */
    /* The logical tensor of the first access; parts along the channels (concatenation) are joined. */
    enum ane_format format;
    uint64_t channels;
    uint32_t height, width, row, plane;
};

static void note_shape(const struct ane_task *task, const struct ane_operand *operand, struct bar_use *use)
{
    const bool result = operand == &task->result, rows = ane_task_reduces_rows(task);
    const uint32_t channels = result ? task->channels_out : task->channels_in;
    const uint32_t height = rows ? task->groups : result ? task->height_out : task->height_in;
    const uint32_t width = operand->broadcast_width || (rows && result) ? 1 : result ? task->width_out : task->width_in;
    const uint32_t row = rows ? operand->group : operand->row;
    const uint64_t first = operand->plane ? operand->base / operand->plane : 0;
    if (use->width == 0) {
        *use = (struct bar_use){use->read, use->written, use->end, operand->format, first + channels,
                                height,    width,        row,      operand->plane};
        return;
    }
    if (use->width == width && use->height == height && use->plane == operand->plane && first + channels > use->channels)
        use->channels = first + channels;
}

static void note_access(const struct ane_task *task, const struct ane_operand *operand, struct bar_use *uses)
{
    struct bar_use *use = &uses[operand->bar];
    uint64_t from, to;
    if (operand->place != ANE_PLACE_DRAM)
        return;
    if (operand == &task->result)
        use->written = true;
    else
        use->read = true;
    ane_operand_span(task, operand, &from, &to);
    /* The DMA fills the last row up to its stride. */
    const uint64_t width = operand == &task->result ? task->width_out : task->width_in;
    const uint64_t row_bytes = width * ane_format_bytes(operand->format);
    const uint32_t stride = ane_task_reduces_rows(task) ? operand->group : operand->row;
    if (!operand->broadcast_width && stride > row_bytes)
        to += stride - row_bytes;
    if (to > use->end)
        use->end = to;
    note_shape(task, operand, use);
}

/* Public programs use slot 0 for descriptors, 1 for coefficients, 2 and 3 for intermediates, and the following ones for results
 * and then sources (eiln/anecc). */
static enum ane_port_kind kind_of(unsigned bar, const struct bar_use *use)
{
    if (!use->read && !use->written)
        return ANE_PORT_UNUSED;
    if (use->read && use->written)
        return bar < 4 ? ANE_PORT_SCRATCH : ANE_PORT_OUTPUT;
    if (bar == 2 || bar == 3)
        return ANE_PORT_SCRATCH;
    return use->written ? ANE_PORT_OUTPUT : ANE_PORT_INPUT;
}

static void complete_port(struct ane_port *port, const struct bar_use *use, enum ane_port_kind kind)
{
    if (port->kind == ANE_PORT_UNUSED)
        port->kind = kind;
    if (use->end > port->bytes)
        port->bytes = use->end;
    if (port->width != 0 || use->width == 0)
        return;
    port->format = use->format;
    port->channels = use->channels > UINT32_MAX ? 0 : (uint32_t)use->channels;
    port->height = use->height;
    port->width = use->width;
    port->row = use->row;
    port->plane = use->plane;
}

static void own_port(struct ane_port *port, enum ane_port_kind kind, uint64_t bytes)
{
    if (port->kind == ANE_PORT_UNUSED)
        port->kind = kind;
    if (port->kind == kind && bytes > port->bytes)
        port->bytes = bytes;
}

static void note_task(struct ane_program *program, const struct ane_task *task, struct bar_use *uses)
{
    const struct ane_operand *operands[] = {&task->source, &task->second, &task->result};
    for (size_t i = 0; i < ARRAY_COUNT(operands); i++)
        note_access(task, operands[i], uses);
    if (ane_task_coefficients(task))
        own_port(&program->port[task->coefficient_bar], ANE_PORT_COEFFICIENTS, program->const_bytes);
    if (task->next)
        own_port(&program->port[task->command_bar], ANE_PORT_COMMAND, program->text_bytes);
}

static void name_ports(struct ane_program *program)
{
    static const char *const names[] = {"", "command", "coefficients", "scratch", "output", "input"};
    unsigned number[ARRAY_COUNT(names)] = {0};
    for (unsigned i = 0; i < ANE_BARS; i++) {
        struct ane_port *port = &program->port[i];
        const unsigned n = number[port->kind]++;
        if (port->kind == ANE_PORT_UNUSED || port->name[0])
            continue;
        if (port->kind <= ANE_PORT_COEFFICIENTS)
            snprintf(port->name, sizeof port->name, "%s", names[port->kind]);
        else
            snprintf(port->name, sizeof port->name, "%s%u", names[port->kind], n);
    }
}

void ane_ports_derive(struct ane_program *program)
{
    struct bar_use uses[ANE_BARS];
    memset(uses, 0, sizeof uses);
    for (size_t i = 0; i < program->count; i++)
        note_task(program, &program->task[i], uses);
    for (unsigned i = 0; i < ANE_BARS; i++)
        complete_port(&program->port[i], &uses[i], kind_of(i, &uses[i]));
    if (program->port[0].kind == ANE_PORT_UNUSED)
        own_port(&program->port[0], ANE_PORT_COMMAND, program->text_bytes);
    name_ports(program);
}
