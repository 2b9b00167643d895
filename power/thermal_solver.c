/* Modes: with S = C^-1/2 G C^-1/2 = V L V^T (symmetric, positive definite) and T = T_ambient + C^-1/2 V z,
 *
 *     dz/dt = -L z + V^T C^-1/2 P    so    z(t + h) = e^(-L h) z + (1 - e^(-L h)) / L * V^T C^-1/2 P
 *
 * for each mode by itself. The ambient is constant, so its term drops out of z.
 */
#include "power/thermal_solver.h"

#include <gsl/gsl_eigen.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct thermal_solver {
    size_t nodes, powered;
    double ambient_k;
    gsl_matrix *factor;    /* Cholesky factor of G */
    double *capacity;      /* J/K */
    double *to_ambient;    /* W/K */
    double *rate;          /* L: 1/s, ascending */
    double *into;          /* [powered][nodes]: input of every mode for one watt in a node */
    double *shape;         /* [nodes][nodes]: rise of a node per unit of every mode, K */
    double *ambient_shape; /* [nodes]: heat to the ambient per unit of every mode, W */
    double *stored_shape;  /* [nodes]: heat stored per unit of every mode, J */
    double *z, *input, *decay, *gain;
    double decay_s; /* the step for which decay and gain hold */
    double stored_at_start_j;
    struct thermal_balance balance;
};

static bool allocate(struct thermal_solver *s)
{
    const size_t n = s->nodes;

    s->factor = gsl_matrix_calloc(n, n);
    s->capacity = calloc(n, sizeof(double));
    s->to_ambient = calloc(n, sizeof(double));
    s->rate = calloc(n, sizeof(double));
    s->into = calloc(n * (s->powered ? s->powered : 1), sizeof(double));
    s->shape = calloc(n * n, sizeof(double));
    s->ambient_shape = calloc(n, sizeof(double));
    s->stored_shape = calloc(n, sizeof(double));
    s->z = calloc(n, sizeof(double));
    s->input = calloc(n, sizeof(double));
    s->decay = calloc(n, sizeof(double));
    s->gain = calloc(n, sizeof(double));
    return s->factor && s->capacity && s->to_ambient && s->rate && s->into && s->shape && s->ambient_shape && s->stored_shape &&
           s->z && s->input && s->decay && s->gain;
}

void thermal_solver_free(struct thermal_solver *s)
{
    if (!s)
        return;
    if (s->factor)
        gsl_matrix_free(s->factor);
    double *const owned[] = {s->capacity,     s->to_ambient, s->rate,  s->into,  s->shape, s->ambient_shape,
                             s->stored_shape, s->z,          s->input, s->decay, s->gain};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        free(owned[i]);
    free(s);
}

static void add(gsl_matrix *m, size_t i, size_t j, double value)
{
    gsl_matrix_set(m, i, j, gsl_matrix_get(m, i, j) + value);
}

static void fill_conductance(struct thermal_solver *s, const struct thermal_network *network)
{
    for (size_t i = 0; i < s->nodes; i++) {
        s->capacity[i] = network->node[i].capacity_j_per_k;
        s->to_ambient[i] = network->node[i].ambient_w_per_k;
        add(s->factor, i, i, s->to_ambient[i]);
    }
    for (size_t l = 0; l < network->links; l++) {
        const struct thermal_link *const link = &network->link[l];
        add(s->factor, link->a, link->a, link->w_per_k);
        add(s->factor, link->b, link->b, link->w_per_k);
        add(s->factor, link->a, link->b, -link->w_per_k);
        add(s->factor, link->b, link->a, -link->w_per_k);
    }
}

static void fill_modes(struct thermal_solver *s, const gsl_vector *values, const gsl_matrix *vectors)
{
    const size_t n = s->nodes;

    for (size_t m = 0; m < n; m++) {
        s->rate[m] = gsl_vector_get(values, m);
        for (size_t i = 0; i < n; i++) {
            const double rise = gsl_matrix_get(vectors, i, m) / sqrt(s->capacity[i]);
            s->shape[i * n + m] = rise;
            s->ambient_shape[m] += s->to_ambient[i] * rise;
            s->stored_shape[m] += s->capacity[i] * rise;
            if (i < s->powered)
                s->into[i * n + m] = rise;
        }
    }
}

static bool find_modes(struct thermal_solver *s)
{
    const size_t n = s->nodes;
    gsl_matrix *const a = gsl_matrix_alloc(n, n), *const vectors = gsl_matrix_alloc(n, n);
    gsl_vector *const values = gsl_vector_alloc(n);
    gsl_eigen_symmv_workspace *const work = gsl_eigen_symmv_alloc(n);
    bool ok = a && vectors && values && work;

    if (ok) {
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                gsl_matrix_set(a, i, j, gsl_matrix_get(s->factor, i, j) / sqrt(s->capacity[i] * s->capacity[j]));
        ok = gsl_eigen_symmv(a, values, vectors, work) == GSL_SUCCESS &&
             gsl_eigen_symmv_sort(values, vectors, GSL_EIGEN_SORT_VAL_ASC) == GSL_SUCCESS && gsl_vector_get(values, 0) > 0;
        if (ok)
            fill_modes(s, values, vectors);
    }
    gsl_eigen_symmv_free(work);
    gsl_vector_free(values);
    gsl_matrix_free(vectors);
    gsl_matrix_free(a);
    return ok;
}

