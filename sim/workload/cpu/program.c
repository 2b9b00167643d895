#include "sim/workload/cpu/program.h"

#include "sim/base/checksum.h"
#include "sim/base/suggest.h"
#include "sim/workload/cpu/program_args.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The output of a program is kept in memory. A program that writes more than this is told that the disk is full. */
#define TEXT_LIMIT_BYTES ((size_t)256 << 20)
/* Unmapped addresses between the mappings and the stack, so that a deep recursion faults: as many as Linux leaves. */
#define STACK_GAP_BYTES (UINT64_C(1) << 20)
enum { REGISTER_ARGS = 8, STREAMS = 2, SP = 31, LINK = 30 };

struct text {
    char *bytes;
    size_t used, room;
};

struct program {
    char *path;
    uint8_t *file;
    struct elf_file elf;
    struct mem_space *space;
    struct cpu_image image;
    struct cpu_core *core;
    struct cpu_linux_params linux_params;
    struct cpu_linux *linux_system;
    struct cpu_host host;
    struct text text[STREAMS];
    struct program_sink sink;
    struct program_arg *arg;
    size_t arg_count;
    bool is_call;
    uint64_t entry;
    uint64_t stack_low; /* the lowest address of the first stack */
};

/* ---- output of the program ---- */

static bool keep_text(void *context, int fd, const void *bytes, size_t count)
{
    struct program *p = context;
    if (fd < 1 || fd > STREAMS)
        return false;
    struct text *t = &p->text[fd - 1];
    if (count > TEXT_LIMIT_BYTES - t->used)
        return false;
    if (t->used + count > t->room) {
        const size_t room = 2 * (t->used + count);
        char *more = realloc(t->bytes, room);
        if (!more)
            return false;
        t->bytes = more;
        t->room = room;
    }
    memcpy(t->bytes + t->used, bytes, count);
    t->used += count;
    if (p->sink.write)
        p->sink.write(p->sink.context, bytes, count);
    return true;
}

void program_set_sink(struct program *program, const struct program_sink *sink)
{
    program->sink = *sink;
}

const char *program_text(const struct program *program, int fd, size_t *size)
{
    *size = 0;
    if (fd < 1 || fd > STREAMS || !program->text[fd - 1].bytes)
        return "";
    *size = program->text[fd - 1].used;
    return program->text[fd - 1].bytes;
}

/* ---- finding the entry ---- */

/* Writes "; it has a, b, c", for users who named no function or one that resembles none of the file. */
static void list_functions(const struct elf_file *elf, char *text, size_t size)
{
    size_t used = 0, shown = 0;
    text[0] = 0;
    for (uint32_t i = 1; i < elf->symbol_count && used < size; i++) {
        struct elf_symbol s;
        elf_symbol(elf, i, &s);
        if (!elf_symbol_is_entry(elf, &s) || s.name[0] == 0)
            continue;
        if (++shown > 8) {
            snprintf(text + used, size - used, ", ...");
            break;
        }
        used += (size_t)snprintf(text + used, size - used, "%s%.40s", shown == 1 ? "; it has " : ", ", s.name);
    }
    elf_clean_text(text);
}

static bool unknown_entry(const struct program *p, const char *name, struct orch_error *error)
{
    struct suggest s;
    char phrase[160];
    suggest_start(&s, name);
    for (uint32_t i = 1; i < p->elf.symbol_count; i++) {
        struct elf_symbol symbol;
        elf_symbol(&p->elf, i, &symbol);
        if (elf_symbol_is_entry(&p->elf, &symbol))
            suggest_offer(&s, symbol.name);
    }
    suggest_phrase(&s, phrase, sizeof phrase);
    char list[400];
    list_functions(&p->elf, list, sizeof list);
    return orch_fail(error, ORCH_USAGE, "no function is named %.100s%s", name, phrase[0] ? phrase : list);
}

