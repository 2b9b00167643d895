/* Loads that a loop repeats: each period asks for the same lines, moved on by a constant step, at the same times relative
 * to the period, and every answer is an immediate hit (in L2, or in the L1 that a port shares). Such loads change nothing
 * but ages, counts and the recent past of the links, so whole periods can be accounted for at once. The caller proves that
 * the times repeat; this file proves that the answers do, and leaves exactly the state that mem_port_access would leave.
 */
#ifndef ORCHARD_UNITS_MEM_MEM_STEADY_H
#define ORCHARD_UNITS_MEM_MEM_STEADY_H

#include "units/mem/mem_timing.h"

#define MEM_STEADY_LOADS 64
#define MEM_STEADY_LINKS 2 /* the port's own to L2 and that of the whole cache, one after the other */

struct mem_steady_load {
    uint64_t address; /* of the period to come; one line */
    uint64_t step;    /* bytes from one period to the next */
    uint32_t bytes;
    enum mem_level level; /* MEM_L1 (of the shared port) or MEM_L2 */
};

struct mem_steady {
    struct mem_port *port;
    uint32_t count;
    struct mem_steady_load load[MEM_STEADY_LOADS];
    double first_ns; /* when the first load of the run is asked for */
};

/* Times that the caller checks its loads against. */
struct mem_steady_rules {
    double latency_ns[MEM_LEVEL_COUNT];
    double line_ns[MEM_STEADY_LINKS]; /* for which an L2 load holds each link */
    uint32_t in_flight;               /* L2 loads asked for and not answered, at most; 0 = no limit */
    uint32_t tail;                    /* how many of the last L2 loads mem_steady_book must be told of */
    double tail_ns;                   /* the time that these must span at least */
};

/* False when the port is not of the kind that this file knows (no L1 of its own, with a cluster). */
bool mem_steady_rules(const struct mem_port *port, struct mem_steady_rules *rules);
/* Nothing is booked on the links at first_ns or later; and until when something is. */
bool mem_steady_idle(const struct mem_steady *steady);
double mem_steady_busy_until(const struct mem_steady *steady);
/* False when something else is under way: links busy at first_ns or later, too few free miss registers, stores of these
 * lines being gathered. `asked_ns`: the latest moments at which the L2 loads of the first period find theirs; the next
 * periods follow period_ns apart. `periods` bounds the run. */
bool mem_steady_begin(const struct mem_steady *steady, const double *asked_ns, uint32_t count, double period_ns,
                      uint32_t periods);
/* Accounts for up to `periods` periods, moving the addresses on; stops before the first whose answers are not as expected.
 * Returns how many. */
uint32_t mem_steady_run(struct mem_steady *steady, uint32_t periods);
/* The last L2 loads of a run, in order: the time at which each was asked for. So many are to come in further calls. */
void mem_steady_book(const struct mem_steady *steady, const double *asked_ns, uint32_t count, uint64_t to_come);

#endif
