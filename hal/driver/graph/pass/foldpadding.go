package pass

import (
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// foldPadding lets convolutions and poolings pad by themselves what a PAD puts around their quantized image:
//
//	y = PAD(x, rows 0 1, columns 0 1); z = CONV_2D(y, left 0, right 0, ...)   ->   z = CONV_2D(x, left 0, right 1, ...)
//
// Both pad with the zero point, whose products are 0. MAX_POOL_2D ignores its padding, which is the same where the zero
// point is the least value. As in Vela (its replace_pad_by_hw_pad), padding of more than half a window stays.
func foldPadding(g *graph.Graph) (changed bool, err error) {
	u := g.Uses()
	for i := range g.Operations {
		op := &g.Operations[i]
		if op.Type != nn.OpConv2D && op.Type != nn.OpDepthwiseConv2D && op.Type != nn.OpMaxPool2D {
			continue
		}
		j := u.Producer(g.Input(op))
		if j < 0 || g.Operations[j].Type != nn.OpPad {
			continue
		}
		if padded, ok := withPadding(g, op, &g.Operations[j]); ok {
			*op, changed = padded, true
		}
	}
	return changed, nil
}

// withPadding is op with the padding of pad as its own.
func withPadding(g *graph.Graph, op, pad *nn.Operation) (_ nn.Operation, ok bool) {
	p, err := opspec.Read[opspec.Pad](g.View(), pad)
	if err != nil || len(p.In) != 4 || p.Before[0]|p.After[0]|p.Before[3]|p.After[3] != 0 {
		return nn.Operation{}, false
	}
	in, out := &g.Operands[p.Input], &g.Operands[p.Output]
	least := map[nn.OperandType]int32{nn.TensorQuant8Asymm: 0, nn.TensorQuant8AsymmSigned: -128}
	lowest, quantized := least[in.Type]
	if !quantized || in.Scale != out.Scale || in.ZeroPoint != out.ZeroPoint || op.Type == nn.OpMaxPool2D && in.ZeroPoint != lowest {
		return nn.Operation{}, false
	}
	w, err := g.View().Window(op)
	a, bound := g.View().Bind(op)
	if err != nil || bound != nil || !a.Has("pad_left") {
		return nn.Operation{}, false
	}
	rows, columns := ((w.KH-1)*w.DilationH+1)/2, ((w.KW-1)*w.DilationW+1)/2 // half a window
	sums := []struct {
		name    string
		n, most int
	}{
		{"pad_left", w.Left + p.Before[2], columns}, {"pad_right", w.Right + p.After[2], columns},
		{"pad_top", w.Top + p.Before[1], rows}, {"pad_bottom", w.Bottom + p.After[1], rows},
	}
	for _, s := range sums {
		if s.n > s.most {
			return nn.Operation{}, false
		}
	}
	padded := withInput(*op, a.Position("input"), p.Input)
	for _, s := range sums {
		padded.Inputs[a.Position(s.name)] = g.AddInt32(int32(s.n))
	}
	return padded, true
}
