/* Messages of protobuf's wire format, read in place: a message is a range of bytes, and its fields are looked for where they
 * stand.
 *
 * Nothing is allocated and nothing recurses. What is damaged is noted once, in the state that all messages of a file share; from
 * then on every message reads as empty, so a caller asks once when it has read what it wants.
 */
#ifndef ORCHARD_SIM_NETWORK_COREML_PB_H
#define ORCHARD_SIM_NETWORK_COREML_PB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pb_state {
    const uint8_t *start; /* of the file */
    const char *damage;   /* NULL = none so far */
    size_t damaged_at;
};

struct pb {
    const uint8_t *at, *end;
    struct pb_state *state;
};

struct pb_field {
    unsigned number;
    bool is_bytes;  /* else a number */
    unsigned bytes; /* of a number: 4 or 8 of fixed length, 0 of a varint */
    uint64_t number64;
    struct pb body;
};

struct pb pb_open(struct pb_state *state, const uint8_t *bytes, size_t size);
/* The next field of a message; false at its end. */
bool pb_next(struct pb *m, struct pb_field *field);

/* Of these, m is not moved, and the last field of that number counts. */
bool pb_has(struct pb m, unsigned number);
struct pb pb_message(struct pb m, unsigned number); /* empty when absent */
int64_t pb_integer(struct pb m, unsigned number, int64_t absent);
double pb_real(struct pb m, unsigned number, double absent); /* float or double */
/* Repeated numbers, packed or not; the count, of which at most `room` are stored. */
size_t pb_integers(struct pb m, unsigned number, int64_t *list, size_t room);
/* Repeated floats; the count, of which at most `room` are stored. */
size_t pb_floats(struct pb m, unsigned number, float *list, size_t room);
/* A string, cut to the room, without control characters. */
char *pb_copy(struct pb body, char *text, size_t size);
char *pb_text(struct pb m, unsigned number, char *text, size_t size);

static inline size_t pb_size(struct pb m)
{
    return (size_t)(m.end - m.at);
}
static inline bool pb_same(struct pb a, struct pb b)
{
    return pb_size(a) == pb_size(b) && (pb_size(a) == 0 || __builtin_memcmp(a.at, b.at, pb_size(a)) == 0);
}
bool pb_is(struct pb text, const char *word);

#endif
