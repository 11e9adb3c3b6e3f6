// Division of 32 and 64 bits, decimal output, gcd, modular powers, square roots, bit counts.
#include "rt.h"
static void decimal(s64 v) {
  char line[24];
  int i = 24;
  u64 u = v < 0 ? -(u64)v : v;
  line[--i] = '\n';
  do line[--i] = '0' + u % 10; while (u /= 10);
  if (v < 0) line[--i] = '-';
  put(line + i, 24 - i);
}
static u64 gcd(u64 a, u64 b) { return b ? gcd(b, a % b) : a; }
static u32 power(u32 b, u32 e, u32 m) {
  u64 r = 1, x = b % m;
  for (; e; e >>= 1, x = x * x % m) if (e & 1) r = r * x % m;
  return r;
}
static u32 root(u64 v) {
  u64 r = 0;
  for (u64 bit = 1ull << 31; bit; bit >>= 1) if ((r | bit) * (r | bit) <= v) r |= bit;
  return r;
}
static u64 wide(void) { return (u64)rng() << 32 | rng(); }
int run(int argc, char **argv) {
  u64 h = 0;
  for (int i = 0; i < 60; i++) {
    u64 a = wide() >> (i % 50), b = (wide() >> (i * 7 % 61)) | 1;
    s64 c = (s64)wide() >> (i % 43), d = ((s64)wide() >> (i * 5 % 60)) | 1;
    h = h * 31 + a / b + a % b * 3 + (u64)(c / d) + (u64)(c % d) * 5;
    h = h * 31 + (u32)a / ((u32)b | 1) + (u32)((s32)c % ((s32)d | 1)) + (u32)(s16)c / 7 + (s32)a / 10 + (s8)d % 3;
    h += gcd(a, b) + power(a, b, (u32)c | 1) + root(a);
    h += __builtin_clz((u32)a | 1) + __builtin_ctz((u32)b) * 2 + __builtin_clzll(a | 1) * 3 + __builtin_popcountll(b) + __builtin_ctzll(b << 9 | 1ull << 60);
    h ^= __builtin_bswap32(a) ^ __builtin_bswap64(b) ^ __builtin_bitreverse32(c) ^ __builtin_bswap16(d);
    h ^= (a << (i & 63)) ^ (b >> (i * 3 & 63)) ^ (u64)(c >> (i * 11 & 63)) ^ (u64)(s32)((s32)c >> (i & 31)) ^ ((u32)b << (i * 7 & 31));
    decimal((s64)a);
    decimal(d);
    decimal((s32)(a >> 7));
  }
  hex("sum ", h);
  for (u32 n = 0; n < 40; n++) decimal(__builtin_labs((s32)rng()) / (s32)(n * n * n + 1));
  return 0;
}
