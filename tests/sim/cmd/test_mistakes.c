/* Plausible mistakes on the command line: each ends with code 2 and one line that names the fix. */
#include "isa/array_count.h"
#include "sim/base/quantity.h"
#include "sim/base/synonyms.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXAMPLES ORCHARD_SOURCE_DIR "/tests/examples"

static struct cli_home home = {.name = "mistakes"};

/* $ is the folder of the test. */
static const struct cli_wrong mistakes[] = {
    /* kernels and their shapes */
    {"run gemm", 2, "needs a shape: gemm:MxNxK"},
    {"run conv2d", 2, "needs a shape: conv2d:c=C,h=H,w=W,k=K"},
    {"run stream-triad", 2, "needs a shape: stream-triad:BYTES"},
    {"run gem:512x512x512", 2, "did you mean gemm:MxNxK"},
    {"run sgemm:512x512x512", 2, "did you mean gemm:MxNxK"},
    {"run relu:1000", 2, "did you mean elementwise:N,op=NAME"},
    {"run maxpool:64", 2, "did you mean pool:"},
    {"run triad:64M", 2, "did you mean stream-triad:BYTES"},
    {"run gemm:512x512", 2, "as in gemm:1024x1024x1024"},
    {"run gemm:512*512*512", 2, "as in gemm:1024x1024x1024"},
    {"run gemm 512 512 512", 2, "did you mean gemm:512x512x512?"},
    {"run softmax:64", 2, "it takes RxC"},
    {"run program.elf --args 256 4", 2, "every argument of a program takes --args 4"},
    {"run gemm:64x64x64,bacth=2", 2, "did you mean batch?"},
    {"kernels show gem", 2, "did you mean gemm:MxNxK"},
    {"kernels --unit npu", 2, "--unit npu: cpu, amx, gpu or ane"},
    {"kernels show rope --unit amx", 2, "amx has no kernel 'rope'; units that have it: gpu, cpu"},
    {"kernels gemm", 2, "show gemm"},
    {"tune gemm", 2, "gemm:MxNxK"},
    /* sizes */
    {"run stream-triad:64Mo", 2, "64KiB"},
    {"run copy:lots", 2, "64kB"},
    {"run copy:1TB", 2, "needs 1862.6 GiB of memory"},
    /* units */
    {"run gemm:64x64x64 --unit npu", 2, "did you mean ane?"},
    {"run gemm:64x64x64 --unit neural-engine", 2, "did you mean ane?"},
    {"run softmax:64x64 --unit coreml", 2, "did you mean ane?"},
    {"run gemm:64x64x64 --unit GPU", 2, "did you mean gpu?"},
    {"run gemm:64x64x64 --unit metal", 2, "did you mean gpu?"},
    {"run gemm:64x64x64 --unit neon", 2, "did you mean cpu?"},
    {"run gemm:64x64x64 --unit anx", 2, "(auto|cpu|amx|gpu|ane|hybrid|combined|all)"},
    /* element types */
    {"run gemm:64x64x64 --precision fp16", 2, "did you mean f16?"},
    {"run gemm:64x64x64 --precision float32", 2, "did you mean f32?"},
    {"run gemm:64x64x64 --precision half", 2, "did you mean f16?"},
    {"run gemm:64x64x64 --precision int8", 2, "did you mean i8?"},
    {"run gemm:64x64x64 --precision bfloat16", 2, "did you mean bf16?"},
    {"run gemm:64x64x64 --precision F16", 2, "did you mean f16?"},
    {"run gemm:64x64x64 --precision f61", 2, "it has f64 f32 f16 bf16"},
    {"run softmax:64x64 --unit gpu --precision fp32", 2, "did you mean f32?"},
    /* keys of chips and their values */
    {"run gemm:64x64x64 --set mem_bandwidth=100", 2, "did you mean memory_peak_GBps?"},
    {"run gemm:64x64x64 -s gpu_clock=1000", 2, "did you mean gpu_max_mhz?"},
    {"run gemm:64x64x64 -s amx.clock=3", 2, "did you mean amx.clock_ghz?"},
    {"run gemm:64x64x64 -s memory_peak_gbps=9", 2, "did you mean memory_peak_GBps?"},
    {"run gemm:64x64x64 -s nonsense_key=9", 2, "`orchard chips show m1_4p4e_8g` lists them"},
    {"run gemm:64x64x64 -s memory_peak_GBps=fast", 2, "is not a value in GB/s"},
    {"run gemm:64x64x64 -s amx.clock_ghz=3W", 2, "(Hz, kHz, MHz, GHz); it is now [2.988,"},
    {"run gemm:64x64x64 -s memory_peak_GBps", 2, "expected KEY=VALUE"},
    {"run gemm:64x64x64 -s gpu_cores=-10", 2, "from 1 to 256"},
    {"run gemm:64x64x64 -s gpu_cores=-200%", 2, "is not a value in cores; it is now 8"},
    /* chips and machines */
    {"run gemm:64x64x64 --chip m5", 2, "parts of M1 to M4, as in m1 or m2-max"},
    {"run gemm:64x64x64 --chip a17", 2, "parts of M1 to M4"},
    {"run gemm:64x64x64 --chip m4-ultra", 2, "of that generation there are m4"},
    {"run gemm:64x64x64 --chip m2-prp", 2, "did you mean m2-pro?"},
    {"chips show m1max", 2, "did you mean m1-max?"},
    {"capabilities --chip m7", 2, "parts of M1 to M4"},
    {"run gemm:64x64x64 --device macbok-air", 2, "did you mean macbook-air?"},
    {"run gemm:64x64x64 --device macbook", 2, "did you mean macbook-air?"},
    {"run gemm:64x64x64 --device laptop", 2, "machines with this chip: mac-mini-m1, macbook-air-m1"},
    {"run gemm:64x64x64 --duration 10", 2, "give --device, as in --device macbook-air"},
    /* times, temperatures, watts */
    {"run gemm:64x64x64 --device macbook-air --duration 20parsecs", 2, "ns, us, ms, s, min, h, d"},
    {"run gemm:64x64x64 --device macbook-air --power-cap 10V", 2, "uW, mW, W, kW"},
    {"run gemm:64x64x64 --device macbook-air --ambient 99C", 2, "from -40 to 60 in C"},
    /* models and files */
    {"run resnet50", 2, "did you mean model:resnet50?"},
    {"run llama-7b", 2, "did you mean model:llama-7b?"},
    {"run model:resnet", 2, "did you mean resnet18?"},
    {"run model:llama7b", 2, "did you mean llama-7b?"},
    {"models show bert", 2, "did you mean bert-base?"},
    {"bench-llm model:lama-7b", 2, "did you mean llama-7b?"},
    {"run README.md", 2, "orchard examples copy DIR"},
    {"run $/one.elg", 2, "/one.elf?"},
    {"run $/one.s", 2, "launch description"},
    {"run $", 2, "a folder without abi.json"},
    {"run " ORCHARD_SOURCE_DIR "/tests/examples/networks/digits", 2,
     "did you mean " ORCHARD_SOURCE_DIR "/tests/examples/networks/digits/model.onnx?"},
    /* whose kernels */
    {"run gemm:64x64x64 --unit gpu --kernels pytorch", 2, "did you mean mps?"},
    {"run gemm:64x64x64 --unit gpu --kernels llama.cpp", 2, "did you mean ggml?"},
    {"run gemm:64x64x64 --unit gpu --kernels mlx-0.20", 2, "as in mlx@0.20"},
    {"run gemm:64x64x64 --unit gpu --kernels mlx@9.9", 2, "versions that are known go from 0.0.6"},
    {"run softmax:9x100 --unit gpu --kernels ggml@2023-06", 2, "softmax is known from 2023-11 on"},
    /* verbs, forms and options */
    {"rnu gemm:64x64x64", 2, "did you mean run?"},
    {"simulate gemm:64x64x64", 2, "did you mean run?"},
    {"diff 1 2", 2, "did you mean compare?"},
    {"frobnicate", 2, "orchard help lists them"},
    {"run gemm:64x64x64 --dtype f16", 2, "did you mean --precision?"},
    {"run gemm:64x64x64 --repeats 3", 2, "did you mean --repeat?"},
    {"run gemm:64x64x64 --machine macbook-air", 2, "did you mean --device?"},
    {"run gemm:64x64x64 --frobnicate", 2, "--help lists them"},
    {"run gemm:64x64x64 --explain=yes", 2, "--explain takes no value"},
    {"run gemm:64x64x64 --mode fast", 2, "did you mean timing?"},
    {"run gemm:64x64x64 --detail fast", 2, "did you mean op?"},
    {"run gemm:64x64x64 --device macbook-air --policy fastest", 2, "did you mean performance?"},
    {"run gemm:64x64x64 --device macbook-air --power-mode eco", 2, "did you mean low?"},
    {"chips shwo m1", 2, "did you mean show?"},
    {"trace recrod gemm:64x64x64", 2, "did you mean record?"},
    {"regress chek", 2, "did you mean check?"},
    {"isa table arm64", 2, "did you mean a64?"},
    /* databases, pages, sweeps */
    {"db sqll", 2, "did you mean sql?"},
    {"sweep gemm:64x64x64", 2, "give -L KEY=a,b,c or KEY=lo:hi:N"},
    {"sweep gemm:64x64x64 -L gpu_clock=1,2", 2, "did you mean gpu_max_mhz?"},
    {"sweep gemm:64x64x64 -L amx.clock_ghz=2:3", 2, "as in amx.clock_ghz=2:3:5"},
    {"whatif gemm:64x64x64 --goal time<1 --vary amx.clock_ghz=2:4", 2, "did you mean seconds?"},
    {"whatif gemm:64x64x64 --goal seconds<fast --vary amx.clock_ghz=2:4", 2, "is no number in s"},
    {"loadtest model:resnet50 --arrivals 200", 2, "poisson:RATE"},
    /* what else people type */
    {"run gemm:64x64x0", 2, "as in gemm:1024x1024x1024"},
    {"run gemm:64x64x64 --cores 100", 2, "from 1 to 64"},
    {"run gemm:64x64x64 --unit cpu --core perf", 2, "(p|e)"},
    {"run gemm:64x64x64 --unit tpu", 2, "did you mean ane?"},
    {"run gemm:64x64x64 --output out.html", 2, "orchard report last -o FILE.html"},
    {"run gemm:64x64x64 --fitted mine", 2, "orchard tune and calibrate make them"},
    {"run gemm:64x64x64 --power-mode high", 2, "give --device, as in --device macbook-air"},
    {"run gemm:64x64x64 --battery 120 --device macbook-air --duration 10", 2, "from 0 to 100"},
    {"run gemm:64x64x64 --precision q4_0 --unit amx", 2, "it has f64 f32 f16 bf16 i16 i8"},
    {"run gemm:64x64x64 --set amx.clock_ghz=0", 2, "from 0.1 to 10 GHz"},
    {"run " EXAMPLES "/models/digit.onnx", 2, "digits.onnx?"},
    {"run " EXAMPLES "/models/digits.onnx --input x=1", 2, "the first is"},
    {"run " EXAMPLES "/cpu/kernels.o", 2, "name a function with --entry; it has saxpy, dot"},
    {"run " EXAMPLES "/cpu/kernels.o --entry dott", 2, "did you mean dot?"},
    {"run " EXAMPLES "/gpu/saxpy.metal --entry saxpy --grid 64 --group 2048", 2, "at most 1024 are possible"},
    {"serve --port 99999", 2, "from 0 to 65535"},
    {"serve --adress 0.0.0.0", 2, "did you mean --address?"},
    {"report 999 -o $/x.html", 2, "last is the newest"},
    {"compare 1", 2, "as in compare 12 last"},
    {"db sql SELECT/**/*/**/FROM/**/runs", 2, "no such table: runs; did you mean run?"},
    {"trace convert " EXAMPLES "/cpu/kernels.o --perfetto $/x.json", 2, "orchard trace record writes them"},
    {"trace import --format pytorch $/one.elf -o $/t", 2, "did you mean pytorch-profiler?"},
    {"validate " EXAMPLES "/measurements/mine.csv --group-by color", 2, "there are chip, file, level, part, source"},
    {"calibrate " EXAMPLES "/measurements/loops.csv --vary amx.zz", 2, "orchard chips show"},
    {"tune gemm:64x64x64 --unit npu", 2, "did you mean ane?"},
    {"regress check nosuch", 2, "orchard regress record makes one"},
    {"schema rum", 2, "did you mean run?"},
    {"measure gemm:512 -o $/mac", 2, "as gemm:512x512x512"},
    {"measure read " EXAMPLES "/measurements/mine.csv", 2, "no column 'machine'"},
    {"build " EXAMPLES "/models/digits.onnx --unit npu -o $/x", 2, "did you mean ane?"},
    {"help rum", 2, "did you mean run?"},
};

