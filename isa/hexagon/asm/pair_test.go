package asm

import (
	"maps"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/internal/randpacket"
)

// joiningArgs are llvm-mc's arguments without those that keep it from joining instructions.
func joiningArgs() []string {
	return slices.DeleteFunc(slices.Clone(mcArgs), func(s string) bool { return strings.HasPrefix(s, "--mno-") })
}

// TestOraclePairing compares the compounds and duplexes of our assembler with those of llvm-mc on random packets.
func TestOraclePairing(t *testing.T) {
	oracle.Need(t, mcName, "llvm-objcopy-19")
	g := randpacket.New(rand.New(rand.NewSource(seed(9))))
	const n = 20000
	var packets []hexagon.Packet
	var src strings.Builder
	for len(packets) < n {
		if p := g.Pairable(); p.Check() == nil {
			packets = append(packets, p)
			src.WriteString(p.Asm() + "\n")
		}
	}
	dir := t.TempDir()
	in, obj := filepath.Join(dir, "in.s"), filepath.Join(dir, "out.o")
	require.NoError(t, os.WriteFile(in, []byte(src.String()), 0o644))
	if out, err := exec.Command(mcName, append(joiningArgs(), "-o", obj, in)...).CombinedOutput(); err != nil {
		t.Fatalf("llvm-mc: %.3000s", out)
	}
	theirs := textSection(t, obj)
	wrong, duplexes, joined := 0, 0, 0
	for i := range packets {
		text := packets[i].Asm()
		o := require.V(AssembleObject(text, Options{}))(t, text)
		end := 0
		for theirs[end]>>14&3 != 3 && theirs[end]>>14&3 != 0 {
			end++
		}
		got := theirs[:end+1]
		theirs = theirs[end+1:]
		q := &o.Packets[0]
		if q.Duplex {
			duplexes++
		}
		for k := range q.Insts[:q.N] {
			if q.Insts[k].Op.Form().Class == hexagon.CJ {
				joined++
			}
		}
		ours := require.V(q.Encode(nil))(t, text)
		if !slices.Equal(got, ours) {
			if wrong++; wrong <= 20 {
				l, _, err := hexagon.DecodePacket(got, 0)
				t.Errorf("%s\n  ours    %08x %s\n  llvm-mc %08x %s %v", text, ours, q.String(), got, l.String(), err)
			}
		}
	}
	t.Logf("%d packets, %d duplexes, %d compounds, %d differ", n, duplexes, joined, wrong)
}

// TestOraclePairedLegality compares verdicts where instructions may be joined: some packets are legal only then, and a
// branch that becomes half of a duplex stays a branch.
func TestOraclePairedLegality(t *testing.T) {
	oracle.Need(t, mcName)
	g := randpacket.New(rand.New(rand.NewSource(seed(10))))
	const n = 8000
	var lines []string
	for len(lines) < n {
		p := g.Pairable()
		lines = append(lines, p.Asm())
	}
	theirs := legality(t, lines, joiningArgs()...)
	differ, legal := 0, 0
	for i, text := range lines {
		_, err := AssembleObject(text, Options{})
		if err == nil {
			legal++
		}
		if why := theirs[i+1]; (err == nil) != (why == "") {
			if differ++; differ <= 20 {
				t.Errorf("%s: ours %v, llvm-mc %q", text, err, why)
			}
		}
	}
	t.Logf("%d packets, %d legal, %d differ", n, legal, differ)
}

