package hvxtest

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/elementwise"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
)

// Map runs a function over whole operands and returns the result, of as many steps as
// the first operand has. Operands are padded to whole steps.
func (b *Bench) Map(f elementwise.Function, operands [][]byte, constants ...uint32) []byte {
	b.t.Helper()
	form := f.Form()
	steps := hvx.CeilDiv(len(operands[0]), form.In[0]*hvx.VectorBytes)
	var entry []uint32
	for _, o := range operands {
		entry = append(entry, b.Load(o))
	}
	n := steps * form.Out * hvx.VectorBytes
	out := b.Alloc(n)
	entry = append(entry, out, uint32(steps))
	b.Run(elementwise.Map{F: f}, append([]uint32{b.Words(entry...), 1}, constants...))
	return b.Bytes(out, n)
}
