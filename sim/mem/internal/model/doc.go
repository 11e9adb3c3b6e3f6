// Package model has what the models of memories share: checks of configurations, spans of
// cycles, counters and fingerprints.
package model
