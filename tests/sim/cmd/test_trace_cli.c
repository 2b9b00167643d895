/* orchard trace from outside: what is recorded, replayed and imported, and what is reported about damaged files. */
#include "isa/array_count.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLES ORCHARD_SOURCE_DIR "/traces/samples"

static struct cli_home home = {.name = "trace", .options = "--quiet"};

static json_object *ask_document(const char *line)
{
    return cli_ask(&home, "%s --json", line) ? cli_document(&home.outcome) : NULL;
}

static double seconds_of(const char *line)
{
    json_object *document = ask_document(line);
    const double seconds = document ? document_number(document, "seconds") : NAN;
    json_object_put(document);
    return seconds;
}

static void test_same_chip(void)
{
    static const char *const lines[] = {
        "gemm:128x128x128 --unit gpu --chip m1",
        "gemm:96x64x80,batch=2 --unit amx --chip m2",
        "conv2d:c=16,h=14,w=14,k=16 --unit ane --chip m1",
        "stream-triad:1M --unit cpu --cores 2 --repeat 2 --chip m1-max",
        "softmax:64x256 --unit gpu --chip m1 --detail sampled --precision f16",
        "stream-triad:1M[unit=gpu] + stream-triad:1M[unit=cpu,cores=2] --chip m1",
        "gemm:128x128x128[unit=gpu,repeat=3] + gemm:96x96x96[unit=ane] + gemm:96x96x96[unit=amx] --chip m1",
        "copy:512K[unit=cpu] + copy:512K[unit=cpu,core=e] --chip m1",
    };
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
        char line[256];
        const char *chip = strstr(lines[i], "--chip");
        snprintf(line, sizeof line, "trace record %s -o $/a.trace", lines[i]);
        const double recorded = seconds_of(line);
        snprintf(line, sizeof line, "trace replay $/a.trace %s", chip);
        const double replayed = seconds_of(line);
        CHECK(recorded > 0 && fabs(replayed / recorded - 1) <= 1e-3, "%s: %g s, replayed %g s", lines[i], recorded, replayed);
    }
    CU_ASSERT(cli_home_remove(&home));
}

static void test_other_chip(void)
{
    static const char *const works[] = {"gemm:128x128x128 --unit gpu", "gemm:128x128x128 --unit amx", "gemm:96x96x96 --unit ane"};
    for (size_t i = 0; i < ARRAY_COUNT(works); i++) {
        char line[160];
        snprintf(line, sizeof line, "trace record %s --chip m1 -o $/a.trace", works[i]);
        const double here = seconds_of(line), there = seconds_of("trace replay $/a.trace --chip m3-max");
        snprintf(line, sizeof line, "run %s --chip m3-max --rerun", works[i]);
        const double fresh = seconds_of(line);
        CHECK(there > 0 && fabs(there / fresh - 1) <= 1e-3 && there != here, "%s: %g s on m1, %g replayed, %g fresh", works[i],
              here, there, fresh);
    }
    const double run = seconds_of("run $/a.trace --chip m3-max"), replay = seconds_of("trace replay $/a.trace --chip m3-max");
    CU_ASSERT(run > 0 && run == replay);
    CU_ASSERT(cli_home_remove(&home));
}

static void test_forms(void)
{
    if (!cli_ask(&home, "trace record gemm:64x64x64[unit=gpu] + copy:64K[unit=cpu] --chip m1 -o $/a.trace"))
        return;
    CU_ASSERT_EQUAL(home.outcome.code, 0);
    static char binary[1 << 20];
    CU_ASSERT(cli_ask(&home, "trace print $/a.trace") && home.outcome.code == 0);
    snprintf(binary, sizeof binary, "%s", home.outcome.out);
    CU_ASSERT(cli_ask(&home, "trace convert $/a.trace -o $/a.jsonl") && home.outcome.code == 0);
    CU_ASSERT(cli_ask(&home, "trace print $/a.jsonl") && strcmp(binary, home.outcome.out) == 0);
    CU_ASSERT(strstr(binary, "\"record\":\"launch\"") && strstr(binary, "\"record\":\"run_end\"") &&
              strstr(binary, "\"record\":\"sample\""));
    CU_ASSERT(cli_ask(&home, "trace print $/a.trace --from 1 --count 2") && home.outcome.code == 0);
    unsigned lines = 0;
    for (const char *at = home.outcome.out; (at = strchr(at, '\n')); at++)
        lines++;
    CU_ASSERT_EQUAL(lines, 3); /* the header and two records */
    CU_ASSERT(cli_ask(&home, "trace check $/a.trace $/a.jsonl") && home.outcome.code == 0 &&
              strstr(home.outcome.out, "4 passed, 0 failed\n"));
    const double a = seconds_of("trace replay $/a.trace"), b = seconds_of("trace replay $/a.jsonl");
    CU_ASSERT(a > 0 && a == b);
    CU_ASSERT(cli_ask(&home, "trace record copy:64K --unit gpu --level kernel --text -o $/k.any") &&
              cli_ask(&home, "trace print $/k.any"));
    CU_ASSERT_PTR_NULL(strstr(home.outcome.out, "sample"));
    CU_ASSERT(cli_home_remove(&home));
}

