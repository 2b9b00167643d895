/* Steps of the lattice Boltzmann kernel, executed: against a plain solver on the host in double precision, with two copies of the
 * populations that streams from one to the other, and against what must not change. */
#include "isa/array_count.h"
#include "tests/units/gpu_library_example.h"

enum { DIRECTIONS = 19 };

static const int velocity[DIRECTIONS][3] = {{0, 0, 0},  {1, 0, 0},   {-1, 0, 0}, {0, 1, 0},   {0, -1, 0}, {0, 0, 1},   {0, 0, -1},
                                            {1, 1, 0},  {-1, -1, 0}, {1, 0, 1},  {-1, 0, -1}, {0, 1, 1},  {0, -1, -1}, {1, -1, 0},
                                            {-1, 1, 0}, {1, 0, -1},  {-1, 0, 1}, {0, 1, -1},  {0, -1, 1}};

struct box {
    int side[3];
    double relax;
};

static double weight(int i)
{
    return i == 0 ? 1.0 / 3 : i < 7 ? 1.0 / 18 : 1.0 / 36;
}

static long cells_of(const struct box *b)
{
    return (long)b->side[0] * b->side[1] * b->side[2];
}

/* The cell that lies one step of direction i away. */
static long towards(const struct box *b, long cell, int i)
{
    const int at[3] = {(int)(cell % b->side[0]), (int)(cell / b->side[0] % b->side[1]), (int)(cell / b->side[0] / b->side[1])};
    int to[3];
    for (unsigned axis = 0; axis < 3; axis++)
        to[axis] = (at[axis] + velocity[i][axis] + b->side[axis]) % b->side[axis];
    return to[0] + (long)b->side[0] * (to[1] + (long)b->side[1] * to[2]);
}

static int opposite(int i)
{
    return i == 0 ? 0 : i % 2 ? i + 1 : i - 1;
}

/* One relaxation time: f += relax (equilibrium - f), the textbook's formula. */
static void collide(const struct box *b, double f[DIRECTIONS])
{
    double density = 0, u[3] = {0};
    for (int i = 0; i < DIRECTIONS; i++) {
        density += f[i];
        for (unsigned axis = 0; axis < 3; axis++)
            u[axis] += f[i] * velocity[i][axis];
    }
    for (unsigned axis = 0; axis < 3; axis++)
        u[axis] /= density;
    const double square = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
    for (int i = 0; i < DIRECTIONS; i++) {
        const double along = u[0] * velocity[i][0] + u[1] * velocity[i][1] + u[2] * velocity[i][2];
        f[i] += b->relax * (weight(i) * density * (1 + 3 * along + 4.5 * along * along - 1.5 * square) - f[i]);
    }
}

/* All cells collide, solid ones turn what they have around, and everything moves on. */
static void advance(const struct box *b, const double *solid, const double *from, double *to)
{
    const long cells = cells_of(b);
    for (long n = 0; n < cells; n++) {
        double f[DIRECTIONS];
        for (int i = 0; i < DIRECTIONS; i++)
            f[i] = from[i * cells + n];
        if (solid[n] == 0)
            collide(b, f);
        for (int i = 0; i < DIRECTIONS; i++)
            to[i * cells + towards(b, n, i)] = f[solid[n] == 0 ? i : opposite(i)];
    }
}

/* What a cell reads from the kernel's arrays before a step: one's own place for what goes forward, the neighbour's for what comes
 * back, in arrays that change places from step to step. */
static void gather(const struct box *b, const double *stored, bool odd, double scale, double *f)
{
    const long cells = cells_of(b);
    for (long n = 0; n < cells; n++) {
        f[n] = stored[n] / scale + weight(0);
        for (int i = 1; i < DIRECTIONS; i += 2) {
            f[i * cells + n] = stored[(odd ? i : i + 1) * cells + n] / scale + weight(i);
            f[(i + 1) * cells + n] = stored[(odd ? i + 1 : i) * cells + towards(b, n, i)] / scale + weight(i);
        }
    }
}

