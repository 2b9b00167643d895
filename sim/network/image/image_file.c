/* The two decoders, which report errors by jumping (JPEG) and by a text (PNG). */
#include "sim/base/file_read.h"
#include "sim/network/image/image.h"

#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

void image_free(struct image *image)
{
    free(image->rgb);
    *image = (struct image){.rgb = NULL};
}

static bool make(struct image *image, uint64_t width, uint64_t height, struct orch_error *error)
{
    if (width < 1 || height < 1 || width > IMAGE_SIDE_MAX || height > IMAGE_SIDE_MAX)
        return orch_fail(error, ORCH_USAGE, "%llu x %llu pixels; at most %d on a side are read", (unsigned long long)width,
                         (unsigned long long)height, IMAGE_SIDE_MAX);
    image->width = (unsigned)width;
    image->height = (unsigned)height;
    image->rgb = malloc((size_t)width * height * 3);
    return image->rgb || orch_no_memory(error);
}

/* ---- JPEG ---- */

struct jpeg {
    struct jpeg_decompress_struct file;
    struct jpeg_error_mgr errors;
    jmp_buf out;
    char text[JMSG_LENGTH_MAX];
};

static void leave(j_common_ptr common)
{
    struct jpeg *const j = common->client_data;
    common->err->format_message(common, j->text);
    longjmp(j->out, 1);
}

/* Warnings mean data that are damaged or cut off, which the library would fill with grey. */
static void warn(j_common_ptr common, int level)
{
    if (level < 0)
        leave(common);
}

static void decode_jpeg(struct jpeg *j, const uint8_t *bytes, size_t size, struct image *image, struct orch_error *error,
                        bool *ok)
{
    jpeg_create_decompress(&j->file);
    jpeg_mem_src(&j->file, (unsigned char *)(uintptr_t)bytes, size);
    (void)jpeg_read_header(&j->file, TRUE);
    j->file.out_color_space = JCS_RGB;
    *ok = make(image, j->file.image_width, j->file.image_height, error);
    if (!*ok)
        return;
    (void)jpeg_start_decompress(&j->file);
    while (j->file.output_scanline < j->file.output_height) {
        JSAMPROW row = image->rgb + (size_t)j->file.output_scanline * image->width * 3;
        (void)jpeg_read_scanlines(&j->file, &row, 1);
    }
    (void)jpeg_finish_decompress(&j->file);
}

static bool read_jpeg(const uint8_t *bytes, size_t size, struct image *image, struct orch_error *error)
{
    struct jpeg *const j = calloc(1, sizeof *j);
    bool *const ok = j ? calloc(1, sizeof *ok) : NULL; /* survives the jump */
    if (!ok) {
        free(j);
        return orch_no_memory(error);
    }
    j->file.err = jpeg_std_error(&j->errors);
    j->file.client_data = j;
    j->errors.error_exit = leave;
    j->errors.emit_message = warn;
    if (setjmp(j->out) == 0)
        decode_jpeg(j, bytes, size, image, error, ok);
    else
        *ok = orch_fail(error, ORCH_USAGE, "a JPEG file that cannot be read: %.200s", j->text);
    jpeg_destroy_decompress(&j->file);
    const bool right = *ok;
    free(ok);
    free(j);
    return right;
}

/* ---- PNG ---- */

static bool read_png(const uint8_t *bytes, size_t size, struct image *image, struct orch_error *error)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_memory(&png, bytes, size))
        return orch_fail(error, ORCH_USAGE, "a PNG file that cannot be read: %.60s", png.message);
    png.format = PNG_FORMAT_RGBA;
    if (!make(image, png.width, png.height, error)) {
        png_image_free(&png);
        return false;
    }
    const size_t pixels = (size_t)image->width * image->height;
    uint8_t *const four = malloc(pixels * 4);
    bool ok = four || orch_no_memory(error);
    if (ok && !png_image_finish_read(&png, NULL, four, 0, NULL))
        ok = orch_fail(error, ORCH_USAGE, "a PNG file that cannot be read: %.60s", png.message);
    for (size_t k = 0; ok && k < pixels; k++)
        memcpy(image->rgb + 3 * k, four + 4 * k, 3);
    free(four);
    png_image_free(&png);
    return ok;
}

/* ---- files ---- */

bool image_decode(const uint8_t *bytes, size_t size, struct image *image, struct orch_error *error)
{
    static const uint8_t png[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    bool ok;
    *image = (struct image){.rgb = NULL};
    if (size >= sizeof png && memcmp(bytes, png, sizeof png) == 0)
        ok = read_png(bytes, size, image, error);
    else if (size >= 3 && bytes[0] == 0xFF && bytes[1] == 0xD8 && bytes[2] == 0xFF)
        ok = read_jpeg(bytes, size, image, error);
    else
        ok = orch_fail(error, ORCH_USAGE, "neither a JPEG nor a PNG file");
    if (!ok)
        image_free(image);
    return ok;
}

bool image_load(const char *path, struct image *image, struct orch_error *error)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    *image = (struct image){.rgb = NULL};
    errno = 0;
    FILE *const file = fopen(path, "rb");
    bool ok = file && file_read_all(file, IMAGE_FILE_MAX, &bytes, &size);
    if (!ok)
        orch_fail(error, ORCH_USAGE, "%.300s: %s", path, errno == EFBIG ? "longer than 256 MiB" : strerror(errno));
    if (file)
        fclose(file);
    if (ok && !image_decode(bytes, size, image, error))
        ok = orch_fail_in(error, "%.300s", path);
    free(bytes);
    return ok;
}
