package codegen

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// The toy machine: file 0 holds 12 general units (class S, and class D as even
// pairs), file 1 holds 2 loop counters. A group issues up to three
// instructions with at most one memory access and one multiply; all of them
// read before any writes.
const (
	clsS Class = iota
	clsD
	clsC
)

const (
	opSet  uint32 = iota // d = imm
	opAdd                // d = a + b
	opMul                // d = a * b
	opMac                // d += a * b
	opPair               // D = (a, b)
	opLoad               // d = mem[imm]
	opStore
	opCount // C = imm
	opMove  // d = a
	opLoop  // if --C != 0 goto label
)

type toy struct{ classes []ClassInfo }

func newToy(n int) toy {
	var s, d []uint16
	for i := range n {
		s = append(s, uint16(i))
		if i%2 == 0 && i+1 < n {
			d = append(d, uint16(i))
		}
	}
	return toy{[]ClassInfo{{"S", 0, 1, s}, {"D", 0, 2, d}, {"C", 1, 1, []uint16{0, 1}}}}
}

func (t toy) Classes() []ClassInfo { return t.classes }
func (t toy) Latency(def *Instr, da int, use *Instr, ua int) int {
	if def.Op == opMul || def.Op == opMac || def.Op == opLoad {
		return 3
	}
	return 1
}
func (t toy) IsMove(in *Instr) bool { return in.Op == opMove }
func (t toy) NewGroup() Group       { return &toyGroup{} }

type toyGroup struct{ n, mem, mul int }

func (g *toyGroup) Reset() { *g = toyGroup{} }
func (g *toyGroup) TryAdd(in *Instr) bool {
	mem, mul := 0, 0
	if in.Flags&(Load|Store) != 0 {
		mem = 1
	}
	if in.Op == opMul || in.Op == opMac {
		mul = 1
	}
	if g.n == 3 || g.mem+mem > 1 || g.mul+mul > 1 {
		return false
	}
	g.n, g.mem, g.mul = g.n+1, g.mem+mem, g.mul+mul
	return true
}

// toyState executes instructions; reg maps an operand to its unit.
type toyState struct {
	regs map[string]int64
	mem  [8]int64
}

func (s *toyState) step(ins []*Instr, key func(a *Arg, off int) string) (jump Label) {
	jump = -1
	type write struct {
		k string
		v int64
	}
	var ws []write
	var stores [][2]int64
	for _, in := range ins {
		get := func(i int) int64 { return s.regs[key(&in.Args[i], 0)] }
		put := func(i, off int, v int64) { ws = append(ws, write{key(&in.Args[i], off), v}) }
		switch in.Op {
		case opSet, opCount:
			put(0, 0, in.Args[1].Imm)
		case opAdd:
			put(0, 0, get(1)+get(2))
		case opMove:
			put(0, 0, get(1))
		case opMul:
			put(0, 0, get(1)*get(2))
		case opMac:
			put(0, 0, get(0)+get(1)*get(2))
		case opPair:
			put(0, 0, get(1))
			put(0, 1, get(2))
		case opLoad:
			put(0, 0, s.mem[in.Args[1].Imm])
		case opStore:
			stores = append(stores, [2]int64{in.Args[0].Imm, get(1)})
		case opLoop:
			put(0, 0, get(0)-1)
			if get(0)-1 != 0 {
				jump = in.Args[1].Label
			}
		}
	}
	for _, w := range ws {
		s.regs[w.k] = w.v
	}
	for _, st := range stores {
		s.mem[st[0]] = st[1]
	}
	return jump
}

