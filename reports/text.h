/* Growing text, and the escapes of the formats written here. Running out of memory is remembered: `failed` is asked once,
 * at the end.
 */
#ifndef ORCHARD_REPORTS_TEXT_H
#define ORCHARD_REPORTS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Zero-initialise. `data` ends with a NUL that `size` does not count; it is NULL while nothing was written. */
struct text {
    char *data;
    size_t size, room;
    bool failed;
};

void text_free(struct text *t); /* leaves an empty one */
void text_bytes(struct text *t, const char *bytes, size_t size);
void text_put(struct text *t, const char *string);
void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Content of an element or a quoted attribute of HTML and XML: markup is escaped, characters that XML does not have and broken
 * UTF-8 become U+FFFD. NULL writes nothing. */
void text_xml(struct text *t, const char *string);
/* A JSON string with its quotes; '<' and '&' are escaped, too, so that it may stand inside a script element. NULL is null. */
void text_json(struct text *t, const char *string);
/* A JSON number of up to 15 digits; null for what is not finite. */
void text_json_number(struct text *t, double number);
/* A coordinate: at most two decimals, no trailing zeros. */
void text_coordinate(struct text *t, double number);

#endif
