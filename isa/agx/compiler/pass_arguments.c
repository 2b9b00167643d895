/* Arguments that are no numbers of 16, 32 or 64 bits and no pointers: structures passed by value, vectors, bytes. Every word of
 * the argument block that holds a part of one becomes an argument of 32 bits; so does each word of padding before it, for the
 * places of all others must stay what they are. Values are put together from these words at the beginning. */
#include "isa/agx/compiler/pass.h"

#define MOST_WORDS 1024

struct arguments {
    struct pass *p;
    struct build b;
    uint64_t bytes; /* of the block so far */
    bool odd[MOST_WORDS], covered[MOST_WORDS];
    struct ir_value *word[MOST_WORDS];
};

static const struct ir_type *held_type(const struct ir_function *f, unsigned i)
{
    return f->by_value && f->by_value[i] ? f->by_value[i] : f->argument[i]->type;
}

static bool is_plain(const struct ir_function *f, unsigned i)
{
    const struct ir_type *type = f->argument[i]->type;
    if (f->by_value && f->by_value[i])
        return false;
    return type->kind == IR_POINTER || (type->kind == IR_INT && (type->bits == 16 || type->bits == 32 || type->bits == 64)) ||
           type->kind == IR_FLOAT;
}

static bool lay_out(struct arguments *a, uint64_t *offset)
{
    const struct ir_function *f = a->p->f;
    for (unsigned i = 0; i < f->arguments; i++) {
        const struct ir_type *type = held_type(f, i);
        offset[i] = (a->bytes + type->align - 1) / type->align * type->align;
        a->bytes = offset[i] + type->bytes;
        if (a->bytes > 4 * MOST_WORDS)
            return pass_refuse(a->p, NULL, "more than %d bytes of arguments are not supported", 4 * MOST_WORDS) != NULL;
        for (uint64_t w = offset[i] / 4; w < (a->bytes + 3) / 4; w++) {
            a->covered[w] = true;
            a->odd[w] = a->odd[w] || !is_plain(f, i);
        }
    }
    return true;
}

static bool stays(const struct arguments *a, unsigned i, uint64_t offset)
{
    return is_plain(a->p->f, i) && (a->p->f->argument[i]->type->bytes >= 4 || !a->odd[offset / 4]);
}

static struct ir_value *new_word(struct arguments *a)
{
    struct ir_value *v = ir_alloc(a->p->m, sizeof *v);
    v->op = IR_ARGUMENT;
    v->type = ir_int(a->p->m, 32);
    v->function = a->p->f;
    return v;
}

/* ---- reading parts of the block ---- */

static struct ir_value *read_scalar(struct arguments *a, const struct ir_type *type, uint64_t at)
{
    struct build *b = &a->b;
    const struct ir_type *i64 = ir_int(b->m, 64);
    struct ir_value *low = a->word[at / 4];
    if (type->bytes == 8) {
        struct ir_value *high = build_2n(b, IR_SHL, build_convert(b, IR_ZEXT, a->word[at / 4 + 1], i64), 32);
        struct ir_value *both = build_2(b, IR_OR, high, build_convert(b, IR_ZEXT, low, i64));
        return build_convert(b, type->kind == IR_POINTER ? IR_INTTOPTR : IR_BITCAST, both, type);
    }
    if (at % 4)
        low = build_2n(b, IR_LSHR, low, 8 * (at % 4));
    const unsigned bits = type->bits == 1 ? 1 : 8 * (unsigned)type->bytes;
    return build_convert(b, IR_BITCAST, build_resize(b, low, ir_int(b->m, bits), false), type);
}

static struct ir_value *read_value(struct arguments *a, const struct ir_type *type, uint64_t at)
{
    if (type->kind != IR_VECTOR)
        return read_scalar(a, type, at);
    struct ir_value *lane[16];
    for (unsigned i = 0; i < type->count && i < 16; i++)
        lane[i] = read_scalar(a, type->element, at + i * type->element->bytes);
    return build_vector(&a->b, lane, (unsigned)type->count);
}

