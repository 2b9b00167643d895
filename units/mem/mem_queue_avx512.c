/* The slow halves of links and slots on hosts with AVX-512. */
#define PLACE_NS mem_link_place_avx512
#define MOVE_UP  mem_slots_move_avx512
#include "units/mem/mem_queue_place.h"
