package sim

// Sampled reports how much of an engine's work was simulated in time, and how well the rest was extrapolated.
type Sampled struct {
	Memory func() int64 // present clock of the memory; nil: it is not known

	Instructions int64        // of all work
	Simulated    int64        // of them, in time
	Complete     int64        // of work that left nothing out, so that extrapolations could be compared
	Compared     int          // reused or extrapolated costs that were compared with a simulation
	Predicted    Extrapolated // sums of their predictions,
	Actual       Extrapolated // and were
}

// Extrapolated is the cost of some time of an engine.
type Extrapolated struct {
	Cycles   int64
	EnergyPJ float64
	Counters []Counter
}
