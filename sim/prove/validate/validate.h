/* Validation: predicts published measurements by running the program that each row describes, and scores the
 * errors.
 *
 *     struct validation *v = validation_create();
 *     validation_add_file(v, "amx-timing.csv", &error);
 *     validation_run(v, &runner, &error);
 *     validation_write_text(v, "chip,source", stdout);
 *
 * How a program is executed is the runner's business; this file only says what to run and what to measure.
 */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_VALIDATE_H
#define ORCHARD_SIM_PROVE_VALIDATE_VALIDATE_H

#include "power/energy.h"
#include "sim/base/error.h"
#include "units/mem/mem_space.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum validate_core { VALIDATE_ANY_CORE, VALIDATE_P_CORE, VALIDATE_E_CORE };

enum validate_measure {
    VALIDATE_RATE,        /* 1e9 work per second: work of all threads over the time of the slowest */
    VALIDATE_RATE_SUM,    /* 1e9 work per second: sum of what each thread reached by itself */
    VALIDATE_NS_PER_WORK, /* of the slowest thread */
    VALIDATE_CYCLES_PER_WORK,
    VALIDATE_WORK_PER_CYCLE,
    VALIDATE_RATIO,         /* time of the second launch over that of the first */
    VALIDATE_WATTS,         /* of the program's domains, in units of `work` watts */
    VALIDATE_JOULES,        /* the same, of one run, in units of `work` joules */
    VALIDATE_WORK_PER_JOULE /* 1e9 work per joule */
};

struct validate_patch {
    uint64_t offset, value; /* a 64-bit word of the data; everything else is 0 */
};

/* A launch of a GPU program, run twice with different numbers of turns: the difference is what counts. */
struct validate_gpu {
    char *text;                         /* assembler with the arguments `data` (u64) and `turns` (u32); NULL = no GPU program */
    unsigned cores;                     /* of the GPU that take part; 0 = all */
    bool counts_all_threads;            /* validate_program.work is per GPU thread */
    bool stands_for_all;                /* the other cores do the same: rates are those of the whole GPU */
    unsigned threads_per_group, groups; /* groups: per core that takes part */
    uint32_t turns[2];
    uint64_t data_bytes; /* zero-filled; validate_program.patch writes into it */
};

/* A kernel of the GPU library, one of those that an operation is made of. */
struct validate_launch {
    char workload[128]; /* "gemm:1024x256x64,batch=1000" */
    char precision[8];
    double times;      /* how often the operation has it */
    char part[2][128]; /* not empty: two smaller shapes that are run instead, their pace carried on to the whole */
    double part_of[2]; /* how much of `workload` each of them is */
};

#define VALIDATE_LAUNCHES 8

#define VALIDATE_CODE_ADDR   UINT64_C(0x10000)
#define VALIDATE_DATA_ADDR   UINT64_C(0x1000000)
#define VALIDATE_MAX_THREADS 64

/* What a row describes. Each thread runs a copy with its own address space. */
struct validate_program {
    char chip[64]; /* id or alias of the chip database */
    enum validate_core core;
    unsigned threads; /* 0: all cores of that kind */
    bool warm;        /* run once before, so that caches hold what they can */

    char workload[64]; /* not empty: a kernel of orchard's library ("gemm:256x256x256"), no code below */
    char precision[8];
    const char *note; /* NULL, or what differs from the row ("our kernel instead of Accelerate's") */

    uint32_t *code; /* at VALIDATE_CODE_ADDR, entered at its first word; ends with Linux exit(0) */
    size_t words;
    uint64_t data_bytes; /* zero-filled, read and write, at VALIDATE_DATA_ADDR */
    struct validate_patch *patch;
    size_t patches;

    struct validate_gpu gpu;

    struct validate_launch launch[VALIDATE_LAUNCHES]; /* one after another on the GPU, or in one request to the Neural Engine */
    bool ane;                                         /* on the Neural Engine */
    bool slope;                 /* ane: of the only launch's two parts, the longer time less the shorter one */
    double idle_seconds;        /* ane: before the request, after another one; power: between requests */
    unsigned launches;          /* not 0: this is what runs, no code and no workload */
    bool submitted;             /* the time has the way of a command buffer in it, else that of the device alone */
    bool beyond_caches;         /* nothing is left in caches from the time before */
    char framework[32];         /* not empty: whose time per operation and per byte comes on top ("mlx 0.5.0") */
    double framework_bytes;     /* of operands and results, or of operands alone where results are told apart */
    double framework_out_bytes; /* of results, where copying them costs something else */
    double framework_rows;      /* that do not fill whole 64 bytes: copied one by one */
    char remark[160];           /* what `note` points to when it is written for the row */

