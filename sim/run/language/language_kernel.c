/* The kernels of a pass: products by whatever the unit multiplies with, and what stands between them. */
#include "sim/run/language/language_step_internal.h"

#include <stdio.h>
#include <string.h>

/* Rows of a matrix that are widened at a time for one vector: so many values stay in a cluster's cache. */
enum { PANEL_VALUES = 1 << 20 };

/* CPU cores have what is no product where a unit has no kernels for it, or none that pay for a few rows. */
enum orch_part language_rest_part(const struct language_stepper *s)
{
    return s->part == PART_GPU ? PART_GPU : PART_CPU;
}

struct language_buffer language_values(const struct language_stepper *s, const struct language_buffer *buffer, uint64_t count)
{
    return language_part(buffer, 0, s->value_bytes * count);
}

/* ---- products ---- */

/* Rows of a matrix, from the first of an expert on. */
static struct language_buffer rows_of(const struct placed_matrix *m, uint64_t first, uint64_t rows)
{
    const struct block_format *const format = block_format_named(m->format);
    const uint64_t row = m->columns / format->values * format->bytes;
    return language_part(&m->data, first * row, rows * row);
}

static bool widen(struct language_stepper *s, const char *title, const struct placed_matrix *m,
                  const struct language_buffer *data, uint64_t rows, struct language_buffer *to)
{
    const struct language_buffer index = language_part(&s->index, 0, sizeof(uint32_t) * rows);
    *to = language_part(&s->widened, 0, sizeof(float) * rows * m->columns);
    const struct language_call call = {.title = title,
                                       .precision = m->format,
                                       .part = language_rest_part(s),
                                       .input = {data, &index},
                                       .inputs = 2,
                                       .result = to,
                                       .result_place = 2};
    return language_unit_call(s->unit, &call, s->sum, s->error, "embedding:%llux%ux%llu", (unsigned long long)rows, m->columns,
                              (unsigned long long)rows);
}

static bool multiply_vector(struct language_stepper *s, const char *title, const char *format, unsigned columns, uint64_t rows,
                            const struct language_buffer *data, const struct language_buffer *from,
                            const struct language_buffer *to)
{
    const bool wide = strcmp(format, "f16") == 0 || strcmp(format, "bf16") == 0;
    const struct language_call call = {.title = title,
                                       .precision = format,
                                       .part = s->part == PART_AMX && strcmp(format, "f32") != 0 ? PART_CPU : s->part,
                                       .input = {data, from},
                                       .inputs = 2,
                                       .result = to,
                                       .result_place = 2};
    return language_unit_call(s->unit, &call, s->sum, s->error, "gemv:%llux%u%s", (unsigned long long)rows, columns,
                              wide ? ",vectors=f32" : "");
}

/* The AMX block multiplies by f32: cores widen some rows at a time, which the block finds in the cache. What they do not widen
 * they multiply themselves. */
static bool multiply_panels(struct language_stepper *s, const char *title, const struct placed_matrix *m, uint64_t first,
                            const struct language_buffer *from, const struct language_buffer *to)
{
    const uint64_t most = m->columns < PANEL_VALUES ? PANEL_VALUES / m->columns : 1;
    for (uint64_t row = 0, rows; row < m->rows; row += rows) {
        rows = m->rows - row < most ? m->rows - row : most;
        const struct language_buffer data = rows_of(m, first + row, rows),
                                     part = language_part(to, sizeof(float) * row, sizeof(float) * rows);
        struct language_buffer panel;
        if (!widen(s, "widen", m, &data, rows, &panel) ||
            !multiply_vector(s, title, "f32", m->columns, rows, &panel, from, &part))
            return false;
    }
    return true;
}

static bool multiply_one(struct language_stepper *s, const char *title, const struct placed_matrix *m, uint64_t first,
                         const struct language_buffer *from, const struct language_buffer *to)
{
    const struct language_buffer data = rows_of(m, first, m->rows);
    if (s->part == PART_AMX && language_format_widens(m->format))
        return multiply_panels(s, title, m, first, from, to);
    return multiply_vector(s, title, m->format, m->columns, m->rows, &data, from, to);
}

/* The Neural Engine has one product for any number of tokens; its matrices are parts of programs. */
static bool multiply_turned(struct language_stepper *s, const char *title, const struct placed_matrix *m, uint64_t first,
                            unsigned tokens, const struct language_buffer *from, const struct language_buffer *to)
{
    const struct language_buffer data = rows_of(m, first, m->rows);
    const struct language_call call = {.title = title,
                                       .precision = "f16",
                                       .part = PART_ANE,
                                       .input = {from, &data},
                                       .inputs = 2,
                                       .result = to,
                                       .result_place = 2,
                                       .constants = 1U << 1};
    return language_unit_call(s->unit, &call, s->sum, s->error, "gemm:%ux%llux%u,weights=b", tokens, (unsigned long long)m->rows,
                              m->columns);
}

