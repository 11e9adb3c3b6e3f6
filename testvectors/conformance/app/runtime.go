package app

import (
	"encoding/binary"
	"fmt"
	"os"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/driver/sample"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// RuntimeChecks returns the checks of how the runtime places models on drivers.
func RuntimeChecks() []check.Check {
	return []check.Check{
		{Name: "a driver gets its part of a model and no more", Rows: []string{"J-4", "J-7", "E6-1"}, Run: partsOfDrivers},
		{Name: "what a driver fails at is computed by the CPU", Rows: []string{"E6-6", "J-4"}, Run: failingDrivers},
		{Name: "tensors between drivers whose size an execution determines", Rows: []string{"E6-2"}, Run: dynamicTemporaries},
		{Name: "control flow across drivers", Rows: []string{"E6-5", "B-14"}, Run: controlFlowAcross},
		{Name: "the runtime names each part of a compilation in the cache", Rows: []string{"E6-3"}, Run: cacheTokens},
		{Name: "operations that no driver supports", Rows: []string{"B-15"}, Run: nobodySupports},
		{Name: "a sample of what drivers support is taken away", Rows: []string{"C4-7", "H2-1"}, Run: sampledSupport},
	}
}

func partsOfDrivers(t *check.T) {
	m := check.Chain(nn.TensorFloat32) // RELU, RELU6, RELU1
	a, b := check.NewPicky("a", nn.OpRelu, nn.OpRelu1), check.NewPicky("b", nn.OpRelu6)
	c := t.Compiled(m, a, b)
	check.Equal(t, "parts", check.Owners(c), "[a b a]")
	check.Equal(t, "models that a prepared", fmt.Sprint(a.Prepared), "[1 1]")
	check.Equal(t, "models that b prepared", fmt.Sprint(b.Prepared), "[1]")
	t.Agrees("a request that spans drivers", m, c, check.Floats(-1, 0, 0.5, 1, 5, 9))
	whole := check.NewPicky("whole", nn.OpRelu, nn.OpRelu6, nn.OpRelu1)
	check.Equal(t, "a driver of all operations", check.Owners(t.Compiled(m, whole)), "[whole]")
	check.Equal(t, "models that it prepared", fmt.Sprint(whole.Prepared), "[3]")
}

func failingDrivers(t *check.T) {
	m := check.Chain(nn.TensorFloat32)
	for _, call := range []sample.Call{sample.CallSupportedOperations, sample.CallPrepareModel, sample.CallExecute} {
		for name, fault := range map[string]sample.Fault{
			"fails": {Status: hal.GeneralFailure}, "crashes": {Panic: true}, "answers too little": {WrongCount: true},
		} {
			d, err := sample.NewSynthetic("failing", check.NewPicky("failing", nn.OpRelu6), map[sample.Call]sample.Fault{call: fault})
			t.OK("driver", err)
			what := fmt.Sprintf("a driver that %s in %s", name, call)
			c := t.Compiled(m, d)
			r := t.Agrees(what, m, c, check.Floats(-1, 0, 0.5, 1, 5, 9))
			if call == sample.CallPrepareModel && name == "answers too little" {
				continue // a prepared model has no count
			}
			if moved := len(c.Fallbacks) + len(r.Fallbacks); moved == 0 && check.Owners(c) != "[cpu]" && call != sample.CallExecute {
				t.Errorf("%s: nothing fell back: %s", what, check.Owners(c))
			}
			t.Check(d.Calls(call) != 0, "%s was not asked", what)
		}
	}
}

func dynamicTemporaries(t *check.T) {
	m := check.FillModel()
	a, b := check.NewPicky("a", nn.OpFill, nn.OpRelu1), check.NewPicky("b", nn.OpRelu6)
	c := t.Compiled(m, a, b)
	check.Equal(t, "parts", check.Owners(c), "[a b a]")
	for _, n := range []uint32{1, 5, 3000, 2} {
		r := t.Agrees(fmt.Sprint(n, " elements"), m, c, binary.LittleEndian.AppendUint32(nil, n))
		check.Equal(t, "bytes", len(r.Outputs[0]), int(4*n))
	}
}

func controlFlowAcross(t *check.T) {
	a, b := check.NewPicky("a", nn.OpRelu1), check.NewPicky("b", nn.OpRelu6)
	m := check.ChoiceModel()
	c := t.Compiled(m, a, b)
	for condition := range byte(2) {
		t.Agrees("branches on different drivers", m, c, []byte{condition}, check.Floats(-1, 0, 0.5, 1, 5, 9))
	}
	t.Check(len(a.Prepared) != 0 && len(b.Prepared) != 0, "the drivers prepared %v and %v models", a.Prepared, b.Prepared)
	loop := check.LoopModel(false)
	adds := check.NewPicky("adds", nn.OpAdd)
	c = t.Compiled(loop, adds)
	for _, from := range []uint32{0, 3, 10, 99} {
		t.Agrees("a loop whose body is on a driver", loop, c, binary.LittleEndian.AppendUint32(nil, from))
	}
	t.Check(len(adds.Prepared) != 0, "the loop's body is not on the driver")
	// Operands of unknown size: only the CPU may run the operation.
	open := check.ChoiceModel()
	open.Main.Operands[3].Dimensions, open.Main.Operands[4].Dimensions = []uint32{0, 3}, []uint32{0, 3}
	for k := range open.Referenced {
		open.Referenced[k].Operands[0].Dimensions, open.Referenced[k].Operands[1].Dimensions = []uint32{0, 3}, []uint32{0, 3}
	}
	all := check.NewPicky("all", nn.OpIf, nn.OpRelu1, nn.OpRelu6)
	check.Equal(t, "an IF of known sizes", check.Owners(t.Compiled(m, all)), "[all]")
	check.Equal(t, "an IF of unknown sizes", check.Owners(t.Compiled(open, all)), "[cpu]")
}

// caching is a driver that saves its compilations, as a file of the token alone.
type caching struct {
	check.Picky
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
	return d.Picky.PrepareModel(m, o)
}

func (d *caching) PrepareModelFromCache(_ *hal.TimePoint, c hal.Cache) (hal.PreparedModel, error) {
	var saved hal.CacheToken
	if _, err := c.Model[0][0].ReadAt(saved[:], 0); err != nil || saved != c.Token {
		return nil, hal.Errorf(hal.GeneralFailure, "nothing was saved under this token")
	}
	d.loaded++
	return d.Device.PrepareModel(check.ReluModel(nn.TensorFloat32, 2, 3), hal.PrepareOptions{})
}

func cacheTokens(t *check.T) {
	dir := check.V(os.MkdirTemp("", "nnsoc-conformance"))(t, "folder")
	defer func() { _ = os.RemoveAll(dir) }()
	seen := map[hal.CacheToken]string{}
	compile := func(what, name string, supported []nn.OperationType, o nnrt.CompileOptions) *caching {
		d := &caching{Picky: *check.NewPicky(name, supported...)}
		r := check.V(registry.New(cpudriver.New(cpudriver.Config{}), d))(t, "registry")
		o.Cache.Dir = dir
		_, err := nnrt.Compile(r, check.Chain(nn.TensorFloat32), nnrt.ByStrategy, o)
		t.OK(what, err)
		return d
	}
	all := []nn.OperationType{nn.OpRelu, nn.OpRelu6, nn.OpRelu1}
	token := registry.Cache{Token: hal.CacheToken{1}}
	for _, c := range []struct {
		what, name string
		supported  []nn.OperationType
		parts      int
		o          nnrt.CompileOptions
	}{
		{"the whole model", "a", all, 1, nnrt.CompileOptions{Cache: token}},
		{"another device", "b", all, 1, nnrt.CompileOptions{Cache: token}},
		{"fewer operations", "a", all[:2], 1, nnrt.CompileOptions{Cache: token}},
		{"two parts", "a", []nn.OperationType{nn.OpRelu, nn.OpRelu1}, 2, nnrt.CompileOptions{Cache: token}},
		{"another preference", "a", all, 1, nnrt.CompileOptions{Cache: token, Preference: nnrt.Prefer(hal.SustainedSpeed)}},
		{"another priority", "a", all, 1, nnrt.CompileOptions{Cache: token, Priority: nnrt.Rank(hal.PriorityHigh)}},
		{"another token of the client", "a", all, 1, nnrt.CompileOptions{Cache: registry.Cache{Token: hal.CacheToken{2}}}},
	} {
		d := compile(c.what, c.name, c.supported, c.o)
		check.Equal(t, c.what+": parts prepared", len(d.tokens), c.parts)
		for _, x := range d.tokens {
			t.Check(x != c.o.Cache.Token && seen[x] == "", "%s has the token of %s", c.what, seen[x])
			seen[x] = c.what
		}
		again := compile(c.what+" again", c.name, c.supported, c.o)
		check.Equal(t, c.what+": parts from the cache", again.loaded, c.parts)
		check.Equal(t, c.what+": parts prepared again", len(again.tokens), 0)
	}
}

func nobodySupports(t *check.T) {
	m := check.Chain(nn.TensorFloat32)
	check.Equal(t, "operations that only the CPU has", check.Owners(t.Compiled(m, check.NewPicky("idle"))), "[cpu]")
	// An operation of an extension is not the CPU's.
	vendor := check.RequantModel()
	limited := check.V(sample.New("sample_all", cpudriver.Config{}))(t, "sample_all")
	r := check.V(registry.New(limited))(t, "registry")
	_, err := nnrt.Compile(r, vendor, nnrt.ByStrategy, nnrt.CompileOptions{})
	t.Status("an operation that no device has", err, hal.InvalidArgument)
}

func sampledSupport(t *check.T) {
	taken := map[string]int{}
	for n := range uint32(16) {
		m := check.Chain(nn.TensorFloat32) // RELU, RELU6, RELU1
		for i := range m.Main.Operands {
			m.Main.Operands[i].Dimensions = []uint32{1 + n}
		}
		owners := func() string {
			a := check.NewPicky("a", nn.OpRelu, nn.OpRelu6, nn.OpRelu1)
			r := check.V(registry.New(cpudriver.New(cpudriver.Config{}), a))(t, "registry")
			t.OK("sample", r.ForceUnsupported(registry.SampleOperations+":a"))
			c := check.V(nnrt.Compile(r, m, nnrt.ByStrategy, nnrt.CompileOptions{}))(t, "compilation")
			t.Agrees("a sample", m, c, make([]byte, 4+4*n))
			return check.Owners(c)
		}
		first := owners()
		check.Equal(t, "the sample again", owners(), first)
		taken[first]++
	}
	t.Check(len(taken) >= 4 && taken["[a]"] <= 8 && taken["[cpu]"] <= 8, "16 models run on %v", taken)
}