static bool make_file(const char *name, const char *content)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", home.folder, name);
    FILE *const f = fopen(path, "w");
    return f && fputs(content, f) >= 0 && fclose(f) == 0;
}

static void test_every_message_names_the_fix(void)
{
    CHECK(ARRAY_COUNT(mistakes) >= 60, "%zu rows", ARRAY_COUNT(mistakes));
    cli_home_open(&home);
    CHECK(make_file("one.elf", "not yet") && make_file("one.s", "nop\n"), "files");
    if (!cli_ask(&home, "run gemm:32x32x32 --unit amx")) /* there is a database */
        return;
    for (size_t i = 0; i < ARRAY_COUNT(mistakes); i++) {
        char says[256] = "";
        const char *const at = strchr(mistakes[i].says, '$');
        if (!cli_ask(&home, "%s", mistakes[i].arguments))
            return;
        const char *const err = home.outcome.err, *const line_end = strchr(err, '\n');
        snprintf(says, sizeof says, "%.*s%s%s", at ? (int)(at - mistakes[i].says) : 0, mistakes[i].says, at ? home.folder : "",
                 at ? at + 1 : mistakes[i].says);
        CHECK(home.outcome.code == mistakes[i].code && strstr(err, says), "orchard %s: %d, %s", mistakes[i].arguments,
              home.outcome.code, err);
        CHECK(line_end && !line_end[1] && !home.outcome.out[0], "orchard %s: more than one line", mistakes[i].arguments);
    }
    cli_home_remove(&home);
}

