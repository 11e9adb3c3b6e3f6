package npu

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/isa/ethosu"
)

// Operation is a command that starts work, as its registers describe it.
type Operation struct {
	Word int         // of the command
	Code ethosu.Code // OpConv, OpDepthwise, OpPool, OpElementwise or OpDMAStart
	Name string      // conv, depthwise, max_pool, add, dma, ...

	// Of kernels: height, width, depth. IFM2 is zero where no second map is read.
	IFM, IFM2, OFM, Block [3]int
	Kernel, Stride        [2]int // height, width; of elementwise operations 1x1
	MACs                  int64  // as defined, without padding waste; 0 without weights
	Estimate              int64  // cycles by itself, as Vela estimates it

	Bytes int // of a copy
}

var poolNames = [...]string{ethosu.PoolMax: "max_pool", ethosu.PoolAverage: "average_pool", ethosu.PoolReduceSum: "reduce_sum"}

var elementwiseNames = [ethosu.NumElt]string{
	ethosu.EltMul: "mul", ethosu.EltAdd: "add", ethosu.EltSub: "sub", ethosu.EltMin: "min", ethosu.EltMax: "max",
	ethosu.EltLRelu: "leaky_relu", ethosu.EltAbs: "abs", ethosu.EltClz: "clz", ethosu.EltShr: "shr", ethosu.EltShl: "shl",
}

// name is what an operation is called in reports.
func (o *op) name() string {
	switch o.kind {
	case opConv:
		return "conv"
	case opDepthwise:
		return "depthwise"
	case opPool:
		return poolNames[o.mode]
	}
	return elementwiseNames[o.mode]
}

// Operations lists the kernels and copies of a program in order. Nothing is
// executed; the regions give sizes only.
//
// The estimate of a kernel is what it would take by itself: the formulas of
// Vela's performance model, which bound a block by array, output unit and
// command issue and neglect waits and weight traffic.
func (c *Core) Operations(p *Program, r *Regions) ([]Operation, error) {
	var list []Operation
	st, err := c.NewState(nil)
	if err != nil {
		return nil, err
	}
	st.regs = regFile{wide: c.spec.Product == ethosu.U65}
	index := 0
	for at := 0; at < len(p.Commands); index++ {
		cmd, err := ethosu.Next(p.Commands, at)
		if err != nil {
			return nil, fmt.Errorf("npu: command %d: %w", index, err)
		}
		switch cmd.Code {
		case ethosu.OpConv, ethosu.OpDepthwise, ethosu.OpPool, ethosu.OpElementwise:
			o, err := st.decodeOp(&st.regs, cmd, r)
			if err != nil {
				return nil, &CommandError{Index: index, Word: at, Code: cmd.Code, Err: err}
			}
			list = append(list, c.spec.operation(o, at, cmd.Code))
		case ethosu.OpDMAStart:
			list = append(list, Operation{Word: at, Code: cmd.Code, Name: "dma", Bytes: st.regs.addr(ethosu.SetDMA0Len)})
		case ethosu.OpStop:
			return list, nil
		default:
			if ethosu.Lookup(cmd.Code).Class != ethosu.ClassOp {
				st.regs.set(cmd)
			}
		}
		at += cmd.Words()
	}
	return list, nil
}

func (s *Spec) operation(o *op, word int, code ethosu.Code) Operation {
	estimate := s.estimate(o) // gives elementwise operations a kernel of 1x1
	d := Operation{
		Word: word, Code: code, Name: o.name(), MACs: o.macs(),
		IFM: [3]int{o.ifm.h, o.ifm.w, o.ifm.c}, OFM: [3]int{o.ofm.h, o.ofm.w, o.ofm.c},
		Block: [3]int{o.blockH, o.blockW, o.blockD}, Estimate: estimate,
		Kernel: [2]int{o.k.h, o.k.w}, Stride: [2]int{o.k.sy, o.k.sx},
	}
	if o.hasIFM2 {
		d.IFM2 = [3]int{o.ifm2.h, o.ifm2.w, o.ifm2.c}
	}
	return d
}

// macs is the multiply-accumulates of an operation with weights.
func (o *op) macs() int64 {
	if o.kind > opDepthwise {
		return 0
	}
	n := int64(o.ofm.h) * int64(o.ofm.w) * int64(o.ofm.c) * int64(o.k.h) * int64(o.k.w)
	if o.kind == opConv {
		n *= int64(o.ifm.c)
	}
	return n
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
	dpu := float64(s.coreCycles(o, bh, bw, bd)) / float64(o.cores) // Vela halves cycles, not channels
	out := math.Ceil(cpe * float64(bh*bw*bd))
	if o.kind <= opDepthwise {
		out = max(out, float64(10*bd*s.Memories[s.RegionMemory[o.scaleReg]].ReadLatency)/256)
	}
	issue := (in + to + out + dpu) / 4
	dpu, out = max(dpu, issue), max(out, issue)
	blocks := float64(ceilDiv(oh, bh) * ceilDiv(ow, bw) * ceilDiv(od, bd))
	return int64(max(dpu, out)*blocks + min(dpu, out))
}
