/* Published figures of the Neural Engine (maderix/ANE, ANEForge, Anemll, sbryngelson/ane-guide) against the programs that
 * `orchard validate` makes of them, timed on the chips of the database. */
#include "isa/ane/ane_text.h"
#include "isa/array_count.h"
#include "tests/sim/validate_example.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HEADER   "chip,device,unit,workload,precision,condition,value,unit_of_value,kind,source,chip_id\n"
#define M1MAX    ",measured,sbryngelson/ane-guide,m1_max_8p2e_32g\n"
#define SWEEP    ",measured,ANEForge repository data (benchmarks) saturation sweep (host copies included),m1_max_8p2e_32g\n"
#define COMPARED ",measured,ANEForge repository data (benchmarks) watt-complete,m1_max_8p2e_32g\n"
#define M4       ",measured,maderix/ANE,m4_4p6e_10g\n"

/* Rows that are modelled, with the largest error that is tolerated. */
static const struct {
    const char *row;
    double tolerance;
} modelled[] = {
    {"M4,,ANE,64 x conv 512ch 64x64,fp16,,18.4,TOPS" M4, 0.1},
    {"M4,,ANE,64 x conv 512ch 64x64,fp16,,7.5,ms" M4, 0.1},
    {"M4,,ANE,matmul 256,fp16,,0.101,ms" M4, 0.1},
    {"M1 Max,,ANE,dispatch total,,per request,190,us" M1MAX, 0.02},
    {"M1 Max,,ANE,wake after 5 s idle,,first call,260,ms" M1MAX, 0.05},
    {"M1 Max,,ANE,32 fused conv+relu layers,fp16,total request time / 32,6.3,us" M1MAX, 0.1},
    {"M1 Max,,ANE,chain of 8 x 1024^2 matmul,fp16,,8.1,TFLOPS" M1MAX, 0.35},
    {"M1 Max,,ANE,int4 palette speed-up on weight-bound matmul,int4,vs fp16,2.37,x" M1MAX, 0.35},
    {"M1 Max,,ANE,GEMM N=1024 cubed,fp16,sweep,0.9978,ms" SWEEP, 0.2},
    {"M1 Max,,ANE,conv3x3 C256 64x64 batch 4,fp16,sweep,4.1077,ms" SWEEP, 0.2},
    {"M1 Max,,ANE,GEMM N=4096 cubed power,fp16,ANE rail,3.518,W" SWEEP, 0.2},
    {"M1 Max,,ANE,conv3x3 C512 64x64 batch 2 power,fp16,ANE rail,4342.5,mW" SWEEP, 0.2},
    {"M2,,ANE,matmul 4096 weights-bound,int4,,0.27,ms,measured,sbryngelson/ane-guide,\n", 0.2},
    {"M2,,ANE,Llama LM head 1050.67 MB weight stream,fp16,,60.45,GB/s,measured,Anemll/anemll-bench,m2_4p4e_10g\n", 0.1},
    {"M1,,ANE,\"Llama LM head, 6-bit LUT, 396 MB\",lut6,,7.52,ms,measured,Anemll/anemll-bench,m1_4p4e_8g\n", 0.1},
    {"M3 Pro,,ANE,conv1x1 512ch sp2048 sustained,fp16,inmem_peak,15.04,TFLOPS,measured,maderix/ANE,m3_pro_6p6e_18g\n", 0.1},
    {"M4,,ANE,matmul 4096,fp16,,4.0,TFLOPS" M4, 0.1},
    {"M1 Max,,ANE,layernorm,fp16,single call,0.3214,ms" COMPARED, 0.15},
    {"M1 Max,,ANE,groupnorm,fp16,loop (back to back),0.6456,ms" COMPARED, 0.15},
    {"M1 Max,,ANE,DFT,fp16,loop (back to back),0.497,ms" COMPARED, 0.15},
    {"M1 Max,,ANE,Jacobi,fp16,single call,0.4479,ms" COMPARED, 0.2},
    {"M1 Max,,ANE,conv3x3 C256 32x32 depth 16,fp16,single call,1.9184,ms" COMPARED, 0.1},
    {"M2 Pro,,ANE,GEMM N=1024 cubed,fp16,sweep,1.9935,ms,measured,ANEForge repository data (benchmarks) saturation sweep (host "
     "copies included),m2_pro_6p4e_16g\n",
     0.15},
};
enum { MODELLED = ARRAY_COUNT(modelled) };

