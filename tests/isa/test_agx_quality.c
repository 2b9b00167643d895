/* How good the compiler's code is: instructions and registers of kernels of our own, which must not become more. What an
 * optimising compiler makes of such kernels is compared by tests/sim/prove/test_source_quality.c. */
#include "isa/agx/compiler/agx_compile.h"
#include "isa/agx/compiler/ir_lower.h"
#include "tests/isa/ir_text.h"

static const struct bound {
    const char *name;
    unsigned instructions; /* of the main program, most */
    unsigned halves;       /* of registers, most */
    unsigned preamble;     /* 1: there must be one, 0: there must be none */
} bounds[] = {
    {"scan", 79, 10, 0},       {"bitonic", 17, 12, 0}, {"nbody", 50, 38, 0},   {"conv2d", 113, 20, 0},   {"gemv", 18, 14, 0},
    {"layernorm", 140, 22, 1}, {"halfmix", 13, 5, 0},  {"bits", 35, 24, 0},    {"fft", 44, 22, 1},       {"chars", 16, 8, 0},
    {"structs", 22, 8, 1},     {"blocks", 5, 10, 0},   {"reduce4", 66, 22, 0}, {"transpose", 48, 15, 0}, {"spmv", 20, 16, 0},
};

static struct ir_function *kernel_of(struct ir_module *m)
{
    struct ir_function *f = ir_module_functions(m);
    while (f && !f->kernel)
        f = f->next;
    return f;
}

static unsigned main_instructions(const struct agx_assembly *p)
{
    unsigned count = 0;
    for (size_t i = 0; i < p->line_count; i++)
        count += p->lines[i].offset >= p->main_offset && p->lines[i].offset < p->main_end;
    return count;
}

static void check_bound(const struct bound *b)
{
    char path[64];
    struct isa_error error = {.text = ""};
    struct agx_compiled code;
    snprintf(path, sizeof path, "agx/quality/%s.ll", b->name);
    char *const text = ir_text_file(suite_golden(path));
    CHECK(text != NULL, "%s is missing", path);
    struct ir_module *const m = text ? ir_text_read(b->name, text) : NULL;
    struct ir_function *const f = m ? kernel_of(m) : NULL;
    const bool made = f && ir_lower(m, f, &(struct ir_lower_options){0}, &error) && agx_compile(f, NULL, &code, &error);
    CHECK(made, "%s: %s", b->name, error.text);
    if (made) {
        const unsigned instructions = main_instructions(&code.program), halves = code.program.register_halves;
        CHECK(instructions > 0 && instructions <= b->instructions, "%s has %u instructions, more than %u", b->name, instructions,
              b->instructions);
        CHECK(halves <= b->halves, "%s needs %u register halves, more than %u", b->name, halves, b->halves);
        CHECK(code.program.has_preamble == (b->preamble == 1), "%s: the preamble %s", b->name,
              b->preamble ? "is missing" : "computes what threads need not share");
        CHECK(code.spills == 0, "%s spills", b->name);
        agx_compiled_free(&code);
    }
    ir_module_free(m);
    free(text);
}

static void test_bounds(void)
{
    for (size_t i = 0; i < sizeof bounds / sizeof *bounds; i++)
        check_bound(&bounds[i]);
}

static const struct suite_test tests[] = {
    {"instructions and registers of kernels stay within their bounds", test_bounds},
};

int main(void)
{
    return suite_run("agx quality", tests, ARRAY_COUNT(tests));
}
