package model

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/hal/vlog"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/testvectors"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// RuleChecks returns the checks of single rules of references, relaxed models and cases.
func RuleChecks() []check.Check {
	return []check.Check{
		{Name: "an accelerator computes with instructions of its own", Rows: []string{"A1-10", "J-10"}, Run: ownInstructions, EachDevice: true},
		{Name: "a limited driver reports what it does not support", Rows: []string{"A11-3", "A11-5", "H1-7"}, Run: limitedDrivers, EachDevice: true},
		{Name: "the CPU has every operation", Rows: []string{"J-11"}, Run: wholeReference},
		{Name: "what HAL 1.2 relaxed for old operations", Rows: []string{"J-15"}, Run: relaxedRules},
		{Name: "shapes that are known late need HAL 1.2", Rows: []string{"G2-8"}, Run: lateShapes},
		{Name: "random operations and outputs that are not compared", Rows: []string{"E5-6", "E5-9"}, Run: specialOutputs},
		{Name: "single operations of every signature", Rows: []string{"E7-2", "E7-7", "E7-8"}, Run: singleOperations},
		{Name: "tags of the verbose log", Rows: []string{"D1-1", "D1-2"}, Run: logTags},
	}
}

func ownInstructions(t *check.T) {
	if t.Device.Type() != hal.DeviceAccelerator && t.Device.Type() != hal.DeviceGPU {
		t.Skipf("%s is no accelerator", t.Device.Type())
	}
	cost := func(rows uint32) (cycles, instructions int64) {
		m := t.Supported(func(typ nn.OperandType) *nn.Model {
			m := check.AddModel(typ)
			for i := range 3 {
				m.Main.Operands[i].Dimensions = []uint32{rows, 64}
			}
			return m
		})
		p := t.Prepare(m, hal.PrepareOptions{})
		var program strings.Builder
		err := p.WriteProgram(&program)
		if hal.StatusOf(err) == hal.InvalidArgument {
			t.Skipf("the device keeps its programs: %v", err)
		}
		t.OK("program", err)
		t.Check(program.Len() >= 16, "a program of %d bytes", program.Len())
		n := m.Main.Operands[0].Bytes()
		res, err := hal.Execute(p, &hal.Buffers{Inputs: [][]byte{make([]byte, n), make([]byte, n)}, Outputs: [][]byte{make([]byte, n)}})
		t.OK("execute", err)
		for _, o := range res.Stats.Operations {
			if o.Index == 0 {
				cycles += o.Cycles
			}
		}
		return cycles, res.Stats.Instructions
	}
	little, few := cost(2)
	much, many := cost(8000)
	if little <= 0 || few <= 0 || many < few || much < 4*little {
		t.Errorf("%d cycles and %d instructions for 2 rows, %d and %d for 8000", little, few, much, many)
	}
}

func limitedDrivers(t *check.T) {
	if !strings.HasPrefix(t.Device.Name(), "sample_") {
		t.Skipf("%s is no sample driver", t.Device.Name())
	}
	m, n := t.Device.NumberOfCacheFilesNeeded()
	check.Equal(t, "cache files", [2]int{m, n}, [2]int{})
	t.Status("a cache", check.Err(t.Device.PrepareModelFromCache(nil, check.NewFiles().Cache())), hal.GeneralFailure)
	vendor := check.RequantModel() // which none of them supports
	s := check.V(t.Device.SupportedOperations(vendor))(t, "getSupportedOperations")
	t.Check(!s[0].OK, "an operation of a vendor is supported")
	t.Status("prepareModel", check.Err(t.Device.PrepareModel(vendor, hal.PrepareOptions{})), hal.InvalidArgument)
	told := make(chan hal.Status, 1)
	launch := compat.NewDevice(t.Device).PrepareModel_1_3(vendor, hal.PrepareOptions{}, func(s hal.Status, p *compat.PreparedModel) {
		t.Check(p == nil, "there is a prepared model")
		told <- s
	})
	check.Equal(t, "launch", launch, hal.StatusNone)
	check.Equal(t, "callback", <-told, hal.InvalidArgument)
}

func wholeReference(t *check.T) {
	table := refcpu.Standard()
	for _, op := range nn.Operations() {
		t.Check(table.Supported(op), "the reference lacks %s", op)
	}
}

