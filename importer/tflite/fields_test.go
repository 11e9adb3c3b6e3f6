package tflite

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/importer/tflite/internal/schema"
	"github.com/nnsoc/nnsoc/importer/tflite/tflitefile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/refcpu/hostop"
)

// The tests of this file plant other values into the fields of the schema's tables. A field that means something for
// values changes the result, or is refused; the fields that do neither stand here with the reason.

// valueless are the fields of operators' options that change no value, as OPERATOR.field or, for all operators, TABLE.field.
var valueless = map[string]string{
	"Conv2DOptions.quantized_bias_type":         "the bias has a type of its own",
	"TransposeConvOptions.quantized_bias_type":  "the bias has a type of its own",
	"FullyConnectedOptions.quantized_bias_type": "the bias has a type of its own",
	"DepthwiseConv2DOptions.depth_multiplier":   "TensorFlow Lite takes it from the shapes",
	"AddOptions.pot_scale_int16":                "it chooses between kernels of one meaning",
	"SubOptions.pot_scale_int16":                "it chooses between kernels of one meaning",
	"ResizeBilinearOptions.new_height":          "deprecated: the size is an input",
	"ResizeBilinearOptions.new_width":           "deprecated: the size is an input",
	"CastOptions.in_data_type":                  "the tensor has a type of its own",
	"CastOptions.out_data_type":                 "the tensor has a type of its own",
	"ArgMaxOptions.output_type":                 "the tensor has a type of its own",
	"ShapeOptions.out_type":                     "the tensor has a type of its own",
	"ArgMinOptions.output_type":                 "the tensor has a type of its own",

	"StablehloConvolutionOptions.precision_config": "products are of float32, whatever is asked for",
	"StablehloDotGeneralOptions.precision_config":  "products are of float32, whatever is asked for",
	"StablehloGatherOptions.indices_are_sorted":    "it promises what changes no value",
}

// elsewhere are the tables of options whose fields other tests plant.
var elsewhere = map[string]string{
	"IfOptions":                 "TestControlFlow",
	"WhileOptions":              "TestControlFlow",
	"CallOnceOptions":           "TestVariables",
	"VarHandleOptions":          "TestVariables",
	"RandomOptions":             "its operators are refused",
	"StableHLOCompositeOptions": "TestComposite",

	"StablehloCustomCallOptions":   "TestStableRefusals",
	"StablehloReduceOptions":       "TestStableBodies",
	"StablehloReduceWindowOptions": "TestStableBodies",
	"StablehloSortOptions":         "TestStableBodies",
	"StablehloWhileOptions":        "TestStableBodies",
}

// outcome is what a file computes: the bytes of its outputs, or the text of its refusal.
func outcome(t *testing.T, file []byte, given [][]byte) (result string, refused bool) {
	t.Helper()
	m, err := Import(file, nil)
	if err != nil {
		require.Check(t, !strings.Contains(err.Error(), "runtime error"), "%v", err)
		return err.Error(), true
	}
	if err := validate.ModelOf(hostop.Table().Spec(), m); err != nil {
		t.Errorf("the importer's model is invalid: %v", err)
		return "", false
	}
	p := require.V(refcpu.CompileConfig(m, refcpu.Config{Operations: hostop.Table()}))(t)
	in := make([]refcpu.Tensor, len(m.Main.Inputs))
	for i := range in {
		if i < len(given) {
			in[i].Data = given[i]
		}
	}
	for _, s := range m.States {
		if in[s.Input].Data = s.Initial; s.Initial == nil {
			in[s.Input].Data = make([]byte, m.Main.Operands[m.Main.Inputs[s.Input]].Bytes())
		}
	}
	out, err := p.Execute(in, refcpu.Options{})
	if err != nil {
		return err.Error(), true
	}
	for i, o := range out {
		operand := m.Main.Operands[m.Main.Outputs[i]]
		result += fmt.Sprint(operand.Type, operand.Scale, operand.ZeroPoint, o.Dimensions, o.Data, "\n")
	}
	return result, false
}

