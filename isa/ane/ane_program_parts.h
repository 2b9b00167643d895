/* The readers and writers of the containers; not part of the interface. */
#ifndef ORCHARD_ISA_ANE_ANE_PROGRAM_PARTS_H
#define ORCHARD_ISA_ANE_ANE_PROGRAM_PARTS_H

#include "isa/ane/ane_program.h"
#include "isa/ane/ane_task_parts.h"

#define ANE_HWX_MAGIC    0xbeeffaceu
#define ANE_TEXT_ADDRESS UINT64_C(0x30000000)
#define ANE_PAGE         0x4000u

/* True when a descriptor of H13 can start here. */
bool ane_td_here(const uint8_t *bytes, size_t size);

/* A reader sets text, coefficients and what the container says about ports, which ane_ports_derive completes. */
bool ane_hwx_is(const uint8_t *bytes, size_t size);
bool ane_hwx_read(struct ane_program *program, struct isa_error *error);
bool ane_anec_is(const uint8_t *bytes, size_t size);
bool ane_anec_read(struct ane_program *program, struct isa_error *error);

/* Derives kinds, bytes, shapes and names that the container does not tell from what the tasks do. */
void ane_ports_derive(struct ane_program *program);

/* Descriptors at their pitch and coefficients after them, as both containers hold them. */
struct ane_image {
    uint8_t *bytes; /* owned */
    size_t text_bytes, const_offset, size;
};
bool ane_hwx_write(const struct ane_image *image, const struct ane_program *described, uint8_t **bytes, size_t *size,
                   struct isa_error *error);

#endif
