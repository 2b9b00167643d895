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
    char *names; /* the last list of parameters that the database gave: kernels of a unit read the same ones */
    struct read_set *named;
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
    free(k->names);
    read_set_free(k->named);
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
    struct known *known;
    struct asked *asked;
    struct orch_error *error;
    bool ok;
};

static bool parse(struct known *k, const char *names, struct orch_error *error)
{
    if (k->names && strcmp(k->names, names) == 0)
        return true;
    free(k->names);
    read_set_free(k->named);
    k->named = read_set_parse(names, error);
    k->names = k->named ? strdup(names) : NULL;
    return k->named && (k->names || orch_no_memory(error));
}

static bool take_reads(void *context, const char *names)
{
    struct loading *const l = context;
    l->ok = parse(l->known, names, l->error) && set_of(l->asked, read_set_reads(l->known->named), l->error);
    return l->ok;
}

/* Loads the sets that the database has by now: other processes may have added some. */
static bool load_sets(struct known *k, struct asked *a, struct orch_error *error)
{
    struct loading l = {k, a, error, true};
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

/* Keeps what a simulation found out on a chip of which it read these parameters. */
static const struct run_timing *note(struct known *k, struct asked *a, const struct chip *chip, const uint8_t *reads,
                                     struct run_timing *t, struct orch_error *error)
{
    struct read_set *const set = set_of(a, reads, error);
    return set && store(k, a, set, chip, t, error) ? keep(k, set, chip, t, error) : NULL;
}

/* Requests with handles of their chips that note what is read. */
struct lesson {
    struct run_request *request;
    struct chip **view;
    uint8_t *reads;
    struct run_timing *timing;
    size_t count;
};

static void lesson_free(struct lesson *l)
{
    for (size_t i = 0; i < l->count; i++) {
        if (l->view)
            chip_close(l->view[i]);
        if (l->timing)
            run_timing_free(&l->timing[i]);
    }
    free(l->request);
    free(l->view);
    free(l->reads);
    free(l->timing);
}

static bool lesson_open(struct lesson *l, const struct run_request *request, size_t count)
{
    *l = (struct lesson){calloc(count + 1, sizeof *l->request), calloc(count + 1, sizeof(*l->view)),
                         calloc(count + 1, chip_key_count()), calloc(count + 1, sizeof *l->timing), count};
    if (!l->request || !l->view || !l->reads || !l->timing)
        return false;
    for (size_t i = 0; i < count; i++) {
        run_timing_init(&l->timing[i]);
        l->view[i] = chip_view(request[i].chip, l->reads + i * chip_key_count());
        if (!l->view[i])
            return false;
        l->request[i] = request[i];
        l->request[i].chip = l->view[i];
    }
    return true;
}

bool known_learn(struct known *k, const struct run_request *request, size_t count, unsigned threads, size_t *failed,
                 struct orch_error *error)
{
    struct lesson l;
    *failed = count;
    bool ok = lesson_open(&l, request, count) || orch_no_memory(error);
    ok = ok && run_timing_simulate_all(l.request, count, threads, l.timing, failed, error);
    for (size_t i = 0; ok && i < count; i++) {
        struct asked *const a = asked_of(k, &request[i], error);
        ok = a && note(k, a, request[i].chip, l.reads + i * chip_key_count(), &l.timing[i], error);
    }
    lesson_free(&l);
    return ok;
}

/* ---- asking ---- */

bool known_find(struct known *k, const struct run_request *request, const struct run_timing **timing, struct orch_error *error)
{
    struct asked *const a = asked_of(k, request, error);
    *timing = a ? find_in_memory(k, a, request->chip) : NULL;
    return a && (*timing || find_in_db(k, a, request->chip, timing, error));
}

const struct run_timing *known_timing(struct known *k, const struct run_request *request, bool *was_known,
                                      struct orch_error *error)
{
    const struct run_timing *t;
    size_t unused;
    if (!known_find(k, request, &t, error))
        return NULL;
    *was_known = t != NULL;
    if (!t && known_learn(k, request, 1, 1, &unused, error))
        t = find_in_memory(k, &k->asked[k->last], request->chip);
    return t;
}

static const struct run_timing *timing_for_run(void *context, const struct run_request *request, bool *was_known,
                                               struct orch_error *error)
{
    return known_timing(context, request, was_known, error);
}

static bool find_for_run(void *context, const struct run_request *request, const struct run_timing **timing,
                         struct orch_error *error)
{
    return known_find(context, request, timing, error);
}

static bool learn_for_run(void *context, const struct run_request *request, size_t count, unsigned threads, size_t *failed,
                          struct orch_error *error)
{
    return known_learn(context, request, count, threads, failed, error);
}

struct run_known known_as_run(struct known *known)
{
    return (struct run_known){known, timing_for_run, find_for_run, learn_for_run};
}

const uint8_t *known_last_reads(const struct known *known)
{
    return known->last_set ? read_set_reads(known->last_set) : NULL;
}
