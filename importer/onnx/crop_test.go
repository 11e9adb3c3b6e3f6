package onnx_test

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/refcpu/hostop"
)

// cropping is an operator whose windows have negative paddings, which cut elements off.
type cropping struct {
	name string
	of   onnxfile.DataType
	dims []int64
	pads []int64
	draw func(n *network, x string, pads *onnxfile.Attribute) (y string, of onnxfile.DataType)
}

// cropped is a node of an operator with input x, weights of a shape where it has them, and attributes.
func cropped(op string, weights []int64, attributes ...*onnxfile.Attribute) func(n *network, x string, pads *onnxfile.Attribute) (string, onnxfile.DataType) {
	return func(n *network, x string, pads *onnxfile.Attribute) (string, onnxfile.DataType) {
		in, of := []string{x}, onnxfile.Float
		switch {
		case op == "ConvInteger":
			in, of = append(in, n.builder.bytes(onnxfile.Uint8, weights...)), onnxfile.Int32
		case weights != nil:
			in = append(in, n.noise(8, weights...))
		}
		return n.add(op, in, append([]*onnxfile.Attribute{pads}, attributes...)...), of
	}
}

// croppedSteps is a convolution of QLinear style.
func croppedSteps(n *network, x string, pads *onnxfile.Attribute) (string, onnxfile.DataType) {
	s, z := n.params(stepped{onnxfile.Uint8, 0.1, 128})
	w, zero := n.params(stepped{onnxfile.Int8, 0.02, 0})
	return n.add("QLinearConv", []string{x, s, z, n.builder.bytes(onnxfile.Int8, 3, 2, 2, 2), w, zero, s, z}, pads), onnxfile.Uint8
}

var croppings = []cropping{
	{"Conv", onnxfile.Float, []int64{1, 2, 6, 7}, []int64{-1, 0, 1, -2}, cropped("Conv", []int64{4, 2, 3, 2})},
	{"Conv of a sequence", onnxfile.Float, []int64{1, 2, 7}, []int64{-1, -2}, cropped("Conv", []int64{4, 2, 3})},
	{"Conv of volumes", onnxfile.Float, []int64{1, 2, 5, 6, 7}, []int64{-1, 0, 1, -1, -2, 0}, cropped("Conv", []int64{4, 2, 3, 2, 2})},
	{"Conv of groups with gaps", onnxfile.Float, []int64{1, 4, 9, 9}, []int64{-1, -1, -1, -2}, cropped("Conv", []int64{4, 2, 3, 2}, attribute("group", 2), attribute("dilations", []int64{2, 2}))},
	{"ConvInteger", onnxfile.Uint8, []int64{1, 2, 6, 7}, []int64{-1, 0, 1, -2}, cropped("ConvInteger", []int64{4, 2, 3, 2})},
	{"QLinearConv", onnxfile.Uint8, []int64{1, 2, 6, 7}, []int64{0, 1, -2, -1}, croppedSteps},
	{"MaxPool", onnxfile.Float, []int64{1, 2, 8, 7}, []int64{-1, 0, -1, -1}, cropped("MaxPool", nil, attribute("kernel_shape", []int64{3, 2}), attribute("strides", []int64{2, 2}))},
	{"MaxPool of volumes", onnxfile.Float, []int64{1, 2, 5, 7, 7}, []int64{-1, -1, 0, 0, 1, -1}, cropped("MaxPool", nil, attribute("kernel_shape", []int64{2, 3, 2}))},
	{"AveragePool", onnxfile.Float, []int64{1, 2, 7, 7}, []int64{-1, 0, 1, -1}, cropped("AveragePool", nil, attribute("kernel_shape", []int64{3, 2}))},
	{"AveragePool that counts paddings", onnxfile.Float, []int64{1, 2, 7, 7}, []int64{-1, 0, 1, -1}, cropped("AveragePool", nil, attribute("kernel_shape", []int64{3, 2}), attribute("count_include_pad", 1))},
	{"LpPool", onnxfile.Float, []int64{1, 2, 7, 7}, []int64{-1, 0, 1, -1}, cropped("LpPool", nil, attribute("kernel_shape", []int64{3, 2}))},
}

