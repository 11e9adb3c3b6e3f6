package nnrt

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/runtime/partition"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// TestInputSizes: an input that is longer than its operand is refused as one that is shorter.
func TestInputSizes(t *testing.T) {
	m := &nn.Model{Main: nn.Subgraph{Operands: []nn.Operand{{Type: nn.TensorFloat32, Dimensions: []uint32{2}}}, Inputs: []uint32{0}}}
	for n, want := range map[int]hal.Status{7: hal.InvalidArgument, 8: hal.StatusNone, 9: hal.InvalidArgument} {
		require.Same(t, want, hal.StatusOf(checkInputs(m, [][]byte{make([]byte, n)}, nil)), n, "bytes")
	}
}

// energy is an account of so many pJ.
type energy float64

func (e energy) Components() []hal.ComponentEnergy {
	return []hal.ComponentEnergy{{EnergyPJ: float64(e)}}
}

// TestSharedEnergyCountsOnce: what is divided among executions is added to one of them once.
func TestSharedEnergyCountsOnce(t *testing.T) {
	r := &Result{EnergyPJ: 5, Shared: energy(7)}
	r.AddShared()
	r.AddShared()
	require.Same(t, 12, r.EnergyPJ)
}

// misreporting is a device whose executions report something else than they did.
type misreporting struct {
	picky
	change func(*hal.Result)
}

func (d *misreporting) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.picky.PrepareModel(m, o)
	return &misreportingModel{p, d.change}, err
}

type misreportingModel struct {
	hal.PreparedModel
	change func(*hal.Result)
}

func (p *misreportingModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	res, err := p.PreparedModel.Execute(r, o)
	if err == nil {
		p.change(res)
	}
	return res, err
}

// TestReportsThatContradict: a device that reports shapes of outputs that there are not, or a short output with success, has failed.
func TestReportsThatContradict(t *testing.T) {
	for want, change := range map[string]func(*hal.Result){
		"reports the shapes of 2 outputs, there are 1": func(r *hal.Result) { r.OutputDimensions = [][]uint32{{4}, {1}} },
		"an output being too small: true":              func(r *hal.Result) { r.Insufficient = []bool{true} },
	} {
		r := require.V(registry.New(testCPU(), &misreporting{picky{name: "bad"}, change}))(t)
		c := require.V(Compile(r, model(), "bad", CompileOptions{}))(t)
		require.ErrorContains(t, require.Err(c.Execute([][]byte{input()}, ExecuteOptions{})), want)
	}
}

// sized is device memory that tells a size.
type sized struct {
	hal.Buffer
	bytes int
}

func (s sized) Bytes() int { return s.bytes }

// TestFetchedMemoryIsBounded: device memory of a size that cannot be is not fetched.
func TestFetchedMemoryIsBounded(t *testing.T) {
	for _, n := range []int{-1, maxDynamicBytes + 1} {
		require.ErrorContains(t, require.Err(fetched(sized{bytes: n})), "cannot be moved to the CPU", n, "bytes")
	}
}

// TestJumpProgram: a jump is its kind and its targets in their order.
func TestJumpProgram(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, (&jump{kind: jumpWhile, targets: [3]int{4, 5, 6}}).WriteProgram(&b))
	var words [4]uint32
	require.NoError(t, binary.Read(&b, binary.LittleEndian, &words))
	require.Same(t, [4]uint32{uint32(jumpWhile), 4, 5, 6}, words)
}

// TestInitialStates: a state begins with its initial value, or with zeros, also after a reset.
func TestInitialStates(t *testing.T) {
	m := &nn.Model{States: []nn.State{{Input: 0, Output: 0, Initial: []byte{1, 2}}, {Input: 1, Output: 1}},
		Main: nn.Subgraph{Inputs: []uint32{0, 1}, Operands: []nn.Operand{{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{2}}, {Type: nn.TensorQuant8Asymm, Dimensions: []uint32{3}}}}}
	s := NewStates(m)
	for range 2 {
		require.Equal(t, [][]byte{{1, 2}, {0, 0, 0}}, require.V(s.Inputs(nil))(t))
		s.Update([][]byte{{7, 7}, {7, 7, 7}})
		require.Equal(t, [][]byte{{7, 7}, {7, 7, 7}}, require.V(s.Inputs(nil))(t))
		s.Reset()
	}
}

