#include "units/amx/amx_timing_period.h"

#include "isa/array_count.h"
#include "isa/rounding.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS     8192              /* states take some hundred bytes */
#define BYTES_MAX   ((size_t)4 << 20) /* beyond, everything is forgotten */
#define PIECE_BYTES ((size_t)64 << 10)

struct path { /* each may be known or not: a load without and with a request of its own, or the end */
    struct step *step[2];
    const struct amx_period_way *end;
};

struct branch {
    struct branch *next;
    int64_t ticks; /* from the request to the answer */
    enum mem_level level;
    struct path path;
};

struct step {
    int64_t asked; /* from the last start before the period */
    struct branch *branches;
};

struct tree {
    struct tree *next;
    const struct amx_pattern *pattern;
    struct path path;
};

struct amx_period_state {
    struct amx_period_state *next; /* in its bucket */
    uint64_t hash;
    struct tree *trees;
    uint32_t words;
    int64_t word[];
};

/* Memory for many states. Everything is forgotten together, and what it lay in is used again. */
struct piece {
    struct piece *next;
    _Alignas(16) uint8_t room[PIECE_BYTES];
};

struct amx_periods {
    struct amx_period_state *bucket[BUCKETS];
    struct amx_pattern *patterns;
    struct piece *pieces, *spare; /* the first piece is in use, up to `used` */
    size_t used, bytes;
};

static void forget(struct amx_periods *p)
{
    struct piece **last = &p->pieces;
    while (*last)
        last = &(*last)->next;
    *last = p->spare;
    struct piece *const spare = p->pieces;
    memset(p, 0, sizeof *p);
    p->spare = spare;
}

void amx_periods_free(struct amx_periods *p)
{
    if (!p)
        return;
    forget(p);
    while (p->spare) {
        struct piece *const piece = p->spare;
        p->spare = piece->next;
        free(piece);
    }
    free(p);
}

void amx_periods_forget(struct amx_block *block)
{
    if (block->periods)
        forget(block->periods);
}

static bool take_piece(struct amx_periods *p)
{
    struct piece *const piece = p->spare ? p->spare : malloc(sizeof *piece);
    if (!piece)
        return false;
    if (piece == p->spare)
        p->spare = piece->next;
    piece->next = p->pieces;
    p->pieces = piece;
    p->used = 0;
    return true;
}

/* Zeros. */
static void *take(struct amx_periods *p, size_t bytes)
{
    const size_t whole = round_up(bytes, 16);
    if ((!p->pieces || p->used + whole > PIECE_BYTES) && !take_piece(p))
        return NULL;
    void *const room = p->pieces->room + p->used;
    p->used += whole;
    p->bytes += whole;
    return memset(room, 0, bytes);
}
_Static_assert(PIECE_BYTES >= sizeof(struct amx_pattern) && PIECE_BYTES >= AMX_PERIOD_MAX * sizeof(struct amx_period_load),
               "a piece has room for whatever is taken");

/* ---- patterns ---- */

static bool same_pattern(const struct amx_pattern *x, const struct amx_pattern *y)
{
    return x->gen == y->gen && x->step == y->step && x->count == y->count && memcmp(x->op, y->op, x->count) == 0 &&
           memcmp(x->fields, y->fields, x->count * sizeof x->fields[0]) == 0;
}

const struct amx_pattern *amx_period_pattern(struct amx_block *block, const struct amx_batch *batch, uint32_t from,
                                             uint32_t period, int64_t step)
{
    if (!block->periods)
        block->periods = calloc(1, sizeof *block->periods);
    struct amx_periods *p = block->periods;
    if (!p || period > AMX_PERIOD_MAX)
        return NULL;
    if (p->bytes > BYTES_MAX)
        forget(p);
    struct amx_pattern wanted = {.gen = batch->gen, .step = step, .count = period};
    for (uint32_t i = 0; i < period; i++) {
        const uint8_t op = batch->op[from + i];
        wanted.op[i] = op;
        wanted.fields[i] = batch->operand[from + i] & ~amx_pointer_mask(op);
        if (op == AMX_LDX || op == AMX_LDY)
            wanted.load_at[wanted.loads++] = (uint8_t)i;
    }
    for (const struct amx_pattern *x = p->patterns; x; x = x->next)
        if (same_pattern(x, &wanted))
            return x;
    struct amx_pattern *x = take(p, sizeof *x);
    if (!x)
        return NULL;
    *x = wanted;
    x->next = p->patterns;
    p->patterns = x;
    return x;
}

/* ---- states ---- */

#define WORDS_FIRST 24
#define WORDS_MAX   (WORDS_FIRST + AMX_QUEUE_MAX + 1 + 3 * 64)
_Static_assert(PIECE_BYTES >= sizeof(struct amx_period_state) + WORDS_MAX * sizeof(int64_t), "a piece has room for a state");

static int64_t ahead(int64_t tick, int64_t past)
{
    return tick > past ? tick - past : 0;
}

