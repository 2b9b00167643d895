/* What decides the answer of a run, as the event that begins it: equal events have equal answers. */
#include "sim/base/checksum.h"
#include "sim/run/run_internal.h"
#include "sim/run/run_version.h"
#include "sim/workload/cpu/program_args.h"

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

/* Every option that decides the answer, as JSON with sorted keys. */
static void write_options(struct run *run)
{
    const struct run_request *const q = run->request;
    char uncertainty[32] = "";
    uint64_t args = CHECKSUM_START;
    if (q->uncertainty)
        snprintf(uncertainty, sizeof uncertainty, ",\"uncertainty\":%u", q->uncertainty->runs);
    for (size_t i = 0; i < q->arg_count; i++)
        args = hash_argument(args, q->args[i]);
    snprintf(run->options, sizeof run->options,
             "{\"args\":\"%016" PRIx64 "\",\"cold\":%s,\"core\":%d,\"cores\":%u,\"entry\":\"%.120s\",\"home\":\"%s\",\"memory\":%"
             "u,\"repeat\":%u,\"sanitize\":%s,\"skip\":%u,\"others\":%u%s%.160s%s%s}",
             args, q->cold ? "true" : "false", (int)q->core_choice, run_copies(run), q->entry ? q->entry : "",
             q->home ? q->home : "process", q->memory_gib, run_repeats(run), q->sanitize ? "true" : "false", q->skip_cores,
             q->other_cores, q->fitted ? ",\"fitted\":\"" : "", q->fitted ? q->fitted : "", q->fitted ? "\"" : "", uncertainty);
}

static const char *detail_name(const struct run *run)
{
    const struct run_request *const q = run->request;
    if (run_is_operator(q))
        return "op";
    return !run->kind->may_sample ? "instr" : q->detail ? q->detail : "auto";
}

void run_fill_begin(struct run *run)
{
    const struct run_request *const q = run->request;
    snprintf(run->program_hash, sizeof run->program_hash, "%016" PRIx64, run->kind->hash(run));
    snprintf(run->chip_hash, sizeof run->chip_hash, "%016" PRIx64, chip_hash(q->chip));
    write_options(run);
    run->begin = (struct event_run_begin){
        .workload = q->workload,
        .chip_id = chip_id(q->chip),
        .chip_hash = run->chip_hash,
        .chip_modified = chip_modified(q->chip),
        .program_name = run->program_name,
        .program_kind = run->kind->program_kind,
        .program_hash = run->program_hash,
        .unit = orch_part_name(run->kind->part),
        .precision = run->kind->precision ? run->kind->precision(run) : NULL,
        .detail = detail_name(run),
        .mode = mode_name(run_is_operator(q) ? RUN_TIMING : q->mode),
        .options = run->options,
        .version = run_model_version(),
        .seed = q->seed,
        .host = "local",
    };
}
