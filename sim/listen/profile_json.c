#include "sim/listen/run_json.h"

#include "sim/base/json_out.h"

#include <stdlib.h>

static struct json_object *reasons(const struct line_profile *p, const double *cycles)
{
    struct json_object *const o = json_object_new_object();
    for (size_t i = 0; i < p->reasons; i++)
        if (cycles[i] > 0)
            json_add_number(o, p->reason[i], cycles[i]);
    return o;
}

static struct json_object *instruction(const struct line_profile *p, const struct profile_kernel *k,
                                       const struct profile_instruction *x)
{
    struct json_object *const o = json_object_new_object();
    json_add_count(o, "offset", x->offset);
    json_add_text(o, "text", x->text);
    json_add_text(o, "file", k->files && x->line ? k->file[x->file] : NULL);
    if (x->line)
        json_add_count(o, "line", x->line);
    else
        json_add_null(o, "line");
    json_add_count(o, "instructions", x->issued);
    json_add_number(o, "lanes", x->lanes);
    json_add_number(o, "units_per_access", x->units);
    json_add_number(o, "least_units_per_access", x->least_units);
    json_add_number(o, "cycles", profile_instruction_cycles(x));
    json_object_object_add(o, "stalls", reasons(p, x->cycles));
    return o;
}

static struct json_object *line(const struct line_profile *p, const struct profile_kernel *k, const struct profile_line *l,
                                double all)
{
    struct json_object *const o = json_object_new_object();
    json_add_text(o, "file", k->files && l->line ? k->file[l->file] : NULL);
    if (l->line)
        json_add_count(o, "line", l->line);
    else
        json_add_null(o, "line");
    if (l->instructions)
        json_add_count(o, "offset", l->offset);
    else
        json_add_null(o, "offset");
    json_add_text(o, "text", l->text);
    json_add_count(o, "instructions", l->issued);
    json_add_number(o, "cycles", l->all_cycles);
    json_add_number(o, "share", all > 0 ? l->all_cycles / all : 0);
    json_object_object_add(o, "stalls", reasons(p, l->cycles));
    return o;
}

static struct json_object *kernel(const struct line_profile *p, const struct profile_kernel *k)
{
    struct json_object *const o = json_object_new_object(), *const lines = json_object_new_array(),
                              *const code = json_object_new_array();
    const double all = profile_kernel_cycles(k);
    size_t count = 0;
    struct profile_line *const list = profile_kernel_lines(k, &count);
    json_add_text(o, "kernel", k->name);
    json_add_count(o, "instructions", profile_kernel_issued(k));
    json_add_number(o, "cycles", all);
    json_add_number(o, "idle_cycles", k->idle_cycles);
    json_add_number(o, "timed_share", k->timed_share);
    json_add_bool(o, "scaled", k->timed_share < 1);
    for (size_t i = 0; list && i < count; i++)
        json_object_array_add(lines, line(p, k, &list[i], all));
    for (size_t i = 0; i < k->instructions; i++)
        json_object_array_add(code, instruction(p, k, &k->instruction[i]));
    json_object_object_add(o, "lines", lines);
    json_object_object_add(o, "code", code);
    free(list);
    return o;
}

struct json_object *profile_json(const struct line_profile *p)
{
    struct json_object *const o = json_object_new_object(), *const kernels = json_object_new_array(),
                              *const warnings = json_object_new_array();
    for (size_t i = 0; i < p->kernels; i++)
        json_object_array_add(kernels, kernel(p, &p->kernel[i]));
    for (size_t i = 0; i < p->warnings; i++) {
        const struct profile_warning *const w = &p->warning[i];
        struct json_object *const x = json_object_new_object();
        json_add_text(x, "kind", w->kind);
        json_add_text(x, "place", w->place);
        json_add_text(x, "kernel", w->kernel < p->kernels ? p->kernel[w->kernel].name : NULL);
        json_add_count(x, "line", w->line);
        json_add_count(x, "offset", w->offset);
        json_add_text(x, "evidence", w->evidence);
        json_add_text(x, "fix", w->fix);
        json_object_array_add(warnings, x);
    }
    json_object_object_add(o, "kernels", kernels);
    json_object_object_add(o, "warnings", warnings);
    return o;
}
