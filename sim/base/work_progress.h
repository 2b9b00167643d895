/* How far long work has come, told by whoever does it to whoever waits: as often as is convenient, since the listener leaves out
 * what comes too soon. Telling changes nothing of the work.
 */
#ifndef ORCHARD_SIM_BASE_WORK_PROGRESS_H
#define ORCHARD_SIM_BASE_WORK_PROGRESS_H

struct work_progress {
    /* `doing` is "executing", "timing" ...; fraction of that, 0..1, NAN = not known; simulated time, 0 where none goes by. */
    void (*tell)(void *context, const char *doing, double fraction, double time_ns);
    void *context;
};

/* `progress` may be NULL: nobody waits. */
static inline void work_progress_tell(const struct work_progress *progress, const char *doing, double fraction, double time_ns)
{
    if (progress)
        progress->tell(progress->context, doing, fraction, time_ns);
}

#endif
