#include "sim/run/run_internal.h"
#include "sim/run/run_version.h"

#include "sim/checksum.h"
#include "sim/cli/suggest.h"
#include "sim/program_args.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

double run_host_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#define FILE_MAX  (UINT64_C(1) << 30)

static bool read_workload(struct run *run, struct orch_error *error)
{
    const char *path = run->request->workload;
    struct stat st;
    FILE *f = fopen(path, "rb");
    if (!f)
        return orch_fail(error, ORCH_USAGE, "%s: %s", path, strerror(errno));
    bool ok = fstat(fileno(f), &st) == 0 && S_ISREG(st.st_mode);
    if (!ok)
        orch_fail(error, ORCH_USAGE, "%s: not a file", path);
    else if ((uint64_t)st.st_size > FILE_MAX)
        ok = orch_fail(error, ORCH_USAGE, "%s: larger than 1 GiB", path);
    if (ok) {
        run->file_bytes = (size_t)st.st_size;
        run->file = malloc(run->file_bytes ? run->file_bytes : 1);
        ok = run->file && fread(run->file, 1, run->file_bytes, f) == run->file_bytes;
        if (!ok)
            orch_fail(error, ORCH_USAGE, "%s: cannot be read", path);
    }
    fclose(f);
    return ok;
}

/* ELF is what runs today; other known formats are named. */
static bool check_format(const struct run *run, struct orch_error *error)
{
    const uint8_t *b = run->file;
    const size_t n = run->file_bytes;
    if (n >= 4 && memcmp(b, "\177ELF", 4) == 0)
        return true;
    if (n >= 4 && memcmp(b, "GGUF", 4) == 0)
        return orch_fail(error, ORCH_UNMODELLED, "%s: GGUF networks are not modelled", run->request->workload);
    if (n >= 4 && (memcmp(b, "\xcf\xfa\xed\xfe", 4) == 0 || memcmp(b, "\xca\xfe\xba\xbe", 4) == 0))
        return orch_fail(error, ORCH_UNMODELLED, "%s: Mach-O files are not modelled; compile for AArch64 Linux (ELF)",
                         run->request->workload);
    if (n == 0)
        return orch_fail(error, ORCH_USAGE, "%s: the file is empty", run->request->workload);
    return orch_fail(error, ORCH_USAGE, "%s: not an AArch64 ELF file (first bytes %02x %02x %02x %02x)",
                     run->request->workload, n > 0 ? b[0] : 0, n > 1 ? b[1] : 0, n > 2 ? b[2] : 0, n > 3 ? b[3] : 0);
}

static bool check_word(const char *option, const char *given, const char *const *known, size_t count,
                       struct orch_error *error)
{
    struct suggest s;
    char phrase[96];
    if (!given)
        return true;
    suggest_start(&s, given);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(given, known[i]) == 0)
            return true;
        suggest_offer(&s, known[i]);
    }
    return orch_fail(error, ORCH_USAGE, "%s %s: no such choice%s", option, given, suggest_phrase(&s, phrase, sizeof phrase));
}

static bool check_choices(const struct run *run, struct orch_error *error)
{
    static const char *const units[] = {"auto", "cpu", "amx", "gpu", "ane", "hybrid"};
    static const char *const details[] = {"auto", "instr", "sampled", "op"};
    static const char *const homes[] = {"process", "elf"};
    const struct run_request *q = run->request;
    if (!check_word("--unit", q->unit, units, 6, error) || !check_word("--detail", q->detail, details, 4, error) ||
        !check_word("--home", q->home, homes, 2, error))
        return false;
    if (q->unit && (strcmp(q->unit, "gpu") == 0 || strcmp(q->unit, "ane") == 0 || strcmp(q->unit, "hybrid") == 0))
        return orch_fail(error, ORCH_UNMODELLED, "--unit %s: this unit does not execute programs yet; cpu and amx do", q->unit);
    if (run->is_kernel && q->unit && strcmp(q->unit, "cpu") == 0)
        return orch_fail(error, ORCH_UNMODELLED, "%s has no NEON version; use --unit amx", run->call.info->name);
    if (run->is_kernel && (q->entry || q->arg_count))
        return orch_fail(error, ORCH_USAGE, "--%s belongs to program files; %s is a kernel", q->entry ? "entry" : "args",
                         q->workload);
    if (run->is_kernel && q->cores > 1 && (!q->home || strcmp(q->home, "process") == 0))
        return orch_fail(error, ORCH_USAGE, "--cores %u: a kernel runs on one core; --home elf runs a copy on each", q->cores);
    if (q->detail && (strcmp(q->detail, "sampled") == 0 || strcmp(q->detail, "op") == 0))
        return orch_fail(error, ORCH_UNMODELLED, "--detail %s: cpu and amx work at instr only", q->detail);
    return true;
}

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

