package modpy

// Bounds of one specification. The largest public one (a whole MobileNet with
// its weights) has 20 MB and 4 million values. Package internal/builtin has those of values.
const (
	maxSource = 32 << 20 // bytes of source text
	maxSteps  = 1 << 26  // Starlark steps, and elements touched by built-ins
	maxCalls  = 200      // depth of calls
	maxCases  = 1 << 14  // test cases
	maxOutput = 1 << 29  // bytes of tensor data over all cases
)
