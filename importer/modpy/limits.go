package modpy

// Bounds of one specification. The largest public one (a whole MobileNet with its weights) has 20 MB and 4 million
// values. Packages internal/language and internal/builtin have the bounds of execution and of values.
const (
	maxSource = 32 << 20 // bytes of source text
	maxCases  = 1 << 14  // test cases
	maxOutput = 1 << 29  // bytes of tensor data over all cases
)
