#include "sim/workload/ane/ane_link.h"

#include "isa/list_grow.h"

#include <stdlib.h>
#include <string.h>

enum { BAR_COEFFICIENTS = 1, BAR_SCRATCH = 3, BAR_TENSORS = 4, COEFFICIENT_ALIGN = 64 };

/* Where a program moves tiles between memory and tile memory, a quarter of that is left to them: a tile that is worked on and one
 * that is under way, of the source and of the result, have room for 128 KB each in 2 MB. */
enum { STREAM_SHARE = 4 };

struct link {
    enum ane_link_kind kind;
    bool spared;
    const struct ane_program *program;
    int32_t tensor[ANE_BARS];
    uint64_t own;    /* bytes of tile memory that it uses by itself */
    uint64_t lodged; /* bytes of tensors that lie there meanwhile */
    bool streams;    /* it moves a tensor between memory and tile memory */
};

struct tensor {
    uint64_t bytes;
    size_t written, last; /* links; written SIZE_MAX = by nobody here */
    bool kept, inside;
    int32_t part_of; /* another tensor whose place it has; -1 = its own */
    unsigned reads;
    uint8_t bar;
    uint32_t base;
};

struct ane_linker {
    uint64_t room;
    struct link *link;
    size_t links, link_room;
    struct tensor *tensor;
    size_t tensors, tensor_room;
};

struct ane_linker *ane_linker_create(uint64_t tile_memory_bytes)
{
    struct ane_linker *const l = calloc(1, sizeof *l);
    if (l)
        l->room = tile_memory_bytes;
    return l;
}

void ane_linker_free(struct ane_linker *l)
{
    if (!l)
        return;
    free(l->link);
    free(l->tensor);
    free(l);
}

/* ---- what is linked ---- */

static void own_of(const struct ane_task *task, const struct ane_operand *operand, uint64_t *top, uint64_t *ring)
{
    uint64_t from = 0, to = 0;
    if (operand->place != ANE_PLACE_L2 && operand->place != ANE_PLACE_CHAIN)
        return;
    ane_operand_span(task, operand, &from, &to);
    if (operand->place == ANE_PLACE_L2)
        *top = to > *top ? to : *top;
    else
        *ring = to - from > *ring ? to - from : *ring;
}

static uint64_t own_bytes(const struct ane_program *p)
{
    uint64_t top = 0, ring = 0;
    for (size_t i = 0; i < p->count; i++) {
        own_of(&p->task[i], &p->task[i].source, &top, &ring);
        own_of(&p->task[i], &p->task[i].second, &top, &ring);
        own_of(&p->task[i], &p->task[i].result, &top, &ring);
    }
    return top + ring;
}

static bool have_tensor(struct ane_linker *l, int32_t number)
{
    while (l->tensors <= (size_t)number) {
        struct tensor *const grown = list_grow(l->tensor, l->tensors, &l->tensor_room, sizeof *grown);
        if (!grown)
            return false;
        l->tensor = grown;
        grown[l->tensors++] = (struct tensor){.written = SIZE_MAX, .part_of = ANE_LINK_NONE};
    }
    return true;
}

static void use_tensor(struct ane_linker *l, int32_t number, const struct ane_port *port)
{
    struct tensor *const t = &l->tensor[number];
    t->bytes = port->bytes > t->bytes ? port->bytes : t->bytes;
    t->last = l->links;
    t->reads += port->kind == ANE_PORT_INPUT;
    if (port->kind == ANE_PORT_OUTPUT && t->written == SIZE_MAX)
        t->written = l->links;
}

bool ane_linker_add(struct ane_linker *l, enum ane_link_kind kind, const struct ane_program *program,
                    const int32_t tensor[ANE_BARS])
{
    struct link *const grown = list_grow(l->link, l->links, &l->link_room, sizeof *grown);
    if (!grown)
        return false;
    l->link = grown;
    grown[l->links] = (struct link){.kind = kind, .program = program, .own = own_bytes(program)};
    memcpy(grown[l->links].tensor, tensor, sizeof grown[l->links].tensor);
    for (unsigned bar = 0; bar < ANE_BARS; bar++) {
        if (tensor[bar] < 0)
            continue;
        if (!have_tensor(l, tensor[bar]))
            return false;
        use_tensor(l, tensor[bar], &program->port[bar]);
    }
    l->links++;
    return true;
}

