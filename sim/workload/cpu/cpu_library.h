/* A kernel of the NEON library, or of the AMX library's rows, as an AArch64 program: its code is the library's object file, its
 * operands lie in the program's memory, and its calls run on threads of that one program, each thread with a part that is known
 * before it starts. */
#ifndef ORCHARD_SIM_WORKLOAD_CPU_CPU_LIBRARY_H
#define ORCHARD_SIM_WORKLOAD_CPU_CPU_LIBRARY_H

#include "sim/workload/cpu/program.h"
#include "units/cpu/kernels/cpu_kernels.h"

/* Does the library have a kernel of that name ("softmax:...")? */
bool cpu_library_has(const char *workload);

struct cpu_library {
    struct routine_request request;
    struct routine_work work;
    char text[512];                 /* canonical: equal requests have equal texts */
    double weight[ROUTINE_THREADS]; /* of each thread's share; set by the owner, 1 each after opening */
    bool blank; /* set by the owner: floating-point operands get no values, as nobody looks at them or others follow */
    bool flush; /* set by tests: operands end where their pages end, so that accesses behind them fault */
};
/* Parses and builds for so many threads, and a generation of the unit (routine.h), a kernel of these rows. False with exit code 2
 * and a text that says what to type instead. */
bool cpu_library_open_of(struct cpu_library *library, const struct routine_library *rows, const char *workload,
                         const char *precision, unsigned threads, unsigned generation, struct orch_error *error);
/* The same for NEON. */
bool cpu_library_open(struct cpu_library *library, const char *workload, const char *precision, unsigned threads,
                      struct orch_error *error);
/* Bytes of all operands. */
double cpu_library_bytes(const struct cpu_library *library);

struct cpu_library_data {
    uint64_t address[ROUTINE_OPERANDS];
};
/* Allocates and fills the operands in the memory of a program that was opened with the library's code and entry, and sets its
 * registers. False when memory is full. */
bool cpu_library_place(const struct cpu_library *library, struct program *program, uint64_t seed, struct cpu_library_data *data,
                       struct orch_error *error);
/* Runs the calls that bring constant weights into panels, of operands that are placed and filled: untimed, before the program.
 */
bool cpu_library_load(const struct cpu_library *library, struct program *program, const struct cpu_library_data *data,
                      struct orch_error *error);
/* cpu_library_place with operands that lie somewhere already: writes the list of calls but those of loading to `list`, which has
 * cpu_library_list_bytes, and sets the registers. `stacks` are those of all threads; one thread alone has none. */
bool cpu_library_write(const struct cpu_library *library, struct program *program, const struct cpu_library_data *data,
                       uint64_t list, uint64_t stacks, struct orch_error *error);
uint64_t cpu_library_list_bytes(unsigned calls);
/* FNV-1a64 of the result. */
uint64_t cpu_library_checksum(const struct cpu_library *library, const struct cpu_library_data *data,
                              const struct mem_space *space);

#endif
