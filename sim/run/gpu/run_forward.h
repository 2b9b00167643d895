/* The inside of run_launch_forward.c: a launch that is timed from windows, and (run_launch_way.c) how it goes from one window to
 * the next. */
#ifndef ORCHARD_SIM_RUN_GPU_RUN_FORWARD_H
#define ORCHARD_SIM_RUN_GPU_RUN_FORWARD_H

#include "sim/run/gpu/run_launch.h"
#include "sim/workload/gpu/gpu_begins.h"
#include "sim/workload/gpu/gpu_places.h"
#include "sim/workload/gpu/gpu_schedule.h"

/* Instructions of each simdgroup before a window counts, and then, also where cores are held up by what others fetch; how many
 * lives of threadgroups the window counts. */
struct extent {
    double settling, counted, counted_held_up, lives;
};

/* The pace of the launch at some moment. */
struct point {
    double work;               /* instructions of the launch before it */
    double ns;                 /* time per instruction */
    double begun, begins;      /* threadgroups that have begun; that begin per instruction */
    struct gpu_counted counts; /* per instruction */
};

struct forward {
    struct run_launch *l;
    struct gpu_schedule *schedule, *trial;
    struct gpu_drift *drift; /* of cores from one another */
    struct gpu_convoy *convoy;
    unsigned cores, slots;
    double simdgroups; /* of a threadgroup, in the mean */
    double resident;   /* simdgroups of a full GPU */
    double all;        /* instructions of the launch */
    struct extent extent;
    double window;  /* instructions of the longest window that was wanted so far */
    double touches; /* accesses per instruction on the latest way; 0 = not known */
    struct point last;
    struct gpu_begins begins;
    double begins_over;  /* threadgroups that would have begun between windows as they did in them, less those that did */
    double ends_missing; /* ends of threadgroups that windows should have seen, by their share of the work, less those seen */
    double ns, timed;    /* time of the launch so far; instructions timed */
    double squares;      /* of relative changes of the pace from window to window */
    unsigned windows;    /* amid the launch so far */
    bool in_step;        /* the latest of them left threadgroups in step with one another */
    struct gpu_places places;  /* their paces */
    struct gpu_counted counts; /* of the launch so far */
};

/* Tells whether the launch has so few waves that windows stand for it only where they do not scatter. */
bool run_forward_has_few_waves(const struct run_launch *launch);
/* How long its windows last, when the simdgroups of a threadgroup execute so many instructions each. */
struct extent run_forward_extent(const struct run_launch *launch, double life);
/* Tells whether cores are held up by what others fetch, and not all in step. */
bool run_forward_is_held_up(const struct forward *f);
/* The same where they are so few that windows scatter by it. */
bool run_forward_scatters_held_up(const struct forward *f);
/* Cores go forward at the paces that drift tells of, or in step. */
void run_forward_set_paces(struct forward *f);
/* When at the latest a window may end that settles and counts for so many instructions and lasts while its pace changes: not in
 * the end of the launch. `open` is where it begins, NULL = at the beginning of the launch. */
double run_forward_latest_end(const struct forward *f, const struct gpu_schedule *open, double settling, double counted);
/* Behind a window: tells whether threadgroups go forward in step. */
void run_forward_look_for_step(struct forward *f);
/* Goes forward to a window about so many instructions of all simdgroups ahead, so that windows see as many ends of threadgroups
 * as their share. */
bool run_forward_go(struct forward *f, double work);
/* Goes forward by exactly so many. */
bool run_forward_go_exactly(struct forward *f, double work);
/* Leaves the caches as the launch leaves them; the schedule stays where it is. */
bool run_forward_leave_caches(struct forward *f);
/* The same where the launch is timed whole behind it, so that the order of its last accesses counts more. */
bool run_forward_warm(struct forward *f);

#endif
