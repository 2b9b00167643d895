/* Core ML packages, and networks and programs that are damaged or mean harm. */
#include "tests/sim/network/coreml_run.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- packages ---- */

static void write_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *const file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, size, file) == size, "%s cannot be written", path);
    if (file)
        fclose(file);
}

/* A package around a program whose weights [2, 3] lie behind a record at 64. `file` is what the program calls them. */
static void make_package(const char *folder, const char *file, const char *item)
{
    static const int64_t in = 3, shape[2] = {2, 3};
    static const float weights[6] = {1, 2, 3, 4, 5, 6};
    uint8_t bytes[192 + sizeof weights] = {1, 0, 0, 0, 2};
    char path[600], manifest[400];
    const uint64_t size = sizeof weights, start = 192, garbage = UINT64_C(5104411984);
    const uint32_t mark = 0xDEADBEEF, type = 2;
    memcpy(bytes + 64, &mark, 4);
    memcpy(bytes + 68, &type, 4);
    memcpy(bytes + 72, &size, 8);
    memcpy(bytes + 80, &start, 8);
    memcpy(bytes + 88, &garbage, 8); /* padding: older tools leave anything there */
    memcpy(bytes + 192, weights, sizeof weights);
    struct message block = {NULL, 0}, op = operation("const"), value = value_blob(11, shape, 2, file, 64);
    put_map(&op, 5, "val", &value);
    put_operation(&block, &op, "w");
    op = operation("linear");
    put_input(&op, "x", "x");
    put_input(&op, "weight", "w");
    put_operation(&block, &op, "y");
    struct message model = coreml_program_file(&in, 1, "CoreML6", &block);
    const char *const parts[] = {"", "/Data", "/Data/com.apple.CoreML", "/Data/com.apple.CoreML/weights"};
    for (unsigned k = 0; k < 4; k++) {
        snprintf(path, sizeof path, "%s%s", folder, parts[k]);
        (void)mkdir(path, 0777);
    }
    snprintf(path, sizeof path, "%s/Data/com.apple.CoreML/weights/weight.bin", folder);
    write_bytes(path, bytes, sizeof bytes);
    snprintf(path, sizeof path, "%s/Data/com.apple.CoreML/model.mlmodel", folder);
    write_bytes(path, model.byte, model.size);
    free(model.byte);
    snprintf(manifest, sizeof manifest,
             "{\"fileFormatVersion\": \"1.0.0\", \"itemInfoEntries\": {\"A\": {\"author\": \"a\", \"path\": \"%s\"}},"
             " \"rootModelIdentifier\": \"A\"}",
             item);
    snprintf(path, sizeof path, "%s/Manifest.json", folder);
    write_bytes(path, manifest, strlen(manifest));
}

static void refuses_package(const char *folder, const char *file, const char *item, const char *part)
{
    struct orch_error error = {0};
    make_package(folder, file, item);
    struct net_model *const model = net_import(folder, &error);
    CHECK(!model && error.exit_code == ORCH_USAGE && strstr(error.text, part) && !strchr(error.text, '\n'), "%d '%s', not '%s'",
          error.exit_code, error.text, part);
    net_model_free(model);
}

