/* The number of elements of an array (not of a pointer). It stands in the lowest room so that every room above may use it. */
#ifndef ORCHARD_ISA_ARRAY_COUNT_H
#define ORCHARD_ISA_ARRAY_COUNT_H

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

#endif