/* Recording does not change the time, and every instruction is recorded once. */
static void test_instructions(void)
{
    static const char *const works[] = {"gemm:64x48x32 --unit amx", "stream-triad:32K --unit cpu --cores 2",
                                        "gemm:64x64x64 --unit gpu"};
    for (size_t i = 0; i < 3; i++) {
        char line[160];
        snprintf(line, sizeof line, "run %s --rerun", works[i]);
        json_object *run = ask_document(line);
        snprintf(line, sizeof line, "trace record %s --level instruction -o $/i.trace", works[i]);
        json_object *recorded = ask_document(line), *info = ask_document("trace info $/i.trace");
        if (!run || !recorded || !info)
            return;
        CU_ASSERT_EQUAL(document_number(run, "seconds"), document_number(recorded, "seconds"));
        CU_ASSERT_EQUAL(document_number(info, "/records/instruction"),
                        i == 2 ? document_number(run, "/counters/gpu.simdgroup_instructions")
                               : document_number(run, "/counters/cpu.instructions") +
                                     document_number(run, "/counters/amx.instructions"));
        CU_ASSERT_EQUAL(seconds_of("trace replay $/i.trace"), document_number(run, "seconds"));
        json_object_put(run);
        json_object_put(recorded);
        json_object_put(info);
    }
    if (cli_ask(&home, "trace record softmax:64x64 --unit ane --level instruction -o $/g.trace"))
        CU_ASSERT(home.outcome.code == 3 && strstr(home.outcome.err, "--level operator"));
    CU_ASSERT(cli_home_remove(&home));
}

/* The samples that come with the project, one of each level. */
static void test_samples(void)
{
    static const char *const names[] = {"kernel", "operator", "instruction"};
    for (size_t i = 0; i < 3; i++) {
        if (!cli_ask(&home, "trace check " SAMPLES "/%s.trace", names[i]))
            return;
        CHECK(home.outcome.code == 0, "%s: %s", names[i], home.outcome.err);
        CU_ASSERT(cli_ask(&home, "trace info " SAMPLES "/%s.trace", names[i]) && strstr(home.outcome.out, names[i]));
        char line[512];
        snprintf(line, sizeof line, "trace replay " SAMPLES "/%s.trace --chip m3-max", names[i]);
        CU_ASSERT(seconds_of(line) > 0);
    }
    CU_ASSERT(cli_home_remove(&home));
}

static void expect(const char *line, int code, const char *words)
{
    if (cli_ask(&home, "%s", line))
        CHECK(home.outcome.code == code && strstr(home.outcome.err, words) != NULL, "%s: exit %d: %s", line, home.outcome.code,
              home.outcome.err);
}

