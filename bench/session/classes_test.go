package session

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestTopClasses: the first of equals, NaN last, dequantized.
func TestTopClasses(t *testing.T) {
	o := &nn.Operand{Type: nn.TensorQuant8Asymm, Scale: 0.5, ZeroPoint: 1}
	got := topClasses(o, []byte{1, 9, 3, 9, 0, 2}, []string{"a", "b", "c", "d", "e", "f"})
	want := []Class{{1, 4, "b"}, {3, 4, "d"}, {2, 1, "c"}, {5, 0.5, "f"}, {0, 0, "a"}}
	require.Equal(t, want, got)
	floats := &nn.Operand{Type: nn.TensorFloat32}
	nan := []byte{0, 0, 0xc0, 0x7f, 0, 0, 0x80, 0xbf, 0, 0, 0, 0} // NaN, -1, 0
	order := []int{}
	for _, c := range topClasses(floats, nan, nil) {
		order = append(order, c.Class)
	}
	require.Check(t, slices.Equal(order, []int{2, 1, 0}), "order %v", order)
}
