// Package model has the code common to the models of memories: checks of configurations, spans of cycles, counters and
// fingerprints.
package model
