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
#include "sim/chip/chip.h"
#include "sim/run/language/language_options.h"
#include "sim/run/run.h"
#include "units/mem/mem_space.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum validate_core { VALIDATE_ANY_CORE, VALIDATE_P_CORE, VALIDATE_E_CORE };

enum validate_measure {
    VALIDATE_RATE,        /* 1e9 work per second: the work of all threads over the time of the slowest */
    VALIDATE_RATE_SUM,    /* 1e9 work per second: the sum of the rates of the threads */
    VALIDATE_NS_PER_WORK, /* nanoseconds of the slowest thread per work */
    VALIDATE_CYCLES_PER_WORK,
    VALIDATE_WORK_PER_CYCLE,
    VALIDATE_RATIO,         /* time of the second launch over that of the first */
    VALIDATE_WATTS,         /* power of the program's domains, in units of `work` watts */
    VALIDATE_JOULES,        /* energy of one run, in units of `work` joules */
    VALIDATE_WORK_PER_JOULE /* 1e9 work per joule */
};

struct validate_patch {
    uint64_t offset, value; /* a 64-bit word of the data; everything else is 0 */
};

/* A launch of a GPU program, run twice with different numbers of turns; the difference counts. */
struct validate_gpu {
    char *text;                         /* assembler with the arguments `data` (u64) and `turns` (u32); NULL = no GPU program */
    unsigned cores;                     /* cores of the GPU that take part; 0 = all */
    bool counts_all_threads;            /* validate_program.work is that of one GPU thread */
    bool stands_for_all;                /* the other cores do the same, so that rates are those of the whole GPU */
    unsigned threads_per_group, groups; /* groups: per core that takes part */
    uint32_t turns[2];
    uint64_t data_bytes; /* zero-filled; validate_program.patch writes into it */
};

/* A kernel of a unit's library, as one of those that make up an operation. */
struct validate_launch {
    char workload[128]; /* "gemm:1024x256x64,batch=1000" */
    char precision[8];
    char kernels[24];                 /* GPU: whose ("mlx@0.20.0"); "" = the library's own */
    double times;                     /* how often the operation contains it; negative: its time is subtracted */
    char unit[4];                     /* "cpu" or "amx"; "" = the GPU, or the Neural Engine */
    unsigned cores;                   /* of cpu and amx: P cores that share it; 0 = all of the chip */
    unsigned blocks;                  /* with cores = 0: one P core of each cluster instead, of so many clusters at most */
    bool attention_apart;             /* networks: attention is two products and a softmax over all heads */
    struct language_options language; /* of language models; the others have none */
};

#define VALIDATE_LAUNCHES 12

struct validate_program;

/* A size that is looked for: programs of several sizes run. The value is that of the largest one of `low` to `high`, in steps of
 * `step`, with which a piece of work takes at most `rise` times as long as with `low`. */
struct validate_search {
    bool (*build)(struct validate_program *program, unsigned size); /* writes the program anew; NULL = nothing is looked for */
    uint32_t filler[2];                                             /* instructions that `build` repeats */
    unsigned low, high, step;
    double rise;
    unsigned more; /* to be added to the size */
    double unit;   /* of the value, by one of the size */
};

#define VALIDATE_CODE_ADDR   UINT64_C(0x10000)
#define VALIDATE_DATA_ADDR   UINT64_C(0x1000000)
#define VALIDATE_MAX_THREADS 64

/* The program that a row describes. Each thread runs a copy in an address space of its own. */
struct validate_program {
    char chip[64]; /* id or alias in the chip database */
    enum validate_core core;
    unsigned threads; /* 0 = all cores of that kind */
    bool warm;        /* run once before, so that caches hold what they can */
    bool background;  /* E cores run at the clock that macOS gives to threads of background priority (chip: e_background_mhz) */
    bool moves;       /* threads move to clusters that the others leave idle (soc_runner.c) */

    char workload[64]; /* if not empty: a kernel of orchard's library ("gemm:256x256x256") runs instead of the code below */
    char precision[8];
    const char *note;  /* how it differs from the row ("our kernel instead of Accelerate's"), or NULL */
    const char *guess; /* what the source leaves open and had to be guessed ("the size"), or NULL */

    uint32_t *code; /* at VALIDATE_CODE_ADDR, entered at its first word; ends with Linux exit(0) */
    size_t words;
    uint64_t data_bytes; /* zero-filled, read and write, at VALIDATE_DATA_ADDR */
    struct validate_patch *patch;
    size_t patches;

