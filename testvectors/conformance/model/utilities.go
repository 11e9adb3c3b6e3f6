package model

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/nntrace"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/hal/vlog"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/graphdump"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// UtilityChecks returns the checks of the HAL's utilities.
func UtilityChecks() []check.Check {
	return []check.Check{
		{Name: "drivers log under tags", Rows: []string{"D1-3"}, Run: logs, EachDevice: true, InProcess: true},
		{Name: "names of trace marks", Rows: []string{"D1-4", "D1-5", "D1-6"}, Run: marks},
		{Name: "time per layer and phase of a trace", Rows: []string{"D1-7"}, Run: traceSummary},
		{Name: "operands, quantization and lists of a model", Rows: []string{"D2-1", "D2-2", "D2-3", "D2-5", "D2-14"}, Run: modelRules},
		{Name: "branches and loops fit what they are given", Rows: []string{"D2-7", "D2-8"}, Run: controlRules},
		{Name: "sizes and kinds of types", Rows: []string{"D3-6", "D3-7", "D3-8", "D3-9"}, Run: sizes},
		{Name: "names of operations", Rows: []string{"D3-11"}, Run: operationNames},
		{Name: "cache tokens are digests", Rows: []string{"D3-14"}, Run: tokenHashes},
		{Name: "pools are mapped whatever they are", Rows: []string{"D3-15", "A2-12"}, Run: pools, EachDevice: true},
		{Name: "float16 rounds to nearest even", Rows: []string{"D3-16"}, Run: halves},
		{Name: "drawings of models", Rows: []string{"D4-1", "D4-2", "D4-3", "D4-4", "D4-5", "D4-6"}, Run: drawings},
	}
}

// memoryLog keeps events. It implements base.Logger.
type memoryLog struct {
	tag  string
	list []string
}

func (l *memoryLog) Enabled(tag string) bool { return tag == l.tag }
func (l *memoryLog) Log(tag, device, message string) {
	l.list = append(l.list, tag+" "+device+" "+message)
}

func logs(t *check.T) {
	d, ok := t.Device.(interface{ SetLogger(base.Logger) })
	if !ok {
		t.Skipf("%s has no logger", t.Device.Name())
	}
	defer d.SetLogger(nil)
	for _, tag := range []string{vlog.Driver, vlog.Memory, "none"} {
		l := &memoryLog{tag: tag}
		d.SetLogger(l)
		p, m := t.Adder()
		t.Compute("logged", p, m)
		t.Allocate(p, 1, 0).Release()
		text := strings.Join(l.list, "\n")
		for want, where := range map[string]string{"prepareModel": vlog.Driver, "execute": vlog.Driver, "allocate": vlog.Memory, "release": vlog.Memory} {
			t.Check(strings.Contains(text, want) == (where == tag), "tag %s: %q, looking for %s", tag, text, want)
		}
	}
}

