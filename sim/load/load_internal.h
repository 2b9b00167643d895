/* Shared by the files of the simulation of a load: load.c goes from event to event, load_instance.c is what an instance does,
 * load_books.c counts. */
#ifndef ORCHARD_SIM_LOAD_LOAD_INTERNAL_H
#define ORCHARD_SIM_LOAD_LOAD_INTERNAL_H

#include "sim/load/load.h"
#include "sim/load/load_heat.h"

#include <math.h>

struct load_request {
    double arrived_s;
    unsigned samples, prompt, generate;
};

/* Requests that wait, the oldest first. */
struct load_queue {
    struct load_request *item;
    size_t first, count, room;
};

/* A request at work: of a language model, a sequence. */
struct load_held {
    struct load_request request;
    double first_s;     /* when its first token came; NAN before */
    unsigned generated; /* tokens */
    bool done;
};

enum load_state { LOAD_IDLE, LOAD_SUBMITS, LOAD_WAITS, LOAD_WORKS };

struct load_instance {
    unsigned group;
    enum load_state state;
    double since_s, until_s; /* of the state; until_s: SUBMITS and WORKS */
    struct load_work work;
    struct load_cost cost;
    double booked; /* share of the cost that was charged to the machine so far */
    struct load_held *held;
    unsigned count, prompted; /* prompted: sequences whose prompt has been read */
};

struct load_loop {
    const struct load_setup *setup;
    struct load_result *result;
    struct orch_error *error;
    double now_s, end_s;
    struct load_queue queue[LOAD_MODELS];
    struct load_instance instance[LOAD_INSTANCES];
    unsigned instances;
    unsigned at_work[PART_COUNT];
    struct arrival_stream stream;
    struct arrival next;
    bool more;
    uint64_t asked;              /* requests that came */
    uint64_t outstanding;        /* closed loops: samples of the query that are not done */
    double query_s;              /* when it began */
    double mark_s, mark_every_s; /* end of the window; of the heat's step */
    double heat_s;
    double booked_s;
};

/* load_instance.c */
bool load_instances_open(struct load_loop *l);
void load_instances_close(struct load_loop *l);
/* Gives idle instances work, as far as there is any; *wait_s becomes the time until a batcher has waited long enough. */
bool load_dispatch(struct load_loop *l, double *wait_s);
/* The end of the state of an instance. */
bool load_instance_step(struct load_loop *l, struct load_instance *i);
double load_clock_stretch(const struct load_loop *l, const struct load_cost *cost);

/* load_books.c */
bool load_books_open(struct load_loop *l);
bool load_book_arrival(struct load_loop *l, unsigned model);
void load_book_begin(struct load_loop *l, unsigned model, const struct load_request *request);
void load_book_batch(struct load_loop *l, unsigned model, unsigned samples);
bool load_book_done(struct load_loop *l, unsigned model, const struct load_held *held);
/* The time that has passed since the last call: queues, busy units. */
void load_book_time(struct load_loop *l, double to_s);
/* Charges what instances did until now. */
void load_book_work(struct load_loop *l);
/* Charges the rest of a piece of work that is over. */
void load_book_finish(struct load_loop *l, struct load_instance *i);
void load_close_window(struct load_loop *l);

#endif
