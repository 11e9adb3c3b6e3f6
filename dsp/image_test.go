package dsp

import (
	"bytes"
	"testing"

	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// helloELF is a program that writes its data segment and exits with 0.
func helloELF(tb testing.TB, text string) []byte {
	const code, data = 0x10000, 0x30000
	stub := hexagon.Stub{Dump: []hexagon.MemRange{{Addr: data, Len: uint32(len(text))}}}
	b, err := stub.Code(code)
	if err != nil {
		tb.Fatal(err)
	}
	im := hexagon.Image{Entry: code, Segments: []hexagon.Segment{
		{Addr: code, Data: b, Exec: true}, {Addr: data, Data: []byte(text), Write: true},
	}}
	elf, err := im.ELF()
	if err != nil {
		tb.Fatal(err)
	}
	return elf
}

func TestExec(t *testing.T) {
	im, err := LoadELF(helloELF(t, "hello from the DSP\n"))
	if err != nil {
		t.Fatal(err)
	}
	c := testCore(t)
	var out bytes.Buffer
	p := Process{Image: im, Args: []string{"hello"}, Stdout: &out, Stderr: &out}
	r, err := c.Exec([]*Process{&p}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != "hello from the DSP\n" || p.Status != 0 {
		t.Errorf("output %q, status %d", out.String(), p.Status)
	}
	if r.Instructions == 0 || r.Stalls.Total() == 0 {
		t.Errorf("report %+v", r)
	}
}

func FuzzLoadELF(f *testing.F) {
	f.Add(helloELF(f, "x"))
	f.Add([]byte("\x7fELF"))
	f.Fuzz(func(_ *testing.T, data []byte) { _, _ = LoadELF(data) })
}
