package engine

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/base"
)

// doubling is a program of one memory that doubles bytes. It implements Program.
type doubling struct {
	Executable[[]byte]
	size int
}

func newDoubling() *doubling {
	p := &doubling{size: 16}
	p.Init(p, example())
	p.Places = Places{Inputs: []Span{{0, 0, 8}}, Outputs: []Span{{0, 8, 16}}, Counts: []Span{{}}}
	return p
}

func (p *doubling) Acquire(*base.RunOptions) ([]byte, error) { return make([]byte, p.size), nil }
func (p *doubling) Memory(m []byte, _ int) []byte            { return m }
func (p *doubling) Release(m []byte)                         { clear(m) }
func (p *doubling) Execute(m []byte, _ *base.RunOptions) (hal.Stats, error) {
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
			{Operation: -1, What: "copy", Estimated: 2, Guess: true, Candidates: []Candidate{narrow}},
			{Operation: 0, What: "double", Estimated: 8, Candidates: []Candidate{candidate("usual", 8, true, ""), wide, narrow, narrow}, Most: 3},
		},
		Cycles: func() ([]int64, error) { return []int64{4, 8}, nil },
		Notes:  "a note\n",
	}, nil
}

// TestExplain: steps in a table, candidates where there are several, as many as the step says, and the sum.
func TestExplain(t *testing.T) {
	var b strings.Builder
	if err := newDoubling().Explain(&b); err != nil {
		t.Fatal(err)
	}
	want := `operation     step    estimated  simulated  ratio
-1 in or out  copy    ~2         4          0.50
0 -           double  8          8          1.00
    usual: 8 cycles, chosen
    wide: 5 cycles, needs too many registers
    narrow: 20 cycles, 40 bytes, slower
all                   10         12         0.83
a note
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

// TestChoices: steps with several candidates, those that can be asked for, all of them.
func TestChoices(t *testing.T) {
	got, err := newDoubling().Choices()
	if err != nil || len(got) != 1 || got[0].Operation != 0 || len(got[0].Candidates) != 3 || got[0].Candidates[1].Name != "narrow" {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestLoaded: a program that comes from a cache runs and prints as the one that was saved, and says that it
// has no steps.
func TestLoaded(t *testing.T) {
	saved := newDoubling()
	var w cache.Writer
	saved.Save(&w)
	p := newDoubling()
	p.size, p.Places = 0, Places{}
	r := cache.NewReader(w.Parts())
	if err := p.Load(r); err != nil || r.End() != nil {
		t.Fatal(err, r.End())
	}
	for _, print := range []func(x *doubling, w io.Writer) error{
		func(x *doubling, w io.Writer) error { return x.WriteProgram(w) },
		func(x *doubling, w io.Writer) error { return x.WriteListing(w) },
	} {
		var a, b strings.Builder
		if err := print(saved, &a); err != nil {
			t.Fatal(err)
		}
		if err := print(p, &b); err != nil || a.String() != b.String() || a.Len() == 0 {
			t.Errorf("%q, %v, want %q", b.String(), err, a.String())
		}
	}
	run, err := p.Run([][]byte{{1, 2, 3, 4, 5, 6, 7, 8}}, base.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if data, _ := run.Output(0); string(data) != string([]byte{2, 4, 6, 8, 10, 12, 14, 16}) {
		t.Errorf("output %v", data)
	}
	run.Release()
	_, choices := p.Choices()
	for _, err := range []error{choices, p.Explain(io.Discard), p.WriteSteps(io.Discard)} {
		if err == nil || !strings.Contains(err.Error(), "a program from a compilation cache has no steps") {
			t.Errorf("error %v", err)
		}
	}
}
