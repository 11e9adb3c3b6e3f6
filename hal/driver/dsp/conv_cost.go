package dsp

import (
	"github.com/nnsoc/nnsoc/hal/driver/dsp/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/conv"
)

// gemmCost is what a block takes of a full chunk, or of the tail where there is none.
func gemmCost(c *conv.GEMM) cost.GEMM {
	b := cost.GEMM{Positions: c.Positions, PerVector: c.PerVector, Products: 4 * c.Positions * c.Words * c.Runs}
	if !c.Full {
		b.Products = c.Tail * c.Positions * c.Words * c.Runs
	}
	return b
}

// spatialCost is what a block takes.
func spatialCost(d *conv.Spatial) cost.Spatial {
	return cost.Spatial{Planes: d.Planes(), Outputs: d.Outputs, Requant: d.Rq}
}
