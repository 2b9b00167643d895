/* Remembered blocks, after Schnarr and Larus, "Fast out-of-order processor simulation using memoization" (1998).
 *
 * A state is everything on the board that can matter later, counted from the present dispatch cycle: two boards with the same
 * state behave alike from there on (cpu_timing_state.c). States are kept once and compared word by word. What a block does to a
 * state depends on the outcome of the branch before it and on the memory system's answers to its accesses, one after another. A
 * tree therefore hangs on each state: "this block, after a branch with that outcome, makes its first access after so many cycles;
 * given this answer, the next access comes then; ...; and the block ends in that state, so many cycles later". An AMX word counts
 * as an access, which the AMX block answers. While trees are followed, the board's arrays are out of date; only `now`,
 * `last_retire` and the stall counts are current. At an answer that was never seen, the block is placed on the board as usual,
 * with the answers given so far, and the tree grows. Blocks that take data from stores under way or wait for AMX stores are not
 * remembered.
 */
#include "units/cpu/cpu_timing_memo.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)256 << 10)
#define BYTES_MAX   (UINT64_C(48) << 20) /* of states and trees; beyond, all are forgotten */
/* Blocks placed since the last one that was remembered or that led to a known state. The first few often lead back at once.
 * After that a core takes about a window of instructions to come back to a loop that it knows, which is looked for meanwhile. A
 * loop that is not known yet is learned next, piece by piece. When none turns up, keeping states is put off: a new state costs as
 * much as ten remembered blocks save. */
#define LOST_NEAR    6
#define LOST_LEARN   256
#define LOST_MAX     288
#define PUT_OFF_LOOK 2 /* every so many blocks */
#define PUT_OFF_MAX  (1 << 15)
#define LOSS_MAX     (1 << 17) /* how far costs may run ahead of what was saved, in instructions placed */
#define IDLE_MAX     (1 << 17)
#define ADDED_COST   48 /* of a state that is kept */

bool cpu_memo_init(struct cpu_timing *t)
{
    t->memo = calloc(1, sizeof *t->memo);
    if (!t->memo)
        return false;
    t->memo->scratch = calloc(cpu_state_words_max(t), sizeof t->memo->scratch[0]);
    t->memo->put_off_next = CPU_MEMO_PUT_OFF_FIRST;
    t->memo->idle_next = CPU_MEMO_IDLE_FIRST;
    return t->memo->scratch != NULL;
}

static void free_chunks(struct chunk *c)
{
    while (c) {
        struct chunk *next = c->next;
        free(c);
        c = next;
    }
}

static void spare_chunks(struct cpu_memo *m)
{
    while (m->chunk) {
        struct chunk *c = m->chunk;
        m->chunk = c->next;
        c->next = m->spare;
        m->spare = c;
    }
}

void cpu_memo_clear(struct cpu_timing *t)
{
    struct cpu_memo *m = t->memo;
    cpu_memo_leave(t);
    m->from = NULL;
    m->lost = m->put_off = m->loss = m->idle = 0;
    m->put_off_next = CPU_MEMO_PUT_OFF_FIRST;
    m->idle_next = CPU_MEMO_IDLE_FIRST;
    if (m->bytes == 0)
        return;
    spare_chunks(m);
    memset(m->bucket, 0, sizeof m->bucket);
    memset(m->glances, 0, sizeof m->glances);
    memset(m->looks, 0, sizeof m->looks);
    m->bytes = 0;
}

void cpu_memo_release(struct cpu_timing *t)
{
    if (t->memo) {
        free_chunks(t->memo->chunk);
        free_chunks(t->memo->spare);
        free(t->memo->scratch);
    }
    free(t->memo);
    t->memo = NULL;
}

static struct chunk *new_chunk(size_t room)
{
    struct chunk *c = malloc(sizeof *c + room);
    if (c)
        c->bytes = room;
    return c;
}

void *cpu_memo_take(struct cpu_memo *m, size_t bytes)
{
    bytes = (bytes + 15) / 16 * 16;
    if (!m->chunk || m->chunk->bytes - m->chunk->used < bytes) {
        struct chunk *c = m->spare && m->spare->bytes >= bytes ? m->spare : NULL;
        if (c)
            m->spare = c->next;
        else
            c = new_chunk(bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES);
        if (!c)
            return NULL;
        c->next = m->chunk;
        c->used = 0;
        m->chunk = c;
    }
    void *at = m->chunk->room + m->chunk->used;
    m->chunk->used += bytes;
    m->bytes += bytes;
    return at;
}