static const struct {
    const char *row, *why;
} refused[] = {
    {"M1 Max,,ANE,conv 256 power,fp16,low,1.66,W" M1MAX, "size"},
    {"M1 Max,,ANE,\"power, fp16 busy\",fp16,,4.3,W" M1MAX, "what ran"},
    {"M1,,ANE,peak,unspecified,,11,TOPS,vendor-spec,Apple,m1_4p4e_8g\n", "not measured"},
    {"M1 Max,,ANE,layernorm,fp16,single call,0.3214,ms" M1MAX, "size"},
    {"A15,iPhone 13,ANE,DistilBERT power,fp16,low-power setting,0.072,W,measured,Apple,\n", "clock"},
    {"M4 Max,,ANE,Stories110M training step,fp16,low,64,ms/step,measured,maderix,m4_max_12p4e_40g\n", "on cores"},
    {"A16,iPhone 14 Pro Max,ANE,SDXL end to end,mixed-bit LUT,,77,s,measured,Apple,\n", "reduceMemory"},
    {"M1 Pro,,ANE,Whisper large encoder,fp16,,64,ms,measured,whisper.cpp,m1_pro_8p2e_16g\n", "layers are not published"},
    {"M4 Max,,ANE,dispatch,,approximate,0.03,ms,measured,Orion (mechramc/Orion and paper),m4_max_12p4e_40g\n", "which fail"},
    {"M5,,ANE,matmul slope,fp16,,19.6,TFLOPS,measured,sbryngelson/ane-guide,\n", "which chip"},
    {"M4,,ANE,128 x conv 512ch 64x64,int8,,7.8,ms" M4, "int8 activations"},
    {"M1,,ANE,\"Llama LM head, 6-bit LUT, 99 MB\",lut6,,7.52,ms,measured,Anemll,m1_4p4e_8g\n", "not read"},
    {"M1 Max,,ANE,dispatch firmware,,per request,130,us" M1MAX, "one parameter"},
    {"M1 Max,,ANE,quite another thing,fp16,,1,TFLOPS" M1MAX, "no program"},
    {"M1 Max,,ANE,conv3x3 C64->oops,fp16,single call,1,ms" M1MAX, "not read"},
    {"M1 Max,,ANE,GEMM 12x,fp16,single call,1,ms" M1MAX, "not read"},
};
enum { REFUSED = ARRAY_COUNT(refused) };

static void test_rows(void)
{
    static char text[8192];
    strcpy(text, HEADER);
    for (size_t i = 0; i < MODELLED; i++)
        strcat(text, modelled[i].row);
    struct validation *v = example_validation("ane.csv", text, NULL);
    CU_ASSERT_EQUAL_FATAL(v->rows, MODELLED);
    for (size_t i = 0; i < v->rows; i++) {
        const struct validate_row *row = &v->row[i];
        CHECK(row->state == VALIDATE_PREDICTED, "%s: %s", row->what, row->why);
        CHECK(fabs(row->predicted / row->measured - 1) < modelled[i].tolerance, "%s: %g, measured %g", row->what, row->predicted,
              row->measured);
    }
    validation_free(v);
}

/* Requests of these rows copy operands on the host. Without the copies, the time is that of the engine. */
static void test_overheads(void)
{
    struct validation *v = example_validation("ane.csv",
                                              HEADER "M1 Max,,ANE,GEMM N=2048 cubed,fp16,sweep,4.2966,ms" SWEEP
                                                     "M1 Max,,ANE,GEMM N=2048 cubed,fp16,zero copy,1.6,ms" M1MAX,
                                              NULL);
    CU_ASSERT_EQUAL_FATAL(v->rows, 2);
    CU_ASSERT_STRING_EQUAL(v->row[0].framework, "aneforge");
    CU_ASSERT_STRING_EQUAL(v->row[1].framework, "");
    CU_ASSERT_DOUBLE_EQUAL(v->row[0].bare, v->row[1].predicted, 1e-9);
    CU_ASSERT(v->row[0].predicted > 1.5 * v->row[0].bare);
    CU_ASSERT_EQUAL(v->row[0].framework_bytes, 2.0 * 2048 * 2048);
    CU_ASSERT_EQUAL(v->row[0].framework_out_bytes, 2.0 * 2048 * 2048);
    validation_free(v);
}

/* Single calls of the guide go through the runtime of ANEForge, whose streams measure what their copies take; its products that
 * wait for weights do not say that they were called so, and have none. */
