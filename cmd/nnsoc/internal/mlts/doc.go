// Package mlts has the commands of the ML Test Suite: the benchmark app, its models and
// its crash tests.
package mlts
