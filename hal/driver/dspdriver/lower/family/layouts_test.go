package family

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/cost"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/lower"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// convolutionText is operands 10 to 16: 1x1 over 4 channels, with stride 1 and no padding.
const convolutionText = `
%10 CONSTANT_COPY TENSOR_QUANT8_ASYMM [4 1 1 4] scale 0.5 data 00010203040506070809000102030405
%11 CONSTANT_COPY TENSOR_INT32 [4] scale 0.25 data 00000000000000000000000000000000
%12 CONSTANT_COPY INT32 data 02000000
%13 CONSTANT_COPY INT32 data 01000000
%14 CONSTANT_COPY INT32 data 00000000
%16 CONSTANT_COPY TENSOR_INT32 [4] data 00000000010000000200000003000000
`

// machine has costs of launches, lines and packets.
var machine = cost.Machine{IssueInterval: 2, Launch: 200, LineBytes: 128, MemoryCycles: 300, MemoryRate: 20}

// TestForms: values of few channels have a small pitch where it saves more than conversions
// cost, and a client's bytes are not converted if all readers accept them.
func TestForms(t *testing.T) {
	image := func(size, channels int) string {
		return fmt.Sprintf("TENSOR_QUANT8_ASYMM [1 %d %d %d] scale 0.5\n", size, size, channels)
	}
	const windows = " %14 %14 %14 %14 %13 %13 %13 %13 %14 -> " // 1x1, without padding
	const conv = " %10 %11 %12 %13 %13 %14 -> "
	for _, c := range []struct {
		name           string
		size, channels int
		operations     string
		forms          [3]layout.Form // of %0 to %2
	}{
		{"a convolution", 40, 4, "CONV_2D %0" + conv + "%9 ; of 0\n", [3]layout.Form{layout.Small, layout.Usual, layout.Usual}},
		{"two", 40, 4, "CONV_2D %0" + conv + "%1 ; of 0\nCONV_2D %1" + conv + "%9 ; of 1\n", [3]layout.Form{layout.Small, layout.Small, layout.Usual}},
		{"an addition of both", 40, 4, "CONV_2D %0" + conv + "%1 ; of 0\nADD %1 %0 %14 -> %2 ; of 1\nCONV_2D %2" + conv + "%9 ; of 2\n", [3]layout.Form{layout.Small, layout.Small, layout.Small}},
		{"a convolution, and one who takes the usual one only", 40, 4, "CONV_2D %0" + conv + "%1 ; of 0\nSOFTMAX %1 %15 -> %9 ; of 1\n", [3]layout.Form{layout.Small, layout.Usual, layout.Usual}},
		{"a requantization before a convolution", 40, 4, "REQUANTIZE %0 -> %1 ; of 0\nCONV_2D %1" + conv + "%9 ; of 1\n", [3]layout.Form{layout.Small, layout.Small, layout.Usual}},
		{"a softmax", 40, 4, "SOFTMAX %0 %15 -> %9 ; of 0\n", [3]layout.Form{layout.Usual, layout.Usual, layout.Usual}},
		{"additions of many channels", 4, 256, "ADD %0 %0 %14 -> %9 ; of 0\n", [3]layout.Form{layout.Plain, layout.Usual, layout.Usual}},
		{"a pool of a vector and one channel", 8, 129, "MAX_POOL_2D %0" + windows + "%9 ; of 0\n", [3]layout.Form{layout.Plain, layout.Usual, layout.Usual}},
		{"a pool, and one who takes whole vectors only", 8, 129, "MAX_POOL_2D %0" + windows + "%1 ; of 0\nSOFTMAX %0 %15 -> %9 ; of 1\n", [3]layout.Form{layout.Usual, layout.Usual, layout.Usual}},
		{"operations on elements", 8, 129, "RELU6 %0 -> %1 ; of 0\nADD %1 %0 %14 -> %2 ; of 1\nMAXIMUM %1 %2 -> %9 ; of 2\n", [3]layout.Form{layout.Plain, layout.Plain, layout.Plain}},
		{"one before a convolution", 40, 4, "RELU6 %0 -> %1 ; of 0\nCONV_2D %1" + conv + "%9 ; of 1\n", [3]layout.Form{layout.Small, layout.Small, layout.Usual}},
		{"a TRANSPOSE", 4, 256, "TRANSPOSE %0 %16 -> %9 ; of 0\n", [3]layout.Form{layout.Usual, layout.Usual, layout.Usual}},
	} {
		out := image(c.size, c.channels)
		if strings.Contains(c.operations, "SOFTMAX") {
			out = strings.Replace(out, "0.5", "0.00390625", 1) // the only one that it gives
		}
		text := "%15 CONSTANT_COPY FLOAT32 data 0000803f\n%9 SUBGRAPH_OUTPUT " + out + "%0 SUBGRAPH_INPUT " + image(c.size, c.channels)
		for _, x := range []string{"%1", "%2"} {
			text += x + " TEMPORARY_VARIABLE " + image(c.size, c.channels)
		}
		g := require.V(graph.Parse(text+convolutionText+c.operations+"inputs %0\noutputs %9\n"))(t, c.name)
		forms, choices := formsOf(t, g)
		if got := [3]layout.Form(forms[:3]); got != c.forms {
			t.Errorf("%s: forms %v, want %v: %+v", c.name, got, c.forms, choices)
		}
		for _, x := range choices {
			at := slices.Index(x.Forms, x.Chosen)
			costs := x.Costs()
			if least := slices.Min(costs); len(x.Forms) < 2 || costs[at] != least || least <= 0 || least >= layout.Impossible {
				t.Errorf("%s: %+v", c.name, x)
			}
		}
		if own, _ := formsOf(t, g, ownLowering{}); own[0] != layout.Usual {
			t.Errorf("%s: a lowering that says nothing takes another form than the usual one", c.name)
		}
		if own, _ := formsOf(t, g, plainLowering{}); (own[0] == layout.Plain) != (c.channels%layout.VectorBytes == 0) {
			t.Errorf("%s: a lowering that takes a client's bytes does not get them", c.name)
		}
	}
}

func formsOf(t *testing.T, g *graph.Graph, first ...lower.Operation) (forms []layout.Form, choices []step.FormChoice) {
	o := &step.Object{Threads: 4, Machine: machine, VTCM: 1 << 18, Image: hvx.NewImage(layout.CodeBase, hvx.Machine{IssueInterval: 2}, &hvx.Cache{})}
	list := require.V(lower.Graph(All(), g, o, first))(t)
	forms = slices.Repeat([]layout.Form{layout.Usual}, len(g.Operands))
	for _, c := range list.Forms {
		forms[c.Operand] = c.Chosen
	}
	return forms, list.Forms
}

// ownLowering accepts every operation.
type ownLowering struct{}

func (ownLowering) Identity() string                       { return "test-1" }
func (ownLowering) Check(opspec.View, *nn.Operation) error { return nil }

// Lower makes nothing of its inputs.
func (ownLowering) Lower(l *lower.Lowering, op *nn.Operation) error {
	for _, x := range op.Inputs {
		if l.Operand(x).Type.IsQuant8() {
			l.Value(x)
		}
	}
	l.Result(op.Outputs[0], 0)
	return nil
}

// plainLowering also accepts a client's bytes.
type plainLowering struct{ ownLowering }

func (plainLowering) Accepts(*nn.Operation) lower.Accepts { return lower.Accepts{Plain: true} }
