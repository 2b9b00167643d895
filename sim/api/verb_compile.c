/* The verb compile: GPU source to machine code with a launch description. */
#include "sim/api/verb_compile.h"
#include "sim/base/json_out.h"
#include "sim/compile/compile_lines.h"
#include "sim/workload/gpu/abi_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct orchard_option option_table[] = {
    {"output", 'o', "DIR", false, "folder for code.bin and abi.json"},
    {"entry", 0, "NAME", false, "the kernel, when the source has several"},
    VERB_COMPILE_OPTIONS,
    VERB_LAUNCH_OPTIONS,
    {"args", 0, "ARG", true, "an argument for the description, in the forms of orchard run; one for each or none"},
    {"print", 0, "STAGE", false,
     "print what the compiler has after a stage: kernels (their names), llvm, read, passes, lowered or asm"},
    {"fresh", 0, NULL, false, "compile even when the cache has the result"},
    {0},
};

bool verb_compile_read(const struct api_args *a, struct compile_request *q, struct orch_error *error)
{
    uint64_t level = 2;
    if (!api_unsigned(a, "optimise", 0, 3, &level, error))
        return false;
    q->optimise = (unsigned)level;
    q->fast_math = api_has(a, "fast-math");
    q->defines = api_count(a, "define");
    q->includes = api_count(a, "include");
    q->constants = api_count(a, "constant");
    const char **const list = calloc(q->defines + q->includes + q->constants + 1, sizeof *list);
    if (!list)
        return orch_no_memory(error);
    for (size_t i = 0; i < q->defines; i++)
        list[i] = api_value_at(a, "define", i);
    for (size_t i = 0; i < q->includes; i++)
        list[q->defines + i] = api_value_at(a, "include", i);
    for (size_t i = 0; i < q->constants; i++)
        list[q->defines + q->includes + i] = api_value_at(a, "constant", i);
    q->define = list;
    q->include = list + q->defines;
    q->constant = q->include + q->includes;
    return true;
}

void verb_compile_free(struct compile_request *q)
{
    free((void *)q->define);
    q->define = q->include = q->constant = NULL;
}

bool verb_launch_read(const struct api_args *a, struct kernel_launch *l, struct orch_error *error)
{
    const char *const grid = api_value(a, "grid"), *const group = api_value(a, "group");
    return (!grid || kernel_launch_extent("grid", grid, l->grid, error)) &&
           (!group || kernel_launch_extent("group", group, l->group, error));
}

bool verb_compile_source(const struct api_args *a, struct compile_request *source, struct kernel_launch *launch,
                         struct run_request *request, struct orch_error *error)
{
    if (!verb_compile_read(a, source, error) || !verb_launch_read(a, launch, error))
        return false;
    if (source->defines || source->includes || source->constants || source->fast_math || api_has(a, "optimise"))
        request->source = source;
    if (launch->grid[0] || launch->group[0])
        request->launch = launch;
    return true;
}

static bool read_request(const struct api_context *context, struct compile_request *q, struct orch_error *error)
{
    unsigned stage = 0;
    q->entry = api_value(&context->args, "entry");
    q->fresh = api_has(&context->args, "fresh");
    q->shown = context->out;
    q->show_only = !api_has(&context->args, "output");
    if (!verb_compile_read(&context->args, q, error) || !api_chosen(&context->args, "print", COMPILE_STAGES, &stage, error))
        return false;
    if (api_has(&context->args, "print"))
        q->show = (enum compile_stage)(stage + 1);
    return true;
}

static json_object *lines(const struct compile_result *r)
{
    json_object *const o = json_object_new_object(), *const files = json_object_new_array(),
                       *const list = json_object_new_array();
    for (size_t i = 0; i < r->files; i++)
        json_object_array_add(files, json_object_new_string(r->file[i]));
    for (size_t i = 0; i < r->lines; i++) {
        json_object *const line = json_object_new_array();
        json_object_array_add(line, json_object_new_int64(r->line[i].offset));
        json_object_array_add(line, json_object_new_int64(r->line[i].file));
        json_object_array_add(line, json_object_new_int64(r->line[i].line));
        json_object_array_add(list, line);
    }
    json_object_object_add(o, "files", files);
    json_object_object_add(o, "offset_file_line", list);
    return o;
}

/* The lines go with their texts, so that a profile can show them wherever the folder is. */
static bool write_folder(const struct compile_result *r, const struct compile_request *q, const char *folder,
                         struct orch_error *error)
{
    json_object *const more = json_object_new_object();
    struct abi_source *source = NULL;
    bool ok = more ? compile_lines(r, q, &source, error) : orch_no_memory(error);
    if (ok) {
        json_object_object_add(more, "source_lines", abi_source_json(source));
        json_add_count(more, "spills", r->spills);
        ok = abi_write(&r->kernel, more, folder, error);
    }
    abi_source_free(source);
    json_object_put(more);
    return ok;
}