static bool find_entry(struct program *p, const char *name, struct orch_error *error)
{
    if (name) {
        p->is_call = true;
        if (!cpu_image_symbol(&p->image, name, &p->entry))
            return unknown_entry(p, name, error);
    } else if (p->elf.kind == ELF_OBJECT) {
        char list[400];
        list_functions(&p->elf, list, sizeof list);
        return orch_fail(error, ORCH_USAGE,
                         "an object file does not say where to start: name a function with " ORCH_OPTION("entry") "%s", list);
    } else {
        p->entry = p->image.entry;
    }
    if (p->entry % 4 || !mem_at(p->space, p->entry, 4, MEM_EXEC))
        return orch_fail(error, ORCH_USAGE, "%s at 0x%" PRIx64 " is not code", name ? name : "the entry point", p->entry);
    return true;
}

/* ---- registers and memory at the start ---- */

static bool parse_args(struct program *p, const struct program_options *o, struct orch_error *error)
{
    p->arg = calloc(o->arg_count + 1, sizeof *p->arg);
    if (!p->arg)
        return orch_no_memory(error);
    for (size_t i = 0; i < o->arg_count; i++) {
        if (!program_arg_parse(o->args[i], &p->arg[i], error))
            return false;
        p->arg_count++;
        if (!program_arg_place(&p->arg[i], p->space, error))
            return orch_fail_in(error, "argument '%.80s'", o->args[i]);
    }
    return true;
}

/* AAPCS64: arguments go to eight general and eight vector registers; the others take eight bytes of stack each, in order. */
static bool pass_args(struct program *p, uint64_t sp, struct orch_error *error)
{
    unsigned general = 0, vectors = 0;
    size_t stacked = 0;
    uint64_t *stack = calloc(p->arg_count + 1, sizeof *stack);
    if (!stack)
        return orch_no_memory(error);
    for (size_t i = 0; i < p->arg_count; i++) {
        const struct program_arg *a = &p->arg[i];
        const bool vector = a->kind == PROGRAM_ARG_FLOAT || a->kind == PROGRAM_ARG_DOUBLE;
        uint8_t lanes[16] = {0};
        memcpy(lanes, &a->bits, sizeof a->bits);
        if (vector && vectors < REGISTER_ARGS)
            cpu_core_set_v(p->core, vectors++, lanes);
        else if (!vector && general < REGISTER_ARGS)
            cpu_core_set_x(p->core, general++, a->bits);
        else
            stack[stacked++] = a->bits;
    }
    const uint64_t bytes = stacked * sizeof *stack;
    sp = (sp - bytes) & ~UINT64_C(15);
    uint8_t *host = bytes ? mem_at(p->space, sp, bytes, MEM_WRITE) : NULL;
    if (host)
        memcpy(host, stack, bytes);
    free(stack);
    cpu_core_set_x(p->core, SP, sp);
    cpu_core_set_x(p->core, LINK, CPU_RETURN_ADDRESS);
    return host || !bytes ? true : orch_fail(error, ORCH_USAGE, "%zu arguments do not fit the stack", p->arg_count);
}

/* argv of the process is its path, then the arguments unchanged. */
static bool make_stack(struct program *p, const struct program_options *o, struct cpu_stack *stack, struct orch_error *error)
{
    struct isa_error place;
    const char **argv = calloc(o->arg_count + 2, sizeof *argv);
    if (!argv)
        return orch_no_memory(error);
    argv[0] = p->path;
    for (size_t i = 0; i < o->arg_count; i++)
        argv[i + 1] = o->args[i];
    const struct cpu_stack_params params = {.bytes = o->stack_bytes,
                                            .argv = argv,
                                            .argc = (uint32_t)o->arg_count + 1,
                                            .envp = o->envp,
                                            .envc = (uint32_t)o->env_count,
                                            .seed = o->seed};
    const bool ok = cpu_load_stack(p->space, p->is_call ? NULL : &p->image, &params, stack, &place);
    free(argv);
    return ok ? true : orch_fail(error, ORCH_USAGE, "%s", place.text);
}

