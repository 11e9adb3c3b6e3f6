package onnx_test

import (
	"math"
	"math/cmplx"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
)

// windowOf adds an operator that makes a window to an input of that many elements.
func windowOf(op string, size int64, attributes ...*onnxfile.Attribute) func(n *network) {
	return func(n *network) {
		n.out(n.add("Add", []string{n.add(op, []string{n.whole(onnxfile.Int64, float64(size))}, attributes...), n.in(onnxfile.Float, size)}))
	}
}

// signalNetworks are networks with operators of signal processing.
var signalNetworks = []oddity{
	{"HannWindow", 17, windowOf("HannWindow", 7)},
	{"HannWindow of a symmetric signal", 17, windowOf("HannWindow", 7, attribute("periodic", 0))},
	{"HammingWindow", 17, windowOf("HammingWindow", 6)},
	{"HammingWindow of a symmetric signal", 17, windowOf("HammingWindow", 6, attribute("periodic", 0))},
	{"BlackmanWindow", 17, windowOf("BlackmanWindow", 9)},
	{"BlackmanWindow of a symmetric signal", 17, windowOf("BlackmanWindow", 9, attribute("periodic", 0))},
	{"MelWeightMatrix", 17, func(n *network) {
		whole := func(v float64) string { return n.whole(onnxfile.Int64, v) }
		mel := n.add("MelWeightMatrix", []string{whole(5), whole(32), whole(8000), n.scalar(100), n.scalar(3500)})
		n.out(n.add("MatMul", []string{n.in(onnxfile.Float, 3, 17), mel}))
	}},
	{"DFT", 17, func(n *network) { n.out(n.add("DFT", []string{n.in(onnxfile.Float, 2, 8, 1)})) }},
	{"DFT of half a spectrum along the second axis", 17, func(n *network) {
		n.out(n.add("DFT", []string{n.in(onnxfile.Float, 2, 3, 7, 1)}, attribute("axis", 2), attribute("onesided", 1)))
	}},
	{"DFT of complex numbers backwards", 17, func(n *network) {
		n.out(n.add("DFT", []string{n.in(onnxfile.Float, 2, 6, 2)}, attribute("inverse", 1)))
	}},
	{"DFT of a longer signal", 20, func(n *network) {
		n.out(n.add("DFT", []string{n.in(onnxfile.Float, 2, 6, 1), n.whole(onnxfile.Int64, 9)}, attribute("onesided", 1)))
	}},
	{"DFT of a shorter signal along an axis from the end", 20, func(n *network) {
		n.out(n.add("DFT", []string{n.in(onnxfile.Float, 2, 6, 3, 2), n.whole(onnxfile.Int64, 4), n.whole(onnxfile.Int64, -3)}))
	}},
	{"STFT", 17, func(n *network) {
		n.out(n.add("STFT", []string{n.in(onnxfile.Float, 2, 20, 1), n.whole(onnxfile.Int64, 3), "", n.whole(onnxfile.Int64, 8)}))
	}},
	{"STFT through a window", 17, func(n *network) {
		n.out(n.add("STFT", []string{n.in(onnxfile.Float, 1, 24, 1), n.whole(onnxfile.Int64, 5), n.noise(1, 7)}, attribute("onesided", 0)))
	}},
	{"STFT through a window that is an input", 17, func(n *network) {
		n.out(n.add("STFT", []string{n.in(onnxfile.Float, 1, 24, 1), n.whole(onnxfile.Int64, 4), n.in(onnxfile.Float, 6), n.whole(onnxfile.Int64, 6)}))
	}},
}

