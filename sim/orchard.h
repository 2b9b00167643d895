/**
 * @file orchard.h
 * @brief liborchard: simulated Apple Silicon chips for C programs.
 *
 * There are two ways in.
 *
 * Ask: everything that a verb of the command line does, with the same options, as an answer whose numbers and texts have names.
 * @code
 *     struct orchard_error error;
 *     struct orchard_answer *a = orchard_run(NULL, "gemm:512x512x512", (const char *[]){"unit=gpu", "chip=m2", NULL}, &error);
 *     if (!a)
 *         return fprintf(stderr, "%s\n", error.text);
 *     printf("%g s, %g J\n", orchard_answer_number(a, "seconds"), orchard_answer_number(a, "joules"));
 *     orchard_answer_free(a);
 * @endcode
 *
 * Enqueue: a chip with memory of your own and queues of its units.
 * @code
 *     struct orchard *o = orchard_open("m1-max", NULL, 0, &error);
 *     float *a, *b, *c;
 *     uint64_t ga = orchard_alloc(o, bytes, (void **)&a, &error), ...;
 *     fill a and b
 *     int job = orchard_enqueue(o, "amx", "gemm:256x256x256", &(struct orchard_launch){.buffer = {ga, gb, gc}}, &error);
 *     orchard_wait(o, &error);
 *     printf("%g s\n", orchard_seconds(o, job));
 *     orchard_close(o);
 * @endcode
 *
 * Times are simulated seconds unless a name says host; energies are joules. Lists of texts (words, options) end with NULL, and a
 * NULL list is empty. Texts and structs that functions return belong to the object they came from, unless stated otherwise. An
 * `error` argument may be NULL; what is in it counts only after a failure, which the return value tells. An object belongs to one
 * thread at a time; different threads may use different objects.
 */
#ifndef ORCHARD_H
#define ORCHARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ORCHARD_API __attribute__((visibility("default")))
#else
#define ORCHARD_API
#endif

/** What went wrong. */
struct orchard_error {
    int code;       /**< 2 wrong use or unreadable input, 3 not modelled, 4 the simulated program faulted, 70 internal */
    char text[512]; /**< one line for a person, without newline */
    bool words;     /**< the words of the question are wrong: the verb's synopsis says which it takes */
};

/** The version of the library and its models, as results carry it. Static storage. */
ORCHARD_API const char *orchard_version(void);

/* For the main function of a program, once: SIGINT, SIGTERM and SIGHUP delete the half-written files of the library, write one
 * line to standard error and call end(128 + signal), which must not return and must be async-signal-safe, such as _exit. Without
 * this call the library touches no signal. */
ORCHARD_API void orchard_end_on_signals(void (*end)(int exit_code));

/** @name Verbs and options as data */
/** @{ */

/** An option of a verb. */
struct orchard_option {
    const char *name;     /**< "unit"; NULL ends a table */
    char letter;          /**< short form on the command line, 0 = none */
    const char *argument; /**< a word for its value ("FILE"); in brackets ("[asm]") it may be left out; NULL = a switch, which has
                               none */
    bool repeat;          /**< may be given more than once: all values count */
    const char *text;     /**< one line of help */
};

/** What can be asked. */
struct orchard_verb {
    const char *name;                     /**< "run" */
    const char *synopsis;                 /**< the words that it takes, a form a line */
    const char *summary;                  /**< one line */
    const char *text;                     /**< a paragraph, lines as they shall be printed; NULL = none */
    const char *examples;                 /**< command lines, separated by newlines */
    const struct orchard_option *options; /**< of this verb alone; NULL = none */
    const char *more_title, *more;        /**< a further chapter of help; NULL = none */
};

/** The number of verbs. */
ORCHARD_API size_t orchard_verb_count(void);
/** A verb by its place, in the order in which help lists them; NULL past the last. */
ORCHARD_API const struct orchard_verb *orchard_verb_at(size_t index);
/**
 * A verb by its name.
 * @return NULL when there is none; the error then suggests the nearest.
 */
ORCHARD_API const struct orchard_verb *orchard_verb_find(const char *name, struct orchard_error *error);
/** The options that every verb takes (chip, set, db, json, threads, seed, quiet), ended by a row without a name. */
ORCHARD_API const struct orchard_option *orchard_common_options(void);
/**
 * The candidate that may have been meant by a word.
 * @param candidates ends with NULL
 * @return one of the candidates; NULL when none is near
 */
