#include "sim/network/quantise/samples.h"

#include "isa/list_grow.h"
#include "sim/network/arrays.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SAMPLES_MAX = 1 << 20, FILES_MAX = 1 << 16 };

void net_samples_free(struct net_samples *samples)
{
    for (size_t s = 0; s < samples->count; s++) {
        for (size_t k = 0; k < samples->inputs; k++)
            net_array_release(samples->set[s][k]);
        free(samples->set[s]);
    }
    free(samples->set);
    *samples = (struct net_samples){.set = NULL};
}

/* The next sample, still without its arrays. */
static struct net_array **add(struct net_samples *samples, struct orch_error *error)
{
    struct net_array ***const grown = list_grow(samples->set, samples->count, &samples->room, sizeof(*grown));
    struct net_array **const one = grown ? calloc(samples->inputs + 1, sizeof(*one)) : NULL;
    if (grown)
        samples->set = grown;
    if (!one) {
        orch_no_memory(error);
        return NULL;
    }
    grown[samples->count++] = one;
    return one;
}

static bool ends_with(const char *text, const char *end)
{
    return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

static bool is_image(const char *path)
{
    return ends_with(path, ".png") || ends_with(path, ".jpg") || ends_with(path, ".jpeg");
}

static const struct net_value *input_of(const struct net_model *model, size_t k)
{
    return &model->value[model->graph->input[k]];
}

/* ---- one file, one sample ---- */

static bool read_image(const char *path, const struct net_model *model, const struct image_scale *scale, struct net_array **one,
                       struct orch_error *error)
{
    struct image image;
    if (!image_load(path, &image, error))
        return false;
    one[0] = image_input(model, input_of(model, 0), &image, scale, error);
    image_free(&image);
    return one[0] || orch_fail_in(error, "%.300s", path);
}

static bool read_sample(const char *path, const struct net_model *model, const struct image_scale *scale,
                        struct net_samples *samples, struct orch_error *error)
{
    struct net_array **const one = add(samples, error);
    if (!one)
        return false;
    if (samples->inputs != 1 && !ends_with(path, ".npz"))
        return orch_fail(error, ORCH_USAGE, "%.300s: the network has %zu inputs; give .npz files with an array for each", path,
                         samples->inputs);
    if (is_image(path))
        return read_image(path, model, scale, one, error);
    for (size_t k = 0; k < samples->inputs; k++) {
        one[k] = net_array_load(path, samples->inputs == 1 ? NULL : input_of(model, k)->name, error);
        if (!one[k])
            return false;
        const struct net_value *const v = input_of(model, k);
        if (v->shape.known && v->shape.dims != one[k]->dims)
            return orch_fail(error, ORCH_USAGE, "%.300s: %u dimensions, input '%.80s' has %u: no sample of it", path,
                             one[k]->dims, v->name, v->shape.dims);
    }
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool list_files(const char *path, char ***name, size_t *count, struct orch_error *error)
{
    DIR *const dir = opendir(path);
    size_t room = 0;
    bool ok = dir || orch_fail(error, ORCH_USAGE, "%.300s: %s", path, strerror(errno));
    for (struct dirent *e; ok && (e = readdir(dir)) != NULL;) {
        if (!ends_with(e->d_name, ".npy") && !ends_with(e->d_name, ".npz") && !is_image(e->d_name))
            continue;
        char **const grown = list_grow(*name, *count, &room, sizeof(*grown));
        char *const copy = grown ? strdup(e->d_name) : NULL;
        *name = grown ? grown : *name;
        ok = (copy && *count < FILES_MAX) || orch_no_memory(error);
        if (ok)
            grown[(*count)++] = copy;
        else
            free(copy);
    }
    if (dir)
        closedir(dir);
    if (*count)
        qsort(*name, *count, sizeof(**name), by_name);
    return ok && (*count || orch_fail(error, ORCH_USAGE, "%.300s: no .npy, .npz, .png or .jpg file is in it", path));
}

static bool read_folder(const char *path, const struct net_model *model, const struct image_scale *scale,
                        struct net_samples *samples, struct orch_error *error)
{
    char **name = NULL;
    size_t count = 0;
    bool ok = list_files(path, &name, &count, error);
    for (size_t k = 0; k < count; k++) {
        char file[PATH_MAX];
        snprintf(file, sizeof file, "%.3000s/%s", path, name[k]);
        ok = ok && read_sample(file, model, scale, samples, error);
        free(name[k]);
    }
    free(name);
    return ok;
}

/* ---- one file, all samples ---- */

/* Sample `at` of an array: its part in the first dimension, which stays as one where the input has as many dimensions. */
static struct net_array *part_of(const struct net_array *all, const struct net_value *input, int64_t at, struct orch_error *error)
{
    int64_t shape[NET_DIMS_MAX];
    const bool keeps = !input->shape.known || input->shape.dims == all->dims;
    const unsigned dims = keeps ? all->dims : all->dims - 1;
    memcpy(shape, all->shape + (keeps ? 0 : 1), dims * sizeof *shape);
    if (keeps)
        shape[0] = 1;
    struct net_array *const one = net_array_new(all->type, shape, dims, error);
    if (one)
        memcpy(one->data, (const uint8_t *)all->data + (size_t)at * net_array_bytes(one), net_array_bytes(one));
    return one;
}

static bool cut(struct net_array *const *all, const struct net_model *model, struct net_samples *samples,
                struct orch_error *error)
{
    const int64_t count = all[0]->dims ? all[0]->shape[0] : 0;
    for (size_t k = 0; k < samples->inputs; k++) {
        const struct net_shape *const s = &input_of(model, k)->shape;
        const bool fits = !s->known || s->dims + 1 == all[k]->dims || (s->dims == all[k]->dims && s->dims && s->dim[0] <= 1);
        if (!fits || all[k]->dims == 0 || all[k]->shape[0] != count || count < 1 || count > SAMPLES_MAX)
            return orch_fail(error, ORCH_USAGE, "the array for '%.80s' does not hold samples of it in its first dimension",
                             input_of(model, k)->name);
    }
    for (int64_t at = 0; at < count; at++) {
        struct net_array **const one = add(samples, error);
        for (size_t k = 0; one && k < samples->inputs; k++)
            one[k] = part_of(all[k], input_of(model, k), at, error);
        if (!one || !one[samples->inputs - 1])
            return false;
    }
    return true;
}

static bool read_all(const char *path, const struct net_model *model, struct net_samples *samples, struct orch_error *error)
{
    struct net_array **const all = calloc(samples->inputs + 1, sizeof(*all));
    bool ok = all || orch_no_memory(error);
    for (size_t k = 0; ok && k < samples->inputs; k++) {
        all[k] = net_array_load(path, samples->inputs == 1 ? NULL : input_of(model, k)->name, error);
        ok = all[k] != NULL;
    }
    if (ok && !cut(all, model, samples, error))
        ok = orch_fail_in(error, "%.300s", path);
    for (size_t k = 0; all && k < samples->inputs; k++)
        net_array_release(all[k]);
    free(all);
    return ok;
}

bool net_samples_load(const char *path, const struct net_model *model, const struct image_scale *scale,
                      struct net_samples *samples, struct orch_error *error)
{
    struct stat st;
    *samples = (struct net_samples){.inputs = model->graph->inputs};
    if (samples->inputs == 0)
        return orch_fail(error, ORCH_USAGE, "%.300s: the network has no inputs", path);
    if (stat(path, &st) != 0)
        return orch_fail(error, ORCH_USAGE, "%.300s: %s", path, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return read_folder(path, model, scale, samples, error);
    return is_image(path) ? read_sample(path, model, scale, samples, error) : read_all(path, model, samples, error);
}
