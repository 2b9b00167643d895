/* Neural Engine programs as files: the public ones are saved to the same bytes, their ports are what containers and descriptors
 * say, programs that are made have the tasks and names that were given, and broken files are refused with the place. */
#include "isa/array_count.h"
#include "tests/isa/ane_anec_example.h"
#include "tests/isa/ane_golden.h"

#include <string.h>

static bool parse_golden(const char *file, struct ane_program *program)
{
    size_t size = 0;
    struct isa_error error = {0};
    uint8_t *bytes = ane_golden_read(file, &size);
    const bool ok = ane_program_parse(bytes, size, program, &error);
    CHECK(ok, "%s: +0x%lx %s", file, error.offset, error.text);
    CHECK(ane_program_recognise(bytes, size), "%s is recognised", file);
    free(bytes);
    return ok;
}

static void check_saved(const char *file, const struct ane_program *program)
{
    uint8_t *bytes = NULL;
    size_t size = 0;
    struct isa_error error = {0};
    CHECK(ane_program_save(program, &bytes, &size, &error), "%s: %s", file, error.text);
    CHECK(size == program->size && memcmp(bytes, program->bytes, size) == 0, "%s: other bytes", file);
    free(bytes);
}

static void test_saved(void)
{
    for (size_t i = 0; i < ANE_GOLDENS; i++) {
        struct ane_program program;
        const char *file = ane_goldens[i].file, *operation = ane_goldens[i].operation;
        if (!parse_golden(file, &program))
            continue;
        const size_t count = !strcmp(operation, "softmax")                                ? 5
                             : !strcmp(operation, "div") || !strcmp(operation, "sigmoid") ? 2
                                                                                          : 1;
        const bool hwx = strstr(file, ".hwx") != NULL;
        CHECK(program.count == count, "%s: %zu tasks", file, program.count);
        CHECK(program.container == (hwx ? ANE_CONTAINER_HWX : ANE_CONTAINER_RAW), "%s: container", file);
        CHECK(program.text_offset == (hwx ? ANE_GOLDEN_HWX_TEXT : 0) &&
                  program.const_offset == program.text_offset + (count - 1) * ANE_TD_PITCH + 0x280,
              "%s: places", file);
        CHECK(program.task[count - 1].last && program.td_offset[count - 1] == (count - 1) * ANE_TD_PITCH, "%s: chain", file);
        CHECK(!hwx || strstr(program.compiler, "zin_ane_compiler v4.2.1 -t h13"), "%s: banner", file);
        check_saved(file, &program);
        ane_program_free(&program);
    }
}

static void test_edited(void)
{
    struct ane_program program, again;
    struct isa_error error = {0};
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (!parse_golden("tinygrad/golden.1dcaecacc4.hwx.gz", &program))
        return;
    CHECK(ane_set(&program.td[0], ANE_NE_MACCFG_NONLINEAR_MODE, 1), "ReLU");
    CHECK(ane_program_save(&program, &bytes, &size, &error) && ane_program_parse(bytes, size, &again, &error), "%s", error.text);
    CHECK(again.task[0].nonlinear == ANE_RELU && program.task[0].nonlinear == ANE_LINEAR, "the change is in the file");
    free(bytes);
    ane_program_free(&again);
    CHECK(ane_set(&program.td[0], ANE_COMMON_CIN_CIN, 0), "no channels");
    CHECK(!ane_program_save(&program, &bytes, &size, &error) && error.offset == 0x4134, "+0x%lx %s", error.offset, error.text);
    ane_program_free(&program);
}

static void check_port(const struct ane_program *program, unsigned bar, enum ane_port_kind kind, const char *name, uint64_t bytes,
                       uint32_t channels, uint32_t height, uint32_t width)
{
    const struct ane_port *port = &program->port[bar];
    CHECK(port->kind == kind && strcmp(port->name, name) == 0, "slot %u: kind %d, %s", bar, (int)port->kind, port->name);
    CHECK(port->bytes == bytes, "slot %u: %llu bytes", bar, (unsigned long long)port->bytes);
    CHECK(port->channels == channels && port->height == height && port->width == width, "slot %u: %u x %u x %u", bar,
          port->channels, port->height, port->width);
}