bool ane_linker_keep(struct ane_linker *l, int32_t tensor)
{
    if (!have_tensor(l, tensor))
        return false;
    l->tensor[tensor].kept = true;
    return true;
}

/* ---- what need not be done ---- */

static int32_t place_of(const struct ane_linker *l, int32_t tensor)
{
    while (l->tensor[tensor].part_of >= 0)
        tensor = l->tensor[tensor].part_of;
    return tensor;
}

static int32_t result_of(const struct link *link)
{
    for (unsigned bar = 0; bar < ANE_BARS; bar++)
        if (link->tensor[bar] >= 0 && link->program->port[bar].kind == ANE_PORT_OUTPUT)
            return link->tensor[bar];
    return ANE_LINK_NONE;
}

static bool is_operand(const struct link *link, unsigned bar)
{
    return link->tensor[bar] >= 0 && link->program->port[bar].kind == ANE_PORT_INPUT;
}

/* The first operand may have others behind it already: what is joined grows. The others must be in no other place. */
static bool may_join(const struct ane_linker *l, const struct link *link)
{
    bool first = true;
    for (unsigned bar = 0; bar < ANE_BARS; bar++) {
        if (!is_operand(link, bar))
            continue;
        const int32_t at = link->tensor[bar];
        for (unsigned other = 0; other < bar; other++)
            if (is_operand(link, other) && link->tensor[other] == at)
                return false;
        if (l->tensor[at].written == SIZE_MAX || (!first && l->tensor[at].part_of >= 0))
            return false;
        first = false;
    }
    return true;
}

static void take_place(struct ane_linker *l, int32_t of, int32_t in)
{
    struct tensor *const part = &l->tensor[of], *const whole = &l->tensor[in];
    part->part_of = in;
    whole->bytes = part->bytes > whole->bytes ? part->bytes : whole->bytes;
    whole->written = part->written < whole->written ? part->written : whole->written;
    whole->last = part->last > whole->last ? part->last : whole->last;
    whole->kept |= part->kept;
}

/* A descriptor of either engine ends with a rectifier, unless it ends with another function. */
static bool may_rectify(const struct ane_linker *l, int32_t tensor)
{
    const struct tensor *const t = &l->tensor[tensor];
    if (t->written == SIZE_MAX || t->kept || t->reads != 1 || t->part_of >= 0)
        return false;
    const struct link *const writer = &l->link[t->written];
    bool can = !writer->spared;
    for (size_t i = 0; can && i < writer->program->count; i++) {
        const struct ane_task *const task = &writer->program->task[i];
        if (task->result.place == ANE_PLACE_DRAM && task->result.bar < ANE_BARS && writer->tensor[task->result.bar] == tensor)
            can = task->engine == ANE_ENGINE_NE ? task->nonlinear != ANE_TABLE : !ane_task_reduces_rows(task);
    }
    return can;
}

static void spare_links(struct ane_linker *l)
{
    for (size_t k = 0; k < l->links; k++) {
        struct link *const link = &l->link[k];
        const int32_t result = result_of(link);
        if (link->kind == ANE_LINK_PROGRAM || result < 0)
            continue;
        link->spared = link->kind == ANE_LINK_JOIN;
        for (unsigned bar = 0; bar < ANE_BARS; bar++)
            if (link->kind == ANE_LINK_RELU && is_operand(link, bar))
                link->spared = may_rectify(l, link->tensor[bar]);
        link->spared = link->spared && (link->kind != ANE_LINK_JOIN || may_join(l, link));
        for (unsigned bar = 0; bar < ANE_BARS && link->spared; bar++)
            if (is_operand(link, bar))
                take_place(l, place_of(l, link->tensor[bar]), result);
    }
}

