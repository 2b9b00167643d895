/* Containers of our own. They have the load commands that Apple's compiler writes, so that the same tools read them, and a banner
 * that says who wrote them. */
#include "isa/rounding.h"
#include "isa/ane/ane_bytes.h"
#include "isa/ane/ane_hwx.h"
#include "isa/ane/ane_program_parts.h"
#include "isa/array_count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NETWORK "net"
#define BANNER  "ANEC v1\norchard\n\t-t h%d\n"

/* A failed allocation is remembered, and nothing is written from then on. */
struct writer {
    uint8_t *bytes;
    size_t used, room, commands;
    bool failed;
};

/* The texts of debugging symbols: the types as the containers number them, then one for each port. */
static const char *const types[] = {
    "void:t1=1",       "int8:t2=r2;0;127",     "uint8:t3=r1;0;255", "int16:t4=r1;-32768;32767", "float16:t5=r1;2;0",
    "float:t6=r1;4;0", "raw10:t7=r1;-512;511", "lut:t8=",           "uint4:t9=r1;0;15",         "uint6:t10=r1;0;63"};
enum { TYPES = ARRAY_COUNT(types), SYMBOL_EXTERNAL = 15, SYMBOL_TYPE = 128, SYMBOL_TENSOR = 32, PORT_TYPES = 5 };

/* Adds zeroed room at the end. Returns its offset, since the buffer may move. */
static size_t add(struct writer *w, size_t bytes)
{
    const size_t at = w->used;
    if (w->failed)
        return 0;
    if (bytes > w->room - w->used) {
        const size_t room = 2 * w->room + bytes + 4096;
        uint8_t *more = calloc(room, 1);
        if (!more) {
            w->failed = true;
            return 0;
        }
        if (at)
            memcpy(more, w->bytes, at);
        free(w->bytes);
        w->bytes = more;
        w->room = room;
    }
    ane_clear_sparse(w->bytes + at, bytes);
    w->used += bytes;
    return at;
}

static void set32(struct writer *w, size_t at, uint32_t value)
{
    if (!w->failed)
        ane_put32(w->bytes + at, value);
}

static void set64(struct writer *w, size_t at, uint64_t value)
{
    if (!w->failed)
        ane_put64(w->bytes + at, value);
}

static void set_text(struct writer *w, size_t at, const char *text)
{
    if (!w->failed)
        memcpy(w->bytes + at, text, strlen(text));
}

static size_t add_command(struct writer *w, uint32_t kind, size_t bytes)
{
    bytes = (size_t)round_up(bytes, 8);
    const size_t at = add(w, bytes);
    set32(w, at, kind);
    set32(w, at + 4, (uint32_t)bytes);
    w->commands++;
    return at;
}

/* ---- segments ---- */

struct segment {
    const char *name;
    uint64_t address, bytes, file, file_bytes;
    uint32_t protection, sections, flags;
};

static size_t add_segment(struct writer *w, const struct segment *segment)
{
    const size_t at = add_command(w, HWX_LC_SEGMENT, SEGMENT_SIZE + (size_t)SECTION_SIZE * segment->sections);
    set_text(w, at + SEGMENT_NAME, segment->name);
    set64(w, at + SEGMENT_ADDRESS, segment->address);
    set64(w, at + SEGMENT_BYTES, segment->bytes);
    set64(w, at + SEGMENT_FILE, segment->file);
    set64(w, at + SEGMENT_FILE_BYTES, segment->file_bytes);
    set32(w, at + SEGMENT_MOST, segment->protection);
    set32(w, at + SEGMENT_FIRST, segment->protection);
    set32(w, at + SEGMENT_SECTIONS, segment->sections);
    set32(w, at + SEGMENT_FLAGS, segment->flags);
    return at + SEGMENT_SIZE;
}

static void set_section(struct writer *w, size_t at, const char *name, const char *segment, uint64_t address, uint64_t bytes,
                        uint64_t file, uint32_t align, uint32_t flags)
{
    set_text(w, at + SECTION_NAME, name);
    set_text(w, at + SECTION_SEGMENT, segment);
    set64(w, at + SECTION_ADDRESS, address);
    set64(w, at + SECTION_BYTES, bytes);
    set32(w, at + SECTION_FILE, (uint32_t)file);
    set32(w, at + SECTION_ALIGN, align);
    set32(w, at + SECTION_FLAGS, flags);
}

static uint64_t text_room(const struct ane_image *image)
{
    return round_up(image->size, ANE_PAGE);
}