static void test_ports(void)
{
    struct ane_program program;
    if (parse_golden("tinygrad/relu.da873cd556.hwx.gz", &program)) {
        check_port(&program, 5, ANE_PORT_INPUT, "image", 0x40, 1, 1, 16);
        check_port(&program, 4, ANE_PORT_OUTPUT, "probs@output", 0x40, 1, 1, 16);
        check_port(&program, 0, ANE_PORT_COMMAND, "command", 0x274, 0, 0, 0);
        ane_program_free(&program);
    }
    if (parse_golden("tinygrad/sum.6ca449afd2.hwx.gz", &program)) {
        check_port(&program, 5, ANE_PORT_INPUT, "image2", 0x1000, 64, 1, 1);
        check_port(&program, 6, ANE_PORT_INPUT, "image", 0x1000, 64, 1, 1);
        check_port(&program, 4, ANE_PORT_OUTPUT, "probs@output", 0x1000, 64, 1, 1);
        CHECK(program.port[4].row == 0x40 && program.port[4].plane == 0x40 && program.port[4].format == ANE_F16, "strides");
        ane_program_free(&program);
    }
    if (parse_golden("eiln/activation_softmax.bin.gz", &program)) {
        check_port(&program, 1, ANE_PORT_COEFFICIENTS, "coefficients", 0x80, 0, 0, 0);
        check_port(&program, 3, ANE_PORT_SCRATCH, "scratch0", 0x7d0000, 1, 2560, 1600);
        check_port(&program, 4, ANE_PORT_OUTPUT, "output0", 0x7d0000, 1, 2560, 1600);
        check_port(&program, 5, ANE_PORT_INPUT, "input0", 0x7d0000, 1, 2560, 1600);
        CHECK(program.port[5].row == 0xc80 && program.port[5].plane == 0x7d0000, "strides");
        ane_program_free(&program);
    }
}

/* ---- made programs ---- */

static struct ane_program_parts parts_of(const struct ane_program *program, enum ane_container container)
{
    struct ane_program_parts parts = {.container = container,
                                      .generation = ANE_H13,
                                      .task = program->task,
                                      .count = program->count,
                                      .coefficients = program->bytes + program->const_offset,
                                      .coefficient_bytes = program->const_bytes};
    return parts;
}

static void check_made(const char *file, const struct ane_program *program, enum ane_container container)
{
    struct ane_program made;
    struct isa_error error = {0};
    struct ane_program_parts parts = parts_of(program, container);
    memcpy(parts.port, program->port, sizeof parts.port);
    const bool ok = ane_program_make(&parts, &made, &error);
    CHECK(ok, "%s: %s", file, error.text);
    if (!ok)
        return;
    CHECK(made.container == container && made.count == program->count &&
              memcmp(made.td, program->td, made.count * sizeof *made.td) == 0,
          "%s: the same descriptors", file);
    CHECK(made.const_bytes >= program->const_bytes &&
              memcmp(made.bytes + made.const_offset, program->bytes + program->const_offset, program->const_bytes) == 0,
          "%s: the same coefficients", file);
    if (container == ANE_CONTAINER_HWX) {
        CHECK(made.compiler && strstr(made.compiler, "orchard"), "%s: our banner", file);
        for (unsigned i = 0; i < ANE_BARS; i++)
            if (program->port[i].kind != ANE_PORT_COEFFICIENTS)
                CHECK(memcmp(&made.port[i], &program->port[i], sizeof made.port[i]) == 0, "%s: port %u", file, i);
    }
    check_saved(file, &made);
    ane_program_free(&made);
}

