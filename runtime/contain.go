package nnrt

import (
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/nn"
)

// supportedOperations asks a device, which may be anybody's: it may panic or
// answer too little.
func supportedOperations(d hal.Device, m *nn.Model) (s []hal.Support, err error) {
	defer hal.Contain(&err, d.Name(), "SupportedOperations")
	if s, err = d.SupportedOperations(m); err == nil && len(s) != len(m.Main.Operations) {
		err = hal.Errorf(hal.GeneralFailure, "%s: answers for %d of %d operations", d.Name(), len(s), len(m.Main.Operations))
	}
	return s, err
}

// prepareModel prepares a part on a device, which may panic.
func prepareModel(d hal.Device, m *nn.Model, o hal.PrepareOptions) (p hal.PreparedModel, err error) {
	defer hal.Contain(&err, d.Name(), "PrepareModel")
	if p, err = d.PrepareModel(m, o); err == nil && p == nil {
		err = hal.Errorf(hal.GeneralFailure, "%s: prepared nothing and gives no error", d.Name())
	}
	return p, err
}

// execute runs a prepared part, which may panic.
func execute(d hal.Device, p hal.PreparedModel, b *hal.Buffers) (res *hal.Result, err error) {
	defer hal.Contain(&err, d.Name(), "Execute")
	return hal.Execute(p, b)
}
