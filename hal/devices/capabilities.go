package devices

//go:generate go run ../../bench/capability/generate -o zcapabilities.go

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// socFigures are the measured capabilities of a preset's devices. Package
// bench/capability measures them; zcapabilities.go is generated.
type socFigures struct {
	name, hash string // of the SoC file
	devices    []deviceFigures
}

// deviceFigures are time and energy relative to the CPU. A type that is missing
// is refused.
type deviceFigures struct {
	device                                   string
	relaxedScalar, relaxedTensor, ifs, while [2]float32 // zero is refused
	operand                                  []typeFigure
}

type typeFigure struct {
	operand              nn.OperandType
	execTime, powerUsage float32
}

// refused is the answer for a type that a device does not run: as slow as can
// be, so that no planner chooses it.
var refused = hal.PerformanceInfo{ExecTime: math.MaxFloat32, PowerUsage: math.MaxFloat32}

// ContentHash identifies the content of a SoC file.
func ContentHash(c *soc.Config) string {
	text, err := json.Marshal(c)
	if err != nil {
		return "" // no file has values that JSON lacks
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Measured reports whether the capabilities that Open gives the devices of a SoC
// were measured on that very SoC.
func Measured(c *soc.Config) bool {
	f := shippedFigures(c)
	return f != nil && f.hash == ContentHash(c)
}

// shippedFigures returns the figures of the preset with the SoC's name, or of the nearest of which it is a variant, nil
// when there is none.
func shippedFigures(c *soc.Config) *socFigures {
	for name := c.SoC.Name; ; name = soc.Base(name) {
		i := slices.IndexFunc(shipped[:], func(f socFigures) bool { return f.name == name })
		switch {
		case i >= 0:
			return &shipped[i]
		case soc.Base(name) == name:
			return nil
		}
	}
}

// capabilities are what a device of a SoC reports: figures of the preset of that
// name, or refusals where there is none.
func capabilities(c *soc.Config, device string) hal.Capabilities {
	caps := hal.Capabilities{RelaxedScalar: refused, RelaxedTensor: refused, If: refused, While: refused, Operand: map[nn.OperandType]hal.PerformanceInfo{}}
	for t := nn.OperandType(0); t.Valid(); t++ {
		if t != nn.SubgraphRef {
			caps.Operand[t] = refused
		}
	}
	f := shippedFigures(c)
	if f == nil {
		return caps
	}
	for i := range f.devices {
		d := &f.devices[i]
		if d.device != device {
			continue
		}
		caps.RelaxedScalar, caps.RelaxedTensor = figure(d.relaxedScalar), figure(d.relaxedTensor)
		caps.If, caps.While = figure(d.ifs), figure(d.while)
		for _, x := range d.operand {
			caps.Operand[x.operand] = hal.PerformanceInfo{ExecTime: x.execTime, PowerUsage: x.powerUsage}
		}
	}
	return caps
}

func figure(x [2]float32) hal.PerformanceInfo {
	if x == [2]float32{} {
		return refused
	}
	return hal.PerformanceInfo{ExecTime: x[0], PowerUsage: x[1]}
}
