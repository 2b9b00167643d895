/* Plans for streams of elements, other operators, and the cost of a request. */
#include "isa/array_count.h"
#include "sim/prove/validate/plan_ane.h"

#include <stdio.h>
#include <string.h>

/* ---- streams and other operators ---- */

/* "streaming relu 8M elements"; operators with rows get rows of 1024. */
bool plan_ane_streaming(struct ane_row *a)
{
    enum { COLUMNS = 1024 };
    char op[16];
    unsigned millions;
    if (sscanf(a->row->what, "streaming %15[a-z] %uM elements", op, &millions) != 2)
        return validate_refuse(a->row, "the size is not read");
    const unsigned count = millions << 20;
    plan_ane_harness(a, 2.0 * count, strcmp(op, "sum") == 0 ? 2.0 * count / COLUMNS : 2.0 * count);
    bool ok;
    if (strcmp(op, "sum") == 0)
        ok = plan_ane_launch(a, 1, "reduce:%ux%u,op=sum", count / COLUMNS, (unsigned)COLUMNS);
    else if (strcmp(op, "softmax") == 0)
        ok = plan_ane_launch(a, 1, "softmax:%ux%u", count / COLUMNS, (unsigned)COLUMNS);
    else
        ok = plan_ane_launch(a, 1, "elementwise:%u,op=%s", count, op);
    if (strcmp(op, "sum") == 0 || strcmp(op, "softmax") == 0)
        plan_ane_guess(a, "shape not given: rows of 1024");
    return ok && plan_ane_unit(a, 0);
}

/* "attention S197": ViT-B has 12 heads of 64; the published operation counts are those of four projections and the attention. */
bool plan_ane_attention(struct ane_row *a)
{
    enum { WIDTH = 768, HEADS = 12, DEPTH = 64 };
    unsigned s;
    if (sscanf(a->row->what, "attention S%u", &s) != 1)
        return validate_refuse(a->row, "the size is not read");
    plan_ane_harness(a, 2.0 * s * WIDTH, 2.0 * s * WIDTH);
    plan_ane_note(a, "four projections of 768 channels and 12 heads of 64, as the published operation counts have it");
    return plan_ane_launch(a, 4, "gemm:%ux%dx%d", s, WIDTH, WIDTH) &&
           plan_ane_launch(a, 1, "attention:b=1,h=%d,s=%u,d=%d", HEADS, s, DEPTH) &&
           plan_ane_unit(a, 8.0 * s * WIDTH * WIDTH + 4.0 * s * s * WIDTH);
}

/* whisper.cpp's first conversion to Core ML (pull request 566) is of the encoder as it was published, with all heads of a layer
 * in one operator. Later ones (--optimize-ane, mended by pull request 1716) split heads, so that what lies between their
 * operators is small.
 */
static bool has_heads_together(const struct ane_row *a)
{
    return strstr(plan_ane_cell(a, "source"), "whisper.cpp PR #566") != NULL;
}

/* What follows the name of a network, if anything, is what was measured of it. */
static bool names_network(const struct ane_row *a, const char *name)
{
    const size_t length = strlen(name);
    const char *const rest = a->row->what + length;
    return strncmp(a->row->what, name, length) == 0 &&
           (*rest == 0 || strcmp(rest, " power") == 0 || strcmp(rest, " energy") == 0);
}

