/* Errors of this folder: one line for a person, with the place in a text input. */
#ifndef ORCHARD_POWER_POWER_ERROR_H
#define ORCHARD_POWER_POWER_ERROR_H

struct power_error {
    unsigned long line; /* line of text input, from 1; 0 when the input is no text */
    char text[240];     /* what is wrong and what was expected; no newline */
};

/* Fills the error (error may be NULL) and returns false. */
_Bool power_fail(struct power_error *error, unsigned long line, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