static void test_whose_calls_copy(void)
{
    struct validation *v =
        example_validation("ane.csv",
                           HEADER "M1 Max,,ANE,conv1x1 C512->512 32x32,fp16,single call incl. dispatch,0.444,ms" M1MAX
                                  "M2,,ANE,matvec-like matmul 2048,fp16,weights-bound,0.29,ms,measured,sbryngelson/ane-guide,\n",
                           NULL);
    CU_ASSERT_EQUAL_FATAL(v->rows, 2);
    CU_ASSERT_PTR_NOT_NULL(v->row[0].overhead);
    CU_ASSERT_EQUAL(v->row[0].framework_bytes, 2.0 * 512 * 32 * 32);
    CU_ASSERT(v->row[0].predicted > v->row[0].bare);
    CU_ASSERT_PTR_NULL(v->row[1].overhead);
    CU_ASSERT_EQUAL(v->row[1].predicted, v->row[1].bare);
    validation_free(v);
}

/* Published times of single operations and stacks on M1, M1 Max, M2 and M2 Max, as one group of a report. What the harness
 * copies is measured by streams; without it the engine's own times are known to be too short. Rows that parameters were chosen
 * over do not count. */
#define TOP        ",measured,ANEForge repository data (benchmarks) "
#define SINGLE     TOP "watt-complete\n"
#define SAT        TOP "saturation sweep (host copies included)\n"
#define GUIDE      ",measured,sbryngelson/ane-guide (arXiv 2606.22283)\n"
#define CALL       ",fp16,single call,"
#define WITHOUT_ID "chip,device,unit,workload,precision,condition,value,unit_of_value,kind,source\n"
static const char *const engine_rows[] = {
    "M1 Max,,ANE,chain of 8 x 1024^2 matmul,fp16,\"2.11 ms, 5.5 W\",8.1,TFLOPS" GUIDE,
    "M1 Max,,ANE,conv3x3 C64->64 16x16,fp16,single call incl. dispatch,0.231,ms" GUIDE,
    "M1 Max,,ANE,conv3x3 C64->64 32x32,fp16,single call incl. dispatch,0.248,ms" GUIDE,
    "M1 Max,,ANE,conv3x3 C64->64 64x64,fp16,single call incl. dispatch,0.395,ms" GUIDE,
    "M1 Max,,ANE,conv3x3 C64->64 128x128,fp16,single call incl. dispatch,1.062,ms" GUIDE,
    "M1 Max,,ANE,conv3x3 C64->64 256x256,fp16,single call incl. dispatch,3.814,ms" GUIDE,
    "M1 Max,,ANE,conv3x3 C256->256 28x28,fp16,single call incl. dispatch,0.507,ms" GUIDE,
    "M1 Max,,ANE,conv1x1 C512->512 32x32,fp16,single call incl. dispatch,0.444,ms" GUIDE,
    "M1 Max,,ANE,conv1x1 C1024->1024 16x16,fp16,single call incl. dispatch,0.686,ms" GUIDE,
    "M1 Max,,ANE,conv1x1 C2048->2048 8x8,fp16,single call incl. dispatch,1.047,ms" GUIDE,
    "M2,,ANE,matvec-like matmul 2048,fp16,weights-bound,0.29,ms" GUIDE,
    "M2,,ANE,matvec-like matmul 4096,fp16,weights-bound,0.74,ms" GUIDE,
    "M2,,ANE,matvec-like matmul 8192,fp16,weights-bound,2.61,ms" GUIDE,
    "M1 Max,,ANE,GEMM 64x256x256" CALL "0.1644,ms" SINGLE,
    "M2,,ANE,GEMM 64x256x256" CALL "0.1099,ms" SINGLE,
    "M1 Max,,ANE,GEMM 128x1024x1024" CALL "0.4055,ms" SINGLE,
    "M2,,ANE,GEMM 128x1024x1024" CALL "0.1351,ms" SINGLE,
    "M1 Max,,ANE,GEMM 256x4096x4096" CALL "2.3944,ms" SINGLE,
    "M2,,ANE,GEMM 256x4096x4096" CALL "2.0434,ms" SINGLE,
    "M1 Max,,ANE,conv3x3 C64 32x32" CALL "0.1914,ms" SINGLE,
    "M2,,ANE,conv3x3 C64 32x32" CALL "0.10675,ms" SINGLE,
    "M1 Max,,ANE,conv3x3 C256 32x32 depth 16" CALL "1.9184,ms" SINGLE,
    "M2,,ANE,conv3x3 C256 32x32 depth 16" CALL "1.2649,ms" SINGLE,
    "M1 Max,,ANE,GEMM N=512 cubed,fp16,sweep,0.477,ms" SAT,
    "M1 Max,,ANE,GEMM N=1024 cubed,fp16,sweep,0.9978,ms" SAT,
    "M1 Max,,ANE,GEMM N=2048 cubed,fp16,sweep,4.2966,ms" SAT,
    "M1 Max,,ANE,GEMM N=4096 cubed,fp16,sweep,30.13,ms" SAT,
    "M1 Max,,ANE,conv3x3 C64 64x64 batch 8,fp16,sweep,1.3825,ms" SAT,
    "M1 Max,,ANE,conv3x3 C128 64x64 batch 8,fp16,sweep,3.025,ms" SAT,
    "M1 Max,,ANE,conv3x3 C256 64x64 batch 4,fp16,sweep,4.1077,ms" SAT,
    "M1 Max,,ANE,conv3x3 C512 64x64 batch 2,fp16,sweep,5.6457,ms" SAT,
    "M1,,ANE,GEMM N=512 cubed,fp16,sweep,0.3317,ms" SAT,
    "M1,,ANE,GEMM N=1024 cubed,fp16,sweep,0.9933,ms" SAT,
    "M1,,ANE,GEMM N=2048 cubed,fp16,sweep,4.9607,ms" SAT,
    "M1,,ANE,GEMM N=4096 cubed,fp16,sweep,31.739,ms" SAT,
    "M1,,ANE,conv3x3 C64 64x64 batch 8,fp16,sweep,1.5805,ms" SAT,
    "M2 Max,,ANE,GEMM N=512 cubed,fp16,sweep,0.289,ms" SAT,
    "M2 Max,,ANE,GEMM N=1024 cubed,fp16,sweep,1.282,ms" SAT,
    "M2 Max,,ANE,GEMM N=2048 cubed,fp16,sweep,3.8122,ms" SAT,
    "M2 Max,,ANE,GEMM N=4096 cubed,fp16,sweep,25.538,ms" SAT,
    "M2 Max,,ANE,conv3x3 C64 64x64 batch 8,fp16,sweep,1.2549,ms" SAT,
    "M2 Max,,ANE,conv3x3 C128 64x64 batch 8,fp16,sweep,2.6702,ms" SAT,
    "M2 Max,,ANE,conv3x3 C256 64x64 batch 4,fp16,sweep,3.5334,ms" SAT,
    "M2 Max,,ANE,conv3x3 C512 64x64 batch 2,fp16,sweep,4.7655,ms" SAT,
};

