/* orchard models and orchard model with a network that the suite makes: text, document, exit codes. */
#include "isa/array_count.h"
#include "tests/sim/network/onnx_example.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static struct cli_home home = {.name = "networks", .options = "--quiet"};

static void write_bytes(const char *name, const void *bytes, size_t size)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", home.folder, name);
    FILE *const file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, size, file) == size, "%s", path);
    if (file)
        fclose(file);
}

static void write_data(const char *name, const char *tensor, const int64_t *dim, size_t dims, const float *number, size_t count)
{
    struct message t = tensor_proto(tensor, 1, dim, dims, number, count * sizeof *number);
    write_bytes(name, t.byte, t.size);
    free(t.byte);
}

/* y = relu(x w), x [n, 4]; with one set of inputs and outputs, right or wrong. */
static void make_case(void)
{
    static const int64_t in[2] = {-1, 4}, weights[2] = {4, 2}, given[2] = {1, 4}, result[2] = {1, 2};
    static const float w[8] = {1, -2, 3, -4, 5, -6, 7, -8}, x[4] = {1, 1, 1, 1}, y[2] = {16, 0};
    struct message graph = {NULL, 0}, info = value_info("x", 1, in, 2), constant = tensor_proto("w", 1, weights, 2, w, sizeof w);
    struct message product = node_proto("MatMul", "x w", "h"), relu = node_proto("Relu", "h", "y"), out = {NULL, 0};
    char path[256];
    put_text(&out, 1, "y");
    put_message(&graph, 11, &info);
    put_message(&graph, 5, &constant);
    put_message(&graph, 1, &product);
    put_message(&graph, 1, &relu);
    put_message(&graph, 12, &out);
    struct message m = model_proto(13, &graph);
    cli_home_open(&home);
    for (unsigned k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "%s/%s", home.folder, k ? "one/test_data_set_0" : "one");
        mkdir(path, 0700);
    }
    write_bytes("one/model.onnx", m.byte, m.size);
    write_bytes("short.onnx", m.byte, m.size / 2);
    write_data("one/test_data_set_0/input_0.pb", "x", given, 2, x, 4);
    write_data("one/test_data_set_0/output_0.pb", "y", result, 2, y, 2);
    free(m.byte);
}

static void test_show(void)
{
    make_case();
    if (!cli_ask(&home, "models show $/one/model.onnx --dim n=3"))
        return;
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "orchard.FusedMatMul+Relu") &&
              strstr(home.outcome.out, "f32[3,4]") && strstr(home.outcome.out, "24 multiplications"),
          "%d %s", home.outcome.code, home.outcome.out);
    cli_ask(&home, "models show $/one/model.onnx --no-pass matmul");
    CHECK(strstr(home.outcome.out, "Relu") && !strstr(home.outcome.out, "FusedMatMul") && strstr(home.outcome.out, "[n,4]"), "%s",
          home.outcome.out);
    cli_ask(&home, "models show $/one/model.onnx --pass memory --dim n=3");
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "offset"), "%s", home.outcome.out);
    cli_ask(&home, "models show $/one/model.onnx --dim n=3 --json");
    json_object *const d = cli_document(&home.outcome);
    CHECK(document_number(d, "/macs") == 24 && document_number(d, "/parameters") == 8 &&
              document_number(d, "/memory/peak_bytes") == 152 &&
              strcmp(document_text(d, "/nodes/0/operator"), "orchard.FusedMatMul") == 0 &&
              document_number(d, "/inputs/0/shape/0") == 3,
          "%s", home.outcome.out);
    json_object_put(d);
}

static void test_refusals(void)
{
    static const struct cli_wrong rows[] = {
        {"models show $/short.onnx", 2, "/short.onnx: byte"},
        {"models show $/none.onnx", 2, "/none.onnx"},
        {"models show $/one/model.onnx --dim m=3", 2, "no such dimension"},
        {"models show $/one/model.onnx --pass matmull", 2, "did you mean matmul"},
        {"models show $/one/model.onnx --no-pass geluu", 2, "did you mean gelu"},
        {"models show", 2, "expected show NAME|FILE"},
        {"model check $/one --unit ane --precision f32", 3, "ane only in f16"},
        {"model check $/one --unit amx --precision f16", 3, "computed in f32"},
        {"model check $/one --unit gpus", 2, "did you mean gpu"},
    };
    make_case();
    cli_all_wrong(&home, rows, ARRAY_COUNT(rows));
}

