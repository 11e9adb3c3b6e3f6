package base

import (
	"errors"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/burst"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// TestRequestShapes: a request completes an open input by its dimensions. Without them no bytes are one that is left out,
// if it may be, or an empty one, and any byte is one too many.
func TestRequestShapes(t *testing.T) {
	in := func(dims ...uint32) nn.Operand { return nn.Operand{Type: nn.TensorQuant8Asymm, Dimensions: dims} }
	p := &open{model: &nn.Model{Main: nn.Subgraph{Operands: []nn.Operand{in(2), in(0, 3)}, Inputs: []uint32{0, 1}}}}
	for _, c := range []struct {
		blank bool
		bytes int
		given [][]uint32
		want  []uint32 // of the second input; nil: an error
		empty bool
	}{
		{false, 0, nil, []uint32{0, 3}, true}, {true, 0, nil, []uint32{0, 3}, false}, {true, 0, [][]uint32{{2}, {4, 3}}, []uint32{0, 3}, false},
		{false, 1, nil, nil, false}, {true, 1, nil, nil, false}, {false, 1, [][]uint32{{2}}, nil, false}, {false, 1, [][]uint32{{2}, {0, 3}}, nil, false},
		{false, 3, [][]uint32{{2}, {1, 3}}, []uint32{1, 3}, false}, {false, 0, [][]uint32{{2}, {1, 3}}, []uint32{1, 3}, true},
	} {
		p.blank = []bool{false, c.blank}
		dims, empty, err := p.shapes(&hal.Buffers{Inputs: [][]byte{{1, 2}, make([]byte, c.bytes)}, InputDimensions: c.given})
		if c.want == nil && hal.StatusOf(err) == hal.InvalidArgument {
			continue
		}
		if err != nil || empty != c.empty || !reflect.DeepEqual(dims, [][]uint32{{2}, c.want}) {
			t.Errorf("%+v: %v, empty %v, %v", c, dims, empty, err)
		}
	}
}

// TestHasEmpty: a tensor that operations make is empty by a dimension of 0; of inputs it is open, of constants allowed.
func TestHasEmpty(t *testing.T) {
	for _, c := range []struct {
		of   nn.Lifetime
		dims []uint32
		want bool
	}{
		{nn.TemporaryVariable, []uint32{2, 0}, true}, {nn.SubgraphOutput, []uint32{0}, true}, {nn.SubgraphOutput, []uint32{1}, false},
		{nn.SubgraphOutput, nil, false}, {nn.SubgraphInput, []uint32{0}, false}, {nn.ConstantCopy, []uint32{0}, false}, {nn.ConstantReference, []uint32{0}, false},
	} {
		o := nn.Operand{Type: nn.TensorFloat32, Dimensions: c.dims, Lifetime: c.of}
		if got := hasEmpty(&nn.Subgraph{Operands: []nn.Operand{{}, o}}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestSample: open sizes are the smallest of which no result is empty, of at most 64; of those that all make something
// empty the first, and of those that do not fit at all the error is that of the first.
func TestSample(t *testing.T) {
	d := New(Config{Name: "toy"}, nil)
	pool := func(window byte) *nn.Model {
		i32 := func(v byte) nn.Operand {
			return nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{v, 0, 0, 0}}
		}
		in := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1, 0, 0, 1}, Lifetime: nn.SubgraphInput}
		out := nn.Operand{Type: nn.TensorFloat32, Lifetime: nn.SubgraphOutput}
		return &nn.Model{Main: nn.Subgraph{Operands: []nn.Operand{in, i32(2), i32(1), i32(1), i32(window), i32(window), i32(0), out},
			Operations: []nn.Operation{{Type: nn.OpMaxPool2D, Inputs: []uint32{0, 1, 2, 3, 4, 5, 6}, Outputs: []uint32{7}}}, Inputs: []uint32{0}, Outputs: []uint32{7}}}
	}
	for window, want := range map[byte]uint32{1: 1, 3: 3, maxSample: maxSample} {
		m, err := d.sample(pool(window))
		if err != nil || !slices.Equal(m.Main.Operands[0].Dimensions, []uint32{1, want, want, 1}) {
			t.Errorf("window %d: %+v, %v", window, m, err)
		}
	}
	if _, err := d.sample(pool(maxSample + 1)); hal.StatusOf(err) != hal.InvalidArgument || !strings.Contains(err.Error(), "padded input 1") {
		t.Error(err)
	}
	tensor := func(l nn.Lifetime, data []byte, dims ...uint32) nn.Operand {
		return nn.Operand{Type: nn.TensorInt32, Dimensions: dims, Lifetime: l, Data: data}
	}
	none := &nn.Model{Main: nn.Subgraph{Operands: []nn.Operand{tensor(nn.SubgraphInput, nil, 0), tensor(nn.ConstantCopy, make([]byte, 4), 1),
		tensor(nn.ConstantCopy, make([]byte, 4), 1), tensor(nn.SubgraphOutput, nil)},
		Operations: []nn.Operation{{Type: nn.OpSlice, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3}}}, Inputs: []uint32{0}, Outputs: []uint32{3}}}
	require.Same(t, 1, require.V(d.sample(none))(t).Main.Operands[0].Dimensions[0], "nothing of a tensor")
	none.Main.Operands[1].Data, none.Main.Operands[2].Data = []byte{1, 0, 0, 0}, []byte{255, 255, 255, 255} // all but the first
	require.Same(t, 2, require.V(d.sample(none))(t).Main.Operands[0].Dimensions[0], "all of a tensor but one")
	none.Main.Operands[0].Dimensions = nil
	require.Equal(t, []uint32{2}, require.V(d.sample(none))(t).Main.Operands[0].Dimensions, "all but one of a tensor of unknown rank")
	less := &nn.Model{Main: nn.Subgraph{Operands: []nn.Operand{tensor(nn.SubgraphInput, nil, 0, 82, 0, 0), tensor(nn.SubgraphInput, nil),
		{Type: nn.TensorBool8, Lifetime: nn.SubgraphOutput}},
		Operations: []nn.Operation{{Type: nn.OpLess, Inputs: []uint32{0, 1}, Outputs: []uint32{2}}}, Inputs: []uint32{0, 1}, Outputs: []uint32{2}}}
	for _, o := range require.V(d.sample(less))(t).Main.Operands {
		require.Equal(t, []uint32{1, 82, 1, 1}, o.Dimensions, "one dimension given, not that to the fourth power")
	}
}