static void test_engine_level(void)
{
    static char text[12288];
    strcpy(text, WITHOUT_ID "M2 Pro,,ANE,GEMM N=2048 cubed,fp16,sweep,7.483,ms" SAT
                            "M2,,ANE,matvec-like matmul 2048,int8,weights-bound,0.253,ms" GUIDE);
    for (size_t i = 0; i < ARRAY_COUNT(engine_rows); i++)
        strcat(text, engine_rows[i]);
    struct orch_error error = {0};
    struct validation *v = example_validation("ane.csv", text, NULL);
    struct validation_groups groups;
    CU_ASSERT_FATAL(validation_group_rows(v, "level", &groups, &error));
    const struct validation_group *g = &groups.engine;
    CU_ASSERT_EQUAL(g->rows, ARRAY_COUNT(engine_rows) + 1); /* the M2 Pro as well, although it takes twice the time */
    CHECK(g->score.count + g->fitted == g->rows && g->fitted == 3, "%zu of %zu rows are fitted", g->fitted, g->rows);
    CHECK(g->score.median_ape <= 0.15, "median error %.1f %%", 100 * g->score.median_ape);
    CHECK(g->score.mape <= 0.20, "mean error %.1f %%", 100 * g->score.mape);
    CHECK(g->bare.mape > g->score.mape, "without copies %.1f %%", 100 * g->bare.mape);
    CU_ASSERT_EQUAL_FATAL(groups.count, 2);
    const bool first = groups.group[0].rows == 1; /* "other": another precision */
    CU_ASSERT_EQUAL(groups.group[!first].rows, 1);
    CU_ASSERT_DOUBLE_EQUAL(groups.group[first].score.mape, g->score.mape, 1e-12);
    validation_groups_free(&groups);
    validation_free(v);
}

