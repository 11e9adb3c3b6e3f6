package modpy

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"

	"go.starlark.net/starlark"

	"github.com/nnsoc/nnsoc/importer/modpy/internal/builtin"
	"github.com/nnsoc/nnsoc/importer/modpy/internal/language"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/x448/float16"
)

// expander expands examples to test cases.
type expander struct {
	env    *env
	thread *starlark.Thread
	cases  []*vectors.Case
	bytes  int64
	cache  map[cacheKey][]byte // encoded values, shared by cases
}

type cacheKey struct {
	first *float64
	n     int
	code  string
}

// expand returns the cases of all examples, in order.
func (e *env) expand(t *starlark.Thread) ([]*vectors.Case, error) {
	x := &expander{env: e, thread: t, cache: map[cacheKey][]byte{}}
	for _, ex := range e.combined() {
		if err := x.example(ex); err != nil {
			return nil, &Error{Pos: ex.pos, Msg: "Example: " + err.Error(), Err: err}
		}
	}
	return x.cases, nil
}

// combined joins examples of one model and name without variations: their
// values follow each other.
func (e *env) combined() []*example {
	type key struct {
		m    *model
		name string
	}
	seen := map[key]*example{}
	var out []*example
	for _, ex := range e.examples {
		if len(ex.variations) == 0 {
			k := key{ex.model, ex.name}
			if first := seen[k]; first != nil {
				first.feeds = append(first.feeds, ex.feeds...)
				continue
			}
			seen[k] = ex
		}
		out = append(out, ex)
	}
	return out
}

func (x *expander) example(ex *example) (err error) {
	defer try.Catch(&err)
	lists := ex.variations
	if ex.lifetimes && len(ex.model.ops) == 1 && ex.multinomial == 0 {
		for _, v := range []*variation{
			{class: "AllTensorsAsInputsConverter", rule: tensorsAsInputs{}},
			{class: "AllInputsAsInternalCoverter", rule: inputsAsInternal{}},
		} {
			d := &variation{class: "DefaultVariation", rule: defaultRule{}}
			lists = append(lists[:len(lists):len(lists)], []*variation{d, v})
		}
	}
	for _, list := range lists {
		for _, v := range list {
			if v.named {
				continue
			}
			label := try.V(v.rule.label(v))
			v.name, v.named = label, true
		}
	}
	for _, f := range ex.feeds {
		try.E(ex.model.feed(x.thread, f))
		try.E(x.combinations(ex, lists, nil))
	}
	return nil
}

