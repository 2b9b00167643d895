/* What decoding, encoding and checking of tasks share; not part of the interface. */
#ifndef ORCHARD_ISA_ANE_ANE_TASK_PARTS_H
#define ORCHARD_ISA_ANE_ANE_TASK_PARTS_H

#include "isa/ane/ane_task.h"

#define ANE_L2_BYTES (UINT32_C(1) << 21) /* reach of the 17-bit fields of 16 bytes */

#define ANE_NEWER_EVENT 8u /* of LogEvents: set by the compiler of macOS 26 (joshuaswarren/mil-hwx-compiler) */

/* The registers of a layout in DRAM or tile memory. */
struct ane_layout_fields {
    enum ane_field base, row, plane, depth, group;
};
enum ane_side { ANE_SIDE_SOURCE, ANE_SIDE_SECOND, ANE_SIDE_RESULT, ANE_SIDES };
extern const struct ane_layout_fields ane_dram_fields[ANE_SIDES], ane_l2_fields[ANE_SIDES];

/* The layout of an operand in the memory where it lives. */
struct ane_layout ane_operand_layout(const struct ane_operand *operand);

/* The low bits of Common.Cfg, which tell the sources that the planar engine streams. */
uint32_t ane_task_path(const struct ane_task *task);
bool ane_task_coefficients(const struct ane_task *task);
/* The number of convolution groups, since descriptors count the channels of one group; 1 for tasks without groups. */
uint32_t ane_task_groups(const struct ane_task *task);
bool ane_task_reads_dram(const struct ane_task *task);
uint32_t ane_task_flags(const struct ane_task *task); /* header word 6, bits 8..15, as the operands imply */
/* L2BfrMode: whether the staging of the result has no strides of its own. */
bool ane_task_buffers_result(const struct ane_task *task);
/* Fills in the fields that may be left 0. */
void ane_task_complete(struct ane_task *task);
/* Checks shapes, spans and places. The offset of an error is that of the register with the wrong value. */
bool ane_task_check(const struct ane_task *task, struct isa_error *error);

bool ane_fail(struct isa_error *error, unsigned long offset, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