/* How many starts the queue and the issue limit look back at. */
static uint32_t looked_back(const struct amx_block *block)
{
    return block->queue > block->issue_count ? block->queue : block->issue_count;
}

static uint32_t write_state(const struct amx_block *block, const struct amx_timing_core *c, int64_t arrived, int64_t *w)
{
    const int64_t *const first = w;
    *w++ = arrived - c->head;
    *w++ = ahead(c->load_ready, arrived);
    /* Counted from as far back as a request for the same registers looks. */
    *w++ = ahead(c->request_ready, arrived - block->ticks.load_request_same);
    *w++ = ahead(c->requested, arrived);
    *w++ = c->requested_file;
    *w++ = ahead(c->enabled, c->head);
    for (int lane = 0; lane < AMX_LANES; lane++)
        *w++ = ahead(c->lane_ready[lane], c->head);
    for (int i = 0; i < 16; i++)
        *w++ = ahead(c->register_ready[i], c->head);
    for (uint32_t i = 1; i <= looked_back(block); i++)
        *w++ = c->head - c->start[(c->instructions - i) % AMX_QUEUE_MAX];
    int64_t *count = w++;
    *count = 0;
    for (int64_t i = 0; i < 64; i++) {
        const struct amx_rows *rows = &c->rows[i];
        if (rows->rows == 0)
            continue;
        *w++ = i << 8 | rows->lane;
        memcpy(w++, &rows->rows, sizeof rows->rows);
        *w++ = ahead(rows->ready, c->head);
        ++*count;
    }
    return (uint32_t)(w - first);
}
_Static_assert(WORDS_FIRST == 6 + AMX_LANES + 16, "single words of a state");

static const int64_t *restore_rows(struct amx_timing_core *c, const int64_t *w)
{
    memset(c->rows, 0, sizeof c->rows);
    c->grouped = 0;
    for (int64_t count = *w++; count > 0; count--) {
        const int64_t slot = *w >> 8;
        struct amx_rows *rows = &c->rows[slot];
        rows->lane = (uint8_t)(*w++ & 255);
        memcpy(&rows->rows, w++, sizeof rows->rows);
        rows->ready = c->head + *w++;
        for (uint64_t left = rows->rows; left; left &= left - 1)
            c->owner[__builtin_ctzll(left)] = (uint8_t)slot;
        c->grouped |= rows->rows;
    }
    return w;
}

void amx_period_rest(const struct amx_block *block, struct amx_timing_core *c, const struct amx_period_state *state,
                     int64_t arrived)
{
    c->load_ready = arrived + state->word[1];
    c->request_ready = arrived - block->ticks.load_request_same + state->word[2];
    c->requested = arrived + state->word[3];
    c->requested_file = (unsigned)state->word[4];
}

void amx_period_restore(struct amx_block *block, struct amx_timing_core *c, const struct amx_period_state *state, int64_t arrived)
{
    const int64_t *w = state->word + 5;
    amx_period_rest(block, c, state, arrived);
    c->enabled = c->head + *w++;
    for (int lane = 0; lane < AMX_LANES; lane++)
        c->lane_ready[lane] = c->head + *w++;
    c->registers_pending = 0;
    for (int i = 0; i < 16; i++) {
        c->register_ready[i] = c->head + *w++;
        c->registers_pending = amx_later(c->registers_pending, c->register_ready[i]);
    }
    for (uint32_t i = 1; i <= looked_back(block); i++)
        c->start[(c->instructions - i) % AMX_QUEUE_MAX] = c->head - *w++;
    restore_rows(c, w);
}

static uint64_t hash_words(const int64_t *word, uint32_t count)
{
    uint64_t h[4] = {count, 1, 2, 3}; /* side by side: each product waits for the one before */
    for (uint32_t i = 0; i < count; i++) {
        uint64_t *const to = &h[i % ARRAY_COUNT(h)];
        *to = (*to ^ (uint64_t)word[i]) * UINT64_C(0x9E3779B97F4A7C15);
        *to ^= *to >> 29;
    }
    const uint64_t all = (h[0] ^ h[1] >> 7) * UINT64_C(0x9E3779B97F4A7C15) ^ (h[2] ^ h[3] >> 11) * UINT64_C(0xD6E8FEB86659FD93);
    return all ^ all >> 31;
}

struct amx_period_state *amx_period_state_of(struct amx_block *block, const struct amx_timing_core *core, int64_t arrived)
{
    struct amx_periods *p = block->periods;
    int64_t word[WORDS_MAX];
    if (core->instructions < AMX_QUEUE_MAX)
        return NULL;
    const uint32_t words = write_state(block, core, arrived, word);
    const uint64_t hash = hash_words(word, words);
    struct amx_period_state **bucket = &p->bucket[hash % BUCKETS];
    for (struct amx_period_state *s = *bucket; s; s = s->next)
        if (s->hash == hash && s->words == words && memcmp(s->word, word, words * sizeof word[0]) == 0)
            return s;
    struct amx_period_state *s = take(p, sizeof *s + words * sizeof word[0]);
    if (!s)
        return NULL;
    *s = (struct amx_period_state){.next = *bucket, .hash = hash, .words = words};
    memcpy(s->word, word, words * sizeof word[0]);
    *bucket = s;
    return s;
}