// TestPairedPackets: joining decides whether a packet is legal.
func TestPairedPackets(t *testing.T) {
	for _, c := range []struct {
		text, rule string // none: legal
	}{
		{"{ memw(r29+#4) = r0 ; dealloc_return }", ""},
		{"{ memd(r29+#8) = r1:0 ; if (p0) dealloc_return }", ""},
		{"{ memw(r9+#4) = r0 ; dealloc_return }", "no free slot can run every instruction"}, // r9 is in no sub-instruction
		{"{ if (p0) jump #16 ; r3 = r16 ; jumpr r31 }", "branch cannot share its packet with another branch"},
		{"{ if (p0) jump #16 ; r3 = memw(r29+#4) ; dealloc_return }", "branch cannot share its packet with another branch"},
		{"{ r3 = r16 ; jumpr r31 }", ""},
	} {
		o, err := AssembleObject(c.text, Options{})
		switch {
		case c.rule != "" && (err == nil || !strings.Contains(err.Error(), c.rule)):
			t.Errorf("%s: %v, want %s", c.text, err, c.rule)
		case c.rule == "" && (err != nil || !o.Packets[0].Duplex):
			t.Errorf("%s: %v, want a duplex", c.text, err)
		}
	}
	for _, words := range [][]uint32{
		{0x5c004008, 0x50033fc0}, // if (p0) jump ; r3 = r0, jumpr r31
		{0x5c004008, 0x00103f40}, // if (p0) jump ; r0 = memw(r1), dealloc_return
	} {
		p, _ := require.V2(hexagon.DecodePacket(words, 0))(t)
		require.ErrorContains(t, p.Check(), "branch cannot share its packet with another branch", p.Asm())
	}
}

// TestOracleExtendedDuplex: an extender in front of a duplex widens Rx=add(Rx,#s7) or Rd=#u6 in its high half. llvm-mc puts
// one in front of Rd=add(r29,#u6:2), too; LLVM's disassembler does not read that and neither do we, and our assembler
// keeps a word for each instruction. What it makes LLVM reads as what it was made of.
func TestOracleExtendedDuplex(t *testing.T) {
	oracle.Need(t, mcName, objdumpName, "llvm-objcopy-19")
	read := func(words []uint32) string {
		return strings.Join(slices.Collect(maps.Values(disassembleLLVM(t, words))), " ")
	}
	for _, c := range []struct {
		text    string
		reads   bool // LLVM reads its own output
		duplex  bool // we make one
		listing string
	}{
		{"{ r0 = add(r0,##100000); r1 = memw(r2+#0) }", true, true, "r0 = add(r0,##0x186a0);"},
		{"{ r16 = ##5; memw(r2+#0) = r3 }", true, true, "r16 = ##0x5;"},
		{"{ r0 = ##-2; jumpr r31 }", true, true, "r0 = ##0xfffffffe;"},
		{"{ r0 = add(r29,##100000); r1 = memw(r2+#0) }", true, false, "r0 = add(r29,##0x186a0)"},
		{"{ r0 = add(r29,##6); r1 = memw(r2+#0) }", true, false, "r0 = add(r29,##0x6)"},
		{"{ r0 = add(r29,##100); r1 = memw(r2+#0) }", false, false, "r0 = add(r29,##0x64)"},
		{"{ r16 = add(r29,##4); jumpr r31 }", false, false, "r16 = add(r29,##0x4)"},
	} {
		obj, diag, ok := assembleLLVM(t, c.text, joiningArgs()...)
		if !ok {
			t.Fatalf("%s: %s", c.text, diag)
		}
		theirs := textSection(t, obj)
		if _, _, err := hexagon.DecodePacket(theirs, 0); (err == nil) != c.reads || err != nil && !strings.Contains(err.Error(), "takes none") {
			t.Errorf("%s: %08x of llvm-mc: %v", c.text, theirs, err)
		}
		if strings.Contains(read(theirs), "<unknown>") == c.reads {
			t.Errorf("%s: llvm-objdump reads %08x: %v, want %v", c.text, theirs, !c.reads, c.reads)
		}
		o := require.V(AssembleObject(c.text, Options{}))(t, c.text)
		ours := require.V(o.Packets[0].Encode(nil))(t, c.text)
		if o.Packets[0].Duplex != c.duplex || c.reads && !slices.Equal(ours, theirs) {
			t.Errorf("%s: ours %08x, llvm-mc's %08x", c.text, ours, theirs)
		}
		if got := read(ours); !strings.Contains(got, c.listing) {
			t.Errorf("%s: llvm-objdump reads %08x as %s", c.text, ours, got)
		}
	}
}
