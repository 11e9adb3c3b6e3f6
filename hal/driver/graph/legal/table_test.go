package legal

import (
	"errors"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// trace is what the lowerings of these tests work with: what they were asked.
type trace []string

func called(name string) Action[*trace] {
	return Legal(func(t *trace, op *nn.Operation) error { *t = append(*t, name+" "+op.Type.String()); return nil })
}

var (
	rest   = Row[*trace]{Operations: Others, Types: All, Action: Refuse[*trace]("nothing here does it")}
	config = Config{Device: "this toy", Passes: graph.NewPipeline(graph.ResolveShapes, graph.ExpandSplit), Deferred: Promised}
	split  = Row[*trace]{Operations: Ops(nn.OpSplit), Types: Bytes, Action: Expand[*trace](graph.ExpandSplit, nn.OpSlice)}
	slice  = Row[*trace]{Operations: Ops(nn.OpSlice), Types: Bytes, Action: called("slice")}
)

// TestNew: each mistake in a table is found and named.
func TestNew(t *testing.T) {
	if _, err := New(config, rest, split, slice); err != nil {
		t.Fatal(err)
	}
	add := Ops(nn.OpAdd)
	for _, c := range []struct {
		name, want string
		config     func(*Config)
		rows       []Row[*trace]
	}{
		{name: "no row", want: "no row for CONV_2D of TENSOR_FLOAT32", rows: []Row[*trace]{split, slice}},
		{name: "no device", want: "needs a device", config: func(c *Config) { c.Device = "" }},
		{name: "no rule for deferred operations", want: "rule for deferred", config: func(c *Config) { c.Deferred = Rule{} }},
		{name: "zero row", want: "no operations or no types", rows: []Row[*trace]{rest, split, slice, {}}},
		{name: "no action", want: "it has no action", rows: []Row[*trace]{rest, split, slice, {Operations: add, Types: Floats}}},
		{name: "no lowering", want: "it has no lowering", rows: []Row[*trace]{rest, split, slice, {Operations: add, Types: Floats, Action: Legal[*trace](nil)}}},
		{name: "no lowering of a widening", want: "it has no lowering", rows: []Row[*trace]{rest, split, slice, {Operations: add, Types: Floats, Action: Widen[*trace](nn.TensorFloat32, nil)}}},
		{name: "no reason", want: "a refusal has a reason", rows: []Row[*trace]{rest, split, slice, {Operations: add, Types: Floats, Action: Refuse[*trace]("")}}},
		{name: "two rows", want: "two rows for ADD of TENSOR_FLOAT16", rows: []Row[*trace]{rest, split, slice, {Operations: add, Types: Floats, Action: called("a")}, {Operations: add, Types: Of(nn.TensorFloat16), Action: called("b")}}},
		{name: "no such type", want: "NNAPI has it of none of BOOL8", rows: []Row[*trace]{rest, split, slice, {Operations: add, Types: Booleans, Action: called("a")}}},
		{name: "others are lowered", want: "can only be refused", rows: []Row[*trace]{split, slice, {Operations: Others, Types: All, Action: called("all")}}},
		{name: "control of what calls nothing", want: "it calls no subgraphs", rows: []Row[*trace]{rest, split, slice, {Operations: add, Types: Floats, Action: Control[*trace]()}}},
		{name: "no such pass", want: `no pass "expand grouped convolution"`, rows: []Row[*trace]{rest, split, slice, {Operations: Ops(nn.OpGroupedConv2D), Types: Bytes, Action: Expand[*trace](graph.ExpandGroupedConv, nn.OpSlice)}}},
		{name: "pass of other operations", want: `no pass "SPLIT to SLICE" that expands it`, rows: []Row[*trace]{rest, split, slice, {Operations: add, Types: Bytes, Action: Expand[*trace](graph.ExpandSplit, nn.OpSlice)}}},
		{name: "expansion into what is refused", want: "SPLIT of TENSOR_QUANT8_ASYMM expands to SLICE, which the table refuses", rows: []Row[*trace]{rest, split}},
		{name: "alternative of a pass that is not there", want: `no pass "expand grouped convolution"`, rows: []Row[*trace]{rest, split, slice, {Operations: Ops(nn.OpGroupedConv2D), Types: Bytes, Action: called("grouped").Or(graph.ExpandGroupedConv, nn.OpSlice)}}},
		{name: "alternative that makes nothing", want: "an alternative has a pass, and operations that it makes", rows: []Row[*trace]{rest, slice, {Operations: Ops(nn.OpSplit), Types: Bytes, Action: called("split").Or(graph.ExpandSplit)}}},
		{name: "alternative into what is refused", want: "SPLIT of TENSOR_QUANT8_ASYMM expands to SLICE, which the table refuses", rows: []Row[*trace]{rest, {Operations: Ops(nn.OpSplit), Types: Bytes, Action: called("split").Or(graph.ExpandSplit, nn.OpSlice)}}},
		{name: "expansion that makes nothing", want: "an expansion makes some operations", rows: []Row[*trace]{rest, slice, {Operations: Ops(nn.OpSplit), Types: Bytes, Action: Expand[*trace](graph.ExpandSplit)}}},
		{name: "pass without row", want: `pass "SPLIT to SLICE" expands SPLIT, no row says so`, rows: []Row[*trace]{rest, slice}},
		{name: "rule without text", want: "has no text", rows: []Row[*trace]{rest, split, slice, {Operations: add, Types: Floats, Action: called("a"), Rules: []Rule{{Phase: Lowering}}}}},
		{name: "rule without check", want: "or no check", rows: []Row[*trace]{rest, split, slice, {Operations: add, Types: Floats, Action: called("a"), Rules: []Rule{{Text: "x", Phase: Known}}}}},
	} {
		cfg, rows := config, c.rows
		if c.config != nil {
			c.config(&cfg)
		}
		if rows == nil {
			rows = []Row[*trace]{rest, split, slice}
		}
		if _, err := New(cfg, rows...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// TestAnswers: the row of an operation and type is asked, its rules in their phases, and refusals name
// operation, value and rule.
func TestAnswers(t *testing.T) {
	even := Rule{Text: "an even number of rows is needed", Phase: Known, Check: func(r Rule, s *Subject) error {
		if n := s.View.Operands[s.Op.Inputs[0]].Dimensions[0]; n%2 != 0 {
			return r.Broken("%d rows", n)
		}
		return nil
	}}
	known := Rule{Text: "shapes must be known", Phase: Deferred, Check: func(r Rule, s *Subject) error { return r.Broken("they are not") }}
	add := Ops(nn.OpAdd)
	table, err := New(config, rest, split, slice,
		Row[*trace]{Operations: add, Types: Of(nn.TensorFloat32), Action: called("float"), Rules: []Rule{even, known}},
		Row[*trace]{Operations: add, Types: Bytes, Action: called("byte"), Rules: []Rule{Stored(Of(nn.TensorInt32))}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		t                     nn.OperandType
		rows                  uint32
		types, defers, lowers string // errors
		calls                 string
	}{
		{nn.TensorFloat32, 2, "", "ADD: they are not; shapes must be known", "", "float ADD"},
		{nn.TensorFloat32, 3, "", "ADD: they are not; shapes must be known", "ADD: 3 rows; an even number of rows is needed", ""},
		{nn.TensorQuant8Asymm, 3, "ADD: input 0 is TENSOR_QUANT8_ASYMM; tensors are INT32", "", "ADD: input 0 is TENSOR_QUANT8_ASYMM; tensors are INT32", ""},
		{nn.TensorFloat16, 2, "ADD: TENSOR_FLOAT16; nothing here does it", "ADD: TENSOR_FLOAT16; nothing here does it", "ADD: TENSOR_FLOAT16; nothing here does it", ""},
	} {
		o := nn.Operand{Type: c.t, Dimensions: []uint32{c.rows, 4}, Scale: 1}
		x, y, z := o, o, o
		x.Lifetime, y.Lifetime, z.Lifetime = nn.SubgraphInput, nn.SubgraphInput, nn.SubgraphOutput
		none := nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: make([]byte, 4)}
		g := graph.FromSubgraph(&nn.Subgraph{Operands: []nn.Operand{x, y, none, z}, Inputs: []uint32{0, 1}, Outputs: []uint32{3},
			Operations: []nn.Operation{{Type: nn.OpAdd, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3}}}})
		var calls trace
		for _, a := range []struct {
			name, want string
			err        error
		}{
			{"Types", c.types, table.Types(g, g.View(), &g.Operations[0])},
			{"Defers", c.defers, table.Defers(g, g.View(), &g.Operations[0])},
			{"Lower", c.lowers, table.Lower(&calls, g, g.View(), &g.Operations[0])},
		} {
			got := ""
			if a.err != nil {
				got = a.err.Error()
				var r *Refusal
				if !errors.As(a.err, &r) || r.Operation != nn.OpAdd {
					t.Errorf("%s of %s: error %v is no refusal of ADD", a.name, c.t, a.err)
				}
			}
			if got != a.want {
				t.Errorf("%s of %s: error %q, want %q", a.name, c.t, got, a.want)
			}
		}
		if got := strings.Join(calls, ", "); got != c.calls {
			t.Errorf("%s: lowerings %q, want %q", c.t, got, c.calls)
		}
	}
}

// TestFacts: every operation and type has a fact, once.
func TestFacts(t *testing.T) {
	table := Must(New(config, rest, split, slice))
	want := 0
	for _, op := range nn.Operations() {
		if r := opspec.Lookup(op); r != nil {
			want += len(r.KeyTypes())
		}
	}
	facts := table.Facts()
	if len(facts) != want {
		t.Errorf("%d facts, want %d", len(facts), want)
	}
	for _, f := range facts {
		taken := (f.Operation == nn.OpSplit || f.Operation == nn.OpSlice) && f.Type.IsQuant8()
		if (f.Kind != Refused) != taken || taken == (f.Why != "") {
			t.Errorf("%v", f)
		}
	}
}
