package linux

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
	"github.com/nnsoc/nnsoc/isa/hexagon/object"
)

// helloELF is a program that writes its data segment and exits with 0.
func helloELF(tb testing.TB, text string) []byte {
	const code, data = 0x10000, 0x30000
	stub := hexagon.Stub{Dump: []hexagon.MemRange{{Addr: data, Len: uint32(len(text))}}}
	b := require.V(stub.Code(code))(tb)
	im := object.Image{Entry: code, Segments: []object.Segment{
		{Addr: code, Data: b, Exec: true}, {Addr: data, Data: []byte(text), Write: true},
	}}
	elf := require.V(im.ELF())(tb)
	return elf
}

func TestExec(t *testing.T) {
	im := require.V(LoadELF(helloELF(t, "hello from the DSP\n")))(t)
	c := testCore(t)
	var out bytes.Buffer
	p := Process{Image: im, Args: []string{"hello"}, Stdout: &out, Stderr: &out}
	r := require.V(c.Exec([]*Process{&p}, dsp.Options{}))(t)
	if out.String() != "hello from the DSP\n" || p.Status != 0 {
		t.Errorf("output %q, status %d", out.String(), p.Status)
	}
	if r.Instructions == 0 || r.Stalls.Total() == 0 {
		t.Errorf("report %+v", r)
	}
}

// decisions writes a hash of the results of decbin for every state, either symbol, every quarter of the range, and an
// offset in the range of the more and of the less probable symbol.
const decisions = `
_start:
	{ r16 = #0 ; r20 = #0 }
	{ r10 = #1024 }
	{ loop0(1f,r10) }
1:	{ r6 = extractu(r20,#2,#7) }
	{ r0 = asl(r6,#29) ; r2 = #0 }
	{ r0 = or(r0,##0x81234567) ; r3 = and(r20,#63) }
	{ r7 = extractu(r20,#1,#6) ; r8 = extractu(r20,#1,#9) }
	{ r3 |= asl(r7,#8) ; r1 = mpyi(r0,r8) }
	{ r5:4 = decbin(r1:0,r3:2) }
	{ r16 = add(r4,mpyi(r16,#31)) ; r6 = p0 }
	{ r16 = add(r5,mpyi(r16,#31)) }
	{ r16 = add(r6,mpyi(r16,#31)) ; r20 = add(r20,#1) } :endloop0
	{ r1 = add(r29,#-8) ; r2 = #4 }
	{ memw(r1+#0) = r16 ; r0 = #1 ; r6 = #64 }
	trap0(#1)
	{ r0 = #0 ; r6 = #93 }
	trap0(#1)
`

// TestDecisions: the hash equals that of qemu-hexagon, as TestOracleAssembled shows; the tables are those of H.264.
func TestDecisions(t *testing.T) {
	im := require.V(LoadELF(executable(t, decisions)))(t)
	for _, functional := range []bool{false, true} {
		var out bytes.Buffer
		p := Process{Image: im, Args: []string{"decisions"}, Stdout: &out, Stderr: &out}
		require.V(testCore(t).Exec([]*Process{&p}, dsp.Options{Functional: functional}))(t)
		require.Same(t, "50455245", fmt.Sprintf("%x", out.Bytes()), "hash")
	}
}

func FuzzLoadELF(f *testing.F) {
	f.Add(helloELF(f, "x"))
	f.Add([]byte("\x7fELF"))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = LoadELF(data) })
}

// codeSegment assembles packets at an address.
func codeSegment(t *testing.T, addr uint32, text string) object.Segment {
	t.Helper()
	pk := require.V(asm.Assemble(text, addr))(t)
	w := require.V(hexagon.EncodeAll(nil, pk))(t)
	return object.Segment{Addr: addr, Data: hexagon.Bytes(w), Exec: true}
}

