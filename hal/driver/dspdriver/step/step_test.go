package step

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestShares: shares, spreads and parts are consecutive ranges of all entries, as many and as even as specified.
func TestShares(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for range 500 {
		n, threads, most := r.IntN(40), 1+r.IntN(5), 1+r.IntN(6)
		o := Object{Threads: threads}
		costs := make([]int, n)
		total := 0
		for i := range costs {
			costs[i] = r.IntN(20)
			total += costs[i]
		}
		shares, spread, parts := Shares(costs, threads), o.Spread(n), o.Parts(n, most)
		for name, list := range map[string][][2]int{"shares": shares, "spread": spread, "parts": parts} {
			at := 0
			for _, x := range list {
				if x[0] != at || x[1] <= at {
					t.Fatalf("%s of %d for %d threads: %v", name, n, threads, list)
				}
				at = x[1]
			}
			if at != n {
				t.Fatalf("%s of %d: %v", name, n, list)
			}
		}
		if len(shares) > threads || len(spread) != min(n, threads) {
			t.Fatalf("%d shares and %d ranges of %d for %d threads", len(shares), len(spread), n, threads)
		}
		sum := 0
		for i, x := range shares[:max(len(shares)-1, 0)] { // an entry less or more moves no border nearer to its ideal place
			for _, c := range costs[x[0]:x[1]] {
				sum += c
			}
			want, last, next := total*(i+1)/threads, costs[x[1]-1], costs[x[1]]
			if sum+next/2 < want || x[1]-x[0] > 1 && sum-last+last/2 >= want {
				t.Fatalf("%v of %v for %d threads: border %d at a sum of %d, it should be %d", shares, costs, threads, i, sum, want)
			}
		}
		for _, x := range spread {
			if n := x[1] - x[0] - n/threads; n < 0 || n > 1 {
				t.Fatalf("%v for %d threads", spread, threads)
			}
		}
		for _, x := range parts {
			if x[1]-x[0] > most {
				t.Fatalf("parts of %d, at most %d: %v", n, most, parts)
			}
		}
		if each := layout.CeilDiv(layout.CeilDiv(n, threads), most); len(parts) > each*threads {
			t.Fatalf("%d parts of %d for %d threads, at most %d", len(parts), n, threads, most)
		}
	}
	if got := Shares([]int{1, 1, 6, 1, 1, 2}, 3); !slices.Equal(got, [][2]int{{0, 2}, {2, 3}, {3, 6}}) {
		t.Errorf("shares %v", got)
	}
}

// TestBoxes: the arguments of l2fetch are width and height in halfwords, up to the last that fit.
func TestBoxes(t *testing.T) {
	for _, c := range []struct{ bytes, want uint32 }{{0, 128 << 16}, {127, 128 << 16}, {128, 128<<16 | 1}, {1000, 128<<16 | 7}, {0xffff * 128, 128<<16 | 0xffff}, {1 << 30, 128<<16 | 0xffff}} {
		if got := Box(c.bytes); got != c.want {
			t.Errorf("box of %d bytes: %#x, want %#x", c.bytes, got, c.want)
		}
	}
	for _, c := range []struct {
		n, rows, stride int
		box, step       uint32
	}{
		{300, 5, 512, 300<<16 | 5, 512},
		{0xffff, 0xffff, 0xffff, 0xffffffff, 0xffff},
		{1 << 16, 5, 512, 0, 0}, {300, 1 << 16, 512, 0, 0}, {300, 5, 1 << 16, 0, 0},
		{300, 2, 1 << 16, 0, 0},
		{300, 1, 1 << 20, 300<<16 | 1, 128},
	} {
		if box, step := RowBox(c.n, c.rows, c.stride); box != c.box || step != c.step {
			t.Errorf("%d rows of %d bytes at %d: %#x %d", c.rows, c.n, c.stride, box, step)
		}
	}
	j := Job{Args: [][]uint32{{1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}}}
	if j.FetchFirst(1, 1, 1000, 1257); !slices.Equal(j.Args[0], []uint32{1, 2, 3, 4, 5}) || !slices.Equal(j.Args[1], []uint32{1, 1000, 128<<16 | 3, 128, 5}) {
		t.Errorf("arguments %v", j.Args)
	}
}

// TestConstants: constants begin on vectors, behind each other, and their words can be read.
func TestConstants(t *testing.T) {
	var o Object
	o.Reserve(1000)
	require.Same(t, minConst+1250, cap(o.Consts), "room for", "bytes")
	a, b := o.Constant([]byte{1, 2, 3, 4, 5}), o.Words([]uint32{0x04030201, 7})
	if a != layout.ConstBase || b != layout.ConstBase+layout.VectorBytes || len(o.Consts) != layout.VectorBytes+8 {
		t.Fatalf("at %#x and %#x of %d bytes", a, b, len(o.Consts))
	}
	for _, c := range []struct {
		at, want uint32
		ok       bool
	}{{a, 0x04030201, true}, {a + 4, 5, true}, {b, 0x04030201, true}, {b + 4, 7, true}, {b + 5, 0, false}, {a - 1, 0, false}, {0, 0, false}, {b + 8, 0, false}} {
		if w, ok := o.Word(c.at); w != c.want || ok != c.ok {
			t.Errorf("word at %#x: %#x, %v", c.at, w, ok)
		}
	}
}