/* Stores every member of the structure to its place in a private variable. */
static bool read_members(struct arguments *a, struct ir_value *variable, const struct ir_type *type, uint64_t at, uint64_t inner)
{
    struct build *b = &a->b;
    if (type->kind == IR_STRUCT || type->kind == IR_ARRAY) {
        for (uint64_t i = 0; i < type->count; i++) {
            const uint64_t offset = type->kind == IR_STRUCT ? type->member_offset[i] : i * type->element->bytes;
            if (!read_members(a, variable, type->kind == IR_STRUCT ? type->member[i] : type->element, at, inner + offset))
                return false;
        }
        return true;
    }
    const unsigned bytes = (unsigned)(type->kind == IR_VECTOR ? type->element->bytes : type->bytes);
    if ((at + inner) % (bytes > 4 ? 4 : bytes))
        return pass_refuse(a->p, NULL, "a packed structure as an argument is not supported") != NULL;
    struct ir_value *place = build_gep(b, variable, ir_int(b->m, 8), build_bits(b, ir_int(b->m, 64), inner), 0);
    build_store(b, read_value(a, type, at + inner), place, bytes);
    return true;
}

static bool replace_argument(struct arguments *a, unsigned i, uint64_t offset)
{
    struct ir_function *f = a->p->f;
    struct ir_value *now;
    if (f->by_value && f->by_value[i]) {
        struct ir_value *one = build_i32(&a->b, 1);
        now = build_any(&a->b, IR_ALLOCA, ir_pointer(a->p->m, IR_PRIVATE), &one, 1);
        now->held = f->by_value[i];
        if (!read_members(a, now, f->by_value[i], offset, 0))
            return false;
        now = build_convert(&a->b, IR_SPACECAST, now, f->argument[i]->type);
    } else {
        now = read_value(a, f->argument[i]->type, offset);
    }
    ir_replace(f, f->argument[i], now);
    return true;
}

/* The new list: words and what stays, in the order of their places. */
static void list_arguments(struct arguments *a, const uint64_t *offset)
{
    struct ir_function *f = a->p->f;
    struct ir_value **list = ir_alloc(a->p->m, (f->arguments + MOST_WORDS) * sizeof *list);
    unsigned count = 0, next = 0, last = 0;
    for (unsigned w = 0; w < MOST_WORDS; w++)
        last = a->odd[w] ? w + 1 : last;
    for (unsigned w = 0; w < MOST_WORDS && !ir_module_failed(a->p->m); w++) {
        if (a->odd[w] || (w < last && !a->covered[w]))
            list[count++] = a->word[w] = new_word(a);
        for (; next < f->arguments && offset[next] / 4 <= w; next++)
            if (stays(a, next, offset[next]))
                list[count++] = f->argument[next];
    }
    for (unsigned i = 0; i < count; i++)
        list[i]->bits = i;
    f->argument = list;
    f->arguments = count;
    f->by_value = ir_alloc(a->p->m, count * sizeof *f->by_value);
}

bool pass_arguments(struct pass *p)
{
    bool plain = true;
    for (unsigned i = 0; i < p->f->arguments; i++)
        plain = plain && is_plain(p->f, i);
    if (plain)
        return true;
    struct arguments *a = ir_alloc(p->m, sizeof *a);
    uint64_t *offset = ir_alloc(p->m, p->f->arguments * sizeof *offset);
    const struct ir_function before = *p->f;
    if (ir_module_failed(p->m))
        return pass_refuse(p, NULL, "out of memory") != NULL;
    a->p = p;
    a->b = build_at(p, p->f->first->first);
    if (!lay_out(a, offset))
        return false;
    list_arguments(a, offset);
    const struct ir_function after = *p->f;
    p->f->argument = before.argument;
    p->f->by_value = before.by_value;
    for (unsigned i = 0; i < before.arguments; i++) {
        const bool plain_here = is_plain(p->f, i) && (before.argument[i]->type->bytes >= 4 || !a->odd[offset[i] / 4]);
        if (!plain_here && !replace_argument(a, i, offset[i]))
            return false;
    }
    p->f->argument = after.argument;
    p->f->by_value = after.by_value;
    p->changed = true;
    return true;
}