static void test_made(void)
{
    for (size_t i = 0; i < ANE_GOLDENS; i++) {
        struct ane_program program;
        if (!parse_golden(ane_goldens[i].file, &program))
            continue;
        check_made(ane_goldens[i].file, &program, ANE_CONTAINER_RAW);
        check_made(ane_goldens[i].file, &program, ANE_CONTAINER_HWX);
        ane_program_free(&program);
    }
}

static void test_made_ports(void)
{
    struct ane_program program, made;
    struct isa_error error = {0};
    if (!parse_golden("eiln/binary_div.bin.gz", &program))
        return;
    struct ane_program_parts parts = parts_of(&program, ANE_CONTAINER_HWX);
    parts.generation = ANE_H15;
    parts.port[5] = (struct ane_port){.kind = ANE_PORT_INPUT, .name = "dividend", .bytes = 0x800000};
    CHECK(ane_program_make(&parts, &made, &error), "%s", error.text);
    CHECK(made.generation == ANE_H15, "generation");
    check_port(&made, 5, ANE_PORT_INPUT, "dividend", 0x800000, 1, 2560, 1600);
    check_port(&made, 6, ANE_PORT_INPUT, "input1", 0x7d0000, 1, 2560, 1600);
    check_port(&made, 3, ANE_PORT_SCRATCH, "scratch0", 0x7d0000, 1, 2560, 1600);
    ane_program_free(&made);

    strcpy(parts.port[5].name, "a:b");
    CHECK(!ane_program_make(&parts, &made, &error) && strstr(error.text, "colons"), "%s", error.text);
    strcpy(parts.port[5].name, "output0");
    CHECK(!ane_program_make(&parts, &made, &error) && strstr(error.text, "two ports"), "%s", error.text);
    parts.container = ANE_CONTAINER_ANEC;
    CHECK(!ane_program_make(&parts, &made, &error), "no .anec is made");
    parts.container = ANE_CONTAINER_RAW;
    parts.coefficient_bytes = 0x40;
    CHECK(!ane_program_make(&parts, &made, &error) && strstr(error.text, "bank 0 of task 0 ends at 0x80"), "%s", error.text);
    parts.count = 0;
    CHECK(!ane_program_make(&parts, &made, &error), "no tasks");
    ane_program_free(&program);
}

/* ---- .anec: the header as eiln/anecc writes it ---- */

static uint8_t *make_anec(const struct ane_program *raw, size_t header, size_t *size)
{
    *size = header + raw->const_offset + raw->const_bytes;
    uint8_t *bytes = anec_make(raw, header, *size);
    if (!bytes)
        abort();
    for (unsigned slot = 3; slot <= 5; slot++)
        anec_put(bytes + 40 + 4 * slot, 500, 4);
    for (unsigned slot = 4; slot <= 5; slot++) {
        static const uint32_t shape[6] = {1, 1, 2560, 1600, 0x7d0000, 0xc80};
        for (unsigned i = 0; i < 6; i++)
            anec_put(bytes + 168 + 48 * slot + 8 * i, shape[i], 8);
    }
    return bytes;
}

