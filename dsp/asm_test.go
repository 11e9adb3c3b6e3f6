package dsp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand"
	"testing"

	"github.com/nnsoc/nnsoc/dsp/internal/asm"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// TestLayout checks that vectors are in whole cache lines.
func TestLayout(t *testing.T) {
	r := require.V(testCore(t).newRun(&Program{Base: 0, Code: nil}, nil, Options{Functional: true}, 0))(t)
	for i := range 4 {
		if a := uintptr(r.thread(i).At(0)); a%64 != 0 {
			t.Errorf("thread %d lies at %#x", i, a)
		}
	}
}

const (
	scratchBase = 0x4000000
	codeBase    = 0x10000
)

// runOn executes the packets at codeBase one after another on a state and a
// scratch memory, through one table of handlers.
func runOn(t *testing.T, core *coldCore, handlers *asm.Handlers, p *Program, st Registers, scratch []byte) (Registers, []byte) {
	t.Helper()
	inner := *core.Core
	inner.asm = handlers
	c := coldCore{&inner, core.newMemory}
	m := append([]byte(nil), scratch...)
	space := new(mem.Space)
	require.NoError(t, space.Map(mem.Segment{Name: "scratch", Base: scratchBase, Data: m}))
	st.PC = codeBase
	require.V(c.RunThread(p, space, &st, codeBase+uint32(len(p.Code)), Options{Functional: true}))(t)
	return st, m
}

// extremes are words whose sums and products leave the range of their lanes.
var extremes = [...]uint32{
	0, 1, 0xffffffff, 0x80000000, 0x7fffffff, 0x80008000, 0x7fff7fff, 0x7fff8000, 0x80808080, 0x7f7f7f7f, 0x00ff00ff, 0xff80ff80,
}

// randomState has random registers, those of every second state extremes.
func randomState(r *rand.Rand) (st Registers) {
	extreme := r.Intn(2) == 0
	word := func() uint32 {
		if extreme {
			return extremes[r.Intn(len(extremes))]
		}
		return r.Uint32()
	}
	for i := range st.R {
		st.R[i] = word()
	}
	st.R[26], st.R[27] = scratchBase+512, 8
	st.R[29], st.R[30] = st.R[26], st.R[26]
	for i := range st.V {
		for j := 0; j < len(st.V[i]) && extreme; j += 4 {
			binary.LittleEndian.PutUint32(st.V[i][j:], word())
		}
		for j := 0; j < len(st.V[i]) && !extreme; j++ {
			st.V[i][j] = byte(r.Uint32())
			switch r.Intn(8) {
			case 0:
				st.V[i][j] = 0
			case 1:
				st.V[i][j] = 0x7f
			case 2:
				st.V[i][j] = 0x80
			case 3:
				st.V[i][j] = 0xff
			}
		}
	}
	r.Read(st.Z[:])
	for i := range st.Q {
		for j := range st.Q[i] {
			st.Q[i][j] = byte(r.Intn(2))
		}
	}
	r.Read(st.P[:])
	st.M = [2]uint32{256, ^uint32(127)}
	return st
}

// hostHandlers are the handlers of this machine.
func hostHandlers(t *testing.T) *asm.Handlers {
	t.Helper()
	h := asm.Host()
	if h == nil {
		t.Skip("skipped: needs AVX2")
	}
	return h
}

// TestAssembly runs every form through its handler and through its
// Go function.
func TestAssembly(t *testing.T) {
	handlers := hostHandlers(t)
	core := testCore(t)
	r := rand.New(rand.NewSource(3))
	scratch := make([]byte, scratchSize)
	r.Read(scratch)
	covered := 0
	for _, f := range hexagon.Forms() {
		if handlers.ByOp[f.Op] != 0 {
			covered++
		}
		for range 12 {
			p, words, ok := randomSingle(t, r, &f)
			if !ok {
				continue
			}
			prog := &Program{Base: codeBase, Code: hexagon.Bytes(words)}
			st := randomState(r)
			want, wantMem := runOn(t, core, nil, prog, st, scratch)
			got, gotMem := runOn(t, core, handlers, prog, st, scratch)
			if got != want || !bytes.Equal(gotMem, wantMem) {
				t.Errorf("%s differs from Go", p.Asm())
			}
		}
	}
	t.Logf("%d forms with a handler", covered)
}

