package hvx

import (
	"github.com/nnsoc/nnsoc/isa/codegen"
	"github.com/nnsoc/nnsoc/isa/hexagon"
)

// Record addresses a record larger than the reach of a vector load: one
// register per 16 vectors.
type Record struct {
	a *Builder
	R []codegen.Reg
}

func NewRecord(a *Builder, rec codegen.Reg, bytes int) Record {
	b := Record{a: a}
	for at := 0; at < bytes; at += 16 * VectorBytes {
		b.R = append(b.R, a.Add(rec, at+8*VectorBytes))
	}
	return b
}

// At returns base and offset of vector n of the record.
func (b Record) At(n int) (codegen.Reg, int) { return b.R[n/16], n%16 - 8 }

// Load loads vector n of the record.
func (b Record) Load(to codegen.Reg, n int) {
	base, off := b.At(n)
	b.a.Op(hexagon.V6_vL32b_ai, to, base, off).Loads(AliasConst)
}