/* Networks that are published as well, and the power or energy of some of them ("ResNet-18 power"). */
bool plan_ane_network(struct ane_row *a)
{
    static const struct {
        const char *row, *workload, *guess;
    } networks[] = {{"Whisper tiny encoder", "whisper-tiny-encoder", NULL},
                    {"Whisper base encoder", "whisper-base-encoder", NULL},
                    {"Whisper small encoder", "whisper-small-encoder", NULL},
                    {"Whisper medium encoder", "whisper-medium-encoder", NULL},
                    /* The turbo model has the encoder of large-v3; q8 are the weights of the decoder, Core ML's are fp16. */
                    {"Whisper large-v3-turbo q8 encoder", "whisper-large-v3-encoder", NULL},
                    {"DenseNet-121", "densenet121", NULL},
                    {"ResNet-18", "resnet18", NULL},
                    {"ViT-B/16", "vit-b-16", NULL},
                    {"MiniLM", "minilm", "sequence not given: 128 tokens"}};
    for (size_t i = 0; i < ARRAY_COUNT(networks); i++) {
        if (!names_network(a, networks[i].row))
            continue;
        plan_ane_note(a, has_heads_together(a)
                             ? "one program, the heads of a layer in one operator each, as its conversion has them"
                             : "one program of the library's kernels, tensors in tile memory where they have room");
        if (networks[i].guess)
            plan_ane_guess(a, networks[i].guess);
        const bool ok = plan_ane_launch(a, 1, "model:%s", networks[i].workload) && plan_ane_unit(a, 0);
        a->program->launch[0].attention_apart = has_heads_together(a);
        return ok;
    }
    return validate_refuse(a->row, "a whole network whose layers are not published");
}

/* smpanaro's model is four of Llama-2-7B's feed-forward blocks one behind the other, 541 M parameters. His models process 64
 * tokens at a time (smpanaro/coreml-llm-cli, README). */
bool plan_ane_feed_forward(struct ane_row *a)
{
    plan_ane_note(a, "64 tokens, as the author's models of Llama-2-7B have at a time");
    return plan_ane_launch(a, 1, "model:llama-2-7b-mlp4") && plan_ane_unit(a, 0);
}

/* Requests one after another, between which the weights of other layers have come. */
static void apart(struct ane_row *a)
{
    a->program->requests_apart = true;
    a->program->beyond_caches = true;
}

/* What a token takes is measured as a time, or as tokens in a second. */
static bool take_token(struct ane_row *a)
{
    if (strcmp(a->row->unit, "tokens/s") != 0)
        return plan_ane_unit(a, 0);
    a->program->measure = VALIDATE_RATE;
    a->program->work = 1e9; /* rates are in 1e9 per second */
    return true;
}

/* smpanaro's Llama-2-7B: 64 tokens at a time behind a cache of 448, three layers to a program and the head in one
 * (smpanaro/coreml-llm-cli, README), of which each token takes all, one after another. */
bool plan_ane_chunks(struct ane_row *a)
{
    enum { LAYERS = 32, CHUNK = 3, ROWS = 32000, COLUMNS = 4096, PARTS = 2 };
    apart(a);
    plan_ane_note(a, "programs of three layers over 64 tokens and 512 keys, and the head; embedding, rotations and what the "
                     "application does in between take no time");
    if (strcmp(plan_ane_cell(a, "condition"), "second version") != 0)
        a->program->guess = "the program"; /* the first version is not described, but that the second one is faster */
    const bool ok = plan_ane_launch(a, (double)LAYERS / CHUNK, "model:llama-2-7b-chunk") &&
                    plan_ane_launch(a, PARTS, "gemv:%dx%d", ROWS / PARTS, COLUMNS);
    return ok && take_token(a);
}

/* mechramc/Orion (kernels/inference/decode_ane.m): for each token and layer two requests to the engine, in between attention and
 * its projection on a core, behind all layers the logits, both by Accelerate. */
bool plan_ane_gpt2(struct ane_row *a)
{
    enum { LAYERS = 12, WIDTH = 768, WORDS = 50257 };
    apart(a);
    plan_ane_note(a,
                  "two requests for each layer over 16 columns, its projection and the logits on AMX blocks; copies between them "
                  "and attention over few tokens take no time");
    const bool ok = plan_ane_launch(a, LAYERS, "model:gpt2-decode-qkv") && plan_ane_launch(a, LAYERS, "model:gpt2-decode-ffn") &&
                    plan_ane_core_gemv(a, LAYERS, WIDTH, WIDTH) && plan_ane_core_gemv(a, 1, WORDS, WIDTH);
    return ok && take_token(a);
}

/* maderix/ANE, the program train_large: what it calls the engine's part are the requests that go forward, two for each layer.
 * Rows of a whole step hold the way back and what the application does on cores as well. */