static void test_database_makes_no_folders(void)
{
    static struct cli_outcome o;
    static const char path[] = "/tmp/orchard-no-such-folder";
    if (!cli_run_or_skip("run gemm:64x64x64 --db /tmp/orchard-no-such-folder/sub/x.db", &o))
        return;
    CHECK(o.code == 2 && strstr(o.err, "there is no folder /tmp/orchard-no-such-folder/sub (make it with mkdir -p)"), "%d %s",
          o.code, o.err);
    CHECK(access(path, F_OK) != 0, "%s was made", path);
    cli_run("db info --db /tmp/orchard-no-such.db", &o);
    CHECK(o.code == 2 && strstr(o.err, "orchard db init"), "%d %s", o.code, o.err);
}

/* "2x" and "+20%" change a key against its present value; the present one has been stated by hand. */
static void test_relative_settings(void)
{
    static const struct {
        const char *relative, *absolute;
    } rows[] = {
        {"gpu_cores=2x", "gpu_cores=16"},
        {"memory_peak_GBps=+50%", "memory_peak_GBps=102.45"},
        {"memory_peak_GBps=-50%", "memory_peak_GBps=34.15"},
        {"gpu_max_mhz=1.5GHz", "gpu_max_mhz=1500"},
        {"slc_MB=4096KiB", "slc_MB=4"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        char line[256], value[2][64];
        for (unsigned k = 0; k < 2; k++) {
            const char *const set = k ? rows[i].absolute : rows[i].relative;
            snprintf(line, sizeof line, "chips show m1 --json -s %s", set);
            if (!cli_ask(&home, "%s", line))
                return;
            json_object *const d = cli_document(&home.outcome);
            char pointer[96];
            snprintf(pointer, sizeof pointer, "/values/%.*s/value", (int)strcspn(set, "="), set);
            snprintf(value[k], sizeof value[k], "%.9g", d ? document_number(d, pointer) : NAN);
            json_object_put(d);
        }
        CHECK(strcmp(value[0], value[1]) == 0, "%s is %s, not %s", rows[i].relative, value[0], value[1]);
    }
    cli_home_remove(&home);
}

static void test_failed_points_say_why(void)
{
    if (cli_ask(&home, "-q sweep gemm:64x64x64 -L precision=f16,fp32 -j 1"))
        CHECK(strstr(home.outcome.out, "did you mean f32?") && strstr(home.outcome.out, "1 failed, the first:") != NULL, "%s",
              home.outcome.out);
    /* The answer is there before: it says the same. */
    if (cli_ask(&home, "-q sweep gemm:64x64x64 -L precision=f16,fp32 -j 1"))
        CHECK(strstr(home.outcome.out, "1 failed, the first: --precision fp32: no such type; did you mean f32?") != NULL, "%s",
              home.outcome.out);
    /* Of a sweep without any answer the exit code tells, too. */
    if (cli_ask(&home, "-q sweep gemm:64x64x64 -L amx.clock_ghz=2..4 -j 1"))
        CHECK(home.outcome.code == 2 && strstr(home.outcome.err, "no point of the sweep could be simulated; the first: --set"),
              "%d %s", home.outcome.code, home.outcome.err);
    cli_home_remove(&home);
}

/* A file with a name that speaks to terminals: neither messages nor summaries nor tables hand it on. */
static void test_hostile_names(void)
{
    static const char *const lines[] = {"run $/\033[31mred.elf", "run $/\033]0;t\007.none",    "models show $/\302\233m.onnx",
                                        "trace info $/\033c",    "validate $/=1+1\033[2J.csv", "run \033[5m:1x1"};
    cli_home_open(&home);
    CHECK(make_file("\033[31mred.elf", "no program"), "file");
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
        if (!cli_ask(&home, "%s", lines[i]))
            return;
        CHECK(home.outcome.code == 2, "%zu: %d", i, home.outcome.code);
        CHECK(!strpbrk(home.outcome.err, "\033\007\177") && !strstr(home.outcome.err, "\302\233"), "%zu: %s", i,
              home.outcome.err);
        CHECK(!strpbrk(home.outcome.out, "\033\007"), "%zu", i);
    }
    char from[300], line[700];
    snprintf(from, sizeof from, "%s", ORCHARD_SOURCE_DIR "/tests/examples/cpu/words.elf");
    snprintf(line, sizeof line, "cp %s \"%s/$(printf 'w\\033[31m.elf')\"", from, home.folder);
    CHECK(system(line) == 0, "%s", line);
    if (cli_ask(&home, "-q run $/w\033[31m.elf --chip m1,m2 --no-color"))
        CHECK(home.outcome.code == 0 && !strchr(home.outcome.out, '\033'), "%s", home.outcome.out);
    if (cli_ask(&home, "-q run $/w\033[31m.elf --no-color"))
        CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "w?[31m.elf") && !strchr(home.outcome.out, '\033'), "%s",
              home.outcome.out);
    cli_home_remove(&home);
}

