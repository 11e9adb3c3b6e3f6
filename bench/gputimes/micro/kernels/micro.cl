// The microbenchmarks of micro.s in OpenCL C, to run on silicon. Each kernel takes a buffer and the number of
// iterations; what an iteration takes is the difference between two numbers of them, by event times. A result that
// none has keeps compilers from dropping the work, and indices that could change from doing it once for all.

#pragma OPENCL EXTENSION cl_khr_fp16 : enable

#define KEEP(x) if ((x) == 1234) out[get_global_id(0)] = 1
#define ZERO(i) ((i) >> 30) // of fewer than 2^30 iterations
#define TIMES4(s) s s s s
#define TIMES32(s) TIMES4(s) TIMES4(s) TIMES4(s) TIMES4(s) TIMES4(s) TIMES4(s) TIMES4(s) TIMES4(s)

__kernel void mad_f32(__global float *out, int n) {
  float4 a = (float4)(get_local_id(0)), b = a + 1, c = 0, d = 1;
  for (int i = 0; i < n; i++) {
    TIMES4(c = mad(a, b, c); d = mad(b, a, d);)
  }
  KEEP(c.x + c.y + c.z + c.w + d.x + d.y + d.z + d.w);
}

__kernel void mad_f16(__global half *out, int n) {
  half8 a = (half8)((half)get_local_id(0)), b = a + (half)1, c = 0, d = 1;
  for (int i = 0; i < n; i++) {
    TIMES4(c = mad(a, b, c); d = mad(b, a, d);)
  }
  half8 e = c + d;
  KEEP(e.s0 + e.s1 + e.s2 + e.s3 + e.s4 + e.s5 + e.s6 + e.s7);
}

__kernel void add_i32(__global int *out, int n) {
  int4 a = (int4)(get_local_id(0)), c = 0, d = 1;
  for (int i = 0; i < n; i++) {
    TIMES4(c += a ^ d; d += a ^ c;)
  }
  KEEP(c.x + c.y + c.z + c.w + d.x + d.y + d.z + d.w);
}

__kernel void mul_i32(__global int *out, int n) {
  int4 c = (int4)(get_local_id(0) | 3), d = 5;
  for (int i = 0; i < n; i++) {
    TIMES4(c *= d; d *= c;)
  }
  KEEP(c.x + c.y + c.z + c.w + d.x + d.y + d.z + d.w);
}

__kernel void rcp_f32(__global float *out, int n) {
  float4 c = (float4)(get_local_id(0) + 2), d = c + 1;
  for (int i = 0; i < n; i++) {
    TIMES4(c = native_recip(c); d = native_recip(d);)
  }
  KEEP(c.x + c.y + c.z + c.w + d.x + d.y + d.z + d.w);
}

__kernel void chain_f32(__global float *out, int n) {
  float x = get_local_id(0) + 1;
  for (int i = 0; i < n; i++) {
    TIMES32(x *= x;)
  }
  KEEP(x);
}

__kernel void local_read(__global float *out, int n) {
  __local float4 m[1024];
  int at = get_local_id(0);
  m[at] = (float4)(at);
  barrier(CLK_LOCAL_MEM_FENCE);
  float4 x = 0;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 8; k++) {
      x += m[at ^ ZERO(i + 977 * k)];
    }
  }
  KEEP(x.x + x.y + x.z + x.w);
}

__kernel void broadcast(__global float *out, int n) {
  float x = 0;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 16; k++) {
      x += out[ZERO(16 * i + k + (int)get_local_id(0))];
    }
  }
  KEEP(x);
}

__kernel void read_l2(__global float *out, int n) {
  const __global float4 *in = (const __global float4 *)out;
  float4 x = 0;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 8; k++) {
      x += in[(k * 256 + get_local_id(0)) ^ ZERO(i + 977 * k)];
    }
  }
  KEEP(x.x + x.y + x.z + x.w);
}

// mask is the bytes that all work-groups read, a power of two, less 1.
__kernel void read_range(__global float *out, int n, int mask) {
  const __global float4 *in = (const __global float4 *)out;
  int first = (get_group_id(0) << 16) + get_local_id(0);
  float4 x = 0;
  for (int i = 0; i < 8 * n; i++) {
    x += in[(first + i * (int)get_local_size(0)) & (mask >> 4)];
  }
  KEEP(x.x + x.y + x.z + x.w);
}
