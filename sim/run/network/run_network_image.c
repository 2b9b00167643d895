#include "sim/run/network/run_network_image.h"

#include "sim/base/file_read.h"
#include "sim/network/image/boxes.h"
#include "sim/network/image/image.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LABEL_BYTES_MAX = 1 << 24, BEST = 5 };

/* The input that the text names, and the file: all of the text, when no input is called what stands before its first '='. */
static net_id named_input(const struct net_model *model, const char *text, const char **file)
{
    const size_t length = strcspn(text, "=");
    *file = text;
    for (size_t k = 0; text[length] == '=' && k < model->graph->inputs; k++) {
        const char *const name = model->value[model->graph->input[k]].name;
        if (strlen(name) == length && strncmp(name, text, length) == 0) {
            *file = text + length + 1;
            return model->graph->input[k];
        }
    }
    return NET_NONE;
}

static bool read_one(const char *text, const struct image_scale *scale, const struct net_model *model, struct net_array **input,
                     struct run_network_picture *picture, struct orch_error *error)
{
    const char *path;
    struct image image;
    net_id id = named_input(model, text, &path);
    if (id == NET_NONE)
        id = image_input_find(model, error);
    if (id == NET_NONE)
        return orch_fail_in(error, ORCH_OPTION("image") " %.200s", text);
    if (!image_load(path, &image, error))
        return false;
    struct net_array *const made = image_input(model, &model->value[id], &image, scale, error);
    *picture = (struct run_network_picture){.width = image.width, .height = image.height, .input = made};
    if (made)
        image_input_size(model, &model->value[id], made, &picture->rows, &picture->columns, &picture->colours);
    image_free(&image);
    for (size_t k = 0; made && k < model->graph->inputs; k++)
        if (model->graph->input[k] == id) {
            net_array_release(input[k]);
            input[k] = made;
        }
    return made != NULL;
}

bool run_network_read_images(const struct run_network_images *images, const struct net_model *model, struct net_array **input,
                             struct run_network_picture *picture, struct orch_error *error)
{
    struct image_scale scale = {{0, 0, 0}, {1, 1, 1}};
    bool ok =
        image_scale_parse("mean", images->mean, scale.mean, error) && image_scale_parse("std", images->std, scale.std, error);
    for (unsigned c = 0; ok && c < 3; c++)
        if (scale.std[c] == 0)
            ok = orch_fail(error, ORCH_USAGE, ORCH_OPTION("std") " %.80s: numbers are divided by it; give none that is 0",
                           images->std);
    for (size_t k = 0; ok && k < images->count; k++) {
        ok = read_one(images->file[k], &scale, model, input, &picture[k], error);
        for (unsigned c = 0; ok && c < 3; c++)
            picture[k].scaled |= scale.mean[c] != 0 || scale.std[c] != 1;
    }
    return ok;
}

/* ---- classes ---- */

static void forget_labels(struct net_model *model)
{
    for (size_t k = 0; k < model->labels; k++)
        free(model->label[k]);
    free(model->label);
    model->label = NULL;
    model->labels = 0;
}

bool run_network_read_labels(const char *path, struct net_model *model, struct orch_error *error)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    errno = 0;
    FILE *const file = fopen(path, "rb");
    bool ok = file && file_read_all(file, LABEL_BYTES_MAX, &bytes, &size);
    if (!ok)
        orch_fail(error, ORCH_USAGE, "%.300s: %s", path, errno == EFBIG ? "longer than 16 MiB" : strerror(errno));
    if (file)
        fclose(file);
    if (ok)
        forget_labels(model);
    for (char *at = (char *)bytes; ok && *at;) {
        const size_t length = strcspn(at, "\r\n"), end = length + strspn(at + length, "\r");
        const bool more = at[end] == '\n';
        at[length] = 0;
        for (char *c = at; *c; c++)
            *c = (char)((unsigned char)*c < ' ' || *c == 127 ? '?' : *c);
        ok = net_model_add_label(model, at) || orch_no_memory(error);
        at += end + more;
    }
    free(bytes);
    return ok && (model->labels || orch_fail(error, ORCH_USAGE, "%.300s: no labels; one name on each line is expected", path));
}

static void write_best(const struct net_model *model, const struct net_array *a, FILE *out)
{
    int64_t best[BEST];
    unsigned count = 0;
    for (int64_t k = 0; k < a->count; k++) {
        const double number = net_array_double(a, k);
        unsigned at = count;
        while (at > 0 && number > net_array_double(a, best[at - 1]))
            at--;
        if (isnan(number) || at == BEST)
            continue;
        count += count < BEST;
        for (unsigned j = count - 1; j > at; j--)
            best[j] = best[j - 1];
        best[at] = k;
    }
    for (unsigned k = 0; k < count; k++)
        fprintf(out, "%u. %-24s %.6g (class %lld)\n", k + 1, model->label[best[k]], net_array_double(a, best[k]),
                (long long)best[k]);
}

char *run_network_classes(const struct net_model *model, struct net_array *const *output)
{
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);
    bool found = false;
    for (size_t k = 0; out && model->labels && k < model->graph->outputs && !found; k++) {
        found = output[k] && (size_t)output[k]->count == model->labels;
        if (found)
            write_best(model, output[k], out);
    }
    if (out)
        fclose(out);
    return text;
}

/* ---- boxes ---- */

static void name_box(const struct net_model *model, const struct image *image, const struct found_box *b, size_t number,
                     FILE *out)
{
    char kind[40];
    snprintf(kind, sizeof kind, "class %u", b->kind);
    fprintf(out, "%zu. %-24s %.4f at %.0f, %.0f, %.0f x %.0f pixels\n", number,
            b->kind < model->labels ? model->label[b->kind] : kind, b->score, b->left * image->width, b->top * image->height,
            (b->right - b->left) * image->width, (b->bottom - b->top) * image->height);
}

static char *name_boxes(const struct net_model *model, const struct image *image, const struct found_box *box, size_t count,
                        double least)
{
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "%zu %s with a score of %.3g and more\n", count, count == 1 ? "box" : "boxes", least);
    for (size_t i = 0; i < count; i++)
        name_box(model, image, &box[i], i + 1, out);
    fclose(out);
    return text;
}

static bool write_boxes(const char *path, const struct net_model *model, struct image *image, const struct found_box *box,
                        size_t count, struct orch_error *error)
{
    const size_t length = strlen(path);
    if (length > 4 && strcasecmp(path + length - 4, ".svg") == 0)
        return boxes_write_svg(path, image, box, count, model->label, model->labels, error);
    boxes_draw(image, box, count);
    return image_write_png(path, image, error);
}

char *run_network_boxes(const struct run_network_images *images, const struct net_model *model, struct net_array *const *output,
                        struct orch_error *error)
{
    const struct net_array *corners, *scores;
    struct found_box *box = NULL;
    struct image image = {.rgb = NULL};
    const char *path = NULL;
    size_t count = 0;
    char *text = NULL;
    if (!boxes_outputs(output, model->graph->outputs, &corners, &scores)) {
        orch_fail(error, ORCH_USAGE,
                  ORCH_OPTION("boxes") ": no two outputs are corners [..., N, 4] and scores [..., N, classes] of boxes");
        return NULL;
    }
    (void)named_input(model, images->file[0], &path);
    if (boxes_find(corners, scores, images->least_score, &box, &count, error) && image_load(path, &image, error)) {
        if (write_boxes(images->boxes, model, &image, box, count, error)) {
            text = name_boxes(model, &image, box, count, images->least_score);
            if (!text)
                orch_no_memory(error);
        }
    }
    image_free(&image);
    free(box);
    return text;
}
