package dsp

import (
	"encoding/binary"
	"testing"

	"github.com/nnsoc/nnsoc/isa/hexagon"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
	"github.com/nnsoc/nnsoc/sim/mem"
)

// TestStoreBeforeLoad: the memory operations of a packet happen in the order of
// their slots, so a load in slot 0 sees what a store in slot 1 wrote.
func TestStoreBeforeLoad(t *testing.T) {
	for _, c := range []struct {
		text string
		swap bool // the store goes to slot 1
		want uint32
	}{
		{"{ r2 = memw(r0+#0) ; memw(r0+#0) = r1 }", false, 5},
		{"{ r2 = memw(r0+#0) ; memw(r0+#0) = r1 }", true, 7},
		{"{ r2 = memw(r0+#0) ; memb(r0+#1) = r1 }", true, 0x705},
		{"{ memw(r0+#0) = r1 ; memw(r0+#0) = r3 }\n{ r2 = memw(r0+#0) }", false, 9},
	} {
		data := make([]byte, 256)
		binary.LittleEndian.PutUint32(data, 5)
		space := new(mem.Space)
		if err := space.Map(mem.Segment{Name: "data", Base: 0x10000, Data: data}); err != nil {
			t.Fatal(err)
		}
		packets, err := asm.Assemble(c.text+"\n{ jumpr r31 }", 0x1000)
		if err != nil {
			t.Fatal(err)
		}
		words, err := hexagon.EncodeAll(nil, packets)
		if err != nil {
			t.Fatal(err)
		}
		if parse := uint32(0xc000); c.swap { // the words, but for their parse bits
			a, b := words[0], words[1]
			words[0], words[1] = b&^parse|a&parse, a&^parse|b&parse
		}
		p := &Program{Base: 0x1000, Code: hexagon.Bytes(words)}
		st := &Registers{PC: p.Base}
		st.R[0], st.R[1], st.R[3], st.R[31] = 0x10000, 7, 9, ReturnAddress
		if _, err := testCore(t).RunThread(p, space, st, ReturnAddress, Options{}); err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		if st.R[2] != c.want {
			t.Errorf("%s: r2 = %#x, want %#x", c.text, st.R[2], c.want)
		}
	}
}
