/* Shared by the files of groups: sweep_group.c makes them and hands out answers, sweep_grow.c decides what is simulated. */
#ifndef ORCHARD_SIM_ASK_SWEEP_SWEEP_GROUP_INTERNAL_H
#define ORCHARD_SIM_ASK_SWEEP_SWEEP_GROUP_INTERNAL_H

#include "sim/ask/sweep/kriging.h"
#include "sim/ask/sweep/sweep_deal.h"
#include "sim/ask/sweep/sweep_group.h"
#include "sim/ask/sweep/sweep_model.h"

enum group_state { GROUP_BEGIN, GROUP_GROWING, GROUP_WHOLE, GROUP_ENDED };

struct group {
    size_t *member, count; /* indices of points */
    enum group_state state;
    size_t key[SWEEP_KEYS_MAX], keys;  /* keys that are dimensions */
    size_t dimensions;                 /* keys, and what the points' rounds add */
    size_t columns;                    /* numbers of a place: dimensions, and the deal where there are deals */
    double *place;                     /* count * columns */
    struct sweep_deals *deals;         /* ways in which threadgroups are dealt out; NULL = no kernel of the GPU */
    const struct sweep_answer **known; /* answers of the points of the fit */
    size_t judged_count;               /* how many were chosen when deals were judged last */
    size_t *chosen, chosen_count;      /* members whose answers were asked for */
    double *noise;                     /* of the chosen ones: how much they scatter */
    bool *scattering;                  /* those under wild deals */
    struct sweep_deals_sum wild;       /* zero without deals */
    double *known_place;
    bool *asked;
    double *error_at; /* left-out error by number of chosen points */
    struct sweep_model *model;
    struct sweep_price price;
    size_t *chosen_index;      /* of the chosen members */
    struct sweep_model *judge; /* where there are deals: knows seconds, to judge them by */
    struct sweep_left_out left_out;
    size_t next_interpolated; /* the member to look at next */
    bool interpolates;
};

struct sweep_groups {
    const struct sweep_spec *spec;
    const struct sweep_design *design;
    const struct sweep_rounds *rounds; /* by index of the point; NULL = of none */
    struct study *study;               /* NULL = nobody can be asked for prices */
    uint64_t *point;
    size_t count;
    struct sweep_answer **answer;
    struct group *group;
    size_t groups, group_at; /* the group whose interpolated points are being handed out */
    size_t *want, want_count;
};

/* One round of a group: says in `want` what it needs to know. */
bool sweep_group_step(struct sweep_groups *groups, struct group *group, struct orch_error *error);

#endif
