package hvxtest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Golden compares a kernel's key and inner loops with testdata/NAME.golden, NAME being
// the kernel's name, and writes the file if update is set.
func Golden(t *testing.T, update bool, m hvx.Machine, k hvx.Kernel) {
	t.Helper()
	code := require.V(hvx.Compile(k, m))(t)
	program, _ := require.V2(code.Link(codeBase))(t)
	got := describe(k, program)
	path := filepath.Join("testdata", k.Name()+".golden")
	if update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, got, 0o644))
		return
	}
	want := require.V(os.ReadFile(path))(t)
	if !bytes.Equal(got, want) {
		t.Errorf("%s has changed, -update accepts:\n%s", path, diff(want, got))
	}
}

// describe is the text of a golden: the key, then each inner loop, packet by packet.
func describe(k hvx.Kernel, program *hvx.Linked) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "%#v\n%d packets\n", k, len(program.Packets))
	for _, l := range innerLoops(program) {
		fmt.Fprintf(&out, "\nloop of %d packets\n", l.last-l.first+1)
		for i := l.first; i <= l.last; i++ {
			p := &program.Packets[i]
			words, err := p.Encode(nil)
			if err != nil {
				panic(fmt.Sprintf("kerneltest: %v", err)) // it has been encoded before
			}
			fmt.Fprintf(&out, "%s // %s\n", p.Asm(), strings.Trim(fmt.Sprintf("%08x", words), "[]"))
		}
	}
	return out.Bytes()
}

// loop is a range of packets that repeats.
type loop struct{ first, last int }

// innerLoops are the hardware loops and the backward branches without another inside.
func innerLoops(program *hvx.Linked) (inner []loop) {
	at := map[uint32]int{} // packet of an address
	for i := range program.Packets {
		at[program.Packets[i].Addr] = i
	}
	var all []loop
	var starts [2]int // of the hardware loops
	for i := range program.Packets {
		p := &program.Packets[i]
		for _, in := range p.Insts[:p.N] {
			f := in.Op.Form()
			switch {
			case f.Has(hexagon.FlagLoop):
				starts[hardwareLoop(in.Op)] = at[p.Addr+uint32(in.Imm[f.Operands[0].Index])]
			case f.Has(hexagon.FlagBranch):
				for _, o := range f.Operands {
					if to, ok := at[p.Addr+uint32(in.Imm[o.Index])]; o.Kind == hexagon.KindImm && ok && to <= i {
						all = append(all, loop{to, i})
					}
				}
			}
		}
		for n, ends := range [2]bool{p.EndLoop0, p.EndLoop1} {
			if ends {
				all = append(all, loop{starts[n], i})
			}
		}
	}
	for _, l := range all {
		holds := false
		for _, other := range all {
			holds = holds || other != l && other.first >= l.first && other.last <= l.last
		}
		if !holds {
			inner = append(inner, l)
		}
	}
	return inner
}

// hardwareLoop is the loop that an instruction sets up: J2_loop0i, J2_loop1r and so on.
func hardwareLoop(op hexagon.Op) int {
	if strings.HasPrefix(op.String(), "J2_loop1") {
		return 1
	}
	return 0
}

// diff shows the first lines that differ.
func diff(want, got []byte) string {
	w, g := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range max(len(w), len(g)) {
		line := func(l []string) string {
			if i < len(l) {
				return l[i]
			}
			return "(nothing)"
		}
		if a, b := line(w), line(g); a != b {
			return fmt.Sprintf("line %d\n- %s\n+ %s", i+1, a, b)
		}
	}
	return "nothing"
}
