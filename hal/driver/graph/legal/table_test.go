package legal

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/pass"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// trace is what the lowerings of these tests work with: the queries that they got.
type trace []string

func called(name string) Action[*trace] {
	return Legal(func(t *trace, op *nn.Operation) error { *t = append(*t, name+" "+op.Type.String()); return nil })
}

var (
	rest   = Row[*trace]{Operations: Others, Types: All, Action: Refuse[*trace]("nothing here does it")}
	config = Config{Device: "this toy", Passes: pass.NewPipeline(pass.ResolveShapes, pass.ExpandSplit), Deferred: DeferredInputs}
	split  = Row[*trace]{Operations: Ops(nn.OpSplit), Types: Bytes, Action: Expand[*trace](pass.ExpandSplit, nn.OpSlice)}
	slice  = Row[*trace]{Operations: Ops(nn.OpSlice), Types: Bytes, Action: called("slice")}
)

// TestNew: each mistake in a table is found and named.
func TestNew(t *testing.T) {
	require.V(New(config, rest, split, slice))(t)
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
		{name: "no such pass", want: `no pass "expand grouped convolution"`, rows: []Row[*trace]{rest, split, slice, {Operations: Ops(nn.OpGroupedConv2D), Types: Bytes, Action: Expand[*trace](pass.ExpandGroupedConv, nn.OpSlice)}}},
		{name: "pass of other operations", want: `no pass "SPLIT to SLICE" that expands it`, rows: []Row[*trace]{rest, split, slice, {Operations: add, Types: Bytes, Action: Expand[*trace](pass.ExpandSplit, nn.OpSlice)}}},
		{name: "expansion into what is refused", want: "SPLIT of TENSOR_QUANT8_ASYMM expands to SLICE, which the table refuses", rows: []Row[*trace]{rest, split}},
		{name: "alternative of a pass that is not there", want: `no pass "expand grouped convolution"`, rows: []Row[*trace]{rest, split, slice, {Operations: Ops(nn.OpGroupedConv2D), Types: Bytes, Action: called("grouped").Or(pass.ExpandGroupedConv, nn.OpSlice)}}},
		{name: "alternative that makes nothing", want: "an alternative has a pass, and operations that it makes", rows: []Row[*trace]{rest, slice, {Operations: Ops(nn.OpSplit), Types: Bytes, Action: called("split").Or(pass.ExpandSplit)}}},
		{name: "alternative into what is refused", want: "SPLIT of TENSOR_QUANT8_ASYMM expands to SLICE, which the table refuses", rows: []Row[*trace]{rest, {Operations: Ops(nn.OpSplit), Types: Bytes, Action: called("split").Or(pass.ExpandSplit, nn.OpSlice)}}},
		{name: "expansion that makes nothing", want: "an expansion makes some operations", rows: []Row[*trace]{rest, slice, {Operations: Ops(nn.OpSplit), Types: Bytes, Action: Expand[*trace](pass.ExpandSplit)}}},
		{name: "pass without row", want: `pass "SPLIT to SLICE" expands SPLIT, which no row names`, rows: []Row[*trace]{rest, slice}},
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
		require.ErrorContains(t, require.Err(New(cfg, rows...)), c.want, c.name)
	}
}

// TestAnswers: the row of an operation and type is queried, its rules in their phases, and refusals name
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
	require.NoError(t, err)
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
		require.Same(t, c.calls, strings.Join(calls, ", "), c.t, "lowerings")
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
	require.Same(t, want, len(facts), "facts")
	for _, f := range facts {
		taken := (f.Operation == nn.OpSplit || f.Operation == nn.OpSlice) && f.Type.IsQuant8()
		if (f.Kind != Refused) != taken || taken == (f.Why != "") {
			t.Errorf("%v", f)
		}
	}
}

// model is a graph of one operation on operands, all but the last of which it reads.
func model(op nn.OperationType, operands ...nn.Operand) *graph.Graph {
	s := &nn.Subgraph{Operands: operands, Operations: []nn.Operation{{Type: op}}}
	last := len(operands) - 1
	for i := range operands {
		x := uint32(i)
		switch o := &s.Operands[i]; {
		case i == last:
			o.Lifetime = nn.SubgraphOutput
			s.Outputs, s.Operations[0].Outputs = []uint32{x}, []uint32{x}
			continue
		case o.Data == nil:
			o.Lifetime = nn.SubgraphInput
			s.Inputs = append(s.Inputs, x)
		default:
			o.Lifetime = nn.ConstantCopy
		}
		s.Operations[0].Inputs = append(s.Operations[0].Inputs, x)
	}
	return graph.FromSubgraph(s)
}