ORCHARD_API const char *orchard_nearest(const char *word, const char *const *candidates);

/** @} */
/** @name Asking */
/** @{ */

/** What happens on the simulated time line. */
enum orchard_event_kind {
    ORCHARD_RUN_BEGIN, /**< texts: chip, workload, unit, precision ... */
    ORCHARD_LAUNCH,    /**< an operator is submitted */
    ORCHARD_OP_BEGIN,
    ORCHARD_OP_END,      /**< values: seconds, cycles, macs, flops, repeats, stalls.REASON, counters.NAME, activity.NAME */
    ORCHARD_TRANSFER,    /**< values: bytes, seconds; texts: from, to */
    ORCHARD_SAMPLE,      /**< a point of a series (power, temperature, clock ...): `what` is its name; value: value */
    ORCHARD_CLOCK,       /**< values: from_mhz, to_mhz, volts; text: reason */
    ORCHARD_FAULT,       /**< of the simulated program; texts: text; values: pc, address */
    ORCHARD_RUN_END,     /**< texts: status, error; values: every number of the run document */
    ORCHARD_EVENT_KINDS, /**< how many there are */
};

/** A number by name; unit "" = none. */
struct orchard_quantity {
    const char *name, *unit;
    double value; /**< NaN = not known */
};
/** A text by name. */
struct orchard_text {
    const char *name, *text; /**< text NULL = does not apply */
};

/** One event. It and everything it points to is valid during the callback only. */
struct orchard_event {
    enum orchard_event_kind kind;
    const char *kind_name; /**< "op_end" */
    uint64_t run;          /**< 1, 2, 3 ...: which run of the question (a chip each) */
    double seconds;        /**< simulated time since the begin of the run */
    const char *what;      /**< operator, series, transfer or fault; NULL = does not apply */
    const char *part;      /**< of the chip: "gpu", "dram" ...; NULL = does not apply */
    unsigned instance;     /**< which one of that part, from 0 */
    const struct orchard_text *text;
    size_t texts;
    const struct orchard_quantity *value;
    size_t values;
};
/** A value of an event by name; NaN when it has none. */
ORCHARD_API double orchard_event_number(const struct orchard_event *event, const char *name);
/** A text of an event by name; NULL when it has none. */
ORCHARD_API const char *orchard_event_text(const struct orchard_event *event, const char *name);

/** How far the work is: of the host, not of the simulated time. */
struct orchard_progress {
    const char *line;    /**< for a person; NULL = the work is over, or this part of it */
    double fraction;     /**< of what a run does now, which `line` names, 0 to 1; NaN = not known */
    double done, all;    /**< points, chips, variants ...; all 0 = not known */
    double host_seconds; /**< since the work began; NaN = not known */
};

/** What a remark is. */
enum orchard_remark {
    ORCHARD_NOTE,   /**< said in passing; none come with the option "quiet" */
    ORCHARD_WARNING /**< bears on the answer */
};

/**
 * How questions are asked: whatever is zero is not wanted.
 * @code
 *     static void on_event(void *context, const struct orchard_event *e)
 *     {
 *         if (e->kind == ORCHARD_OP_END)
 *             *(double *)context += orchard_event_number(e, "seconds");
 *     }
 *     double sum = 0;
 *     struct orchard_session session = {.options = (const char *[]){"db=runs.db", NULL}, .context = &sum, .event = on_event};
 * @endcode
 * Callbacks come during orchard_ask(), one after another, possibly from another thread; they must not ask again.
 */
struct orchard_session {
    const char *const *options; /**< for every question, before its own: "db=FILE", "seed=7", "chip=m2", "quiet" ... */
    FILE *text;                 /**< what the command line shows goes here; the document instead with the option "json" */
    FILE *program_output;       /**< what simulated programs write goes here */
    bool color;                 /**< with escape sequences of a terminal in `text` */
    bool dashes;                /**< errors and remarks spell options as the command line does: --unit instead of unit */
    const char *program;        /**< path of an orchard binary, for scripts that start it (sweep with slurm) */
    const char *revision;       /**< of the source that the caller was built from, for tables that say what made them */
    void *context;              /**< for the callbacks */
    void (*remark)(void *context, enum orchard_remark kind, const char *text);
    void (*event)(void *context, const struct orchard_event *event); /**< runs and replays; not of sweeps and validations */
    /** of whatever takes long: runs, sweeps, searches, tuning, calibrations, validations, regressions */
    void (*progress)(void *context, const struct orchard_progress *progress);
};

