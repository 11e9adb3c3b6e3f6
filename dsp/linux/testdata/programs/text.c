// Strings: compare, search, tokenize, parse numbers, reverse, base64, run lengths, word counts.
#include "rt.h"
static const char text[] = "the quick brown fox jumps over the lazy dog, 0x1fB -42 007 99999999999 and the end; THE dog is  not amused";
static char buf[4096];
static int compare(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return (u8)*a - (u8)*b;
}
static const char *search(const char *a, const char *b) {
  u32 n = length(b);
  for (; *a; a++) {
    u32 i = 0;
    while (i < n && a[i] == b[i]) i++;
    if (i == n) return a;
  }
  return 0;
}
static s64 number(const char *s, int base) {
  s64 v = 0;
  int neg = *s == '-';
  for (s += neg; *s; s++) {
    int d = *s >= '0' && *s <= '9' ? *s - '0' : *s >= 'a' && *s <= 'z' ? *s - 'a' + 10 : *s >= 'A' && *s <= 'Z' ? *s - 'A' + 10 : 99;
    if (d >= base) break;
    v = v * base + d;
  }
  return neg ? -v : v;
}
static int words(char *s, char **out) {
  int n = 0;
  while (*s) {
    while (*s == ' ' || *s == ',' || *s == ';') *s++ = 0;
    if (!*s) break;
    out[n++] = s;
    while (*s && *s != ' ' && *s != ',' && *s != ';') s++;
  }
  return n;
}
static u32 base64(const u8 *p, u32 n, char *o) {
  static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  char *s = o;
  for (u32 i = 0; i < n; i += 3) {
    u32 w = p[i] << 16 | (i + 1 < n ? p[i + 1] << 8 : 0) | (i + 2 < n ? p[i + 2] : 0);
    *o++ = digits[w >> 18];
    *o++ = digits[w >> 12 & 63];
    *o++ = i + 1 < n ? digits[w >> 6 & 63] : '=';
    *o++ = i + 2 < n ? digits[w & 63] : '=';
  }
  return o - s;
}
static u32 runs(const u8 *p, u32 n, u8 *o) {
  u32 k = 0;
  for (u32 i = 0, j; i < n; i = j) {
    for (j = i; j < n && p[j] == p[i] && j - i < 255; j++);
    o[k++] = j - i;
    o[k++] = p[i];
  }
  return k;
}
int run(int argc, char **argv) {
  char *w[64], copy[sizeof text];
  for (u32 i = 0; i < sizeof text; i++) copy[i] = text[i];
  int n = words(copy, w);
  for (int i = 0; i < n; i++)
    for (int j = i; j > 0 && compare(w[j - 1], w[j]) > 0; j--) {
      char *x = w[j];
      w[j] = w[j - 1];
      w[j - 1] = x;
    }
  for (int i = 0; i < n; i++) {
    puts1(w[i]);
    puts1("|");
    hex("", number(w[i], 10) ^ number(w[i], 16) * 3 ^ number(w[i], 36) * 5);
  }
  hex("dog ", search(text, "dog") - text);
  hex("dog i ", search(text, "dog i") - text);
  hex("none ", (u32)search(text, "zebra"));
  u32 k = base64((const u8 *)text, sizeof text - 1, buf);
  buf[k] = '\n';
  put(buf, k + 1);
  static u8 r[3000];
  for (u32 i = 0; i < sizeof r; i++) r[i] = rng() % 7 == 0 ? rng() : r[i ? i - 1 : 0];
  k = runs(r, sizeof r, (u8 *)buf);
  hex("runs ", digest(buf, k) + k);
  for (int i = 1; i < argc; i++) { puts1(argv[i]); puts1("\n"); }
  return n;
}
