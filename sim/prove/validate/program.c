#include "sim/prove/validate/program.h"

#include "isa/amx/amx_isa.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* So many that start and end (set, first latencies) stay below 0.1 %. */
#define LOOP_INSTRUCTIONS 48000

void validate_program_free(struct validate_program *program)
{
    free(program->code);
    free(program->patch);
    free(program->gpu.text);
    if (program->less)
        validate_program_free(program->less);
    free(program->less);
    *program = (struct validate_program){0};
}

bool validate_refuse(struct validate_row *row, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(row->why, sizeof row->why, format, args);
    va_end(args);
    return false;
}

bool validate_replace_code(struct validate_program *program, struct emit *e)
{
    if (e->failed || !e->word) {
        emit_free(e);
        return false;
    }
    free(program->code);
    program->code = e->word;
    program->words = e->count;
    return true;
}

bool validate_take_code(struct validate_row *row, struct validate_program *program, struct emit *e)
{
    return validate_replace_code(program, e) || validate_refuse(row, "out of memory");
}

struct validate_program *validate_less(struct validate_program *program, double times)
{
    program->less = calloc(1, sizeof *program->less);
    program->times = times;
    if (program->less)
        memcpy(program->less->chip, program->chip, sizeof program->chip);
    return program->less;
}

bool validate_build_amx_loop(struct validate_row *row, struct validate_program *program, unsigned op, const uint64_t *operands,
                             unsigned n, double per_instruction)
{
    struct emit e = {0};
    unsigned turns = 1;
    while (turns * n < 8)
        turns *= 2;
    const uint64_t loops = LOOP_INSTRUCTIONS / (turns * n);
    emit_amx_enable(&e, true);
    for (unsigned i = 0; i < n; i++)
        emit_constant(&e, 1 + i, operands[i]);
    const size_t top = emit_loop(&e, 0, loops);
    for (unsigned turn = 0; turn < turns; turn++)
        for (unsigned i = 0; i < n; i++)
            emit_amx(&e, op, 1 + i);
    emit_loop_end(&e, 0, top);
    emit_amx_enable(&e, false);
    emit_exit(&e);
    program->work = (double)loops * turns * n * per_instruction;
    return validate_take_code(row, program, &e);
}

static double joules_of(const struct validate_program *program, const struct validate_timing *timing)
{
    double sum = 0;
    for (unsigned d = 0; d < POWER_DOMAIN_COUNT; d++)
        if (!program->domains || program->domains & 1u << d)
            sum += timing->joules[d];
    return sum;
}

static double value_alone(const struct validate_program *program, const struct validate_timing *timing)
{
    const double threads = program->workload[0] ? 1 : timing->threads;
    double sum = 0, cycles = 0;
    for (unsigned i = 0; i < timing->threads && i < VALIDATE_MAX_THREADS; i++) {
        if (timing->thread_seconds[i] > 0)
            sum += program->work / timing->thread_seconds[i] / 1e9;
        cycles = timing->thread_cycles[i] > cycles ? timing->thread_cycles[i] : cycles;
    }
    const double joules = joules_of(program, timing);
    switch (program->measure) {
    case VALIDATE_WATTS: return joules / timing->seconds / program->work;
    case VALIDATE_JOULES: return joules / program->work;
    case VALIDATE_WORK_PER_JOULE: return program->work / joules / 1e9;
    case VALIDATE_RATE: return threads * program->work / timing->seconds / 1e9;
    case VALIDATE_RATE_SUM: return sum;
    case VALIDATE_NS_PER_WORK: return timing->seconds * 1e9 / program->work;
    case VALIDATE_CYCLES_PER_WORK: return cycles / program->work;
    case VALIDATE_WORK_PER_CYCLE: return program->work / cycles;
    case VALIDATE_RATIO: return timing->thread_seconds[1] / timing->thread_seconds[0];
    }
    return 0;
}

double validate_value(const struct validate_program *program, const struct validate_timing *timing)
{
    if (program->search.build)
        return (timing->found + program->search.more) * program->search.unit;
    const double value = value_alone(program, timing);
    return program->less ? (value - timing->less) * program->times : value;
}