struct orchard_answer;

/**
 * Asks what a verb of the command line would.
 * @code
 *     orchard_ask(&session, "chips", (const char *[]){"diff", "m1", "m2", NULL}, NULL, &answer, &error);
 * @endcode
 * @param session  NULL = a session of zeros
 * @param verb     "run"; see orchard_verb_at()
 * @param words    the words after the verb: {"gemm:512x512x512", NULL}
 * @param options  "NAME=VALUE", a switch "NAME": {"unit=gpu", "chip=m1,m2", "set=gpu_cores=10", "cold", NULL}. Of workloads
 * joined by "+", each may have options of its own: a text "+" in the list begins those of the first, another "+" those of the
 * second ...: {"chip=m2", "+", "entry=a", "grid=64", "+", "entry=b", "grid=32", NULL}
 * @param answer   where the answer goes, to be freed by orchard_answer_free(); NULL = not wanted (then only the text counts).
 *                 After an error it is NULL, unless there is an answer in spite of it.
 * @param error    what went wrong; cleared first, and left so when the answer is that a check does not hold
 * @return 0 done; 1 done, and the check does not hold or the goal is not reached; else the code of the error
 */
ORCHARD_API int orchard_ask(const struct orchard_session *session, const char *verb, const char *const *words,
                            const char *const *options, struct orchard_answer **answer, struct orchard_error *error);
/**
 * Whether options are well formed: names, and values of the common ones. Nothing runs.
 * @param verb NULL = only common options are allowed
 */
ORCHARD_API bool orchard_check_options(const struct orchard_session *session, const char *verb, const char *const *options,
                                       struct orchard_error *error);

/** @} */
/**
 * @name Common questions
 * Thin covers of orchard_ask(): `options` as there. Each returns the answer, to be freed by orchard_answer_free(), or NULL and
 * an error. Where the verb checks something, orchard_answer_code() tells whether it holds.
 */
/** @{ */

/**
 * Simulates one workload, or several at the same time ("stream-triad:64M[unit=gpu] + gemm:512x512x512[unit=amx]").
 * The answer is the run document; with several chips ("chip=m1,m2") a list of them.
 */
ORCHARD_API struct orchard_answer *orchard_run(const struct orchard_session *session, const char *workload,
                                               const char *const *options, struct orchard_error *error);
/**
 * The same workload at many settings.
 * @param lists what varies: {"gpu_cores=8,10", "memory_peak_GBps=60:200:5", NULL}
 */
ORCHARD_API struct orchard_answer *orchard_sweep(const struct orchard_session *session, const char *workload,
                                                 const char *const *lists, const char *const *options,
                                                 struct orchard_error *error);
/**
 * What would have to change to reach a goal; code 1 = it is not reached within the ranges.
 * @param goal "seconds<0.01"
 * @param vary {"gpu_max_mhz=1000:2000", NULL}
 */
ORCHARD_API struct orchard_answer *orchard_whatif(const struct orchard_session *session, const char *workload, const char *goal,
                                                  const char *const *vary, const char *const *options,
                                                  struct orchard_error *error);
/** Simulates a workload and writes what happens to a trace (JSON lines when `path` ends in .jsonl); answers as orchard_run(). */
ORCHARD_API struct orchard_answer *orchard_trace_record(const struct orchard_session *session, const char *workload,
                                                        const char *path, const char *const *options,
                                                        struct orchard_error *error);
/** Asks what the launches of a trace would do on the chip of the options. */
ORCHARD_API struct orchard_answer *orchard_trace_replay(const struct orchard_session *session, const char *path,
                                                        const char *const *options, struct orchard_error *error);
/** Scores the model against tables of measurements (paths of CSV files). */
ORCHARD_API struct orchard_answer *orchard_validate(const struct orchard_session *session, const char *const *tables,
                                                    const char *const *options, struct orchard_error *error);
/**
 * Writes an HTML page about recorded runs, or what the options say instead (sweep, validation, regression).
 * @param runs numbers or uids, as texts; an empty list is the last one
 * @return false and an error when there is no page
 */
ORCHARD_API bool orchard_report(const struct orchard_session *session, const char *path, const char *const *runs,
                                const char *const *options, struct orchard_error *error);

/** @} */
/**
 * @name Answers
 * An answer is a document, the one that the command line prints with --json. A path names a place in it: members by name with
 * dots between, elements of lists by number in brackets. "seconds", "stalls.array", "joules_by.gpu", "placement[0].unit",
 * "[1].seconds" (of the second chip), "values.gpu.launch_us.unit" (dots within a name need no care).
 */