struct thermal_solver *thermal_solver_create(const struct thermal_network *network, double ambient_k, struct power_error *error)
{
    if (!thermal_network_check(network, error))
        return NULL;
    if (!(ambient_k > 0) || !isfinite(ambient_k)) {
        power_fail(error, 0, "ambient temperature must be above 0 K");
        return NULL;
    }
    struct thermal_solver *const s = calloc(1, sizeof *s);
    if (!s) {
        power_fail(error, 0, "out of memory");
        return NULL;
    }
    s->nodes = network->nodes;
    s->powered = network->powered;
    s->ambient_k = ambient_k;
    s->decay_s = -1;
    /* gsl's default error handler aborts, but a library must return. */
    gsl_error_handler_t *const handler = gsl_set_error_handler_off();
    bool ok = allocate(s);
    if (ok) {
        fill_conductance(s, network);
        ok = find_modes(s) && gsl_linalg_cholesky_decomp1(s->factor) == GSL_SUCCESS;
    }
    gsl_set_error_handler(handler);
    if (!ok) {
        power_fail(error, 0, "thermal network of %zu nodes cannot be solved", network->nodes);
        thermal_solver_free(s);
        return NULL;
    }
    thermal_set_uniform(s, ambient_k);
    return s;
}

size_t thermal_solver_nodes(const struct thermal_solver *s)
{
    return s->nodes;
}

void thermal_steady(const struct thermal_solver *s, const double *power_w, double *kelvin)
{
    gsl_vector_view rise = gsl_vector_view_array(kelvin, s->nodes);

    for (size_t i = 0; i < s->nodes; i++)
        kelvin[i] = i < s->powered ? power_w[i] : 0;
    gsl_linalg_cholesky_svx(s->factor, &rise.vector);
    for (size_t i = 0; i < s->nodes; i++)
        kelvin[i] += s->ambient_k;
}

static double stored_j(const struct thermal_solver *s)
{
    double sum = 0;

    for (size_t m = 0; m < s->nodes; m++)
        sum += s->stored_shape[m] * s->z[m];
    return sum;
}

/* z = V^T C^1/2 (T - T_ambient), since the modes are orthogonal with respect to the capacities. */
void thermal_set(struct thermal_solver *s, const double *kelvin)
{
    memset(s->z, 0, s->nodes * sizeof *s->z);
    for (size_t i = 0; i < s->nodes; i++) {
        const double heat = s->capacity[i] * (kelvin[i] - s->ambient_k);
        for (size_t m = 0; m < s->nodes; m++)
            s->z[m] += heat * s->shape[i * s->nodes + m];
    }
    s->stored_at_start_j = stored_j(s);
    s->balance = (struct thermal_balance){0};
}

void thermal_set_uniform(struct thermal_solver *s, double kelvin)
{
    memset(s->z, 0, s->nodes * sizeof *s->z);
    for (size_t m = 0; m < s->nodes; m++)
        s->z[m] = s->stored_shape[m] * (kelvin - s->ambient_k);
    s->stored_at_start_j = stored_j(s);
    s->balance = (struct thermal_balance){0};
}

static void prepare_step(struct thermal_solver *s, double seconds)
{
    if (s->decay_s == seconds)
        return;
    for (size_t m = 0; m < s->nodes; m++) {
        s->decay[m] = exp(-s->rate[m] * seconds);
        s->gain[m] = -expm1(-s->rate[m] * seconds) / s->rate[m];
    }
    s->decay_s = seconds;
}

void thermal_step(struct thermal_solver *s, const double *power_w, double seconds)
{
    const size_t n = s->nodes;
    double in_w = 0, out_j = 0;

    prepare_step(s, seconds);
    memset(s->input, 0, n * sizeof *s->input);
    for (size_t i = 0; i < s->powered; i++) {
        const double *const into = s->into + i * n;
        const double watts = power_w[i];
        in_w += watts;
        if (watts != 0)
            for (size_t m = 0; m < n; m++)
                s->input[m] += watts * into[m];
    }
    for (size_t m = 0; m < n; m++) {
        /* The integral of z over the step follows from L * integral = z - z' + input * h. */
        const double z = s->decay[m] * s->z[m] + s->gain[m] * s->input[m];
        out_j += s->ambient_shape[m] * (s->gain[m] * s->z[m] + (seconds - s->gain[m]) * s->input[m] / s->rate[m]);
        s->z[m] = z;
    }
    s->balance.in_j += in_w * seconds;
    s->balance.out_j += out_j;
}

void thermal_read(const struct thermal_solver *s, size_t first, size_t count, double *kelvin)
{
    for (size_t i = 0; i < count; i++) {
        const double *const shape = s->shape + (first + i) * s->nodes;
        double rise = 0;
        for (size_t m = 0; m < s->nodes; m++)
            rise += shape[m] * s->z[m];
        kelvin[i] = s->ambient_k + rise;
    }
}

struct thermal_balance thermal_energy(const struct thermal_solver *s)
{
    struct thermal_balance balance = s->balance;

    balance.stored_j = stored_j(s) - s->stored_at_start_j;
    return balance;
}
