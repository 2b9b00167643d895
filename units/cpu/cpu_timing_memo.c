/* Remembered blocks, after Schnarr and Larus, "Fast out-of-order processor simulation using memoization" (1998).
 *
 * A state is everything on the board that can matter later, counted from the present dispatch cycle: two boards with the
 * same state behave alike from there on. States are kept once (compared byte by byte) and joined by edges: "this block,
 * after a branch with that outcome, leads to that state, so many cycles on", valid while every access of the block finds
 * its line in L1 and takes nothing from a store on its way. While edges are followed the board's arrays rest; only
 * `now`, `last_retire` and the stall counts are current. Whatever does not fit is placed on the board as ever.
 */
#include "units/cpu/cpu_timing_internal.h"

#include <stdlib.h>
#include <string.h>

#define BUCKETS 4096
#define BYTES_MAX (UINT64_C(48) << 20) /* of states and edges; then all are forgotten */
#define NEW_STATES_MAX 600              /* in a row before keeping states is put off: longer than filling a window takes */
#define PUT_OFF_FIRST 1024
#define PUT_OFF_MAX (1 << 17)
/* A block that could not be repeated costs as much as repeating so many; and how far costs may run ahead of gains. */
#define FAILURE_COST 48
#define LOSS_MAX 16384
#define GOOD_RUN 8192                   /* repeated in a row: the next time, put off as little as at first */

struct edge {
    struct edge *next;
    const struct cpu_plan *plan;
    unsigned outcome;
    uint32_t cycles;       /* from dispatch at the start to dispatch after */
    int32_t retire;        /* last_retire from the new dispatch cycle */
    uint32_t stall[CPU_STALL_COUNT];
    struct state *to;
    uint32_t accesses;
    struct cpu_memo_access access[];
};

struct state {
    struct state *next; /* in its bucket */
    uint64_t hash;
    struct edge *edges;
    uint32_t words;
    uint32_t word[];
};

struct cpu_memo {
    struct state *bucket[BUCKETS];
    struct state *at;      /* the board rests in this state; NULL: the board is current */
    struct state *from;    /* state at the start of the block being placed */
    uint64_t stall[CPU_STALL_COUNT]; /* then */
    uint64_t bytes;
    uint32_t new_in_a_row, put_off, put_off_next, loss, good_run;
    uint32_t *scratch;     /* a state being written */
    uint32_t scratch_words;
};

/* Most words a state can have: all rings full, the whole calendar in use. */
static uint32_t words_max(const struct cpu_timing *t)
{
    return 32 + 2 * CPU_REG_COUNT + t->params.reorder_window + t->params.load_queue + 2 * t->params.store_queue +
           CPU_CALENDAR * (CPU_CALENDAR_GROUPS / 4);
}

bool cpu_memo_init(struct cpu_timing *t)
{
    t->memo = calloc(1, sizeof *t->memo);
    if (!t->memo)
        return false;
    t->memo->scratch_words = words_max(t);
    t->memo->scratch = calloc(t->memo->scratch_words, sizeof t->memo->scratch[0]);
    t->memo->put_off_next = PUT_OFF_FIRST;
    return t->memo->scratch != NULL;
}

static void free_state(struct state *s)
{
    while (s->edges) {
        struct edge *e = s->edges;
        s->edges = e->next;
        free(e);
    }
    free(s);
}

void cpu_memo_clear(struct cpu_timing *t)
{
    struct cpu_memo *m = t->memo;
    cpu_memo_leave(t);
    m->from = NULL;
    for (unsigned i = 0; i < BUCKETS; i++)
        while (m->bucket[i]) {
            struct state *s = m->bucket[i];
            m->bucket[i] = s->next;
            free_state(s);
        }
    m->bytes = 0;
    m->new_in_a_row = m->put_off = 0;
    m->put_off_next = PUT_OFF_FIRST;
}

void cpu_memo_release(struct cpu_timing *t)
{
    if (t->memo) {
        t->memo->at = NULL;
        cpu_memo_clear(t);
        free(t->memo->scratch);
    }
    free(t->memo);
}

/* ---- board -> state ---- */

/* Times that have passed are all alike. */
static uint32_t ahead(const struct cpu_board *b, uint64_t cycle)
{
    return cycle > b->now ? (uint32_t)(cycle - b->now) : 0;
}