// TestSolvedInTurn: the shape of a result is known to the operations after it; that of one which comes at run time stays
// open.
func TestSolvedInTurn(t *testing.T) {
	tensor := func(l nn.Lifetime, dims ...uint32) nn.Operand {
		return nn.Operand{Type: nn.TensorFloat32, Dimensions: dims, Lifetime: l}
	}
	none := nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}
	m := &nn.Model{Main: nn.Subgraph{Operands: []nn.Operand{tensor(nn.SubgraphInput, 5, 7), tensor(nn.SubgraphInput), none, tensor(nn.TemporaryVariable), tensor(nn.SubgraphOutput)},
		Operations: []nn.Operation{{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{3}}, {Type: nn.OpMul, Inputs: []uint32{3, 1, 2}, Outputs: []uint32{4}}}, Inputs: []uint32{0, 1}, Outputs: []uint32{4}}}
	require.Equal(t, []uint32{5, 7}, New(Config{Name: "toy"}, nil).solved(m).Main.Operands[1].Dimensions)
	shape := nn.Operand{Type: nn.TensorInt32, Dimensions: []uint32{2}, Lifetime: nn.SubgraphInput}
	m.Main.Operands, m.Main.Inputs = append(m.Main.Operands, shape), []uint32{0, 1, 5}
	m.Main.Operations[0] = nn.Operation{Type: nn.OpReshape, Inputs: []uint32{0, 5}, Outputs: []uint32{3}}
	require.Same(t, false, New(Config{Name: "toy"}, nil).solved(m).Main.Operands[3].Known(), "the result of a RESHAPE")
}

// TestAbout: a declined operation of an extension that the device does not list is declined for that.
func TestAbout(t *testing.T) {
	d := &Device{cfg: Config{Extensions: []hal.Extension{{Name: "listed"}}}}
	m := &nn.Model{Extensions: []nn.ExtensionPrefix{{Name: "listed", Prefix: 1}, {Name: "other", Prefix: 2}}}
	for op, want := range map[nn.OperationType]string{
		nn.OpRelu: "no", nn.OperationType(nn.ExtensionCode(1, 0)): "no", nn.OperationType(nn.ExtensionCode(2, 0)): "extension other is not supported: no", nn.OperationType(nn.ExtensionCode(3, 0)): "no",
	} {
		require.Same(t, want, d.about(m, &nn.Operation{Type: op}, "no"), op)
		m.Main.Operations = []nn.Operation{{Type: nn.OpRelu}, {Type: op}}
		require.Same(t, want, d.aboutAny(m, errors.New("no")).Error(), "any", op)
	}
}