static void test_check(void)
{
    static const int64_t result[2] = {1, 2};
    static const float wrong[2] = {16.5f, 0};
    make_case();
    if (!cli_ask(&home, "model check $/one --json"))
        return;
    json_object *d = cli_document(&home.outcome);
    CHECK(home.outcome.code == 0 && document_number(d, "/passed") == 1 &&
              strcmp(document_text(d, "/networks/0/unit"), "reference") == 0,
          "%s", home.outcome.out);
    json_object_put(d);
    write_data("one/test_data_set_0/output_0.pb", "y", result, 2, wrong, 2);
    cli_ask(&home, "model check $/one");
    CHECK(home.outcome.code == 1 && strstr(home.outcome.out, "output 'y' differs by 0.5") &&
              strstr(home.outcome.out, "0 passed, 1 failed"),
          "%d %s", home.outcome.code, home.outcome.out);
    cli_home_remove(&home);
}

/* h = x w, and the different numbers among them, for which no library has a kernel. */
static void make_fallback(void)
{
    static const int64_t in[2] = {1, 4}, weights[2] = {4, 2};
    static const float w[8] = {1, -2, 3, -4, 5, -6, 7, -8};
    struct message graph = {NULL, 0}, info = value_info("x", 1, in, 2), constant = tensor_proto("w", 1, weights, 2, w, sizeof w);
    struct message product = node_proto("MatMul", "x w", "h"), sign = node_proto("Unique", "h", "y"), out = {NULL, 0};
    put_text(&out, 1, "y");
    put_message(&graph, 11, &info);
    put_message(&graph, 5, &constant);
    put_message(&graph, 1, &product);
    put_message(&graph, 1, &sign);
    put_message(&graph, 12, &out);
    struct message m = model_proto(13, &graph);
    write_bytes("sign.onnx", m.byte, m.size);
    free(m.byte);
}

static void write_npy(const char *name, const char *shape, const float *number, size_t count)
{
    uint8_t bytes[128 + 64] = "\x93NUMPY\x01\x00\x76";
    memset(bytes + 10, ' ', 118);
    const int used = snprintf((char *)bytes + 10, 118, "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }", shape);
    bytes[10 + used] = ' ';
    bytes[127] = '\n';
    memcpy(bytes + 128, number, count * sizeof *number);
    write_bytes(name, bytes, 128 + count * sizeof *number);
}

