/* Steps of a lattice Boltzmann solver: 19 populations a cell (D3Q19), one relaxation time, periodic boxes with solid cells.
 *
 * Populations are stored one array after the other and in place (M. Lehmann, Esoteric Pull and Esoteric Push, Computation 10(6),
 * 2022): of two opposite directions a cell reads one population from its own place and one from its neighbour's, and writes them
 * back crosswise, so that no two cells touch the same places and streaming costs nothing. Which of the two arrays belongs to
 * which of them changes from step to step. What is stored is the difference to the weight of the direction; in half precision
 * 2^15 times that, since populations stay below one (Lehmann et al., Physical Review E 106, 015308, 2022). Sums and products are
 * float32. A thread has a cell, a threadgroup 64, as FluidX3D has them (opencl.hpp).
 */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_kernel_family.h"

#include <stdio.h>

enum { X, Y, Z, STEPS, RELAX };
enum { PAIRS = 9, DIRECTIONS = 2 * PAIRS + 1, GROUP_THREADS = 64 };
/* Of a cell: density 19, velocity 31, its square 9, weights 6, the population at rest 7, pairs 9 * 14 and 6 sums of components.
 */
enum { FLOPS = 19 + 31 + 9 + 6 + 7 + 9 * 14 + 6 };
enum weight { REST, STRAIGHT, DIAGONAL, WEIGHTS };

static const float weights[WEIGHTS] = {1.0F / 3, 1.0F / 18, 1.0F / 36};
/* The first direction of each pair: 1 forward, -1 back along x, y and z. */
static const int8_t direction[PAIRS][3] = {{1, 0, 0}, {0, 1, 0},  {0, 0, 1},  {1, 1, 0}, {1, 0, 1},
                                           {0, 1, 1}, {1, -1, 0}, {1, 0, -1}, {0, 1, -1}};

static const struct kernel_parameter lattice_parameters[] = {
    {.name = "x", .least = 2, .most = 1 << 16, .required = true},
    {.name = "y", .least = 2, .most = 1 << 16, .required = true},
    {.name = "z", .least = 2, .most = 1 << 16, .required = true},
    {.name = "steps", .missing = 1, .least = 1, .most = GPU_KERNEL_STEPS},
    {.name = "relax", .missing = 1, .least = 0.001, .most = 2, .decimal = true},
    {.name = NULL},
};

/* A step's program; the rest are registers. */
struct lattice {
    struct gpu_emit *e;
    enum gpu_type type;
    uint32_t side[3];
    struct gpu_base array[DIRECTIONS], solid;
    bool crossed; /* an odd step: arrays of pairs have changed places */
    unsigned cell, ahead[PAIRS], f[DIRECTIONS];
    unsigned keep, take; /* how much stays of a population and how much is that of equilibrium */
    unsigned density, excess, u[3], square;
    unsigned scaled[WEIGHTS], offset[WEIGHTS]; /* density and excess times `take` and a weight */
};

/* ---- places ---- */

/* to = the coordinate's neighbour ahead or behind, around the box. */
static void neighbour(struct lattice *l, unsigned to, unsigned coordinate, uint32_t side, bool ahead)
{
    if (ahead) {
        gpu_add_imm(l->e, to, coordinate, 1);
        gpu_emit(l->e, "icmpsel ueq, r%u, r%u, %s, 0, r%u", to, to, gpu_int(l->e, side), to);
        return;
    }
    const unsigned last = gpu_register(l->e, 1);
    gpu_mov_imm(l->e, last, side - 1);
    gpu_add_imm(l->e, to, coordinate, -1);
    gpu_emit(l->e, "icmpsel ueq, r%u, r%u, 0, r%u, r%u", to, coordinate, last, to);
    gpu_register_free(l->e, last, 1);
}

