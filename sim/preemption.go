package sim

// Preemption is a program's tenure of its engine, which one of higher priority may preempt. Cores check between operations.
// Instants are counted on the run's own clock, for which no time passes while another program has the engine.
type Preemption interface {
	// Pending reports whether a program of higher priority waits for the engine.
	Pending(at Time) bool
	// Yield releases the engine, at an instant at which nothing is in flight, and returns
	// when it is back, with the engine's operating points from then on (see the
	// conditions of a run), none when they stay. Other programs have used its caches by then.
	Yield(at Time) []Change
}
