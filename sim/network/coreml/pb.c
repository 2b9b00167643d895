#include "sim/network/coreml/pb.h"

#include <string.h>

struct pb pb_open(struct pb_state *state, const uint8_t *bytes, size_t size)
{
    *state = (struct pb_state){.start = bytes};
    return (struct pb){bytes, bytes + size, state};
}

static bool damaged(struct pb *m, const char *what)
{
    if (!m->state->damage) {
        m->state->damage = what;
        m->state->damaged_at = (size_t)(m->at - m->state->start);
    }
    m->at = m->end;
    return false;
}

static bool read_varint(struct pb *m, uint64_t *value)
{
    const uint8_t *p = m->at;
    *value = 0;
    for (unsigned shift = 0; p < m->end && shift < 70; shift += 7) {
        *value |= shift < 64 ? (uint64_t)(*p & 127) << shift : 0;
        if (!(*p++ & 128)) {
            m->at = p;
            return true;
        }
    }
    return damaged(m, p < m->end ? "a number is too long" : "the file ends within a number");
}

static uint64_t read_fixed(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned k = 0; k < bytes; k++)
        value |= (uint64_t)p[k] << 8 * k;
    return value;
}

bool pb_next(struct pb *m, struct pb_field *field)
{
    uint64_t tag, length;
    *field = (struct pb_field){.body = {m->end, m->end, m->state}};
    if (m->at >= m->end || m->state->damage || !read_varint(m, &tag))
        return false;
    if (tag >> 3 == 0 || tag >> 3 > 536870911)
        return damaged(m, "no protobuf field: the file is damaged, or no Core ML model");
    field->number = (unsigned)(tag >> 3);
    switch (tag & 7) {
    case 0: return read_varint(m, &field->number64);
    case 1:
    case 5:
        field->bytes = (tag & 7) == 1 ? 8 : 4;
        if (pb_size(*m) < field->bytes)
            return damaged(m, "the file ends within a number");
        field->number64 = read_fixed(m->at, field->bytes);
        m->at += field->bytes;
        return true;
    case 2:
        if (!read_varint(m, &length))
            return false;
        if (length > pb_size(*m))
            return damaged(m, "a field is longer than what it is in: the file was cut off or damaged");
        field->is_bytes = true;
        field->body = (struct pb){m->at, m->at + length, m->state};
        m->at += length;
        return true;
    default: return damaged(m, "no protobuf field: the file is damaged, or no Core ML model");
    }
}

static bool find(struct pb m, unsigned number, struct pb_field *found)
{
    bool is_there = false;
    for (struct pb_field f; pb_next(&m, &f);)
        if (f.number == number) {
            *found = f;
            is_there = true;
        }
    return is_there;
}

bool pb_has(struct pb m, unsigned number)
{
    struct pb_field f;
    return find(m, number, &f);
}

struct pb pb_message(struct pb m, unsigned number)
{
    struct pb_field f;
    return find(m, number, &f) && f.is_bytes ? f.body : (struct pb){m.end, m.end, m.state};
}

int64_t pb_integer(struct pb m, unsigned number, int64_t absent)
{
    struct pb_field f;
    return find(m, number, &f) && !f.is_bytes ? (int64_t)f.number64 : absent;
}

static double real_of(uint64_t bits, unsigned bytes)
{
    const uint32_t low = (uint32_t)bits;
    float single;
    double number;
    memcpy(&single, &low, sizeof single);
    memcpy(&number, &bits, sizeof number);
    return bytes == 4 ? (double)single : number;
}

double pb_real(struct pb m, unsigned number, double absent)
{
    struct pb_field f;
    return find(m, number, &f) && f.bytes ? real_of(f.number64, f.bytes) : absent;
}

size_t pb_integers(struct pb m, unsigned number, int64_t *list, size_t room)
{
    size_t count = 0;
    for (struct pb_field f; pb_next(&m, &f);) {
        if (f.number != number)
            continue;
        if (!f.is_bytes) {
            if (count < room)
                list[count] = (int64_t)f.number64;
            count++;
        }
        while (f.is_bytes && f.body.at < f.body.end) {
            uint64_t value;
            if (!read_varint(&f.body, &value))
                return count;
            if (count < room)
                list[count] = (int64_t)value;
            count++;
        }
    }
    return count;
}

size_t pb_floats(struct pb m, unsigned number, float *list, size_t room)
{
    size_t count = 0;
    for (struct pb_field f; pb_next(&m, &f);) {
        if (f.number != number)
            continue;
        if (!f.is_bytes && f.bytes == 4 && count++ < room)
            list[count - 1] = (float)real_of(f.number64, 4);
        if (f.is_bytes && pb_size(f.body) % 4) {
            damaged(&f.body, "a list of numbers that ends within one");
            return count;
        }
        const size_t more = pb_size(f.body) / 4, kept = count < room ? (more < room - count ? more : room - count) : 0;
        for (size_t k = 0; f.is_bytes && k < kept; k++)
            list[count + k] = (float)real_of(read_fixed(f.body.at + 4 * k, 4), 4);
        count += f.is_bytes ? more : 0;
    }
    return count;
}

char *pb_copy(struct pb body, char *text, size_t size)
{
    const size_t length = pb_size(body) < size - 1 ? pb_size(body) : size - 1;
    if (length)
        memcpy(text, body.at, length);
    text[length] = 0;
    for (size_t k = 0; k < length; k++)
        if ((unsigned char)text[k] < ' ' || text[k] == 127)
            text[k] = '?';
    return text;
}

char *pb_text(struct pb m, unsigned number, char *text, size_t size)
{
    return pb_copy(pb_message(m, number), text, size);
}

bool pb_is(struct pb text, const char *word)
{
    return pb_size(text) == strlen(word) && memcmp(text.at, word, strlen(word)) == 0;
}
