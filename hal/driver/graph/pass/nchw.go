package pass

import (
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Permutations of the dimensions of an image.
var (
	nchwToNHWC = []int32{0, 2, 3, 1}
	nhwcToNCHW = []int32{0, 3, 1, 2}
)

// convertNCHW makes every operation with a constant true layout flag work on NHWC:
//
//	y = OP(x, nchw)   ->   y = TRANSPOSE(OP(TRANSPOSE(x), nhwc))
//
// Operations whose flag or whose shapes are not known stay as they are.
func convertNCHW(g *graph.Graph) (changed bool, err error) {
	r := rewriter{g: g}
	for i := range g.Operations {
		if op := g.Operations[i]; !r.toNHWC(op, g.Origin[i]) {
			r.add(g.Origin[i], op)
		} else {
			changed = true
		}
	}
	r.commit()
	return changed, nil
}

// toNHWC adds the operation in NHWC order with its transposes, if it is in NCHW order.
func (r *rewriter) toNHWC(op nn.Operation, origin int) bool {
	g := r.g
	a, err := g.View().Bind(&op)
	if err != nil {
		return false
	}
	flag := a.Position("nchw")
	if flag < 0 {
		return false
	}
	if nchw, err := a.Bool("nchw"); err != nil || !nchw {
		return false
	}
	slots, output := a.Row.Images, false
	if slots == nil {
		slots, output = []string{"input"}, true
	}
	var images []int // positions among the inputs
	for _, name := range slots {
		if o := &g.Operands[a.In(name)]; !o.Known() || len(o.Dimensions) != 4 {
			return false
		}
		images = append(images, a.Position(name))
	}
	out := op.Outputs[0]
	if o := &g.Operands[out]; output && (!o.Known() || len(o.Dimensions) != 4) {
		return false
	}
	if k := a.Position("output_shape"); k >= 0 { // of TRANSPOSE_CONV_2D, in the order of the image
		shape, err := a.Int32s("output_shape")
		if err != nil || len(shape) != 4 {
			return false
		}
		op = withInput(op, k, g.AddInt32s(shape[0], shape[2], shape[3], shape[1]))
	}
	for _, k := range images {
		x := op.Inputs[k]
		y := g.AddTemporary(x, permuted(g.Operands[x].Dimensions, nchwToNHWC))
		r.add(origin, nn.Operation{Type: nn.OpTranspose, Inputs: []uint32{x, g.AddInt32s(nchwToNHWC...)}, Outputs: []uint32{y}})
		op = withInput(op, k, y)
	}
	op = withInput(op, flag, g.AddBool(false))
	if !output {
		r.add(origin, op)
		return true
	}
	y := g.AddTemporary(out, permuted(g.Operands[out].Dimensions, nchwToNHWC))
	op.Outputs = []uint32{y}
	r.add(origin, op)
	r.add(origin, nn.Operation{Type: nn.OpTranspose, Inputs: []uint32{y, g.AddInt32s(nhwcToNCHW...)}, Outputs: []uint32{out}})
	return true
}

// permuted is the shape of a TRANSPOSE of dims.
func permuted(dims []uint32, perm []int32) []uint32 {
	p := make([]uint32, len(perm))
	for i, from := range perm {
		p[i] = dims[from]
	}
	return p
}

// permutation is the input of a TRANSPOSE and its constant permutation, nil when it has
// none.
func permutation(v opspec.View, op *nn.Operation) (x uint32, perm []int32) {
	if op.Type != nn.OpTranspose {
		return 0, nil
	}
	a, err := v.Bind(op)
	if err != nil || !a.Has("perm") {
		return 0, nil
	}
	if perm, err = a.Int32s("perm"); err != nil {
		return 0, nil
	}
	return a.In("input"), perm
}