static void test_cpu(void)
{
    static const struct cli_wrong wrong[] = {
        {"run $/sign.onnx --unit cpu --chip m1 --input x=$/long.npy", 2, "x"},
        {"run $/sign.onnx --unit cpu --chip m1 --input z=$/x.npy", 2, "no input of that name"},
        {"run $/one/model.onnx --unit cpu --chip m1", 2, "leaves open"},
        {"run gemm:8x8x8 --unit cpu --chip m1 --opt 1", 2, "belongs to networks"},
        {"run $/sign.onnx --unit auto --precision i4 --chip m1", 3, "gpu and auto also in f16"},
        {"run gemm:8x8x8 --unit cpu --chip m1 --image x.png", 2, "--image belongs to networks"},
        {"run $/sign.onnx --unit cpu --chip m1 --mean 1", 2, "--mean belongs to --image"},
        {"run $/sign.onnx --unit cpu --chip m1 --image $/x.npy --std 0", 2, "divided by it"},
        {"models quantize $/sign.onnx --to int8 -o $/q.onnx", 2, "needs samples"},
        {"models quantize $/sign.onnx --to int9 -o $/q.onnx", 2, "int8"},
        {"models quantize $/sign.onnx --to f16", 2, "-o FILE"},
        {"models quantize $/sign.onnx --to sparse --share 2 -o $/q.onnx", 2, "share"},
        {"models accuracy $/sign.onnx", 2, "needs samples"},
        {"models accuracy", 2, "expected accuracy"},
        {"run $/none.mlmodel --unit cpu --chip m1", 2, "none.mlmodel"},
        {"models show $/none.mlpackage", 2, "none.mlpackage: No such file"},
        {"run $/sign.onnx --unit cpu --chip m1 --precision f16", 3, "computed in f32"},
        {"run $/sign.onnx --unit gpu --chip m1 --precision mixed --mode timing", 3, "follows from values"},
        {"run $/sign.onnx --unit gpu --chip m1 --policy size", 2, "chooses units, of --unit auto"},
        {"run gemm:8x8x8 --chip m1 --policy memory", 2, "operators of a network"},
        {"run $/sign.onnx --chip m1 --policy size:5:1", 2, "unknown --policy"},
        {"run $/sign.onnx --unit cpu --chip m1 --detail op --output $/out", 2, "has no values"},
    };
    static const float ones[5] = {1, 1, 1, 1, 1};
    make_case();
    make_fallback();
    write_npy("x.npy", "(1, 4)", ones, 4);
    write_npy("long.npy", "(1, 5)", ones, 5);
    if (!cli_ask(&home, "model check $/one --unit cpu --chip m1 --json"))
        return;
    json_object *d = cli_document(&home.outcome);
    CHECK(home.outcome.code == 0 && document_number(d, "/passed") == 1 &&
              strcmp(document_text(d, "/networks/0/unit"), "cpu") == 0 && document_number(d, "/networks/0/fallback_nodes") == 0,
          "%s", home.outcome.out);
    json_object_put(d);
    cli_ask(&home, "run $/sign.onnx --unit cpu --chip m1 --input x=$/x.npy --json");
    d = cli_document(&home.outcome);
    CHECK(home.outcome.code == 0 && strcmp(document_text(d, "/placement/0/unit"), "cpu") == 0 &&
              strcmp(document_text(d, "/placement/1/unit"), "reference") == 0 && document_number(d, "/macs") == 8 &&
              document_number(d, "/native_mac_share") == 1 && document_number(d, "/seconds") > 0 &&
              document_number(d, "/joules") > 0,
          "%d %s", home.outcome.code, home.outcome.out);
    json_object_put(d);
    cli_ask(&home, "run $/sign.onnx --unit cpu --chip m1 --input x=$/x.npy --explain");
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "fallback") &&
              strstr(home.outcome.out, "no rule lowers this operator"),
          "%s", home.outcome.out);
    cli_ask(&home, "run $/one/model.onnx --unit cpu --chip m1 --dim n=3 --no-pass matmul --json");
    d = cli_document(&home.outcome);
    CHECK(home.outcome.code == 0 && document_number(d, "/macs") == 24 &&
              strstr(document_text(d, "/placement/1/kernel"), "elementwise:6,op=relu"),
          "%d %s", home.outcome.code, home.outcome.out);
    json_object_put(d);
    cli_all_wrong(&home, wrong, ARRAY_COUNT(wrong));
}

/* Without values: from characteristics, which the second run finds, whatever the number of host threads; and networks that are
 * published, by name. */
static void test_accuracy(void)
{
    static const float ones[4] = {1, 1, 1, 1};
    make_case();
    write_npy("x.npy", "(1, 4)", ones, 4);
    if (!cli_ask(&home, "models quantize $/one/model.onnx --to sparse --share 0.25 -o $/pruned.onnx"))
        return;
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "weights of 32 bytes in 25"), "%s", home.outcome.out);
    cli_ask(&home, "models accuracy $/one/model.onnx --calibrate $/x.npy --json");
    json_object *const d = cli_document(&home.outcome);
    CHECK(home.outcome.code == 0 && document_number(d, "/weight_bytes") == 32 &&
              document_number(d, "/rows/0/weight_bytes") == 16 && document_number(d, "/rows/0/cosine") == 1 &&
              document_number(d, "/rows/4/weight_bytes") == 17 &&
              document_number(d, "/rows/4/largest_error_share") == 0.25, /* 1 + 3 of 16 */
          "%s", home.outcome.out);
    json_object_put(d);
    cli_home_remove(&home);
}

