/* From the tree to lines, with instructions on the execution mask.
 *
 * r0l counts for each lane how many levels must be closed before it runs again (agx-isa.md section 7). Each open if, scope or
 * loop is a level; leaving one sets r0l to the number of levels up to and including it. What ends where its surroundings end
 * shares their level: no instruction opens or closes it. */
#include "isa/agx/compiler/agx_lines.h"

#include <string.h>

enum { LEVELS_MAX = 512, SKIP_INSTRUCTIONS = 16, STACK_BYTES_MAX = 4 * 32752 /* stack_adjust has 16 bits for words */ };

struct masker {
    struct agx_compiler *c;
    unsigned depth;
    bool off;                   /* lanes may have left for the end of the kernel */
    bool stale;                 /* r0l was written since the mask was made of it */
    unsigned label[LEVELS_MAX]; /* in front of what closes a level, + 1 */
};

struct agx_line *agx_add_line(struct agx_compiler *c, const struct agx_step *op)
{
    if (c->lines == c->line_room) {
        const unsigned room = 2 * c->line_room + 256;
        struct agx_line *const grown = agx_alloc(c, room * sizeof *grown);
        if (c->failed)
            return agx_alloc(c, sizeof *grown);
        if (c->lines)
            memcpy(grown, c->line, c->lines * sizeof *grown);
        c->line = grown;
        c->line_room = room;
    }
    struct agx_line *const line = &c->line[c->lines++];
    *line = (struct agx_line){.format = ""};
    if (op) {
        line->line = op->line;
        line->file = op->file;
    }
    return line;
}

static struct agx_line *plain(struct masker *m, const struct agx_tree *tree, const char *format)
{
    struct agx_line *const line = agx_add_line(m->c, NULL);
    line->format = format;
    line->line = tree ? tree->line : 0;
    line->file = tree ? tree->file : 0;
    return line;
}

static void mask_line(struct masker *m, const struct agx_tree *tree, const char *format)
{
    plain(m, tree, format);
    m->stale = false;
}

static void jump(struct masker *m, const char *format, unsigned label)
{
    struct agx_line *const line = plain(m, NULL, format);
    line->kind = AGX_LINE_JUMP;
    line->label = label;
}

static void define(struct masker *m, unsigned label)
{
    struct agx_line *const line = plain(m, NULL, "");
    line->kind = AGX_LINE_LABEL;
    line->label = label;
}

static unsigned end_label(struct masker *m)
{
    if (!m->label[m->depth])
        m->label[m->depth] = ++m->c->labels;
    return m->label[m->depth];
}

static void open_level(struct masker *m, bool push)
{
    if (push)
        mask_line(m, NULL, "push_exec r0l, 1");
    if (m->depth + 1 >= LEVELS_MAX) {
        agx_refuse(m->c, NULL, "control flow nested deeper than %d", LEVELS_MAX);
        return;
    }
    m->label[++m->depth] = 0;
}

static void close_level(struct masker *m)
{
    if (m->label[m->depth])
        define(m, m->label[m->depth]);
    mask_line(m, NULL, "pop_exec r0l, 1");
    m->depth--;
}

static void write_op(struct masker *m, const struct agx_step *op)
{
    if (op->kind == AGX_DO_COPIES) {
        agx_write_copies(m->c, op);
        return;
    }
    struct agx_line *const line = agx_add_line(m->c, op);
    line->format = op->format;
    line->does = op->kind;
    line->slot = op->slot;
    line->write = op->to;
    memcpy(line->read, op->from, op->sources * sizeof *op->from);
    line->reads = op->sources;
}

static bool is_empty(struct masker *m, const struct agx_tree *tree)
{
    for (; tree; tree = tree->next) {
        if (tree->kind == AGX_TREE_LEAVE || tree->kind == AGX_TREE_LOOP)
            return false;
        for (const struct agx_step *op = tree->ops.first; op; op = op->next)
            if (op->kind != AGX_DO_COPIES || !agx_copies_nothing(m->c, op))
                return false;
        if (!is_empty(m, tree->then) || !is_empty(m, tree->other))
            return false;
    }
    return true;
}

/* The same of a single node. */
static bool is_nothing(struct masker *m, const struct agx_tree *tree)
{
    struct agx_tree one = *tree;
    one.next = NULL;
    return is_empty(m, &one);
}

/* The node that a part consists of when it does nothing but leave. */
static const struct agx_tree *only_leaves(struct masker *m, const struct agx_tree *tree)
{
    while (tree && tree->kind == AGX_TREE_EDGE) {
        for (const struct agx_step *op = tree->ops.first; op; op = op->next)
            if (op->kind != AGX_DO_COPIES || !agx_copies_nothing(m->c, op)) /* others load what is on the stack */
                return NULL;
        tree = tree->next;
    }
    return tree && tree->kind == AGX_TREE_LEAVE ? tree : NULL;
}

static unsigned distance(struct masker *m, const struct agx_tree *leave)
{
    const unsigned level = leave->target ? leave->target->level : 0;
    if (!level)
        m->off = true;
    return m->depth - level + 1;
}

static void compare(struct masker *m, const struct agx_tree *tree, const struct agx_condition *k, const char *what)
{
    struct agx_line *const line = plain(
        m, tree, agx_text(m->c, "%s_%ccmp r0l, %s, %%0, %%1, 1", what, k->is_float ? 'f' : 'i', agx_condition_name(k, true)));
    line->read[0] = k->a;
    line->read[1] = k->b;
    line->reads = 2;
    m->stale = false;
}

static unsigned size_of(const struct agx_tree *tree)
{
    unsigned size = 0;
    for (; tree; tree = tree->next) {
        for (const struct agx_step *op = tree->ops.first; op; op = op->next)
            size += op->kind != AGX_DO_COPIES;
        size += tree->conditions + size_of(tree->then) + size_of(tree->other);
    }
    return size;
}

