//go:build !linux || !cgo || !libneuralnetworks

package main

import (
	"errors"

	"github.com/nnsoc/nnsoc/hal"
)

// load needs C.
func load(string) ([]hal.Device, error) {
	return nil, errors.New("built without a loader: `make libneuralnetworks` builds it with one")
}
