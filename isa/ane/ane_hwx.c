#include "isa/ane/ane_hwx.h"
#include "isa/ane/ane_bytes.h"
#include "isa/ane/ane_program_parts.h"

#include <stdio.h>
#include <string.h>

/* What the commands say, in whatever order they stand. */
struct hwx {
    struct ane_program *program;
    struct isa_error *error;
    uint64_t bar[ANE_BARS]; /* addresses by slot */
    bool text, constants;
};

/* A load command, all of which lies in the file. */
struct command {
    const uint8_t *at;
    size_t offset;
    uint32_t kind, size;
};

typedef bool command_reader(struct hwx *hwx, const struct command *command);

bool ane_hwx_is(const uint8_t *bytes, size_t size)
{
    return size >= 4 && ane_get32(bytes) == ANE_HWX_MAGIC;
}

static bool each_command(struct hwx *hwx, command_reader *read)
{
    const struct ane_program *program = hwx->program;
    const uint32_t count = ane_get32(program->bytes + 16), bytes = ane_get32(program->bytes + 20);
    size_t at = HWX_HEADER;
    const size_t end = HWX_HEADER + (size_t)bytes;
    for (uint32_t i = 0; i < count; i++) {
        if (end - at < 8)
            return ane_fail(hwx->error, at, "load command %u of %u is not there", i, count);
        const struct command command = {program->bytes + at, at, ane_get32(program->bytes + at),
                                        ane_get32(program->bytes + at + 4)};
        if (command.size < 8 || command.size % 4 || command.size > end - at)
            return ane_fail(hwx->error, at + 4, "load command %u has %u bytes, %zu are left", i, command.size, end - at);
        if (!read(hwx, &command))
            return false;
        at += command.size;
    }
    return true;
}

static bool short_command(struct hwx *hwx, const struct command *command, size_t need)
{
    return ane_fail(hwx->error, command->offset + 4, "load command %u has %u bytes, at least %zu are needed", command->kind,
                    command->size, need);
}

/* A name of at most 16 bytes, padded with zeros. */
static bool named(const uint8_t *at, const char *name)
{
    return strncmp((const char *)at, name, 16) == 0;
}

/* Copies a text inside a command and makes it printable. */
static void copy_text(const struct command *command, size_t at, char *text, size_t size)
{
    size_t n = 0;
    for (; at < command->size && command->at[at] && n + 1 < size; at++) {
        const uint8_t c = command->at[at];
        const bool space = c == '\n' || c == '\t' || c == ' ';
        if (space && (n == 0 || text[n - 1] == ' '))
            continue;
        text[n++] = (char)(space ? ' ' : c > 32 && c < 127 ? c : '?');
    }
    text[n] = 0;
}

/* ---- header and the text segment ---- */

static bool read_header(struct hwx *hwx)
{
    struct ane_program *program = hwx->program;
    static const char *const older[] = {"", "H11 (A12)", "", "H12 (A13)"};
    if (program->size < HWX_HEADER)
        return ane_fail(hwx->error, program->size, "the header of a .hwx has %d bytes, the file %zu", HWX_HEADER, program->size);
    const uint32_t cpu = ane_get32(program->bytes + 4), subtype = ane_get32(program->bytes + 8);
    if (cpu != HWX_CPU)
        return ane_fail(hwx->error, 4, "processor 0x%x, programs of the Neural Engine have 0x%x", cpu, HWX_CPU);
    if (subtype == 1 || subtype == 3)
        return ane_fail(hwx->error, 8, "a program for %s; H13 (A14, M1) is known", older[subtype]);
    if (subtype < 4 || subtype > 7)
        return ane_fail(hwx->error, 8, "a program for generation %u; 4 (H13) to 7 (H16) are known", subtype);
    program->generation = (enum ane_generation)(ANE_H13 + (subtype - 4));
    if (ane_get32(program->bytes + 20) > program->size - HWX_HEADER)
        return ane_fail(hwx->error, 20, "load commands of %u bytes in a file of %zu", ane_get32(program->bytes + 20),
                        program->size);
    return true;
}

static bool read_section(struct hwx *hwx, const uint8_t *section, size_t offset, size_t *at, size_t *bytes)
{
    const uint64_t size = ane_get64(section + SECTION_BYTES), file = ane_get32(section + SECTION_FILE);
    if (file > hwx->program->size || size > hwx->program->size - file)
        return ane_fail(hwx->error, offset + SECTION_FILE, "section of 0x%llx bytes at 0x%llx in a file of 0x%zx",
                        (unsigned long long)size, (unsigned long long)file, hwx->program->size);
    *at = (size_t)file;
    *bytes = (size_t)size;
    return true;
}

static bool check_segment(struct hwx *hwx, const struct command *command)
{
    if (command->size < SEGMENT_SIZE)
        return short_command(hwx, command, SEGMENT_SIZE);
    const uint32_t sections = ane_get32(command->at + SEGMENT_SECTIONS);
    if (sections > (command->size - SEGMENT_SIZE) / SECTION_SIZE)
        return ane_fail(hwx->error, command->offset + SEGMENT_SECTIONS, "%u sections in a command of %u bytes", sections,
                        command->size);
    return true;
}

