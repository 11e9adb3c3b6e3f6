package hexagon

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon/internal/formgen"
)

func parseTable(t *testing.T) []formgen.Row {
	t.Helper()
	text := require.File(t, "forms.txt")
	rows := require.V(formgen.Parse(string(text)))(t)
	return rows
}

// TestGenerated fails when zops.go or the manual is older than forms.txt.
func TestGenerated(t *testing.T) {
	rows := parseTable(t)
	ops := require.V(formgen.Ops(rows))(t)
	for _, f := range []struct {
		path string
		want []byte
	}{
		{"zops.go", ops},
		{filepath.Join("..", "..", "docs", "isa", "hexagon.md"), formgen.Manual(rows)},
	} {
		got := require.File(t, f.path)
		if !bytes.Equal(got, f.want) {
			t.Errorf("%s is not what forms.txt generates: run go generate", f.path)
		}
	}
}

// TestTableFaults checks that the generator notices a damaged table.
func TestTableFaults(t *testing.T) {
	text := require.V(os.ReadFile("forms.txt"))(t)
	row := "A2_add            Rd = add(Rs,Rt)                    11110011000sssssPP0ttttt000ddddd"
	if !strings.Contains(string(text), row) {
		t.Fatal("the row of A2_add has moved")
	}
	for _, c := range []struct{ row, want string }{
		{strings.Replace(row, "ddddd", "dddd0", 1), "encoding bits"},
		{strings.Replace(row, "sssss", "zzzzz", 1), "no operand"},
		{strings.Replace(row, "PP0", "PP00", 1), "33 encoding bits"},
		{strings.Replace(row, "11110011000", "11110011001", 1), "can encode the same word"},
	} {
		require.ErrorContains(t, require.Err(formgen.Parse(strings.Replace(string(text), row, c.row, 1))), c.want, c.row)
	}
}

// TestFormsAgainstLLVM compares the facts in our table with the LLVM extract.
func TestFormsAgainstLLVM(t *testing.T) {
	data := require.File(t, filepath.Join("testdata", "isa_v66.tsv"))
	type fact struct{ mask, match, slots, cycles string }
	facts := map[string]fact{}
	for _, l := range strings.Split(string(data), "\n")[1:] {
		if f := strings.Split(l, "\t"); len(f) >= 8 {
			facts[f[0]] = fact{f[4], f[5], f[6], strings.ReplaceAll(strings.Trim(f[7], "[]"), " ", "")}
		}
	}
	for _, r := range parseTable(t) {
		f, ok := facts[r.Name]
		if !ok {
			t.Errorf("%s is not in the extract", r.Name)
			continue
		}
		var mask, match uint32
		for _, x := range []struct {
			s string
			v *uint32
		}{{f.mask, &mask}, {f.match, &match}} {
			for _, c := range x.s {
				*x.v = *x.v<<4 | uint32(strings.IndexRune("0123456789abcdef", c))
			}
		}
		if r.Mask&mask != mask || r.Match&mask != match&mask {
			t.Errorf("%s: mask %08x match %08x, extract %s %s", r.Name, r.Mask, r.Match, f.mask, f.match)
		}
		if r.Cycles != f.cycles && !(r.Cycles == "-" && f.cycles == "") {
			t.Errorf("%s: cycles %s, extract %s", r.Name, r.Cycles, f.cycles)
		}
		slots, _, _ := strings.Cut(f.slots, " ")
		if want := strings.NewReplacer("S", "", "/", "").Replace(slots); strings.TrimSuffix(r.Slots, "+1") != want {
			t.Errorf("%s: slots %s, extract %s", r.Name, r.Slots, f.slots)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	nop := uint32(0x7f00c000)
	more := nop&^(3<<parseShift) | parseMore<<parseShift
	for _, c := range []struct {
		words []uint32
		want  string
	}{
		{nil, "code ends inside a packet"},
		{[]uint32{more}, "code ends inside a packet"},
		{[]uint32{more, more, more, more}, "within four words"},
		{[]uint32{0xe0002000}, "reserved class of duplex"},
		{[]uint32{0xffffffff}, "no known instruction form"},
		{[]uint32{0x00004000, nop}, "takes none"},
		{[]uint32{0x00004001, 0x4d900021}, "sub-instruction that takes none"}, // r0 = add(r29,##100) ; r1 = memw(r2), of llvm-mc
		{[]uint32{0x20001f80}, "no known sub-instruction"},
		{[]uint32{0x00004000, 0x00004000, nop}, "two constant extenders"},
		{[]uint32{0x0000c000}, "ends the packet"},
		{[]uint32{more, more, nop&^(3<<parseShift) | parseLoopEnd<<parseShift, nop}, "third word"},
		{[]uint32{0xa1a3d202}, "before the packet"},
		{[]uint32{0x1c60c081}, "odd vector register pair"},
	} {
		_, _, err := DecodePacket(c.words, 0x40)
		require.ErrorContains(t, err, c.want, c.words)
	}
}

// TestBytes checks the memory order of code words.
func TestBytes(t *testing.T) {
	w := []uint32{0x01020304, 0xaabbccdd}
	if got := Bytes(w); binary.LittleEndian.Uint32(got[4:]) != w[1] || Words(got)[0] != w[0] {
		t.Errorf("%x", got)
	}
}