void cpu_memo_leave(struct cpu_timing *t)
{
    if (t->memo->rests)
        cpu_state_read(t, t->memo->at->word);
    t->memo->at = NULL;
    t->memo->rests = false;
}

/* ---- keeping states ---- */

/* Four lanes, so that the multiplications overlap. */
static uint64_t hash_words(const uint32_t *word, uint32_t count)
{
    uint64_t lane[4] = {count, 1, 2, 3};
    uint32_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (unsigned l = 0; l < 4; l++) {
            uint64_t two;
            memcpy(&two, word + i + 2 * l, sizeof two);
            lane[l] = (lane[l] ^ two) * UINT64_C(0x9E3779B97F4A7C15);
            lane[l] ^= lane[l] >> 29;
        }
    for (; i < count; i++)
        lane[0] = (lane[0] ^ word[i]) * UINT64_C(0x9E3779B97F4A7C15);
    uint64_t h = 0;
    for (unsigned l = 0; l < 4; l++) {
        h = (h ^ lane[l]) * UINT64_C(0xD6E8FEB86659FD93);
        h ^= h >> 32;
    }
    return h;
}

static bool is_noted(const uint64_t *notes, uint64_t at)
{
    return notes[at / 64] >> at % 64 & 1;
}

static void note(uint64_t *notes, uint64_t at)
{
    notes[at / 64] |= UINT64_C(1) << at % 64;
}

/* False when no state that is kept looks like the board's. */
static bool may_be_known(const struct cpu_timing *t)
{
    return is_noted(t->memo->glances, cpu_state_glance(t) % CPU_MEMO_GLANCES) &&
           is_noted(t->memo->looks, cpu_state_look(t) % CPU_MEMO_LOOKS);
}

/* Returns the kept state that equals the board. When there is none, it is added if `add`; NULL otherwise, or when memory is out.
 */
static struct state *intern(struct cpu_timing *t, bool add)
{
    struct cpu_memo *m = t->memo;
    if (!add && !may_be_known(t))
        return NULL;
    const uint32_t words = cpu_state_write(t, m->scratch);
    const size_t bytes = words * sizeof m->scratch[0];
    const uint64_t hash = hash_words(m->scratch, words);
    struct state **bucket = &m->bucket[hash % CPU_MEMO_BUCKETS];
    for (struct state *s = *bucket; s; s = s->next)
        if (s->hash == hash && s->words == words && memcmp(s->word, m->scratch, bytes) == 0) {
            m->lost = m->put_off = 0;
            return s;
        }
    struct state *s = add ? cpu_memo_take(m, sizeof *s + bytes) : NULL;
    if (!s)
        return NULL;
    m->loss += ADDED_COST;
    *s = (struct state){.next = *bucket, .hash = hash, .words = words};
    memcpy(s->word, m->scratch, bytes);
    *bucket = s;
    note(m->glances, cpu_state_glance(t) % CPU_MEMO_GLANCES);
    note(m->looks, cpu_state_look(t) % CPU_MEMO_LOOKS);
    return s;
}

enum keeping { KEEP_NOT, KEEP_LOOK, KEEP_ADD };

/* Nothing is remembered for a while: code that misses the caches comes back to its states, but each of its many ways through
 * them is taken so rarely that the host has to fetch it from far. */
static void rest_a_while(struct cpu_memo *m)
{
    m->lost = m->loss = m->good_run = m->put_off = 0;
    m->idle = m->idle_next;
    m->idle_next = m->idle_next < IDLE_MAX ? 2 * m->idle_next : IDLE_MAX;
}

/* Tells what to do about the state after a block that was placed. Keeping states does not pay for code that never comes back to a
 * state or leaves the known ways too often. */