// others are values of a field that differ from the present one.
func others(f *schema.Field, present any) (list []any) {
	switch {
	case f.Kind == schema.Vector && present != nil:
		v := reflect.ValueOf(present)
		changed := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(changed, v)
		for i := range v.Len() {
			e := changed.Index(i)
			switch {
			case e.CanInt():
				e.SetInt(e.Int() + 1)
			case e.CanUint():
				e.SetUint(e.Uint() + 1)
			default:
				e.SetFloat(e.Float()*2 + 1)
			}
		}
		return []any{changed.Interface(), v.Slice(0, max(v.Len()-1, 0)).Interface()}
	case f.Kind == schema.Vector:
		if f.Float {
			return []any{[]float32{0.5}}
		}
		return []any{[]int32{1}}
	case f.Kind != schema.Scalar:
		return nil
	}
	now := f.Initial
	if present != nil {
		now = number(present)
	}
	for _, v := range []float64{0, 1, 2, 3, 4, -1, now + 1, now - 1, 2*now + 1, 99} {
		if !f.Float || v != now {
			v = math.Round(v)
		}
		if v != now {
			list = append(list, v)
		}
	}
	if f.Float {
		list = append(list, now+0.25, now*1.5, 0.125)
	}
	return list
}

func number(v any) float64 {
	r := reflect.ValueOf(v)
	switch {
	case r.CanInt():
		return float64(r.Int())
	case r.CanFloat():
		return r.Float()
	case r.Kind() == reflect.Bool && r.Bool():
		return 1
	}
	return 0
}

// TestPlantedOptions plants values into every field of every operator's options.
func TestPlantedOptions(t *testing.T) {
	counts := map[string]bool{}
	for _, family := range [][]opCase{convCases, mathCases, activationCases, shapeCases, indexCases, reduceCases, recurrentCases, quantizationCases, poolCases, stableCases, plantedCases} {
		for _, c := range family {
			if c.kind == "" {
				continue
			}
			base, _ := outcome(t, c.file(), c.given())
			for _, f := range schema.Types()[c.kind].Fields {
				key := c.op + "." + f.Name
				for _, v := range others(&f, c.options[f.Name]) {
					if counts[key] {
						break
					}
					planted := c
					planted.options = maps.Clone(c.options)
					if planted.options == nil {
						planted.options = fields{}
					}
					planted.options[f.Name] = v
					if got, _ := outcome(t, planted.file(), c.given()); got != base {
						counts[key] = true
					}
				}
			}
		}
	}
	for _, r := range builtins() {
		if r.options == "" || r.convert == nil || elsewhere[r.options] != "" {
			continue
		}
		for _, f := range schema.Types()[r.options].Fields {
			_, free := valueless[r.options+"."+f.Name]
			require.Check(t, counts[r.name+"."+f.Name] != free, "%s.%s of %s changes a result or is refused: %v; it stands among the fields without value: %v", r.options, f.Name, r.name, !free, free)
		}
	}
}

// plantedCases are operators in whose options nothing else plants.
var plantedCases = plantedRecurrences()

// eightBits are weights of a hybrid operator, and unevenly are inputs whose symmetric and asymmetric steps differ.
func eightBits(d []int32, v ...float64) arg { return k(q8(0.5, 0, d, v...)) }
func unevenly(d []int32) arg                { return f32(d, 2.55, -0.303) }

