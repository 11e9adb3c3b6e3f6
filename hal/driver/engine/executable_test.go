package engine

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim"
)

// doubling is a program of one memory that doubles bytes. It implements Program.
type doubling struct {
	Executable[[]byte]
	size int
	held int  // memories that executions have
	dirt byte // that a memory is full of at first
}

func newDoubling() *doubling {
	p := &doubling{size: 16}
	p.Init(p, example())
	p.IO = IOAddresses{Inputs: []Span{{0, 0, 8}}, Outputs: []Span{{0, 8, 16}}, Counts: []Span{{}}}
	return p
}

func (p *doubling) Acquire(*compile.RunOptions) ([]byte, error) {
	p.held++
	return slices.Repeat([]byte{p.dirt}, p.size), nil
}
func (p *doubling) Memory(m []byte, _ int) []byte { return m }
func (p *doubling) Release(m []byte)              { p.held--; clear(m) }
func (p *doubling) Execute(m []byte, _ *compile.RunOptions) (hal.Stats, error) {
	for i := range 8 {
		m[8+i] = 2 * m[i]
	}
	return hal.Stats{Cycles: 8}, nil
}

func (p *doubling) Code(c *cache.Coder) []int {
	cache.Number(c, &p.size, 0, 16)
	return []int{p.size}
}
func (p *doubling) Write(w io.Writer)       { fmt.Fprintln(w, p.size) }
func (p *doubling) List(w io.Writer) error  { _, err := fmt.Fprintln(w, "double r0, r1"); return err }
func (p *doubling) Steps(w io.Writer) error { _, err := fmt.Fprintln(w, "double"); return err }
func (p *doubling) Plan() (*Plan, error) {
	candidate := func(name string, cycles int64, chosen bool, verdict string) Candidate {
		return Candidate{Candidate: hal.Candidate{Name: name, Cycles: cycles, Chosen: chosen}, Verdict: verdict}
	}
	wide := candidate("wide", 5, false, "needs too many registers")
	wide.Impossible = true
	narrow := candidate("narrow", 20, false, "slower")
	narrow.Measure = "40 bytes"
	return &Plan{
		Steps: []Step{
			{Operation: -1, What: "copy", Estimated: 2, Uncertain: true, Candidates: []Candidate{narrow}},
			{Operation: 0, What: "double", Estimated: 8, Candidates: []Candidate{candidate("usual", 8, true, ""), wide, narrow, narrow}, Most: 3},
			{Operation: -1, What: "check", Candidates: []Candidate{candidate("only", 0, true, ""), wide}},
		},
		Cycles: func() ([]int64, error) { return []int64{4, 8, 0}, nil },
		Notes:  "a note\n",
	}, nil
}

// TestExplain: steps in a table, candidates where there are several, as many as the step has, and the sum.
func TestExplain(t *testing.T) {
	var b strings.Builder
	require.NoError(t, newDoubling().Explain(&b))
	want := `operation     step    estimated  simulated  ratio
-1 in or out  copy    ~2         4          0.50
0 -           double  8          8          1.00
    usual: 8 cycles, chosen
    wide: 5 cycles, needs too many registers
    narrow: 20 cycles, 40 bytes, slower
-1 in or out  check   0          0          0.00
    only: 0 cycles, chosen
    wide: 5 cycles, needs too many registers
all                   10         12         0.83
a note
`
	require.Equal(t, want, b.String())
}