/* ---- what stays in tile memory ---- */

static bool may_stay(const struct ane_linker *l, const struct tensor *t)
{
    return t->part_of < 0 && t->written != SIZE_MAX && !t->kept && t->last > t->written && t->bytes <= l->room;
}

static uint64_t room_of(const struct ane_linker *l, const struct link *link)
{
    const uint64_t taken = link->own + (link->streams ? l->room / STREAM_SHARE : 0);
    return taken < l->room ? l->room - taken : 0;
}

static bool finds_room(const struct ane_linker *l, const struct tensor *t)
{
    for (size_t k = t->written; k <= t->last; k++)
        if (l->link[k].lodged + t->bytes > room_of(l, &l->link[k]))
            return false;
    return true;
}

static void lodge(struct ane_linker *l, struct tensor *t, bool inside)
{
    t->inside = inside;
    for (size_t k = t->written; k <= t->last; k++)
        l->link[k].lodged += inside ? t->bytes : -t->bytes;
}

/* Which links move tensors to and from memory, as things stand: `hopeful` takes for inside what may still come to be. */
static void see_streams(struct ane_linker *l, bool hopeful)
{
    for (size_t k = 0; k < l->links; k++) {
        struct link *const link = &l->link[k];
        link->streams = !link->spared && link->program->port[BAR_SCRATCH].bytes > 0;
        for (unsigned bar = 0; bar < ANE_BARS; bar++)
            if (link->tensor[bar] >= 0 && !link->spared) {
                const struct tensor *const t = &l->tensor[place_of(l, link->tensor[bar])];
                link->streams = link->streams || !(t->inside || (hopeful && may_stay(l, t)));
            }
    }
}

static uint64_t weight(const struct tensor *t)
{
    return t->bytes * (t->last - t->written);
}

/* The next tensor in the order of what it takes: bytes times links, then number. */
static struct tensor *next_smallest(struct ane_linker *l, const bool *seen)
{
    struct tensor *best = NULL;
    for (size_t i = 0; i < l->tensors; i++) {
        struct tensor *const t = &l->tensor[i];
        if (!seen[i] && may_stay(l, t) && (!best || weight(t) < weight(best)))
            best = t;
    }
    return best;
}

static struct tensor *largest_inside(struct ane_linker *l, size_t link)
{
    struct tensor *worst = NULL;
    for (size_t i = 0; i < l->tensors; i++) {
        struct tensor *const t = &l->tensor[i];
        if (t->inside && t->written <= link && link <= t->last && (!worst || weight(t) > weight(worst)))
            worst = t;
    }
    return worst;
}

/* Tensors that found no room are moved in tiles, which need room themselves: others make it. */
static void settle(struct ane_linker *l)
{
    bool changed = true;
    while (changed) {
        changed = false;
        see_streams(l, false);
        for (size_t k = 0; k < l->links; k++)
            for (struct tensor *t; l->link[k].lodged > room_of(l, &l->link[k]) && (t = largest_inside(l, k)); changed = true)
                lodge(l, t, false);
    }
}

static bool choose(struct ane_linker *l)
{
    bool *const seen = calloc(l->tensors + 1, sizeof *seen);
    if (!seen)
        return false;
    see_streams(l, true);
    for (struct tensor *t; (t = next_smallest(l, seen));) {
        seen[t - l->tensor] = true;
        if (finds_room(l, t))
            lodge(l, t, true);
    }
    free(seen);
    settle(l);
    return true;
}

/* ---- memory ---- */

