/* Chrome trace JSON, as Perfetto and chrome://tracing read it: slices, counters, names and arrows, written as they come.
 *
 * Times are nanoseconds of simulation, written as microseconds with decimals. Slices of one track never overlap: one that begins
 * before its predecessor on the track ended goes to a lane of its own. A trace stays small: of each kind of event the first
 * `PERFETTO_KEEP` are written, then every second one for as many more, then every fourth ...; the end of the file tells how many
 * there were.
 */
#ifndef ORCHARD_REPORTS_PERFETTO_H
#define ORCHARD_REPORTS_PERFETTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { PERFETTO_KEEP = 100000 };

struct perfetto;

/* Begins the document; `out` stays the caller's. NULL when memory is short. */
struct perfetto *perfetto_begin(FILE *out);
/* So many of a kind instead of PERFETTO_KEEP. */
void perfetto_set_keep(struct perfetto *p, uint64_t keep);

/* Processes are groups of tracks. Both must be named before their first event; naming twice is harmless. */
void perfetto_process(struct perfetto *p, unsigned pid, const char *name);
void perfetto_track(struct perfetto *p, unsigned pid, unsigned tid, const char *name);

/* A further line of the details of a slice; name NULL ends a list. */
struct perfetto_detail {
    const char *name;
    const char *text; /* NULL: the number */
    double number;
};

/* Where a slice was put: its track, or a lane beside it. */
struct perfetto_place {
    unsigned pid, tid;
    bool written; /* false: left out to keep the file small */
};

struct perfetto_place perfetto_slice(struct perfetto *p, unsigned pid, unsigned tid, const char *name, double begin_ns,
                                     double duration_ns, const struct perfetto_detail *details);
/* An arrow between two slices; nothing when one of them was left out. */
void perfetto_arrow(struct perfetto *p, const char *name, struct perfetto_place from, double from_ns, struct perfetto_place to,
                    double to_ns);
/* A point of a counter of a process. */
void perfetto_counter(struct perfetto *p, unsigned pid, const char *name, const char *unit, double time_ns, double value);
/* A moment: a change of clock, a fault. */
void perfetto_moment(struct perfetto *p, unsigned pid, unsigned tid, const char *name, double time_ns,
                     const struct perfetto_detail *details);

/* Ends the document with what was left out, and frees. False when writing or memory failed. */
bool perfetto_end(struct perfetto *p);

#endif