static bool read_text_segment(struct hwx *hwx, const struct command *command)
{
    struct ane_program *program = hwx->program;
    const uint32_t sections = ane_get32(command->at + SEGMENT_SECTIONS);
    for (uint32_t i = 0; i < sections; i++) {
        const size_t at = SEGMENT_SIZE + (size_t)i * SECTION_SIZE;
        const uint8_t *section = command->at + at;
        if (!hwx->text && named(section, "__text")) {
            hwx->text = true;
            if (!read_section(hwx, section, command->offset + at, &program->text_offset, &program->text_bytes))
                return false;
        } else if (!hwx->constants && named(section, "__const")) {
            hwx->constants = true;
            if (!read_section(hwx, section, command->offset + at, &program->const_offset, &program->const_bytes))
                return false;
        }
    }
    return true;
}

static bool read_procedure(struct hwx *hwx, const struct command *command)
{
    if (command->size < PROCEDURE_ENTRY)
        return short_command(hwx, command, PROCEDURE_ENTRY);
    for (unsigned i = 0; i < ANE_BARS; i++)
        hwx->bar[i] = ane_get64(command->at + PROCEDURE_BARS + 8 * i);
    return true;
}

/* Where text, coefficients and slots lie. */
static bool read_places(struct hwx *hwx, const struct command *command)
{
    struct ane_program *program = hwx->program;
    switch (command->kind) {
    case HWX_LC_SEGMENT:
        return check_segment(hwx, command) && (!named(command->at + SEGMENT_NAME, "__TEXT") || read_text_segment(hwx, command));
    case HWX_LC_BANNER:
        copy_text(command, 8, program->text, sizeof program->text);
        program->compiler = program->text;
        return true;
    case HWX_LC_THREAD:
        if (command->size < THREAD_WORDS + 4)
            return short_command(hwx, command, THREAD_WORDS + 4);
        return ane_get32(command->at + THREAD_FLAVOUR) != PROCEDURE || read_procedure(hwx, command);
    default: return true;
    }
}

/* ---- ports ---- */

static struct ane_port *port_at(struct hwx *hwx, uint64_t address)
{
    for (unsigned i = 0; i < ANE_BARS; i++)
        if (hwx->bar[i] && hwx->bar[i] == address)
            return &hwx->program->port[i];
    return NULL;
}

static void read_port_segment(struct hwx *hwx, const struct command *command)
{
    static const enum ane_port_kind kinds[] = {ANE_PORT_UNUSED, ANE_PORT_INPUT, ANE_PORT_OUTPUT, ANE_PORT_SCRATCH};
    struct ane_port *port = port_at(hwx, ane_get64(command->at + SEGMENT_ADDRESS));
    const uint32_t protection = ane_get32(command->at + SEGMENT_FIRST);
    if (!port || named(command->at + SEGMENT_NAME, "__TEXT") || protection > PROTECTION_SCRATCH)
        return;
    port->kind = kinds[protection];
    if (ane_get32(command->at + SEGMENT_SECTIONS))
        port->bytes = ane_get64(command->at + SEGMENT_SIZE + SECTION_BYTES);
    else
        port->bytes = ane_get64(command->at + SEGMENT_BYTES);
}

/* Segments tell the kind and size of a slot, commands of kind 6 its name. */
static bool read_ports(struct hwx *hwx, const struct command *command)
{
    if (command->kind == HWX_LC_SEGMENT)
        read_port_segment(hwx, command);
    if (command->kind != HWX_LC_PORT)
        return true;
    if (command->size < PORT_SIZE)
        return short_command(hwx, command, PORT_SIZE);
    struct ane_port *port = port_at(hwx, ane_get32(command->at + PORT_ADDRESS));
    if (port)
        copy_text(command, ane_get32(command->at + PORT_NAME), port->name, sizeof port->name);
    return true;
}

static enum ane_format format_of(uint32_t type)
{
    return type == HWX_I8 ? ANE_I8 : type == HWX_U8 ? ANE_U8 : ANE_F16;
}

/* Shapes belong to the port with the same name. */
static bool read_tensor(struct hwx *hwx, const struct command *command)
{
    char name[64];
    if (command->kind != HWX_LC_THREAD || ane_get32(command->at + THREAD_FLAVOUR) != TENSOR)
        return true;
    if (command->size < TENSOR_TEXT)
        return short_command(hwx, command, TENSOR_TEXT);
    const uint32_t place = ane_get32(command->at + TENSOR_NAME);
    copy_text(command, place, name, sizeof name);
    for (unsigned i = 0; i < ANE_BARS; i++) {
        struct ane_port *port = &hwx->program->port[i];
        if (port->kind == ANE_PORT_UNUSED || strcmp(port->name, name) != 0)
            continue;
        port->format = format_of(ane_get32(command->at + TENSOR_TYPE));
        port->channels = ane_get32(command->at + TENSOR_C);
        port->height = ane_get32(command->at + TENSOR_H);
        port->width = ane_get32(command->at + TENSOR_W);
        port->plane = ane_get32(command->at + TENSOR_PLANE);
        port->row = ane_get32(command->at + TENSOR_ROW);
        break;
    }
    return true;
}

bool ane_hwx_read(struct ane_program *program, struct isa_error *error)
{
    struct hwx hwx = {.program = program, .error = error};
    if (!read_header(&hwx) || !each_command(&hwx, read_places))
        return false;
    if (!hwx.text)
        return ane_fail(error, 16, "no section __text: the container holds no descriptors");
    if (program->generation != ANE_H13 && !ane_td_here(program->bytes + program->text_offset, program->text_bytes))
        return ane_fail(error, 8, "descriptors of H%d; those of H13 (A14, M1) are known", (int)program->generation);
    return each_command(&hwx, read_ports) && each_command(&hwx, read_tensor);
}
