package compile

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/sim"
)

// sized is a program that keeps so many bytes.
type sized struct {
	Executable
	bytes int
}

func (s sized) Bytes() int { return s.bytes }

// TestBoundPrograms: a stage keeps the programs that were used last, as many as may be and of so many bytes, one of them
// whatever its size.
func TestBoundPrograms(t *testing.T) {
	s := &stage{}
	keys := func() (list []string) {
		for _, b := range s.bound {
			list = append(list, b.key)
		}
		return list
	}
	check := func(what string, want ...string) {
		t.Helper()
		require.Equal(t, want, keys(), what)
	}
	for i := range MaxBoundPrograms {
		s.remember(boundProgram{fmt.Sprint(i), sized{bytes: i}})
	}
	if e := s.recall("4"); e != Executable(sized{bytes: 4}) {
		t.Errorf("program 4 is %v", e)
	}
	check("recalled", "4", "7", "6", "5", "3", "2", "1", "0")
	if e := s.recall("9"); e != nil {
		t.Errorf("a program that there is not: %v", e)
	}
	s.remember(boundProgram{"8", sized{}})
	check("one more", "8", "4", "7", "6", "5", "3", "2", "1")
	s.remember(boundProgram{"large", sized{bytes: maxBoundBytes - 4 - 7}})
	check("as large as fits", "large", "8", "4", "7")
	s.remember(boundProgram{"larger", sized{bytes: maxBoundBytes + 1}})
	check("larger than all", "larger")
}

// TestDescribe: a stage is named by its operation, or by the first and the last.
func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		origin []int
		want   string
	}{{[]int{3}, "operation 3"}, {[]int{3, 3}, "operation 3"}, {[]int{3, 5, 4}, "operations 3 to 4"}, {[]int{0, 1}, "operations 0 to 1"}} {
		s := &stage{Stage: &graph.Stage{Graph: &graph.Graph{Origin: c.origin}}}
		require.Same(t, c.want, s.describe(), c.origin)
	}
}

// steady is a program of 2 us that returns true, whatever its deadline, reports two operations and keeps its options.
type steady struct {
	Executable
	options *RunOptions
}

func (s steady) Run(_ [][]byte, o RunOptions) (Run, error) {
	*s.options = o
	stats := hal.Stats{LatencyFs: 2e9, Operations: []hal.OperationStats{{Index: 0}, {Index: 1}}}
	return &controlled{[]value{{data: []byte{1}, dims: []uint32{1}}}, stats}, nil
}

// steadily is a model of one stage, which is steady and takes and returns a truth value.
func steadily() *staged {
	x := nn.Operand{Type: nn.TensorBool8, Dimensions: []uint32{1}}
	g := &graph.Graph{Subgraph: nn.Subgraph{Operands: []nn.Operand{x}, Inputs: []uint32{0}, Outputs: []uint32{0}}, Origin: []int{0}}
	return &staged{model: &nn.Model{Referenced: make([]nn.Subgraph, 2)}, graph: g, stages: []*stage{{Stage: &graph.Stage{Graph: g}, fixed: steady{options: &RunOptions{}}}}}
}

// TestStart: the first stage of an execution begins with it, with details where it has a time, and products count for
// operations of the model, the first among them.
func TestStart(t *testing.T) {
	p, out := steadily(), []byte{0}
	float := func(dims ...uint32) nn.Operand { return nn.Operand{Type: nn.TensorFloat32, Dimensions: dims} }
	p.model.Main = nn.Subgraph{Operands: []nn.Operand{float(2, 3), float(4, 3), float(4), {Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}, float(2, 4)},
		Operations: []nn.Operation{{Type: nn.OpFullyConnected, Inputs: []uint32{0, 1, 2, 3}, Outputs: []uint32{4}}}}
	for _, c := range []struct{ functional, detail, want bool }{{false, false, false}, {false, true, true}, {true, true, false}} {
		o := hal.ExecuteOptions{Functional: c.functional, Detail: c.detail, Profile: struct{ hal.Profiler }{}}
		res := require.V(p.Execute(&hal.Buffers{Inputs: [][]byte{{0}}, Outputs: [][]byte{out}, ExecuteOptions: o}, base.Place{}))(t)
		require.Same(t, 2*4*3, res.Stats.Operations[0].MACs)
		require.Same(t, 0, res.Stats.Operations[1].MACs)
		got := p.stages[0].fixed.(steady).options
		if got.StartFs != 0 || got.Functional != c.functional || got.Detail != c.want || (got.Profile == nil) != c.functional {
			t.Errorf("%+v: %+v", c, got)
		}
	}
	require.Same(t, 1, out[0])
}

// TestInputBytes: an input has the bytes of its shape, or none where it is left out, for which there is another program.
func TestInputBytes(t *testing.T) {
	p := steadily()
	s := p.stages[0]
	p.graph.Operands[0].Dimensions = []uint32{2}
	s.bound = []boundProgram{{s.Key([][]byte{{}}, [][]uint32{{2}}), steady{options: &RunOptions{}}}}
	for size, want := range []string{"", "input 0 has 1 bytes, want 2", "", "input 0 has 3 bytes, want 2"} {
		res, err := p.Execute(&hal.Buffers{Inputs: [][]byte{make([]byte, size)}, Outputs: [][]byte{{0}}}, base.Place{})
		if want != "" {
			require.ErrorContains(t, err, want)
		} else if require.NoError(t, err); (len(res.Stats.Counters) == 1) != (size == 0) {
			t.Errorf("%d bytes: %+v", size, res.Stats.Counters)
		}
	}
}

