/* Growing text, and the escapes of the formats that are written here. When memory runs out, `failed` is set, so callers need to
 * look only once, at the end.
 */
#ifndef ORCHARD_REPORTS_TEXT_H
#define ORCHARD_REPORTS_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Starts as all zero. `data` ends with a NUL that `size` does not count; it is NULL until something is written. */
struct text {
    char *data;
    size_t size, room;
    bool failed;
};

void text_free(struct text *t); /* leaves an empty text */
void text_bytes(struct text *t, const char *bytes, size_t size);
void text_put(struct text *t, const char *string);
void text_printf(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Writes the content of an element or of a quoted attribute of HTML and XML. Markup is escaped; characters that XML does not
 * have, and broken UTF-8, become U+FFFD. NULL writes nothing. */
void text_xml(struct text *t, const char *string);
/* Writes a text for formats that have no escapes for them: control characters become blanks, broken UTF-8 becomes U+FFFD. */
void text_clean(struct text *t, const char *string);
/* Writes a JSON string with its quotes. '<' and '&' are escaped too, so that it may stand in a script element. NULL becomes null.
 */
void text_json(struct text *t, const char *string);
/* Writes a JSON number of up to 15 digits, or null if it is not finite. */
void text_json_number(struct text *t, double number);
/* Writes a coordinate with at most two decimals and no trailing zeros. */
void text_coordinate(struct text *t, double number);

#endif
