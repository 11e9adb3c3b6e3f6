// CRC-32 by bit and by table, Adler-32, SHA-256, xxHash-like mixing with 64-bit products.
#include "rt.h"
static u8 data[5000];
static u32 table[256];
static u32 crc_bits(const u8 *p, u32 n) {
  u32 c = ~0u;
  while (n--) {
    c ^= *p++;
    for (int k = 0; k < 8; k++) c = c >> 1 ^ (0xedb88320u & -(c & 1));
  }
  return ~c;
}
static u32 crc_table(const u8 *p, u32 n) {
  u32 c = ~0u;
  for (u32 i = 0; i < 256; i++) {
    u32 x = i;
    for (int k = 0; k < 8; k++) x = x & 1 ? x >> 1 ^ 0xedb88320u : x >> 1;
    table[i] = x;
  }
  while (n--) c = table[(c ^ *p++) & 255] ^ c >> 8;
  return ~c;
}
static u32 adler(const u8 *p, u32 n) {
  u32 a = 1, b = 0;
  for (u32 i = 0; i < n; i++) {
    a = (a + p[i]) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}
// The constants of SHA-256 are the fractions of square and cube roots of primes.
// product is a * b >> 32 for a, b below 2^48.
static u64 product(u64 a, u64 b) {
  u64 al = (u32)a, ah = a >> 32, bl = (u32)b, bh = b >> 32;
  return (ah * bh << 32) + ah * bl + al * bh + (al * bl >> 32);
}
static u32 root(u32 prime, int power) {
  u64 lo = 0, hi = 1ull << 37; // 32 bits behind the point
  while (hi - lo > 1) {
    u64 m = lo + (hi - lo) / 2, v = product(m, m);
    if (power == 3) v = product(v, m);
    if (v >= (u64)prime << 32) hi = m; else lo = m;
  }
  return lo;
}
static u32 k256[64], h0[8];
static void primes(void) {
  int n = 0;
  for (u32 p = 2; n < 64; p++) {
    int ok = 1;
    for (u32 d = 2; d * d <= p; d++) ok &= p % d != 0;
    if (!ok) continue;
    if (n < 8) h0[n] = root(p, 2);
    k256[n++] = root(p, 3);
  }
}
#define ROT(x, n) ((x) >> (n) | (x) << (32 - (n)))
static void sha_block(u32 *h, const u8 *p) {
  u32 w[64], v[8];
  for (int i = 0; i < 16; i++) w[i] = p[4 * i] << 24 | p[4 * i + 1] << 16 | p[4 * i + 2] << 8 | p[4 * i + 3];
  for (int i = 16; i < 64; i++) {
    u32 a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + w[i - 7] + (ROT(a, 7) ^ ROT(a, 18) ^ a >> 3) + (ROT(b, 17) ^ ROT(b, 19) ^ b >> 10);
  }
  for (int i = 0; i < 8; i++) v[i] = h[i];
  for (int i = 0; i < 64; i++) {
    u32 e = v[4], a = v[0];
    u32 t1 = v[7] + (ROT(e, 6) ^ ROT(e, 11) ^ ROT(e, 25)) + ((e & v[5]) ^ (~e & v[6])) + k256[i] + w[i];
    u32 t2 = (ROT(a, 2) ^ ROT(a, 13) ^ ROT(a, 22)) + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
    for (int j = 7; j > 0; j--) v[j] = v[j - 1];
    v[4] += t1;
    v[0] = t1 + t2;
  }
  for (int i = 0; i < 8; i++) h[i] += v[i];
}
static void sha(const u8 *p, u32 n, u32 *h) {
  u8 last[128] = {0};
  u32 left = n & 63, m = left < 56 ? 64 : 128;
  for (int i = 0; i < 8; i++) h[i] = h0[i];
  for (u32 i = 0; i + 64 <= n; i += 64) sha_block(h, p + i);
  for (u32 i = 0; i < left; i++) last[i] = p[n - left + i];
  last[left] = 0x80;
  for (int i = 0; i < 8; i++) last[m - 1 - i] = (u64)n * 8 >> (8 * i);
  for (u32 i = 0; i < m; i += 64) sha_block(h, last + i);
}
static u64 mix(const u8 *p, u32 n) {
  u64 h = n * 0x9e3779b97f4a7c15ull;
  for (; n >= 8; n -= 8, p += 8) {
    u64 x;
    __builtin_memcpy(&x, p, 8);
    x *= 0xbf58476d1ce4e5b9ull;
    h ^= x ^ x >> 31;
    h = (h << 27 | h >> 37) * 0x94d049bb133111ebull + 0x165667b19e3779f9ull;
  }
  while (n--) h = (h ^ *p++) * 0x100000001b3ull;
  return h ^ h >> 29;
}
int run(int argc, char **argv) {
  u32 h[8];
  primes();
  hex("k0 ", k256[0]);
  sha((const u8 *)"abc", 3, h);
  hex("abc ", (u64)h[0] << 32 | h[7]);
  fill(data, sizeof data);
  for (u32 n = 0; n < sizeof data; n = n * 2 + 55) {
    hex("bits ", crc_bits(data + 1, n));
    hex("table ", crc_table(data + 1, n));
    hex("adler ", adler(data, n));
    hex("mix ", mix(data + 3, n));
    sha(data, n, h);
    hex("sha ", digest(h, 32));
  }
  return 7;
}
