package opspec

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

func TestEveryOperationHasARow(t *testing.T) {
	for _, op := range nn.Operations() {
		r := Lookup(op)
		if r == nil {
			t.Errorf("%s has no row", op)
			continue
		}
		require.Check(t, len(r.KeyTypes()) != 0 && len(r.Forms) != 0, "%s: row without types or forms", op)
	}
	require.Check(t, Lookup(-1) == nil && Lookup(nn.OperationType(nn.OperationCount)) == nil, "rows outside the operations")
}

// TestRowsAgainstSpec compares every row with the facts noted from AOSP: types
// with their versions, and arities.
func TestRowsAgainstSpec(t *testing.T) {
	b := require.File(t, filepath.Join("testdata", "operations.json"))
	var spec struct {
		Operations []struct {
			Name, Since string
			Types       map[string]string
			Arity       []struct {
				Since   string
				In, Out any
			}
		}
	}
	require.NoError(t, json.Unmarshal(b, &spec))
	level := func(since string) string {
		if n, ok := strings.CutPrefix(since, "aidl"); ok {
			return map[string]string{"1": "FL5", "2": "FL6", "3": "FL7", "4": "FL8"}[n]
		}
		return since
	}
	seen := 0
	for _, s := range spec.Operations {
		op, ok := nn.ParseOperationType(s.Name)
		if !ok {
			continue
		}
		seen++
		r := Lookup(op)
		require.Check(t, r.Since.String() == level(s.Since), "%s: since %s, spec %s", op, r.Since, s.Since)
		n := 0
		for name, since := range s.Types {
			since = level(since)
			n++
			k, ok := nn.ParseOperandType(name)
			v, has := r.keySince(k)
			require.Check(t, ok && has && v.String() == since, "%s: %s since %s: the row has %v %s", op, name, since, has, v)
		}
		require.Check(t, n == len(r.keys), "%s: %d key types, spec %d", op, len(r.keys), n)
		for _, a := range s.Arity {
			in, isNumber := a.In.(float64)
			if !isNumber || !strings.HasPrefix(a.Since, "1.") {
				continue
			}
			require.Check(t, r.hasArity(int(in)), "%s: no form with %v inputs", op, in)
		}
	}
	if want := nn.OperationCount; seen != want { // extensions' operations are not NNAPI's
		t.Errorf("the spec names %d of %d operations", seen, want)
	}
}

func (r *Row) hasArity(n int) bool {
	for _, f := range r.forms {
		if slices.Contains(f.ends, n) {
			return true
		}
	}
	return false
}

func TestRowErrors(t *testing.T) {
	for _, r := range []Row{
		{Types: "F32"}, {Types: "F33@1.0"}, {Types: "F32@9.9"}, {Key: "in7"},
		{Forms: []Form{{V10, "a", ""}}}, {Forms: []Form{{V10, "a:X", ""}}}, {Forms: []Form{{V10, "a:T [1.7 b:T]", ""}}},
		{Forms: []Form{{V10, "a:T", "b:Y"}}},
	} {
		require.Check(t, r.parse() != nil, "row %+v was accepted", r)
	}
}

// conv is a CONV_2D of the given number of inputs, its operands typed as named.
func conv(types string) (View, *nn.Operation) {
	op := &nn.Operation{Type: nn.OpConv2D}
	var v View
	for i, name := range strings.Fields(types) {
		v.Operands = append(v.Operands, nn.Operand{Type: typeNames[name]})
		op.Inputs = append(op.Inputs, uint32(i))
	}
	op.Outputs = []uint32{uint32(len(v.Operands))}
	v.Operands = append(v.Operands, nn.Operand{Type: v.Operands[0].Type})
	return v, op
}

