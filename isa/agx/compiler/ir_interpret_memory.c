/* Loads, stores and atomics: every access is checked against the variable or buffer that it is in. */
#include "isa/agx/compiler/ir_interpret_parts.h"

#include <string.h>

struct access {
    const struct step *step;
    const char *what;
    unsigned lane;
    uint64_t address, bytes;
};

static bool access_fail(struct machine *m, const struct simdgroup *s, const struct access *a, const char *why)
{
    char place[96];
    thread_place(m, s, a->lane, place, sizeof place);
    return interpret_fail(m->error, a->step->line, "%s of %llu bytes at 0x%llx %s, by %s", a->what, (unsigned long long)a->bytes,
                          (unsigned long long)a->address, why, place);
}

/* Is the access within one variable? */
static bool in_object(const struct objects *o, size_t *hint, uint64_t offset, uint64_t bytes)
{
    if (*hint < o->count) {
        const struct object *const last = &o->item[*hint];
        if (offset >= last->offset && offset - last->offset <= last->bytes && bytes <= last->bytes - (offset - last->offset))
            return true;
    }
    size_t low = 0, high = o->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (o->item[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return false;
    const struct object *const found = &o->item[low - 1];
    *hint = low - 1;
    return offset - found->offset <= found->bytes && bytes <= found->bytes - (offset - found->offset);
}

/* What may be reached through a pointer of this space. */
static bool space_fits(unsigned space, enum region region)
{
    switch (space) {
    case IR_PRIVATE: return region == REGION_PRIVATE;
    case IR_THREADGROUP: return region == REGION_THREADGROUP;
    case IR_GENERIC: return true;
    default: return region == REGION_DEVICE || region == REGION_MODULE;
    }
}

static uint8_t *reach(struct machine *m, const struct simdgroup *s, const struct access *a)
{
    const struct program *const p = m->program;
    const unsigned tag = (unsigned)(a->address >> REGION_SHIFT);
    const uint64_t offset = a->address & mask_of(REGION_SHIFT);
    const enum region region =
        tag == REGION_THREADGROUP || tag == REGION_PRIVATE || tag == REGION_MODULE ? (enum region)tag : REGION_DEVICE;
    if (!space_fits(a->step->space, region)) {
        access_fail(m, s, a, "is of another address space than its pointer's");
        return NULL;
    }
    if (a->step->align > 1 && a->address % a->step->align != 0) {
        access_fail(m, s, a, "is not aligned as it is said to be");
        return NULL;
    }
    uint8_t *at = NULL;
    switch (region) {
    case REGION_THREADGROUP:
        at = in_object(&p->threadgroup, &m->hint[0], offset, a->bytes) ? m->threadgroup + offset : NULL;
        break;
    case REGION_PRIVATE:
        at = in_object(&p->private, &m->hint[1], offset, a->bytes) ? s->private + a->lane * p->private.bytes + offset : NULL;
        break;
    case REGION_MODULE: at = in_object(&p->module, &m->hint[2], offset, a->bytes) ? p->module_bytes + offset : NULL; break;
    default: at = m->launch->memory.at ? m->launch->memory.at(m->launch->memory.context, a->address, a->bytes) : NULL; break;
    }
    if (!at)
        access_fail(m, s, a,
                    region == REGION_DEVICE        ? "is outside the buffers"
                    : region == REGION_PRIVATE     ? "is outside the thread's variables"
                    : region == REGION_THREADGROUP ? "is outside the threadgroup's variables"
                                                   : "is outside the module's variables");
    return at;
}

static uint64_t read_bits(const uint8_t *at, unsigned bytes)
{
    uint64_t bits = 0;
    memcpy(&bits, at, bytes);
    return bits;
}

static bool load(struct machine *m, struct simdgroup *s, const struct step *step, uint32_t mask)
{
    const uint64_t *const address = slot_read(m, s, step->a);
    uint64_t *const out = s->slot[step->d];
    const unsigned bytes = step->bits / 8;
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (!(mask >> lane & 1))
            continue;
        const uint8_t *const at = reach(m, s, &(struct access){step, "a load", lane, address[lane] + step->imm, bytes});
        if (!at)
            return false;
        out[lane] = read_bits(at, bytes) & step->mask;
    }
    return true;
}

static bool store(struct machine *m, struct simdgroup *s, const struct step *step, uint32_t mask)
{
    const uint64_t *const value = slot_read(m, s, step->a), *const address = slot_read(m, s, step->b);
    const unsigned bytes = step->bits / 8;
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (!(mask >> lane & 1))
            continue;
        uint8_t *const at = reach(m, s, &(struct access){step, "a store", lane, address[lane] + step->imm, bytes});
        if (!at)
            return false;
        const uint64_t bits = value[lane] & step->mask;
        memcpy(at, &bits, bytes);
    }
    return true;
}

