/* Elements of the type that a source is compiled for, as variables of the AMX block and back. Elements of sixteen bits and ends
 * of arrays go through `room`, 64 float32 in memory, which the core converts. */
#ifndef ORCHARD_UNITS_AMX_KERNELS_NATIVE_LINE_ELEMENTS_H
#define ORCHARD_UNITS_AMX_KERNELS_NATIVE_LINE_ELEMENTS_H

#include "units/amx/kernels/native/line.h"
#include "units/cpu/kernels/native/neon.h"

/* Variable `to` = up to 64 elements, with `fill` behind them. */
static inline void line_take(unsigned to, const element *from, int64_t count, float fill, float *room)
{
    int64_t i = 0;
#ifdef ELEMENT_F32
    if (count == VARIABLE) {
        line_load(to, from);
        return;
    }
#endif
    for (; i + 4 <= count; i += 4)
        vst1q_f32(room + i, load4(from + i));
    for (; i < count; i++)
        room[i] = load1(from + i);
    for (; i < VARIABLE; i++)
        room[i] = fill;
    line_load(to, room);
}

/* Up to 64 elements = variable 0. */
static inline void line_give(element *to, int64_t count, float *room)
{
    int64_t i = 0;
#ifdef ELEMENT_F32
    if (count == VARIABLE) {
        line_store(to, 0);
        return;
    }
#endif
    line_store(room, 0);
    for (; i + 4 <= count; i += 4)
        store4(to + i, vld1q_f32(room + i));
    for (; i < count; i++)
        store1(to + i, room[i]);
}

#endif
