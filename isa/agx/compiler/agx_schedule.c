/* Loads move up, away from what waits for them, within straight code and as far as registers go.
 *
 * Instructions keep their order but for the next load of each kind of memory: it comes with what computes its address before the
 * others when its first user is near, nothing that it depends on is left, and the registers in use stay within a budget. Small
 * kernels get none beyond those that they use anyway; large ones what the next step of occupancy leaves free. */
#include "isa/agx/compiler/agx_machine.h"

#include <string.h>

enum { WINDOW = 48, SLICE_MOST = 6, NODE_MOST = 6000, NONE = -1 };
enum memory { MEMORY_NONE, MEMORY_DEVICE, MEMORY_GROUP, MEMORY_STACK, MEMORIES };

struct item {
    struct agx_step *op;
    int *before; /* items that it depends on */
    int befores, before_room;
    int first_use; /* of what a load brings; count of items: not here */
    uint8_t memory;
    bool loads, writes, done;
};
/* What is known about a virtual register while the instructions of a node are gone through. */
struct state {
    int writer;  /* last item that writes it */
    int *reader; /* since then */
    int readers, reader_room;
    int uses;         /* that are left */
    bool live, stays; /* behind the node */
};
struct scheduler {
    struct agx_compiler *c;
    struct item *item;
    int items;
    struct state *state; /* by virtual register */
    uint32_t *pressure;  /* halves in use, by position */
    uint32_t now, budget;
    bool changed;
};

static enum memory memory_of(const struct agx_step *op)
{
    if (op->kind == AGX_DO_COPIES || !op->format)
        return MEMORY_NONE;
    if (strncmp(op->format, "threadgroup_", 12) == 0 && strncmp(op->format, "threadgroup_barrier", 19) != 0)
        return MEMORY_GROUP;
    if (strncmp(op->format, "stack_", 6) == 0)
        return MEMORY_STACK;
    return op->kind == AGX_DO_LOAD || op->kind == AGX_DO_STORE ? MEMORY_DEVICE : MEMORY_NONE;
}

static bool only_loads(const struct agx_step *op)
{
    return strstr(op->format, "_load") != NULL;
}

/* ---- dependences ---- */

static void depend(struct scheduler *s, int item, int on)
{
    struct item *const it = &s->item[item];
    if (on == NONE || on == item || (it->befores && it->before[it->befores - 1] == on))
        return;
    if (it->befores == it->before_room) {
        const int room = 2 * it->before_room + 6;
        int *const grown = agx_alloc(s->c, (size_t)room * sizeof *grown);
        if (it->befores)
            memcpy(grown, it->before, (size_t)it->befores * sizeof *grown);
        it->before = grown;
        it->before_room = room;
    }
    it->before[it->befores++] = on;
}

static void note_read(struct scheduler *s, int item, const struct agx_ref *ref)
{
    if (ref->kind != AGX_REF_REGISTER)
        return;
    struct state *const r = &s->state[ref->index];
    depend(s, item, r->writer);
    if (r->writer != NONE && s->item[r->writer].loads && item < s->item[r->writer].first_use)
        s->item[r->writer].first_use = item;
    if (r->readers == r->reader_room) {
        const int room = 2 * r->reader_room + 4;
        int *const grown = agx_alloc(s->c, (size_t)room * sizeof *grown);
        if (r->readers)
            memcpy(grown, r->reader, (size_t)r->readers * sizeof *grown);
        r->reader = grown;
        r->reader_room = room;
    }
    r->reader[r->readers++] = item;
    r->uses++;
}

static void note_write(struct scheduler *s, int item, const struct agx_ref *ref)
{
    if (ref->kind != AGX_REF_REGISTER)
        return;
    struct state *const r = &s->state[ref->index];
    depend(s, item, r->writer);
    for (int i = 0; i < r->readers; i++)
        depend(s, item, r->reader[i]);
    r->writer = item;
    r->readers = 0;
}

static void each_ref(struct scheduler *s, int item, void (*reads)(struct scheduler *, int, const struct agx_ref *),
                     void (*writes)(struct scheduler *, int, const struct agx_ref *))
{
    const struct agx_step *const op = s->item[item].op;
    for (unsigned i = 0; i < op->sources && reads; i++)
        reads(s, item, &op->from[i]);
    for (unsigned i = 0; i < op->copies && reads; i++)
        reads(s, item, &op->copy[i].from);
    if (!writes)
        return;
    writes(s, item, &op->to);
    for (unsigned i = 0; i < op->copies; i++)
        writes(s, item, &op->copy[i].to);
}

