package dspdriver

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal/cache"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// maxSaved bounds what a cache may request.
const maxSaved = 1 << 31

// Code implements engine.Program: code and what its kernels are, constants, DMA descriptors, jobs with their
// arguments and estimates, and shapes of outputs.
func (p *executable) Code(c *cache.Coder) (sizes []int) {
	cache.Number(c, &p.program.Base, 0, math.MaxUint32)
	c.Bytes(&p.program.Code)
	c.Constants(&p.consts)
	c.Bytes(&p.dmaDescriptors)
	cache.Number(c, &p.arena, 0, maxSaved)
	after := int64(p.program.Base) // the entry before
	end := after + int64(len(p.program.Code))
	cache.List(c, &p.all, func(k **hvx.Linked) {
		if c.Reading() {
			*k = &hvx.Linked{}
		}
		p.codeKernel(c, *k)
		entry := int64((*k).Entry)
		c.Check(entry >= after && entry <= end, "a kernel at 0x%x in code at 0x%x to 0x%x", entry, after, end)
		after = entry + 1
	})
	cache.List(c, &p.jobs, func(j *job) {
		cache.Number(c, &j.Region, math.MinInt32, math.MaxInt32)
		c.String(&j.Name)
		cache.Number(c, &j.Entry, 0, math.MaxUint32)
		cache.Number(c, &j.Threads, 0, math.MaxInt32)
		kernel := slices.Index(p.all, j.kernel)
		cache.Number(c, &kernel, 0, int64(len(p.all))-1)
		if c.Valid() {
			j.kernel = p.all[kernel]
		}
		cache.List(c, &j.Args, c.Uint32s)
		cache.Number(c, &j.slots, 0, math.MaxInt64)
		cache.Number(c, &j.cycles, 0, math.MaxInt64)
	})
	for _, x := range p.Graph.Outputs {
		shape := p.Graph.Operands[x].Dimensions
		if c.Uint32s(&shape); c.Valid() { // what cannot be read leaves the graph as it is
			p.Graph.Operands[x].Dimensions = shape
		}
	}
	return []int{p.arena}
}

// codeKernel saves and loads what a kernel is but for its packets, which decode makes.
func (p *executable) codeKernel(c *cache.Coder, k *hvx.Linked) {
	c.String(&k.Name)
	cache.Number(c, &k.Entry, 0, math.MaxUint32)
	var shares []byte
	for i := range k.Shares {
		for _, n := range k.Shares[i] {
			shares = append(shares, byte(n)) // twelfths of a packet's four instructions
		}
	}
	if c.Bytes(&shares); c.Reading() {
		p.shares = append(p.shares, shares)
	}
	cache.List(c, &k.Sources, func(s *int) { cache.Number(c, s, math.MinInt32, math.MaxInt32) })
}

// load restores a program from a compilation cache.
func (d *Device) load(g *graph.Graph, r *cache.Reader) (compile.Executable, error) {
	p := &executable{dev: d}
	p.Init(p, g)
	return p, p.Executable.Load(r)
}

// Write implements engine.Program: code, constants, DMA descriptors, and jobs with their arguments.
func (p *executable) Write(w io.Writer) {
	fmt.Fprintln(w, p.program.Base, len(p.program.Code), len(p.consts), len(p.dmaDescriptors), p.arena)
	w.Write(p.program.Code)
	w.Write(p.consts)
	w.Write(p.dmaDescriptors)
	for i := range p.jobs {
		j := &p.jobs[i]
		fmt.Fprintln(w, j.Region, j.Entry, j.Threads, j.Args)
	}
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
