// Package coretest tests the contract that the cores of all engines keep: New(Spec)
// returns an immutable Core, and each Run works on a State of its own and a
// memory that the caller provides. The tests of every core run the same suite.
package coretest
