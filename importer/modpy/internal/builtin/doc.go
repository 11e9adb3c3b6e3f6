// Package builtin has what the built-in functions and modules of specifications are made
// of: functions with checked arguments, modules, slices, numbers as Python accepts them, and
// the budget of values that a specification may touch.
package builtin
