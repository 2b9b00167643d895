/* Boxes of detectors: which outputs they are, which of them stay, where they are drawn; and two drawn faces that a trained
 * detector finds. */
#include "isa/array_count.h"
#include "sim/network/image/boxes.h"
#include "sim/run/network/run_network_image.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct chip_db *db;

static struct net_array *list(int64_t rows, int64_t columns, const float *number)
{
    struct orch_error error = {0};
    const int64_t shape[3] = {1, rows, columns};
    struct net_array *const a = net_array_new(NET_F32, shape, 3, &error);
    memcpy(a->data, number, sizeof *number * (size_t)(rows * columns));
    return a;
}

/* The second overlaps the first by 0.81 / 1.19, the third by 0.04 / 1.96, the fourth is of another class, the fifth too unlikely.
 */
static void test_best(void)
{
    static const float corners[] = {0,    0,    0.5F, 0.5F, 0.05F, 0.05F, 0.55F, 0.55F, 0.4F, 0.4F,
                                    0.9F, 0.9F, 0,    0,    0.5F,  0.5F,  0.6F,  0,     1.5F, 0.2F};
    static const float scores[] = {0.1F, 0.8F, 0.1F, 0.1F, 0.9F, 0, 0.3F, 0.7F, 0, 0.2F, 0.1F, 0.7F, 0.6F, 0.3F, 0.1F};
    struct net_array *const a = list(5, 4, corners), *const b = list(5, 3, scores);
    struct net_array *const outputs[] = {b, a}, *const alone[] = {a};
    const struct net_array *c = NULL, *s = NULL;
    struct found_box *box = NULL;
    struct orch_error error = {0};
    size_t count = 0;
    CHECK(boxes_outputs(outputs, 2, &c, &s) && c == a && s == b, "outputs by their shapes");
    CHECK(!boxes_outputs(alone, 1, &c, &s), "one output is none");
    CHECK(boxes_find(a, b, 0.5, &box, &count, &error) && count == 3, "%zu boxes", count);
    if (count == 3) {
        CHECK(box[0].kind == 1 && fabs(box[0].left - 0.05) < 1e-6 && fabs(box[0].score - 0.9) < 1e-6, "the best: %g",
              box[0].score);
        CHECK(fabs(box[1].score - 0.7) < 1e-6 && fabs(box[2].score - 0.7) < 1e-6 && box[1].kind + box[2].kind == 3,
              "one of each class: %u %u", box[1].kind, box[2].kind);
    }
    free(box);
    CHECK(boxes_find(a, b, 0.3, &box, &count, &error) && count == 4 && box[3].right == 1, "%zu boxes, cut at the image", count);
    free(box);
    net_array_release(a);
    net_array_release(b);
}

static const uint8_t *pixel(const struct image *image, unsigned x, unsigned y)
{
    return image->rgb + 3 * ((size_t)y * image->width + x);
}

static void test_drawing(void)
{
    char path[] = "/tmp/orchard-boxes-XXXXXX";
    struct image image = {.width = 40, .height = 20, .rgb = calloc(40 * 20, 3)}, read = {.rgb = NULL};
    const struct found_box box = {.score = 1, .kind = 1, .left = 0.25, .top = 0.25, .right = 0.75, .bottom = 1};
    struct orch_error error = {0};
    size_t painted = 0;
    const int file = mkstemp(path);
    close(file);
    boxes_draw(&image, &box, 1);
    CHECK(image_write_png(path, &image, &error) && image_load(path, &read, &error), "%s", error.text);
    for (unsigned y = 0; read.rgb && y < 20; y++)
        for (unsigned x = 0; x < 40; x++) {
            const bool edge = x >= 10 && x <= 29 && y >= 5 && (x == 10 || x == 29 || y == 5 || y == 19);
            painted += pixel(&read, x, y)[2] != 0;
            CHECK(edge == (pixel(&read, x, y)[2] != 0), "pixel %u, %u", x, y);
        }
    CHECK(painted == 2 * 20 + 2 * 13, "%zu pixels", painted);
    image_free(&image);
    image_free(&read);
    unlink(path);
}

/* ---- faces ---- */

static double square(double number)
{
    return number * number;
}

/* A face of radius r about (cx, cy): hair, skin, eyes, nose, mouth. False where there is none. */
static bool face_at(double x, double y, double cx, double cy, double r, double colour[3])
{
    static const double hair[3] = {60, 40, 30}, white[3] = {245, 245, 245}, dark[3] = {30, 30, 40}, lips[3] = {170, 60, 70};
    const double dx = (x - cx) / (0.75 * r), dy = (y - cy) / r, away = square(dx) + square(dy);
    const double shade = 1 - 0.25 * away;
    if (dy < -0.45 && away < 1.25) {
        memcpy(colour, hair, sizeof hair);
        return true;
    }
    if (away > 1)
        return false;
    memcpy(colour, (const double[]){224 * shade, 172 * shade, 140 * shade}, 3 * sizeof *colour);
    for (int side = -1; side <= 1; side += 2) {
        const double ex = cx + side * 0.3 * r, ey = cy - 0.12 * r, across = (x - ex) / (0.17 * r);
        if (square((x - ex) / (0.15 * r)) + square((y - ey) / (0.08 * r)) < 1)
            memcpy(colour, white, sizeof white);
        if (square(x - ex) + square(y - ey) < square(0.06 * r))
            memcpy(colour, dark, sizeof dark);
        if (fabs(across) < 1 && fabs(y - (ey - 0.17 * r) - 0.05 * r * square(across)) < 0.025 * r)
            memcpy(colour, hair, sizeof hair);
    }
    if (fabs(x - cx) < 0.09 * r * (1 + (y - cy) / (0.4 * r)) && y > cy && y - cy < 0.28 * r)
        for (unsigned c = 0; c < 3; c++)
            colour[c] *= 0.85;
    if (square((x - cx) / (0.3 * r)) + square((y - cy - 0.5 * r) / (0.09 * r)) < 1)
        memcpy(colour, lips, sizeof lips);
    return true;
}