/** @{ */

/** Frees the answer and every text it gave out. NULL is allowed. */
ORCHARD_API void orchard_answer_free(struct orchard_answer *answer);
/** 0, or 1 when what was checked does not hold. */
ORCHARD_API int orchard_answer_code(const struct orchard_answer *answer);
/** Whether there is something at the path, null included. */
ORCHARD_API bool orchard_answer_has(const struct orchard_answer *answer, const char *path);
/** The number at the path, true as 1; NaN when there is none or it does not apply. */
ORCHARD_API double orchard_answer_number(const struct orchard_answer *answer, const char *path);
/** The text at the path; NULL when there is none. Hashes and checksums are texts ("0x..."). */
ORCHARD_API const char *orchard_answer_text(const struct orchard_answer *answer, const char *path);
/** The number of members or elements at the path ("" = of the whole answer); 0 when it has none. */
ORCHARD_API size_t orchard_answer_count(const struct orchard_answer *answer, const char *path);
/** The name of a member of what is at the path; NULL past the last, and for lists. */
ORCHARD_API const char *orchard_answer_key(const struct orchard_answer *answer, const char *path, size_t index);
/** The whole answer as JSON; NULL when the verb gives no document. */
ORCHARD_API const char *orchard_answer_json(struct orchard_answer *answer);
/** What has no document: listings, tables, exported rows. Empty when the session has a `text`, which then got it. */
ORCHARD_API const char *orchard_answer_output(const struct orchard_answer *answer);

/** @} */
/**
 * @name Chips: what is known, and from where
 * @code
 *     struct orchard_chip *chip = orchard_chip_open(chips, "m2-pro", NULL, &error);
 *     if (chip && orchard_chip_value(chip, "gpu_max_mhz", &v))
 *         printf("%g %s (%s: %s), +-%g %%\n", v.number, v.unit, v.kind, v.source, 100 * v.uncertainty);
 * @endcode
 */
/** @{ */

struct orchard_chips;
struct orchard_chip;

/** One characteristic of a chip. Texts belong to the chip. */
struct orchard_value {
    const char *key, *unit, *description;
    const char *kind;                   /**< vendor-spec, measured, reverse-engineered, inferred or guess */
    const char *source, *origin, *note; /**< who says so; the file it came from; NULL or "" = none */
    bool known;                         /**< false: nobody has said yet, though the source may say why */
    double number;                      /**< NaN for texts and lists */
    double uncertainty;                 /**< relative, one standard deviation: 0.05 is 5 % */
    const char *text;                   /**< the value as JSON, texts without quotes; "" when not known */
    const double *list;                 /**< of a list */
    size_t list_count;
};

/** Opens the database of chips; NULL and an error when its files are broken. Close with orchard_chips_close(). */
ORCHARD_API struct orchard_chips *orchard_chips_open(struct orchard_error *error);
/** Closes the database; its chips must be closed. NULL is allowed. */
ORCHARD_API void orchard_chips_close(struct orchard_chips *chips);
/** The number of chips. */
ORCHARD_API size_t orchard_chips_count(const struct orchard_chips *chips);
/** The id of a chip by its place; NULL past the last. */
ORCHARD_API const char *orchard_chips_id(const struct orchard_chips *chips, size_t index);
/**
 * Opens a chip.
 * @param name id or alias
 * @param sets values to suppose instead: {"gpu_cores=12", NULL}
 * @return to be closed by orchard_chip_close(), before the chips are; NULL and an error when there is no such chip
 */
ORCHARD_API struct orchard_chip *orchard_chip_open(struct orchard_chips *chips, const char *name, const char *const *sets,
                                                   struct orchard_error *error);
/** Closes the chip and frees every text and list that came from it. NULL is allowed. */
ORCHARD_API void orchard_chip_close(struct orchard_chip *chip);
/** The id: "m1_max_8p2e_32g". */
ORCHARD_API const char *orchard_chip_id(const struct orchard_chip *chip);
/** The name that people use: "M1 Max". */
ORCHARD_API const char *orchard_chip_name(const struct orchard_chip *chip);
/** The number of keys, the same for every chip. */
ORCHARD_API size_t orchard_chip_value_count(const struct orchard_chip *chip);
/** A value by its place; false past the last. */
ORCHARD_API bool orchard_chip_value_at(const struct orchard_chip *chip, size_t index, struct orchard_value *value);
/** A value by its key ("gpu_max_mhz", "amx.z_latency_cycles"); false when there is no such key. */
ORCHARD_API bool orchard_chip_value(const struct orchard_chip *chip, const char *key, struct orchard_value *value);

