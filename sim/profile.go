package sim

// NoInstruction is Sample.At of a cost that no instruction of the program has: its launch,
// the caches that are written back behind it.
const NoInstruction = -1

// Sample is what one place of a program cost in one region of a run.
type Sample struct {
	Region   int    // RegionReport.ID
	Program  string // kernel, job, or kind of command
	At       int64  // byte offset of the instruction in its program, or NoInstruction
	Text     string // the instruction, or what the cost without one is for
	Count    int64  // executions
	Stalls   StallTable
	EnergyPJ float64
}

// Profile receives where the costs of a run arose. The cycles of the samples of a region add
// up to those of its RegionReport, and so do their energies but for rounding. Samples of
// several runs come one behind the other.
type Profile struct{ Samples []Sample }
