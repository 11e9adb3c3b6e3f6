package timing

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// operationCases is each operation with its operands; N scales its work. A word
// is one operand: a letter for the type, then ":" and a shape with "=" and
// values, or a scalar's value. Capital letters are constants. The words after
// ">" are outputs.
//
//	f float32, q quant8, s quant8 signed, y quant8 symmetric, h quant16
//	symmetric, d int32, o bool8 tensors; i int32, r float32, b bool, z int32
//	scalars; - is an omitted operand, g a subgraph
var operationCases = map[nn.OperationType]string{
	nn.OpConv2D:          "f:1,N,16,16 F:32,3,3,16 F:32 i1 i1 i1 i0 > f:1,N,16,32",
	nn.OpGroupedConv2D:   "f:1,N,16,16 F:32,3,3,4 F:32 i1 i1 i1 i4 i0 b0 > f:1,N,16,32",
	nn.OpTransposeConv2D: "f:1,N,16,16 F:32,3,3,16 F:32 D:4=1,N,16,32 i1 i1 i1 i0 b0 > f:1,N,16,32",
	nn.OpDepthwiseConv2D: "f:1,N,16,16 F:1,3,3,16 F:16 i1 i1 i1 i1 i0 > f:1,N,16,16",
	nn.OpFullyConnected:  "f:N,64 F:32,64 F:32 i0 > f:N,32",
	nn.OpBatchMatmul:     "f:N,64 f:64,32 b0 b0 > f:N,32",
	nn.OpAveragePool2D:   "f:1,N,16,16 i1 i1 i1 i3 i3 i0 > f:1,N,16,16",
	nn.OpMaxPool2D:       "f:1,N,16,16 i1 i1 i1 i3 i3 i0 > f:1,N,16,16",
	nn.OpL2Pool2D:        "f:1,N,16,16 i1 i1 i1 i3 i3 i0 > f:1,N,16,16",

	nn.OpAdd: binaryActivated, nn.OpSub: binaryActivated, nn.OpMul: binaryActivated, nn.OpDiv: binaryActivated,
	nn.OpMaximum: binary2, nn.OpMinimum: binary2, nn.OpPow: binary2, nn.OpPrelu: binary2,
	nn.OpEqual: compare2, nn.OpNotEqual: compare2, nn.OpLess: compare2, nn.OpLessEqual: compare2, nn.OpGreater: compare2,
	nn.OpGreaterEqual: compare2, nn.OpLogicalAnd: "o:N,64 o:N,64 > o:N,64", nn.OpLogicalOr: "o:N,64 o:N,64 > o:N,64",
	nn.OpLogicalNot: "o:N,64 > o:N,64", nn.OpSelect: "o:N,64 f:N,64 f:N,64 > f:N,64",
	nn.OpAbs: unary1, nn.OpNeg: unary1, nn.OpFloor: unary1, nn.OpExp: unary1, nn.OpLog: unary1, nn.OpSin: unary1, nn.OpSqrt: unary1,
	nn.OpRsqrt: unary1, nn.OpRelu: unary1, nn.OpRelu1: unary1, nn.OpRelu6: unary1, nn.OpLogistic: unary1, nn.OpTanh: unary1,
	nn.OpElu: "f:N,64 r1 > f:N,64", nn.OpHardSwish: unary1, nn.OpSoftmax: "f:N,64 r1 > f:N,64",
	nn.OpLogSoftmax: "f:N,64 r1 i1 > f:N,64", nn.OpQuantize: "f:N,64 > q:N,64", nn.OpDequantize: "q:N,64 > f:N,64", nn.OpRequantize: "q:N,64 > q:N,64",
	nn.OpQuantize16: "f:N,64 > a:N,64", nn.OpDequantize16: "a:N,64 > f:N,64",
	nn.CodeExtensions()[0].Decode(): "c:N,64 > q:N,64",
	nn.OpCast:                       "f:N,64 > d:N,64",

	nn.OpMean: "f:N,64 D:1=1 i0 > f:N", nn.OpReduceSum: reduce1, nn.OpReduceProd: reduce1, nn.OpReduceMax: reduce1,
	nn.OpReduceMin: reduce1, nn.OpReduceAll: "o:N,64 D:1=1 b0 > o:N", nn.OpReduceAny: "o:N,64 D:1=1 b0 > o:N",
	nn.OpArgmax: "f:N,64 i1 > d:N", nn.OpArgmin: "f:N,64 i1 > d:N",
	nn.OpL2Normalization: "f:N,64 > f:N,64", nn.OpLocalResponseNormalization: "f:1,N,8,64 i2 r1 r1 r1 > f:1,N,8,64",
	nn.OpInstanceNormalization: "f:1,N,8,64 r1 r0 r1 b0 > f:1,N,8,64",
	nn.OpTopkV2:                "f:N,64 i5 > f:N,5 d:N,5",

	nn.OpReshape: "f:N,64 D:2=64,N > f:64,N", nn.OpSqueeze: "f:1,N,64 D:1=0 > f:N,64", nn.OpExpandDims: "f:N,64 i0 > f:1,N,64",
	nn.OpConcatenation: "f:N,64 f:N,64 i1 > f:N,128", nn.OpSplit: "f:N,64 i1 i2 > f:N,32 f:N,32", nn.OpPack: "i0 f:N,64 f:N,64 > f:2,N,64",
	nn.OpPad: "f:N,64 D:2,2=0,0,1,1 > f:N,66", nn.OpPadV2: "f:N,64 D:2,2=0,0,1,1 r1 > f:N,66", nn.OpTile: "f:N,64 D:2=1,2 > f:N,128",
	nn.OpFill: "D:2=N,64 r1 > f:N,64", nn.OpRank: "f:N,64 > z", nn.OpTranspose: "f:N,64 D:2=1,0 > f:64,N",
	nn.OpDepthToSpace: "f:1,N,8,16 i2 > f:1,2N,16,4", nn.OpSpaceToDepth: "f:1,2N,8,16 i2 > f:1,N,4,64",
	nn.OpBatchToSpaceNd: "f:4,N,8,16 D:2=2,2 > f:1,2N,16,16", nn.OpSpaceToBatchNd: "f:1,2N,8,16 D:2=2,2 D:2,2=0,0,0,0 > f:4,N,4,16",
	nn.OpChannelShuffle: "f:N,64 i4 i1 > f:N,64", nn.OpReverse: "f:N,64 D:1=0 > f:N,64", nn.OpMirrorPad: "f:N,64 D:2,2=0,0,1,1 i0 > f:N,66",
	nn.OpSlice: "f:N,64 D:2=0,0 D:2=N,32 > f:N,32", nn.OpStridedSlice: "f:N,64 D:2=0,0 D:2=N,64 D:2=1,2 i0 i0 i0 > f:N,32",
	nn.OpResizeBilinear: "f:1,N,8,16 i16 iN b0 > f:1,N,16,16", nn.OpResizeNearestNeighbor: "f:1,N,8,16 i16 iN b0 > f:1,N,16,16",
	// A row of the block map per 8 values.
	nn.OpDensify: "F:N D:1=0 - D:1=0 D:1=N - - > f:N",
	nn.OpGather:  "f:N,64 i0 d:N > f:N,64", nn.OpEmbeddingLookup: "d:N f:100,64 > f:N,64",
	nn.OpHashtableLookup: "d:N d:100 f:100,64 > f:N,64 q:N", nn.OpLshProjection: "F:4,2 f:N,8 - i2 > d:8",
	nn.OpRandomMultinomial: "f:N,64 i8 d:2 > d:N,8",

	nn.OpRoiAlign:                 "f:1,32,32,16 f:N,4 d:N i4 i4 r1 r1 i2 i2 b0 > f:N,4,4,16",
	nn.OpRoiPooling:               "f:1,32,32,16 f:N,4 d:N i4 i4 r1 r1 b0 > f:N,4,4,16",
	nn.OpHeatmapMaxKeypoint:       "f:N,8,8,4 f:N,4 b0 > f:N,4 f:N,4,2",
	nn.OpAxisAlignedBboxTransform: "f:N,4 f:N,8 d:N f:1,2 > f:N,8",
	nn.OpBoxWithNmsLimit:          "f:N,3 f:N,12 d:N r0 i8 i0 r1 r1 r1 > f:8 f:8,4 d:8 d:8",
	nn.OpDetectionPostprocessing:  "f:1,N,3 f:1,N,4 f:N,4 r1 r1 r1 r1 b0 i8 i1 i8 r0 r1 b0 > f:1,8 f:1,8,4 d:1,8 d:1",
	nn.OpGenerateProposals:        "f:1,N,4,2 f:1,N,4,8 f:2,4 f:1,2 r1 r1 i16 i8 r1 r1 b0 > f:8 f:8,4 d:8",

	nn.OpRnn:                        "f:N,16 F:32,16 F:32,32 F:32 f:N,32 i1 > f:N,32 f:N,32",
	nn.OpUnidirectionalSequenceRnn:  "f:N,4,16 F:32,16 F:32,32 F:32 f:N,32 i1 i0 > f:N,4,32",
	nn.OpBidirectionalSequenceRnn:   "f:N,4,16 F:32,16 F:32,32 F:32 f:N,32 F:32,16 F:32,32 F:32 f:N,32 - - - i1 b0 b0 > f:N,4,32 f:N,4,32",
	nn.OpLstm:                       "f:N,16 " + lstmWeights + " f:N,32 f:N,32 i4 r0 r0 > f:N,128 f:N,32 f:N,32 f:N,32",
	nn.OpUnidirectionalSequenceLstm: "f:N,4,16 " + lstmWeights + " f:N,32 f:N,32 i4 r0 r0 b0 - - - - > f:N,4,32",
	nn.OpBidirectionalSequenceLstm: "f:N,4,16 " + lstmWeights + " " + lstmWeights + " f:N,32 f:N,32 f:N,32 f:N,32" +
		" - - - - - - - - - i4 r0 r0 b0 b0 - - - - - - - - > f:N,4,32 f:N,4,32",
	nn.OpSvdf: "f:N,16 F:32,16 F:32,8 F:32 f:N,256 i1 i0 > f:N,256 f:N,32",
	nn.OpQuantized16bitLstm: "q:N,16 Q:32,16 Q:32,16 Q:32,16 Q:32,16 Q:32,32 Q:32,32 Q:32,32 Q:32,32 D:32 D:32 D:32 D:32 h:N,32 q:N,32" +
		" > h:N,32 q:N,32",
	nn.OpQuantizedLstm: "s:N,16 Y:32,16 Y:32,16 Y:32,16 Y:32,16 Y:32,32 Y:32,32 Y:32,32 Y:32,32 - - - D:32 D:32 D:32 D:32 - - s:N,32 h:N,32" +
		" - - - - r0 r0 r1 r1 r1 r1 i0 r1 > s:N,32 h:N,32 s:N,32",
	nn.OpIf: "o:1 g0 g1 f:N,64 > f:N,64", nn.OpWhile: "g0 g1 f:N,64 > f:N,64",
}

