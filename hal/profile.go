package hal

// NoInstruction is Sample.At of a cost that no instruction of a program has.
const NoInstruction = -1

// Sample is what one place of a device's program cost in an execution.
type Sample struct {
	Operation int    // OperationStats.Index
	Program   string // kernel, job, or kind of command; "" where the device runs none
	At        int64  // byte offset of the instruction in its program, or NoInstruction
	Text      string // the instruction, or what the cost without one is for
	Count     int64  // executions of the instruction
	Stalls    []StallCycles
	EnergyPJ  float64
}

// Profiler receives the samples of an execution; it may be nil in ExecuteOptions. The cycles
// of the samples of an operation add up to those of its OperationStats.
type Profiler interface {
	Sample(s *Sample)
}
