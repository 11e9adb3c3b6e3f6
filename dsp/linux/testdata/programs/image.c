// Image filters with HVX intrinsics: Sobel, Gaussian 5 tap, 3x3 median, histogram equalization by table, transpose, threshold.
#include "rt.h"
#include <hexagon_types.h>
#include <hvx_hexagon_protos.h>
enum { W = 256, H = 24, V = W / 128 };
static u8 in[H][W] ALIGNED, out[H][W] ALIGNED, lut[256] ALIGNED;
static s16 grad[H][W] ALIGNED;
#define VEC(p) (*(HVX_Vector *)(p))
#define VECU(p) (*(HVX_UVector *)(p))
NOINLINE static void sobel(void) {
  for (int y = 1; y + 1 < H; y++)
    for (int x = 0; x < W; x += 128) {
      HVX_Vector r[3], l[3], c[3];
      for (int k = 0; k < 3; k++) {
        HVX_Vector m = VEC(&in[y - 1 + k][x]), p = x ? VEC(&in[y - 1 + k][x - 128]) : Q6_V_vzero(), n = x + 128 < W ? VEC(&in[y - 1 + k][x + 128]) : Q6_V_vzero();
        l[k] = Q6_V_vlalign_VVI(m, p, 1);
        r[k] = Q6_V_valign_VVI(n, m, 1);
        c[k] = m;
      }
      HVX_VectorPair a = Q6_Wh_vadd_VubVub(l[0], l[2]), b = Q6_Wh_vadd_VubVub(r[0], r[2]);
      HVX_VectorPair two = Q6_Wh_vmpy_VubRb(l[1], 0x02020202), twor = Q6_Wh_vmpy_VubRb(r[1], 0x02020202);
      HVX_VectorPair gx = Q6_Wh_vsub_WhWh(Q6_Wh_vadd_WhWh(b, twor), Q6_Wh_vadd_WhWh(a, two));
      HVX_VectorPair t = Q6_Wh_vadd_WhWh(Q6_Wh_vadd_VubVub(l[2], r[2]), Q6_Wh_vmpy_VubRb(c[2], 0x02020202));
      HVX_VectorPair s = Q6_Wh_vadd_WhWh(Q6_Wh_vadd_VubVub(l[0], r[0]), Q6_Wh_vmpy_VubRb(c[0], 0x02020202));
      HVX_VectorPair gy = Q6_Wh_vsub_WhWh(t, s);
      HVX_Vector lo = Q6_Vh_vadd_VhVh_sat(Q6_Vh_vabs_Vh(Q6_V_lo_W(gx)), Q6_Vh_vabs_Vh(Q6_V_lo_W(gy)));
      HVX_Vector hi = Q6_Vh_vadd_VhVh_sat(Q6_Vh_vabs_Vh(Q6_V_hi_W(gx)), Q6_Vh_vabs_Vh(Q6_V_hi_W(gy)));
      VEC(&out[y][x]) = Q6_Vub_vsat_VhVh(hi, lo);
      HVX_VectorPair g = Q6_W_vshuff_VVR(hi, lo, -2);
      VEC(&grad[y][x]) = Q6_V_lo_W(g);
      VEC(&grad[y][x + 64]) = Q6_V_hi_W(g);
    }
}
NOINLINE static void gauss(void) {
  for (int y = 2; y + 2 < H; y++)
    for (int x = 0; x < W; x += 128) {
      HVX_VectorPair s = Q6_Wh_vadd_VubVub(VEC(&in[y - 2][x]), VEC(&in[y + 2][x]));
      s = Q6_Wh_vmpyacc_WhVubRb(s, VEC(&in[y - 1][x]), 0x04040404);
      s = Q6_Wh_vmpyacc_WhVubRb(s, VEC(&in[y][x]), 0x06060606);
      s = Q6_Wh_vmpyacc_WhVubRb(s, VEC(&in[y + 1][x]), 0x04040404);
      HVX_Vector v = Q6_Vub_vasr_VhVhR_rnd_sat(Q6_V_hi_W(s), Q6_V_lo_W(s), 4);
      VECU(&out[y][x]) = v;
    }
}
static void order(HVX_Vector *a, HVX_Vector *b) {
  HVX_Vector x = Q6_Vub_vmin_VubVub(*a, *b);
  *b = Q6_Vub_vmax_VubVub(*a, *b);
  *a = x;
}
NOINLINE static void median(void) {
  for (int y = 1; y + 1 < H; y++)
    for (int x = 0; x + 130 <= W; x += 63) {
      HVX_Vector p[9];
      for (int k = 0; k < 9; k++) p[k] = VECU(&in[y - 1 + k / 3][x + k % 3]);
      for (int i = 0; i < 5; i++) for (int j = i + 1; j < 9; j++) order(&p[i], &p[j]);
      VECU(&out[y][x]) = p[4];
    }
}
NOINLINE static void lookup(void) {
  HVX_Vector t[2];
  for (int k = 0; k < 2; k++) t[k] = Q6_Vb_vshuff_Vb(VEC(lut + 128 * k));
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x += 128) {
      HVX_Vector i = VEC(&in[y][x]), o = Q6_Vb_vlut32_VbVbR(i, t[0], 0);
      o = Q6_Vb_vlut32or_VbVbVbR(o, i, t[0], 1);
      o = Q6_Vb_vlut32or_VbVbVbR(o, i, t[0], 2);
      o = Q6_Vb_vlut32or_VbVbVbR(o, i, t[0], 3);
      o = Q6_Vb_vlut32or_VbVbVbR(o, i, t[1], 4);
      o = Q6_Vb_vlut32or_VbVbVbR(o, i, t[1], 5);
      o = Q6_Vb_vlut32or_VbVbVbR(o, i, t[1], 6);
      o = Q6_Vb_vlut32or_VbVbVbR(o, i, t[1], 7);
      VEC(&out[y][x]) = o;
    }
}
NOINLINE static u32 threshold(int level) {
  HVX_Vector t = Q6_Vb_vsplat_R(level), ones = Q6_Vb_vsplat_R(1), n = Q6_V_vzero();
  for (int y = 0; y < H; y++)
    for (int x = 0; x < W; x += 128) {
      HVX_VectorPred q = Q6_Q_vcmp_gt_VubVub(VEC(&in[y][x]), t), r = Q6_Q_vsetq_R(x + y * 3 + 1);
      Q6_vmem_QRIV(Q6_Q_and_QQn(q, r), (HVX_Vector *)&out[y][x], t);
      n = Q6_Vuw_vrmpyacc_VuwVubRub(n, Q6_V_vmux_QVV(q, ones, Q6_V_vzero()), 0x01010101);
    }
  for (int k = 64; k >= 4; k /= 2) n = Q6_Vw_vadd_VwVw(n, Q6_V_vror_VR(n, k));
  return Q6_R_vextract_VR(n, 0);
}
NOINLINE static void transpose(HVX_Vector *v) { // 32x32 words by pair shuffles
  for (int step = 1; step < 32; step *= 2)
    for (int i = 0; i < 32; i++)
      if (!(i & step)) {
        HVX_VectorPair p = Q6_W_vshuff_VVR(v[i + step], v[i], 4 * step);
        v[i] = Q6_V_lo_W(p);
        v[i + step] = Q6_V_hi_W(p);
      }
}
static HVX_Vector square[32] ALIGNED;
int run(int argc, char **argv) {
  fill(in, sizeof in);
  sobel();
  hex("sobel ", digest(out, sizeof out));
  hex("gradient ", digest(grad, sizeof grad));
  gauss();
  hex("gauss ", digest(out, sizeof out));
  median();
  hex("median ", digest(out, sizeof out));
  fill(lut, sizeof lut);
  lookup();
  hex("lookup ", digest(out, sizeof out));
  for (int k = 0; k < 255; k += 50) hex("above ", threshold(k));
  hex("threshold ", digest(out, sizeof out));
  fill(square, sizeof square);
  transpose(square);
  hex("transpose ", digest(square, sizeof square));
  return 3;
}
