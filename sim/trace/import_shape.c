#include "sim/trace/import_mapper.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- shapes ---- */

uint64_t import_last(const struct import_array *a, unsigned back)
{
    return a->rank > back ? a->dim[a->rank - 1 - back] : 1;
}

uint64_t import_leading(const struct import_array *a, unsigned without)
{
    uint64_t n = 1;
    for (unsigned i = 0; i + without < a->rank; i++)
        n *= a->dim[i];
    return n;
}

const struct import_array *import_in(const struct import_op *op, unsigned i)
{
    static const struct import_array none;
    return i < op->ins && op->in[i].is_array ? &op->in[i] : &none;
}

const struct import_array *import_result(const struct import_op *op)
{
    const struct import_array *best = import_in(op, 0);
    if (op->outs)
        return &op->out[0];
    for (unsigned i = 1; i < op->ins; i++)
        if (import_in(op, i)->elements > best->elements)
            best = import_in(op, i);
    return best;
}

double import_bytes_in(const struct import_op *op)
{
    double sum = 0;
    for (unsigned i = 0; i < op->ins; i++)
        sum += import_in(op, i)->elements * import_in(op, i)->bytes;
    return sum;
}

double import_bytes_out(const struct import_op *op)
{
    double sum = 0;
    for (unsigned i = 0; i < op->outs; i++)
        sum += op->out[i].elements * op->out[i].bytes;
    return op->outs ? sum : import_result(op)->elements * import_result(op)->bytes;
}

bool import_value(const struct import_op *op, char place, uint64_t *first)
{
    if (place == '-' || !op->values || !json_object_is_type(op->values, json_type_array) ||
        json_object_array_length(op->values) <= (size_t)(place - '0'))
        return false;
    const char *text = json_object_get_string(json_object_array_get_idx(op->values, (size_t)(place - '0')));
    if (!text)
        return false;
    text += strspn(text, "[ ");
    char *end;
    const unsigned long value = strtoul(text, &end, 10);
    *first = value;
    return end != text && *text != '-' && value < 1 << 16;
}

uint64_t import_stride(uint64_t in, uint64_t out)
{
    return out ? (in + out / 2) / out ? (in + out / 2) / out : 1 : 1;
}

uint64_t import_pad(uint64_t in, uint64_t out, uint64_t window, uint64_t stride)
{
    const uint64_t reach = (out - 1) * stride + window;
    return reach > in ? (reach - in + 1) / 2 : 0;
}

/* ---- parts of a mapping ---- */

void import_note(struct import_mapping *m, const char *text)
{
    const size_t used = strlen(m->note);
    snprintf(m->note + used, sizeof m->note - used, "%s%s", used ? "; " : "", text);
}

void import_kernel(struct import_mapping *m, const char *name, const char *format, ...)
{
    va_list args;
    const int n = snprintf(m->workload, sizeof m->workload, "%s:", name);
    va_start(args, format);
    vsnprintf(m->workload + n, sizeof m->workload - (size_t)n, format, args);
    va_end(args);
    snprintf(m->kernel, sizeof m->kernel, "%s", name);
    m->work = IMPORT_KERNEL;
}

void import_precision(struct import_mapping *m, const struct import_array *a)
{
    if (a->type && a->bytes == 8)
        import_note(m, "f64 as f32");
    if (!a->type)
        import_note(m, "integers as f32");
    snprintf(m->precision, sizeof m->precision, "%s", a->type ? a->type : "f32");
}

void import_put_gemm(struct import_mapping *m, uint64_t batch, uint64_t rows, uint64_t columns, uint64_t inner)
{
    if (batch > 1)
        import_kernel(m, "gemm", "%" PRIu64 "x%" PRIu64 "x%" PRIu64 ",batch=%" PRIu64, rows, columns, inner, batch);
    else
        import_kernel(m, "gemm", "%" PRIu64 "x%" PRIu64 "x%" PRIu64, rows, columns, inner);
    if (rows == 0 || columns == 0 || inner == 0 || batch == 0)
        m->work = IMPORT_NONE;
}
