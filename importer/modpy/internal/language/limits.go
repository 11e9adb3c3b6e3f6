package language

// Bounds of an execution.
const (
	MaxSteps = 1 << 26 // Starlark steps, and elements touched by built-ins
	maxCalls = 200     // depth of calls
)
