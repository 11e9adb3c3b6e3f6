package dsp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
)

// instructions have registers R, pairs D, predicates P, vectors V, pairs of vectors W and vector predicates Q to fill in.
var instructions = []string{
	"R = add(R,R)", "R = sub(R,R)", "R = R", "R = mux(P,R,R)", "R = swiz(R)", "R += add(R,R)", "R = and(R,R)",
	"D = add(D,D)", "D = sub(D,D)", "D = combine(R,R)", "D = packhl(R,R)", "D = vmux(P,D,D)",
	"if (P) R = add(R,R)", "if (!P) R = add(R,R)", "if (P) D = combine(R,R)",
	"P = cmp.eq(R,R)", "P = cmp.gt(R,R)", "P = cmp.gtu(D,D)", "P = and(P,P)", "P = or(P,!P)", "P = not(P)", "P = R", "R = P",
	"m0 = R", "R = m0", "lc0 = R", "R = lc0", "p3:0 = R", "R = p3:0", "D = c1:0", "c1:0 = D", "cs0 = R", "R = cs0",
	"V.w = vadd(V.w,V.w)", "V = vand(V,V)", "V = V", "W.w = vadd(W.w,W.w)", "W = vcombine(V,V)", "V = vmux(Q,V,V)",
	"Q = vcmp.gt(V.w,V.w)", "Q = and(Q,Q)", "Q = not(Q)", "if (Q) V.w += V.w", "V = vsplat(R)", "W = vswap(Q,V,V)",
}

// instruction fills in registers, few so that instructions of a packet meet in them.
func instruction(r *rand.Rand) string {
	var b strings.Builder
	for _, c := range instructions[r.Intn(len(instructions))] {
		switch n := r.Intn(4); c {
		case 'R':
			fmt.Fprintf(&b, "r%d", n)
		case 'D':
			fmt.Fprintf(&b, "r%d:%d", 2*(n/2)+1, 2*(n/2))
		case 'P', 'V', 'Q':
			fmt.Fprintf(&b, "%c%d", c+'a'-'A', n)
		case 'W':
			fmt.Fprintf(&b, "v%d:%d", 2*(n/2)+1, 2*(n/2))
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// predicate is the number of the predicate that an instruction writes.
func predicate(text string) (n int, ok bool) {
	if len(text) < 3 || text[0] != 'p' || text[2] != ' ' {
		return 0, false
	}
	return int(text[1] - '0'), true
}

// destinations are the registers that an instruction without a condition writes.
func destinations(text string) []string {
	to, _, _ := strings.Cut(text, " ")
	if high, low, ok := strings.Cut(to, ":"); ok {
		return []string{high, high[:1] + low}
	}
	return []string{to}
}

// registers is a state as bytes, without the program counter.
func registers(t *testing.T, st Registers) []byte {
	t.Helper()
	st.PC = 0
	var b bytes.Buffer
	require.NoError(t, binary.Write(&b, binary.LittleEndian, &st))
	return b.Bytes()
}

// TestPacketsAtOnce: a packet has the effects that each of its instructions alone has on the state before it; of
// several values for one predicate, which are ANDed, the bits that all of them set. No two conditional instructions
// have one destination: which one runs depends on their predicates.
func TestPacketsAtOnce(t *testing.T) {
	r := rand.New(rand.NewSource(7))
	tried, merged := 0, 0
	for tried < 1200 {
		list := make([]string, 2+r.Intn(3))
		writers := [4]int{} // of predicates
		conditional := map[string]bool{}
		legal := true
		for i := range list {
			list[i] = instruction(r)
			if to, ok := predicate(list[i]); ok {
				writers[to]++
			}
			if _, then, ok := strings.Cut(list[i], ") "); ok && strings.HasPrefix(list[i], "if") {
				for _, x := range destinations(then) {
					legal = legal && !conditional[x]
					conditional[x] = true
				}
			}
		}
		if !legal {
			continue
		}
		packet := "{ " + strings.Join(list, " ; ") + " }"
		packets, err := asm.Assemble(packet, 0x1000)
		if err != nil || len(packets) != 1 {
			continue // two writers, or no slot
		}
		tried++
		old := randomState(r)
		for i := range 4 {
			old.R[i] &= 3
			old.P[i] = byte(-r.Intn(2))
		}
		before := registers(t, old)
		want := bytes.Clone(before)
		predicates := [4]byte{0xff, 0xff, 0xff, 0xff}
		for _, x := range list {
			st := old
			require.NoError(t, runText(t, "{ "+x+" }", &st, make([]byte, 128)), x)
			for i, b := range registers(t, st) {
				if b != before[i] {
					want[i] = b
				}
			}
			if to, ok := predicate(x); ok {
				predicates[to] &= st.P[to]
			}
		}
		for i, n := range writers {
			if n > 1 {
				want[binary.Size(old.R)+i] = predicates[i]
				merged++
			}
		}
		st := old
		require.NoError(t, runText(t, packet, &st, make([]byte, 128)), packet)
		if got := registers(t, st); !bytes.Equal(got, want) {
			at := 0
			for got[at] == want[at] {
				at++
			}
			t.Errorf("%s: byte %d of the registers is %#x, want %#x", packet, at, got[at], want[at])
		}
	}
	if merged < 8 {
		t.Errorf("%d predicates only of several values", merged)
	}
}