/* The cell of this thread and the cells that the first directions of all pairs lead to. */
static void emit_places(struct lattice *l)
{
    struct gpu_emit *const e = l->e;
    const unsigned row = gpu_register(e, 1), here = gpu_register(e, 3), ahead = gpu_register(e, 3), behind = gpu_register(e, 3);
    gpu_emit(e, "get_sr r%u, sr%d", l->cell, GPU_SR_GRID_X);
    gpu_divide_imm(e, row, here, l->cell, l->side[0]);
    gpu_divide_imm(e, here + 2, here + 1, row, l->side[1]);
    for (unsigned i = 0; i < 3; i++) {
        neighbour(l, ahead + i, here + i, l->side[i], true);
        neighbour(l, behind + i, here + i, l->side[i], false);
    }
    for (unsigned p = 0; p < PAIRS; p++) {
        const unsigned column = direction[p][0] > 0 ? ahead : here;
        const unsigned line = direction[p][1] ? direction[p][1] > 0 ? ahead + 1 : behind + 1 : here + 1;
        const unsigned plane = direction[p][2] ? direction[p][2] > 0 ? ahead + 2 : behind + 2 : here + 2;
        gpu_mad_imm(e, l->ahead[p], plane, l->side[1], line);
        gpu_mad_imm(e, l->ahead[p], l->ahead[p], l->side[0], column);
    }
    gpu_register_free(e, behind, 3);
    gpu_register_free(e, ahead, 3);
    gpu_register_free(e, here, 3);
    gpu_register_free(e, row, 1);
}

/* Of pair p, what goes the first way lies in one's own cell, what goes the other way in the cell ahead. */
static struct gpu_base own_array(const struct lattice *l, unsigned p)
{
    return l->array[l->crossed ? 2 * p + 1 : 2 * p + 2];
}

static struct gpu_base ahead_array(const struct lattice *l, unsigned p)
{
    return l->array[l->crossed ? 2 * p + 2 : 2 * p + 1];
}

/* ---- populations ---- */

static void emit_loads(struct lattice *l)
{
    struct gpu_emit *const e = l->e;
    gpu_load_raw(e, 0, GPU_U8, 1, 2 * l->take, l->solid, gpu_r(e, l->cell));
    gpu_load_raw(e, 0, l->type, 1, 2 * l->f[0], l->array[0], gpu_r(e, l->cell));
    for (unsigned p = 0; p < PAIRS; p++) {
        gpu_load_raw(e, 0, l->type, 1, 2 * l->f[2 * p + 1], own_array(l, p), gpu_r(e, l->cell));
        gpu_load_raw(e, 0, l->type, 1, 2 * l->f[2 * p + 2], ahead_array(l, p), gpu_r(e, l->ahead[p]));
    }
    gpu_wait(e, 0);
    for (unsigned i = 0; i < DIRECTIONS && l->type == GPU_F16; i++)
        gpu_emit(e, "fmul32 r%u, %s, %s", l->f[i], gpu_h(e, 2 * l->f[i]), gpu_float(e, 0x1p-15F));
}

static void store(struct lattice *l, unsigned i, struct gpu_base array, unsigned cell)
{
    if (l->type == GPU_F16)
        gpu_emit(l->e, "fmul32 %s, r%u, %s", gpu_h(l->e, 2 * l->f[i]), l->f[i], gpu_float(l->e, 0x1p15F));
    gpu_store_raw(l->e, 1, l->type, 1, 2 * l->f[i], array, gpu_r(l->e, cell));
}

/* Solid cells send back what came: of each pair, one population takes the other's place. The free register moves on. */
static void emit_reflection(struct lattice *l)
{
    struct gpu_emit *const e = l->e;
    unsigned other = gpu_register(e, 1);
    for (unsigned p = 0; p < PAIRS; p++) {
        unsigned *const forward = &l->f[2 * p + 1], *const back = &l->f[2 * p + 2];
        gpu_emit(e, "icmpsel ueq, r%u, r%u, 0, r%u, r%u", other, l->take, *back, *forward);
        gpu_emit(e, "icmpsel ueq, r%u, r%u, 0, r%u, r%u", *back, l->take, *forward, *back);
        const unsigned freed = *forward;
        *forward = other;
        other = freed;
    }
}

static void emit_stores(struct lattice *l)
{
    store(l, 0, l->array[0], l->cell);
    for (unsigned p = 0; p < PAIRS; p++) {
        store(l, 2 * p + 1, ahead_array(l, p), l->ahead[p]);
        store(l, 2 * p + 2, own_array(l, p), l->cell);
    }
}

/* A solid cell keeps its populations as they are. */
static void emit_share(struct lattice *l, float relax)
{
    struct gpu_emit *const e = l->e;
    gpu_emit(e, "and r%u, %s, 255", l->take, gpu_h(e, 2 * l->take));
    gpu_mov_imm(e, l->keep, f32_bits(1 - relax));
    gpu_mov_imm(e, l->square, f32_bits(1));
    gpu_emit(e, "icmpsel ueq, r%u, r%u, 0, r%u, r%u", l->keep, l->take, l->keep, l->square);
    gpu_mov_imm(e, l->square, f32_bits(relax));
    gpu_emit(e, "icmpsel ueq, r%u, r%u, 0, r%u, 0", l->take, l->take, l->square);
}