// TestCharges: the multiply-accumulates of an operation are those of the model or, where more, those that the device counted; a device's
// clock is its highest; stalls are in the order of their cycles and then names, without those of none.
func TestCharges(t *testing.T) {
	r := &Result{Operations: make([]OperationCost, 1)}
	of := &source{caller: -1, macs: []int64{5}}
	for _, hz := range []int64{10, 4} {
		r.add(of, testCPU(), []int{0}, &hal.Stats{ClockHz: hz, Operations: []hal.OperationStats{{Index: 0, MACs: 7}}})
		require.Same(t, 7, r.Operations[0].MACs, "multiply-accumulates")
	}
	require.Same(t, 10, r.Devices[0].ClockHz, "clock")
	of = &source{caller: 3, name: "IF then", macs: []int64{5, 6}, model: &nn.Model{Main: nn.Subgraph{Operations: make([]nn.Operation, 2)}}}
	for i := range 2 {
		r.add(of, testCPU(), []int{i}, &hal.Stats{})
	}
	require.Check(t, len(r.Inner) == 2 && r.Inner[0].MACs == 5 && r.Inner[1].MACs == 6, "inner rows %v", r.Inner)
	got := sumStalls([]hal.StallCycles{{Reason: "b", Cycles: 2}, {Reason: "z", Cycles: 0}}, []hal.StallCycles{{Reason: "a", Cycles: 2}, {Reason: "c", Cycles: 3}, {Reason: "y", Cycles: 0}})
	require.Equal(t, []hal.StallCycles{{Reason: "c", Cycles: 3}, {Reason: "a", Cycles: 2}, {Reason: "b", Cycles: 2}}, got)
}

// TestSumOfTimings: a sum of which a part is not known, or that does not fit, is not known.
func TestSumOfTimings(t *testing.T) {
	for _, c := range [][3]uint64{{1, 2, 3}, {hal.NoTime, 2, hal.NoTime}, {1, hal.NoTime, hal.NoTime}, {math.MaxUint64 - 1, 3, hal.NoTime}} {
		got := sum(hal.Timing{OnDevice: c[0], InDriver: c[1]}, hal.Timing{OnDevice: c[1], InDriver: c[0]})
		require.Same(t, hal.Timing{OnDevice: c[2], InDriver: c[2]}, got, c)
	}
}

// TestFencedWithoutResult: a fenced part that has ended without an error and without a result is an error that names the device.
func TestFencedWithoutResult(t *testing.T) {
	f := hal.NewSyncFence()
	f.Signal(0, nil)
	e := &execution{result: &Result{}}
	e.Compilation = &Compilation{steps: []step{{device: testCPU()}}}
	part := hal.NewFencedExecution(f, func() (hal.FencedInfo, error) { return hal.FencedInfo{}, nil })
	require.ErrorContains(t, require.Err(e.fenced([]*hal.FencedExecution{part})), "cpu: a fenced execution without a result")
}

// TestPlacedOperations: an operation that is given to a device is no other's but the CPU's.
func TestPlacedOperations(t *testing.T) {
	supports := func() []hal.Support { return []hal.Support{{OK: true}, {OK: true}} }
	p := &partition.Problem{Model: model(), Placed: map[int]int{1: 2}, Devices: []partition.Device{
		{Name: "cpu", Support: supports()}, {Name: "a", Support: supports()}, {Name: "b", Support: supports()}, {Name: "c", Support: supports()}}}
	require.NoError(t, applyPlaces(p))
	for d, want := range []bool{true, false, true, false} {
		s := p.Devices[d].Support
		require.Check(t, s[0].OK && s[1].OK == want && (want || s[1].Reason == "it is placed on b"), "device %d: %v", d, s)
	}
}

// TestEachPlacement: every operation that is given to a device is its alone; of several that cannot be, the first is named.
func TestEachPlacement(t *testing.T) {
	problem := func(ok bool) *partition.Problem {
		p := &partition.Problem{Model: model(), Placed: map[int]int{0: 1, 1: 2, 3: 1}}
		for _, name := range []string{"cpu", "a", "b"} {
			d := partition.Device{Name: name, Driver: testCPU()}
			for range p.Model.Main.Operations {
				d.Support = append(d.Support, hal.Support{OK: ok || name == "cpu", Reason: "too small"})
			}
			p.Devices = append(p.Devices, d)
		}
		return p
	}
	p := problem(true)
	require.NoError(t, applyPlaces(p))
	for d, want := range [][4]bool{{true, true, true, true}, {true, false, true, true}, {false, true, true, false}} {
		for i, s := range p.Devices[d].Support {
			require.Same(t, want[i], s.OK, "device", d, "operation", i)
		}
	}
	require.ErrorContains(t, applyPlaces(problem(false)), "operation 0 (RELU) is placed on a")
}

// askedFor is a device that notes the roles that memory is to have.
type askedFor struct {
	hal.Device
	inputs, outputs []hal.BufferRole
}