func marks(t *check.T) {
	for _, m := range []nntrace.Mark{
		{Layer: nntrace.Runtime, Phase: nntrace.Execution, Detail: "compute"},
		{Layer: nntrace.CPU, Phase: nntrace.Computation, Detail: "CONV_2D", Switch: true},
		{Layer: nntrace.Utility, Phase: nntrace.Unspecified, Subtract: true},
	} {
		back, ok, err := nntrace.ParseMark(m.String())
		t.Check(err == nil && ok && back == m, "%s becomes %+v: %v", m, back, err)
	}
	check.Equal(t, "mark", nntrace.Mark{Layer: "LI", Phase: "PC", Detail: "x", Switch: true}.String(), "[SW][NN_LI_PC]x")
	check.Equal(t, "layers", fmt.Sprint(nntrace.Layers()), "[LA LR LU LI LD LC LO]")
	check.Equal(t, "phases", fmt.Sprint(nntrace.Phases()), "[PO PWU PBM PI PP PC PE PIO PTR PCO PR PT PU]")
	if _, ok, err := nntrace.ParseMark("draw"); ok || err != nil {
		t.Errorf("any slice is a mark: %v", err)
	}
	for _, bad := range []string{"[NN_LX_PE]", "[NN_LR_PX]", "[NN_LR]x", "[NN_LR_PE"} {
		if _, ok, err := nntrace.ParseMark(bad); ok || err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}

func traceSummary(t *check.T) {
	const text = `# tracer: nop
 app-10 (10) [000] .... 1.000000: tracing_mark_write: B|10|[NN_LA_PO]run
 app-10 (10) [000] .... 1.000010: tracing_mark_write: B|10|[NN_LR_PE]compute
 app-10 (10) [000] .... 1.000020: tracing_mark_write: B|10|[NN_LI_PE]executeSynchronously
 drv-20 (20) [001] .... 1.000030: tracing_mark_write: B|20|[NN_LD_PE]execute
 drv-20 (20) [001] .... 1.000090: tracing_mark_write: E|20
 app-10 (10) [000] .... 1.000100: tracing_mark_write: E|10
 app-10 (10) [000] .... 1.000110: tracing_mark_write: B|10|[SW][NN_LR_PIO]copy
 app-10 (10) [000] .... 1.000130: tracing_mark_write: B|10|[SW][NN_LR_PR]results
 app-10 (10) [000] .... 1.000140: tracing_mark_write: E|10
 app-10 (10) [000] .... 1.000141: tracing_mark_write: E|10
 app-10 (10) [000] .... 1.000150: tracing_mark_write: E|10
 app-10 (10) [000] .... 1.000160: tracing_mark_write: E|10
`
	events := check.V(nntrace.Read(strings.NewReader(text)))(t, "read")
	s := nntrace.Summarize(events)
	want := map[string]float64{"LA PO": 20, "LR PE": 30, "LI PE": 20, "LD PE": 60, "LR PIO": 20, "LR PR": 10}
	for _, c := range s.Cells {
		k := string(c.Layer) + " " + string(c.Phase)
		t.Check(math.Abs(c.Us-want[k]) <= 0.01, "%s: %.3f us, want %.3f", k, c.Us, want[k])
		delete(want, k)
	}
	t.Check(len(want) == 0, "missing: %v", want)
	t.Check(len(s.Warnings) == 0, "warnings of a good trace: %q", s.Warnings)
	bad := nntrace.Summarize([]nntrace.Event{
		{Thread: "1", Us: 1},
		{Thread: "1", Name: "[NN_LR_PIO]x", Begin: true, Us: 2},
		{Thread: "1", Name: "[NN_LR_PIO]y", Begin: true, Us: 3},
		{Thread: "1", Us: 4}, {Thread: "1", Us: 5},
		{Thread: "2", Name: "[NN_LR_XX]z", Begin: true, Us: 3},
	})
	check.Equal(t, "overlaps", bad.Overlaps, 1)
	for _, want := range []string{"did not begin", "PIO is part of PE", "do not end", "no phase"} {
		t.Check(strings.Contains(strings.Join(bad.Warnings, "\n"), want), "no warning %q in %q", want, bad.Warnings)
	}
	for _, broken := range []string{"", "nothing", "{", `{"traceEvents":[{"ph":"X"`} {
		t.Check(check.Err(nntrace.Read(strings.NewReader(broken))) != nil, "%q is a trace", broken)
	}
	const chrome = `{"traceEvents":[{"ph":"X","pid":1,"tid":1,"ts":0,"dur":10,"name":"[NN_LR_PE]a"},{"ph":"X","pid":1,"tid":1,"ts":2,"dur":3,"name":"[NN_LC_PCO]b"}]}`
	events = check.V(nntrace.Read(strings.NewReader(chrome)))(t, "Chrome trace")
	c := nntrace.Summarize(events)
	t.Check(len(c.Cells) == 2 && c.Cells[0].Us == 7 && c.Cells[1].Us == 3, "Chrome trace: %+v", c.Cells)
}

func modelRules(t *check.T) {
	for _, m := range check.Seeds() {
		t.OK(m.Name, validate.Model(m))
	}
	m := check.Seeds()[2]
	for name, damage := range map[string]func(g *nn.Subgraph){
		"a type that is none":           func(g *nn.Subgraph) { g.Operands[0].Type = 16 },
		"a scalar with dimensions":      func(g *nn.Subgraph) { g.Operands[3].Dimensions = []uint32{1} },
		"a constant of unknown shape":   func(g *nn.Subgraph) { g.Operands[1].Dimensions = []uint32{0, 1, 1, 4} },
		"a constant of another length":  func(g *nn.Subgraph) { g.Operands[1].Data = make([]byte, 9) },
		"an input with a value":         func(g *nn.Subgraph) { g.Operands[0].Data = make([]byte, 36) },
		"type SUBGRAPH":                 func(g *nn.Subgraph) { g.Operands[6].Type = nn.SubgraphRef },
		"lifetime SUBGRAPH":             func(g *nn.Subgraph) { g.Operands[3].Lifetime = nn.LifetimeSubgraph },
		"scale 0 of a quantized tensor": func(g *nn.Subgraph) { g.Operands[0].Scale = 0 },
		"a scale that is no number":     func(g *nn.Subgraph) { g.Operands[0].Scale = float32(math.NaN()) },
		"zero point 256":                func(g *nn.Subgraph) { g.Operands[0].ZeroPoint = 256 },
		"a zero point of TENSOR_INT32":  func(g *nn.Subgraph) { g.Operands[2].ZeroPoint = 1 },
		"a negative scale of a bias":    func(g *nn.Subgraph) { g.Operands[2].Scale = -1 },
		"a scale of a scalar":           func(g *nn.Subgraph) { g.Operands[3].Scale = 1 },
		"a constant that is short":      func(g *nn.Subgraph) { g.Operands[1].Data = make([]byte, 7) },
		"an input that is not listed": func(g *nn.Subgraph) {
			g.Operands = append(g.Operands, check.Tensor(nn.TensorFloat32, nn.SubgraphInput, 2))
		},
		"an unused tensor of scale 0": func(g *nn.Subgraph) {
			g.Operands = append(g.Operands, nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{2}, Lifetime: nn.TemporaryVariable})
		},
		"an unused output": func(g *nn.Subgraph) {
			g.Operands = append(g.Operands, check.Tensor(nn.TensorFloat32, nn.SubgraphOutput, 2))
		},
		"an input twice":                  func(g *nn.Subgraph) { g.Inputs = []uint32{0, 0} },
		"an output that is not listed":    func(g *nn.Subgraph) { g.Operands[6].Lifetime = nn.SubgraphOutput },
		"two writers":                     func(g *nn.Subgraph) { g.Operations[1].Outputs[0] = 6 },
		"a write to an input":             func(g *nn.Subgraph) { g.Operations[1].Outputs[0] = 0 },
		"a write to a constant":           func(g *nn.Subgraph) { g.Operations[1].Outputs[0] = 1 },
		"a read before the write":         func(g *nn.Subgraph) { g.Operations[0], g.Operations[1] = g.Operations[1], g.Operations[0] },
		"no operations":                   func(g *nn.Subgraph) { g.Operations = nil },
		"a wrong number of consumers":     func(g *nn.Subgraph) { g.Consumers = make([]uint32, len(g.Operands)) },
		"a type that the operation lacks": func(g *nn.Subgraph) { g.Operands[2].Type, g.Operands[2].Scale = nn.TensorFloat32, 0 },
		"an input too many":               func(g *nn.Subgraph) { g.Operations[1].Inputs = []uint32{6, 6} },
	} {
		t.Status(name, validate.Model(check.Damaged(m, damage)), hal.InvalidArgument)
	}
	for typ, zero := range map[nn.OperandType][2]int32{nn.TensorQuant8AsymmSigned: {-128, 127}, nn.TensorQuant16Asymm: {0, 65535}, nn.TensorQuant8Symm: {0, 0}, nn.TensorQuant16Symm: {0, 0}} {
		for _, z := range []int32{zero[0] - 1, zero[0], zero[1], zero[1] + 1} {
			x := check.Damaged(m, func(g *nn.Subgraph) {
				g.Operands = append(g.Operands, nn.Operand{Type: typ, Dimensions: []uint32{2}, Scale: 1, ZeroPoint: z, Lifetime: nn.SubgraphInput})
				g.Inputs = append(g.Inputs, uint32(len(g.Operands)-1))
			})
			check.Equal(t, fmt.Sprint(typ, " with zero point ", z), validate.Model(x) == nil, z >= zero[0] && z <= zero[1])
		}
	}
}

