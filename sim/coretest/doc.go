// Package coretest holds the contract that the cores of all engines keep: New(Spec)
// makes an immutable Core, and each Run works on a State of its own in front of a
// memory that the caller gives. The tests of every core run the same suite.
package coretest
