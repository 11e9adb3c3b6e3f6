package npu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	core "github.com/nnsoc/nnsoc/npu"
)

// constants collects region 0.
type constants struct{ data []byte }

// add appends bytes at an aligned address.
func (c *constants) add(b []byte) int {
	at := align(len(c.data))
	c.data = append(append(c.data, make([]byte, at-len(c.data))...), b...)
	return at
}

// layOut encodes the weights, records and tables of a piece of work into one
// contiguous part of region 0, so that one copy fetches them: per core the
// scale records, padded, then the weight stream; a lookup table by itself.
func (c *constants) layOut(s *core.Spec, w *work) error {
	if w.table != nil {
		w.tableOffset = c.add(w.table)
	}
	if w.weights == nil {
		return nil
	}
	k := w.weights
	plain := k.w()
	start := align(len(c.data))
	for n := range min(s.Cores, k.o) { // lengths of 0 leave the second core idle
		var part []byte
		var err error
		for o := n; o < k.o; o += s.Cores {
			if part, err = k.records[o].Append(part); err != nil {
				return fmt.Errorf("output channel %d: %w", o, err)
			}
		}
		part = append(part, make([]byte, align(len(part))-len(part))...)
		w.scaleLen[n] = len(part)
		t := ethosu.Traversal{
			OFMDepth: ethosu.CoreDepth(k.o, s.Cores, n), KernelHeight: w.kh, KernelWidth: w.kw, IFMDepth: k.i,
			BlockDepth: ethosu.CoreBlockDepth(w.block.d, s.Cores, n), Depthwise: w.kind == kindDepthwise,
			PartKernel: w.partKernel, IFMBits: 8, UBlockOFM: s.UBlockStream, DilationX: w.dx, DilationY: w.dy,
		}
		stream, err := t.Gather(nil, everyChannel(plain, k.o, n, s.Cores))
		if err != nil {
			return err
		}
		before := len(part)
		if part, err = ethosu.EncodeWeights(part, stream); err != nil {
			return err
		}
		w.weightLen[n] = len(part) - before
		c.add(part)
	}
	w.fetch = buffer{regionConst, start, align(len(c.data)) - start}
	c.data = append(c.data, make([]byte, align(len(c.data))-len(c.data))...)
	return nil
}

// everyChannel picks the weights of output channels first, first+step, ...
func everyChannel(w []int16, channels, first, step int) []int16 {
	if step == 1 {
		return w
	}
	n := len(w) / channels
	var part []int16
	for o := first; o < channels; o += step {
		part = append(part, w[o*n:(o+1)*n]...)
	}
	return part
}
