package lower

import (
	"errors"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dsp/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dsp/step"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// convolution is operands 10 to 16: 1x1 over 4 channels, with stride 1 and no padding.
const convolution = `
%10 CONSTANT_COPY TENSOR_QUANT8_ASYMM [4 1 1 4] scale 0.5 data 00010203040506070809000102030405
%11 CONSTANT_COPY TENSOR_INT32 [4] scale 0.25 data 00000000000000000000000000000000
%12 CONSTANT_COPY INT32 data 02000000
%13 CONSTANT_COPY INT32 data 01000000
%14 CONSTANT_COPY INT32 data 00000000
`

// TestLayouts: a value has a layout other than the usual one when all its readers take it.
func TestLayouts(t *testing.T) {
	const image = "TENSOR_QUANT8_ASYMM [1 3 3 4] scale 0.5\n"
	const conv = "CONV_2D %0 %10 %11 %12 %13 %13 %14 -> "
	for _, c := range []struct {
		name, operations     string
		small, narrow, plain bool // of %0
	}{
		{"a convolution", conv + "%9 ; of 0\n", true, true, false},
		{"and an addition", conv + "%9 ; of 0\nADD %0 %0 %14 -> %8 ; of 1\n", false, false, false},
		{"additions", "ADD %0 %0 %14 -> %9 ; of 0\n", false, false, true},
		{"a requantization before a convolution", "REQUANTIZE %0 -> %1 ; of 0\nCONV_2D %1 %10 %11 %12 %13 %13 %14 -> %9 ; of 1\n", true, false, false},
		{"a requantization before an addition", "REQUANTIZE %0 -> %1 ; of 0\nADD %1 %1 %14 -> %9 ; of 1\n", false, false, false},
		{"a logistic that the client reads", "LOGISTIC %0 -> %9 ; of 0\n", false, false, true},
		{"a TRANSPOSE", "TRANSPOSE %0 %11 -> %9 ; of 0\n", false, false, false},
	} {
		g, err := graph.Parse("%0 SUBGRAPH_INPUT " + image + "%1 TEMPORARY_VARIABLE " + image + "%8 TEMPORARY_VARIABLE " + image +
			"%9 SUBGRAPH_OUTPUT " + image + convolution + c.operations + "inputs %0\noutputs %9\n")
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		a := layoutsOf(g)
		if a.small(0) != c.small || a.narrow[0] != c.narrow || a.plain[0] != c.plain {
			t.Errorf("%s: small %v narrow %v plain %v, want %v %v %v", c.name, a.small(0), a.narrow[0], a.plain[0], c.small, c.narrow, c.plain)
		}
		if a.small(9) || a.narrow[9] {
			t.Errorf("%s: the client reads positions at a small pitch", c.name)
		}
		if own := layoutsOf(g, ownLowering{}); own.small(0) || own.narrow[0] || own.plain[0] {
			t.Errorf("%s: a lowering that says nothing takes another layout than the usual one", c.name)
		}
		if own := layoutsOf(g, plainLowering{}); !own.plain[0] {
			t.Errorf("%s: a lowering that takes a client's bytes does not get them", c.name)
		}
	}
}

func layoutsOf(g *graph.Graph, first ...Operation) *layouts {
	l := &Lowering{Object: &step.Object{Threads: 1, Image: hvx.NewImage(0, hvx.Machine{}, &hvx.Cache{})}, graph: g, view: g.View(), first: first, final: true}
	return l.assignLayouts()
}

// ownLowering takes every operation.
type ownLowering struct{}

func (ownLowering) Identity() string                          { return "test-1" }
func (ownLowering) Check(opspec.View, *nn.Operation) error    { return nil }
func (ownLowering) Lower(l *Lowering, op *nn.Operation) error { return errors.New("not lowered") }

// plainLowering also takes a client's bytes.
type plainLowering struct{ ownLowering }

func (plainLowering) Accepts(*nn.Operation) Accepts { return Accepts{Plain: true} }