/** @} */
/**
 * @name GPU kernels from source
 * OpenCL C and Metal, compiled by clang 16 and this library; text in LLVM's representation needs no clang. What was compiled
 * before comes from a cache. Kernels belong to no chip, do not change, and may be used by several threads.
 * @code
 *     struct orchard_kernel *k = orchard_compile("scale.cl", source, (const char *[]){"define=N=4", NULL}, &error);
 *     const struct orchard_kernel_value value[] = {{.buffer = x}, {.buffer = y}, {.number = 2.5}, {.integer = 1024}};
 *     const struct orchard_kernel_launch launch = {.grid = {1024}, .group = {64}, .value = value, .values = 4};
 *     int job = orchard_enqueue_kernel(o, k, &launch, &error);
 * @endcode
 */
/** @{ */

/** A compiled kernel. */
struct orchard_kernel;

/**
 * Compiles a kernel.
 * @param name    "k.metal", "k.cl" or "k.ll": its suffix says the language, messages name it
 * @param source  the source text; NULL = what is in the file of that name
 * @param options as for the verb compile: {"entry=k", "define=N=4", "include=DIR", "constant=flag=1", "optimise=2", "fast-math",
 *                "fresh", NULL}
 * @return to be freed by orchard_kernel_free(); NULL and an error (2 wrong source, 3 not supported), with file and line
 */
ORCHARD_API struct orchard_kernel *orchard_compile(const char *name, const char *source, const char *const *options,
                                                   struct orchard_error *error);
/** Frees the kernel and every text it gave out. NULL is allowed. */
ORCHARD_API void orchard_kernel_free(struct orchard_kernel *kernel);

/** What was compiled. */
struct orchard_kernel_info {
    const char *name; /**< of the kernel */
    const void *code; /**< machine code */
    size_t code_bytes;
    unsigned registers;   /**< that a thread needs, of 16 bits */
    unsigned spills;      /**< stores to the stack that lack of registers made necessary */
    unsigned stack_bytes; /**< of a thread */
    unsigned threadgroup_bytes;
    uint32_t group[3]; /**< threads of a threadgroup, where the source states them; else zeros */
    size_t arguments;
    const char *warnings; /**< of clang, a line each; "" = none */
    bool cached;          /**< the cache had it */
};
/** Tells what was compiled. */
ORCHARD_API void orchard_kernel_info(const struct orchard_kernel *kernel, struct orchard_kernel_info *info);

/** What an argument is. */
enum orchard_argument_kind {
    ORCHARD_ARGUMENT_NUMBER,     /**< passed by value: of a vector or structure, each number inside is an argument */
    ORCHARD_ARGUMENT_BUFFER,     /**< in device memory */
    ORCHARD_ARGUMENT_CONSTANT,   /**< a buffer in constant memory */
    ORCHARD_ARGUMENT_THREADGROUP /**< threadgroup memory */
};
/** An argument, in the order of the source. */
struct orchard_kernel_argument {
    const char *name;
    enum orchard_argument_kind kind;
    const char *type; /**< of a number or an element: "f32", "u16" ... */
};
/** An argument by its place; false past the last. */
ORCHARD_API bool orchard_kernel_argument(const struct orchard_kernel *kernel, size_t index,
                                         struct orchard_kernel_argument *argument);

/** The value of an argument; only the member that its kind wants is looked at. */
struct orchard_kernel_value {
    uint64_t buffer; /**< BUFFER, CONSTANT: an address in memory of orchard_alloc(); it reaches to the end of that */
    double number;   /**< NUMBER, and CONSTANT without a buffer: of a floating-point type */
    int64_t integer; /**< the same, of an integer type; THREADGROUP: bytes */
};
/** A launch of a kernel. */
struct orchard_kernel_launch {
    uint32_t grid[3];  /**< threads in all; 0 behind the first counts as 1 */
    uint32_t group[3]; /**< threads of a threadgroup; zeros = as the source states */
    const struct orchard_kernel_value *value;
    size_t values;    /**< one for each argument */
    bool values_only; /**< executed, not timed */
    bool timing_only; /**< timed; what buffers hold afterwards is not defined */
    bool sanitize;    /**< races, accesses out of bounds, barrier divergence and reads before their wait are faults */
};

