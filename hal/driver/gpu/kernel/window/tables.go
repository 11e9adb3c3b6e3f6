package window

import (
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/gpu/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpu/layout"
)

// positions is the table [tile][step][position][tap] of arena offsets. Padding reads zeros,
// or for a Maximum one of the other taps again. counts are the taps inside, as
// float32, per position.
func (k *Kernel) positions(c *layout.Constants) (table, counts uint32) {
	tiles := (k.Rows + k.Tile - 1) / k.Tile
	per := k.Steps * k.Tile * k.stride()
	t := make([]uint32, tiles*per)
	n := make([]uint32, tiles*k.Tile)
	one := make([]uint32, k.Steps*k.Group) // of a position
	es := k.In.Elem.Bytes()
	inside := 0
	total := k.Window.KH * k.Window.KW
	valid := uint32(0)
	put := func(row int) {
		for i, v := range one {
			if v == 0 && k.Mode == Maximum {
				v = valid
			}
			t[row/k.Tile*per+(i/k.Group*k.Tile+row%k.Tile)*k.stride()+i%k.Group] = v
		}
		n[row] = math.Float32bits(float32(inside))
	}
	kernel.EachTap(&k.Window, k.Batches, k.InC, func(row, tap, i int) {
		if tap == 0 {
			inside = 0
			clear(one)
		}
		if i >= 0 {
			one[tap] = k.In.Off + uint32(i*es)
			valid = one[tap]
			inside++
		}
		if tap == total-1 {
			put(row)
		}
	})
	for row := k.Rows; row < tiles*k.Tile; row++ {
		put(row)
	}
	return c.Words(t), c.Words(n)
}

// columns is the table [tap][position] for lanes that load their own entries.
func (k *Kernel) columns(c *layout.Constants) (table, counts uint32) {
	t := make([]uint32, k.Steps*k.Group*k.Rows)
	n := make([]uint32, k.Rows)
	es := k.In.Elem.Bytes()
	inside := 0
	valid := uint32(0)
	total := k.Window.KH * k.Window.KW
	kernel.EachTap(&k.Window, k.Batches, k.InC, func(row, tap, i int) {
		if tap == 0 {
			inside = 0
		}
		if i >= 0 {
			valid = k.In.Off + uint32(i*es)
			t[tap*k.Rows+row] = valid
			inside++
		}
		if tap == total-1 {
			n[row] = math.Float32bits(float32(inside))
			for at := row; k.Mode == Maximum && at < len(t); at += k.Rows {
				if t[at] == 0 {
					t[at] = valid
				}
			}
		}
	})
	return c.Words(t), c.Words(n)
}
