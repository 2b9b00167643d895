/* tokenizer.model. Format: SentencePiece, src/sentencepiece_model.proto, whose messages are read field by field here. */
#include "sim/language/vocabulary_file.h"

#include "sim/language/gguf_write.h"
#include "sim/language/tokenizer.h"

#include <stdlib.h>
#include <string.h>

/* Of ModelProto, of its pieces, of its trainer and of its normaliser. */
enum { MODEL_PIECE = 1, MODEL_TRAINER = 2, MODEL_NORMALISER = 3 };
enum { PIECE_TEXT = 1, PIECE_SCORE = 2, PIECE_TYPE = 3 };
enum { TRAINER_KIND = 3, TRAINER_UNKNOWN = 40, TRAINER_BEGIN = 41, TRAINER_END = 42 };
enum { NORMALISER_PREFIX = 3 };
enum { KIND_BPE = 2, PIECES_MAX = 1 << 24 };

/* What is left of a message, and the field that was read last. */
struct message {
    const uint8_t *at, *end;
    unsigned field;
    uint64_t number;     /* of a number, also the bits of a float */
    const uint8_t *text; /* of a text or message of `length` bytes; NULL = it is a number */
    size_t length;
    bool damaged;
};

static bool read_varint(struct message *m, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; m->at < m->end && shift < 64; shift += 7) {
        const uint8_t byte = *m->at++;
        *number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return !(m->damaged = true);
}

static bool take_bytes(struct message *m, uint64_t count, const uint8_t **bytes)
{
    m->damaged = count > (uint64_t)(m->end - m->at);
    *bytes = m->at;
    m->at += m->damaged ? 0 : count;
    return !m->damaged;
}

/* Goes on to the next field; false at the end, and where the message is damaged. */
static bool next_field(struct message *m)
{
    uint64_t key, length;
    const uint8_t *bytes;
    if (m->damaged || m->at == m->end || !read_varint(m, &key))
        return false;
    m->field = (unsigned)(key >> 3);
    m->text = NULL;
    m->number = 0;
    switch (key & 7) {
    case 0: return read_varint(m, &m->number);
    case 2:
        if (!read_varint(m, &length) || !take_bytes(m, length, &m->text))
            return false;
        m->length = (size_t)length;
        return true;
    case 1:
    case 5:
        if (!take_bytes(m, (key & 7) == 5 ? 4 : 8, &bytes))
            return false;
        for (unsigned i = 0; i < ((key & 7) == 5 ? 4 : 8); i++)
            m->number |= (uint64_t)bytes[i] << 8 * i;
        return true;
    default: return !(m->damaged = true);
    }
}

static struct message inside(const struct message *m)
{
    return (struct message){.at = m->text, .end = m->text ? m->text + m->length : NULL, .damaged = !m->text};
}

/* What the whole file says besides pieces; numbers of tokens as proto2 has them when they are left out. */
struct facts {
    uint64_t pieces, kind;
    uint32_t unknown, begin, end;
    bool prefix, damaged;
};

static void read_trainer(struct message m, struct facts *f)
{
    while (next_field(&m))
        switch (m.field) {
        case TRAINER_KIND: f->kind = m.number; break;
        case TRAINER_UNKNOWN: f->unknown = (uint32_t)m.number; break;
        case TRAINER_BEGIN: f->begin = (uint32_t)m.number; break;
        case TRAINER_END: f->end = (uint32_t)m.number; break;
        default: break;
        }
    f->damaged = f->damaged || m.damaged;
}

static struct facts read_facts(const uint8_t *bytes, size_t size)
{
    struct facts f = {.kind = 1, .unknown = 0, .begin = 1, .end = 2, .prefix = true};
    struct message m = {.at = bytes, .end = bytes + size};
    while (next_field(&m)) {
        struct message part = inside(&m);
        f.pieces += m.field == MODEL_PIECE;
        if (m.field == MODEL_TRAINER)
            read_trainer(part, &f);
        while (m.field == MODEL_NORMALISER && next_field(&part))
            if (part.field == NORMALISER_PREFIX)
                f.prefix = part.number != 0;
    }
    f.damaged = f.damaged || m.damaged;
    return f;
}

