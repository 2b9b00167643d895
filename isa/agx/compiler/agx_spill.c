/* Values to the stack when registers do not suffice: that which is live for longest where they do not and used least, stored
 * where it is made and loaded where it is used. What takes one instruction without registers to make is made again instead. */
#include "isa/agx/compiler/agx_machine.h"

#include <stdlib.h>
#include <string.h>

/* Positions at which too many registers are in use, counted from the beginning. */
struct crowd {
    uint32_t *until; /* so many are in front of a position */
    uint32_t excess; /* halves too many where it is worst */
};

static struct crowd find_crowd(struct agx_compiler *c)
{
    struct crowd crowd = {.excess = 0};
    uint32_t end = 0, now = 0, so_far = 0;
    for (uint32_t i = 0; i < c->regs; i++)
        if (c->reg[i].spans && c->reg[i].span[c->reg[i].spans - 1].end > end)
            end = c->reg[i].span[c->reg[i].spans - 1].end;
    uint32_t *const change = agx_alloc(c, (end + 2) * sizeof *change);
    crowd.until = agx_alloc(c, (end + 2) * sizeof *crowd.until);
    for (uint32_t i = 0; i < c->regs && !c->failed; i++)
        for (unsigned k = 0; k < c->reg[i].spans; k++) {
            change[c->reg[i].span[k].first] += c->reg[i].halves;
            change[c->reg[i].span[k].end] -= c->reg[i].halves;
        }
    for (uint32_t at = 0; at <= end && !c->failed; at++) {
        now += change[at];
        crowd.until[at] = so_far;
        if (now + 8 <= c->register_halves) /* room for gaps between vectors */
            continue;
        so_far++;
        if (now + 8 - c->register_halves > crowd.excess)
            crowd.excess = now + 8 - c->register_halves;
    }
    if (!c->failed)
        crowd.until[end + 1] = so_far;
    return crowd;
}

static uint32_t length_of(const struct agx_register *r)
{
    uint32_t length = 0;
    for (unsigned i = 0; i < r->spans; i++)
        length += r->span[i].end - r->span[i].first;
    return length;
}

/* How much of it is where registers are short; all of it when they are not and only gaps are missing. */
static uint32_t crowded_length(const struct crowd *crowd, const struct agx_register *r)
{
    uint32_t length = 0;
    for (unsigned i = 0; i < r->spans && crowd->excess; i++)
        length += crowd->until[r->span[i].end] - crowd->until[r->span[i].first];
    return crowd->excess ? length : length_of(r);
}

static void weigh_ref(struct agx_compiler *c, const struct agx_ref *ref, uint32_t weight)
{
    if (ref->kind == AGX_REF_REGISTER)
        c->reg[ref->index].weight += weight;
}

/* ---- values that are made again ---- */

static bool reads_no_register(const struct agx_ref *ref)
{
    return ref->kind != AGX_REF_REGISTER && ref->kind != AGX_REF_FIXED;
}

/* Special registers from 56 to 63 tell which lanes run now. */
static bool depends_on_mask(const char *format)
{
    const char *const number = strncmp(format, "get_sr ", 7) == 0 ? strstr(format, ", sr") : NULL;
    return number && atoi(number + 4) >= 56 && atoi(number + 4) <= 63;
}

/* The one instruction that makes `to` of nothing but uniforms and numbers. */
static bool is_cheap(const struct agx_step *op)
{
    if (op->kind == AGX_DO_COPIES) {
        for (unsigned i = 0; i < op->copies; i++)
            if (!reads_no_register(&op->copy[i].from) || op->copy[i].to.index != op->copy[0].to.index)
                return false;
        return op->copies > 0;
    }
    if (op->kind != AGX_DO_PLAIN || op->to.kind != AGX_REF_REGISTER || strncmp(op->format, "simd_", 5) == 0 ||
        strncmp(op->format, "quad_", 5) == 0 || strncmp(op->format, "threadgroup_", 12) == 0 || strstr(op->format, "ballot") ||
        depends_on_mask(op->format))
        return false;
    for (unsigned i = 0; i < op->sources; i++)
        if (!reads_no_register(&op->from[i]))
            return false;
    return true;
}