// randomFunc is a prologue, a counted loop and an epilogue over a few live
// values, some of them halves of pairs.
func randomFunc(t Target, r *rand.Rand, values int) *Func {
	f := New(t, "random")
	var vals []Reg
	fresh := func() Reg { return f.Reg(clsS, fmt.Sprint("v", len(vals))) }
	for i := range values {
		if i%3 == 2 {
			d := f.Reg(clsD, fmt.Sprint("d", i))
			f.Emit(opPair, Out(d), In(vals[r.IntN(len(vals))]), In(vals[r.IntN(len(vals))]))
			vals = append(vals, d.Sub(clsS, 1), d.Sub(clsS, 0))
			continue
		}
		v := fresh()
		f.Emit(opSet, Out(v), Imm(r.Int64N(100)))
		vals = append(vals, v)
	}
	body := func(n int) {
		for range n {
			a, b := vals[r.IntN(len(vals))], vals[r.IntN(len(vals))]
			d := vals[r.IntN(len(vals))]
			switch r.IntN(7) {
			case 0:
				f.Emit(opAdd, Out(d), In(a), In(b))
			case 1:
				f.Emit(opMul, Out(d), In(a), In(b))
			case 2:
				f.Emit(opMac, InOut(d), In(a), In(b))
			case 3:
				m := r.Int64N(8)
				f.Emit(opLoad, Out(d), Imm(m)).Loads(uint16(1 + m%2))
			case 4:
				m := r.Int64N(8)
				f.Emit(opStore, Imm(m), In(a)).Stores(uint16(1 + m%2))
			case 6:
				tmp := f.Reg(clsS, "moved")
				f.Hint(tmp, r.IntN(12))
				f.Emit(opMove, Out(tmp), In(a))
				f.Emit(opMac, InOut(d), In(tmp), In(b))
			case 5:
				tmp := f.Reg(clsS, "tmp")
				f.Emit(opAdd, Out(tmp), In(a), In(b))
				f.Emit(opMac, InOut(d), In(tmp), In(b))
			}
		}
	}
	body(r.IntN(20))
	c := f.Reg(clsC, "count")
	f.Emit(opCount, Out(c), Imm(3))
	l := f.Label("loop")
	f.Bind(l)
	body(1 + r.IntN(30))
	f.Jump(opLoop, 0, InOut(c), To(l))
	body(r.IntN(20))
	for i, v := range vals {
		f.Emit(opStore, Imm(int64(i%8)), In(v)).Stores(0)
	}
	return f
}

func virtualKey(a *Arg, off int) string {
	return fmt.Sprint(a.Reg.id, ":", int(a.Reg.off)+off)
}

func (f *Func) interpret() toyState {
	s := toyState{regs: map[string]int64{}}
	for b := 0; b < len(f.blocks); {
		next := b + 1
		for _, in := range f.blocks[b].instrs {
			if l := s.step([]*Instr{in}, virtualKey); l >= 0 {
				next = int(f.labels[l])
			}
		}
		b = next
	}
	return s
}

func (c *Code) interpret(file func(Class) uint8) toyState {
	s := toyState{regs: map[string]int64{}}
	key := func(a *Arg, off int) string { return fmt.Sprint(file(a.Reg.class), ":", int(a.Phys)+off) }
	for g := 0; g < len(c.Groups); {
		next := g + 1
		if l := s.step(c.Groups[g].Instrs, key); l >= 0 {
			next = c.LabelGroup(l)
		}
		g = next
	}
	return s
}

// Scheduled and allocated code must leave the memory that source order in
// virtual registers leaves.
func TestCompileKeepsMeaning(t *testing.T) {
	tgt := newToy(12)
	packed, ordered := 0, 0
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 1))
		f := randomFunc(tgt, r, 2+r.IntN(6))
		if seed%2 == 1 {
			f.Ordered()
		}
		want := f.interpret()
		n := int(f.nInstr)
		code, err := f.Compile()
		require.NoError(t, err, "seed", seed)
		got := code.interpret(func(c Class) uint8 { return tgt.classes[c].File })
		if got.mem != want.mem {
			t.Fatalf("seed %d: memory %v, want %v", seed, got.mem, want.mem)
		}
		if len(code.Groups) < n {
			packed++
		}
		if code.InOrder {
			ordered++
		}
	}
	if packed < 300 {
		t.Errorf("only %d of 400 functions were packed at all", packed)
	}
	t.Logf("%d packed, %d needed source order", packed, ordered)
}

