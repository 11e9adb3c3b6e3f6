package npu

import (
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// seeds are streams that use every operation, as bytes.
func seeds(t testing.TB) (out [][]byte) {
	add := func(words []uint32) {
		var b []byte
		for _, w := range words {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		out = append(out, b)
	}
	spec := specOf(t, "ethos-u65-512")
	for i, l := range []layer{conv(8, 8, 16, 24, 3, 1), conv(7, 5, 8, 8, 3, 2).dw(), conv(1, 1, 40, 10, 1, 1)} {
		m := newMachine(&spec, uint64(i))
		l.ofm = 4096
		m.emit(t, l)
		add(m.program(t).Commands)
		// The same registers, then pooling and every elementwise mode.
		words, _ := m.b.Words()
		tail := append([]uint32(nil), words[:len(words)-2]...)
		for mode := range uint32(3) {
			tail = append(tail, mode<<16|uint32(ethosu.OpPool))
		}
		for mode := range uint32(ethosu.NumElt) {
			tail = append(tail, mode<<16|uint32(ethosu.OpElementwise))
		}
		tail = append(tail, uint32(ethosu.SetDMA0Len), 64, uint32(ethosu.OpDMAStart), uint32(ethosu.OpDMAWait), uint32(ethosu.OpKernelWait), uint32(ethosu.OpStop))
		add(tail)
	}
	// Vela's streams, when they are here.
	files, _ := filepath.Glob(filepath.Join(shared.Dir(), "ethosu", "networks", "mlperf_tiny_ic_resnet8_int8", "*", "*_vela.tflite"))
	for _, f := range files {
		k := require.V(loadVela(t, f).Load())(t)
		add(k.Program.Commands)
	}
	return out
}

// No stream makes the core panic, run without bound or break the account.
func FuzzRun(f *testing.F) {
	for i, s := range seeds(f) {
		f.Add(uint8(i), s)
	}
	var cores []*Core
	for _, p := range machineNames() {
		cores = append(cores, mustCore(f, p))
	}
	f.Fuzz(func(t *testing.T, which uint8, b []byte) {
		words := make([]uint32, len(b)/4)
		for i := range words {
			words[i] = binary.LittleEndian.Uint32(b[4*i:])
		}
		c := cores[int(which)%len(cores)]
		r := &Regions{make([]byte, 1<<14), make([]byte, 1<<15), make([]byte, 1<<15)}
		for i := range r[0] {
			r[0][i] = byte(i * 7)
		}
		rep, err := c.Run(&Program{Commands: words, Marks: []Mark{{Word: 4, ID: 1}, {Word: 40, ID: 2}}}, r, Options{MaxWork: 1 << 20, Functional: which&64 != 0})
		if err == nil {
			checkReport(t, rep)
		}
	})
}

// The same for streams of known commands: the fuzzer's choices are written into the registers of a legal operation.
func FuzzRegisters(f *testing.F) {
	var cores []*Core
	for _, p := range machineNames() {
		cores = append(cores, mustCore(f, p))
	}
	type base struct {
		words []uint32
		flash []byte
	}
	bases := make([][]base, len(cores))
	for i, c := range cores {
		for j, l := range []layer{conv(6, 6, 20, 24, 3, 1), conv(7, 5, 8, 8, 3, 2).dw(), conv(4, 4, 16, 20, 1, 1)} {
			m := newMachine(c.Spec(), uint64(j))
			l.ofm = 4096
			m.emit(f, l)
			words := require.V(m.b.Words())(f)
			bases[i] = append(bases[i], base{words[:len(words)-1], m.flash})
		}
	}
	f.Add(uint8(3), uint8(0), []byte{2, 0, 0, 0, 0, 0, 0, 0})
	f.Add(uint8(6), uint8(1), []byte{30, 64, 0, 0, 0, 0, 0, 0, 5, 1, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, which, which2 uint8, b []byte) {
		c := cores[int(which)%len(cores)]
		o := bases[int(which)%len(cores)][int(which2)%3]
		words := append([]uint32(nil), o.words...)
		for ; len(b) >= 8; b = b[8:] {
			cmd := ethosu.Command{Code: ethosu.Row(int(b[0]) % ethosu.Forms()).Code,
				Param: binary.LittleEndian.Uint16(b[1:]), Payload: binary.LittleEndian.Uint32(b[3:])}
			if b[7]&1 == 0 {
				cmd.Payload &= 0xFFF
			}
			words = cmd.Append(words)
		}
		for _, op := range []uint32{2, 3, 5, 0x1_0005, 0x2_0005, 0x0_0006, 0x1_0006, 0x8_0006, 0x10, 0} {
			stream := append(words[:len(words):len(words)], op, 0)
			r := &Regions{o.flash, make([]byte, 1<<14), make([]byte, 1<<12)}
			rep, err := c.Run(&Program{Commands: stream}, r, Options{MaxWork: 1 << 20})
			if err == nil {
				checkReport(t, rep)
			}
		}
	})
}