    struct validate_gpu gpu;

    struct validate_launch launch[VALIDATE_LAUNCHES]; /* one after another, or one request to the Neural Engine */
    bool ane;                                         /* they run on the Neural Engine */
    bool slope;                                       /* ane: the time of the engine alone, of the first launch less the second */
    double idle_seconds;        /* ane: idle time before the request; GPU: before the burst; power: between requests */
    struct run_burst burst;     /* GPU, idle before: command buffers, and launches of each */
    unsigned launches;          /* not 0: these run instead of code or workload */
    bool submitted;             /* the time includes the way of a command buffer or request; otherwise it is that of the device */
    bool requests_apart;        /* Neural Engine: each launch is a request of its own, as often as it is repeated */
    bool beyond_caches;         /* nothing is left in the caches from the run before */
    char framework[32];         /* if not empty: the framework whose time per call and per byte is added ("mlx 0.5.0") */
    double framework_bytes;     /* bytes of operands and results, or of operands alone where results are copied out */
    double framework_out_bytes; /* bytes of results that are copied out */
    bool measures_overhead;     /* hardly anything but the framework's own time is in the row */
    char remark[160];           /* room for a note about the row */

    bool power;       /* joules count: watts, or work per joule */
    unsigned domains; /* power: a bit for each domain whose joules count; 0 = all */
    double celsius;   /* power: temperature of the die; 0 = that at which the chip file gives leakage */
    char set[2][48];  /* "KEY=VALUE" for the chip, such as the clock at which the row was measured; "" = none */

    struct validate_search search;
    struct validate_program *less; /* whose value is taken from this one's, and the difference counts `times`; NULL = none */
    double times;

    double work; /* work of one thread, in the unit that `measure` counts; of all threads with a workload */
    enum validate_measure measure;
};
void validate_program_free(struct validate_program *program);
/* The program as an ELF file, which the caller frees. with_data includes the patches unless they reach too far; those that are
 * not included are left to validate_program_patch, which writes them into the address space of the open program. */
uint8_t *validate_program_elf(const struct validate_program *program, bool with_data, size_t *bytes, struct orch_error *error);
bool validate_program_patch(const struct validate_program *program, struct mem_space *space);

struct validate_timing {
    double seconds; /* until the slowest thread is done */
    unsigned threads;
    double thread_seconds[VALIDATE_MAX_THREADS];
    double thread_cycles[VALIDATE_MAX_THREADS]; /* cycles of the core's clock */
    double joules[POWER_DOMAIN_COUNT];          /* of all threads, if the program asks for power */
    double overhead_seconds;                    /* part of `seconds` in submission, launch and waiting */
    double way_seconds;                         /* what the simulated way of the first request takes, in `seconds` or not */
    double parameters;                          /* relative standard deviation of the time, from its parameters */
    unsigned found;                             /* the size that was looked for */
    double less;                                /* the value of the program that is taken off */
};

struct validate_runner {
    /* False with the reason in *error; the row is then listed as not modelled. An exit code of ORCH_INTERRUPTED ends the
     * validation. */
    bool (*run)(void *context, const struct validate_program *program, struct validate_timing *result, struct orch_error *error);
    void *context;
    /* The chip of the program, valid until the next call; NULL when it cannot be opened. The member may be NULL: then rows are
     * not compared with a spreadsheet. */
    const struct chip *(*chip)(void *context, const struct validate_program *program);
};

/* The value that a timing means in the unit of the row. GPU programs count as one thread. */
double validate_value(const struct validate_program *program, const struct validate_timing *timing);

/* Time that a framework spends beside the device. Measured by rows that hold hardly anything else, see overhead.h. */
struct validate_overhead {
    const char *framework; /* as validate_program.framework */
    double call_us;        /* per call: building, submitting, waiting; 0: the simulated way of a request stands */
    double ns_per_kib,
        ns_per_kib_out;        /* per KiB of framework_bytes and framework_out_bytes. At most two of the three are not 0 */
    const char *rows, *source; /* ids of the rows that it was measured by, with blanks between; their source */
};
/* The one of the framework's machine, else of its version ("mlx 0.5.0, M1 Pro 16", "mlx 0.5.0"); NULL when there is none. */
const struct validate_overhead *validate_overhead_of(const char *framework);
/* Whether a name is a framework's own, or that of its version. */
bool validate_overhead_covers(const char *name, const char *framework);
size_t validate_overhead_count(void);
const struct validate_overhead *validate_overhead_at(size_t index);
double validate_overhead_seconds(const struct validate_overhead *overhead, double bytes, double out_bytes);