func TestOutOfRegisters(t *testing.T) {
	f := New(newToy(4), "fat")
	f.Bind(f.Label("body"))
	var vals []Reg
	for i := range 5 {
		v := f.Reg(clsS, fmt.Sprint("x", i))
		f.Emit(opSet, Out(v), Imm(1))
		vals = append(vals, v)
	}
	for i, v := range vals {
		f.Emit(opStore, Imm(int64(i)), In(v)).Stores(1)
	}
	// Nothing helps here: all five are live at once whatever the order is.
	f.Emit(opAdd, Out(vals[0]), In(vals[1]), In(vals[2]))
	f.Emit(opAdd, Out(vals[0]), In(vals[3]), In(vals[4]))
	_, err := f.Compile()
	if err == nil || !strings.Contains(err.Error(), "out of S registers in fat at body") {
		t.Fatalf("got %v", err)
	}
}

func TestReadBeforeWrite(t *testing.T) {
	f := New(newToy(4), "k")
	v := f.Reg(clsS, "ghost")
	f.Emit(opStore, Imm(0), In(v)).Stores(1)
	if _, err := f.Compile(); err == nil || !strings.Contains(err.Error(), "ghost") {
		t.Fatalf("got %v", err)
	}
}

func TestUnboundLabel(t *testing.T) {
	f := New(newToy(4), "k")
	c := f.Reg(clsC, "c")
	f.Emit(opCount, Out(c), Imm(3))
	f.Jump(opLoop, 0, InOut(c), To(f.Label("nowhere")))
	if _, err := f.Compile(); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Fatalf("got %v", err)
	}
}

// TestOrdered: a late instruction with the longest path waits for those written before it, until the schedule is
// refined.
func TestOrdered(t *testing.T) {
	chain := func(ordered bool) *Func {
		f := New(newToy(12), "order")
		if ordered {
			f.Ordered()
		}
		for i := range 60 {
			v := f.Reg(clsS, "v")
			f.Emit(opSet, Out(v), Imm(int64(i)))
			f.Emit(opStore, Imm(int64(i%8)), In(v)).Stores(1)
		}
		x := f.Reg(clsS, "x")
		f.Emit(opSet, Out(x), Imm(3))
		for range 50 {
			f.Emit(opMul, Out(x), In(x), In(x))
		}
		f.Emit(opStore, Imm(0), In(x)).Stores(2)
		return f
	}
	cost := func(ordered bool) int {
		code := require.V(chain(ordered).Compile())(t)
		return code.Cost
	}
	f := chain(true)
	require.NoError(t, f.resolve())
	live := f.liveness()
	live.makeGraphs()
	written := f.best(attempts[inOrder:], live, f.blockRuns()).cost(f.blockRuns())
	if free, ordered := cost(false), cost(true); ordered > free+1 || written < free+10 {
		t.Errorf("cost %d, %d in order, %d refined", free, written, ordered)
	}
}

// The guard must keep independent chains from being opened all at once.
func TestPressureGuard(t *testing.T) {
	f := New(newToy(6), "chains")
	sum := f.Reg(clsS, "sum")
	f.Emit(opSet, Out(sum), Imm(0))
	for i := range 20 {
		a, b := f.Reg(clsS, "a"), f.Reg(clsS, "b")
		f.Emit(opLoad, Out(a), Imm(int64(i%8))).Loads(1)
		f.Emit(opMul, Out(b), In(a), In(a))
		f.Emit(opAdd, Out(sum), In(sum), In(b))
	}
	f.Emit(opStore, Imm(0), In(sum)).Stores(2)
	code := require.V(f.Compile())(t)
	if code.InOrder {
		t.Error("needed source order")
	}
	if code.Used[0] > 6 {
		t.Errorf("used %d units", code.Used[0])
	}
}