/* Images that take turns in the tile memory stay there (12 TFLOPS), larger ones do not (4.8): ane-guide, chapters 9 and 33. A
 * layer with one long row runs in tiles at the peak of M3 Pro. */
static void test_chains(void)
{
    struct validation *v = example_validation(
        "ane.csv",
        HEADER "M1 Max,,ANE,\"matmul slope (large GEMM, marginal)\",fp16,slope of time vs work,12,TFLOPS" M1MAX
               "M1 Max,,ANE,\"matmul, operand set above 2 MB\",fp16,,4.8,TFLOPS" M1MAX
               "M3 Pro,,ANE,conv1x1 512ch sp2048 peak,fp16,inmem_peak,16.77,TFLOPS,measured,maderix/ANE,m3_pro_6p6e_18g\n",
        NULL);
    static const double tolerance[] = {0.05, 0.2, 0.1};
    CU_ASSERT_EQUAL_FATAL(v->rows, 3);
    for (size_t i = 0; i < v->rows; i++)
        CHECK(fabs(v->row[i].predicted / v->row[i].measured - 1) < tolerance[i], "%s: %g, measured %g", v->row[i].what,
              v->row[i].predicted, v->row[i].measured);
    validation_free(v);
}

/* Whole networks, each one program: whisper.cpp's encoders by Core ML (pull request 566, whose conversion has all heads in one
 * operator; 1716 and issue 89, whose conversion splits them), DenseNet-121 of woolfel/ml-macos-performance, and four feed-forward
 * blocks with weights in palettes. */
static void test_networks(void)
{
    struct validation *v = example_validation(
        "ane.csv",
        HEADER "M1 Pro,,ANE,Whisper base encoder,fp16,,64,ms,measured,whisper.cpp PR #566,m1_pro_8p2e_16g\n"
               "M1 Pro,,ANE,Whisper small encoder,fp16,,208,ms,measured,whisper.cpp PR #566,m1_pro_8p2e_16g\n"
               "M1 Ultra,,ANE,Whisper tiny encoder,fp16,,18.88,ms,measured,whisper.cpp issue #89,m1_ultra_16p4e_64g\n"
               "M1 Ultra,,ANE,Whisper medium encoder,fp16,,346.97,ms,measured,whisper.cpp issue #89,m1_ultra_16p4e_64g\n"
               "M3 Pro,,ANE,Whisper base encoder,fp16,,29.63,ms,measured,whisper.cpp PR #1716,m3_pro_6p6e_18g\n"
               "M1 Max,,ANE,DenseNet-121,fp16,,1.8782,ms,measured,woolfel/ml-macos-performance,m1_max_8p2e_24g\n"
               "M4,,ANE,4x Llama-2-7B MLP,lut2,,3.83,ms,measured,smpanaro CoreML quantization benchmark,m4_4p6e_10g\n",
        NULL);
    double sum = 0;
    CU_ASSERT_EQUAL_FATAL(v->rows, 7);
    for (size_t i = 0; i < v->rows; i++) {
        const double off = fabs(v->row[i].predicted / v->row[i].measured - 1);
        CHECK(off < 0.16, "%s: %g, measured %g", v->row[i].what, v->row[i].predicted, v->row[i].measured);
        sum += off;
    }
    CHECK(sum / (double)v->rows < 0.13, "off by %g in the mean", sum / (double)v->rows);
    validation_free(v);
}

/* Networks as their authors' programs have them, many requests one after another: mechramc/Orion, maderix/ANE, and the power of
 * smpanaro's chunks of Llama-2-7B; a decoder in one request, into which sbryngelson/ANEForge copies its caches. */
