package layout

import (
	"fmt"

	"github.com/nnsoc/nnsoc/nn/opspec"
)

// NeedHalo extends the halo to the padding that a window reads.
func (t *Tensor) NeedHalo(w *opspec.Window) error {
	if n := max(w.Top, w.Bottom, w.Left, w.Right); n > maxPadding {
		return fmt.Errorf("padding of %d, at most %d", n, maxPadding)
	}
	t.Top = max(t.Top, w.Top)
	t.Left = max(t.Left, w.Left)
	t.Bottom = max(t.Bottom, (w.OutH-1)*w.StrideH+(w.KH-1)*w.DilationH+1-w.Top-w.H)
	t.Right = max(t.Right, (w.OutW-1)*w.StrideW+(w.KW-1)*w.DilationW+1-w.Left-w.W)
	return nil
}
