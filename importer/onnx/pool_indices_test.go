package onnx_test

import (
	"math"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
)

// maxPool adds a pooling of an input, whose places are an output as well.
func maxPool(dims []int64, attributes ...*onnxfile.Attribute) func(n *network) {
	return func(n *network) {
		y := n.add("MaxPool", []string{n.in(onnxfile.Float, dims...)}, attributes...)
		node := n.graph.Nodes[len(n.graph.Nodes)-1]
		node.Outputs = append(node.Outputs, "places")
		n.out(y)
		n.out("places", onnxfile.Int64)
	}
}

// roiAlign adds regions of two images, one of which reaches out of them.
func roiAlign(attributes ...*onnxfile.Attribute) func(n *network) {
	return func(n *network) {
		x := n.in(onnxfile.Float, 2, 3, 6, 7)
		regions := n.given(onnxfile.Float, []int64{3, 4}, 0.5, 1, 4.2, 5.5, -2, -1.5, 3, 2, 2, 2, 9, 8.25)
		n.out(n.add("RoiAlign", []string{x, regions, n.given(onnxfile.Int64, []int64{3}, 1, 0, 1)}, attributes...))
	}
}

// vectorizer adds TfIdfVectorizer over rows of words.
func vectorizer(mode string, attributes ...*onnxfile.Attribute) func(n *network) {
	return func(n *network) {
		words := n.given(onnxfile.Int64, []int64{2, 7}, 1, 2, 3, 2, 1, 2, 9, 5, 5, 1, 3, 5, 2, 3)
		n.out(n.add("TfIdfVectorizer", []string{words}, append([]*onnxfile.Attribute{
			attribute("mode", mode), attribute("pool_int64s", []int64{2, 5, 1, 2, 5, 1, 3, 2, 1, 2, 3}), attribute("ngram_counts", []int64{0, 2, 8}),
			attribute("ngram_indexes", []int64{3, 0, 1, 2, 5, 4}), {Name: "weights", Type: onnxfile.AttributeFloats, Floats: []float32{0.5, 2, 1, 3, 0.25, 7}},
		}, attributes...)...))
	}
}

// hostNetworks are networks with operators that the host computes.
var hostNetworks = []oddity{
	{"MaxPool with places", 12, maxPool([]int64{2, 3, 6, 7}, attribute("kernel_shape", []int64{2, 3}), attribute("strides", []int64{2, 1}), attribute("pads", []int64{1, 0, 0, 2}))},
	{"MaxPool with places in order of columns", 12, maxPool([]int64{2, 3, 6, 7}, attribute("kernel_shape", []int64{3, 2}), attribute("storage_order", 1), attribute("dilations", []int64{2, 3}))},
	{"MaxPool with places of a sequence", 12, maxPool([]int64{1, 2, 9}, attribute("kernel_shape", []int64{4}), attribute("strides", []int64{2}), attribute("ceil_mode", 1))},
	{"MaxPool with places of volumes", 12, maxPool([]int64{1, 2, 4, 5, 3}, attribute("kernel_shape", []int64{2, 3, 2}), attribute("strides", []int64{1, 2, 1}), attribute("pads", []int64{0, 1, 1, 1, 0, 0}))},
	{"MaxPool with places of volumes in order of columns", 12, maxPool([]int64{1, 2, 4, 5, 3}, attribute("kernel_shape", []int64{2, 3, 2}), attribute("storage_order", 1))},
	{"MaxPool with places like the input", 12, maxPool([]int64{1, 2, 5, 5}, attribute("kernel_shape", []int64{3, 3}), attribute("auto_pad", "SAME_UPPER"), attribute("strides", []int64{2, 2}))},
	{"MaxPool of a great window with dilation", 12, func(n *network) {
		n.out(n.add("MaxPool", []string{n.in(onnxfile.Float, 1, 2, 60, 60)}, attribute("kernel_shape", []int64{20, 20}), attribute("dilations", []int64{2, 3}), attribute("strides", []int64{4, 1})))
	}},
	{"MaxUnpool", 11, func(n *network) {
		x := n.in(onnxfile.Float, 1, 2, 2, 2)
		places := n.given(onnxfile.Int64, []int64{1, 2, 2, 2}, 0, 6, 8, 11, 16, 18, 27, 31)
		n.out(n.add("MaxUnpool", []string{x, places}, attribute("kernel_shape", []int64{2, 2}), attribute("strides", []int64{2, 2})))
	}},
	{"MaxUnpool of paddings", 11, func(n *network) {
		x := n.in(onnxfile.Float, 1, 1, 3)
		n.out(n.add("MaxUnpool", []string{x, n.given(onnxfile.Int64, []int64{1, 1, 3}, 4, 0, 2)}, attribute("kernel_shape", []int64{3}), attribute("strides", []int64{2}), attribute("pads", []int64{1, 1})))
	}},
	{"RoiAlign with centres at halves", 16, roiAlign(attribute("output_height", 3), attribute("output_width", 2), attribute("sampling_ratio", 2))},
	{"RoiAlign of as many samples as pixels", 16, roiAlign(attribute("output_height", 2), attribute("output_width", 2), attribute("spatial_scale", 0.7))},
	{"RoiAlign of the greatest", 16, roiAlign(attribute("output_height", 2), attribute("output_width", 3), attribute("sampling_ratio", 3), attribute("mode", "max"), attribute("coordinate_transformation_mode", "output_half_pixel"))},
	{"Col2Im", 18, func(n *network) {
		n.out(n.add("Col2Im", []string{n.in(onnxfile.Float, 2, 12, 20), n.ints(5, 7), n.ints(2, 3)}))
	}},
	{"Col2Im of steps and paddings", 18, func(n *network) {
		n.out(n.add("Col2Im", []string{n.in(onnxfile.Float, 1, 8, 9), n.ints(6, 5), n.ints(2, 2)}, attribute("strides", []int64{2, 2}), attribute("pads", []int64{1, 1, 0, 1}), attribute("dilations", []int64{2, 1})))
	}},
	{"Col2Im of volumes", 18, func(n *network) {
		n.out(n.add("Col2Im", []string{n.in(onnxfile.Float, 2, 8, 12), n.ints(3, 4, 3), n.ints(2, 2, 2)}))
	}},
	{"DeformConv", 19, func(n *network) { n.deformed(false, 2, 2) }},
	{"Det", 11, func(n *network) { n.out(n.add("Det", []string{n.in(onnxfile.Float, 2, 3, 4, 4)})) }},
	{"Det of a matrix", 11, func(n *network) { n.out(n.add("Det", []string{n.in(onnxfile.Float, 5, 5)})) }},
	{"TfIdfVectorizer", 9, vectorizer("TF", attribute("min_gram_length", 1), attribute("max_gram_length", 3), attribute("max_skip_count", 0))},
	{"TfIdfVectorizer with words between", 9, vectorizer("TF", attribute("min_gram_length", 1), attribute("max_gram_length", 3), attribute("max_skip_count", 3))},
	{"TfIdfVectorizer of pairs with weights", 9, vectorizer("IDF", attribute("min_gram_length", 2), attribute("max_gram_length", 2), attribute("max_skip_count", 1))},
	{"TfIdfVectorizer with weights", 9, vectorizer("TFIDF", attribute("min_gram_length", 2), attribute("max_gram_length", 3), attribute("max_skip_count", 1))},
}

