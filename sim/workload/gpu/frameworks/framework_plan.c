#include "sim/workload/gpu/frameworks/framework_plan.h"

#include "sim/workload/gpu/frameworks/framework_run.h"
#include "units/gpu/kernels/framework_code.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_ALIGNMENT = 64 /* bytes between what two launches are given */ };

bool plan_refuse(struct framework_plan *p, const char *format, ...)
{
    char why[300], name[FRAMEWORK_TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (p->failed)
        return false;
    p->failed = true;
    framework_describe(p->choice, name);
    return orch_fail(p->error, ORCH_USAGE, ORCH_OPTION("kernels") " %s: %s", name, why);
}

static int parameter_of(const struct framework_plan *p, const char *name)
{
    const struct kernel_parameter *const list = p->library->request.info->parameter;
    int i = 0;
    while (list[i].name && strcmp(list[i].name, name) != 0)
        i++;
    return i;
}

uint64_t plan_value(const struct framework_plan *p, const char *name)
{
    return (uint64_t)p->library->request.value[parameter_of(p, name)];
}

double plan_decimal(const struct framework_plan *p, const char *name)
{
    return p->library->request.decimal[parameter_of(p, name)];
}

const char *plan_type(const struct framework_plan *p)
{
    return p->type == GPU_F32 ? "float" : p->type == GPU_F16 ? "half" : gpu_type_name(p->type);
}

void plan_channels_last(struct framework_plan *p, unsigned buffer, uint64_t outer, uint64_t channels, uint64_t inner)
{
    p->library->turned[buffer] = (struct gpu_library_turn){outer, channels, inner};
}

unsigned plan_scratch(struct framework_plan *p, const char *name, enum gpu_type type, uint64_t count)
{
    struct gpu_kernel *const k = &p->library->kernel;
    if (k->buffers + 1 >= GPU_KERNEL_BUFFERS) /* one is left for the numbers */
        return plan_refuse(p, "too many buffers"), 0;
    struct gpu_kernel_buffer *const b = &k->buffer[k->buffers];
    *b = (struct gpu_kernel_buffer){.type = type, .count = count, .role = GPU_BUFFER_SCRATCH};
    snprintf(b->name, sizeof b->name, "%s", name);
    return k->buffers++;
}

/* ---- launches ---- */

static bool set_code(struct framework_plan *p, struct abi_kernel *k, const struct framework_code *c)
{
    *k = (struct abi_kernel){.path = strdup(p->library->text),
                             .code = malloc(c->code_bytes),
                             .code_bytes = c->code_bytes,
                             .main_offset = c->main_offset,
                             .preamble_offset = c->preamble_offset,
                             .has_preamble = c->has_preamble,
                             .values_steer_nothing = true,
                             .constants_offset = c->constants_offset,
                             .constants_first = c->constants_first,
                             .constants_count = c->constants_count,
                             .argument_bytes = c->argument_bytes,
                             .register_halves = c->register_halves,
                             .threadgroup_memory_bytes = c->threadgroup_memory_bytes,
                             .stack_words = c->stack_words};
    if (!k->path || !k->code)
        return p->failed = true, orch_no_memory(p->error);
    memcpy(k->code, c->code, c->code_bytes);
    snprintf(k->name, sizeof k->name, "%s", p->library->request.info->name);
    snprintf(k->code_name, sizeof k->code_name, "%s", c->name);
    return true;
}

static bool set_sizes(struct framework_plan *p, struct abi_kernel *k, struct plan_size grid, struct plan_size group)
{
    if (grid.x > UINT32_MAX || grid.y > UINT32_MAX || grid.z > UINT32_MAX)
        return plan_refuse(p, "a grid of more than 2^32 - 1 threads a side");
    k->grid[0] = (uint32_t)grid.x, k->grid[1] = (uint32_t)grid.y, k->grid[2] = (uint32_t)grid.z;
    k->group[0] = (uint32_t)group.x, k->group[1] = (uint32_t)group.y, k->group[2] = (uint32_t)group.z;
    return true;
}

static void launch(struct framework_plan *p, struct plan_size grid, struct plan_size group, const char *name)
{
    struct gpu_kernel *const kernel = &p->library->kernel;
    const struct framework_code *const c = framework_code_find(name);
    if (p->failed)
        return;
    if (!c)
        plan_refuse(p, "%s has no kernel %s", p->library->request.info->name, name);
    else if (kernel->steps == GPU_KERNEL_STEPS)
        plan_refuse(p, "more than %d launches", GPU_KERNEL_STEPS);
    else if (set_code(p, &p->library->step[kernel->steps], c) && set_sizes(p, &p->library->step[kernel->steps], grid, group))
        kernel->steps++;
    else
        abi_kernel_free(&p->library->step[kernel->steps]);
}

static void launch_named(struct framework_plan *p, struct plan_size grid, struct plan_size group, const char *format,
                         va_list args)
{
    char name[96];
    vsnprintf(name, sizeof name, format, args);
    launch(p, grid, group, name);
}

void plan_launch(struct framework_plan *p, struct plan_size grid, struct plan_size group, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    launch_named(p, grid, group, format, args);
    va_end(args);
}

void plan_launch_groups(struct framework_plan *p, struct plan_size groups, struct plan_size group, const char *format, ...)
{
    const struct plan_size grid = {groups.x * group.x, groups.y * group.y, groups.z * group.z};
    va_list args;
    va_start(args, format);
    launch_named(p, grid, group, format, args);
    va_end(args);
}

void plan_holds_more(struct framework_plan *p)
{
    if (!p->failed)
        p->library->step[p->library->kernel.steps - 1].holds_more = true;
}

void plan_registers(struct framework_plan *p, unsigned halves)
{
    struct abi_kernel *const k = p->failed ? NULL : &p->library->step[p->library->kernel.steps - 1];
    if (k && k->register_halves < halves)
        k->register_halves = halves;
}

/* The next argument of the launch that was begun last. */
static struct abi_arg *next_argument(struct framework_plan *p, struct gpu_library_place place)
{
    if (p->failed)
        return NULL;
    const unsigned number = p->library->kernel.steps - 1;
    struct abi_kernel *const k = &p->library->step[number];
    const struct framework_code *const c = framework_code_find(k->code_name);
    if (k->args == c->arguments)
        return plan_refuse(p, "%s has no argument %u", c->name, k->args), NULL;
    struct abi_arg *const a = &k->arg[k->args];
    a->offset = c->argument[k->args].offset_bytes;
    a->constant = c->argument[k->args].constant;
    p->library->place[number][k->args++] = place;
    return a;
}

void plan_buffer_at(struct framework_plan *p, unsigned buffer, uint64_t offset_bytes)
{
    struct abi_arg *const a = next_argument(p, (struct gpu_library_place){buffer, offset_bytes});
    if (a)
        gpu_library_set_buffer(a, &p->library->kernel.buffer[buffer], offset_bytes);
}

void plan_buffer(struct framework_plan *p, unsigned buffer)
{
    plan_buffer_at(p, buffer, 0);
}

/* Where the numbers are is known at the end, when there are no more buffers. */
void plan_table(struct framework_plan *p, const void *bytes, size_t size)
{
    const size_t room = (size + NUMBER_ALIGNMENT - 1) / NUMBER_ALIGNMENT * NUMBER_ALIGNMENT;
    struct abi_arg *const a = next_argument(p, (struct gpu_library_place){GPU_KERNEL_BUFFERS, p->number_bytes});
    uint8_t *const grown = a ? realloc(p->number, p->number_bytes + room) : NULL;
    if (!a)
        return;
    if (!grown) {
        p->failed = true;
        orch_no_memory(p->error);
        return;
    }
    p->number = grown;
    memset(grown + p->number_bytes, 0, room);
    memcpy(grown + p->number_bytes, bytes, size);
    p->number_bytes += room;
}

void plan_numbers(struct framework_plan *p, const void *bytes, size_t size)
{
    plan_table(p, bytes, size);
    if (!p->failed) {
        struct abi_kernel *const k = &p->library->step[p->library->kernel.steps - 1];
        k->arg[k->args - 1].constant = true;
    }
}

/* ---- the plan ---- */

/* Takes the library's own launches and scratch buffers away. */
static void clear(struct framework_plan *p)
{
    struct gpu_library *const l = p->library;
    const unsigned steps = l->kernel.steps;
    unsigned kept = 0;
    for (unsigned i = 0; i < steps; i++) {
        abi_kernel_free(&l->step[i]);
        l->step[i] = (struct abi_kernel){.path = NULL};
        agx_assembly_free(&l->kernel.step[i].code);
    }
    for (unsigned i = 0; i < l->kernel.buffers; i++)
        if (l->kernel.buffer[i].role != GPU_BUFFER_SCRATCH)
            l->kernel.buffer[kept++] = l->kernel.buffer[i];
    l->kernel.buffers = p->operands = kept;
    l->kernel.steps = l->kernel.loading_steps = 0;
}

/* Gives the numbers a buffer, and the launches that place. */
static bool place_numbers(struct framework_plan *p)
{
    struct gpu_library *const l = p->library;
    const unsigned number = l->kernel.buffers++;
    struct gpu_kernel_buffer *const b = &l->kernel.buffer[number];
    *b = (struct gpu_kernel_buffer){
        .name = "numbers", .type = GPU_U8, .count = p->number_bytes ? p->number_bytes : 1, .role = GPU_BUFFER_SCRATCH};
    l->fixed[number] = p->number ? p->number : calloc(1, 1);
    p->number = NULL;
    for (unsigned s = 0; s < l->kernel.steps; s++)
        for (unsigned i = 0; i < l->step[s].args; i++) {
            if (l->place[s][i].buffer != GPU_KERNEL_BUFFERS)
                continue;
            l->place[s][i].buffer = number;
            gpu_library_set_buffer(&l->step[s].arg[i], b, l->place[s][i].offset_bytes);
            l->step[s].arg[i].unchanged = true;
        }
    return l->fixed[number] != NULL || orch_no_memory(p->error);
}

static bool complete(struct framework_plan *p)
{
    const struct gpu_library *const l = p->library;
    for (unsigned s = 0; s < l->kernel.steps && !p->failed; s++) {
        const struct framework_code *const c = framework_code_find(l->step[s].code_name);
        if (l->step[s].args != c->arguments)
            plan_refuse(p, "%s has %u arguments, %u are given", c->name, c->arguments, l->step[s].args);
    }
    return !p->failed;
}

bool framework_plan_run(const struct framework_choice *choice, struct gpu_library *library,
                        bool (*rule)(struct framework_plan *plan), struct orch_error *error)
{
    struct framework_plan p = {.choice = choice,
                               .library = library,
                               .type = library->request.type,
                               .version = choice->set == FRAMEWORK_MPS ? UINT32_MAX : choice->version, /* MPS: as the newest */
                               .letter = choice->letter,
                               .error = error};
    char name[FRAMEWORK_TEXT_BYTES];
    clear(&p);
    framework_describe(choice, name);
    const bool ok = rule(&p) && complete(&p) && place_numbers(&p);
    free(p.number);
    const size_t length = strlen(library->text);
    if (choice->set == FRAMEWORK_MFA)
        snprintf(library->text + length, sizeof library->text - length, " %s-%u", name, choice->family);
    else
        snprintf(library->text + length, sizeof library->text - length, " %s-%c", name, choice->letter);
    return ok;
}
