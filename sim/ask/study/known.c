#include "sim/ask/study/known.h"

#include "sim/ask/study/question.h"
#include "sim/ask/study/read_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Timings kept in memory when there is a database, some 20 kB each. */
enum { IN_MEMORY = 4096 };

struct asked {
    struct question question;
    struct read_set **set;
    size_t sets;
};

struct known {
    struct orch_db *db;
    bool writable;
    struct asked *asked;
    size_t count, last; /* last: the question that was asked last */
    const struct read_set *last_set;
};

struct known *known_create(struct orch_db *db, struct orch_error *error)
{
    struct known *const k = calloc(1, sizeof *k);
    if (!k) {
        orch_no_memory(error);
        return NULL;
    }
    k->db = db;
    k->writable = db && sqlite3_db_readonly(db_handle(db), "main") == 0;
    return k;
}

static void free_asked(struct asked *a)
{
    for (size_t i = 0; i < a->sets; i++)
        read_set_free(a->set[i]);
    free(a->set);
    question_close(&a->question);
}

void known_free(struct known *k)
{
    if (!k)
        return;
    for (size_t i = 0; i < k->count; i++)
        free_asked(&k->asked[i]);
    free(k->asked);
    free(k);
}

/* ---- sets of a question ---- */

/* Takes over the set even when it fails; NULL with *error. */
static struct read_set *add_set(struct asked *a, struct read_set *set, struct orch_error *error)
{
    struct read_set **const grown = reallocarray(a->set, a->sets + 1, sizeof *grown);
    if (!grown) {
        read_set_free(set);
        orch_no_memory(error);
        return NULL;
    }
    a->set = grown;
    return a->set[a->sets++] = set;
}

static struct read_set *set_of(struct asked *a, const uint8_t *reads, struct orch_error *error)
{
    for (size_t i = 0; i < a->sets; i++)
        if (read_set_is(a->set[i], reads))
            return a->set[i];
    struct read_set *const set = read_set_create(reads, error);
    return set ? add_set(a, set, error) : NULL;
}

struct loading {
    struct asked *asked;
    struct orch_error *error;
    bool ok;
};

static bool take_reads(void *context, const char *names)
{
    struct loading *const l = context;
    struct read_set *const set = read_set_parse(names, l->error);
    l->ok = set && set_of(l->asked, read_set_reads(set), l->error);
    read_set_free(set);
    return l->ok;
}

/* Loads the sets that the database has by now: other processes may have added some. */
static bool load_sets(struct known *k, struct asked *a, struct orch_error *error)
{
    struct loading l = {a, error, true};
    const struct db_characteristic_key key = question_key(&a->question);
    return !k->db || (db_characteristic_reads(k->db, &key, take_reads, &l, error) &&
                      (l.ok || db_content_fail(k->db, "characteristic", error)));
}

static struct asked *asked_of(struct known *k, const struct run_request *q, struct orch_error *error)
{
    char hash[CONTENT_HASH_SIZE];
    if (!question_hash(q, hash, error))
        return NULL;
    if (k->count && strcmp(k->asked[k->last].question.hash, hash) == 0)
        return &k->asked[k->last];
    for (k->last = 0; k->last < k->count; k->last++)
        if (strcmp(k->asked[k->last].question.hash, hash) == 0)
            return &k->asked[k->last];
    struct asked fresh = {.sets = 0};
    struct asked *const grown = reallocarray(k->asked, k->count + 1, sizeof *grown);
    if (grown)
        k->asked = grown;
    if (!grown || !question_open(&fresh.question, q, hash, error) || !load_sets(k, &fresh, error)) {
        free_asked(&fresh);
        k->last = 0;
        if (!grown)
            orch_no_memory(error);
        return NULL;
    }
    k->asked[k->count] = fresh;
    return &k->asked[k->count++];
}

/* ---- looking ---- */

static const struct run_timing *find_in_memory(struct known *k, const struct asked *a, const struct chip *chip)
{
    for (size_t i = 0; i < a->sets; i++) {
        const struct run_timing *const t = read_set_find(a->set[i], chip);
        if (t) {
            k->last_set = a->set[i];
            return t;
        }
    }
    return NULL;
}

static void make_room(struct known *k)
{
    size_t all = 0;
    for (size_t i = 0; i < k->count; i++)
        for (size_t s = 0; s < k->asked[i].sets; s++)
            all += read_set_count(k->asked[i].set[s]);
    for (size_t i = 0; k->writable && all >= IN_MEMORY && i < k->count; i++)
        for (size_t s = 0; s < k->asked[i].sets; s++)
            read_set_empty(k->asked[i].set[s]);
}

static const struct run_timing *keep(struct known *k, struct read_set *set, const struct chip *chip, struct run_timing *t,
                                     struct orch_error *error)
{
    make_room(k);
    k->last_set = set;
    return read_set_add(set, chip, t, error);
}

