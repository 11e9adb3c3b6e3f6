package dsp

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// dots is a convolution as dot products of rows that are gathered first: one
// row of inputs per output position and group, one of weights per channel. It
// serves every convolution whose filter is not known when the model is prepared.
type dots struct {
	operation            opspec.Conv
	groups               int  // input channels, and output channels, are divided among them
	transposed           bool // TRANSPOSE_CONV_2D
	quant                opspec.GEMMQuant
	positions, per, taps int // rows of a group, inputs of a row per tap, taps
	width                int // bytes from row to row
}

// Bounds of what the tables of a gather may take.
const (
	maxDotRuns = 1 << 20
	maxDotRow  = 1 << 16
)

func (l *lowering) dotConv(c *opspec.Conv, groups int, transposed bool) error {
	q, err := c.Quant(l.view)
	if err != nil {
		return err
	}
	d := &dots{operation: *c, groups: groups, transposed: transposed, quant: q,
		positions: c.N * c.OutH * c.OutW, per: c.C / groups, taps: c.KH * c.KW}
	d.width = roundUp(d.taps*d.per, vecBytes)
	if d.positions*d.taps > maxDotRuns/groups || d.taps*d.per > maxDotRow {
		return fmt.Errorf("%d positions of %d taps and %d inputs in %d groups are too many without packed weights",
			d.positions, d.taps, d.per, groups)
	}
	if n := int64(d.positions) * int64(groups) * int64(d.width); n > maxArena {
		return fmt.Errorf("gathered inputs need %d bytes, at most %d", n, maxArena)
	}
	in, err := l.nhwc(c.Input, c.NCHW)
	if err != nil {
		return err
	}
	rows, err := l.gatherRows(d, in)
	if err != nil {
		return err
	}
	weights, err := l.weightRows(d)
	if err != nil {
		return err
	}
	bias, err := l.flat(c.Bias)
	if err != nil {
		return err
	}
	n := d.positions * c.K
	acc := l.newFlat("accumulators", n, 4)
	zeroW := q.FilterZero
	if l.graph.Operands[c.Filter].Type != nn.TensorQuant8Asymm {
		zeroW += 128
	}
	zeroIn := zeroOf(&l.graph.Operands[c.Input])
	l.addStep("dot", []*tensor{rows, weights, bias}, []*tensor{acc}, func(l *lowering, s *step) error {
		var table []uint32
		k := c.K / groups
		for p := range d.positions {
			for g := range groups {
				table = append(table, rows.addr+uint32((p*groups+g)*d.width), weights.addr+uint32(g*k*d.width),
					bias.addr+uint32(4*g*k), acc.addr+uint32(4*(p*c.K+g*k)), uint32(k))
			}
		}
		kern := dotKernel{d.width / vecBytes}
		code, err := l.kernel(kern.name(), kern.generate)
		if err != nil {
			return err
		}
		l.launchTable(s, code, table, dotWords, splatHalf(zeroIn), splatHalf(zeroW))
		return nil
	})
	rq := newRequant(q.Mult, q.OutZero, q.Lo, q.Hi, unsignedBias(l.graph.Operands[c.Output].Type))
	if !c.NCHW {
		return l.rescale(l.flatResult(c.Output), acc, &rq, n)
	}
	out := l.newFlat("NHWC result", n, 1)
	if err := l.rescale(out, acc, &rq, n); err != nil {
		return err
	}
	return l.walk("to NCHW", l.flatResult(c.Output), out, []uint32{uint32(c.N), uint32(c.K), uint32(c.OutH * c.OutW)},
		[]int{c.OutH * c.OutW * c.K, 1, c.K}, 0, 1)
}

// nhwc is an image operand in flat form, channels last.
func (l *lowering) nhwc(i uint32, nchw bool) (*tensor, error) {
	in, err := l.flat(i)
	if err != nil || !nchw {
		return in, err
	}
	d := l.graph.Operands[i].Dimensions
	plane := d[2] * d[3]
	out := l.newFlat(in.name+" as NHWC", int(nn.Elements(d)), 1)
	return out, l.walk("to NHWC", out, in, []uint32{d[0], plane, d[1]}, []int{int(d[1] * plane), 1, int(plane)}, 0, 1)
}

// source is the input position that a tap reads for an output position.
func (d *dots) source(out, tap, stride, dilation, pad, size int) (int, bool) {
	at := out*stride + tap*dilation - pad
	if d.transposed {
		at = out + pad - tap
		if at%stride != 0 {
			return 0, false
		}
		at /= stride
	}
	return at, at >= 0 && at < size
}

