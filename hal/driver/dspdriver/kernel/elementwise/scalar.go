package elementwise

import (
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx/hvxmath"
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// ScalarFunction computes an element. Its type must be comparable: it is part of the
// key of a Scalar.
type ScalarFunction interface {
	Name() string
	// Form is the bytes of an element and of a result, 1 or 4, and how often the loop
	// is unrolled, 2 or 4 times.
	Form() (in, out, unroll int)
	// Emit writes the computation of an element; table is the entry's lookup table.
	Emit(b *hvx.Builder, v, table codegen.Reg) codegen.Reg
}

// Scalar is the kernel that computes elements one by one in scalar registers.
type Scalar struct{ F ScalarFunction }

// Name implements hvx.Kernel.
func (k Scalar) Name() string { return k.F.Name() }

// Emit implements hvx.Kernel. Arguments: table of (input, output, elements,
// lookup table), entries.
func (k Scalar) Emit(b *hvx.Builder) {
	args := b.Args("table", "entries")
	table, entries := args[0], args[1]
	in, out, unroll := k.F.Form()
	load := map[int]hexagon.Op{1: hexagon.L2_loadrub_io, 4: hexagon.L2_loadri_io}[in]
	store := map[int]hexagon.Op{1: hexagon.S2_storerb_io, 4: hexagon.S2_storeri_io}[out]
	b.Repeat(entries, func() {
		src, dst, n, lookup := b.Word(table, 0, "in"), b.Word(table, 1, "out"), b.Word(table, 2, "elements"), b.Word(table, 3, "lookup")
		b.Bump(table, 16)
		pass := func(count codegen.Reg, times int) {
			b.SkipIfZero(count, func() {
				b.Loop0(count, func() {
					for i := range times {
						v := b.R("element")
						b.Op(load, v, src, i*in).Loads(hvx.AliasIn)
						b.Op(store, dst, i*out, k.F.Emit(b, v, lookup)).Stores(hvx.AliasOut)
					}
					b.Bump(src, times*in)
					b.Bump(dst, times*out)
				})
			})
		}
		rest := b.Into(hexagon.A2_andir, n, unroll-1)
		pass(b.Into(hexagon.S2_lsr_i_r, n, map[int]int{2: 1, 4: 2}[unroll]), unroll)
		pass(rest, 1)
	})
	b.Ret()
}

// Quantize is QUANTIZE of a float to a byte.
type Quantize struct{ To hvxmath.Quant }

func (f Quantize) Name() string              { return fmt.Sprintf("quantize_%g_%d", f.To.Scale, f.To.Zero) }
func (Quantize) Form() (in, out, unroll int) { return 4, 1, 2 }

func (f Quantize) Emit(b *hvx.Builder, v, _ codegen.Reg) codegen.Reg {
	return hvxmath.Quantize(b, v, f.To)
}

// Dequantize looks a byte up in a table of 256 floats (hvxmath.Quant.Floats).
type Dequantize struct{}

func (Dequantize) Name() string                { return "dequantize" }
func (Dequantize) Form() (in, out, unroll int) { return 1, 4, 4 }

func (Dequantize) Emit(b *hvx.Builder, v, table codegen.Reg) codegen.Reg {
	r := b.R("float")
	b.Op(hexagon.L4_loadri_rr, r, table, v, 2).Loads(hvx.AliasConst)
	return r
}

// IntToFloat is CAST of an unsigned byte or a signed word to a float.
type IntToFloat struct{ Bytes int }

func (f IntToFloat) Name() string                { return fmt.Sprintf("cast_int%d_float", 8*f.Bytes) }
func (f IntToFloat) Form() (in, out, unroll int) { return f.Bytes, 4, 4 }

func (IntToFloat) Emit(b *hvx.Builder, v, _ codegen.Reg) codegen.Reg { return b.FloatOf(v) }

// FloatToInt is CAST of a float to a word, towards zero, or to a byte within 0 and 255. Not a number gives 0.
type FloatToInt struct{ Bytes int }

func (f FloatToInt) Name() string                { return fmt.Sprintf("cast_float_int%d", 8*f.Bytes) }
func (f FloatToInt) Form() (in, out, unroll int) { return 4, f.Bytes, 4 }

func (f FloatToInt) Emit(b *hvx.Builder, v, _ codegen.Reg) codegen.Reg {
	no := b.Compare(hexagon.F2_sfcmpuo, v, v)
	v = b.Into(hexagon.F2_conv_sf2w_chop, v)
	if f.Bytes != 1 {
		v = b.Into(hexagon.C2_muxri, no, 0, v)
	} else { // of what is not a number -1
		v = b.Into(hexagon.A2_max, b.Into(hexagon.A2_min, v, b.Imm(math.MaxUint8)), b.Imm(0))
	}
	return v
}