    bool power;       /* joules count: watts, work per joule */
    unsigned domains; /* power: bit of each domain whose joules count; 0 = all */
    double celsius;   /* power: of the die; 0 = where the chip file gives leakage */
    char set[2][48];  /* "KEY=VALUE" of the chip, such as the clock that the row was measured at; "" = none */

    double work; /* of one thread, in the unit that `measure` counts; of all threads with a workload */
    enum validate_measure measure;
};
void validate_program_free(struct validate_program *program);
/* The program as an ELF file that the caller frees. with_data: patches included, unless they reach too far;
 * else they are left to validate_program_patch, which writes them into the address space of the opened
 * program. */
uint8_t *validate_program_elf(const struct validate_program *program, bool with_data, size_t *bytes, struct orch_error *error);
bool validate_program_patch(const struct validate_program *program, struct mem_space *space);

struct validate_timing {
    double seconds; /* until the slowest thread is done */
    unsigned threads;
    double thread_seconds[VALIDATE_MAX_THREADS];
    double thread_cycles[VALIDATE_MAX_THREADS]; /* of the core's clock */
    double joules[POWER_DOMAIN_COUNT];          /* of all threads, when the program asks for power */
    double overhead_seconds;                    /* of submission, launch and waiting, in `seconds` */
    double parameters;                          /* how far parameters may move the time: relative, one standard deviation */
};

struct validate_runner {
    /* False: *error says why; the row is then listed as not modelled. exit_code ORCH_INTERRUPTED ends the
     * validation. */
    bool (*run)(void *context, const struct validate_program *program, struct validate_timing *result, struct orch_error *error);
    void *context;
};

/* Value in the row's unit that a timing means. GPU programs count as one thread. */
double validate_value(const struct validate_program *program, const struct validate_timing *timing);

/* Fixed cost of a framework: what it spends beyond the hardware's own way of a command buffer. Fitted, see overhead.c. */
struct validate_overhead {
    const char *framework;             /* as validate_program.framework */
    double operation_us, ns_per_kib;   /* per operation, less than 0 when it waits in a quicker way; per KiB of framework_bytes */
    double ns_per_kib_out, ns_per_row; /* per KiB of framework_out_bytes, per row of framework_rows: two of the four are not 0 */
    unsigned rows;                     /* that it was fitted on */
};
const struct validate_overhead *validate_overhead_of(const char *framework); /* NULL when there is none */
double validate_overhead_seconds(const struct validate_overhead *overhead, const struct validate_program *program);
const char *validate_overhead_source(const struct validate_overhead *overhead); /* the rows that it was fitted on */

struct validation;

struct validation *validation_create(void);
void validation_free(struct validation *v);
bool validation_add_file(struct validation *v, const char *path, struct orch_error *error);
/* Table from memory; `name` as a file name (ids, messages). */
bool validation_add_text(struct validation *v, const char *name, const char *text, size_t bytes, struct orch_error *error);

bool validation_run(struct validation *v, const struct validate_runner *runner, struct orch_error *error);
/* The same in so many threads (at least 1), each with a runner of its own. Results do not depend on their number. */
bool validation_run_jobs(struct validation *v, const struct validate_runner *runners, unsigned jobs, struct orch_error *error);

/* After a run: the two numbers of each framework that leave the least mean relative error on its rows, as lines of
 * sim/prove/validate/overheads.inc. */
bool validation_fit_overheads(const struct validation *v, FILE *out, struct orch_error *error);

/* After a run: how far unfitted rows are from hardware, by unit and kind of work, as lines of sim/run/residuals.inc. */
bool validation_fit_residuals(const struct validation *v, FILE *out, struct orch_error *error);
/* The same as factors of the predicted time, a list of objects; NULL when memory is out. */
struct json_object *validation_residuals_json(const struct validation *v, struct orch_error *error);
/* After a run: for every unfitted row whether it is inside the interval that the rows of all other sources would have given it:
 * what reports call coverage across sources. Nothing where there is only one. */
bool validation_cross_validate(struct validation *v, struct orch_error *error);

/* The program of one row as an ELF file, of a GPU row as assembler text; the caller frees it. NULL: no such row, or not modelled.
 */
uint8_t *validation_dump(const struct validation *v, const char *id, size_t *bytes, struct orch_error *error);

/* Columns may be any column of the tables, separated by commas, or chip, file, level, part, work. NULL = "chip,source" in JSON;
 * in text sources, chips and files one after another. */
bool validation_write_text(const struct validation *v, const char *group_by, FILE *out, struct orch_error *error);
/* A table of all files and their units for a README; `version` says what made it. */
bool validation_write_markdown(const struct validation *v, const char *version, FILE *out, struct orch_error *error);
/* The document of `orchard validate --json`; the caller puts it. */
struct json_object *validation_json(const struct validation *v, const char *group_by, struct orch_error *error);

size_t validation_rows(const struct validation *v);

#endif