static void add_text(struct writer *w, const struct ane_image *image, size_t file)
{
    const struct segment zero = {.name = "__PAGEZERO", .bytes = ANE_PAGE, .flags = 4};
    const struct segment text = {"__TEXT", ANE_TEXT_ADDRESS, text_room(image), file, text_room(image), 5, 2, 0};
    add_segment(w, &zero);
    const size_t at = add_segment(w, &text);
    set_section(w, at, "__text", "__TEXT", ANE_TEXT_ADDRESS, image->text_bytes, file, 14, 0x28);
    set_section(w, at + SECTION_SIZE, "__const", "__TEXT", ANE_TEXT_ADDRESS + image->const_offset,
                image->size - image->const_offset, file + image->const_offset, 6, 0x26);
}

static bool is_tensor(const struct ane_port *port)
{
    return port->kind == ANE_PORT_INPUT || port->kind == ANE_PORT_OUTPUT;
}

static bool is_buffer(const struct ane_port *port)
{
    return is_tensor(port) || port->kind == ANE_PORT_SCRATCH;
}

static void add_port_segment(struct writer *w, const struct ane_port *port, uint64_t address)
{
    const bool input = port->kind == ANE_PORT_INPUT, scratch = port->kind == ANE_PORT_SCRATCH;
    const char *name = scratch ? "__DATA" : "__FVMLIB";
    const struct segment segment = {.name = name,
                                    .address = address,
                                    .bytes = round_up(port->bytes, ANE_PAGE),
                                    .protection = scratch ? PROTECTION_SCRATCH
                                                  : input ? PROTECTION_READ
                                                          : PROTECTION_WRITE,
                                    .sections = 1,
                                    .flags = scratch ? 4 : 6};
    const size_t at = add_segment(w, &segment);
    set_section(w, at,
                input     ? "__const"
                : scratch ? "__bss"
                          : "__data",
                name, address, port->bytes, 0, 14,
                input     ? 0x21
                : scratch ? 0x22
                          : 0x23);
}

/* Buffers follow the text in the order of their slots. */
static void place_ports(const struct ane_image *image, const struct ane_program *program, uint64_t address[ANE_BARS])
{
    uint64_t next = ANE_TEXT_ADDRESS + text_room(image);
    for (unsigned i = 0; i < ANE_BARS; i++) {
        const struct ane_port *port = &program->port[i];
        address[i] = port->kind == ANE_PORT_COMMAND        ? ANE_TEXT_ADDRESS
                     : port->kind == ANE_PORT_COEFFICIENTS ? ANE_TEXT_ADDRESS + image->const_offset
                                                           : 0;
        if (is_buffer(port)) {
            address[i] = next;
            next += round_up(port->bytes, ANE_PAGE);
        }
    }
}

/* ---- ports ---- */

static void add_port_name(struct writer *w, const struct ane_port *port, uint64_t address)
{
    const size_t at = add_command(w, HWX_LC_PORT, PORT_SIZE + strlen(port->name) + 1);
    set32(w, at + PORT_NAME, PORT_SIZE);
    set32(w, at + PORT_ADDRESS, (uint32_t)address);
    set_text(w, at + PORT_SIZE, port->name);
}

static void add_procedure(struct writer *w, const struct ane_program *program, const uint64_t address[ANE_BARS])
{
    const size_t at = add_command(w, HWX_LC_THREAD, PROCEDURE_SIZE);
    uint32_t ports = 0;
    set32(w, at + THREAD_FLAVOUR, PROCEDURE);
    set32(w, at + THREAD_WORDS, (PROCEDURE_TEXT - 16) / 4);
    for (unsigned i = 0; i < ANE_BARS; i++) {
        set64(w, at + PROCEDURE_BARS + 8 * i, address[i]);
        ports += is_tensor(&program->port[i]);
    }
    set64(w, at + PROCEDURE_ENTRY, ANE_TEXT_ADDRESS);
    set32(w, at + PROCEDURE_TD_WORDS, ANE_TD_WORDS - 1);
    set32(w, at + PROCEDURE_TDS, (uint32_t)program->count);
    set32(w, at + PROCEDURE_QUEUE, 0xffff);
    set32(w, at + PROCEDURE_NAME, PROCEDURE_TEXT);
    set32(w, at + PROCEDURE_PORTS, ports + 1);
    set_text(w, at + PROCEDURE_TEXT, NETWORK);
}

static uint32_t type_of(enum ane_format format)
{
    return format == ANE_I8 ? HWX_I8 : format == ANE_U8 ? HWX_U8 : HWX_F16;
}

static uint64_t depth_stride(const struct ane_port *port)
{
    return (uint64_t)port->plane * port->channels;
}

