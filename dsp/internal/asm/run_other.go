//go:build !amd64 || purego

package asm

import "github.com/nnsoc/nnsoc/dsp/internal/state"

// Host is nil: this machine has no handlers.
func Host() *Handlers { return nil }

// Run runs code a number of times, see run_amd64.go.
func Run(t *state.Thread, c *state.Code, rounds uint32) uint32 {
	begin(t, rounds)
	return rounds - runGo(t, c)
}