static void test_anec(void)
{
    static const size_t headers[] = {0x1000, 0x800};
    struct ane_program raw, program;
    struct isa_error error = {0};
    if (!parse_golden("eiln/activation_softmax.bin.gz", &raw))
        return;
    for (size_t i = 0; i < 2; i++) {
        size_t size = 0;
        uint8_t *bytes = make_anec(&raw, headers[i], &size);
        CHECK(ane_program_recognise(bytes, size) && ane_program_parse(bytes, size, &program, &error), "%s", error.text);
        CHECK(program.container == ANE_CONTAINER_ANEC && program.count == 5 && program.text_offset == headers[i] &&
                  program.const_offset == headers[i] + raw.const_offset && program.const_bytes == 0x80,
              "places");
        check_port(&program, 4, ANE_PORT_OUTPUT, "output0", 500 * 0x4000, 1, 2560, 1600);
        check_port(&program, 3, ANE_PORT_SCRATCH, "scratch0", 0x7d0000, 1, 2560, 1600);
        check_saved(".anec", &program);
        ane_program_free(&program);
        anec_put(bytes + 16, size, 8);
        CHECK(!ane_program_parse(bytes, size, &program, &error) && error.offset == 16, "%s", error.text);
        anec_put(bytes + 16, raw.text_bytes, 8);
        anec_put(bytes + 24, UINT64_MAX, 8);
        CHECK(!ane_program_parse(bytes, size, &program, &error) && error.offset == 24, "%s", error.text);
        anec_put(bytes + 24, raw.const_bytes, 8);
        anec_put(bytes + 32, 0xffffffff, 4);
        CHECK(!ane_program_parse(bytes, size, &program, &error) && error.offset == 32, "%s", error.text);
        free(bytes);
    }
    ane_program_free(&raw);
}

/* ---- broken files ---- */

struct breakage {
    const char *file;
    unsigned at, bytes;
    uint64_t value;
    unsigned long offset;
    const char *says;
};

