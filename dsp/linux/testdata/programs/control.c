// Switch tables, recursion, loops that run never or once, gotos, function tables, variable arguments, structs by value.
#include "rt.h"
typedef __builtin_va_list va_list;
NOINLINE static s64 sum(const char *form, ...) {
  va_list ap;
  s64 s = 0;
  __builtin_va_start(ap, form);
  for (; *form; form++) switch (*form) {
    case 'i': s = s * 3 + __builtin_va_arg(ap, int); break;
    case 'l': s = s * 5 + __builtin_va_arg(ap, s64); break;
    case 'p': s = s * 7 + *__builtin_va_arg(ap, int *); break;
    case 's': s = s * 11 + length(__builtin_va_arg(ap, char *)); break;
    default: s = ~s;
  }
  __builtin_va_end(ap);
  return s;
}
NOINLINE static int dense(int op, int a, int b) {
  switch (op) {
  case 0: return a + b;
  case 1: return a - b;
  case 2: return a * b;
  case 3: return a & b;
  case 4: return a | b;
  case 5: return a ^ b;
  case 6: return a << (b & 31);
  case 7: return a >> (b & 31);
  case 8: return (u32)a >> (b & 31);
  case 9: return a < b;
  case 10: return a == b ? a : ~b;
  case 11: return a > b ? a : b;
  case 12: return -a;
  case 13: return (s16)a * (s16)b;
  case 14: return (u16)a * (u16)b;
  case 15: return ((s64)a * b) >> 32;
  default: return 0x55;
  }
}
NOINLINE static int sparse(int x) {
  switch (x) {
  case -5: return 1;
  case 100: return 2;
  case 3000: return 3;
  case 65536: return 4;
  case 0x7fffffff: return 5;
  }
  return x & 0x80 ? 6 : 7;
}
NOINLINE static u32 ackermann(u32 m, u32 n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }
NOINLINE static int hanoi(int n, int a, int b, int c) { return n == 0 ? 0 : hanoi(n - 1, a, c, b) + (a * 4 + c) + hanoi(n - 1, b, a, c) * 3; }
NOINLINE static u32 loops(int n, int m) {
  u32 s = 1;
  for (int i = 0; i < n; i++) {
    s = s * 33 + i;
    for (int j = 0; j < m; j++) s ^= s << 3 ^ j;
    for (int j = n; j > m; j -= 2) s += j;
  }
  do s = s * 17 + m; while ((m >>= 1) > 0);
  return s;
}
struct small { s16 x, y; };
struct mid { s32 a; u64 b; };
struct big { u8 c[37]; s32 d; u64 e[5]; };
NOINLINE static struct small turn(struct small p) { return (struct small){-p.y, p.x}; }
NOINLINE static struct mid blend(struct mid p, struct small q) { p.a += q.x; p.b ^= (u64)q.y << 20; return p; }
NOINLINE static struct big spread(struct big p, int k) {
  for (int i = 0; i < 37; i++) p.c[i] = p.c[i] * k + i;
  p.d -= k;
  for (int i = 0; i < 5; i++) p.e[i] += (u64)p.d << (i * 9);
  return p;
}
NOINLINE static u32 machine(const u8 *code) {
  static void *to[] = {&&inc, &&dbl, &&neg, &&jump, &&stop};
  u32 x = 1, n = 0, pc = 0;
  goto *to[code[pc]];
inc: x += 3; n++; goto *to[code[++pc]];
dbl: x += x; n++; goto *to[code[++pc]];
neg: x = ~x; n++; goto *to[code[++pc]];
jump: if (++n < 200) pc = 0; else pc++; goto *to[code[pc]];
stop: return x * 1000 + n;
}
static struct { u32 word[64]; u16 half[64]; u8 byte[64]; s64 wide[8]; } m;
NOINLINE static void memops(int i, u32 v) { // read, change and write back in place
  m.word[i] += 5; m.word[i + 1] -= v; m.word[i + 2] |= 1u << 9; m.word[i + 3] &= ~(1u << 4); m.word[i + 4] ^= v; m.word[i + 5]++;
  m.half[i] += v; m.half[i + 1] -= 9; m.half[i + 2] |= v; m.half[i + 3] &= v; m.half[i + 4] |= 1 << 11;
  m.byte[i] += 31; m.byte[i + 1] -= v; m.byte[i + 2] &= v; m.byte[i + 3] |= v; m.byte[i + 4] &= ~2;
  m.wide[i & 7] += (s64)v << 13;
  m.wide[i + 3 & 7]--;
}
int run(int argc, char **argv) {
  int n = -77;
  hex("none ", sum(""));
  hex("all ", sum("ilpsilpsilli", 1, 2ll << 33, &n, "four", -5, -6ll, &n, "", 9, 1ll << 62, -1ll, 12));
  hex("ints ", sum("iiiiiiiiiii", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  hex("longs ", sum("llill", 1ll, 2ll, 3, 4ll, 5ll));
  u32 h = 0;
  for (int i = 0; i < 400; i++) h = h * 31 + dense(i % 18 - 1, rng(), rng() >> (i & 31)) + sparse((int[]){-5, 100, 3000, 65536, 0x7fffffff, 0x80, i}[i % 7]);
  hex("switch ", h);
  hex("ackermann ", ackermann(2, 9) * 1000 + ackermann(3, 3));
  hex("hanoi ", hanoi(9, 1, 2, 3));
  for (int i = -1; i < 4; i++) for (int j = -2; j < 4; j++) hex("loops ", loops(i, j));
  hex("loops ", loops(40, 70));
  struct small p = {3, -4};
  struct mid q = {5, 6};
  struct big b;
  fill(&b, sizeof b);
  b.d = 99;
  for (int i = 0; i < 50; i++) {
    p = turn(p);
    p.x += i;
    q = blend(q, p);
    b = spread(b, q.a);
  }
  hex("structs ", q.b ^ q.a ^ digest(b.c, 37) ^ b.e[4]);
  hex("machine ", machine((const u8[]){0, 1, 0, 2, 1, 3, 4}));
  for (int i = 0; i < 300; i++) memops(i % 55, rng());
  hex("memops ", digest(&m, sizeof m));
  return (int)h & 63;
}