static json_object *document(const struct compile_result *r)
{
    const struct abi_kernel *const k = &r->kernel;
    json_object *const o = json_object_new_object(), *const args = json_object_new_array();
    json_add_text(o, "kernel", k->name);
    json_add_count(o, "code_bytes", k->code_bytes);
    json_add_count(o, "gpr_halfregs", k->register_halves);
    json_add_count(o, "spills", r->spills);
    json_add_count(o, "stack_words_per_thread", k->stack_words);
    json_add_count(o, "threadgroup_memory_bytes", k->threadgroup_memory_bytes);
    json_add_bool(o, "preamble", k->has_preamble);
    json_add_bool(o, "cached", r->cached);
    for (unsigned i = 0; i < k->args; i++) {
        json_object *const a = json_object_new_object();
        json_add_text(a, "name", k->arg[i].name);
        json_add_text(a, "kind", k->arg[i].buffer ? "buffer" : "scalar");
        json_add_text(a, "dtype", element_type_name(k->arg[i].type));
        json_add_count(a, "offset_bytes", k->arg[i].offset);
        json_object_array_add(args, a);
    }
    json_object_object_add(o, "args", args);
    json_object_object_add(o, "source_lines", lines(r));
    return o;
}

static void tell(struct api_context *context, const struct compile_result *r, const char *folder)
{
    const struct abi_kernel *const k = &r->kernel;
    for (const char *line = r->warnings; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
        api_warn(context, "%.*s", (int)strcspn(line, "\n"), line);
    if (api_wants_document(context))
        api_document(context, document(r));
    if (folder)
        api_note(context, "%s: %s, %zu bytes, %u register halves, %u spills%s", folder, k->name, k->code_bytes,
                 k->register_halves, r->spills, r->cached ? " (from the cache)" : "");
}

static int ask(struct api_context *context, int words, const char *const *word)
{
    struct orch_error error = {0};
    struct compile_request q = {.path = words ? word[0] : NULL};
    struct compile_result r = {.lines = 0};
    struct kernel_launch launch = {.arg_count = api_count(&context->args, "args")};
    const char *const folder = api_value(&context->args, "output");
    if (words != 1)
        return api_usage(context, "expected one K.cl, K.metal or K.ll");
    if ((!folder || !folder[0]) && !api_has(&context->args, "print"))
        return api_usage(context, "compile needs " ORCH_LETTER("o", "output") " DIR or " ORCH_OPTION("print") " STAGE");
    const char **const args = calloc(launch.arg_count + 1, sizeof *args);
    for (size_t i = 0; args && i < launch.arg_count; i++)
        args[i] = api_value_at(&context->args, "args", i);
    launch.args = args;
    bool ok = args != NULL || orch_no_memory(&error);
    ok = ok && read_request(context, &q, &error) && verb_launch_read(&context->args, &launch, &error) &&
         compile_source(&q, &r, &error);
    if (ok && folder && folder[0])
        ok = kernel_launch_outline(&r.kernel, &launch, &error) && write_folder(&r, &q, folder, &error);
    if (ok && r.kernel.code)
        tell(context, &r, folder);
    compile_result_free(&r);
    verb_compile_free(&q);
    free(args);
    return ok ? ORCH_OK : api_fail(context, &error);
}

const struct api_verb verb_compile = {
    .help =
        {
            .name = "compile",
            .synopsis = "K.cl|K.metal|K.ll -o DIR [options]\n"
                        "K.cl|K.metal|K.ll --print STAGE",
            .summary = "compiles a GPU kernel to machine code with a launch description",
            .text =
                "Sources are OpenCL C (.cl), Metal (.metal) and LLVM's intermediate representation (.ll, version 16); all but "
                "the last need\n"
                "clang 16 on the PATH or in ORCHARD_CLANG. DIR gets code.bin and abi.json, which run, sweep, trace and isa "
                "disasm agx take.\n"
                "Group, grid and arguments of the description are those of the options; otherwise it has one threadgroup, "
                "buffers of zeros\n"
                "with an element for each thread, and is there to be edited. A vector or structure passed by value is one "
                "argument for each\n"
                "number in it. What was compiled is kept in orchard/compile of the XDG cache folder.",
            .examples = "orchard compile examples/gpu/triad.cl -o triad\n"
                        "orchard compile examples/gpu/saxpy.metal --entry saxpy -D UNUSED=1 -I examples/gpu -o saxpy\n"
                        "orchard compile examples/gpu/triad.cl --print asm",
            .options = option_table,
        },
    .ask = ask,
};