/* ---- trees ---- */

static struct tree *tree_of(const struct amx_period_state *state, const struct amx_pattern *pattern)
{
    struct tree *t = state->trees;
    while (t && t->pattern != pattern)
        t = t->next;
    return t;
}

/* Returns the branch for an answer and moves it to the front. */
static struct branch *branch_of(struct step *step, int64_t ticks, enum mem_level level)
{
    struct branch **link = &step->branches;
    while (*link && ((*link)->ticks != ticks || (*link)->level != level))
        link = &(*link)->next;
    struct branch *b = *link;
    if (b && b != step->branches) {
        *link = b->next;
        b->next = step->branches;
        step->branches = b;
    }
    return b;
}

/* Performs the request of one load. NULL: this was not seen before. */
static const struct path *ask_again(struct amx_block *block, struct amx_timing_core *core, const struct path *path, unsigned op,
                                    uint64_t operand, enum amx_gen gen)
{
    const struct amx_memo *memo = amx_memo_of(block, core, op, operand, gen);
    struct step *step = path->step[amx_timing_load_requests(core, operand, memo)];
    struct amx_record *r = &block->record;
    if (!step)
        return NULL;
    struct amx_recorded_load *load = &r->load[r->loads];
    load->asked = core->head + step->asked;
    if (!amx_timing_load_again(block, core, operand, memo, load))
        return NULL;
    block->answer[r->loads++] = (struct amx_answer){load->done, load->level};
    block->answers = r->loads > block->answers ? r->loads : block->answers;
    block->answers_used = r->loads;
    const struct branch *b = branch_of(step, load->done - load->asked, load->level);
    return b ? &b->path : NULL;
}

const struct amx_period_way *amx_period_follow(struct amx_block *block, struct amx_timing_core *core,
                                               const struct amx_period_state *state, const struct amx_pattern *pattern,
                                               const uint64_t *operand)
{
    block->answers_used = 0;
    const struct tree *tree = tree_of(state, pattern);
    if (!tree)
        return NULL;
    struct amx_loaded_block loaded[AMX_MAX_BANKS];
    uint64_t coming[AMX_FILES];
    memcpy(loaded, block->loaded, block->params.load_banks * sizeof loaded[0]);
    memcpy(coming, core->coming, sizeof coming);
    const struct path *path = &tree->path;
    block->record.loads = 0;
    block->record.plain = true;
    for (uint32_t i = 0; path && i < pattern->loads; i++) {
        const uint32_t at = pattern->load_at[i];
        path = ask_again(block, core, path, pattern->op[at], operand[at], pattern->gen);
    }
    block->answers_used = 0;
    if (path && path->end) {
        block->answers = 0;
        return path->end;
    }
    memcpy(block->loaded, loaded, block->params.load_banks * sizeof loaded[0]);
    memcpy(core->coming, coming, sizeof coming);
    return NULL;
}

static struct path *grow(struct amx_periods *p, struct path *path, int64_t head, const struct amx_recorded_load *load)
{
    struct step **step = &path->step[load->request];
    if (!*step) {
        *step = take(p, sizeof **step);
        if (!*step)
            return NULL;
        (*step)->asked = load->asked - head;
    }
    struct branch *b = branch_of(*step, load->done - load->asked, load->level);
    if (b)
        return &b->path;
    b = take(p, sizeof *b);
    if (!b)
        return NULL;
    *b = (struct branch){.next = (*step)->branches, .ticks = load->done - load->asked, .level = load->level};
    (*step)->branches = b;
    return &b->path;
}

void amx_period_add(struct amx_block *block, struct amx_period_state *from, int64_t head, const struct amx_pattern *pattern,
                    const struct amx_period_way *way)
{
    struct amx_periods *p = block->periods;
    struct tree *tree = tree_of(from, pattern);
    if (!tree) {
        tree = take(p, sizeof *tree);
        if (!tree)
            return;
        *tree = (struct tree){.next = from->trees, .pattern = pattern};
        from->trees = tree;
    }
    struct path *path = &tree->path;
    for (uint32_t i = 0; path && i < block->record.loads; i++)
        path = grow(p, path, head, &block->record.load[i]);
    if (!path || path->end)
        return;
    struct amx_period_way *end = take(p, sizeof *end);
    struct amx_period_load *loads = take(p, pattern->loads * sizeof *loads);
    if (!end || !loads)
        return;
    for (uint32_t i = 0; i < pattern->loads; i++) {
        const struct amx_recorded_load *load = &block->record.load[i];
        loads[i].asked = load->asked - head;
        loads[i].earliest = load->latest > load->done ? INT64_MIN : load->done - head;
        loads[i].latest = load->latest - head;
    }
    *end = *way;
    end->load = loads;
    path->end = end;
}