// combinations iterates over the product of the lists, the last one fastest.
func (x *expander) combinations(ex *example, lists [][]*variation, chosen []*variation) error {
	if len(lists) > 0 {
		for _, v := range lists[0] {
			if err := x.combinations(ex, lists[1:], append(chosen[:len(chosen):len(chosen)], v)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := builtin.Charge(x.thread, 1+len(ex.model.operands)); err != nil {
		return err
	}
	m := ex.model.clone(map[*model]*model{})
	parts := []string{x.env.spec, m.name, ex.name}
	for _, v := range chosen {
		if err := v.applyTo(m, 0); errors.Is(err, errSkip) {
			return nil
		} else if err != nil {
			return err
		}
		parts = append(parts, v.name)
	}
	name := unique(x.env.tests, joinNames(parts), "_", 1)
	if ver, ok := x.env.overrides[name]; ok {
		m.version = ver
	}
	c, err := x.build(ex, m, name)
	if err != nil {
		return fmt.Errorf("case %s: %w", name, err)
	}
	if x.cases = append(x.cases, c); len(x.cases) > maxCases {
		return fmt.Errorf("the specification has more than %d cases", maxCases)
	}
	return nil
}

// feed sets the values of inputs and expected outputs.
func (m *model) feed(t *starlark.Thread, f feed) error {
	for _, o := range m.operands {
		from := f.in
		switch {
		case o.class == "IgnoredOutput":
			n := o.typ.elements()
			if err := builtin.Charge(t, n); err != nil {
				return err
			}
			if n < 0 || n > builtin.MaxValues {
				return fmt.Errorf("output %s has %d elements", o.name, n)
			}
			o.value = make([]float64, n)
			continue
		case o.is("Output"):
			from = f.out
		case !o.is("Input"):
			continue
		}
		v := from
		if d, ok := from.(*starlark.Dict); ok {
			var err error
			if v, ok, err = d.Get(o); err != nil || !ok {
				return fmt.Errorf("%s has no value", o.name)
			}
		}
		if err := o.setValue(t, v); err != nil {
			return err
		}
	}
	return nil
}

// build makes a case of a model whose variations are applied.
func (x *expander) build(ex *example, m *model, name string) (_ *vectors.Case, err error) {
	defer try.Catch(&err)
	var refs []*model
	try.E(m.compile(&refs))
	c := &vectors.Case{Name: name, MinVersion: m.version, Relaxed: m.relaxed, ExpectFailure: ex.failure,
		Multinomial: float32(ex.multinomial)}
	c.MinVersion = cmp.Or(c.MinVersion, "UNKNOWN")
	out := &nn.Model{Name: name, Relaxed: m.relaxed}
	c.Malformed = try.V(x.subgraph(m, &out.Main))
	for i, r := range refs {
		out.Referenced = append(out.Referenced, nn.Subgraph{})
		malformed := try.V(x.subgraph(r, &out.Referenced[i]))
		if c.Malformed == nil {
			c.Malformed = malformed
		}
	}
	opspec.Standard().Declare(out)
	values := func(list []uint32) []vectors.Value {
		v := make([]vectors.Value, len(list))
		for i, k := range list {
			o := &out.Main.Operands[k]
			v[i] = vectors.Value{Type: o.Type, Dimensions: o.Dimensions, Data: o.Data, Ignored: m.operands[k].class == "IgnoredOutput"}
			o.Data = nil
		}
		return v
	}
	c.Inputs, c.Outputs = values(out.Main.Inputs), values(out.Main.Outputs)
	if c.Malformed == nil {
		c.Model = out
	}
	return c, nil
}

// subgraph converts one model; malformed names an operation that NNAPI lacks.
func (x *expander) subgraph(m *model, g *nn.Subgraph) (malformed, err error) {
	*g = nn.Subgraph{Name: m.name, Operands: make([]nn.Operand, len(m.operands)), Operations: make([]nn.Operation, len(m.ops)),
		Inputs: []uint32{}, Outputs: []uint32{}}
	for i, o := range m.operands {
		if err := x.operand(o, &g.Operands[i]); err != nil {
			return nil, fmt.Errorf("operand %s: %w", o.name, err)
		}
		if o.is("Input") {
			g.Inputs = append(g.Inputs, uint32(i))
		} else if o.is("Output") {
			g.Outputs = append(g.Outputs, uint32(i))
		}
	}
	indexes := func(names []string) []uint32 {
		out := make([]uint32, len(names))
		for i, n := range names {
			out[i] = uint32(m.at[n])
		}
		return out
	}
	for i, op := range m.ops {
		code, ok := nn.ParseOperationType(op.code)
		if !ok && malformed == nil {
			malformed = fmt.Errorf("operation %d: NNAPI has no operation %.60q", i, op.code)
		}
		g.Operations[i] = nn.Operation{Type: code, Inputs: indexes(op.ins), Outputs: indexes(op.outs)}
	}
	return malformed, nil
}

func (x *expander) operand(o *operand, to *nn.Operand) error {
	code, ok := nn.ParseOperandType(o.typ.code)
	if !ok {
		return fmt.Errorf("no operand type %.60q", o.typ.code)
	}
	scale, err := toFloat32(o.typ.scale)
	if err != nil {
		return fmt.Errorf("scale: %w", err)
	}
	*to = nn.Operand{Name: o.name, Type: code, Scale: scale, ZeroPoint: int32(o.typ.zero), Lifetime: o.lifetime}
	for _, d := range o.typ.dims {
		if d < 0 || int64(d) > math.MaxUint32 {
			return fmt.Errorf("dimension %d", d)
		}
		to.Dimensions = append(to.Dimensions, uint32(d))
	}
	if int64(to.ZeroPoint) != int64(o.typ.zero) {
		return fmt.Errorf("zero point %d is no int32", o.typ.zero)
	}
	if o.typ.extension != "" {
		to.Extension = []byte(o.typ.extension)
	}
	if c := o.typ.channel; c != nil && !c.unlisted {
		if c.dim < 0 {
			return fmt.Errorf("channel dimension %d", c.dim)
		}
		to.Channel = &nn.ChannelQuant{Dim: uint32(c.dim)}
		for _, s := range c.scales {
			f, err := toFloat32(s)
			if err != nil {
				return fmt.Errorf("channel scale: %w", err)
			}
			to.Channel.Scales = append(to.Channel.Scales, f)
		}
	}
	switch {
	case o.lifetime == nn.LifetimeSubgraph:
		to.Data = binary.LittleEndian.AppendUint32(nil, uint32(o.ref))
	case o.lifetime == nn.TemporaryVariable || o.lifetime == nn.NoValue:
	case o.value == nil && (o.lifetime == nn.SubgraphInput || o.lifetime == nn.SubgraphOutput):
	default:
		to.Data, err = x.encode(code, o)
	}
	return err
}

// encode returns the bytes of a value. The intermediate text, as in generated code, decides how a number is rounded to
// float32.
func (x *expander) encode(code nn.OperandType, o *operand) ([]byte, error) {
	if len(o.value) == 0 {
		return []byte{}, nil
	}
	key := cacheKey{&o.value[0], len(o.value), o.typ.code}
	if b, ok := x.cache[key]; ok {
		return b, nil
	}
	size := len(o.value) * code.ElementBytes()
	if x.bytes += int64(size); x.bytes > maxOutput {
		return nil, fmt.Errorf("the specification has more than %d bytes of data", int64(maxOutput))
	}
	if err := builtin.Charge(x.thread, len(o.value)); err != nil {
		return nil, err
	}
	b := make([]byte, 0, size)
	for _, v := range o.value {
		if o.typ.float() {
			f, err := toFloat32(v)
			if err != nil {
				return nil, err
			}
			if code == nn.Float16 || code == nn.TensorFloat16 {
				b = binary.LittleEndian.AppendUint16(b, float16.Fromfloat32(f).Bits())
			} else {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
			}
			continue
		}
		if math.IsNaN(v) || math.Abs(v) > 1<<53 {
			return nil, fmt.Errorf("the value %s is no integer", language.FloatText(v))
		}
		i := int64(v)
		switch code {
		case nn.Bool, nn.TensorBool8:
			b = append(b, byte(builtin.BoolToInt(v != 0)))
		default:
			switch code.ElementBytes() {
			case 1:
				b = append(b, byte(i))
			case 2:
				b = binary.LittleEndian.AppendUint16(b, uint16(i))
			default:
				b = binary.LittleEndian.AppendUint32(b, uint32(i))
			}
		}
	}
	x.cache[key] = b
	return b, nil
}

// toFloat32 rounds by way of the shortest decimal text.
func toFloat32(v float64) (float32, error) {
	if f := float32(v); float64(f) == v || v != v {
		return f, nil
	}
	f, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', -1, 64), 32)
	if err != nil {
		return 0, fmt.Errorf("%s is beyond float32", language.FloatText(v))
	}
	return float32(f), nil
}