static void add_tensor(struct writer *w, const struct ane_port *port)
{
    const size_t length = strlen(port->name) + 1, names = TENSOR_TEXT + sizeof NETWORK;
    const size_t at = add_command(w, HWX_LC_THREAD, names + 2 * length);
    set32(w, at + THREAD_FLAVOUR, TENSOR);
    set32(w, at + THREAD_WORDS, TENSOR_WORDS);
    set32(w, at + TENSOR_KIND, 3);
    set32(w, at + TENSOR_DIRECTION, port->kind == ANE_PORT_INPUT ? DIRECTION_IN : DIRECTION_OUT);
    set32(w, at + TENSOR_NETWORK, TENSOR_TEXT);
    set32(w, at + TENSOR_NAME, (uint32_t)names);
    set32(w, at + TENSOR_TYPE, type_of(port->format));
    set32(w, at + TENSOR_N, 1);
    set32(w, at + TENSOR_C, port->channels);
    set32(w, at + TENSOR_H, port->height);
    set32(w, at + TENSOR_W, port->width);
    set32(w, at + TENSOR_D, 1);
    set64(w, at + TENSOR_DEPTH_STRIDE, depth_stride(port));
    set64(w, at + TENSOR_PLANE, port->plane);
    set64(w, at + TENSOR_ROW, port->row);
    set32(w, at + TENSOR_ELEMENT, ane_format_bytes(port->format));
    set64(w, at + TENSOR_BYTES, port->bytes);
    set32(w, at + TENSOR_ONE, 1);
    set32(w, at + TENSOR_NAME_AGAIN, (uint32_t)(names + length));
    set64(w, at + TENSOR_TOUCHED, port->bytes);
    set_text(w, at + TENSOR_TEXT, NETWORK);
    set_text(w, at + names, port->name);
    set_text(w, at + names + length, port->name);
}

/* ---- symbols ---- */

struct symbols {
    struct writer table, text;
    uint32_t count;
};

static void add_symbol(struct symbols *s, uint8_t kind, uint8_t section, uint16_t description, uint64_t address, const char *text)
{
    const size_t at = add(&s->table, SYMBOL_SIZE), name = add(&s->text, strlen(text) + 1);
    set_text(&s->text, name, text);
    set32(&s->table, at, (uint32_t)name);
    set32(&s->table, at + 4, kind | (uint32_t)section << 8 | (uint32_t)description << 16);
    set64(&s->table, at + 8, address);
    s->count++;
}

static void add_tensor_symbol(struct symbols *s, const struct ane_port *port, unsigned number)
{
    const unsigned t = TYPES + 1 + number * PORT_TYPES;
    char text[256];
    snprintf(text, sizeof text, "%s:t%u=ar1;0;1;%u=s%llun:ar1;0;%u;%u=s%uc:ar1;0;%u;%u=s%uh:ar1;0;%u;%u=s%uw:%u", port->name, t,
             t + 1, (unsigned long long)depth_stride(port), port->channels, t + 2, port->plane, port->height, t + 3, port->row,
             port->width, t + 4, ane_format_bytes(port->format), type_of(port->format));
    add_symbol(s, SYMBOL_TENSOR, 0, (uint16_t)t, 0, text);
}

static void collect_symbols(struct symbols *s, const struct ane_program *program, const uint64_t address[ANE_BARS])
{
    unsigned section = 3, number = 0; /* after __text and __const */
    add(&s->text, 1);
    for (unsigned i = 0; i < ANE_BARS; i++) {
        const struct ane_port *port = &program->port[i];
        if (is_tensor(port))
            add_symbol(s, SYMBOL_EXTERNAL, (uint8_t)section, port->kind == ANE_PORT_INPUT ? 2 : 0, address[i], port->name);
        section += is_buffer(port);
    }
    for (unsigned i = 0; i < TYPES; i++)
        add_symbol(s, SYMBOL_TYPE, 0, 0, 0, types[i]);
    /* Sources come first, as eiln/anecc expects. */
    for (unsigned i = 0; i < 2 * ANE_BARS; i++) {
        const struct ane_port *port = &program->port[i % ANE_BARS];
        if (port->kind == (i < ANE_BARS ? ANE_PORT_INPUT : ANE_PORT_OUTPUT))
            add_tensor_symbol(s, port, number++);
    }
}

static void append(struct writer *w, const struct writer *part)
{
    const size_t at = add(w, part->used);
    w->failed = w->failed || part->failed;
    if (!w->failed && part->used)
        memcpy(w->bytes + at, part->bytes, part->used);
}

/* ---- the file ---- */

