// Package sample is the sample drivers of the Android source tree as devices: the operations they
// support, the figures they report in getCapabilities, and results of the reference CPU, on
// which they compute as the originals do. Their capabilities are unrelated to their real speed,
// which makes them useful for testing a planner.
//
// NewSynthetic makes test doubles that break the contract on purpose: they fail, hang,
// panic, return late or return the wrong number of results. Runtimes and services
// are tested with them.
package sample
