package dsp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// countedLoop reads the counters before and after a loop of 100 packets.
const countedLoop = `
	{ r1:0 = c15:14 }
	{ r3:2 = c19:18 }
	{ r5:4 = c31:30 }
	loop0(1f,#50)
1:	{ r20 = add(r20,#1) }
	{ r21 = add(r21,#1) }:endloop0
	{ r9:8 = c15:14 }
	{ r11:10 = c19:18 }
	{ r13:12 = c31:30 }
	{ r14 = c14 }
	{ r15 = c18 }
	{ r16 = c30 }
	{ r17 = c31 }
`

// TestCounters: upcycle is the cycle of the core at which the packet issues, pktcount the packets of the thread before
// it, utimer the simulated time. Without the timing model a packet costs a cycle.
func TestCounters(t *testing.T) {
	c := testCore(t)
	s := c.Spec()
	for _, functional := range []bool{false, true} {
		t.Run(fmt.Sprintf("functional %v", functional), func(t *testing.T) {
			p := assemble(t, codeBase, countedLoop)
			var st Registers
			st.PC = codeBase
			rep := require.V(c.RunThread(p, new(mem.Space), &st, codeBase+uint32(len(p.Code)), Options{Functional: functional}))(t)
			at := func(r int) int64 { return int64(st.R[r]) | int64(st.R[r+1])<<32 }
			slot := int64(s.AloneInterval)
			if functional {
				slot = 1
			}
			ticks := func(cycle int64) int64 { return cycle * UTIMERHz / s.ClockHz }
			begin, end := at(0), at(8)
			if begin < 0 || functional && begin != 0 || !functional && end > rep.Cycles {
				t.Errorf("upcycle %d and %d of %d", begin, end, rep.Cycles)
			}
			if d, least := end-begin, 104*slot; d < least || d > least+least/4 || functional && d != least {
				t.Errorf("%d cycles for 104 packets of at least %d", d, slot)
			}
			if at(2) != 1 || at(10) != 105 || st.R[15] != 108 {
				t.Errorf("pktcount %d, %d, %d", at(2), at(10), st.R[15])
			}
			if at(4) != ticks(begin+2*slot) || at(12) != ticks(end+2*slot) || at(12) == at(4) {
				t.Errorf("utimer %d at cycle %d, %d at cycle %d", at(4), begin+2*slot, at(12), end+2*slot)
			}
			if int64(st.R[14]) != end+3*slot || int64(st.R[16]) != ticks(end+5*slot) || st.R[17] != 0 {
				t.Errorf("low halves: upcycle %d, utimer %d and %d", st.R[14], st.R[16], st.R[17])
			}
		})
	}
}

// TestCountersBehind: however few packets precede a read in straight code, it counts all of them.
func TestCountersBehind(t *testing.T) {
	s := testSpec(t)
	s.AloneInterval = s.IssueInterval // whatever the packets need of each other
	c := require.V(newCold(s))(t)
	slot := uint32(s.IssueInterval)
	for n := range uint32(4) {
		for _, k := range []struct {
			read   string
			cycles bool
		}{{"r0 = c14", true}, {"r1:0 = c15:14", true}, {"r0 = c18", false}, {"r1:0 = c19:18", false}} {
			for _, functional := range []bool{false, true} {
				p := assemble(t, codeBase, "{ r2 = c14 }\n"+strings.Repeat("{ r20 = add(r20,#1) }\n", int(n))+"{ "+k.read+" }\n")
				st := Registers{PC: codeBase}
				require.V(c.RunThread(p, new(mem.Space), &st, codeBase+uint32(len(p.Code)), Options{Functional: functional}))(t)
				want := n + 1
				switch {
				case k.cycles && functional:
					want += st.R[2]
				case k.cycles:
					want = st.R[2] + want*slot
				}
				if st.R[0] != want || st.R[20] != n {
					t.Errorf("%s behind %d packets, functional %v: %d, want %d", k.read, n+1, functional, st.R[0], want)
				}
			}
		}
	}
}

// Reading a counter moves no other packet in time.
func TestCountersCostTheirPacket(t *testing.T) {
	c := testCore(t)
	cycles := func(text string) int64 {
		p := assemble(t, codeBase, text)
		var st Registers
		st.PC = codeBase
		rep := require.V(c.RunThread(p, new(mem.Space), &st, codeBase+uint32(len(p.Code)), Options{}))(t)
		return rep.Cycles
	}
	for _, read := range []string{"r1:0 = c15:14", "r0 = c18", "r1:0 = c31:30"} {
		text := "\tloop0(1f,#20)\n1:\t{ r20 = add(r20,#1) }\n\t{ %s }\n\t{ r21 = add(r21,#1) }:endloop0\n"
		if got, want := cycles(fmt.Sprintf(text, read)), cycles(fmt.Sprintf(text, "r0 = #1")); got != want {
			t.Errorf("{ %s }: %d cycles, with another instruction %d", read, got, want)
		}
	}
}

// Counters cannot be written, and the registers around them are not there.
func TestCounterErrors(t *testing.T) {
	c := testCore(t)
	for _, text := range []string{"c15:14 = r1:0", "c18 = r0", "c31:30 = r1:0", "r0 = c16", "r1:0 = c17:16"} {
		p := assemble(t, codeBase, "\t{ "+text+" }\n")
		var st Registers
		st.PC = codeBase
		if _, err := c.RunThread(p, new(mem.Space), &st, codeBase+uint32(len(p.Code)), Options{}); err == nil {
			t.Errorf("{ %s } runs", text)
		}
	}
}
