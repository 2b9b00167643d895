/* Programs that expressions become. */
#ifndef ORCHARD_SIM_LANGUAGE_PATTERN_INTERNAL_H
#define ORCHARD_SIM_LANGUAGE_PATTERN_INTERNAL_H

#include "sim/language/pattern.h"

enum pattern_op {
    PATTERN_CLASS,     /* one character of class `to` */
    PATTERN_SPLIT,     /* go on with the next step; if that fails, `to` steps on */
    PATTERN_JUMP,      /* `to` steps on */
    PATTERN_AHEAD,     /* the steps up to `to` must match here, without taking anything */
    PATTERN_NOT_AHEAD, /* they must not */
    PATTERN_END,       /* the text ends here */
    PATTERN_MATCH
};

struct pattern_step {
    enum pattern_op op;
    int to; /* relative to this step; of a class its number */
};

struct pattern_range {
    uint32_t first, last;
};

struct pattern_class {
    uint32_t categories; /* a bit each */
    bool space, not_space, negated;
    struct pattern_range *range;
    size_t ranges, range_room;
};

struct pattern {
    struct pattern_step *step;
    size_t steps, step_room;
    struct pattern_class *class;
    size_t classes, class_room;
};

#endif
