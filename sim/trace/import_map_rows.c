/* Operators over rows, elements and bytes. */
#include "sim/trace/import_mapper.h"

#include <inttypes.h>
#include <math.h>

static void put_rows(const struct import_op *op, const char *name, const char *more, struct import_mapping *m)
{
    const struct import_array *const x = import_in(op, 0);
    if (x->rank == 0 || x->elements < 1)
        return;
    import_precision(m, x);
    import_kernel(m, name, "%" PRIu64 "x%" PRIu64 "%s", import_leading(x, 1), import_last(x, 0), more);
}

void import_map_softmax(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    put_rows(op, "softmax", argument, m);
}

void import_map_norm(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    put_rows(op, argument, "", m);
}

void import_map_reduce(const struct import_op *op, const char *name, struct import_mapping *m)
{
    const struct import_array *const x = import_in(op, 0);
    uint64_t rows = op->outs ? (uint64_t)op->out[0].elements : import_leading(x, 1);
    if (x->elements < 1)
        return;
    if (!op->outs)
        import_note(m, "reduced over the last axis");
    rows = rows ? rows : 1;
    import_precision(m, x);
    import_kernel(m, "reduce", "%" PRIu64 "x%" PRIu64 ",op=%s", rows, (uint64_t)fmax(1, x->elements / (double)rows), name);
}

/* ---- elements ---- */

void import_map_elementwise(const struct import_op *op, const char *name, struct import_mapping *m)
{
    const struct import_array *const x = import_result(op);
    if (x->elements < 1)
        return;
    import_precision(m, x->type ? x : import_in(op, 0));
    import_kernel(m, "elementwise", "%.0f,op=%s", x->elements, name);
}

/* Rounds up to whole cache lines, the unit in which copies move. */
static void put_copy(struct import_mapping *m, double bytes)
{
    if (bytes < 1)
        return;
    import_kernel(m, "copy", "%.0f", ceil(bytes / 128) * 128);
}

void import_map_copy(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    (void)argument;
    put_copy(m, import_bytes_out(op));
}

void import_map_copy_all(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    (void)argument;
    put_copy(m, import_bytes_in(op));
}

void import_map_gather(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    const struct import_array *const table = import_in(op, 0), *const index = import_in(op, *argument == '0' ? 2 : 1);
    if (table->rank < 2) {
        put_copy(m, import_bytes_out(op));
        return;
    }
    const double row = table->elements / (double)(table->dim[0] ? table->dim[0] : 1);
    double count = op->outs && row > 0 ? op->out[0].elements / row : index->elements;
    count = fmax(1, count);
    import_precision(m, table);
    import_kernel(m, "gather", "%" PRIu64 "x%.0fx%.0f", table->dim[0], row, count);
}