func plantedRecurrences() []opCase {
	state, row := variableOf(typeFloat32, dims(1, 1)), eightBits(dims(1, 2), 3, 5)
	recurrent, bias := eightBits(dims(1, 1), 2), k(f32(dims(1), 0.25))
	cell := func(x arg) []arg {
		return []arg{x, row, row, row, row, recurrent, recurrent, recurrent, recurrent, without, without, without, bias, bias, bias, bias,
			without, without, state, state}
	}
	projected := func(x arg) []arg {
		one := k(f32(dims(1, 1), 1))
		in := lstmInputs(x, dims(1, 1))
		in[16] = one
		return in
	}
	both := func(cell []arg) []arg {
		in := slices.Concat(cell[:18], cell[1:18], cell[18:], cell[18:])
		for len(in) < 48 {
			in = append(in, without)
		}
		return in
	}
	flat, sequence, y, ys := dims(1, 2), dims(1, 1, 2), f32(dims(1, 1)), f32(dims(1, 1, 1))
	longer := f32(dims(1, 2, 1), 1, 2)
	tanh := fields{"activation": 4}
	return []opCase{
		{op: "RNN", kind: "RNNOptions", in: []arg{unevenly(flat), row, recurrent, bias, state}, out: []arg{y}},
		{op: "UNIDIRECTIONAL_SEQUENCE_RNN", kind: "SequenceRNNOptions", in: []arg{unevenly(sequence), row, recurrent, bias, state}, out: []arg{ys}},
		{op: "BIDIRECTIONAL_SEQUENCE_RNN", kind: "BidirectionalSequenceRNNOptions",
			in:  []arg{unevenly(sequence), row, recurrent, bias, state, row, recurrent, bias, state, without, without, without},
			out: []arg{ys, ys}},
		{op: "SVDF", kind: "SVDFOptions", options: fields{"rank": 1}, in: []arg{unevenly(flat), row, eightBits(dims(1, 1), 5), bias, state}, out: []arg{y}},
		{op: "LSTM", kind: "LSTMOptions", options: tanh, in: cell(unevenly(flat)), out: []arg{y}},
		{op: "UNIDIRECTIONAL_SEQUENCE_LSTM", kind: "UnidirectionalSequenceLSTMOptions", options: tanh, in: cell(unevenly(sequence)), out: []arg{ys}},
		{op: "BIDIRECTIONAL_SEQUENCE_LSTM", kind: "BidirectionalSequenceLSTMOptions", options: fields{"activation": 4, "time_major": false}, in: both(cell(unevenly(sequence))), out: []arg{ys, ys}},
		{op: "LSTM", kind: "LSTMOptions", options: fields{"activation": 4, "proj_clip": 10}, in: projected(f32(dims(1, 1), 1)), out: []arg{y}},
		{op: "UNIDIRECTIONAL_SEQUENCE_LSTM", kind: "UnidirectionalSequenceLSTMOptions", options: fields{"activation": 4, "proj_clip": 10}, in: projected(longer), out: []arg{f32(dims(1, 2, 1))}},
		{op: "BIDIRECTIONAL_SEQUENCE_LSTM", kind: "BidirectionalSequenceLSTMOptions", options: fields{"activation": 4, "time_major": false, "proj_clip": 10}, in: both(projected(longer)), out: []arg{f32(dims(1, 2, 1)), f32(dims(1, 2, 1))}},
		{op: "BATCH_MATMUL", kind: "BatchMatMulOptions", in: []arg{unevenly(flat), eightBits(dims(2, 1), 3, 5)}, out: []arg{y}},
		{op: "RESIZE_NEAREST_NEIGHBOR", kind: "ResizeNearestNeighborOptions", in: []arg{f32(dims(1, 1, 5, 1), 1, 2, 3, 4, 5), k(i32(dims(2), 1, 3))}, out: []arg{f32(dims(1, 1, 3, 1))}},
	}
}

// valuelessQuantization are the fields of QuantizationParameters that change no value of a type.
var valuelessQuantization = map[string]string{
	"min": "a range of training; scale and zero_point hold what follows from it",
	"max": "a range of training; scale and zero_point hold what follows from it",
}

// quantizedFile is an operator that reads a tensor of a type with a quantization.
func quantizedFile(code int, q fields) []byte {
	a := tensorArg(code, dims(1, 2), []float64{3, 5})
	a.constant = true
	a.Name, a.More = "planted", fields{"quantization": q}
	op, out := "DEQUANTIZE", f32(dims(1, 2))
	switch code {
	case typeFloat32, typeBool, typeFloat64, typeUint16, typeUint32, typeUint64:
		op, out = "CAST", i32(dims(1, 2))
	}
	if code == typeFloat64 || code == typeUint64 || code == typeUint32 || code == typeUint16 {
		a.Data, a.constant = make([]byte, 2*typesOfTensors[code].bits/8), false
	}
	if code == typeInt4 {
		a.Data, a.constant = []byte{0x53}, false
	}
	return network([]arg{a, out}, nil, []int32{1}, apply(op, []int32{0}, []int32{1}))
}

