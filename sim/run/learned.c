#include "sim/run/learned.h"

#include "isa/list_grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows that an estimate rests on at most, and how far they may be: e to this power in one number of the shape, or less in
 * several. */
enum { NEIGHBOURS = 8, NUMBERS = 24 };
static const double reach = 1.2;
/* What a row says less for each unit of distance. Inferred: 2,500 kernels of 20 networks on m1, each foretold from the other
 * networks; with it 82 % of them lie within the stated error, and 94 % within twice as much. */
static const double error_by_distance = 0.35;
/* A choice rests on so many rows at least, which are off by this factor at most. Units differ by more. */
static const unsigned least_rows = 3;
static const double most_error = 0.4;
/* Rows nearer than this weigh the same. */
static const double same_place = 0.05;

/* A number or a word of a shape, by its name; positions have none: "1024x64,op=mean" has 0, 1 and op. */
struct number {
    uint32_t name;
    uint32_t word; /* hash of a value that is no number; 0 = it is one */
    double log;    /* of one more than the number, so that 0 is a place, too */
};

struct place {
    struct number number[NUMBERS];
    unsigned count;
    double product; /* logarithm of that of all numbers */
};

struct recorded {
    struct learned_row row; /* texts are its own */
    struct place place;
    double work, log_seconds;
};

struct learned_set {
    struct recorded *item;
    size_t count, room;
};

/* ---- places ---- */

static uint32_t hash_of(const char *text, size_t length)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (uint8_t)text[i]) * 16777619u;
    return hash ? hash : 1;
}

static void add_number(struct place *p, uint32_t name, const char *text, size_t length)
{
    char *end;
    const double value = strtod(text, &end);
    const bool whole = end == text + length && value >= 0 && isfinite(value);
    if (p->count == NUMBERS)
        return;
    p->number[p->count++] = (struct number){name, whole ? 0 : hash_of(text, length), whole ? log1p(value) : 0};
    if (whole && value > 1)
        p->product += log(value);
}

/* "64x1000" between two commas. */
static void add_positions(struct place *p, const char *text, size_t length, uint32_t *position)
{
    for (size_t at = 0; at < length;) {
        size_t part = 0;
        while (at + part < length && text[at + part] != 'x')
            part++;
        add_number(p, (*position)++, text + at, part);
        at += part + 1;
    }
}

static void place_of(const char *shape, struct place *p)
{
    uint32_t position = 0;
    *p = (struct place){.count = 0};
    for (const char *at = shape; *at; at += *at == ',') {
        const size_t length = strcspn(at, ","), name = strcspn(at, "=,");
        if (name < length)
            add_number(p, hash_of(at, name), at + name + 1, length - name - 1);
        else
            add_positions(p, at, length, &position);
        at += length;
    }
}

/* Shapes of a kernel mostly name the same numbers in the same order: it is looked for at that place first. */
static const struct number *number_of(const struct place *p, unsigned first, uint32_t name)
{
    if (first < p->count && p->number[first].name == name)
        return &p->number[first];
    for (unsigned i = 0; i < p->count; i++)
        if (p->number[i].name == name)
            return &p->number[i];
    return NULL;
}

/* What a shape does not say is 0, as options are. Another function ("op") is another operation. */
static double apart(const struct number *a, const struct number *b)
{
    const uint32_t word = b ? b->word : 0;
    if (a->word == word)
        return a->word ? 0 : a->log - (b ? b->log : 0);
    return a->name == hash_of("op", 2) ? INFINITY : 1;
}

static double distance_of(const struct place *a, const struct place *b)
{
    double sum = 0;
    for (unsigned i = 0; i < a->count; i++) {
        const double way = apart(&a->number[i], number_of(b, i, a->number[i].name));
        sum += way * way;
    }
    for (unsigned i = 0; i < b->count; i++)
        if (!number_of(a, i, b->number[i].name)) {
            const double way = apart(&b->number[i], NULL);
            sum += way * way;
        }
    return sqrt(sum);
}

static double work_of(const struct learned_row *row, const struct place *place)
{
    return row->flops > 0 ? log(row->flops) : place->product;
}

/* ---- the set ---- */

struct learned_set *learned_create(void)
{
    return calloc(1, sizeof(struct learned_set));
}

static void release(const struct learned_row *row)
{
    free((char *)row->kernel);
    free((char *)row->shape);
    free((char *)row->precision);
}

void learned_free(struct learned_set *set)
{
    for (size_t i = 0; set && i < set->count; i++)
        release(&set->item[i].row);
    if (set)
        free(set->item);
    free(set);
}