static void note_maker(struct agx_compiler *c, const struct agx_ref *to, const struct agx_step *op)
{
    if (to->kind != AGX_REF_REGISTER)
        return;
    struct agx_register *const r = &c->reg[to->index];
    if (r->maker != op)
        r->makers++;
    r->maker = op;
}

static void weigh(struct agx_compiler *c, const struct agx_tree *tree)
{
    for (; tree; tree = tree->next) {
        const uint32_t weight = 1u << 3 * (tree->depth < 6 ? tree->depth : 6);
        for (const struct agx_step *op = tree->ops.first; op; op = op->next) {
            note_maker(c, &op->to, op);
            for (unsigned i = 0; i < op->copies; i++)
                note_maker(c, &op->copy[i].to, op);
            weigh_ref(c, &op->to, weight);
            for (unsigned i = 0; i < op->sources; i++)
                weigh_ref(c, &op->from[i], weight);
            for (unsigned i = 0; i < op->copies; i++) {
                weigh_ref(c, &op->copy[i].to, weight);
                weigh_ref(c, &op->copy[i].from, weight);
            }
        }
        for (unsigned i = 0; i < tree->conditions; i++) {
            weigh_ref(c, &tree->condition[i].a, weight);
            weigh_ref(c, &tree->condition[i].b, weight);
        }
        weigh(c, tree->then);
        weigh(c, tree->other);
    }
}

static struct agx_step *transfer(struct agx_compiler *c, struct agx_ref value, uint32_t offset, bool store,
                                 const struct agx_step *at)
{
    static const char *const masks[] = {"", "x", "xy", "xyz", "xyzw"};
    struct agx_step *const op = agx_alloc(c, sizeof *op);
    const char *const format = value.part == 16 ? "i16" : "i32";
    op->format = store ? agx_text(c, "stack_store %s, 1, 0, %s, 4, %%0, %u, %%s", format, masks[value.count], offset)
                       : agx_text(c, "stack_load %%d, %s, 1, 0, %s, 4, %u, %%s", format, masks[value.count], offset);
    op->kind = store ? AGX_DO_STORE : AGX_DO_LOAD;
    op->slot = store;
    op->stack_place = offset / 2 + 1;
    op->line = at->line;
    op->file = at->file;
    if (store) {
        op->from[0] = value;
        op->sources = 1;
    } else {
        op->to = value;
    }
    return op;
}

struct spill {
    struct agx_compiler *c;
    uint32_t reg, offset;
    struct agx_ref whole;         /* the value as one operand */
    const struct agx_step *maker; /* makes it again where it is used; NULL = it is on the stack */
};

/* What brings the value to `in` again. */
static struct agx_step *bring(struct spill *s, struct agx_ref in, const struct agx_step *at)
{
    if (!s->maker)
        return transfer(s->c, in, s->offset, false, at);
    struct agx_step *const op = agx_alloc(s->c, sizeof *op);
    *op = *s->maker;
    op->next = NULL;
    op->order = 0;
    if (op->kind != AGX_DO_COPIES) {
        op->to.index = in.index;
        return op;
    }
    op->copy = agx_alloc(s->c, (op->copies + 1) * sizeof *op->copy);
    for (unsigned i = 0; i < op->copies; i++) {
        op->copy[i] = s->maker->copy[i];
        op->copy[i].to.index = in.index;
    }
    return op;
}

static bool is_it(const struct spill *s, const struct agx_ref *ref)
{
    return ref->kind == AGX_REF_REGISTER && ref->index == s->reg;
}

static void rename_to(struct agx_ref *ref, const struct agx_ref *now)
{
    ref->index = now->index;
}

static struct agx_step **insert(struct agx_step **at, struct agx_step *op)
{
    op->next = *at;
    *at = op;
    return &op->next;
}

