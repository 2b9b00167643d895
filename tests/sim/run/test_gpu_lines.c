/* Profiles by line: sums, places, scaling, warnings. */
#include "isa/array_count.h"
#include "tests/sim/agx_example.h"
#include "tests/sim/run_example.h"

#include <math.h>

static struct chip_db *db;
static char folder[64];

/* ---- sums ---- */

static double reasons_of(const struct line_profile *p, const char *reason)
{
    double sum = 0;
    for (size_t r = 0; r < p->reasons; r++)
        for (size_t k = 0; strcmp(p->reason[r], reason) == 0 && k < p->kernels; k++)
            for (size_t i = 0; i < p->kernel[k].instructions; i++)
                sum += p->kernel[k].instruction[i].cycles[r];
    return sum;
}

static void check_sums(const struct outcome *o, const char *what, double instructions_off)
{
    const struct line_profile *const p = o->result.profile;
    double issued = 0, cycles = 0;
    CHECK(o->ok && p, "%s: %s", what, o->error.text);
    for (size_t k = 0; p && k < p->kernels; k++) {
        size_t lines;
        double own = p->kernel[k].idle_cycles;
        uint64_t count = 0;
        struct profile_line *const line = profile_kernel_lines(&p->kernel[k], &lines);
        CU_ASSERT_PTR_NOT_NULL_FATAL(line);
        for (size_t i = 0; i < lines; i++) {
            own += line[i].all_cycles;
            count += line[i].issued;
        }
        CU_ASSERT_EQUAL(count, profile_kernel_issued(&p->kernel[k]));
        CU_ASSERT(fabs(own - profile_kernel_cycles(&p->kernel[k])) < 1e-6 * own);
        free(line);
        issued += (double)count;
        cycles += own;
    }
    CHECK(fabs(issued - counter(o, "gpu.simdgroup_instructions")) <= instructions_off, "%s: %.0f instructions of %.0f", what,
          issued, counter(o, "gpu.simdgroup_instructions"));
    CHECK(fabs(cycles - o->result.cycles) <= 0.5 + 1e-6 * cycles, "%s: %.6f cycles of %.0f", what, cycles, o->result.cycles);
}

static void test_sums(void)
{
    static const struct {
        const char *chip, *workload, *detail;
        unsigned repeat;
    } rows[] = {{"m1", "gemm:192x160x96", "instr", 1},
                {"m1", "softmax:500x700", NULL, 3},
                {"m3-max", "layernorm:300x512", NULL, 1},
                {"m2", "conv2d:n=1,c=16,h=28,w=28,k=16,r=3,s=3,pad=1", NULL, 1},
                {"m1", "stream-triad:1M", "instr", 2}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct outcome o =
            run_on(db, rows[i].chip, rows[i].workload,
                   (struct run_request){
                       .unit = "gpu", .profile = true, .detail = rows[i].detail, .repeat = rows[i].repeat, .threads = 1});
        check_sums(&o, rows[i].workload, 0);
        for (size_t k = 0; o.result.profile && k < o.result.profile->kernels; k++)
            CU_ASSERT_EQUAL(o.result.profile->kernel[k].timed_share, 1);
        run_result_free(&o.result);
    }
}

