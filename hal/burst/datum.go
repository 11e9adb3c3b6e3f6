package burst

import (
	"encoding/binary"
	"fmt"

	"github.com/nnsoc/nnsoc/hal"
)

// DatumBytes is the size of an encoded datum: a kind, padding to 8 bytes, the payload.
const DatumBytes = 32

// Datum is one element of a queue as stored in memory, little-endian.
type Datum [DatumBytes]byte

// Kind is the member of the union that a datum holds.
type Kind uint8

// Kinds of FmqRequestDatum.
const (
	RequestPacket Kind = iota
	InputOperand
	InputDimension
	OutputOperand
	OutputDimension
	PoolIdentifier
	MeasureTiming
	requestKinds
)

// Kinds of FmqResultDatum.
const (
	ResultPacket Kind = iota
	ResultOperand
	ResultDimension
	ExecutionTiming
	resultKinds
)

const payload = 8 // offset of the payload

// put returns a datum of a kind and 32-bit words.
func put(k Kind, words ...uint32) Datum {
	var d Datum
	d[0] = byte(k)
	for i, w := range words {
		binary.LittleEndian.PutUint32(d[payload+4*i:], w)
	}
	return d
}

// word is word i of the payload.
func (d *Datum) word(i int) uint32 { return binary.LittleEndian.Uint32(d[payload+4*i:]) }

// words are the numbers of 32-bit words of the payload by kind.
var (
	requestWords = [requestKinds]int{RequestPacket: 4, InputOperand: 5, InputDimension: 1, OutputOperand: 5, OutputDimension: 1, PoolIdentifier: 1, MeasureTiming: 1}
	resultWords  = [resultKinds]int{ResultPacket: 3, ResultOperand: 2, ResultDimension: 1, ExecutionTiming: 4}
)

// expect checks that a datum has a kind and that what the kind does not use is zero.
func (d *Datum) expect(k Kind, words []int) error {
	if Kind(d[0]) != k {
		return fmt.Errorf("burst: a datum of kind %d where kind %d belongs", d[0], k)
	}
	for i, b := range d {
		if b != 0 && i > 0 && (i < payload || i >= payload+4*words[k]) {
			return fmt.Errorf("burst: byte %d of a datum of kind %d is padding and not zero", i, k)
		}
	}
	return nil
}

// flag reads a boolean.
func flag(w uint32) (bool, error) {
	if w > 1 {
		return false, fmt.Errorf("burst: %d is no boolean", w)
	}
	return w == 1, nil
}

func word(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// argument returns the datums of one argument of a request.
func argument(list []Datum, a *hal.RequestArgument, operand, dimension Kind) []Datum {
	l := a.Location
	list = append(list, put(operand, word(a.HasNoValue), l.PoolIndex, l.Offset, l.Length, uint32(len(a.Dimensions))))
	for _, d := range a.Dimensions {
		list = append(list, put(dimension, d))
	}
	return list
}
