package linux

import (
	"bytes"
	"debug/elf"
	"io"
	"testing"

	"github.com/nnsoc/nnsoc/dsp"
)

// FuzzExec: any file is an executable that runs, faults or is refused; results are the same with and without the timing
// model.
func FuzzExec(f *testing.F) {
	f.Add(helloELF(f, "x"))
	f.Add(executable(f, "_start: { r0 = ##k ; r1 = #1 }\n{ r6 = #214 ; r1 = memw(r0+#0) }\n trap0(#1)\n loop0(1f,#3)\n1: { memw(r0+#0) = r1 ; nop }:endloop0\n"+end+".data\nk: .word 1\n"))
	f.Add(executable(f, "_start: { v0 = vmem(r29+#0) ; r0 = r29 }\n{ v1.w += vrmpy(v0.ub,r2.b) }\n{ r0 = r1 ; r1 = r0 }\n call f\n"+end+"f: { allocframe(#8) }\n dealloc_return\n"))
	core := testCore(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if file, err := elf.NewFile(bytes.NewReader(data)); err == nil {
			total := uint64(0)
			for _, p := range file.Progs {
				total += min(p.Memsz, 1<<40)
			}
			if total > 8<<20 {
				return // legal, but slow to try often
			}
		}
		var out [2]bytes.Buffer
		var failed [2]string
		for i := range out {
			im, err := LoadELF(data)
			if err != nil {
				return
			}
			p := &Process{Image: im, Args: []string{"fuzz"}, Stdout: &limited{w: &out[i]}, Stderr: io.Discard}
			rep, err := core.Exec([]*Process{p}, dsp.Options{Functional: i == 1, MaxPackets: 3000})
			if err != nil {
				failed[i] = err.Error()
			} else if i == 0 && rep.Stalls.Total() != rep.Cycles {
				t.Errorf("stalls %d, cycles %d", rep.Stalls.Total(), rep.Cycles)
			}
		}
		if failed[0] != failed[1] || !bytes.Equal(out[0].Bytes(), out[1].Bytes()) {
			t.Errorf("timed: %q, %d bytes; functional: %q, %d bytes", failed[0], out[0].Len(), failed[1], out[1].Len())
		}
	})
}

// limited drops output beyond a few bytes.
type limited struct{ w *bytes.Buffer }

func (l *limited) Write(b []byte) (int, error) {
	if l.w.Len() < 4096 {
		l.w.Write(b[:min(len(b), 4096)])
	}
	return len(b), nil
}