static uint64_t atomic_result(unsigned atomic, uint64_t old, uint64_t value, unsigned bits)
{
    const int64_t a = sign_extended(old, bits), b = sign_extended(value, bits);
    switch (atomic) {
    case IR_ATOMIC_ADD: return old + value;
    case IR_ATOMIC_SUB: return old - value;
    case IR_ATOMIC_UMIN: return old < value ? old : value;
    case IR_ATOMIC_SMIN: return a < b ? old : value;
    case IR_ATOMIC_UMAX: return old > value ? old : value;
    case IR_ATOMIC_SMAX: return a > b ? old : value;
    case IR_ATOMIC_AND: return old & value;
    case IR_ATOMIC_OR: return old | value;
    case IR_ATOMIC_XOR: return old ^ value;
    default: return value;
    }
}

static bool atomic(struct machine *m, struct simdgroup *s, const struct step *step, uint32_t mask)
{
    const uint64_t *const address = slot_read(m, s, step->a), *const value = slot_read(m, s, step->b),
                          *const changed = slot_read(m, s, step->c);
    const unsigned bytes = step->bits / 8;
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (!(mask >> lane & 1))
            continue;
        const struct access access = {step, "an atomic access", lane, address[lane], bytes};
        uint8_t *const at = address[lane] % bytes ? NULL : reach(m, s, &access);
        if (!at)
            return address[lane] % bytes ? access_fail(m, s, &access, "is not aligned") : false;
        const uint64_t old = read_bits(at, bytes);
        const bool equal = old == (value[lane] & step->mask);
        uint64_t result = old;
        if (step->kind == STEP_ATOMIC)
            result = atomic_result(step->which, old, value[lane], step->bits);
        else if (equal)
            result = changed[lane];
        if (step->kind == STEP_EXCHANGE_IF && step->target != NO_SLOT)
            s->slot[step->target][lane] = equal;
        memcpy(at, &result, bytes);
        s->slot[step->d][lane] = old;
    }
    return true;
}

/* Copies and fills of memory. The spaces of their pointers are not told: the addresses say them. */
static bool move(struct machine *m, struct simdgroup *s, const struct step *step, uint32_t mask)
{
    const uint64_t *const to = slot_read(m, s, step->a), *const from = slot_read(m, s, step->b),
                          *const count = slot_read(m, s, step->c);
    for (unsigned lane = 0; lane < LANES; lane++) {
        if (!(mask >> lane & 1) || !count[lane])
            continue;
        const char *const what = step->kind == STEP_COPY ? "a copy" : "a fill";
        uint8_t *const target = reach(m, s, &(struct access){step, what, lane, to[lane], count[lane]});
        if (!target)
            return false;
        if (step->kind == STEP_FILL) {
            memset(target, (int)(from[lane] & 0xff), count[lane]);
            continue;
        }
        const uint8_t *const source = reach(m, s, &(struct access){step, what, lane, from[lane], count[lane]});
        if (!source)
            return false;
        memmove(target, source, count[lane]);
    }
    return true;
}

bool memory_step(struct machine *m, struct simdgroup *s, const struct step *step, uint32_t mask)
{
    switch (step->kind) {
    case STEP_LOAD: return load(m, s, step, mask);
    case STEP_STORE: return store(m, s, step, mask);
    case STEP_ATOMIC:
    case STEP_EXCHANGE_IF: return atomic(m, s, step, mask);
    default: return move(m, s, step, mask);
    }
}
