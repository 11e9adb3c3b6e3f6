package dsp

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/elementwise"
)

// flatChunk is how many bytes of operands a thread brings into L2 at a time.
const flatChunk = 16 << 10

// flatStep launches a kernel over whole flat tensors.
func (l *lowering) flatStep(name string, f elementwise.Function, out *tensor, in []*tensor, words ...uint32) {
	form := f.Form()
	if len(words) != form.Constants {
		panic(fmt.Sprintf("dsp: %s takes %d words, got %d", f.Name(), form.Constants, len(words)))
	}
	l.addStep(name, in, []*tensor{out}, mapWork{in, out, form, f, words})
}

// mapWork applies a function of vectors to whole flat tensors.
type mapWork struct {
	in    []*tensor
	out   *tensor
	form  elementwise.Form
	f     elementwise.Function
	words []uint32
}

func (w mapWork) Launch(l *launcher, _ rowRange) error {
	all := append(append([]*tensor{}, w.in...), w.out)
	step := append(append([]int{}, w.form.In...), w.form.Out)
	steps, perStep := ceilDiv(flatVectors(w.out), w.form.Out), 0
	for _, n := range w.form.In {
		perStep += n
	}
	k, most := elementwise.Map{F: w.f}, steps
	cold := 0 // bytes that do not come from L2
	for i, t := range w.in {
		if l.Cold(t) {
			cold += steps * w.form.In[i] * vecBytes
		}
	}
	if k.Stream = cold > 2*flatChunk; k.Stream {
		most = max(flatChunk/(perStep*vecBytes), 1)
	}
	kern, err := l.linked(k)
	if err != nil {
		return err
	}
	l.launchTable(kern, flatTable(l.parts(steps, most), all, step), len(all)+1, w.words...)
	return nil
}