/* Loads stay behind what writes such memory, what writes it behind all that touches it; nothing passes a barrier. */
static void order_memory(struct scheduler *s)
{
    int writer[MEMORIES] = {NONE, NONE, NONE, NONE}, barrier = NONE, since = 0;
    for (int i = 0; i < s->items; i++) {
        struct item *const it = &s->item[i];
        if (it->op->kind == AGX_DO_BARRIER) {
            for (int k = since; k < i; k++)
                if (s->item[k].memory)
                    depend(s, i, k);
            depend(s, i, barrier);
            barrier = i;
            since = i + 1;
            writer[MEMORY_DEVICE] = writer[MEMORY_GROUP] = writer[MEMORY_STACK] = i;
        } else if (it->memory && !it->writes) {
            depend(s, i, writer[it->memory]);
        } else if (it->memory) {
            for (int k = writer[it->memory] == NONE ? 0 : writer[it->memory]; k < i; k++)
                if (s->item[k].memory == it->memory || k == writer[it->memory])
                    depend(s, i, k);
            writer[it->memory] = i;
        }
    }
}

static void forget(struct scheduler *s, int item, const struct agx_ref *ref)
{
    (void)item;
    if (ref->kind == AGX_REF_REGISTER)
        s->state[ref->index] = (struct state){.writer = NONE};
}

static bool is_live_at(const struct agx_register *r, uint32_t at)
{
    for (unsigned i = 0; i < r->spans && r->span[i].first <= at; i++)
        if (at < r->span[i].end)
            return true;
    return false;
}

/* ---- registers in use ---- */

static void find_ends(struct scheduler *s, const struct agx_tree *tree, int item, const struct agx_ref *ref)
{
    (void)item;
    if (ref->kind != AGX_REF_REGISTER)
        return;
    struct state *const r = &s->state[ref->index];
    r->live = is_live_at(&s->c->reg[ref->index], tree->ops.first->at);
    r->stays = tree->live && tree->live[ref->index / 64] >> ref->index % 64 & 1;
}

static void begin_live(struct scheduler *s, int item, const struct agx_ref *ref)
{
    (void)item;
    if (ref->kind != AGX_REF_REGISTER || s->state[ref->index].live)
        return;
    s->state[ref->index].live = true;
    s->now += s->c->reg[ref->index].halves;
}

static void end_live(struct scheduler *s, int item, const struct agx_ref *ref)
{
    (void)item;
    if (ref->kind != AGX_REF_REGISTER)
        return;
    struct state *const r = &s->state[ref->index];
    if (r->live && r->uses == 0 && !r->stays) {
        r->live = false;
        s->now -= s->c->reg[ref->index].halves;
    }
}

static void use(struct scheduler *s, int item, const struct agx_ref *ref)
{
    if (ref->kind != AGX_REF_REGISTER)
        return;
    s->state[ref->index].uses--;
    end_live(s, item, ref);
}

static unsigned made_by(const struct scheduler *s, const struct agx_step *op)
{
    return op->to.kind == AGX_REF_REGISTER ? s->c->reg[op->to.index].halves : 0;
}

/* ---- choosing ---- */

/* Marks what is left of all that `item` depends on, itself included, in `slice`; the number of them, or more than SLICE_MOST. */
static int slice_of(struct scheduler *s, int item, int *slice)
{
    int count = 1;
    slice[0] = item;
    for (int next = 0; next < count; next++)
        for (int i = 0; i < s->item[slice[next]].befores; i++) {
            const int on = s->item[slice[next]].before[i];
            bool known = s->item[on].done;
            for (int k = 0; k < count && !known; k++)
                known = slice[k] == on;
            if (known)
                continue;
            if (count == SLICE_MOST)
                return SLICE_MOST + 1;
            slice[count++] = on;
        }
    return count;
}

/* Whether the load may come now; then the first instruction to be done for it, else NONE. */
static int advance(struct scheduler *s, int load, int first)
{
    const struct item *const it = &s->item[load];
    const int near = it->memory == MEMORY_GROUP ? 12 : 32;
    int slice[SLICE_MOST + 1], least = load;
    if (it->first_use - load > near)
        return NONE;
    const int count = slice_of(s, load, slice);
    uint32_t more = 0;
    for (int i = 0; i < count && count <= SLICE_MOST; i++) {
        const struct item *const part = &s->item[slice[i]];
        if (part->writes || part->op->kind == AGX_DO_BARRIER || part->op->kind == AGX_DO_COPIES || slice[i] == first ||
            (part->loads && slice[i] != load))
            return NONE;
        more += made_by(s, part->op);
        least = slice[i] < least ? slice[i] : least;
    }
    return count <= SLICE_MOST && s->now + more <= s->budget ? least : NONE;
}

static int choose(struct scheduler *s, int first, int *next_load)
{
    for (int m = MEMORY_DEVICE; m < MEMORIES; m++) {
        int *const load = &next_load[m];
        while (*load < s->items && (s->item[*load].done || !s->item[*load].loads || s->item[*load].memory != m))
            ++*load;
        if (*load >= s->items || *load <= first || *load - first > WINDOW)
            continue;
        const int item = advance(s, *load, first);
        if (item != NONE)
            return item;
    }
    return first;
}

