// Package step is what lowering makes of a graph and what planning makes of that, as data: a
// list of steps, which say what kernels compute on which tensors, and jobs, which run a kernel
// on the hardware threads. Steps are printed by compile --steps.
//
// A step becomes jobs through a Launcher: the code and the constants of the program (Object),
// and what the plan around the step offers (Planner).
package step
