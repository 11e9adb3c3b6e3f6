package sim

// Counter is a named event count of a run.
type Counter struct {
	Name  string
	Value int64
}

// Span is an interval in which one unit of a core worked for one region.
type Span struct {
	Track      string // the unit: "thread 0", "dispatch", "dma"
	Name       string // the work: a kernel, a job, a copy
	Region     int    // RegionReport.ID the interval is charged to
	Start, End Time   // since the run began
}

// RegionReport is the share of a run charged to one region of a program: the
// instructions that one operation of the model was lowered to.
type RegionReport struct {
	ID       int // chosen by whoever built the program
	Cycles   int64
	Stalls   StallTable
	EnergyPJ float64
	// Time is the duration of the cycles; 0 where all are of the report's clock.
	Time Time
	// DRAMBytes are the bytes that the region moved to and from DRAM.
	DRAMBytes int64
	// Threads are the cycles of all hardware threads while the region ran, "idle" where one had nothing to do; empty
	// for cores that do not record them.
	Threads StallTable
	// Counters are events of the region, from cores that count them.
	Counters []Counter
}

// Report is a core's account of one run. Stalls.Total() == Cycles, and the
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