// TestIsBlank: of a blank shape no dimension is known.
func TestIsBlank(t *testing.T) {
	for _, c := range []struct {
		dims []uint32
		want bool
	}{{nil, true}, {[]uint32{0, 0}, true}, {[]uint32{0, 3}, false}, {[]uint32{0, 1}, false}, {[]uint32{3}, false}} {
		require.Same(t, c.want, isBlank(&nn.Operand{Type: nn.TensorFloat32, Dimensions: c.dims}), c.dims)
	}
}

// TestOmissible: an input may be left out of whose shape not even the rank is known, or that its operation does not require.
func TestOmissible(t *testing.T) {
	for _, c := range []struct {
		hash, in, weights []uint32
		want              []bool
	}{{[]uint32{0, 0}, nil, []uint32{0}, []bool{false, true, true}}, {[]uint32{0, 2}, []uint32{4}, []uint32{4}, []bool{false, false, false}}} {
		tensor := func(dims []uint32) nn.Operand {
			return nn.Operand{Type: nn.TensorFloat32, Dimensions: dims, Lifetime: nn.SubgraphInput}
		}
		sparse := nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{3, 0, 0, 0}}
		m := &nn.Model{Main: nn.Subgraph{Operands: []nn.Operand{tensor(c.hash), tensor(c.in), tensor(c.weights), sparse, {Type: nn.TensorInt32, Lifetime: nn.SubgraphOutput}},
			Operations: []nn.Operation{{Type: nn.OpLshProjection, Inputs: []uint32{0, 1, 2, 3}, Outputs: []uint32{4}}}, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{4}}}
		require.Equal(t, c.want, New(Config{Name: "toy"}, nil).newOpen(m, hal.PrepareOptions{}).blank, c)
	}
}

// TestSolver: the sizes that are tried for a dimension, in order; what fits by so many of the declared dimensions; where
// the search ends.
func TestSolver(t *testing.T) {
	solverOf := func(op nn.OperationType, in [][]uint32, out []uint32) *solver {
		g := &nn.Subgraph{}
		s := &solver{op: &nn.Operation{Type: op}}
		add := func(typ nn.OperandType, l nn.Lifetime, data []byte, dims ...uint32) uint32 {
			g.Operands = append(g.Operands, nn.Operand{Type: typ, Dimensions: dims, Lifetime: l, Data: data})
			return uint32(len(g.Operands) - 1)
		}
		for _, dims := range in {
			s.inputs, s.given = append(s.inputs, add(nn.TensorFloat32, nn.SubgraphInput, nil, dims...)), append(s.given, dims)
		}
		s.op.Inputs = slices.Clone(s.inputs)
		if op == nn.OpMul {
			s.op.Inputs = append(s.op.Inputs, add(nn.Int32, nn.ConstantCopy, make([]byte, 4)))
		}
		s.op.Outputs = []uint32{add(nn.TensorFloat32, nn.SubgraphOutput, nil, out...)}
		s.view = opspec.View{Operands: g.Operands}
		return s
	}
	s := solverOf(nn.OpMul, [][]uint32{{3, 0, 7}, {0, 6, 5}}, []uint32{9, 8, 7})
	for i, want := range [][]uint32{{8, 6, 1, 9, 7, 3, 5, 2}, {9, 3, 1, 8, 7, 6, 5, 2}} {
		require.Equal(t, want, s.sizes(s.free()[i]), "dimension", i)
	}
	for _, c := range []struct {
		in    [][]uint32
		out   []uint32
		fits  bool
		score int // -1: the operation does not accept it
	}{
		{[][]uint32{{2, 3}, {2, 3}}, []uint32{2, 3}, true, 3}, {[][]uint32{{2, 3}, {1, 3}}, []uint32{0, 3}, true, 3}, {[][]uint32{{2, 3}, {3}}, nil, true, 1},
		{[][]uint32{{1, 3}, {1, 3}}, []uint32{1, 3}, true, 3}, {[][]uint32{{3}, {3}}, []uint32{4}, false, 1},
		{[][]uint32{{2, 3}, {2, 3}}, []uint32{2, 4}, false, 2}, {[][]uint32{{2, 3}, {2, 3}}, []uint32{3, 2}, false, 1},
		{[][]uint32{{2, 3}, {2, 3}}, []uint32{2, 3, 1}, false, 1}, {[][]uint32{{2, 3}, {4, 3}}, []uint32{2, 3}, false, 0},
	} {
		s := solverOf(nn.OpMul, c.in, c.out)
		if got := s.fits(); got != c.fits || s.score != c.score || !reflect.DeepEqual(s.best, c.in) {
			t.Errorf("%+v: %v, score %d of %v", c, got, s.score, s.best)
		}
	}
	s = solverOf(nn.OpMul, [][]uint32{{2, 0}, {2, 0}}, []uint32{2, 4})
	for _, d := range []uint32{3, 4, 5} { // the best is kept, and of equal ones the first
		for k := range s.inputs {
			s.view.Operands[k].Dimensions = []uint32{2, d}
		}
		if s.fits() != (d == 4) || s.best[0][1] != min(d, 4) {
			t.Errorf("%d: %v", d, s.best)
		}
	}
	s = solverOf(nn.OpMul, [][]uint32{{0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0}}, []uint32{1, 1, 1, 1, 1, 1, 3})
	if s.dimensions(s.free()) || s.tries != maxSolverTries+1 || len(s.free()) != 12 {
		t.Errorf("%d tries, %d dimensions left", s.tries, len(s.free()))
	}
	if s.best = [][]uint32{{1}, {1}}; s.improveEach(s.free()) || len(s.view.Operands[0].Dimensions) != 6 {
		t.Errorf("shapes of another rank: %v", s.view.Operands[0].Dimensions)
	}
	require.Equal(t, []int{7, 6, 4, 3, 2, 1}, s.likelyRanks(), "ranks")
	s = solverOf(nn.OpMul, [][]uint32{{0, 0}, {1, 7}}, []uint32{9, 7}) // the first dimension fits after the second
	s.best, s.inputs = [][]uint32{{2, 3}}, s.inputs[:1]
	if !s.improveEach(s.free()) || !slices.Equal(s.view.Operands[0].Dimensions, []uint32{9, 1}) {
		t.Errorf("dimensions that depend on each other: %v", s.view.Operands[0].Dimensions)
	}
	for size, want := range map[uint32]bool{maxSolverSize: true, maxSolverSize + 1: false} {
		s := solverOf(nn.OpMul, [][]uint32{{0, 2}, {1, 2}}, []uint32{size, 2})
		s.best, s.inputs = [][]uint32{{0, 2}}, s.inputs[:1]
		if s.improveEach(s.free()) != want || s.view.Operands[0].Dimensions[0] == size != want {
			t.Errorf("%d: %v", size, s.view.Operands[0].Dimensions)
		}
	}
}