// A result may reuse the register of an operand that dies in its group; an early result may not.
func TestEarlyDef(t *testing.T) {
	for _, early := range []bool{false, true} {
		f := New(newToy(2), "reuse")
		a, b, d := f.Reg(clsS, "a"), f.Reg(clsS, "b"), f.Reg(clsS, "d")
		f.Emit(opSet, Out(a), Imm(1))
		f.Emit(opSet, Out(b), Imm(2))
		out := Out(d)
		if early {
			out.Role = EarlyDef
		}
		f.Emit(opAdd, out, In(a), In(b))
		f.Emit(opStore, Imm(0), In(d)).Stores(1)
		if _, err := f.Compile(); (err != nil) != early {
			t.Errorf("early %v: %v", early, err)
		}
	}
}

func TestHardwareLoop(t *testing.T) {
	f := New(newToy(4), "hw")
	v := f.Reg(clsS, "v")
	f.Emit(opSet, Out(v), Imm(1))
	h := f.Label("head")
	f.Bind(h)
	f.Emit(opAdd, Out(v), In(v), In(v))
	f.EndLoop(0, h, 0)
	f.Emit(opStore, Imm(0), In(v)).Stores(1)
	code := require.V(f.Compile())(t)
	if len(code.Groups) != 3 || code.Groups[1].EndLoop != 1 || code.LabelGroup(h) != 1 {
		t.Fatalf("groups %+v", code.Groups)
	}
}

// TestCost: a loop costs its body times its count, ten where that is unknown.
func TestCost(t *testing.T) {
	cost := func(inner, outer int) int {
		f := New(newToy(4), "counts")
		v, w := f.Reg(clsS, "v"), f.Reg(clsS, "w")
		f.Emit(opSet, Out(v), Imm(1))
		far, near := f.Label("far"), f.Label("near")
		f.Bind(far)
		f.Emit(opSet, Out(w), Imm(2))
		f.Bind(near)
		f.Emit(opAdd, Out(v), In(v), In(w))
		f.EndLoop(0, near, inner)
		f.Emit(opStore, Imm(0), In(v)).Stores(1)
		f.EndLoop(1, far, outer)
		code := require.V(f.Compile())(t)
		return code.Cost
	}
	base := cost(1, 1)
	body, around := cost(2, 1)-base, cost(1, 2)-base
	if body < 1 || around < body+2 {
		t.Fatalf("the inner loop costs %d, the outer one %d", body, around)
	}
	for _, c := range [...]struct{ inner, outer, as0, as1 int }{{3, 1, 3, 1}, {1, 7, 1, 7}, {5, 6, 5, 6}, {0, 1, 10, 1}, {3, 0, 3, 10}} {
		want := base + (c.as1-1)*around + c.as1*(c.as0-1)*body
		if got := cost(c.inner, c.outer); got != want {
			t.Errorf("counts %d and %d: cost %d, want %d", c.inner, c.outer, got, want)
		}
	}
}

// TestSections: blocks count for the section that they begin in.
func TestSections(t *testing.T) {
	f := New(newToy(4), "sections")
	v := f.Reg(clsS, "v")
	f.Emit(opSet, Out(v), Imm(1))
	f.Section(2, func() {
		head := f.Label("head")
		f.Bind(head)
		f.Emit(opAdd, Out(v), In(v), In(v))
		f.Emit(opAdd, Out(v), In(v), In(v))
		f.EndLoop(0, head, 0)
	})
	f.Emit(opStore, Imm(0), In(v)).Stores(1)
	code := require.V(f.Compile())(t)
	if s := code.Sections; len(s) != 3 || s[0] < 2 || s[1] != 0 || s[2] < 2 || s[0]+9*s[2]+s[2] != code.Cost {
		t.Errorf("sections %v of a code that costs %d", code.Sections, code.Cost)
	}
}

func BenchmarkCompile(b *testing.B) {
	tgt := newToy(12)
	for b.Loop() {
		f := randomFunc(tgt, rand.New(rand.NewPCG(7, 1)), 6)
		require.V(f.Compile())(b)
	}
}