enum { WIDTH = 640, HEIGHT = 480, FACES = 2 };
static const double faces[FACES][3] = {{220, 220, 120}, {470, 260, 90}}; /* centre and radius */

static void draw_faces(const char *path)
{
    struct image image = {.width = WIDTH, .height = HEIGHT, .rgb = malloc((size_t)3 * WIDTH * HEIGHT)};
    struct orch_error error = {0};
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++) {
            double colour[3] = {90 + 60.0 * y / HEIGHT, 120 + 40.0 * x / WIDTH, 150};
            for (unsigned f = 0; f < FACES; f++)
                if (face_at(x, y, faces[f][0], faces[f][1], faces[f][2], colour))
                    break;
            for (unsigned c = 0; c < 3; c++)
                image.rgb[3 * (y * WIDTH + x) + (int)c] = (uint8_t)colour[c];
        }
    CHECK(image_write_png(path, &image, &error), "%s", error.text);
    image_free(&image);
}

/* Two lines with a box each, whose middle is in the face. */
static void check_found(const char *text, const char *unit)
{
    bool found[FACES] = {false};
    const char *at = text ? strchr(text, '\n') : NULL;
    CHECK(text && strncmp(text, "2 boxes", 7) == 0, "%s: %s", unit, text ? text : "");
    for (; at && at[1]; at = strchr(at + 1, '\n')) {
        double score, x, y, width, height;
        if (sscanf(at, "\n%*d. class 1 %lf at %lf, %lf, %lf x %lf", &score, &x, &y, &width, &height) != 5)
            continue;
        for (unsigned f = 0; f < FACES; f++)
            found[f] |= score > 0.9 && hypot(x + width / 2 - faces[f][0], y + height / 2 - faces[f][1]) < faces[f][2] / 2;
    }
    CHECK(found[0] && found[1], "%s: %s", unit, text ? text : "");
}

static void test_faces(void)
{
    static const char *const units[] = {"auto", "ane"};
    char folder[] = "/tmp/orchard-faces-XXXXXX", picture[64], drawn[64], model[512];
    const char *const shared = suite_shared("models/ultraface_rfb320/model.onnx");
    if (!shared)
        return;
    snprintf(model, sizeof model, "%s", shared);
    CHECK(mkdtemp(folder) != NULL, "a folder");
    snprintf(picture, sizeof picture, "%s/faces.png", folder);
    snprintf(drawn, sizeof drawn, "%s/boxes.png", folder);
    draw_faces(picture);
    const char *const files[1] = {picture};
    const struct run_network_images images = {
        .file = files, .count = 1, .mean = "127", .std = "128", .boxes = drawn, .least_score = 0.5};
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        struct outcome o =
            run_on(db, "m2", model, (struct run_request){.unit = units[i], .mode = RUN_FUNCTIONAL, .images = &images});
        CHECK(o.ok, "%s", o.error.text);
        check_found(o.result.program_output, units[i]);
        CHECK(access(drawn, R_OK) == 0, "the picture");
        run_result_free(&o.result);
    }
    CHECK(suite_remove(folder), "%s stays", folder);
}

/* A frame at each box in pixels of the image, the best one last and so on top; names are text, whatever is in them. */
static void test_svg(void)
{
    static const struct found_box boxes[] = {{0.9, 1, 0.25, 0.5, 0.75, 1}, {0.6, 7, 0, 0, 0.5, 0.25}};
    static char nothing[] = "nothing", name[] = "a<b>&\n";
    char *const names[] = {nothing, name};
    uint8_t rgb[8 * 4 * 3] = {0};
    const struct image image = {.width = 8, .height = 4, .rgb = rgb};
    char folder[] = "/tmp/orchard-svg-XXXXXX", path[64], text[4096] = "";
    struct orch_error error = {0};
    CHECK(mkdtemp(folder) != NULL, "a folder");
    snprintf(path, sizeof path, "%s/boxes.svg", folder);
    CHECK(boxes_write_svg(path, &image, boxes, 2, names, 2, &error), "%s", error.text);
    FILE *const file = fopen(path, "r");
    const size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    const char *const best = strstr(text, "<rect x=\"2.0\" y=\"2.0\" width=\"4.0\" height=\"2.0\"");
    const char *const other = strstr(text, "<rect x=\"0.0\" y=\"0.0\" width=\"4.0\" height=\"1.0\"");
    CHECK(size > 0 && best && other && other < best, "%s", text);
    CHECK(strstr(text, ">a&#60;b&#62;&#38; 0.90<") && strstr(text, ">class 7 0.60<"), "%s", text);
    CHECK(strstr(text, "viewBox=\"0 0 8 4\"") && strstr(text, "base64,iVBORw0KGgo"), "%s", text);
    if (file)
        fclose(file);
    CHECK(suite_remove(folder), "%s stays", folder);
}

static const struct suite_test tests[] = {{"the best of those that overlap", test_best},
                                          {"frames on pixels", test_drawing},
                                          {"frames in an SVG file", test_svg},
                                          {"drawn faces are found", test_faces}};

int main(void)
{
    return example_chips_run("boxes", tests, ARRAY_COUNT(tests), &db);
}
