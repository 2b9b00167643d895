/* A network, node by node, by kernels of a unit's library on the tensors' values: results of a kernel are operands of the next.
 * Each kernel is a run of its own, behind the warm-up that such runs have, and the network's measure is the sum of theirs.
 *
 * What the asked unit's library lacks, kernels of the CPU's take. Kernels of the GPU that follow one another are in one command
 * buffer, those of the Neural Engine in one request; whenever it begins after somebody else computed, there is another one. */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_H

#include "sim/network/graph/graph.h"
#include "sim/run/measure.h"
#include "sim/run/run.h"

/* Units of the placement of nodes that no kernel computes. */
#define RUN_NETWORK_REFERENCE "reference"
#define RUN_NETWORK_VIEW      "view"
#define RUN_NETWORK_CONTROL   "control" /* If, Loop, Scan: which nodes run, and how often */
/* Why a kernel of the placement has no time. */
#define RUN_NETWORK_AT_LOAD "hangs on constants alone: it ran once, when the network was loaded"
/* Counters of the kernel that stands at this place of the placement, from 1. */
#define RUN_NETWORK_SECONDS "network.kernel%zu.seconds"
#define RUN_NETWORK_JOULES  "network.kernel%zu.joules"
#define RUN_NETWORK_GROUPS  "network.kernel%zu.threadgroups"  /* on the GPU */
#define RUN_NETWORK_CORES   "network.kernel%zu.cores"         /* that work on it, of the CPU */
#define RUN_NETWORK_BEGIN   "network.kernel%zu.begin_seconds" /* where units work at the same time */
/* Counters of --unit auto: what was predicted of the units, and of what it chose ("auto"). */
#define RUN_NETWORK_PREDICTED        "network.predicted.%s.seconds"
#define RUN_NETWORK_PREDICTED_JOULES "network.predicted.auto.joules" /* by policies that count joules */

struct network_alone;
struct network_kernels;
struct network_memory;
struct network_plan;
struct network_requests;
struct network_residency;
struct network_schedule;
struct net_mixed;
struct run_network_picture;

struct run_network {
    const struct run_request *request;         /* how kernels are run: chip, mode, cores ... */
    enum orch_part part;                       /* the unit that is asked for */
    bool e_core;                               /* kernels of the CPU run on an E core; of a plan's, those of the node at hand */
    bool overlaps;                             /* units work at the same time (run_network_schedule.h) */
    bool automatic;                            /* each node is given to the unit of a plan (run_network_plan.h) */
    struct mem_space *space;                   /* where all but cores have their buffers; CPU: NULL */
    const struct net_model *model;             /* with its shapes */
    struct net_array *const *input;            /* by input of the graph; one that is a constant may be NULL */
    const struct run_network_picture *picture; /* images among the inputs, and how many */
    size_t pictures;
    const struct net_mixed *mixed;     /* nodes that stay in f32 where the unit is asked for f16; NULL = none */
    struct run_measure *sum;           /* the caller releases it */
    struct run_result *result;         /* gets the placement and the counters */
    bool characteristics;              /* without values: the network is composed of those of its kernels */
    const struct work_progress *waits; /* gets how far the network has come; NULL = nobody */
    /* Where no measure says everything (characteristics, requests to the Neural Engine): gets what kernels add up to; else NULL.
     */
    struct run_result *operators;
    struct run_values
        *around; /* gets the seconds by stalls of what cores do around it, which no measure has; NULL = nobody asks */

    /* Filled in. */
    double macs, macs_known, macs_here; /* of all nodes, of operators with a kernel, of what the asked unit computed */
    double flops;                       /* of the kernels */
    unsigned kernels, left,
        elsewhere;    /* kernels that ran; nodes that the reference computed; kernels that the CPU took over, f32 among them */
    unsigned at_load; /* kernels that ran when the network was loaded */
    unsigned command_buffers, requests; /* of the GPU; to the Neural Engine */
    unsigned tensors, tensors_inside;   /* that requests write; that never leave the engine */
    bool sampled;                       /* some kernel was */
    struct run_measure cores, gpu;      /* what is in the sum, by who did it; the chip is the sum's */
    double overhead_ns, request_ns;     /* of one command buffer, of one request; */
    double overhead_joules, request_joules;
    double waiting_w; /* of the chip while nothing but this unit has a clock, and waits; where it is gone through for `alone` */
    double busy_ns, lost_ns, chain_ns; /* where units work at the same time: as in struct network_scheduled; */
    double work_ns;                    /* all kernels and command buffers, one after another */

    struct network_memory *memory; /* for run_network alone, as is the rest */
    struct network_plan *plan;
    struct network_alone *alone;         /* gets what nodes take, for which alone it is gone through; else NULL */
    struct network_kernels *kernel_list; /* without values */
    struct network_schedule *schedule;   /* where units work at the same time; else NULL */
    struct network_requests *asks;       /* where the Neural Engine is timed */
    struct network_residency *residency; /* where not all of it fits the system-level cache; else NULL */
    bool in_command_buffer, in_request;  /* what the GPU, the Neural Engine has been given goes on */
    bool starved;                        /* memory ran out where nobody could say so */
    bool by_kernels;                     /* the node before was computed by kernels */
    struct work_progress told;           /* by the kernel that runs; `waits` gets the place of its node */
    size_t visited;                      /* nodes so far */
};

/* Fills `output`, one array for each output of the graph, which the caller releases. */
bool run_network(struct run_network *network, struct net_array **output, struct orch_error *error);

/* Whether nothing but shapes and places is computed. */
static inline bool run_network_has_no_values(const struct run_network *network)
{
    return network->characteristics || network->request->mode == RUN_TIMING;
}

/* How a node is called in the placement; 200 characters are enough. */
void run_network_title(const struct net_node *node, char *title, size_t size);
/* Kernel by kernel; what was left to others, and why; what units were predicted to take. */
void run_network_explain(FILE *out, const struct run_network *network, const struct run_result *result);

/* ---- run_network_account.c: `account` and `energy` of networks ---- */

/* Adds the result of a kernel, of the GPU without its command buffer, to what they add up to. False = out of memory. */
bool run_network_add_operator(struct run_network *network, enum orch_part part, const struct run_result *kernel);

bool run_network_account(struct run *run, const struct run_network *network, const struct run_measure *m,
                         struct run_result *result, struct orch_error *error);
void run_network_energy(const struct energy_model *model, const struct run_measure *m, struct energy_run *energy);

#endif
