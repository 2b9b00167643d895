#include "sim/compile/compile.h"

#include "isa/agx/compiler/agx_compile.h"
#include "isa/agx/compiler/ir_lower.h"
#include "isa/agx/compiler/ir_read.h"
#include "sim/base/file_read.h"
#include "sim/base/suggest.h"
#include "sim/compile/clang.h"
#include "sim/compile/compile_cache.h"
#include "sim/compile/compile_take.h"
#include "sim/compile/kernel_arguments.h"
#include "sim/compile/kernel_launch.h"
#include "sim/compile/metal_prepass.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE_BYTES_MAX = 64 << 20 };

/* One source on its way. */
struct job {
    const struct compile_request *request;
    struct compile_result *result;
    enum compile_language language;
    char *source, *llvm;
    size_t source_bytes, llvm_bytes;
    char key[CONTENT_HASH_SIZE];
    struct ir_module *module;
    struct ir_function *kernel;
    bool shown; /* all that was wanted */
    int lock;   /* others wait for this entry of the cache; -1 = they do not */
    struct orch_error *error;
};

bool compile_language_of(const char *path, enum compile_language *language)
{
    static const char *const suffix[] = {[COMPILE_OPENCL] = ".cl", [COMPILE_METAL] = ".metal", [COMPILE_LLVM] = ".ll"};
    const char *const slash = strrchr(path, '/'), *const dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; dot && i < sizeof suffix / sizeof suffix[0]; i++)
        if (strcmp(dot, suffix[i]) == 0) {
            *language = (enum compile_language)i;
            return true;
        }
    return false;
}

bool compile_tool(enum compile_language language, char *text, size_t size, struct orch_error *error)
{
    struct clang clang;
    snprintf(text, size, "%s", "");
    if (language == COMPILE_LLVM)
        return true;
    if (!clang_find(&clang, error))
        return false;
    snprintf(text, size, "%.200s: %s", clang.path, clang.version);
    return true;
}

bool compile_is_possible(enum compile_language language, struct orch_error *error)
{
    char unused[8];
    return compile_tool(language, unused, sizeof unused, error);
}

/* ---- source to the text of LLVM's representation ---- */

static bool read_source(struct job *j)
{
    const struct compile_request *const q = j->request;
    uint8_t *bytes = NULL;
    if (q->text) {
        j->source = malloc(q->text_bytes + 1);
        if (!j->source)
            return orch_no_memory(j->error);
        memcpy(j->source, q->text, q->text_bytes);
        j->source_bytes = q->text_bytes;
        j->source[j->source_bytes] = 0;
    } else {
        FILE *const f = fopen(q->path, "rb");
        const bool ok = f && file_read_all(f, SOURCE_BYTES_MAX, &bytes, &j->source_bytes);
        const int why = errno;
        if (f)
            fclose(f);
        if (!ok)
            return orch_fail(j->error, ORCH_USAGE, "%.300s: %s", q->path, strerror(why));
        j->source = (char *)bytes;
    }
    return strlen(j->source) == j->source_bytes || orch_fail(j->error, ORCH_USAGE, "%.300s: is not text", q->path);
}

/* "NAME=VALUE" and "NUMBER=VALUE" of function constants. `text` (from malloc) holds the names. */
static bool read_constants(const struct job *j, struct metal_value **values, char **text)
{
    const struct compile_request *const q = j->request;
    size_t bytes = 1;
    for (size_t i = 0; i < q->constants; i++)
        bytes += strlen(q->constant[i]) + 1;
    *values = calloc(q->constants + 1, sizeof **values);
    char *at = *text = malloc(bytes);
    if (!*values || !*text)
        return orch_no_memory(j->error);
    for (size_t i = 0; i < q->constants; i++) {
        const size_t length = strlen(q->constant[i]);
        memcpy(at, q->constant[i], length + 1);
        char *const equals = strchr(at, '=');
        if (!equals || equals == at || !equals[1])
            return orch_fail(j->error, ORCH_USAGE, ORCH_OPTION("constant") " %.100s: expected NAME=VALUE or NUMBER=VALUE", at);
        *equals = 0;
        char *end;
        const long number = strtol(at, &end, 10);
        (*values)[i] = (struct metal_value){.name = *end ? at : NULL, .index = number, .text = equals + 1};
        at += length + 1;
    }
    return true;
}

