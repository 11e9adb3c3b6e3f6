package opspec

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// TestLocalize: the codes of an extension in the table become the table's, and those of
// another one that has a prefix of the table move.
func TestLocalize(t *testing.T) {
	const foreign = "org.example.x"
	code := func(prefix, number uint16) int32 { return nn.ExtensionCode(prefix, number) }
	m := &nn.Model{
		Extensions: []nn.ExtensionPrefix{{Name: foreign, Prefix: 2}, {Name: nn.CodeExtensions()[0].Name, Prefix: 1}},
		Main: nn.Subgraph{
			Operands:   []nn.Operand{{Type: nn.OperandType(code(1, 0))}, {Type: nn.OperandType(code(2, 5))}, {Type: nn.TensorInt32}},
			Operations: []nn.Operation{{Type: nn.OperationType(code(2, 7))}, {Type: nn.OpAdd}},
		},
		Referenced: []nn.Subgraph{{Operations: []nn.Operation{{Type: nn.OperationType(code(1, 0))}}}},
	}
	l := Standard().Localize(m)
	want := []nn.ExtensionPrefix{{Name: foreign, Prefix: 3}, {Name: nn.CodeExtensions()[0].Name, Prefix: 2}}
	require.Equal(t, want, l.Extensions, "extensions")
	if a, b, c := l.Main.Operands[0].Type, l.Main.Operands[1].Type, l.Main.Operands[2].Type; a != nn.CodeExtensions()[0].Type() || int32(b) != code(3, 5) || c != nn.TensorInt32 {
		t.Errorf("types %v, %v and %v", a, b, c)
	}
	if a, b, c := l.Main.Operations[0].Type, l.Main.Operations[1].Type, l.Referenced[0].Operations[0].Type; int32(a) != code(3, 7) || b != nn.OpAdd || c != nn.CodeExtensions()[0].Decode() {
		t.Errorf("operations %v, %v and %v", a, b, c)
	}
	if int32(m.Main.Operands[0].Type) != code(1, 0) || m.Extensions[0].Prefix != 2 || int32(m.Referenced[0].Operations[0].Type) != code(1, 0) {
		t.Error("the model itself has changed")
	}
	require.Same(t, Standard().Localize(l), l, "a model with the table's prefixes is copied")
}

func TestDeclare(t *testing.T) {
	m := &nn.Model{Main: nn.Subgraph{
		Operands:   []nn.Operand{{Type: nn.CodeExtensions()[0].Type()}, {Type: nn.TensorFloat32}},
		Operations: []nn.Operation{{Type: nn.CodeExtensions()[0].Decode()}, {Type: nn.OpAdd}},
	}}
	for range 2 { // once, however often it is called
		Standard().Declare(m)
		if want := []nn.ExtensionPrefix{{Name: nn.CodeExtensions()[0].Name, Prefix: 2}}; !slices.Equal(m.Extensions, want) {
			t.Errorf("extensions %v, want %v", m.Extensions, want)
		}
	}
}

// TestExtend: a prefix in a table is of one extension.
func TestExtend(t *testing.T) {
	row := func(prefix uint16, name string) Row {
		return Row{Op: nn.OperationType(nn.ExtensionCode(prefix, 50)), Since: Extension, Extension: name, Types: "F32@extension",
			Args: unaryArgs, Forms: []Form{{Extension, "input:T", "output:T"}}}
	}
	u := require.V(Standard().With(row(7, "org.example.x")))(t)
	if u.Prefix("org.example.x") != 7 || Standard().Prefix("org.example.x") != 0 || u.Prefix(nn.CodeExtensions()[0].Name) != 2 {
		t.Error("wrong prefixes")
	}
	for what, r := range map[string]Row{
		"a prefix of another extension":   row(2, "org.example.x"),
		"another prefix of the extension": row(8, nn.CodeExtensions()[0].Name),
		"no name":                         row(7, ""),
		"no prefix":                       row(0, "org.example.x"),
	} {
		r.Op |= 1 << 8 // an operation that the table does not have
		require.Fails(t, require.Err(u.With(r)), what, "is taken")
	}
}
