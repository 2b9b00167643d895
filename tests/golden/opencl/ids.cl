// Positions and sizes.
//: ids_in_one out:int:192 grid:192 group:48
//: ids_in_three out:int:512 grid:8x8x4 group:4x2x4
//: ids_beyond out:int:64 grid:64 group:32
//: ids_chosen out:int:256 grid:16x16 group:8x4
//: linear_ids out:int:256 grid:16x4x4 group:8x2x2
//: required_sizes out:int:128 grid:32x4 group:16x2
//: ids_of_few out:int:15 grid:5x3 group:5x1

kernel void ids_in_one(global int *o)
{
    const size_t i = get_global_id(0);
    o[i] = (int)(get_local_id(0) + get_group_id(0) * 1000 + get_global_size(0) * 7 + get_local_size(0) * 3 + get_num_groups(0) * 11);
}

kernel void ids_in_three(global int *o)
{
    const size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    const size_t i = (z * get_global_size(1) + y) * get_global_size(0) + x;
    o[i * 2] = (int)(get_local_id(0) + get_local_id(1) * 10 + get_local_id(2) * 100 + get_group_id(0) * 1000 + get_group_id(1) * 10000 + get_group_id(2) * 100000);
    o[i * 2 + 1] = (int)(get_num_groups(0) + get_num_groups(1) * 8 + get_num_groups(2) * 64 + get_local_size(1) * 512 + get_local_size(2) * 4096 + get_work_dim() * 65536);
}

#ifdef NATIVE /* PoCL says 0 where OpenCL 3.0 says 1 */
#define get_global_size(d) (size_t)1
#define get_local_size(d) (size_t)1
#define get_num_groups(d) (size_t)1
#endif
kernel void ids_beyond(global int *o)
{
    const size_t i = get_global_id(0);
    o[i] = (int)(get_global_id(3) + get_local_id(3) * 2 + get_group_id(4) * 4 + get_global_size(3) * 8 + get_local_size(5) * 16 + get_num_groups(3) * 32 + get_global_offset(0) * 64 + get_global_offset(3) * 128);
}

#ifdef NATIVE
#undef get_global_size
#undef get_local_size
#undef get_num_groups
#endif

kernel void ids_chosen(global int *o)
{
    const size_t x = get_global_id(0), y = get_global_id(1);
    int sum = 0;
    for (uint d = 0; d < 3; d++)
        sum = sum * 100 + (int)(get_global_id(d) + get_local_size(d));
    o[y * get_global_size(0) + x] = sum;
}

#ifdef NATIVE
#define get_global_linear_id() ((get_global_id(2) * get_global_size(1) + get_global_id(1)) * get_global_size(0) + get_global_id(0))
#define get_local_linear_id() ((get_local_id(2) * get_local_size(1) + get_local_id(1)) * get_local_size(0) + get_local_id(0))
#endif

kernel void linear_ids(global int *o)
{
    const size_t i = get_global_linear_id();
    o[i] = (int)(get_local_linear_id() * 1000 + get_global_id(0) + get_global_id(1) * 100000);
}

__attribute__((reqd_work_group_size(16, 2, 1))) kernel void required_sizes(global int *o)
{
    const size_t i = get_global_id(1) * get_global_size(0) + get_global_id(0);
    o[i] = (int)(get_local_size(0) * 100 + get_local_size(1) * 10 + get_local_id(1));
}

kernel void ids_of_few(global int *o)
{
    const size_t i = get_global_id(0) + get_global_id(1) * 5;
    o[i] = (int)(get_local_id(0) + 10 * get_local_id(1) + 100 * get_group_id(1));
}
