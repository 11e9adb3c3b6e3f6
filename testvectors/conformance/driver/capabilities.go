package driver

import (
	"maps"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/builder"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// CapabilityChecks returns the checks of capabilities and of plans based on them.
func CapabilityChecks() []check.Check {
	return []check.Check{
		{Name: "figures are positive, sorted and stay", Rows: []string{"A1-1", "B-1", "B-4", "E1-1", "I4-14"}, Run: figures, EachDevice: true},
		{Name: "conversions between versions", Rows: []string{"A4-3", "B-2", "B-3", "B-7", "B-8", "D3-2", "D3-3"}, Run: convertedFigures, EachDevice: true},
		{Name: "compliance with earlier versions", Rows: []string{"B-9", "D3-1", "E6-7"}, Run: compliance},
		{Name: "a type without figure is as slow as can be", Rows: []string{"B-5", "B-12", "B-18", "D3-4", "D3-5"}, Run: lookups},
		{Name: "what a device promises for an operation", Rows: []string{"B-6", "B-10", "B-11", "E6-4", "I4-15"}, Run: promises},
		{Name: "the best device of each operation", Rows: []string{"B-13", "E6-1", "I4-16"}, Run: bestDevice},
		{Name: "the CPU counts one", Rows: []string{"B-16"}, Run: cpuFigures, EachDevice: true},
		{Name: "a type of a supported network has figures", Rows: []string{"B-19"}, Run: measuredFigures, EachDevice: true},
		{Name: "support queries of an earlier version", Rows: []string{"B-17"}, Run: filters, EachDevice: true},
	}
}

func figures(t *check.T) {
	v := compat.ToV1_3(t.Device.Capabilities())
	positive := func(what string, p hal.PerformanceInfo) {
		t.Check(p.ExecTime > 0 && p.PowerUsage > 0, "%s: %+v", what, p)
	}
	positive("relaxed scalar", v.RelaxedFloat32toFloat16PerformanceScalar)
	positive("relaxed tensor", v.RelaxedFloat32toFloat16PerformanceTensor)
	positive("if", v.IfPerformance)
	positive("while", v.WhilePerformance)
	for i, p := range v.OperandPerformance {
		positive(p.Type.String(), p.Info)
		if p.Type == nn.SubgraphRef || !p.Type.Valid() || i > 0 && v.OperandPerformance[i-1].Type >= p.Type {
			t.Errorf("row %d of the table is of %v", i, p.Type)
		}
	}
	t.Check(slices.Equal(compat.ToV1_3(t.Device.Capabilities()).OperandPerformance, v.OperandPerformance), "the table changes")
}

func convertedFigures(t *check.T) {
	c := t.Device.Capabilities()
	v3 := compat.ToV1_3(c)
	back := compat.ToV1_3(compat.FromV1_3(v3))
	t.Check(slices.Equal(back.OperandPerformance, v3.OperandPerformance) && back.IfPerformance == v3.IfPerformance, "1.3 does not survive")
	v2, warnings := compat.ToV1_2(c)
	for _, p := range v2.OperandPerformance {
		t.Check(p.Type <= nn.TensorQuant8Symm, "%v in HAL 1.2", p.Type)
	}
	check.Equal(t, "rows left out with a warning", len(warnings), len(v3.OperandPerformance)-len(v2.OperandPerformance))
	check.Equal(t, "IF of HAL 1.2", compat.FromV1_2(v2).If, hal.Slowest)
	check.Equal(t, "WHILE of HAL 1.2", compat.FromV1_2(v2).While, hal.Slowest)
	v0 := compat.CapabilitiesV1_0{Float32Performance: hal.PerformanceInfo{ExecTime: 2, PowerUsage: 3}, Quantized8Performance: hal.PerformanceInfo{ExecTime: 4, PowerUsage: 5}}
	up := compat.FromV1_0(v0)
	for _, x := range []nn.OperandType{nn.Float32, nn.TensorFloat32} {
		check.Equal(t, x.String(), up.Lookup(x), v0.Float32Performance)
	}
	for _, x := range []nn.OperandType{nn.Int32, nn.Uint32, nn.TensorInt32, nn.TensorQuant8Asymm} {
		check.Equal(t, x.String(), up.Lookup(x), v0.Quantized8Performance)
	}
	check.Equal(t, "relaxed of HAL 1.0", up.RelaxedTensor, v0.Float32Performance)
	check.Equal(t, "IF of HAL 1.0", up.If, hal.Slowest)
	check.Equal(t, "1.0 again", compat.ToV1_0(up), v0)
	v1 := compat.ToV1_1(c)
	check.Equal(t, "float32 of HAL 1.1", v1.Float32Performance, c.Lookup(nn.TensorFloat32))
	check.Equal(t, "relaxed of HAL 1.1", v1.RelaxedFloat32toFloat16Performance, c.RelaxedTensor)
}

func compliance(t *check.T) {
	base := compat.FromV1_0(compat.CapabilitiesV1_0{Float32Performance: hal.PerformanceInfo{ExecTime: 1, PowerUsage: 1}, Quantized8Performance: hal.PerformanceInfo{ExecTime: 2, PowerUsage: 2}})
	change := func(f func(c *hal.Capabilities)) hal.Capabilities {
		c := base
		c.Operand = map[nn.OperandType]hal.PerformanceInfo{}
		maps.Copy(c.Operand, base.Operand)
		f(&c)
		return c
	}
	other := hal.PerformanceInfo{ExecTime: 9, PowerUsage: 9}
	for _, x := range []struct {
		what string
		c    hal.Capabilities
		want [3]bool
	}{
		{"of 1.0", base, [3]bool{true, true, true}},
		{"relaxed differs", change(func(c *hal.Capabilities) { c.RelaxedScalar, c.RelaxedTensor = other, other }), [3]bool{false, true, true}},
		{"relaxed scalar differs", change(func(c *hal.Capabilities) { c.RelaxedScalar = other }), [3]bool{false, false, true}},
		{"a float differs", change(func(c *hal.Capabilities) { c.Update(nn.Float32, other) }), [3]bool{false, false, true}},
		{"a quantized type differs", change(func(c *hal.Capabilities) { c.Update(nn.TensorInt32, other) }), [3]bool{false, false, true}},
		{"an OEM scalar differs", change(func(c *hal.Capabilities) { c.Update(nn.OEM, other) }), [3]bool{false, false, true}},
		{"OEM bytes without a figure", change(func(c *hal.Capabilities) { delete(c.Operand, nn.TensorOEMByte) }), [3]bool{false, false, true}},
		{"a type of 1.3", change(func(c *hal.Capabilities) { c.Update(nn.TensorQuant8AsymmSigned, other) }), [3]bool{true, true, false}},
		{"IF", change(func(c *hal.Capabilities) { c.If = other }), [3]bool{true, true, false}},
	} {
		for v, want := range x.want {
			check.Equal(t, x.what+" in HAL 1."+string(rune('0'+v)), compat.CapabilitiesCompliantWith(compat.Version(v), x.c), want)
		}
	}
	for _, x := range []struct {
		m    *nn.Model
		want compat.Version
	}{
		{check.AddModel(nn.TensorFloat32), compat.V1_0}, {check.AddModel(nn.TensorFloat16), compat.V1_2},
		{check.AddModel(nn.TensorQuant8AsymmSigned), compat.V1_3}, {check.LoopModel(false), compat.V1_3}, {check.ReluModel(nn.TensorFloat32), compat.V1_2},
	} {
		check.Equal(t, "version of "+x.m.Name, compat.ModelVersion(x.m), x.want)
		for v := compat.V1_0; v <= compat.V1_3; v++ {
			ok, list := compat.CompliantWith(v, x.m)
			check.Equal(t, "compliance", ok, v >= x.want)
			t.Check(!ok || len(list) == 0, "%s in HAL %v: operations %v are not compliant", x.m.Name, v, list)
			_, _, err := compat.Convert(v, x.m)
			check.Equal(t, "conversion", err == nil, ok)
		}
	}
	mixed := check.Chain(nn.TensorFloat32)
	mixed.Main.Operations[1].Type = nn.OpAbs
	_, list := compat.CompliantWith(compat.V1_1, mixed)
	t.Check(slices.Equal(list, []int{1}), "not compliant: %v", list)
	relaxed := *check.AddModel(nn.TensorFloat32)
	relaxed.Relaxed = true
	strict, warnings := check.V2(compat.Convert(compat.V1_0, &relaxed))(t, "relaxed to 1.0")
	t.Check(!strict.Relaxed && len(warnings) == 1 && relaxed.Relaxed, "relaxed to 1.0: %v, warnings %q", strict.Relaxed, warnings)
}

func lookups(t *check.T) {
	var c hal.Capabilities
	check.Equal(t, "nothing", c.Lookup(nn.TensorFloat32), hal.Slowest)
	check.Equal(t, "as slow as can be", hal.Slowest.ExecTime, float32(math.MaxFloat32))
	one := hal.PerformanceInfo{ExecTime: 1, PowerUsage: 2}
	c.Update(nn.TensorInt32, one)
	c.Update(nn.TensorInt32, one)
	check.Equal(t, "a type there", c.Lookup(nn.TensorInt32), one)
	for _, x := range []nn.OperandType{nn.TensorFloat32, nn.TensorQuant8Asymm, nn.SubgraphRef, nn.OperandType(nn.ExtensionCode(1, 0))} {
		check.Equal(t, "the neighbour "+x.String(), c.Lookup(x), hal.Slowest)
	}
	for v, n := range map[compat.Version]int{compat.V1_0: 8, compat.V1_2: 16, compat.V1_3: 17} {
		list := compat.NonExtensionOperandPerformance(v, one)
		check.Equal(t, "types of HAL "+v.String(), len(list), n)
		t.Check(slices.IsSortedFunc(list, func(a, b hal.OperandPerformance) int { return int(a.Type - b.Type) }), "not sorted")
	}
}

func promises(t *check.T) {
	c := hal.Capabilities{RelaxedScalar: check.Figure(0.5), RelaxedTensor: check.Figure(0.25), If: check.Figure(3), While: check.Figure(4),
		Operand: map[nn.OperandType]hal.PerformanceInfo{nn.TensorFloat32: {ExecTime: 2, PowerUsage: 10}, nn.TensorInt32: check.Figure(2)}}
	m := *check.AddModel(nn.TensorFloat32)
	for pref, want := range map[hal.Preference]float32{hal.LowPower: 10, hal.FastSingleAnswer: 2, hal.SustainedSpeed: 2} {
		check.Equal(t, "ADD", partition.Performance(&c, &m, &m.Main, 0, pref), want)
	}
	m.Relaxed = true
	check.Equal(t, "relaxed", partition.Performance(&c, &m, &m.Main, 0, hal.FastSingleAnswer), 0.25)
	q := check.AddModel(nn.TensorQuant8Asymm)
	check.Equal(t, "no figure", partition.Performance(&c, q, &q.Main, 0, hal.FastSingleAnswer), float32(math.MaxFloat32))
	loop := check.LoopModel(false) // WHILE 4 + LESS 2 + ADD 2, of TENSOR_INT32
	check.Equal(t, "WHILE", partition.Performance(&c, loop, &loop.Main, 0, hal.FastSingleAnswer), 8)
}

func bestDevice(t *check.T) {
	m := check.Chain(nn.TensorFloat32)
	all, none := make([]hal.Support, 3), make([]hal.Support, 3)
	for i := range all {
		all[i].OK = true
		none[i].Reason = "no"
	}
	device := func(name string, v float32, s []hal.Support) partition.Device {
		return partition.Device{Name: name, Support: s, Capabilities: hal.Capabilities{Operand: map[nn.OperandType]hal.PerformanceInfo{nn.TensorFloat32: check.Figure(v)}}}
	}
	for _, c := range []struct {
		what    string
		devices []partition.Device
		want    int
	}{
		{"the fastest", []partition.Device{device("a", 0.5, all), device("b", 0.25, all)}, 2},
		{"only of those that can", []partition.Device{device("a", 0.5, all), device("b", 0.25, none)}, 1},
		{"the first of equals", []partition.Device{device("a", 0.5, all), device("b", 0.5, all)}, 1},
		{"the CPU of equals", []partition.Device{device("a", 1, all)}, 0},
		{"no promise", []partition.Device{device("a", math.MaxFloat32, all)}, 0},
	} {
		p := &partition.Problem{Model: m, Graph: partition.NewGraph(&m.Main), Preference: hal.FastSingleAnswer,
			Devices: append([]partition.Device{device("cpu", 1, all)}, c.devices...)}
		plan := check.V(partition.AOSP{}.Plan(p))(t, c.what)
		for i, d := range plan.Device {
			t.Check(d == c.want, "%s: operation %d goes to device %d, want %d", c.what, i, d, c.want)
		}
	}
}

func cpuFigures(t *check.T) {
	if t.Device.Type() != hal.DeviceCPU {
		t.Skipf("not a CPU")
	}
	c := t.Device.Capabilities()
	one := hal.PerformanceInfo{ExecTime: 1, PowerUsage: 1}
	for _, p := range c.OperandPerformance() {
		check.Equal(t, p.Type.String(), p.Info, one)
	}
	check.Equal(t, "IF", c.If, one)
	m, d := t.Device.NumberOfCacheFilesNeeded()
	check.Equal(t, "cache files", m+d, 0)
	t.Check(len(t.Device.SupportedExtensions()) <= 0 || t.Device.Name() != "nnapi-reference", "the reference has extensions")
}

// measuredFigures requests figures of the types whose networks a driver's author measures: a device that supports such
// a network whole is not as slow as can be there.
func measuredFigures(t *check.T) {
	c := t.Device.Capabilities()
	taken := 0
	for format, operand := range map[builder.Format]nn.OperandType{
		builder.Float32: nn.TensorFloat32, builder.Quant8: nn.TensorQuant8Asymm, builder.Quant8Signed: nn.TensorQuant8AsymmSigned,
	} {
		b := builder.New(builder.Config{Format: format})
		x := b.Depthwise(b.Conv(b.Image(8), builder.Conv{Out: 8, Kernel: 3, Stride: 2, Act: builder.ReLU6}), builder.Conv{Kernel: 3, Act: builder.ReLU6})
		b.Output(b.Softmax(b.Dense(b.GlobalPool(x), 8, builder.Logits)), "classes")
		m := check.V(b.Model("classifier"))(t, "build")
		support := check.V(t.Device.SupportedOperations(m))(t, "support")
		if slices.ContainsFunc(support, func(s hal.Support) bool { return !s.OK }) {
			continue
		}
		taken++
		if p := c.Lookup(operand); !(p.ExecTime < math.MaxFloat32) || !(p.PowerUsage < math.MaxFloat32) {
			t.Errorf("%v: %+v, although the device supports a network of it", operand, p)
		}
	}
	if taken == 0 {
		t.Skipf("supports no whole classifier")
	}
}

func filters(t *check.T) {
	d := compat.NewDevice(t.Device)
	m := check.AddModel(nn.TensorQuant8AsymmSigned)
	for _, v := range []compat.Version{compat.V1_0, compat.V1_1, compat.V1_2} {
		status, list := d.GetSupportedOperations(v, m)
		check.Equal(t, "a model of HAL 1.3 in HAL "+v.String(), status, hal.InvalidArgument)
		check.Equal(t, "answers", len(list), 0)
	}
	status, list := d.GetSupportedOperations(compat.V1_3, m)
	check.Equal(t, "in HAL 1.3", status, hal.StatusNone)
	check.Equal(t, "answers", len(list), 1)
}
