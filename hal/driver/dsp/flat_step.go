package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/elementwise"
)

// flatChunk is how many bytes of operands a thread brings into L2 at a time.
const flatChunk = 16 << 10

// flatStep launches a kernel over whole flat tensors.
func (l *lowering) flatStep(name string, k *elementwise.Map, out *tensor, in []*tensor, words ...uint32) {
	if len(words) != k.Splats {
		panic(fmt.Sprintf("dsp: %s takes %d words, got %d", k.Label, k.Splats, len(words)))
	}
	l.addStep(name, in, []*tensor{out}, func(l *lowering, s *step) error {
		all := append(append([]*tensor{}, in...), out)
		step := append(append([]int{}, k.In...), k.Out)
		steps, perStep := ceilDiv(flatVectors(out), k.Out), 0
		for _, n := range k.In {
			perStep += n
		}
		k, name, most := *k, k.Label, steps
		cold := 0 // bytes that do not come from L2
		for i, t := range in {
			if l.cold(t) {
				cold += steps * k.In[i] * vecBytes
			}
		}
		if k.Stream = cold > 2*flatChunk; k.Stream {
			name, most = name+"_stream", max(flatChunk/(perStep*vecBytes), 1)
		}
		kern, err := l.kernel(name, k.Emit)
		if err != nil {
			return err
		}
		l.launchTable(s, kern, flatTable(l.parts(steps, most), all, step), len(all)+1, words...)
		return nil
	})
}
