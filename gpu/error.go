package gpu

import (
	"fmt"

	"github.com/nnsoc/nnsoc/gpu/internal/state"
)

// Fault is an error of the simulated program, with where it happened.
type Fault struct {
	Kernel string
	PC     int    // byte offset into the code
	Instr  string // disassembly or mnemonic
	Where  string // work-group and wave
	Err    error
}

// Error is one line: kernel, pc, instruction, place, cause.
func (f *Fault) Error() string {
	return fmt.Sprintf("gpu: kernel %s pc %#x (%s) %s: %v", f.Kernel, f.PC, f.Instr, f.Where, f.Err)
}

// Unwrap is the cause.
func (f *Fault) Unwrap() error { return f.Err }

// ScratchError is the cause of a Fault whose access lay outside the lane's scratch.
type ScratchError = state.ScratchError
