/* How much the paces of the places of a launch differ by chance that are timed while what lies between them is not, and how much
 * may lie between two of them so that the mean of all is sure. Cores fall into step with one another and out of it again, so one
 * place tells little about the next one. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_PLACES_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_PLACES_H

/* The latest changes of the pace from place to place, relative. */
#define GPU_PLACES_KEPT 15
struct gpu_places {
    double last_ns, change[GPU_PLACES_KEPT];
    unsigned changes; /* in all */
};

/* One more place: its time per instruction or lap. */
void gpu_places_add(struct gpu_places *places, double ns);

/* The largest share of the launch that may lie between two places; 0 = too few of them are known. */
double gpu_places_share(const struct gpu_places *places);

/* The same where the paces of parts of places are known as well, of so many parts each, one behind the other. */
double gpu_places_share_of_parts(const struct gpu_places *places, const struct gpu_places *parts, unsigned parts_of_place);

#endif
