package dsp

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/matmul"
)

// rescale requantizes n words to bytes.
func (l *lowering) rescale(out, acc *tensor, rq *hvx.Requant, n int) error {
	kind := rq.Kind()
	steps := ceilDiv(n, vecBytes)
	if kind.PerChannel && n > maxConst/64 {
		return fmt.Errorf("%d values with multipliers per channel are too many without packed weights", n)
	}
	l.addStep("rescale", []*tensor{acc}, []*tensor{out}, rescaleWork{kind, rq, steps, acc, out})
	return nil
}

// rescaleWork requantizes words to bytes.
type rescaleWork struct {
	kind  hvx.RequantKind
	rq    *hvx.Requant
	steps int
	acc   *tensor
	out   *tensor
}

func (w rescaleWork) Launch(l *launcher, _ rowRange) error {
	k := matmul.Rescale{Rq: w.kind}
	kern, err := l.linked(k)
	if err != nil {
		return err
	}
	var head uint32
	if v := w.kind.Vectors(); v > 0 {
		head = l.constant(laneVectors(w.rq, v, w.steps))
	}
	var table []uint32
	for _, r := range l.spread(w.steps) {
		from := uint32(r[0] * vecBytes)
		table = append(table, w.acc.addr+4*from, w.out.addr+from, head+uint32(w.kind.Vectors())*4*from, uint32(r[1]-r[0]))
	}
	l.launchTable(kern, table, 4, l.constWords(w.rq.Params()))
	return nil
}

// laneVectors are the multipliers of consecutive elements whose channels cycle:
// for each 128 elements, kind by kind, four vectors of words.
func laneVectors(rq *hvx.Requant, kinds, steps int) []byte {
	b := make([]byte, 0, steps*kinds*4*vecBytes)
	for s := range steps {
		for k := range kinds {
			for e := range vecBytes {
				w := rq.ChannelWords((s*vecBytes + e) % len(rq.Mult))
				b = binary.LittleEndian.AppendUint32(b, w[k])
			}
		}
	}
	return b
}
