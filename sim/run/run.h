/* `orchard run` as a library: one workload on one chip, from its name to its result.
 *
 * run_prepare recognises the workload and fills the event that decides the answer (its hash finds an equal earlier run);
 * run_execute simulates it and emits the event stream; both are deterministic.
 */
#ifndef ORCHARD_SIM_RUN_RUN_H
#define ORCHARD_SIM_RUN_RUN_H

#include "sim/chip/chip.h"
#include "sim/base/event.h"
#include "sim/base/work_progress.h"
#include "sim/machine/power/run_energy.h"
#include "sim/base/run_result.h"
#include "sim/soc/soc.h"
#include "units/unit_watch.h"

#include <stdio.h>

struct run_known;

struct run_request;
struct interval_shares;
struct learned_set;
struct run_build;

/* Finds out by simulation how far uncertain parameters move the time (sim/ask/study/uncertainty.h). `sample` replaces the shares
 * of the time by elasticities and fills in the relative standard deviations of the time downwards and upwards. */
struct run_uncertainty {
    bool (*sample)(void *context, const struct run_request *request, struct interval_shares *shares, double *sd_low,
                   double *sd_high, struct orch_error *error);
    void *context;
    unsigned runs; /* number of simulations; it is part of what decides the answer */
};

struct abi_kernel;
struct net_open_options;
struct language_options;
struct program_world;
struct compile_request;
struct kernel_launch;
struct kernel_step;

/* Operands of a kernel of the CPU's library: contents of those that it reads, in their order, and where its result goes. */
struct run_operands {
    const struct run_operand {
        const void *data;
        uint64_t bytes;
    } * input;
    unsigned inputs;
    void *result;
    uint64_t result_bytes;
};

enum run_mode { RUN_FULL, RUN_FUNCTIONAL, RUN_TIMING };

struct run_request {
    const struct chip *chip;
    const char *workload;          /* KERNEL:SHAPE or a file */
    const char *unit;              /* cpu, amx, gpu, ane, auto; NULL = auto */
    const char *unit_why;          /* why it is that unit, where something chose it; NULL = it was asked for */
    const char *precision;         /* NULL = the workload's own, else f32 */
    const char *detail;            /* instr, sampled, op, auto; NULL = auto */
    const struct run_known *known; /* source of known timings, which have no values (run/run_timing.h); NULL = none */
    enum run_mode mode;
    unsigned cores; /* copies of a CPU program; 0 = 1 */
    enum soc_core_choice core_choice;
    unsigned skip_cores;     /* number of cores that other work occupies: the run takes the ones after them */
    unsigned other_cores;    /* number of cores after its own that are busy as well; clocks are set for all of them */
    unsigned memory_gib;     /* of the machine, one of the chip's options; 0 = the largest */
    unsigned thread_cores;   /* that the threads of a program may use; 0 = all that the chip has for it */
    const char *entry;       /* function of a program; NULL = its start */
    const char *const *args; /* of a program, or of a GPU kernel that is a source */
    size_t arg_count;
    const struct program_world *world; /* programs: what they see of the host; NULL = nothing */
    uint64_t max_instructions;         /* of a program; 0 = until it ends */
    const char *const *link;           /* programs that are objects: further objects and archives */
    size_t link_count;
    const char *returns;                  /* type of what `entry` returns (program_returned.h); NULL = registers are shown */
    const struct compile_request *source; /* GPU sources: how they are compiled; path, text and entry are not looked at. NULL = by
                                             default */
    const struct kernel_launch *launch;   /* GPU sources: grid and group; args are those above. NULL = not stated */
    const struct kernel_step *step;       /* GPU sources in a row: `steps` of them, in place of `source`, `launch` and `args` */
    unsigned steps;                       /* 0 = the workload is none, or a file that says so itself */
    const struct abi_kernel *kernel;      /* compiled, with its launch: runs in place of a workload, on buffers that are given */
    const char *const *own;               /* GPU: "OPERATOR=FILE", kernels to run in place of the library's; for these are source,
                                             launch and entry above */
    size_t own_count;
    const char *kernels;       /* GPU: whose kernels run for an operator ("mlx@0.20"); NULL = the library's own */
    bool step_buffers;         /* of such a row: each step has a command buffer of its own */
    const char *output_folder; /* GPU, Neural Engine: where outputs go as .npy; NULL = nowhere */
    const char *const *inputs; /* GPU, Neural Engine: "NAME=FILE", other start contents of buffers */
    size_t input_count;
    const struct run_network_arrays *arrays; /* networks: values in memory, in place of `inputs`; NULL = none */
    const struct run_operands *operands;     /* CPU library: values, which the answer's hash does not know; NULL = generated */
    const struct net_open_options *passes;   /* networks: what is done to the graph first; NULL = everything */
    const struct language_options *language; /* language models: prompt and choices; NULL = the usual ones */
    const char *const *dims;                 /* networks: "NAME=N", dimensions that the file leaves open */
    size_t dim_count;
    const char *policy;                      /* networks on auto: who gets which operator (run_network_plan.h); NULL = cost */
    const struct learned_set *learned;       /* for the policy "predictive" (learned.h), which it then decides; NULL = nothing */
    const struct run_network_images *images; /* networks: images that go in, names of classes that come out; NULL = none */
    struct run_build *build;                 /* networks: programs are written as files in place of being run; NULL = no */
    bool profile;                            /* GPU: where the time went, by line of the source and by instruction */
    bool sanitize;                           /* GPU: races, bounds, barrier divergence, reads before their wait */
    unsigned threads;                        /* of the host, for execution without time, or beside the timing; 0 = 1 */
    const char *home;                        /* kernels: "process" or "elf"; NULL = process */
    const char *programs;                    /* folder of the cross-compiled kernels; NULL = beside the build */
    bool cold;                               /* caches empty; else one untimed warm-up */
    uint32_t present;                        /* with `cold`: operands that are in the caches all the same, a bit each, by their
                                              * order among those that the kernel reads */
    double idle_s; /* GPU, Neural Engine: idle time behind the warm-up, after which the unit may have to wake up */
    struct run_burst {
        unsigned buffers, launches; /* 0 = 1 */
    } burst;                        /* GPU, behind idle_s: command buffers that are waited for one by one, and launches of each */
    const struct run_source {       /* what the chip was opened from, for what needs it at other clocks; NULL = nothing does */
        const struct chip_db *chips;
        const struct chip_overrides *sets;
    } * source_of_chip;
    unsigned repeat; /* 0 = 1 */
    bool evict;      /* each repetition starts with empty caches; goes with `cold` */
    bool one_buffer; /* GPU: one command buffer has all repetitions, so that its costs come once; else each has its own */
    uint64_t seed;
    bool inner;         /* a kernel of a larger work: nobody hears of its events, or asks how well its data compress */
    const char *fitted; /* named set that decided choices or values: its kind, name and hash; NULL = none */
    double celsius;     /* of the die, for its leakage; 0 = where the chip file gives it */
    const struct run_uncertainty *uncertainty; /* NULL = the cheap estimate of run/interval.h */
    const struct work_progress *progress;      /* who waits; NULL = only who listens to the events of the run */
    const struct unit_watch *watch;            /* CPU, AMX, GPU: sees every instruction of the timed passes; NULL = nobody does */
    FILE *program_output;                      /* what the simulated program writes; NULL = dropped */
};

