// Elementwise kernels, ids, loops and branches.
#include "wi.h"

KERNEL(vadd) {
  uint i = GID;
  if (i < n) out[i] = a[i] + b[i];
}

KERNEL(saxpy) {
  uint i = GID;
  if (i < n) out[i] = as_u(2.5f * flt(a[i]) + flt(b[i]));
}

KERNEL(ids) {
  uint i = GID;
  if (i < n) out[i] = LID(0) | GRP(0) << 8 | LSZ(0) << 16 | NGRP(0) << 24;
}

KERNEL(ids3) {
  uint x = GRP(0) * LSZ(0) + LID(0), y = GRP(1) * LSZ(1) + LID(1), z = GRP(2) * LSZ(2) + LID(2);
  uint w = NGRP(0) * LSZ(0), h = NGRP(1) * LSZ(1);
  uint i = (z * h + y) * w + x;
  if (i < n) out[i] = x | y << 8 | z << 16 | LID(1) << 24;
}

KERNEL(collatz) {
  uint i = GID;
  if (i >= n) return;
  uint v = a[i] % 1000 + 1, steps = 0;
  while (v != 1) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    steps++;
  }
  out[i] = steps;
}

KERNEL(switches) {
  uint i = GID;
  if (i >= n) return;
  uint v = a[i], r;
  switch (v % 11) {
  case 0: r = v * 3; break;
  case 1: r = v ^ b[i]; break;
  case 2: r = v >> 3; break;
  case 3: r = b[i]; // falls through
  case 4: r = v + 77; break;
  case 5: r = ~v; break;
  case 6: r = v / (b[i] | 1); break;
  case 7: for (r = 0; v; v &= v - 1) r++; break;
  case 9: r = v - b[i]; break;
  default: r = 1234;
  }
  out[i] = r;
}

KERNEL(mandelbrot) {
  uint i = GID;
  if (i >= n) return;
  float cx = (float)(i % 32) * (3.0f / 32) - 2.25f, cy = (float)(i / 32 % 32) * (2.5f / 32) - 1.25f;
  float x = 0, y = 0;
  uint k = 0;
  for (; k < 100; k++) {
    float xx = x * x, yy = y * y;
    if (xx + yy > 4) break;
    y = 2 * x * y + cy;
    x = xx - yy + cx;
  }
  out[i] = k;
}

CONSTANT int table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
CONSTANT float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

KERNEL(constants) {
  uint i = GID;
  if (i < n) out[i] = table[a[i] & 15] * table[i & 15] + table[i * 7 & 15];
}

KERNEL(blur) {
  uint i = GID;
  if (i >= n) return;
  float s = 0;
  for (int k = -2; k <= 2; k++) {
    int j = (int)i + k;
    if (j < 0) j = 0;
    if (j >= (int)n) j = n - 1;
    s += weights[k + 2] * flt(a[j]);
  }
  out[i] = as_u(s);
}
