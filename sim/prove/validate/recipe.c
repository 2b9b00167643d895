#include "sim/prove/validate/recipe.h"

#include "sim/prove/validate/request.h"
#include "sim/prove/validate/row_chip.h"
#include "sim/prove/validate/soc_runner.h"
#include "sim/prove/validate/validation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void validate_recipe_free(struct validate_recipe *r)
{
    for (unsigned i = 0; i < r->runs; i++)
        free(r->run[i].command);
    r->runs = 0;
}

/* ---- commands ---- */

static const char *taken(const struct validate_program *p, unsigned number)
{
    if (p->power)
        return "joules";
    if (p->measure == VALIDATE_CYCLES_PER_WORK || p->measure == VALIDATE_WORK_PER_CYCLE)
        return "cycles";
    return validate_request_whole(p, number) ? "seconds" : "device_seconds";
}

static bool add_run(struct validate_recipe *r, const struct run_request *request, const struct validate_program *p,
                    const struct chip_overrides *sets, struct orch_error *error)
{
    const unsigned number = r->runs;
    const bool once = validate_request_whole(p, number);
    const double times = validate_request_times(p, number);
    char *const command = validate_request_command(request, p->chip, sets);
    if (!command)
        return orch_no_memory(error);
    r->run[r->runs++] = (struct validate_recipe_run){
        .command = command, .takes = taken(p, number), .times = once ? 1 : times, .more = once ? times - 1 : 0};
    return true;
}

static void name_file(struct validate_recipe *r, const char *id, const char *file, const struct validate_program *p)
{
    if (file) {
        snprintf(r->file, sizeof r->file, "%s", file);
        return;
    }
    snprintf(r->file, sizeof r->file, "%.240s.%s", id, p->ane ? "ane" : p->gpu.text ? "s" : "elf");
    for (char *c = r->file; *c; c++)
        *c = *c == ':' || *c == '/' ? '-' : *c;
}

/* The program in the file, on as many cores as the row has. */
static bool add_own(struct validate_recipe *r, unsigned cores, const struct validate_program *p,
                    const struct chip_overrides *sets, struct orch_error *error)
{
    const struct run_request request = {
        .workload = r->file,
        .cores = cores,
        .core_choice = validate_core_choice(p->core),
        .cold = !p->warm,
    };
    return add_run(r, &request, p, sets, error);
}

/* On how many cores the program runs; 0 with *error. */
static unsigned threads_of(const struct chip *chip, const struct validate_program *p, struct orch_error *error)
{
    struct soc *const soc = p->code ? soc_create(chip, error) : NULL;
    const unsigned threads = soc ? soc_runner_cores(soc, p) : p->code ? 0 : 1;
    soc_free(soc);
    return threads;
}

static bool add_runs(struct validate_recipe *r, const struct chip *chip, unsigned threads, const struct validate_program *p,
                     const struct chip_overrides *sets, struct orch_error *error)
{
    if (p->search.build || p->less) /* no command runs several programs */
        return true;
    if (p->code)
        return add_own(r, threads, p, sets, error);
    for (unsigned i = 0; i < validate_request_count(p); i++) {
        const struct run_request request = validate_request_on(p, i, chip);
        if (!add_run(r, &request, p, sets, error))
            return false;
    }
    return true;
}

/* ---- words ---- */

void validate_recipe_sum(const struct validate_recipe *r, char *text, size_t size)
{
    size_t at = 0;
    *text = '\0';
    for (unsigned i = 0; i < r->runs && at < size; i++) {
        const struct validate_recipe_run *const run = &r->run[i];
        const char *const sign = run->times < 0 ? (i ? " - " : "-") : i ? " + " : "";
        if (fabs(run->times) == 1)
            at += (size_t)snprintf(text + at, size - at, "%s%s of run %u", sign, run->takes, i + 1);
        else
            at += (size_t)snprintf(text + at, size - at, "%s%.17g x %s of run %u", sign, fabs(run->times), run->takes, i + 1);
        if (run->more != 0 && at < size)
            at += (size_t)snprintf(text + at, size - at, " + %.17g x its device_seconds", run->more);
    }
}