// TestPlantedQuantization plants values into every field of QuantizationParameters of tensors of every type.
func TestPlantedQuantization(t *testing.T) {
	base := fields{"scale": []float32{0.5}, "zero_point": []int64{0}}
	planted := map[string][]any{
		"min": {[]float32{-7}}, "max": {[]float32{7}}, "scale": {[]float32{0.25}}, "zero_point": {[]int64{1}},
		"details_type": {1, 2, 3}, "details": {tflitefile.Union("BlockwiseQuantization", fields{"block_size": 1})}, "quantized_dimension": {2, -1},
	}
	for code, r := range typesOfTensors {
		if r.bits == 0 || code == typeComplex64 {
			continue
		}
		for _, f := range schema.Types()["QuantizationParameters"].Fields {
			if f.Name == "details" { // read where details_type names its kind, TestBlockwise
				continue
			}
			require.Check(t, planted[f.Name] != nil, "no value to plant into QuantizationParameters.%s", f.Name)
			_, free := valuelessQuantization[f.Name]
			for _, v := range planted[f.Name] {
				with := maps.Clone(base)
				with[f.Name] = v
				before, refusedBefore := outcome(t, quantizedFile(code, base), nil)
				after, refused := outcome(t, quantizedFile(code, with), nil)
				if refusedBefore {
					require.Check(t, strings.Contains(before, "planted"), "%s with a scale: %s", r.name, before)
					continue
				}
				changes := before != after
				require.Check(t, !refused || strings.Contains(after, "planted"), "%s, %s %v: the refusal %q names no tensor", r.name, f.Name, v, after)
				require.Check(t, changes != (free || realType(int64(code))), "%s: QuantizationParameters.%s %v changes the result: %v", r.name, f.Name, v, changes)
			}
		}
	}
}

// TestDegenerateScales: what no scale can be is refused with the tensor's name and the value, for every type with steps.
func TestDegenerateScales(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for code := range grids {
		for want, q := range map[string]fields{
			"scale 0 is 0;":                                       {"scale": []float32{0}, "zero_point": []int64{0}},
			"scale 0 is NaN":                                      {"scale": []float32{nan}, "zero_point": []int64{0}},
			"scale 0 is +Inf":                                     {"scale": []float32{inf}, "zero_point": []int64{0}},
			"scale 0 is -0.5":                                     {"scale": []float32{-0.5}, "zero_point": []int64{0}},
			"has 2 zero points for 1 scales":                      {"scale": []float32{1}, "zero_point": []int64{0, 0}},
			"has 3 scales along dimension 1":                      {"scale": []float32{1, 1, 1}, "zero_point": []int64{0, 0, 0}, "quantized_dimension": 1},
			"its quantized dimension is 7":                        {"scale": []float32{1}, "zero_point": []int64{0}, "quantized_dimension": 7},
			"its quantized dimension is -1":                       {"scale": []float32{1}, "zero_point": []int64{0}, "quantized_dimension": -1},
			"zero point 70000 lies outside":                       {"scale": []float32{1}, "zero_point": []int64{70000}},
			"has the zero point 3 and no scale":                   {"zero_point": []int64{3}},
			"quantization details 3, at most 2":                   {"details_type": 3},
			"has field 7 in its QuantizationParameters, which is": {"scale": []float32{1}, "zero_point": []int64{0}, "beyond": true},
		} {
			file := func() []byte {
				if q["beyond"] == nil {
					return quantizedFile(int(code), q)
				}
				without := maps.Clone(q)
				delete(without, "beyond")
				return withField(t, "QuantizationParameters", func() []byte {
					without[beyond] = 1
					return quantizedFile(int(code), without)
				})
			}()
			_, err := Import(file, nil)
			require.Check(t, err != nil && strings.Contains(err.Error(), want) && strings.Contains(err.Error(), `"planted"`), "%s: %v, want %q", typeName(code), err, want)
		}
	}
}

// beyond is a field that no schema has yet.
const beyond = "beyond"

