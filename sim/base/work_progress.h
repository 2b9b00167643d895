/* How far long work has come, told by whoever does it to whoever waits: as often as is convenient, since the listener leaves out
 * what comes too soon. Telling changes nothing of the work.
 */
#ifndef ORCHARD_SIM_BASE_WORK_PROGRESS_H
#define ORCHARD_SIM_BASE_WORK_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/* How the simulated machine is while the work goes on; NAN: not known, or not at all. */
struct work_state {
    double watts;       /* of the package */
    double celsius;     /* hottest block of the die */
    double dram_gbps;   /* 1e9 bytes a second */
    double utilisation; /* of the unit that works: as in the result of a run */
};

struct work_progress {
    /* `doing` is "executing", "timing" ...; fraction of that, 0..1, NAN = not known; simulated time, 0 where none goes by. */
    /* Where the work can end before its time and say where it stood, *stop may be set to true; elsewhere stop is NULL. */
    void (*tell)(void *context, const char *doing, double fraction, double time_ns, bool *stop);
    void *context;
    /* Whether what is told next is passed on, for states that cost something to find out; and the state, told before that. Both
     * may be NULL: nobody wants states. */
    bool (*due)(void *context);
    void (*state)(void *context, const struct work_state *state);
};

static inline bool work_progress_due(const struct work_progress *progress)
{
    return progress && progress->due && progress->due(progress->context);
}

/* `progress` may be NULL: nobody waits. */
static inline void work_progress_tell(const struct work_progress *progress, const char *doing, double fraction, double time_ns)
{
    if (progress)
        progress->tell(progress->context, doing, fraction, time_ns, NULL);
}

/* The same, of work that can end here: true when who waits wants that. */
static inline bool work_progress_ends(const struct work_progress *progress, const char *doing, double fraction, double time_ns)
{
    bool stop = false;
    if (progress)
        progress->tell(progress->context, doing, fraction, time_ns, &stop);
    return stop;
}

#endif
