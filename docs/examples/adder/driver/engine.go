package driver

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The engine: a vector unit of 16 float32 lanes in front of a memory. Its instructions have
// six little-endian words: opcode, places of the output and of both inputs, number of elements,
// and the activation of the result. Here stands the simulator of your engine.

// Opcodes.
const (
	opAdd  = 1 + iota // output[i] = a[i] + b[i]
	opMul             // output[i] = a[i] * b[i]
	opMove            // output[i] = a[i]; the place of b is not used
)

// names are what listings call the opcodes.
var names = [...]string{opAdd: "add", opMul: "mul", opMove: "move"}

// limits are what the activations cut results to, by their number in NNAPI: none, RELU, RELU1, RELU6.
var limits = [...][2]float32{{-inf, inf}, {0, inf}, {-1, 1}, {0, 6}}

var inf = float32(math.Inf(1))

// instructionWords and instructionBytes are the size of an instruction.
const instructionWords, instructionBytes = 6, 4 * 6

// Costs of the engine, assumed: it is made up.
const (
	lanes         = 16
	defaultHz     = 1_000_000_000
	bytesPerCycle = 32 // of the memory
	decodeCycles  = 4  // per instruction
	pjPerElement  = 1.5
	pjPerByte     = 4.0
)

// cycles divides the time of an instruction by reason.
type cycles struct {
	issue, memory int64
	bytes         int64
	pj            float64
}

// encode appends an instruction.
func encode(code []byte, op, dst, a, b, n, activation int) []byte {
	for _, word := range []int{op, dst, a, b, n, activation} {
		code = binary.LittleEndian.AppendUint32(code, uint32(word))
	}
	return code
}

// run decodes and executes one instruction on a memory.
func run(instruction, memory []byte) (c cycles, err error) {
	var word [instructionWords]int
	for i := range word {
		word[i] = int(binary.LittleEndian.Uint32(instruction[4*i:]))
	}
	dst, a, b, n := word[1], word[2], word[3], word[4]
	if word[0] < opAdd || word[0] > opMove || word[5] >= len(limits) {
		return c, fmt.Errorf("adder: no instruction has the opcode %d with the activation %d", word[0], word[5])
	}
	for _, at := range word[1:4] {
		if at+4*n > len(memory) {
			return c, fmt.Errorf("adder: %d elements at %d of a memory of %d bytes", n, at, len(memory))
		}
	}
	load := func(at int) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(memory[at:])) }
	for i := 0; i < 4*n; i += 4 {
		y := load(a + i)
		switch word[0] {
		case opAdd:
			y += load(b + i)
		case opMul:
			y *= load(b + i)
		}
		y = min(max(y, limits[word[5]][0]), limits[word[5]][1])
		binary.LittleEndian.PutUint32(memory[dst+i:], math.Float32bits(y))
	}
	c.issue = decodeCycles + int64(n+lanes-1)/lanes
	c.bytes = 3 * 4 * int64(n)
	if word[0] == opMove {
		c.bytes = 2 * 4 * int64(n)
	}
	c.memory = max(0, (c.bytes+bytesPerCycle-1)/bytesPerCycle-c.issue) // it works ahead of the lanes
	c.pj = pjPerElement*float64(n) + pjPerByte*float64(c.bytes)
	return c, nil
}