// withField writes a file while a table of the schema has one more field, as a newer one would.
func withField(t *testing.T, table string, write func() []byte) []byte {
	t.Helper()
	of := schema.Types()[table]
	defer func(before []schema.Field) { of.Fields = before }(of.Fields)
	of.Fields = append(slices.Clone(of.Fields), schema.Field{Name: beyond, Bytes: 4})
	return write()
}

// TestNewerOptions: options that a newer schema added are refused with the operator's name.
func TestNewerOptions(t *testing.T) {
	for _, c := range convCases {
		if c.kind == "" {
			continue
		}
		file := withField(t, c.kind, func() []byte {
			planted := c
			planted.options = maps.Clone(c.options)
			if planted.options == nil {
				planted.options = fields{}
			}
			planted.options[beyond] = 1
			return planted.file()
		})
		_, err := Import(file, nil)
		require.Check(t, err != nil && strings.Contains(err.Error(), fmt.Sprintf("%q has field", c.op)), "%s: %v", c.op, err)
	}
}

// TestPlantedSparsity plants values into every field that describes a sparse constant.
func TestPlantedSparsity(t *testing.T) {
	valueless := map[string]string{
		"dense_size of a sparse level": "the level has its indices",
		"segments of a dense level":    "it is not sparse",
		"indices of a dense level":     "it is not sparse",
	}
	base := blockSparse(k(q8(0.5, 0, dims(4, 4), 1, 0, 0, 4, 2, 3, 0, 0, 5, 0, 0, 6)))
	file := func(sparsity fields) []byte {
		a := base
		a.Name, a.More = "planted", fields{"sparsity": sparsity}
		return network([]arg{a, q8(0.5, 0, dims(4, 4))}, nil, []int32{1}, apply("DENSIFY", []int32{0}, []int32{1}))
	}
	given := base.More["sparsity"].(fields)
	before, refused := outcome(t, file(given), nil)
	require.Equal(t, refused, false, before)
	check := func(what string, planted fields) {
		after, _ := outcome(t, file(planted), nil)
		_, free := valueless[what]
		require.Check(t, (after != before) != free, "%s changes the result or is refused: %v", what, after != before)
	}
	for _, f := range schema.Types()["SparsityParameters"].Fields {
		for _, v := range others(&f, given[f.Name]) {
			if f.Kind == schema.Vector {
				planted := maps.Clone(given)
				planted[f.Name] = v
				check(f.Name, planted)
			}
		}
	}
	levels := given["dim_metadata"].([]tflitefile.Table)
	level := func(i int, what string, change func(l fields)) {
		planted, list := maps.Clone(given), slices.Clone(levels)
		list[i] = maps.Clone(list[i])
		change(list[i])
		planted["dim_metadata"] = list
		check(what, planted)
	}
	for _, f := range schema.Types()["DimensionMetadata"].Fields {
		switch f.Name {
		case "format":
			for i := range levels {
				level(i, "format", func(l fields) { l["format"] = 1 - l["format"].(int) })
				level(i, "format", func(l fields) { l["format"] = 2 })
			}
		case "dense_size":
			level(0, "dense_size", func(l fields) { l["dense_size"] = 1 })
			level(1, "dense_size of a sparse level", func(l fields) { l["dense_size"] = 7 })
			level(2, "dense_size", func(l fields) { l["dense_size"] = 3 })
		case "segments_type", "indices_type":
			for _, kind := range []int{0, 3, 4} {
				level(1, f.Name, func(l fields) { l[f.Name] = kind })
			}
		case "segments":
			level(1, f.Name, func(l fields) { l["segments"] = tflitefile.Union("Uint16Vector", fields{"values": []uint16{0, 1, 3}}) })
			level(0, "segments of a dense level", func(l fields) {
				l["segments_type"], l["segments"] = 2, tflitefile.Union("Uint16Vector", fields{"values": []uint16{0, 1, 3}})
			})
		case "indices":
			level(1, f.Name, func(l fields) { l["indices"] = tflitefile.Union("Int32Vector", fields{"values": []int32{1, 0, 1}}) })
			level(0, "indices of a dense level", func(l fields) {
				l["indices_type"], l["indices"] = 1, tflitefile.Union("Int32Vector", fields{"values": []int32{1, 0, 1}})
			})
		default:
			t.Errorf("no value to plant into DimensionMetadata.%s", f.Name)
		}
	}
}

