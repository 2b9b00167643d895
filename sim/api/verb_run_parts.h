/* Several workloads of one run, each with options of its own: "A --entry a + B --entry b". GPU sources become kernels in a row.
 */
#ifndef ORCHARD_SIM_API_VERB_RUN_PARTS_H
#define ORCHARD_SIM_API_VERB_RUN_PARTS_H

#include "sim/api/verb_compile.h"
#include "sim/compile/kernel_row.h"
#include "sim/scenario/together.h"

/* The options that each workload may have. Ends with NULL. */
extern const char *const verb_run_part_options[];

/* What the options of one workload say; the texts stay with the arguments. */
struct verb_run_part {
    struct compile_request source;
    struct kernel_launch launch;
    const char *entry;
    const char **args;
    size_t arg_count;
};
struct verb_run_parts {
    unsigned count; /* 0 = the options are those of all workloads */
    struct verb_run_part part[TOGETHER_PARTS];
    struct kernel_step step[TOGETHER_PARTS];
    char *storage; /* texts of steps */
};

/* Reads entry, args, and options of compiling and launching into what a run is asked, which then points to `part`: as far as they
 * hold for all workloads. */
bool verb_run_common_part(const struct api_args *args, struct verb_run_part *part, struct run_request *request,
                          struct orch_error *error);
void verb_run_part_free(struct verb_run_part *part);

/* Reads what `text` asks for besides `request`, which holds for all workloads. When all of them are GPU sources they become steps
 * of the request. */
bool verb_run_parts_read(const struct api_args *args, const char *text, bool traced, struct run_request *request,
                         struct verb_run_parts *parts, struct orch_error *error);
/* Gives each workload what its options say. */
void verb_run_parts_apply(const struct verb_run_parts *parts, struct together_part *part, unsigned count);
void verb_run_parts_free(struct verb_run_parts *parts);

/* Reads the options "input" and "kernel". *list (from malloc) holds both. */
bool verb_run_lists(const struct api_args *args, struct run_request *request, const char ***list, struct orch_error *error);
/* Refuses words that are no workload: none, or "gemm 512 512 512", which is a kernel and its shape in several words. */
int verb_run_wrong_words(struct api_context *context, int words, const char *const *word);
/* Joins "A", "+", "B" ... into one text: a shell makes several words of them. */
bool verb_run_join_words(int words, const char *const *word, char **text);
/* For the list of options: what was before. */
#define VERB_RUN_BEFORE_OPTIONS                                                                                                  \
    {"evict", 0, NULL, false, "empty the caches before each repetition; includes " ORCH_OPTION("cold")},                         \
        {"cold", 0, NULL, false, "start with empty caches; without it one untimed warm-up comes first"},                         \
        {"idle", 0, "SECONDS", false,                                                                                            \
         "GPU, ane: idle for so long after the warm-up, so that it has to wake up; a GPU begins at its base clock"},             \
    {                                                                                                                            \
        "burst", 0, "BxL", false,                                                                                                \
            "GPU, with " ORCH_OPTION("idle") ": B command buffers one after another, of L launches each; the fastest counts"     \
    }

/* From where a chip can be opened at another clock. */
struct verb_run_source {
    struct chip_overrides sets;
    struct run_source from;
};
void verb_run_set_source(const struct api_common *common, const struct chip_db *chips, struct verb_run_source *source,
                         struct run_request *request);

/* Reads the options "mode", "core", "buffers" and "burst". */
bool verb_run_choices(const struct api_args *args, struct run_request *request, struct orch_error *error);

#endif