static void test_damage(void)
{
    char path[128];
    if (!cli_ask(&home, "trace record copy:64K --unit gpu -o $/a.trace"))
        return;
    snprintf(path, sizeof path, "%s/a.trace", home.folder);
    FILE *f = fopen(path, "r+b");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fseek(f, 200, SEEK_SET);
    fputc('#', f);
    fclose(f);
    expect("trace check $/a.trace", 2, "block 0: the checksum of the block does not match");
    expect("trace replay $/a.trace", 2, "block 0: the checksum");
    expect("trace info --force $/a.trace", 0, "at 1 places are lost");
    CU_ASSERT(cli_ask(&home, "trace check --force $/a.trace") && home.outcome.code == 1);
    expect("trace info $/nothing.trace", 2, "No such file");
    suite_write_text(home.folder, "b.trace", "hello");
    expect("trace info $/b.trace", 2, "byte 0: not a trace");
    suite_write_text(home.folder, "c.trace",
                     "{\"trace\":1}\n{\"record\":\"launch\",\"op\":1,\"unit\":\"gpu\",\"work\":\"kernel\"}\n");
    expect("trace check $/c.trace", 2, "byte 12, line 2: it has no shape");
    suite_write_text(home.folder, "d.trace", "{\"trace\":1}\n{\"record\":\"op_end\",\"op\":4}\n");
    CU_ASSERT(cli_ask(&home, "trace check $/d.trace") && home.outcome.code == 1 &&
              strstr(home.outcome.out, "line 2: operator 4 was not launched"));
    expect("trace replay $/d.trace", 2, "no launches");
    expect("trace wave $/d.trace", 2, "trace command");
    expect("trace record copy:64K", 2, "-o FILE");
    expect("trace record copy:64K --unit gpu --level deep -o $/x", 2, "--level");
    CU_ASSERT(cli_home_remove(&home));
}

/* Single launches: the time of a chain, a queue and recorded submissions of a kernel whose own time is known. */
static void test_launch_by_launch(void)
{
    json_object *alone = ask_document("run copy:64K --unit gpu --mode timing --chip m1");
    if (!alone)
        return;
    const double overhead = document_number(alone, "overhead_seconds"), busy = document_number(alone, "seconds") - overhead;
    json_object_put(alone);
    static char text[8192];
    size_t n = (size_t)snprintf(text, sizeof text, "{\"trace\":1}\n{\"record\":\"run_begin\",\"run\":1,\"time_ps\":0}\n");
    for (unsigned op = 1; op <= 20; op++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "{\"record\":\"launch\",\"run\":1,\"op\":%u,\"submitted_ps\":%u000000000,\"name\":\"c\","
                              "\"workload\":\"copy:64K\",\"unit\":\"gpu\",\"stream\":%u,\"work\":\"kernel\"}\n",
                              op, op - 1, op % 3);
    suite_write_text(home.folder, "q.trace", text);
    json_object *queue = ask_document("trace replay $/q.trace --chip m1");
    if (queue) {
        CHECK(fabs(document_number(queue, "seconds") / (overhead + 20 * busy) - 1) < 1e-6, "%g s for %g",
              document_number(queue, "seconds"), overhead + 20 * busy);
        CU_ASSERT_EQUAL(document_number(queue, "/replay/launches"), 20);
        CU_ASSERT_EQUAL(document_number(queue, "/replay/distinct_kernels"), 1);
        CU_ASSERT(fabs(document_number(queue, "/replay/kernel_seconds") / (20 * busy) - 1) < 1e-6);
    }
    json_object_put(queue);
    const double arrival = seconds_of("trace replay $/q.trace --timing arrival --chip m1");
    CHECK(fabs(arrival / (19e-3 + overhead + busy) - 1) < 1e-6, "%g s", arrival);
    CU_ASSERT(cli_home_remove(&home));
}