const (
	binaryActivated = "f:N,64 f:N,64 i0 > f:N,64"
	binary2         = "f:N,64 f:N,64 > f:N,64"
	compare2        = "f:N,64 f:N,64 > o:N,64"
	unary1          = "f:N,64 > f:N,64"
	reduce1         = "f:N,64 D:1=1 b0 > f:N"
	lstmWeights     = "F:32,16 F:32,16 F:32,16 F:32,16 F:32,32 F:32,32 F:32,32 F:32,32 - - - F:32 F:32 F:32 F:32 - -"
)

var caseTypes = map[byte]nn.OperandType{
	'f': nn.TensorFloat32, 'q': nn.TensorQuant8Asymm, 's': nn.TensorQuant8AsymmSigned, 'y': nn.TensorQuant8Symm,
	'h': nn.TensorQuant16Symm, 'a': nn.TensorQuant16Asymm, 'c': nn.CodeExtensions()[0].Type(), 'd': nn.TensorInt32, 'o': nn.TensorBool8,
	'i': nn.Int32, 'r': nn.Float32, 'b': nn.Bool, 'z': nn.Int32,
}

// operationCase builds the operands of a case.
func operationCase(t *testing.T, op nn.OperationType, text string, n int) (opspec.View, *nn.Operation) {
	t.Helper()
	v := opspec.View{}
	o := &nn.Operation{Type: op}
	list := &o.Inputs
	life := nn.SubgraphInput
	number := func(s string) int {
		s, scaled := strings.CutSuffix(s, "N")
		k, err := strconv.Atoi(s)
		if s == "" {
			k, err = 1, nil
		}
		require.NoError(t, err, op, text)
		if scaled {
			k *= n
		}
		return k
	}
	for _, w := range strings.Fields(text) {
		if w == ">" {
			list, life = &o.Outputs, nn.SubgraphOutput
			continue
		}
		x := nn.Operand{Lifetime: life, Scale: 0.5}
		kind, shape, tensor := strings.Cut(w, ":")
		letter := kind[0] | 0x20
		constant := kind[0] != letter
		x.Type = caseTypes[letter]
		if letter == 'c' {
			x.Scale, x.Extension = 0, make([]byte, 8) // two zeros
		}
		switch {
		case w == "-":
			x = nn.Operand{Type: nn.TensorFloat32, Lifetime: nn.NoValue}
			if op == nn.OpQuantizedLstm || op == nn.OpDensify {
				x.Type = optionalTypes[op][len(o.Inputs)]
			}
		case letter == 'g':
			x = nn.SubgraphOperand(uint32(number(kind[1:])))
		case tensor:
			dims, values, _ := strings.Cut(shape, "=")
			for _, d := range strings.Split(dims, ",") {
				x.Dimensions = append(x.Dimensions, uint32(number(d)))
			}
			if constant {
				x.Lifetime, x.Data = nn.ConstantCopy, make([]byte, x.Bytes())
				for i, s := range strings.Split(values, ",") {
					if s != "" {
						binary.LittleEndian.PutUint32(x.Data[4*i:], uint32(number(s)))
					}
				}
			}
		case len(kind) > 1:
			x.Lifetime = nn.ConstantCopy
			k := number(kind[1:])
			switch letter {
			case 'r':
				x.Data = binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(k)))
			case 'b':
				x.Data = []byte{byte(k)}
			default:
				x.Data = binary.LittleEndian.AppendUint32(nil, uint32(k))
			}
		}
		*list = append(*list, uint32(len(v.Operands)))
		v.Operands = append(v.Operands, x)
	}
	v.Final = true
	return v, o
}