struct piece {
    const char *text;
    size_t length;
    float score;
    uint32_t type;
};

static bool read_piece(struct message m, struct piece *piece)
{
    *piece = (struct piece){.text = "", .type = TOKEN_NORMAL};
    while (next_field(&m)) {
        const uint32_t bits = (uint32_t)m.number;
        if (m.field == PIECE_TEXT && m.text) {
            piece->text = (const char *)m.text;
            piece->length = m.length;
        } else if (m.field == PIECE_SCORE) {
            memcpy(&piece->score, &bits, sizeof bits);
        } else if (m.field == PIECE_TYPE) {
            piece->type = bits;
        }
    }
    return !m.damaged;
}

/* One of the three arrays of all pieces. */
static bool write_pieces(struct gguf_writer *w, const uint8_t *bytes, size_t size, unsigned what)
{
    struct message m = {.at = bytes, .end = bytes + size};
    struct piece piece;
    while (next_field(&m)) {
        if (m.field != MODEL_PIECE)
            continue;
        if (!read_piece(inside(&m), &piece))
            return false;
        if (what == PIECE_TEXT)
            gguf_put_string(w, piece.text, piece.length);
        else if (what == PIECE_SCORE)
            gguf_put_f32(w, piece.score);
        else
            gguf_put_u32(w, piece.type);
    }
    return !m.damaged;
}

static void write_meanings(struct gguf_writer *w, const struct facts *f, const struct vocabulary_ends *ends)
{
    const uint32_t begin = ends->begin != TOKEN_NONE ? ends->begin : f->begin, end = ends->end != TOKEN_NONE ? ends->end : f->end;
    gguf_write_u32(w, "tokenizer.ggml.bos_token_id", begin);
    gguf_write_u32(w, "tokenizer.ggml.eos_token_id", end);
    gguf_write_u32(w, "tokenizer.ggml.eot_token_id", ends->end_of_turn);
    gguf_write_u32(w, "tokenizer.ggml.unknown_token_id", f->unknown);
    gguf_write_bool(w, "tokenizer.ggml.add_space_prefix", f->prefix);
}

uint8_t *vocabulary_of_pieces(const char *file, const uint8_t *bytes, size_t size, const struct vocabulary_ends *ends,
                              size_t *gguf_size, struct orch_error *error)
{
    const struct facts f = read_facts(bytes, size);
    struct gguf_writer w = {0};
    if (f.damaged || f.pieces == 0 || f.pieces > PIECES_MAX) {
        orch_fail(error, ORCH_USAGE, "%.300s: no SentencePiece model, or a damaged one; fetch it again", file);
        return NULL;
    }
    if (f.kind != KIND_BPE) {
        orch_fail(error, ORCH_UNMODELLED, "%.300s: SentencePiece model of kind %llu; of those beside safetensors BPE (2) is read",
                  file, (unsigned long long)f.kind);
        return NULL;
    }
    gguf_write_string(&w, "tokenizer.ggml.model", "llama", 5);
    gguf_write_array(&w, "tokenizer.ggml.tokens", GGUF_STRING, f.pieces);
    bool ok = write_pieces(&w, bytes, size, PIECE_TEXT);
    gguf_write_array(&w, "tokenizer.ggml.scores", GGUF_F32, f.pieces);
    ok = ok && write_pieces(&w, bytes, size, PIECE_SCORE);
    gguf_write_array(&w, "tokenizer.ggml.token_type", GGUF_U32, f.pieces);
    ok = ok && write_pieces(&w, bytes, size, PIECE_TYPE);
    write_meanings(&w, &f, ends);
    uint8_t *const gguf = gguf_write_end(&w, gguf_size, error);
    if (ok)
        return gguf;
    free(gguf);
    orch_fail(error, ORCH_USAGE, "%.300s: a damaged piece; fetch the file again", file);
    return NULL;
}
