// Addressing modes, cache instructions, saturation and carries by hand: circular and bit-reversed walks of every access size.
#include "rt.h"
static u8 ring[1024] __attribute__((aligned(1024))), buf[256] ALIGNED;
#define WALK(name, load, acc, step)                                                                                     \
  NOINLINE static u64 name(int n, u32 len, int start) {                                                                 \
    u64 s = 0, v = 0;                                                                                                   \
    u8 *p = ring + start;                                                                                               \
    __asm__ volatile("m0 = %0\n cs0 = %1" ::"r"(len | ((step) & 0x7f) << 17 | ((step) & 0x780) << 21), "r"(ring));       \
    for (int i = 0; i < n; i++) {                                                                                       \
      __asm__ volatile(load : "=&r"(v), "+r"(p)::"memory");                                                              \
      s = s * 7 + acc(v) + (u32)(p - ring);                                                                             \
    }                                                                                                                   \
    return s;                                                                                                           \
  }
#define W(v) (u32)(v)
#define D(v) (v)
WALK(ub4, "%L0 = memub(%1++#3:circ(m0))", W, 0)
WALK(sb4, "%L0 = memb(%1++#-5:circ(m0))", W, 0)
WALK(uh4, "%L0 = memuh(%1++#6:circ(m0))", W, 0)
WALK(sh4, "%L0 = memh(%1++#-2:circ(m0))", W, 0)
WALK(w4, "%L0 = memw(%1++#-12:circ(m0))", W, 0)
WALK(d8, "%0 = memd(%1++#16:circ(m0))", D, 0)
WALK(bh, "%L0 = membh(%1++#4:circ(m0))", W, 0)
WALK(bz, "%0 = memubh(%1++#8:circ(m0))", D, 0)
WALK(wi, "%L0 = memw(%1++I:circ(m0))", W, 3)
WALK(wn, "%L0 = memw(%1++I:circ(m0))", W, -7)
WALK(di, "%0 = memd(%1++I:circ(m0))", D, -2)
WALK(hi, "%L0 = memuh(%1++I:circ(m0))", W, 200)
NOINLINE static void store(int n, u32 len) {
  u8 *p = ring, *q = ring + 64;
  __asm__ volatile("m1 = %0\n cs1 = %1" ::"r"(len), "r"(ring));
  for (int i = 0; i < n; i++)
    __asm__ volatile("{ memw(%0++#4:circ(m1)) = %2 }\n { memh(%1++#-2:circ(m1)) = %2 }\n memb(%0++#1:circ(m1)) = %2\n memb(%0++#3:circ(m1)) = %2\n"
                     "{ r3 = add(%2,#9) ; memw(%0++#-8:circ(m1)) = r3.new }\n memd(%0++#8:circ(m1)) = %3"
                     : "+r"(p), "+r"(q) : "r"(i * 0x1234567), "r"((u64)i << 33 | n) : "memory", "r3");
}
NOINLINE static void copy64(u32 *d) { for (int i = 0; i < 64; i++) d[i] = ((u32 *)ring)[i]; }
NOINLINE static u64 reversed(int logn) { // the order of a Fourier transform
  u64 s = 0;
  static u32 wheel[64] __attribute__((aligned(65536)));
  u32 *p = wheel;
  copy64(wheel);
  __asm__ volatile("m0 = %0" ::"r"(1 << (14 - logn)));
  for (int i = 0; i < 1 << logn; i++) {
    u32 v;
    u32 *at = p;
    __asm__ volatile("%0 = memw(%1++m0:brev)" : "=r"(v), "+r"(p)::"memory");
    s = s * 5 + v + (u32)((u8 *)at - (u8 *)wheel);
  }
  return s;
}
NOINLINE static u64 post(void) {
  u64 s = 0;
  u8 *p = ring;
  u32 v;
  u64 d;
  __asm__ volatile("m0 = %0\n m1 = %1" ::"r"(24), "r"(-8));
  for (int i = 0; i < 20; i++) {
    __asm__ volatile("{ %0 = memw(%2++m0) ; %1 = memd(%3) }" : "=&r"(v), "=&r"(d), "+r"(p) : "r"(ring + 8 * i));
    s = s * 3 + v + d;
    __asm__ volatile("%0 = memub(%1++m1)" : "=r"(v), "+r"(p));
    s = s * 3 + v;
  }
  return s + (p - ring);
}
NOINLINE static void caches(void) {
  u32 box = 64 << 16 | 64 << 8 | 4;
  __asm__ volatile("dczeroa(%0)\n dcfetch(%0+#64)\n dccleana(%1)\n dcinva(%1)\n dccleaninva(%1)\n l2fetch(%1,%2)\n l2fetch(%1,%3)\n syncht\n barrier\n isync" ::"r"(buf), "r"(ring), "r"(box),
                   "r"((u64)64 << 32 | box) : "memory");
}
NOINLINE static u64 wide(u64 *a, const u64 *b, int n) { // long addition and subtraction by carries
  u64 s = 0;
  __asm__ volatile("{ p0 = and(p0,!p0) ; r5 = %3 }\n { loop0(1f,r5) ; r2 = %1 ; r3 = %2 }\n"
                   "1: { r7:6 = memd(r2+#0) ; r9:8 = memd(r3++#8) }\n { r7:6 = add(r7:6,r9:8,p0):carry }\n { memd(r2++#8) = r7:6 }:endloop0\n"
                   "{ r4 = p0 }\n { p1 = or(p1,!p1) ; loop0(2f,r5) ; r2 = %1 ; r3 = %2 }\n"
                   "2: { r7:6 = memd(r2++#8) ; r9:8 = memd(r3++#8) }\n { r7:6 = sub(r7:6,r9:8,p1):carry }\n { %0 = add(%0,r7:6) }:endloop0\n"
                   "{ r5 = p1 }\n { r5 = combine(r5.l,r4.l) }\n { r4 = #0 }\n { %0 = add(%0,r5:4) }"
                   : "+r"(s) : "r"(a), "r"(b), "r"(n) : "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "p0", "p1", "memory");
  return s;
}
NOINLINE static u32 sticky(u32 x, u32 y) { // saturation and its flag
  u32 r, u;
  __asm__ volatile("r3 = usr\n r3 = clrbit(r3,#0)\n usr = r3\n %0 = add(%2,%3):sat\n %0 = sub(%0,%2):sat\n r3 = mpy(%0.h,%3.l):<<1:rnd:sat\n %0 = xor(%0,r3)\n r3 = abs(%2):sat\n"
                   "%0 = add(%0,r3)\n r3 = asl(%3,#9):sat\n %0 = xor(%0,r3)\n r3 = vaddh(%2,%3):sat\n %0 = add(%0,r3)\n %1 = usr"
                   : "=&r"(r), "=r"(u) : "r"(x), "r"(y) : "r3");
  return r ^ u << 31;
}
int run(int argc, char **argv) {
  fill(ring, sizeof ring);
  const u32 lens[] = {48, 96, 240, 512, 1000};
  for (int i = 0; i < 5; i++) {
    u32 n = lens[i];
    hex("bytes ", ub4(90, n, 0) ^ sb4(99, n, 7));
    hex("halves ", uh4(90, n, 2) ^ sh4(100, n, 4));
    hex("words ", w4(90, n, 12) ^ wi(70, n, 4) ^ wn(80, n, 16));
    hex("doubles ", d8(90, n, 16) ^ di(55, n, 8));
    hex("spread ", bh(33, n, 4) ^ bz(44, n, 8));
    if (n > 400) hex("far ", hi(66, n, 0));
    store(13 + i, n);
    hex("stored ", digest(ring, sizeof ring));
  }
  for (int i = 3; i < 7; i++) hex("reversed ", reversed(i));
  hex("modified ", post());
  memset(buf, 77, sizeof buf);
  caches();
  hex("zeroed ", digest(buf, 32));
  hex("wide ", wide((u64 *)ring, (u64 *)(ring + 512), 60));
  hex("sums ", digest(ring, 512));
  u64 h = 0;
  for (int i = 0; i < 300; i++) h = h * 33 + sticky(rng() >> (i & 15), rng());
  hex("sticky ", h);
  return 0;
}
