/* Values to the stack when registers do not suffice: that which is live for longest and used least, stored where it is made and
 * loaded where it is used. */
#include "isa/agx/compiler/agx_machine.h"

static uint32_t length_of(const struct agx_register *r)
{
    uint32_t length = 0;
    for (unsigned i = 0; i < r->spans; i++)
        length += r->span[i].end - r->span[i].first;
    return length;
}

static void weigh_ref(struct agx_compiler *c, const struct agx_ref *ref, uint32_t weight)
{
    if (ref->kind == AGX_REF_REGISTER)
        c->reg[ref->index].weight += weight;
}

static void weigh(struct agx_compiler *c, const struct agx_tree *tree)
{
    for (; tree; tree = tree->next) {
        const uint32_t weight = 1u << 3 * (tree->depth < 6 ? tree->depth : 6);
        for (const struct agx_step *op = tree->ops.first; op; op = op->next) {
            weigh_ref(c, &op->to, weight);
            for (unsigned i = 0; i < op->sources; i++)
                weigh_ref(c, &op->from[i], weight);
            for (unsigned i = 0; i < op->copies; i++) {
                weigh_ref(c, &op->copy[i].to, weight);
                weigh_ref(c, &op->copy[i].from, weight);
            }
        }
        for (unsigned i = 0; i < tree->conditions; i++) { /* compares of branches have no place for a load in front */
            if (tree->condition[i].a.kind == AGX_REF_REGISTER)
                c->reg[tree->condition[i].a.index].unspillable = true;
            if (tree->condition[i].b.kind == AGX_REF_REGISTER)
                c->reg[tree->condition[i].b.index].unspillable = true;
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
    struct agx_ref whole; /* the value as one operand */
};

static bool is_it(const struct spill *s, const struct agx_ref *ref)
{
    return ref->kind == AGX_REF_REGISTER && ref->index == s->reg;
}

static void rename_to(struct agx_ref *ref, const struct agx_ref *now)
{
    ref->index = now->index;
}

static void rewrite(struct spill *s, struct agx_steps *ops)
{
    struct agx_step **at = &ops->first;
    while (*at && !s->c->failed) {
        struct agx_step *const op = *at;
        bool reads = false, writes = is_it(s, &op->to);
        for (unsigned i = 0; i < op->sources; i++)
            reads = reads || is_it(s, &op->from[i]);
        for (unsigned i = 0; i < op->copies; i++) {
            reads = reads || is_it(s, &op->copy[i].from);
            writes = writes || is_it(s, &op->copy[i].to);
        }
        if (!reads && !writes) {
            at = &op->next;
            continue;
        }
        const unsigned halves = s->whole.part / 16u;
        const struct agx_ref in = agx_new(s->c, 16 * halves, s->whole.count);
        const struct agx_ref made = op->changes_part ? in : agx_new(s->c, 16 * halves, s->whole.count);
        s->c->reg[in.index].unspillable = s->c->reg[made.index].unspillable = true;
        for (unsigned i = 0; i < op->sources; i++)
            if (is_it(s, &op->from[i]))
                rename_to(&op->from[i], &in);
        for (unsigned i = 0; i < op->copies; i++) {
            if (is_it(s, &op->copy[i].from))
                rename_to(&op->copy[i].from, &in);
            if (is_it(s, &op->copy[i].to))
                rename_to(&op->copy[i].to, &made);
        }
        if (is_it(s, &op->to))
            rename_to(&op->to, &made);
        if (reads) {
            struct agx_step *const load = transfer(s->c, in, s->offset, false, op);
            load->next = op;
            *at = load;
        }
        at = &op->next;
        if (writes) {
            struct agx_step *const store = transfer(s->c, made, s->offset, true, op);
            store->next = op->next;
            op->next = store;
            at = &store->next;
        }
    }
}

static void rewrite_tree(struct spill *s, struct agx_tree *tree)
{
    for (; tree; tree = tree->next) {
        rewrite(s, &tree->ops);
        rewrite_tree(s, tree->then);
        rewrite_tree(s, tree->other);
    }
}

/* The value whose absence gives most room for each transfer that it costs; UINT32_MAX = none is left. */
static uint32_t choose(const struct agx_compiler *c)
{
    uint32_t best = UINT32_MAX;
    double most = 0;
    for (uint32_t i = 0; i < c->regs; i++) {
        const struct agx_register *const r = &c->reg[i];
        const double gain = (double)length_of(r) * r->halves / (1.0 + r->weight);
        if (r->unspillable || !r->weight || length_of(r) < 8 || r->halves > 8 || gain <= most)
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
    c->stack_bytes = s.offset + 2u * r->halves;
    c->spills++;
    r->unspillable = true;
    rewrite_tree(&s, c->tree);
}

/* More at a time the more there were already: each time, everything is allocated anew. */
bool agx_spill(struct agx_compiler *c)
{
    for (uint32_t i = 0; i < c->regs; i++)
        c->reg[i].weight = 0;
    weigh(c, c->tree);
    const unsigned before = c->spills;
    for (unsigned n = 1 + before / 8; n > 0 && !c->failed; n--) {
        const uint32_t best = choose(c);
        if (best != UINT32_MAX)
            spill_one(c, best);
        else if (c->spills == before)
            return agx_refuse(c, NULL, "the kernel needs more than %u register halves, also with values on the stack",
                              c->register_halves);
        else
            break;
    }
    return !c->failed;
}