/* A value for a constant that the source does not have is a mistake. */
static bool check_constants(const struct job *j, const struct metal_unit *unit)
{
    for (size_t i = 0; i < unit->values; i++) {
        const struct metal_value *const v = &unit->value[i];
        struct suggest s;
        char phrase[96];
        bool found = false;
        suggest_start(&s, v->name ? v->name : "");
        for (size_t k = 0; k < unit->constants; k++) {
            found |= v->name ? strcmp(v->name, unit->constant[k].name) == 0 : v->index == unit->constant[k].index;
            suggest_offer(&s, unit->constant[k].name);
        }
        if (!found)
            return orch_fail(j->error, ORCH_USAGE, ORCH_OPTION("constant") " %.100s: %.200s has no such function constant%s",
                             j->request->constant[i], j->request->path, suggest_phrase(&s, phrase, sizeof phrase));
    }
    return true;
}

/* Every kernel on a line, with the function that it is made of behind a tab. */
static bool list_metal(struct job *j, const char *text, size_t bytes)
{
    struct metal_unit unit = {.wanted = NULL};
    const bool ok = metal_prepass(text, bytes, &unit, j->error);
    for (size_t i = 0; ok && i < unit.kernels; i++)
        fprintf(j->request->shown, "%s\t%s\n", unit.kernel[i].name, unit.kernel[i].function);
    j->shown = ok;
    metal_unit_free(&unit);
    return ok;
}

/* Metal after the preprocessor becomes what clang takes for C++. */
static bool compile_metal(struct job *j, const struct clang *clang, const char *text, size_t bytes)
{
    struct metal_unit unit = {.source = j->request->path, .wanted = j->request->entry, .values = j->request->constants};
    struct metal_value *values = NULL;
    char *names = NULL;
    bool ok = read_constants(j, &values, &names);
    unit.value = values;
    ok = ok && metal_prepass(text, bytes, &unit, j->error) && check_constants(j, &unit) &&
         clang_compile(clang, j->request, COMPILE_METAL, unit.text, unit.bytes, &j->llvm, &j->llvm_bytes, &j->result->warnings,
                       j->error);
    metal_unit_free(&unit);
    free(values);
    free(names);
    return ok;
}

/* Whether the cache has it, now or after somebody else has compiled it. */
static bool look_up(struct job *j, bool look)
{
    if (!look || compile_cache_find(j->key, j->result))
        return look;
    j->lock = compile_cache_lock(j->key);
    return j->lock >= 0 && compile_cache_find(j->key, j->result);
}

/* The same for a source; `found` when the cache has what will come of it. */
static bool front_source(struct job *j, bool look, bool *found)
{
    struct clang clang;
    char *text = NULL;
    size_t bytes = 0;
    if (!clang_find(&clang, j->error) ||
        !clang_preprocess(&clang, j->request, j->language, j->source, j->source_bytes, &text, &bytes, j->error))
        return false;
    compile_cache_key(j->request, j->language, clang.version, text, bytes, j->key);
    *found = look_up(j, look);
    bool ok = true;
    if (j->request->show == COMPILE_SHOW_KERNELS && j->language == COMPILE_METAL)
        ok = list_metal(j, text, bytes);
    else if (!*found && j->language == COMPILE_METAL)
        ok = compile_metal(j, &clang, text, bytes);
    else if (!*found)
        ok = clang_compile(&clang, j->request, j->language, j->source, j->source_bytes, &j->llvm, &j->llvm_bytes,
                           &j->result->warnings, j->error);
    free(text);
    return ok;
}

/* Fills in the text of the representation, unless the cache has what will come of it. */
static bool front(struct job *j, bool *found)
{
    if (j->request->constants && j->language != COMPILE_METAL)
        return orch_fail(
            j->error, ORCH_USAGE,
            ORCH_OPTION("constant") " %.100s: only Metal has function constants; give macros by " ORCH_LETTER("D", "define"),
            j->request->constant[0]);
    const bool look = !j->request->fresh && j->request->show == COMPILE_SHOW_NONE;
    if (j->language != COMPILE_LLVM)
        return front_source(j, look, found);
    compile_cache_key(j->request, j->language, "", j->source, j->source_bytes, j->key);
    *found = look_up(j, look);
    if (*found)
        return true;
    j->llvm = j->source;
    j->llvm_bytes = j->source_bytes;
    j->source = NULL;
    j->result->warnings = strdup("");
    return j->result->warnings != NULL || orch_no_memory(j->error);
}

