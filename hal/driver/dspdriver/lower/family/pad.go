package family

import (
	"encoding/binary"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// lowerPad lowers PAD: the value becomes a part of a larger one that is filled
// with the zero point first, in the form that it has.
func lowerPad(l *lower.Lowering, _ *nn.Operation, p opspec.Pad) {
	if l.Values[p.Input] == nil {
		in := l.Flat(p.Input)
		fill := uint32(lower.ZeroOf(&l.Graph.Operands[p.Input])) * hvx.Ones
		padInto(l, l.FlatResult(p.Output), in, p.In, p.Dims, p.Before, 1, fill)
		return
	}
	in := l.Value(p.Input)
	rank := len(p.Dims)
	maxRank.Refuse(rank > 4, "rank %d", rank)
	var before [4]int
	copy(before[4-rank:], p.Before)
	out := l.Result(p.Output, l.PitchOf(p.Output, layout.ShapeOf(l.Graph.Operands[p.Output].Dimensions)))
	l.Add("fill", nil, []*layout.Tensor{out}, launch.FillImage{Out: out})
	l.Add("pad", []*layout.Tensor{in}, []*layout.Tensor{out}, launch.CopyInto{Out: out, In: in, At: before})
}

// lowerMirrorPad lowers MIRROR_PAD: in each row of the result the input's row is
// one run and what mirrors it an element each.
func lowerMirrorPad(l *lower.Lowering, _ *nn.Operation, p opspec.MirrorPad) {
	in := l.Flat(p.Input)
	last, size := len(p.Dims)-1, l.SizeOf(p.Input)
	n, width, before := int(p.In[last]), int(p.Dims[last]), p.Before[last]
	rows := int(nn.Elements(p.Dims)) / width
	l.Move("mirror", l.FlatResult(p.Output), in, rows*(width-n+1), func(put func(to, from, n int)) {
		for row := range rows {
			from, rest, stride := 0, row, n
			for d := last - 1; d >= 0; d-- {
				from += p.Source(d, rest%int(p.Dims[d])) * stride
				rest /= int(p.Dims[d])
				stride *= int(p.In[d])
			}
			to := row * width
			for i := range width {
				switch {
				case i == before:
					put((to+i)*size, from*size, n*size)
				case i < before || i >= before+n:
					put((to+i)*size, (from+p.Source(last, i))*size, size)
				}
			}
		}
	})
}

// padFlat makes a larger tensor filled with a word, and puts the value into it.
func padFlat(l *lower.Lowering, in *layout.Tensor, dims, to []uint32, before []int, size int, fill uint32) *layout.Tensor {
	n := nn.Elements(to)
	maxBytes.Refuse(n < 0 || n > layout.MaxArena, "shape %v", to)
	out := l.NewFlat(in.Name+" padded", int(n), size)
	padInto(l, out, in, dims, to, before, size, fill)
	return out
}

func padInto(l *lower.Lowering, out, in *layout.Tensor, dims, to []uint32, before []int, size int, fill uint32) {
	rank := len(dims)
	maxRank.Refuse(rank == 0, "rank 0")
	l.FillFlat(out, fill)
	list := make([]launch.Dim, rank)
	from, at, offset := size, size, 0
	for i := rank - 1; i >= 0; i-- {
		list[i] = launch.Dim{N: int(dims[i]), Src: from, Dst: at}
		offset += before[i] * at
		from, at = from*int(dims[i]), at*int(to[i])
	}
	l.MoveFlat("pad", out, in, size, list, offset, 0)
}

// lowerPadV2 lowers PAD_V2: the filling is a raw value of the type.
func lowerPadV2(l *lower.Lowering, _ *nn.Operation, p opspec.Pad) {
	in := l.Flat(p.Input)
	o := &l.Graph.Operands[p.Input]
	fill := try.V(l.View().Data(p.Value))
	word := binary.LittleEndian.Uint32(fill)
	if o.Type.IsQuant8() {
		word = uint32(byte(word)+byte(lower.UnsignedBias(o.Type))) * 0x01010101
	}
	padInto(l, l.FlatResult(p.Output), in, o.Dimensions, p.Dims, p.Before, l.SizeOf(p.Input), word)
}