/* Everything else that decides the answer, keys sorted. */
static void write_options(struct run *run)
{
    const struct run_request *q = run->request;
    uint64_t args = CHECKSUM_START;
    for (size_t i = 0; i < q->arg_count; i++)
        args = hash_argument(args, q->args[i]);
    snprintf(run->options, sizeof run->options,
             "{\"args\":\"%016" PRIx64 "\",\"cold\":%s,\"core\":%d,\"cores\":%u,\"entry\":\"%.120s\",\"home\":\"%s\",\"repeat\":%u}",
             args, q->cold ? "true" : "false", (int)q->core_choice, q->cores ? q->cores : 1, q->entry ? q->entry : "",
             q->home ? q->home : "process", q->repeat ? q->repeat : 1);
}

static void fill_begin(struct run *run)
{
    const struct run_request *q = run->request;
    char text[256];
    uint64_t h = CHECKSUM_START;
    if (run->is_kernel) {
        kernel_describe(&run->call, text, sizeof text);
        h = checksum_add(h, text, strlen(text));
        snprintf(run->program_name, sizeof run->program_name, "%s", run->call.info->name);
    } else {
        const char *slash = strrchr(q->workload, '/');
        h = checksum_add(h, run->file, run->file_bytes);
        snprintf(run->program_name, sizeof run->program_name, "%.200s", slash ? slash + 1 : q->workload);
    }
    snprintf(run->program_hash, sizeof run->program_hash, "%016" PRIx64, h);
    snprintf(run->chip_hash, sizeof run->chip_hash, "%016" PRIx64, chip_hash(q->chip));
    write_options(run);
    run->begin = (struct event_run_begin){
        .workload = q->workload, .chip_id = chip_id(q->chip), .chip_hash = run->chip_hash,
        .chip_modified = chip_modified(q->chip), .program_name = run->program_name,
        .program_kind = run->is_kernel ? "kernel" : "elf", .program_hash = run->program_hash,
        .unit = run->is_kernel ? "amx" : "cpu", .precision = run->is_kernel ? run->call.precision : NULL, .detail = "instr",
        .mode = mode_name(q->mode), .options = run->options, .version = run_model_version(), .seed = q->seed, .host = "local",
    };
}

struct run *run_prepare(const struct run_request *request, struct orch_error *error)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run) {
        orch_fail(error, ORCH_INTERNAL, "out of memory");
        return NULL;
    }
    run->request = request;
    run->is_kernel = kernel_is_workload(request->workload);
    const bool ok = (run->is_kernel ? kernel_parse(request->workload, request->precision, &run->call, error)
                                    : read_workload(run, error) && check_format(run, error)) &&
                    check_choices(run, error);
    if (!ok) {
        run_free(run);
        return NULL;
    }
    fill_begin(run);
    return run;
}

void run_free(struct run *run)
{
    if (!run)
        return;
    free(run->file);
    free(run);
}

const struct event_run_begin *run_begin_event(const struct run *run)
{
    return &run->begin;
}

static void emit(struct event_bus *bus, struct event *event, uint64_t number)
{
    event->run = number;
    if (bus)
        event_bus_emit(bus, event);
}

