package conformance

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpu"
	"github.com/nnsoc/nnsoc/hal/driver/sample"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nnrt"
)

func runtimeChecks() []Check {
	return []Check{
		{Name: "a driver gets its part of a model and no more", Rows: []string{"J-4", "J-7", "E6-1"}, Run: partsOfDrivers},
		{Name: "what a driver fails at is computed by the CPU", Rows: []string{"E6-6", "J-4"}, Run: failingDrivers},
		{Name: "tensors between drivers whose size an execution tells", Rows: []string{"E6-2"}, Run: dynamicTemporaries},
		{Name: "control flow across drivers", Rows: []string{"E6-5", "B-14"}, Run: controlFlowAcross},
		{Name: "the runtime names each part of a compilation in the cache", Rows: []string{"E6-3"}, Run: cacheTokens},
		{Name: "operations that no driver takes", Rows: []string{"B-15"}, Run: nobodyTakes},
		{Name: "a sample of what drivers support is taken away", Rows: []string{"C4-7", "H2-1"}, Run: sampledSupport},
	}
}

// picky is a driver that takes some operations and counts those that it prepares.
type picky struct {
	hal.Device
	name     string
	takes    []nn.OperationType
	prepared []int // operations of each prepared model
}

func newPicky(name string, takes ...nn.OperationType) *picky {
	return &picky{Device: cpu.New(cpu.Config{}), name: name, takes: takes}
}

func (d *picky) Name() string { return d.name }

// Capabilities promise a tenth of the CPU's time for everything.
func (d *picky) Capabilities() hal.Capabilities {
	c := d.Device.Capabilities()
	fast := hal.Capabilities{RelaxedScalar: figure(0.1), RelaxedTensor: figure(0.1), If: figure(0.1), While: figure(0.1)}
	for _, p := range c.OperandPerformance() {
		fast.Update(p.Type, hal.PerformanceInfo{ExecTime: 0.1, PowerUsage: 0.1})
	}
	return fast
}

func (d *picky) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	s, err := d.Device.SupportedOperations(m)
	for i := range s {
		if !slices.Contains(d.takes, m.Main.Operations[i].Type) {
			s[i] = hal.Support{Reason: "not one of its operations"}
		}
	}
	return s, err
}

func (d *picky) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	d.prepared = append(d.prepared, len(m.Main.Operations))
	return d.Device.PrepareModel(m, o)
}

// compiled compiles a model for the CPU and drivers.
func (t *T) compiled(m *nn.Model, drivers ...hal.Device) *nnrt.Compilation {
	r, err := nnrt.NewRegistry(cpu.New(cpu.Config{}), drivers...)
	t.OK("registry", err)
	c, err := nnrt.Compile(r, m, nnrt.Auto, nnrt.CompileOptions{})
	t.OK("compilation", err)
	return c
}

// agrees executes a compilation and compares the outputs with those of the CPU alone.
func (t *T) agrees(what string, m *nn.Model, c *nnrt.Compilation, inputs ...[]byte) *nnrt.Result {
	o := nnrt.ExecuteOptions{Functional: true}
	want, err := t.compiled(m).Execute(inputs, o)
	t.OK(what+" on the CPU", err)
	got, err := c.Execute(inputs, o)
	t.OK(what, err)
	for i := range want.Outputs {
		if !bytes.Equal(got.Outputs[i], want.Outputs[i]) || !slices.Equal(got.Dimensions[i], want.Dimensions[i]) {
			t.Errorf("%s: output %d is %v of %v, want %v of %v", what, i, got.Outputs[i], got.Dimensions[i], want.Outputs[i], want.Dimensions[i])
		}
	}
	return got
}

// owners are the devices of the steps of a compilation.
func owners(c *nnrt.Compilation) string {
	var list []string
	for i := range c.Steps() {
		list = append(list, c.Step(i).Device)
	}
	return fmt.Sprint(list)
}

func floats(v ...float32) []byte {
	b, _ := binary.Append(nil, binary.LittleEndian, v)
	return b
}

