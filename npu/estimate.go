package npu

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// OpEstimate is the static cost of one operation of a program.
type OpEstimate struct {
	Word   int         // of the command
	Code   ethosu.Code // OpConv, OpDepthwise, OpPool or OpElementwise
	Cycles int64       // of the operation alone, as Vela estimates it
}

// Estimate adds up what each operation of a program would take by itself: the
// formulas of Vela's performance model, which bound a block by array, output
// unit and command issue and neglect waits and weight traffic. Nothing is
// executed. The regions give sizes only.
func (c *Core) Estimate(p *Program, r *Regions) ([]OpEstimate, error) {
	var list []OpEstimate
	c.regs = regFile{wide: c.spec.Product == ethosu.U65}
	index := 0
	for at := 0; at < len(p.Commands); index++ {
		cmd, err := ethosu.Next(p.Commands, at)
		if err != nil {
			return nil, fmt.Errorf("npu: command %d: %w", index, err)
		}
		switch cmd.Code {
		case ethosu.OpConv, ethosu.OpDepthwise, ethosu.OpPool, ethosu.OpElementwise:
			o, err := c.decodeOp(&c.regs, cmd, r)
			if err != nil {
				return nil, &CommandError{Index: index, Word: at, Code: cmd.Code, Err: err}
			}
			list = append(list, OpEstimate{at, cmd.Code, c.spec.estimate(o)})
		case ethosu.OpStop:
			return list, nil
		default:
			if ethosu.Lookup(cmd.Code).Class != ethosu.ClassOp {
				c.regs.set(cmd)
			}
		}
		at += cmd.Words()
	}
	return list, nil
}

// blockMemory is the cycles to move elements of a map between memory and SHRAM
// in blocks of bh x bw x bd: latency plus bytes, with the bandwidth that runs
// shorter than a burst waste.
func (s *Spec) blockMemory(f *featureMap, bw, bd, cores int, write bool, elements int) float64 {
	m := &s.Memories[s.RegionMemory[f.region]]
	latency, run := m.ReadLatency, 0
	switch {
	case f.b16 && 16*f.esz*f.w == bd: // the row stride, which Vela takes for a depth
		run = f.esz * bd * bw
	case f.b16:
		run = 16 * f.esz * bw
		if write {
			run *= cores
		}
	case write && bd <= 16 && f.esz == bd, !write && f.esz == bd:
		run = f.esz * bd * bw
	case write:
		run = min(64, 16*f.esz*cores, bd*f.esz)
	default:
		run = f.esz * bd
	}
	if write {
		latency = m.WriteLatency
	}
	run = min(m.BurstBytes, run)
	return float64(latency) + float64(elements*m.BurstBytes)/float64(run)/m.BytesPerCycle
}

// estimate is Vela's cycles of one operation.
func (s *Spec) estimate(o *op) int64 {
	oh, ow, od := o.ofm.h, o.ofm.w, o.ofm.c
	bh, bw, bd := min(o.blockH, oh), min(o.blockW, ow), min(o.blockD, od)
	if o.kind == opElementwise {
		o.k = kernelShape{h: 1, w: 1, sy: 1, sx: 1, dy: 1, dx: 1, hd: 1, wd: 1}
	}
	ibh, ibw := o.ifmBlock(s)
	ibd := o.ifmBlockDepth(s)
	in := s.blockMemory(&o.ifm, ibw, ibd, s.Cores, false, min(ibh, o.ifm.h)*min(ibw, o.ifm.w)*min(ibd, o.ifm.c))
	to := s.blockMemory(&o.ofm, o.blockW, o.blockD, s.Cores, true, bh*bw*bd)
	cpe := s.cyclesPerElement(o)
	if o.kind == opElementwise {
		n := float64(o.blockH * o.blockW * o.blockD)
		cpe = max(cpe, (in+to+cpe*n)/4/n)
		if o.ofm.b16 {
			od = roundUp(od, 16)
		}
		return int64(math.Ceil(cpe * float64(oh*ow*od)))
	}
	if s.UBlock.H == 2 && o.kind <= opDepthwise && oh == 1 && ow%2 == 0 && o.k.h == 1 {
		bh = 1
	}
	dpu := s.macCyclesExact(o, bh, bw, bd)
	out := math.Ceil(cpe * float64(bh*bw*bd))
	if o.kind <= opDepthwise {
		out = max(out, float64(10*bd*s.Memories[s.RegionMemory[o.scaleReg]].ReadLatency)/256)
	}
	issue := (in + to + out + dpu) / 4
	dpu, out = max(dpu, issue), max(out, issue)
	blocks := float64(ceilDiv(oh, bh) * ceilDiv(ow, bw) * ceilDiv(od, bd))
	return int64(max(dpu, out)*blocks + min(dpu, out))
}
