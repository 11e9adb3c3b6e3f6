// Private memory: stack arrays, dynamic indices, calls, generic pointers.
#include "wi.h"

KERNEL(stack) {
  uint i = GID;
  if (i >= n) return;
  uint t[32];
  for (uint k = 0; k < 32; k++) t[k] = a[(i + k) % n] + k;
  uint r = 0;
  for (uint k = 0; k < 8; k++) {
    uint j = (b[i] >> (4 * k)) & 31;
    r = r * 31 + t[j];
    t[j] ^= r;
  }
  out[i] = r + t[b[i] & 31];
}

// Small enough for registers: v_movrel or a chain of selects.
KERNEL(smallarray) {
  uint i = GID;
  if (i >= n) return;
  float t[4] = {1, flt(a[i]), flt(b[i]), 2};
  uint j = GRP(0) & 3;
  t[j] += 5;
  t[b[i] & 3] *= 0.5f;
  out[i] = as_u(t[a[i] & 3]);
}

typedef uint uint16v __attribute__((ext_vector_type(16)));
KERNEL(movrel) {
  uint i = GID;
  if (i >= n) return;
  uint16v v;
  for (uint k = 0; k < 16; k++) v[k] = a[(i + k) % n];
  uint u = GRP(0) & 15;
  v[u] = b[i];
  uint d = b[i] & 15;
  v[d] += 9;
  out[i] = v[u] + v[(u + 3) & 15] + v[d ^ 1];
}

KERNEL(bigstack) {
  uint i = GID;
  if (i >= n) return;
  u8 bytes[1200];
  for (uint k = 0; k < 1200; k++) bytes[k] = a[(i * 5 + k) % n] >> (k & 15);
  u16 halves[64];
  u64 quads[16];
  for (uint k = 0; k < 64; k++) halves[k] = bytes[(b[i] + k * 13) % 1200] * 257;
  for (uint k = 0; k < 16; k++) quads[k] = (u64)halves[k * 4] << 33 | halves[(b[i] + k) & 63];
  i16 signedHalf = (i16)halves[b[i] & 63];
  i8 signedByte = (i8)bytes[(b[i] >> 8) % 1200];
  u64 q = quads[a[i] & 15];
  out[i] = (uint)(q >> 20) + (uint)signedHalf + (uint)signedByte;
}

struct big { uint v[9]; float f; u16 h[3]; };

NOINLINE static uint leaf(uint x, uint y) { return x * 2654435761u + (y >> 3); }

NOINLINE static struct big make(uint x) {
  struct big s;
  for (int k = 0; k < 9; k++) s.v[k] = leaf(x, k);
  s.f = flt(x);
  for (int k = 0; k < 3; k++) s.h[k] = x >> (4 * k);
  return s;
}

NOINLINE static uint sum(struct big s, uint last) {
  uint r = as_u(s.f);
  for (int k = 0; k < 9; k++) r += s.v[k] ^ last;
  return r + s.h[0] + s.h[1] * 3 + s.h[2] * 5;
}

KERNEL(calls) {
  uint i = GID;
  if (i >= n) return;
  struct big s = make(a[i]);
  s.v[b[i] % 9] = i;
  out[i] = sum(s, b[i]) + leaf(i, a[i]);
}

NOINLINE static uint many(uint a0, uint a1, uint a2, uint a3, uint a4, uint a5, uint a6, uint a7, uint a8, uint a9, u64 l0, u64 l1, u64 l2, u64 l3,
                         uint b0, uint b1, uint b2, uint b3, uint b4, uint b5, uint b6, uint b7, uint b8, uint b9, uint c0, uint c1, uint c2, uint c3) {
  uint r = a0 + a1 * 2 + a2 * 3 + a3 * 5 + a4 * 7 + a5 * 11 + a6 * 13 + a7 * 17 + a8 * 19 + a9 * 23;
  r ^= (uint)(l0 >> 32) + (uint)l1 + (uint)(l2 >> 13) + (uint)(l3 >> 40);
  return r + (b0 ^ b1) + (b2 ^ b3) + (b4 ^ b5) + (b6 ^ b7) + (b8 ^ b9) + (c0 - c1) * (c2 - c3);
}

KERNEL(manyargs) {
  uint i = GID;
  if (i >= n) return;
  uint x = a[i], y = b[i];
  out[i] = many(x, y, x + 1, y + 1, x + 2, y + 2, x + 3, y + 3, x + 4, y + 4, x * (u64)y, y * (u64)y, x * (u64)x, (u64)x << 29,
                x ^ 1, y ^ 1, x ^ 2, y ^ 2, x ^ 3, y ^ 3, x ^ 4, y ^ 4, x ^ 5, y ^ 5, x ^ 6, y ^ 6, x ^ 7, y ^ 7);
}

// Work-item ids and arguments inside a function.
NOINLINE static uint where(void) { return LID(0) + 1000 * GRP(0) + 7 * LSZ(0); }
KERNEL(deepids) {
  uint i = GID;
  if (i < n) out[i] = where();
}

#ifdef HOST
#define GENERIC
#else
#define GENERIC __generic
#endif
NOINLINE static uint first(GENERIC const uint *p, uint k) { return p[k] + p[k + 1]; }
NOINLINE static void bump(GENERIC uint *p) { *p += 17; }

// One function on pointers to global, local and private memory.
KERNEL(genericptr) {
  LOCAL uint t[256];
  uint i = GID, l = LID(0);
  uint p[8];
  for (uint k = 0; k < 8; k++) p[k] = a[(i + k) % n] ^ k;
  t[l] = a[i % n];
  BARRIER();
  GENERIC uint *q = b[i % n] & 1 ? (GENERIC uint *)&t[l] : (GENERIC uint *)&p[b[i % n] >> 3 & 7];
  bump(q);
  *q ^= 5;
  BARRIER();
  uint r = first((GENERIC const uint *)a, i % (n - 1)) + first(t, l & 6) * 3 + first(p, b[i % n] & 3) * 5;
  if (i < n) out[i] = r + (q != 0);
}

NOINLINE static uint f0(uint x) { return x + 1; }
NOINLINE static uint f1(uint x) { return x * 3; }
NOINLINE static uint f2(uint x) { return x ^ 0x55; }

#ifndef HOST
#pragma OPENCL EXTENSION __cl_clang_function_pointers : enable
#endif
typedef uint (*fn)(uint);
KERNEL(pointers) {
  uint i = GID;
  if (i >= n) return;
  fn f = (a[i] & 3) == 0 ? f0 : (a[i] & 3) == 1 ? f1 : f2;
  out[i] = f(b[i]);
}

KERNEL(copystruct) {
  uint i = GID;
  if (i >= n) return;
  struct big t[3];
  for (uint k = 0; k < 3; k++)
    for (uint j = 0; j < 9; j++) t[k].v[j] = a[(i + k + j) % n];
  t[b[i] % 3] = t[(b[i] >> 4) % 3];
  uint r = 0;
  for (uint k = 0; k < 3; k++)
    for (uint j = 0; j < 9; j++) r = r * 33 + t[k].v[j];
  out[i] = r;
}