bool plan_ane_training(struct ane_row *a)
{
    enum { LAYERS = 12 };
    if (!strstr(a->row->what, "ANE part"))
        return validate_refuse(a->row, "most of a step is what the application does on cores, whose threads are its own");
    apart(a);
    plan_ane_note(a, "the two requests forward for each of 12 layers, which alone are timed as the engine's part");
    return plan_ane_launch(a, LAYERS, "model:stories110m-attention") && plan_ane_launch(a, LAYERS, "model:stories110m-ffn") &&
           plan_ane_unit(a, 0);
}

/* "Stable Diffusion 2.1 base 512x512, end to end" or ", UNet": 20 steps with classifier-free guidance, text encoder and decoder
 * once (apple/ml-stable-diffusion, README, benchmark of August 2023). */
bool plan_ane_diffusion(struct ane_row *a)
{
    enum { STEPS = 20 };
    plan_ane_note(a, "20 steps; loading, tokens and the scheduler take no time");
    if (strcmp(a->row->unit, "it/s") == 0) {
        a->program->measure = VALIDATE_RATE;
        a->program->work = 1e9; /* rates are in 1e9 per second */
        return plan_ane_launch(a, 1, "model:sd21-unet");
    }
    return plan_ane_launch(a, STEPS, "model:sd21-unet") && plan_ane_launch(a, 1, "model:sd21-text-encoder") &&
           plan_ane_launch(a, 1, "model:sd15-vae-decoder") && plan_ane_unit(a, 0);
}

/* "SDXL UNet" of the same table: 768 x 768, weights in palettes of 4.04 bits in the mean, here all of 4. */
bool plan_ane_diffusion_large(struct ane_row *a)
{
    plan_ane_note(a, "768 x 768, with and without the prompt; palettes of 4 bits");
    a->program->measure = VALIDATE_RATE;
    a->program->work = 1e9; /* rates are in 1e9 per second */
    return plan_ane_launch(a, 1, "model:sdxl-unet");
}

/* sbryngelson/ane-guide, chapter 10: 256 x 256, 32 steps, each a convolution of one channel with five taps of a 3 x 3 kernel. */
bool plan_ane_stencil(struct ane_row *a)
{
    enum { SIDE = 256, STEPS = 32 };
    plan_ane_harness(a, 2.0 * SIDE * SIDE, 2.0 * SIDE * SIDE);
    return plan_ane_launch(a, 1, "conv-stack:layers=%d,c=1,h=%d,w=%d", STEPS, SIDE, SIDE) && plan_ane_unit(a, 0);
}

/* ---- weights in fewer bytes ---- */

bool plan_ane_speed_up(struct ane_row *a)
{
    enum { LAYERS = 8, C = 1024 };
    const char *const fewer = strstr(a->row->what, "int4") ? "i4" : "sparse";
    a->program->beyond_caches = true;
    a->program->measure = VALIDATE_RATIO;
    a->program->work = 1;
    plan_ane_guess(a, "size not given: 8 layers of 1024 to 1024 channels, one pixel; sparse: half of the weights");
    a->precision = fewer;
    if (!plan_ane_launch(a, 1, "conv-stack:layers=%d,c=%d,h=1,w=1,r=1,s=1", LAYERS, C))
        return false;
    a->precision = "f16";
    return plan_ane_launch(a, 1, "conv-stack:layers=%d,c=%d,h=1,w=1,r=1,s=1", LAYERS, C);
}

/* ---- the cost of a request ---- */

bool plan_ane_smallest(struct ane_row *a)
{
    return plan_ane_launch(a, 1, "elementwise:64,op=relu") && plan_ane_unit(a, 0);
}

/* "wake after 5 s idle", "wake after 100 ms idle" */
bool plan_ane_wake(struct ane_row *a)
{
    double idle;
    char unit[8];
    if (sscanf(a->row->what, "wake after %lf %7s idle", &idle, unit) != 2)
        return validate_refuse(a->row, "the idle time is not read");
    a->program->idle_seconds = strcmp(unit, "ms") == 0 ? idle * 1e-3 : idle;
    return plan_ane_smallest(a);
}
