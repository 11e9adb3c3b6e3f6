package state

import "github.com/nnsoc/nnsoc/isa/hexagon"

// Reservation is the address of the last locked load, and the values that loads of words and of doublewords have seen.
type Reservation struct {
	On     bool
	Addr   uint32
	Word   uint32
	Double uint64
}

// Box is the request of an l2fetch: height rows of width bytes, stride apart.
type Box struct{ Stride, Width, Height uint32 }

// DMACommand is the request of a DMA instruction to its thread's engine.
type DMACommand uint8

// Commands of the DMA instructions.
const (
	DMANone DMACommand = iota
	DMAStart
	DMALink
	DMAPoll
	DMAWait
	DMAPause
	DMAResume
)

// DMARequest is a DMA instruction with its operands.
type DMARequest struct {
	Command DMACommand
	Op      hexagon.Op
	PC      uint32
	A, B    uint32
	Out     uint16 // byte offset of the result
}