/* A register to store from: numbers and uniforms need one. */
static struct agx_ref stored(struct spill *s, struct agx_step ***at, const struct agx_copy *copy)
{
    if (copy->from.kind == AGX_REF_REGISTER && copy->from.part == copy->to.part)
        return copy->from;
    struct agx_step *const op = agx_alloc(s->c, sizeof *op);
    struct agx_ref made = agx_new(s->c, copy->to.part, copy->to.count);
    s->c->reg[made.index].unspillable = true;
    op->kind = AGX_DO_COPIES;
    op->copies = 1;
    op->copy = agx_alloc(s->c, sizeof *op->copy);
    op->copy[0] = (struct agx_copy){made, copy->from};
    *at = insert(*at, op);
    return made;
}

/* Where a value that was brought for a copy may be stored: behind what brings it, unless the place is read later on, else at
 * `at`.
 */
static struct agx_step **early(const struct spill *s, struct agx_steps *ops, struct agx_step **at, struct agx_ref value)
{
    const uint32_t place = s->offset / 2 + 1;
    struct agx_step **found = NULL;
    if (!s->c->reg[value.index].unspillable)
        return at;
    for (struct agx_step **next = &ops->first; next != at && *next; next = &(*next)->next) {
        const struct agx_step *const op = *next;
        if (op->to.kind == AGX_REF_REGISTER && op->to.index == value.index && !op->changes_part)
            found = &(*next)->next;
        else if (op->kind == AGX_DO_LOAD && op->stack_place >= place && op->stack_place < place + 16)
            found = NULL;
    }
    return found ? found : at;
}

/* Copies to what is spilled become stores in front of the others, one by one: all at once they would need as many registers. */
static struct agx_step **store_copies(struct spill *s, struct agx_steps *ops, struct agx_step **at, struct agx_step *op)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < op->copies; i++) {
        const struct agx_copy copy = op->copy[i];
        if (!is_it(s, &copy.to)) {
            op->copy[kept++] = copy;
            continue;
        }
        const struct agx_ref value = stored(s, &at, &copy);
        struct agx_step *const store = transfer(s->c, value, s->offset + 2u * copy.to.offset, true, op);
        struct agx_step **const place = early(s, ops, at, value);
        struct agx_step **const behind = insert(place, store);
        at = place == at ? behind : at;
    }
    op->copies = kept;
    return at;
}

static bool reads_it(const struct spill *s, const struct agx_step *op)
{
    bool reads = false;
    for (unsigned i = 0; i < op->sources; i++)
        reads = reads || is_it(s, &op->from[i]);
    for (unsigned i = 0; i < op->copies; i++)
        reads = reads || is_it(s, &op->copy[i].from);
    return reads;
}

static bool writes_it(const struct spill *s, const struct agx_step *op)
{
    bool writes = is_it(s, &op->to);
    for (unsigned i = 0; i < op->copies; i++)
        writes = writes || is_it(s, &op->copy[i].to);
    return writes;
}

/* Gives `op`, at *at, what it needs and takes what it makes; returns where the next one is. */
static struct agx_step **rewrite_one(struct spill *s, struct agx_steps *ops, struct agx_step **at, bool reads, bool writes)
{
    struct agx_step *const op = *at;
    struct agx_ref in = {.kind = AGX_REF_NONE};
    if (reads || op->changes_part) {
        in = agx_new(s->c, s->whole.part, s->whole.count);
        s->c->reg[in.index].unspillable = true;
        for (unsigned i = 0; i < op->sources; i++)
            if (is_it(s, &op->from[i]))
                rename_to(&op->from[i], &in);
        for (unsigned i = 0; i < op->copies; i++)
            if (is_it(s, &op->copy[i].from))
                rename_to(&op->copy[i].from, &in);
        at = insert(at, bring(s, in, op));
    }
    if (writes && op->kind == AGX_DO_COPIES)
        return &(*store_copies(s, ops, at, op))->next;
    at = &op->next;
    if (!writes)
        return at;
    const struct agx_ref made = op->changes_part ? in : agx_new(s->c, s->whole.part, s->whole.count);
    s->c->reg[made.index].unspillable = true;
    rename_to(&op->to, &made);
    return insert(at, transfer(s->c, made, s->offset, true, op));
}