/* The formula of the row's number, as validate_value has it. */
static void say_value(struct validate_recipe *r, const struct validate_program *p, unsigned threads)
{
    const double work = p->work;
    char *const to = r->value;
    const size_t size = sizeof r->value;
    switch (p->measure) {
    case VALIDATE_RATE:
        snprintf(to, size, "%u x %.17g / seconds / 1e9%s", threads, work,
                 p->moves && threads > 2 ? ", after threads have moved to clusters that are done" : "");
        break;
    case VALIDATE_RATE_SUM: snprintf(to, size, "%.17g / seconds / 1e9 of each of %u copies, added up", work, threads); break;
    case VALIDATE_NS_PER_WORK: snprintf(to, size, "seconds x 1e9 / %.17g", work); break;
    case VALIDATE_CYCLES_PER_WORK: snprintf(to, size, "cycles of the slowest core / %.17g", work); break;
    case VALIDATE_WORK_PER_CYCLE: snprintf(to, size, "%.17g / cycles / cores of the GPU", work); break;
    case VALIDATE_RATIO: snprintf(to, size, "seconds of run 2 / seconds of run 1"); break;
    case VALIDATE_WATTS: snprintf(to, size, "joules of the row's domains / seconds / %.17g", work); break;
    case VALIDATE_JOULES: snprintf(to, size, "joules of the row's domains / %.17g", work); break;
    case VALIDATE_WORK_PER_JOULE: snprintf(to, size, "%.17g / joules of the row's domains / 1e9", work); break;
    }
}

/* What becomes of that value where several programs run. */
static void say_several(struct validate_recipe *r, const struct validate_program *p)
{
    const struct validate_search *const s = &p->search;
    const size_t length = strlen(r->value);
    r->several = s->build || p->less;
    if (s->build)
        snprintf(r->value, sizeof r->value, "the largest size of %u to %u without a rise by %g, of programs like this one",
                 s->low, s->high, s->rise - 1);
    else if (p->less)
        snprintf(r->value + length, sizeof r->value - length, ", less that of a second program, x %g", p->times);
}

static void add_framework(struct validate_recipe *r, const struct validate_program *p)
{
    const struct validate_overhead *const overhead = *p->framework ? validate_overhead_of(p->framework) : NULL;
    if (!overhead)
        return;
    snprintf(r->framework, sizeof r->framework, "%s", p->framework);
    r->framework_seconds = validate_overhead_seconds(overhead, p->framework_bytes, p->framework_out_bytes);
}

/* ---- the row ---- */

static bool write_recipe(struct validate_recipe *r, struct row_chip *chips, const struct validate_program *p,
                         struct orch_error *error)
{
    const struct chip *const chip = row_chip_open(chips, p, error);
    const unsigned threads = chip ? threads_of(chip, p, error) : 0;
    if (!threads || !add_runs(r, chip, threads, p, row_chip_sets(chips), error))
        return false;
    say_value(r, p, threads);
    say_several(r, p);
    add_framework(r, p);
    return true;
}

bool validation_recipe(const struct validation *v, const char *id, const struct chip_db *db,
                       const struct chip_overrides *overrides, const char *file, struct validate_recipe *r,
                       struct orch_error *error)
{
    struct validate_program program;
    *r = (struct validate_recipe){.runs = 0};
    if (!validation_plan_row(v, id, &program, error))
        return false;
    if (program.ane || program.code || program.gpu.text)
        name_file(r, id, file, &program);
    struct row_chip *const chips = row_chip_create(db, overrides);
    const bool ok = chips ? write_recipe(r, chips, &program, error) : orch_no_memory(error);
    row_chip_free(chips);
    validate_program_free(&program);
    return ok;
}
