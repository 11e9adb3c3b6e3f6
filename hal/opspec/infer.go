package opspec

import (
	"errors"
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
)

// shapeRule gives the shapes of an operation's outputs.
type shapeRule func(v View, op *nn.Operation) ([][]uint32, error)

func shape1[T any](parse func(View, *nn.Operation) (T, error), dims func(*T) []uint32) shapeRule {
	return func(v View, op *nn.Operation) ([][]uint32, error) {
		p, err := parse(v, op)
		if err != nil {
			return nil, err
		}
		return [][]uint32{dims(&p)}, nil
	}
}

var (
	convShape   = shape1(View.Conv, (*Conv).OutputDims)
	poolShape   = shape1(View.Pool, (*Pool).OutputDims)
	elemShape   = shape1(View.Elementwise, func(e *Elementwise) []uint32 { return e.Dims })
	sameShape   = shape1(View.Unary, func(u *Unary) []uint32 { return u.Dims })
	softShape   = shape1(View.Softmax, func(s *Softmax) []uint32 { return s.Dims })
	copyShape   = shape1(View.Copy, func(c *Copy) []uint32 { return c.Dims })
	padShape    = shape1(View.Pad, func(p *Pad) []uint32 { return p.Dims })
	meanShape   = shape1(View.Mean, func(m *Mean) []uint32 { return m.Dims })
	alongShape  = shape1(View.Along, func(a *Along) []uint32 { return a.Dims })
	resizeShape = shape1(View.Resize, (*Resize).OutputDims)
	gatherShape = shape1(View.Gather, func(g *Gather) []uint32 { return g.Dims })
	roiShape    = shape1(View.Roi, (*Roi).OutputDims)
	strideDims  = func(s *Strided) []uint32 { return s.Dims }
)