/* y = relu(x w + b), x [8, 4]. */
static void make_biased(void)
{
    static const int64_t in[2] = {8, 4}, weights[2] = {4, 2}, biases[1] = {2};
    static const float w[8] = {1, -2, 3, -4, 5, -6, 7, -8}, b[2] = {1, 2};
    struct message graph = {NULL, 0}, info = value_info("x", 1, in, 2), out = {NULL, 0};
    struct message constant[2] = {tensor_proto("w", 1, weights, 2, w, sizeof w), tensor_proto("b", 1, biases, 1, b, sizeof b)};
    struct message node[3] = {node_proto("MatMul", "x w", "h"), node_proto("Add", "h b", "s"), node_proto("Relu", "s", "y")};
    put_text(&out, 1, "y");
    put_message(&graph, 11, &info);
    for (unsigned k = 0; k < 2; k++)
        put_message(&graph, 5, &constant[k]);
    for (unsigned k = 0; k < 3; k++)
        put_message(&graph, 1, &node[k]);
    put_message(&graph, 12, &out);
    struct message m = model_proto(13, &graph);
    write_bytes("biased.onnx", m.byte, m.size);
    free(m.byte);
}

/* A sum and a relu become one kernel by the pass matmul alone: what it saves is the difference between two runs. */
static void test_passes(void)
{
    static const struct cli_wrong wrong[] = {
        {"models passes", 2, "expected passes"},
        {"models passes $/biased.onnx --no-pass conv", 2, "leaves out each pass"},
        {"models passes llama-3-8b", 2, "passes are done to networks"},
    };
    double seconds[2];
    make_case();
    make_biased();
    for (unsigned i = 0; i < 2; i++) {
        if (!cli_ask(&home, "run $/biased.onnx --unit gpu --chip m1 --mode timing%s --json", i ? "" : " --no-pass matmul"))
            return;
        json_object *const d = cli_document(&home.outcome);
        seconds[i] = document_number(d, "/seconds");
        json_object_put(d);
    }
    CHECK(seconds[0] > seconds[1], "%g %g", seconds[0], seconds[1]);
    cli_ask(&home, "models passes $/biased.onnx --unit gpu --chip m1 --json");
    json_object *const d = cli_document(&home.outcome);
    CHECK(home.outcome.code == 0 && document_number(d, "/without_any/seconds") == seconds[0] &&
              document_number(d, "/all/seconds") == seconds[1] && document_number(d, "/without_any/launches") == 3 &&
              document_number(d, "/all/launches") == 2 && strcmp(document_text(d, "/passes/21/pass"), "matmul") == 0 &&
              document_number(d, "/passes/21/left_out/seconds") == seconds[0] &&
              document_number(d, "/passes/20/behind/seconds") == seconds[0] &&
              document_number(d, "/without_any/tensor_bytes") - document_number(d, "/all/tensor_bytes") == 2 * 8 * 2 * 4,
          "%s", home.outcome.out);
    json_object_put(d);
    cli_ask(&home, "models passes $/biased.onnx --unit gpu --chip m1");
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "matmul") &&
              strstr(home.outcome.out, "change nothing halves, qlinear, integer"),
          "%s", home.outcome.out);
    cli_all_wrong(&home, wrong, ARRAY_COUNT(wrong));
}

static void test_timing(void)
{
    static const char *const units[] = {"cpu", "amx", "gpu", "auto"};
    static const struct cli_wrong wrong[] = {
        {"run $/sign.onnx --unit gpu --chip m1 --cache $/kept", 2, "mode timing"},
        {"run $/sign.onnx --unit gpu --chip m1 --mode timing --cache $/none/kept", 2, "No such file"},
        {"run model:resnet51 --unit gpu --chip m1", 2, "did you mean resnet50"},
        {"run model:resnet50 --unit gpu --chip m1 --dim sise=3", 2, "did you mean size"},
    };
    make_case();
    make_fallback();
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        if (!cli_ask(&home, "run $/sign.onnx --unit %s --chip m1 --mode timing --threads 1 --json", units[i]))
            return;
        json_object *d = cli_document(&home.outcome);
        const double seconds = document_number(d, "/seconds");
        CHECK(home.outcome.code == 0 && seconds > 0 && strcmp(document_text(d, "/mode"), "timing") == 0 &&
                  document_number(d, "/macs") == 8,
              "%s: %s", units[i], home.outcome.out);
        json_object_put(d);
        cli_ask(&home, "run $/sign.onnx --unit %s --chip m1 --mode timing --threads 3 --rerun --json", units[i]);
        d = cli_document(&home.outcome);
        CHECK(home.outcome.code == 0 && document_number(d, "/seconds") == seconds, "%s: %s", units[i], home.outcome.out);
        json_object_put(d);
    }
    cli_ask(&home, "run model:MobileNet_v3-small --unit gpu --chip m1 --mode timing --dim size=32 --json");
    json_object *const d = cli_document(&home.outcome);
    CHECK(home.outcome.code == 0 && document_number(d, "/seconds") > 0 && document_number(d, "/native_mac_share") == 1, "%s",
          home.outcome.out);
    json_object_put(d);
    cli_ask(&home, "run $/sign.onnx --unit gpu --chip m1 --mode timing --cache $/kept --rerun --explain");
    char kept[400];
    struct stat file;
    snprintf(kept, sizeof kept, "%.300s/kept/characteristics.db", home.folder);
    CHECK(home.outcome.code == 0 && stat(kept, &file) == 0 && file.st_size > 0, "%s", home.outcome.out);
    cli_ask(&home, "run $/sign.onnx --unit gpu --chip m1 --mode timing --cache $/kept --rerun --explain");
    CHECK(home.outcome.code == 0, "%s", home.outcome.out);
    cli_ask(&home, "run $/sign.onnx --unit all --chip m1 --mode timing --json");
    json_object *const all = cli_document(&home.outcome);
    CHECK(home.outcome.code == 0 && json_object_array_length(all) == 4 && strcmp(document_text(all, "/3/unit"), "ane") == 0 &&
              strcmp(document_text(all, "/3/precision"), "f16") == 0 && strcmp(document_text(all, "/0/unit"), "cpu") == 0,
          "%s", home.outcome.out);
    json_object_put(all);
    cli_all_wrong(&home, wrong, ARRAY_COUNT(wrong));
}