/** @} */
/** @name Enqueuing on a chip of one's own */
/** @{ */

/**
 * One simulated chip with its memory. Memory is unified: a buffer has one simulated address for every unit and one host pointer
 * for you. Jobs on one unit run in the order in which they were enqueued.
 */
struct orchard;

/**
 * Opens a chip by id or alias.
 * @param sets      `set_count` values to suppose instead, "KEY=VALUE"
 * @return to be closed by orchard_close(); NULL and an error when there is no such chip or value
 */
ORCHARD_API struct orchard *orchard_open(const char *chip, const char *const *sets, size_t set_count,
                                         struct orchard_error *error);
/** Frees the chip, its buffers and jobs. NULL is allowed. */
ORCHARD_API void orchard_close(struct orchard *orchard);

/**
 * A zero-filled buffer in unified memory, 16 KiB aligned. What does not fit the memory of the machine, the largest that is sold
 * with the chip, is refused.
 * @param host where to read and write it between jobs; may be NULL
 * @return its simulated address, 0 and an error on failure; to be freed by orchard_free() or orchard_close()
 */
ORCHARD_API uint64_t orchard_alloc(struct orchard *orchard, uint64_t bytes, void **host, struct orchard_error *error);
/** Gives a buffer back; its address may be handed out again. False when none in use begins there. */
ORCHARD_API bool orchard_free(struct orchard *orchard, uint64_t address);

/** Memory of the machine. */
struct orchard_memory {
    uint64_t capacity_bytes;
    uint64_t used_bytes, peak_bytes; /**< buffers in use: now and at most */
    int pressure;                    /**< 0 nominal, 1 warn, 2 critical */
};
/** How much memory is in use. */
ORCHARD_API void orchard_memory(const struct orchard *orchard, struct orchard_memory *memory);

#define ORCHARD_BUFFERS 12
/** How a kernel is launched; all zero is a launch on generated operands. */
struct orchard_launch {
    /** Operands of a kernel in its documented order (gemm: A, B, C; gemv: A, x, y); 0 = the library allocates and fills them.
     *  On the ane they are fp16 elements in the order of the operator's shape, weights included; programs: inputs, then
     *  outputs. */
    uint64_t buffer[ORCHARD_BUFFERS];
    const char *precision; /**< NULL = f32, on the ane f16 */
    uint64_t seed;         /**< of operands that the library fills */
    bool timing_only;      /**< no values are computed */
};

/**
 * Adds a kernel to the queue of a unit.
 * @param unit     cpu, amx, gpu or ane
 * @param workload "KERNEL:SHAPE", on the ane also a program file
 * @param launch   NULL = all zero
 * @return the number of the job, from 0; -1 and an error when the chip cannot run it
 */
ORCHARD_API int orchard_enqueue(struct orchard *orchard, const char *unit, const char *workload,
                                const struct orchard_launch *launch, struct orchard_error *error);
/**
 * Adds a call of a function in an AArch64 ELF file to the queue of a CPU core.
 * @param entry name of the function; NULL = the program's start
 * @param args  `arg_count` arguments in the forms of the option "args" of the verb run
 * @return as orchard_enqueue()
 */
ORCHARD_API int orchard_enqueue_program(struct orchard *orchard, const char *elf_path, const char *entry, const char *const *args,
                                        size_t arg_count, struct orchard_error *error);
/**
 * Adds a launch of a compiled kernel to the queue of the GPU. The kernel may be freed as soon as this returns.
 * @return as orchard_enqueue()
 */
ORCHARD_API int orchard_enqueue_kernel(struct orchard *orchard, const struct orchard_kernel *kernel,
                                       const struct orchard_kernel_launch *launch, struct orchard_error *error);
/** Runs everything enqueued; false and an error when a job fails. */
ORCHARD_API bool orchard_wait(struct orchard *orchard, struct orchard_error *error);

/** Simulated seconds of a finished job; NaN when there is no such job. */
ORCHARD_API double orchard_seconds(const struct orchard *orchard, int job);
/** Joules of a finished job; NaN when there is no such job or no energy is known. */
ORCHARD_API double orchard_joules(const struct orchard *orchard, int job);
/** A counter of a finished job, by its name in "counters" of the run document; NaN when there is none. */
ORCHARD_API double orchard_counter(const struct orchard *orchard, int job, const char *name);

/** @} */

#ifdef __cplusplus
}
#endif
#endif