/* A part of the launch stands for the whole; it says so, and its shares are those of the whole. */
static void check_sample(const char *workload, const char *way)
{
    struct run_request q = {.unit = "gpu", .profile = true, .mode = RUN_TIMING, .detail = "sampled", .threads = 1};
    struct outcome sampled = run_on(db, "m1", workload, q);
    q.detail = "instr";
    struct outcome whole = run_on(db, "m1", workload, q);
    check_sums(&sampled, workload, 1e-5 * counter(&sampled, "gpu.simdgroup_instructions"));
    check_sums(&whole, workload, 0);
    const struct line_profile *const s = sampled.result.profile, *const w = whole.result.profile;
    CU_ASSERT_FATAL(s && w && s->kernels == 1 && w->kernels == 1 && s->kernel->instructions == w->kernel->instructions);
    CHECK(s->kernel->timed_share < 0.9 && w->kernel->timed_share == 1, "%s: %s timed %g", workload, way, s->kernel->timed_share);
    for (size_t i = 0; i < w->kernel->instructions; i++) {
        const double a = profile_instruction_cycles(&s->kernel->instruction[i]) / sampled.result.cycles,
                     b = profile_instruction_cycles(&w->kernel->instruction[i]) / whole.result.cycles;
        CHECK(fabs(a - b) < 0.02, "%s: %s: %g of the cycles, sampled %g", workload, w->kernel->instruction[i].text, b, a);
    }
    CHECK(fabs(reasons_of(s, "memory") / sampled.result.cycles - reasons_of(w, "memory") / whole.result.cycles) < 0.05,
          "%s: share of waiting for memory", workload);
    run_result_free(&sampled.result);
    run_result_free(&whole.result);
}

static void test_sampled(void)
{
    check_sample("gemm:1792x1792x1792", "windows");
    const struct run_request leaps = {.unit = "gpu", .profile = true, .mode = RUN_TIMING, .threads = 1};
    struct outcome o = run_on(db, "m1", "softmax:32x1310720", leaps);
    check_sums(&o, "leaps", 0);
    CU_ASSERT_FATAL(o.ok && o.result.profile);
    CHECK(o.result.profile->kernel->timed_share < 0.5, "timed %g", o.result.profile->kernel->timed_share);
    run_result_free(&o.result);
}

static void test_same_answer(void)
{
    const struct run_request off = {.unit = "gpu", .threads = 1};
    struct run_request on = off;
    on.profile = true;
    struct outcome a = run_on(db, "m1", "gemm:128x128x512", off), b = run_on(db, "m1", "gemm:128x128x512", on);
    CU_ASSERT_FATAL(a.ok && b.ok);
    CU_ASSERT_PTR_NULL(a.result.profile);
    CU_ASSERT_EQUAL(a.result.seconds, b.result.seconds);
    CU_ASSERT_EQUAL(a.result.joules, b.result.joules);
    CU_ASSERT_EQUAL(a.result.counters.count, b.result.counters.count);
    for (size_t i = 0; i < a.result.counters.count; i++)
        CU_ASSERT_EQUAL(a.result.counters.item[i].value, b.result.counters.item[i].value);
    for (size_t i = 0; i < a.result.stalls.count; i++)
        CU_ASSERT_EQUAL(a.result.stalls.item[i].value, b.result.stalls.item[i].value);
    run_result_free(&a.result);
    run_result_free(&b.result);
}

/* ---- kernels of our own ---- */

/* Writes a launch of assembler text; `lines` (NULL = none) is its member "source_lines". */
static void write_kernel(const char *text, unsigned group, const char *type, const char *lines)
{
    char abi[4096];
    snprintf(
        abi, sizeof abi,
        "{\"name\": \"own\", \"files\": {\"code\": \"own.s\"}, \"launch\": {\"threads_per_threadgroup\": [%u], "
        "\"threadgroups\": [%u]}, \"threadgroup_memory_bytes\": 8192%s%s, \"args\": [{\"name\": \"xs\", \"kind\": \"buffer\", "
        "\"dtype\": \"%s\", \"count\": 524288, \"initial\": \"%s seed 1\"}, {\"name\": \"ys\", \"kind\": \"buffer\", "
        "\"dtype\": \"%s\", \"count\": 524288}]}",
        group, 16384 / group, lines ? ", \"source_lines\": " : "", lines ? lines : "", type,
        strcmp(type, "f16") == 0 ? "f16c" : type, type);
    example_write(folder, "own.s", text, strlen(text));
    example_write(folder, "abi.json", abi, strlen(abi));
}

static struct outcome profiled(void)
{
    return run_on(db, "m1", folder, (struct run_request){.profile = true, .threads = 1});
}