static void test_ane(void)
{
    static const float ones[4] = {1, 1, 1, 1};
    make_case();
    make_fallback();
    write_npy("x.npy", "(1, 4)", ones, 4);
    if (!cli_ask(&home, "run $/sign.onnx --unit ane --chip m1 --input x=$/x.npy --json"))
        return;
    json_object *const d = cli_document(&home.outcome);
    CHECK(home.outcome.code == 0 && strcmp(document_text(d, "/precision"), "f16") == 0 &&
              strcmp(document_text(d, "/placement/0/unit"), "ane") == 0 && document_number(d, "/overhead_seconds") > 0 &&
              document_number(d, "/joules") > 0,
          "%d %s", home.outcome.code, home.outcome.out);
    json_object_put(d);
    cli_home_remove(&home);
}

/* The first two numbers of an array of f32 in a file. */
static void read_pair(const char *name, float number[2])
{
    uint8_t bytes[128 + 8] = {0};
    char path[256];
    snprintf(path, sizeof path, "%s/%s", home.folder, name);
    FILE *const file = fopen(path, "rb");
    CHECK(file && fread(bytes, 1, sizeof bytes, file) == sizeof bytes, "%s", path);
    if (file)
        fclose(file);
    memcpy(number, bytes + 128, 8);
}

/* The program of the network's product, run by itself, says what its golden data say. */
static void test_programs(void)
{
    static const float ones[4] = {1, 1, 1, 1};
    static const struct cli_wrong wrong[] = {{"build $/one/model.onnx --unit gpu -o $/built", 2, "leaves open"},
                                             {"build $/short.onnx --unit gpu -o $/built", 2, "short.onnx"},
                                             {"build $/one/model.onnx --unit amx -o $/built", 2, "ane|gpu"},
                                             {"build $/one/model.onnx --unit gpu --dim n=1 -o $/no/built", 2, "No such file"},
                                             {"build $/one/model.onnx --unit gpu", 2, "build needs"}};
    float y[2];
    make_case();
    write_npy("x.npy", "(1, 4)", ones, 4);
    write_npy("channels.npy", "(4, 1, 1)", ones, 4);
    if (!cli_ask(&home, "build $/one/model.onnx --unit gpu --chip m1 --input x=$/x.npy -o $/gpu"))
        return;
    CHECK(home.outcome.code == 0, "%s", home.outcome.err);
    cli_ask(&home, "run $/gpu/001-fusedmatmul --chip m1"); /* whose answer is in the database, but not its outputs */
    cli_ask(&home, "run $/gpu/001-fusedmatmul --chip m1 --output $/out");
    CHECK(home.outcome.code == 0, "%s", home.outcome.err);
    read_pair("out/c.npy", y); /* the rectifier is the next program */
    CHECK(y[0] == 16 && y[1] == -20, "%g %g", y[0], y[1]);
    cli_ask(&home, "isa disasm agx $/gpu/001-fusedmatmul/abi.json");
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "stop"), "%s", home.outcome.out);
    cli_ask(&home, "build $/one/model.onnx --unit ane --chip m1 --dim n=1 -o $/ane");
    CHECK(home.outcome.code == 0, "%s", home.outcome.err);
    cli_ask(&home, "run $/ane/001-fusedmatmul.hwx --chip m1 --input a=$/channels.npy --output $/out");
    CHECK(home.outcome.code == 0, "%s", home.outcome.err);
    read_pair("out/c.npy", y);
    CHECK(y[0] == 16 && y[1] == -20, "%g %g", y[0], y[1]);
    cli_all_wrong(&home, wrong, ARRAY_COUNT(wrong));
}