func partsOfDrivers(t *T) {
	m := chain(nn.TensorFloat32) // RELU, RELU6, RELU1
	a, b := newPicky("a", nn.OpRelu, nn.OpRelu1), newPicky("b", nn.OpRelu6)
	c := t.compiled(m, a, b)
	Equal(t, "parts", owners(c), "[a b a]")
	Equal(t, "models that a prepared", fmt.Sprint(a.prepared), "[1 1]")
	Equal(t, "models that b prepared", fmt.Sprint(b.prepared), "[1]")
	t.agrees("a request that spans drivers", m, c, floats(-1, 0, 0.5, 1, 5, 9))
	whole := newPicky("whole", nn.OpRelu, nn.OpRelu6, nn.OpRelu1)
	Equal(t, "a driver of all operations", owners(t.compiled(m, whole)), "[whole]")
	Equal(t, "models that it prepared", fmt.Sprint(whole.prepared), "[3]")
}

func failingDrivers(t *T) {
	m := chain(nn.TensorFloat32)
	for _, call := range []sample.Call{sample.CallSupportedOperations, sample.CallPrepareModel, sample.CallExecute} {
		for name, fault := range map[string]sample.Fault{
			"fails": {Status: hal.GeneralFailure}, "crashes": {Panic: true}, "answers too little": {WrongCount: true},
		} {
			d, err := sample.NewSynthetic("failing", newPicky("failing", nn.OpRelu6), map[sample.Call]sample.Fault{call: fault})
			t.OK("driver", err)
			what := fmt.Sprintf("a driver that %s in %s", name, call)
			c := t.compiled(m, d)
			r := t.agrees(what, m, c, floats(-1, 0, 0.5, 1, 5, 9))
			if call == sample.CallPrepareModel && name == "answers too little" {
				continue // a prepared model has no count
			}
			if moved := len(c.Fallbacks) + len(r.Fallbacks); moved == 0 && owners(c) != "[cpu]" && call != sample.CallExecute {
				t.Errorf("%s: nothing fell back: %s", what, owners(c))
			}
			if d.Calls(call) == 0 {
				t.Errorf("%s was not asked", what)
			}
		}
	}
}

// fillModel is FILL of a size that an execution brings, then RELU6 and RELU1.
func fillModel() *nn.Model {
	open := func(l nn.Lifetime) nn.Operand {
		return nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{0}, Lifetime: l}
	}
	return &nn.Model{Name: "fill", Main: nn.Subgraph{
		Operands: []nn.Operand{
			{Type: nn.TensorInt32, Dimensions: []uint32{1}, Lifetime: nn.SubgraphInput},
			{Type: nn.Float32, Lifetime: nn.ConstantCopy, Data: floats(1.5)},
			open(nn.TemporaryVariable), open(nn.TemporaryVariable), open(nn.SubgraphOutput),
		},
		Operations: []nn.Operation{
			{Type: nn.OpFill, Inputs: []uint32{0, 1}, Outputs: []uint32{2}},
			{Type: nn.OpRelu6, Inputs: []uint32{2}, Outputs: []uint32{3}},
			{Type: nn.OpRelu1, Inputs: []uint32{3}, Outputs: []uint32{4}},
		},
		Inputs: []uint32{0}, Outputs: []uint32{4},
	}}
}

func dynamicTemporaries(t *T) {
	m := fillModel()
	a, b := newPicky("a", nn.OpFill, nn.OpRelu1), newPicky("b", nn.OpRelu6)
	c := t.compiled(m, a, b)
	Equal(t, "parts", owners(c), "[a b a]")
	for _, n := range []uint32{1, 5, 3000, 2} {
		r := t.agrees(fmt.Sprint(n, " elements"), m, c, binary.LittleEndian.AppendUint32(nil, n))
		Equal(t, "bytes", len(r.Outputs[0]), int(4*n))
	}
}

