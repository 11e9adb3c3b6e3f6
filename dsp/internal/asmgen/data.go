package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// data writes 64-byte tables of byte indices.
func data(name string, at func(i int) byte) Mem {
	d := GLOBL(name, RODATA|NOPTR)
	for i := 0; i < 64; i += 8 {
		var v uint64
		for j := range 8 {
			v |= uint64(at(i+j)) << (8 * j)
		}
		DATA(i, U64(v))
	}
	return d
}

// constants is a table written by data.
func constants(name string) Mem { return NewDataAddr(Symbol{Name: name, Static: true}, 0) }
