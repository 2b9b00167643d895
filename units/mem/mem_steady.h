/* Loads that a loop repeats: each period requests the same lines, advanced by a constant step, at the same times relative to the
 * period, and every answer is an immediate hit (in L2, or in the L1 that a port shares). Such loads change nothing but ages,
 * counts and the recent past of the links, so whole periods can be accounted for at once. The caller proves that the times
 * repeat; this file proves that the answers do, and leaves exactly the state that mem_port_access would leave.
 */
#ifndef ORCHARD_UNITS_MEM_MEM_STEADY_H
#define ORCHARD_UNITS_MEM_MEM_STEADY_H

#include "units/mem/mem_timing.h"

#define MEM_STEADY_LOADS 64
#define MEM_STREAMS_MAX  4
#define MEM_STEADY_LINKS 2 /* the port's own link to L2 and that of the whole cache, in this order */

struct mem_steady_load {
    uint64_t address; /* in the next period; one line */
    uint64_t step;    /* bytes from one period to the next */
    uint32_t bytes;
    enum mem_level level; /* MEM_L1 (of the shared port) or MEM_L2 */
};

/* Loads that together touch every line of an array in turn. */
struct mem_steady_stream {
    uint64_t address;               /* of the first line of the next period */
    uint32_t lines;                 /* in a period */
    uint8_t load[MEM_STEADY_LOADS]; /* of each line: its place among the loads */
};

struct mem_steady_streams {
    uint32_t count;
    struct mem_steady_stream of[MEM_STREAMS_MAX];
    uint8_t order[MEM_STREAMS_MAX]; /* in which they touch a set, in the periods that are known */
};

struct mem_steady {
    struct mem_port *port;
    uint32_t count;
    struct mem_steady_load load[MEM_STEADY_LOADS];
    double first_ns; /* time of the first load of the run */
    struct mem_steady_streams streams;
};

/* Times against which the caller checks its loads. */
struct mem_steady_rules {
    double latency_ns[MEM_LEVEL_COUNT];
    double line_ns[MEM_STEADY_LINKS]; /* how long an L2 load holds each link */
    uint32_t in_flight;               /* L2 loads requested and not answered, at most; 0 = no limit */
    uint32_t tail;                    /* how many of the last L2 loads mem_steady_book must be given */
    double tail_ns;                   /* the time that these must span at least */
};

/* False when the port is of a kind that this file does not handle (it handles ports of a cluster without an L1 of their own). */
bool mem_steady_rules(const struct mem_port *port, struct mem_steady_rules *rules);
/* True when nothing is booked on the links at first_ns or later. The second function returns until when something is. */
bool mem_steady_idle(const struct mem_steady *steady);
double mem_steady_busy_until(const struct mem_steady *steady);
/* True when stores to lines that the next periods load are being gathered. */
bool mem_steady_gathered(const struct mem_steady *steady, uint32_t periods);
/* Begins a run. False when something else is under way: links busy at first_ns or later, too few free miss registers, or stores
 * of these lines being gathered. `asked_ns` holds the latest times at which the L2 loads of the first period find their lines;
 * the next periods follow period_ns apart. `periods` bounds the run. */
bool mem_steady_begin(const struct mem_steady *steady, const double *asked_ns, uint32_t count, double period_ns,
                      uint32_t periods);
/* Accounts for up to `periods` periods and advances the addresses; stops before the first period whose answers are not as
 * expected. Returns how many it accounted for. */
uint32_t mem_steady_run(struct mem_steady *steady, uint32_t periods);
/* Books the last L2 loads of a run, in order, by the time of each request. `to_come` more follow in further calls. */
void mem_steady_book(const struct mem_steady *steady, const double *asked_ns, uint32_t count, uint64_t to_come);

/* Periods that begin while the links are in use get different answers. Returns how many of the next ones, at most, find all of
 * their lines in L2; nobody but the caller may change the memory system until mem_steady_pass. 0: the next
 * *apart periods must be requested line by line. */
uint32_t mem_steady_known(struct mem_steady *steady, uint32_t most, uint32_t *apart);
/* One of these periods: when each line is requested (by the caller) and arrives; when it reaches and passes the link of L2. */
struct mem_steady_try {
    double asked_ns[MEM_STEADY_LOADS], done_ns[MEM_STEADY_LOADS];
    double link_ns[2][MEM_STEADY_LOADS];
};
/* Says when the lines of a period arrive. False when single requests must show that. */
bool mem_steady_try(const struct mem_steady *steady, struct mem_steady_try *period);
/* Requests the first `lines` of them. */
void mem_steady_take(const struct mem_steady *steady, const struct mem_steady_try *period, uint32_t lines);
/* Goes on behind `periods` periods that were requested; touches and counts their lines and the first `lines` of the next one. */
void mem_steady_pass(struct mem_steady *steady, uint32_t periods, uint32_t lines);

#endif
