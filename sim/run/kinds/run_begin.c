/* What decides the answer of a run, as the event that begins it: equal events have equal answers. */
#include "sim/base/checksum.h"
#include "sim/base/json_out.h"
#include "sim/run/learned.h"
#include "sim/run/run_internal.h"
#include "sim/run/run_version.h"
#include "sim/workload/cpu/program_args.h"
#include "sim/workload/cpu/program_world.h"

#include <inttypes.h>
#include <string.h>

static const char *mode_name(enum run_mode mode)
{
    return mode == RUN_FUNCTIONAL ? "functional" : mode == RUN_TIMING ? "timing" : "full";
}

/* The text of an argument and, where it names an input file, what is in the file. A file that cannot be read is told when
 * the program is opened. */
static uint64_t hash_argument(uint64_t h, const char *text)
{
    struct program_arg arg;
    struct orch_error unused;
    h = checksum_add(h, text, strlen(text) + 1);
    if ((strncmp(text, "in:", 3) == 0 || strncmp(text, "inout:", 6) == 0) && program_arg_parse(text, &arg, &unused)) {
        h = checksum_add(h, arg.array.data, arg.array.bytes);
        program_arg_release(&arg);
    }
    return h;
}

static uint64_t hash_arguments(const struct run_request *q)
{
    uint64_t h = CHECKSUM_START;
    for (size_t i = 0; i < q->arg_count; i++)
        h = hash_argument(h, q->args[i]);
    return h;
}

/* Only what was given: runs of before stay equal. */
static void write_program_options(json_object *o, const struct run_request *q)
{
    char text[20];
    snprintf(text, sizeof text, "%016" PRIx64, q->world ? program_world_hash(q->world, CHECKSUM_START) : 0);
    if (q->world)
        json_add_text(o, "world", text);
    if (q->thread_cores)
        json_add_count(o, "thread_cores", q->thread_cores);
    if (q->max_instructions)
        json_add_count(o, "max_instructions", q->max_instructions);
    if (q->returns)
        json_add_text(o, "returns", q->returns);
}

/* Every option that decides the answer. Databases find runs by this text: names and their order stay. */
static bool write_options(struct run *run)
{
    const struct run_request *const q = run->request;
    char args[20];
    json_object *const o = json_object_new_object();
    snprintf(args, sizeof args, "%016" PRIx64, hash_arguments(q));
    json_add_text(o, "args", args);
    json_add_bool(o, "cold", q->cold);
    json_add_count(o, "core", q->core_choice);
    json_add_count(o, "cores", run_copies(run));
    json_add_text(o, "entry", q->entry ? q->entry : "");
    json_add_text(o, "home", q->home ? q->home : "process");
    json_add_count(o, "memory", q->memory_gib);
    json_add_count(o, "repeat", run_repeats(run));
    json_add_bool(o, "sanitize", q->sanitize);
    json_add_count(o, "skip", q->skip_cores);
    json_add_count(o, "others", q->other_cores);
    write_program_options(o, q);
    if (q->evict)
        json_add_bool(o, "evict", true);
    if (q->profile) /* the same answer, but only such a run has a profile to be found again */
        json_add_bool(o, "profile", true);
    if (q->one_buffer)
        json_add_text(o, "buffers", "one");
    if (q->step_buffers && run->kind == &run_kind_gpu_row)
        json_add_text(o, "buffers", "each step");
    if (q->idle_s > 0)
        json_add_number(o, "idle", q->idle_s);
    if (q->burst.buffers || q->burst.launches) {
        const unsigned both[] = {q->burst.buffers, q->burst.launches};
        snprintf(args, sizeof args, "%ux%u", both[0], both[1]);
        json_add_text(o, "burst", args);
    }
    if (q->kernels)
        json_add_text(o, "kernels", q->kernels);
    if (q->policy)
        json_add_text(o, "policy", q->policy);
    if (q->learned && q->policy && strcmp(q->policy, RUN_NETWORK_POLICY_PREDICTIVE) == 0) {
        char hash[CONTENT_HASH_SIZE];
        learned_hash(q->learned, hash);
        json_add_text(o, "learned", hash);
    }
    if (q->fitted)
        json_add_text(o, "fitted", q->fitted);
    if (q->uncertainty)
        json_add_count(o, "uncertainty", q->uncertainty->runs);
    run->options = json_line(o);
    return run->options != NULL;
}

static const char *detail_name(const struct run *run)
{
    const struct run_request *const q = run->request;
    if (run_is_operator(q))
        return "op";
    return !run->kind->may_sample ? "instr" : q->detail ? q->detail : "auto";
}

bool run_fill_begin(struct run *run, struct orch_error *error)
{
    const struct run_request *const q = run->request;
    if (!q->inner || !q->arrays) /* a step of a decoder is part of a run that has one */
        snprintf(run->program_hash, sizeof run->program_hash, "%016" PRIx64, run->kind->hash(run));
    if (!q->inner) { /* both are for listeners alone */
        snprintf(run->chip_hash, sizeof run->chip_hash, "%016" PRIx64, chip_hash(q->chip));
        if (!write_options(run))
            return orch_no_memory(error);
    }
    run->begin = (struct event_run_begin){
        .workload = q->workload,
        .chip_id = chip_id(q->chip),
        .chip_hash = run->chip_hash,
        .chip_modified = chip_modified(q->chip),
        .program_name = run->program_name,
        .program_kind = run->kind->program_kind,
        .program_hash = run->program_hash,
        .unit = run_kind_unit(run->kind),
        .precision = run->kind->precision ? run->kind->precision(run) : NULL,
        .detail = detail_name(run),
        .mode = mode_name(run_is_operator(q) ? RUN_TIMING : q->mode),
        .options = run->options,
        .version = run_model_version(),
        .seed = q->seed,
        .host = "local",
    };
    chip_number(q->chip, "gpu_cores", &run->begin.gpu_cores, NULL);
    return true;
}
