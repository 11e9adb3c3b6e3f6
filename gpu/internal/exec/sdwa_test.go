package exec_test

import (
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// TestPartsOfConstants: a part of an inline constant is a part of its bits, of a half those of the half.
func TestPartsOfConstants(t *testing.T) {
	for _, c := range []struct {
		text      string
		src, want uint64
	}{
		{"v_add_nc_u32_sdwa v1, -2, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD", 100, 0xff + 100},
		{"v_add_f16_sdwa v1, v2, 1.0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:WORD_0", 0x3c00, 0x4000},
		{"v_add_f16_sdwa v1, v2, 1.0 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:WORD_1", 0x3c00, 0x3c00},
		{"v_add_f32_sdwa v1, 2.0, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD", 0x3f800000, 0x40400000},
	} {
		in, err := rdna2.Assemble(c.text, false)
		require.NoError(t, err)
		b := newRegisters(32)
		for l := range 32 {
			b.setV(2, l, 1, c.src)
		}
		b.want = b.contents()
		for l := range 32 {
			b.setWantV(1, l, 1, c.want)
		}
		require.NoError(t, b.exec(&in), c.text)
	}
}