// TestRowDependence: the rows of the inputs of a range of rows are those that a walk over windows touches.
func TestRowDependence(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 4))
	for range 200 {
		d := RowDependence{Count: 20, Stride: 1 + r.IntN(3), Above: r.IntN(3), Reach: 1 + r.IntN(5)}
		rows := 1 + r.IntN(20)
		last := 0
		for y := range rows {
			last = max(last, y*d.Stride-d.Above+d.Reach-1)
		}
		if got := d.Needs(rows); got != last+1 && last > 0 || d.Needs(0) != 0 || d.Starts(rows) != rows*d.Stride-d.Above {
			t.Fatalf("%+v: %d rows need %d, want %d", d, rows, got, last+1)
		}
	}
	if d := SameRows(7); d != (RowDependence{Count: 7, Stride: 1, Reach: 1}) || d.Needs(3) != 3 || d.Starts(3) != 3 {
		t.Errorf("%+v", d)
	}
}

// rowWork costs ten slots and three lines a row, shared by the threads.
type rowWork struct {
	In, Out *layout.Tensor
	Rows    int
	List    []int
	err     error
	last    *Rows // that were launched
}

func (w rowWork) Launch(l *Launcher, r Rows) {
	k := &hvx.Linked{Loops: []hvx.Loop{{Inner: []int{1}}, {Count: &hvx.Value{Op: hvx.ValueArg, N: 1}, Slots: 10, Lines: 3}}}
	table := make([]uint32, 2*(r.To-r.From))
	l.LaunchTable(k, table, 2, 9)
	l.LaunchTable(k, nil, 2)
	if w.last != nil {
		*w.last = r
	}
	if w.err != nil {
		l.Fail(w.err)
	}
}