func relaxedRules(t *check.T) {
	one := func(op nn.OperationType, out nn.Operand, in ...nn.Operand) compat.Version {
		g := nn.Subgraph{Operands: append(in, out), Outputs: []uint32{uint32(len(in))}}
		x := nn.Operation{Type: op, Outputs: g.Outputs}
		for i := range in {
			x.Inputs = append(x.Inputs, uint32(i))
			if in[i].Lifetime == nn.SubgraphInput {
				g.Inputs = append(g.Inputs, uint32(i))
			}
		}
		g.Operations = []nn.Operation{x}
		return compat.ModelVersion(&nn.Model{Main: g})
	}
	f32 := func(l nn.Lifetime, dims ...uint32) nn.Operand { return check.Tensor(nn.TensorFloat32, l, dims...) }
	in, out := nn.SubgraphInput, nn.SubgraphOutput
	boolean := check.Constant(nn.Bool, []byte{0})
	i32 := check.Int32Scalar
	for rank, want := range map[int]compat.Version{1: compat.V1_2, 2: compat.V1_0, 3: compat.V1_2, 4: compat.V1_0} {
		dims := slices.Repeat([]uint32{2}, rank)
		check.Equal(t, fmt.Sprint("SOFTMAX of rank ", rank), one(nn.OpSoftmax, f32(out, dims...), f32(in, dims...), number(1)), want)
	}
	check.Equal(t, "L2_NORMALIZATION of rank 4", one(nn.OpL2Normalization, f32(out, 1, 2, 2, 2), f32(in, 1, 2, 2, 2)), compat.V1_0)
	check.Equal(t, "L2_NORMALIZATION of rank 3", one(nn.OpL2Normalization, f32(out, 2, 2, 2), f32(in, 2, 2, 2)), compat.V1_2)
	conv := func(more ...nn.Operand) compat.Version {
		list := []nn.Operand{f32(in, 1, 4, 4, 1), check.Constant(nn.TensorFloat32, make([]byte, 4), 1, 1, 1, 1), check.Constant(nn.TensorFloat32, make([]byte, 4), 1), i32(1), i32(1), i32(1), i32(0)}
		return one(nn.OpConv2D, f32(out, 1, 4, 4, 1), append(list, more...)...)
	}
	check.Equal(t, "CONV_2D", conv(), compat.V1_0)
	check.Equal(t, "CONV_2D with a layout", conv(boolean), compat.V1_2)
	check.Equal(t, "CONV_2D with a dilation", conv(boolean, i32(1), i32(1)), compat.V1_2)
	quant := func(scale float32, l nn.Lifetime) nn.Operand {
		o := check.Tensor(nn.TensorQuant8Asymm, l, 2)
		o.Scale, o.ZeroPoint = scale, 0
		return o
	}
	join := quant(1, out)
	join.Dimensions = []uint32{4}
	check.Equal(t, "CONCATENATION of one quantization", one(nn.OpConcatenation, join, quant(1, in), quant(1, in), i32(0)), compat.V1_0)
	check.Equal(t, "CONCATENATION of several", one(nn.OpConcatenation, join, quant(1, in), quant(0.5, in), i32(0)), compat.V1_2)
}

// lateShapes: inputs may be of any batch, and ranks be unknown, since 1.2.
func lateShapes(t *check.T) {
	for what, c := range map[string]struct {
		dims []uint32
		want compat.Version
	}{"a shape": {[]uint32{2, 3}, compat.V1_0}, "no rank": {nil, compat.V1_2}} {
		m := check.ReluModel(nn.TensorFloat32, c.dims...)
		check.Equal(t, "an output of "+what, compat.ModelVersion(m), c.want)
		m = check.ReluModel(nn.TensorFloat32, 2, 3)
		m.Main.Operands[0].Dimensions = c.dims
		check.Equal(t, "an input of "+what, compat.ModelVersion(m), c.want)
	}
	empty := &nn.Model{Main: nn.Subgraph{ // a batch of 0 can only result from an operation of 1.2
		Operands: []nn.Operand{check.Tensor(nn.TensorFloat32, nn.SubgraphInput, 1, 2), check.Tensor(nn.TensorFloat32, nn.SubgraphInput, 1, 8), check.Tensor(nn.TensorInt32, nn.SubgraphInput, 1),
			number(0.1), check.Int32Scalar(-1), check.Int32Scalar(0), number(0.5), number(0.5), number(0),
			check.Tensor(nn.TensorFloat32, nn.SubgraphOutput, 0), check.Tensor(nn.TensorFloat32, nn.SubgraphOutput, 0, 4), check.Tensor(nn.TensorInt32, nn.SubgraphOutput, 0), check.Tensor(nn.TensorInt32, nn.SubgraphOutput, 0)},
		Operations: []nn.Operation{{Type: nn.OpBoxWithNmsLimit, Inputs: []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8}, Outputs: []uint32{9, 10, 11, 12}}},
		Inputs:     []uint32{0, 1, 2}, Outputs: []uint32{9, 10, 11, 12},
	}}
	t.OK("detections", validate.Model(empty))
	check.Equal(t, "detections that may be none", compat.ModelVersion(empty), compat.V1_2)
}

