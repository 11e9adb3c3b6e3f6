// Package state is the part of an NPU visible to a command stream - registers, SHRAM, the bytes of the regions - and
// the operation that its registers describe. decode makes operations, exec computes them, and the core (package npu)
// times them.
package state

import "github.com/nnsoc/nnsoc/isa/ethosu"

// LUTBytes is the part of SHRAM kept for lookup tables.
const LUTBytes = 2048

// NumRegions is the number of base pointers.
const NumRegions = 8

// Regions are the bytes behind the base pointers.
type Regions [NumRegions][]byte

// Machine is the part of an NPU visible to a command stream.
type Machine struct {
	Product           ethosu.Product
	Registers         Registers
	SHRAM             []byte
	TablesOverwritten bool // on machines where accumulators overlap the tables
}

// LUTBase is the SHRAM address of lookup table slot 0.
func (m *Machine) LUTBase() int { return len(m.SHRAM) - LUTBytes }