// gatherRows lays out the inputs of every output position; what lies outside
// the image and beyond a row's end is the zero point.
func (l *lowering) gatherRows(d *dots, in *tensor) (*tensor, error) {
	c := &d.operation
	rows := l.newFlat("gathered inputs", d.positions*d.groups*d.width, 1)
	l.fillFlat(rows, uint32(zeroOf(&l.graph.Operands[c.Input]))*0x01010101)
	return rows, l.move("gather", rows, in, d.positions*d.taps*d.groups, func(put func(to, from, n int)) {
		for p := range d.positions {
			n, oy, ox := p/(c.OutH*c.OutW), p/c.OutW%c.OutH, p%c.OutW
			for g := range d.groups {
				for ky := range c.KH {
					y, ok := d.source(oy, ky, c.StrideH, c.DilationH, c.Top, c.H)
					if !ok {
						continue
					}
					for kx := range c.KW {
						if x, ok := d.source(ox, kx, c.StrideW, c.DilationW, c.Left, c.W); ok {
							put((p*d.groups+g)*d.width+(ky*c.KW+kx)*d.per, ((n*c.H+y)*c.W+x)*c.C+g*d.per, d.per)
						}
					}
				}
			}
		}
	})
}

// weightRows lays out the weights of every output channel.
func (l *lowering) weightRows(d *dots) (*tensor, error) {
	c := &d.operation
	f, err := l.flat(c.Filter)
	if err != nil {
		return nil, err
	}
	n := d.taps * d.per
	if n == d.width && !c.Depthwise {
		return f, nil
	}
	rows := l.newFlat("weights", c.K*d.width, 1)
	pieces := c.K
	if c.Depthwise {
		pieces *= d.taps
	}
	return rows, l.move("weights", rows, f, pieces, func(put func(to, from, n int)) {
		for k := range c.K {
			if !c.Depthwise {
				put(k*d.width, k*n, n)
				continue
			}
			for t := range d.taps {
				put(k*d.width+t, t*c.K+k, 1)
			}
		}
	})
}

// rescale requantizes n words to bytes.
func (l *lowering) rescale(out, acc *tensor, rq *requant, n int) error {
	kind := rq.kind()
	steps := ceilDiv(n, vecBytes)
	if kind.perChannel && n > maxConst/64 {
		return fmt.Errorf("%d values with multipliers per channel are too many without packed weights", n)
	}
	l.addStep("rescale", []*tensor{acc}, []*tensor{out}, func(l *lowering, s *step) error {
		k := rescaleKernel{kind}
		kern, err := l.kernel(k.name(), k.generate)
		if err != nil {
			return err
		}
		var head uint32
		if v := kind.vectors(); v > 0 {
			head = l.constant(laneVectors(rq, v, steps))
		}
		var table []uint32
		for _, r := range l.spread(steps) {
			from := uint32(r[0] * vecBytes)
			table = append(table, acc.addr+4*from, out.addr+from, head+uint32(kind.vectors())*4*from, uint32(r[1]-r[0]))
		}
		l.launchTable(s, kern, table, 4, l.constWords(rq.params()))
		return nil
	})
	return nil
}

// laneVectors are the multipliers of consecutive elements whose channels cycle:
// for each 128 elements, kind by kind, four vectors of words.
func laneVectors(rq *requant, kinds, steps int) []byte {
	b := make([]byte, 0, steps*kinds*4*vecBytes)
	for s := range steps {
		for k := range kinds {
			for e := range vecBytes {
				w := rq.channelWords((s*vecBytes + e) % len(rq.mult))
				b = binary.LittleEndian.AppendUint32(b, w[k])
			}
		}
	}
	return b
}

// dotFullyConnected is a FULLY_CONNECTED as dot products.
func (l *lowering) dotFullyConnected(f *opspec.FullyConnected) error {
	c := opspec.Conv{Input: f.Input, Filter: f.Weights, Bias: f.Bias, Output: f.Output, Type: f.Type, N: f.Batch, C: f.Depth,
		K: f.Units, Act: f.Act, Multiplier: 1}
	c.H, c.W, c.KH, c.KW, c.OutH, c.OutW = 1, 1, 1, 1, 1, 1
	c.StrideH, c.StrideW, c.DilationH, c.DilationW = 1, 1, 1, 1
	return l.dotConv(&c, 1, false)
}

// packable reports whether filter and bias are known when the model is prepared.
func (l *lowering) packable(filter, bias uint32) bool {
	return l.graph.Operands[filter].IsConst() && l.graph.Operands[bias].IsConst()
}
