/* What cores do around a network that is given an image: each kernel takes what it takes by itself on an E core, the network as
 * much longer, on every unit, with the same outputs as without the work that is timed. */
#include "isa/array_count.h"
#include "sim/network/image/boxes.h"
#include "sim/network/image/image.h"
#include "sim/run/network/run_network_image.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static struct chip_db *db;

enum { WIDE = 96, HIGH = 80, SIDE = 32, CLASSES = 1000, LINES = 4 + 5 };

static const char network[] = "model:squeezenet";
static const char *const side[] = {"size=32"};

static void write_picture(const char *path)
{
    static uint8_t rgb[3 * WIDE * HIGH];
    struct orch_error error = {0};
    for (size_t i = 0; i < sizeof rgb; i++)
        rgb[i] = (uint8_t)(i * 7 + i / 11);
    const struct image image = {WIDE, HIGH, rgb};
    CHECK(image_write_png(path, &image, &error), "%s", error.text);
}

static void write_labels(const char *path)
{
    FILE *const file = fopen(path, "w");
    for (unsigned i = 0; file && i < CLASSES; i++)
        fprintf(file, "kind %u\n", i);
    CHECK(file && fclose(file) == 0, "%s", path);
}

/* Seconds that the kernel of a line takes when it is asked for alone. */
static double alone(const char *line)
{
    const char *const workload = strchr(line, ' ');
    struct outcome o =
        run_on(db, "m1", workload + 1,
               (struct run_request){
                   .unit = "cpu", .cores = 1, .core_choice = SOC_E_CORE, .detail = "op", .mode = RUN_TIMING, .seed = 1});
    CHECK(o.ok, "%s: %s", line, o.error.text);
    const double seconds = o.ok ? o.result.seconds : NAN;
    run_result_free(&o.result);
    return seconds;
}

static double check_lines(const struct outcome *o, const char *unit)
{
    double sum = 0;
    unsigned lines = 0;
    for (size_t i = 0; i < o->result.placement.count; i++) {
        const char *const op = o->result.placement.item[i].op, *const kernel = o->result.placement.item[i].kernel;
        char name[60];
        if (strncmp(op, "Image ", 6) != 0 && strncmp(op, "Classes: ", 9) != 0)
            continue;
        snprintf(name, sizeof name, "network.kernel%zu.seconds", i + 1);
        const double seconds = counter(o, name), expected = alone(kernel);
        CHECK(strcmp(o->result.placement.item[i].unit, "cpu") == 0 && strstr(o->result.placement.item[i].why, "E core"),
              "%s: %s on %s, %s", unit, op, o->result.placement.item[i].unit, o->result.placement.item[i].why);
        CHECK(fabs(seconds - expected) < 1e-12 && expected > 0, "%s: %s takes %g s, alone %g s", unit, kernel, seconds, expected);
        sum += seconds;
        lines++;
    }
    CHECK(lines == LINES, "%s: %u lines", unit, lines);
    return sum;
}

/* The image made by somebody else, and given as numbers, takes the network's own time. */
static void check_unit(const char *unit, const char *precision, const struct run_network_images *images)
{
    const struct run_request plain = {
        .unit = unit, .precision = precision, .dims = side, .dim_count = 1, .mode = RUN_TIMING, .seed = 1};
    struct run_request shown = plain;
    shown.images = images;
    struct outcome without = run_on(db, "m1", network, plain), with = run_on(db, "m1", network, shown);
    CHECK(without.ok && with.ok, "%s: %s%s", unit, without.error.text, with.error.text);
    if (without.ok && with.ok) {
        const double more = check_lines(&with, unit);
        CHECK(fabs(with.result.seconds - without.result.seconds - more) < 1e-3 * more, "%s: %g s, %g s without, %g s around",
              unit, with.result.seconds, without.result.seconds, more);
        CHECK(with.result.joules > without.result.joules, "%s: %g J, %g J without", unit, with.result.joules,
              without.result.joules);
    }
    run_result_free(&without.result);
    run_result_free(&with.result);
}

static void test_units(void)
{
    char folder[] = "/tmp/orchard-around-XXXXXX", picture[64], labels[64];
    CHECK(mkdtemp(folder) != NULL, "a folder");
    snprintf(picture, sizeof picture, "%s/p.png", folder);
    snprintf(labels, sizeof labels, "%s/l.txt", folder);
    write_picture(picture);
    write_labels(labels);
    const char *const file[] = {picture};
    const struct run_network_images images = {.file = file, .count = 1, .mean = "127", .std = "128", .labels = labels};
    check_unit("gpu", NULL, &images);
    check_unit("ane", "f16", &images);
    CHECK(suite_remove(folder), "%s stays", folder);
}

/* With values the summary knows what each part waits for, that on E cores included. */
static void test_stalls(void)
{
    static const char model[] = ORCHARD_SOURCE_DIR "/tests/examples/models/digits.onnx";
    static const char *const units[] = {"cpu", "amx", "gpu"};
    static const char *const file[] = {ORCHARD_SOURCE_DIR "/tests/examples/models/seven.png"};
    const struct run_network_images images = {.file = file, .count = 1, .mean = "127", .std = "128"};
    for (size_t u = 0; u < ARRAY_COUNT(units); u++) {
        struct outcome o = run_on(db, "m1", model, (struct run_request){.unit = units[u], .images = &images, .seed = 1});
        double sum = 0;
        CHECK(o.ok, "%s: %s", units[u], o.error.text);
        for (size_t i = 0; i < o.result.stalls.count; i++)
            sum += o.result.stalls.item[i].value;
        CHECK(fabs(sum - 1) < 1e-6, "%s: shares of stalls add up to %.9g", units[u], sum);
        run_result_free(&o.result);
    }
}

static const struct suite_test tests[] = {{"an image and its classes take what their kernels take alone", test_units},
                                          {"stalls are of all of it", test_stalls}};

int main(void)
{
    return example_chips_run("network_around", tests, ARRAY_COUNT(tests), &db);
}
