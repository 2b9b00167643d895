/* A program that is ready to run on one core. An AArch64 file, an entry and arguments become an address space, a core with its
 * registers set, and a small Linux behind its system calls. The program runs either as a process from _start (executables) or as
 * a call of one function (objects, or --entry); in a call, x30 is CPU_RETURN_ADDRESS and the result is in x0 or v0.
 *
 * A function that is called by name runs without the program's start-up code. In an executable that is linked with a C library it
 * must therefore not use that library; objects and freestanding executables have no such limit.
 *
 *     struct program *p = program_open(bytes, size, &options, &error);
 *     cpu_core_set_coprocessor(program_core(p), ...);              the caller's AMX unit
 *     stop = cpu_core_run(program_core(p), budget, trace, &fault); as often as wanted
 *     if (stop == CPU_STOP_FAULT) program_explain_fault(p, &fault, &error);
 *     program_result(p, i, &result) ... program_save_results(p, &error)
 */
#ifndef ORCHARD_SIM_WORKLOAD_CPU_PROGRAM_H
#define ORCHARD_SIM_WORKLOAD_CPU_PROGRAM_H

#include "isa/elf/elf_read.h"
#include "sim/base/error.h"
#include "sim/base/npy.h"
#include "units/cpu/cpu_core.h"
#include "units/cpu/cpu_load.h"
#include "units/cpu/cpu_sandbox.h"
#include "units/cpu/cpu_system.h"
#include "units/mem/mem_space.h"

struct program;

struct program_options {
    const char *path;        /* for messages, and argv[0] */
    const char *entry;       /* function to call; NULL = _start */
    const char *const *args; /* arguments of the function (program_args.h), or argv[1..] of the process */
    size_t arg_count;
    const char *const *envp; /* environment of the process */
    size_t env_count;
    uint64_t space_bytes;  /* simulated address space; 0 = 64 GiB */
    uint64_t memory_bytes; /* how much of it may be in use; 0 = no limit */
    uint64_t stack_bytes;  /* 0 = 8 MiB */
    uint64_t seed;         /* for getrandom and the C library's random bytes */
    unsigned cores;        /* that the program is told of; 0 = 1 */
    /* Files of the host that it sees (cpu_sandbox.h), and what its standard input has. They stay the caller's. */
    const struct cpu_mount *mounts;
    size_t mount_count;
    const void *input;
    size_t input_bytes;
};

/* Copies the file's bytes. NULL with *error when the program cannot run: exit code 2 and a text that starts with the path. */
struct program *program_open(const void *bytes, size_t size, const struct program_options *options, struct orch_error *error);
void program_close(struct program *program);

struct cpu_core *program_core(const struct program *program);
struct mem_space *program_space(const struct program *program);
struct cpu_linux *program_system(const struct program *program);
const struct cpu_image *program_image(const struct program *program);
const char *program_path(const struct program *program);
/* The parameters of its Linux, for running the same program on another engine. */
const struct cpu_linux_params *program_linux(const struct program *program);

/* Whether an address lies where the first stack ends up that has grown too far. */
bool program_below_stack(const struct program *program, uint64_t address);

/* A file that the program asked for and nothing mounted has; NULL = none. */
const char *program_missing(const struct program *program);

/* Receives what the program writes to descriptors 1 and 2, as it writes it. */
struct program_sink {
    void (*write)(void *context, const void *bytes, size_t count);
    void *context;
};
void program_set_sink(struct program *program, const struct program_sink *sink);
/* What the program wrote to descriptor 1 or 2 so far. */
const char *program_text(const struct program *program, int fd, size_t *size);

/* Buffers that the called function may have written, in the order of the arguments. Finish the coprocessor before reading them.
 */
struct program_result {
    char name[24];          /* "arg2": position among the arguments, from 1 */
    const char *type;       /* "f32" */
    struct npy_array array; /* its data point into the simulated memory */
    uint64_t addr;
    uint64_t checksum;     /* FNV-1a, 64 bits, of the bytes */
    const char *save_path; /* NULL = not written to a file */
};
size_t program_result_count(const struct program *program);
/* False when there is no such result, or when the program has unmapped its buffer. */
bool program_result(const struct program *program, size_t index, struct program_result *result);
/* Writes every buffer that has a save path to its file. */
bool program_save_results(const struct program *program, struct orch_error *error);

/* Writes where a pc is, "matmul+0x24", or "" when no symbol covers it. Returns text. */
const char *program_place(const struct program *program, uint64_t pc, char *text, size_t size);
/* Turns a fault of the core into exit code 4 (3 for an instruction that is not modelled) and one line of text. Returns false. */
bool program_explain_fault(const struct program *program, const struct unit_fault *fault, struct orch_error *error);
/* The same for a program all of whose threads wait: for what, and where. */
bool program_explain_deadlock(const struct program *program, struct orch_error *error);
/* The same for a program that was ended after so many instructions, at pc. */
bool program_explain_limit(const struct program *program, uint64_t instructions, uint64_t pc, struct orch_error *error);
/* The same for one that was interrupted by who waits. */
bool program_explain_interrupt(const struct program *program, uint64_t instructions, uint64_t pc, struct orch_error *error);

#endif