static uint32_t *write_registers(const struct cpu_board *b, uint32_t *w)
{
    for (unsigned r = 0; r < A64_DEP_COUNT; r++) {
        const uint32_t in = ahead(b, b->ready[r]);
        *w++ = in;
        if (in)
            *w++ = b->cause[r] | (uint32_t)b->early[r] << 8;
    }
    return w;
}

/* The entries of a ring that have not passed, newest first. `total` were ever written, `depth` matter. */
static uint32_t *write_ring(const struct cpu_board *b, const uint64_t *ring, uint32_t mask, uint64_t total, uint32_t depth,
                            uint32_t *w)
{
    uint32_t *count = w++;
    for (uint32_t i = 1; i <= depth; i++) {
        const uint32_t in = ahead(b, ring[(total - i) & mask]);
        if (in == 0)
            break; /* in program order, so all older ones have passed as well */
        *w++ = in;
    }
    *count = (uint32_t)(w - count - 1);
    return w;
}

/* Stores are taken on in any order: all of the queue. */
static uint32_t *write_stores(const struct cpu_timing *t, uint32_t *w)
{
    const struct cpu_board *b = &t->board;
    for (uint32_t i = 1; i <= t->params.store_queue; i++) {
        const uint32_t slot = (uint32_t)((b->stores - i) & b->store_mask);
        const uint32_t in = ahead(b, b->store_done[slot]);
        *w++ = in;
        *w++ = in ? b->store_cause[slot] : 0;
    }
    return w;
}

static uint32_t *write_calendar(const struct cpu_board *b, uint32_t *w)
{
    const uint32_t cycles = ahead(b, b->calendar_far);
    *w++ = cycles;
    for (uint32_t i = 0; i < cycles; i++, w += CPU_CALENDAR_GROUPS / 4)
        memcpy(w, b->calendar[(b->now + i) % CPU_CALENDAR], CPU_CALENDAR_GROUPS);
    return w;
}

static uint32_t write_state(const struct cpu_timing *t, uint32_t *out)
{
    const struct cpu_board *b = &t->board;
    uint32_t *w = out;
    *w++ = b->slots;
    *w++ = b->taken_cycle >= b->now ? (uint32_t)(b->taken_cycle - b->now) + 1 : 0;
    *w++ = b->taken_cycle >= b->now ? b->taken : 0;
    *w++ = ahead(b, b->redirect);
    /* A branch that issued `mispredict_cycles` ago cannot hold dispatch up any more. */
    *w++ = ahead(b, b->branch_issue + t->mispredict_cycles);
    *w++ = (uint32_t)(int32_t)(int64_t)(b->last_retire - b->now);
    *w++ = ahead(b, b->last_commit);
    *w++ = ahead(b, b->amx_next);
    w = write_registers(b, w);
    w = write_ring(b, b->retired, b->retired_mask, b->instructions, t->params.reorder_window, w);
    w = write_ring(b, b->load_done, b->load_mask, b->loads, t->params.load_queue, w);
    w = write_stores(t, w);
    w = write_calendar(b, w);
    return (uint32_t)(w - out);
}

/* ---- state -> board ---- */

static const uint32_t *read_registers(struct cpu_board *b, const uint32_t *w)
{
    for (unsigned r = 0; r < A64_DEP_COUNT; r++) {
        const uint32_t in = *w++;
        const uint32_t more = in ? *w++ : 0;
        b->ready[r] = in ? b->now + in : 0;
        b->cause[r] = (uint8_t)more;
        b->early[r] = (uint8_t)(more >> 8);
    }
    return w;
}

static const uint32_t *read_ring(const struct cpu_board *b, uint64_t *ring, uint32_t mask, uint64_t total, const uint32_t *w)
{
    const uint32_t count = *w++;
    memset(ring, 0, (mask + 1) * sizeof ring[0]);
    for (uint32_t i = 1; i <= count; i++)
        ring[(total - i) & mask] = b->now + *w++;
    return w;
}

static const uint32_t *read_stores(struct cpu_timing *t, const uint32_t *w)
{
    struct cpu_board *b = &t->board;
    for (uint32_t i = 1; i <= t->params.store_queue; i++) {
        const uint32_t slot = (uint32_t)((b->stores - i) & b->store_mask);
        const uint32_t in = *w++;
        b->store_done[slot] = in ? b->now + in : 0;
        b->store_cause[slot] = (uint8_t)*w++;
    }
    return w;
}

