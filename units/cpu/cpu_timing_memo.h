/* States of the board seen before and the trees that hang on them; shared by cpu_timing_memo.c and cpu_timing_follow.c only. */
#ifndef ORCHARD_UNITS_CPU_CPU_TIMING_MEMO_H
#define ORCHARD_UNITS_CPU_CPU_TIMING_MEMO_H

#include "units/cpu/cpu_timing_internal.h"

#define CPU_MEMO_BUCKETS       16384
#define CPU_MEMO_GLANCES       (1 << 16) /* few enough that the host has the bits at hand */
#define CPU_MEMO_LOOKS         (1 << 19)
#define CPU_MEMO_PUT_OFF_FIRST 512
#define CPU_MEMO_IDLE_FIRST    (1 << 12)

/* What a block did in the end. */
struct end {
    uint32_t cycles; /* from dispatch at the start to dispatch after the block */
    int32_t retire;  /* last_retire, counted from the new dispatch cycle */
    struct state *to;
    uint32_t stalls; /* reasons that cost the block cycles, mostly one or two */
    struct end_stall {
        uint32_t reason, cycles;
    } stall[];
};

struct path { /* one of the two; neither: not known yet */
    struct step *step;
    const struct end *end;
};

/* An answer of the memory system to an access, and how the block goes on from there. */
struct branch {
    struct branch *next;
    uint32_t cycles, level;
    struct path path;
};

struct step {
    struct cpu_memo_access access;
    struct branch *branches; /* the one taken last comes first */
};

/* The way that a block of AMX words took last, side by side, so that the AMX block can take the words at once. */
struct run {
    const struct end *end;
    uint32_t *when, *answer; /* as in struct unit_words */
    uint8_t *op;
};

/* A block that begins in a state. */
struct tree {
    struct tree *next;
    const struct cpu_plan *plan;
    unsigned outcome;
    struct path path;
    struct run *run; /* NULL: not known yet, or the block makes other accesses, too */
};

/* Most states have one tree, which lies where the host looks anyway. */
struct state {
    struct tree first;  /* no plan: none yet */
    struct state *next; /* in its bucket */
    uint64_t hash;
    uint32_t words;
    uint32_t word[];
};

/* States and trees are forgotten together, so they lie in chunks. */
struct chunk {
    struct chunk *next;
    size_t used, bytes;
    _Alignas(16) uint8_t room[];
};

struct cpu_memo {
    struct state *bucket[CPU_MEMO_BUCKETS];
    uint64_t glances[CPU_MEMO_GLANCES / 64]; /* a bit is set for each state that is kept */
    uint64_t looks[CPU_MEMO_LOOKS / 64];     /* the same, by cpu_state_look */
    struct chunk *chunk, *spare;             /* in use; kept for later, because the host takes long to hand out fresh memory */
    struct state *at;                        /* the state of the board; NULL: a state that is not kept */
    bool rests;                              /* the board's arrays are out of date: it is in state `at` */
    struct state *from;                      /* state at the start of the block being placed */
    uint64_t stall[CPU_STALL_COUNT];         /* the stall counts at that time */
    uint64_t bytes;
    uint32_t lost, put_off, put_off_next, loss, good_run;
    uint32_t idle, idle_next; /* blocks during which nothing is remembered, since that did not pay; the same for the next time */
    uint32_t *scratch;        /* a state while it is written */
};

/* Memory that lasts until everything is forgotten; NULL when memory is out. */
void *cpu_memo_take(struct cpu_memo *memo, size_t bytes);

static inline struct tree *tree_of(struct state *s, const struct cpu_plan *plan, unsigned outcome)
{
    struct tree *e = &s->first;
    while (e && (e->plan != plan || e->outcome != outcome))
        e = e->next;
    return e;
}

/* Returns the branch for an answer and moves it to the front. */
static inline struct branch *branch_of(struct step *step, uint32_t cycles, uint32_t level)
{
    struct branch **link = &step->branches;
    while (*link && ((*link)->cycles != cycles || (*link)->level != level))
        link = &(*link)->next;
    struct branch *b = *link;
    if (b && b != step->branches) {
        *link = b->next;
        b->next = step->branches;
        step->branches = b;
    }
    return b;
}

#endif
