/* Loops of multiply-adds by element, the inside of products of matrices: many laps at once in the host's vectors.
 *
 * Such a loop is one block that branches back to its own beginning until a comparison says equal. It loads whole vectors, adds
 * constants to addresses and counters, and every sum is a register that one fmla (of floats or doubles) or sdot by element of a
 * lap changes. The sums that take the elements of one register, and the vectors they are multiplied by, make a tile. Tiles then
 * go through the laps one after another with their sums in host registers. Each sum takes the same products in the same order, so
 * its bits are the same, and as many instructions are counted. Laps that a trace records, that touch memory which needs a closer
 * look, or whose sums become NaN are left to the interpreter, and so is the last one.
 */
#ifndef ORCHARD_UNITS_CPU_CPU_EXEC_LOOP_H
#define ORCHARD_UNITS_CPU_CPU_EXEC_LOOP_H

#include "units/cpu/cpu_exec.h"

struct cpu_loop;

/* The loop that a block is, to be freed with free(); NULL when it is none of this kind, or the host lacks the vectors. */
struct cpu_loop *cpu_loop_find(const struct a64_insn *insn, uint32_t count);

/* Runs up to `laps` laps from the beginning of the block, but never the last one. Returns how many; the core is then at the
 * beginning of the block again, as if they had been interpreted. */
uint64_t cpu_loop_run(struct cpu_core *core, struct cpu_loop *loop, uint64_t laps);

enum { CPU_TILE_ROWS = 4, CPU_TILE_COLUMNS = 4 };

/* Sixteen bytes that a lap reads, and how far they are from those of the next lap (0: a register that does not change). */
struct cpu_loop_source {
    const uint8_t *at;
    size_t step;
};

/* cpu_exec_loop_avx2.c: sum[row][column] += element `row` of `elements` * vector[column], lap after lap: of 4 floats, of 2
 * doubles (two rows), and of 4 numbers of 32 bits to which four products of bytes are added. */
typedef void cpu_tile_function(uint64_t laps, struct cpu_loop_source elements,
                               const struct cpu_loop_source vector[CPU_TILE_COLUMNS], unsigned columns,
                               union cpu_vec sum[CPU_TILE_ROWS][CPU_TILE_COLUMNS]);
cpu_tile_function cpu_tile_f32_avx2, cpu_tile_f64_avx2, cpu_tile_i8_avx2;

#endif