// TestChoices: steps with several candidates, those that can be requested, all of them.
func TestChoices(t *testing.T) {
	got, err := newDoubling().Choices()
	if err != nil || len(got) != 1 || got[0].Operation != 0 || len(got[0].Candidates) != 3 || got[0].Candidates[1].Name != "narrow" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestLoaded: a program from a cache runs and prints like the saved one, and reports that it has no
// steps.
func TestLoaded(t *testing.T) {
	saved := newDoubling()
	var w cache.Writer
	saved.Save(&w)
	p := newDoubling()
	p.size, p.IO = 0, IOAddresses{}
	r := cache.NewReader(w.Parts())
	if err := p.Load(r); err != nil || r.End() != nil {
		t.Fatal(err, r.End())
	}
	for _, print := range []func(x *doubling, w io.Writer) error{
		func(x *doubling, w io.Writer) error { return x.WriteProgram(w) },
		func(x *doubling, w io.Writer) error { return x.WriteListing(w) },
	} {
		var a, b strings.Builder
		require.NoError(t, print(saved, &a))
		if err := print(p, &b); err != nil || a.String() != b.String() || a.Len() == 0 {
			t.Errorf("%q, %v, want %q", b.String(), err, a.String())
		}
	}
	run := require.V(p.Run([][]byte{{1, 2, 3, 4, 5, 6, 7, 8}}, compile.RunOptions{}))(t)
	if data, _ := run.Output(0); string(data) != string([]byte{2, 4, 6, 8, 10, 12, 14, 16}) {
		t.Errorf("output %v", data)
	}
	run.Release()
	_, choices := p.Choices()
	for _, err := range []error{choices, p.Explain(io.Discard), p.WriteSteps(io.Discard)} {
		require.ErrorContains(t, err, "a program from a compilation cache has no steps")
	}
}

// TestCounted: an output of which some entries count is so many of its first ones, and never more than it has.
func TestCounted(t *testing.T) {
	data := []byte{1, 2, 3, 4, 5, 6}
	for _, c := range []struct {
		dims    []uint32
		entries []byte
		data    []byte
		first   uint32
	}{
		{[]uint32{3, 2}, nil, data, 3},
		{[]uint32{3, 2}, []byte{2, 0, 0, 0}, data[:4], 2},
		{[]uint32{3, 2}, []byte{0, 0, 0, 0}, nil, 0},
		{[]uint32{3, 2}, []byte{3, 0, 0, 0}, data, 3},
		{[]uint32{3, 2}, []byte{0, 0, 0, 1}, data, 3},
		{[]uint32{6}, []byte{5, 0, 0, 0}, data[:5], 5},
		{[]uint32{0, 2}, []byte{1, 0, 0, 0}, data, 0},
	} {
		before := slices.Clone(c.dims)
		got := counted(data, c.dims, c.entries)
		if !slices.Equal(got.data, c.data) || got.dims[0] != c.first || !slices.Equal(got.dims[1:], c.dims[1:]) || !slices.Equal(c.dims, before) {
			t.Errorf("%v of %v: %v %v", c.entries, c.dims, got.data, got.dims)
		}
	}
	if got := counted(data[:1], nil, []byte{9, 0, 0, 0}); len(got.data) != 1 || len(got.dims) != 0 {
		t.Errorf("a scalar: %v %v", got.data, got.dims)
	}
	if r := Regions(&sim.Report{Regions: []sim.RegionReport{{ID: 3, Cycles: 30}, {ID: -1, Cycles: 7}}}); !maps.Equal(r, map[int]int64{3: 30, -1: 7}) {
		t.Errorf("regions %v", r)
	}
}

// TestRunErrors: a run whose input has another size, or that leaves a fault, is refused and gives its memory back; one on
// zeros has zeros where inputs go and nowhere else.
func TestRunErrors(t *testing.T) {
	p := newDoubling()
	if _, err := p.Run([][]byte{make([]byte, 7)}, compile.RunOptions{}); err == nil || !strings.Contains(err.Error(), "input 0 has 7 bytes, want 8") || p.held != 0 {
		t.Errorf("error %v, %d memories are held", err, p.held)
	}
	p.IO.Faults = []Fault{{Operation: 5, Reason: "no such row", Word: Span{0, 8, 12}}}
	if _, err := p.Run([][]byte{{0, 1, 0, 0, 0, 0, 0, 0}}, compile.RunOptions{}); err == nil || !strings.Contains(err.Error(), "operation 5: no such row") || p.held != 0 {
		t.Errorf("error %v, %d memories are held", err, p.held)
	}
	run, err := p.Run([][]byte{{0, 0, 0, 0, 7, 0, 0, 0}}, compile.RunOptions{})
	if err != nil || p.held != 1 || run.Stats().Cycles != 8 {
		t.Fatalf("error %v, %d memories are held", err, p.held)
	}
	if run.Release(); p.held != 0 {
		t.Errorf("%d memories are held behind the end", p.held)
	}
	p.dirt = 9
	bad := errors.New("bad")
	for _, want := range []error{nil, bad} {
		err := p.OnZeros(func(m []byte) error {
			if slices.Max(m[:8]) != 0 || slices.Min(m[8:]) != 9 {
				t.Errorf("memory %v", m)
			}
			return want
		})
		if !errors.Is(err, want) || (p.held == 0) != (want == nil) {
			t.Errorf("error %v, %d memories are held", err, p.held)
		}
	}
}
