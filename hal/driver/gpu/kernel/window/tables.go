package window

import "github.com/nnsoc/nnsoc/hal/driver/gpu/kernel"

// positions is the table [tile][step][position][tap] of arena offsets. counts are the taps
// inside, per position.
func (k *Kernel) positions(m *kernel.Memory) (table, counts uint32) {
	tiles := (k.Rows + k.Tile - 1) / k.Tile
	per := k.Steps * k.Tile * k.stride()
	t := make([]uint32, tiles*per)
	n := make([]uint32, tiles*k.Tile)
	last := k.eachPosition(m, func(row int, taps []uint32, inside int) {
		for i, v := range taps {
			t[row/k.Tile*per+(i/k.Group*k.Tile+row%k.Tile)*k.stride()+i%k.Group] = v
		}
		n[row] = k.count(inside)
	})
	for row := k.Rows; row < tiles*k.Tile; row++ {
		last(row)
	}
	return m.Consts.Words(t), m.Consts.Words(n)
}

// columns is the table [tap][position] for lanes that load their own entries.
func (k *Kernel) columns(m *kernel.Memory) (table, counts uint32) {
	t := make([]uint32, k.Steps*k.Group*k.Rows)
	n := make([]uint32, k.Rows)
	k.eachPosition(m, func(row int, taps []uint32, inside int) {
		for tap, v := range taps {
			t[tap*k.Rows+row] = v
		}
		n[row] = k.count(inside)
	})
	return m.Consts.Words(t), m.Consts.Words(n)
}

// eachPosition calls put for every output position with the arena offsets of its taps, as
// many as the steps have, and the number of those inside the image. It returns a function
// that calls put for the last position again.
func (k *Kernel) eachPosition(m *kernel.Memory, put func(row int, taps []uint32, inside int)) (last func(row int)) {
	taps, inside := make([]uint32, k.Steps*k.Group), 0
	outside := m.Pages.At(k.Padding())
	for i := range taps {
		taps[i] = outside
	}
	total := k.Window.KH * k.Window.KW
	es := k.In.Elem.Bytes()
	kernel.EachTap(&k.Window, k.Batches, k.InC, func(row, tap, i int) {
		if tap == 0 {
			inside = 0
		}
		taps[tap] = outside
		if i >= 0 {
			taps[tap] = k.In.Off + uint32(i*es)
			inside++
		}
		if tap == total-1 {
			put(row, taps, inside)
		}
	})
	return func(row int) { put(row, taps, inside) }
}
