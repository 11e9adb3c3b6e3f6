package npu

import (
	"fmt"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/isa/ethosu"
	"github.com/nnsoc/nnsoc/npu/internal/state"
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
	// Exposed is the cycles, as Vela estimates them, by which copies of weights and tables for the operation exceed the
	// operation before.
	Exposed int64

	Bytes int // of a copy

	// To is the region that the operation writes, -1 for SHRAM.
	To int
}

// Operations lists the kernels and copies of a program in order. Nothing is executed; only the sizes of the regions are
// used.
//
// The estimate of a kernel is its time alone: the formulas of Vela's performance model, which bound a block by array,
// output unit and command issue and neglect waits and weight traffic. Copies of weights and tables count where they
// exceed the kernel before, which Vela has estimated before it moved feature maps to fast storage.
func (c *Core) Operations(p *Program, r *Regions) ([]Operation, error) {
	var list []Operation
	st, err := c.NewState(nil)
	if err != nil {
		return nil, err
	}
	regs := &st.machine.Registers
	*regs = state.Registers{Wide: c.spec.Product == ethosu.U65}
	index := 0
	var copies []velaCopy // whose kernel has not followed yet
	slack := int64(0)     // of the kernel before
	for at := 0; at < len(p.Commands); index++ {
		cmd, err := ethosu.Next(p.Commands, at)
		if err != nil {
			return nil, fmt.Errorf("npu: command %d: %w", index, err)
		}
		switch cmd.Code {
		case ethosu.OpConv, ethosu.OpDepthwise, ethosu.OpPool, ethosu.OpElementwise:
			o, err := st.decode(cmd, r)
			if err != nil {
				return nil, &CommandError{Index: index, Word: at, Code: cmd.Code, Err: err}
			}
			x := c.spec.operation(o, at, cmd.Code)
			copies = slices.DeleteFunc(copies, func(d velaCopy) bool {
				used := d.feeds(o)
				if used {
					x.Exposed += max(d.cycles-slack, 0)
				}
				return used
			})
			list = append(list, x)
			slack = c.spec.estimateSlow(o)
		case ethosu.OpDMAStart:
			n := regs.Addr(ethosu.SetDMA0Len)
			d := c.spec.velaCopy(regs.U(ethosu.SetDMA0SrcRegion), regs.U(ethosu.SetDMA0DstRegion), regs.Addr(ethosu.SetDMA0Dst), n)
			to := d.region
			if d.table {
				to = -1
			}
			list = append(list, Operation{Word: at, Code: cmd.Code, Name: "dma", Bytes: n, To: to})
			copies = append(copies, d)
		case ethosu.OpStop:
			return list, nil
		default:
			if ethosu.Lookup(cmd.Code).Class != ethosu.ClassOp {
				regs.Set(cmd)
			}
		}
		at += cmd.Words()
	}
	return list, nil
}

func (s *Spec) operation(o *state.Op, word int, code ethosu.Code) Operation {
	estimate := s.estimate(o) // sets the kernel of elementwise operations to 1x1
	d := Operation{
		Word: word, Code: code, Name: o.Name(), MACs: o.MACs(),
		IFM: [3]int{o.IFM.H, o.IFM.W, o.IFM.C}, OFM: [3]int{o.OFM.H, o.OFM.W, o.OFM.C},
		Block: [3]int{o.BlockH, o.BlockW, o.BlockD}, Estimate: estimate,
		Kernel: [2]int{o.Window.H, o.Window.W}, Stride: [2]int{o.Window.StrideY, o.Window.StrideX}, To: o.OFM.Region,
	}
	if o.HasIFM2 {
		d.IFM2 = [3]int{o.IFM2.H, o.IFM2.W, o.IFM2.C}
	}
	return d
}

// velaCopy is a copy as Vela estimates it.
type velaCopy struct {
	region, base, bytes int
	table               bool // into SHRAM
	cycles              int64
}

// velaFlash is the bytes per cycle of U55's flash in Vela's Ethos_U55_High_End_Embedded: the clock scale 0.125 of a
// port of 8 bytes. The presets have the bandwidth of the timing adapters.
const velaFlash = 1

// velaCopy estimates a copy of n bytes between regions.
func (s *Spec) velaCopy(src, dst, at, n int) velaCopy {
	d := velaCopy{region: dst & 7, base: at, bytes: n, table: dst&ethosu.DMAInternal != 0}
	from := &s.Memories[s.RegionMemory[src&7]]
	rate := from.BytesPerCycle
	if s.Product == ethosu.U55 && src&7 == 0 {
		rate = velaFlash
	}
	d.cycles = int64(float64(n)/rate) + int64(from.ReadLatency)
	if !d.table {
		d.cycles = max(d.cycles, int64(float64(n)/s.Memories[s.RegionMemory[d.region]].BytesPerCycle))
	}
	return d
}

