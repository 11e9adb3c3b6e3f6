package model

import "github.com/nnsoc/nnsoc/sim"

// Counters pairs names and counts, in the order of the names.
func Counters(names []string, count []int64) []sim.Counter {
	c := make([]sim.Counter, len(names))
	for i, n := range names {
		c[i] = sim.Counter{Name: n, Value: count[i]}
	}
	return c
}

// Counted pairs names, prefixed with the memory's own, and counts.
func Counted(prefix string, names []string, count []int64) []sim.Counter {
	c := Counters(names, count)
	for i := range c {
		c[i].Name = prefix + "_" + c[i].Name
	}
	return c
}
