package tflite

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/x448/float16"

	"github.com/nnsoc/nnsoc/importer/tflite/internal/flatbuffer"
	"github.com/nnsoc/nnsoc/importer/tflite/internal/schema"
	"github.com/nnsoc/nnsoc/nn"
)

// Kinds of QuantizationDetails.
const (
	customDetails    = 1
	blockwiseDetails = 2
)

func detailsName(kind int64) string {
	switch kind {
	case customDetails:
		return "quantization CustomQuantization, at most BlockwiseQuantization"
	case blockwiseDetails:
		return "quantization BlockwiseQuantization, which constants of INT4 and INT8 have"
	}
	return fmt.Sprintf("quantization details %d, at most %d", kind, blockwiseDetails)
}

// blockwise is the quantization of tensor t by blocks: each block_size elements of the last dimension have a scale of
// their own, and may have a zero point, which stand in other tensors. NNAPI has no such quantization, so that these
// constants are held as the reals that they represent:
//
//	real[row][i] = scales[row][i/block] * (stored[row][i] - zeros[row][i/block])
func (g *graph) blockwise(t int) (q flatbuffer.Table, ok bool) {
	code := g.tensors[t].Int("type")
	p, ok := g.tensors[t].Table("quantization")
	if !ok || p.Int("details_type") != blockwiseDetails || code != typeInt4 && code != typeInt8 || g.buffer(t) == nil {
		return q, false
	}
	q, ok, err := p.Union("details", schema.Types()["BlockwiseQuantization"])
	if err != nil || !ok {
		g.Failf("tensor %q: its blockwise quantization is missing or broken", g.tensors[t].Text("name"))
	}
	g.known(p, g.tensors[t].Text("name"))
	g.known(q, g.tensors[t].Text("name"))
	return q, true
}

// blockReals are the reals of constant t.
func (g *graph) blockReals(t int, q flatbuffer.Table, shape []uint32, data []byte) []byte {
	n, block := nn.Elements(shape), q.Int("block_size")
	if len(shape) == 0 || n == 0 || block < 1 || int64(shape[len(shape)-1])%block != 0 {
		g.Failf("tensor %d: blocks of %d elements do not divide shape %v", t, block, shape)
	}
	g.Spend(6 * n)
	stored, _ := g.convertElements(data, g.tensors[t].Int("type"))
	scales := g.blockValues(t, "scales", q.Int("scales"), n/block)
	for i, s := range scales {
		if !(s >= 0) || math.IsInf(float64(s), 1) {
			g.Failf("tensor %d: scale %d is %v", t, i, s)
		}
	}
	var zeros []float32
	if z := q.Int("zero_points"); z > 0 { // tensor 0 stands for none
		zeros = g.blockValues(t, "zero points", z, n/block)
	}
	reals := make([]byte, 0, 4*n)
	for i := range n {
		v := float32(int8(stored[i]))
		if zeros != nil {
			v -= zeros[i/block]
		}
		reals = binary.LittleEndian.AppendUint32(reals, math.Float32bits(v*scales[i/block]))
	}
	return reals
}

// blockValues are the n numbers, one for each block, of the constant x that tensor t names.
func (g *graph) blockValues(t int, what string, index, n int64) (list []float32) {
	if index < 0 || index >= int64(len(g.tensors)) {
		g.Failf("tensor %d: its %s are tensor %d of %d", t, what, index, len(g.tensors))
	}
	x := int(index)
	code, data := g.tensors[x].Int("type"), g.buffer(x)
	if code < 0 || code >= int64(len(typesOfTensors)) {
		g.Failf("tensor %d: its %s have %s", t, what, typeName(code))
	}
	bits := int64(typesOfTensors[code].bits)
	if int64(len(data)) != (n*bits+7)/8 || bits == 0 {
		g.Failf("tensor %d: its %s, tensor %d of %s, have %d bytes, for %d blocks", t, what, x, typeName(code), len(data), n)
	}
	g.Spend(4 * n)
	for i := range n {
		switch code {
		case typeFloat32:
			list = append(list, math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
		case typeFloat16:
			list = append(list, float16.Frombits(binary.LittleEndian.Uint16(data[2*i:])).Float32())
		case typeInt8:
			list = append(list, float32(int8(data[i])))
		case typeInt4:
			list = append(list, float32(int8(data[i/2]<<(4*(1-i%2)))>>4))
		default:
			g.Refusef("the %s of tensor %d are %s; they may be FLOAT32, FLOAT16, INT8 and INT4", what, t, typeName(code))
		}
	}
	return list
}