// TestPasses: an operation is left to the pass of its row, or to that of its alternative where it is cheaper, to no other
// pass, and not where the table refuses it.
func TestPasses(t *testing.T) {
	own := Row[*trace]{Operations: Ops(nn.OpSplit), Types: Bytes, Action: called("split").Or(pass.ExpandSplit, nn.OpSlice)}
	for _, c := range []struct {
		name             string
		row              Row[*trace]
		typ              nn.OperandType
		pass             string
		expands, instead bool
	}{
		{"its pass", split, nn.TensorQuant8Asymm, pass.ExpandSplit, true, false},
		{"another pass", split, nn.TensorQuant8Asymm, pass.ExpandJoins, false, false},
		{"refused", split, nn.TensorFloat32, pass.ExpandSplit, false, false},
		{"alternative", own, nn.TensorQuant8Asymm, pass.ExpandSplit, false, true},
		{"another pass than the alternative", own, nn.TensorQuant8Asymm, pass.ExpandJoins, false, false},
		{"an alternative of what is refused", own, nn.TensorFloat32, pass.ExpandSplit, false, false},
	} {
		table := Must(New(config, rest, c.row, slice))
		x := nn.Operand{Type: c.typ, Dimensions: []uint32{2, 4}, Scale: 1}
		axis := nn.Operand{Type: nn.Int32, Data: []byte{0, 0, 0, 0}}
		n := nn.Operand{Type: nn.Int32, Data: []byte{1, 0, 0, 0}}
		g := model(nn.OpSplit, x, axis, n, x)
		op := &g.Operations[0]
		if e, i := table.Expands(g, g.View(), op, c.pass), table.Instead(g, g.View(), op, c.pass); e != c.expands || i != c.instead {
			t.Errorf("%s: expands %v, instead %v", c.name, e, i)
		}
		var calls trace
		err := table.Lower(&calls, g, g.View(), op)
		if lowered := err == nil && len(calls) == 1; lowered != (c.typ == nn.TensorQuant8Asymm && c.row.Action.kind == Legally) {
			t.Errorf("%s: lowered %v, %v", c.name, lowered, err)
		}
		if c.expands && (err == nil || !strings.Contains(err.Error(), `SPLIT: the pass "SPLIT to SLICE" does not expand it with these types and sizes`)) {
			t.Errorf("%s: error %v", c.name, err)
		}
	}
}

// TestRules: the rules that devices share name the first operand that breaks them, and hold at their limits.
func TestRules(t *testing.T) {
	tensor := func(typ nn.OperandType, dims ...uint32) nn.Operand {
		return nn.Operand{Type: typ, Dimensions: dims, Scale: 1}
	}
	number := func(typ nn.OperandType, data ...byte) nn.Operand { return nn.Operand{Type: typ, Data: data} }
	f := nn.TensorFloat32
	two, no, yes := number(nn.Int32, 2, 0, 0, 0), number(nn.Bool, 0), number(nn.Bool, 1)
	for _, c := range []struct {
		name string
		rule Rule
		g    *graph.Graph
		want string
	}{
		{"stored", Stored(Floats), model(nn.OpRelu, tensor(f, 2), tensor(f, 2)), ""},
		{"any type is stored", Stored(All), model(nn.OpRelu, tensor(f, 2), tensor(f, 2)), ""},
		{"scalars need not be", Stored(Floats), model(nn.OpSpaceToDepth, tensor(f, 1, 4, 4, 1), two, no, tensor(f, 1, 2, 2, 4)), ""},
		{"input", Stored(Bytes), model(nn.OpRelu, tensor(f, 2), tensor(f, 2)), "input 0 is TENSOR_FLOAT32; tensors are QUANT8_ASYMM, QUANT8_ASYMM_SIGNED"},
		{"output", Stored(Of(nn.TensorFloat16)), model(nn.OpCast, tensor(nn.TensorFloat16, 2), tensor(f, 2)), "output 0 is TENSOR_FLOAT32; tensors are FLOAT16"},
		{"no flag", ChannelsLast, model(nn.OpRelu, tensor(f, 1, 2, 2, 1), tensor(f, 1, 2, 2, 1)), ""},
		{"channels last", ChannelsLast, model(nn.OpSpaceToDepth, tensor(f, 1, 4, 4, 1), two, no, tensor(f, 1, 2, 2, 4)), ""},
		{"channels first", ChannelsLast, model(nn.OpSpaceToDepth, tensor(f, 1, 1, 4, 4), two, yes, tensor(f, 1, 4, 2, 2)), "operand 0 is in NCHW order; images are in NHWC order"},
		{"channels first behind", ChannelsLast, model(nn.OpSpaceToDepth, tensor(f, 0, 1, 4, 4), two, yes, tensor(f, 1, 4, 2, 2)), "operand 3 is in NCHW order; images are in NHWC order"},
		{"not known yet", ChannelsLast, model(nn.OpSpaceToDepth, tensor(f, 0, 1, 4, 4), two, yes, tensor(f, 0, 4, 2, 2)), ""},
		{"promised", DeferredInputs, model(nn.OpRelu, tensor(f, 0), tensor(f, 0)), ""},
	} {
		a := require.V(c.g.View().Bind(&c.g.Operations[0]))(t, c.name)
		got := ""
		if err := c.rule.Check(c.rule, &Subject{a, c.g}); err != nil {
			got = err.Error()
		}
		require.Same(t, c.want, got, c.name)
	}
	limit := Limit("at most %d rows", 4)
	if err := limit.Broken("%d rows", 5); limit.Phase != Lowering || err.Error() != "5 rows; at most 4 rows" {
		t.Errorf("%+v: %v", limit, err)
	}
}

