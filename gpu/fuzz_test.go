package gpu

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// FuzzKernel runs arbitrary code: it may fail, but not crash, hang, or differ
// between the functional and the timed machine when it does not race.
func FuzzKernel(f *testing.F) {
	f.Add(assemble(f, false, saxpy), false, uint8(8))
	f.Add(assemble(f, false, barrierSum), false, uint8(8))
	f.Add(assemble(f, true, barrierSum), true, uint8(8))
	f.Add(gemmKernel(f).Code, false, uint8(48))
	// Every form once, with random register fields where they still decode.
	r := rand.New(rand.NewPCG(51, 52))
	for n := range 20 {
		var code []byte
		for op := rdna2.Op(1); op < rdna2.NumOps; op++ {
			if r.IntN(6) != 0 || op.Form().IsBranch() {
				continue
			}
			in := sample(op)
			b, err := in.Encode(nil)
			if err != nil {
				continue
			}
			if w := binary.LittleEndian.Uint32(b); true {
				binary.LittleEndian.PutUint32(b, w^uint32(r.IntN(256)))
				if _, _, err := rdna2.Decode([]uint32{binary.LittleEndian.Uint32(b), 0, 0}); err != nil {
					binary.LittleEndian.PutUint32(b, w)
				}
			}
			code = append(code, b...)
		}
		f.Add(code, n&1 != 0, uint8(32))
	}
	f.Fuzz(func(t *testing.T, code []byte, wave64 bool, regs uint8) {
		if len(code) > 1<<14 {
			return
		}
		k := &Kernel{Name: "fuzz", Code: code[:len(code)&^3], WaveSize: 32, VGPRs: int(regs) + 1, LDSBytes: 1024, ScratchBytes: 64}
		if wave64 {
			k.WaveSize = 64
		}
		for _, functional := range []bool{true, false} {
			s, _ := space(t, 8192)
			c := newCore(t, func(s *Spec) { s.Clusters, s.CUsPerCluster, s.VGPRRows = 1, 1, 1024 })
			r, err := c.Run(s, []Dispatch{{Kernel: k, Grid: [3]int{128}, Workgroup: [3]int{64}, Kernarg: args(dataBase, dataBase+4096)}},
				Options{Functional: functional, MaxInstructions: 2000, Unchecked: len(code)&4 != 0})
			if err == nil && !functional {
				checkReport(t, r)
			}
		}
	})
}