func (d *askedFor) Allocate(_ hal.BufferDesc, _ []hal.PreparedModel, inputs, outputs []hal.BufferRole) (hal.Buffer, error) {
	d.inputs, d.outputs = inputs, outputs
	return sized{}, nil
}

// TestRolesOnce: a device gets each role of memory once, whoever states it again.
func TestRolesOnce(t *testing.T) {
	d := &askedFor{Device: testCPU()}
	in, out := Role{Device: d, Input: true, Index: 1}, Role{Device: d, Index: 1}
	require.V(Allocate([]Role{in, out, in}, nil))(t)
	role := []hal.BufferRole{{IOIndex: 1, Frequency: 1}}
	require.Equal(t, [2][]hal.BufferRole{role, role}, [2][]hal.BufferRole{d.inputs, d.outputs})
}

// cascading is a prepared model with a cascade, of which an operation is none of the part.
type cascading struct{ hal.PreparedModel }

func (cascading) Cascades() []hal.Cascade {
	return []hal.Cascade{{Operations: []int{0, 1, 2}, Parts: 3}}
}

// TestCascadesOfTheMainSubgraph: cascades are of the main subgraph, by its operations.
func TestCascadesOfTheMainSubgraph(t *testing.T) {
	c := &Compilation{steps: []step{{prepared: cascading{}, operations: []int{4, 6}}, {source: 1, prepared: cascading{}, operations: []int{0, 1}}}}
	require.Equal(t, []hal.Cascade{{Operations: []int{4, 6}, Parts: 3}}, c.Cascades())
}

// TestReadOnlyPoolsStay: what a watched driver writes into memory that it may only read stays its own.
func TestReadOnlyPoolsStay(t *testing.T) {
	w := &watched{Device: testCPU(), limit: time.Minute}
	r := &hal.Request{Pools: []hal.RequestPool{{Memory: &hal.Memory{Data: []byte{1}, ReadOnly: true}}, {Memory: &hal.Memory{Data: []byte{1}}}}}
	require.V(w.execute(r, hal.ExecuteOptions{}, func(own *hal.Request, _ hal.ExecuteOptions) (*hal.Result, error) {
		for _, p := range own.Pools {
			p.Memory.Data[0] = 2
		}
		return &hal.Result{}, nil
	}))(t)
	require.Same(t, [2]byte{1, 2}, [2]byte{r.Pools[0].Memory.Data[0], r.Pools[1].Memory.Data[0]})
}

// TestOutputMemory: an output of another size than its place in the pool has memory of its own.
func TestOutputMemory(t *testing.T) {
	v := &bindings{Compilation: &Compilation{poolBytes: 64, sources: []source{{places: []place{{offset: 16, bytes: 8}}}}}}
	for _, n := range []int64{8, 4, 12} {
		b := v.outputMemory(0, 0, n)
		require.Check(t, int64(len(b)) == n && (&b[0] == &v.pool[16]) == (n == 8), "%d bytes for %d", len(b), n)
	}
}

// rounds is a WHILE of n rounds whose condition and body are a step each.
func rounds(n float32) *nn.Model {
	number := func(l nn.Lifetime, v float32) nn.Operand {
		o := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1}, Lifetime: l}
		if l == nn.ConstantCopy {
			o.Data = binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))
		}
		return o
	}
	in, out := number(nn.SubgraphInput, 0), number(nn.SubgraphOutput, 0)
	more := nn.Operand{Type: nn.TensorBool8, Dimensions: []uint32{1}, Lifetime: nn.SubgraphOutput}
	none := nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}
	graph := func(op nn.OperationType, inputs []uint32, operands ...nn.Operand) nn.Subgraph {
		last := uint32(len(operands) - 1)
		g := nn.Subgraph{Operands: operands, Outputs: []uint32{last}, Operations: []nn.Operation{{Type: op, Inputs: inputs, Outputs: []uint32{last}}}}
		for i := range operands {
			if operands[i].Lifetime == nn.SubgraphInput {
				g.Inputs = append(g.Inputs, uint32(i))
			}
		}
		return g
	}
	return &nn.Model{
		Main: graph(nn.OpWhile, []uint32{0, 1, 2}, nn.SubgraphOperand(0), nn.SubgraphOperand(1), in, out),
		Referenced: []nn.Subgraph{
			graph(nn.OpLess, []uint32{0, 1}, in, number(nn.ConstantCopy, n), more),
			graph(nn.OpAdd, []uint32{0, 1, 2}, in, number(nn.ConstantCopy, 1), none, out),
		},
	}
}

