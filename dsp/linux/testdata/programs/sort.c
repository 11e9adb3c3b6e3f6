// Quick sort with a function pointer, heap sort, merge sort, binary search.
#include "rt.h"
enum { N = 1500 };
static s32 a[N], b[N], t[N];
typedef int (*order)(s32, s32);
NOINLINE int up(s32 x, s32 y) { return x < y ? -1 : x > y; }
NOINLINE int down(s32 x, s32 y) { return up(y, x); }
NOINLINE int bits(s32 x, s32 y) { return up(__builtin_popcount(x) * 4096 + (x & 4095), __builtin_popcount(y) * 4096 + (y & 4095)); }

static void quick(s32 *p, int lo, int hi, order f) {
  while (lo < hi) {
    s32 pivot = p[(lo + hi) / 2];
    int i = lo, j = hi;
    while (i <= j) {
      while (f(p[i], pivot) < 0) i++;
      while (f(p[j], pivot) > 0) j--;
      if (i <= j) {
        s32 x = p[i];
        p[i++] = p[j];
        p[j--] = x;
      }
    }
    if (j - lo < hi - i) {
      quick(p, lo, j, f);
      lo = i;
    } else {
      quick(p, i, hi, f);
      hi = j;
    }
  }
}
static void sift(s32 *p, int i, int n) {
  for (int c; (c = 2 * i + 1) < n; i = c) {
    if (c + 1 < n && p[c + 1] > p[c]) c++;
    if (p[i] >= p[c]) return;
    s32 x = p[i];
    p[i] = p[c];
    p[c] = x;
  }
}
static void heap(s32 *p, int n) {
  for (int i = n / 2; i-- > 0;) sift(p, i, n);
  while (--n > 0) {
    s32 x = p[0];
    p[0] = p[n];
    p[n] = x;
    sift(p, 0, n);
  }
}
static void merge(s32 *p, int n) {
  if (n < 2) return;
  int h = n / 2, i = 0, j = h, k = 0;
  merge(p, h);
  merge(p + h, n - h);
  while (i < h && j < n) t[k++] = p[i] <= p[j] ? p[i++] : p[j++];
  while (i < h) t[k++] = p[i++];
  for (int l = 0; l < k; l++) p[l] = t[l];
}
static int find(const s32 *p, int n, s32 x) {
  int lo = 0, hi = n;
  while (lo < hi) {
    int m = lo + (hi - lo) / 2;
    if (p[m] < x) lo = m + 1; else hi = m;
  }
  return lo;
}
int run(int argc, char **argv) {
  order f[] = {up, down, bits};
  for (int k = 0; k < 3; k++) {
    fill(a, sizeof a);
    for (int i = 0; i < N; i++) b[i] = a[i] >>= k * 5;
    quick(a, 0, N - 1, f[k]);
    hex("quick ", digest(a, sizeof a));
    heap(b, N);
    hex("heap ", digest(b, sizeof b));
    merge(a, N);
    u32 at = 0;
    for (int i = 0; i < N; i++) at = at * 31 + find(b, N, a[i]) + find(b, N, i * 1000003);
    hex("find ", at);
  }
  return argc - 1;
}