static void rewrite(struct spill *s, struct agx_steps *ops)
{
    struct agx_step **at = &ops->first;
    while (*at && !s->c->failed) {
        struct agx_step *const op = *at;
        const bool reads = reads_it(s, op), writes = writes_it(s, op);
        if (op == s->maker) /* made where it is used */
            *at = op->next;
        else if (reads || writes)
            at = rewrite_one(s, ops, at, reads, writes);
        else
            at = &op->next;
    }
    ops->last = ops->first;
    while (ops->last && ops->last->next)
        ops->last = ops->last->next;
}

/* The operands of a branch are brought at the end of the code in front of it. */
static void rewrite_conditions(struct spill *s, struct agx_tree *tree)
{
    struct agx_ref in = {.kind = AGX_REF_NONE};
    for (unsigned i = 0; i < 2 * tree->conditions; i++) {
        struct agx_ref *const ref = i % 2 ? &tree->condition[i / 2].b : &tree->condition[i / 2].a;
        if (!is_it(s, ref))
            continue;
        if (in.kind == AGX_REF_NONE) {
            const struct agx_step at = {.line = tree->line, .file = tree->file};
            in = agx_new(s->c, s->whole.part, s->whole.count);
            s->c->reg[in.index].unspillable = true;
            struct agx_steps *const before = &tree->before->ops;
            struct agx_step *const load = bring(s, in, &at);
            *(before->last ? &before->last->next : &before->first) = load;
            before->last = load;
        }
        rename_to(ref, &in);
    }
}

static void rewrite_tree(struct spill *s, struct agx_tree *tree)
{
    for (; tree; tree = tree->next) {
        rewrite(s, &tree->ops);
        if (tree->kind == AGX_TREE_IF)
            rewrite_conditions(s, tree);
        rewrite_tree(s, tree->then);
        rewrite_tree(s, tree->other);
    }
}

static bool is_made_again(const struct agx_register *r)
{
    return r->makers == 1 && is_cheap(r->maker);
}

/* The value whose absence gives most room for each transfer that it costs; UINT32_MAX = none is left. */
static uint32_t choose(const struct agx_compiler *c, const struct crowd *crowd)
{
    uint32_t best = UINT32_MAX;
    double most = 0;
    for (uint32_t i = 0; i < c->regs; i++) {
        const struct agx_register *const r = &c->reg[i];
        if (r->unspillable || !r->weight || length_of(r) < 8 || r->halves > 8)
            continue;
        const double gain = (double)crowded_length(crowd, r) * r->halves * (is_made_again(r) ? 4 : 1) / (1.0 + r->weight);
        if (gain <= most)
            continue;
        most = gain;
        best = i;
    }
    return best;
}

static void spill_one(struct agx_compiler *c, uint32_t reg)
{
    struct agx_register *const r = &c->reg[reg];
    struct spill s = {.c = c, .reg = reg, .offset = (c->stack_bytes + 3) & ~3u};
    s.whole = (struct agx_ref){.part = r->even ? 32 : 16, .count = (uint8_t)(r->halves / (r->even ? 2 : 1))};
    if (is_made_again(r)) {
        s.maker = r->maker;
    } else {
        c->stack_bytes = s.offset + 2u * r->halves;
        c->spills++;
    }
    r->unspillable = true;
    rewrite_tree(&s, c->tree);
}

/* As many at a time as registers are short of, roughly, and more the more there were already: each time, everything is allocated
 * anew. */
bool agx_spill(struct agx_compiler *c)
{
    for (uint32_t i = 0; i < c->regs; i++) {
        c->reg[i].weight = c->reg[i].makers = 0;
        c->reg[i].maker = NULL;
    }
    weigh(c, c->tree);
    const struct crowd crowd = find_crowd(c);
    const unsigned before = c->spills, wanted = 1 + before / 8 + crowd.excess / 8;
    for (unsigned n = 0; n < wanted && !c->failed; n++) {
        const uint32_t best = choose(c, &crowd);
        if (best != UINT32_MAX)
            spill_one(c, best);
        else if (n == 0)
            return agx_refuse(c, NULL, "the kernel needs more than %u register halves, also with values on the stack",
                              c->register_halves);
        else
            break;
    }
    return !c->failed;
}