#define ARGUMENTS ".arg xs u64\n.arg ys u64\n"
#define IDENTITY  "get_sr r0, sr80\n"
#define STORE     "device_store 1, i32, x, r1, ys, r0, unsigned, 0\nstop\n"

static const char clean[] = ARGUMENTS IDENTITY "device_load 0, i32, x, r1, xs, r0, unsigned\nwait 0\nfmul32 r1, r1, r1\n" STORE;
static const char strided[] =
    ARGUMENTS IDENTITY "bfi r2, 0, r0, 5\ndevice_load 0, i32, x, r1, xs, r2, unsigned\nwait 0\nfmul32 r1, r1, r1\n" STORE;

/* Line 10 for the first instruction of the table, 11 for the second, and so on. */
static void lines_of(const struct line_profile *p, char *text, size_t size)
{
    size_t used = (size_t)snprintf(text, size, "{\"files\": [\"own.metal\"], \"offset_file_line\": [");
    for (size_t i = 0; i < p->kernel->instructions; i++)
        used +=
            (size_t)snprintf(text + used, size - used, "%s[%u, 0, %zu]", i ? ", " : "", p->kernel->instruction[i].offset, 10 + i);
    snprintf(text + used, size - used, "], \"text\": [{\"file\": 0, \"line\": 12, \"text\": \"float x = xs[i * 32];\"}]}");
}

static const struct profile_warning *warning(const struct outcome *o, const char *kind)
{
    const struct line_profile *const p = o->result.profile;
    for (size_t i = 0; p && i < p->warnings; i++)
        if (strcmp(p->warning[i].kind, kind) == 0)
            return &p->warning[i];
    return NULL;
}

/* The access is named at its line, with what was measured; an access that is as it should be is not. */
static void test_uncoalesced(void)
{
    char lines[2048];
    write_kernel(clean, 128, "f32", NULL);
    struct outcome o = profiled();
    CHECK(o.ok && o.result.profile && o.result.profile->warnings == 0, "%s", o.error.text);
    run_result_free(&o.result);
    write_kernel(strided, 128, "f32", NULL);
    o = profiled();
    check_sums(&o, "strided", 0);
    CU_ASSERT_FATAL(o.ok && o.result.profile->warnings == 1);
    CHECK(strncmp(o.result.profile->warning->place, "own+0x", 6) == 0, "%s", o.result.profile->warning->place);
    lines_of(o.result.profile, lines, sizeof lines);
    run_result_free(&o.result);
    write_kernel(strided, 128, "f32", lines);
    o = profiled();
    check_sums(&o, "strided by line", 0);
    const struct profile_warning *const w = warning(&o, "uncoalesced");
    CU_ASSERT(w && o.result.profile->warnings == 1);
    if (w) {
        CU_ASSERT_STRING_EQUAL(w->place, "own.metal:12");
        CU_ASSERT_EQUAL(w->line, 12);
        CHECK(strstr(w->evidence, "32 lines") && strstr(w->evidence, "3.1 %"), "%s", w->evidence);
        CU_ASSERT_STRING_EQUAL(o.result.profile->kernel->text->text, "float x = xs[i * 32];");
    }
    run_result_free(&o.result);
}

/* Every lane its own row of 32 words: one bank for all. The other way there is none to warn of. */
static void test_banks(void)
{
    static const char body[] = ARGUMENTS ".threadgroup_memory 8192\nget_sr r0, sr80\nget_sr r3, sr52\nbfi r2, 0, r3, %u\n"
                                         "mov_imm r1, 0, 0b0\n.repeat 40\n"
                                         "threadgroup_store i32, x, r1, 0, r2l\nthreadgroup_load i32, x, r1, 0, r2l\n"
                                         "fadd32 r1, r1, r1\n.end\n" STORE;
    for (unsigned shift = 0; shift <= 5; shift += 5) {
        char text[1024];
        snprintf(text, sizeof text, body, shift);
        write_kernel(text, 128, "f32", NULL);
        struct outcome o = profiled();
        CHECK(o.ok, "%s", o.error.text);
        CHECK((warning(&o, "bank conflict") == NULL) == (shift == 0), "rows of %u words", 1u << shift);
        if (shift == 5 && warning(&o, "bank conflict"))
            CHECK(strstr(warning(&o, "bank conflict")->evidence, "32 passes") != NULL, "%s",
                  warning(&o, "bank conflict")->evidence);
        run_result_free(&o.result);
    }
}

