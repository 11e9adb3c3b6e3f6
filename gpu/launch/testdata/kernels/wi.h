// Work-items, address spaces and builtins of the test kernels, for clang's
// amdgcn target without a device library, and for x86-64 (HOST), where
// host.c runs a work-group as fibers.
//
// Every kernel is KERNEL(name) { ... } on the arguments
//   GLOBAL const uint *a, GLOBAL const uint *b, GLOBAL uint *out, uint n
typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef int i32;
typedef long i64;
typedef unsigned long u64;
#ifdef HOST
typedef unsigned int uint;
typedef _Float16 half;
typedef unsigned int uint4 __attribute__((ext_vector_type(4)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef int int4 __attribute__((ext_vector_type(4)));
typedef unsigned char uchar4 __attribute__((ext_vector_type(4)));
typedef char char4 __attribute__((ext_vector_type(4)));
typedef unsigned short ushort4 __attribute__((ext_vector_type(4)));
typedef short short2 __attribute__((ext_vector_type(2)));
typedef _Float16 half2 __attribute__((ext_vector_type(2)));
extern int host_lid[3], host_group[3], host_size[3], host_groups[3];
void host_barrier(void);
#define GLOBAL
#define CONSTANT static const
#define LOCAL static
#define LID(d) ((uint)host_lid[d])
#define GRP(d) ((uint)host_group[d])
#define LSZ(d) ((uint)host_size[d])
#define NGRP(d) ((uint)host_groups[d])
#define BARRIER() host_barrier()
#define U4(x, y, z, w) ((uint4){x, y, z, w})
#define ATOMIC(op, space, p, v) host_##op(p, v)
static inline void host_add(uint *p, uint v) { *p += v; }
static inline void host_xor(uint *p, uint v) { *p ^= v; }
static inline void host_or(uint *p, uint v) { *p |= v; }
static inline void host_and(uint *p, uint v) { *p &= v; }
static inline void host_min(uint *p, uint v) { *p = v < *p ? v : *p; }
static inline void host_max(uint *p, uint v) { *p = v > *p ? v : *p; }
#define KERNEL(name) void name(const uint *a, const uint *b, uint *out, uint n)
#else
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define GLOBAL __global
#define CONSTANT __constant
#define LOCAL __local
#define LID(d) ((d) == 0 ? __builtin_amdgcn_workitem_id_x() : (d) == 1 ? __builtin_amdgcn_workitem_id_y() : __builtin_amdgcn_workitem_id_z())
#define GRP(d) ((d) == 0 ? __builtin_amdgcn_workgroup_id_x() : (d) == 1 ? __builtin_amdgcn_workgroup_id_y() : __builtin_amdgcn_workgroup_id_z())
#define LSZ(d) ((d) == 0 ? __builtin_amdgcn_workgroup_size_x() : (d) == 1 ? __builtin_amdgcn_workgroup_size_y() : __builtin_amdgcn_workgroup_size_z())
#define NGRP(d) ((((__constant uint *)__builtin_amdgcn_dispatch_ptr())[3 + (d)] + LSZ(d) - 1) / LSZ(d))
#define U4(x, y, z, w) ((uint4)(x, y, z, w))
// Of no order beside others, and without the value before.
#define ATOMIC(op, space, p, v) ((void)__opencl_atomic_fetch_##op((volatile space atomic_uint *)(p), v, __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE))
#define BARRIER() do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0)
#define KERNEL(name) __kernel void name(GLOBAL const uint *a, GLOBAL const uint *b, GLOBAL uint *out, uint n)
#endif
#define GID (GRP(0) * LSZ(0) + LID(0))
#define NOINLINE __attribute__((noinline))
static float as_f(uint u) { union { uint u; float f; } x; x.u = u; return x.f; }
static uint as_u(float f) { union { uint u; float f; } x; x.f = f; return x.u; }
static double as_d(u64 u) { union { u64 u; double f; } x; x.u = u; return x.f; }
static u64 as_l(double f) { union { u64 u; double f; } x; x.f = f; return x.u; }
// A float of moderate size made of random bits.
static float flt(uint u) { return (float)(i32)u * 0x1p-20f; }