// choiceModel is IF of two branches, RELU1 and RELU6 of a 2x3 tensor.
func choiceModel() *nn.Model {
	ref := func(i byte) nn.Operand {
		return nn.Operand{Type: nn.SubgraphRef, Lifetime: nn.LifetimeSubgraph, Data: []byte{i, 0, 0, 0}}
	}
	branch := func(op nn.OperationType) nn.Subgraph {
		g := reluModel(nn.TensorFloat32, 2, 3).Main
		g.Operations[0].Type = op
		return g
	}
	return &nn.Model{Name: "choice", Main: nn.Subgraph{
		Operands: []nn.Operand{{Type: nn.TensorBool8, Dimensions: []uint32{1}, Lifetime: nn.SubgraphInput}, ref(0), ref(1),
			tensor(nn.TensorFloat32, nn.SubgraphInput, 2, 3), tensor(nn.TensorFloat32, nn.SubgraphOutput, 2, 3)},
		Operations: []nn.Operation{{Type: nn.OpIf, Inputs: []uint32{0, 1, 2, 3}, Outputs: []uint32{4}}},
		Inputs:     []uint32{0, 3}, Outputs: []uint32{4},
	}, Referenced: []nn.Subgraph{branch(nn.OpRelu1), branch(nn.OpRelu6)}}
}

func controlFlowAcross(t *T) {
	a, b := newPicky("a", nn.OpRelu1), newPicky("b", nn.OpRelu6)
	m := choiceModel()
	c := t.compiled(m, a, b)
	for condition := range byte(2) {
		t.agrees("branches on different drivers", m, c, []byte{condition}, floats(-1, 0, 0.5, 1, 5, 9))
	}
	if len(a.prepared) == 0 || len(b.prepared) == 0 {
		t.Errorf("the drivers prepared %v and %v models", a.prepared, b.prepared)
	}
	loop := loopModel(false)
	adds := newPicky("adds", nn.OpAdd)
	c = t.compiled(loop, adds)
	for _, from := range []uint32{0, 3, 10, 99} {
		t.agrees("a loop whose body is on a driver", loop, c, binary.LittleEndian.AppendUint32(nil, from))
	}
	if len(adds.prepared) == 0 {
		t.Errorf("the loop's body is not on the driver")
	}
	// Operands of unknown size: only the CPU may take the operation.
	open := choiceModel()
	open.Main.Operands[3].Dimensions, open.Main.Operands[4].Dimensions = []uint32{0, 3}, []uint32{0, 3}
	for k := range open.Referenced {
		open.Referenced[k].Operands[0].Dimensions, open.Referenced[k].Operands[1].Dimensions = []uint32{0, 3}, []uint32{0, 3}
	}
	all := newPicky("all", nn.OpIf, nn.OpRelu1, nn.OpRelu6)
	Equal(t, "an IF of known sizes", owners(t.compiled(m, all)), "[all]")
	Equal(t, "an IF of unknown sizes", owners(t.compiled(open, all)), "[cpu]")
}

// caching is a driver that saves what it prepares, as a file of the token alone.
type caching struct {
	picky
	tokens []hal.CacheToken
	loaded int
}

func (d *caching) NumberOfCacheFilesNeeded() (model, data int) { return 1, 0 }

func (d *caching) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	d.tokens = append(d.tokens, o.Cache.Token)
	if len(o.Cache.Model) != 1 || len(o.Cache.Model[0]) != 1 {
		return nil, hal.Errorf(hal.InvalidArgument, "%d handles", len(o.Cache.Model))
	}
	if _, err := o.Cache.Model[0][0].WriteAt(o.Cache.Token[:], 0); err != nil {
		return nil, err
	}
	return d.picky.PrepareModel(m, o)
}

func (d *caching) PrepareModelFromCache(_ *hal.TimePoint, c hal.Cache) (hal.PreparedModel, error) {
	var saved hal.CacheToken
	if _, err := c.Model[0][0].ReadAt(saved[:], 0); err != nil || saved != c.Token {
		return nil, hal.Errorf(hal.GeneralFailure, "nothing was saved under this token")
	}
	d.loaded++
	return d.Device.PrepareModel(reluModel(nn.TensorFloat32, 2, 3), hal.PrepareOptions{})
}

