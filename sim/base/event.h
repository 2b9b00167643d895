/* The one stream of events of a simulation. The engine emits, listeners look: the database writer, trace recorder,
 * time lines, live metrics, the progress bar.
 *
 * Rules. Events and everything they point to are constant and valid only during the call of the listener; what is
 * needed later is copied. A listener cannot change the result of a run: it gets const data, and it may neither emit nor
 * subscribe while it is being called (both are refused). Listeners are called in the order of subscription, one event
 * after another, on the emitting thread. Two equal runs emit equal sequences of events, except `progress`, which
 * follows the host's clock and therefore goes only to listeners that ask for it and carries no sequence number.
 *
 * Order within a run: run_begin, then anything, then run_end. An op's launch <= op_begin <= op_end. Times of one run do
 * not fall except across parts, where events come in the order in which the engine settles them.
 */
#ifndef ORCHARD_SIM_BASE_EVENT_H
#define ORCHARD_SIM_BASE_EVENT_H

#include "power/activity.h"
#include "sim/base/run_result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* clang-format off */
#define EVENT_KIND_TABLE(X) \
    X(RUN_BEGIN, "run_begin") \
    X(LAUNCH, "launch") \
    X(OP_BEGIN, "op_begin") \
    X(OP_END, "op_end") \
    X(MEM_TRANSFER, "mem_transfer") \
    X(SAMPLE, "sample") \
    X(DVFS_CHANGE, "dvfs_change") \
    X(FAULT, "fault") \
    X(PROGRESS, "progress") \
    X(RUN_END, "run_end")
/* clang-format on */

enum event_kind {
#define X(name, text) EVENT_##name,
    EVENT_KIND_TABLE(X)
#undef X
        EVENT_KIND_COUNT
};
/* NULL when the number is none. */
const char *event_kind_name(enum event_kind kind);

/* Workloads that may share one chip; each has its own series and metrics. */
enum { EVENT_WORKLOADS = 16 };

/* A part of the chip and which one of its kind: core, cluster's block, die. */
struct event_place {
    enum orch_part part;
    uint32_t instance;
};

/* A named quantity; `unit` is the one of the metric dictionary ("bytes", "W" ...). */
struct event_value {
    const char *name, *unit;
    double value;
};
struct event_values {
    const struct event_value *item;
    size_t count;
};

/* Everything that decides the answer of a run. Texts that do not apply are NULL. */
struct event_run_begin {
    const char *workload; /* as asked: "gemm:64x64x64" */
    const char *chip_id, *chip_hash;
    bool chip_modified;                      /* some value was overridden with --set */
    const char *program_name, *program_kind; /* kernel, elf, agx, ane, onnx ... */
    const char *program_hash;
    const char *device, *unit, *precision, *detail, *mode;
    const char *options; /* every other option that can change the answer, JSON with sorted keys */
    const char *version; /* of orchard and its models */
    uint64_t seed;
    const char *host; /* where it ran; not part of the configuration */
};

/* One operator or kernel launch. In `launch` only the first line and submitted_ns hold. */
struct event_op {
    uint64_t op; /* 1, 2, 3 ... within the run, in order of submission */
    const char *name, *kernel, *shape, *precision;
    struct event_place place;
    double submitted_ns;
    double started_ns;
};

struct event_op_end {
    struct event_op op;
    double seconds;                  /* from started_ns to completion */
    double cycles;                   /* of the unit's own clock; NAN = not known */
    double macs, flops;              /* NAN = not counted */
    uint64_t repeats;                /* equal ops back to back that this record stands for, at least 1 */
    const struct activity *activity; /* NULL = none; of all repeats */
    struct event_values stalls;      /* cycles by reason */
    struct event_values counters;
};

struct event_mem_transfer {
    const char *what; /* "weights", "copy", "page in" ... */
    struct event_place from, to;
    uint64_t bytes;
    double seconds;
};

/* One point of a time series of a place: power, temperature, clock, bandwidth, utilisation. */
struct event_sample {
    const char *series, *unit;
    struct event_place place;
    double value;
};

struct event_dvfs_change {
    struct event_place place;
    double from_mhz, to_mhz;
    double volts;       /* NAN = not known */
    const char *reason; /* "governor", "thermal", "power-cap", "start" ... */
};

struct event_fault {
    struct event_place place;
    const char *fault; /* kind */
    uint64_t pc, address;
    const char *text;
};

struct event_progress {
    double fraction;     /* 0..1, NAN = not known */
    double host_seconds; /* since the run began */
    const char *what;    /* what is being done, a few words */
};

enum event_run_status { EVENT_RUN_DONE, EVENT_RUN_FAILED, EVENT_RUN_INTERRUPTED };

struct event_run_end {
    enum event_run_status status;
    const char *error;               /* why it did not get done; NULL when done */
    const struct run_result *result; /* NULL unless done */
};

struct event {
    enum event_kind kind;
    uint64_t sequence; /* 1, 2, 3 ... over the bus, set by event_bus_emit; 0 for progress */
    uint64_t run;      /* number of the run within this process, 1, 2, 3 ... */
    double time_ns;    /* simulated */
    union {
        struct event_run_begin run_begin;
        struct event_op launch, op_begin;
        struct event_op_end op_end;
        struct event_mem_transfer mem_transfer;
        struct event_sample sample;
        struct event_dvfs_change dvfs_change;
        struct event_fault fault;
        struct event_progress progress;
        struct event_run_end run_end;
    };
};

struct event_listener {
    void (*on_event)(void *context, const struct event *event);
    void *context;
    bool wants_progress;
};

struct event_bus;

/* NULL when memory is short. */
struct event_bus *event_bus_create(void);
void event_bus_free(struct event_bus *bus);
/* False when memory is short or when called from a listener. */
bool event_bus_subscribe(struct event_bus *bus, const struct event_listener *listener);
/* Whether anybody listens: lets the engine skip the gathering of details that nobody reads. */
bool event_bus_has_listeners(const struct event_bus *bus);
/* Hands the event to every listener; the sequence number is the bus's. False when called from a listener. */
bool event_bus_emit(struct event_bus *bus, const struct event *event);

#endif