static bool fill_texts(const struct run *run, struct run_result *r, struct orch_error *error)
{
    const struct event_run_begin *b = &run->begin;
    const bool ok = run_result_set_text(&r->chip, b->chip_id) && run_result_set_text(&r->workload, b->workload) &&
                    run_result_set_text(&r->unit, b->unit) && run_result_set_text(&r->precision, b->precision) &&
                    run_result_set_text(&r->detail, b->detail) && run_result_set_text(&r->mode, b->mode);
    return ok || orch_fail(error, ORCH_INTERNAL, "out of memory for the result");
}

static struct event_place place_of(const struct run *run)
{
    return (struct event_place){run->is_kernel ? PART_AMX : PART_CPU, 0};
}

static void emit_op_begin(const struct run *run, struct event_bus *bus, uint64_t number)
{
    const struct event_op op = {.op = 1, .name = run->program_name, .kernel = run->program_name,
                                .shape = run->request->workload, .precision = run->begin.precision, .place = place_of(run)};
    emit(bus, &(struct event){.kind = EVENT_LAUNCH, .launch = op}, number);
    emit(bus, &(struct event){.kind = EVENT_OP_BEGIN, .op_begin = op}, number);
}

static void emit_op_end(const struct run *run, const struct run_measure *m, const struct run_result *r,
                        struct event_bus *bus, uint64_t number)
{
    struct event_value stalls[CPU_STALL_COUNT + AMX_STALL_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < r->stalls.count && count < CPU_STALL_COUNT + AMX_STALL_COUNT; i++)
        stalls[count++] = (struct event_value){r->stalls.item[i].name, "cycles",
                                               r->stalls.item[i].value * (isnan(r->cycles) ? m->end_ns : r->cycles)};
    const struct event_op_end end = {
        .op = {.op = 1, .name = run->program_name, .kernel = run->program_name, .shape = run->request->workload,
               .precision = run->begin.precision, .place = place_of(run)},
        .seconds = r->seconds, .cycles = r->cycles, .macs = r->macs, .flops = r->flops,
        .repeats = run->request->repeat ? run->request->repeat : 1, .activity = &m->activity,
        .stalls = {stalls, count},
    };
    emit(bus, &(struct event){.kind = EVENT_OP_END, .time_ns = m->end_ns, .op_end = end}, number);
}

static void emit_end(struct event_bus *bus, uint64_t number, const struct run_result *r, const struct orch_error *error,
                     double time_ns)
{
    const struct event_run_end end = {
        .status = r ? EVENT_RUN_DONE : error->exit_code == ORCH_INTERRUPTED ? EVENT_RUN_INTERRUPTED : EVENT_RUN_FAILED,
        .error = r ? NULL : error->text, .result = r};
    emit(bus, &(struct event){.kind = EVENT_RUN_END, .time_ns = time_ns, .run_end = end}, number);
}

bool run_execute(struct run *run, struct event_bus *bus, uint64_t number, struct run_result *result,
                 struct orch_error *error)
{
    struct run_measure m = {0};
    struct orch_error own = {0};
    const bool in_process = run->is_kernel && (!run->request->home || strcmp(run->request->home, "process") == 0);
    emit(bus, &(struct event){.kind = EVENT_RUN_BEGIN, .run_begin = run->begin}, number);
    if (run->request->mode != RUN_FUNCTIONAL) /* without time there is nothing to say of operators */
        emit_op_begin(run, bus, number);
    bool ok = fill_texts(run, result, &own) &&
              (in_process ? run_kernel(run, &m, result, &own) : run_program(run, &m, result, &own)) &&
              run_account(run, &m, result, &own);
    if (ok && run->request->mode != RUN_FUNCTIONAL)
        emit_op_end(run, &m, result, bus, number);
    emit_end(bus, number, ok ? result : NULL, &own, m.end_ns);
    soc_free(m.soc);
    if (!ok && error)
        *error = own;
    return ok;
}
