// Package step is the result of lowering and of planning, as data: a list of steps, each the
// work of kernels on tensors, and jobs, which run a kernel on the hardware
// threads. Steps are printed by compile --steps.
//
// A step becomes jobs through a Launcher, which has the code and the constants of the program
// (Object) and the services of the plan (Planner).
package step
