// Package platform is a running SoC: a Machine made from a file of package soc, with the clocks, the
// idle states, the memory, the power and the heat that its engines share.
//
// An execution submitted to a Machine starts from the state that earlier ones left, and passes through a chain of
// parts (chain.go), each with its time and energy: call, transport, wake-up, ramp, cache maintenance,
// launch, run, interrupt. Concurrent clients (concurrent.go) access the shared memory in
// the order of time. Results are a function of the file and of the sequence of calls.
// Not modelled: see docs/Time.md.
package platform
