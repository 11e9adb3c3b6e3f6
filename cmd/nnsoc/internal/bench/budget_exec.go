package bench

import (
	"fmt"
	"io"
	"strings"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/engine"
	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/dsp/linux"
	"github.com/nnsoc/nnsoc/isa/hexagon/asm"
)

// storeProgram is a program for dsp exec that writes vectors, in a buffer of so
// many KiB again and again.
type storeProgram struct {
	body string // of the loop; r0 and r1 walk through a destination and a source
	kib  int
}

// stores is how many vectors it writes at least; whole passes make it a few more.
const stores = 1 << 18

func (s *storeProgram) passes() int { return max(1, stores/(8*s.kib)) }

// image assembles and loads the program.
func (s *storeProgram) image() (*linux.Image, error) {
	text := strings.NewReplacer("PASSES", fmt.Sprint(s.passes()), "VECTORS", fmt.Sprint(8*s.kib), "BYTES", fmt.Sprint(s.kib<<10+256), "BODY", s.body).Replace(`	.globl _start
_start:
	{ r2 = ##PASSES }
pass:
	{ r0 = ##into ; r1 = ##from }
	{ r3 = ##VECTORS ; v0 = vsplat(r2) }
	{ r0 = add(r0,#3) ; loop0(1f,r3) }
1:
BODY:endloop0
	{ r2 = add(r2,#-1) }
	{ p0 = cmp.gt(r2,#0) ; if (p0.new) jump:t pass }
	{ r6 = #94 ; r0 = #0 }
	{ trap0(#1) }
	.bss
	.p2align 12
into:	.space BYTES
from:	.space BYTES
`)
	obj, err := engine.AssembleText("stores.s", []byte(text), asm.Options{Base: engine.DSPBase})
	if err != nil {
		return nil, err
	}
	data, err := obj.ELF()
	if err != nil {
		return nil, err
	}
	return linux.LoadELF(data)
}

// run executes the program as dsp exec does and answers the vectors it wrote, in
// millions.
func (s *storeProgram) run(core *engine.DSP, image *linux.Image) (float64, error) {
	var prof dsp.Profile
	p := &linux.Process{Image: image, Args: []string{"stores"}, Stdout: io.Discard, Stderr: io.Discard}
	_, err := core.Exec([]*linux.Process{p}, dsp.Options{Profile: &prof})
	return float64(s.passes()*8*s.kib) / 1e6, err
}
