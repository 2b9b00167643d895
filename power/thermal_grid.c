#include "power/thermal_grid.h"

#include "power/band_solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS 7 /* step lengths: interval / 64 ... interval / 1 */

struct cell_share {
    uint32_t cell;
    double share; /* of the block's power */
};
struct block_cells {
    struct cell_share *cell; /* the cells that the block touches; owned */
    size_t count;
};

/* The sparse rows of G, which the explicit half of a step needs beside the factors. */
struct thermal_grid {
    unsigned rows, cols;
    size_t cells, nodes, blocks;
    double ambient_k;
    struct block_cells *block;
    double *capacity, *to_ambient;
    struct thermal_link *link;
    size_t links;
    double *rise;              /* state, K above ambient */
    double *heat, *old, *work; /* room for a step */
    struct band_solver *steady;
    struct band_solver *step[LEVELS];
    double interval_s; /* for which the step solvers are made */
};

/* The cells of one column of layers are numbered first, then those along the shorter side, which gives the narrowest band. */
static size_t node_of(const struct thermal_grid *g, unsigned row, unsigned col, unsigned layer)
{
    const size_t place = g->rows >= g->cols ? (size_t)row * g->cols + col : (size_t)col * g->rows + row;
    return place * THERMAL_LAYERS + layer;
}

static size_t half_band(const struct thermal_grid *g)
{
    return THERMAL_LAYERS * (size_t)(g->rows >= g->cols ? g->cols : g->rows);
}

static void link_nodes(struct thermal_grid *g, size_t a, size_t b, double k_per_w)
{
    g->link[g->links++] = (struct thermal_link){.a = (uint32_t)a, .b = (uint32_t)b, .w_per_k = 1 / k_per_w};
}

struct layer_sizes {
    double across, up, through; /* resistances of a cell, K/W */
    double capacity;
};

static struct layer_sizes layer_of(const struct thermal_package *p, unsigned layer, double width_m, double height_m)
{
    const struct thermal_material *const all[THERMAL_LAYERS] = {&p->chip, &p->interface, &p->spreader, &p->sink};
    const struct thermal_material *const m = all[layer];
    const double k = m->conductivity_w_per_mk, t = m->thickness_m;

    return (struct layer_sizes){.across = width_m / (k * height_m * t),
                                .up = height_m / (k * width_m * t),
                                .through = t / (k * width_m * height_m),
                                .capacity = p->capacity_factor * m->capacity_j_per_m3k * t * width_m * height_m};
}

static void link_layer(struct thermal_grid *g, const struct thermal_package *p, unsigned layer, const struct layer_sizes *size)
{
    const bool lateral = layer > 0 || !p->omit_lateral;

    for (unsigned r = 0; r < g->rows; r++)
        for (unsigned c = 0; c < g->cols; c++) {
            const size_t node = node_of(g, r, c, layer);
            g->capacity[node] = size->capacity;
            if (lateral && c + 1 < g->cols)
                link_nodes(g, node, node_of(g, r, c + 1, layer), size->across);
            if (lateral && r + 1 < g->rows)
                link_nodes(g, node, node_of(g, r + 1, c, layer), size->up);
            if (layer + 1 < THERMAL_LAYERS)
                link_nodes(g, node, node + 1, size->through);
        }
}

/* Links the cells at the edges of the die to the rim of their layer; the rim nodes are W E N S. */
static void link_rim(struct thermal_grid *g, unsigned layer, size_t rim, const double resistance[4],
                     const struct layer_sizes *size)
{
    for (unsigned r = 0; r < g->rows; r++) {
        link_nodes(g, node_of(g, r, 0, layer), rim + 0, size->across / 2 + g->rows * resistance[0]);
        link_nodes(g, node_of(g, r, g->cols - 1, layer), rim + 1, size->across / 2 + g->rows * resistance[1]);
    }
    for (unsigned c = 0; c < g->cols; c++) {
        link_nodes(g, node_of(g, 0, c, layer), rim + 2, size->up / 2 + g->cols * resistance[2]);
        link_nodes(g, node_of(g, g->rows - 1, c, layer), rim + 3, size->up / 2 + g->cols * resistance[3]);
    }
}

static void add_rim_nodes(struct thermal_grid *g, const struct thermal_rims *rims, size_t first)
{
    for (unsigned side = 0; side < 4; side++) {
        g->capacity[first + side] = rims->spreader_capacity[side];
        g->capacity[first + 4 + side] = rims->inner_capacity[side];
        g->capacity[first + 8 + side] = rims->outer_capacity[side];
        g->to_ambient[first + 4 + side] = rims->inner_to_ambient[side];
        g->to_ambient[first + 8 + side] = rims->outer_to_ambient[side];
        link_nodes(g, first + side, first + 4 + side, 1 / rims->spreader_to_inner[side]);
        link_nodes(g, first + 4 + side, first + 8 + side, 1 / rims->inner_to_outer[side]);
    }
}

