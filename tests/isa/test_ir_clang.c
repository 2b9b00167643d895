/* Reading what clang 16 wrote: stored texts, and the kernels through clang when it is installed. */
#include "isa/array_count.h"
#include "tests/isa/ir_text.h"

/* Instructions in the text, counted by its lines: two blanks, then no blank and no bracket. Calls that leave nothing do not
 * count. */
static unsigned count_lines(const char *text)
{
    unsigned count = 0;
    bool inside = false;
    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        const size_t length = strcspn(line, "\n");
        char copy[128];
        snprintf(copy, sizeof copy, "%.*s", (int)(length < 127 ? length : 127), line);
        if (strncmp(copy, "define", 6) == 0)
            inside = true;
        else if (*copy == '}')
            inside = false;
        else if (inside && strncmp(copy, "  ", 2) == 0 && copy[2] != ' ' && copy[2] != ']')
            count += !strstr(copy, "@llvm.dbg.") && !strstr(copy, "@llvm.var.annotation") && !strstr(copy, "noalias.scope.decl");
    }
    return count;
}

static unsigned count_instructions(const struct ir_module *m)
{
    unsigned count = 0;
    for (const struct ir_function *f = ir_module_functions(m); f; f = f->next)
        for (const struct ir_block *b = f->first; b; b = b->next)
            for (const struct ir_value *v = b->first; v; v = v->next)
                count++;
    return count;
}

/* `more`: instructions that constant expressions become. */
static struct ir_module *check_written(const char *name, const char *text, unsigned more)
{
    struct ir_module *const m = ir_text_read(name, text);
    if (!m)
        return NULL;
    const unsigned written = count_lines(text), read = count_instructions(m);
    CHECK(read == written + more, "%s: %u instructions of %u lines", name, read, written);
    CHECK(written > 5, "%s: no instructions", name);
    ir_text_check_round(name, m);
    return m;
}

static struct ir_module *read_golden(const char *name, unsigned more)
{
    char *const text = ir_text_file(suite_golden(name));
    CHECK(text != NULL, "%s is missing", name);
    struct ir_module *const m = text ? check_written(name, text, more) : NULL;
    free(text);
    return m;
}

static void test_features(void)
{
    ir_module_free(read_golden("agx/ir/features_O0.ll", 3));
    struct ir_module *const m = read_golden("agx/ir/features_O2.ll", 1);
    const struct ir_function *const f = m ? ir_find_function(m, "places") : NULL;
    CU_ASSERT_PTR_NOT_NULL(f);
    if (f) { /* the source says which lines these are, through inlining and #line */
        unsigned inlined = 0, elsewhere = 0, third = 0;
        for (const struct ir_value *v = f->first->first; v; v = v->next) {
            const char *const file = ir_module_file(m, v->file);
            inlined += v->op == IR_CALL && v->line == 102 && strcmp(file, "features.cl") == 0;
            elsewhere += v->op == IR_FDIV && v->line == 502 && strcmp(file, "other.h") == 0;
            third += v->op == IR_RETURN && v->line == 901 && strcmp(file, "third.h") == 0;
        }
        CU_ASSERT(inlined == 1 && elsewhere == 1 && third == 1);
    }
    ir_module_free(m);
}

static void test_annotated(void)
{
    static const char *const annotations[] = {"buffer(0)", "buffer(1)", "thread_position_in_grid", "threadgroup(0)"};
    struct ir_module *const m = read_golden("agx/ir/annotated.ll", 0);
    unsigned kernels = 0, named = 0;
    for (const struct ir_function *f = m ? ir_module_functions(m) : NULL; f; f = f->next) {
        kernels += f->kernel;
        named += f->host_name && (strcmp(f->host_name, "g_f32") == 0 || strcmp(f->host_name, "g_i32") == 0);
        for (unsigned i = 0; f->kernel && f->arguments == 4 && i < 4; i++)
            CHECK(f->argument[i]->annotation && strcmp(f->argument[i]->annotation, annotations[i]) == 0, "argument %u: %s", i,
                  f->argument[i]->annotation ? f->argument[i]->annotation : "nothing");
    }
    CU_ASSERT_EQUAL(kernels, 3);
    CU_ASSERT_EQUAL(named, 2);
    ir_module_free(m);
}

static char *compile(const char *source, const char *level)
{
    char command[2048], *text = calloc(1, (size_t)1 << 20);
    snprintf(command, sizeof command,
             "clang-16 -x cl -cl-std=CL3.0 -target spir64 -O%s -Xclang -finclude-default-header -emit-llvm -S -mllvm "
             "-unroll-threshold=300 -gline-tables-only -cl-kernel-arg-info '%s' -o - 2>/dev/null",
             level, source);
    FILE *const pipe = popen(command, "r");
    if (pipe) {
        text[fread(text, 1, ((size_t)1 << 20) - 1, pipe)] = '\0';
        if (pclose(pipe) != 0)
            *text = '\0';
    }
    return text;
}

static void check_kernel(const char *path, const char *name)
{
    static const char *const levels[] = {"0", "1", "2", "s"};
    for (unsigned i = 0; i < ARRAY_COUNT(levels); i++) {
        char *const text = compile(path, levels[i]);
        struct ir_module *const m = *text ? check_written(name, text, 0) : NULL;
        const struct ir_function *const f = m ? ir_find_function(m, name) : NULL;
        CHECK(f && f->kernel && f->group_size[0] && f->arguments && f->argument[0]->name, "%s at level %s", name, levels[i]);
        ir_module_free(m);
        free(text);
    }
}

static void test_kernels(void)
{
    static const char *const names[] = {"hash_u32",     "histogram",  "mandelbrot", "sgemm_tiled", "softmax_row", "stencil5",
                                        "hgemm_f32acc", "reduce_sum", "saxpy",      "sgemm_naive", "transpose16", "vecadd"};
    enum { HERE = 6 };
    if (system("clang-16 --version >/dev/null 2>&1") != 0) {
        suite_skip("clang-16 is not installed");
        return;
    }
    for (unsigned i = 0; i < ARRAY_COUNT(names); i++) {
        char name[128], path[1024];
        snprintf(name, sizeof name, i < HERE ? "agx/kernels/%s/kernel.cl" : "kernels/agx/%s/kernel.cl", names[i]);
        const char *const found = i < HERE ? suite_golden(name) : suite_shared(name);
        if (!found) /* the others come with the additional data */
            continue;
        snprintf(path, sizeof path, "%s", found);
        check_kernel(path, names[i]);
    }
}

static const struct suite_test tests[] = {
    {"what clang wrote of many features", test_features},
    {"what clang wrote of annotations", test_annotated},
    {"kernels through clang", test_kernels},
};
SUITE_MAIN("ir clang", tests)
