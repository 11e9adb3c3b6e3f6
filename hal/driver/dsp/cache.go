package dsp

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/dsp"
	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Save implements base.Saver: code and what its kernels are, constants, DMA descriptors,
// jobs with their arguments and estimates, and the places of inputs, outputs and faults.
func (p *executable) Save(w *cache.Writer) {
	w.Uint(uint64(p.program.Base))
	w.Bytes(p.program.Code)
	w.Constants(p.consts)
	w.Bytes(p.dmaDescriptors)
	w.Uint(uint64(p.arena))
	w.Uint(uint64(len(p.all)))
	for _, k := range p.all {
		w.String(k.Name)
		w.Uint(uint64(k.Entry))
		shares := make([]byte, 0, len(k.Shares)*len(hvx.PhaseShares{}))
		for i := range k.Shares {
			for _, n := range k.Shares[i] {
				shares = append(shares, byte(n)) // twelfths of a packet's four instructions
			}
		}
		w.Bytes(shares)
		w.Uint(uint64(len(k.Sources)))
		for _, s := range k.Sources {
			w.Int(int64(s))
		}
	}
	w.Uint(uint64(len(p.jobs)))
	for i := range p.jobs {
		j := &p.jobs[i]
		w.Int(int64(j.Region))
		w.String(j.Name)
		w.Uint(uint64(j.Entry))
		w.Uint(uint64(j.Threads))
		w.Uint(uint64(slices.Index(p.all, p.kernels[i])))
		w.Uint(uint64(len(j.Args)))
		for _, a := range j.Args {
			w.Uint32s(a)
		}
		w.Uint(uint64(p.estimates[i].slots))
		w.Uint(uint64(p.estimates[i].cycles))
	}
	for _, list := range [2][]region{p.inputs, p.outputs} {
		w.Uint(uint64(len(list)))
		for _, r := range list {
			r.save(w)
		}
	}
	for _, x := range p.graph.Outputs {
		w.Uint32s(p.graph.Operands[x].Dimensions)
	}
	w.Uint(uint64(len(p.extents)))
	for _, x := range slices.Sorted(maps.Keys(p.extents)) {
		w.Uint(uint64(x))
		p.extents[x].save(w)
	}
	w.Uint(uint64(len(p.faults)))
	for _, f := range p.faults {
		w.Int(int64(f.op))
		f.at.save(w)
		w.String(f.reason)
	}
}

func (r region) save(w *cache.Writer) {
	w.Uint(uint64(r.from))
	w.Uint(uint64(r.to))
}

// maxSaved bounds what a cache may ask for.
const maxSaved = 1 << 31

// loadRegion takes a part of an arena.
func loadRegion(r *cache.Reader, arena int) region {
	x := region{r.IntUpTo(maxSaved), r.IntUpTo(maxSaved)}
	if x.from > x.to || x.to > arena {
		r.Fail("bytes %d to %d of an arena of %d", x.from, x.to, arena)
	}
	return x
}

// Load implements base.Loader.
func (d middleEnd) Load(g *graph.Graph, r *cache.Reader) (base.Executable, error) {
	p := &executable{dev: d.Device, graph: g}
	p.program = dsp.Program{Base: uint32(r.IntUpTo(math.MaxUint32)), Code: r.Bytes()}
	p.consts, p.dmaDescriptors, p.arena = r.Constants(), r.Bytes(), r.IntUpTo(maxSaved)
	end := uint64(p.program.Base) + uint64(len(p.program.Code))
	for range r.Count() {
		k := &hvx.Linked{Name: r.String(), Entry: uint32(r.IntUpTo(math.MaxUint32))}
		p.shares = append(p.shares, r.Bytes())
		for range r.Count() {
			k.Sources = append(k.Sources, r.IntIn(math.MinInt32, math.MaxInt32))
		}
		if n := len(p.all); uint64(k.Entry) > end || k.Entry < p.program.Base || n > 0 && k.Entry <= p.all[n-1].Entry {
			r.Fail("a kernel at 0x%x in code at 0x%x to 0x%x", k.Entry, p.program.Base, end)
		}
		p.all = append(p.all, k)
	}
	for range r.Count() {
		j := dsp.Job{Region: r.IntIn(math.MinInt32, math.MaxInt32), Name: r.String(), Entry: uint32(r.IntUpTo(math.MaxUint32)), Threads: r.IntUpTo(math.MaxInt32)}
		kernel := r.IntUpTo(int64(len(p.all)) - 1)
		for range r.Count() {
			j.Args = append(j.Args, r.Uint32s())
		}
		p.estimates = append(p.estimates, jobEstimate{r.IntUpTo(math.MaxInt64), r.IntUpTo(math.MaxInt64)})
		if r.Err() != nil {
			return nil, r.Err()
		}
		p.jobs, p.kernels = append(p.jobs, j), append(p.kernels, p.all[kernel])
	}
	for k, list := range [2]*[]region{&p.inputs, &p.outputs} {
		if n := r.Count(); n != len([2][]uint32{g.Inputs, g.Outputs}[k]) {
			return nil, fmt.Errorf("dsp: places of %d tensors, the graph has %d", n, len([2][]uint32{g.Inputs, g.Outputs}[k]))
		}
		for range [2][]uint32{g.Inputs, g.Outputs}[k] {
			*list = append(*list, loadRegion(r, p.arena))
		}
	}
	for _, x := range g.Outputs {
		g.Operands[x].Dimensions = r.Uint32s()
	}
	for range r.Count() {
		if p.extents == nil {
			p.extents = map[uint32]region{}
		}
		x := uint32(r.IntUpTo(math.MaxUint32))
		if p.extents[x] = loadRegion(r, p.arena); p.extents[x].to-p.extents[x].from < 4 {
			r.Fail("a count of %d bytes", p.extents[x].to-p.extents[x].from)
		}
	}
	for range r.Count() {
		p.faults = append(p.faults, faultAt{r.IntIn(math.MinInt32, math.MaxInt32), loadRegion(r, p.arena), r.String()})
	}
	return p, r.Err()
}

// decode gives kernels that come from a cache their packets, for listings and profiles.
func (p *executable) decode() error {
	p.decoding.Lock()
	defer p.decoding.Unlock()
	for i, k := range p.all {
		if k.Packets != nil {
			continue
		}
		to := uint32(len(p.program.Code))
		if i+1 < len(p.all) {
			to = p.all[i+1].Entry - p.program.Base
		}
		code := p.program.Code[k.Entry-p.program.Base : to]
		words := make([]uint32, len(code)/4)
		for w := range words {
			words[w] = binary.LittleEndian.Uint32(code[4*w:])
		}
		phases := len(hvx.PhaseShares{})
		k.Shares = make([]hvx.PhaseShares, len(p.shares[i])/phases)
		for s := range k.Shares {
			for ph := range k.Shares[s] {
				k.Shares[s][ph] = int64(p.shares[i][s*phases+ph])
			}
		}
		packets := make([]hexagon.Packet, 0, len(k.Shares))
		for at := 0; len(packets) < len(k.Shares); {
			pk, n, err := hexagon.DecodePacket(words[at:], k.Entry+uint32(4*at))
			if err != nil {
				return fmt.Errorf("dsp: kernel %s: %w", k.Name, err)
			}
			packets, at = append(packets, pk), at+n
		}
		k.Packets = packets
	}
	return nil
}