func TestBind(t *testing.T) {
	for _, c := range []struct {
		types string
		since Version
		err   string
	}{
		{"F32 F32 F32 int32 int32 int32 int32", V10, ""},
		{"F32 F32 F32 int32 int32 int32 int32 bool", V12, ""},
		{"F32 F32 F32 int32 int32 int32 int32 int32 int32 int32", V10, ""},
		{"F32 F32 F32 int32 int32 int32 int32 bool int32 int32", V12, ""},
		{"Q8 Q8CH I32 int32 int32 int32 int32", V12, ""},
		{"Q8S Q8S I32 int32 int32 int32 int32", V13, ""},
		{"F16 F16 F16 int32 int32 int32 int32", V12, ""},
		{"F32 F32 F32 int32 int32 int32", 0, "6 inputs fit no form"},
		{"F32 Q8 F32 int32 int32 int32 int32", 0, "input 1 (filter, operand 1) cannot be TENSOR_QUANT8_ASYMM"},
		{"Q8 Q8 F32 int32 int32 int32 int32", 0, "input 2 (bias, operand 2) cannot be TENSOR_FLOAT32"},
		{"F32 F32 F32 int32 int32 int32 int32 int32", 0, "input 7 (nchw, operand 7) cannot be INT32"},
		{"I32 I32 I32 int32 int32 int32 int32", 0, "type TENSOR_INT32 is not supported"},
	} {
		v, op := conv(c.types)
		a, err := v.Bind(op)
		if c.err == "" {
			require.Check(t, err == nil && a.Since == c.since, "%s: since %s, %v; want %s", c.types, a.Since, err, c.since)
		} else if err == nil || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: error %v, want %q", c.types, err, c.err)
		}
	}
	v, op := conv("F32 F32 F32 int32 int32 int32 int32")
	op.Inputs[3] = 99
	require.ErrorContains(t, require.Err(v.Bind(op)), "operand 99 of 8", "index outside")
}

// TestVariadic finds the operands around a repeated one.
func TestVariadic(t *testing.T) {
	for n := 1; n < 4; n++ {
		var v View
		op := &nn.Operation{Type: nn.OpConcatenation}
		for i := range n {
			v.Operands = append(v.Operands, nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{2, uint32(i) + 1}, Name: strconv.Itoa(i)})
			op.Inputs = append(op.Inputs, uint32(i))
		}
		v.Operands = append(v.Operands, nn.Operand{Type: nn.Int32, Lifetime: nn.ConstantCopy, Data: []byte{1, 0, 0, 0}},
			nn.Operand{Type: nn.TensorFloat32})
		op.Inputs = append(op.Inputs, uint32(n))
		op.Outputs = []uint32{uint32(n) + 1}
		c := require.V(Read[Concat](v, op))(t)
		require.Check(t, c.Dims[0] == 2 && c.Dims[1] == uint32(n*(n+1)/2) && c.Axis == 1 && len(c.Inputs) == n, "%d inputs: %+v", n, c)
	}
}

// TestInputs: names of the last form, and types that follow from the key type.
func TestInputs(t *testing.T) {
	for _, c := range []struct {
		op   nn.OperationType
		key  nn.OperandType
		at   int
		want Input
	}{
		{nn.OpConv2D, nn.TensorQuant8Asymm, 2, Input{"bias", nn.TensorInt32}},
		{nn.OpConv2D, nn.TensorFloat16, 2, Input{"bias", nn.TensorFloat16}},
		{nn.OpConv2D, nn.TensorFloat32, 12, Input{"dilation_h", nn.Int32}},
		{nn.OpRoiAlign, nn.TensorQuant8AsymmSigned, 1, Input{"roi", nn.TensorQuant16Asymm}},
		{nn.OpRoiAlign, nn.TensorFloat16, 5, Input{"height_stride", nn.Float16}},
		{nn.OpPadV2, nn.TensorQuant8Asymm, 2, Input{"pad_value", nn.Int32}},
		{nn.OpPadV2, nn.TensorFloat32, 2, Input{"pad_value", nn.Float32}},
	} {
		list := Lookup(c.op).Inputs(c.key)
		require.Check(t, c.at < len(list) && list[c.at] == c.want, "%s of %s: %v, want %v at %d", c.op, c.key, list, c.want, c.at)
	}
}