/* An operator without a kernel on the target takes as long as a copy of its bytes, and is counted. */
static void test_estimates(void)
{
    cli_home_open(&home);
    suite_write_text(
        home.folder, "e.trace",
        "{\"trace\":1}\n{\"record\":\"run_begin\",\"run\":1,\"time_ps\":0}\n"
        "{\"record\":\"launch\",\"run\":1,\"op\":1,\"submitted_ps\":0,\"unit\":\"gpu\",\"work\":\"estimate\",\"bytes\":131072}\n"
        "{\"record\":\"launch\",\"run\":1,\"op\":2,\"submitted_ps\":0,\"unit\":\"gpu\",\"after\":[1],\"work\":\"none\"}\n"
        "{\"record\":\"launch\",\"run\":1,\"op\":3,\"submitted_ps\":0,\"name\":\"strange\",\"unit\":\"gpu\",\"after\":[2],"
        "\"work\":\"kernel\","
        "\"workload\":\"conv-stack:layers=2,c=8,h=8,w=8\",\"bytes\":131072}\n");
    json_object *document = ask_document("trace replay $/e.trace --chip m1");
    const double copy = seconds_of("run copy:64K --unit gpu --mode timing --chip m1");
    json_object *alone = ask_document("run copy:64K --unit gpu --mode timing --chip m1");
    if (!document || !alone)
        return;
    const double busy = copy - document_number(alone, "overhead_seconds");
    CHECK(fabs(document_number(document, "seconds") / (copy + busy) - 1) < 1e-6, "%g s for %g",
          document_number(document, "seconds"), copy + busy);
    CU_ASSERT_EQUAL(document_number(document, "/replay/estimates"), 2);
    CU_ASSERT_EQUAL(document_number(document, "/replay/no_work"), 1);
    CU_ASSERT(strstr(document_text(document, "/replay/missing"), "conv-stack") != NULL);
    CU_ASSERT(strstr(document_text(document, "/placement/0/why"), "recorded on, or on --unit") != NULL);
    json_object_put(document);
    json_object_put(alone);
    CU_ASSERT(cli_home_remove(&home));
}

static void test_onnxruntime(void)
{
    static const struct profile {
        const char *name;
        double kernels, none;
    } profiles[] = {{"mnist_8", 7, 1}, {"bert_tiny_random", 42, 26}};
    for (size_t i = 0; i < 2; i++) {
        char line[512];
        snprintf(line, sizeof line, "trace import --format onnxruntime-profile " SAMPLES "/onnxruntime-%s.json.gz -o $/i.trace",
                 profiles[i].name);
        json_object *d = ask_document(line);
        if (!d)
            return;
        CU_ASSERT_EQUAL(document_number(d, "kernels"), profiles[i].kernels);
        CU_ASSERT_EQUAL(document_number(d, "estimates"), 0);
        CU_ASSERT_EQUAL(document_number(d, "no_work"), profiles[i].none);
        CU_ASSERT(document_number(d, "coverage") >= 0.95 && document_number(d, "kernel_share") >= 0.9);
        json_object_put(d);
        CU_ASSERT(cli_ask(&home, "trace check $/i.trace") && home.outcome.code == 0);
    }
    json_object *d = ask_document("trace replay $/i.trace --unit gpu --chip m1");
    if (d) {
        CU_ASSERT_EQUAL(document_number(d, "/replay/kernels"), 42);
        CU_ASSERT(document_number(d, "seconds") > 0 && document_number(d, "macs") > 2e7);
    }
    json_object_put(d);
    CU_ASSERT(cli_ask(&home, "trace print $/i.trace") && strstr(home.outcome.out, "\"workload\":\"gemm:64x512x128\"") != NULL);
    CU_ASSERT(cli_home_remove(&home));
}

/* A training step as torch.profiler writes it, reduced to the essential: correlation of device events and calls, shapes, values.
 */
static const char pytorch[] =
    "{\"schemaVersion\": 1, \"deviceProperties\": [{\"name\": \"a [GPU]\"}], \"traceEvents\": [\n"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::linear\",\"pid\":1,\"tid\":1,\"ts\":100,\"dur\":60,\"args\":{\"External "
    "id\":1,"
    "\"Input Dims\":[[32,128],[256,128],[256]],\"Input type\":[\"c10::Half\",\"c10::Half\",\"c10::Half\"]}},\n"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::addmm\",\"pid\":1,\"tid\":1,\"ts\":110,\"dur\":40,\"args\":{\"External "
    "id\":2,"
    "\"Input Dims\":[[256],[32,128],[128,256],[],[]],\"Input "
    "type\":[\"c10::Half\",\"c10::Half\",\"c10::Half\",\"Scalar\",\"Scalar\"]}},\n"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":1,\"tid\":1,\"ts\":120,\"dur\":5,\"args\":{"
    "\"correlation\":77}},\n"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm_kernel\",\"pid\":0,\"tid\":7,\"ts\":130,\"dur\":40,\"args\":{"
    "\"correlation\":77,\"stream\":7}},\n"
    "{\"ph\":\"s\",\"id\":77,\"pid\":1,\"tid\":1,\"ts\":120,\"cat\":\"ac2g\",\"name\":\"ac2g\"},\n"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::cudnn_convolution\",\"pid\":1,\"tid\":1,\"ts\":200,\"dur\":30,\"args\":{"
    "\"External id\":3,"
    "\"Input Dims\":[[8,16,28,28],[32,16,3,3],[],[],[],[]],\"Input "
    "type\":[\"float\",\"float\",\"ScalarList\",\"ScalarList\",\"ScalarList\",\"Scalar\"],"
    "\"Concrete Inputs\":[\"\",\"\",\"[1, 1]\",\"[2, 2]\",\"[1, 1]\",\"1\"]}},\n"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"conv_kernel\",\"pid\":0,\"tid\":7,\"ts\":230,\"dur\":50,\"args\":{\"External "
    "id\":3,\"correlation\":80,\"stream\":7}},\n"
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mystery\",\"pid\":1,\"tid\":1,\"ts\":300,\"dur\":30,\"args\":{\"External "
    "id\":4,"
    "\"Input Dims\":[[1000]],\"Input type\":[\"float\"]}},\n"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"mystery_kernel\",\"pid\":0,\"tid\":7,\"ts\":330,\"dur\":6,\"args\":{\"External "
    "id\":4,\"stream\":7}},\n"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"nobodys_kernel\",\"pid\":0,\"tid\":7,\"ts\":340,\"dur\":4,\"args\":{\"stream\":"
    "7}}\n"
    "], \"traceName\": \"x\"}\n";

