/* Kinds of workloads: what a run can be of, one row each.
 *
 * A kind turns what a user names into work for a unit, times it, and makes numbers of what the unit measured. Nothing outside the
 * table asks which kind a run has: it calls the row. A new kind is one file kind_NAME.c with its row, and one line in kinds.c.
 */
#ifndef ORCHARD_SIM_RUN_KIND_H
#define ORCHARD_SIM_RUN_KIND_H

#include "sim/run/measure.h"
#include "sim/run/run_file.h"
#include "sim/run/run_state.h"
#include "sim/workload/element_type.h"

struct run_programs;

/* The operation that was asked for, whatever its program does beyond; 0 = count what was executed. */
struct run_operation {
    double flops, macs; /* of one repetition */
};

/* Buffers of a caller who shares the address space of a session: addresses in the kernel's documented order, 0 = allocate and
 * fill. */
struct run_given {
    struct mem_space *space;
    const uint64_t *address;
    unsigned count;
};

/* A buffer that a caller may give. */
struct run_buffer {
    enum element_type type;
    uint64_t count; /* elements */
    bool read, written;
    bool places; /* its values are places in other buffers */
};
enum { RUN_BUFFERS = 12 };

/* What a sample is of (run_sample.c): programs, kernels of NEON and of AMX blocks as programs, kernels in-process. */
enum run_sample_of { RUN_SAMPLE_PROGRAM, RUN_SAMPLE_LIBRARY, RUN_SAMPLE_AMX_PROGRAM, RUN_SAMPLE_KERNEL, RUN_SAMPLES };

struct run_kind {
    const char *name;         /* of the row; kept with characteristics */
    const char *program_kind; /* as the performance database groups programs: "elf", "kernel", "agx", "ane" */
    enum orch_part part;      /* the unit that the work is for */
    const char *unit;         /* what it is called where there is more than one; NULL = the part's name */
    bool may_sample;          /* --detail chooses between timing everything and a sample */
    bool needs_values;        /* is timed while it executes: there is no timing without values */
    bool takes_buffers;       /* time_in accepts buffers of a caller */
    bool composed;    /* of kernels, which are runs themselves: it asks for their characteristics, where kernels have one */
    bool sums_joules; /* its joules are sums over kernels that are runs of their own: nothing is priced again */

    /* A file, or a folder, is of the first kind that recognises it; NULL = never. */
    bool (*recognise)(const struct run_file *file);
    /* "KERNEL:SHAPE" is of the first kind of the asked unit whose library has the kernel; NULL = no library. */
    bool (*has)(const struct run_request *request);

    /* Reads the workload into run->work and names it in run->program_name. `close` follows in any case. */
    bool (*open)(struct run *run, struct orch_error *error);
    void (*close)(struct run *run); /* NULL = run->work is freed */
    /* Options that make no sense for this kind; those of all kinds were checked before. */
    bool (*check)(const struct run *run, struct orch_error *error);
    /* Of everything that decides the answer apart from the options. */
    uint64_t (*hash)(const struct run *run);
    /* Element type; NULL = the program's own business. */
    const char *(*precision)(const struct run *run);
    /* Bytes of all buffers as far as they are known before the run; NULL = not known. */
    double (*bytes)(const struct run *run);
    /* Kinds that take buffers and have a documented order of them: which, in that order; returns their number. NULL = none. */
    unsigned (*buffers)(const struct run *run, struct run_buffer buffer[RUN_BUFFERS]);
    /* NULL = nothing was asked for but the program. */
    struct run_operation (*operation)(const struct run *run);
    /* Seconds that no program of the kind goes below, from the unit's peak; NULL = not known. */
    double (*floor_seconds)(const struct run *run);
    /* Group of residuals: what the model's error on measured hardware is looked up by. */
    const char *(*work)(const struct run *run, const struct run_result *result);

    /* Kinds that are AArch64 programs say here what each core runs (run_programs.h); such kinds can meet on one time line. NULL =
     * none. */
    bool (*programs)(const struct run *run, struct run_programs *programs, struct orch_error *error);

    /* Executes and times as the request's mode says. The measure has the chip when the caller shares one. `given` is NULL unless
     * takes_buffers. */
    bool (*time_in)(struct run *run, const struct run_given *given, struct run_measure *m, struct run_result *result,
                    struct orch_error *error);
    /* Numbers, stalls, utilisation, counters, interval and assumptions of the result. */
    bool (*account)(struct run *run, const struct run_measure *m, struct run_result *result, struct orch_error *error);
    /* What the energy follows from; `energy` is started. */
    void (*energy)(const struct energy_model *model, const struct run_measure *m, struct energy_run *energy);
    /* More for --explain: the roofline, descriptors. */
    void (*explain)(FILE *out, const struct run *run, const struct run_result *result);
};

extern const struct run_kind run_kind_amx, run_kind_amx_program, run_kind_gpu_kernel, run_kind_ane_kernel, run_kind_cpu_kernel,
    run_kind_cpu_library, run_kind_ane_program, run_kind_gpu_code, run_kind_gpu_source, run_kind_gpu_row, run_kind_elf,
    run_kind_amx_library, run_kind_amx_product, run_kind_network_auto, run_kind_network_hybrid, run_kind_network,
    run_kind_network_gpu, run_kind_network_amx, run_kind_network_ane, run_kind_language, run_kind_language_amx,
    run_kind_language_gpu, run_kind_language_ane, run_kind_language_hybrid, run_kind_language_combined, run_kind_decoder,
    run_kind_decoder_cpu, run_kind_decoder_amx, run_kind_decoder_gpu, run_kind_decoder_ane;

/* Finds the kind of the request's workload; a file is read into run->file. NULL with *error when it is none. */
const struct run_kind *run_kind_of(struct run *run, struct orch_error *error);
/* The kind that KERNEL:SHAPE of the request would be, if any unit has the kernel. */
const struct run_kind *run_kind_of_kernel(const struct run_request *request);
/* The kind of the request's unit whose library has its kernel; NULL = the unit has none. */
const struct run_kind *run_kind_on_unit(const struct run_request *request);
/* The unit in words. */
const char *run_kind_unit(const struct run_kind *kind);
/* By its name; NULL = none. */
const struct run_kind *run_kind_named(const char *name);

/* Why a kernel runs where it does, for the placement: who chose it, the other units that have it, or that there are none. */
void run_kind_why(const struct run *run, char *text, size_t size);

/* Checks that several kinds share: an option that the request has and this kind refuses. The text ends "...; WORKLOAD <is>". */
bool run_check_no_program_options(const struct run_request *request, const char *is, struct orch_error *error);
/* What work of CPU cores and their AMX blocks refuses: buffers of launches and other units. */
bool run_check_cpu_options(const struct run *run, struct orch_error *error);
/* The same of kernels, which also refuse options of program files; and of kernels of the CPU, which have neither homes nor a mode
 * without execution. */
bool run_check_kernel_options(const struct run *run, struct orch_error *error);
bool run_check_cpu_kernel_options(const struct run *run, struct orch_error *error);
/* `work` of kernels: by the kernel's name; of programs: by what they wait for; of those that belong to no group. */
const char *run_work_named(const struct run *run, const struct run_result *result);
const char *run_work_by_stalls(const struct run *run, const struct run_result *result);
const char *run_work_any(const struct run *run, const struct run_result *result);

#endif
