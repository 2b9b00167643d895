/* A loop that is being sent; shared by amx_timing_repeat.c and amx_timing_loop_*.c only. */
#ifndef ORCHARD_UNITS_AMX_AMX_TIMING_LOOP_H
#define ORCHARD_UNITS_AMX_AMX_TIMING_LOOP_H

#include "units/amx/amx_timing_period.h"
#include "units/mem/mem_steady.h"

#define AMX_PERIODS_MIN 6    /* a shorter loop is not worth the effort */
#define AMX_SLACK_NS    1e-5 /* far above rounding */

struct amx_loop {
    struct amx_block *block;
    struct amx_timing_core *core;
    struct amx_passes pass; /* the next one, and how many remain, itself included */
    struct amx_batch batch; /* of that pass */
    int64_t step;
    uint32_t loads;
    uint64_t remembered; /* periods that were not sent */
    bool apart;          /* no two loads touch the same line before the loop ends */
    const struct amx_pattern *pattern;
    uint8_t load_at[AMX_PERIOD_MAX];   /* places of the loads in a period */
    uint8_t load_of[MEM_STEADY_LOADS]; /* the load that each steady load (a line) is part of */
};

/* The lines of a period that come from L2 and pass the links one after another, starting with idle links. */
struct amx_passage {
    uint32_t count;
    double asked_ns[MEM_STEADY_LOADS], done_ns[MEM_STEADY_LOADS]; /* from the first request of the period */
    double end_ns[MEM_STEADY_LINKS];                              /* of each link, idle from then on */
    uint32_t busy[MEM_STEADY_LINKS];                              /* stretches without a pause */
};

/* Finds the loop that begins at instruction `from` of a batch: its pass, number of passes and loads. Returns false when
 * there is none that is worth the effort. */
bool amx_loop_find(struct amx_loop *l, const struct amx_batch *b, uint32_t from);
/* Finds the loads of a pass. Returns false when an instruction neither loads nor computes. */
bool amx_loop_find_loads(struct amx_loop *l);

/* True when the last line requested for each file has advanced with the loads of the file since `before`: the period began
 * as the next ones will. */
bool amx_loop_same_coming(const struct amx_loop *l, const uint64_t before[AMX_FILES]);
/* True when two loads may touch the same line within `periods` periods. */
bool amx_loop_crosses(const struct mem_steady *s, uint32_t periods);
/* True when blocks that were just loaded, or lines that were just stored, lie where the loads will come. */
bool amx_loop_meets_trail(const struct amx_loop *l, const struct mem_steady *s, uint32_t periods);
/* Writes what n periods, `shift` ticks apart, leave behind: the blocks loaded last and the lines requested last. */
void amx_loop_leave_trail(const struct amx_loop *l, const struct mem_steady *s, uint32_t n, int64_t shift);

/* True when the periods that follow, starting from idle links, are answered so that they go the same way and leave the links
 * idle. Fills *p. */
bool amx_passage_repeats(const struct amx_loop *l, const struct amx_period_way *way, const struct mem_steady *s,
                         const struct mem_steady_rules *rules, struct amx_passage *p);
/* Books the last L2 lines of a run of n periods that follows `gone` others: as many as give each link `tail` busy
 * stretches. */
void amx_passage_book(const struct amx_loop *l, const struct mem_steady *s, const struct amx_period_way *way,
                      const struct amx_passage *p, uint32_t tail, uint32_t gone, uint32_t n);

/* The register file that a load of the period fills: 0 for X, 1 for Y, the index of amx_timing_core.coming. */
static inline unsigned amx_loop_file(const struct amx_loop *l, uint32_t load)
{
    return l->pass.op[l->load_at[load]] == AMX_LDY ? 1 : 0;
}

#endif
