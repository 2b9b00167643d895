/* The order of the passes. */
#include "isa/agx/compiler/ir_lower.h"
#include "isa/agx/compiler/pass.h"
#include "isa/array_count.h"

struct step {
    const char *name;
    bool (*run)(struct pass *p);
};

/* Simplifying steps, repeated until nothing changes. */
static const struct step simplify[] = {{"fold", pass_fold}, {"common", pass_common}, {"dead", pass_dead}, {"flow", pass_flow}};

static const struct step steps[] = {
    {"inline", pass_inline},
    {"library", pass_library},
    {"arguments", pass_arguments},
    {"aggregates", pass_aggregates},
    {"choices", pass_choices},
    {"promote", pass_promote},
    {"spaces", pass_spaces},
    {"scalarise", pass_scalarise},
    {"promote", pass_promote},
    {"unaligned", pass_unaligned},
    {"switches", pass_switches},
    {"entries", pass_entries},
    {NULL, NULL},
    {"widen", pass_widen},
    {"divide", pass_divide},
    {NULL, NULL},
    {"addresses", pass_addresses},
    {NULL, NULL},
    {"wide", pass_wide},
    {NULL, NULL},
    {"merge", pass_merge},
    {NULL, NULL},
    {"invariant", pass_invariant},
    {NULL, NULL},
};

static bool lower_run(struct pass *p, const struct step *step)
{
    p->changed = false;
    if (!step->run(p))
        return false;
    if (p->changed && p->options->print) {
        fprintf(p->options->print, "; after %s\n", step->name);
        ir_print_function(p->options->print, p->f);
    }
    return true;
}

/* A limit on rounds: each makes the function simpler, so what is left after many is not worth more. */
static bool lower_simplify(struct pass *p)
{
    for (unsigned round = 0; round < 12; round++) {
        bool changed = false;
        for (unsigned i = 0; i < ARRAY_COUNT(simplify); i++) {
            if (!lower_run(p, &simplify[i]))
                return false;
            changed = changed || p->changed;
        }
        if (!changed)
            return true;
    }
    return true;
}

static bool lower_is_double(const struct ir_type *type)
{
    while (type->kind == IR_VECTOR || type->kind == IR_ARRAY)
        type = type->element;
    return type->kind == IR_FLOAT && type->bits == 64;
}

static bool lower_refuse_double(struct pass *p)
{
    for (const struct ir_block *b = p->f->first; b; b = b->next)
        for (const struct ir_value *v = b->first; v; v = v->next)
            if (lower_is_double(v->type)) {
                pass_refuse(p, v, "double precision is not supported: the GPU has none");
                return false;
            }
    return true;
}

bool ir_lower(struct ir_module *m, struct ir_function *kernel, const struct ir_lower_options *options, struct isa_error *error)
{
    struct pass p = {.m = m, .f = kernel, .options = options, .error = error};
    if (!kernel->first) {
        pass_refuse(&p, NULL, "%s has no body", kernel->name);
        return false;
    }
    for (unsigned i = 0; i < ARRAY_COUNT(steps); i++)
        if (!(steps[i].name ? lower_run(&p, &steps[i]) : lower_simplify(&p)))
            return false;
    if (!lower_refuse_double(&p))
        return false;
    ir_number(kernel);
    ir_dominate(kernel);
    return ir_verify_lowered(kernel, error);
}
