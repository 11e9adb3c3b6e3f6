// Package sample is the sample drivers of the Android source tree as devices: what they
// support, what they promise in getCapabilities, and results of the reference CPU, on
// which they compute as the originals do. Their promises have nothing to do with how long
// they take, which makes them good for tests of a planner.
//
// NewSynthetic makes test doubles that break the contract on purpose: they fail, hang,
// panic, answer late or answer with the wrong number of results. Runtimes and services
// are tested with them.
package sample
