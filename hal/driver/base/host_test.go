package base

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim"
)

// TestPlaceFrom: a run that begins later finds the points that hold then, those that come at their times from then on,
// and what is left of its time.
func TestPlaceFrom(t *testing.T) {
	point := func(at sim.Time, hz int64, cluster int) sim.Change {
		return sim.Change{At: at, OPP: sim.OPP{Hz: hz}, Cluster: cluster}
	}
	var began, looked sim.Time
	p := Place{Until: 100, Begin: func(at sim.Time) { began = at }, PointRead: func(at sim.Time) { looked = at },
		Points: []sim.Change{point(0, 1, 0), point(0, 2, 1), point(10, 3, 0), point(20, 4, 0), point(30, 5, 1)}}
	for _, c := range []struct {
		at, until sim.Time
		points    []sim.Change
	}{
		{0, 100, p.Points},
		{1, 99, []sim.Change{point(0, 1, 0), point(0, 2, 1), point(9, 3, 0), point(19, 4, 0), point(29, 5, 1)}},
		{5, 95, []sim.Change{point(0, 1, 0), point(0, 2, 1), point(5, 3, 0), point(15, 4, 0), point(25, 5, 1)}},
		{20, 80, []sim.Change{point(0, 4, 0), point(0, 2, 1), point(10, 5, 1)}},
		{100, 1, []sim.Change{point(0, 4, 0), point(0, 5, 1)}},
		{200, 1, []sim.Change{point(0, 4, 0), point(0, 5, 1)}},
	} {
		began = 0
		got := p.From(c.at)
		if got.Until != c.until || !slices.Equal(got.Points, c.points) || began != c.at {
			t.Errorf("from %d: until %d, points %v, begun at %d", c.at, got.Until, got.Points, began)
		}
		if got.PointRead(7); looked != 7+c.at {
			t.Errorf("from %d: looks at %d", c.at, looked)
		}
	}
	if got := (Place{}).From(5); got.Until != 0 || got.PointRead != nil || len(got.Points) != 0 {
		t.Errorf("a place without bounds from 5: %+v", got)
	}
}

// TestEngineOnly: the deadline of an execution is what is left of it, and points of the clock that cannot be are refused,
// those at the bounds are not.
func TestEngineOnly(t *testing.T) {
	deadline := func(ns hal.TimePoint) *hal.TimePoint { return &ns }
	for _, c := range []struct {
		deadline *hal.TimePoint
		start    int64
		until    sim.Time
	}{
		{nil, 5, 0}, {deadline(3), 1_000_000, 2_000_000}, {deadline(3), 3_000_000, 1}, {deadline(3), 9_000_000, 1},
		{deadline(math.MaxInt64), 7, math.MaxInt64/1_000_000*1_000_000 - 7},
	} {
		if at, err := engineOnly(&hal.Buffers{ExecuteOptions: hal.ExecuteOptions{Deadline: c.deadline}}, c.start); err != nil || at.Until != c.until {
			t.Errorf("from %d: until %d, %v, want %d", c.start, at.Until, err, c.until)
		}
	}
	good := hal.ClockPoint{AtFs: 0, Hz: 1, Volts: 0.5}
	with := func(change func(c *hal.ClockPoint)) []hal.ClockPoint {
		c := good
		change(&c)
		return []hal.ClockPoint{good, c}
	}
	for _, c := range []struct {
		name  string
		clock []hal.ClockPoint
		ok    bool
	}{
		{"none", nil, true},
		{"one later", with(func(c *hal.ClockPoint) { c.AtFs = 9 }), true},
		{"at once", with(func(c *hal.ClockPoint) { c.Cluster = maxClusters - 1 }), true},
		{"the greatest", with(func(c *hal.ClockPoint) { c.Hz, c.Volts = maxClockHz, maxVolts }), true},
		{"no voltage", with(func(c *hal.ClockPoint) { c.Volts = 0 }), true},
		{"first later", with(func(c *hal.ClockPoint) { c.AtFs = 1 })[1:], false},
		{"first before", with(func(c *hal.ClockPoint) { c.AtFs = -1 })[1:], false},
		{"back", append(with(func(c *hal.ClockPoint) { c.AtFs = 9 }), good), false},
		{"no clock", with(func(c *hal.ClockPoint) { c.Hz = 0 }), false},
		{"too fast", with(func(c *hal.ClockPoint) { c.Hz = maxClockHz + 1 }), false},
		{"below no voltage", with(func(c *hal.ClockPoint) { c.Volts = -0.1 }), false},
		{"too much", with(func(c *hal.ClockPoint) { c.Volts = maxVolts + 0.1 }), false},
		{"no number", with(func(c *hal.ClockPoint) { c.Volts = math.NaN() }), false},
		{"cluster -1", with(func(c *hal.ClockPoint) { c.Cluster = -1 }), false},
		{"cluster 16", with(func(c *hal.ClockPoint) { c.Cluster = maxClusters }), false},
		{"as many as may be", slices.Repeat([]hal.ClockPoint{good}, maxClockPoints), true},
		{"too many", slices.Repeat([]hal.ClockPoint{good}, maxClockPoints+1), false},
	} {
		at, err := engineOnly(&hal.Buffers{ExecuteOptions: hal.ExecuteOptions{Clock: c.clock}}, 0)
		if c.ok != (err == nil) || err != nil && hal.StatusOf(err) != hal.InvalidArgument {
			t.Errorf("%s: %v", c.name, err)
		}
		for i, p := range at.Points {
			if x := c.clock[i]; p != (sim.Change{At: sim.Time(x.AtFs), OPP: sim.OPP{Hz: x.Hz, Volts: x.Volts}, Cluster: x.Cluster}) {
				t.Errorf("%s: point %d is %+v", c.name, i, p)
			}
		}
		if c.ok && len(at.Points) != len(c.clock) {
			t.Errorf("%s: %d points", c.name, len(at.Points))
		}
	}
}

