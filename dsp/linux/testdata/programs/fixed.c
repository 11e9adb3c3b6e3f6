// Fixed-point signal processing: FFT with 16-bit complex numbers, FIR, IIR, matrix products, saturation, dot products.
#include "rt.h"
enum { N = 256 };
static s16 re[N], im[N], wave[N];
static s16 sat16(s32 x) { return x > 32767 ? 32767 : x < -32768 ? -32768 : x; }
static void sines(void) { // by the recurrence s[k+1] = 2cos(w) s[k] - s[k-1], 30 bits behind the point
  s64 c = 1073418433; // cos(2 pi / 256)
  s64 s0 = 0, s1 = 26350943;
  for (int i = 0; i < N; i++) {
    wave[i] = sat16(s0 >> 15);
    s64 s2 = (2 * c * s1 >> 30) - s0;
    s0 = s1;
    s1 = s2;
  }
}
static void fft(void) {
  for (int i = 1, j = 0; i < N; i++) {
    int bit = N >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      s16 t = re[i]; re[i] = re[j]; re[j] = t;
      t = im[i]; im[i] = im[j]; im[j] = t;
    }
  }
  for (int len = 2; len <= N; len <<= 1)
    for (int i = 0; i < N; i += len)
      for (int k = 0; k < len / 2; k++) {
        s32 c = wave[(k * (N / len) + N / 4) & (N - 1)], s = -wave[k * (N / len)];
        int a = i + k, b = a + len / 2;
        s32 xr = (re[b] * c - im[b] * s + 16384) >> 15, xi = (re[b] * s + im[b] * c + 16384) >> 15;
        re[b] = (re[a] - xr) >> 1;
        im[b] = (im[a] - xi) >> 1;
        re[a] = (re[a] + xr) >> 1;
        im[a] = (im[a] + xi) >> 1;
      }
}
static s16 x[600], y[600], h[32];
NOINLINE static void fir(void) {
  for (int i = 0; i + 32 <= 600; i++) {
    s32 acc = 1 << 14;
    for (int k = 0; k < 32; k++) acc += x[i + k] * h[k];
    y[i] = sat16(acc >> 15);
  }
}
NOINLINE static s32 iir(s32 a, s32 b) {
  s32 p = 0, q = 0, sum = 0;
  for (int i = 0; i < 600; i++) {
    s64 v = (s64)x[i] << 16;
    v += (s64)a * p - (s64)b * q;
    q = p;
    p = v > 0x7fffffffll << 15 ? 0x7fffffff : v < -(1ll << 46) ? -0x7fffffff - 1 : v >> 15;
    sum ^= p + i;
  }
  return sum;
}
static s32 ma[20][24], mb[24][28], mc[20][28];
NOINLINE static void product(void) {
  for (int i = 0; i < 20; i++)
    for (int j = 0; j < 28; j++) {
      s64 s = 0;
      for (int k = 0; k < 24; k++) s += (s64)ma[i][k] * mb[k][j];
      mc[i][j] = s >> 20;
    }
}
NOINLINE static s64 dots(const s16 *p, const s16 *q, const u8 *r, int n) {
  s64 s = 0;
  s32 t = 0;
  u32 u = 0;
  for (int i = 0; i < n; i++) {
    s += (s64)p[i] * q[i];
    t += p[i] * r[i];
    u += __builtin_abs(p[i] - q[i]);
  }
  return s ^ ((s64)t << 20) ^ u;
}
NOINLINE static u32 builtins(s32 a, s32 b, s64 c) {
  u32 v = 0;
  v = v * 31 + __builtin_HEXAGON_A2_addsat(a, b);
  v = v * 31 + __builtin_HEXAGON_A2_subsat(a, b);
  v = v * 31 + __builtin_HEXAGON_M2_mpy_up(a, b);
  v = v * 31 + __builtin_HEXAGON_M2_hmmpyh_rs1(a, b);
  v = v * 31 + __builtin_HEXAGON_A2_svaddhs(a, b);
  v = v * 31 + __builtin_HEXAGON_A2_svavgh(a, b);
  v = v * 31 + __builtin_HEXAGON_S2_asl_r_r_sat(a, b & 31);
  v = v * 31 + __builtin_HEXAGON_A2_satb(a) + __builtin_HEXAGON_A2_satuh(b) + __builtin_HEXAGON_A2_sat(c);
  v = v * 31 + __builtin_HEXAGON_S2_vsathub(c) + __builtin_HEXAGON_S2_vrndpackwh(c);
  v = v * 31 + (u32)__builtin_HEXAGON_M2_vabsdiffh(c, c >> 3) + (u32)__builtin_HEXAGON_M2_vrmac_s0(c, c, c * 3);
  v = v * 31 + __builtin_HEXAGON_S2_cl0(a) + __builtin_HEXAGON_S2_clbnorm(b) + __builtin_HEXAGON_S5_popcountp(c);
  v = v * 31 + __builtin_HEXAGON_S2_extractu(a, 7, 9) + __builtin_HEXAGON_S2_insert(a, b, 11, 5) + __builtin_HEXAGON_S4_parity(a, b);
  v = v * 31 + (u32)(__builtin_HEXAGON_S2_interleave(c) >> 9) + (u32)__builtin_HEXAGON_S2_lfsp(c, ~c) + __builtin_HEXAGON_S2_brev(a);
  return v;
}
int run(int argc, char **argv) {
  sines();
  hex("wave ", digest(wave, sizeof wave));
  fill(re, sizeof re);
  fft();
  hex("re ", digest(re, sizeof re));
  hex("im ", digest(im, sizeof im));
  fill(x, sizeof x);
  fill(h, sizeof h);
  fir();
  hex("fir ", digest(y, sizeof y));
  hex("iir ", iir(51234, 21000) ^ iir(65000, 32700));
  fill(ma, sizeof ma);
  fill(mb, sizeof mb);
  product();
  hex("product ", digest(mc, sizeof mc));
  for (int n = 0; n < 20; n += 3) hex("dots ", dots(x, y + n, (u8 *)re, n * n));
  u32 v = 0;
  for (int i = 0; i < 100; i++) v = v * 17 + builtins((s32)rng() >> (i & 15), (s32)rng(), (s64)rng() << (i & 31));
  hex("builtins ", v);
  return 0;
}
