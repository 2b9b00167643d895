/* Images as inputs: files that other encoders wrote (libpng's and libjpeg's own), layouts, resizing, and damaged files. */
#include "sim/network/image/image.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

enum { WIDTH = 6, HEIGHT = 4 };

static void paint(uint8_t *rgb, unsigned width, unsigned height)
{
    for (unsigned y = 0; y < height; y++)
        for (unsigned x = 0; x < width; x++) {
            uint8_t *const p = rgb + 3 * ((size_t)y * width + x);
            p[0] = (uint8_t)(10 * x);
            p[1] = (uint8_t)(50 * y);
            p[2] = (uint8_t)(200 - x - y);
        }
}

static uint8_t *png_of(const void *pixels, unsigned width, unsigned height, png_uint_32 format, size_t *size)
{
    png_image png = {.version = PNG_IMAGE_VERSION, .width = width, .height = height, .format = format};
    png_alloc_size_t bytes = 0;
    CHECK(png_image_write_to_memory(&png, NULL, &bytes, 0, pixels, 0, NULL), "%s", png.message);
    uint8_t *const file = malloc(bytes);
    CHECK(file && png_image_write_to_memory(&png, file, &bytes, 0, pixels, 0, NULL), "%s", png.message);
    *size = bytes;
    return file;
}

static uint8_t *jpeg_of(const uint8_t *rgb, unsigned width, unsigned height, size_t *size)
{
    struct jpeg_compress_struct file;
    struct jpeg_error_mgr errors;
    unsigned char *bytes = NULL;
    unsigned long length = 0;
    file.err = jpeg_std_error(&errors);
    jpeg_create_compress(&file);
    jpeg_mem_dest(&file, &bytes, &length);
    file.image_width = width;
    file.image_height = height;
    file.input_components = 3;
    file.in_color_space = JCS_RGB;
    jpeg_set_defaults(&file);
    jpeg_set_quality(&file, 100, TRUE);
    jpeg_start_compress(&file, TRUE);
    while (file.next_scanline < height) {
        JSAMPROW row = (JSAMPROW)(uintptr_t)(rgb + (size_t)file.next_scanline * width * 3);
        (void)jpeg_write_scanlines(&file, &row, 1);
    }
    jpeg_finish_compress(&file);
    jpeg_destroy_compress(&file);
    *size = length;
    return bytes;
}

static void test_png(void)
{
    uint8_t rgb[WIDTH * HEIGHT * 3], grey[WIDTH * HEIGHT];
    struct image image;
    struct orch_error error = {0};
    size_t size;
    paint(rgb, WIDTH, HEIGHT);
    uint8_t *file = png_of(rgb, WIDTH, HEIGHT, PNG_FORMAT_RGB, &size);
    CHECK(image_decode(file, size, &image, &error) && image.width == WIDTH && image.height == HEIGHT &&
              memcmp(image.rgb, rgb, sizeof rgb) == 0,
          "colours: %s", error.text);
    image_free(&image);
    for (size_t k = 0; k < size; k++) {
        error = (struct orch_error){0};
        const bool taken = image_decode(file, k, &image, &error);
        CHECK(!taken || k > size - 16, "cut at %zu of %zu and taken", k, size); /* the last chunk holds nothing */
        CHECK(taken || (error.exit_code == ORCH_USAGE && error.text[0] && !strchr(error.text, '\n')), "%s", error.text);
        image_free(&image);
    }
    free(file);
    for (unsigned k = 0; k < WIDTH * HEIGHT; k++)
        grey[k] = (uint8_t)(7 * k);
    file = png_of(grey, WIDTH, HEIGHT, PNG_FORMAT_GRAY, &size);
    CHECK(image_decode(file, size, &image, &error) && image.rgb[3 * 5] == 35 && image.rgb[3 * 5 + 2] == 35, "grey: %s",
          error.text);
    image_free(&image);
    free(file);
}

static void test_jpeg(void)
{
    enum { SIDE = 16 };
    uint8_t rgb[SIDE * SIDE * 3];
    struct image image;
    struct orch_error error = {0};
    size_t size;
    for (unsigned k = 0; k < SIDE * SIDE; k++) {
        rgb[3 * k] = 200;
        rgb[3 * k + 1] = 100;
        rgb[3 * k + 2] = 40;
    }
    uint8_t *const file = jpeg_of(rgb, SIDE, SIDE, &size);
    CHECK(image_decode(file, size, &image, &error) && image.width == SIDE && image.height == SIDE, "%s", error.text);
    for (unsigned k = 0; image.rgb && k < SIDE * SIDE * 3; k++)
        CHECK(abs(image.rgb[k] - rgb[k]) <= 3, "%u: %u, not %u", k, image.rgb[k], rgb[k]);
    image_free(&image);
    for (size_t k = 0; k + 2 < size; k++) { /* without the mark of the end nothing is missing */
        error = (struct orch_error){0};
        CHECK(!image_decode(file, k, &image, &error) && error.exit_code == ORCH_USAGE && !strchr(error.text, '\n'),
              "cut at %zu of %zu: %s", k, size, error.text);
        image_free(&image);
    }
    free(file);
}