/* *timing is NULL when the database does not have it. */
static bool find_at(struct known *k, struct asked *a, struct read_set *set, const struct chip *chip,
                    const struct run_timing **timing, struct orch_error *error)
{
    const struct db_characteristic_key key = question_key(&a->question);
    struct run_timing t;
    char *json = NULL;
    size_t count = 0;
    struct db_parameter *const parameters = read_set_parameters(set, chip, &count, error);
    bool ok = parameters && db_find_timing(k->db, &key, parameters, count, &json, error);
    run_timing_init(&t);
    if (ok && json) {
        ok = run_timing_parse(json, &t, error) || db_content_fail(k->db, "characteristic", error);
        *timing = ok ? keep(k, set, chip, &t, error) : NULL;
        ok = *timing != NULL;
    }
    free(parameters);
    free(json);
    return ok;
}

static bool find_in_db(struct known *k, struct asked *a, const struct chip *chip, const struct run_timing **timing,
                       struct orch_error *error)
{
    size_t tried = 0;
    if (!k->db)
        return true;
    for (int again = 0; again < 2; again++) {
        for (; tried < a->sets; tried++)
            if (!find_at(k, a, a->set[tried], chip, timing, error) || *timing)
                return *timing != NULL;
        if (again == 0 && !load_sets(k, a, error))
            return false;
    }
    return true;
}

/* ---- simulating ---- */

static bool describe(const struct run_timing *t, struct db_characteristic *c)
{
    const struct run_result *const r = &t->result;
    bool ok = true;
    c->cycles = isnan(r->cycles) ? 0 : r->cycles;
    c->activity = t->activity;
    for (size_t i = 0; ok && i < r->stalls.count; i++)
        ok = run_values_set(&c->stalls, r->stalls.item[i].name, r->stalls.item[i].value * c->cycles);
    ok = ok && (isnan(r->flops) || run_values_set(&c->other, "flops", r->flops)) &&
         (isnan(r->macs) || run_values_set(&c->other, "macs", r->macs)) && run_values_set(&c->other, "seconds", r->seconds);
    c->timing = run_timing_json(t);
    return ok && c->timing;
}

static bool store(struct known *k, const struct asked *a, const struct read_set *set, const struct chip *chip,
                  const struct run_timing *t, struct orch_error *error)
{
    const struct db_characteristic_key key = question_key(&a->question);
    struct db_characteristic c;
    size_t count = 0;
    if (!k->writable)
        return true;
    db_characteristic_init(&c);
    struct db_parameter *const parameters = read_set_parameters(set, chip, &count, error);
    bool ok = parameters != NULL;
    if (ok && !describe(t, &c))
        ok = orch_no_memory(error);
    ok = ok && db_put_characteristic(k->db, &key, parameters, count, &c, error);
    free(parameters);
    db_characteristic_free(&c);
    return ok;
}

/* Simulates with a handle of the chip that notes what is read. */
static bool simulate(const struct run_request *request, uint8_t *reads, struct run_timing *t, struct orch_error *error)
{
    struct run_request q = *request;
    struct chip *const view = chip_view(request->chip, reads);
    q.chip = view;
    const bool ok = view ? run_timing_simulate(&q, t, error) : orch_no_memory(error);
    chip_close(view);
    return ok;
}

static const struct run_timing *make(struct known *k, struct asked *a, const struct run_request *q, struct orch_error *error)
{
    const struct run_timing *made = NULL;
    struct run_timing t;
    uint8_t *const reads = calloc(chip_key_count(), 1);
    run_timing_init(&t);
    if (!reads)
        orch_no_memory(error);
    if (reads && simulate(q, reads, &t, error)) {
        struct read_set *const set = set_of(a, reads, error);
        if (set && store(k, a, set, q->chip, &t, error))
            made = keep(k, set, q->chip, &t, error);
    }
    run_timing_free(&t);
    free(reads);
    return made;
}

const struct run_timing *known_timing(struct known *k, const struct run_request *request, bool *was_known,
                                      struct orch_error *error)
{
    struct asked *const a = asked_of(k, request, error);
    *was_known = true;
    if (!a)
        return NULL;
    const struct run_timing *t = find_in_memory(k, a, request->chip);
    if (t || !find_in_db(k, a, request->chip, &t, error) || t)
        return t;
    *was_known = false;
    return make(k, a, request, error);
}

static const struct run_timing *timing_for_run(void *context, const struct run_request *request, bool *was_known,
                                               struct orch_error *error)
{
    return known_timing(context, request, was_known, error);
}

struct run_known known_as_run(struct known *known)
{
    return (struct run_known){known, timing_for_run};
}

const uint8_t *known_last_reads(const struct known *known)
{
    return known->last_set ? read_set_reads(known->last_set) : NULL;
}