/* ---- the kernel ---- */

/* Kernels of Metal are functions to which the pre-pass gave a name for the host. */
static bool is_kernel(const struct ir_function *f)
{
    return (f->kernel || f->host_name) && !f->declared_only;
}

static bool has_name(const struct ir_function *f, const char *name)
{
    return strcmp(f->name, name) == 0 || (f->host_name && strcmp(f->host_name, name) == 0);
}

static const char *name_of(const struct ir_function *f)
{
    return f->host_name ? f->host_name : f->name;
}

static bool choose(struct job *j)
{
    const char *const path = j->request->path, *const entry = j->request->entry;
    struct suggest s;
    char phrase[96], list[200] = "";
    unsigned kernels = 0;
    suggest_start(&s, entry ? entry : "");
    for (struct ir_function *f = ir_module_functions(j->module); f; f = f->next) {
        if (!is_kernel(f))
            continue;
        if (!entry ? kernels == 0 : has_name(f, entry))
            j->kernel = f;
        suggest_offer(&s, name_of(f));
        const size_t used = strlen(list);
        if (kernels++ < 8 && used < sizeof list - 1)
            snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", name_of(f));
    }
    if (kernels == 0)
        return orch_fail(j->error, ORCH_USAGE, "%.200s: there is no kernel in it", path);
    if (j->kernel)
        j->kernel->kernel = true;
    if (entry && !j->kernel)
        return orch_fail(j->error, ORCH_USAGE, "%.200s: no kernel is named %.100s%s", path, entry,
                         suggest_phrase(&s, phrase, sizeof phrase));
    return entry || kernels == 1 ||
           orch_fail(j->error, ORCH_USAGE, "%.150s has %u kernels (%s%s); choose one with " ORCH_OPTION("entry"), path, kernels,
                     list, kernels > 8 ? ", ..." : "");
}

/* What the compiler refuses: of stored text, with the line of that text; of a source, with the line of the source where known. */
static bool refuse(const struct job *j, int code, const char *what, const struct isa_error *why)
{
    const char *const path = j->request->path;
    if (why->line && why->file[0] && strcmp(why->file, path) != 0)
        return orch_fail(j->error, code, "%.200s%s: %s:%lu: %s", path, what, why->file, why->line, why->text);
    if (why->line)
        return orch_fail(j->error, code, "%.200s%s:%lu: %s", path, what, why->line, why->text);
    return orch_fail(j->error, code, "%.200s%s: %s", path, what, why->text);
}

static void list_kernels(const struct job *j)
{
    for (const struct ir_function *f = ir_module_functions(j->module); f; f = f->next)
        if (is_kernel(f))
            fprintf(j->request->shown, "%s\n", name_of(f));
}

/* False when nothing is wanted beyond what was shown. */
static bool show(struct job *j, enum compile_stage stage)
{
    const struct compile_request *const q = j->request;
    if (q->show != stage)
        return true;
    if (stage == COMPILE_SHOW_LLVM)
        fwrite(j->llvm, 1, j->llvm_bytes, q->shown);
    else if (stage == COMPILE_SHOW_KERNELS)
        list_kernels(j);
    else if (stage == COMPILE_SHOW_READ)
        ir_print_module(q->shown, j->module);
    else if (stage == COMPILE_SHOW_LOWERED)
        ir_print_function(q->shown, j->kernel);
    j->shown = q->show_only || stage == COMPILE_SHOW_KERNELS;
    return !j->shown;
}

/* ---- from the representation to code ---- */

static bool back(struct job *j)
{
    const struct compile_request *const q = j->request;
    const struct ir_lower_options lower = {.fast_math = q->fast_math, .print = q->show == COMPILE_SHOW_PASSES ? q->shown : NULL};
    const struct agx_compile_options options = {0};
    struct agx_compiled c = {.assembly = NULL};
    struct isa_error why = {0};
    if (!ir_lower(j->module, j->kernel, &lower, &why) || !ir_verify_lowered(j->kernel, &why))
        return refuse(j, ORCH_UNMODELLED, "", &why);
    if (!show(j, COMPILE_SHOW_LOWERED))
        return true;
    if (!agx_compile(j->kernel, &options, &c, &why))
        return refuse(j, ORCH_UNMODELLED, "", &why);
    if (q->show == COMPILE_SHOW_ASM)
        fwrite(c.assembly, 1, c.assembly_bytes, q->shown);
    j->result->spills = c.spills;
    const bool ok = compile_take(j->result, &c, j->module, q->path, j->error);
    agx_compiled_free(&c);
    return ok;
}