static void build_network(struct thermal_grid *g, const struct floorplan *plan, const struct thermal_package *p)
{
    const double width = plan->width_m / g->cols, height = plan->height_m / g->rows, ss2 = p->sink_side_m * p->sink_side_m;
    const size_t rim = g->cells * THERMAL_LAYERS;
    struct thermal_rims rims;

    thermal_hotspot_rims(plan, p, &rims);
    for (unsigned layer = 0; layer < THERMAL_LAYERS; layer++) {
        const struct layer_sizes size = layer_of(p, layer, width, height);
        link_layer(g, p, layer, &size);
        if (layer == 2)
            link_rim(g, layer, rim, rims.spreader_resistance, &size);
        if (layer == 3) {
            link_rim(g, layer, rim + 4, rims.sink_resistance, &size);
            for (size_t cell = 0; cell < g->cells; cell++) {
                const size_t node = cell * THERMAL_LAYERS + layer;
                g->capacity[node] += p->capacity_factor * p->convection_j_per_k * width * height / ss2;
                g->to_ambient[node] = 1 / (size.through + p->convection_k_per_w * ss2 / (width * height));
            }
        }
    }
    add_rim_nodes(g, &rims, rim);
}

/* Finds the first and the last cell that a stretch touches, of `count` cells of `size` each. */
static void touched(double from, double extent, double size, unsigned count, unsigned *first, unsigned *last)
{
    const double a = (from + FLOORPLAN_EPSILON_M) / size, b = (from + extent - FLOORPLAN_EPSILON_M) / size;

    *first = a > 0 ? (unsigned)a : 0;
    *last = b > 0 ? (unsigned)b : 0;
    if (*first >= count)
        *first = count - 1;
    if (*last >= count)
        *last = count - 1;
}

static bool map_block(struct thermal_grid *g, const struct floorplan *plan, size_t index)
{
    const struct floorplan_block *const b = &plan->block[index];
    const double width = plan->width_m / g->cols, height = plan->height_m / g->rows;
    unsigned south, north, west, east;

    touched(b->left_m, b->width_m, width, g->cols, &west, &east);
    touched(b->bottom_m, b->height_m, height, g->rows, &south, &north);
    struct block_cells *const cells = &g->block[index];
    cells->cell = calloc((size_t)(north - south + 1) * (east - west + 1), sizeof *cells->cell);
    if (!cells->cell)
        return false;
    for (unsigned y = south; y <= north; y++)
        for (unsigned x = west; x <= east; x++) {
            const double across = fmin((x + 1) * width, b->left_m + b->width_m) - fmax(x * width, b->left_m);
            const double up = fmin((y + 1) * height, b->bottom_m + b->height_m) - fmax(y * height, b->bottom_m);
            cells->cell[cells->count++] = (struct cell_share){
                .cell = (uint32_t)node_of(g, g->rows - 1 - y, x, 0),
                .share = fmax(across, 0) * fmax(up, 0) / (b->width_m * b->height_m),
            };
        }
    return true;
}

/* Makes the system G + scale C. */
static struct band_solver *make_solver(const struct thermal_grid *g, double scale)
{
    struct band_solver *const s = band_solver_create(g->nodes - THERMAL_RIMS, half_band(g), THERMAL_RIMS);

    if (!s)
        return NULL;
    for (size_t i = 0; i < g->nodes; i++)
        band_solver_add(s, i, i, g->to_ambient[i] + scale * g->capacity[i]);
    for (size_t l = 0; l < g->links; l++) {
        const struct thermal_link *const link = &g->link[l];
        band_solver_add(s, link->a, link->a, link->w_per_k);
        band_solver_add(s, link->b, link->b, link->w_per_k);
        band_solver_add(s, link->a, link->b, -link->w_per_k);
    }
    if (band_solver_factorise(s))
        return s;
    band_solver_free(s);
    return NULL;
}

void thermal_grid_free(struct thermal_grid *g)
{
    if (!g)
        return;
    for (size_t b = 0; g->block && b < g->blocks; b++)
        free(g->block[b].cell);
    free(g->block);
    double *const owned[] = {g->capacity, g->to_ambient, g->rise, g->heat, g->old, g->work};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        free(owned[i]);
    free(g->link);
    band_solver_free(g->steady);
    for (unsigned i = 0; i < LEVELS; i++)
        band_solver_free(g->step[i]);
    free(g);
}

static bool allocate(struct thermal_grid *g)
{
    double **const arrays[] = {&g->capacity, &g->to_ambient, &g->rise, &g->heat, &g->old, &g->work};

    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        if (!(*arrays[i] = calloc(g->nodes, sizeof(double))))
            return false;
    g->link = calloc(g->nodes * 4, sizeof *g->link);
    g->block = calloc(g->blocks, sizeof *g->block);
    return g->link && g->block;
}

