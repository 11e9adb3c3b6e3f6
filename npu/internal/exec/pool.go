package exec

import (
	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
)

// padded is the input of a window operation without its zero point, in rows of
// the padded and upscaled frame. Rows outside the input are nil.
type padded struct {
	rows [][]int32 // each [inW*c]
}

// inputRows reads the whole input of an operation.
func (e *Engine) inputRows(o *state.Op) padded {
	f, k := &o.IFM, &o.Window
	n := f.W * f.C
	e.scratch.row = grow(e.scratch.row, n*f.H)
	e.scratch.rows = grow(e.scratch.rows, k.InH)
	p := padded{rows: e.scratch.rows}
	for y := range f.H {
		f.ReadRow(e.scratch.row[y*n:][:n], y)
	}
	wide := k.InW * f.C
	if k.Upscale != 0 {
		e.scratch.upscaled = grow(e.scratch.upscaled, k.InH*wide)
	}
	for y := range p.rows {
		switch {
		case k.Upscale == 0:
			p.rows[y] = e.scratch.row[y*n:][:n]
			continue
		case k.Upscale == 1 && y&1 == 1:
			p.rows[y] = p.rows[y-1]
			continue
		}
		row, step := e.scratch.upscaled[y*wide:][:wide], 1
		p.rows[y] = row
		if k.Upscale != 1 { // zeros between
			clear(row)
			step = 2
		}
		for x := 0; x < k.InW && y%step == 0; x += step {
			copy(row[x*f.C:][:f.C], e.scratch.row[y/2*n+x/2*f.C:])
		}
	}
	return p
}

// pool executes OP_POOL.
func (e *Engine) pool(o *state.Op) error {
	p := e.inputRows(o)
	k := &o.Window
	depth := o.IFM.C
	acc := grow(e.scratch.wide, depth)
	e.scratch.wide = acc
	out := grow(e.scratch.outRow, o.OFM.W*o.OFM.C)
	e.scratch.outRow = out
	for oy := range o.OFM.H {
		for ox := range o.OFM.W {
			y0, x0 := oy*k.StrideY-k.Top, ox*k.StrideX-k.Left
			count := 0
			if o.Mode == ethosu.PoolMax {
				for i := range acc {
					acc[i] = -1 << 40
				}
			} else {
				clear(acc)
			}
			for ky := range k.H {
				y := y0 + ky*k.DilationY
				if y < 0 || y >= k.InH {
					continue
				}
				for kx := range k.W {
					x := x0 + kx*k.DilationX
					if x < 0 || x >= k.InW {
						continue
					}
					count++
					src := p.rows[y][x*depth:][:depth]
					if o.Mode == ethosu.PoolMax {
						for i, v := range src {
							acc[i] = max(acc[i], int64(v))
						}
					} else {
						for i, v := range src {
							acc[i] += int64(v)
						}
					}
				}
			}
			e.poolOutput(o, out[ox*o.OFM.C:][:o.OFM.C], acc, count)
		}
		o.OFM.WriteRow(out, oy)
	}
	return nil
}

// poolOutput is the output stage of one pixel.
func (e *Engine) poolOutput(o *state.Op, out []int32, acc []int64, count int) {
	s := &o.Output
	switch {
	case o.Mode == ethosu.PoolReduceSum:
		var sum int64
		for _, v := range acc {
			sum += v
		}
		out[0] = scaled(s, sum)
	case o.Mode == ethosu.PoolMax:
		for i, v := range acc {
			out[i] = finish(s, v)
		}
	case s.Global:
		for i, v := range acc {
			out[i] = scaled(s, v)
		}
	default:
		// Without a scale the hardware divides by the taps inside the input.
		scale, shift := ethosu.AverageScale(max(count, 1), 0)
		for i, v := range acc {
			out[i] = finish(s, rescale(v, scale, shift, s.Round))
		}
	}
}