static bool make_core(struct program *p, const struct program_options *o, const struct cpu_stack *stack, struct orch_error *error)
{
    p->linux_params =
        (struct cpu_linux_params){.heap_start = p->image.end,
                                  .map_top = stack->low > 2 * STACK_GAP_BYTES ? stack->low - STACK_GAP_BYTES : stack->low,
                                  .page_bytes = p->image.page_bytes,
                                  .seed = o->seed,
                                  .cores = o->cores,
                                  .mounts = o->mounts,
                                  .mount_count = o->mount_count,
                                  .input = o->input,
                                  .input_bytes = o->input_bytes,
                                  .name = p->path};
    char why[256] = "";
    p->core = cpu_core_create(p->space);
    p->linux_system = cpu_linux_create(p->space, &p->linux_params, why, sizeof why);
    if (why[0])
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("mount") " %s", why);
    if (!p->core || !p->linux_system)
        return orch_no_memory(error);
    p->host = (struct cpu_host){keep_text, p};
    cpu_core_set_host(p->core, &p->host);
    cpu_core_set_system(p->core, cpu_linux_hook(p->linux_system));
    cpu_core_set_pc(p->core, p->entry);
    return true;
}

static bool load(struct program *p, const void *bytes, size_t size, const struct program_options *o, struct orch_error *error)
{
    struct isa_error place;
    p->file = malloc(size ? size : 1);
    p->space = mem_space_create(o->space_bytes);
    if (!p->file || !p->space)
        return orch_fail(error, ORCH_INTERNAL, "the host refuses the simulated address space: is there a limit (ulimit -v)?");
    p->space->limit_bytes = o->memory_bytes;
    memcpy(p->file, bytes, size);
    if (!elf_open(&p->elf, p->file, size, &place))
        return orch_fail(error, ORCH_USAGE, "byte 0x%lx: %s", place.offset, place.text);
    if (!cpu_load(p->space, &p->elf, &p->image, &place))
        return place.offset ? orch_fail(error, ORCH_USAGE, "byte 0x%lx: %s", place.offset, place.text)
                            : orch_fail(error, ORCH_USAGE, "%s", place.text);
    return true;
}

static bool call_resolver(struct program *p, uint64_t resolver, uint64_t sp, uint64_t *chosen, struct orch_error *error)
{
    enum { BUDGET = 100000, HWCAP_FP_ASIMD = 3 };
    struct unit_fault fault;
    cpu_core_set_pc(p->core, resolver);
    cpu_core_set_x(p->core, 0, HWCAP_FP_ASIMD);
    cpu_core_set_x(p->core, SP, sp);
    cpu_core_set_x(p->core, LINK, CPU_RETURN_ADDRESS);
    const enum cpu_stop stop = cpu_core_run(p->core, BUDGET, NULL, &fault);
    *chosen = cpu_core_x(p->core, 0);
    return stop == CPU_STOP_RETURN ||
           orch_fail(error, ORCH_USAGE, "the resolver at 0x%" PRIx64 " of a function with several versions does not return",
                     resolver);
}

/* Calls the resolvers of functions that come in several versions, as the start-up code would have done. */
static bool resolve_indirect(struct program *p, const char *entry, uint64_t sp, struct orch_error *error)
{
    struct cpu_context before;
    uint64_t place, resolver, chosen;
    cpu_core_save(p->core, &before);
    for (uint32_t i = 0; cpu_image_indirect(&p->image, i, &place, &resolver); i++) {
        if (!call_resolver(p, resolver, sp, &chosen, error))
            return false;
        uint8_t *const host = mem_at(p->space, place, sizeof chosen, MEM_WRITE);
        if (!host)
            return orch_fail(error, ORCH_USAGE, "an indirect function patches 0x%" PRIx64 ", outside the program", place);
        memcpy(host, &chosen, sizeof chosen);
    }
    if (cpu_image_is_resolver(&p->image, entry)) {
        if (!call_resolver(p, p->entry, sp, &chosen, error))
            return false;
        before.pc = p->entry = chosen;
    }
    cpu_core_load(p->core, &before);
    return true;
}