// network is the operator as it is, or behind a Pad that cuts the elements off.
func (c *cropping) network(cut bool) *network {
	n := newNetwork(7)
	n.opset = 13
	x, pads := n.in(c.of, c.dims...), slices.Clone(c.pads)
	if cut {
		half := len(pads) / 2
		list := make([]int64, 2*len(c.dims))
		for i, p := range pads {
			list[2+i+2*(i/half)] = min(p, 0)
			pads[i] = max(p, 0)
		}
		x = n.add("Pad", []string{x, n.ints(list...)})
	}
	y, of := c.draw(n, x, attribute("pads", pads))
	n.out(y, of)
	return n
}

// cropNetworks are the networks of croppings, and of operators whose results negative paddings enlarge.
func cropNetworks() (list []oddity) {
	for _, c := range croppings {
		list = append(list, oddity{c.name + " that cuts", 13, func(n *network) { *n = *c.network(false) }})
	}
	transposed := func(pads ...int64) func(n *network) {
		return func(n *network) {
			n.out(n.add("ConvTranspose", []string{n.in(onnxfile.Float, 1, 2, 4, 5), n.noise(8, 2, 3, 3, 3), n.noise(1, 3)}, attribute("pads", pads), attribute("strides", []int64{2, 1})))
		}
	}
	return append(list,
		oddity{"ConvTranspose with more in front", 13, transposed(-1, 1, 0, -2)},
		oddity{"ConvTranspose with more behind", 13, transposed(0, -3, -2, 0)},
		oddity{"MaxPool with places that cuts", 12, maxPool([]int64{2, 3, 6, 7}, attribute("kernel_shape", []int64{2, 3}), attribute("pads", []int64{-1, 0, 1, -2}))},
	)
}

// TestNegativePads: negative paddings of windows are a Pad that cuts in front of the operator, as ONNX Runtime has it.
func TestNegativePads(t *testing.T) {
	for _, c := range croppings {
		t.Run(c.name, func(t *testing.T) {
			results := [2][]byte{}
			for k := range results {
				n := c.network(k == 1)
				got := runOf(t, n)
				require.Check(t, slices.Max(got[0].Data) != slices.Min(got[0].Data), "the result is one number throughout")
				results[k] = got[0].Data
			}
			require.Equal(t, results[0], results[1])
		})
	}
}

// TestNegativePadsOfMore: negative paddings of a ConvTranspose add to its result: rows and columns that no window reaches.
func TestNegativePadsOfMore(t *testing.T) {
	n := newNetwork(1)
	n.opset = 13
	w := n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{1, 1, 2}, Floats: []float32{1, 10}})
	bias := n.constant(&onnxfile.Tensor{Type: onnxfile.Float, Dims: []int64{1}, Floats: []float32{0.5}})
	n.out(n.add("ConvTranspose", []string{n.given(onnxfile.Float, []int64{1, 1, 2}, 2, 3), w, bias}, attribute("pads", []int64{-2, -1})))
	require.Equal(t, floatsIn(runOf(t, n)[0].Data), []float64{0.5, 0.5, 2.5, 23.5, 30.5, 0.5})
}

// TestNegativePadsErrors: paddings that leave nothing, or are beyond all bounds, are named.
func TestNegativePadsErrors(t *testing.T) {
	for want, pads := range map[string][]int64{"paddings leave nothing of shape": {-4, 0, -2, 0}, "pads is [-9223372036854775808 0 0 0]": {-1 << 63, 0, 0, 0}} {
		c := croppings[0]
		c.pads = pads
		_, err := onnx.Import(c.network(false).bytes(), nil)
		require.ErrorContains(t, err, want)
	}
}

// runOf imports a network and runs it on its inputs.
func runOf(t *testing.T, n *network) []refcpu.Tensor {
	t.Helper()
	s := n.subject()
	m := require.V(onnx.Import(s.file, nil))(t)
	p := require.V(refcpu.CompileConfig(m, refcpu.Config{Operations: hostop.Table()}))(t)
	var given []refcpu.Tensor
	for k := range s.feeds {
		given = append(given, refcpu.Tensor{Dimensions: m.Main.Operands[m.Main.Inputs[k]].Dimensions, Data: s.feeds[k].held()})
	}
	return require.V(p.Execute(given, refcpu.Options{}))(t)
}