static void test_pytorch(void)
{
    cli_home_open(&home);
    suite_write_text(home.folder, "p.json", pytorch);
    json_object *d = ask_document("trace import --format pytorch-profiler $/p.json -o $/p.trace");
    if (!d)
        return;
    CU_ASSERT_DOUBLE_EQUAL(document_number(d, "seconds"), 100e-6, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(document_number(d, "kernel_share"), 0.90, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(document_number(d, "estimate_share"), 0.06, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(document_number(d, "unknown_share"), 0.04, 1e-9);
    CU_ASSERT_STRING_EQUAL(document_text(d, "longest_unknown"), "nobodys_kernel");
    json_object_put(d);
    CU_ASSERT(cli_ask(&home, "trace print $/p.trace"));
    CU_ASSERT(strstr(home.outcome.out,
                     "\"name\":\"aten::addmm\",\"kernel\":\"gemm\",\"workload\":\"gemm:32x256x128\",\"precision\":\"f16\"") !=
              NULL);
    CU_ASSERT(strstr(home.outcome.out, "conv2d:n=8,c=16,h=28,w=28,k=32,r=3,s=3,stride=2,pad=1,groups=1") != NULL);
    suite_write_text(home.folder, "cut.json", "{\"traceEvents\": [{\"ph\":\"X\",\"na");
    expect("trace import --format pytorch-profiler $/cut.json -o $/x.trace", 2, "the document is cut off");
    suite_write_text(
        home.folder, "no.json",
        "{\"traceEvents\": [{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"ts\":1,\"dur\":2,\"args\":{}}]}");
    expect("trace import --format pytorch-profiler $/no.json -o $/x.trace", 2, "record_shapes=True");
    suite_write_text(home.folder, "bad.json", "{\"events\": []}");
    expect("trace import --format pytorch-profiler $/bad.json -o $/x.trace", 2, "there is no array \"traceEvents\"");
    expect("trace import --format onnxruntime-profile $/p.json -o $/x.trace", 2, "no operators");
    expect("trace import --format tensorboard $/p.json -o $/x.trace", 2, "--format");
    CU_ASSERT(cli_home_remove(&home));
}

static const struct suite_test tests[] = {
    {"a replay on the same chip takes as long as what was recorded", test_same_chip},
    {"a replay on another chip takes as long as a run there", test_other_chip},
    {"binary and text form hold and replay the same", test_forms},
    {"recording every instruction does not change the time", test_instructions},
    {"the samples of the project replay", test_samples},
    {"damage is named, located and skipped with --force", test_damage},
    {"launches wait in queues or for their recorded times", test_launch_by_launch},
    {"operators without a kernel are estimated and counted", test_estimates},
    {"profiles of ONNX Runtime become operators with a coverage, and replay", test_onnxruntime},
    {"profiles of PyTorch charge time to the operator that launched it", test_pytorch},
};
SUITE_MAIN("trace_cli", tests)
