/* transpose, concat, gather, pad, slice and broadcast: native/move.c. */
#include "units/cpu/kernels/cpu_kernel_family.h"

#include "isa/float_bits.h"

#include <stdio.h>

enum { TILE = 16 }; /* ORDER: native/move.c */

static const struct kernel_parameter transpose_parameters[] = {ROUTINE_TRANSPOSE_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter concat_parameters[] = {ROUTINE_CONCAT_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter gather_parameters[] = {ROUTINE_GATHER_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter quantise_parameters[] = {ROUTINE_QUANTISE_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter pad_parameters[] = {ROUTINE_PAD_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter broadcast_parameters[] = {ROUTINE_BROADCAST_PARAMETERS, {.name = NULL}};
static const struct kernel_parameter slice_parameters[] = {ROUTINE_SLICE_PARAMETERS, {.name = NULL}};

/* Functions are there for each size of elements: "neon_transpose_16". */
static struct routine_call *add_call(const struct routine_request *r, struct routine_work *w, const char *name, const char *items,
                                     uint64_t count)
{
    char symbol[40];
    snprintf(symbol, sizeof symbol, "%s_%u", name, (unsigned)(8 * routine_type_bytes(r->type, 1)));
    snprintf(w->variant, sizeof w->variant, "neon_%s_%s", r->row->operation->name, routine_type_name(r->type));
    return routine_add_call(w, symbol, ROUTINE_TYPES, items, count);
}

static bool build_transpose(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t tiles = ((uint64_t)r->value[MOVE_ROWS] + TILE - 1) / TILE;
    struct routine_call *const c =
        add_call(r, w, "neon_transpose", "strips of 16 rows", tiles * (uint64_t)r->value[TRANSPOSE_BATCH]);
    (void)error;
    routine_pass_operand(c, 0, 0);
    routine_pass_operand(c, 1, 0);
    routine_pass(c, r->value[MOVE_ROWS]);
    routine_pass(c, r->value[MOVE_COLUMNS]);
    return true;
}

static bool build_concat(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    struct routine_call *const c = add_call(r, w, "neon_concat", "rows", (uint64_t)r->value[CONCAT_ROWS]);
    unsigned given = 0;
    (void)error;
    routine_pass_operand(c, w->operands - 1, 0);
    for (unsigned i = 0; i < CONCAT_INPUTS; i++) {
        const bool is_there = r->value[CONCAT_A + i] > 0;
        routine_pass_operand(c, is_there ? given : 0, 0);
        given += is_there;
    }
    for (unsigned i = 0; i < CONCAT_INPUTS; i++)
        routine_pass(c, r->value[CONCAT_A + i]);
    return true;
}

static bool build_gather(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    struct routine_call *const c = add_call(r, w, "neon_gather", "rows of the result", (uint64_t)r->value[GATHER_COUNT]);
    (void)error;
    for (unsigned operand = 0; operand < 3; operand++)
        routine_pass_operand(c, operand, 0);
    routine_pass(c, r->value[MOVE_ROWS]);
    routine_pass(c, r->value[MOVE_COLUMNS]);
    return true;
}

static bool build_embedding(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    struct routine_call *const c =
        routine_add_call(w, "neon_embedding", r->type, "rows of the result", (uint64_t)r->value[GATHER_COUNT]);
    (void)error;
    for (unsigned operand = 0; operand < 3; operand++)
        routine_pass_operand(c, operand, 0);
    routine_pass(c, r->value[MOVE_ROWS]);
    routine_pass(c, r->value[MOVE_COLUMNS]);
    snprintf(w->variant, sizeof w->variant, "neon_embedding_%s", routine_type_name(r->type));
    return true;
}

static bool build_quantise(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t least = routine_type_block(r->type) > 1 ? routine_type_block(r->type) : 4;
    struct routine_call *const c =
        routine_add_call(w, "neon_quantise", r->type, least > 4 ? "blocks" : "fours", w->operand[0].count / least);
    (void)error;
    routine_pass_operand(c, 0, 0);
    routine_pass_operand(c, 1, 0);
    snprintf(w->variant, sizeof w->variant, "neon_quantise_%s", routine_type_name(r->type));
    return true;
}

/* The filler as an element. */
static uint64_t filler_bits(enum routine_type type, double filler)
{
    const float narrow = (float)filler;
    const _Float16 half = (_Float16)narrow;
    const uint32_t bits = f32_bits(narrow);
    uint16_t short_bits;
    memcpy(&short_bits, &half, sizeof short_bits);
    switch (type) {
    case ROUTINE_F32: return bits;
    case ROUTINE_F16: return short_bits;
    case ROUTINE_BF16: return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    default: return (uint64_t)(int64_t)narrow;
    }
}

static bool build_window(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const struct operation_window o = operation_window(r);
    struct routine_call *const c = add_call(r, w, "neon_window", "rows of the result", (uint64_t)o.rows);
    (void)error;
    routine_pass_operand(c, 0, 0);
    routine_pass_operand(c, 1, 0);
    routine_pass(c, r->value[MOVE_ROWS]);
    routine_pass(c, r->value[MOVE_COLUMNS]);
    routine_pass(c, o.columns);
    routine_pass(c, o.top);
    routine_pass(c, o.left);
    routine_pass(c, (int64_t)filler_bits(r->type, o.filler));
    return true;
}

static bool build_broadcast(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    struct routine_call *const c = add_call(r, w, "neon_broadcast", "rows of the result", (uint64_t)r->value[MOVE_ROWS]);
    (void)error;
    routine_pass_operand(c, 0, 0);
    routine_pass_operand(c, 1, 0);
    routine_pass(c, r->value[MOVE_COLUMNS]);
    routine_pass(c, 1);
    routine_pass(c, 1);
    return true;
}

#define ALL_TYPES "f32 f16 bf16 i32 u32 u8"

const struct routine cpu_kernel_transpose = {
    &operation_transpose, "RxC[,batch=B]", ALL_TYPES, "out (C x R) = the R x C matrix turned",
    transpose_parameters, build_transpose};
const struct routine cpu_kernel_concat = {&operation_concat, "RxAxB[,c=C][,d=D]",
                                          ALL_TYPES,         "rows of A, B (and C, D) elements one behind the other",
                                          concat_parameters, build_concat};
const struct routine cpu_kernel_gather = {
    &operation_gather, "RxCxN",
    ALL_TYPES,         "embedding: out[i] = row index[i] of the R x C table, N times; zeros where index[i] >= R",
    gather_parameters, build_gather};
const struct routine cpu_kernel_embedding = {
    &operation_embedding,
    "RxCxN",
    "f32 f16 bf16 q4_0 q8_0",
    "out[i] = row index[i] of the R x C table, N times, as f32 whatever the type of the table; zeros where index[i] >= R",
    gather_parameters,
    build_embedding};
const struct routine cpu_kernel_quantise = {
    &operation_quantise,
    "N",
    "q8_0 f16",
    "N values of f32 as halves or in blocks of 32 (ggml's q8_0): a scale, the largest of them / 127, and signed bytes",
    quantise_parameters,
    build_quantise};
const struct routine cpu_kernel_pad = {&operation_pad, "RxC[,top=N][,bottom=N][,left=N][,right=N][,value=X]",
                                       ALL_TYPES,      "the R x C matrix with a border of value",
                                       pad_parameters, build_window};
const struct routine cpu_kernel_slice = {&operation_slice, "RxC,h=H,w=W[,row=R0][,column=C0]",
                                         ALL_TYPES,        "H x W elements of the R x C matrix from (R0, C0) on",
                                         slice_parameters, build_window};
const struct routine cpu_kernel_broadcast = {&operation_broadcast,
                                             "RxC",
                                             ALL_TYPES,
                                             "a row of C elements R times, element by element with a step in memory for each "
                                             "side, as copies between any two layouts are made",
                                             broadcast_parameters,
                                             build_broadcast};
