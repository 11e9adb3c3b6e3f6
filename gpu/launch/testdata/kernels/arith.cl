// Integer and float arithmetic of every width.
#include "wi.h"

KERNEL(divide) {
  uint i = GID;
  if (i >= n) return;
  uint x = a[i], y = b[i] >> (a[i] & 31) | 1;
  int sx = (int)a[i], sy = (int)(b[i] >> (b[i] & 31)) | 1;
  if (i & 1) sy = -sy;
  out[i] = x / y + (x % y) * 3 + (uint)(sx / sy) * 5 + (uint)(sx % sy) * 7 + x / 10 + (uint)(sx / 7) + x % 1000;
}

KERNEL(divide64) {
  uint i = GID;
  if (i >= n) return;
  u64 x = (u64)a[i] << 32 | b[i], y = ((u64)b[i] << 32 | a[i]) >> (a[i] & 63) | 1;
  i64 sx = (i64)x, sy = (i64)(y >> 1) | 1;
  if (i & 1) sy = -sy;
  u64 r = x / y + x % y * 3 + (u64)(sx / sy) * 5 + (u64)(sx % sy) * 7;
  out[i] = (uint)r ^ (uint)(r >> 32);
}

KERNEL(long64) {
  uint i = GID;
  if (i >= n) return;
  u64 x = (u64)a[i] << 32 | b[i], y = (u64)b[i] << 32 | a[i];
  u64 r = x * y + (x >> (a[i] & 63)) - (y << (b[i] & 63)) + (u64)((i64)x >> (b[i] & 63));
  r ^= x > y ? x - y : y - x;
  r += (i64)x < (i64)y ? 1 : 100;
  r += __builtin_popcountl(x) + __builtin_clzl(x | 1) * 64 + (x ? __builtin_ctzl(x) : 64) * 4096;
  u64 hi = (u64)(((unsigned __int128)x * y) >> 64);
  out[i] = (uint)r ^ (uint)(r >> 32) ^ (uint)hi ^ (uint)(hi >> 32);
}

KERNEL(bits) {
  uint i = GID;
  if (i >= n) return;
  uint x = a[i], y = b[i], s = y & 31;
  uint r = __builtin_popcount(x) + __builtin_clz(x | 1) * 64 + __builtin_ctz(x | 0x80000000) * 4096;
  r += x << s | x >> ((32 - s) & 31);
  r ^= __builtin_bitreverse32(x) + __builtin_bswap32(y);
  r += (x >> 5 & 0x7F) + (uint)((int)(x << 9) >> 20);
  r += (x & y) | (~x & 0xFF00FF);
  r += (uint)(((u64)x * y) >> 32) + (uint)(((i64)(int)x * (int)y) >> 32);
  r += (x & 0xFFFFFF) * (y & 0xFFFFFF);
  r ^= __builtin_rotateleft32(y, 7);
  out[i] = r;
}

KERNEL(bytes) {
  uint i = GID;
  if (i >= n) return;
  union { uint u; uchar4 v; char4 s; } x, y, r;
  x.u = a[i], y.u = b[i];
  r.v = x.v + y.v * (uchar4)3;
  r.v ^= x.v >> (uchar4)2;
  r.s = r.s - (x.s >> (char4)1);
  uint m = 0;
  for (int k = 0; k < 4; k++) m += (x.v[k] > y.v[k] ? x.v[k] : y.v[k]) * (k + 1) + (x.s[k] < y.s[k]);
  u8 p = (u8)(x.v[1] * y.v[2] + 7);
  i8 q = (i8)(x.s[3] - y.s[0]);
  out[i] = r.u + m + p * 3 + (uint)q + (uint)(u8)(x.v[0] / (y.v[0] | 1)) + (uint)(x.s[1] % (y.s[1] | 1));
}

KERNEL(shorts) {
  uint i = GID;
  if (i >= n) return;
  u16 x = a[i], y = b[i], z = a[i] >> 16;
  i16 sx = x, sy = y;
  u16 r = x + y * z;
  r ^= x >> (y & 15);
  r += sx >> (z & 15);
  r -= x << (z & 7);
  r += sx > sy ? sx : sy;
  r += x < z ? x : z;
  r += sx / (sy | 1);
  union { uint u; short2 v; } p, q, s;
  p.u = a[i], q.u = b[i];
  s.v = p.v * q.v + p.v;
  s.v -= q.v << (short2)3;
  out[i] = r + (s.u ^ (uint)(sx * sy)) + (uint)(x == z) + (uint)(sx < (i16)z) * 2;
}

KERNEL(packbytes) {
  uint i = GID;
  if (i >= n) return;
  GLOBAL const u8 *p = (GLOBAL const u8 *)a + 4 * i;
  GLOBAL u8 *o = (GLOBAL u8 *)out + 4 * i;
  GLOBAL const i16 *h = (GLOBAL const i16 *)b + 2 * i;
  o[0] = p[3] + h[0];
  o[1] = p[2] ^ (h[1] >> 8);
  o[2] = (p[1] + p[0]) >> 1;
  o[3] = (i8)p[0] < 0 ? p[0] >> 1 : p[1] << 1;
}

