#include "sim/api/verb_run_parts.h"

#include "sim/run/workload_hint.h"

#include "sim/run/language/language_model.h"

#include <stdlib.h>
#include <string.h>

const char *const verb_run_part_options[] = {"entry",   "args",     "grid",     "group",     "define",
                                             "include", "constant", "optimise", "fast-math", NULL};

static bool read_options(const struct api_args *args, struct verb_run_part *part, struct run_request *request,
                         struct orch_error *error)
{
    if (!verb_compile_source(args, &part->source, &part->launch, request, error))
        return false;
    part->entry = api_value(args, "entry");
    part->arg_count = api_count(args, "args");
    part->args = calloc(part->arg_count + 1, sizeof *part->args);
    if (!part->args)
        return orch_no_memory(error);
    for (size_t i = 0; i < part->arg_count; i++)
        part->args[i] = api_value_at(args, "args", i);
    request->entry = part->entry;
    request->args = part->args;
    request->arg_count = part->arg_count;
    return true;
}

void verb_run_part_free(struct verb_run_part *part)
{
    verb_compile_free(&part->source);
    free(part->args);
    part->args = NULL;
}

bool verb_run_common_part(const struct api_args *args, struct verb_run_part *part, struct run_request *request,
                          struct orch_error *error)
{
    struct api_args of;
    const bool ok = api_args_part(args, 0, &of, error) && read_options(&of, part, request, error);
    api_args_free(&of);
    return ok;
}

/* ---- rows ---- */

static bool is_row(const struct together_part *part, unsigned count)
{
    enum compile_language language;
    for (unsigned i = 0; i < count; i++)
        if (!compile_language_of(part[i].request.workload, &language))
            return false;
    return true;
}

/* A row is one run: what is said in brackets about a part of it would be lost. */
static bool check_step(const struct together_part *p, const struct run_request *all, struct orch_error *error)
{
    const struct run_request *const q = &p->request;
    const bool same = q->unit == all->unit && q->precision == all->precision && q->detail == all->detail &&
                      q->mode == all->mode && q->cores == all->cores && q->core_choice == all->core_choice &&
                      q->home == all->home && q->repeat == all->repeat && q->one_buffer == all->one_buffer &&
                      q->evict == all->evict && q->cold == all->cold && !p->priority && !(p->weight > 0) &&
                      !(p->start_seconds > 0);
    return same ||
           orch_fail(error, ORCH_USAGE,
                     "%.200s[...]: GPU kernels in a row run one after another; a step has only entry in [ ], and " ORCH_OPTION(
                         "grid") ", " ORCH_OPTION("group") ", " ORCH_OPTION("args") " ... behind it",
                     q->workload);
}

static bool make_row(struct verb_run_parts *parts, const struct together_part *part, unsigned count, bool traced,
                     struct run_request *request, struct orch_error *error)
{
    if (traced)
        return orch_fail(error, ORCH_USAGE, "a trace cannot name the steps of a row: write them to a file ({\"steps\": ...})");
    for (unsigned i = 0; i < count; i++) {
        const struct run_request *const q = &part[i].request;
        struct kernel_step *const s = &parts->step[i];
        if (!check_step(&part[i], request, error))
            return false;
        s->how = q->source ? *q->source : (struct compile_request){.optimise = 2};
        s->how.path = q->workload;
        s->how.entry = q->entry;
        s->launch = q->launch ? *q->launch : (struct kernel_launch){.args = NULL};
        s->launch.args = q->args;
        s->launch.arg_count = q->arg_count;
    }
    request->step = parts->step;
    request->steps = count;
    return true;
}

/* ---- parts ---- */

static bool read_part(const struct api_args *args, unsigned number, struct verb_run_parts *parts, struct orch_error *error)
{
    struct api_args of;
    struct run_request unused = {.chip = NULL};
    const bool ok = api_args_part(args, number + 1, &of, error) && read_options(&of, &parts->part[number], &unused, error);
    parts->count = number + 1;
    api_args_free(&of);
    return ok;
}

bool verb_run_parts_read(const struct api_args *args, const char *text, bool traced, struct run_request *request,
                         struct verb_run_parts *parts, struct orch_error *error)
{
    struct together_part part[TOGETHER_PARTS];
    unsigned count;
    if (!together_parse(text, request, part, &count, &parts->storage, error))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (language_model_is(part[i].request.workload))
            return orch_fail(error, ORCH_UNMODELLED, "%.200s: language models do not run beside other work yet",
                             part[i].request.workload);
    if (args->parts > count)
        return orch_fail(error, ORCH_USAGE, "options of %u workloads, but there are %u", args->parts, count);
    if (api_args_have_parts(args))
        for (unsigned i = 0; i < count; i++)
            if (!read_part(args, i, parts, error))
                return false;
    verb_run_parts_apply(parts, part, count);
    return !is_row(part, count) || make_row(parts, part, count, traced, request, error);
}

