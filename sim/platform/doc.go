// Package platform is a SoC at work: a Machine made of a file of package soc, with the clocks, the
// idle states, the memory, the power and the heat that its engines share.
//
// An execution submitted to a Machine finds what the ones before left, and passes through a chain of
// parts (chain.go), each with its time and energy: call, transport, wake-up, ramp, cache maintenance,
// launch, run, interrupt. Clients at work at the same time (together.go) meet at the shared memory in
// the order of time. What happens is a function of the file and of the sequence of calls.
// Not modelled: see docs/Time.md.
package platform