/* ---- the collision ---- */

/* u[axis] = sum of what goes forward less what goes back, over the density. */
static void emit_velocity(struct lattice *l, unsigned axis)
{
    struct gpu_emit *const e = l->e;
    bool first = true;
    for (unsigned p = 0; p < PAIRS; p++) {
        if (!direction[p][axis])
            continue;
        const unsigned plus = direction[p][axis] > 0 ? 2 * p + 1 : 2 * p + 2,
                       minus = direction[p][axis] > 0 ? 2 * p + 2 : 2 * p + 1;
        if (first)
            gpu_emit(e, "fadd32 r%u, r%u, r%u.neg", l->u[axis], l->f[plus], l->f[minus]);
        else {
            gpu_emit(e, "fadd32 r%u, r%u, r%u", l->u[axis], l->u[axis], l->f[plus]);
            gpu_emit(e, "fadd32 r%u, r%u, r%u.neg", l->u[axis], l->u[axis], l->f[minus]);
        }
        first = false;
    }
}

/* density, three times the velocity, and -3 times the square of the velocity. */
static void emit_moments(struct lattice *l)
{
    struct gpu_emit *const e = l->e;
    gpu_emit(e, "fadd32 r%u, r%u, r%u", l->excess, l->f[0], l->f[1]);
    for (unsigned i = 2; i < DIRECTIONS; i++)
        gpu_emit(e, "fadd32 r%u, r%u, r%u", l->excess, l->excess, l->f[i]);
    gpu_emit(e, "fadd32 r%u, r%u, %s", l->density, l->excess, gpu_float(e, 1));
    gpu_emit(e, "rcp r%u, r%u", l->square, l->density);
    gpu_emit(e, "fmul32 r%u, r%u, %s", l->square, l->square, gpu_float(e, 3));
    for (unsigned axis = 0; axis < 3; axis++) {
        emit_velocity(l, axis);
        gpu_emit(e, "fmul32 r%u, r%u, r%u", l->u[axis], l->u[axis], l->square);
    }
    gpu_emit(e, "fmul32 r%u, r%u, r%u", l->square, l->u[0], l->u[0]);
    for (unsigned axis = 1; axis < 3; axis++)
        gpu_emit(e, "fmadd32 r%u, r%u, r%u, r%u", l->square, l->u[axis], l->u[axis], l->square);
    gpu_emit(e, "fmul32 r%u, r%u, %s", l->square, l->square, gpu_float(e, -1.0F / 3));
    for (unsigned w = 0; w < WEIGHTS; w++) {
        gpu_emit(e, "fmul32 r%u, r%u, %s", l->offset[w], l->take, gpu_float(e, weights[w]));
        gpu_emit(e, "fmul32 r%u, r%u, r%u", l->scaled[w], l->offset[w], l->density);
        gpu_emit(e, "fmul32 r%u, r%u, r%u", l->offset[w], l->offset[w], l->excess);
    }
}

/* Moves population i towards equilibrium: `shape` is that of equilibrium, 3 eu + 4.5 (eu)^2 - 1.5 u^2. */
static void relax(struct lattice *l, unsigned i, unsigned shape, enum weight w)
{
    gpu_emit(l->e, "fmadd32 r%u, r%u, r%u, r%u", shape, l->scaled[w], shape, l->offset[w]);
    gpu_emit(l->e, "fmadd32 r%u, r%u, r%u, r%u", l->f[i], l->keep, l->f[i], shape);
}

static void emit_pair(struct lattice *l, unsigned p, unsigned along, unsigned shape)
{
    struct gpu_emit *const e = l->e;
    unsigned axes = 0, one = 0;
    for (unsigned axis = 0; axis < 3; axis++) {
        if (!direction[p][axis])
            continue;
        if (axes++)
            gpu_emit(e, "fadd32 r%u, r%u, r%u%s", along, one, l->u[axis], direction[p][axis] < 0 ? ".neg" : "");
        else
            one = l->u[axis];
    }
    const unsigned speed = axes > 1 ? along : one;
    const enum weight w = axes > 1 ? DIAGONAL : STRAIGHT;
    const unsigned back = shape + 1;
    gpu_emit(e, "fmadd32 r%u, r%u, r%u, r%u", back, speed, speed, l->square);
    gpu_emit(e, "fmadd32 r%u, r%u, %s, r%u", shape, back, gpu_float(e, 0.5F), speed);
    gpu_emit(e, "fmadd32 r%u, r%u, %s, r%u.neg", back, back, gpu_float(e, 0.5F), speed);
    relax(l, 2 * p + 1, shape, w);
    relax(l, 2 * p + 2, back, w);
}