bool learned_add(struct learned_set *set, const struct learned_row *row, struct orch_error *error)
{
    const bool unit = row->part == PART_CPU || row->part == PART_AMX || row->part == PART_GPU;
    if (!unit || !(row->seconds > 0) || !isfinite(row->seconds))
        return true;
    struct recorded *const grown = list_grow(set->item, set->count, &set->room, sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    set->item = grown;
    struct recorded *const r = &grown[set->count];
    r->row = *row;
    r->row.kernel = strdup(row->kernel);
    r->row.shape = strdup(row->shape);
    r->row.precision = strdup(row->precision);
    if (!r->row.kernel || !r->row.shape || !r->row.precision) {
        release(&r->row);
        return orch_no_memory(error);
    }
    place_of(row->shape, &r->place);
    r->work = work_of(row, &r->place);
    r->log_seconds = log(row->seconds);
    set->count++;
    return true;
}

static int compare_numbers(double a, double b)
{
    return a < b ? -1 : a > b;
}

static int by_content(const void *a, const void *b)
{
    const struct learned_row *const x = &((const struct recorded *)a)->row, *const y = &((const struct recorded *)b)->row;
    int order = compare_numbers(x->part, y->part);
    order = order ? order : compare_numbers(x->e_core, y->e_core);
    order = order ? order : strcmp(x->kernel, y->kernel);
    order = order ? order : strcmp(x->precision, y->precision);
    order = order ? order : strcmp(x->shape, y->shape);
    order = order ? order : compare_numbers(x->seconds, y->seconds);
    return order ? order : compare_numbers(x->flops, y->flops);
}

void learned_sort(struct learned_set *set)
{
    if (set->count)
        qsort(set->item, set->count, sizeof *set->item, by_content);
}

size_t learned_count(const struct learned_set *set)
{
    return set->count;
}

void learned_hash(const struct learned_set *set, char hash[CONTENT_HASH_SIZE])
{
    struct content_hash h;
    content_hash_begin(&h);
    for (size_t i = 0; i < set->count; i++) {
        const struct learned_row *const r = &set->item[i].row;
        content_hash_add_integer(&h, 2 * (uint64_t)r->part + r->e_core);
        content_hash_add_text(&h, r->kernel);
        content_hash_add_text(&h, r->shape);
        content_hash_add_text(&h, r->precision);
        content_hash_add_number(&h, r->flops);
        content_hash_add_number(&h, r->seconds);
    }
    content_hash_end(&h, hash);
}

/* ---- neighbours ---- */

struct neighbour {
    const struct recorded *row;
    double distance;
};

struct near {
    struct neighbour item[NEIGHBOURS];
    unsigned count;
};

static bool is_kin(const struct learned_row *a, const struct learned_row *b)
{
    return a->part == b->part && a->e_core == b->e_core && strcmp(a->kernel, b->kernel) == 0 &&
           strcmp(a->precision, b->precision) == 0;
}

/* Keeps the nearest in order; of equally near ones those that came first. */
static void offer(struct near *n, const struct recorded *row, double distance)
{
    if (n->count == NEIGHBOURS && distance >= n->item[NEIGHBOURS - 1].distance)
        return;
    unsigned at = n->count < NEIGHBOURS ? n->count++ : NEIGHBOURS - 1;
    for (; at > 0 && n->item[at - 1].distance > distance; at--)
        n->item[at] = n->item[at - 1];
    n->item[at] = (struct neighbour){row, distance};
}

/* The logarithm of the seconds at a place, by all of them but one (`without` = their number: by all), as seen from there. The
 * straight line of least squares, weighted by nearness. */
static double foretell(const struct near *n, unsigned without, const struct place *place, double work)
{
    double weights = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (unsigned i = 0; i < n->count; i++) {
        const struct recorded *const r = n->item[i].row;
        const double far = distance_of(place, &r->place);
        const double weight = i == without ? 0 : 1 / (far * far + same_place * same_place);
        weights += weight;
        x += weight * r->work;
        y += weight * r->log_seconds;
        xx += weight * r->work * r->work;
        xy += weight * r->work * r->log_seconds;
    }
    x /= weights;
    y /= weights;
    const double spread = xx / weights - x * x;
    const double slope = spread > 1e-6 ? (xy / weights - x * y) / spread : 0.5;
    return y + fmin(fmax(slope, 0), 1) * (work - x);
}

/* Root mean square of what each row is missed by when the others foretell it. */
static double error_among(const struct near *n)
{
    double sum = 0;
    for (unsigned i = 0; n->count > 1 && i < n->count; i++) {
        const struct recorded *const r = n->item[i].row;
        const double miss = foretell(n, i, &r->place, r->work) - r->log_seconds;
        sum += miss * miss;
    }
    return n->count > 1 ? sqrt(sum / n->count) : NAN;
}

/* How far the work is beyond that of all rows. Out there a slope is only known to lie between 0 and 1. */
static double beyond(const struct near *n, double work)
{
    double least = INFINITY, most = -INFINITY;
    for (unsigned i = 0; i < n->count; i++) {
        least = fmin(least, n->item[i].row->work);
        most = fmax(most, n->item[i].row->work);
    }
    return fmax(fmax(least - work, work - most), 0);
}

/* Where the very same shape was recorded, other shapes do not count. */
static void keep_equal(struct near *n)
{
    while (n->count > 1 && n->item[0].distance == 0 && n->item[n->count - 1].distance > 0)
        n->count--;
}

struct learned_estimate learned_ask(const struct learned_set *set, const struct learned_row *question)
{
    struct learned_estimate e = {NAN, NAN, NAN, 0};
    struct near n = {.count = 0};
    struct place place;
    place_of(question->shape, &place);
    for (size_t i = 0; set && i < set->count; i++) {
        if (!is_kin(&set->item[i].row, question))
            continue;
        const double distance = distance_of(&place, &set->item[i].place);
        if (distance <= reach)
            offer(&n, &set->item[i], distance);
    }
    if (n.count == 0)
        return e;
    keep_equal(&n);
    const double work = work_of(question, &place), far = hypot(error_by_distance * n.item[0].distance, beyond(&n, work) / 2);
    e.seconds = exp(foretell(&n, n.count, &place, work));
    e.distance = n.item[0].distance;
    e.rows = n.count;
    e.error = e.distance == 0 && n.count == 1 ? 0 : hypot(error_among(&n), far);
    return e;
}

bool learned_is_sure(const struct learned_estimate *e)
{
    return (e->rows >= least_rows || (e->rows > 0 && e->distance == 0)) && e->error <= most_error;
}