/* Tensors share base registers; behind each, one begins where those end that are still needed. */
static void place_in_memory(struct ane_linker *l)
{
    enum { BARS = ANE_BARS - BAR_TENSORS };
    uint64_t top[BARS] = {0};
    size_t needed[BARS] = {0};
    for (size_t i = 0; i < l->tensors; i++) {
        struct tensor *const t = &l->tensor[i];
        const unsigned bar = (unsigned)(i % BARS);
        const size_t from = t->written == SIZE_MAX ? 0 : t->written;
        if (t->inside || t->part_of >= 0)
            continue;
        if (from > needed[bar] && t->written != SIZE_MAX)
            top[bar] = 0;
        t->bar = (uint8_t)(BAR_TENSORS + bar);
        t->base = (uint32_t)top[bar];
        top[bar] += (t->bytes + COEFFICIENT_ALIGN - 1) / COEFFICIENT_ALIGN * COEFFICIENT_ALIGN;
        needed[bar] = t->last > needed[bar] ? t->last : needed[bar];
    }
}

/* ---- the linked program ---- */

static void link_operand(const struct ane_linker *l, const struct link *link, struct ane_operand *operand)
{
    if (operand->place != ANE_PLACE_DRAM || link->tensor[operand->bar & 31] < 0)
        return;
    const struct tensor *const t = &l->tensor[place_of(l, link->tensor[operand->bar & 31])];
    if (t->inside) {
        operand->place = ANE_PLACE_L2;
        operand->base = 0;
    } else {
        operand->bar = t->bar;
        operand->base += t->base;
    }
}

static bool moves(const struct ane_task *task)
{
    return task->source.place == ANE_PLACE_DRAM || task->second.place == ANE_PLACE_DRAM || task->result.place == ANE_PLACE_DRAM;
}

static void link_task(const struct ane_linker *l, const struct link *link, uint32_t coefficients, struct ane_task *task)
{
    link_operand(l, link, &task->source);
    link_operand(l, link, &task->second);
    link_operand(l, link, &task->result);
    for (unsigned i = 0; i < ANE_BANKS; i++)
        task->bank[i].base += task->bank[i].enabled ? coefficients : 0;
    if (!moves(task)) /* nothing comes in tiles */
        task->tile_height = task->height_out;
}

static bool emit(const struct ane_linker *l, struct ane_linked *linked)
{
    uint64_t coefficients = 0;
    size_t count = 0;
    for (size_t k = 0; k < l->links; k++)
        count += l->link[k].program->count;
    linked->task = calloc(count + 1, sizeof *linked->task);
    linked->first = calloc(l->links + 1, sizeof *linked->first);
    linked->inside = calloc(l->tensors + 1, sizeof *linked->inside);
    if (!linked->task || !linked->first || !linked->inside)
        return false;
    for (size_t k = 0; k < l->links; k++) {
        const struct ane_program *const p = l->link[k].program;
        linked->first[k] = linked->count;
        linked->spared += l->link[k].spared;
        for (size_t i = 0; i < p->count && !l->link[k].spared; i++) {
            linked->task[linked->count] = p->task[i];
            link_task(l, &l->link[k], (uint32_t)coefficients, &linked->task[linked->count++]);
        }
        coefficients += (p->const_bytes + COEFFICIENT_ALIGN - 1) / COEFFICIENT_ALIGN * COEFFICIENT_ALIGN;
    }
    linked->first[l->links] = linked->count;
    return true;
}

bool ane_linker_finish(struct ane_linker *l, struct ane_linked *linked)
{
    *linked = (struct ane_linked){.task = NULL};
    spare_links(l);
    if (!choose(l))
        return false;
    place_in_memory(l);
    if (!emit(l, linked))
        return false;
    for (size_t i = 0; i < l->tensors; i++) {
        const struct tensor *const t = &l->tensor[i];
        linked->inside[i] = l->tensor[place_of(l, (int32_t)i)].inside;
        if (t->written == SIZE_MAX || t->part_of >= 0)
            continue;
        linked->tensors++;
        linked->bytes += t->bytes;
        linked->tensors_inside += t->inside;
        linked->bytes_inside += t->inside ? t->bytes : 0;
    }
    return true;
}

void ane_linked_free(struct ane_linked *linked)
{
    free(linked->task);
    free(linked->first);
    free(linked->inside);
    *linked = (struct ane_linked){.task = NULL};
}