static void test_quantities(void)
{
    static const struct {
        const char *text, *unit;
        double value; /* NAN = refused */
    } rows[] = {{"20min", "s", 1200},     {"1.5h", "s", 5400},     {"250 ms", "s", 0.25},   {"3us", "ms", 0.003},
                {"2d", "s", 172800},      {"3GHz", "MHz", 3000},   {"800mW", "W", 0.8},     {"25C", "C", 25},
                {"25°C", "C", 25},        {"64MiB", "KiB", 65536}, {"1TB/s", "GB/s", 1000}, {"12", "s", 12},
                {"12cores", "cores", 12}, {"3W", "GHz", NAN},      {"min", "s", NAN},       {"", "s", NAN},
                {"1e999", "s", NAN},      {"nan", "s", NAN},       {"5 s s", "s", NAN}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        double value = NAN;
        const bool read = quantity_read(rows[i].text, rows[i].unit, &value);
        CHECK(read == !isnan(rows[i].value) && (!read || fabs(value - rows[i].value) <= 1e-12 * fabs(value)), "%s: %d %.17g",
              rows[i].text, read, value);
    }
}

/* A word is found by bisection. */
static void test_synonyms_are_sorted(void)
{
    size_t count, own;
    const struct synonym *const all = synonyms_all(&count);
    for (size_t i = 0; i < count; i++) {
        const struct synonym *const found = synonyms_of(all[i].word, &own);
        CHECK(found && found <= &all[i] && &all[i] < found + own, "%s", all[i].word);
        CHECK(i == 0 || strcmp(all[i - 1].word, all[i].word) <= 0, "%s", all[i].word);
    }
    CHECK(!synonyms_of("", &own) && !synonyms_of("zzz", &own), "words that are none");
    CHECK(synonyms_of("Neural-Engine", &own) && own == 1, "case and dashes");
}

static const struct suite_test tests[] = {
    {"every message names the fix", test_every_message_names_the_fix},
    {"the database makes no folders", test_database_makes_no_folders},
    {"settings against the present value", test_relative_settings},
    {"failed points of sweeps say why", test_failed_points_say_why},
    {"hostile names stay names", test_hostile_names},
    {"quantities have units", test_quantities},
    {"synonyms are sorted", test_synonyms_are_sorted},
};
SUITE_MAIN("mistakes", tests)
