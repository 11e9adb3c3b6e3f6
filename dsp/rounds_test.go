package dsp

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"math/rand"
	"testing"

	"github.com/nnsoc/nnsoc/dsp/internal/asm"
	"github.com/nnsoc/nnsoc/dsp/internal/state"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	hexasm "github.com/nnsoc/nnsoc/isa/hexagon/asm"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// roundsText are bodies of hardware loop 0; r26 points to the scratch memory.
var roundsText = []string{
	"{ r2 = add(r2,#1) ; nop }",
	"{ memb(r1++#1) = r2 ; r2 = add(r2,#3) }",
	"{ r3 = memw(r1++#4) }\n{ r2 = add(r2,r3) ; memw(r26+#0) = r2.new }",
	"{ v0 = vmem(r1++#1) }\n{ v0.w = vadd(v0.w,v1.w) ; vmem(r4++#1) = v0.new }",
	"{ v0 = vmemu(r1++#1) }\n{ v1 = vxor(v1,v0) ; vmemu(r4++#1) = v0 }\n{ memh(r26+#2) += r2 ; r2 = add(r2,#7) }",
	"{ p0 = tstbit(r2,#0) ; r2 = lsr(r2,#1) }\n{ if (p0) r3 = memw(r1+#0) ; if (!p0) memw(r4+#4) = r5 ; r1 = add(r1,#4) }\n{ r2 = add(r2,r3) ; nop }",
	"{ dcfetch(r1+#0) }\n{ r3 = memub(r1++#1) ; r2 = add(r2,r3) }",
	"{ r5 = lc0 }\n{ r2 = add(r2,r5) ; nop }",                                                            // reads the count
	"{ r1:0 = vaddub(r1:0,r3:2) ; r26 = add(r26,#64) ; r7 = memw(r26+#0) }\n{ r2 += mpyi(r7,r7) ; nop }", // leaves the memory
}

// TestRounds runs loops with several rounds at once and one by one, in assembly and in Go, timed and not: state, memory
// and report must be the same, and so must a fault, in whatever round it occurs.
func TestRounds(t *testing.T) {
	r := rand.New(rand.NewSource(11))
	scratch := make([]byte, 1<<15)
	r.Read(scratch)
	var loops [][]hexagon.Packet
	for _, text := range roundsText {
		p := require.V(hexasm.Assemble(text+":endloop0", codeBase))(t)
		loops = append(loops, p)
	}
	forms := hexagon.Forms()
	for range 60 {
		var body []hexagon.Packet
		for len(body) < 1+r.Intn(6) {
			if p := randomPacket(r, forms); p.Check() == nil && p.Order() == nil && wellDefined(&p) && !movesBase(&p) && !branches(&p) {
				body = append(body, p)
			}
		}
		body[len(body)-1].EndLoop0 = true
		if body[len(body)-1].Check() == nil {
			loops = append(loops, body)
		}
	}
	tables := []*asm.Handlers{asm.Host(), nil}
	ran := 0
	for i, body := range loops {
		words, err := hexagon.EncodeAll(nil, body)
		if err != nil {
			continue
		}
		st := randomState(r)
		st.R[1], st.R[4] = scratchBase+1024, scratchBase+4096+uint32(r.Intn(100))*128
		st.SA[0], st.LC[0] = codeBase, uint32(r.Intn(40)*r.Intn(40))
		st.USR &^= state.LPCFG
		prog := &Program{Base: codeBase, Code: hexagon.Bytes(words)}
		run := func(handlers *asm.Handlers, single, functional bool, limit int64) string {
			c := *testCore(t)
			c.asm, c.single = handlers, single
			m := bytes.Clone(scratch)
			space := new(mem.Space)
			require.NoError(t, space.Map(mem.Segment{Name: "scratch", Base: scratchBase, Data: m}))
			st := st
			st.PC = codeBase
			var prof Profile
			rep, err := c.RunThread(prog, space, &st, codeBase+uint32(len(prog.Code)), Options{Functional: functional, MaxPackets: limit, Profile: &prof})
			if e := new(Error); err != nil && !errors.As(err, &e) {
				t.Fatal(err)
			}
			if err != nil && limit != 0 { // the limit counts rounds that have begun
				return err.Error()
			}
			return fmt.Sprintln(err, rep, prof, st, bytes.Equal(m, scratch), crc32.ChecksumIEEE(m))
		}
		for _, limit := range []int64{0, int64(st.LC[0]) * int64(len(body)) / 2} {
			for _, functional := range []bool{false, true} {
				want := run(nil, true, functional, limit)
				for k, handlers := range tables {
					if got := run(handlers, false, functional, limit); got != want {
						t.Errorf("loop %d, table %d, functional %v, limit %d: several rounds at once differ from one by one:\n%.300s\n%.300s", i, k, functional, limit, got, want)
					}
				}
			}
		}
		ran++
	}
	if ran < len(roundsText)+20 {
		t.Errorf("%d loops only", ran)
	}
}

func branches(p *hexagon.Packet) bool {
	for i := range p.Insts[:p.N] {
		if f := p.Insts[i].Op.Form(); f.Has(hexagon.FlagBranch) || f.Has(hexagon.FlagLoop) {
			return true
		}
	}
	return false
}
