#include "units/routines/routine.h"

#include "isa/float_bits.h"

#include <stdio.h>
#include <string.h>

/* ---- types ---- */

static const struct type_row {
    const char *name;
    unsigned block_bytes, block_elements;
    double epsilon;
} types[ROUTINE_TYPES] = {
    [ROUTINE_F64] = {"f64", 8, 1, 0x1p-53},  [ROUTINE_F32] = {"f32", 4, 1, 0x1p-24}, [ROUTINE_F16] = {"f16", 2, 1, 0x1p-11},
    [ROUTINE_BF16] = {"bf16", 2, 1, 0x1p-8}, [ROUTINE_I32] = {"i32", 4, 1, 0},       [ROUTINE_U32] = {"u32", 4, 1, 0},
    [ROUTINE_I16] = {"i16", 2, 1, 0},        [ROUTINE_I8] = {"i8", 1, 1, 0},         [ROUTINE_U8] = {"u8", 1, 1, 0},
    [ROUTINE_Q4_0] = {"q4_0", 18, 32, 0},    [ROUTINE_Q8_0] = {"q8_0", 34, 32, 0},   [ROUTINE_Q4_K] = {"q4_k", 144, 256, 0},
    [ROUTINE_Q6_K] = {"q6_k", 210, 256, 0},
};

const char *routine_type_name(enum routine_type type)
{
    return types[type].name;
}

uint64_t routine_type_bytes(enum routine_type type, uint64_t count)
{
    return (count + types[type].block_elements - 1) / types[type].block_elements * types[type].block_bytes;
}

unsigned routine_type_block(enum routine_type type)
{
    return types[type].block_elements;
}

double routine_type_epsilon(enum routine_type type)
{
    return types[type].epsilon;
}

/* ---- requests ---- */

static struct kernel_form form_of(const struct routine *row)
{
    return (struct kernel_form){row->operation->name, row->grammar, row->operation->positional, row->parameter};
}

const struct routine *routine_find(const struct routine_library *library, const char *workload)
{
    const size_t length = strcspn(workload, ":");
    for (size_t i = 0; i < library->count; i++)
        if (strlen(library->row[i]->operation->name) == length && memcmp(library->row[i]->operation->name, workload, length) == 0)
            return library->row[i];
    return NULL;
}

static bool read_precision(const struct routine_library *library, const char *precision, struct routine_request *r,
                           struct isa_error *error)
{
    const char *const all = r->row->precisions, *const name = precision ? precision : all;
    const size_t length = precision ? strlen(precision) : strcspn(all, " ");
    int64_t index;
    for (unsigned t = 0; kernel_word_listed(all, ' ', name, length, &index) && t < ROUTINE_TYPES; t++)
        if (strlen(types[t].name) == length && memcmp(types[t].name, name, length) == 0) {
            r->type = (enum routine_type)t;
            return true;
        }
    return kernel_refuse(error, "%s on %s has no precision '%.20s'; it has %s", r->row->operation->name, library->unit, name,
                         all);
}

bool routine_read(const struct routine_library *library, const char *workload, const char *precision, struct routine_request *r,
                  struct isa_error *error)
{
    *r = (struct routine_request){.row = routine_find(library, workload)};
    if (!r->row)
        return kernel_refuse(error, "%.60s is not a kernel of %s", workload, library->unit);
    const struct kernel_form form = form_of(r->row);
    const char *const colon = strchr(workload, ':');
    return read_precision(library, precision, r, error) &&
           kernel_text_read(&form, colon ? colon + 1 : "", r->value, r->decimal, error);
}

int routine_write(const struct routine_request *r, char *text, size_t size)
{
    const struct kernel_form form = form_of(r->row);
    return kernel_text_write(&form, r->value, r->decimal, text, size);
}

/* ---- work ---- */

bool routine_build(const struct routine_request *request, struct routine_work *work, struct isa_error *error)
{
    memset(work, 0, sizeof *work);
    work->epsilon = types[ROUTINE_F32].epsilon;
    return request->row->operation->operands(request, work, error) && request->row->build(request, work, error);
}

unsigned routine_result(const struct routine_work *work)
{
    for (unsigned i = 0; i < work->operands; i++)
        if (work->operand[i].role == ROUTINE_OUTPUT || work->operand[i].role == ROUTINE_IN_OUT)
            return i;
    return 0;
}

void routine_split(const struct routine_call *call, unsigned threads, const double *weight, uint64_t *bound)
{
    double all = 0, before = 0;
    for (unsigned t = 0; t < threads; t++)
        all += weight ? weight[t] : 1;
    for (unsigned t = 0; t < threads; t++) {
        bound[t] = (uint64_t)((double)call->item_count * (before / all) + 0.5);
        before += weight ? weight[t] : 1;
    }
    bound[threads] = call->item_count;
}

/* ---- for operations and builders ---- */

bool routine_check_count(const char *name, const uint64_t dims[4], struct isa_error *error)
{
    uint64_t count = 1;
    for (int i = 0; i < 4; i++) {
        if (dims[i] && count > ROUTINE_COUNT_MAX / dims[i])
            return kernel_refuse(error, "%s: an operand has more than 2^42 elements", name);
        count *= dims[i] ? dims[i] : 1;
    }
    return true;
}

unsigned routine_add_operand(struct routine_work *work, const char *name, enum routine_type type, enum routine_role role,
                             const uint64_t dims[4])
{
    if (work->operands == ROUTINE_OPERANDS)
        return ROUTINE_OPERANDS - 1;
    struct routine_operand *const o = &work->operand[work->operands];
    *o = (struct routine_operand){.type = type, .role = role, .count = 1, .low = -1, .high = 1};
    snprintf(o->name, sizeof o->name, "%s", name);
    for (int i = 0; i < 4; i++) {
        o->dims[i] = dims[i] ? dims[i] : 1;
        o->count *= o->dims[i];
    }
    return work->operands++;
}

void routine_set_range(struct routine_work *work, double low, double high)
{
    work->operand[work->operands - 1].low = low;
    work->operand[work->operands - 1].high = high;
}

unsigned routine_add_scratch(struct routine_work *work, const char *name, uint64_t bytes, unsigned threads)
{
    const uint64_t each = (bytes + 127) / 128 * 128;
    const unsigned i =
        routine_add_operand(work, name, ROUTINE_U8, ROUTINE_SCRATCH, ROUTINE_DIMS(threads ? each * threads : each));
    work->operand[i].thread_stride_bytes = threads ? each : 0;
    return i;
}

struct routine_call *routine_add_call(struct routine_work *work, const char *name, enum routine_type type, const char *items,
                                      uint64_t count)
{
    struct routine_call *const c = &work->call[work->calls < ROUTINE_CALLS - 1 ? work->calls++ : ROUTINE_CALLS - 1];
    *c = (struct routine_call){.items = items, .item_count = count};
    snprintf(c->symbol, sizeof c->symbol, "%s%s%s", name, type < ROUTINE_TYPES ? "_" : "",
             type < ROUTINE_TYPES ? routine_type_name(type) : "");
    return c;
}

static void pass(struct routine_call *call, int operand, uint64_t value)
{
    if (call->words < ROUTINE_WORDS)
        call->word[call->words++] = (struct routine_word){operand, value};
}

void routine_pass_operand(struct routine_call *call, unsigned operand, uint64_t offset_bytes)
{
    pass(call, (int)operand, offset_bytes);
}

void routine_pass(struct routine_call *call, int64_t value)
{
    pass(call, -1, (uint64_t)value);
}

void routine_pass_real(struct routine_call *call, double value)
{
    pass(call, -1, f64_bits(value));
}