// TestIntegerSteps: INT32 and INT64 keep their scales, at the boundary and between operators, or are refused.
func TestIntegerSteps(t *testing.T) {
	q32 := func(s float32, v ...float64) arg {
		return quantized(typeInt32, s, 0, dims(1, int32(max(len(v), 2))), v)
	}
	for _, c := range []opCase{
		{op: "DEQUANTIZE", in: []arg{q32(0.5, 3, -100000)}, out: []arg{f32(dims(1, 2), 1.5, -50000)}},
		{op: "QUANTIZE", in: []arg{f32(dims(1, 2), 1.5, -50000)}, out: []arg{q32(0.5, 3, -100000)}},
		{op: "QUANTIZE", in: []arg{quantized(typeInt32, 0.01, 0, dims(1, 2), []float64{300, -100000})}, out: []arg{q8(0.5, 3, dims(1, 2), 9, -128)}},
		{op: "QUANTIZE", in: []arg{q16(0.5, dims(1, 2), 300, -32768)}, out: []arg{q32(0.25, 600, -65536)}},
		{op: "ADD", kind: "AddOptions", in: []arg{q32(0.5, 3, 5), q32(0.5, 4, 1)}, out: []arg{q32(0.5, 7, 6)}},
		{op: "TRANSPOSE", in: []arg{q32(0.5, 3, 5), k(i32(dims(2), 1, 0))}, out: []arg{quantized(typeInt32, 0.5, 0, dims(2, 1), []float64{3, 5})}},
	} {
		t.Run(c.op, func(t *testing.T) {
			c.run(t)
			m := open(t, c.file(), nil)
			if want := c.out[0]; want.Type == typeInt32 {
				require.Equal(t, m.Main.Operands[m.Main.Outputs[0]].Scale, want.Scale[0], "the scale of the output")
			}
			if given := c.in[0]; given.Type == typeInt32 {
				require.Equal(t, m.Main.Operands[m.Main.Inputs[0]].Scale, given.Scale[0], "the scale of the input")
			}
		})
	}
	for want, c := range map[string]opCase{
		`INT32 "in0" has the scale 0.5, INT32 "in1" has the scale 0.25`: {op: "ADD", kind: "AddOptions", in: []arg{q32(0.5, 3, 5), q32(0.25, 4, 1)}, out: []arg{q32(0.5)}},
		`INT32 "in0" has the scale 0.5, INT32 "in1" has no scale`:       {op: "ADD", kind: "AddOptions", in: []arg{q32(0.5, 3, 5), i32(dims(1, 2), 4, 1)}, out: []arg{q32(0.5)}},
		`INT32 "in0" has the scale 0.5, INT32 "out0" has the scale 1`:   {op: "ABS", in: []arg{q32(0.5, 3, 5)}, out: []arg{q32(1)}},
		`INT32 "in0" has the scale 0.5, which only`:                     {op: "MUL", kind: "MulOptions", in: []arg{q32(0.5, 3, 5), q32(0.5, 4, 1)}, out: []arg{q32(0.5)}},
		`its output "out0" of INT32 has no scale`:                       {op: "QUANTIZE", in: []arg{f32(dims(1, 2), 3, 5)}, out: []arg{i32(dims(1, 2))}},
		`its bias "in2" has the scale 0.5, its products 0.25`: {op: "CONV_2D", kind: "Conv2DOptions", options: fields{"padding": 1, "stride_w": 1, "stride_h": 1},
			in:  []arg{q8(0.5, 0, dims(1, 1, 1, 1), 4), k(channels(dims(2, 1, 1, 1), 0, []float32{0.5, 0.25}, 4, 8)), k(quantized(typeInt32, 0.5, 0, dims(2), []float64{4, 8}))},
			out: []arg{q8(1, 0, dims(1, 1, 1, 2))}},
	} {
		_, err := Import(c.file(), nil)
		require.Check(t, err != nil && strings.Contains(err.Error(), want), "%v, want %q", err, want)
	}
}