static enum keeping keeping_of(struct cpu_memo *m)
{
    if (m->idle > 0) {
        m->idle--;
        return KEEP_NOT;
    }
    if (m->loss > LOSS_MAX) {
        rest_a_while(m);
        return KEEP_NOT;
    }
    if (m->put_off > 0) {
        m->put_off--;
        return m->put_off % PUT_OFF_LOOK == 0 ? KEEP_LOOK : KEEP_NOT;
    }
    const uint32_t lost = m->lost++;
    if (lost < LOST_MAX)
        return lost >= LOST_NEAR && lost < LOST_LEARN ? KEEP_LOOK : KEEP_ADD;
    m->lost = m->good_run = 0;
    m->put_off = m->put_off_next;
    m->put_off_next = m->put_off_next < PUT_OFF_MAX ? 2 * m->put_off_next : PUT_OFF_MAX;
    return KEEP_NOT;
}

/* ---- growing trees ---- */

/* Returns where the logged answer to the logged access leads; NULL when memory is out. */
static struct path *grow(struct cpu_memo *m, struct path *path, const struct cpu_memo_access *access)
{
    if (!path->step) {
        path->step = cpu_memo_take(m, sizeof *path->step);
        if (!path->step)
            return NULL;
        *path->step = (struct step){.access = *access};
    }
    struct branch *b = branch_of(path->step, access->cycles, access->level);
    if (b)
        return &b->path;
    b = cpu_memo_take(m, sizeof *b);
    if (!b)
        return NULL;
    *b = (struct branch){.next = path->step->branches, .cycles = access->cycles, .level = access->level};
    path->step->branches = b;
    return &b->path;
}

static struct end *make_end(const struct cpu_timing *t, struct state *to)
{
    struct cpu_memo *m = t->memo;
    const struct cpu_board *b = &t->board;
    struct end_stall stall[CPU_STALL_COUNT];
    uint32_t stalls = 0;
    for (uint32_t i = 0; i < CPU_STALL_COUNT; i++)
        if (b->stall[i] != m->stall[i])
            stall[stalls++] = (struct end_stall){i, (uint32_t)(b->stall[i] - m->stall[i])};
    struct end *end = cpu_memo_take(m, sizeof *end + stalls * sizeof stall[0]);
    if (!end)
        return NULL;
    end->cycles = (uint32_t)(b->now - t->block_start);
    end->retire = (int32_t)(int64_t)(b->last_retire - b->now);
    end->to = to;
    end->stalls = stalls;
    memcpy(end->stall, stall, stalls * sizeof stall[0]);
    return end;
}

/* Adds what the block just placed did. */
static void add_way(struct cpu_timing *t, const struct cpu_plan *plan, unsigned outcome, struct state *to)
{
    struct cpu_memo *m = t->memo;
    struct tree *tree = tree_of(m->from, plan, outcome);
    if (!tree) {
        struct tree *const first = &m->from->first;
        tree = first->plan ? cpu_memo_take(m, sizeof *tree) : first;
        if (!tree)
            return;
        *tree = (struct tree){.next = tree == first ? NULL : first->next, .plan = plan, .outcome = outcome};
        if (tree != first)
            first->next = tree;
    }
    struct path *path = &tree->path;
    for (uint32_t i = 0; path && i < t->log_count; i++)
        path = grow(m, path, &t->log[i]);
    if (path && !path->end)
        path->end = make_end(t, to);
}

void cpu_memo_begin(struct cpu_timing *t)
{
    t->memo->from = t->memo->at;
    cpu_memo_leave(t);
    t->block_start = t->board.now;
    t->clean = true;
    t->log_count = 0;
    memcpy(t->memo->stall, t->board.stall, sizeof t->memo->stall);
}

void cpu_memo_end(struct cpu_timing *t, const struct cpu_plan *plan, unsigned outcome)
{
    struct cpu_memo *m = t->memo;
    if (m->bytes > BYTES_MAX)
        cpu_memo_clear(t);
    const enum keeping keeping = t->clean && t->memo_on ? keeping_of(m) : KEEP_NOT;
    struct state *to = keeping != KEEP_NOT ? intern(t, keeping == KEEP_ADD) : NULL;
    if (to) {
        if (m->from)
            add_way(t, plan, outcome, to);
        m->at = to;
        /* From here on the state stands for the board; but not for long when no way out of it is known. */
        m->rests = to->first.plan != NULL;
        if (m->rests)
            cpu_state_rest(&t->board);
    }
    m->from = NULL;
}
