// Run time of the test programs: start, output, pseudo-random numbers and what
// the compiler calls instead of instructions. Included once per program.
#ifndef RT_H
#define RT_H
typedef unsigned char u8;
typedef signed char s8;
typedef unsigned short u16;
typedef short s16;
typedef unsigned u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;

#define NOINLINE __attribute__((noinline))
#define ALIGNED __attribute__((aligned(128)))

static long syscall3(long n, long a, long b, long c) {
  register long r6 __asm__("r6") = n;
  register long r0 __asm__("r0") = a, r1 __asm__("r1") = b, r2 __asm__("r2") = c;
  __asm__ volatile("trap0(#1)" : "+r"(r0) : "r"(r6), "r"(r1), "r"(r2) : "memory");
  return r0;
}

static void leave(int status) {
  syscall3(94, status, 0, 0);
  __builtin_unreachable();
}

static void put(const void *p, u32 n) {
  const char *s = p;
  while (n > 0) {
    long w = syscall3(64, 1, (long)s, n);
    if (w <= 0) leave(99);
    s += w;
    n -= w;
  }
}

void *memset(void *p, int c, u32 n) {
  volatile u8 *d = p;
  while (n--) *d++ = c;
  return p;
}

void *memcpy(void *p, const void *q, u32 n) {
  volatile u8 *d = p;
  const u8 *s = q;
  while (n--) *d++ = *s++;
  return p;
}

static u32 length(const char *s) {
  u32 n = 0;
  while (s[n]) n++;
  return n;
}

static void puts1(const char *s) { put(s, length(s)); }

static void hex(const char *name, u64 v) {
  char line[17];
  puts1(name);
  for (int i = 15; i >= 0; i--, v >>= 4) line[i] = "0123456789abcdef"[v & 15];
  line[16] = '\n';
  put(line, 17);
}

static u64 rng_state = 88172645463325252ull;
static u32 rng(void) {
  rng_state ^= rng_state << 13;
  rng_state ^= rng_state >> 7;
  rng_state ^= rng_state << 17;
  return rng_state >> 16;
}

static u64 digest(const void *p, u32 n) {
  const u8 *s = p;
  u64 h = 14695981039346656037ull;
  for (u32 i = 0; i < n; i++) h = (h ^ s[i]) * 1099511628211ull;
  return h;
}

static void fill(void *p, u32 n) {
  u8 *d = p;
  for (u32 i = 0; i < n; i++) d[i] = rng() >> 3;
}

// Division by shifting and subtracting: what remains of a run-time library.
static u64 divide(u64 a, u64 b, u64 *rest) {
  u64 q = 0, r = 0;
  for (int i = 63; i >= 0; i--) {
    r = r << 1 | (a >> i & 1);
    q <<= 1;
    if (r >= b) {
      r -= b;
      q |= 1;
    }
  }
  *rest = r;
  return q;
}
u64 __hexagon_udivdi3(u64 a, u64 b) { u64 r; return divide(a, b, &r); }
u64 __hexagon_umoddi3(u64 a, u64 b) { u64 r; divide(a, b, &r); return r; }
s64 __hexagon_divdi3(s64 a, s64 b) {
  u64 r, q = divide(a < 0 ? -(u64)a : a, b < 0 ? -(u64)b : b, &r);
  return (a ^ b) < 0 ? -q : q;
}
s64 __hexagon_moddi3(s64 a, s64 b) {
  u64 r;
  divide(a < 0 ? -(u64)a : a, b < 0 ? -(u64)b : b, &r);
  return a < 0 ? -r : r;
}
u32 __hexagon_udivsi3(u32 a, u32 b) { return __hexagon_udivdi3(a, b); }
u32 __hexagon_umodsi3(u32 a, u32 b) { return __hexagon_umoddi3(a, b); }
s32 __hexagon_divsi3(s32 a, s32 b) { return __hexagon_divdi3(a, b); }
s32 __hexagon_modsi3(s32 a, s32 b) { return __hexagon_moddi3(a, b); }
void __hexagon_memcpy_likely_aligned_min32bytes_mult8bytes(void *d, const void *s, u32 n) { memcpy(d, s, n); }

int run(int argc, char **argv);
__attribute__((used)) static void begin(long *sp) { leave(run(sp[0], (char **)(sp + 1))); }
__asm__(".globl _start\n_start:\n{ r0 = r29; r29 = and(r29, #-128) }\n{ call begin }\n");
#endif