/* One lane in eight does all the work, or all do. */
static void test_divergence(void)
{
    static const char one_in_eight[] =
        ARGUMENTS "mov_imm r0l, 0\nget_sr r4, sr80\nmov_imm r1, 0, 0b0\nand r2, r4, 7\nif_icmp r0l, ueq, r2, 0, 1\n.repeat 200\n"
                  "fmadd32 r1, r1, r1, r4\n.end\npop_exec r0l, 1\ndevice_store 1, i32, x, r1, ys, r4, unsigned, 0\nstop\n";
    char all[1024];
    snprintf(all, sizeof all, "%s", one_in_eight);
    memcpy(strstr(all, "r4, 7"), "r4, 0", 5);
    for (unsigned i = 0; i < 2; i++) {
        write_kernel(i ? all : one_in_eight, 128, "f32", NULL);
        struct outcome o = profiled();
        CHECK(o.ok, "%s", o.error.text);
        const struct profile_warning *const w = warning(&o, "divergent branch");
        CU_ASSERT_EQUAL(w == NULL, i == 1);
        if (w)
            CHECK(strncmp(w->evidence, "12 %", 4) == 0 && strstr(w->fix, "decide alike"), "%s; %s", w->evidence, w->fix);
        run_result_free(&o.result);
    }
}

static void test_barrier(void)
{
    static const char body[] =
        ARGUMENTS IDENTITY "threadgroup_barrier\ndevice_load 0, i32, x, r1, xs, r0, unsigned\nwait 0\n" STORE;
    for (unsigned group = 32; group <= 64; group += 32) {
        write_kernel(body, group, "f32", NULL);
        struct outcome o = profiled();
        CHECK(o.ok, "%s", o.error.text);
        CU_ASSERT_EQUAL(warning(&o, "barrier of one simdgroup") != NULL, group == 32);
        run_result_free(&o.result);
    }
}

/* Half in, half out: sums may be f32, a chain of other arithmetic should not be. */
static void test_width(void)
{
    static const struct {
        const char *type, *step;
        bool wide;
    } rows[] = {{"f16", "fmul32 r1, r2, r3\\nfadd32 r2, r1, r3", true},
                {"f16", "fmadd32 r1, r3, r3, r1", false},
                {"f16", "fmul16 r1l, r2l, r3l\\nfadd16 r2l, r1l, r3l", false},
                {"f32", "fmul32 r1, r2, r3\\nfadd32 r2, r1, r3", false}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        char text[1024], *at;
        snprintf(text, sizeof text,
                 ARGUMENTS IDENTITY
                 "mov_imm r1, 0, 0b0\nmov_imm r2, 0, 0b0\ndevice_load 0, i16, x, r3l, xs, r0, unsigned\nwait 0\n"
                 ".repeat 60\n%s\n.end\ndevice_store 1, i16, x, r1l, ys, r0, unsigned, 0\nstop\n",
                 rows[i].step);
        while ((at = strstr(text, "\\n")) != NULL)
            memcpy(at, "\n ", 2);
        write_kernel(text, 128, rows[i].type, NULL);
        struct outcome o = profiled();
        CHECK(o.ok, "%s", o.error.text);
        CHECK((warning(&o, "f32 where f16 would do") != NULL) == rows[i].wide, "%s of %s", rows[i].step, rows[i].type);
        run_result_free(&o.result);
    }
}

