package dsp

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// kernel is a compiled program: packets at their final addresses.
type kernel struct {
	name    string
	entry   uint32
	packets []hexagon.Packet
	shares  []phaseShares // of each packet
	sources []int         // operations of the model that it was generated for, rising
}

// image collects the kernels of a prepared model.
type image struct {
	base    uint32
	code    []byte
	kernels []*kernel
	byName  map[string]*kernel
	cache   *kernelCache
	target  *target
}

func newImage(base uint32, interval int) *image {
	return &image{base: base, byName: map[string]*kernel{}, cache: &kernelCache{}, target: newTarget(interval)}
}

// kernel returns the kernel of that name, generated on first use. A name
// spells out every parameter that the generator reads.
func (im *image) kernel(name string, source int, gen func(a *asm)) (*kernel, error) {
	k := im.byName[name]
	if k == nil {
		code, err := im.compile(name, gen)
		if err != nil {
			return nil, err
		}
		if k, err = im.link(code); err != nil {
			return nil, err
		}
		im.byName[name] = k
		im.kernels = append(im.kernels, k)
	}
	if n := len(k.sources); n == 0 || k.sources[n-1] != source {
		k.sources = append(k.sources, source)
	}
	return k, nil
}

// try is the cost of a kernel (codegen.Code), 0 where there are no registers for it. A
// kernel that is used then is not compiled again.
func (im *image) try(name string, gen func(a *asm)) int {
	code, _ := im.compile(name, gen)
	if code == nil {
		return 0
	}
	return code.Cost
}

// compile generates a kernel, unless that is done.
func (im *image) compile(name string, gen func(a *asm)) (*codegen.Code, error) {
	k, known := im.cache.get(name)
	if !known {
		a := newAsm(im.target, name)
		gen(a)
		code, err := a.f.Compile()
		if err != nil {
			code, err = nil, fmt.Errorf("dsp: %w", err)
		}
		k = compiled{code, err}
		im.cache.put(name, k)
	}
	return k.code, k.err
}

// link gives packets their addresses and branches their distances.
func (im *image) link(code *codegen.Code) (*kernel, error) {
	k := &kernel{name: code.Name, entry: im.base + uint32(len(im.code))}
	k.packets = make([]hexagon.Packet, len(code.Groups))
	k.shares = make([]phaseShares, len(code.Groups))
	addr := make([]uint32, len(code.Groups)+1)
	for i := range code.Groups {
		g, p := &code.Groups[i], &k.packets[i]
		k.shares[i] = sharesOf(g)
		for _, in := range g.Instrs {
			parts, n := instructions(in)
			copy(p.Insts[p.N:], parts[:n])
			p.N += uint8(n)
		}
		if p.N == 0 {
			p.Insts[0] = hexagon.Inst{Op: hexagon.A2_nop}
			p.N = 1
		}
		p.EndLoop0 = g.EndLoop&1 != 0
		p.EndLoop1 = g.EndLoop&2 != 0
	}
	var words []uint32
	for i, at := 0, k.entry; i < len(addr); i++ { // without extenders
		addr[i] = at
		if i < len(k.packets) {
			at += 4 * uint32(k.packets[i].N)
		}
	}
	// Distances depend on sizes and, through extenders, sizes on distances: sizes only grow.
	for round := 0; ; round++ {
		words = words[:0]
		stable := true
		at := k.entry
		for i := range k.packets {
			p := &k.packets[i]
			if p.Addr != at {
				p.Addr = at
				stable = false
			}
			setLabels(code, i, p, addr)
			n := len(words)
			var err error
			if words, err = p.Encode(words); err != nil {
				return nil, fmt.Errorf("dsp: kernel %s: %w", code.Name, err)
			}
			p.Words = uint8(len(words) - n)
			addr[i] = at
			at += 4 * uint32(p.Words)
		}
		if addr[len(k.packets)] != at {
			addr[len(k.packets)] = at
			stable = false
		}
		if stable {
			break
		}
		if round == 16 {
			return nil, fmt.Errorf("dsp: kernel %s: branch distances do not settle", code.Name)
		}
	}
	for i := range k.packets {
		if err := k.packets[i].Layout(); err != nil {
			return nil, fmt.Errorf("dsp: kernel %s: %w", code.Name, err)
		}
		if err := k.packets[i].Check(); err != nil {
			return nil, fmt.Errorf("dsp: kernel %s: %w", code.Name, err)
		}
	}
	for _, w := range words {
		im.code = binary.LittleEndian.AppendUint32(im.code, w)
	}
	return k, nil
}

// setLabels fills the branch distances of packet i.
func setLabels(code *codegen.Code, i int, p *hexagon.Packet, addr []uint32) {
	j := 0
	for _, in := range code.Groups[i].Instrs {
		for n := range in.Args {
			if a := &in.Args[n]; a.Kind == codegen.ArgLabel {
				o := &hexagon.Op(in.Op).Form().Operands[n]
				p.Insts[j].Imm[o.Index] = int32(addr[code.LabelGroup(a.Label)] - p.Addr)
			}
		}
		_, n := instructions(in)
		j += n
	}
}