static void test_package(void)
{
    static const int64_t two = 2;
    static const double expected[2] = {0 * 1 + 1 * 2 + 2 * 3, 0 * 4 + 1 * 5 + 2 * 6};
    static const char weights[] = "@model_path/weights/weight.bin", item[] = "com.apple.CoreML/model.mlmodel";
    char folder[] = "/tmp/orchard-coreml-XXXXXX", package[64], path[200], outside[200];
    struct orch_error error = {0};
    if (!mkdtemp(folder)) {
        suite_skip("no temporary folder");
        return;
    }
    snprintf(package, sizeof package, "%s/a.mlpackage", folder);
    make_package(package, weights, item);
    struct net_model *const model = net_import(package, &error);
    CHECK(model != NULL, "%s", error.text);
    if (model)
        check_numbers(model, "weights in a file", &two, 1, expected);
    net_model_free(model);
    refuses_package(package, "@model_path/../../../secret", item, "must lie in the folder");
    refuses_package(package, "/etc/passwd", item, "not below @model_path");
    refuses_package(package, "@model_path/weights/none.bin", item, "none.bin");
    refuses_package(package, weights, "../../x.mlmodel", "must lie in the folder");
    refuses_package(package, weights, "/etc/passwd", "must lie in the folder");
    make_package(package, weights, item);
    snprintf(path, sizeof path, "%s/Data/com.apple.CoreML/weights/weight.bin", package);
    CHECK(truncate(path, 150) == 0, "cut");
    struct net_model *const cut = net_import(package, &error);
    CHECK(!cut && strstr(error.text, "the file has 150 bytes"), "%s", error.text);
    net_model_free(cut);
    snprintf(outside, sizeof outside, "%s/elsewhere", folder);
    CHECK(rename(path, outside) == 0 && symlink(outside, path) == 0, "link");
    struct net_model *const linked = net_import(package, &error);
    CHECK(!linked && strstr(error.text, "symbolic link"), "%s", error.text);
    net_model_free(linked);
    CHECK(suite_remove(folder), "%s stays", folder);
}

/* ---- what is refused ---- */

static void test_refusals(void)
{
    static const int64_t in[2] = {2, 3};
    static const float number = 3;
    struct message block = {NULL, 0}, op = operation("argsort");
    put_input(&op, "x", "x");
    put_operation(&block, &op, "y");
    struct message file = coreml_program_file(in, 2, "CoreML6", &block);
    refuses(&file, ORCH_UNMODELLED, "operation 'y' (argsort): the operation is not imported; its inputs are x [2,3]");
    block = (struct message){NULL, 0};
    op = operation("relu");
    put_input(&op, "x", "y");
    put_operation(&block, &op, "y");
    file = coreml_program_file(in, 2, "CoreML6", &block);
    refuses(&file, ORCH_USAGE, "operation 'y' (relu): 'y' is computed by nothing before it");
    block = (struct message){NULL, 0};
    op = operation("reshape");
    const int64_t huge[2] = {INT64_C(1) << 40, INT64_C(1) << 40};
    put_input(&op, "x", "x");
    put_parameter(&op, "shape", value_floats(&number, NULL, 0));
    put_operation(&block, &op, "y");
    file = coreml_program_file(in, 2, "CoreML6", &block);
    refuses(&file, ORCH_USAGE, "operation 'y' (reshape)");
    block = (struct message){NULL, 0};
    op = operation("const");
    const uint8_t few[4] = {0};
    struct message value = value_bytes(10, few, 4, huge, 2);
    put_map(&op, 5, "val", &value);
    put_operation(&block, &op, "y");
    file = coreml_program_file(in, 2, "CoreML6", &block);
    refuses(&file, ORCH_USAGE, "a constant of an impossible shape");
}

/* Choices within choices, of which the first is always taken. */
static void test_nesting(void)
{
    static const int64_t in = 1;
    struct message block = {NULL, 0}, relu = operation("relu");
    put_input(&relu, "x", "x");
    put_operation(&block, &relu, "y");
    for (unsigned depth = 0; depth < 40; depth++) {
        struct message op = operation("cond"), other = {NULL, 0}, outer = {NULL, 0}, flag = {NULL, 0};
        put_text(&block, 2, "y");
        put_text(&other, 2, "x");
        put_number(&flag, 1, 1);
        put_parameter(&op, "pred", program_value(1, NULL, 0, 3, &flag));
        put_message(&op, 4, &block);
        put_message(&op, 4, &other);
        put_operation(&outer, &op, "y");
        block = outer;
    }
    struct message file = coreml_program_file(&in, 1, "CoreML6", &block);
    refuses(&file, ORCH_USAGE, "blocks are nested too deep");
}