func cacheTokens(t *T) {
	dir, err := os.MkdirTemp("", "nnsoc-conformance")
	t.OK("folder", err)
	defer func() { _ = os.RemoveAll(dir) }()
	seen := map[hal.CacheToken]string{}
	compile := func(what, name string, takes []nn.OperationType, o nnrt.CompileOptions) *caching {
		d := &caching{picky: *newPicky(name, takes...)}
		r, err := nnrt.NewRegistry(cpu.New(cpu.Config{}), d)
		t.OK("registry", err)
		o.Cache.Dir = dir
		_, err = nnrt.Compile(r, chain(nn.TensorFloat32), nnrt.Auto, o)
		t.OK(what, err)
		return d
	}
	all := []nn.OperationType{nn.OpRelu, nn.OpRelu6, nn.OpRelu1}
	token := nnrt.Cache{Token: hal.CacheToken{1}}
	for _, c := range []struct {
		what, name string
		takes      []nn.OperationType
		parts      int
		o          nnrt.CompileOptions
	}{
		{"the whole model", "a", all, 1, nnrt.CompileOptions{Cache: token}},
		{"another device", "b", all, 1, nnrt.CompileOptions{Cache: token}},
		{"fewer operations", "a", all[:2], 1, nnrt.CompileOptions{Cache: token}},
		{"two parts", "a", []nn.OperationType{nn.OpRelu, nn.OpRelu1}, 2, nnrt.CompileOptions{Cache: token}},
		{"another preference", "a", all, 1, nnrt.CompileOptions{Cache: token, Preference: nnrt.Prefer(hal.SustainedSpeed)}},
		{"another priority", "a", all, 1, nnrt.CompileOptions{Cache: token, Priority: nnrt.Rank(hal.PriorityHigh)}},
		{"another token of the client", "a", all, 1, nnrt.CompileOptions{Cache: nnrt.Cache{Token: hal.CacheToken{2}}}},
	} {
		d := compile(c.what, c.name, c.takes, c.o)
		Equal(t, c.what+": parts prepared", len(d.tokens), c.parts)
		for _, x := range d.tokens {
			if x == c.o.Cache.Token || seen[x] != "" {
				t.Errorf("%s has the token of %s", c.what, seen[x])
			}
			seen[x] = c.what
		}
		again := compile(c.what+" again", c.name, c.takes, c.o)
		Equal(t, c.what+": parts from the cache", again.loaded, c.parts)
		Equal(t, c.what+": parts prepared again", len(again.tokens), 0)
	}
}

func nobodyTakes(t *T) {
	m := chain(nn.TensorFloat32)
	Equal(t, "operations that only the CPU has", owners(t.compiled(m, newPicky("idle"))), "[cpu]")
	// An operation of an extension is not the CPU's.
	vendor := requantModel()
	limited, err := sample.New("sample_all", cpu.Config{})
	t.OK("sample_all", err)
	r, err := nnrt.NewRegistry(limited)
	t.OK("registry", err)
	_, err = nnrt.Compile(r, vendor, nnrt.Auto, nnrt.CompileOptions{})
	t.Status("an operation that no device has", err, hal.InvalidArgument)
}

func sampledSupport(t *T) {
	taken := map[string]int{}
	for n := range uint32(16) {
		m := chain(nn.TensorFloat32) // RELU, RELU6, RELU1
		for i := range m.Main.Operands {
			m.Main.Operands[i].Dimensions = []uint32{1 + n}
		}
		owners := func() string {
			a := newPicky("a", nn.OpRelu, nn.OpRelu6, nn.OpRelu1)
			r, err := nnrt.NewRegistry(cpu.New(cpu.Config{}), a)
			t.OK("registry", err)
			t.OK("sample", r.ForceUnsupported(nnrt.SampleOperations+":a"))
			c, err := nnrt.Compile(r, m, nnrt.Auto, nnrt.CompileOptions{})
			t.OK("compilation", err)
			t.agrees("a sample", m, c, make([]byte, 4+4*n))
			return owners(c)
		}
		first := owners()
		Equal(t, "the sample again", owners(), first)
		taken[first]++
	}
	if len(taken) < 4 || taken["[a]"] > 8 || taken["[cpu]"] > 8 {
		t.Errorf("16 models run on %v", taken)
	}
}