static void test_requests(void)
{
    struct validation *v = example_validation(
        "ane.csv",
        HEADER "M4 Max,,ANE,GPT-2 124M decode step,fp16,,5.78,ms/token,measured,Orion,m4_max_12p4e_40g\n"
               "M4 Pro,,ANE,\"Stories110M training, ANE part\",fp16,low,8.9,ms/step,measured,maderix,m4_pro_10p4e_20g\n"
               "M4 Max,,ANE,\"Stories110M training, ANE part\",fp16,low,10.2,ms/step,measured,maderix,m4_max_12p4e_40g\n"
               "M3 Max,,ANE,Llama-2-7B decode power,4-bit LUT,second version,8,W,measured,smpanaro,m3_max_12p4e_40g\n"
               "M1 Max,,ANE,small LM decode,fp16,,244,tokens/s,measured,ANEForge repository data (benchmarks) "
               "rooflines.json,m1_max_8p2e_32g\n"
               "M2 Pro,,ANE,small LM decode,fp16,,276,tokens/s,measured,ANEForge repository data (benchmarks) "
               "rooflines.json,m2_pro_6p4e_16g\n",
        NULL);
    CU_ASSERT_EQUAL_FATAL(v->rows, 6);
    for (size_t i = 0; i < v->rows; i++)
        CHECK(fabs(v->row[i].predicted / v->row[i].measured - 1) < 0.12, "%s: %g, measured %g", v->row[i].what,
              v->row[i].predicted, v->row[i].measured);
    /* Each request has its costs: 24 of them alone are a third of a token. */
    CHECK(v->row[0].predicted > 24 * 0.095, "%g ms", v->row[0].predicted);
    validation_free(v);
}

static void test_reasons(void)
{
    static char text[4096];
    strcpy(text, HEADER);
    for (size_t i = 0; i < REFUSED; i++)
        strcat(text, refused[i].row);
    struct validation *v = example_validation("ane.csv", text, NULL);
    CU_ASSERT_EQUAL_FATAL(v->rows, REFUSED);
    for (size_t i = 0; i < v->rows; i++)
        CHECK(v->row[i].state == VALIDATE_UNMODELLED && strstr(v->row[i].why, refused[i].why) != NULL, "%s: %s", v->row[i].what,
              v->row[i].why);
    validation_free(v);
}

/* Rows that a parameter was taken from are marked. */
static void test_fitted(void)
{
    struct validation *v =
        example_validation("ane.csv",
                           HEADER "M1 Max,,ANE,dispatch total,,per request,190,us" M1MAX
                                  "M1 Max,,ANE,conv3x3 C64->64 16x16,fp16,single call incl. dispatch,0.231,ms" M1MAX,
                           NULL);
    CU_ASSERT(v->row[0].parameter && strstr(v->row[0].parameter, "ane.request_us"));
    CU_ASSERT_PTR_NULL(v->row[1].parameter);
    validation_free(v);
}

/* The program of a row is a file that decodes to the same number of layers. */
static void test_dump(void)
{
    struct orch_error error = {0};
    struct isa_error why = {0};
    struct ane_program program;
    struct validation *v = validation_create();
    size_t bytes = 0;
    const char *text =
        HEADER "M4 Max,,ANE,inmem_peak 128ch sp64 7 layers,fp16,log,0.16,ms,measured,dev-erik/ANE,m4_max_12p4e_40g\n";
    CU_ASSERT_FATAL(validation_add_text(v, "ane.csv", text, strlen(text), &error));
    struct chip_db *const chips = example_chips();
    uint8_t *file = validation_dump(v, "ane:2", chips, NULL, &bytes, &error);
    CHECK(file && ane_program_parse(file, bytes, &program, &why), "%s%s", error.text, why.text);
    if (file && !why.text[0]) {
        CU_ASSERT_EQUAL(program.count, 7);
        CU_ASSERT_EQUAL(program.task[3].channels_in, 128);
        CU_ASSERT_EQUAL(program.task[3].width_in * program.task[3].height_in, 64);
        ane_program_free(&program);
    }
    free(file);
    /* Of a chip that the user has changed, they are those that the commands run. */
    const char *const few_channels = "ane.channels_max=64";
    CHECK(!validation_dump(v, "ane:2", chips, &(struct chip_overrides){&few_channels, 1}, &bytes, &error) &&
              error.exit_code == ORCH_UNMODELLED,
          "%s", error.text);
    chip_db_close(chips);
    validation_free(v);
}

static const struct suite_test tests[] = {
    {"rows are built and timed within their tolerance", test_rows},
    {"copies on the host add to the time", test_overheads},
    {"whose calls copy operands", test_whose_calls_copy},
    {"single operations and stacks have small errors", test_engine_level},
    {"chains stay in tile memory, and long rows reach the peak", test_chains},
    {"networks", test_networks},
    {"networks of many requests", test_requests},
    {"unmodelled rows have their reason", test_reasons},
    {"rows that a parameter was taken from are marked", test_fitted},
    {"the program of a row can be written", test_dump},
};
SUITE_MAIN("ane_validate", tests)
