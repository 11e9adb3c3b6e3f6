package onnx

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/internal/require"
)

// attributeNames are attributes that conversions read, of any type here.
var attributeNames = map[onnxfile.AttributeType][]string{
	onnxfile.AttributeInt: {
		"align_corners", "allowzero", "axis", "batch_axis", "batch_dims", "block_size", "blocksize", "broadcast", "ceil_mode", "channels_last", "count_include_pad", "detect_negative",
		"direction", "exclusive", "fmod", "group", "hidden_size", "input_forget", "interleaved", "is_causal", "is_test", "K", "keepdims", "k", "kv_num_heads", "largest",
		"layout", "linear_before_reset", "N", "bits", "noop_with_empty_axes", "num_heads", "num_outputs", "num_scan_inputs", "output_dtype", "output_height", "output_width", "p", "q_num_heads",
		"reverse", "rotary_embedding_dim", "sampling_ratio", "select_last_index", "size", "storage_order", "time_axis", "to", "transA", "transB", "unidirectional", "upper", "value_int",
		"start", "end", "inverse", "max_gram_length", "max_skip_count", "min_gram_length", "momentum", "onesided", "output_datatype", "periodic", "training_mode",
	},
	onnxfile.AttributeFloat: {"alpha", "beta", "bias", "epsilon", "gamma", "lambd", "max", "min", "scale", "softcap", "spatial_scale", "value", "value_float", "ratio", "activation_alpha", "decay_factor", "momentum", "norm_coefficient"},
	onnxfile.AttributeInts: {
		"axes", "dilations", "kernel_shape", "output_padding", "output_shape", "pads", "perm", "scales", "shape", "split", "starts", "ends", "strides", "value_ints", "scan_input_axes",
		"scan_input_directions", "scan_output_axes", "ngram_counts", "ngram_indexes", "pool_int64s",
	},
	onnxfile.AttributeString: {"auto_pad", "approximate", "mode", "direction", "coordinate_transformation_mode", "equation", "nearest_mode", "padding_mode", "reduction", "activation"},
}

// attributeTexts are values that operators know, and one that none does.
var attributeTexts = []string{
	"SAME_UPPER", "SAME_LOWER", "VALID", "tanh", "none", "linear", "cubic", "nearest", "bilinear", "constant", "reflect", "edge", "wrap", "DCR", "CRD", "forward", "reverse", "bidirectional",
	"half_pixel", "align_corners", "ij,jk->ik", "...i,...i->...", "ii->i", "a,b,c->", "add", "mul", "max", "min", "Relu", "TF", "TFIDF", "standard", "half_pixel", "?",
}

// ownWords occur in the program's own panics and in the error that reports one.
var ownWords = []string{lowering.Unforeseen, "runtime error", "nil pointer", "out of range [", "goroutine", "0xc0"}

// TestHostileNodes converts each operator with inputs of random types, ranks and number, and random attributes. Every
// message is about the file: none quotes a panic or is that of one.
func TestHostileNodes(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	dims := func() []int64 {
		list := make([]int64, random.IntN(6))
		for i := range list {
			list[i] = []int64{1, 1, 2, 3, 4, 0}[random.IntN(6)]
		}
		return list
	}
	types := []onnxfile.DataType{onnxfile.Float, onnxfile.Float, onnxfile.Float, onnxfile.Float16, onnxfile.Int64, onnxfile.Int64, onnxfile.Int32, onnxfile.Uint8, onnxfile.Int8, onnxfile.Bool, onnxfile.Int16}
	tensor := func(name string) *onnxfile.Tensor {
		x := &onnxfile.Tensor{Name: name, Type: types[random.IntN(len(types))], Dims: dims()}
		n := int64(x.Type.Bits()) / 8
		for _, d := range x.Dims {
			n *= d
		}
		x.Raw = make([]byte, n)
		size := x.Type.Bits() / 8
		for i := range x.Raw {
			switch {
			case x.Type == onnxfile.Float && i%4 == 3:
				x.Raw[i] = []byte{0x3f, 0xbf, 0x40}[random.IntN(3)]
			case i%size == 0 && random.IntN(8) == 0:
				x.Raw[i] = 255
			case i%size == 0:
				x.Raw[i] = byte(random.IntN(4))
			}
		}
		return x
	}
	attribute := func() *onnxfile.Attribute {
		small := func() int64 {
			return []int64{0, 0, 1, 1, 1, 2, 2, 3, 4, -1, -2, 10, math.MaxInt64, math.MinInt64}[random.IntN(14)]
		}
		a := &onnxfile.Attribute{Type: []onnxfile.AttributeType{onnxfile.AttributeInt, onnxfile.AttributeFloat, onnxfile.AttributeInts, onnxfile.AttributeString}[random.IntN(4)]}
		names := attributeNames[a.Type]
		a.Name, a.Int, a.Float, a.String = names[random.IntN(len(names))], small(), float32(random.NormFloat64()), attributeTexts[random.IntN(len(attributeTexts))]
		for range random.IntN(6) {
			a.Ints = append(a.Ints, small())
		}
		return a
	}
	var rows []*operator
	for _, row := range operators() {
		if row.convert != nil || row.domain == "" && hostForms[row.name].op != 0 {
			if row.inputs[1] == 0 {
				row = &operator{name: row.name, inputs: [2]int{0, 5}, outputs: row.outputs}
			}
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, func(a, b *operator) int { return strings.Compare(a.domain+a.name, b.domain+b.name) })
	found := map[string]bool{}
	for _, row := range rows {
		for range 300 {
			n := &onnxfile.Node{Op: row.name, Domain: row.domain}
			g := &onnxfile.Graph{Nodes: []*onnxfile.Node{n}}
			count := row.inputs[0]
			if most := min(row.inputs[1], 9); most > count {
				count += random.IntN(most - count + 1)
			}
			same := dims()
			for k := range count {
				name := fmt.Sprintf("x%d", k)
				switch random.IntN(6) {
				case 0:
					name = ""
				case 1, 2:
					g.Initializers = append(g.Initializers, tensor(name))
				case 3:
					g.Inputs = append(g.Inputs, typed(types[random.IntN(len(types))], name, dims()...))
				default:
					g.Inputs = append(g.Inputs, typed(onnxfile.Float, name, same...))
				}
				n.Inputs = append(n.Inputs, name)
			}
			outputs := row.outputs[0]
			if row.outputs[1] > outputs {
				outputs += random.IntN(min(row.outputs[1]-outputs, 3) + 1)
			}
			for k := range max(outputs, 1) {
				name := fmt.Sprintf("y%d", k)
				n.Outputs = append(n.Outputs, name)
				g.Outputs = append(g.Outputs, value32(name))
			}
			for range random.IntN(8) {
				n.Attributes = append(n.Attributes, attribute())
			}
			_, err := importFile(model(g, []int64{1, 6, 9, 11, 13, 18, 23, 28}[random.IntN(8)]), nil)
			if err != nil && !found[row.name] && slices.ContainsFunc(ownWords, func(s string) bool { return strings.Contains(err.Error(), s) }) {
				found[row.name] = true
				t.Errorf("%s: %v", describe(n), err)
			}
		}
	}
	require.Check(t, len(rows) > 150, "%d operators", len(rows))
}
