/* Chrome trace JSON for Perfetto and chrome://tracing: slices, counters, names and arrows, written as they come.
 *
 * Times are nanoseconds of simulation, written as microseconds with decimals. Slices of one track never overlap: a slice that
 * begins before its predecessor on the track ended goes to a lane of its own. To keep the trace small, the first `PERFETTO_KEEP`
 * events of each kind are written, then every second one for as many more, then every fourth ...; the end of the file tells how
 * many there were.
 */
#ifndef ORCHARD_REPORTS_PERFETTO_H
#define ORCHARD_REPORTS_PERFETTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { PERFETTO_KEEP = 100000 };

struct perfetto;

/* Begins the document; `out` remains the caller's. NULL when memory ran out. */
struct perfetto *perfetto_begin(FILE *out);
/* Sets the number of events of a kind that are kept, instead of PERFETTO_KEEP. */
void perfetto_set_keep(struct perfetto *p, uint64_t keep);

/* Processes are groups of tracks. Both must be named before their first event; naming them twice is harmless. */
void perfetto_process(struct perfetto *p, unsigned pid, const char *name);
void perfetto_track(struct perfetto *p, unsigned pid, unsigned tid, const char *name);

/* One line of the details of a slice; a NULL name ends the list. */
struct perfetto_detail {
    const char *name;
    const char *text; /* NULL = the number */
    double number;
};

/* Where a slice was put: its track, or a lane beside it. */
struct perfetto_place {
    unsigned pid, tid;
    bool written; /* false when the slice was left out to keep the file small */
};

struct perfetto_place perfetto_slice(struct perfetto *p, unsigned pid, unsigned tid, const char *name, double begin_ns,
                                     double duration_ns, const struct perfetto_detail *details);
/* An arrow between two slices, unless one of them was left out. */
void perfetto_arrow(struct perfetto *p, const char *name, struct perfetto_place from, double from_ns, struct perfetto_place to,
                    double to_ns);
/* A point of a counter of a process. */
void perfetto_counter(struct perfetto *p, unsigned pid, const char *name, const char *unit, double time_ns, double value);
/* A moment: a change of clock, a fault. */
void perfetto_moment(struct perfetto *p, unsigned pid, unsigned tid, const char *name, double time_ns,
                     const struct perfetto_detail *details);

/* Ends the document, with the numbers of what was left out, and frees `p`. False when writing failed or memory ran out. */
bool perfetto_end(struct perfetto *p);

#endif