// TestTrial: the costs of a sample of the rows represent all of them, and nothing of a trial is kept.
func TestTrial(t *testing.T) {
	tensor := func(n, h, w int) *layout.Tensor {
		return &layout.Tensor{Shape: layout.Shape{N: n, H: h, W: w, C: 32}, Pitch: 32}
	}
	for _, c := range []struct {
		name         string
		step         *Step
		slots, lines int
		sample       int // rows
	}{
		{"all at once", New(3, "x", nil, []*layout.Tensor{tensor(2, 20, 64)}, rowWork{}), 10 * 10, 3 * 40, 40},
		{"few rows", NewRows(3, "x", nil, []*layout.Tensor{tensor(1, 8, 64)}, SameRows(8), rowWork{}), 2 * 10, 3 * 8, 8},
		{"16 of 48 rows", NewRows(3, "x", nil, []*layout.Tensor{tensor(1, 48, 64)}, SameRows(48), rowWork{}), 12 * 10, 3 * 48, 16},
		{"rows of several images", NewRows(3, "x", nil, []*layout.Tensor{tensor(3, 16, 64)}, SameRows(16), rowWork{}), 12 * 10, 3 * 48, 48},
	} {
		l := &Launcher{Object: &Object{Threads: 4, Machine: cost.Machine{IssueInterval: 2, Launch: 50, MemoryRate: 1}, Image: hvx.NewImage(0, hvx.Machine{}, nil)}, Step: c.step}
		var last Rows
		c.step.Work = rowWork{last: &last}
		jobs, err := l.Trial((*Launcher).Begin)
		if err != nil || len(jobs) != 1 {
			t.Fatalf("%s: %d jobs, %v", c.name, len(jobs), err)
		}
		if j := jobs[0]; j.Threads != 4 || j.Slots != c.slots || j.Lines != c.lines || j.Code != 0 {
			t.Errorf("%s: %+v, want %d slots and %d lines", c.name, j, c.slots, c.lines)
		}
		if last != (Rows{0, c.sample}) {
			t.Errorf("%s: rows %v are launched, want %d", c.name, last, c.sample)
		}
		want := 50 + 2*c.slots + c.lines/2
		if got, err := l.Estimate((*Launcher).Begin); err != nil || got != want || len(l.Consts) != 0 {
			t.Errorf("%s: %d cycles, %v, want %d; %d bytes of constants", c.name, got, err, want, len(l.Consts))
		}
		bad := errors.New("bad")
		if _, err := l.Trial(func(*Launcher) Work { return rowWork{err: bad} }); !errors.Is(err, bad) {
			t.Errorf("%s: error %v", c.name, err)
		}
		if _, err := l.Estimate(func(l *Launcher) Work { l.Fail(bad); return nil }); !errors.Is(err, bad) {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
	if w := (&Step{}).AllRows(); w != (Rows{}) {
		t.Errorf("a step without results has rows %v", w)
	}
}

// cold is a plan in which some tensors are not in L2 and others stream.
type cold struct {
	Planner
	cold, streams *layout.Tensor
}

func (c cold) Cold(x *layout.Tensor) bool    { return x == c.cold }
func (c cold) Streams(x *layout.Tensor) bool { return x == c.streams }

// TestTrialPlan: a trial queries the plan around it for what is in L2; without one all is. What it fetches stays where it is.
func TestTrialPlan(t *testing.T) {
	a, b := &layout.Tensor{}, &layout.Tensor{Name: "b"}
	inside, alone := &trial{plan: cold{cold: a, streams: b}}, &trial{}
	for _, x := range []*layout.Tensor{a, b} {
		if inside.Cold(x) != (x == a) || inside.Streams(x) != (x == b) || alone.Cold(x) || alone.Streams(x) {
			t.Errorf("%q: cold %v and %v, streams %v and %v", x.Name, inside.Cold(x), alone.Cold(x), inside.Streams(x), alone.Streams(x))
		}
	}
	if at := alone.Fetch(nil, 77, 5); at != 77 {
		t.Errorf("fetched to %d", at)
	}
}

// TestLaunchTable: threads get the entries of a table one after the other, with the arguments that all share.
func TestLaunchTable(t *testing.T) {
	for name, launch := range map[string]func(l *Launcher, table []uint32){
		"even": func(l *Launcher, table []uint32) { l.LaunchTable(nil, table, 3, 77, 78) },
		"by costs": func(l *Launcher, table []uint32) {
			l.LaunchShares(nil, table, 3, []int{5, 1, 1, 1, 5}[:len(table)/3], 77, 78)
		},
	} {
		p := &trial{}
		l := &Launcher{Object: &Object{Threads: 2}, Planner: p, Step: &Step{}}
		if launch(l, nil); len(p.jobs) != 0 {
			t.Errorf("%s: an empty table makes %d jobs", name, len(p.jobs))
		}
		table := make([]uint32, 15)
		for i := range table {
			table[i] = uint32(i)
		}
		launch(l, table)
		if len(p.jobs) != 1 || len(p.jobs[0].Args) != 2 || p.jobs[0].Step != l.Step {
			t.Fatalf("%s: %+v", name, p.jobs)
		}
		var read []uint32
		for _, a := range p.jobs[0].Args {
			if !slices.Equal(a[2:], []uint32{77, 78}) {
				t.Errorf("%s: arguments %v", name, a)
			}
			for i := range 3 * a[1] {
				w, _ := l.Word(a[0] + 4*i)
				read = append(read, w)
			}
		}
		if !slices.Equal(read, table) {
			t.Errorf("%s: threads read %v", name, read)
		}
		require.Same(t, 14, binary.LittleEndian.Uint32(l.Consts[len(l.Consts)-4:]), name, "constants end with")
	}
}

// TestWrite: a step is a line with its record, its tensors by number and its rows.
func TestWrite(t *testing.T) {
	x := &layout.Tensor{Name: "x", Shape: layout.Shape{N: 1, H: 4, W: 5, C: 6}, Pitch: 32, Top: 1, Left: 2, Zero: 128}
	y := &layout.Tensor{Name: "y", Shape: layout.Shape{N: 1, H: 2, W: 5, C: 6}, Dense: true}
	steps := []*Step{
		NewRows(7, "pool", []*layout.Tensor{x}, []*layout.Tensor{y}, RowDependence{Count: 2, Stride: 2, Above: 1, Reach: 3}, &rowWork{In: x, Out: y, Rows: 2, List: []int{4, 5}}),
		NewRows(8, "copy", []*layout.Tensor{y}, []*layout.Tensor{x}, SameRows(4), rowWork{In: y, List: make([]int, maxListed+1)}),
		New(9, "none", nil, nil, rowWork{}),
	}
	var b strings.Builder
	require.NoError(t, Write(&b, steps, func(op int) string { return strings.Repeat("N", op-6) }))
	const want = `0: operation 7 N, pool: rowWork{In t0, Out t1, Rows 2, List [4 5]}
   reads t0: x, [1 4 5 6] pitch 32 halo 1 above, 0 below, 2 left, 0 right of 128
   writes t1: y, [1 2 5 6] dense
   rows 2: row r needs rows 2r-1 to 2r+1
1: operation 8 NN, copy: rowWork{In t1, List 9 of int}
   reads t1: y, [1 2 5 6] dense
   writes t0: x, [1 4 5 6] pitch 32 halo 1 above, 0 below, 2 left, 0 right of 128
   rows 4: row r needs rows r to r
2: operation 9 NNN, none: rowWork{}
`
	require.Same(t, want, b.String())
}
