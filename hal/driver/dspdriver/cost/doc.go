// Package cost estimates what kernels of the DSP take: one estimator for the choice among
// kernels and register tiles, for row bands, for how much jobs prefetch for later ones, and for
// what listings and compile --explain say of a step.
//
// Where code exists, its schedule says what it takes (thread.go): each loop of a kernel knows
// its issue slots and the vectors that it moves, and how often it runs as a function of the
// thread's arguments and tables (hvx.Loop). That holds for kernels of every family, those of
// driver authors outside this module included. A loop whose count depends on data, as in the
// suppression of boxes, is taken to run ten times, and the estimate is marked as a guess.
//
// Before code exists, an outline of the code says the same without a schedule (hvx.Image.Outlines,
// codegen.Outline). Candidates are compared so, each launched for a trial with the arguments that it
// would have (step.Launcher.Estimate).
//
// Slots become cycles with what the machine adds (machine.go): the launch of a job, the port
// of L2, code and bytes that come from DRAM. Tests of the driver hold the estimates against
// simulated runs: TestSlots, TestEstimates.
package cost