// deformed adds a DeformConv of 2 images of 4 channels, and returns its inputs: image, weights, moves, bias and factors.
func (n *network) deformed(factors bool, groups, moved int64) (in []string, y string) {
	in = []string{n.in(onnxfile.Float, 2, 4, 6, 7), n.in(onnxfile.Float, 6, 4/groups, 2, 3), n.in(onnxfile.Float, 2, moved*12, 4, 3), n.in(onnxfile.Float, 6)}
	if factors {
		in = append(in, n.in(onnxfile.Float, 2, moved*6, 4, 3))
	}
	y = n.add("DeformConv", in, attribute("kernel_shape", []int64{2, 3}), attribute("group", int(groups)), attribute("offset_group", int(moved)),
		attribute("pads", []int64{1, 0, 0, 2}), attribute("strides", []int64{1, 3}), attribute("dilations", []int64{3, 1}))
	n.out(y)
	return in, y
}

// TestDeformConv holds it against its definition, in float64.
func TestDeformConv(t *testing.T) {
	for _, c := range []struct {
		factors       bool
		groups, moved int64
	}{{false, 2, 2}, {true, 1, 4}, {true, 2, 1}} {
		n := newNetwork(8)
		n.opset = 19
		_, y := n.deformed(c.factors, c.groups, c.moved)
		at := func(k int, dims []int64, index ...int64) float64 {
			place := int64(0)
			for i, p := range index {
				if p < 0 || p >= dims[i] {
					return 0
				}
				place = place*dims[i] + p
			}
			return n.inputs[k].data[place]
		}
		var want []float64
		for k := range int64(2 * 6 * 4 * 3) {
			image, out, row, column := k/72, k/12%6, k/3%4, k%3
			sum := at(3, []int64{6}, out)
			for channel := range 4 / c.groups {
				from := out/(6/c.groups)*(4/c.groups) + channel
				for e := range int64(6) {
					group := from/(4/c.moved)*6 + e
					moves := []int64{2, c.moved * 12, 4, 3}
					r := float64(row-1+e/3*3) + at(2, moves, image, 2*group, row, column)
					s := float64(column*3+e%3) + at(2, moves, image, 2*group+1, row, column)
					top, left := math.Floor(r), math.Floor(s)
					value := 0.0
					for corner := range 4 {
						i, j := top+float64(corner/2), left+float64(corner%2)
						value += (1 - math.Abs(r-i)) * (1 - math.Abs(s-j)) * at(0, []int64{2, 4, 6, 7}, image, from, int64(i), int64(j))
					}
					if c.factors {
						value *= at(4, []int64{2, c.moved * 6, 4, 3}, image, group, row, column)
					}
					sum += value * at(1, []int64{6, 4 / c.groups, 2, 3}, out, channel, e/3, e%3)
				}
			}
			want = append(want, sum)
		}
		err := n.subject().against(verdict{Outputs: []runtimeTensor{{Name: y, Type: "float32", Dims: []uint32{2, 6, 4, 3}, Raw: rawElements(onnxfile.Float, want)}}})
		require.Check(t, err == nil, "%+v: %v", c, err)
	}
}

