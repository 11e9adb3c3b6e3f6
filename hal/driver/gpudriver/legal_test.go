package gpudriver

import (
	"testing"

	"github.com/nnsoc/nnsoc/testvectors/legaltest"
)

// TestTable: what the table of legalization accepts and refuses is true of the device.
func TestTable(t *testing.T) { legaltest.Run(t, newDevice(t), 700) }
