package sim

// Counter is a named event count of a run.
type Counter struct {
	Name  string
	Value int64
}

// RegionReport is the share of a run charged to one region of a program: the
// instructions that one operation of the model was lowered to.
type RegionReport struct {
	ID       int // chosen by whoever built the program
	Cycles   int64
	Stalls   StallTable
	EnergyPJ float64
	// Threads are the cycles of all hardware threads while the region ran, "idle"
	// where one had nothing to do; empty for cores that do not tell.
	Threads StallTable
}

// Report is what a core says about one run. Stalls.Total() == Cycles, and the
// cycles and stalls of the regions add up to those of the run.
type Report struct {
	Cycles       int64
	Hz           int64
	Time         Time // simulated time from start to completion
	Instructions int64
	Stalls       StallTable
	Regions      []RegionReport
	EnergyPJ     float64
	Counters     []Counter
}