// TestHostRefusals: attributes that no pooling, region or pool of words has.
func TestHostRefusals(t *testing.T) {
	grams := func(n *network, attributes ...*onnxfile.Attribute) string {
		return n.add("TfIdfVectorizer", []string{n.given(onnxfile.Int64, []int64{3}, 1, 2, 3)}, append(attributes, attribute("mode", "TF"), attribute("min_gram_length", 1), attribute("max_gram_length", 1))...)
	}
	unpool := func(n *network, more []string, attributes ...*onnxfile.Attribute) string {
		return n.add("MaxUnpool", append([]string{n.in(onnxfile.Float, 1, 1, 2), n.given(onnxfile.Int64, []int64{1, 1, 2}, 0, 1)}, more...), attributes...)
	}
	blocks := func(n *network, image, block int64, attributes ...*onnxfile.Attribute) string {
		return n.add("Col2Im", []string{n.in(onnxfile.Float, 1, 4, 5), n.ints(image), n.ints(block)}, attributes...)
	}
	for want, draw := range map[string]func(n *network) string{
		"its second dimension a multiple of 3 and its third 4 needed": func(n *network) string { return blocks(n, 6, 3) },
		"pads is [1] for images of shape [6]":                         func(n *network) string { return blocks(n, 6, 2, attribute("pads", []int64{1})) },
		"images of shape [1099511627776]":                             func(n *network) string { return blocks(n, 1<<40, 2) },
		"bits as DOUBLE": func(n *network) string {
			return n.add("BitCast", []string{n.in(onnxfile.Int64, 2)}, attribute("to", int(onnxfile.Double)))
		},
		"storage_order is 2": func(n *network) string {
			maxPool([]int64{1, 1, 4, 4}, attribute("kernel_shape", []int64{2, 2}), attribute("storage_order", 2))(n)
			return "places"
		},
		"an output of shape [1 1 3] for elements of shape [1 1 4]": func(n *network) string {
			return unpool(n, []string{n.ints(1, 1, 3)}, attribute("kernel_shape", []int64{2}), attribute("strides", []int64{2}))
		},
		"kernel_shape [1048577]": func(n *network) string { return unpool(n, nil, attribute("kernel_shape", []int64{1<<20 + 1})) },
		"kernel_shape []":        func(n *network) string { return unpool(n, nil) },
		"a result of shape [1 1 -1]": func(n *network) string {
			return unpool(n, nil, attribute("kernel_shape", []int64{2}), attribute("pads", []int64{2, 2}))
		},
		"coordinate_transformation_mode \"odd\"": func(n *network) string {
			roiAlign(attribute("coordinate_transformation_mode", "odd"))(n)
			return "t0"
		},
		"ngram_indexes has 1 elements for the sequences of ngram_counts [0] in a pool of 2 words": func(n *network) string {
			return grams(n, attribute("ngram_counts", []int64{0}), attribute("ngram_indexes", []int64{0}), attribute("pool_int64s", []int64{4, 5}))
		},
		"ngram_counts is [3]": func(n *network) string {
			return grams(n, attribute("ngram_counts", []int64{3}), attribute("ngram_indexes", []int64{0}), attribute("pool_int64s", []int64{4, 5}))
		},
		"ngram_indexes is [1099511627776]": func(n *network) string {
			return grams(n, attribute("ngram_counts", []int64{0}), attribute("ngram_indexes", []int64{1 << 40}), attribute("pool_int64s", []int64{4}))
		},
		"1099511627776 does not fit 32 bits": func(n *network) string {
			return grams(n, attribute("ngram_counts", []int64{0}), attribute("ngram_indexes", []int64{0}), attribute("pool_int64s", []int64{1 << 40}))
		},
	} {
		n := newNetwork(4)
		n.opset = 16
		y := draw(n)
		n.graph.Outputs = []*onnxfile.Value{{Name: y, Type: onnxfile.Float}}
		_, err := onnx.Import(n.bytes(), nil)
		require.ErrorContains(t, err, want)
	}
}
