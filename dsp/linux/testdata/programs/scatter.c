// HVX beyond arithmetic: scatter and gather, wide tables, carries, predicated and unaligned stores, histograms, networks of permutations.
#include "rt.h"
#include <hexagon_types.h>
#include <hexagon_protos.h>
#include <hvx_hexagon_protos.h>
static u8 region[8192] ALIGNED, in[4096] ALIGNED, out[4096] ALIGNED;
#define VEC(p) (*(HVX_Vector *)(p))
#define VECU(p) (*(HVX_UVector *)(p))
NOINLINE static void gather(void) {
  for (int i = 0; i < 4; i++) {
    HVX_Vector w = Q6_V_vand_VV(VEC(in + 128 * i), Q6_V_vsplat_R(0x0ffc0ffc)), low = Q6_V_vand_VV(w, Q6_V_vsplat_R(0xffc));
    Q6_vgather_ARMVw((HVX_Vector *)(out + 128 * i), (u32)region, 8191, low);
    Q6_vgather_ARMVh((HVX_Vector *)(out + 512 + 128 * i), (u32)region, 8191, w);
    HVX_VectorPair p = Q6_W_vcombine_VV(low, Q6_Vuw_vlsr_VuwR(w, 16));
    Q6_vgather_ARMWw((HVX_Vector *)(out + 1024 + 128 * i), (u32)region, 8191, p);
    HVX_VectorPred q = Q6_Q_vand_VR(VEC(in + 1024 + 128 * i), 0x11223344);
    VEC(out + 1536 + 128 * i) = low;
    Q6_vgather_AQRMVw((HVX_Vector *)(out + 1536 + 128 * i), q, (u32)region, 8191, low);
    Q6_vgather_AQRMVh((HVX_Vector *)(out + 2048 + 128 * i), q, (u32)region, 8191, w);
  }
}
NOINLINE static void scatter(void) {
  for (int i = 0; i < 4; i++) {
    // every element its own place, so that the order does not matter
    HVX_Vector lanes[2], k = VEC(in + 128 * i);
    u32 *l = (u32 *)lanes;
    for (int j = 0; j < 32; j++) l[j] = (j * 5 + i & 31) * 128 + i * 4, l[j + 32] = ((j * 7 + i & 31) * 256 + 64 + i * 2) | ((j * 7 + i & 31) * 256 + 128 + i * 2) << 16;
    Q6_vscatter_RMVwV((u32)region, 8191, lanes[0], k);
    Q6_vscatter_RMVhV((u32)region, 8191, lanes[1], k);
    Q6_vscatteracc_RMVwV((u32)region, 8191, lanes[0], Q6_V_vsplat_R(i * 77));
    Q6_vscatteracc_RMVhV((u32)region, 8191, lanes[1], Q6_V_vsplat_R(0x10003));
    Q6_vscatter_QRMVwV(Q6_Q_vsetq_R(64 + i), (u32)region, 8191, Q6_Vw_vadd_VwVw(lanes[0], Q6_V_vsplat_R(16)), k);
    HVX_VectorPair p = Q6_W_vcombine_VV(Q6_Vw_vadd_VwVw(lanes[0], Q6_V_vsplat_R(34)), Q6_Vw_vadd_VwVw(lanes[0], Q6_V_vsplat_R(32)));
    Q6_vscatter_RMWwV((u32)region, 8191, p, k);
    Q6_vscatteracc_RMWwV((u32)region, 8191, p, k);
  }
}
NOINLINE static HVX_VectorPair tables(int i) {
  HVX_Vector x = VEC(in + 128 * i), t = Q6_Vh_vshuff_Vh(VEC(in + 2048 + 128 * i));
  HVX_VectorPair w = Q6_Wh_vlut16_VbVhR(x, t, 0);
  w = Q6_Wh_vlut16or_WhVbVhR(w, x, t, 1);
  w = Q6_Wh_vlut16or_WhVbVhR(w, x, Q6_V_vror_VR(t, 6), 2);
  w = Q6_Wh_vlut16or_WhVbVhI(w, x, t, 3);
  VEC(out + 128) = Q6_Vb_vlut32_VbVbI(x, t, 3);
  VEC(out + 128) = Q6_Vb_vlut32or_VbVbVbI(VEC(out + 128), x, t, 5);
  w = Q6_W_vcombine_VV(Q6_V_vxor_VV(Q6_V_hi_W(w), Q6_V_hi_W(Q6_Wh_vlut16_VbVhR_nomatch(x, t, i))), Q6_V_vxor_VV(Q6_V_lo_W(w), Q6_Vb_vlut32_VbVbR_nomatch(x, t, i + 1)));
  return w;
}
NOINLINE static void carries(HVX_Vector *a, const HVX_Vector *b, int n) { // 32 numbers of 32n bits each
  HVX_Vector c = Q6_V_vzero(), d = Q6_V_vsplat_R(-1);
  for (int i = 0; i < n; i++) {
    HVX_Vector x = a[i], y = x;
    __asm__ volatile("q0 = vand(%1,%3)\n %0.w = vadd(%0.w,%2.w,q0):carry\n %1 = vand(q0,%3)" : "+v"(x), "+v"(c) : "v"(b[i]), "r"(0x01010101) : "q0");
    __asm__ volatile("q3 = vand(%1,%3)\n { %0.w = vsub(%0.w,%2.w,q3):carry ; v31 = vxor(v31,v31) }\n %1 = vand(q3,%3)" : "+v"(y), "+v"(d) : "v"(b[i]), "r"(0x01010101) : "q3", "v31");
    a[i] = x;
    a[i + n] = y;
  }
}
NOINLINE static void stores(void) {
  for (int i = 0; i < 20; i++) {
    HVX_Vector x = VECU(in + 13 * i);
    HVX_VectorPred q = Q6_Q_vcmp_gt_VbVb(x, Q6_V_vsplat_R(i * 0x03050709));
    if (i & 1) Q6_vmem_QRIV(q, (HVX_Vector *)(out + 128 * i), x);
    else Q6_vmem_QnRIV(q, (HVX_Vector *)(out + 128 * i), x);
    if (i & 2) Q6_vmem_QRIV_nt(Q6_Q_vsetq2_R(i * 6), (HVX_Vector *)(out + 128 * i), Q6_V_vnot_V(x));
    VECU(out + 2700 + 61 * i) = Q6_V_vlalign_VVR(x, VEC(in), i * 9);
    __asm__ volatile("p0 = cmp.gt(%0,#7)\n if (!p0) vmem(%1+#0) = %2\n if (p0) vmem(%1+#1) = %2" ::"r"(i), "r"(out + 2304), "v"(x) : "p0", "memory");
    __asm__ volatile("{ v3 = vmem(%0+#0) }\n { v4.tmp = vmem(%1+#1) ; v5.w = vadd(v3.w,v4.w) }\n r5 = %2\n { v6.cur = vmem(%0+#2) ; v7 = valign(v6,v5,r5) ; vmem(%1+#0) = v7.new }" ::"r"(in + 128 * (i & 7)), "r"(out + 512), "r"(i) : "v3", "v4", "v5", "v6", "v7", "r5", "memory");
  }
}
NOINLINE static void histogram(void) {
  __asm__ volatile("{ v0 = vxor(v0,v0) ; r2 = #16 }\n"
                   "{ v1 = v0 ; v2 = v0 }\n { v3 = v0 ; v4 = v0 }\n { v5 = v0 ; v6 = v0 }\n { v7 = v0 ; v8 = v0 }\n { v9 = v0 ; v10 = v0 }\n { v11 = v0 ; v12 = v0 }\n { v13 = v0 ; v14 = v0 }\n { v15 = v0 ; v16 = v0 }\n"
                   "{ v17 = v0 ; v18 = v0 }\n { v19 = v0 ; v20 = v0 }\n { v21 = v0 ; v22 = v0 }\n { v23 = v0 ; v24 = v0 }\n { v25 = v0 ; v26 = v0 }\n { v27 = v0 ; v28 = v0 }\n { v29 = v0 ; v30 = v0 }\n { v31 = v0 ; r3 = %0 }\n"
                   "{ loop0(1f,r2) }\n1: { v31.tmp = vmem(r3++#1) ; vhist }:endloop0\n"
                   "{ vmem(%1+#0) = v0 }\n { vmem(%1+#1) = v1 }\n { vmem(%1+#2) = v7 }\n { vmem(%1+#3) = v18 }\n { r4 = add(%1,#512) }\n { vmem(r4+#0) = v30 }\n { vmem(r4+#1) = v31 }" ::"r"(in), "r"(out)
                   : "r2", "r3", "r4", "memory", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31");
}
NOINLINE static void networks(int i) {
  HVX_Vector x = VEC(in + 128 * i), y = VEC(in + 2048);
  VEC(out) = Q6_V_vdelta_VV(x, y);
  VEC(out + 128) = Q6_V_vrdelta_VV(x, y);
  HVX_VectorPair p = Q6_W_vshuff_VVR(x, y, i * 5 + 1), q = Q6_W_vdeal_VVR(x, y, i * 7 + 2);
  VEC(out + 256) = Q6_V_lo_W(p);
  VEC(out + 384) = Q6_V_hi_W(p);
  VEC(out + 512) = Q6_V_lo_W(q);
  VEC(out + 640) = Q6_V_hi_W(q);
  p = Q6_W_vswap_QVV(Q6_Q_vsetq_R(i * 17), x, y);
  VEC(out + 768) = Q6_V_vmux_QVV(Q6_Q_and_QQn(Q6_Q_vsetq_R(99), Q6_Q_vsetq_R(i * 9)), Q6_V_lo_W(p), Q6_V_hi_W(p));
  VEC(out + 896) = Q6_Vb_prefixsum_Q(Q6_Q_vand_VR(x, 0x01040210));
  VEC(out + 1024) = Q6_Vw_vinsert_VwR(x, i);
  ((u32 *)out)[300] = Q6_R_vextract_VR(x, i * 4);
  VEC(out + 1280) = Q6_Vh_vdeal_Vh(Q6_Vb_vdeale_VbVb(x, y));
  VEC(out + 1408) = Q6_Vb_vround_VhVh_sat(x, y);
}
int run(int argc, char **argv) {
  fill(in, sizeof in);
  fill(region, sizeof region);
  gather();
  hex("gather ", digest(out, sizeof out));
  scatter();
  hex("scatter ", digest(region, sizeof region));
  for (int i = 0; i < 8; i++) {
    HVX_VectorPair w = tables(i);
    hex("tables ", digest(&w, sizeof w) ^ digest(out, 256));
  }
  carries((HVX_Vector *)in, (HVX_Vector *)(in + 2048), 8);
  hex("carries ", digest(in, 2048));
  stores();
  hex("stores ", digest(out, sizeof out));
  histogram();
  hex("histogram ", digest(out, 768));
  for (int i = 0; i < 16; i++) {
    networks(i);
    hex("networks ", digest(out, 1536));
  }
  return 42;
}
