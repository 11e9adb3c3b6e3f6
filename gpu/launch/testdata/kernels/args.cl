// Signatures whose arguments a compiler loads together, across their end. Each kernel adds up
// what it was given; the test knows the sum of its own arguments.
#define OUT out[__builtin_amdgcn_workitem_id_x()]
typedef struct { int a; short b; char c[3]; } record;

kernel void i3(global int *out, int a, int b, int c) { OUT = a + 2 * b + 3 * c; }
kernel void i5(int a, int b, int c, int d, int e, global int *out) { OUT = a + b + c + d + e; }
kernel void i7(global int *out, int a, int b, int c, int d, int e, int f, int g) { OUT = a + b + c + d + e + f + g; }
kernel void small(char a, short b, uchar c, global int *out, ushort d) { OUT = a + b + c + d; }
kernel void longs(long a, global int *out, long b, int c) { OUT = (int)(a + b + c); }
kernel void vec3(global int *out, int3 a, char b) { OUT = a.x + a.y + a.z + b; }
kernel void vec4(global int *out, char b, int4 a) { OUT = a.x + a.y + a.z + a.w + b; }
kernel void byvalue(record r, global int *out) { OUT = r.a + r.b + r.c[0] + r.c[1] + r.c[2]; }
kernel void tail(global int *out, record r) { OUT = r.a + r.b + r.c[0] + r.c[1] + r.c[2]; }
kernel void pointers(global int *out, global const int *a, global const int *b, int n) { OUT = a[0] + b[1] + n; }

__attribute__((noinline)) int depth(int n, int d) {
  volatile int x[20];
  x[n & 15] = d;
  return n < 2 ? x[n & 15] : depth(n - 1, d + 1) + x[n & 15] - d;
}
kernel void recursion(global int *out, int n) { OUT = depth(n, 0); }