// shapeRules is the shape rule of each operation that has one.
var shapeRules = [nn.OperationCount]shapeRule{
	nn.OpConv2D:                     convShape,
	nn.OpDepthwiseConv2D:            convShape,
	nn.OpFullyConnected:             shape1(View.FullyConnected, (*FullyConnected).OutputDims),
	nn.OpAveragePool2D:              poolShape,
	nn.OpMaxPool2D:                  poolShape,
	nn.OpL2Pool2D:                   poolShape,
	nn.OpAdd:                        elemShape,
	nn.OpSub:                        elemShape,
	nn.OpMul:                        elemShape,
	nn.OpDiv:                        elemShape,
	nn.OpMaximum:                    elemShape,
	nn.OpMinimum:                    elemShape,
	nn.OpPow:                        elemShape,
	nn.OpPrelu:                      elemShape,
	nn.OpEqual:                      elemShape,
	nn.OpNotEqual:                   elemShape,
	nn.OpLess:                       elemShape,
	nn.OpLessEqual:                  elemShape,
	nn.OpGreater:                    elemShape,
	nn.OpGreaterEqual:               elemShape,
	nn.OpLogicalAnd:                 elemShape,
	nn.OpLogicalOr:                  elemShape,
	nn.OpRelu:                       sameShape,
	nn.OpRelu1:                      sameShape,
	nn.OpRelu6:                      sameShape,
	nn.OpLogistic:                   sameShape,
	nn.OpTanh:                       sameShape,
	nn.OpQuantize:                   sameShape,
	nn.OpRequantize:                 sameShape,
	nn.OpDequantize:                 sameShape,
	nn.OpAbs:                        sameShape,
	nn.OpNeg:                        sameShape,
	nn.OpExp:                        sameShape,
	nn.OpLog:                        sameShape,
	nn.OpSin:                        sameShape,
	nn.OpSqrt:                       sameShape,
	nn.OpRsqrt:                      sameShape,
	nn.OpFloor:                      sameShape,
	nn.OpLogicalNot:                 sameShape,
	nn.OpHardSwish:                  sameShape,
	nn.OpElu:                        sameShape,
	nn.OpCast:                       sameShape,
	nn.OpSoftmax:                    softShape,
	nn.OpLogSoftmax:                 softShape,
	nn.OpConcatenation:              shape1(View.Concat, func(c *Concat) []uint32 { return c.Dims }),
	nn.OpReshape:                    copyShape,
	nn.OpSqueeze:                    copyShape,
	nn.OpExpandDims:                 copyShape,
	nn.OpPad:                        padShape,
	nn.OpPadV2:                      padShape,
	nn.OpMean:                       meanShape,
	nn.OpArgmax:                     alongShape,
	nn.OpArgmin:                     alongShape,
	nn.OpL2Normalization:            alongShape,
	nn.OpLocalResponseNormalization: alongShape,
	nn.OpInstanceNormalization:      shape1(View.InstanceNorm, func(n *InstanceNorm) []uint32 { return n.Dims }),
	nn.OpGroupedConv2D:              shape1(View.GroupedConv, func(c *GroupedConv) []uint32 { return c.OutputDims() }),
	nn.OpTransposeConv2D:            shape1(View.TransposeConv, func(c *TransposeConv) []uint32 { return c.OutputDims() }),
	nn.OpResizeBilinear:             resizeShape,
	nn.OpResizeNearestNeighbor:      resizeShape,
	nn.OpTile:                       shape1(View.Tile, func(t *Tile) []uint32 { return t.Dims }),
	nn.OpGather:                     gatherShape,
	nn.OpEmbeddingLookup:            gatherShape,
	nn.OpFill:                       shape1(View.Fill, func(f *Fill) []uint32 { return f.Dims }),
	nn.OpLshProjection:              shape1(View.Lsh, func(l *Lsh) []uint32 { return l.Dims }),
	nn.OpRandomMultinomial:          shape1(View.Multinomial, func(m *Multinomial) []uint32 { return m.Dims }),
	nn.OpRank:                       shape1(View.Rank, func(*int) []uint32 { return nil }),
	nn.OpRoiAlign:                   roiShape,
	nn.OpRoiPooling:                 roiShape,
	nn.OpAxisAlignedBboxTransform:   shape1(View.BoxTransform, func(b *BoxTransform) []uint32 { return b.Dims }),
	nn.OpHeatmapMaxKeypoint: func(v View, op *nn.Operation) ([][]uint32, error) {
		h, err := v.Heatmap(op)
		n, k := uint32(h.Boxes), uint32(h.Points)
		return [][]uint32{{n, k}, {n, k, 2}}, err
	},
	nn.OpQuantized16bitLstm: func(v View, op *nn.Operation) ([][]uint32, error) {
		l, err := v.Lstm16(op)
		state := []uint32{uint32(l.Batch), uint32(l.Units)}
		return [][]uint32{state, state}, err
	},
	nn.OpQuantizedLstm: func(v View, op *nn.Operation) ([][]uint32, error) {
		l, err := v.Lstm8(op)
		out := []uint32{uint32(l.Batch), uint32(l.Out)}
		return [][]uint32{out, {uint32(l.Batch), uint32(l.Units)}, out}, err
	},
	nn.OpSplit: func(v View, op *nn.Operation) ([][]uint32, error) {
		s, err := v.Split(op)
		if err != nil {
			return nil, err
		}
		dims := make([][]uint32, len(op.Outputs))
		for i := range dims {
			dims[i] = s.Dims
		}
		return dims, nil
	},
	nn.OpHashtableLookup: func(v View, op *nn.Operation) ([][]uint32, error) {
		h, err := v.Hashtable(op)
		return [][]uint32{h.Dims, h.HitDims}, err
	},
	nn.OpTopkV2: func(v View, op *nn.Operation) ([][]uint32, error) {
		t, err := v.TopK(op)
		return [][]uint32{t.Dims, t.Dims}, err
	},
	nn.OpSelect:         shape1(View.Select, func(s *Select) []uint32 { return s.Dims }),
	nn.OpTranspose:      shape1(View.Transpose, strideDims),
	nn.OpSlice:          shape1(View.Slice, strideDims),
	nn.OpStridedSlice:   shape1(View.StridedSlice, strideDims),
	nn.OpDepthToSpace:   shape1(View.DepthToSpace, strideDims),
	nn.OpSpaceToDepth:   shape1(View.SpaceToDepth, strideDims),
	nn.OpBatchToSpaceNd: shape1(View.BatchToSpace, strideDims),
	nn.OpSpaceToBatchNd: shape1(View.SpaceToBatch, strideDims),
	nn.OpChannelShuffle: shape1(View.ChannelShuffle, strideDims),
	nn.OpReverse:        shape1(View.Reverse, strideDims),
	nn.OpPack:           shape1(View.Pack, func(c *Concat) []uint32 { return c.Dims }),
	nn.OpMirrorPad:      shape1(View.MirrorPad, func(p *MirrorPad) []uint32 { return p.Dims }),
	nn.OpBatchMatmul:    shape1(View.BatchMatmul, func(m *BatchMatmul) []uint32 { return m.Dims }),
	nn.OpDensify:        shape1(View.Densify, func(d *Densify) []uint32 { return d.Dims }),
	nn.OpReduceSum:      meanShape,
	nn.OpReduceProd:     meanShape,
	nn.OpReduceMax:      meanShape,
	nn.OpReduceMin:      meanShape,
	nn.OpReduceAll:      meanShape,
	nn.OpReduceAny:      meanShape,
}