/* Formats that no kernel widens go through token by token. */
static bool multiply_each(struct language_stepper *s, const char *title, const struct placed_matrix *m, uint64_t first,
                          unsigned tokens, const struct language_buffer *from, const struct language_buffer *to)
{
    bool ok = true;
    for (unsigned t = 0; ok && t < tokens; t++) {
        const struct language_buffer a = language_part(from, sizeof(float) * t * m->columns, sizeof(float) * m->columns),
                                     b = language_part(to, sizeof(float) * t * m->rows, sizeof(float) * m->rows);
        ok = multiply_one(s, title, m, first, &a, &b);
    }
    return ok;
}

static bool multiply_many(struct language_stepper *s, const char *title, const struct placed_matrix *m, uint64_t first,
                          unsigned tokens, const struct language_buffer *from, const struct language_buffer *to)
{
    const bool plain = strcmp(m->format, "f32") == 0;
    struct language_buffer data = rows_of(m, first, m->rows), wide = data;
    if (!plain && !language_format_widens(m->format))
        return multiply_each(s, title, m, first, tokens, from, to);
    if (!plain && !widen(s, "widen", m, &data, m->rows, &wide))
        return false;
    const struct language_call call = {
        .title = title, .part = s->part, .input = {from, &wide}, .inputs = 2, .result = to, .result_place = 2};
    return language_unit_call(s->unit, &call, s->sum, s->error, "gemm:%ux%llux%u,tb=1", tokens, (unsigned long long)m->rows,
                              m->columns);
}

bool language_multiply(struct language_stepper *s, const char *title, const struct placed_matrix *m, unsigned expert,
                       unsigned tokens, const struct language_buffer *from, const struct language_buffer *to)
{
    const uint64_t first = expert * m->rows, values = tokens * m->rows;
    const struct language_buffer in = language_values(s, from, (uint64_t)tokens * m->columns),
                                 out = language_values(s, to, values);
    const bool ok = s->turned     ? multiply_turned(s, title, m, first, tokens, &in, &out)
                    : tokens == 1 ? multiply_one(s, title, m, first, &in, &out)
                                  : multiply_many(s, title, m, first, tokens, &in, &out);
    if (!ok || !m->bias.host)
        return ok;
    const struct language_buffer bias = language_part(&m->bias, s->value_bytes * first, s->value_bytes * m->rows);
    return language_combine(s, title, "add", values, tokens > 1 ? m->rows : 0, &out, &bias, &out);
}

/* ---- what stands between them ---- */

bool language_normalise(struct language_stepper *s, const char *title, const struct placed_norm *n, unsigned rows,
                        const struct language_buffer *from, const struct language_buffer *to)
{
    const bool layer = n->shift.host != NULL;
    const unsigned columns = (unsigned)(n->scale.bytes / s->value_bytes);
    const struct language_buffer in = language_values(s, from, (uint64_t)rows * columns),
                                 out = language_values(s, to, (uint64_t)rows * columns);
    const struct language_call call = {.title = title,
                                       .precision = s->values,
                                       .part = language_rest_part(s),
                                       .input = {&in, &n->scale, &n->shift},
                                       .inputs = layer ? 3 : 2,
                                       .result = &out,
                                       .result_place = 1};
    return language_unit_call(s->unit, &call, s->sum, s->error, "%s:%ux%u,eps=%.9g", layer ? "layernorm" : "rmsnorm", rows,
                              columns, s->shape->epsilon);
}

bool language_combine(struct language_stepper *s, const char *title, const char *op, uint64_t count, uint64_t period,
                      const struct language_buffer *a, const struct language_buffer *b, const struct language_buffer *to)
{
    struct language_buffer first = language_values(s, a, count), second = {0, 0, NULL}, out = language_values(s, to, count);
    char repeated[32] = "";
    if (b)
        second = language_values(s, b, period ? period : count);
    if (period)
        snprintf(repeated, sizeof repeated, ",period=%llu", (unsigned long long)period);
    const struct language_call call = {.title = title,
                                       .precision = s->values,
                                       .part = language_rest_part(s),
                                       .input = {&first, &second},
                                       .inputs = b ? 2 : 1,
                                       .result = &out,
                                       .result_place = b ? 2 : 1};
    return language_unit_call(s->unit, &call, s->sum, s->error, "elementwise:%llu,op=%s%s", (unsigned long long)count, op,
                              repeated);
}

