/* Ways out of scopes that falling through makes unnecessary, the cheapest of equal targets, and scopes that nobody leaves. */
#include "isa/agx/compiler/agx_structure.h"

enum { ENCLOSING_MAX = 512 };

struct simplifier {
    struct agx_compiler *c;
    unsigned points;
    struct agx_tree *enclosing[ENCLOSING_MAX];
    bool else_follows[ENCLOSING_MAX]; /* of an IF: we are in the part that an else part follows */
    unsigned depth;
};

/* Gives each node the place where control goes on behind it: nodes at the end of a sequence share that of what is around. The
 * `label` of a node is meanwhile the place that its body ends at: of a loop, that where it begins again. */
static void number_points(struct simplifier *s, struct agx_tree *tree, unsigned end)
{
    for (; tree; tree = tree->next) {
        tree->point = tree->next ? ++s->points : end;
        tree->label = tree->kind == AGX_TREE_LOOP ? ++s->points : tree->point;
        number_points(s, tree->then, tree->label);
        number_points(s, tree->other, tree->point);
    }
}

static unsigned point_of(const struct agx_tree *target)
{
    return target ? target->point : 0;
}

/* Removes a LEAVE that ends a sequence whose end is where it goes. */
static struct agx_tree *drop_leaves(struct agx_tree *tree, unsigned end)
{
    for (struct agx_tree **at = &tree; *at; at = &(*at)->next) {
        struct agx_tree *const t = *at;
        if (t->kind == AGX_TREE_LEAVE && point_of(t->target) == end) {
            *at = NULL;
            break;
        }
        t->then = drop_leaves(t->then, t->label);
        t->other = drop_leaves(t->other, t->point);
    }
    return tree;
}

static bool falls_through(const struct agx_tree *tree)
{
    for (; tree; tree = tree->next)
        if (tree->kind == AGX_TREE_LEAVE)
            return false;
    return true;
}

/* When one part of an if never comes to its end, the other part need not be inside. */
static void flatten(struct agx_tree *tree)
{
    for (; tree; tree = tree->next) {
        flatten(tree->then);
        flatten(tree->other);
        if (tree->kind != AGX_TREE_IF)
            continue;
        struct agx_tree **const out = !falls_through(tree->then)    ? &tree->other
                                      : !falls_through(tree->other) ? &tree->then
                                                                    : NULL;
        if (!out || !*out)
            continue;
        struct agx_tree *const moved = *out, *const rest = tree->next;
        *out = NULL;
        tree->next = moved;
        struct agx_tree *last = moved;
        while (last->next)
            last = last->next;
        if (last->kind == AGX_TREE_LEAVE)
            last->next = NULL; /* the rest cannot be reached */
        else
            last->next = rest;
    }
}

/* Leaving to one place can mean leaving any of several nodes that end there: the innermost needs no scope of its own. */
static void retarget(struct simplifier *s, struct agx_tree *leave)
{
    const unsigned point = point_of(leave->target);
    for (unsigned i = s->depth; i-- > 0;) {
        struct agx_tree *const around = s->enclosing[i];
        if (around->point != point || (around->kind == AGX_TREE_IF && s->else_follows[i]))
            continue;
        leave->target = around;
        break;
    }
    if (leave->target)
        leave->target->leaves++;
}

static void count_leaves(struct simplifier *s, struct agx_tree *tree)
{
    for (; tree; tree = tree->next) {
        tree->leaves = 0;
        if (tree->kind == AGX_TREE_LEAVE)
            retarget(s, tree);
        if (!tree->then && !tree->other)
            continue;
        if (s->depth == ENCLOSING_MAX) {
            agx_refuse(s->c, NULL, "control flow nested deeper than %d", ENCLOSING_MAX);
            return;
        }
        s->enclosing[s->depth] = tree;
        s->else_follows[s->depth++] = tree->kind == AGX_TREE_IF && tree->other;
        count_leaves(s, tree->then);
        s->else_follows[s->depth - 1] = tree->kind == AGX_TREE_IF && tree->then;
        count_leaves(s, tree->other);
        s->depth--;
    }
}

/* Replaces scopes that nobody leaves by what is in them. */
static struct agx_tree *dissolve(struct agx_tree *tree)
{
    struct agx_tree **at = &tree;
    while (*at) {
        struct agx_tree *const t = *at;
        t->then = dissolve(t->then);
        t->other = dissolve(t->other);
        if (t->kind == AGX_TREE_SCOPE && !t->leaves) {
            struct agx_tree **last = &t->then;
            while (*last)
                last = &(*last)->next;
            *last = t->next;
            *at = t->then;
            while (*at && *at != t->next)
                at = &(*at)->next;
            continue;
        }
        at = &t->next;
    }
    return tree;
}

void agx_structure_simplify(struct agx_compiler *c)
{
    struct simplifier s = {.c = c};
    for (unsigned round = 0; round < 3 && !c->failed; round++) {
        s.points = 0;
        number_points(&s, c->tree, 0);
        c->tree = drop_leaves(c->tree, 0);
        flatten(c->tree);
        s.points = 0;
        number_points(&s, c->tree, 0);
        c->tree = drop_leaves(c->tree, 0);
        s.points = 0;
        number_points(&s, c->tree, 0);
        s.depth = 0;
        count_leaves(&s, c->tree);
        c->tree = dissolve(c->tree);
    }
}