// Hints make the allocator assign both sides of a copy to one register, and the copy disappears with its group; labels
// move along.
func TestDropMoves(t *testing.T) {
	f := New(newToy(4), "moves")
	a, b := f.Reg(clsS, "a"), f.Reg(clsS, "b")
	f.Emit(opSet, Out(a), Imm(7))
	f.Emit(opMove, Out(b), In(a))
	l := f.Label("after")
	f.Bind(l)
	f.Emit(opStore, Imm(0), In(b)).Stores(1)
	code := require.V(f.Compile())(t)
	if len(code.Groups) != 2 || code.LabelGroup(l) != 1 {
		t.Fatalf("%d groups, label at %d", len(code.Groups), code.LabelGroup(l))
	}
}

// Physical registers that hold arguments stay untouched until their last use,
// and a limit keeps the allocator below it.
func TestPhysicalAndLimit(t *testing.T) {
	for _, limit := range []int{0, 3} {
		f := New(newToy(6), "args")
		if limit > 0 {
			f.Limit(clsS, limit)
		}
		arg := Phys(clsS, 1)
		a, b := f.Reg(clsS, "a"), f.Reg(clsS, "b")
		f.Emit(opSet, Out(a), Imm(1))
		f.Emit(opAdd, Out(b), In(a), In(a))
		f.Emit(opStore, Imm(0), In(a)).Stores(1)
		f.Emit(opStore, Imm(1), In(b)).Stores(1)
		f.Emit(opStore, Imm(2), In(arg)).Stores(1)
		code := require.V(f.Compile())(t)
		for _, g := range code.Groups {
			for _, in := range g.Instrs {
				for _, o := range in.Args {
					if o.Role&Def != 0 && o.Phys == 1 {
						t.Errorf("limit %d: the argument is overwritten", limit)
					}
				}
			}
		}
		if limit > 0 && code.Used[0] > limit {
			t.Errorf("used %d units, limit %d", code.Used[0], limit)
		}
	}
}

// Stores keep their order among overlapping accesses, a later load waits for
// them, and accesses of other classes move freely.
func TestMemoryOrder(t *testing.T) {
	f := New(newToy(6), "memory")
	v, w := f.Reg(clsS, "v"), f.Reg(clsS, "w")
	f.Emit(opSet, Out(v), Imm(1))
	first := f.Emit(opStore, Imm(0), In(v)).Stores(1)
	load := f.Emit(opLoad, Out(w), Imm(0)).Loads(1)
	other := f.Emit(opStore, Imm(4), In(v)).Stores(2)
	second := f.Emit(opStore, Imm(0), In(w)).Stores(1)
	code := require.V(f.Compile())(t)
	at := map[*Instr]int{}
	for g := range code.Groups {
		for _, in := range code.Groups[g].Instrs {
			at[in] = g
		}
	}
	if !(at[first] < at[load] && at[load] < at[second]) {
		t.Errorf("order: store %d, load %d, store %d", at[first], at[load], at[second])
	}
	if at[other] > at[second] {
		t.Errorf("an independent store waits for its place in source order")
	}
}

func TestWeave(t *testing.T) {
	f := New(newToy(12), "woven")
	emit := func(from, n int) func() {
		return func() {
			for i := range n {
				f.Emit(opSet, Out(f.Reg(clsS, "x")), Imm(int64(from+i)))
			}
		}
	}
	emit(0, 1)()
	f.WeaveStreams(Stream{Emit: emit(10, 2)}, Stream{Emit: emit(20, 6)}, Stream{Emit: func() {}}, Stream{Emit: emit(30, 1)}, Stream{emit(40, 2), 0.7})
	emit(99, 1)()
	var got []int64
	for _, in := range f.blocks[len(f.blocks)-1].instrs {
		got = append(got, in.Args[1].Imm)
	}
	if want := []int64{0, 20, 10, 21, 22, 30, 23, 11, 24, 40, 25, 41, 99}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("woven: %v, want %v", got, want)
	}
	defer func() {
		if recover() == nil {
			t.Error("a stream that ends its block is taken")
		}
	}()
	f.Weave(emit(0, 1), func() { f.Bind(f.Label("within")) })
}