static bool prepare(struct program *p, const void *bytes, size_t size, const struct program_options *o, struct orch_error *error)
{
    struct cpu_stack stack = {0};
    if (!load(p, bytes, size, o, error) || !find_entry(p, o->entry, error) || !make_stack(p, o, &stack, error) ||
        !make_core(p, o, &stack, error))
        return false;
    p->stack_low = stack.low;
    if (p->is_call)
        return resolve_indirect(p, o->entry, stack.sp, error) && parse_args(p, o, error) && pass_args(p, stack.sp, error);
    cpu_core_set_x(p->core, SP, stack.sp);
    return true;
}

struct program *program_open(const void *bytes, size_t size, const struct program_options *options, struct orch_error *error)
{
    struct program *p = calloc(1, sizeof *p);
    const char *const path = options->path ? options->path : "program";
    if (!p || !(p->path = strdup(path))) {
        free(p);
        orch_no_memory(error);
        return NULL;
    }
    if (prepare(p, bytes, size, options, error))
        return p;
    orch_fail_in(error, "%s", path);
    program_close(p);
    return NULL;
}

void program_close(struct program *program)
{
    if (!program)
        return;
    cpu_core_free(program->core);
    cpu_linux_free(program->linux_system);
    for (size_t i = 0; i < program->arg_count; i++)
        program_arg_release(&program->arg[i]);
    free(program->arg);
    for (int i = 0; i < STREAMS; i++)
        free(program->text[i].bytes);
    cpu_image_release(&program->image);
    mem_space_free(program->space);
    free(program->file);
    free(program->path);
    free(program);
}

struct cpu_core *program_core(const struct program *program)
{
    return program->core;
}

struct mem_space *program_space(const struct program *program)
{
    return program->space;
}

struct cpu_linux *program_system(const struct program *program)
{
    return program->linux_system;
}

const char *program_missing(const struct program *program)
{
    return cpu_linux_missing(program->linux_system);
}

bool program_below_stack(const struct program *program, uint64_t address)
{
    return address < program->stack_low && address >= program->stack_low - STACK_GAP_BYTES;
}

const struct cpu_linux_params *program_linux(const struct program *program)
{
    return &program->linux_params;
}

/* ---- results ---- */

static bool is_result(const struct program_arg *arg)
{
    return arg->kind == PROGRAM_ARG_POINTER && !arg->read_only;
}

size_t program_result_count(const struct program *program)
{
    size_t count = 0;
    for (size_t i = 0; i < program->arg_count; i++)
        count += is_result(&program->arg[i]);
    return count;
}

bool program_result(const struct program *program, size_t index, struct program_result *result)
{
    for (size_t i = 0; i < program->arg_count; i++) {
        const struct program_arg *a = &program->arg[i];
        if (!is_result(a) || index--)
            continue;
        *result = (struct program_result){
            .type = program_arg_type_name(a), .array = a->array, .addr = a->bits, .save_path = a->save_path};
        snprintf(result->name, sizeof result->name, "arg%zu", i + 1);
        result->array.owned = NULL;
        result->array.data = mem_at(program->space, a->bits, a->array.bytes, MEM_READ);
        if (!result->array.data) /* the program has unmapped its own buffer */
            return false;
        result->checksum = checksum_fnv1a64(result->array.data, result->array.bytes);
        return true;
    }
    return false;
}

bool program_save_results(const struct program *program, struct orch_error *error)
{
    const size_t count = program_result_count(program);
    for (size_t i = 0; i < count; i++) {
        struct program_result r;
        if (!program_result(program, i, &r))
            return orch_fail(error, ORCH_FAULT, "%s: the program unmapped one of its buffers", program->path);
        if (r.save_path && !npy_save(r.save_path, &r.array, error))
            return false;
    }
    return true;
}

const struct cpu_image *program_image(const struct program *program)
{
    return &program->image;
}

const char *program_path(const struct program *program)
{
    return program->path;
}