func controlRules(t *check.T) {
	for name, damage := range map[string]func(m *nn.Model){
		"a condition of two elements": func(m *nn.Model) { m.Referenced[0].Operands[2].Dimensions = []uint32{2} },
		"a condition of floats":       func(m *nn.Model) { m.Referenced[0].Operands[2].Type = nn.TensorFloat32 },
		"a body of another type":      func(m *nn.Model) { m.Referenced[1].Operands[0].Type = nn.TensorFloat32 },
		"a body of another shape":     func(m *nn.Model) { m.Referenced[1].Operands[0].Dimensions = []uint32{3} },
		"a body with an input more": func(m *nn.Model) {
			g := &m.Referenced[1]
			g.Operands = append(g.Operands, nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{1}, Lifetime: nn.SubgraphInput})
			g.Inputs = append(g.Inputs, uint32(len(g.Operands)-1))
		},
		"a condition of two outputs": func(m *nn.Model) {
			g := &m.Referenced[0]
			g.Operands = append(g.Operands, g.Operands[2])
			g.Operations = append(g.Operations, nn.Operation{Type: nn.OpLess, Inputs: []uint32{0, 1}, Outputs: []uint32{3}})
			g.Outputs = append(g.Outputs, 3)
		},
		"no subgraph": func(m *nn.Model) { m.Main.Operands[2] = check.Int32Scalar(0) },
	} {
		m := check.LoopModel(false)
		damage(m)
		t.Status("WHILE with "+name, validate.Model(m), hal.InvalidArgument)
	}
	branch := func() nn.Subgraph { return check.ReluModel(nn.TensorFloat32, 2, 3).Main }
	choice := func() *nn.Model {
		ref := nn.SubgraphOperand
		return &nn.Model{Main: nn.Subgraph{
			Operands: []nn.Operand{{Type: nn.TensorBool8, Dimensions: []uint32{1}, Lifetime: nn.SubgraphInput}, ref(0), ref(1),
				check.Tensor(nn.TensorFloat32, nn.SubgraphInput, 2, 3), check.Tensor(nn.TensorFloat32, nn.SubgraphOutput, 2, 3)},
			Operations: []nn.Operation{{Type: nn.OpIf, Inputs: []uint32{0, 1, 2, 3}, Outputs: []uint32{4}}},
			Inputs:     []uint32{0, 3}, Outputs: []uint32{4},
		}, Referenced: []nn.Subgraph{branch(), branch()}}
	}
	t.OK("IF", validate.Model(choice()))
	for name, damage := range map[string]func(m *nn.Model){
		"a condition of two elements": func(m *nn.Model) { m.Main.Operands[0].Dimensions = []uint32{2} },
		"a condition of integers":     func(m *nn.Model) { m.Main.Operands[0].Type = nn.TensorInt32 },
		"a branch of another shape":   func(m *nn.Model) { m.Referenced[1].Operands[0].Dimensions = []uint32{3, 2} },
		"an output of another type":   func(m *nn.Model) { m.Main.Operands[4].Type = nn.TensorFloat16 },
		"an input too few":            func(m *nn.Model) { m.Main.Operations[0].Inputs = []uint32{0, 1, 2} },
		"no output":                   func(m *nn.Model) { m.Main.Operations[0].Outputs = nil },
	} {
		m := choice()
		damage(m)
		t.Status("IF with "+name, validate.Model(m), hal.InvalidArgument)
	}
}