// TestAssemblySequences runs random legal packets in long blocks.
func TestAssemblySequences(t *testing.T) {
	handlers := hostHandlers(t)
	core := testCore(t)
	r := rand.New(rand.NewSource(4))
	scratch := make([]byte, scratchSize)
	r.Read(scratch)
	forms := hexagon.Forms()
	for range 40 {
		var words []uint32
		var text []string
		for len(text) < 25 {
			p := randomPacket(r, forms)
			if p.Check() != nil || p.Order() != nil || !wellDefined(&p) || movesBase(&p) {
				continue
			}
			w, err := p.Encode(words)
			if err != nil {
				continue
			}
			words = w
			text = append(text, p.Asm())
		}
		prog := &Program{Base: codeBase, Code: hexagon.Bytes(words)}
		st := randomState(r)
		want, wantMem := runOn(t, core, nil, prog, st, scratch)
		got, gotMem := runOn(t, core, handlers, prog, st, scratch)
		if got != want || !bytes.Equal(gotMem, wantMem) {
			t.Errorf("differs from Go:\n%v", text)
		}
	}
}

// movesBase reports packets that change the address registers, which would
// lead later packets out of the scratch memory.
func movesBase(p *hexagon.Packet) bool {
	for i := range p.Insts[:p.N] {
		in := &p.Insts[i]
		f := in.Op.Form()
		if in.Op == hexagon.S2_allocframe || in.Op == hexagon.L2_deallocframe || in.Op == hexagon.A2_tfrrcr || in.Op == hexagon.A4_tfrpcp {
			return true
		}
		for k := range f.Operands {
			o := &f.Operands[k]
			if o.Role&hexagon.Def != 0 && o.Kind == hexagon.KindR && in.R[o.Index] >= 26 {
				return true
			}
		}
	}
	return false
}

// TestAssemblyBranches runs every jump, call and return through its handlers and through Go: the next packet and the
// state of the thread must be the same.
func TestAssemblyBranches(t *testing.T) {
	handlers := hostHandlers(t)
	core := testCore(t)
	r := rand.New(rand.NewSource(5))
	ran := map[hexagon.Op]bool{}
	for _, f := range hexagon.Forms() {
		if !f.Has(hexagon.FlagBranch) || f.Has(hexagon.FlagLoop|hexagon.FlagSolo|hexagon.FlagPredNew) {
			continue
		}
		plain := f
		plain.Op = 0 // returns, too
		plain.Flags &^= hexagon.FlagBranch | hexagon.FlagNewJump
		for range 40 {
			in, ok := randomInst(r, &plain)
			if !ok {
				break
			}
			in.Op = f.Op
			p := hexagon.Packet{N: 1}
			for i := range f.Operands {
				o := &f.Operands[i]
				if o.PCRel {
					in.Imm[o.Index] &^= 3
				}
				if o.Kind == hexagon.KindNR {
					p.Insts[0] = hexagon.Inst{Op: hexagon.A2_add}
					p.Insts[0].R[0], p.Insts[0].R[1], p.Insts[0].R[2] = in.R[o.Index], uint8(r.Intn(4)), uint8(r.Intn(4))
					p.N = 2
				}
			}
			p.Insts[p.N-1] = in
			words, err := p.Encode(nil)
			if err != nil || p.Check() != nil {
				continue
			}
			st := randomState(r)
			for i := range 26 { // often equal, often near the immediates
				st.R[i] = uint32(r.Intn(5) - 2)
			}
			st.R[24] = scratchBase + 512
			prog := &Program{Base: codeBase, Code: hexagon.Bytes(words)}
			run := func(h *asm.Handlers) (Registers, string) {
				c := *core
				c.asm = h
				space := new(mem.Space)
				require.NoError(t, space.Map(mem.Segment{Name: "scratch", Base: scratchBase, Data: bytes.Repeat([]byte{1, 2, 3, 4}, scratchSize/4)}))
				st := st
				st.PC = codeBase
				rep, err := c.RunThread(prog, space, &st, 8, Options{MaxPackets: 1})
				return st, fmt.Sprint(rep, err)
			}
			want, wantErr := run(nil)
			ran[f.Op] = true
			if got, gotErr := run(handlers); got != want || gotErr != wantErr {
				t.Errorf("%s differs from Go: %s, %s", p.Asm(), gotErr, wantErr)
			}
		}
	}
	for op := range handlers.ByOp {
		f := hexagon.Op(op).Form()
		if handlers.ByOp[op] != 0 && f.Has(hexagon.FlagBranch) && !f.Has(hexagon.FlagLoop) && !ran[hexagon.Op(op)] {
			t.Errorf("%s has not run", f.Name)
		}
	}
	t.Logf("%d forms", len(ran))
}