// feeds reports whether an operation reads the data of the copy.
func (d *velaCopy) feeds(o *state.Op) bool {
	if d.table {
		return o.Output.Table != nil
	}
	w := o.Weights[0].Base
	return o.Kind <= state.Depthwise && o.WeightRegion == d.region && w >= d.base && w < d.base+d.bytes
}

// estimateSlow is the estimate with feature maps in external memory, where Vela has them until
// it moves some to fast storage: on machines that keep activations there.
func (s *Spec) estimateSlow(o *state.Op) int64 {
	own := *o
	if s.Product == ethosu.U65 {
		own.IFM.Region, own.OFM.Region = 0, 0
	}
	return s.estimate(&own)
}

// blockMemory is the cycles to move elements of a map between memory and SHRAM
// in blocks of bh x bw x bd: latency plus bytes, with the bandwidth that runs
// shorter than a burst waste.
func (s *Spec) blockMemory(f *state.FeatureMap, bw, bd, cores int, write bool, elements int) float64 {
	m := &s.Memories[s.RegionMemory[f.Region]]
	latency, run := m.ReadLatency, 0
	switch {
	case f.NHCWB16 && 16*f.ElemSize*f.W == bd: // the row stride, which Vela interprets as a depth
		run = f.ElemSize * bd * bw
	case f.NHCWB16:
		run = 16 * f.ElemSize * bw
		if write {
			run *= cores
		}
	case write && bd <= 16 && f.ElemSize == bd, !write && f.ElemSize == bd:
		run = f.ElemSize * bd * bw
	case write:
		run = min(64, 16*f.ElemSize*cores, bd*f.ElemSize)
	default:
		run = f.ElemSize * bd
	}
	if write {
		latency = m.WriteLatency
	}
	run = min(m.BurstBytes, run)
	return float64(latency) + float64(elements*m.BurstBytes)/float64(run)/m.BytesPerCycle
}

// reached is the extent of a map of which windows with a stride read the first n rows or columns: that of its tile,
// where it is less than a stride larger.
func reached(n, tile, stride int) int {
	if tile > n && tile < n+stride {
		return tile
	}
	return n
}

// estimate is Vela's cycles of one operation.
func (s *Spec) estimate(o *state.Op) int64 {
	oh, ow, od := o.OFM.H, o.OFM.W, o.OFM.C
	bh, bw, bd := min(o.BlockH, oh), min(o.BlockW, ow), min(o.BlockD, od)
	if o.Kind == state.Elementwise {
		o.Window = state.Window{H: 1, W: 1, StrideY: 1, StrideX: 1, DilationY: 1, DilationX: 1, ExtentH: 1, ExtentW: 1}
	}
	ibh, ibw := s.ifmBlock(o)
	ibd := s.ifmBlockDepth(o)
	// Vela counts rows and columns of the input that no window reaches.
	ih, iw := reached(o.IFM.H, o.IFM.Height0, o.Window.StrideY), reached(o.IFM.W, o.IFM.Width0, o.Window.StrideX)
	in := s.blockMemory(&o.IFM, ibw, ibd, s.Cores, false, min(ibh, ih)*min(ibw, iw)*min(ibd, o.IFM.C))
	to := s.blockMemory(&o.OFM, o.BlockW, o.BlockD, s.Cores, true, bh*bw*bd)
	cpe := s.cyclesPerElement(o)
	if o.Kind == state.Elementwise && (o.Mode == ethosu.EltAdd || o.Mode == ethosu.EltSub) && o.IFM.ElemSize < 4 {
		cpe = max(cpe, s.OutputCycles[OutAdd]) // Vela knows no ADD without rescaling
	}
	if o.Kind == state.Elementwise {
		n := float64(o.BlockH * o.BlockW * o.BlockD)
		cpe = max(cpe, (in+to+cpe*n)/4/n)
		if o.OFM.NHCWB16 {
			od = roundUp(od, 16)
		}
		return int64(math.Ceil(cpe * float64(oh*ow*od)))
	}
	if s.UBlock.H == 2 && o.Kind <= state.Depthwise && oh == 1 && ow%2 == 0 && o.Window.H == 1 {
		bh = 1
	}
	dpu := float64(s.coreCycles(o, bh, bw, bd, s.WeightsPerCycle)) / float64(o.Cores) // Vela halves cycles, not channels
	out := math.Ceil(cpe * float64(bh*bw*bd))
	if o.Kind <= state.Depthwise {
		out = max(out, float64(10*bd*s.Memories[s.RegionMemory[o.ScaleRegion]].ReadLatency)/256)
	}
	issue := (in + to + out + dpu) / 4
	dpu, out = max(dpu, issue), max(out, issue)
	blocks := float64(ceilDiv(oh, bh) * ceilDiv(ow, bw) * ceilDiv(od, bd))
	return int64(max(dpu, out)*blocks + min(dpu, out))
}
