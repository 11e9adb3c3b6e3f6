package sim

// NoInstruction is Sample.At of a cost that no instruction of the program has: its launch,
// the caches that are written back behind it.
const NoInstruction = -1

// Sample is the cost of one place of a program in one region of a run.
type Sample struct {
	Region   int    // RegionReport.ID
	Program  string // kernel, job, or kind of command
	At       int64  // byte offset of the instruction in its program, or NoInstruction
	Text     string // the instruction, or the kind of cost without one
	Count    int64  // executions
	Stalls   StallTable
	EnergyPJ float64
}

// Profile attributes the costs of a run to places of its program. The cycles of the samples of a region add up to those
// of its RegionReport, and so do their energies but for rounding. Samples of several runs are appended.
type Profile struct{ Samples []Sample }