// TestSets: sets of types, what a table accepts, and what a row must give.
func TestSets(t *testing.T) {
	if got := Bytes.Or(Integers, Booleans).String(); got != "QUANT8_ASYMM, QUANT8_ASYMM_SIGNED, INT32, BOOL8" || len(Bytes) != 2 || Bytes.Or(All).String() != "any type" {
		t.Errorf("%s", got)
	}
	require.Same(t, "FLOAT32, FLOAT16", Floats.String(), "floats")
	require.Same(t, "QUANT8_CODEBOOK", Codes().String(), "codes")
	table := Must(New(config, rest, split, slice))
	if got := table.Supported(); !slices.Equal(got, []nn.OperationType{nn.OpSlice, nn.OpSplit}) {
		t.Errorf("taken %v", got)
	}
	for _, op := range nn.Operations() { // each by itself, none stands for others
		r := opspec.Lookup(op)
		if r == nil || op == nn.OpSplit || op == nn.OpSlice || opspec.Calls(op) {
			continue
		}
		own := Must(New(config, rest, split, slice, Row[*trace]{Operations: Ops(op), Types: All, Action: called("own")}))
		if got := own.Supported(); len(got) != 3 || !slices.Contains(got, op) {
			t.Errorf("%s: taken %v", op, got)
		}
		for _, typ := range r.KeyTypes() {
			if !slices.ContainsFunc(own.Facts(), func(f Fact) bool { return f.Operation == op && f.Type == typ && f.Kind == Legally }) {
				t.Errorf("%s of %s is not taken", op, typ)
			}
		}
	}
	if got := table.Extensions(); len(got) != 0 {
		t.Errorf("extensions %v of a table of NNAPI's operations", got)
	}
	requantize := Row[*trace]{Operations: Ops(nn.OpRequantize), Types: All, Action: called("requantize")}
	if got := Must(New(config, rest, split, slice, requantize)).Extensions(); !slices.Equal(got, []string{nn.QuantizationExtension}) {
		t.Errorf("extensions %v", got)
	}
	if Given("function", 3) != 3 {
		t.Error("another function is given")
	}
	for name, f := range map[string]func(){"Given": func() { Given("function", "") }, "Must": func() { Must(New(config, rest)) }} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s takes what is not there", name)
				}
			}()
			f()
		}()
	}
	for k, want := range map[Kind]string{0: "Kind(0)", Legally: "legal", Expanded: "expand", Widened: "widen", Controlled: "control", Refused: "refuse", Refused + 1: "Kind(6)"} {
		if k.String() != want {
			t.Errorf("kind %s, want %s", k, want)
		}
	}
}

// TestAbout: an error names its operation once.
func TestAbout(t *testing.T) {
	op := &nn.Operation{Type: nn.OpAdd}
	refused := &Refusal{nn.OpAdd, nn.TensorInt32, errors.New("no")}
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("no"), "ADD: no"}, {errors.New("ADD: no"), "ADD: no"}, {errors.New("ADDS: no"), "ADD: ADDS: no"},
		{refused, refused.Error()}, {fmt.Errorf("behind: %w", refused), "behind: " + refused.Error()},
	} {
		if got := about(op, c.err); got.Error() != c.want {
			t.Errorf("%v: %v, want %s", c.err, got, c.want)
		}
	}
	require.Report(t, about(op, nil))
}