// TestMissingResults: an IF of the contents of a cache may have more outputs than the subgraph that it calls.
func TestMissingResults(t *testing.T) {
	p := steadily()
	p.children = map[uint32]*staged{0: steadily(), 1: steadily()}
	x := p.graph.Operands[0]
	for n, want := range []string{"", "", "IF: 1 results for 2 outputs"} {
		op := nn.Operation{Type: nn.OpIf, Inputs: []uint32{0, 1, 2, 0}, Outputs: []uint32{3, 4}[:n]}
		g := &graph.Graph{Subgraph: nn.Subgraph{Operands: []nn.Operand{x, nn.SubgraphOperand(0), nn.SubgraphOperand(1), x, x},
			Operations: []nn.Operation{op}, Inputs: []uint32{0}, Outputs: op.Outputs}, Origin: []int{7}}
		s := &stage{Stage: &graph.Stage{Graph: g, Control: true}}
		run, _, err := p.runControl(s, &hal.Buffers{}, base.Place{}, 0, [][]byte{{1}, nil, nil, nil, nil}, make([][]uint32, 5))
		if want != "" {
			require.ErrorContains(t, err, want)
		} else if require.NoError(t, err); len(run.(*controlled).values) != n {
			t.Errorf("%d outputs: %+v", n, run)
		}
	}
}

// TestLoopTime: a loop that has run for its limit ends with the condition that did.
func TestLoopTime(t *testing.T) {
	p, list := steadily(), []uint32{0, 1}
	p.children = map[uint32]*staged{0: p, 1: p}
	c := control{staged: p, stage: p.stages[0], request: &hal.Buffers{ExecuteOptions: hal.ExecuteOptions{LoopTimeout: 5 * time.Microsecond}}, startFs: 7e9}
	v := opspec.View{Operands: []nn.Operand{p.graph.Operands[0], nn.SubgraphOperand(0), nn.SubgraphOperand(1)}}
	_, err := c.loop(v, &nn.Operation{Type: nn.OpWhile, Inputs: []uint32{1, 2, 0}, Outputs: list[:1]}, list, func([]uint32) ([]value, error) { return []value{{data: []byte{1}}}, nil })
	if late := (*sim.Late)(nil); !errors.As(err, &late) || late.At != 13*sim.Microsecond {
		t.Error(err)
	}
}

// TestSubgraphs: an operation calls no subgraph after the last of the model, which the contents of a cache may name.
func TestSubgraphs(t *testing.T) {
	m := &nn.Model{Referenced: make([]nn.Subgraph, 2)}
	for k, ok := range []bool{true, true, false} {
		g := &graph.Graph{Subgraph: nn.Subgraph{Operands: []nn.Operand{nn.SubgraphOperand(uint32(k))}}}
		if list, err := subgraphs(m, g, &nn.Operation{Type: nn.OpIf, Inputs: []uint32{0}}); (err == nil) != ok || ok && list[0] != uint32(k) {
			t.Errorf("subgraph %d: %v, %v", k, list, err)
		}
	}
	for _, v := range [][]value{{}, {{data: []byte{1, 1}}}, {{}}, {{data: []byte{1}}, {data: []byte{1}}}} {
		require.Fails(t, require.Err(truth(v)), "a condition of", len(v), "values")
	}
}

// TestSizes: operations of canonical graphs and bytes of programs count once, of called subgraphs too.
func TestSizes(t *testing.T) {
	program := func(operations, bytes int) *staged {
		return &staged{graph: &graph.Graph{Subgraph: nn.Subgraph{Operations: make([]nn.Operation, operations)}},
			stages: []*stage{{}, {fixed: sized{bytes: bytes}}}}
	}
	p, child := program(2, 100), program(3, 7)
	p.children = map[uint32]*staged{0: child, 1: child}
	operations, bytes := p.Size()
	require.Same(t, [2]int{5, 107}, [2]int{operations, bytes}, "operations and bytes")
	require.Same(t, 100, p.Bytes(), "bytes without subgraphs")
}

// TestForgedOrigins: a cached program's operations are from operations that the model has.
func TestForgedOrigins(t *testing.T) {
	m := &nn.Model{Main: nn.Subgraph{Operations: make([]nn.Operation, 2)}}
	for origin, ok := range map[int64]bool{0: true, 1: true, -1: false, 2: false} {
		w := &cache.Writer{}
		w.Subgraph(&nn.Subgraph{Operations: m.Main.Operations[:1]}, true)
		w.Int(origin)
		r := cache.NewReader(w.Parts())
		_, err := compiler{}.Load(m, hal.PrepareOptions{}, r)
		require.Check(t, err != nil && (r.Err() == nil) == ok, "origin %d: %v, of the reader %v", origin, err, r.Err())
	}
}

// TestWriteChoices: what was expanded by price, and what was not.
func TestWriteChoices(t *testing.T) {
	g, b := &graph.Graph{}, &strings.Builder{}
	for i, c := range []graph.Choice{{Legal: 9, Expanded: 8}, {Legal: 9, Expanded: 9}, {Legal: 9, Refusal: "no"}} {
		c.Origin, c.Operation, c.Pass = 4+i, nn.OpPad, "split"
		g.Choices = append(g.Choices, c)
	}
	const want = `operations with an expansion, by the estimate of each alone
4 PAD: own kernel 9 cycles; expanded 8 cycles, chosen (split)
5 PAD: own kernel 9 cycles, chosen; expanded 9 cycles (split)
6 PAD: own kernel 9 cycles, chosen; the device refuses the expansion: no (split)
`
	if err := writeChoices(b, g); err != nil || b.String() != want {
		t.Errorf("%s%v", b, err)
	}
}
