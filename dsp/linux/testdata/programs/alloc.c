// Memory: an allocator over brk and mmap, copies and comparisons of every alignment, frames of any size, non-local jumps.
#include "rt.h"
static void *system_break(u32 n) { // grows the heap by n bytes
  static u32 top;
  if (!top) top = syscall3(214, 0, 0, 0);
  u32 at = top, want = top + n;
  if ((u32)syscall3(214, want, 0, 0) != want) return 0;
  top = want;
  return (void *)at;
}
static void *map(u32 n) {
  register long r6 __asm__("r6") = 222;
  register long r0 __asm__("r0") = 0, r1 __asm__("r1") = n, r2 __asm__("r2") = 3, r3 __asm__("r3") = 0x22, r4 __asm__("r4") = -1, r5 __asm__("r5") = 0;
  __asm__ volatile("trap0(#1)" : "+r"(r0) : "r"(r6), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5) : "memory");
  return (u32)r0 > -4096u ? 0 : (void *)r0;
}
struct block { u32 size; struct block *next; };
static struct block *freed;
static u32 live;
static void *allocate(u32 n) {
  n = (n + 15) & ~15;
  for (struct block **p = &freed; *p; p = &(*p)->next)
    if ((*p)->size >= n) {
      struct block *b = *p;
      if (b->size >= n + 64) {
        struct block *rest = (struct block *)((char *)b + 16 + n);
        *rest = (struct block){b->size - n - 16, b->next};
        *p = rest;
        b->size = n;
      } else
        *p = b->next;
      live += b->size;
      return (char *)b + 16;
    }
  struct block *b = n >= 65536 ? map(n + 16) : system_break(n + 16);
  if (!b) leave(90);
  b->size = n;
  live += n;
  return (char *)b + 16;
}
static void give(void *p) {
  struct block *b = (struct block *)((char *)p - 16);
  live -= b->size;
  b->next = freed;
  freed = b;
}
NOINLINE static void copy(u8 *d, const u8 *s, u32 n) { // eight bytes at a time from wherever they are
  while (n && ((u32)d & 7)) *d++ = *s++, n--;
  if (((u32)s & 7) == 0)
    for (; n >= 8; n -= 8, d += 8, s += 8) *(u64 *)d = *(const u64 *)s;
  else if (n >= 16) {
    u32 k = (u32)s & 7;
    const u64 *w = (const u64 *)(s - k);
    u64 low = *w++;
    for (; n >= 16; n -= 8, d += 8, s += 8) {
      u64 high = *w++;
      *(u64 *)d = low >> (8 * k) | high << (64 - 8 * k);
      low = high;
    }
  }
  while (n--) *d++ = *s++;
}
NOINLINE static void move(u8 *d, const u8 *s, u32 n) {
  if (d <= s || d >= s + n) while (n--) *d++ = *s++;
  else while (n--) d[n] = s[n];
}
NOINLINE static int compare(const u8 *a, const u8 *b, u32 n) {
  for (; n && *a == *b; a++, b++) n--;
  return n ? *a - *b : 0;
}
typedef long jump[16];
__attribute__((naked, noinline, returns_twice)) static int mark(jump j) {
  __asm__("{ memd(r0+#0) = r17:16 ; memd(r0+#8) = r19:18 }\n { memd(r0+#16) = r21:20 ; memd(r0+#24) = r23:22 }\n"
          "{ memd(r0+#32) = r25:24 ; memd(r0+#40) = r27:26 }\n { memw(r0+#48) = r29 ; memw(r0+#52) = r30 }\n"
          "{ memw(r0+#56) = r31 ; r1 = #0 }\n { r0 = r1 ; jumpr r31 }");
}
__attribute__((naked, noinline, noreturn)) static void jump_to(jump j, int v) {
  __asm__("{ r17:16 = memd(r0+#0) ; r19:18 = memd(r0+#8) }\n { r21:20 = memd(r0+#16) ; r23:22 = memd(r0+#24) }\n"
          "{ r25:24 = memd(r0+#32) ; r27:26 = memd(r0+#40) }\n { r29 = memw(r0+#48) ; r30 = memw(r0+#52) }\n"
          "{ r31 = memw(r0+#56) ; r0 = r1 }\n jumpr r31");
}
static jump back;
NOINLINE static u32 deep(int n, u32 x) {
  volatile u8 frame[900];
  for (int i = 0; i < 900; i += 7) frame[i] = x + i;
  if (n == 0) jump_to(back, frame[14] + 1);
  return deep(n - 1, x * 3 + frame[7]) + frame[21];
}
NOINLINE static u32 variable(u32 n) { // a frame whose size is not known before
  u8 row[n];
  for (u32 i = 0; i < n; i++) row[i] = i * n;
  return (u32)digest(row, n);
}
static struct { u8 a[70000]; } large;
NOINLINE static u32 big(u32 x) {
  u8 frame[70000];
  for (u32 i = 0; i < sizeof frame; i += 97) frame[i] = x += i;
  copy(large.a, frame, 600);
  u32 s = 0;
  for (u32 i = 0; i < sizeof frame; i += 97) s = s * 5 + frame[i];
  return s;
}
static u8 from[400] ALIGNED, to[400] ALIGNED;
int run(int argc, char **argv) {
  fill(from, sizeof from);
  u64 h = 0;
  for (u32 a = 0; a < 8; a++)
    for (u32 b = 0; b < 8; b++)
      for (u32 n = 0; n < 70; n += 1 + (n > 20) * 6) {
        memset(to, a * b, sizeof to);
        copy(to + 8 + a, from + 8 + b, n);
        h = h * 31 + digest(to, 100) + compare(to + 8 + a, from + 8 + b, n + 1);
        move(to + 8, to + 8 + a - b, n);
        h ^= digest(to, 100);
      }
  hex("copies ", h);
  void *p[60] = {0};
  for (int i = 0; i < 900; i++) {
    u32 k = rng() % 60, n = i % 37 == 5 ? 70000 + rng() % 70000 : rng() % 700;
    if (p[k]) {
      h = h * 33 + digest(p[k], 16);
      give(p[k]);
      p[k] = 0;
    } else {
      p[k] = allocate(n + 16);
      fill(p[k], 16);
      ((u8 *)p[k])[n + 15] = i;
    }
  }
  hex("heap ", h + live);
  int v = mark(back);
  if (v == 0) deep(40, 5);
  hex("jumped ", v);
  static volatile int times;
  v = mark(back);
  if (times++ < 5) jump_to(back, times);
  hex("again ", v * 16 + times);
  for (u32 n = 1; n < 3000; n = n * 3 + 1) hex("frame ", variable(n));
  hex("big ", big(argc));
  hex("argv ", digest(argv[1], length(argv[1])) + (u32)(argv[argc] == 0));
  return live & 127;
}
