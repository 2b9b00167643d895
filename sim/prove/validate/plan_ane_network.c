/* Plans for whole networks: encoders and classifiers, tokens of decoders, steps of training, pictures. */
#include "isa/array_count.h"
#include "sim/prove/validate/plan_ane.h"

#include <stdio.h>
#include <string.h>

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

static bool take_images(struct ane_row *a)
{
    if (strcmp(a->row->unit, "img/s") != 0)
        return false;
    a->program->measure = VALIDATE_RATE;
    a->program->work = 1e9; /* rates are in 1e9 per second */
    return true;
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
                    {"MiniLM", "minilm", "sequence not given: 128 tokens"},
                    {"CLIP ViT-H", "clip-vit-h-14", "program not named: images of ViT-H/14, one at a time"},
                    /* README of woolfel/ml-macos-performance: trained with Create ML, whose full network is after YOLO's. */
                    {"ChickenDetector", "yolov2-tiny", "layers not published: those of the detector that Create ML trains"}};
    for (size_t i = 0; i < ARRAY_COUNT(networks); i++) {
        if (!names_network(a, networks[i].row))
            continue;
        plan_ane_note(a, has_heads_together(a)
                             ? "one program, the heads of a layer in one operator each, as its conversion has them"
                             : "one program of the library's kernels, tensors in tile memory where they have room");
        if (networks[i].guess)
            plan_ane_guess(a, networks[i].guess);
        const bool ok = plan_ane_launch(a, 1, "model:%s", networks[i].workload) && (take_images(a) || plan_ane_unit(a, 0));
        a->program->launch[0].attention_apart = has_heads_together(a);
        return ok;
    }
    return validate_refuse(a->row, "a whole network whose layers are not published");
}

/* smpanaro's model is four of Llama-2-7B's feed-forward blocks one behind the other, 541 M parameters. His models process 64
 * tokens at a time (smpanaro/coreml-llm-cli, README). */