static void add_header(struct writer *w, enum ane_generation generation)
{
    add(w, HWX_HEADER);
    set32(w, 0, ANE_HWX_MAGIC);
    set32(w, 4, HWX_CPU);
    set32(w, 8, 4 + (uint32_t)generation - ANE_H13);
    set32(w, 12, HWX_FILETYPE);
    set32(w, 24, HWX_FLAGS);
}

static void add_commands(struct writer *w, const struct ane_image *image, const struct ane_program *program,
                         const uint64_t address[ANE_BARS], size_t file)
{
    char banner[64];
    snprintf(banner, sizeof banner, BANNER, (int)program->generation);
    add_text(w, image, file);
    for (unsigned i = 0; i < ANE_BARS; i++)
        if (is_buffer(&program->port[i]))
            add_port_segment(w, &program->port[i], address[i]);
    for (unsigned i = 0; i < ANE_BARS; i++)
        if (is_tensor(&program->port[i]))
            add_port_name(w, &program->port[i], address[i]);
    add_procedure(w, program, address);
    for (unsigned i = 0; i < ANE_BARS; i++)
        if (is_tensor(&program->port[i]))
            add_tensor(w, &program->port[i]);
    const size_t at = add_command(w, HWX_LC_BANNER, 8 + strlen(banner) + 1);
    set_text(w, at + 8, banner);
}

static void add_symbols(struct writer *w, struct symbols *s)
{
    const size_t at = add_command(w, HWX_LC_SYMBOLS, SYMBOLS_SIZE);
    set32(w, at + SYMBOLS_AT, (uint32_t)w->used);
    set32(w, at + SYMBOLS_COUNT, s->count);
    set32(w, at + SYMBOLS_TEXT, (uint32_t)(w->used + s->table.used));
    set32(w, at + SYMBOLS_TEXT_BYTES, (uint32_t)s->text.used);
    set32(w, 16, (uint32_t)w->commands);
    set32(w, 20, (uint32_t)(w->used - HWX_HEADER));
    append(w, &s->table);
    append(w, &s->text);
}

/* Names stand in debugging symbols, where a colon ends them. */
static bool good_name(const char *name)
{
    for (; *name; name++)
        if (*name <= ' ' || *name >= 127 || *name == ':')
            return false;
    return true;
}

static bool check_ports(const struct ane_program *program, const uint64_t address[ANE_BARS], struct isa_error *error)
{
    for (unsigned i = 0; i < ANE_BARS; i++) {
        const struct ane_port *port = &program->port[i];
        if (address[i] + port->bytes > UINT32_MAX)
            return ane_fail(error, 0, "buffers of %s and before do not fit below 4 GB", port->name);
        for (unsigned k = 0; k < i && is_tensor(port); k++)
            if (is_tensor(&program->port[k]) && strcmp(port->name, program->port[k].name) == 0)
                return ane_fail(error, 0, "two ports have the name %s", port->name);
        if (!good_name(port->name))
            return ane_fail(error, 0, "names of ports are printable, without spaces and colons; that of slot %u is not", i);
    }
    return true;
}

/* The file is composed twice: the first pass tells how long commands and symbols are, and so where the text starts. */
static void compose(struct writer *w, const struct ane_image *image, const struct ane_program *program,
                    const uint64_t address[ANE_BARS], size_t file)
{
    struct symbols symbols = {.count = 0};
    w->used = w->commands = 0;
    add_header(w, program->generation);
    add_commands(w, image, program, address, file);
    collect_symbols(&symbols, program, address);
    add_symbols(w, &symbols);
    free(symbols.table.bytes);
    free(symbols.text.bytes);
}

bool ane_hwx_write(const struct ane_image *image, const struct ane_program *program, uint8_t **bytes, size_t *size,
                   struct isa_error *error)
{
    struct writer w = {.failed = false};
    uint64_t address[ANE_BARS];
    if (text_room(image) > UINT32_MAX / 4)
        return ane_fail(error, 0, "descriptors and coefficients of %zu bytes are too many for a .hwx", image->size);
    place_ports(image, program, address);
    if (!check_ports(program, address, error))
        return false;
    compose(&w, image, program, address, 0);
    const size_t file = (size_t)round_up(w.used, ANE_PAGE);
    compose(&w, image, program, address, file);
    add(&w, file - w.used);
    const size_t at = add(&w, (size_t)text_room(image));
    if (w.failed) {
        free(w.bytes);
        return ane_fail(error, 0, "out of memory for a .hwx of %zu bytes", file + image->size);
    }
    ane_copy_sparse(w.bytes + at, image->bytes, image->size);
    *bytes = w.bytes;
    *size = w.used;
    return true;
}