func sizes(t *check.T) {
	for typ, want := range map[nn.OperandType]int{nn.Float32: 4, nn.Int32: 4, nn.Uint32: 4, nn.TensorFloat32: 4, nn.TensorInt32: 4, nn.Float16: 2,
		nn.TensorFloat16: 2, nn.TensorQuant16Symm: 2, nn.TensorQuant16Asymm: 2, nn.TensorQuant8Asymm: 1, nn.TensorQuant8AsymmSigned: 1,
		nn.TensorQuant8Symm: 1, nn.TensorQuant8SymmPerChannel: 1, nn.TensorBool8: 1, nn.Bool: 1, nn.SubgraphRef: 0} {
		check.Equal(t, typ.String(), typ.ElementBytes(), want)
	}
	for _, c := range []struct {
		typ   nn.OperandType
		dims  []uint32
		bytes uint32
		ok    bool
	}{{nn.TensorFloat32, []uint32{2, 3}, 24, true}, {nn.Float32, nil, 4, true}, {nn.TensorFloat32, nil, 0, true}, {nn.TensorFloat32, []uint32{2, 0}, 0, true},
		{nn.TensorFloat32, []uint32{1 << 30}, 0, false}, {nn.TensorQuant8Asymm, []uint32{1 << 20, 1 << 20}, 0, false}} {
		n, ok := nn.SizeOfData(c.typ, c.dims)
		t.Check(n == c.bytes && ok == c.ok, "%s %v: %d bytes, fits %v", c.typ, c.dims, n, ok)
	}
	for typ := nn.OperandType(0); typ.Valid(); typ++ {
		check.Equal(t, typ.String()+" is a scalar", typ.IsScalar(), !strings.HasPrefix(typ.String(), "TENSOR"))
	}
	if !nn.HasUnspecifiedDimensions(nn.TensorInt32, nil) || !nn.HasUnspecifiedDimensions(nn.TensorInt32, []uint32{1, 0}) ||
		nn.HasUnspecifiedDimensions(nn.Int32, nil) || nn.HasUnspecifiedDimensions(nn.TensorInt32, []uint32{1}) {
		t.Errorf("unspecified dimensions are not reported")
	}
	for _, c := range [][3]uint32{{5, 1, 0}, {5, 2, 1}, {4, 2, 0}, {5, 3, 1}, {5, 4, 3}, {6, 100, 2}, {8, 8, 0}} {
		check.Equal(t, fmt.Sprint("padding at ", c[0], " for ", c[1]), nn.AlignBytesNeeded(c[0], c[1]), c[2])
	}
}