// segmentsELF is an executable with segments at any place: the writer requires separate pages for them.
func segmentsELF(t *testing.T, list []object.Segment) []byte {
	t.Helper()
	im := object.Image{Entry: list[0].Addr, Segments: slices.Clone(list)}
	apart := uint32(0)
	for i := range im.Segments {
		s := &im.Segments[i]
		s.Addr = (apart+pageBytes-1)&^(pageBytes-1) + s.Addr%pageBytes
		apart = s.Addr + max(s.Size, uint32(len(s.Data)))
	}
	im.Entry = im.Segments[0].Addr
	b := require.V(im.ELF())(t)
	binary.LittleEndian.PutUint32(b[24:], list[0].Addr)
	for i := range list {
		h := b[binary.LittleEndian.Uint32(b[28:])+32*uint32(i):]
		binary.LittleEndian.PutUint32(h[8:], list[i].Addr)
		binary.LittleEndian.PutUint32(h[12:], list[i].Addr)
	}
	return b
}

// TestSegments runs programs whose segments are in unusual places. Those without a fault exit with 42.
func TestSegments(t *testing.T) {
	const exit = "{ r6 = #94 }\n trap0(#1)\n"
	writable := func(s object.Segment) object.Segment { s.Write = true; return s }
	word := func(addr uint32, v byte, write bool) object.Segment {
		return object.Segment{Addr: addr, Data: []byte{v, 0, 0, 0}, Write: write}
	}
	for _, c := range []struct {
		name     string
		segments []object.Segment
		kind     dsp.FaultKind
		packet   uint32
		rule     string // none: exits with 42
	}{
		{"two of code, data between", []object.Segment{
			codeSegment(t, 0x20000, "{ r1 = ##0x30000 }\n call ##0x1fff8\n{ r0 = add(r0,#2) }\n"+exit),
			word(0x30000, 40, false), codeSegment(t, 0x40000, "{ r0 = memw(r1+#0) ; jumpr r31 }\n")}, 0, 0, ""},
		{"code as data, of the second one too", []object.Segment{
			codeSegment(t, 0x20000, "{ r1 = ##0x40000 }\n{ r0 = memw(r1+#0) }\n{ r0 = and(r0,#0) }\n{ r0 = add(r0,#42) }\n"+exit), codeSegment(t, 0x40000, "nop\n")}, 0, 0, ""},
		{"a jump between two of code", []object.Segment{
			codeSegment(t, 0x20000, "jump ##0x10000\n"), word(0x30000, 40, false), codeSegment(t, 0x40000, "nop\n")}, dsp.FaultJump, 0x20000, "jump to 0x30000, which is outside the program"},
		{"code that runs into a gap", []object.Segment{
			codeSegment(t, 0x20000, "nop\n"), codeSegment(t, 0x40000, "nop\n")}, dsp.FaultJump, 0x20000, "code runs on to 0x20004, which is outside"},
		{"a packet that its segment cuts", []object.Segment{
			{Addr: 0x20000, Data: hexagon.Bytes([]uint32{0x7f004000}), Exec: true}, codeSegment(t, 0x40000, "nop\n")}, dsp.FaultIllegal, 0x20000, "ends inside a packet"},
		{"data behind code that may be written", []object.Segment{
			writable(codeSegment(t, 0x20000, "{ r1 = ##0x20020 }\n{ memw(r1+#0) = #42 }\n{ r0 = memw(r1+#0) }\n"+exit+"nop\nnop\n"))}, 0, 0, ""},
		{"code that changes itself", []object.Segment{
			writable(codeSegment(t, 0x20000, "{ r1 = ##0x20000 }\n{ memw(r1+#8) = #42 }\n"+exit))}, dsp.FaultIllegal, 0x20008, "self-modifying"},
		{"code that must not be written", []object.Segment{
			codeSegment(t, 0x20000, "{ r1 = ##0x20020 }\n{ memw(r1+#0) = #42 }\n{ r0 = memw(r1+#0) }\n"+exit+"nop\nnop\n")}, dsp.FaultMemory, 0x20008, "read-only"},
		{"the vectors around a word", []object.Segment{
			codeSegment(t, 0x20000, "{ r1 = ##0x37010 }\n{ v0 = vmem(r1+#0) }\n{ v1 = vmem(r1+#-1) }\n{ v2 = vmem(r1+#1) }\n{ r0 = memw(r1+#0) }\n"+exit), word(0x37010, 42, false)}, 0, 0, ""},
		{"two segments in a page, the second may be written", []object.Segment{
			codeSegment(t, 0x20000, "{ r1 = ##0x30010 }\n{ memw(r1+#4) = #42 }\n{ r0 = memw(r1+#4) }\n"+exit), word(0x30000, 1, false), word(0x30010, 2, true)}, 0, 0, ""},
		{"two segments in a page, the first may not", []object.Segment{
			codeSegment(t, 0x20000, "{ r1 = ##0x3000c }\n{ memw(r1+#0) = #42 }\n"+exit), word(0x30000, 1, false), word(0x30010, 2, true)}, dsp.FaultMemory, 0x20008, "read-only"},
		{"the page behind the last segment", []object.Segment{
			codeSegment(t, 0x20000, "{ r1 = ##0x3fffc }\n{ r0 = memw(r1+#0) }\n{ r0 = memw(r1+#4) }\n"+exit), word(0x30000, 1, true)}, dsp.FaultMemory, 0x2000c, "not mapped"},
		{"the page before it", []object.Segment{
			codeSegment(t, 0x20000, "{ r1 = ##0x40000 }\n{ r0 = memw(r1+#0) }\n{ v0 = vmem(r1+#-1) }\n"+exit), word(0x48000, 1, true)}, dsp.FaultMemory, 0x2000c, "not mapped"},
	} {
		im, err := LoadELF(segmentsELF(t, c.segments))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		p := &Process{Image: im, Stdout: io.Discard, Stderr: io.Discard}
		_, err = testCore(t).Exec([]*Process{p}, dsp.Options{})
		var e *dsp.Error
		switch {
		case c.rule == "":
			if err != nil || p.Status != 42 {
				t.Errorf("%s: status %d, %v", c.name, p.Status, err)
			}
		case !errors.As(err, &e) || e.Kind != c.kind || e.Packet != c.packet || !strings.Contains(e.Rule, c.rule):
			t.Errorf("%s: %v, want kind %d at %#x: %s", c.name, err, c.kind, c.packet, c.rule)
		}
	}
}