bool plan_ane_feed_forward(struct ane_row *a)
{
    if (strstr(plan_ane_cell(a, "precision"), "int8 activations") && strcmp(a->row->chip, "M4") == 0)
        snprintf(a->program->set[0], sizeof a->program->set[0], "ane.macs_per_engine=512"); /* ane.int8_rate is 2 */
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

/* videlalvaro/ane-book, the manifests in models: layers in programs of 20, 4, 6 and 2 (Phi-4-mini) and of 5 (Hy-MT), the head in
 * four and in two, weights of 8 bits with one scale for all. Here all programs of Phi-4-mini have 4 layers. */
static bool take_state(struct ane_row *a, double chunks, const char *chunk, double heads, unsigned rows, unsigned columns)
{
    apart(a);
    a->precision = "p8";
    plan_ane_note(
        a, "caches as states that each token writes anew; embedding, rotations and what Core ML does for a call take no time");
    return plan_ane_launch(a, chunks, "model:%s", chunk) && plan_ane_launch(a, heads, "gemv:%ux%u", rows, columns) &&
           take_token(a);
}

bool plan_ane_phi4(struct ane_row *a)
{
    return take_state(a, 8, "phi-4-mini-chunk", 4, 50016, 3072);
}

bool plan_ane_hymt(struct ane_row *a)
{
    return take_state(a, 32.0 / 5, "hy-mt-chunk", 2, 60409, 2048);
}

/* sbryngelson/ANEForge, bench/decode_measurement.py --quick, whose sizes stand in its published results: one request, into which
 * the caches are copied each time. */
bool plan_ane_small_decoder(struct ane_row *a)
{
    enum { LAYERS = 4, WIDTH = 1024, CACHED = 128, WORDS = 32000 };
    apart(a);
    plan_ane_harness(a, 2.0 * WIDTH * (1 + 2 * LAYERS * CACHED), 2.0 * WORDS);
    plan_ane_note(a, "the decoder of its benchmark's short run");
    return plan_ane_launch(a, 1, "model:aneforge-decoder") && take_token(a);
}

/* WhisperKit's data do not say which units computed; its default for both halves of Whisper is the Neural Engine. A row of "x
 * real time" is about windows of 30 s, of which nobody says how many tokens they have. */
bool plan_ane_whisperkit(struct ane_row *a)
{
    enum { WINDOW_S = 30, TOKENS = 100 /* 150 words a minute of 1.33 tokens */ };
    static const char *const models[][4] = {
        {"Whisper large-v3", "whisper-large-v3-encoder", "whisper-large-v3-step", "f16"},
        {"Whisper large-v2", "whisper-large-v2-encoder", "whisper-large-v2-step", "f16"},
        {"Whisper distil-large-v3 594MB", "whisper-large-v3-encoder", "distil-whisper-large-v3-step", "p6"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(models); i++) {
        if (strcmp(a->row->what, models[i][0]) != 0)
            continue;
        apart(a);
        a->precision = models[i][3];
        if (strcmp(a->row->unit, "tokens/s") == 0) {
            plan_ane_note(a, "the unit not given: the Neural Engine, WhisperKit's default");
            a->program->guess = "the unit";
            return plan_ane_launch(a, 1, "model:%s", models[i][2]) && take_token(a);
        }
        plan_ane_note(a, "unit and tokens not given: the Neural Engine, 100 tokens in 30 s");
        a->program->guess = "the unit and the tokens";
        a->program->measure = VALIDATE_RATE;
        a->program->work = 1e9 * WINDOW_S; /* rates are in 1e9 per second */
        return plan_ane_launch(a, 1, "model:%s", models[i][1]) && plan_ane_launch(a, TOKENS, "model:%s", models[i][2]);
    }
    return plan_ane_network(a);
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

/* Telephones have the Neural Engine of a Mac's chip (Apple's compiler calls them by one name, e.g. H14) and memory of 64 bits:
 * LPDDR4X-4266 in A14 and A15, LPDDR5-6400 in A16 and A17 Pro. */
static void take_phone(struct ane_row *a)
{
    static const char *const phones[][3] = {{"A14", "m1", "LPDDR4X-4266"},
                                            {"A15", "m2", "LPDDR4X-4266"},
                                            {"A16", "m3", "LPDDR5-6400"},
                                            {"A17 Pro", "m4", "LPDDR5-6400"}};
    for (size_t i = 0; i < ARRAY_COUNT(phones); i++) {
        if (strcmp(plan_ane_cell(a, "chip"), phones[i][0]) != 0)
            continue;
        snprintf(a->program->chip, sizeof a->program->chip, "%s", phones[i][1]);
        snprintf(a->program->set[0], sizeof a->program->set[0], "memory_type=%s", phones[i][2]);
        snprintf(a->program->set[1], sizeof a->program->set[1], "memory_bus_bits=64");
        a->program->guess = "the chip: the Mac's of its generation, with the memory of a telephone";
    }
}

/* "Stable Diffusion 2.1 base 512x512, end to end" or ", UNet": 20 steps with classifier-free guidance, text encoder and decoder
 * once (apple/ml-stable-diffusion, README, benchmark of August 2023). */
bool plan_ane_diffusion(struct ane_row *a)
{
    enum { STEPS = 20 };
    plan_ane_note(a, "20 steps; loading, tokens and the scheduler take no time");
    take_phone(a);
    if (strcmp(a->row->unit, "it/s") == 0) {
        a->program->measure = VALIDATE_RATE;
        a->program->work = 1e9; /* rates are in 1e9 per second */
        return plan_ane_launch(a, 1, "model:sd21-unet");
    }
    return plan_ane_launch(a, STEPS, "model:sd21-unet") && plan_ane_launch(a, 1, "model:sd21-text-encoder") &&
           plan_ane_launch(a, 1, "model:sd15-vae-decoder") && plan_ane_unit(a, 0);
}

/* "SDXL UNet" and "SDXL end to end" of the same table: 768 x 768, weights of the U-Net in palettes of 4.04 bits in the mean, here
 * all of 4, the others in half precision; both texts are encoded twice. */
bool plan_ane_diffusion_large(struct ane_row *a)
{
    enum { STEPS = 20, TEXTS = 2 };
    plan_ane_note(a,
                  "768 x 768, with and without the prompt; palettes of 4 bits; loading, tokens and the scheduler take no time");
    take_phone(a);
    if (strcmp(a->row->unit, "it/s") == 0) {
        a->program->measure = VALIDATE_RATE;
        a->program->work = 1e9; /* rates are in 1e9 per second */
        return plan_ane_launch(a, 1, "model:sdxl-unet");
    }
    if (strstr(plan_ane_cell(a, "condition"), "reduceMemory") || strcmp(plan_ane_cell(a, "device"), "iPhone 14 Pro Max") == 0)
        return validate_refuse(a->row, "networks are loaded and removed between their turns (reduceMemory)");
    const bool ok = plan_ane_launch(a, STEPS, "model:sdxl-unet");
    a->precision = "f16";
    return ok && plan_ane_launch(a, TEXTS, "model:sd15-text-encoder") && plan_ane_launch(a, TEXTS, "model:sdxl-text-encoder-2") &&
           plan_ane_launch(a, 1, "model:sdxl-vae-decoder") && plan_ane_unit(a, 0);
}