static bool read_module(struct job *j)
{
    struct isa_error why = {0};
    j->module = ir_read_with_library(j->llvm, j->llvm_bytes, j->language == COMPILE_METAL ? clang_metal_headers() : NULL, &why);
    if (!j->module && j->language == COMPILE_LLVM)
        return refuse(j, ORCH_USAGE, "", &why);
    return j->module || refuse(j, ORCH_UNMODELLED, " (as clang wrote it)", &why);
}

/* The chosen kernel of the module that was read. */
static bool make_kernel(struct job *j)
{
    struct abi_kernel *const k = &j->result->kernel;
    snprintf(k->name, sizeof k->name, "%s", name_of(j->kernel));
    memcpy(k->group, j->kernel->group_size, sizeof k->group);
    return kernel_arguments(j->kernel, j->llvm, k, j->error) && back(j);
}

static bool middle(struct job *j)
{
    if (j->shown || !show(j, COMPILE_SHOW_LLVM))
        return true;
    if (!read_module(j))
        return false;
    if (!show(j, COMPILE_SHOW_KERNELS) || !show(j, COMPILE_SHOW_READ))
        return true;
    return choose(j) && make_kernel(j);
}

/* What is known of a kernel once it is compiled. */
static bool finish(struct job *j)
{
    struct abi_kernel *const k = &j->result->kernel;
    k->hash = compile_hash(k);
    snprintf(k->code_name, sizeof k->code_name, "%.127s", j->request->path);
    if (!k->path)
        k->path = strdup(j->request->path);
    return k->path != NULL || orch_no_memory(j->error);
}

static bool start(struct job *j)
{
    const char *const path = j->request->path;
    *j->result = (struct compile_result){.lines = 0};
    return (compile_language_of(path, &j->language) ||
            orch_fail(j->error, ORCH_USAGE, "%.300s: the name must end in .cl, .metal or .ll", path)) &&
           read_source(j);
}

bool compile_source(const struct compile_request *request, struct compile_result *result, struct orch_error *error)
{
    struct job j = {.request = request, .result = result, .lock = -1, .error = error};
    bool found = false;
    bool ok = start(&j) && front(&j, &found) && (found || middle(&j));
    if (ok && !j.shown)
        ok = finish(&j);
    if (ok && !found && !j.shown)
        compile_cache_keep(j.key, result);
    compile_cache_unlock(j.lock);
    ir_module_free(j.module);
    free(j.source);
    free(j.llvm);
    return ok;
}

/* Compiles one kernel of the module that was read for all: lowering changes none but it. */
static bool compile_one_of(const struct job *all, struct ir_function *kernel, struct compile_result *result)
{
    struct job j = *all;
    j.kernel = kernel;
    j.kernel->kernel = true;
    j.result = result;
    *result = (struct compile_result){.warnings = strdup("")};
    return (result->warnings != NULL || orch_no_memory(j.error)) && make_kernel(&j) && finish(&j);
}

bool compile_every(const struct compile_request *request, bool (*take)(void *context, const struct compile_result *result),
                   void *context, struct orch_error *error)
{
    struct compile_request all = *request;
    struct compile_result unused;
    struct job j = {.request = &all, .result = &unused, .lock = -1, .error = error};
    bool found = false, more = true;
    all.entry = NULL;
    all.show = COMPILE_SHOW_NONE;
    all.fresh = true;
    bool ok = start(&j) && front(&j, &found) && read_module(&j);
    for (struct ir_function *f = ok ? ir_module_functions(j.module) : NULL; f && ok && more; f = f->next) {
        struct compile_result result;
        if (!is_kernel(f))
            continue;
        ok = compile_one_of(&j, f, &result);
        more = ok && take(context, &result);
        compile_result_free(&result);
    }
    ir_module_free(j.module);
    compile_result_free(&unused);
    free(j.source);
    free(j.llvm);
    return ok;
}

void compile_result_free(struct compile_result *r)
{
    abi_kernel_free(&r->kernel);
    for (size_t i = 0; i < r->files; i++)
        free(r->file[i]);
    free(r->file);
    free(r->line);
    free(r->warnings);
    *r = (struct compile_result){.lines = 0};
}
