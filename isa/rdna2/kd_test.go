package rdna2

import (
	"bytes"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

func TestDescriptorRoundTrip(t *testing.T) {
	d := DefaultDescriptor()
	d.LDSBytes, d.KernargBytes, d.Entry, d.VGPRs, d.WorkItemIDs = 4096, 56, 1280, 40, 1
	b := require.V(d.Append(nil))(t)
	got, err := ParseDescriptor(b)
	if err != nil || got != d {
		t.Fatalf("got %+v, %v; want %+v", got, err, d)
	}
	require.Fails(t, require.Err(ParseDescriptor(b[:63])), "63 bytes accepted")
	b[30] = 1
	require.Fails(t, require.Err(ParseDescriptor(b)), "reserved byte accepted")
	d.VGPRs = 257
	require.Fails(t, require.Err(d.Append(nil)), "257 registers accepted")
}

// TestDescriptorCompiled holds the words clang-19 writes for a wave32 kernel
// with -mcumode.
func TestDescriptorCompiled(t *testing.T) {
	b := make([]byte, 64)
	copy(b[48:], []byte{0x01, 0x00, 0xaf, 0x40})
	copy(b[52:], []byte{0x88, 0x00, 0x00, 0x00, 0x08, 0x04})
	d := require.V(ParseDescriptor(b))(t)
	if d.VGPRs != 16 || !d.IEEE || !d.DX10Clamp || d.WGPMode || !d.Ordered || d.Denorm32 != 3 || d.Denorm16 != 3 ||
		d.UserSGPRs != 4 || d.WorkgroupID != [3]bool{true, false, false} || d.WaveSize() != 32 {
		t.Errorf("%+v", d)
	}
	if back, err := d.Append(nil); err != nil || !bytes.Equal(back, b) {
		t.Errorf("% x, %v; want % x", back, err, b)
	}
}