static void test_broken(void)
{
    static const struct breakage breakages[] = {
        {"eiln/activation_softmax.bin.gz", 0x1c, 4, 0x1, 0x1c, "loops or overlaps"},
        {"eiln/activation_softmax.bin.gz", 0x91c, 4, 0x300, 0x91c, "loops or overlaps"},
        {"eiln/activation_softmax.bin.gz", 0x61c, 4, 0x800, 0x61c, "loops or overlaps"},
        {"eiln/activation_softmax.bin.gz", 0x1c, 4, 0x302, 0x1c, "not on a word"},
        {"eiln/activation_softmax.bin.gz", 0x1c, 4, 0xfffffffc, 0x1c, "does not fit"},
        {"eiln/activation_softmax.bin.gz", 0x1c, 4, 0x3000, 0x1c, "does not fit"},
        {"eiln/activation_softmax.bin.gz", 0x6b4, 4, 0xc0, 0x674, "bank 0 of task 2 ends at 0xc0 of 0x80"},
        {"eiln/activation_softmax.bin.gz", 0x674, 4, 0xffffffc0, 0x674, "bank 0 of task 2"},
        {"eiln/activation_softmax.bin.gz", 0xc03, 1, 0x01, 0xc08, "LogEvents"},
        {"eiln/activation_relu.bin.gz", 0x28, 4, 0xf4011000, 0, "no Neural Engine program"},
        {"eiln/activation_relu.bin.gz", 0x178, 4, 0xffffffc0, 0x174, "4 GB"},
        {"tinygrad/conv.ff52f832dc.hwx.gz", 0, 4, 0xfeedfacf, 0, "no Neural Engine program"},
        {"tinygrad/conv.ff52f832dc.hwx.gz", 4, 4, 12, 4, "processor"},
        {"tinygrad/conv.ff52f832dc.hwx.gz", 8, 4, 3, 8, "H12"},
        {"tinygrad/conv.ff52f832dc.hwx.gz", 8, 4, 9, 8, "generation 9"},
        {"tinygrad/conv.ff52f832dc.hwx.gz", 16, 4, 1000, 0xe08, "is not there"},
        {"tinygrad/conv.ff52f832dc.hwx.gz", 20, 4, 0xfffffff0, 20, "load commands of"},
        {"tinygrad/conv.ff52f832dc.hwx.gz", 0x24, 4, 7, 0x24, "load command 0"},
        {"tinygrad/conv.ff52f832dc.hwx.gz", 0x24, 4, 0x7ffffff8, 0x24, "load command 0"},
        {"tinygrad/conv.ff52f832dc.hwx.gz", 0xa8, 4, 3, 0xa8, "3 sections"},
        {"tinygrad/conv.ff52f832dc.hwx.gz", 0xd8, 8, UINT64_MAX, 0xe0, "section of"},
        {"tinygrad/conv.ff52f832dc.hwx.gz", 0xd8, 8, 0x100, 0x4000, "does not fit the 256 bytes"},
        {"tinygrad/conv.ff52f832dc.hwx.gz", 0xb2, 1, 'x', 16, "no section __text"},
        {"tinygrad/conv.ff52f832dc.hwx.gz", 0x128, 8, 0x80, 0x407c, "bank 2 of task 0"},
        {"tinygrad/conv.ff52f832dc.hwx.gz", 0x4128, 4, 0, 0x4128, "Win is 0"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(breakages); i++) {
        const struct breakage *b = &breakages[i];
        struct ane_program program;
        struct isa_error error = {0};
        size_t size = 0;
        uint8_t *bytes = ane_golden_read(b->file, &size);
        anec_put(bytes + b->at, b->value, b->bytes);
        CHECK(!ane_program_parse(bytes, size, &program, &error), "%s with 0x%llx at 0x%x is taken", b->file,
              (unsigned long long)b->value, b->at);
        CHECK(error.offset == b->offset && strstr(error.text, b->says), "%s with 0x%llx at 0x%x: +0x%lx %s", b->file,
              (unsigned long long)b->value, b->at, error.offset, error.text);
        free(bytes);
    }
}

static void check_any(const uint8_t *bytes, size_t size, const char *what)
{
    struct ane_program program;
    struct isa_error error = {0};
    uint8_t *exact = malloc(size ? size : 1); /* for the address sanitizer */
    memcpy(exact, bytes, size);
    if (ane_program_parse(exact, size, &program, &error)) {
        check_saved(what, &program);
        ane_program_free(&program);
    } else {
        CHECK(error.text[0] && !strchr(error.text, '\n') && error.offset <= size, "%s: +0x%lx of 0x%zx: %s", what, error.offset,
              size, error.text);
        CHECK(program.bytes == NULL && program.td == NULL, "%s: nothing is left behind", what);
    }
    free(exact);
}

static void test_cut(void)
{
    static const char *const files[] = {"eiln/activation_softmax.bin.gz", "tinygrad/sum.6ca449afd2.hwx.gz"};
    for (size_t i = 0; i < 2; i++) {
        size_t size = 0;
        uint8_t *bytes = ane_golden_read(files[i], &size);
        for (size_t cut = 0; cut < size; cut += cut < 0x1400 ? 5 : 997)
            check_any(bytes, cut, files[i]);
        free(bytes);
    }
}

static void test_scrambled(void)
{
    uint64_t seed = 11;
    for (size_t i = 0; i < ANE_GOLDENS; i++) {
        size_t size = 0;
        uint8_t *bytes = ane_golden_read(ane_goldens[i].file, &size), *copy = malloc(size);
        const size_t busy = strstr(ane_goldens[i].file, ".hwx") ? 0x1300 : size < 0x1000 ? size : 0x1000;
        for (unsigned n = 0; n < 300; n++) {
            memcpy(copy, bytes, size);
            for (unsigned k = 0; k <= n % 4; k++) {
                const uint64_t r = suite_random(&seed);
                copy[r % busy] = (uint8_t)(r >> 40 & 1 ? r >> 48 : 0xff);
            }
            check_any(copy, size, ane_goldens[i].file);
        }
        free(copy);
        free(bytes);
    }
}

static const struct suite_test tests[] = {
    {"public programs read and save to the same bytes", test_saved},
    {"a changed descriptor is saved", test_edited},
    {"ports of containers and of raw streams", test_ports},
    {"programs made of the same tasks", test_made},
    {"ports of made programs", test_made_ports},
    {".anec", test_anec},
    {"broken files are refused at the place", test_broken},
    {"cut files", test_cut},
    {"scrambled files", test_scrambled},
};
SUITE_MAIN("ane_program", tests)
