/* Matches by backtracking, with the alternatives that are left on a stack of their own. */
#include "sim/language/pattern_internal.h"

#include "isa/list_grow.h"
#include "sim/language/unicode.h"

#include <stdlib.h>

struct pattern_character pattern_character(uint32_t code)
{
    return (struct pattern_character){code & 0xffffff, unicode_category(code), unicode_is_space(code)};
}

static bool is_of_class(const struct pattern_class *class, struct pattern_character c)
{
    bool of = class->categories >> c.category & 1 || (class->space && c.space) || (class->not_space && !c.space);
    for (size_t i = 0; !of && i < class->ranges; i++)
        of = c.code >= class->range[i].first && c.code <= class->range[i].last;
    return of != class->negated;
}

struct way {
    size_t step, at;
};
struct ways {
    struct way *way;
    size_t count, room;
    size_t *effort; /* steps that may still be taken */
};

static bool add_way(struct ways *ways, size_t step, size_t at)
{
    struct way *const grown = list_grow(ways->way, ways->count, &ways->room, sizeof *grown);
    if (!grown)
        return false;
    ways->way = grown;
    ways->way[ways->count++] = (struct way){step, at};
    return true;
}

static bool match_from(const struct pattern *p, size_t first, const struct pattern_character *text, size_t count, size_t at,
                       size_t *effort, ptrdiff_t *end);

/* Follows one way until it ends; *step is then a step of PATTERN_MATCH, or SIZE_MAX when the way failed. False when memory or
 * effort is out. */
static bool follow(const struct pattern *p, struct ways *ways, const struct pattern_character *text, size_t count, size_t *step,
                   size_t *at)
{
    for (;;) {
        const struct pattern_step *const s = &p->step[*step];
        const size_t target = (size_t)((ptrdiff_t)*step + s->to);
        ptrdiff_t ahead;
        bool fails = false;
        if (*ways->effort == 0)
            return false;
        (*ways->effort)--;
        switch (s->op) {
        case PATTERN_MATCH: return true;
        case PATTERN_CLASS:
            fails = *at == count || !is_of_class(&p->class[s->to], text[*at]);
            (*at)++;
            (*step)++;
            break;
        case PATTERN_SPLIT:
            if (!add_way(ways, target, *at))
                return false;
            (*step)++;
            break;
        case PATTERN_JUMP: *step = target; break;
        case PATTERN_END:
            fails = *at != count;
            (*step)++;
            break;
        case PATTERN_AHEAD:
        case PATTERN_NOT_AHEAD:
            if (!match_from(p, *step + 1, text, count, *at, ways->effort, &ahead))
                return false;
            fails = (ahead >= 0) != (s->op == PATTERN_AHEAD);
            *step = target;
            break;
        }
        if (fails) {
            *step = SIZE_MAX;
            return true;
        }
    }
}

static bool match_from(const struct pattern *p, size_t first, const struct pattern_character *text, size_t count, size_t at,
                       size_t *effort, ptrdiff_t *end)
{
    struct ways ways = {.effort = effort};
    bool memory = add_way(&ways, first, at);
    *end = -1;
    while (memory && *end < 0 && ways.count) {
        struct way way = ways.way[--ways.count];
        memory = follow(p, &ways, text, count, &way.step, &way.at);
        if (memory && way.step != SIZE_MAX)
            *end = (ptrdiff_t)way.at;
    }
    free(ways.way);
    return memory;
}

bool pattern_match(const struct pattern *pattern, const struct pattern_character *text, size_t count, ptrdiff_t *length,
                   struct orch_error *error)
{
    /* Expressions of tokenizers take a few steps a character; some others, like (a*)*b, would take for ever. */
    enum { LEAST = 1 << 20, OF_CHARACTER = 256 };
    size_t effort = LEAST + OF_CHARACTER * count;
    if (match_from(pattern, 0, text, count, 0, &effort, length))
        return true;
    return effort ? orch_no_memory(error) : orch_fail(error, ORCH_UNMODELLED, "an expression takes too many steps on this text");
}

void pattern_free(struct pattern *pattern)
{
    if (!pattern)
        return;
    for (size_t i = 0; i < pattern->classes; i++)
        free(pattern->class[i].range);
    free(pattern->class);
    free(pattern->step);
    free(pattern);
}
