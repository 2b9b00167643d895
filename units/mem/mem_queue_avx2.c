/* The slow halves of links and slots on hosts with AVX2. */
#define PLACE_NS mem_link_place_avx2
#define MOVE_UP  mem_slots_move_avx2
#include "units/mem/mem_queue_place.h"
