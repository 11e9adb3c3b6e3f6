// Floating point: products and quotients of doubles in integers, series, a linear system, conversions, comparisons.
#include "rt.h"
static u64 bits(double x) { union { double d; u64 u; } v = {x}; return v.u; }
static double value(u64 x) { union { u64 u; double d; } v = {x}; return v.d; }
// Rounds sign, exponent and a significand with its leading bit at 63 and a sticky bit at 0.
static u64 rounded(u64 sign, int e, u64 m) {
  if (e >= 2047) return sign | 0x7ff0000000000000ull;
  if (e <= 0) {
    if (e < -60) return sign;
    u64 lost = m << (63 + e) << 1 >> 1;
    m = m >> (1 - e) | (e < 1 && (m << (63 + e)) != 0);
    (void)lost;
    e = 0;
  }
  u64 up = m & 0x7ff, q = m >> 11;
  u64 r = e ? ((u64)e << 52) + (q & 0xfffffffffffffull) : q;
  if (up > 0x400 || up == 0x400 && (q & 1)) r++;
  return sign | r;
}
static int split(u64 x, u64 *m) {
  int e = x >> 52 & 2047;
  *m = x << 12 >> 1;
  if (e) *m |= 1ull << 63;
  else {
    e = 1;
    if (*m) while (!(*m >> 63)) *m <<= 1, e--;
  }
  return e;
}
double __hexagon_muldf3(double a, double b) {
  u64 x = bits(a), y = bits(b), sign = (x ^ y) & 1ull << 63, m, n;
  int ea = x >> 52 & 2047, eb = y >> 52 & 2047;
  if (ea == 2047 || eb == 2047) {
    if ((ea == 2047 && x << 12) || (eb == 2047 && y << 12) || !(x << 1) || !(y << 1)) return value(0x7ff8000000000000ull);
    return value(sign | 0x7ff0000000000000ull);
  }
  if (!(x << 1) || !(y << 1)) return value(sign);
  int e = split(x, &m) + split(y, &n) - 1022;
  u64 ll = (m & 0xffffffff) * (n & 0xffffffff), lh = (m & 0xffffffff) * (n >> 32), hl = (m >> 32) * (n & 0xffffffff), hh = (m >> 32) * (n >> 32);
  u64 mid = (ll >> 32) + (u32)lh + (u32)hl, low = mid << 32 | (u32)ll, high = hh + (lh >> 32) + (hl >> 32) + (mid >> 32);
  if (!(high >> 63)) high = high << 1 | low >> 63, low <<= 1, e--;
  return value(rounded(sign, e, high | (low != 0)));
}
double __hexagon_divdf3(double a, double b) {
  u64 x = bits(a), y = bits(b), sign = (x ^ y) & 1ull << 63, m, n, q = 0;
  int ea = x >> 52 & 2047, eb = y >> 52 & 2047;
  if (ea == 2047 || eb == 2047 || !(x << 1) || !(y << 1)) {
    if ((ea == 2047 && x << 12) || (eb == 2047 && y << 12) || (ea == 2047 && eb == 2047) || (!(x << 1) && !(y << 1))) return value(0x7ff8000000000000ull);
    return value(sign | (ea == 2047 || !(y << 1) ? 0x7ff0000000000000ull : 0));
  }
  int e = split(x, &m) - split(y, &n) + 1023;
  if (m < n) e--;
  u64 r = m < n ? m : m - n;
  q = m < n ? 0 : 1;
  for (int i = m < n ? 0 : 1; i < 64; i++) {
    u64 top = r >> 63;
    r <<= 1;
    q <<= 1;
    if (top || r >= n) r -= n, q |= 1;
  }
  return value(rounded(sign, e, q | (r != 0)));
}
double __hexagon_fast2_muldf3(double a, double b) { return __hexagon_muldf3(a, b); }
double __hexagon_fast2_divdf3(double a, double b) { return __hexagon_divdf3(a, b); }
float __hexagon_divsf3(float a, float b) { return (float)__hexagon_divdf3(a, b); }
NOINLINE static double root(double x) {
  double y = x > 1 ? x : 1;
  for (int i = 0; i < 60; i++) y = 0.5 * (y + x / y);
  return y;
}
NOINLINE static double exponential(double x) {
  double s = 1, t = 1;
  for (int i = 1; i < 40; i++) s += t = t * x / i;
  return s;
}
NOINLINE static void sincos(double x, double *s, double *c) {
  double t = 1;
  *s = *c = 0;
  for (int i = 0; i < 40; i += 2) {
    *c += i & 2 ? -t : t;
    t = t * x / (i + 1);
    *s += i & 2 ? -t : t;
    t = t * x / (i + 2);
  }
}
enum { N = 7 };
static double a[N][N + 1];
NOINLINE static void solve(void) {
  for (int i = 0; i < N; i++) {
    int p = i;
    for (int k = i; k < N; k++) if ((a[k][i] < 0 ? -a[k][i] : a[k][i]) > (a[p][i] < 0 ? -a[p][i] : a[p][i])) p = k;
    for (int k = 0; k <= N; k++) { double t = a[i][k]; a[i][k] = a[p][k]; a[p][k] = t; }
    for (int k = 0; k < N; k++) if (k != i) {
      double f = a[k][i] / a[i][i];
      for (int j = i; j <= N; j++) a[k][j] -= f * a[i][j];
    }
  }
}
static float single[40];
NOINLINE static float dot(int n) {
  float s = 0;
  for (int i = 0; i < n; i++) s += single[i] * single[n - i];
  return s;
}
int run(int argc, char **argv) {
  const u64 odd[] = {0, 1, 0x10000000000000ull, 0xfffffffffffffull, 0x3ff0000000000000ull, 0x3ff0000000000001ull, 0x7fefffffffffffffull, 0x7ff0000000000000ull,
                     0xbff8000000000000ull, 0x8000000000000000ull, 0xc1e0000000000000ull, 0x41dfffffffc00000ull, 0x43e0000000000000ull, 0x3fd5555555555555ull};
  u64 h = 0;
  for (u32 i = 0; i < sizeof odd / 8; i++)
    for (u32 j = 0; j < sizeof odd / 8; j++) {
      double x = value(odd[i]), y = value(odd[j]);
      h = h * 31 + bits(x + y) + bits(x - y) * 3 + bits(x * y) * 5 + (y != 0 || x != 0 ? bits(x / y) * 7 : 0);
      h = h * 2 + (x < y) + (x <= y) * 4 + (x == y) * 16 + (x != y) * 64 + (x > y) * 256;
    }
  hex("edges ", h);
  for (int i = 0; i < 200; i++) {
    double x = (double)(s32)rng() / 1024, y = (double)(s64)((u64)rng() << 20 | rng());
    h = h * 33 + bits(x * y) + bits(x / (y + 0.5)) + bits(x + y);
    h ^= (u64)(s64)(x * 3.7) + (u32)(s32)x + (u64)(x < 0 ? 0 : (u64)x);
    float f = x, g = y;
    union { float f; u32 u; } r = {f * g + f / g - g};
    h = h * 33 + r.u + (s32)(f / 7) + (u32)(f < 0 ? 0 : (u32)f) + (s64)g;
  }
  hex("random ", h);
  for (int i = 1; i < 30; i += 4) {
    double s, c;
    hex("root ", bits(root(i)));
    hex("exp ", bits(exponential(i * 0.3 - 4)));
    sincos(i * 0.21, &s, &c);
    hex("sin ", bits(s));
    hex("one ", bits(s * s + c * c));
  }
  for (int i = 0; i < N; i++) for (int j = 0; j <= N; j++) a[i][j] = (s32)(rng() % 2001) / 100.0 - 10;
  solve();
  for (int i = 0; i < N; i++) hex("x ", bits(a[i][N] / a[i][i]));
  for (int i = 0; i < 40; i++) single[i] = (s32)rng() * 0x1p-20f;
  union { float f; u32 u; } d = {dot(39)};
  hex("dot ", d.u);
  return h & 31;
}
