// Package session is a phone on a desk: Open makes the SoC of a file with its devices, Run executes a network on one of
// them, again and again at the pace of an application, and returns what "nnsoc run --json" prints.
//
// A Phone keeps its state from execution to execution: caches, clocks, heat, sleeping engines. A Pace says how
// invocations follow one another; its loops begin with a phone that is cold and are the same to the byte each time.
// Device Auto is a plan by prediction: a Planner measures the network on each device by itself, predicts the time of
// plans that divide it, and compiles the best.
package session
