// Float and double arithmetic as a compiler writes it, and division and square root from the instructions made for them.
// Prints every result as bits.

typedef unsigned u32;
typedef unsigned long long u64;
typedef long long i64;

static void sys_write(const char *p, u32 n) {
  register u32 number asm("r6") = 64, r0 asm("r0") = 1, r1 asm("r1") = (u32)p, r2 asm("r2") = n;
  asm volatile("trap0(#1)" : "+r"(r0) : "r"(number), "r"(r1), "r"(r2) : "memory");
}

static void put(u64 v) {
  char line[17];
  for (int i = 0; i < 16; i++)
    line[i] = "0123456789abcdef"[v >> (60 - 4 * i) & 15];
  line[16] = '\n';
  sys_write(line, 17);
}

static u32 bits(float f) { union { float f; u32 u; } x = {f}; return x.u; }
static u64 bits64(double f) { union { double f; u64 u; } x = {f}; return x.u; }
static float value(u32 u) { union { u32 u; float f; } x = {u}; return x.f; }

// The quotient: a first estimate of 1/d, two steps of Newton's iteration, the quotient and two corrections, scaled back.
static float quotient(float n, float d) {
  float r, nn, dd, e, q, rem;
  u32 one = 0x3f800000, p;
  asm("{ %0,p0 = sfrecipa(%4,%5) }\n\t{ %3 = p0 }\n\t{ %1 = sffixupn(%4,%5) }\n\t{ %2 = sffixupd(%4,%5) }"
      : "=&r"(r), "=&r"(nn), "=&r"(dd), "=&r"(p) : "r"(n), "r"(d) : "p0");
  for (int i = 0; i < 2; i++) {
    e = value(one);
    asm("%0 -= sfmpy(%1,%2):lib" : "+r"(e) : "r"(dd), "r"(r));
    asm("%0 += sfmpy(%1,%2):lib" : "+r"(r) : "r"(e), "r"(r));
  }
  q = value((bits(nn) & 0x80000000) | 0);
  asm("%0 += sfmpy(%1,%2):lib" : "+r"(q) : "r"(nn), "r"(r));
  rem = nn;
  asm("%0 -= sfmpy(%1,%2):lib" : "+r"(rem) : "r"(q), "r"(dd));
  asm("%0 += sfmpy(%1,%2):lib" : "+r"(q) : "r"(rem), "r"(r));
  rem = nn;
  asm("%0 -= sfmpy(%1,%2):lib" : "+r"(rem) : "r"(q), "r"(dd));
  asm("{ p0 = %3 }\n\t{ %0 += sfmpy(%1,%2,p0):scale }" : "+r"(q) : "r"(rem), "r"(r), "r"(p) : "p0");
  return q;
}

static float root(float x) {
  float r, s, h, g, d;
  u32 half = 0x3f000000, p;
  asm("{ %0,p0 = sfinvsqrta(%3) }\n\t{ %2 = p0 }\n\t{ %1 = sffixupr(%3) }" : "=&r"(r), "=&r"(s), "=&r"(p) : "r"(x) : "p0");
  g = s * r;
  h = r * value(half);
  for (int i = 0; i < 2; i++) {
    d = value(half);
    asm("%0 -= sfmpy(%1,%2):lib" : "+r"(d) : "r"(g), "r"(h));
    asm("%0 += sfmpy(%1,%2):lib" : "+r"(g) : "r"(g), "r"(d));
    asm("%0 += sfmpy(%1,%2):lib" : "+r"(h) : "r"(h), "r"(d));
  }
  d = s;
  asm("%0 -= sfmpy(%1,%1):lib" : "+r"(d) : "r"(g));
  asm("{ p0 = %3 }\n\t{ %0 += sfmpy(%1,%2,p0):scale }" : "+r"(g) : "r"(d), "r"(h), "r"(p) : "p0");
  return g;
}

static float samples[64];
static double sums[8];

__attribute__((noinline)) static float polynomial(float x, const float *c, int n) {
  float y = c[n - 1];
  for (int i = n - 2; i >= 0; i--)
    y = y * x + c[i];
  return y;
}

void _start(void) {
  static const float c[] = {1.0f, 1.0f, 0.5f, 0.16666667f, 0.041666668f, 0.008333334f};
  u32 seed = 1;
  for (int i = 0; i < 64; i++) {
    seed = seed * 1664525 + 1013904223;
    samples[i] = (float)(int)seed * 0x1p-28f;
  }
  for (int i = 0; i < 64; i++) {
    float x = samples[i], y = samples[63 - i];
    put((u64)bits(x + y) << 32 | bits(x - y));
    put((u64)bits(x * y) << 32 | bits(polynomial(x, c, 6)));
    put((u64)bits(quotient(x, y)) << 32 | bits(root(x < 0 ? -x : x)));
    put((u64)(u32)(int)(x * 1000) << 32 | (u32)(x < 0 ? 0 : y < 0 ? 1 : (u32)(y * 1e9f)));
    put((u64)(i64)(x * 1e12f));
    put((x < y) | (x <= y) << 1 | (x == y) << 2 | (x != x) << 3);
    double a = x, b = (double)(i64)(seed * 0x9e3779b97f4a7c15ull);
    put(bits64(a + b));
    put(bits64(a - b));
    put((u64)bits((float)b));
    put((u64)(i64)(a < b ? a : b));
    sums[i & 7] += a;
  }
  for (int i = 0; i < 8; i++)
    put(bits64(sums[i]));
  register u32 number asm("r6") = 94, r0 asm("r0") = 0;
  asm volatile("trap0(#1)" : "+r"(r0) : "r"(number));
}
