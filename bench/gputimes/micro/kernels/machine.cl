// The microbenchmarks of machine.s in OpenCL C, to run on silicon as those of micro.cl.

#define KEEP(x) if ((x) == 1234) out[get_global_id(0)] = 1
#define ZERO(i) ((i) >> 30) // of fewer than 2^30 iterations

// One bank of 32 that are 4 bytes wide.
__kernel void local_stride(__global float *out, int n) {
  __local float m[1024];
  int at = (get_local_id(0) & 31) * 32;
  m[get_local_id(0)] = at;
  barrier(CLK_LOCAL_MEM_FENCE);
  float x = 0;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 8; k++) {
      x += ((volatile __local float *)m)[at];
    }
  }
  KEEP(x);
}

// All lanes add 0 to one address.
__kernel void atomics(__global int *out, int n) {
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 16; k++) {
      atomic_add(out, ZERO(i));
    }
  }
}

__kernel void barriers(__global float *out, int n) {
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 16; k++) {
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
}