// optionalTypes are the types of omitted operands that are not float.
var optionalTypes = map[nn.OperationType]map[int]nn.OperandType{
	nn.OpQuantizedLstm: {
		9: nn.TensorQuant16Symm, 10: nn.TensorQuant16Symm, 11: nn.TensorQuant16Symm, 16: nn.TensorQuant8Symm, 17: nn.TensorInt32,
		20: nn.TensorQuant16Symm, 21: nn.TensorQuant16Symm, 22: nn.TensorQuant16Symm, 23: nn.TensorQuant16Symm,
	},
	nn.OpDensify: {2: nn.TensorInt32, 5: nn.TensorInt32, 6: nn.TensorInt32},
}

// TestEveryOperationCosts: no operation is free, and both its work and its time grow with its operands.
func TestEveryOperationCosts(t *testing.T) {
	cycles := func(op nn.OperationType, text string, n int) (opspec.Work, float64) {
		v, o := operationCase(t, op, text, n)
		w, err := v.Work(o)
		if err != nil {
			t.Errorf("%v: %v", op, err)
			return w, 0
		}
		m := require.V(gold(1).NewMeter(1))(t)
		m.Add(0, &w)
		r := m.Timing()
		require.Check(t, r.EnergyPJ > 0 && r.Cycles > r.Reasons[ReasonLaunch], "%v is free: %+v", op, r)
		return w, float64(r.Cycles - r.Reasons[ReasonLaunch])
	}
	for _, op := range nn.Operations() {
		if opspec.Lookup(op) == nil {
			continue
		}
		text, ok := operationCases[op]
		if !ok {
			t.Errorf("%v has no case", op)
			continue
		}
		small, a := cycles(op, text, 8)
		large, b := cycles(op, text, 512)
		did := func(w *opspec.Work) int64 { return w.MACs + w.Steps + w.Lookups }
		require.Check(t, did(&small) != 0 && small.Written() != 0 && small.Read()+small.Weights() != 0, "%v does nothing: %+v", op, small)
		if op == nn.OpRank { // reads a shape
			continue
		}
		if did(&large) < 16*did(&small) || b < 4*a {
			t.Errorf("%v: 64 times the operands: %d -> %d steps, %.0f -> %.0f cycles", op, did(&small), did(&large), a, b)
		}
		if (small.Kernel != opspec.KernelNone) != (small.MACs > 0) {
			t.Errorf("%v: kernel %d with %d multiply-accumulates", op, small.Kernel, small.MACs)
		}
	}
}
