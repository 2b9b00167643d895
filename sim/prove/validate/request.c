#include "sim/prove/validate/request.h"

#include "sim/chip/chip_units.h"
#include "sim/network/network.h"
#include "sim/workload/amx/kernel.h"

#include <stdlib.h>
#include <string.h>

enum soc_core_choice validate_core_choice(enum validate_core core)
{
    static const enum soc_core_choice choices[] = {
        [VALIDATE_ANY_CORE] = SOC_ANY_CORE, [VALIDATE_P_CORE] = SOC_P_CORE, [VALIDATE_E_CORE] = SOC_E_CORE};
    return choices[core];
}

unsigned validate_request_count(const struct validate_program *p)
{
    return p->launches ? p->launches : *p->workload ? 1 : 0;
}

/* Only products of one AMX block are timed without their values. */
static void set_cores(struct run_request *q, unsigned cores)
{
    q->cores = cores;
    q->mode = cores == 1 && strcmp(q->unit, "amx") == 0 && kernel_has(q->workload) ? RUN_TIMING : RUN_FULL;
}

static const char *const attention_pass[] = {"attention"};
static const struct net_open_options attention_apart = {.level = 2, .without = attention_pass, .without_count = 1};

/* Seed and everything that is left out are what the command line takes by default. */
struct run_request validate_request(const struct validate_program *p, unsigned number)
{
    const struct validate_launch *const l = p->launches ? &p->launch[number] : NULL;
    const char *const precision = l ? l->precision : p->precision;
    struct run_request q = {
        .workload = l ? l->workload : p->workload,
        .unit = !l         ? "amx"
                : *l->unit ? l->unit
                : p->ane   ? "ane"
                           : "gpu",
        .precision = *precision ? precision : NULL,
        .kernels = l && *l->kernels ? l->kernels : NULL,
        .passes = l && l->attention_apart ? &attention_apart : NULL,
        .mode = RUN_TIMING,
        .seed = 1,
        .cold = l && p->beyond_caches,
    };
    if (!l || *l->unit)
        q.core_choice = p->core == VALIDATE_E_CORE ? SOC_E_CORE : SOC_P_CORE;
    if (l && *l->unit)
        set_cores(&q, l->cores ? l->cores : 1);
    else if (!l)
        return q;
    else if (l->language.prompt || l->language.generate)
        q.language = &l->language;
    else if (!p->ane)
        q.detail = "sampled";
    if (!p->power && (p->ane || p->burst.buffers)) {
        q.idle_s = p->idle_seconds;
        q.burst = p->burst;
    }
    return q;
}

struct run_request validate_request_on(const struct validate_program *p, unsigned number, const struct chip *chip)
{
    struct run_request q = validate_request(p, number);
    struct chip_clusters clusters;
    unsigned cores = 0;
    q.chip = chip;
    if (!p->launches || !*p->launch[number].unit || p->launch[number].cores || !chip_clusters(chip, &clusters, NULL))
        return q;
    const unsigned blocks = p->launch[number].blocks; /* each cluster has one AMX block */
    for (unsigned i = 0; i < clusters.count; i++)
        if (clusters.cluster[i].kind == CHIP_P_CORE)
            cores += blocks ? cores < blocks : clusters.cluster[i].cores;
    set_cores(&q, cores ? cores : 1);
    return q;
}

double validate_request_times(const struct validate_program *p, unsigned number)
{
    return p->launches ? p->launch[number].times : 1;
}

bool validate_request_whole(const struct validate_program *p, unsigned number)
{
    if (!p->launches || p->measure == VALIDATE_RATIO)
        return true;
    return number == 0 && p->submitted && !p->slope;
}

/* Words are quoted when a shell would read more than a word. */
static void write_word(FILE *out, const char *word)
{
    const bool plain =
        strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=,.:/@%") == strlen(word) && *word;
    if (plain) {
        fprintf(out, " %s", word);
        return;
    }
    fputs(" '", out);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, '\0'}, out);
    fputc('\'', out);
}

static void write_option(FILE *out, const char *name, const char *value)
{
    if (!value)
        return;
    fprintf(out, " --%s", name);
    write_word(out, value);
}

char *validate_request_command(const struct run_request *q, const char *chip, const struct chip_overrides *sets)
{
    char *text = NULL, number[32];
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fputs("orchard run", out);
    write_word(out, q->workload);
    write_option(out, "unit", q->unit);
    write_option(out, "precision", q->precision);
    write_option(out, "kernels", q->kernels);
    for (size_t i = 0; q->passes && i < q->passes->without_count; i++)
        write_option(out, "no-pass", q->passes->without[i]);
    write_option(out, "core", q->core_choice == SOC_P_CORE ? "p" : q->core_choice == SOC_E_CORE ? "e" : NULL);
    if (q->cores > 1) {
        snprintf(number, sizeof number, "%u", q->cores);
        write_option(out, "cores", number);
    }
    write_option(out, "chip", chip);
    write_option(out, "mode", q->mode == RUN_TIMING ? "timing" : NULL);
    write_option(out, "detail", q->detail);
    if (q->language && q->language->prompt)
        fprintf(out, " --prompt %u", q->language->prompt);
    if (q->language && (q->language->generate || q->language->prompt_alone))
        fprintf(out, " --generate %u", q->language->generate);
    if (q->cold)
        fputs(" --cold", out);
    if (q->idle_s > 0) {
        snprintf(number, sizeof number, "%.17g", q->idle_s);
        write_option(out, "idle", number);
    }
    if (q->burst.buffers)
        fprintf(out, " --burst %ux%u", q->burst.buffers, q->burst.launches);
    for (size_t i = 0; i < sets->count; i++)
        write_option(out, "set", sets->text[i]);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}