struct thermal_grid *thermal_grid_create(const struct floorplan *plan, const struct thermal_package *package,
                                         struct power_error *error)
{
    if (!thermal_package_check(package, plan, error))
        return NULL;
    struct thermal_grid *const g = calloc(1, sizeof *g);
    bool ok = g != NULL;
    if (ok) {
        g->rows = package->grid_rows;
        g->cols = package->grid_cols;
        g->cells = (size_t)g->rows * g->cols;
        g->nodes = g->cells * THERMAL_LAYERS + THERMAL_RIMS;
        g->blocks = plan->count;
        g->ambient_k = package->ambient_k;
        ok = allocate(g);
    }
    if (ok)
        build_network(g, plan, package);
    for (size_t b = 0; ok && b < plan->count; b++)
        ok = map_block(g, plan, b);
    if (ok)
        return g;
    power_fail(error, 0, "out of memory for a grid of %u x %u cells", package->grid_rows, package->grid_cols);
    thermal_grid_free(g);
    return NULL;
}

size_t thermal_grid_cells(const struct thermal_grid *g)
{
    return g->cells;
}

static void set_heat(const struct thermal_grid *g, const double *power_w, double *heat)
{
    memset(heat, 0, g->nodes * sizeof *heat);
    for (size_t b = 0; b < g->blocks; b++)
        for (size_t i = 0; i < g->block[b].count; i++)
            heat[g->block[b].cell[i].cell] += power_w[b] * g->block[b].cell[i].share;
}

bool thermal_grid_steady(struct thermal_grid *g, const double *power_w)
{
    if (!g->steady)
        g->steady = make_solver(g, 0);
    if (!g->steady)
        return false;
    set_heat(g, power_w, g->rise);
    band_solver_solve(g->steady, g->rise);
    return true;
}

void thermal_grid_set_uniform(struct thermal_grid *g, double kelvin)
{
    for (size_t i = 0; i < g->nodes; i++)
        g->rise[i] = kelvin - g->ambient_k;
}

/* out = G rise */
static void conduct(const struct thermal_grid *g, const double *rise, double *out)
{
    for (size_t i = 0; i < g->nodes; i++)
        out[i] = g->to_ambient[i] * rise[i];
    for (size_t l = 0; l < g->links; l++) {
        const struct thermal_link *const link = &g->link[l];
        const double watts = link->w_per_k * (rise[link->a] - rise[link->b]);
        out[link->a] += watts;
        out[link->b] -= watts;
    }
}

/* TR-BDF2 with g = 2 - sqrt 2: the trapezoidal rule over g h, then BDF2 over h. Both solve with G + 2 C / (g h). */
static const double part = 0.58578643762690495;

static void small_step(struct thermal_grid *g, const struct band_solver *solver, double h)
{
    const double scale = 2 / (part * h);
    const double a = 1 / (part * (2 - part)), b = (1 - part) * (1 - part) / (part * (2 - part));

    memcpy(g->old, g->rise, g->nodes * sizeof *g->old);
    conduct(g, g->rise, g->work);
    for (size_t i = 0; i < g->nodes; i++)
        g->work[i] = 2 * g->heat[i] - g->work[i] + scale * g->capacity[i] * g->rise[i];
    band_solver_solve(solver, g->work);
    /* (C scale + G) T2 = C scale (a T1 - b T0) + P */
    for (size_t i = 0; i < g->nodes; i++)
        g->rise[i] = g->heat[i] + scale * g->capacity[i] * (a * g->work[i] - b * g->old[i]);
    band_solver_solve(solver, g->rise);
}

static bool prepare_steps(struct thermal_grid *g, double seconds)
{
    if (g->interval_s == seconds)
        return true;
    g->interval_s = 0;
    for (unsigned i = 0; i < LEVELS; i++) {
        band_solver_free(g->step[i]);
        g->step[i] = i ? make_solver(g, 2 / (part * seconds / (double)(1u << i))) : NULL;
        if (i && !g->step[i])
            return false;
    }
    g->interval_s = seconds;
    return true;
}

bool thermal_grid_step(struct thermal_grid *g, const double *power_w, double seconds)
{
    if (!prepare_steps(g, seconds))
        return false;
    set_heat(g, power_w, g->heat);
    /* 1/64 twice, 1/32, 1/16 ... 1/2 */
    small_step(g, g->step[LEVELS - 1], seconds / (double)(1u << (LEVELS - 1)));
    for (unsigned i = LEVELS - 1; i > 0; i--)
        small_step(g, g->step[i], seconds / (double)(1u << i));
    return true;
}

void thermal_grid_layer(const struct thermal_grid *g, unsigned layer, double *kelvin)
{
    for (unsigned r = 0; r < g->rows; r++)
        for (unsigned c = 0; c < g->cols; c++)
            kelvin[(size_t)r * g->cols + c] = g->ambient_k + g->rise[node_of(g, r, c, layer)];
}

double thermal_grid_block(const struct thermal_grid *g, size_t block)
{
    double sum = 0;

    for (size_t i = 0; i < g->block[block].count; i++)
        sum += g->rise[g->block[block].cell[i].cell];
    return g->ambient_k + sum / (double)g->block[block].count;
}