// OutputDims infers the shapes of an operation's outputs. The error is
// ErrUnknown when they depend on something not known yet.
func (v View) OutputDims(op *nn.Operation) ([][]uint32, error) {
	if !op.Type.Valid() || shapeRules[op.Type] == nil {
		return nil, fmt.Errorf("%s: the shapes of its outputs: %w", op.Type, ErrUnknown)
	}
	dims, err := shapeRules[op.Type](v, op)
	if err != nil {
		return nil, err
	}
	for i, d := range dims {
		if nn.Elements(d) < 0 {
			return nil, fmt.Errorf("%s: output %d of shape %v is too large", op.Type, i, d)
		}
	}
	return dims, nil
}

// Resolve returns a copy of the subgraph in which the shapes of temporaries
// and outputs are completed from the inputs as far as they can be known.
// Operand data is shared. A declared shape that an operation contradicts is an
// error.
func Resolve(g *nn.Subgraph) (*nn.Subgraph, error) {
	return inferAll(g, false, func(*nn.Operation) bool { return true })
}

// inferAll completes the shapes of a copy of the subgraph, operation by
// operation. mayStay says whether the outputs of one may stay unknown.
func inferAll(g *nn.Subgraph, final bool, mayStay func(*nn.Operation) bool) (*nn.Subgraph, error) {
	r := *g
	r.Operands = append([]nn.Operand(nil), g.Operands...)
	v := View{Operands: r.Operands, Final: final}
	for i := range r.Operations {
		op := &r.Operations[i]
		dims, err := v.OutputDims(op)
		if errors.Is(err, ErrUnknown) && mayStay(op) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("operation %d: %w", i, err)
		}
		for k, x := range op.Outputs {
			if err := v.SetDims(x, dims[k]); err != nil {
				return nil, fmt.Errorf("operation %d: %s: output %d (operand %d): %w", i, op.Type, k, x, err)
			}
		}
	}
	return &r, nil
}

// SetDims gives an operand its inferred shape, checking the declared one. The
// operand's previous Dimensions slice is not written to.
func (v View) SetDims(i uint32, dims []uint32) error {
	o := &v.Operands[i]
	if err := mergeDims(o.Dimensions, dims); err != nil {
		return err
	}
	o.Dimensions = dims
	return nil
}

// HasShapeRule reports whether OutputDims knows the operation.
func HasShapeRule(t nn.OperationType) bool { return t.Valid() && shapeRules[t] != nil }