/* Counters of a run that had effects besides its answer: bytes printed by the program, .npy files written. */
#define RUN_COUNTER_OUTPUT "program.output_bytes"
#define RUN_COUNTER_FILES  "program.output_files"
/* Buffers that had an expected content, and how many of them have it. */
#define RUN_COUNTER_EXPECTED    "gpu.outputs_expected"
#define RUN_COUNTER_AS_EXPECTED "gpu.outputs_as_expected"

/* Inputs and outputs of a network by their places in the graph. The answer's hash knows inputs; outputs that are handed out are
 * released by the caller. */
struct net_array;
struct net_model;
struct run_network_arrays {
    struct net_array *const *input; /* NULL among them = generated */
    struct net_array **output;
    const struct net_model *model; /* the network as it was read, so that it is not read again; NULL = it is */
};
/* Whether the workload is a network that goes on with a text: the request has a prompt, or tokens to generate. */
bool run_is_decoder(const struct run_request *request);

/* Whether the workload is a network, which is computed node by node. */
bool run_is_network(const char *workload);
/* Whether these are several networks on "hybrid", "A + B", which are planned together as one. */
bool run_network_are_joint(const char *workload, const char *unit);
/* In a machine: the one of "cost", "edp" and "energy" that does most there. */
#define RUN_NETWORK_POLICY_THERMAL "thermal"
/* By kernels that were timed before, `learned` of the request among them. */
#define RUN_NETWORK_POLICY_PREDICTIVE "predictive"
/* Policies of networks on auto, "cost|energy|..."; whether a text is one of them, thresholds included. */
extern const char run_network_policies[];
bool run_is_network_policy(const char *text);
/* The unit that KERNEL:SHAPE runs on. */
enum orch_part run_kernel_part(const struct run_request *request);

struct run;

/* NULL with *error when the workload is none, does not fit the chip, or cannot be read. The request must outlive the run. */
struct run *run_prepare(const struct run_request *request, struct orch_error *error);
void run_free(struct run *run);
/* What decides the answer; valid as long as the run. */
const struct event_run_begin *run_begin_event(const struct run *run);

/* What its energy follows from, after execution with time; NULL for a chip without power keys. */
const struct energy_run *run_energy(const struct run *run);

/* How far the uncertainty of parameters may move its time, after execution with time: relative, one standard deviation. */
double run_parameters_sd(const struct run *run);

/* Lines about the run just executed that are no numbers: where an output differs, what --sanitize found. */
size_t run_remark_count(const struct run *run);
const char *run_remark(const struct run *run, size_t index);

/* Simulates. The result must be initialised. On failure the stream ends with a failed run_end. bus may be NULL. */
bool run_execute(struct run *run, struct event_bus *bus, uint64_t run_number, struct run_result *result,
                 struct orch_error *error);

#endif