// number is a constant.
func number(v float32) nn.Operand {
	return check.Constant(nn.Float32, binary.LittleEndian.AppendUint32(nil, math.Float32bits(v)))
}

func specialOutputs(t *check.T) {
	ints := func(v ...int32) []byte { b, _ := binary.Append(nil, binary.LittleEndian, v); return b }
	draws := func(ones int) []byte {
		v := make([]int32, 1000)
		for i := range ones {
			v[i] = 1
		}
		return ints(v...)
	}
	c := &vectors.Case{Name: "multinomial", Multinomial: 0.05, Model: check.AddModel(nn.TensorFloat32),
		Inputs:  []vectors.Value{{Type: nn.TensorFloat32, Dimensions: []uint32{1, 2}, Data: append(check.Floats(0), check.Floats(float32(math.Log(3)))...)}},
		Outputs: []vectors.Value{{Type: nn.TensorInt32, Dimensions: []uint32{1, 1000}, Data: draws(0)}},
	}
	t.OK("three draws of four", testvectors.Check(c, nil, [][]byte{draws(750)}))
	t.OK("about three draws of four", testvectors.Check(c, nil, [][]byte{draws(720)}))
	for name, out := range map[string][]byte{"half the draws": draws(500), "a class that is none": append(ints(2), draws(750)[4:]...)} {
		t.Check(testvectors.Check(c, nil, [][]byte{out}) != nil, "%s passes", name)
	}
	v := func(ignored bool) vectors.Value {
		return vectors.Value{Type: nn.TensorFloat32, Dimensions: []uint32{1}, Data: check.Floats(1), Ignored: ignored}
	}
	two := &vectors.Case{Name: "scratch", Model: check.AddModel(nn.TensorFloat32), Outputs: []vectors.Value{v(true), v(false)}}
	wrong := check.Floats(float32(math.NaN()))
	t.OK("an ignored output", testvectors.Check(two, nil, [][]byte{wrong, check.Floats(1)}))
	t.Check(testvectors.Check(two, nil, [][]byte{check.Floats(1), wrong}) != nil, "an output that is compared may be anything")
}

func singleOperations(t *check.T) {
	g := check.V(randgraph.NewGenerator(3, nil))(t, "generator")
	drawn, single := map[string]bool{}, 0
	classes := map[nn.OperationType]randgraph.Class{
		nn.OpReshape: randgraph.Strict, nn.OpTranspose: randgraph.Strict, nn.OpEqual: randgraph.Strict, nn.OpAdd: randgraph.Medium, nn.OpMul: randgraph.Medium,
		nn.OpLogistic: randgraph.Relaxed, nn.OpSoftmax: randgraph.Relaxed, nn.OpConv2D: randgraph.Conv, nn.OpDepthwiseConv2D: randgraph.Conv,
	}
	const cases = 400
	for i := range cases {
		c := check.V(g.Case(i, nil))(t, "case")
		if len(c.Variants) == 1 {
			single++
			if want, ok := classes[c.Variants[0].Op]; ok {
				check.Equal(t, "class of "+c.Variants[0].Op.String(), c.Class, want)
			}
		} else if c.Class != randgraph.SmallGraph && c.Class != randgraph.LargeGraph {
			t.Errorf("%s is a graph of class %d", c.Name, c.Class)
		}
		for _, v := range c.Variants {
			drawn[v.Op.String()] = true
		}
	}
	t.Check(single >= cases/2, "%d of %d cases are single operations", single, cases)
	have := map[string]bool{}
	for _, v := range randgraph.Variants() {
		have[v.Op.String()] = true
	}
	for op := range have {
		t.Check(drawn[op], "%s was not drawn in %d cases", op, cases)
	}
	for _, op := range nn.Operations() { // including those that CTS never draws
		t.Check(!refcpu.Standard().Supported(op) || have[op.String()] || op == nn.OpRandomMultinomial, "%s has no signature", op)
	}
}

func logTags(t *check.T) {
	all := "[model compilation execution cpuexe manager driver memory]"
	for value, want := range map[string]string{
		"": "[]", "1": all, "all": all, "driver": "[driver]", "driver,model": "[model driver]",
		"memory:cpuexe manager": "[cpuexe manager memory]", "execution, compilation": "[compilation execution]",
	} {
		list := check.V(vlog.Parse(value))(t, value)
		check.Equal(t, fmt.Sprintf("tags of %q", value), fmt.Sprint(list), want)
	}
	for _, value := range []string{"nope", "model nope", "Model"} {
		t.Check(check.Err(vlog.Parse(value)) != nil, "%q has no unknown tag", value)
	}
}
