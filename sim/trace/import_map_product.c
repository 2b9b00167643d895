/* Operators that are matrix products, and attention. */
#include "sim/trace/import_mapper.h"

#include <inttypes.h>
#include <string.h>

void import_map_gemm(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    const struct import_array *const a = import_in(op, (unsigned)(argument[0] - '0'));
    const struct import_array *const b = import_in(op, (unsigned)(argument[1] - '0'));
    if (op->outs && a->rank >= 1 && a->elements >= 1 && op->ins == 1 &&
        op->out[0].elements >= 1) { /* the shape of packed weights is not recorded */
        import_precision(m, a);
        import_note(m, "one matrix of weights for all rows assumed");
        import_put_gemm(m, 1, import_leading(&op->out[0], 1), import_last(&op->out[0], 0), import_last(a, 0));
        return;
    }
    if (a->rank == 0 || b->rank == 0 || a->elements < 1 || b->elements < 1 || (op->outs && op->out[0].elements < 1))
        return;
    uint64_t rows, columns, inner, batch;
    import_precision(m, a);
    if (op->outs && op->out[0].rank >= 2) { /* profiles do not say which operand is transposed, but the result fixes the rest */
        rows = import_last(&op->out[0], 1);
        columns = import_last(&op->out[0], 0);
        batch = import_leading(&op->out[0], 2);
        const double each = a->elements / (double)import_leading(a, 2);
        inner = rows ? (uint64_t)(each / (double)rows + 0.5) : 0;
    } else {
        rows = import_last(a, 1);
        inner = import_last(a, 0);
        columns = argument[2] == 't' ? import_leading(b, 1) : b->rank >= 2 ? import_last(b, 0) : 1;
        batch = import_leading(a, 2) > import_leading(b, 2) ? import_leading(a, 2) : import_leading(b, 2);
    }
    if (b->rank <= 2 && batch > 1) { /* one matrix of weights serves the whole batch */
        rows *= batch;
        batch = 1;
    }
    import_put_gemm(m, batch, rows, columns, inner);
}

void import_map_attention(const struct import_op *op, const char *argument, struct import_mapping *m)
{
    const struct import_array *const q = import_in(op, 0), *const k = import_in(op, 1);
    if (q->rank != 4 || k->rank != 4 || q->elements < 1 || k->elements < 1)
        return;
    const bool heads_inside = strcmp(argument, "bshd") == 0;
    const unsigned head = heads_inside ? 1 : 2, place = heads_inside ? 2 : 1;
    import_precision(m, q);
    if (k->dim[q->rank - 1 - place] != q->dim[q->rank - 1 - place])
        import_note(m, "as many keys as queries assumed");
    import_kernel(m, "attention", "b=%" PRIu64 ",h=%" PRIu64 ",s=%" PRIu64 ",d=%" PRIu64, q->dim[0], q->dim[3 - head],
                  k->dim[3 - place], q->dim[3]);
}
