/* Which parts of a long run on one core are timed, and what the others are taken to last.
 *
 * The start is timed as a whole. After it, windows follow at distances that grow with the run: each is a stretch of work that is
 * timed and counts, behind a lead that is timed but does not count, so that what was skipped leaves no trace in it. What lies
 * between two windows is executed and reaches caches and predictors, but takes no time there (cpu_timing_skip); it is taken to go
 * at the mean of the paces of the two, each kind of work at its own. Systematic sampling with functional warming, after
 * Wunderlich et al., "SMARTS" (ISCA 2003).
 */
#ifndef ORCHARD_SIM_WORKLOAD_CORE_SAMPLE_H
#define ORCHARD_SIM_WORKLOAD_CORE_SAMPLE_H

#include "sim/soc/soc.h"

/* Work is counted in instructions; kinds of work have paces of their own. */
#define CORE_SAMPLE_KINDS 64

/* Cycles by reason: those of the core, then those of its AMX block. */
#define CORE_SAMPLE_STALLS (CPU_STALL_COUNT + AMX_STALL_COUNT)

struct core_sample_shape {
    double first;               /* work that is timed from the start on */
    double first_more;          /* and so much more for each further core, where several run one program */
    double first_part;          /* the least part of the run that is timed from the start on, of those */
    double miss;                /* as how much of `first` an access that misses L1 counts: it takes the host so much longer */
    double lead;                /* before each window, at least */
    double spread;              /* leads differ by up to so much */
    double window;              /* of each window */
    double piece;               /* work whose kind is told: at most so much of a window; 0 = a window */
    double gap_least, gap_most; /* work between two windows */
    double dear; /* where most of the host's time goes to accesses that miss, windows and gaps are so many times as long: caches
                  * have to be filled before each window, however long it is; 0 = 1 */
    double expected; /* of the whole run, so that its end is timed; 0 = not known */
    unsigned rare;   /* kinds from this number on are rare and stand out, such as the first of many loops: windows would miss most
                      * of them, so some are timed wherever they are; 0 = none are */
    bool leaps;      /* over steady loops of the start */
    bool blind;      /* without windows: the run only has to leave caches and predictors as they would be */
};

/* What a clock and the counters show that depend on time. */
struct core_reading {
    double ns, stall[CORE_SAMPLE_STALLS], memory[MEM_TIMED_COUNTS];
};

struct core_sample {
    struct core_sample_shape shape;
    enum core_sample_part { CORE_SAMPLE_START, CORE_SAMPLE_WINDOW, CORE_SAMPLE_GAP, CORE_SAMPLE_LEAD } part;
    double left; /* work until the part ends */
    double work, timed_work;
    double missed;                /* accesses of the start that missed L1 */
    double in_run, missed_in_run; /* timed work since the latest gap, and its accesses that missed */
    bool dear;                    /* most of the host's time went to these */
    double in_window;             /* work of the present window */
    unsigned windows;
    struct core_sample_kind {
        double pending;            /* work without a time yet */
        double in_window, in_lead; /* its work in the present window, and in the lead before */
        struct core_reading window, lead, pace;
        double step; /* between the latest two paces */
        bool known;  /* pace is */
        uint64_t pieces, timed_pieces;
    } kind[CORE_SAMPLE_KINDS];
    struct core_reading counted;  /* by the parts that count */
    struct core_reading lead;     /* by leads */
    struct core_reading estimate; /* for everything else */
    double variance;              /* of the estimate's time */
    double leapt;                 /* work of what is told as timed that was leapt over */
    struct core_reading leap;     /* what stands for it */
};

void core_sample_begin(struct core_sample *sample, const struct core_sample_shape *shape);
/* Goes on in another shape; what has been timed stays. */
void core_sample_reshape(struct core_sample *sample, const struct core_sample_shape *shape);
/* Goes on with a part that others decide on, until the next call: of several cores that share one program. */
void core_sample_enter(struct core_sample *sample, enum core_sample_part part);
/* Ends a gap: there is work whose pace nobody knows. */
void core_sample_end_gap(struct core_sample *sample);
/* Work until the next piece of a sample is to end. */
double core_sample_piece(const struct core_sample *sample);
/* True when the next piece of work is to be timed. */
bool core_sample_times(const struct core_sample *sample, unsigned kind);
/* Tells of a piece of work; a timed one lay between two readings. Skipped work of a kind that was never seen ends the gap. */
void core_sample_timed(struct core_sample *sample, unsigned kind, double work, const struct core_reading *before,
                       const struct core_reading *after);
void core_sample_skipped(struct core_sample *sample, unsigned kind, double work);
/* The same, but a gap goes on. */
void core_sample_passed(struct core_sample *sample, unsigned kind, double work);
/* Of what has been told as timed, so much work was leapt over, for which `extra` stands in the readings. */
void core_sample_leapt(struct core_sample *sample, double work, const struct core_reading *extra);
/* *to += factor * *from. */
void core_reading_add(struct core_reading *to, const struct core_reading *from, double factor);
/* What the core shows now; it has its two ports to itself. */
void core_reading_take(struct core_reading *reading, const struct soc_core *core, double now_ns);
/* What has to be added to what the core shows: the time that skipped work takes, less that of leads. */
double core_sample_extra_ns(const struct core_sample *sample);

/* What a run that was sampled comes to. */
struct core_sampled {
    bool sampled;                     /* something was skipped; the rest is zero otherwise */
    double extra_ns;                  /* to be added to the time that the core shows */
    double extra[CORE_SAMPLE_STALLS]; /* cycles to be added to its stalls */
    double memory[MEM_TIMED_COUNTS];  /* to be put in the place of what was counted */
    double sd_ns;                     /* standard deviation of extra_ns */
    double work, timed_work;
    unsigned windows;
};
/* Ends the run. */
struct core_sampled core_sample_end(struct core_sample *sample);
/* *sum += *of, a run of its own. */
void core_sampled_add(struct core_sampled *sum, const struct core_sampled *of);

#endif
