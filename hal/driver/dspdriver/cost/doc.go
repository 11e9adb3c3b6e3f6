// Package cost estimates the cycles of DSP kernels: one estimator for the choice among
// kernels and register tiles, for row bands, for how much jobs prefetch for later ones, and for
// listings and compile --explain.
//
// Where code exists, its schedule gives the estimate (thread.go): each loop of a kernel records
// its issue slots and the vectors that it moves, and its trip count as a function of the
// thread's arguments and tables (hvx.Loop). That holds for kernels of every family, those of
// driver authors outside this module included. A loop whose count depends on data, as in the
// suppression of boxes, counts as ten rounds, and the estimate is marked as a guess.
//
// Before code exists, an outline of it gives the same without a schedule (hvx.Image.Outlines,
// codegen.Outline). Candidates are compared this way: each is launched on trial with the arguments
// that it would have (step.Launcher.Estimate).
//
// Slots become cycles by adding the machine's overheads (machine.go): the launch of a job, the port
// of L2, code and bytes that come from DRAM. Tests of the driver hold the estimates against
// simulated runs: TestSlots, TestEstimates.
package cost
