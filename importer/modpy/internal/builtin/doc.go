// Package builtin has the parts of which the built-in functions and modules of specifications are made: functions with
// checked arguments, modules, slices, numbers as Python accepts them, and the budget of values that a specification may
// use.
package builtin
