// What the kernels of micro.cl need of OpenCL's library, for gfx1030: clang declares it and has no code for it.
#define DEFINE __attribute__((overloadable, always_inline))

DEFINE size_t get_local_id(uint d) { return __builtin_amdgcn_workitem_id_x(); }
DEFINE size_t get_group_id(uint d) { return __builtin_amdgcn_workgroup_id_x(); }
DEFINE size_t get_local_size(uint d) { return ((__constant ushort *)__builtin_amdgcn_dispatch_ptr())[2]; }
DEFINE size_t get_global_id(uint d) { return get_group_id(0) * get_local_size(0) + get_local_id(0); }
DEFINE void barrier(cl_mem_fence_flags f) {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  __builtin_amdgcn_s_barrier();
}
DEFINE float4 native_recip(float4 x) {
  return (float4)(__builtin_amdgcn_rcpf(x.x), __builtin_amdgcn_rcpf(x.y), __builtin_amdgcn_rcpf(x.z), __builtin_amdgcn_rcpf(x.w));
}
DEFINE float4 mad(float4 a, float4 b, float4 c) { return __builtin_elementwise_fma(a, b, c); }
DEFINE half8 mad(half8 a, half8 b, half8 c) { return __builtin_elementwise_fma(a, b, c); }
DEFINE int atomic_add(volatile __global int *p, int v) {
  return __opencl_atomic_fetch_add((volatile __global atomic_int *)p, v, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE);
}
