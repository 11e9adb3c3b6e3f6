// Package coretest tests the contract of the cores of all engines: New(Spec) returns an immutable Core, and each Run
// uses its own State and a memory that the caller provides. The tests of every core run the same suite.
package coretest
