package window

import "github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"

// columns is the table [tap][position] of arena offsets, of as many taps as the steps have, for
// lanes that load their own entries. counts are the taps inside the image, per position.
func (k *Kernel) columns(m *kernel.Memory) (table, counts uint32) {
	outside, es := m.Pages.At(k.Padding()), k.In.Elem.Bytes()
	t := make([]uint32, k.Steps*k.Group*k.Rows)
	for i := range t {
		t[i] = outside
	}
	inside := make([]int, k.Rows)
	kernel.EachTap(&k.Window, k.Batches, k.InC, func(row, tap, i int) {
		if i >= 0 {
			t[tap*k.Rows+row] = k.In.Off + uint32(i*es)
			inside[row]++
		}
	})
	n := make([]uint32, k.Rows)
	for row := range n {
		n[row] = k.count(inside[row])
	}
	return m.Consts.Words(t), m.Consts.Words(n)
}
