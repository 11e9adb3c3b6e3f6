package base_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// accepts is a lowering that accepts operations of one type.
type accepts nn.OperationType

func (x accepts) Identity() string { return nn.OperationType(x).String() }
func (x accepts) Check(_ opspec.View, op *nn.Operation) error {
	if op.Type != nn.OperationType(x) {
		return errors.New("another type")
	}
	return nil
}
func (x accepts) Lower(int, *nn.Operation) error { return nil }

// TestChoose: the first lowering that accepts an operation has it.
func TestChoose(t *testing.T) {
	list := []base.OperationLowering[int]{accepts(nn.OpAdd), accepts(nn.OpMul)}
	for _, op := range []nn.OperationType{nn.OpAdd, nn.OpMul} {
		if got := base.Choose(list, opspec.View{}, &nn.Operation{Type: op}); got != accepts(op) {
			t.Errorf("%s: %v", op, got)
		}
	}
	if got := base.Choose(list, opspec.View{}, &nn.Operation{Type: nn.OpSub}); got != nil {
		t.Errorf("SUB, which none takes: %v", got)
	}
	if got := base.Identity("gpu", list); got != "gpu+ADD+MUL" {
		t.Error(got)
	}
}

// TestExtend: operations of one extension are one entry, with each of its types once.
func TestExtend(t *testing.T) {
	types := []hal.ExtensionOperandType{{Type: 1, ByteSize: 4}, {Type: 2, ByteSize: 1}}
	operation := func(code uint32, types ...hal.ExtensionOperandType) base.Operation[int] {
		row := *opspec.Lookup(nn.OpRelu)
		row.Extension, row.Op = "acme.test", nn.OperationType(7<<16|code)
		return base.Operation[int]{Row: row, Types: types, Lowering: accepts(row.Op)}
	}
	x, err := base.Extend([]string{"nnsoc.own"}, []base.OperationLowering[int]{accepts(nn.OpAdd)},
		[]base.Operation[int]{operation(1, types[0]), operation(2, types...), operation(3, types[1])})
	if err != nil || len(x.Extensions) != 2 || x.Extensions[0].Name != "nnsoc.own" || x.Extensions[1].Name != "acme.test" ||
		!slices.Equal(x.Extensions[1].OperandTypes, types) || len(x.Lowerings) != 4 || x.Lowerings[0] != accepts(nn.OpAdd) {
		t.Errorf("%+v, %v", x, err)
	}
	none := operation(1)
	none.Lowering = nil
	require.Fails(t, require.Err(base.Extend(nil, nil, []base.Operation[int]{none})), "an operation without a lowering")
}