static double total(const double *f, long count)
{
    double sum = 0;
    for (long i = 0; i < count; i++)
        sum += f[i];
    return sum;
}

/* Solid cells: none, or every eleventh. */
static void set_solid(struct gpu_example *x, bool some)
{
    const unsigned buffer = example_buffer(x, "solid");
    uint8_t *const bytes = example_bytes(x, buffer);
    for (uint64_t n = 0; n < x->kernel.buffer[buffer].count; n++)
        bytes[n] = some && n % 11 == 0;
}

static void compare(struct gpu_example *x, const struct box *b, unsigned steps, bool some, double scale, double bound)
{
    const long cells = cells_of(b), count = DIRECTIONS * cells;
    set_solid(x, some);
    double *const before = example_values(x, "f"), *const solid = example_values(x, "solid");
    double *const now = calloc((size_t)count, sizeof *now), *const next = calloc((size_t)count, sizeof *next);
    gather(b, before, false, scale, now);
    const double mass = total(now, count);
    const bool ran = example_run(x, true);
    double *const after = example_values(x, "f");
    double worst = 0;
    CHECK(ran, "%s", x->text);
    for (unsigned s = 0; s < steps; s++) {
        advance(b, solid, now, next);
        memcpy(now, next, (size_t)count * sizeof *now);
    }
    gather(b, after, steps % 2 != 0, scale, next);
    for (long i = 0; i < count; i++)
        worst = fmax(worst, fabs(next[i] - now[i]));
    CHECK(worst <= bound, "%u steps: off by %g, bound %g", steps, worst, bound);
    CHECK(fabs(total(next, count) - mass) <= bound * (double)count / 8, "mass %.9f, was %.9f", total(next, count), mass);
    free(before);
    free(solid);
    free(now);
    free(next);
    free(after);
}

/* Rounding: a population of at most 1/3 is moved by some twenty float32 operations on differences below 0.01 a step; half
 * precision rounds what is stored, at most 0.02, to 2^-11 of it. */
static void test_steps(void)
{
    static const struct {
        struct box box;
        unsigned steps;
        bool solid;
    } cases[] = {
        {{{5, 4, 3}, 1.0}, 1, false}, {{{7, 3, 5}, 0.6}, 2, true}, {{{66, 2, 3}, 1.7}, 5, true}, {{{2, 2, 2}, 1.9}, 8, false}};
    for (unsigned i = 0; i < ARRAY_COUNT(cases); i++)
        for (unsigned half = 0; half < 2; half++) {
            const struct box *const b = &cases[i].box;
            struct gpu_example x;
            char workload[96];
            snprintf(workload, sizeof workload, "lattice:%dx%dx%d,steps=%u,relax=%g", b->side[0], b->side[1], b->side[2],
                     cases[i].steps, b->relax);
            const bool open = example_open(&x, workload, half ? "f16" : "f32", 8);
            CHECK(open, "%s: %s", workload, x.text);
            if (open) {
                example_fill(&x, 100 + i);
                compare(&x, b, cases[i].steps, cases[i].solid, half ? 0x1p15 : 1,
                        cases[i].steps * (half ? 0.02 * 0x1p-11 : 0.05 * 0x1p-23));
            }
            example_close(&x);
        }
}

static void test_refusals(void)
{
    example_refused("lattice:2048x2048x2048", NULL, "2^31");
    example_refused("lattice:1x8x8", NULL, "x");
    example_refused("lattice:8x8x8", "bf16", "precision");
}

static const struct suite_test tests[] = {
    {"steps in place give what two copies in double precision give", test_steps},
    {"boxes that the kernel has not are refused", test_refusals},
};

int main(void)
{
    return suite_run("gpu_kernels_lattice", tests, ARRAY_COUNT(tests));
}