/* 256 half registers leave room for a few simdgroups, which all wait for memory. */
static void test_occupancy(void)
{
    static const char body[] = ARGUMENTS ".registers %u\n" IDENTITY
                                         ".repeat 20\ndevice_load 0, i32, x, r1, xs, r0, unsigned\nwait 0\nfadd32 r2, r1, r1\n"
                                         ".end\n" STORE;
    for (unsigned halves = 32; halves <= 256; halves += 224) {
        char text[1024];
        snprintf(text, sizeof text, body, halves);
        write_kernel(text, 64, "f32", NULL);
        struct outcome o = profiled();
        CHECK(o.ok, "%s", o.error.text);
        CU_ASSERT_EQUAL(warning(&o, "low occupancy") != NULL, halves == 256);
        run_result_free(&o.result);
    }
}

/* Code of another compiler that is as it should be is not warned of. */
static void test_clean(void)
{
    static const char *const names[] = {"histogram", "sgemm_tiled", "stencil5"};
    for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
        char path[64];
        snprintf(path, sizeof path, "agx/kernels/%s", names[i]);
        struct outcome o = run_on(db, "m1", suite_golden(path), (struct run_request){.profile = true, .threads = 1});
        check_sums(&o, names[i], 0);
        const struct line_profile *const p = o.result.profile;
        CHECK(o.ok && p && p->warnings == 0, "%s: %s", names[i], p && p->warnings ? p->warning->evidence : o.error.text);
        run_result_free(&o.result);
    }
}

/* ---- what is refused ---- */

static void test_refused(void)
{
    static const struct {
        const char *workload, *text;
        struct run_request request;
    } rows[] = {{"gemm:64x64x64", "of GPU programs", {.unit = "amx", .profile = true}},
                {"gemm:64x64x64", "has no time", {.unit = "gpu", .profile = true, .mode = RUN_FUNCTIONAL}}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct outcome o = run_on(db, "m1", rows[i].workload, rows[i].request);
        CHECK(!o.ok && o.error.exit_code == ORCH_USAGE && strstr(o.error.text, rows[i].text), "%s", o.error.text);
        run_result_free(&o.result);
    }
    static const char *const lines[] = {
        "{\"files\": [], \"offset_file_line\": [[0, 0, 1]]}", "{\"files\": [\"a\"], \"offset_file_line\": [[0, 0, 1, 2]]}",
        "{\"files\": [\"a\"], \"offset_file_line\": [[8, 0, 1], [4, 0, 2]]}",
        "{\"files\": [\"a\"], \"offset_file_line\": [], \"text\": [{\"file\": 3, \"line\": 1, \"text\": \"\"}]}",
        "{\"files\": 7, \"offset_file_line\": []}"};
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
        write_kernel(clean, 32, "f32", lines[i]);
        struct outcome o = profiled();
        CHECK(!o.ok && o.error.exit_code == ORCH_USAGE && strstr(o.error.text, "source_lines"), "%s: %s", lines[i], o.error.text);
        run_result_free(&o.result);
    }
}

static const struct suite_test tests[] = {
    {"lines add up to the launch", test_sums},
    {"a part of the launch stands for the whole", test_sampled},
    {"the answer is that of a run without", test_same_answer},
    {"uncoalesced at a line", test_uncoalesced},
    {"bank conflicts", test_banks},
    {"divergent branches", test_divergence},
    {"barriers of one simdgroup", test_barrier},
    {"f32 where f16 would do", test_width},
    {"low occupancy", test_occupancy},
    {"kernels without fault", test_clean},
    {"what is refused", test_refused},
};

int main(void)
{
    char path[128];
    snprintf(folder, sizeof folder, "/tmp/orchard-lines-XXXXXX");
    if (!mkdtemp(folder))
        return 1;
    const int code = example_chips_run("gpu lines", tests, ARRAY_COUNT(tests), &db);
    snprintf(path, sizeof path, "%s/own.s", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/abi.json", folder);
    unlink(path);
    rmdir(folder);
    return code;
}
