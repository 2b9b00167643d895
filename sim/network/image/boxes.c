#include "sim/network/image/boxes.h"

#include "isa/array_count.h"
#include "sim/base/output_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#define OVERLAP_MOST 0.5

/* ---- outputs ---- */

static bool is_list(const struct net_array *a)
{
    return a && a->type == NET_F32 && a->dims >= 2 && a->count > 0;
}

bool boxes_outputs(struct net_array *const *output, size_t outputs, const struct net_array **corners,
                   const struct net_array **scores)
{
    for (size_t k = 0; k < outputs; k++)
        for (size_t i = 0; i < outputs; i++) {
            const struct net_array *const a = output[k], *const b = output[i];
            if (i == k || !is_list(a) || !is_list(b) || a->shape[a->dims - 1] != 4 ||
                a->count / 4 != b->count / b->shape[b->dims - 1])
                continue;
            *corners = a;
            *scores = b;
            return true;
        }
    return false;
}

/* ---- the best ---- */

static double within(double share)
{
    return fmin(1, fmax(0, share));
}

static int better(const void *a, const void *b)
{
    const struct found_box *const x = a, *const y = b;
    return x->score > y->score   ? -1
           : x->score < y->score ? 1
           : x->left != y->left  ? (x->left < y->left ? -1 : 1)
           : x->top != y->top    ? (x->top < y->top ? -1 : 1)
                                 : 0;
}

static double area(double left, double top, double right, double bottom)
{
    return fmax(0, right - left) * fmax(0, bottom - top);
}

/* What both cover, as a share of what either does. */
static double overlap(const struct found_box *a, const struct found_box *b)
{
    const double both = area(fmax(a->left, b->left), fmax(a->top, b->top), fmin(a->right, b->right), fmin(a->bottom, b->bottom));
    const double either = area(a->left, a->top, a->right, a->bottom) + area(b->left, b->top, b->right, b->bottom) - both;
    return either > 0 ? both / either : 0;
}

static size_t keep_best(struct found_box *box, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        bool hidden = false;
        for (size_t k = 0; k < kept && !hidden; k++)
            hidden = box[k].kind == box[i].kind && overlap(&box[k], &box[i]) >= OVERLAP_MOST;
        if (!hidden)
            box[kept++] = box[i];
    }
    return kept;
}

bool boxes_find(const struct net_array *corners, const struct net_array *scores, double least, struct found_box **box,
                size_t *count, struct orch_error *error)
{
    const int64_t all = corners->count / 4, kinds = scores->shape[scores->dims - 1];
    const float *const at = corners->data, *const score = scores->data;
    *count = 0;
    *box = calloc((size_t)all + 1, sizeof **box);
    if (!*box)
        return orch_no_memory(error);
    for (int64_t i = 0; i < all; i++) {
        int64_t best = kinds > 1;
        for (int64_t c = best + 1; c < kinds; c++)
            best = score[i * kinds + c] > score[i * kinds + best] ? c : best;
        if (!(score[i * kinds + best] >= least))
            continue;
        (*box)[(*count)++] = (struct found_box){.score = score[i * kinds + best],
                                                .kind = (unsigned)best,
                                                .left = within(at[4 * i]),
                                                .top = within(at[4 * i + 1]),
                                                .right = within(at[4 * i + 2]),
                                                .bottom = within(at[4 * i + 3])};
    }
    qsort(*box, *count, sizeof **box, better);
    *count = keep_best(*box, *count);
    return true;
}

/* ---- drawing ---- */

static void paint(struct image *image, int64_t x, int64_t y, const uint8_t colour[3])
{
    if (x >= 0 && y >= 0 && x < image->width && y < image->height)
        memcpy(image->rgb + 3 * ((size_t)y * image->width + (size_t)x), colour, 3);
}

static void frame(struct image *image, const struct found_box *b, int64_t inset, const uint8_t colour[3])
{
    const int64_t left = (int64_t)(b->left * image->width) + inset, right = (int64_t)(b->right * image->width) - 1 - inset;
    const int64_t top = (int64_t)(b->top * image->height) + inset, bottom = (int64_t)(b->bottom * image->height) - 1 - inset;
    for (int64_t x = left; x <= right; x++) {
        paint(image, x, top, colour);
        paint(image, x, bottom, colour);
    }
    for (int64_t y = top; y <= bottom; y++) {
        paint(image, left, y, colour);
        paint(image, right, y, colour);
    }
}

const uint8_t *boxes_colour(unsigned kind)
{
    /* Okabe and Ito's palette, which people with colour blindness tell apart (jfly.uni-koeln.de/color). */
    static const uint8_t colours[][3] = {{230, 159, 0}, {86, 180, 233}, {0, 158, 115}, {240, 228, 66}, {213, 94, 0}};
    return colours[kind % ARRAY_COUNT(colours)];
}

void boxes_draw(struct image *image, const struct found_box *box, size_t count)
{
    const int64_t wide = 1 + (image->width > image->height ? image->width : image->height) / 320;
    for (size_t i = count; i-- > 0;)
        for (int64_t k = 0; k < wide; k++)
            frame(image, &box[i], k, boxes_colour(box[i].kind));
}

bool image_make_png(const struct image *image, uint8_t **file, size_t *size, struct orch_error *error)
{
    png_image png = {.version = PNG_IMAGE_VERSION, .width = image->width, .height = image->height, .format = PNG_FORMAT_RGB};
    png_alloc_size_t bytes = 0;
    *file = NULL;
    const bool ok = png_image_write_to_memory(&png, NULL, &bytes, 0, image->rgb, 0, NULL) && (*file = malloc(bytes)) &&
                    png_image_write_to_memory(&png, *file, &bytes, 0, image->rgb, 0, NULL);
    *size = bytes;
    if (ok)
        return true;
    free(*file);
    *file = NULL;
    return orch_fail(error, ORCH_INTERNAL, "no PNG file: %.100s", png.message);
}

bool image_write_png(const char *path, const struct image *image, struct orch_error *error)
{
    uint8_t *file;
    size_t size;
    const bool ok = image_make_png(image, &file, &size, error) ? output_file_write(path, file, size, error)
                                                               : orch_fail_in(error, "%.300s", path);
    free(file);
    return ok;
}