void verb_run_parts_apply(const struct verb_run_parts *parts, struct together_part *part, unsigned count)
{
    for (unsigned i = 0; i < parts->count && i < count; i++) {
        const struct verb_run_part *const p = &parts->part[i];
        struct run_request *const q = &part[i].request;
        const struct compile_request *const s = &p->source;
        q->entry = p->entry ? p->entry : q->entry;
        q->args = p->args;
        q->arg_count = p->arg_count;
        q->source = s->defines || s->includes || s->constants || s->fast_math || s->optimise != 2 ? s : NULL;
        q->launch = p->launch.grid[0] || p->launch.group[0] ? &p->launch : NULL;
    }
}

bool verb_run_lists(const struct api_args *args, struct run_request *request, const char ***list, struct orch_error *error)
{
    const size_t inputs = request->input_count = api_count(args, "input");
    const size_t own = request->own_count = api_count(args, "kernel");
    *list = calloc(inputs + own + 1, sizeof **list);
    if (!*list)
        return orch_no_memory(error);
    for (size_t i = 0; i < inputs; i++)
        (*list)[i] = api_value_at(args, "input", i);
    for (size_t i = 0; i < own; i++)
        (*list)[inputs + i] = api_value_at(args, "kernel", i);
    request->inputs = *list;
    request->own = *list + inputs;
    return true;
}

bool verb_run_join_words(int words, const char *const *word, char **text)
{
    size_t length = 1;
    for (int i = 0; i < words; i++)
        length += strlen(word[i]) + 1;
    *text = calloc(1, length);
    for (int i = 0; *text && i < words; i++) {
        strcat(*text, i ? " " : "");
        strcat(*text, word[i]);
    }
    return *text != NULL;
}

int verb_run_wrong_words(struct api_context *context, int words, const char *const *word)
{
    char shape[120] = "";
    size_t used = 0;
    bool numbers = words > 1 && workload_has_kernel(word[0]) && !strchr(word[0], ':');
    for (int i = 1; i < words && numbers; i++) {
        numbers = strspn(word[i], "0123456789") == strlen(word[i]) && used + strlen(word[i]) + 2 < sizeof shape;
        if (numbers)
            used += (size_t)snprintf(shape + used, sizeof shape - used, "%s%s", i > 1 ? "x" : "", word[i]);
    }
    if (numbers)
        return api_usage(context, "one workload, got '%s' and more; did you mean %s:%s?", word[0], word[0], shape);
    if (words > 1 && api_count(&context->args, "args") > 0)
        return api_usage(context, "one workload, got '%s' and '%s': every argument of a program takes " ORCH_OPTION("args") " %s",
                         word[0], word[1], word[1]);
    return api_usage(context,
                     words ? "one workload, got '%s' and more (several at once: A + B; arguments of a program: A -- ARG ...)"
                           : "a workload is missing, as in gemm:512x512x512",
                     words ? word[0] : "");
}

void verb_run_parts_free(struct verb_run_parts *parts)
{
    for (unsigned i = 0; i < parts->count; i++)
        verb_run_part_free(&parts->part[i]);
    free(parts->storage);
}

void verb_run_set_source(const struct api_common *common, const struct chip_db *chips, struct verb_run_source *source,
                         struct run_request *request)
{
    source->sets = (struct chip_overrides){common->sets, common->set_count};
    source->from = (struct run_source){chips, &source->sets};
    request->source_of_chip = &source->from;
}

/* "10x20": command buffers, and launches of each. */
static bool read_burst(const char *text, struct run_burst *burst, struct orch_error *error)
{
    int end = 0;
    if (!text)
        return true;
    return (sscanf(text, "%5ux%5u%n", &burst->buffers, &burst->launches, &end) == 2 && end && !text[end] &&
            strspn(text, "0123456789x") == (size_t)end && burst->buffers && burst->launches) ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("burst") " %.60s: expected command buffers and launches of each, as in 10x20",
                     text);
}

bool verb_run_choices(const struct api_args *a, struct run_request *request, struct orch_error *error)
{
    unsigned mode = 0, core = 0, buffers = 0;
    if (!api_chosen(a, "mode", "full|functional|timing", &mode, error) || !api_chosen(a, "core", "p|e", &core, error) ||
        !api_chosen(a, "buffers", "each|one", &buffers, error) || !read_burst(api_value(a, "burst"), &request->burst, error))
        return false;
    request->mode = (enum run_mode)mode;
    request->core_choice = !api_has(a, "core") ? SOC_ANY_CORE : core ? SOC_E_CORE : SOC_P_CORE;
    request->one_buffer = buffers == 1;
    request->step_buffers = api_has(a, "buffers") && buffers == 0;
    return true;
}
