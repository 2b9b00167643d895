#include "sim/language/merge.h"

#include "isa/list_grow.h"

#include <stdint.h>

struct piece {
    const char *text;
    size_t length;
    ptrdiff_t before, behind; /* -1 = none */
};

/* A pair that may be joined; outdated when the pieces have changed since. */
struct pair {
    double rank;
    ptrdiff_t left;
    size_t left_length, right_length;
};

/* A heap, the next pair on top. */
struct work {
    const struct merge_rule *rule;
    struct piece *piece;
    struct pair *pair;
    size_t pairs, room;
};

static bool is_sooner(const struct pair *a, const struct pair *b)
{
    return a->rank < b->rank || (a->rank == b->rank && a->left < b->left);
}

static bool push(struct work *w, struct pair pair)
{
    struct pair *const grown = list_grow(w->pair, w->pairs, &w->room, sizeof *grown);
    if (!grown)
        return false;
    w->pair = grown;
    size_t at = w->pairs++;
    for (; at && is_sooner(&pair, &w->pair[(at - 1) / 2]); at = (at - 1) / 2)
        w->pair[at] = w->pair[(at - 1) / 2];
    w->pair[at] = pair;
    return true;
}

static struct pair pop(struct work *w)
{
    const struct pair top = w->pair[0], last = w->pair[--w->pairs];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < w->pairs && is_sooner(&w->pair[child + 1], &w->pair[child]))
            child++;
        if (child >= w->pairs || !is_sooner(&w->pair[child], &last))
            break;
        w->pair[at] = w->pair[child];
        at = child;
    }
    w->pair[at] = last;
    return top;
}

/* Takes up the pair that begins with a piece, if there is one that may be joined. */
static bool consider(struct work *w, ptrdiff_t left)
{
    if (left < 0 || w->piece[left].behind < 0)
        return true;
    const struct piece *const a = &w->piece[left], *const b = &w->piece[a->behind];
    struct pair pair = {.left = left, .left_length = a->length, .right_length = b->length};
    return !w->rule->rank(w->rule->context, a->text, a->length, b->length, &pair.rank) || push(w, pair);
}

static bool join(struct work *w, const struct pair *pair)
{
    struct piece *const left = &w->piece[pair->left];
    if (left->behind < 0 || left->length != pair->left_length || w->piece[left->behind].length != pair->right_length)
        return true;
    struct piece *const right = &w->piece[left->behind];
    left->length += right->length;
    right->length = 0;
    left->behind = right->behind;
    if (left->behind >= 0)
        w->piece[left->behind].before = pair->left;
    return consider(w, left->before) && consider(w, pair->left);
}

bool merge_pieces(const struct merge_rule *rule, const char *text, size_t *length, size_t *count)
{
    struct work w = {.rule = rule, .piece = malloc((*count + 1) * sizeof *w.piece)};
    bool ok = w.piece != NULL;
    for (size_t i = 0; ok && i < *count; text += length[i++])
        w.piece[i] = (struct piece){text, length[i], (ptrdiff_t)i - 1, i + 1 < *count ? (ptrdiff_t)i + 1 : -1};
    for (size_t i = 0; ok && i < *count; i++)
        ok = consider(&w, (ptrdiff_t)i);
    while (ok && w.pairs) {
        const struct pair pair = pop(&w);
        ok = join(&w, &pair);
    }
    size_t left = 0;
    for (size_t i = 0; ok && i < *count; i++)
        if (w.piece[i].length)
            length[left++] = w.piece[i].length;
    if (ok)
        *count = left;
    free(w.pair);
    free(w.piece);
    return ok;
}
