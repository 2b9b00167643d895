/* The single event stream of a simulation. The engine emits events; listeners observe them: the database writer, the trace
 * recorder, time lines, live metrics, the progress bar.
 *
 * Rules. An event and everything that it points to are constant and valid only while the listener is being called; a listener
 * copies what it needs later. A listener cannot change the result of a run: it gets const data, and it may neither emit nor
 * subscribe while it is being called (both are refused). Listeners are called in the order of subscription, one event
 * after another, on the emitting thread. Two equal runs emit equal sequences of events, except `progress`, which
 * follows the host's clock and therefore goes only to listeners that ask for it and carries no sequence number.
 *
 * Order within a run: run_begin first, run_end last. For each op, launch <= op_begin <= op_end. Within one part of the chip,
 * times never decrease; events of different parts come in the order in which the engine settles them.
 */
#ifndef ORCHARD_SIM_BASE_EVENT_H
#define ORCHARD_SIM_BASE_EVENT_H

#include "power/activity.h"
#include "sim/base/run_result.h"
#include "sim/base/work_progress.h"

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
/* NULL when `kind` is out of range. */
const char *event_kind_name(enum event_kind kind);

/* How many workloads may share one chip; each has series and metrics of its own. */
enum { EVENT_WORKLOADS = 16 };

/* A part of the chip and which one of its kind: a core, the block of a cluster, a die. */
struct event_place {
    enum orch_part part;
    uint32_t instance;
};

/* A named quantity. `unit` is that of the metric dictionary ("bytes", "W" ...). */
struct event_value {
    const char *name, *unit;
    double value;
};
struct event_values {
    const struct event_value *item;
    size_t count;
};

/* Everything that determines the answer of a run. A text that does not apply is NULL. */
struct event_run_begin {
    const char *workload; /* as asked: "gemm:64x64x64" */
    const char *chip_id, *chip_hash;
    bool chip_modified;                      /* --set overrode some value */
    const char *program_name, *program_kind; /* kernel, elf, agx, ane, onnx ... */
    const char *program_hash;
    const char *device, *unit, *precision, *detail, *mode;
    const char *options; /* JSON, names always in one order: every other option that can change the answer */
    const char *version; /* of orchard and its models */
    uint64_t seed;
    double gpu_cores; /* of the chip; 0 = not known */
    const char *host; /* where it ran; not part of the configuration */
};

/* One operator or kernel launch. A `launch` event does not promise started_ns. */
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
    uint64_t repeats;                /* how many equal ops in a row this record stands for, at least 1 */
    const struct activity *activity; /* of all repeats together; NULL = none */
    struct event_values stalls;      /* cycles by reason */
    struct event_values counters;
};

struct event_mem_transfer {
    const char *what; /* "weights", "copy", "page in" ... */
    struct event_place from, to;
    uint64_t bytes;
    double seconds;
};

/* One point of a time series that belongs to a place: power, temperature, clock, bandwidth, utilisation. */
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
    double fraction;     /* of what is being done now, 0..1, NAN = not known */
    double host_seconds; /* since the run began */
    double part_seconds; /* of the host, since what is being done now began */
    const char *what;    /* a few words about what is being done */
    struct work_state state;
    bool *stop; /* a listener may set it to end the run where it stands; NULL where that is not possible */
};

enum event_run_status { EVENT_RUN_DONE, EVENT_RUN_FAILED, EVENT_RUN_INTERRUPTED };

struct event_run_end {
    enum event_run_status status;
    const char *error;               /* why the run did not finish; NULL when it did */
    const struct run_result *result; /* NULL unless done */
};

struct event {
    enum event_kind kind;
    uint64_t sequence; /* 1, 2, 3 ... on this bus, set by event_bus_emit; 0 for progress */
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

/* NULL when memory has run out. */
struct event_bus *event_bus_create(void);
void event_bus_free(struct event_bus *bus);
/* False when memory has run out, or when a listener calls it. */
bool event_bus_subscribe(struct event_bus *bus, const struct event_listener *listener);
/* Whether a listener asks for progress. */
bool event_bus_wants_progress(const struct event_bus *bus);
/* Hands the event to every listener; the bus sets the sequence number. False when a listener calls it. */
bool event_bus_emit(struct event_bus *bus, const struct event *event);

#endif