// TestCores: an engine has a core for each point that it is found at, made once, and no more than are kept.
func TestCores(t *testing.T) {
	own := int64(-1)
	made, looked := 0, 0
	k := Cores[int64, int64]{Own: &own, SpecAt: func(o sim.OPP) (int64, error) { return o.Hz, nil }, New: func(hz int64) (*int64, error) { made++; return &hz, nil }}
	look := func(at sim.Time) { looked++; require.Same(t, 0, at, "looks at") }
	at := func(hz int64) *Place { return &Place{Points: []sim.Change{{OPP: sim.OPP{Hz: hz}}}, PointRead: look} }
	require.Same(t, &own, require.V(k.At(&Place{}))(t), "without a point")
	for hz := range int64(maxCores) {
		first, err := k.At(at(hz))
		if err != nil || *first != hz {
			t.Fatalf("at %d: %v", hz, err)
		}
		if again, err := k.At(at(hz)); err != nil || again != first {
			t.Errorf("at %d another core, %v", hz, err)
		}
	}
	if _, err := k.At(at(0)); err != nil || made != maxCores {
		t.Errorf("%d cores for %d points", made, maxCores)
	}
	if c, err := k.At(at(maxCores)); err != nil || *c != maxCores || len(k.made) != 1 {
		t.Errorf("%d cores are kept, %v", len(k.made), err)
	}
	k.SpecAt = nil
	require.Fails(t, require.Err(k.At(at(5))), "a machine of one point has another")
	require.Same(t, 2*maxCores+3, looked, "looked")
}

// TestAlike: models are alike that differ in values which are computed with, and in nothing else.
func TestAlike(t *testing.T) {
	model := func() *nn.Model {
		x := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{2}, Lifetime: nn.SubgraphInput}
		c := func(typ nn.OperandType, data ...byte) nn.Operand {
			return nn.Operand{Type: typ, Dimensions: []uint32{1}, Lifetime: nn.ConstantCopy, Data: data}
		}
		bias := c(nn.TensorInt32, 1, 0, 0, 0)
		bias.Scale = 0.5
		channel := c(nn.TensorQuant8SymmPerChannel, 1)
		channel.Channel = &nn.ChannelQuant{Scales: []float32{2}}
		return &nn.Model{Main: nn.Subgraph{Operands: []nn.Operand{x, c(nn.TensorFloat32, 1, 2, 3, 4), c(nn.TensorInt32, 1, 0, 0, 0), bias, channel, c(nn.TensorBool8, 1)},
			Operations: []nn.Operation{{Type: nn.OpAdd, Inputs: []uint32{0, 1}, Outputs: []uint32{0}}}, Inputs: []uint32{0}, Outputs: []uint32{0}}}
	}
	hash := func(change func(p *prepared, m *nn.Model)) string {
		m := model()
		p := &prepared{device: &Device{cfg: Config{Name: "toy"}}, original: m}
		change(p, m)
		return p.hashCostKey()
	}
	same := hash(func(*prepared, *nn.Model) {})
	for _, c := range []struct {
		name  string
		alike bool
		f     func(p *prepared, m *nn.Model)
	}{
		{"a float", true, func(_ *prepared, m *nn.Model) { m.Main.Operands[1].Data[0]++ }},
		{"a bias", true, func(_ *prepared, m *nn.Model) { m.Main.Operands[3].Data[0]++ }},
		{"a weight", true, func(_ *prepared, m *nn.Model) { m.Main.Operands[4].Data[0]++ }},
		{"an axis", false, func(_ *prepared, m *nn.Model) { m.Main.Operands[2].Data[0]++ }},
		{"a boolean", false, func(_ *prepared, m *nn.Model) { m.Main.Operands[5].Data[0]++ }},
		{"data of an extension", false, func(_ *prepared, m *nn.Model) { m.Main.Operands[5].Extension = []byte{1} }},
		{"a scale", false, func(_ *prepared, m *nn.Model) { m.Main.Operands[3].Scale = 1 }},
		{"a zero point", false, func(_ *prepared, m *nn.Model) { m.Main.Operands[3].ZeroPoint = 1 }},
		{"a scale of a channel", false, func(_ *prepared, m *nn.Model) { m.Main.Operands[4].Channel.Scales[0] = 1 }},
		{"a shape", false, func(_ *prepared, m *nn.Model) { m.Main.Operands[0].Dimensions[0] = 3 }},
		{"a lifetime", false, func(_ *prepared, m *nn.Model) { m.Main.Operands[1].Lifetime = nn.SubgraphInput }},
		{"an operation", false, func(_ *prepared, m *nn.Model) { m.Main.Operations[0].Type = nn.OpSub }},
		{"an operand", false, func(_ *prepared, m *nn.Model) { m.Main.Operations[0].Inputs[1] = 0 }},
		{"an output", false, func(_ *prepared, m *nn.Model) { m.Main.Outputs[0] = 1 }},
		{"the preference", false, func(p *prepared, _ *nn.Model) { p.options.Preference++ }},
		{"the priority", false, func(p *prepared, _ *nn.Model) { p.options.Priority++ }},
		{"relaxed", false, func(_ *prepared, m *nn.Model) { m.Relaxed = true }},
		{"the device", false, func(p *prepared, _ *nn.Model) { p.device.cfg.Name = "other" }},
	} {
		if h := hash(c.f); (h == same) != c.alike || h == "" {
			t.Errorf("another value of %s: alike %v", c.name, h == same)
		}
	}
	if hash(func(p *prepared, _ *nn.Model) { p.device.cfg.CostDependsOnValues = true }) != "" || hash(func(_ *prepared, m *nn.Model) { m.Referenced = make([]nn.Subgraph, 1) }) != "" {
		t.Error("what depends on values is like another")
	}
}

