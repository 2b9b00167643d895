/* Where an input has its channels, rows and columns, and the image in these sizes. */
#include "sim/network/image/image.h"
#include "sim/network/operators/operator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool image_scale_parse(const char *option, const char *text, double number[3], struct orch_error *error)
{
    unsigned count = 0;
    const char *at = text;
    if (!text)
        return true;
    while (count < 3) {
        char *end;
        number[count] = strtod(at, &end);
        if (end == at || !isfinite(number[count]))
            break;
        count++;
        at = end + (*end == ',');
        if (*end != ',')
            break;
    }
    if (*at || (count != 1 && count != 3) || at[-(at > text)] == ',')
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " %.80s: expected one number, or three with commas between", option,
                         text);
    for (; count < 3; count++)
        number[count] = number[0];
    return true;
}

/* ---- layouts ---- */

struct layout {
    int channels, rows, columns; /* dimensions; channels -1: there is no such dimension */
    unsigned colours;
};

static bool is_colours(int64_t dim)
{
    return dim == 1 || dim == 3;
}

static bool layout_of(const struct net_model *model, const struct net_value *v, struct layout *l)
{
    int64_t dim[NET_DIMS_MAX];
    const unsigned dims = v->shape.dims;
    if (!v->shape.known || dims < 2 || dims > 4 || v->constant || v->type == NET_BOOL)
        return false;
    for (unsigned d = 0; d < dims; d++)
        dim[d] = net_dim_bound(model, v->shape.dim[d]);
    if (dims == 2) {
        *l = (struct layout){-1, 0, 1, 1};
        return dim[0] > 1 && dim[1] > 1;
    }
    const int first = (int)dims - 3;
    if (dims == 4 && dim[0] > 1)
        return false;
    if (is_colours(dim[first])) /* where both could be, the channels come first */
        *l = (struct layout){first, first + 1, first + 2, (unsigned)dim[first]};
    else if (is_colours(dim[first + 2]))
        *l = (struct layout){first + 2, first, first + 1, (unsigned)dim[first + 2]};
    else
        return false;
    return true;
}

net_id image_input_find(const struct net_model *model, struct orch_error *error)
{
    net_id found = NET_NONE;
    struct layout l;
    for (size_t k = 0; k < model->graph->inputs; k++) {
        const net_id id = model->graph->input[k];
        if (!layout_of(model, &model->value[id], &l))
            continue;
        if (found != NET_NONE) {
            orch_fail(error, ORCH_USAGE, "'%.60s' and '%.60s' can both be images: say which one by NAME=FILE",
                      model->value[found].name, model->value[id].name);
            return NET_NONE;
        }
        found = id;
    }
    if (found == NET_NONE)
        orch_fail(error, ORCH_USAGE, "no input has the shape of an image (1 or 3 channels, rows, columns)");
    return found;
}

/* ---- resizing ---- */

/* What element `to` of `out` is of `in`: the first of them and their weights, which add up to 1. */
static unsigned weights_of(unsigned to, unsigned in, unsigned out, unsigned *first, float *weight)
{
    const double step = (double)in / out, reach = step > 1 ? step : 1, centre = (to + 0.5) * step;
    const double low = floor(centre - reach), high = ceil(centre + reach);
    const unsigned from = low > 0 ? (unsigned)low : 0, end = high < in ? (unsigned)high : in;
    double sum = 0;
    unsigned count = 0;
    *first = from;
    for (unsigned k = from; k < end; k++, count++) {
        const double distance = fabs(k + 0.5 - centre) / reach;
        weight[count] = (float)(distance < 1 ? 1 - distance : 0);
        sum += (double)weight[count];
    }
    for (unsigned k = 0; k < count; k++)
        weight[k] = (float)((double)weight[k] / sum);
    return count;
}

/* Rows of `lines` lines; elements of a row lie `step` apart. From in to out elements a line. */
static void resize_lines(const float *from, float *to, unsigned lines, unsigned in, unsigned out, size_t step, size_t in_line,
                         size_t out_line, float *weight)
{
    for (unsigned x = 0; x < out; x++) {
        unsigned first;
        const unsigned count = weights_of(x, in, out, &first, weight);
        for (unsigned y = 0; y < lines; y++) {
            double sum = 0;
            for (unsigned k = 0; k < count; k++)
                sum += (double)weight[k] * (double)from[y * in_line + (first + k) * step];
            to[y * out_line + x * step] = (float)sum;
        }
    }
}