// TestLoopWithoutRounds: the results of a loop whose condition does not hold are a copy of its inputs.
func TestLoopWithoutRounds(t *testing.T) {
	r := require.V(registry.New(testCPU(), &picky{name: "x", declines: map[nn.OperationType]bool{nn.OpWhile: true}}))(t)
	c := require.V(Compile(r, rounds(0), ByStrategy, CompileOptions{}))(t)
	in := []byte{0, 0, 0, 0x40}
	res := require.V(c.Execute([][]byte{in}, ExecuteOptions{}))(t)
	require.Equal(t, map[int][2]int{0: {1, 0}}, res.Rounds)
	require.Check(t, bytes.Equal(in, res.Outputs[0]) && &in[0] != &res.Outputs[0][0], "outputs %v", res.Outputs)
}

// TestInterpretedOperations: the runtime interprets a loop where the model has maxInterpreted operations with those of its subgraphs,
// and leaves one with more to the CPU.
func TestInterpretedOperations(t *testing.T) {
	r := require.V(registry.New(testCPU(), &picky{name: "x"}))(t)
	for more, want := range []int{1, 0} {
		m := rounds(1)
		body := &m.Referenced[1]
		last := body.Outputs[0]
		for range maxInterpreted - 3 + more { // besides WHILE, LESS and ADD
			body.Operands[last].Lifetime = nn.TemporaryVariable
			next := uint32(len(body.Operands))
			body.Operands = append(body.Operands, nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{1}})
			body.Operations = append(body.Operations, nn.Operation{Type: nn.OpRelu, Inputs: []uint32{last}, Outputs: []uint32{next}})
			last = next
		}
		body.Operands[last].Lifetime, body.Outputs[0] = nn.SubgraphOutput, last
		p := require.V(NewProblem(r, m, CompileOptions{}))(t)
		require.Same(t, want, len(p.Control), more, "operations more than the runtime interprets")
	}
}

// entered is a machine that lets nobody in.
type entered struct{}

func (entered) Enter(func(hal.Client) error) error { return hal.Errorf(hal.GeneralFailure, "entered") }

// clockless is a client of a machine that has no time.
type clockless struct{ hal.Client }

func (clockless) Account() hal.Account { return nil }

// TestFunctionalPartsFollowEachOther: parts that may overlap begin together on the machine's clock, and those of a functional
// execution, which has none, one after the other.
func TestFunctionalPartsFollowEachOther(t *testing.T) {
	m := model()
	c := inParts(t, require.V(registry.New(testCPU(), &picky{name: "a"}, &picky{name: "b"}))(t), m)
	in, want := values(t, m)
	c.machine = entered{}
	require.Check(t, c.overlaps(), "no parts that may overlap")
	require.ErrorContains(t, require.Err(c.Execute(in, ExecuteOptions{})), "entered")
	for _, client := range []hal.Client{nil, clockless{}} {
		res := require.V(c.Execute(in, ExecuteOptions{Functional: true, Client: client}))(t)
		require.Report(t, compare.Err(Compare(m, want, res)))
	}
}

// TestEngineTimeOfAPart: a part's time of its engine is without that of the calls around it.
func TestEngineTimeOfAPart(t *testing.T) {
	e := &execution{result: &Result{Operations: make([]OperationCost, 1)}}
	e.Compilation = &Compilation{steps: []step{{device: testCPU(), operations: []int{0}}}, sources: []source{{caller: -1, macs: []int64{0}}}}
	stats := &hal.Stats{LatencyFs: 10, Parts: []hal.Part{{Name: "binder", TimeFs: 6}, {Name: "wake", TimeFs: 1}, {Name: "execution", TimeFs: 3}}}
	e.ran = []ranStep{{device: testCPU(), stats: stats}}
	e.schedule()
	p := e.result.Parts[0]
	require.Check(t, p.StartFs == 0 && p.EndFs == 10 && p.EngineFs == 4, "from %d to %d, %d of the engine", p.StartFs, p.EndFs, p.EngineFs)
}

// TestRoundsWithinTheLimit: before each body the time since a loop began, of functional steps 100 us each, must be below its limit.
func TestRoundsWithinTheLimit(t *testing.T) {
	r := require.V(registry.New(testCPU(), &picky{name: "x", declines: map[nn.OperationType]bool{nn.OpWhile: true}}))(t)
	c := require.V(Compile(r, rounds(6), ByStrategy, CompileOptions{}))(t)
	for limit, want := range map[time.Duration]hal.Status{1100 * time.Microsecond: hal.MissedDeadlineTransient, 1101 * time.Microsecond: hal.StatusNone} {
		res, err := c.Execute([][]byte{make([]byte, 4)}, ExecuteOptions{Functional: true, LoopTimeout: limit})
		require.Same(t, want, hal.StatusOf(err), limit)
		if err == nil {
			require.Same(t, [2]int{7, 6}, res.Rounds[0], "rounds")
		}
	}
}