bool language_rotate(struct language_stepper *s, const char *title, unsigned heads, const struct language_buffer *from,
                     const struct language_buffer *to)
{
    const struct language_shape *const p = s->shape;
    const uint64_t count = (uint64_t)s->count * heads * p->head_size;
    const struct language_buffer in = language_values(s, from, count), out = language_values(s, to, count);
    char part[32] = "";
    if (p->rope_size != p->head_size)
        snprintf(part, sizeof part, ",part=%u", p->rope_size);
    const struct language_call call = {.title = title,
                                       .precision = s->values,
                                       .part = language_rest_part(s),
                                       .input = {&in, &s->speeds},
                                       .inputs = s->scaled ? 2 : 1,
                                       .result = &out,
                                       .result_place = s->scaled ? 2 : 1};
    return language_unit_call(s->unit, &call, s->sum, s->error, "rope:h=%u,s=%u,d=%u,base=%.9g,offset=%u,style=%s%s%s%s", heads,
                              s->count, p->head_size, p->rope_base, s->position,
                              p->rope == SHAPE_ROPE_HALVES ? "halves" : "interleaved", s->count > 1 ? ",order=tokens" : "", part,
                              s->scaled ? ",scales=1" : "");
}

/* Cores convert, where the types differ. */
bool language_hand_over(struct language_stepper *s, enum orch_part to)
{
    const bool from_halves = s->turned;
    const struct language_buffer index = language_part(&s->index, 0, sizeof(uint32_t) * s->count);
    const unsigned width = s->shape->width;
    const uint64_t count = (uint64_t)s->count * width;
    const struct language_buffer before = language_values(s, &s->stream, count), result = s->row;
    language_enter(s, to);
    if (s->turned == from_halves)
        return true;
    const struct language_buffer behind = language_values(s, &result, count);
    const struct language_call call = {.title = "hand_over",
                                       .precision = "f16",
                                       .part = PART_CPU,
                                       .input = {&before, &index},
                                       .inputs = from_halves ? 2 : 1,
                                       .result = &behind,
                                       .result_place = from_halves ? 2 : 1};
    s->row = s->stream;
    s->stream = result;
    return from_halves ? language_unit_call(s->unit, &call, s->sum, s->error, "embedding:%ux%ux%u", s->count, width, s->count)
                       : language_unit_call(s->unit, &call, s->sum, s->error, "quantise:%llu", (unsigned long long)count);
}

/* Writes a row of a table as the kernel takes it. */
static bool put_row(struct language_stepper *s, const struct decoder_matrix *table, uint32_t row, const char *format, void *to)
{
    const uint64_t bytes = decoder_matrix_row_bytes(table);
    if (language_is_halved(s, table))
        return language_halve_row(s, table, row, to);
    if (strcmp(format, table->tensor->format->name) == 0)
        memcpy(to, decoder_matrix_data(table) + row * bytes, bytes);
    else
        weight_row(table->tensor, table->first_row + row, to);
    return true;
}

/* The rows that are asked for are the table of the kernel, in f32 where it does not know their type. */
bool language_look_up(struct language_stepper *s, const char *title, const struct decoder_matrix *table, const uint32_t *row,
                      unsigned rows, const struct language_buffer *to)
{
    const char *const own = table->tensor->format->name;
    const bool known = strcmp(own, "f32") == 0 || language_format_widens(own);
    const char *const format = language_is_halved(s, table) ? "f16" : known ? own : "f32";
    const uint64_t bytes = table->columns / block_format_named(format)->values * block_format_named(format)->bytes;
    const struct language_buffer data = language_part(&s->table, 0, rows * bytes),
                                 index = language_part(&s->index, 0, sizeof(uint32_t) * rows),
                                 out = language_values(s, to, (uint64_t)rows * table->columns);
    for (unsigned i = 0; i < rows; i++)
        if (!put_row(s, table, row[i], format, (uint8_t *)data.host + i * bytes))
            return false;
    const struct language_call call = {.title = title,
                                       .precision = format,
                                       .part = PART_CPU,
                                       .input = {&data, &index},
                                       .inputs = 2,
                                       .result = &out,
                                       .result_place = 2};
    return language_unit_call(s->unit, &call, s->sum, s->error, "%s:%ux%ux%u", s->turned ? "gather" : "embedding", rows,
                              table->columns, rows);
}