static void fill(struct scheduler *s, struct agx_tree *tree)
{
    int i = 0;
    for (struct agx_step *op = tree->ops.first; op; op = op->next, i++) {
        struct item *const it = &s->item[i];
        *it = (struct item){.op = op, .first_use = s->items, .memory = memory_of(op)};
        it->loads = it->memory && only_loads(op);
        it->writes = it->memory && !it->loads;
        op->order = (uint32_t)i + 1;
        each_ref(s, i, forget, forget);
    }
    for (i = 0; i < s->items; i++)
        each_ref(s, i, note_read, note_write);
    order_memory(s);
    for (i = 0; i < s->items; i++) {
        const struct agx_step *const op = s->item[i].op;
        for (unsigned k = 0; k < op->sources; k++)
            find_ends(s, tree, i, &op->from[k]);
        for (unsigned k = 0; k < op->copies; k++) {
            find_ends(s, tree, i, &op->copy[k].from);
            find_ends(s, tree, i, &op->copy[k].to);
        }
        find_ends(s, tree, i, &op->to);
    }
}

static void schedule(struct scheduler *s, struct agx_tree *tree)
{
    int next_load[MEMORIES] = {0}, first = 0, loads = 0;
    s->items = 0;
    for (const struct agx_step *op = tree->ops.first; op; op = op->next) {
        s->items++;
        loads += memory_of(op) && only_loads(op);
    }
    if (s->items < 2 || s->items > NODE_MOST || !loads)
        return;
    s->item = agx_alloc(s->c, (size_t)s->items * sizeof *s->item);
    if (s->c->failed)
        return;
    s->now = s->pressure[tree->ops.first->at];
    fill(s, tree);
    tree->ops = (struct agx_steps){0};
    for (int done = 0; done < s->items && !s->c->failed; done++) {
        while (s->item[first].done)
            first++;
        const int item = choose(s, first, next_load);
        struct agx_step *const op = s->item[item].op;
        s->item[item].done = true;
        s->changed = s->changed || item != first;
        op->next = NULL;
        *(tree->ops.last ? &tree->ops.last->next : &tree->ops.first) = op;
        tree->ops.last = op;
        each_ref(s, item, use, begin_live);
        each_ref(s, item, end_live, end_live);
    }
}

static void schedule_all(struct scheduler *s, struct agx_tree *tree)
{
    for (; tree && !s->c->failed; tree = tree->next) {
        if (tree->kind == AGX_TREE_CODE)
            schedule(s, tree);
        schedule_all(s, tree->then);
        schedule_all(s, tree->other);
    }
}

/* Halves in use at each position; the most of them. */
static uint32_t find_pressure(struct scheduler *s)
{
    uint32_t end = 0, now = 0, most = 0;
    for (uint32_t i = 0; i < s->c->regs; i++)
        if (s->c->reg[i].spans && s->c->reg[i].span[s->c->reg[i].spans - 1].end > end)
            end = s->c->reg[i].span[s->c->reg[i].spans - 1].end;
    s->pressure = agx_alloc(s->c, (end + 3) * sizeof *s->pressure);
    for (uint32_t i = 0; i < s->c->regs && !s->c->failed; i++)
        for (unsigned k = 0; k < s->c->reg[i].spans; k++) {
            s->pressure[s->c->reg[i].span[k].first] += s->c->reg[i].halves;
            s->pressure[s->c->reg[i].span[k].end] -= s->c->reg[i].halves;
        }
    for (uint32_t at = 0; at <= end && !s->c->failed; at++) {
        s->pressure[at] = now += s->pressure[at];
        most = now > most ? now : most;
    }
    return most;
}

bool agx_schedule(struct agx_compiler *c, unsigned more_halves)
{
    struct scheduler s = {.c = c};
    s.budget = find_pressure(&s) + more_halves;
    s.state = agx_alloc(c, (c->regs + 1) * sizeof *s.state);
    if (!c->failed)
        schedule_all(&s, c->tree);
    return s.changed && !c->failed;
}

/* ---- back ---- */

/* What came later stays behind the others. */
static void restore(struct agx_compiler *c, struct agx_tree *tree)
{
    for (; tree; tree = tree->next) {
        uint32_t most = 0;
        for (const struct agx_step *op = tree->ops.first; op; op = op->next)
            most = op->order > most ? op->order : most;
        struct agx_step **const by_order = agx_alloc(c, (most + 1) * sizeof *by_order), *last = NULL;
        struct agx_steps later = {0}, sorted = {0};
        for (struct agx_step *op = tree->ops.first, *next; op && !c->failed; op = next) {
            next = op->next;
            op->next = NULL;
            if (op->order)
                by_order[op->order] = op;
            else
                *(later.last ? &later.last->next : &later.first) = op, later.last = op;
        }
        for (uint32_t i = 1; i <= most && !c->failed; i++)
            if (by_order[i]) {
                *(last ? &last->next : &sorted.first) = by_order[i];
                last = by_order[i];
            }
        if (later.first)
            *(last ? &last->next : &sorted.first) = later.first;
        sorted.last = later.first ? later.last : last;
        tree->ops = sorted;
        restore(c, tree->then);
        restore(c, tree->other);
    }
}

void agx_unschedule(struct agx_compiler *c)
{
    restore(c, c->tree);
}