// TestFourier holds transforms against their definition in complex numbers of 128 bits.
func TestFourier(t *testing.T) {
	for _, c := range []struct {
		elements, length, parts int64
		onesided, inverse       bool
	}{
		{8, 8, 1, false, false}, {9, 9, 1, true, false}, {9, 9, 2, false, false}, {9, 9, 2, false, true}, {7, 7, 1, false, true},
		{5, 8, 1, true, false}, {8, 5, 2, false, true}, {5, 8, 2, true, true}, {5, 9, 2, true, true}, {5, 4, 2, true, true}, {257, 257, 1, false, false}, {1, 1, 1, false, false},
	} {
		n := newNetwork(3)
		n.opset = 20
		flag := map[bool]int{true: 1}
		y := n.add("DFT", []string{n.in(onnxfile.Float, 2, c.elements, 1, c.parts), n.whole(onnxfile.Int64, float64(c.length)), n.whole(onnxfile.Int64, 1)},
			attribute("onesided", flag[c.onesided]), attribute("inverse", flag[c.inverse]))
		n.out(y)
		at := func(b, i int64) complex128 {
			k := (b*c.elements + i) * c.parts
			if c.parts == 1 {
				return complex(n.inputs[0].data[k], 0)
			}
			return complex(n.inputs[0].data[k], n.inputs[0].data[k+1])
		}
		half := c.onesided && c.inverse
		x := make([][]complex128, 2)
		for b := range x {
			x[b] = make([]complex128, c.length)
			for i := range min(c.elements, c.length) {
				x[b][i] = at(int64(b), i)
			}
			for i := int64(0); half && i < c.length; i++ { // a spectrum that mirrors itself
				switch mirror := c.length - i; {
				case i == 0 || 2*i == c.length:
					x[b][i] = complex(real(x[b][i]), 0)
				case i > c.length/2:
					x[b][i] = cmplx.Conj(x[b][mirror])
				}
			}
		}
		bins, parts, sign, scale := c.length, int64(2), -1.0, 1.0
		if c.onesided && !c.inverse {
			bins = c.length/2 + 1
		}
		if half {
			parts = 1
		}
		if c.inverse {
			sign, scale = 1, 1/float64(c.length)
		}
		var want []float64
		for b := range x {
			for k := range bins {
				sum := complex128(0)
				for i, v := range x[b] {
					sum += v * cmplx.Exp(complex(0, sign*2*math.Pi*float64(k)*float64(i)/float64(c.length)))
				}
				want = append(want, []float64{scale * real(sum), scale * imag(sum)}[:parts]...)
			}
		}
		dims := []uint32{2, uint32(bins), 1, uint32(parts)}
		err := n.subject().against(verdict{Outputs: []runtimeTensor{{Name: y, Type: "float32", Dims: dims, Raw: rawElements(onnxfile.Float, want)}}})
		require.Check(t, err == nil, "%+v: %v", c, err)
	}
}

// TestSignalRefusals: sizes that no constant should have, and signals that are none.
func TestSignalRefusals(t *testing.T) {
	whole := func(n *network, v float64) string { return n.whole(onnxfile.Int64, v) }
	for want, draw := range map[string]func(n *network) string{
		"a window of 1099511627776 elements, 1 to 1048576 are supported": func(n *network) string { return n.add("HannWindow", []string{whole(n, 1<<40)}) },
		"a window of -1 elements": func(n *network) string { return n.add("BlackmanWindow", []string{whole(n, -1)}) },
		"(\"x0\") is known only during execution": func(n *network) string {
			return n.add("HammingWindow", []string{n.given(onnxfile.Int64, nil, 4)})
		},
		"a Fourier transform of length 2147483648": func(n *network) string {
			return n.add("DFT", []string{n.in(onnxfile.Float, 1, 4, 1), whole(n, 1<<31)})
		},
		"a Fourier transform of length 9000": func(n *network) string { return n.add("DFT", []string{n.in(onnxfile.Float, 1, 9000, 1)}) },
		"a Fourier transform of length -3": func(n *network) string {
			return n.add("DFT", []string{n.in(onnxfile.Float, 1, 4, 1), whole(n, -3)})
		},
		"attribute onesided is 1 for a complex signal": func(n *network) string {
			return n.add("DFT", []string{n.in(onnxfile.Float, 1, 4, 2)}, attribute("onesided", 1))
		},
		"numbers of 3 parts": func(n *network) string { return n.add("DFT", []string{n.in(onnxfile.Float, 1, 4, 3)}) },
		"axis 2 has the parts of numbers": func(n *network) string {
			return n.add("DFT", []string{n.in(onnxfile.Float, 1, 4, 2), "", whole(n, 2)})
		},
		"frames of 8 elements in steps of 0": func(n *network) string {
			return n.add("STFT", []string{n.in(onnxfile.Float, 1, 16, 1), whole(n, 0), "", whole(n, 8)})
		},
		"frames of 32 elements in steps of 2, of a signal of 16": func(n *network) string {
			return n.add("STFT", []string{n.in(onnxfile.Float, 1, 16, 1), whole(n, 2), "", whole(n, 32)})
		},
		"frames of 4 elements and a window of 5": func(n *network) string {
			return n.add("STFT", []string{n.in(onnxfile.Float, 1, 16, 1), whole(n, 2), n.noise(1, 5), whole(n, 4)})
		},
		"1099511627776 filters over a transform of length 16": func(n *network) string {
			return n.add("MelWeightMatrix", []string{whole(n, 1<<40), whole(n, 16), whole(n, 8000), n.scalar(0), n.scalar(4000)})
		},
		"4 filters from 0 to 4e+06 Hz": func(n *network) string {
			return n.add("MelWeightMatrix", []string{whole(n, 4), whole(n, 16), whole(n, 8000), n.scalar(0), n.scalar(4e6)})
		},
		"over the 9 bins of a rate of 0 Hz": func(n *network) string {
			return n.add("MelWeightMatrix", []string{whole(n, 4), whole(n, 16), whole(n, 0), n.scalar(0), n.scalar(4000)})
		},
	} {
		n := newNetwork(4)
		n.opset = 20
		n.out(draw(n))
		_, err := onnx.Import(n.bytes(), nil)
		require.ErrorContains(t, err, want)
	}
}