// TestBadSegments: invalid layouts are errors that name the defect.
func TestBadSegments(t *testing.T) {
	code := codeSegment(t, 0x20000, "nop\n")
	many := []object.Segment{code}
	for i := range uint32(maxLoads) {
		many = append(many, object.Segment{Addr: 0x100000 + i*pageBytes, Data: []byte{1}})
	}
	wide := []object.Segment{code}
	for i := range uint32(9) {
		wide = append(wide, object.Segment{Addr: 0x100000 + i*(120<<20), Data: []byte{1}, Size: 120 << 20, Write: true})
	}
	for _, c := range []struct {
		segments []object.Segment
		want     string
	}{
		{[]object.Segment{code, {Addr: 0x20002, Data: []byte{1}}}, "segment 1 at 0x20002 overlaps segment 0, which ends at 0x20004"},
		{many, "257 segments"},
		{wide, "segments of more than 1073741824 bytes"},
		{[]object.Segment{code, codeSegment(t, 0x20000+maxCodeBytes, "nop\n")}, "executable segments from 0x20000 to 0x10020004"},
		{[]object.Segment{{Addr: heapBase, Data: []byte{1, 2, 3, 4}, Exec: true}}, "above 0x60000000"},
	} {
		require.ErrorContains(t, require.Err(LoadELF(segmentsELF(t, c.segments))), c.want)
	}
}