static void test_damaged(void)
{
    static const int64_t in[2] = {3, 2};
    static const float weights[6] = {1, 2, 3, 4, 5, 6};
    struct message block = {NULL, 0}, op = operation("linear");
    put_input(&op, "x", "x");
    put_parameter(&op, "weight", value_floats(weights, in, 2));
    put_operation(&block, &op, "w");
    op = operation("softmax");
    put_input(&op, "x", "w");
    put_operation(&block, &op, "y");
    struct message file = coreml_program_file(in, 2, "CoreML6", &block);
    for (size_t k = 0; k < 2 * file.size; k++) {
        const bool cut = k < file.size;
        struct orch_error error = {0};
        uint8_t *const copy = malloc(file.size);
        memcpy(copy, file.byte, file.size);
        if (!cut)
            copy[k - file.size] ^= 0x55;
        struct net_model *const model = coreml_import("m.mlmodel", copy, cut ? k : file.size, &error);
        CHECK(model || ((error.exit_code == ORCH_USAGE || error.exit_code == ORCH_UNMODELLED) && !strchr(error.text, '\n')),
              "at %zu: %d %s", k, error.exit_code, error.text);
        CHECK(!cut || !model, "cut at %zu and taken", k);
        net_model_free(model);
        free(copy);
    }
    free(file.byte);
}

/* ---- neural networks ---- */

static void test_layer_refusals(void)
{
    static const int64_t image[3] = {1, 4, 4}, rows = 2;
    static const float few[2] = {1, 2};
    struct message body = {NULL, 0}, empty = {NULL, 0}, nothing = {NULL, 0};
    struct message file = one_layer(500, &body, image, 3, false);
    refuses(&file, ORCH_UNMODELLED, "layer 'it' (custom): layers of this kind are not imported; its inputs are [1,1,4,4]");
    put_number(&body, 1, 1);
    file = one_layer(4000, &body, image, 3, false);
    refuses(&file, ORCH_UNMODELLED, "kind 4000");
    put_number(&body, 1, 1u << 30);
    put_number(&body, 2, 1u << 30);
    put_weights(&body, 90, few, 2);
    file = one_layer(100, &body, image, 3, false);
    refuses(&file, ORCH_USAGE, "layer 'it' (convolution)");
    put_number(&body, 1, 2);
    put_number(&body, 2, 3);
    put_weights(&body, 20, few, 2);
    file = one_layer(140, &body, &rows, 1, false);
    refuses(&file, ORCH_USAGE, "2 weights or bytes are there, 6 are wanted");
    struct message layer = network_layer("cycle", "y", "y", 130, &empty), layers = {NULL, 0};
    put_message(&layers, 1, &layer);
    file = coreml_network_file(image, 3, false, &layers);
    refuses(&file, ORCH_USAGE, "input 'y' is computed by no layer before it");
    file = coreml_file(1, &nothing, 302, &empty);
    refuses(&file, ORCH_UNMODELLED, "treeEnsembleRegressor");
    put_number(&file, 7, 7);
    refuses(&file, ORCH_USAGE, "no Core ML model");
}

/* Every beginning of a file, and every byte of it changed, is a model or one line. */
static void test_damaged_network(void)
{
    static const int64_t image[3] = {1, 4, 4};
    static const float weights[9] = {1};
    struct message body = {NULL, 0};
    put_number(&body, 1, 1);
    put_number(&body, 2, 1);
    put_weights(&body, 90, weights, 9);
    struct message file = one_layer(100, &body, image, 3, false);
    for (size_t k = 0; k < 2 * file.size; k++) {
        const bool cut = k < file.size;
        struct orch_error error = {0};
        uint8_t *const copy = malloc(file.size);
        memcpy(copy, file.byte, file.size);
        if (!cut)
            copy[k - file.size] ^= 0xFF;
        struct net_model *const model = coreml_import("m.mlmodel", copy, cut ? k : file.size, &error);
        CHECK(model || ((error.exit_code == ORCH_USAGE || error.exit_code == ORCH_UNMODELLED) && !strchr(error.text, '\n')),
              "at %zu: %d %s", k, error.exit_code, error.text);
        CHECK(!cut || !model, "cut at %zu and taken", k);
        net_model_free(model);
        free(copy);
    }
    free(file.byte);
}

static const struct suite_test tests[] = {
    {"reads packages and nothing outside", test_package},
    {"names what it does not take", test_refusals},
    {"bounds blocks in blocks", test_nesting},
    {"survives damage", test_damaged},
    {"names layers that it does not take", test_layer_refusals},
    {"survives damaged networks", test_damaged_network},
};
SUITE_MAIN("coreml_files", tests)