/* One channel in other sizes, from malloc. */
static float *resized(const struct image *image, const float *plane, unsigned width, unsigned height)
{
    const unsigned longest = image->width > image->height ? image->width : image->height;
    float *const wide = malloc((size_t)width * image->height * sizeof *wide);
    float *const whole = malloc((size_t)width * height * sizeof *whole);
    float *const weight = malloc(((size_t)longest + 4) * sizeof *weight);
    const bool ok = wide && whole && weight;
    if (ok) {
        resize_lines(plane, wide, image->height, image->width, width, 1, image->width, width, weight);
        resize_lines(wide, whole, width, image->height, height, width, 1, 1, weight);
    }
    free(wide);
    free(weight);
    if (!ok)
        free(whole);
    return ok ? whole : NULL;
}

/* Of three colours one, or the brightness of all (Rec. 601). */
static float *plane_of(const struct image *image, unsigned colours, unsigned channel)
{
    const size_t pixels = (size_t)image->width * image->height;
    float *const plane = malloc(pixels * sizeof *plane);
    for (size_t k = 0; plane && k < pixels; k++) {
        const uint8_t *const p = image->rgb + 3 * k;
        plane[k] = colours == 3 ? (float)p[channel] : 0.299F * (float)p[0] + 0.587F * (float)p[1] + 0.114F * (float)p[2];
    }
    return plane;
}

static bool put_plane(struct net_array *a, const struct layout *l, unsigned channel, const float *plane, unsigned width,
                      unsigned height, const struct image_scale *scale, unsigned colour)
{
    int64_t stride[NET_DIMS_MAX];
    net_strides(a->shape, a->dims, stride);
    for (unsigned y = 0; y < height; y++)
        for (unsigned x = 0; x < width; x++) {
            const int64_t at =
                (l->channels < 0 ? 0 : channel * stride[l->channels]) + y * stride[l->rows] + x * stride[l->columns];
            double number = ((double)plane[(size_t)y * width + x] - scale->mean[colour]) / scale->std[colour];
            if (!net_type_is_float(a->type))
                number = nearbyint(number < 0 && net_type_kind(a->type) == NET_UNSIGNED ? 0 : number);
            net_write_doubles(a->type, a->data, at, 1, &number);
        }
    return true;
}

struct net_array *image_input(const struct net_model *model, const struct net_value *input, const struct image *image,
                              const struct image_scale *scale, struct orch_error *error)
{
    struct layout l;
    int64_t shape[NET_DIMS_MAX];
    if (!layout_of(model, input, &l)) {
        orch_fail(error, ORCH_USAGE, "input '%.80s' has not the shape of an image (1 or 3 channels, rows, columns)", input->name);
        return NULL;
    }
    for (unsigned d = 0; d < input->shape.dims; d++) {
        const int64_t dim = net_dim_bound(model, input->shape.dim[d]);
        shape[d] = dim >= 0 ? dim : (int)d == l.rows ? image->height : (int)d == l.columns ? image->width : 1;
    }
    const int64_t height = shape[l.rows], width = shape[l.columns];
    if (height < 1 || width < 1 || height > IMAGE_SIDE_MAX || width > IMAGE_SIDE_MAX) {
        orch_fail(error, ORCH_USAGE, "input '%.80s' wants %lld x %lld pixels", input->name, (long long)width, (long long)height);
        return NULL;
    }
    struct net_array *const a = net_array_new(input->type == NET_TYPES ? NET_F32 : input->type, shape, input->shape.dims, error);
    bool ok = a != NULL;
    for (unsigned c = 0; ok && c < l.colours; c++) {
        const unsigned colour = l.colours == 3 && model->blue_first ? 2 - c : c;
        float *const plane = plane_of(image, l.colours, colour);
        float *const other = plane ? resized(image, plane, (unsigned)width, (unsigned)height) : NULL;
        ok = other ? put_plane(a, &l, c, other, (unsigned)width, (unsigned)height, scale, colour) : orch_no_memory(error);
        free(plane);
        free(other);
    }
    if (!ok)
        net_array_release(a);
    return ok ? a : NULL;
}

void image_input_size(const struct net_model *model, const struct net_value *input, const struct net_array *made, int64_t *rows,
                      int64_t *columns, unsigned *colours)
{
    struct layout l = {-1, 0, 1, 1};
    (void)layout_of(model, input, &l);
    *rows = made->shape[l.rows];
    *columns = made->shape[l.columns];
    *colours = l.colours;
}