struct validation;

struct validation *validation_create(void);
void validation_free(struct validation *v);
bool validation_add_file(struct validation *v, const char *path, struct orch_error *error);
/* Adds a table in memory; `name` stands for the file name in ids and messages. */
bool validation_add_text(struct validation *v, const char *name, const char *text, size_t bytes, struct orch_error *error);
/* Keeps the first of every `n` rows of each table, for a quick look at all kinds of rows. */
void validation_keep_every(struct validation *v, uint64_t n);
/* Rows of MLX run the library's own kernels; without it kernels after MLX's, in the version of their table. Before a run or a
 * dump. */
void validation_run_own_kernels(struct validation *v);
/* Rows of whole language models are run as well; without it they are told to be left out. Before a run or a dump. */
void validation_run_language(struct validation *v);
/* Rows that were left out because nobody can read them (measurements.h), and what is wrong with one of them. */
size_t validation_skipped(const struct validation *v);
void validation_skipped_say(const struct validation *v, size_t index, char *text, size_t size);

/* Before a run: which rows values were taken from or chosen over (fitted.h). Without it, no row counts as fitted. */
bool validation_find_fitted(struct validation *v, const struct chip_db *chips, struct orch_error *error);

/* The list of these values and rows, after validation_find_fitted. */
void validation_write_fitted(const struct validation *v, FILE *out);
struct json_object *validation_fitted_json(const struct validation *v);

bool validation_run(struct validation *v, const struct validate_runner *runner, struct orch_error *error);
/* Told how many rows are done: from any thread, one call after another. `tell` may be NULL. */
struct validate_listener {
    void (*tell)(void *context, size_t done, size_t rows);
    void *context;
};
/* The same in `jobs` threads (at least 1), each with a runner of its own. The results do not depend on their number. */
bool validation_run_jobs(struct validation *v, const struct validate_runner *runners, unsigned jobs,
                         const struct validate_listener *listener, struct orch_error *error);

/* After a run: measures what each framework takes beside the device, written as lines of sim/prove/validate/overheads.inc. */
bool validation_measure_overheads(const struct validation *v, FILE *out, struct orch_error *error);

/* After a run: the spread of unfitted rows by unit and kind of work, written as lines of sim/run/residuals.inc. */
bool validation_fit_residuals(const struct validation *v, FILE *out, struct orch_error *error);
/* The same as factors of the predicted time in a list of objects; NULL when memory is out. */
struct json_object *validation_residuals_json(const struct validation *v, struct orch_error *error);
/* After a run: decides for every unfitted row whether it is inside the interval that the rows of all other sources would have
 * given it, which reports call coverage across sources. Rows without other sources are left out. */
bool validation_cross_validate(struct validation *v, struct orch_error *error);

/* The program of one row as an ELF file, as assembler text for a loop of the GPU, or as descriptors of the Neural Engine; the
 * caller frees it. NULL when there is no such row, when it is not modelled, and for other kernels of the libraries, for which
 * there is only a command (recipe.h). Descriptors are those for the row's chip with the overrides, which may be NULL. */
uint8_t *validation_dump(const struct validation *v, const char *id, const struct chip_db *chips,
                         const struct chip_overrides *overrides, size_t *bytes, struct orch_error *error);

/* Whether the tables have the columns of a list, separated by commas; NULL is fine. */
bool validation_check_groups(const struct validation *v, const char *group_by, struct orch_error *error);
/* Columns may be any column of the tables, separated by commas, or chip, file, level, part, work, framework. NULL means
 * "chip,source" in JSON; in text, sources, chips, frameworks and files one after another. */
bool validation_write_text(const struct validation *v, const char *group_by, FILE *out, struct orch_error *error);
/* Writes a table of all files and their units for a README; `version` says what made it. */
bool validation_write_markdown(const struct validation *v, const char *version, FILE *out, struct orch_error *error);
/* The document of `orchard validate --json`; the caller puts it. */
struct json_object *validation_json(const struct validation *v, const char *group_by, struct orch_error *error);

#endif
