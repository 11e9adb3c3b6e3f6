package sim

// Turn is what an engine's program has of its engine: a program of higher priority may come
// in between. Cores ask between operations. Instants are those of the run, for which no time
// passes while another has the engine.
type Turn interface {
	// Over reports whether a program of higher priority waits for the engine.
	Over(at Time) bool
	// Yield gives the engine away, at an instant at which nothing is in flight, and returns
	// when it is back: with the operating points that it takes from then on, as the
	// conditions of a run have them, none when they stay. Its caches are another's by then.
	Yield(at Time) []Change
}
