/* The boxes of a detector as an SVG file: the image inside, frames and names above it, which stay sharp at any size. */
#include "sim/network/image/boxes.h"

#include "isa/array_count.h"
#include "sim/base/output_file.h"

#include <stdlib.h>

static void write_base64(FILE *out, const uint8_t *bytes, size_t size)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        const uint32_t three =
            (uint32_t)bytes[i] << 16 | (i + 1 < size ? (uint32_t)bytes[i + 1] << 8 : 0) | (i + 2 < size ? bytes[i + 2] : 0);
        fputc(digit[three >> 18], out);
        fputc(digit[three >> 12 & 63], out);
        fputc(i + 1 < size ? digit[three >> 6 & 63] : '=', out);
        fputc(i + 2 < size ? digit[three & 63] : '=', out);
    }
}

/* Names come from files: what XML gives a meaning is written as what it is, control characters are left out. */
static void write_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '<' || *text == '>' || *text == '&')
            fprintf(out, "&#%d;", *text);
        else if ((unsigned char)*text >= ' ')
            fputc(*text, out);
    }
}

static void write_box(FILE *out, const struct image *image, const struct found_box *b, const char *name)
{
    const uint8_t *const colour = boxes_colour(b->kind);
    const double x = b->left * image->width, y = b->top * image->height, size = (image->width + image->height) / 40.0;
    fprintf(out,
            "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" stroke=\"#%02x%02x%02x\" "
            "stroke-width=\"%.1f\"/>\n",
            x, y, (b->right - b->left) * image->width, (b->bottom - b->top) * image->height, colour[0], colour[1], colour[2],
            size / 6);
    fprintf(out,
            "<text x=\"%.1f\" y=\"%.1f\" font-family=\"sans-serif\" font-size=\"%.1f\" paint-order=\"stroke\" stroke=\"#fff\" "
            "stroke-width=\"%.1f\">",
            x, y > 1.2 * size ? y - 0.3 * size : y + size, size, size / 4);
    if (name)
        write_text(out, name);
    else
        fprintf(out, "class %u", b->kind);
    fprintf(out, " %.2f</text>\n", b->score);
}

static void write_svg(FILE *out, const struct image *image, const uint8_t *png, size_t size, const struct found_box *box,
                      size_t count, char *const *name, size_t names)
{
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\">\n<image width=\"%u\" height=\"%u\" "
            "href=\"data:image/png;base64,",
            image->width, image->height, image->width, image->height);
    write_base64(out, png, size);
    fprintf(out, "\"/>\n");
    for (size_t i = count; i-- > 0;)
        write_box(out, image, &box[i], box[i].kind < names ? name[box[i].kind] : NULL);
    fprintf(out, "</svg>\n");
}

bool boxes_write_svg(const char *path, const struct image *image, const struct found_box *box, size_t count, char *const *name,
                     size_t names, struct orch_error *error)
{
    uint8_t *png = NULL;
    char *text = NULL;
    size_t bytes, size;
    if (!image_make_png(image, &png, &bytes, error))
        return false;
    FILE *const out = open_memstream(&text, &size);
    if (out)
        write_svg(out, image, png, bytes, box, count, name, names);
    const bool ok = out && fclose(out) == 0 ? output_file_write(path, (const uint8_t *)text, size, error) : orch_no_memory(error);
    free(png);
    free(text);
    return ok;
}