static void read_calendar(struct cpu_board *b, const uint32_t *w)
{
    const uint32_t cycles = *w++;
    for (uint32_t i = 0; i < cycles; i++, w += CPU_CALENDAR_GROUPS / 4)
        memcpy(b->calendar[(b->now + i) % CPU_CALENDAR], w, CPU_CALENDAR_GROUPS);
    b->calendar_far = b->now + cycles;
}

void cpu_memo_leave(struct cpu_timing *t)
{
    struct cpu_memo *m = t->memo;
    struct cpu_board *b = &t->board;
    if (!m->at)
        return;
    const uint32_t *w = m->at->word;
    b->slots = *w++;
    b->taken_cycle = w[0] ? b->now + w[0] - 1 : 0;
    b->taken = w[1];
    b->redirect = w[2] ? b->now + w[2] : 0;
    b->branch_issue = w[3] ? b->now + w[3] - t->mispredict_cycles : 0;
    b->last_commit = w[5] ? b->now + w[5] : 0;
    b->amx_next = w[6] ? b->now + w[6] : 0;
    w = read_registers(b, w + 7);
    w = read_ring(b, b->retired, b->retired_mask, b->instructions, w);
    w = read_ring(b, b->load_done, b->load_mask, b->loads, w);
    w = read_stores(t, w);
    read_calendar(b, w);
    memset(b->open, 0, sizeof b->open);
    m->at = NULL;
}

