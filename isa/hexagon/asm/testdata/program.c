// A program without data: what a compiler makes of control flow, calls, 64-bit and byte arithmetic.
typedef unsigned char u8;
typedef signed char s8;
typedef unsigned short u16;
typedef unsigned u32;
typedef long long s64;
typedef unsigned long long u64;
struct point { int x, y; short z[4]; };

static long sys(long n, long a, long b, long c) {
	register long r6 __asm__("r6") = n, r0 __asm__("r0") = a, r1 __asm__("r1") = b, r2 __asm__("r2") = c;
	__asm__ volatile("trap0(#1)" : "+r"(r0) : "r"(r6), "r"(r1), "r"(r2) : "memory");
	return r0;
}
__attribute__((noinline)) static u32 collatz(u32 n) {
	u32 steps = 0;
	for (; n != 1 && steps < 1000; steps++)
		n = n & 1 ? 3 * n + 1 : n >> 1;
	return steps;
}
__attribute__((noinline)) static int pick(int k, int v) {
	switch (k) {
	case 0: return v + 1;
	case 1: return v * 3;
	case 2: return -v;
	case 7: return v << 4;
	default: return k > 100 ? v - k : v ^ k;
	}
}
__attribute__((noinline)) static s64 mix(s64 a, u64 b, int s) {
	a += (s64)(b >> (s & 31)) * 3;
	if (a > 1000000007) a -= (s64)b;
	return a ^ (a << 7);
}
__attribute__((noinline)) static void sort(struct point *p, int n) {
	for (int i = 1; i < n; i++)
		for (int j = i; j > 0 && (p[j].x < p[j - 1].x || (p[j].x == p[j - 1].x && p[j].z[2] > p[j - 1].z[2])); j--) {
			struct point t = p[j];
			p[j] = p[j - 1];
			p[j - 1] = t;
		}
}
__attribute__((noinline)) static u32 crc(const u8 *p, int n) {
	u32 c = ~0u;
	while (n--) {
		c ^= *p++;
		for (int k = 0; k < 8; k++)
			c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
	}
	return ~c;
}
__attribute__((noinline)) static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
void *memcpy(void *d, const void *s, unsigned n) {
	u8 *q = d;
	const u8 *t = s;
	while (n--) *q++ = *t++;
	return d;
}
void _start(void) {
	struct point p[20];
	u32 seed = 1;
	for (int i = 0; i < 20; i++) {
		seed = seed * 1664525u + 1013904223u;
		p[i].x = (int)(seed >> 28);
		p[i].y = pick(i, (int)seed);
		for (int k = 0; k < 4; k++) p[i].z[k] = (short)(seed >> k);
	}
	sort(p, 20);
	u32 out[8];
	out[0] = crc((u8 *)p, sizeof p);
	out[1] = collatz(27);
	out[2] = (u32)fib(11);
	s64 m = mix(123456789, seed, 5);
	out[3] = (u32)m, out[4] = (u32)(m >> 32);
	s8 low = (s8)seed;
	u16 half = (u16)(seed >> 5);
	out[5] = (u32)(low * half), out[6] = (u32)(low > 3 ? half : -low), out[7] = __builtin_popcount(seed);
	sys(64, 1, (long)out, sizeof out);
	sys(94, 0, 0, 0);
}