static void sequence(struct masker *m, struct agx_tree *tree, bool ends_level);

/* Lanes for which the condition fails leave; the others go on. */
static bool leave_if_not(struct masker *m, struct agx_tree *tree, const struct agx_tree *leave)
{
    const unsigned levels = distance(m, leave);
    if (levels == 1) {
        for (unsigned i = 0; i < tree->conditions; i++)
            compare(m, tree, &tree->condition[i], "while");
        return true;
    }
    if (tree->conditions > 1)
        return false;
    const struct agx_condition *const k = &tree->condition[0];
    struct agx_line *const line = plain(m, tree,
                                        agx_text(m->c, "%ccmpsel %s, r0l, %%0, %%1, %u, %u", k->is_float ? 'f' : 'i',
                                                 agx_condition_name(k, false), k->invert ? levels : 0, k->invert ? 0 : levels));
    line->read[0] = k->a;
    line->read[1] = k->b;
    line->reads = 2;
    mask_line(m, tree, "pop_exec r0l, 0");
    return true;
}

static void swap_parts(struct agx_tree *tree)
{
    struct agx_tree *const then = tree->then;
    tree->then = tree->other;
    tree->other = then;
    tree->condition[0].invert = !tree->condition[0].invert;
}

static void full_if(struct masker *m, struct agx_tree *tree, bool last, bool has_other)
{
    const bool shared = last && !has_other;
    if (shared && !m->depth)
        m->off = true;
    for (unsigned i = 0; i < tree->conditions; i++)
        compare(m, tree, &tree->condition[i], i || shared ? "while" : "if");
    if (!shared)
        open_level(m, false);
    tree->level = m->depth;
    if (size_of(tree->then) >= SKIP_INSTRUCTIONS)
        jump(m, "jmp_exec_none", end_label(m));
    sequence(m, tree->then, !has_other);
    if (has_other) {
        if (m->label[m->depth])
            define(m, m->label[m->depth]);
        m->label[m->depth] = 0;
        mask_line(m, tree, "else_fcmp r0l, eq, 0.0, 0.0, 1");
        if (size_of(tree->other) >= SKIP_INSTRUCTIONS)
            jump(m, "jmp_exec_none", end_label(m));
        sequence(m, tree->other, true);
    }
    if (!shared)
        close_level(m);
}

static void write_if(struct masker *m, struct agx_tree *tree, bool last)
{
    const bool no_then = is_empty(m, tree->then), no_other = is_empty(m, tree->other);
    if (no_then && no_other)
        return;
    if (tree->conditions == 1 && (only_leaves(m, tree->then) || (no_then && !only_leaves(m, tree->other))))
        swap_parts(tree);
    const struct agx_tree *const leave = only_leaves(m, tree->other);
    if (leave && leave_if_not(m, tree, leave)) {
        tree->level = m->depth;
        sequence(m, tree->then, last);
        return;
    }
    full_if(m, tree, last, !is_empty(m, tree->other));
}

static void write_loop(struct masker *m, struct agx_tree *tree, bool last)
{
    const unsigned top = ++m->c->labels;
    if (last && !m->depth)
        m->off = true;
    if (!last)
        open_level(m, m->depth || m->off);
    tree->level = m->depth;
    if (m->stale)
        mask_line(m, NULL, "pop_exec r0l, 0");
    define(m, top);
    sequence(m, tree->then, false);
    if (m->stale)
        mask_line(m, NULL, "pop_exec r0l, 0");
    jump(m, "jmp_exec_any", top);
    if (!last)
        close_level(m);
}

static void write_leave(struct masker *m, const struct agx_tree *tree)
{
    const unsigned levels = distance(m, tree);
    plain(m, tree, agx_text(m->c, "mov_imm r0l, %u", levels));
    m->stale = true;
}

/* `ends_level`: behind the last node, the current level is closed. */
static void sequence(struct masker *m, struct agx_tree *tree, bool ends_level)
{
    for (; tree && !m->c->failed; tree = tree->next) {
        bool last = ends_level;
        for (const struct agx_tree *next = tree->next; next && last; next = next->next)
            last = is_nothing(m, next);
        switch (tree->kind) {
        case AGX_TREE_CODE:
        case AGX_TREE_EDGE:
            for (const struct agx_step *op = tree->ops.first; op; op = op->next)
                write_op(m, op);
            break;
        case AGX_TREE_IF: write_if(m, tree, last); break;
        case AGX_TREE_SCOPE:
            if (!last)
                open_level(m, m->depth || m->off);
            tree->level = m->depth;
            sequence(m, tree->then, true);
            if (!last)
                close_level(m);
            break;
        case AGX_TREE_LOOP: write_loop(m, tree, last); break;
        case AGX_TREE_LEAVE: write_leave(m, tree); return;
        }
    }
}

bool agx_masks(struct agx_compiler *c)
{
    struct masker *const m = agx_alloc(c, sizeof *m);
    m->c = c;
    if (c->has_masks)
        plain(m, NULL, "mov_imm r0l, 0");
    if (c->stack_bytes > STACK_BYTES_MAX)
        return agx_refuse(c, NULL, "more than %d bytes of private variables and values kept on the stack", STACK_BYTES_MAX);
    if (c->stack_bytes) /* ten words more, rounded up to four: as Mesa and, it says, Apple do */
        plain(m, NULL, agx_text(c, "stack_adjust %u", ((c->stack_bytes + 3) / 4 + 10 + 3) / 4 * 4));
    sequence(m, c->tree, true);
    if (m->label[0])
        define(m, m->label[0]);
    plain(m, NULL, "stop");
    return !c->failed;
}