// TestCompileFs: the time of compiling is a sum over the call, operations and bytes of constants, for each kind of device.
func TestCompileFs(t *testing.T) {
	m := &nn.Model{Main: nn.Subgraph{Operands: []nn.Operand{{Data: make([]byte, 600)}, {Data: make([]byte, 400)}}, Operations: make([]nn.Operation, 3)}}
	for _, c := range []struct {
		kind hal.DeviceType
		want time.Duration
	}{
		{hal.DeviceCPU, 200*time.Microsecond + 3*5*time.Microsecond + 500},
		{hal.DeviceGPU, 5*time.Millisecond + 3*2*time.Millisecond + 1000},
		{hal.DeviceAccelerator, 5*time.Millisecond + 3*500*time.Microsecond + 5000},
		{hal.DeviceOther, 5*time.Millisecond + 3*300*time.Microsecond + 2000},
	} {
		d := &Device{cfg: Config{Type: c.kind}}
		if fs := d.compileFs(&prepared{device: d, original: m, model: m}); fs != int64(c.want)*1_000_000 {
			t.Errorf("%v: %d fs, want %v", c.kind, fs, c.want)
		}
	}
}

// sized is a program that knows its size.
type sized struct {
	Program
	operations, program, own int
}

func (s sized) Size() (operations, program int) { return s.operations, s.program }
func (s sized) Bytes() int                      { return s.own }

// TestSizes: what preparing makes counts: operations of canonical graphs and bytes of programs, and the files of a cache.
func TestSizes(t *testing.T) {
	d := &Device{cfg: Config{Type: hal.DeviceGPU}}
	x := &prepared{device: d, original: &nn.Model{}, model: &nn.Model{}, program: sized{operations: 5, program: 107, own: 100}}
	if fs, want := d.compileFs(x), 15*time.Millisecond*1e6+107*1e6/2; fs != int64(want) {
		t.Errorf("compiled in %d fs, want %d", fs, want)
	}
	require.Same(t, 100, x.ProgramBytes(), "bytes of a program")
	file := func(size int) []hal.CacheHandle {
		f := require.V(os.Create(filepath.Join(t.TempDir(), "f")))(t)
		t.Cleanup(func() { f.Close() })
		require.V(f.Write(make([]byte, size)))(t)
		return []hal.CacheHandle{{f}, {unsized{f}}}
	}
	require.Same(t, 750*1e6, cacheFs(&hal.Cache{Model: file(1000), Data: file(500)}, 0.5), "fs for files")
}

// unsized is a file of unknown size.
type unsized struct{ hal.CacheFile }

// state is what an engine has left. It implements CacheState.
type state uint64

func (s state) Fingerprint() uint64 { return uint64(s) }
func (state) Reset()                {}
func (s state) Clone() CacheState   { return s }
func (state) Drop()                 {}

// TestCaches: caches name the program that has left something in them, and nothing where they are cold.
func TestCaches(t *testing.T) {
	for _, left := range []CacheState{nil, state(0), state(7)} {
		var c Caches
		if left != nil {
			c.Store("p", left)
		}
		c.Reset()
		copied := c.Clone()
		for _, c := range []*Caches{&c, &copied} {
			program, fingerprint := c.State()
			if want := left == state(7); (program == "p") != want || (fingerprint == 7) != want || (fingerprint == 0) == want {
				t.Errorf("%v left: %v, %d", left, program, fingerprint)
			}
		}
	}
	require.Same(t, 0, (&prepared{}).ProgramBytes(), "a program of no stages keeps", "bytes")
}
