package lower

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/layout"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// lowerDensify lowers DENSIFY. The places of the values follow from its lists,
// which are parameters.
func lowerDensify(l *Lowering, op *nn.Operation) error {
	d, err := l.view.Densify(op)
	if err != nil {
		return err
	}
	in, err := l.Flat(d.Values)
	if err != nil {
		return err
	}
	n := nn.Elements(d.Dims)
	if n > layout.MaxPositions {
		return maxRuns.Broken("shape %v", d.Dims)
	}
	for _, v := range d.Levels {
		for _, x := range [2]uint32{v.Segments, v.Indices} {
			if x == opspec.None {
				continue
			}
			if _, err := l.view.Data(x); err != nil {
				return err
			}
		}
	}
	o, size := &l.graph.Operands[d.Values], l.sizeOf(d.Values)
	from := make([]int32, n) // 1 + value of each place
	runs := 0
	err = d.Walk(func(x uint32) []int32 {
		data := l.graph.Operands[x].Data
		list := make([]int32, len(data)/4)
		for i := range list {
			list[i] = int32(binary.LittleEndian.Uint32(data[4*i:]))
		}
		return list
	}, in.Bytes()/size, func(value, at int) {
		from[at] = int32(value + 1)
		runs++
	})
	if err != nil {
		return err
	}
	fill := uint32(uint16(o.ZeroPoint)) * 0x10001
	if size == 1 {
		fill = uint32(byte(o.ZeroPoint)) * hvx.Ones
		if signedBytes(o.Type) {
			fill ^= 0x80 * hvx.Ones
		}
	}
	out := l.FlatResult(d.Output)
	l.fillFlat(out, fill)
	return l.move("densify", out, in, runs, func(put func(to, from, n int)) {
		for at := 0; at < len(from); at++ {
			if from[at] == 0 {
				continue
			}
			n := 1
			for at+n < len(from) && from[at+n] == from[at]+int32(n) {
				n++
			}
			put(at*size, int(from[at]-1)*size, n*size)
			at += n - 1
		}
	})
}