/* From here on the state stands for the board, whose calendar must be blank to be filled again. */
static void rest(struct cpu_timing *t, struct state *s)
{
    struct cpu_board *b = &t->board;
    for (uint64_t c = b->now; c < b->calendar_far; c++)
        memset(b->calendar[c % CPU_CALENDAR], 0, sizeof b->calendar[0]);
    b->calendar_far = 0;
    t->memo->at = s;
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

/* The kept state that equals the board. NULL when memory is out. */
static struct state *intern(struct cpu_timing *t)
{
    struct cpu_memo *m = t->memo;
    const uint32_t words = write_state(t, m->scratch);
    const size_t bytes = words * sizeof m->scratch[0];
    const uint64_t hash = hash_words(m->scratch, words);
    struct state **bucket = &m->bucket[hash % BUCKETS];
    for (struct state *s = *bucket; s; s = s->next)
        if (s->hash == hash && s->words == words && memcmp(s->word, m->scratch, bytes) == 0) {
            m->new_in_a_row = 0;
            return s;
        }
    struct state *s = malloc(sizeof *s + bytes);
    if (!s)
        return NULL;
    *s = (struct state){.next = *bucket, .hash = hash, .words = words};
    memcpy(s->word, m->scratch, bytes);
    *bucket = s;
    m->bytes += sizeof *s + bytes;
    m->new_in_a_row++;
    return s;
}

/* Code that never comes back to a state, or leaves the known ways too often, does not pay for keeping them. */
static bool put_off(struct cpu_memo *m)
{
    if (m->put_off > 0) {
        m->put_off--;
        return true;
    }
    if (m->new_in_a_row <= NEW_STATES_MAX && m->loss <= LOSS_MAX)
        return false;
    m->new_in_a_row = m->loss = m->good_run = 0;
    m->put_off = m->put_off_next;
    m->put_off_next = m->put_off_next < PUT_OFF_MAX ? 2 * m->put_off_next : PUT_OFF_MAX;
    return true;
}

static void add_edge(struct cpu_timing *t, const struct cpu_plan *plan, unsigned outcome, struct state *to)
{
    struct cpu_memo *m = t->memo;
    const struct cpu_board *b = &t->board;
    const size_t bytes = sizeof(struct edge) + t->log_count * sizeof(struct cpu_memo_access);
    struct edge *e = calloc(1, bytes);
    if (!e)
        return;
    e->plan = plan;
    e->outcome = outcome;
    e->cycles = (uint32_t)(b->now - t->block_start);
    e->retire = (int32_t)(int64_t)(b->last_retire - b->now);
    for (int i = 0; i < CPU_STALL_COUNT; i++)
        e->stall[i] = (uint32_t)(b->stall[i] - m->stall[i]);
    e->to = to;
    e->accesses = t->log_count;
    memcpy(e->access, t->log, t->log_count * sizeof t->log[0]);
    e->next = m->from->edges;
    m->from->edges = e;
    m->bytes += bytes;
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
    struct state *to = t->clean && t->memo_on && !put_off(m) ? intern(t) : NULL;
    if (to) {
        if (m->from)
            add_edge(t, plan, outcome, to);
        rest(t, to);
    }
    m->from = NULL;
}

/* ---- following edges ---- */

#define GRANULES_MAX 17 /* of 16 bytes that an access of up to 255 bytes can touch */

struct undo {
    struct cpu_forward *place;
    struct cpu_forward was;
};

/* Asks for the data of one access as recorded. True when the answer is that of a plain hit. */
static bool repeat_access(struct cpu_timing *t, const struct edge *e, const struct cpu_memo_access *a, uint64_t addr)
{
    const uint64_t at = t->board.now + a->when;
    const bool load = a->kind == MEM_ACCESS_LOAD;
    if (load && ((t->amx_pending && cpu_amx_line_waits(t, addr, a->bytes)) || cpu_forward_find(t, addr, a->bytes, at)))
        return false;
    const struct cpu_answer answer =
        cpu_ask(t, at, addr, a->bytes, (enum mem_access_kind)a->kind, e->plan->pc + a->pc_offset);
    t->answer[t->answers++] = answer;
    return answer.level == MEM_L1 && answer.cycle == at + (load ? t->l1_cycles : 0);
}

static unsigned repeat_forwards(struct cpu_timing *t, const struct cpu_memo_access *a, uint64_t addr, struct undo *undo)
{
    const uint64_t start = t->board.now;
    unsigned count = 0;
    for (uint64_t g = addr >> 4; g <= (addr + a->bytes - 1) >> 4; g++) {
        struct cpu_forward *place = &t->forward[g % CPU_FORWARDS];
        undo[count++] = (struct undo){place, *place};
        *place = (struct cpu_forward){g + 1, addr, start + a->data, start + a->commit, a->bytes};
    }
    return count;
}

/* All accesses of a block, as when it was placed. False: one went differently. Up to that one the block went as recorded,
 * so their answers hold when it is placed now. */
static bool repeat_accesses(struct cpu_timing *t, const struct edge *e, const uint64_t *address)
{
    struct undo undo[CPU_LOG_MAX * GRANULES_MAX];
    unsigned undos = 0;
    for (uint32_t i = 0; i < e->accesses; i++) {
        const struct cpu_memo_access *a = &e->access[i];
        const uint64_t addr = address[i] + t->address_tag;
        if (!repeat_access(t, e, a, addr)) {
            while (undos--)
                *undo[undos].place = undo[undos].was;
            return false;
        }
        if (a->kind != MEM_ACCESS_LOAD)
            undos += repeat_forwards(t, a, addr, undo + undos);
    }
    t->answers = 0;
    return true;
}

static const struct edge *edge_of(const struct state *s, const struct cpu_plan *plan, unsigned outcome)
{
    const struct edge *e = s->edges;
    while (e && (e->plan != plan || e->outcome != outcome))
        e = e->next;
    return e;
}

bool cpu_memo_step(struct cpu_timing *t, const struct cpu_plan *plan, unsigned outcome, const uint64_t *address)
{
    struct cpu_memo *m = t->memo;
    struct cpu_board *b = &t->board;
    t->answers = t->answers_used = 0;
    const struct edge *e = m->at ? edge_of(m->at, plan, outcome) : NULL;
    if (!e || (e->accesses && !repeat_accesses(t, e, address))) {
        m->loss += m->at ? FAILURE_COST : 0;
        m->good_run = 0;
        return false;
    }
    m->loss -= m->loss > 0;
    if (++m->good_run == GOOD_RUN)
        m->put_off_next = PUT_OFF_FIRST;
    b->now += e->cycles;
    b->last_retire = b->now + (uint64_t)(int64_t)e->retire;
    for (int i = 0; i < CPU_STALL_COUNT; i++)
        b->stall[i] += e->stall[i];
    b->instructions += plan->count;
    m->at = e->to;
    return true;
}
