package legal

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// Phase is when a rule can be checked.
type Phase uint8

// Phases. There is no zero phase.
const (
	// Always is checked whether or not parameters and shapes are known.
	Always Phase = 1 + iota
	// Known is checked when they are known.
	Known
	// Deferred is checked of an operation that is promised before they are known.
	Deferred
	// Lowering is checked by the lowering itself: it returns
	// Broken.
	Lowering
)

// Rule is a constraint on operations.
type Rule struct {
	// Text states it as docs/OPERATIONS.md prints it and refusals end with: "at most 8 batches".
	Text  string
	Phase Phase
	// Check returns nil when the rule holds, and else Broken with the offending value. It is nil
	// in phase Lowering.
	Check func(r Rule, s *Subject) error
}

// Subject is an operation that rules are checked of, with the names of its operands.
type Subject struct {
	opspec.Args
	Graph *graph.Graph
}

// Limit is a rule that lowerings check.
func Limit(format string, args ...any) Rule {
	return Rule{Text: fmt.Sprintf(format, args...), Phase: Lowering}
}

// Broken is the error of a rule that does not hold: the offending value and the rule.
func (r Rule) Broken(format string, value ...any) error {
	return &Broken{r, fmt.Sprintf(format, value...)}
}

// Refuse ends a lowering, by package try, where the rule is broken.
func (r Rule) Refuse(broken bool, format string, value ...any) {
	if broken {
		try.E(r.Broken(format, value...))
	}
}

// Broken is a rule that an operation does not keep.
type Broken struct {
	Rule  Rule
	Value string // that offends
}

func (b *Broken) Error() string { return b.Value + "; " + b.Rule.Text }

// Refusal is why a device does not accept an operation.
type Refusal struct {
	Operation nn.OperationType
	Type      nn.OperandType // that the table refuses; Any where something else is at fault
	Err       error
}

// Any is the type of a Refusal whose reason is not the type.
const Any nn.OperandType = -1

func (r *Refusal) Error() string {
	if r.Type == Any {
		return fmt.Sprintf("%s: %v", r.Operation, r.Err)
	}
	return fmt.Sprintf("%s: %s; %v", r.Operation, r.Type, r.Err)
}

// Unwrap returns the reason.
func (r *Refusal) Unwrap() error { return r.Err }

// about names the operation in an error, unless the error does.
func about(op *nn.Operation, err error) error {
	if err == nil {
		return nil
	}
	var r *Refusal
	if errors.As(err, &r) || strings.HasPrefix(err.Error(), op.Type.String()+":") {
		return err
	}
	return &Refusal{op.Type, Any, err}
}

// Stored demands that all tensors of an operation are of types that the device stores.
func Stored(types Types) Rule {
	return Rule{Text: "tensors are " + types.String(), Phase: Always, Check: func(r Rule, s *Subject) error {
		for k, list := range [2][]uint32{s.Op.Inputs, s.Op.Outputs} {
			for i, x := range list {
				o := &s.View.Operands[x]
				if o.Type.IsScalar() || o.Lifetime == nn.NoValue || types.has(o.Type) {
					continue
				}
				return r.Broken("%s %d is %s", [2]string{"input", "output"}[k], i, o.Type)
			}
		}
		return nil
	}}
}

// DeferredInputs is the rule of devices that can lower when an execution supplies parameters and shapes.
var DeferredInputs = Rule{Text: "parameters and shapes may come with an execution", Phase: Deferred, Check: func(Rule, *Subject) error { return nil }}

// ChannelsLast is the rule of devices that leave images in NCHW order to the pass that converts
// them, which converts all that have elements.
var ChannelsLast = Rule{Text: "images are in NHWC order", Phase: Known, Check: func(r Rule, s *Subject) error {
	if s.Position("nchw") < 0 {
		return nil
	}
	nchw, err := s.Bool("nchw")
	if err != nil || !nchw {
		return err
	}
	for _, list := range [2][]uint32{s.Op.Inputs, s.Op.Outputs} {
		for _, x := range list {
			if o := &s.View.Operands[x]; o.Known() && len(o.Dimensions) == 4 {
				return r.Broken("operand %d is in NCHW order", x)
			}
		}
	}
	return nil
}}
