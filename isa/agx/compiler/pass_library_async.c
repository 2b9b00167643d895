/* Copies between device and threadgroup memory by all threads of a work-group: each copies every so-manyth element, and waiting
 * for them is a barrier. */
#include "isa/agx/compiler/pass_library.h"

#include <string.h>

#define BUILD &w->b

static unsigned element_bytes(const struct ir_library_type *type)
{
    static const char codes[] = "acshtijlmfH";
    static const unsigned char bytes[] = {1, 1, 2, 1, 2, 4, 4, 8, 8, 4, 2};
    const char *const at = type->code ? strchr(codes, type->code) : NULL;
    return at ? bytes[at - codes] * (type->lanes == 3 ? 4 : type->lanes) : 0;
}

/* The widest unit that the hardware moves at once. */
static const struct ir_type *unit_of(struct build *b, unsigned bytes)
{
    const struct ir_type *i32 = ir_int(b->m, 32);
    return bytes < 4 ? ir_int(b->m, 8 * bytes) : bytes == 4 ? i32 : ir_vector(b->m, i32, bytes >= 16 ? 4 : 2);
}

static struct ir_value *group_threads(struct build *b)
{
    const struct ir_type *i32 = ir_int(b->m, 32);
    struct ir_value *threads = NULL;
    for (unsigned d = 0; d < 3; d++) {
        struct ir_value *dimension = build_i32(b, d), *size = build_builtin(b, IR_B_LOCAL_SIZE, i32, &dimension, 1);
        threads = threads ? build_2(b, IR_MUL, threads, size) : size;
    }
    return threads;
}

/* The element's unit number `part`, where elements lie `stride` apart. */
static struct ir_value *place(struct build *b, struct ir_value *pointer, const struct ir_type *unit, struct ir_value *element,
                              struct ir_value *stride, unsigned parts, unsigned part)
{
    struct ir_value *at = stride ? build_2(b, IR_MUL, element, stride) : element;
    at = build_2n(b, IR_ADD, build_2n(b, IR_MUL, at, parts), part);
    return build_gep(b, pointer, unit, at, 0);
}

static struct ir_value *copy(struct library_whole *w, bool strided)
{
    const struct ir_type *i64 = ir_int(w->p->m, 64);
    const unsigned bytes = element_bytes(&w->call->parameter[0]);
    if (!bytes || w->operands != (strided ? 5U : 4U))
        return NULL;
    const struct ir_type *unit = unit_of(BUILD, bytes);
    const unsigned parts = bytes / (unsigned)unit->bytes;
    const bool to_device = w->call->parameter[0].space == IR_DEVICE;
    struct ir_value *stride = strided ? build_resize(BUILD, w->operand[3], i64, false) : NULL;
    struct ir_value *first = build_builtin(BUILD, IR_B_LOCAL_INDEX, ir_int(w->p->m, 32), NULL, 0),
                    *threads = group_threads(BUILD);
    struct ir_value *count = build_resize(BUILD, w->operand[2], i64, false), *begin = build_convert(BUILD, IR_ZEXT, first, i64);
    threads = build_convert(BUILD, IR_ZEXT, threads, i64);
    struct build_loop l = build_loop_open(BUILD, build_icmp(BUILD, IR_ULT, begin, count));
    struct ir_value *i = build_loop_phi(&l, begin), *next = build_2(&l.b, IR_ADD, i, threads);
    for (unsigned part = 0; part < parts; part++) {
        struct ir_value *from = place(&l.b, w->operand[1], unit, i, to_device ? NULL : stride, parts, part);
        struct ir_value *to = place(&l.b, w->operand[0], unit, i, to_device ? stride : NULL, parts, part);
        build_store(&l.b, build_load(&l.b, unit, from, (uint32_t)unit->bytes), to, (uint32_t)unit->bytes);
    }
    build_loop_next(&l, i, next);
    build_loop_close(&l, build_icmp(&l.b, IR_ULT, next, count));
    return w->operand[w->operands - 1]; /* the event that was given */
}

struct ir_value *lower_async(struct library_whole *w, enum ir_special code)
{
    switch (code) {
    case IR_S_ASYNC_COPY: return copy(w, false);
    case IR_S_ASYNC_COPY_STRIDED: return copy(w, true);
    case IR_S_WAIT_GROUP_EVENTS:
        build_builtin(BUILD, IR_B_FENCE, ir_void(w->p->m), NULL, 0);
        build_builtin(BUILD, IR_B_BARRIER, ir_void(w->p->m), NULL, 0);
        break;
    case IR_S_PREFETCH: break;
    default: return NULL;
    }
    ir_remove(w->v);
    return w->v;
}