// TestUses: a request has device memory in its roles alone, and only whole.
func TestUses(t *testing.T) {
	d := &Device{cfg: Config{Name: "toy"}}
	p := &prepared{device: d}
	b := &buffer{operand: nn.Operand{Dimensions: []uint32{4}}, roles: map[role]bool{{p, true, 0}: true}}
	d.memories.add(b)
	for _, c := range []struct {
		dims []uint32
		want string
	}{{nil, ""}, {[]uint32{4}, ""}, {[]uint32{2, 2}, "toy driver: input 0: dimensions [2 2] for device memory of [4]"}} {
		r := &hal.Request{Inputs: []hal.RequestArgument{{Dimensions: c.dims}}, Pools: []hal.RequestPool{{Token: b.token}}}
		if list, err := p.uses(r); (len(list) == 1) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%v: %v, %v", c.dims, list, err)
		}
	}
	for _, c := range []struct {
		dims []uint32
		size int
		want string
	}{{nil, 0, ""}, {[]uint32{4}, 0, ""}, {[]uint32{2, 2}, 0, "copyFrom: dimensions [2 2] for device memory of [4]"}, {nil, 1, "copyFrom: a memory of 1 bytes for a value of 0"}} {
		if err := b.CopyFrom(hal.NewMemory(c.size), c.dims); b.initialized != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, m := range []hal.PreparedModel{nil, (*prepared)(nil), &prepared{device: &Device{}}} {
		err := require.Err(d.Allocate(hal.BufferDesc{}, []hal.PreparedModel{m}, nil, nil))
		require.ErrorContains(t, err, "toy driver: prepared model 0 is not one of this device")
	}
	m := memories{last: math.MaxUint32 - 1, live: map[uint32]*buffer{1: nil, 2: b, 3: b}}
	for _, want := range []uint32{math.MaxUint32, 1, 4} {
		if m.add(b); b.token != want {
			t.Errorf("token %d, want %d", b.token, want)
		}
	}
}

// TestVersion: a device's version has that of the build behind it.
func TestVersion(t *testing.T) {
	build := New(Config{}, nil).Version()
	if v := New(Config{Version: "2"}, nil).Version(); build == "" || v != "2-"+build {
		t.Errorf("%q, without a version of its own %q", v, build)
	}
}