static void emit_collision(struct lattice *l)
{
    struct gpu_emit *const e = l->e;
    const unsigned along = gpu_register(e, 1), shape = gpu_register(e, 2);
    gpu_emit(e, "fmul32 r%u, r%u, %s", shape, l->square, gpu_float(e, 0.5F));
    relax(l, 0, shape, REST);
    for (unsigned p = 0; p < PAIRS; p++)
        emit_pair(l, p, along, shape);
}

/* ---- a step ---- */

static bool build_step(struct lattice *l, struct gpu_kernel *kernel, float relaxation, struct isa_error *error)
{
    const uint64_t cells = (uint64_t)l->side[0] * l->side[1] * l->side[2];
    char variant[32];
    snprintf(variant, sizeof variant, "lattice_%s_%s", gpu_type_name(l->type), l->crossed ? "odd" : "even");
    struct gpu_emit *const e = l->e = gpu_emit_begin(kernel, variant, error);
    for (unsigned i = 0; i < DIRECTIONS; i++)
        l->array[i] = gpu_argument_buffer(e, 0, gpu_type_bytes(l->type, cells) * i);
    l->solid = gpu_argument_buffer(e, 1, 0);
    unsigned *const single[] = {&l->cell, &l->keep, &l->take, &l->density, &l->excess, &l->square, &l->u[0], &l->u[1], &l->u[2]};
    for (unsigned i = 0; i < ARRAY_COUNT(single); i++)
        *single[i] = gpu_register(e, 1);
    for (unsigned p = 0; p < PAIRS; p++)
        l->ahead[p] = gpu_register(e, 1);
    for (unsigned i = 0; i < DIRECTIONS; i++)
        l->f[i] = gpu_register(e, 1);
    emit_places(l);
    for (unsigned w = 0; w < WEIGHTS; w++) {
        l->scaled[w] = gpu_register(e, 1);
        l->offset[w] = gpu_register(e, 1);
    }
    emit_loads(l);
    emit_share(l, relaxation);
    emit_moments(l);
    emit_collision(l);
    emit_reflection(l);
    emit_stores(l);
    gpu_emit_grid(e, (uint32_t)cells, 1, 1, GROUP_THREADS, 1, 1);
    return gpu_emit_end(e);
}

static bool build_lattice(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    /* Populations near those of a fluid that hardly moves. */
    const double range = r->type == GPU_F16 ? 0x1p15 * 0.002 : 0.002;
    const uint64_t cells = gpu_kernel_count_of((uint64_t)r->value[X], (uint64_t)r->value[Y], (uint64_t)r->value[Z]);
    if (cells > (uint64_t)GPU_KERNEL_ELEMENTS_MAX)
        return kernel_refuse(error, "lattice: more than 2^31 - 1 cells");
    gpu_kernel_add_buffer(kernel, "f", r->type, DIRECTIONS * cells, GPU_BUFFER_IN_OUT, -range, range);
    gpu_kernel_add_buffer(kernel, "solid", GPU_U8, cells, GPU_BUFFER_INPUT, 0, 1);
    const double steps = (double)r->value[STEPS];
    kernel->flops = FLOPS * steps * (double)cells;
    kernel->min_bytes = steps * (2 * (double)gpu_type_bytes(r->type, DIRECTIONS * cells) + (double)cells);
    bool ok = true;
    for (int64_t step = 0; ok && step < r->value[STEPS]; step++) {
        struct lattice l = {.type = r->type,
                            .side = {(uint32_t)r->value[X], (uint32_t)r->value[Y], (uint32_t)r->value[Z]},
                            .crossed = step % 2 != 0};
        ok = build_step(&l, kernel, (float)r->decimal[RELAX], error);
    }
    return ok;
}

static const struct gpu_kernel_info rows[] = {
    {"lattice", "XxYxZ[,steps=S][,relax=W]", "f32 f16",
     "D3Q19 lattice Boltzmann steps in a periodic box, in place: f[19][Z][Y][X] as differences to weights (f16: times 2^15); "
     "cells "
     "with solid[Z][Y][X] != 0 reflect",
     3, lattice_parameters, build_lattice},
};
const struct gpu_kernel_family gpu_family_lattice = {rows, ARRAY_COUNT(rows)};
