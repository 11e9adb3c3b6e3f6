// Loops for the vectorizer: each over several lengths and alignments.
#include "rt.h"
enum { N = 400 };
static s8 b0[N + 8] ALIGNED, b1[N + 8] ALIGNED;
static u8 u0[N + 8] ALIGNED, u1[N + 8] ALIGNED, u2[N + 8] ALIGNED;
static s16 h0[N + 8] ALIGNED, h1[N + 8] ALIGNED;
static u16 v0[N + 8] ALIGNED, v1[N + 8] ALIGNED;
static s32 w0[N + 8] ALIGNED, w1[N + 8] ALIGNED;
static u32 x0[N + 8] ALIGNED, x1[N + 8] ALIGNED;
static s64 d0[N + 8] ALIGNED;
#define LOOP(name, body) NOINLINE static void name(int o, int n, int k) { for (int i = 0; i < n; i++) { int j = i + o; (void)j; body; } }
LOOP(addb, u2[i] = u0[i] + u1[j])
LOOP(avg, u2[i] = (u0[i] + u1[j] + 1) >> 1)
LOOP(satadd, { int s = u0[i] + u1[j]; u2[i] = s > 255 ? 255 : s; })
LOOP(satsub, { int s = u0[i] - u1[j]; u2[i] = s < 0 ? 0 : s; })
LOOP(diff, u2[i] = u0[i] > u1[j] ? u0[i] - u1[j] : u1[j] - u0[i])
LOOP(widen, h0[i] = u0[i] * b1[j])
LOOP(widen4, w0[i] = u0[j] * 3 - b1[i])
LOOP(narrow, u2[i] = (u16)v0[j] >> 3)
LOOP(clamp, { int x = h0[i] >> 4; u2[i] = x < 0 ? 0 : x > 255 ? 255 : x; })
LOOP(mulh, h0[i] = h1[i] * h0[j] >> 3)
LOOP(mulw, w0[i] = w1[j] * w0[i] + k)
LOOP(mulq, w0[i] = (s64)w1[j] * w0[i] >> 31)
LOOP(shift, w0[i] = w1[j] >> k)
LOOP(shiftv, x0[i] = x1[j] << (u0[i] & 31))
LOOP(select, w0[i] = w1[i] > w0[j] ? w1[i] & k : w0[j] ^ k)
LOOP(mixed, { if (h1[i] > 100) b0[i] = b1[j]; })
LOOP(minmax, { b0[i] = b0[i] < b1[j] ? b0[i] : b1[j]; v0[i] = v0[i] > v1[i] ? v0[i] : v1[i]; })
LOOP(stride, u2[i] = u0[i / 2 * 2 % N])
LOOP(gatherb, u2[i] = u0[u1[i]])
LOOP(long64, d0[i] += (s64)w1[j] * k)
LOOP(popc, x0[i] = __builtin_popcount(x1[j]) + __builtin_clz(x1[i] | 1))
LOOP(absw, w0[i] = __builtin_abs(w1[j] >> 1))
LOOP(fillv, { v0[i] = k; u2[j] = k >> 1; })
LOOP(evens, if (2 * j + 1 < N) h0[i] = h1[2 * j] + h1[2 * j + 1])
LOOP(deint, if (3 * i + 2 < N) { u2[i] = (u0[3 * i] * 77 + u0[3 * i + 1] * 150 + u0[3 * i + 2] * 29) >> 8; })
NOINLINE static s64 reduce(int o, int n) {
  s32 a = 0, m = -(1 << 30), x = 0;
  u32 s = 0, p = 0;
  s64 l = 0;
  for (int i = 0; i < n; i++) a += u0[i] * b1[i + o];
  for (int i = 0; i < n; i++) m = w0[i + o] > m ? w0[i + o] : m;
  for (int i = 0; i < n; i++) x ^= w1[i + o];
  for (int i = 0; i < n; i++) s += u0[i] > u1[i + o] ? u0[i] - u1[i + o] : u1[i + o] - u0[i];
  for (int i = 0; i < n; i++) p += h1[i] > 7;
  for (int i = 0; i < n; i++) l += h0[i] * h1[i + o];
  return l * 5 + a * 7ll + m * 11ll + x * 13ll + s * 17ll + p;
}
int run(int argc, char **argv) {
  static const int lengths[] = {0, 3, 64, 129, 255, 390};
  static void (*const f[])(int, int, int) = {addb, avg, satadd, satsub, diff, widen, widen4, narrow, clamp, mulh, mulw, mulq, shift, shiftv,
    select, mixed, minmax, stride, gatherb, long64, popc, absw, fillv, evens, deint};
  for (u32 t = 0; t < sizeof f / sizeof f[0]; t++) {
    u64 s = 0;
    for (u32 l = 0; l < sizeof lengths / sizeof lengths[0]; l++)
      for (int o = 0; o < 6; o += 1 + o) {
        if (l % 3 == 0 && o < 2) {
          u8 *all[] = {(u8 *)b0, (u8 *)b1, u0, u1, u2, (u8 *)h0, (u8 *)h1, (u8 *)v0, (u8 *)v1, (u8 *)w0, (u8 *)w1, (u8 *)x0, (u8 *)x1};
          static const u8 size[] = {1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4};
          for (u32 i = 0; i < sizeof size; i++) {
            u32 v = rng();
            for (int j = 0; j < (N + 8) * size[i]; j++) all[i][j] = (v = v * 1664525 + 1013904223) >> 24;
          }
        }
        f[t](o, lengths[l], (int)l * 3 % 31);
        u64 v = 0;
        for (int i = 0; i < N; i += 1 + t % 3) v = v * 31 + b0[i] + u2[i] * 3 + h0[i] * 5 + v0[i] * 7 + w0[i] * 11ll + x0[i] * 13ull + d0[i];
        s = s * 1000003 + v + reduce(o, lengths[l]);
      }
    hex("loop ", s);
  }
  return 0;
}
