/* Shapes of recorded operators, some of which have to be taken from operators nearby. */
#include "sim/base/json_read.h"
#include "sim/trace/import_pytorch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_AHEAD = 24 };

static json_object *item(json_object *list, size_t i)
{
    return json_object_is_type(list, json_type_array) && i < json_object_array_length(list) ? json_object_array_get_idx(list, i)
                                                                                            : NULL;
}

/* Fills in the shapes of an operator; the caller puts the returned JSON when it is done with *op. */
static json_object *fill_op(const struct host_op *from, struct import_op *op)
{
    json_object *const args = from->args ? json_tokener_parse(from->args) : NULL, *const dims = item(args, 0);
    memset(op, 0, sizeof *op);
    op->name = from->name;
    op->values = item(args, 2);
    op->device_bytes = from->bytes;
    for (size_t i = 0;
         json_object_is_type(dims, json_type_array) && i < json_object_array_length(dims) && op->ins < IMPORT_ARRAYS; i++) {
        json_object *const type = item(item(args, 1), i);
        import_array_set(&op->in[op->ins++], item(dims, i),
                         type && json_object_is_type(type, json_type_string) ? json_object_get_string(type) : NULL);
    }
    return args;
}

/* Profiles leave out the results of convolutions and pooling. Their shape is taken from the next operator of the thread that
 * reads an array with the same batch and channels that is no larger. */
static void find_next(const struct pytorch_profile *p, size_t at, struct import_op *op)
{
    const bool conv = strstr(op->name, "conv") != NULL, pool = strstr(op->name, "pool") != NULL;
    const struct host_op *const self = pytorch_op_at(p, at);
    if ((!conv && !pool) || op->in[0].rank != 4)
        return;
    const uint64_t channels = conv ? op->in[1].dim[0] : op->in[0].dim[1];
    unsigned looked = 0;
    for (size_t i = at + 1; i < p->ops.count && pytorch_op_at(p, i)->tid == self->tid && looked < LOOK_AHEAD; i++) {
        struct import_op other;
        if (pytorch_op_at(p, i)->ts < self->ts + self->dur || !pytorch_op_at(p, i)->args)
            continue;
        looked++;
        json_object *const args = fill_op(pytorch_op_at(p, i), &other);
        const struct import_array *const x = &other.in[0];
        const bool fits = x->rank == 4 && x->dim[0] == op->in[0].dim[0] && x->dim[1] == channels &&
                          x->dim[2] <= op->in[0].dim[2] && x->dim[3] <= op->in[0].dim[3];
        if (fits)
            op->next = *x;
        json_object_put(args);
        if (fits)
            return;
    }
}

/* The two halves of a gradient have the shapes of the gradient around them. */
static json_object *fill_gradient(const struct pytorch_profile *p, const struct host_op *h, struct import_op *op)
{
    const struct host_op *const around = h->parent == PYTORCH_NOBODY ? NULL : pytorch_op_at(p, h->parent);
    if (strncmp(h->name, "aten::cudnn_convolution_backward_", 33) != 0 || !around ||
        strcmp(around->name, "aten::cudnn_convolution_backward") != 0 || !around->args)
        return fill_op(h, op);
    json_object *const args = fill_op(around, op);
    op->name = h->name;
    return args;
}

static bool emit_op(struct pytorch_profile *p, size_t i, double zero_us, const char *unit, struct orch_error *error)
{
    const struct host_op *const h = pytorch_op_at(p, i);
    struct import_op op;
    json_object *const args = fill_gradient(p, h, &op);
    find_next(p, i, &op);
    const struct import_placed placed = {.op = &op,
                                         .submitted_us = fmax(0, h->ts - zero_us),
                                         .begin_us = h->first_us - zero_us,
                                         .end_us = h->last_us - zero_us,
                                         .seconds = h->device_us * 1e-6,
                                         .stream = h->stream,
                                         .unit = unit};
    const bool ok = import_emit_op(p->emit, &placed, error);
    json_object_put(args);
    return ok;
}

/* Sorts operators by the time at which their own work began. */
struct order {
    double first_us;
    size_t op;
};

static int by_first(const void *a, const void *b)
{
    const struct order *const x = a, *const y = b;
    if (x->first_us != y->first_us)
        return x->first_us < y->first_us ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

bool pytorch_emit(struct pytorch_profile *p, double zero_us, const char *unit, struct orch_error *error)
{
    struct order *const order = malloc((p->ops.count + 1) * sizeof *order);
    size_t count = 0;
    bool ok = order || orch_no_memory(error);
    for (size_t i = 0; ok && i < p->ops.count; i++)
        if (pytorch_op_at(p, i)->last_us > 0)
            order[count++] = (struct order){pytorch_op_at(p, i)->first_us, i};
    if (ok && count)
        qsort(order, count, sizeof *order, by_first);
    for (size_t i = 0; ok && i < count; i++)
        ok = emit_op(p, order[i].op, zero_us, unit, error);
    free(order);
    return ok;
}
