/* Neural Engine programs: a file parses to a program that is saved to the same bytes and can be made anew, or is refused in one
 * line with the place. An input that is recognised as a program is taken as it is. Any other is a list of patches (offset, value)
 * of a .hwx, a raw stream or a .anec of two tasks.
 */
#include "tests/isa/ane_anec_example.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void make_again(const struct ane_program *program)
{
    struct ane_program_parts parts = {.container = ANE_CONTAINER_HWX,
                                      .generation = program->generation,
                                      .task = program->task,
                                      .count = program->count,
                                      .coefficients = program->bytes + program->const_offset,
                                      .coefficient_bytes = program->const_bytes};
    struct ane_program made;
    struct isa_error error;
    memset(&error, 0, sizeof error);
    memcpy(parts.port, program->port, sizeof parts.port);
    if (ane_program_make(&parts, &made, &error)) {
        require(made.count == program->count);
        ane_program_free(&made);
    } else {
        require(error.text[0] && !strchr(error.text, '\n'));
    }
}

static void try_file(const uint8_t *file, size_t size)
{
    struct ane_program program;
    struct isa_error error;
    uint8_t *saved = NULL;
    size_t saved_size = 0;
    memset(&error, 0, sizeof error);
    ane_program_recognise(file, size);
    if (!ane_program_parse(file, size, &program, &error)) {
        require(error.text[0] && !strchr(error.text, '\n') && error.offset <= size);
        return;
    }
    require(ane_program_save(&program, &saved, &saved_size, &error) && saved_size == size && memcmp(saved, file, size) == 0);
    make_again(&program);
    free(saved);
    ane_program_free(&program);
}

static bool good_program(enum ane_container container, struct ane_program *program)
{
    static const uint8_t coefficients[256] = {0x00, 0x3c};
    const struct ane_operand dram = {
        .place = ANE_PLACE_DRAM, .format = ANE_F16, .bar = 5, .row = 64, .plane = 512, .depth = 1024};
    struct ane_task task[2] = {{.width_in = 8,
                                .height_in = 8,
                                .channels_in = 2,
                                .width_out = 8,
                                .height_out = 8,
                                .channels_out = 2,
                                .groups = 1,
                                .tile_height = 8,
                                .engines = 2,
                                .kernel_width = 1,
                                .kernel_height = 1,
                                .stride_x = 1,
                                .stride_y = 1,
                                .step_x = 1,
                                .step_y = 1,
                                .source = dram,
                                .result = dram,
                                .post_scale = 1,
                                .kernel_format = ANE_KERNEL_F16,
                                .bank = {{true, 0, 64}, {true, 64, 64}}}};
    struct ane_program_parts parts = {.container = container,
                                      .generation = ANE_H13,
                                      .task = task,
                                      .count = 2,
                                      .coefficients = coefficients,
                                      .coefficient_bytes = sizeof coefficients};
    struct isa_error error;
    task[1] = task[0];
    task[0].result.bar = task[1].source.bar = 3;
    task[1].result.bar = 4;
    return ane_program_make(&parts, program, &error);
}

enum { ANEC_HEADER = 0x800 }; /* where eiln/anecc puts the stream */

static uint8_t *good_file(unsigned kind, size_t *size)
{
    struct ane_program program;
    uint8_t *bytes = NULL;
    if (!good_program(kind == 0 ? ANE_CONTAINER_HWX : ANE_CONTAINER_RAW, &program))
        return NULL;
    if (kind == 2) {
        *size = ANEC_HEADER + program.size;
        bytes = anec_make(&program, ANEC_HEADER, *size);
    } else if ((bytes = malloc(program.size))) {
        memcpy(bytes, program.bytes, program.size);
        *size = program.size;
    }
    ane_program_free(&program);
    return bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || ane_program_recognise(data, size)) {
        try_file(data, size);
        return 0;
    }
    size_t file_size = 0;
    uint8_t *file = good_file(data[0] % 3, &file_size);
    require(file != NULL);
    try_file(data, size);
    for (size_t i = 1; i + 3 <= size; i += 3) {
        const size_t at = (size_t)data[i] | (size_t)data[i + 1] << 8;
        file[at % file_size] = data[i + 2];
    }
    try_file(file, file_size);
    free(file);
    return 0;
}
