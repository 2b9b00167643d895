#include "sim/compile/metal_parts.h"

#include "sim/base/suggest.h"

#include <string.h>

enum { NAMES_TOLD = 4 };

/* Address spaces in clang's words. Every space converts to the one of plain C++, which is how methods and references work; that
 * of constants is one of its own, so that overloads for device and constant memory stay two. */
static const char front[] = "#define device __attribute__((opencl_global))\n"
                            "#define threadgroup __attribute__((opencl_local))\n"
                            "#define constant const __attribute__((opencl_global_host))\n"
                            "#define thread\n";

const char *const *metal_preprocess_options(void)
{
    static const char *const option[] = {"-E",
                                         "-x",
                                         "c++",
                                         "-std=c++17",
                                         "-target",
                                         "spir64",
                                         "-nostdinc",
                                         "-undef",
                                         "-D__METAL__=1",
                                         "-D__METAL_VERSION__=310",
                                         "-D__METAL_MACOS__=1",
                                         "-D__FLT16_DIG__=3",
                                         "-D__HAVE_BFLOAT__=1",
                                         "-include",
                                         "orchard_kernel",
                                         NULL};
    return option;
}

const char *const *metal_compile_options(void)
{
    static const char *const option[] = {"-x",
                                         "c++",
                                         "-std=c++17",
                                         "-target",
                                         "spir64",
                                         "-Xclang",
                                         "-fsycl-is-device",
                                         "-fdeclspec",
                                         "-fno-math-errno",
                                         "-fno-exceptions",
                                         "-fno-rtti",
                                         "-fno-threadsafe-statics",
                                         "-ffp-contract=fast",
                                         "-w",
                                         NULL};
    return option;
}

/* Functions of other stages may hold anything: what lies within their edits does not count. */
static bool removed(const struct metal_pass *p, uint32_t i)
{
    const uint32_t at = p->token[i].at;
    for (size_t k = 0; k < p->edits; k++)
        if (at >= p->edit[k].at && at < p->edit[k].at + p->edit[k].removed)
            return true;
    return false;
}

bool metal_refuse(struct metal_pass *p)
{
    static const struct {
        const char *start, *what;
    } word[] = {{"texture", "textures are not modelled"},
                {"depth2d", "textures are not modelled"},
                {"depthcube", "textures are not modelled"},
                {"intersector", "ray tracing is not modelled"},
                {"intersection_query", "ray tracing is not modelled"},
                {"intersection_function_table", "ray tracing is not modelled"},
                {"visible_function_table", "tables of functions are not modelled"},
                {"imageblock", "imageblocks are not modelled"},
                {"tensor_handle", "tensors (Metal 4) are not modelled"}};
    for (uint32_t i = 0; i < p->tokens; i++) {
        const struct metal_token *t = &p->token[i];
        if (t->kind != METAL_NAME || !metal_is(p, i + 1, "<"))
            continue;
        for (size_t k = 0; k < sizeof word / sizeof *word; k++) {
            const size_t length = strlen(word[k].start);
            if (t->length < length || memcmp(p->text + t->at, word[k].start, length) != 0)
                continue;
            if (!removed(p, i))
                return metal_unmodelled(p, i, word[k].what);
        }
    }
    return true;
}

static bool rewrite(struct metal_pass *p)
{
    if (!metal_tokenize(p) || !metal_match(p) || !metal_constants(p) || !metal_kernels(p) || !metal_refuse(p))
        return false;
    metal_methods(p);
    metal_declarations(p);
    if (!metal_expressions(p))
        return false;
    if (p->out_of_memory)
        return orch_no_memory(p->error);
    return metal_apply(p, front);
}

static bool no_such_kernel(const struct metal_pass *p, struct orch_error *error)
{
    struct suggest s;
    char phrase[96];
    suggest_start(&s, p->unit->wanted);
    for (size_t i = 0; i < p->kernels; i++)
        suggest_offer(&s, p->kernel[i].name);
    orch_fail(error, ORCH_USAGE, "%.200s%sno kernel is named '%.100s'%s (there is", p->unit->source ? p->unit->source : "",
              p->unit->source ? ": " : "", p->unit->wanted, suggest_phrase(&s, phrase, sizeof phrase));
    for (size_t i = 0; i < p->kernels && i < NAMES_TOLD; i++)
        orch_fail_more(error, "%s %.60s", i ? "," : "", p->kernel[i].name);
    if (p->kernels > NAMES_TOLD)
        return orch_fail_more(error, " and %zu more)", p->kernels - NAMES_TOLD);
    return orch_fail_more(error, p->kernels ? ")" : " none)");
}

bool metal_prepass(const char *text, size_t bytes, struct metal_unit *unit, struct orch_error *error)
{
    struct metal_pass p = {.text = text, .bytes = bytes, .unit = unit, .error = error};
    unit->memory = NULL;
    unit->text = NULL;
    unit->bytes = unit->kernels = unit->constants = 0;
    if (!rewrite(&p))
        return false;
    unit->kernel = p.kernel;
    unit->kernels = p.kernels;
    unit->constant = p.constant;
    unit->constants = p.constants;
    if (!unit->wanted)
        return true;
    for (size_t i = 0; i < p.kernels; i++)
        if (p.kernel[i].entry)
            return true;
    return no_such_kernel(&p, error);
}

void metal_unit_free(struct metal_unit *unit)
{
    metal_memory_free(unit->memory);
    unit->memory = NULL;
}
