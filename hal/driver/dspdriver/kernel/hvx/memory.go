package hvx

import (
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Alias classes of memory accesses.
const (
	aliasAny     uint16 = iota
	AliasConst          // weights, tables, arguments: never written
	AliasIn             // input tensors
	AliasOut            // output tensors
	AliasScratch        // a thread's own scratch memory
)

// Word loads argument word n of the block at base.
func (b *Builder) Word(base codegen.Reg, n int, name string) codegen.Reg {
	r := b.R(name)
	b.Op(hexagon.L2_loadri_io, r, base, 4*n).Loads(AliasConst)
	return r
}

// Load loads the vector at base + off, off a multiple of 128 or any distance
// that address arithmetic can add.
func (b *Builder) Load(base codegen.Reg, off int, alias uint16, name string) codegen.Reg {
	v := b.V(name)
	b.LoadTo(v, base, off, alias)
	return v
}

func (a *Builder) LoadTo(v, base codegen.Reg, off int, alias uint16) {
	b, n := a.SplitOffset(base, off)
	a.Op(hexagon.V6_vL32b_ai, v, b, n).Loads(alias)
}

// LoadUnaligned loads an unaligned vector.
func (a *Builder) LoadUnaligned(base codegen.Reg, off int, alias uint16, name string) codegen.Reg {
	v := a.V(name)
	b, n := a.SplitOffset(base, off)
	a.Op(hexagon.V6_vL32Ub_ai, v, b, n).Loads(alias)
	return v
}

// Store stores an aligned vector.
func (a *Builder) Store(base codegen.Reg, off int, v codegen.Reg, alias uint16) {
	b, n := a.SplitOffset(base, off)
	a.Op(hexagon.V6_vS32b_ai, b, n, v).Stores(alias)
}

// SplitOffset splits an offset into the four bits that vector accesses have and an addition.
func (b *Builder) SplitOffset(base codegen.Reg, off int) (codegen.Reg, int) {
	if off%128 == 0 && off >= -8*128 && off < 8*128 {
		return base, off / 128
	}
	return b.Add(base, off), 0
}

// Frame is a thread's scratch memory, for words that would need too many registers.
type Frame struct {
	B    *Builder
	Base codegen.Reg
}

func (f Frame) Put(n int, r codegen.Reg) {
	f.B.Op(hexagon.S2_storeri_io, f.Base, 4*n, r).Stores(AliasScratch)
}

func (f Frame) Get(n int) codegen.Reg {
	r := f.B.R("frame")
	f.B.Op(hexagon.L2_loadri_io, r, f.Base, 4*n).Loads(AliasScratch)
	return r
}

// DMAChainBox as the box of a kernel's prefetch arguments marks the address as that
// of a DMA descriptor.
const DMAChainBox = 1

func (b *Builder) StartDMAChain(chain codegen.Reg) { b.Op(hexagon.Y6_dmlink, b.Imm(0), chain) }

// StoreBytes stores the first n (1 to 127) bytes of v at d, which need not be
// aligned: rotated to its place, v goes under masks to the one or two aligned
// vectors that it touches.
func (b *Builder) StoreBytes(d, v, n codegen.Reg) {
	ones := b.Imm(0x01010101)
	turn := b.R("turn")
	b.Op(hexagon.A2_subri, turn, 0, d)
	rot, mask := b.V("turned"), b.V("mask")
	b.Op(hexagon.V6_vror, rot, v, turn)
	want, below, first, second := b.Q("want"), b.Q("below"), b.Q("first"), b.Q("second")
	b.Op(hexagon.V6_pred_scalar2, want, n)
	b.Op(hexagon.V6_vandqrt, mask, want, ones)
	b.Op(hexagon.V6_vror, mask, mask, turn)
	moved := b.Q("moved")
	b.Op(hexagon.V6_vandvrt, moved, mask, ones)
	b.Op(hexagon.V6_pred_scalar2, below, d)
	b.Op(hexagon.V6_pred_and_n, first, moved, below)
	b.Op(hexagon.V6_pred_and, second, moved, below)
	b.Op(hexagon.V6_vS32b_qpred_ai, first, d, 0, rot).Stores(AliasOut)
	b.Op(hexagon.V6_vS32b_qpred_ai, second, d, 1, rot).Stores(AliasOut)
}

// Prefetch writes the start of a kernel that may prefetch. Its arguments are an
// address, a box of lines, as boxOf makes it, and the distance of lines; box 0
// prefetches nothing.
func (b *Builder) Prefetch(args []codegen.Reg) {
	addr, box, stride := args[0], args[1], args[2]
	own := b.fetches
	defer func() { b.fetches = own }() // this is for others
	b.SkipIfZero(box, func() {
		shape := b.RR("box")
		b.Op(hexagon.A2_tfr, Lo(shape), box)
		b.Op(hexagon.A2_tfr, Hi(shape), stride)
		b.Op(hexagon.Y5_l2fetch, addr, shape)
		if b.DMA { // the l2fetch of a chain requested a row of no bytes
			over := b.Func.Label("box")
			p := b.P("chain")
			b.Op(hexagon.C2_cmpeqi, p, box, DMAChainBox)
			b.Op(hexagon.J2_jumpf, p, over)
			b.StartDMAChain(addr)
			b.Func.Bind(over)
		}
	})
}

// Bring has n lines from an address on come to L2, and waits for them by reading.
// Other threads use the time.
func (b *Builder) Bring(addr, n codegen.Reg) {
	shape, at := b.RR("box"), b.CopyOf(addr)
	b.Op(hexagon.A2_tfrsi, Hi(shape), VectorBytes)
	b.Op(hexagon.A2_tfr, Lo(shape), n)
	b.Op(hexagon.S2_setbit_i, Lo(shape), Lo(shape), 23) // 128 bytes wide
	b.Op(hexagon.Y5_l2fetch, addr, shape)
	b.Loop0(n, func() { b.Op(hexagon.V6_vL32b_pi, b.V("bytes"), at, 1).Loads(AliasIn) })
}

// Indexed is base + i * size.
func Indexed(a *Builder, base, i codegen.Reg, size int) codegen.Reg {
	r := a.CopyOf(base)
	a.Op(hexagon.M2_maci, r, i, a.Imm(size))
	return r
}

// Fail notes that an input is not valid; the word at bad starts at 0.
func Fail(a *Builder, bad codegen.Reg) {
	a.Op(hexagon.S2_storeri_io, bad, 0, a.Imm(1)).Stores(AliasOut)
}

// PrefetchBox loads the shape of the inputs that are fetched ahead.
func PrefetchBox(a *Builder, params codegen.Reg) codegen.Reg {
	box := a.RR("box")
	a.Op(hexagon.L2_loadri_io, Lo(box), params, 4*ParBox).Loads(AliasConst)
	a.Op(hexagon.L2_loadri_io, Hi(box), params, 4*ParStride).Loads(AliasConst)
	return box
}
