package rdna2

// RandomInst is randomInst for tests that import packages above this one.
var RandomInst = randomInst
