/* Neural Engine programs as files: Apple's .hwx container, raw streams of descriptors followed by coefficients, and .anec.
 *
 * A program owns its bytes; saving an unchanged program gives the file back byte for byte. It must not be copied by value while
 * `compiler`, which points into the struct, is used.
 */
#ifndef ORCHARD_ISA_ANE_ANE_PROGRAM_H
#define ORCHARD_ISA_ANE_ANE_PROGRAM_H

#include "isa/ane/ane_task.h"

enum ane_container { ANE_CONTAINER_RAW, ANE_CONTAINER_HWX, ANE_CONTAINER_ANEC };
enum ane_generation { ANE_H13 = 13, ANE_H14 = 14, ANE_H15 = 15, ANE_H16 = 16 };

#define ANE_BARS 32u /* base address registers of a request */

/* What a base address register stands for. */
enum ane_port_kind {
    ANE_PORT_UNUSED,
    ANE_PORT_COMMAND,
    ANE_PORT_COEFFICIENTS,
    ANE_PORT_SCRATCH,
    ANE_PORT_OUTPUT,
    ANE_PORT_INPUT
};
struct ane_port {
    enum ane_port_kind kind;
    char name[64];  /* of inputs and outputs; "input0" when the container has no name */
    uint64_t bytes; /* that descriptors can touch */
    enum ane_format format;
    /* The logical tensor, when descriptors or the container tell it; 0 = unknown. Strides are in bytes. */
    uint32_t channels, height, width;
    uint32_t row, plane;
};

struct ane_program {
    enum ane_container container;
    enum ane_generation generation;
    uint8_t *bytes; /* the whole file, owned */
    size_t size;
    size_t text_offset, text_bytes;   /* descriptors */
    size_t const_offset, const_bytes; /* coefficients */
    struct ane_td *td;                /* owned, in chain order */
    struct ane_task *task;            /* decoded, same order, owned */
    size_t *td_offset;                /* of each descriptor in the text, owned */
    size_t count;
    struct ane_port port[ANE_BARS];
    const char *compiler; /* banner of the container or NULL; points into `text` below */
    char text[256];
};

/* Reads a file, whose container is recognised by content. The bytes are copied. Errors name the offset: a foreign magic number, a
 * truncated file, a chain that loops or leaves the text, banks outside the coefficients, a descriptor that does not decode. Free
 * with ane_program_free. */
bool ane_program_parse(const uint8_t *bytes, size_t size, struct ane_program *program, struct isa_error *error);
/* True when the bytes look like a Neural Engine program of any container. */
bool ane_program_recognise(const uint8_t *bytes, size_t size);
/* Writes td[] into a copy of the file, which the caller frees. task[] is not read: encode changes into td[] first. */
bool ane_program_save(const struct ane_program *program, uint8_t **bytes, size_t *size, struct isa_error *error);
void ane_program_free(struct ane_program *program);

/* A new program from tasks: descriptors at their pitch and coefficients after them. The container is RAW or HWX; a HWX has the
 * names, formats and shapes of inputs and outputs, a raw stream has none. Ports of kind UNUSED are derived from the tasks. The
 * result is parsed from the bytes that were made. */
struct ane_program_parts {
    enum ane_container container;
    enum ane_generation generation;
    const struct ane_task *task; /* `next`, `last` and `id` are set here */
    size_t count;
    const uint8_t *coefficients;
    size_t coefficient_bytes;
    struct ane_port port[ANE_BARS];
};
bool ane_program_make(const struct ane_program_parts *parts, struct ane_program *program, struct isa_error *error);

#endif
