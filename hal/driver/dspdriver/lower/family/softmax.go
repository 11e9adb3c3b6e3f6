package family

import (
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/launch"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// maxSoftmax bounds the elements of a row: the sum has 12 integer bits.
const maxSoftmax = 4095

func lowerSoftmax(l *lower.Lowering, _ *nn.Operation, m opspec.Softmax) {
	maxExponentials.Refuse(m.Depth > maxSoftmax, "%d", m.Depth)
	q := try.V(m.Quant(l.View()))
	in := l.Value(m.Input)
	// Kernels work along the channels: another axis goes there and back.
	dims, last := m.Dims, len(m.Dims)-1
	if m.Axis != last {
		perm := lastAxis(len(m.Dims), m.Axis)
		in = permute(l, in, dims, perm)
		dims = make([]uint32, len(perm))
		for i, p := range perm {
			dims[i] = m.Dims[p]
		}
	}
	if in.Pitch < layout.VectorBytes { // rows of whole vectors
		in = l.WithPitch(in, layout.VectorBytes)
	}
	out := l.NewTensor("softmax", in.Shape, in.Pitch, lower.ZeroOf(&l.Graph.Operands[m.Output]))
	bytes := layout.RoundUp(m.Depth, layout.VectorBytes) * 4
	scratch := l.NewTensor("scratch", layout.Shape{N: 1, H: 1, W: l.Threads, C: bytes}, 1, 0)
	scratch.Dense = true
	l.Add("softmax", []*layout.Tensor{in}, []*layout.Tensor{out, scratch}, launch.Softmax{Quant: q, Op: m, In: in, Out: out, Scratch: scratch})
	l.Values[m.Output] = out
	if m.Axis != last {
		l.Values[m.Output] = permute(l, out, dims, firstAxis(len(dims), m.Axis))
	}
}

// lastAxis is the permutation that moves an axis behind all others.
func lastAxis(rank, axis int) []int {
	var p []int
	for i := range rank {
		if i != axis {
			p = append(p, i)
		}
	}
	return append(p, axis)
}

// firstAxis is its inverse: it moves the last axis back.
func firstAxis(rank, axis int) []int {
	p := make([]int, rank)
	for i, from := range lastAxis(rank, axis) {
		p[from] = i
	}
	return p
}