func operationNames(t *check.T) {
	seen := map[string]bool{}
	for _, op := range nn.Operations() {
		name := op.String()
		back, ok := nn.ParseOperationType(name)
		if seen[name] || !ok || back != op {
			t.Errorf("operation %d is called %q", int32(op), name)
		}
		seen[name] = true
	}
	for typ := nn.OperandType(0); typ.Valid(); typ++ {
		if back, ok := nn.ParseOperandType(typ.String()); !ok || back != typ {
			t.Errorf("operand type %d is called %q", typ, typ)
		}
	}
	check.Equal(t, "an unknown operation", nn.OperationType(9999).String(), "OperationType(9999)")
}

func tokenHashes(t *check.T) {
	h := cache.NewTokenHasher([]byte("token"))
	h.Update([]byte("device"))
	check.Equal(t, "digest", h.Token(), hal.CacheToken(sha256.Sum256([]byte("tokendevice"))))
	h.Update([]byte{1})
	t.Check(h.Token() != hal.CacheToken(sha256.Sum256([]byte("tokendevice"))), "more bytes give the same token")
}

func pools(t *check.T) {
	p, m := t.Adder()
	for _, name := range []hal.MemoryName{hal.Ashmem, hal.MmapFd, hal.HardwareBufferBlob} {
		r, memory, want := check.Shared(m)
		memory.Name = name
		_, err := p.Execute(r, hal.ExecuteOptions{})
		t.OK(string(name), err)
		t.Same(string(name), memory.Data[r.Outputs[0].Location.Offset:][:len(want)], want)
	}
}

// halves casts to 16 bits and back on the CPU.
func halves(t *check.T) {
	cast := func(from, to nn.OperandType, b []byte) []byte {
		n := []uint32{uint32(len(b) / from.ElementBytes())}
		out, err := cpudriver.Reference(&nn.Model{Main: nn.Subgraph{Operands: []nn.Operand{{Type: from, Dimensions: n, Lifetime: nn.SubgraphInput}, {Type: to, Dimensions: n, Lifetime: nn.SubgraphOutput}},
			Operations: []nn.Operation{{Type: nn.OpCast, Inputs: []uint32{0}, Outputs: []uint32{1}}}, Inputs: []uint32{0}, Outputs: []uint32{1}}}, [][]byte{b})
		t.OK("CAST", err)
		return out[0]
	}
	for f, want := range map[float32]uint16{0: 0, 1: 0x3c00, -2: 0xc000, 65504: 0x7bff, 65520: 0x7c00, 1 + 1.0/2048: 0x3c00, 1 + 3.0/2048: 0x3c02, 5.9604645e-08: 1} {
		half := cast(nn.TensorFloat32, nn.TensorFloat16, binary.LittleEndian.AppendUint32(nil, math.Float32bits(f)))
		check.Equal(t, fmt.Sprint(f), binary.LittleEndian.Uint16(half), want)
	}
	one := cast(nn.TensorFloat16, nn.TensorFloat32, []byte{0, 0x3c})
	check.Equal(t, "one", math.Float32frombits(binary.LittleEndian.Uint32(one)), 1)
}

func drawings(t *check.T) {
	var b strings.Builder
	t.OK("drawing", graphdump.Write(&b, "", check.AddModel(nn.TensorFloat32)))
	const want = `// unnamed
digraph {
    d0 [label="0 = input[0]\nTF32(2x3)" style=filled fillcolor=black fontcolor=white]
    d1 [label="1 = input[1]\nTF32(2x3)" style=filled fillcolor=black fontcolor=white]
    d2 [label="2 = output[0]\nTF32(2x3)" style=filled fillcolor=black fontcolor=white]
    n0 [shape=box ordering=in label="0: ADD\n[2] I32 = 0"]
    d0 -> n0 [label=0]
    d1 -> n0 [label=1]
    n0 -> d2
}
`
	check.Equal(t, "drawing", b.String(), want)
	b.Reset()
	t.OK("drawing", graphdump.Write(&b, "loop", check.LoopModel(false)))
	for _, part := range []string{"// loop\n", ": SUBGRAPH\\nSUBGRAPH", "// 2 referenced subgraphs are not drawn"} {
		t.Check(strings.Contains(b.String(), part), "no %q in %s", part, b.String())
	}
	b.Reset()
	t.OK("drawing", graphdump.Write(&b, "open", check.ReluModel(nn.TensorQuant8Asymm, 0, 3)))
	t.Check(strings.Contains(b.String(), "TQ8A(?x3)"), "no unknown dimension in %s", b.String())
}
