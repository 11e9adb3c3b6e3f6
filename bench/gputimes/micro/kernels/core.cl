// The microbenchmarks of core.s in OpenCL C, to run on silicon as those of micro.cl. What decides how a kernel lies in the
// core is here what the compiler makes of it: look at its registers and its code.

#define KEEP(x) if ((x) == 1234) out[get_global_id(0)] = 1
#define TIMES4(x) x x x x
#define TIMES32(x) TIMES4(x x x x x x x x)
#define TIMES128(x) TIMES32(x x x x)

// 8 multiply-adds with a constant each, of 8 bytes: 128 times are 8 KiB.
#define STRAIGHT TIMES128(a = mad(a, b, (float4)(1.23f)); c = mad(c, b, (float4)(1.23f));)

__kernel void code_16k(__global float *out, int n) {
  float4 a = (float4)(get_local_id(0)), b = (float4)(out[0]), c = a + 1;
  for (int i = 0; i < n; i++) {
    STRAIGHT STRAIGHT
  }
  KEEP(a.x + a.y + a.z + a.w + c.x + c.y + c.z + c.w);
}

__kernel void code_64k(__global float *out, int n) {
  float4 a = (float4)(get_local_id(0)), b = (float4)(out[0]), c = a + 1;
  for (int i = 0; i < n; i++) {
    TIMES4(STRAIGHT STRAIGHT)
  }
  KEEP(a.x + a.y + a.z + a.w + c.x + c.y + c.z + c.w);
}

// ring: steps of 1 << (ring & 31) bytes in a ring of 1 << (ring >> 8).
__kernel void scalar_ring(__global int *out, int n, int ring) {
  const __global char *in = (const __global char *)out;
  uint at = 0, step = 1u << (ring & 31), last = (1u << (ring >> 8)) - 1;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 16; k++) {
      at = (at + step + *(const __global uint *)(in + at)) & last;
    }
  }
  KEEP(at + 1);
}

// 160 numbers that live as long as the chain: few waves have so many registers.
__kernel void chain_registers(__global float *out, int n) {
  float x = get_local_id(0) + 1, held[160], sum = 0;
  for (int k = 0; k < 160; k++) held[k] = ((volatile __global float *)out)[k + get_local_id(0)];
  for (int i = 0; i < n; i++) {
    TIMES32(x *= x;)
  }
  for (int k = 0; k < 160; k++) sum = sum * x + held[k];
  KEEP(sum);
}

// Half of the local memory of a Pixel 4's shader processor.
__kernel void chain_local(__global float *out, int n) {
  __local float m[4096];
  m[get_local_id(0)] = out[get_local_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  float x = get_local_id(0) + 1;
  for (int i = 0; i < n; i++) {
    TIMES32(x *= x;)
  }
  KEEP(x + m[get_local_id(0) ^ 1]);
}

__kernel void vector_chain(__global int *out, int n) {
  if (get_local_id(0) & 31) return;
  int at = out[get_local_id(0)];
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 16; k++) {
      at = ((const __global int *)out)[at];
    }
  }
  KEEP(at + 1);
}

// As mad_f32 of micro.cl. Compilers for RDNA choose the mode: -mcumode.
__kernel void mad_wgp(__global float *out, int n) {
  float4 a = (float4)(get_local_id(0)), b = a + 1, c = 0, d = 1;
  for (int i = 0; i < n; i++) {
    TIMES4(c = mad(a, b, c); d = mad(b, a, d);)
  }
  KEEP(c.x + c.y + c.z + c.w + d.x + d.y + d.z + d.w);
}