/* The same file on other units: who computed, what each says, the costs of the one command buffer. */
static void test_gpu_and_amx(void)
{
    static const float ones[4] = {1, 1, 1, 1};
    make_case();
    make_fallback();
    write_npy("x.npy", "(1, 4)", ones, 4);
    if (!cli_ask(&home, "model check $/one --unit gpu --chip m1 --json"))
        return;
    json_object *d = cli_document(&home.outcome);
    CHECK(home.outcome.code == 0 && document_number(d, "/passed") == 1 &&
              strcmp(document_text(d, "/networks/0/unit"), "gpu") == 0 && document_number(d, "/networks/0/fallback_nodes") == 0,
          "%s", home.outcome.out);
    json_object_put(d);
    cli_ask(&home, "model check $/one --unit cpu --precision int8");
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "1 passed"), "%s", home.outcome.out);
    cli_ask(&home, "model check $/one --unit hybrid --precision f16");
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "hybrid"), "%s", home.outcome.out);
    cli_ask(&home, "run $/sign.onnx --unit gpu --chip m1 --input x=$/x.npy --json");
    d = cli_document(&home.outcome);
    CHECK(home.outcome.code == 0 && strcmp(document_text(d, "/unit"), "gpu") == 0 &&
              strcmp(document_text(d, "/placement/0/unit"), "gpu") == 0 &&
              strcmp(document_text(d, "/placement/1/unit"), "reference") == 0 && document_number(d, "/native_mac_share") == 1 &&
              document_number(d, "/overhead_seconds") > 0 && document_number(d, "/joules") > 0,
          "%d %s", home.outcome.code, home.outcome.out);
    json_object_put(d);
    cli_ask(&home, "run $/sign.onnx --unit gpu --chip m1 --precision f16 --mode timing --json");
    d = cli_document(&home.outcome);
    CHECK(home.outcome.code == 0 && strcmp(document_text(d, "/precision"), "f16") == 0 && document_number(d, "/seconds") > 0,
          "%d %s", home.outcome.code, home.outcome.out);
    json_object_put(d);
    cli_ask(&home, "run $/sign.onnx --unit gpu --chip m1 --precision mixed --input x=$/x.npy --json");
    d = cli_document(&home.outcome);
    CHECK(home.outcome.code == 0 && strcmp(document_text(d, "/precision"), "mixed") == 0 &&
              document_number(d, "/counters/network.f32_nodes") == 0,
          "%d %s", home.outcome.code, home.outcome.out);
    json_object_put(d);
    cli_ask(&home, "run $/sign.onnx --unit amx --chip m1 --input x=$/x.npy --json");
    d = cli_document(&home.outcome);
    CHECK(home.outcome.code == 0 && strcmp(document_text(d, "/unit"), "amx") == 0 &&
              strcmp(document_text(d, "/placement/0/unit"), "amx") == 0 && document_number(d, "/overhead_seconds") == 0,
          "%d %s", home.outcome.code, home.outcome.out);
    json_object_put(d);
    cli_home_remove(&home);
}

static const struct suite_test tests[] = {{"models show", test_show},
                                          {"what is refused", test_refusals},
                                          {"model check", test_check},
                                          {"networks on the CPU", test_cpu},
                                          {"what smaller weights cost", test_accuracy},
                                          {"what passes save", test_passes},
                                          {"networks without values, and by name", test_timing},
                                          {"networks on GPU and AMX", test_gpu_and_amx},
                                          {"networks on the Neural Engine", test_ane},
                                          {"programs of networks as files", test_programs}};
SUITE_MAIN("networks_cli", tests)
