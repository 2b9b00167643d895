/* Rows of language models that llama.cpp ran: "llama7b_tg128", "llama3_pp4096". Each is a run of the whole model, by ggml's
 * kernels of the month of the row's build, timed by shapes. */
#include "isa/array_count.h"
#include "sim/prove/validate/plan_launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Tables, by how names of their rows begin. The build of discussion 4167 is that of its first rows; M4 and M3 Ultra came later,
 * and so did fused softmax. The table of LLaMA 3 is of May 2024 and does not say which build. Those of two pull requests of
 * November 2024 do not say how many cores the GPU has, nor which model "1B" is. */
static const struct {
    const char *begin, *size, *model, *kernels, *later, *guess;
} tables[] = {
    {"llama7b_", "", "llama-7b", "ggml@2023-11", "ggml@2024-11", NULL},
    {"llama3_", "8B", "llama-3-8b", "ggml@2024-05", NULL, "the build"},
    {"llama3_", "70B", "llama-3-70b", "ggml@2024-05", NULL, "the build"},
    {"llama_", "13B", "llama-2-13b", "ggml@2024-11", NULL, "the number of GPU cores"},
    {"llama_", "1B", "llama-3.2-1b", "ggml@2024-11", NULL, "the number of GPU cores, and which model of 1B it is"},
    {"llama1b_", "", "llama-3.2-1b", "ggml@2024-11", NULL, "the number of GPU cores, and which model of 1B it is"},
};

static bool is_later(const struct validate_row *row)
{
    return strncmp(row->chip, "M4", 2) == 0 || strcmp(row->chip, "M3 Ultra") == 0;
}

/* The format of most matrices. */
static const char *format_of(const struct validate_row *row)
{
    static const char *const formats[][2] = {{"f16", "f16"}, {"Q8_0", "q8_0"}, {"Q4_0", "q4_0"}, {"Q4_K_M", "q4_k"}};
    const char *const text = validate_cell(row, "precision");
    for (size_t i = 0; i < ARRAY_COUNT(formats); i++)
        if (strcasecmp(text, formats[i][0]) == 0)
            return formats[i][1];
    return NULL;
}

bool validate_plan_language(struct validate_row *row, struct validate_program *program)
{
    const char *const shape = validate_cell(row, "shape");
    size_t t = 0;
    char test[3];
    unsigned tokens;
    while (t < ARRAY_COUNT(tables) && (strncmp(row->what, tables[t].begin, strlen(tables[t].begin)) != 0 ||
                                       !strstr(shape, tables[t].size) || strcmp(row->unit, "tokens/s") != 0))
        t++;
    if (t == ARRAY_COUNT(tables) || strcmp(row->device, "gpu") != 0)
        return false;
    if (!row->language)
        return validate_refuse(row, "a whole language model (validate runs it with its option language)");
    const char *const format = format_of(row);
    if (sscanf(row->what + strlen(tables[t].begin), "%2[a-z]%u", test, &tokens) != 2 || !format)
        return validate_refuse(row, "test '%.20s' in '%.20s' is not read", row->what, validate_cell(row, "precision"));
    enum { FEW = 8 };
    const bool prompt = strcmp(test, "pp") == 0 && tokens > 1; /* a prompt of one token is a step */
    if (prompt && tokens <= FEW && strcmp(tables[t].begin, "llama_") == 0)
        return validate_refuse(row, "%u tokens together: ggml has products of 2 to %d vectors, which are not modelled", tokens,
                               FEW);
    struct validate_launch *const l = &program->launch[program->launches++];
    *l = (struct validate_launch){
        .times = 1, .language = {.prompt = prompt ? tokens : 0, .generate = prompt ? 0 : tokens, .prompt_alone = prompt}};
    snprintf(l->workload, sizeof l->workload, "model:%s", tables[t].model);
    snprintf(l->precision, sizeof l->precision, "%s", format);
    snprintf(l->kernels, sizeof l->kernels, "%s",
             row->own_kernels                   ? ""
             : tables[t].later && is_later(row) ? tables[t].later
                                                : tables[t].kernels);
    if (strcmp(row->what, "llama7b_tg128") == 0 && strcmp(format, "q4_0") == 0)
        row->parameter = "framework_launch_us"; /* of ggml, chosen over these rows */
    program->submitted = true;
    program->measure = VALIDATE_RATE;
    program->work = tokens * 1e9;
    program->guess = strcmp(format, "q4_k") == 0 ? "the build, and Q6_K matrices of layers taken as Q4_K" : tables[t].guess;
    program->note = "whole model by its shapes, after llama.cpp's kernels; sums of kernels";
    return true;
}
