// Local memory, barriers and atomics.
#include "wi.h"

#define T 8
// out = A x B of 32x32 floats by 8x8 work-groups.
KERNEL(sgemm) {
  LOCAL float ta[T][T], tb[T][T];
  uint x = LID(0) % T, y = LID(0) / T;
  uint bx = GRP(0) % 4, by = GRP(0) / 4;
  float s = 0;
  for (uint k = 0; k < 32; k += T) {
    ta[y][x] = flt(a[(by * T + y) * 32 + k + x]);
    tb[y][x] = flt(b[(k + y) * 32 + bx * T + x]);
    BARRIER();
    for (uint j = 0; j < T; j++) s += ta[y][j] * tb[j][x];
    BARRIER();
  }
  out[(by * T + y) * 32 + bx * T + x] = as_u(s);
}

KERNEL(reduce) {
  LOCAL uint t[256];
  uint l = LID(0), i = GID;
  t[l] = i < n ? a[i] : 0;
  BARRIER();
  for (uint s = LSZ(0) / 2; s > 0; s >>= 1) {
    if (l < s) t[l] += t[l + s];
    BARRIER();
  }
  if (l == 0) out[GRP(0)] = t[0];
}

KERNEL(reducef) {
  LOCAL float t[256];
  uint l = LID(0), i = GID;
  t[l] = i < n ? flt(a[i]) : 0;
  BARRIER();
  for (uint s = LSZ(0) / 2; s > 0; s >>= 1) {
    if (l < s) t[l] += t[l + s];
    BARRIER();
  }
  if (l == 0) out[GRP(0)] = as_u(t[0]);
}

KERNEL(scan) {
  LOCAL uint t[2][256];
  uint l = LID(0), i = GID, p = 0;
  t[0][l] = i < n ? a[i] : 0;
  BARRIER();
  for (uint d = 1; d < LSZ(0); d *= 2) {
    t[1 - p][l] = t[p][l] + (l >= d ? t[p][l - d] : 0);
    p = 1 - p;
    BARRIER();
  }
  if (i < n) out[i] = t[p][l];
}

KERNEL(transpose) {
  LOCAL u16 t[16][17];
  uint x = LID(0) & 15, y = LID(0) >> 4;
  for (uint k = y; k < 16; k += LSZ(0) / 16) t[k][x] = a[GRP(0) * 256 + k * 16 + x];
  BARRIER();
  for (uint k = y; k < 16; k += LSZ(0) / 16) out[GRP(0) * 256 + k * 16 + x] = t[x][k];
}

KERNEL(localbytes) {
  LOCAL u8 t[256];
  LOCAL u64 q[64];
  uint l = LID(0);
  t[l] = a[GID];
  if (l < 64) q[l] = ((u64)a[GID] << 32 | b[GID]) * 3;
  BARRIER();
  out[GID] = t[(l * 7 + 3) % LSZ(0)] + (uint)(q[(l * 5) & 63 & (LSZ(0) - 1)] >> 17);
}

KERNEL(histogram) {
  LOCAL uint h[16];
  uint l = LID(0), i = GID;
  if (l < 16) h[l] = 0;
  BARRIER();
  if (i < n) __atomic_fetch_add(&h[a[i] >> 28], 1, __ATOMIC_RELAXED);
  BARRIER();
  if (l < 16) __atomic_fetch_add(&out[l], h[l], __ATOMIC_RELAXED);
}

KERNEL(atomics) {
  uint i = GID;
  if (i >= n) return;
  GLOBAL uint *o = out;
  uint v = a[i];
  __atomic_fetch_add(o + 0, v, __ATOMIC_RELAXED);
  __atomic_fetch_sub(o + 1, v, __ATOMIC_RELAXED);
  __atomic_fetch_and(o + 2, v | 0xFF, __ATOMIC_RELAXED);
  __atomic_fetch_or(o + 3, v & 0xF0F0, __ATOMIC_RELAXED);
  __atomic_fetch_xor(o + 4, v, __ATOMIC_RELAXED);
  __atomic_fetch_min((GLOBAL int *)o + 5, (int)v, __ATOMIC_RELAXED);
  __atomic_fetch_max((GLOBAL int *)o + 6, (int)v, __ATOMIC_RELAXED);
  __atomic_fetch_min(o + 7, v, __ATOMIC_RELAXED);
  __atomic_fetch_max(o + 8, v, __ATOMIC_RELAXED);
  __atomic_fetch_add((GLOBAL u64 *)(o + 10), (u64)v << 16, __ATOMIC_SEQ_CST);
  __atomic_fetch_max((GLOBAL u64 *)(o + 12), (u64)v << 20 | b[i], __ATOMIC_ACQ_REL);
  __atomic_fetch_nand(o + 14, 0, __ATOMIC_RELAXED);
  // Counts with compare and swap.
  uint old = __atomic_load_n(o + 15, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(o + 15, &old, old + (v & 7), 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {}
}

KERNEL(localatomics) {
  LOCAL uint t[8];
  LOCAL u64 q[2];
  uint l = LID(0);
  if (l < 8) t[l] = 0;
  if (l < 2) q[l] = 0;
  BARRIER();
  uint v = a[GID];
  __atomic_fetch_add(&t[0], v, __ATOMIC_RELAXED);
  __atomic_fetch_max(&t[1], v, __ATOMIC_RELAXED);
  __atomic_fetch_xor(&t[2], v, __ATOMIC_RELAXED);
  __atomic_fetch_or(&t[3], v & 0xF0F, __ATOMIC_RELAXED);
  __atomic_fetch_add(&q[0], (u64)v * 5, __ATOMIC_RELAXED);
  __atomic_fetch_max(&q[1], (u64)v << 13, __ATOMIC_RELAXED);
  uint old = __atomic_load_n(&t[4], __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&t[4], &old, old ^ v, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
  BARRIER();
  if (l < 8) out[GRP(0) * 12 + l] = t[l];
  if (l < 2) out[GRP(0) * 12 + 8 + 2 * l] = q[l], out[GRP(0) * 12 + 9 + 2 * l] = q[l] >> 32;
}
