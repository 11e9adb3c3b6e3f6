package npu

import (
	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// padded is the input of a window operation without its zero point, in rows of
// the padded and upscaled frame. Rows outside the input are nil.
type padded struct {
	rows [][]int32 // each [inW*c]
	c    int
}

// inputRows reads the whole input of an operation.
func (st *State) inputRows(o *op) padded {
	f, k := &o.ifm, &o.k
	n := f.w * f.c
	st.scratch.row = grow(st.scratch.row, n*f.h)
	p := padded{c: f.c, rows: make([][]int32, k.inH)}
	for y := range f.h {
		f.readRow(st.scratch.row[y*n:][:n], y)
	}
	for y := range p.rows {
		switch k.upscale {
		case 0:
			p.rows[y] = st.scratch.row[y*n:][:n]
		case 1:
			if y&1 == 1 {
				p.rows[y] = p.rows[y-1]
				continue
			}
			row := make([]int32, k.inW*f.c)
			for x := range k.inW {
				copy(row[x*f.c:][:f.c], st.scratch.row[y/2*n+x/2*f.c:])
			}
			p.rows[y] = row
		default:
			row := make([]int32, k.inW*f.c)
			if y&1 == 0 {
				for x := 0; x < k.inW; x += 2 {
					copy(row[x*f.c:][:f.c], st.scratch.row[y/2*n+x/2*f.c:])
				}
			}
			p.rows[y] = row
		}
	}
	return p
}

// pool executes OP_POOL.
func (st *State) pool(o *op) error {
	p := st.inputRows(o)
	k := &o.k
	depth := o.ifm.c
	acc := grow(st.scratch.wide, depth)
	st.scratch.wide = acc
	out := grow(st.scratch.outRow, o.ofm.w*o.ofm.c)
	st.scratch.outRow = out
	for oy := range o.ofm.h {
		for ox := range o.ofm.w {
			y0, x0 := oy*k.sy-k.top, ox*k.sx-k.left
			count := 0
			if o.mode == ethosu.PoolMax {
				for i := range acc {
					acc[i] = -1 << 40
				}
			} else {
				clear(acc)
			}
			for ky := range k.h {
				y := y0 + ky*k.dy
				if y < 0 || y >= k.inH {
					continue
				}
				for kx := range k.w {
					x := x0 + kx*k.dx
					if x < 0 || x >= k.inW {
						continue
					}
					count++
					src := p.rows[y][x*depth:][:depth]
					if o.mode == ethosu.PoolMax {
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
			st.poolOutput(o, out[ox*o.ofm.c:][:o.ofm.c], acc, count)
		}
		o.ofm.writeRow(out, oy)
	}
	return nil
}

// poolOutput is the output stage of one pixel.
func (st *State) poolOutput(o *op, out []int32, acc []int64, count int) {
	s := &o.out
	switch {
	case o.mode == ethosu.PoolReduceSum:
		var sum int64
		for _, v := range acc {
			sum += v
		}
		out[0] = s.scaled(sum)
	case o.mode == ethosu.PoolMax:
		for i, v := range acc {
			out[i] = s.finish(v)
		}
	case s.global:
		for i, v := range acc {
			out[i] = s.scaled(v)
		}
	default:
		// Without a scale the hardware divides by the taps inside the input.
		scale, shift := ethosu.AverageScale(max(count, 1), 0)
		for i, v := range acc {
			out[i] = s.finish(rescale(v, scale, shift, s.round))
		}
	}
}
