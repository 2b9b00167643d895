/* Programs of the Neural Engine that follow one another, linked to one, as the compiler of a whole network makes of its layers:
 * one request, and tensors between two programs stay in tile memory where they have room for as long as they are needed.
 *
 * What comes out is for the clock alone. Programs of the library have layouts of their own, and a linked one is as if each read
 * what the one before it wrote.
 *
 *     struct ane_linker *l = ane_linker_create(limits.l2_bytes);
 *     ane_linker_add(l, &program, tensor);          in order; tensor[bar] = whose tensor lies behind a base register
 *     ane_linker_keep(l, 3);                        somebody else reads it
 *     ane_linker_finish(l, &linked);
 */
#ifndef ORCHARD_SIM_WORKLOAD_ANE_ANE_LINK_H
#define ORCHARD_SIM_WORKLOAD_ANE_ANE_LINK_H

#include "isa/ane/ane_program.h"

enum { ANE_LINK_NONE = -1 };

struct ane_linker;

struct ane_linked {
    struct ane_task *task; /* owned */
    size_t count;
    size_t *first; /* by program: its first descriptor; owned; one more entry with the end */
    bool *inside;  /* by tensor: it stays in tile memory; owned */
    size_t tensors, tensors_inside;
    uint64_t bytes, bytes_inside; /* of tensors that programs write */
    size_t spared;                /* programs that need no descriptors */
};

struct ane_linker *ane_linker_create(uint64_t tile_memory_bytes);
void ane_linker_free(struct ane_linker *linker);
/* What a program does that need not be done where it is one of several. */
enum ane_link_kind {
    ANE_LINK_PROGRAM,
    ANE_LINK_JOIN, /* puts tensors one behind the other: those who write them may write them there */
    ANE_LINK_RELU  /* leaves out negative numbers: the descriptors that write its operand can do that */
};
/* The program is read until ane_linker_finish. Tensors are counted from 0; a program writes those behind its output ports. False
 * = out of memory. */
bool ane_linker_add(struct ane_linker *linker, enum ane_link_kind kind, const struct ane_program *program,
                    const int32_t tensor[ANE_BARS]);
/* The tensor must lie in memory: an output of the network, or something that another unit reads. */
bool ane_linker_keep(struct ane_linker *linker, int32_t tensor);
/* False = out of memory. Free `linked` in any case. */
bool ane_linker_finish(struct ane_linker *linker, struct ane_linked *linked);
void ane_linked_free(struct ane_linked *linked);

#endif