/* An image for an input of this shape. */
static struct net_array *laid_out(const int64_t *shape, unsigned dims, enum net_type type, bool blue_first,
                                  const struct image_scale *scale, struct orch_error *error)
{
    uint8_t rgb[WIDTH * HEIGHT * 3];
    const struct image image = {WIDTH, HEIGHT, rgb};
    struct net_value input = {.name = (char[]){"in"}, .type = type, .shape = {.known = true, .dims = dims}};
    struct net_model *const model = net_model_new("m");
    memcpy(input.shape.dim, shape, dims * sizeof *shape);
    model->blue_first = blue_first;
    paint(rgb, WIDTH, HEIGHT);
    struct net_array *const a = image_input(model, &input, &image, scale, error);
    net_model_free(model);
    return a;
}

static void test_layouts(void)
{
    static const struct image_scale plain = {{0, 0, 0}, {1, 1, 1}}, scaled = {{1, 2, 3}, {2, 4, 8}};
    static const int64_t planes[4] = {1, 3, HEIGHT, WIDTH}, pixels[3] = {HEIGHT, WIDTH, 3}, grey[4] = {1, 1, HEIGHT, WIDTH};
    struct orch_error error = {0};
    struct net_array *a = laid_out(planes, 4, NET_F32, false, &scaled, &error);
    CHECK(a && net_array_double(a, WIDTH * HEIGHT + WIDTH + 1) == (50. - 2) / 4, "green of the second row");
    CHECK(a && net_array_double(a, 5) == (50. - 1) / 2, "red of the last column");
    net_array_release(a);
    a = laid_out(planes, 4, NET_F32, true, &scaled, &error);
    CHECK(a && net_array_double(a, 0) == (200. - 3) / 8, "blue comes first, with its own scale");
    net_array_release(a);
    a = laid_out(pixels, 3, NET_U8, false, &plain, &error);
    CHECK(a && a->type == NET_U8 && net_array_double(a, 3 * (WIDTH + 2)) == 20 && net_array_double(a, 3 * (WIDTH + 2) + 1) == 50,
          "pixels");
    net_array_release(a);
    a = laid_out(grey, 4, NET_F32, false, &plain, &error);
    CHECK(a && fabs(net_array_double(a, WIDTH + 1) - (0.299 * 10 + 0.587 * 50 + 0.114 * 198)) < 1e-4, "grey");
    net_array_release(a);
    static const int64_t row[2] = {1, 7}, several[4] = {2, 3, 4, 4};
    CHECK(!laid_out(row, 2, NET_F32, false, &plain, &error) && error.exit_code == ORCH_USAGE, "a row");
    CHECK(!laid_out(several, 4, NET_F32, false, &plain, &error) && error.exit_code == ORCH_USAGE, "two at once");
}

/* Halved: a triangle of two pixels to each side, 1 3 3 1 over 8; at the edge what is outside has no weight. */
static void test_sizes(void)
{
    static const struct image_scale plain = {{0, 0, 0}, {1, 1, 1}};
    static const int64_t half[4] = {1, 3, HEIGHT, WIDTH / 2}, twice[4] = {1, 3, HEIGHT, 2 * WIDTH}, open[4] = {-1, 3, -1, -1};
    static const double centre = (1 * 10. + 3 * 20 + 3 * 30 + 1 * 40) / 8, edge = (3 * 0. + 3 * 10 + 1 * 20) / 7;
    struct orch_error error = {0};
    struct net_array *a = laid_out(half, 4, NET_F32, false, &plain, &error);
    CHECK(a && fabs(net_array_double(a, 1) - centre) < 1e-4, "the middle is %g, not %g", a ? net_array_double(a, 1) : 0, centre);
    CHECK(a && fabs(net_array_double(a, 0) - edge) < 1e-4, "the edge is %g, not %g", a ? net_array_double(a, 0) : 0, edge);
    net_array_release(a);
    a = laid_out(twice, 4, NET_F32, false, &plain, &error); /* at 0.25 and 0.75 of the way */
    CHECK(a && fabs(net_array_double(a, 1) - 2.5) < 1e-4 && fabs(net_array_double(a, 2) - 7.5) < 1e-4, "between two pixels");
    CHECK(a && net_array_double(a, 0) == 0 && net_array_double(a, 2 * WIDTH - 1) == 50, "at the edges");
    net_array_release(a);
    a = laid_out(open, 4, NET_F32, false, &plain, &error);
    CHECK(a && a->shape[0] == 1 && a->shape[2] == HEIGHT && a->shape[3] == WIDTH && net_array_double(a, 3) == 30,
          "open sizes are the image's");
    net_array_release(a);
}

static void test_scales(void)
{
    double number[3] = {9, 9, 9};
    struct orch_error error = {0};
    CHECK(image_scale_parse("mean", "1,2.5,-3", number, &error) && number[1] == 2.5 && number[2] == -3, "three");
    CHECK(image_scale_parse("mean", "4", number, &error) && number[0] == 4 && number[2] == 4, "one");
    CHECK(image_scale_parse("mean", NULL, number, &error) && number[1] == 4, "none");
    const char *const wrong[] = {"", "1,2", "1,2,3,4", "1,2,", "x", "1;2;3", "nan", ",1,2"};
    for (size_t k = 0; k < ARRAY_COUNT(wrong); k++)
        CHECK(!image_scale_parse("mean", wrong[k], number, &error) && error.exit_code == ORCH_USAGE, "'%s' taken", wrong[k]);
}

static const struct suite_test tests[] = {
    {"reads PNG files", test_png}, {"reads JPEG files", test_jpeg}, {"lays images out", test_layouts},
    {"resizes", test_sizes},       {"reads scales", test_scales},
};
SUITE_MAIN("image", tests)