// TestLoadBounds: the options in a cache are those that there are.
func TestLoadBounds(t *testing.T) {
	given := &nn.Model{Main: nn.Subgraph{Operations: make([]nn.Operation, 2)}}
	for _, c := range []struct {
		preference, priority int64
		ok                   bool
	}{
		{0, 0, true}, {2, 2, true}, {-1, 0, false}, {3, 0, false}, {0, -1, false}, {0, 3, false},
	} {
		w := &cache.Writer{}
		w.Int(c.preference)
		w.Int(c.priority)
		w.Model(given, true)
		r := cache.NewReader(w.Parts())
		_, err := New(Config{Name: "toy"}, nil).load(nil, r)
		require.Fails(t, err, "a model without operands")
		require.Same(t, c.ok, r.Err() == nil, c)
	}
}

// TestServeBurst: a burst needs valid queues and a callback; without one there is no server.
func TestServeBurst(t *testing.T) {
	q := burst.NewQueue(burst.ChannelLength)
	for ok, requests := range map[bool]burst.Channel{false: nil, true: q} {
		s, err := (&prepared{}).ServeBurst(burst.NewSlots(nil), requests, burst.NewQueue(burst.ChannelLength))
		if (err == nil) != ok || (s != nil) != ok {
			t.Errorf("%v, %v, want %v", s, err, ok)
		}
	}
	q.Invalidate()
}

// lost is a compiler that could load, and has nothing behind it.
type lost struct{ Loader }

func (lost) Loads() bool { return true }

// TestPanicsOutside: where a call panics that does not reach the driver's functions, its error has device and call.
func TestPanicsOutside(t *testing.T) {
	d := &Device{cfg: Config{Name: "toy"}, compiler: lost{}}
	p := &prepared{device: d, original: &nn.Model{Main: nn.Subgraph{Inputs: []uint32{0}}}} // of an operand that it has not
	r := &hal.Request{Inputs: make([]hal.RequestArgument, 1), Pools: []hal.RequestPool{{Token: 1}}}
	file := []hal.CacheHandle{{unsized{}}}
	for call, err := range map[string]error{
		"Allocate":                require.Err(d.Allocate(hal.BufferDesc{}, []hal.PreparedModel{p}, []hal.BufferRole{{Frequency: 1}}, nil)),
		"PrepareModelFromCache":   require.Err(d.PrepareModelFromCache(nil, hal.Cache{Model: file, Data: file})),
		"CreateReusableExecution": require.Err(p.CreateReusableExecution(r, hal.ExecuteOptions{})),
		"ExecuteFenced":           require.Err(p.ExecuteFenced(r, nil, hal.ExecuteOptions{}, 0)),
		"ComputeFenced":           require.Err((&execution{prepared: p}).ComputeFenced(nil, 0)),
	} {
		require.ErrorContains(t, err, "toy: panic in "+call+": ")
	}
}

// TestInsufficient: outputs are too small that have fewer bytes than their shape, and shapes are known if all are.
func TestInsufficient(t *testing.T) {
	float := func(dims ...uint32) nn.Operand { return nn.Operand{Type: nn.TensorFloat32, Dimensions: dims} }
	p := &prepared{device: &Device{}, model: &nn.Model{Main: nn.Subgraph{Operands: []nn.Operand{float(1), float(0), float(2)}}}}
	for _, c := range []struct {
		outputs []uint32
		known   bool
	}{{[]uint32{0, 1, 2}, false}, {[]uint32{1, 0, 2}, false}, {[]uint32{0, 2, 2}, true}} {
		p.model.Main.Outputs = c.outputs
		_, known := p.known()
		require.Same(t, c.known, known, c.outputs)
		b := &bound{buffers: hal.Buffers{Outputs: [][]byte{{}, make([]byte, 8), make([]byte, 8)}}, partial: make([]bool, 3)}
		b.partial[2] = true
		res, err := p.insufficient(&hal.Result{OutputDimensions: [][]uint32{{0}, {2}, {3}}}, b, io.ErrShortBuffer)
		require.Same(t, io.ErrShortBuffer, err)
		require.Equal(t, []bool{false, false, true}, res.Insufficient)
	}
	for preference, want := range map[hal.Preference]time.Duration{hal.LowPower: 0, hal.SustainedSpeed: burst.PollWindow} {
		require.Same(t, want, (&prepared{options: hal.PrepareOptions{Preference: preference}}).PollWindow(), "polls for")
	}
}
