package asm

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

func TestProducts(t *testing.T) {
	for _, c := range []struct {
		text string
		want int
	}{
		{"v0.w += vrmpy(v1.ub,r2.b)", 128}, {"v0.w = vrmpy(v1.ub,v2.b)", 128}, {"v1:0.h = vmpy(v2.ub,r3.b)", 128},
		{"v1:0.w = vmpy(v2.h,v3.h)", 64}, {"v0.w = vmpye(v1.w,v2.uh)", 32}, {"v0.h = vmpyi(v1.h,r2.b)", 64},
		{"v1:0.h = vmpa(v3:2.ub,r4.b)", 256}, {"v0.w = vdmpy(v1.h,r2.h):sat", 64}, {"v0.w = vdmpy(v3:2.h,r2.h):sat", 64},
		{"v0.b = vadd(v1.b,v2.b)", 0}, {"v0 = vmem(r0+#0)", 0}, {"r0 = mpyi(r1,r2)", 0},
	} {
		p := require.V(ParsePacket(c.text, 0))(t)
		require.Same(t, c.want, p.Insts[0].Op.Form().Products(), c.text, "products")
	}
}