KERNEL(floats) {
  uint i = GID;
  if (i >= n) return;
  float x = flt(a[i]), y = flt(b[i]);
  float r = x * y + 3 - x;
  r = __builtin_fmaf(x, y, r);
  r += x > y ? x : y;
  r -= __builtin_fabsf(x) < 7 ? -x : y * 0.25f;
  r += __builtin_floorf(x) - __builtin_ceilf(y) + __builtin_truncf(r) + __builtin_rintf(y);
  r += __builtin_fmaxf(x, 3) + __builtin_fminf(y, -2) + __builtin_copysignf(x, y);
  r += -__builtin_fabsf(y);
  out[i] = as_u(r);
}

KERNEL(fdivide) {
  uint i = GID;
  if (i >= n) return;
  float x = flt(a[i]), y = flt(b[i]);
  out[i] = as_u(x / y) + as_u(as_f(a[i] & 0x7FFFFF) / 3) + as_u(1 / (y + 2048));
}

KERNEL(roots) {
  uint i = GID;
  if (i < n) out[i] = as_u(__builtin_sqrtf(__builtin_fabsf(flt(a[i])))) + as_u(__builtin_sqrtf(as_f(b[i] & 0x7FFFFF)));
}

KERNEL(convert) {
  uint i = GID;
  if (i >= n) return;
  uint r = as_u((float)(int)a[i]) + as_u((float)a[i]) * 3 + as_u((float)(u8)(b[i] >> 8)) + as_u((float)(i16)b[i]);
  float x = flt(a[i]);
  r += (uint)(int)x + (uint)__builtin_fabsf(x) * 5 + (uint)(i8)(int)(x * 0.01f) + (uint)(i64)(x * 1024) * 7;
  r += (uint)(((u64)(__builtin_fabsf(x) * 65536)) >> 16);
  r += as_u((float)((u64)a[i] << 32 | b[i])) + as_u((float)(i64)((u64)a[i] << 32 | b[i]));
  out[i] = r;
}

KERNEL(doubles) {
  uint i = GID;
  if (i >= n) return;
  double x = (double)(int)a[i] * 0x1p-7, y = (double)b[i] + 0.125;
  double r = x * y + x - y * 0.5;
  r = __builtin_fma(x, y, r) + (x < y ? x : y);
  r += __builtin_floor(x) + __builtin_trunc(y * 0.3) + __builtin_rint(x) - __builtin_fabs(x) + __builtin_ceil(y * 0.1);
  r += x / y + 1 / (x + 0.3);
  r += __builtin_sqrt(__builtin_fabs(x));
  r += (float)x + (double)flt(a[i]);
  r += (double)((i64)a[i] * (int)b[i]) + (double)((u64)a[i] << 20);
  u64 u = as_l(r);
  out[i] = (uint)u ^ (uint)(u >> 32) ^ (uint)(int)(x * 0.5) ^ (uint)(i64)(y * 3) ^ (uint)(y * 0.25);
}

KERNEL(halves) {
#pragma clang fp contract(off)
  uint i = GID;
  if (i >= n) return;
  half x = (half)(flt(a[i]) * 0.01f), y = (half)(flt(b[i]) * 0.01f);
  half r = x * y + x - y;
  r = x > y ? r + (half)1 : r * (half)0.5f;
  r += x / (half)3;
  half2 p = {x, y}, q = {y, (half)2};
  p = p * q + q - p;
  out[i] = as_u((float)r) + as_u((float)p.x) * 3 + as_u((float)p.y) * 5 + (uint)(int)(short)x;
}

KERNEL(vectors) {
  uint i = GID;
  if (i >= n / 4) return;
  GLOBAL const float4 *x = (GLOBAL const float4 *)a;
  GLOBAL const int4 *y = (GLOBAL const int4 *)b;
  int4 k = y[i];
  float4 f = {flt(a[4 * i]), flt(a[4 * i + 1]), 3, flt(b[i])};
  f = f * f.yxwz + (float4)1;
  k = k * k.wzyx + (int4)(i);
  int4 m = k > 0;
  k = (k & m) | ((k ^ 5) & ~m);
  ((GLOBAL int4 *)out)[i] = k + (int4){(int)f.x, (int)f.y, (int)f.z, (int)f.w};
}

KERNEL(dot8) {
  uint i = GID;
  if (i >= n) return;
  int s = 0;
  for (uint k = 0; k < 8; k++) {
    uint x = a[(i + k) % n], y = b[(i * 3 + k) % n];
    for (int j = 0; j < 4; j++) s += (int)(i8)(x >> (8 * j)) * (int)(i8)(y >> (8 * j));
  }
  out[i] = s;
}

KERNEL(softfloat) {
  // Special values through compares and classification.
  uint i = GID;
  if (i >= n) return;
  float x = as_f(a[i]), y = as_f(b[i]);
  uint r = (x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | (x > y) << 4 | (x >= y) << 5;
  r |= __builtin_isnan(x) << 6 | __builtin_isinf(y) << 7 | (__builtin_isunordered(x, y) != 0) << 8;
  r |= (as_u(x) >> 31) << 9 | (__builtin_fabsf(x) < 1) << 10 | (!(x < y)) << 11;
  out[i] = r;
}
