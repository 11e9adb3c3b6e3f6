package driver

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/compat"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/runtime/nnapi"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
)

// ExtensionChecks returns the checks of vendors' operations and operands.
func ExtensionChecks() []check.Check {
	return []check.Check{
		{Name: "a type of an extension with data for each operand", Rows: []string{"A4-4", "A4-6", "A4-11"}, Run: extensionOperands, EachDevice: true},
		{Name: "types and operations of vendors before there were extensions", Rows: []string{"A0-7", "A0-8", "B-7", "D2-13", "D2-14", "D3-7", "C1-9"}, Run: oemCodes, EachDevice: true},
		{Name: "an extension that nobody knows", Rows: []string{"A4-6", "D2-14"}, Run: foreignExtension, EachDevice: true},
		{Name: "extensions, prefixes and extension data of a model", Rows: []string{"A4-6", "A4-11", "D2-4", "D2-13", "D2-14", "I4-17"}, Run: extensionRules},
		{Name: "a model of an app with an extension", Rows: []string{"C0-2", "C1-2", "C1-8", "C3-5"}, Run: appExtensions},
		{Name: "devices that agree on an extension, and such that do not", Rows: []string{"C4-3"}, Run: extensionRegistry},
	}
}

// coded is the extension whose type has codes with extension data for each operand.
var coded = nn.CodeExtensions()[0]

// codeValues is extension data that maps codes to values.
func codeValues(values ...float32) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

// decodeModel decodes a 2x3 tensor of codes to a scale of 0.5 and a zero point of 2.
func decodeModel() *nn.Model {
	m := check.ReluModel(nn.TensorQuant8Asymm, 2, 3)
	m.Name = "decode"
	m.Main.Operands[0] = nn.Operand{Type: coded.Type(), Dimensions: []uint32{2, 3}, Lifetime: nn.SubgraphInput,
		Extension: codeValues(-1, -0.25, 0, 0.25, 1, 100)}
	m.Main.Operations[0].Type = coded.Decode()
	opspec.Standard().Declare(m)
	return m
}

// Codes for decodeModel, the last beyond all values, and their values.
var (
	someCodes = []byte{0, 1, 2, 3, 4, 9}
	decoded   = []byte{0, 1, 2, 3, 4, 202}
)

// prefixed is the model with another prefix for each of its extensions.
func prefixed(m *nn.Model, prefix func(nn.ExtensionPrefix) uint16) *nn.Model {
	to := map[uint16]uint16{}
	c := check.Damaged(m, func(*nn.Subgraph) {})
	c.Extensions = slices.Clone(m.Extensions)
	for i, e := range c.Extensions {
		to[e.Prefix], c.Extensions[i].Prefix = prefix(e), prefix(e)
	}
	code := func(code int32) int32 {
		p, n := nn.SplitExtensionCode(code)
		return nn.ExtensionCode(to[p], n)
	}
	for i := range c.Main.Operands {
		o := &c.Main.Operands[i]
		o.Type = nn.OperandType(code(int32(o.Type)))
	}
	for i := range c.Main.Operations {
		op := &c.Main.Operations[i]
		op.Type = nn.OperationType(code(int32(op.Type)))
	}
	return c
}

// decodes prepares a model like decodeModel and compares its results.
func decodes(t *check.T, what string, m *nn.Model, want []byte) {
	decodesWith(t, what, t.Prepare(m, hal.PrepareOptions{}), want)
}

func decodesWith(t *check.T, what string, p hal.PreparedModel, want []byte) {
	b := &hal.Buffers{Inputs: [][]byte{someCodes}, Outputs: [][]byte{make([]byte, len(want))}}
	_, err := hal.Execute(p, b)
	t.OK(what, err)
	t.Same(what, b.Outputs[0], want)
}

func extensionOperands(t *check.T) {
	m := decodeModel()
	listed := slices.ContainsFunc(t.Device.SupportedExtensions(), func(e hal.Extension) bool { return e.Name == coded.Name })
	if !listed && t.Device.Type() != hal.DeviceCPU {
		declines(t, coded.OperationName, m, coded.Name)
		return
	}
	decodes(t, "the values of an operand", m, decoded)
	other := check.Damaged(m, func(g *nn.Subgraph) { g.Operands[0].Extension = codeValues(3, 2, 1) })
	decodes(t, "other values", other, []byte{8, 6, 4, 4, 4, 4})
	both := *m
	both.Extensions = append(slices.Clone(m.Extensions), nn.ExtensionPrefix{Name: nn.QuantizationExtension, Prefix: 1})
	decodes(t, "with the prefixes of two extensions exchanged", prefixed(&both, func(e nn.ExtensionPrefix) uint16 { return 3 - e.Prefix }), decoded)
	decodes(t, "with a large prefix", prefixed(m, func(nn.ExtensionPrefix) uint16 { return 0x7fff }), decoded)
	for what, data := range map[string][]byte{
		"no value": nil, "one value": codeValues(1), "257 values": codeValues(make([]float32, 257)...),
		"a part of a value": codeValues(1, 2, 3)[:11], "NaN": codeValues(1, float32(math.NaN())),
		"infinity": codeValues(float32(math.Inf(-1)), 1),
	} {
		bad := check.Damaged(m, func(g *nn.Subgraph) { g.Operands[0].Extension = data })
		t.Status(what+": getSupportedOperations", check.Err(t.Device.SupportedOperations(bad)), hal.InvalidArgument)
		t.Status(what+": prepareModel", check.Err(t.Device.PrepareModel(bad, hal.PrepareOptions{})), hal.InvalidArgument)
	}
	if n, _ := t.Device.NumberOfCacheFilesNeeded(); n > 0 {
		f := check.NewFiles()
		t.Prepare(prefixed(m, func(nn.ExtensionPrefix) uint16 { return 9 }), hal.PrepareOptions{Cache: f.Cache()})
		p := check.V(t.Device.PrepareModelFromCache(nil, f.Cache()))(t, "prepareModelFromCache")
		decodesWith(t, "from the cache", p, decoded)
	}
}

// declines checks that a device supports no operation of a model and names the extension.
func declines(t *check.T, what string, m *nn.Model, extension string) {
	s := check.V(t.Device.SupportedOperations(m))(t, what+": getSupportedOperations")
	for i := range s {
		if s[i].OK || !strings.Contains(s[i].Reason, extension) {
			t.Errorf("%s: operation %d: %v %q, %s is not named", what, i, s[i].OK, s[i].Reason, extension)
		}
	}
	_, err := t.Device.PrepareModel(m, hal.PrepareOptions{})
	if t.Status(what+": prepareModel", err, hal.InvalidArgument); err != nil && !strings.Contains(err.Error(), extension) {
		t.Errorf("%s: prepareModel: %v, %s is not named", what, err, extension)
	}
}

// foreign is an extension that no device has.
var foreign = nn.ExtensionPrefix{Name: "org.example.filters", Prefix: 1}

// foreignModel has an operation of the foreign extension, on operands of its types, behind a
// RELU and before one.
func foreignModel(typ nn.OperandType) *nn.Model {
	own := func(number uint16, l nn.Lifetime) nn.Operand {
		return nn.Operand{Type: nn.OperandType(nn.ExtensionCode(foreign.Prefix, number)), Lifetime: l, Extension: []byte{1}}
	}
	return &nn.Model{Name: "foreign", Extensions: []nn.ExtensionPrefix{foreign}, Main: nn.Subgraph{
		Operands: []nn.Operand{
			check.Tensor(typ, nn.SubgraphInput, 2, 3), check.Tensor(typ, nn.TemporaryVariable, 2, 3), own(4, nn.SubgraphInput),
			check.Tensor(typ, nn.TemporaryVariable, 2, 3), check.Tensor(typ, nn.SubgraphOutput, 2, 3), own(0, nn.SubgraphOutput),
		},
		Operations: []nn.Operation{
			{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{1}},
			{Type: nn.OperationType(nn.ExtensionCode(foreign.Prefix, 3)), Inputs: []uint32{1, 2}, Outputs: []uint32{3, 5}},
			{Type: nn.OpRelu, Inputs: []uint32{3}, Outputs: []uint32{4}},
		},
		Inputs: []uint32{0, 2}, Outputs: []uint32{4, 5},
	}}
}

// oemCodes: OEM, TENSOR_OEM_BYTE and OEM_OPERATION are valid in every version; devices without a meaning for them
// decline that operation alone.
func oemCodes(t *check.T) {
	typ := t.Supported(func(typ nn.OperandType) *nn.Model { return check.ReluModel(typ, 2, 3) }).Main.Operands[0].Type
	m := foreignModel(typ)
	m.Name, m.Extensions = "oem", nil
	m.Main.Operands[2] = nn.Operand{Type: nn.TensorOEMByte, Dimensions: []uint32{5}, Lifetime: nn.ConstantCopy, Data: []byte("value")}
	m.Main.Operands[5] = nn.Operand{Type: nn.OEM, Lifetime: nn.SubgraphOutput}
	m.Main.Operations[1].Type, m.Main.Inputs = nn.OpOEM, m.Main.Inputs[:1]
	t.OK("an OEM_OPERATION", validate.Model(m))
	m = t.Serialized(m)
	check.Equal(t, "version", compat.ModelVersion(m), compat.V1_0)
	check.Equal(t, "names", fmt.Sprint(nn.OEM, nn.TensorOEMByte, nn.OpOEM), "OEM TENSOR_OEM_BYTE OEM_OPERATION")
	check.Equal(t, "codes", [3]int32{int32(nn.OEM), int32(nn.TensorOEMByte), nn.OpOEM.Code()}, [3]int32{10000, 10001, 10000})
	check.Equal(t, "bytes", [2]int{nn.TensorOEMByte.ElementBytes(), nn.OEM.ElementBytes()}, [2]int{1, 0})
	for _, typ := range []nn.OperandType{nn.OEM - 1, nn.TensorOEMByte + 1} {
		bad := check.Damaged(m, func(g *nn.Subgraph) { g.Operands[2].Type = typ })
		t.Status(typ.String(), validate.Model(bad), hal.InvalidArgument)
	}
	t.Status("OEM with dimensions", validate.Model(check.Damaged(m, func(g *nn.Subgraph) { g.Operands[5].Dimensions = []uint32{1} })), hal.InvalidArgument)
	t.Status("an operation with an OEM operand", validate.Model(check.Damaged(m, func(g *nn.Subgraph) { g.Operations[2].Inputs[0] = 2 })), hal.InvalidArgument)
	s := check.V(t.Device.SupportedOperations(m))(t, "getSupportedOperations")
	var ok []bool
	for _, x := range s {
		ok = append(ok, x.OK)
	}
	check.Equal(t, "operations that the device supports", fmt.Sprint(ok), "[true false true]")
	if len(s) == 3 && !strings.Contains(s[1].Reason, "OEM_OPERATION") {
		t.Errorf("the reason %q does not name the operation", s[1].Reason)
	}
	t.Status("prepareModel", check.Err(t.Device.PrepareModel(m, hal.PrepareOptions{})), hal.InvalidArgument)
	old := compat.FromV1_0(compat.CapabilitiesV1_0{Float32Performance: check.Figure(1), Quantized8Performance: check.Figure(2)})
	check.Equal(t, "figures", [2]hal.PerformanceInfo{old.Lookup(nn.OEM), old.Lookup(nn.TensorOEMByte)}, [2]hal.PerformanceInfo{check.Figure(2), check.Figure(2)})
	app := nnapi.NewModel()
	t.OK("addOperand", app.AddOperand(nnapi.OperandType{Type: nn.TensorOEMByte, Dimensions: []uint32{4}}))
	t.OK("addOperand", app.AddOperand(nnapi.OperandType{Type: nn.OEM}))
	t.OK("addOperation", app.AddOperation(nn.OpOEM, []uint32{0}, []uint32{1}))
}

func foreignExtension(t *check.T) {
	typ := t.Supported(func(typ nn.OperandType) *nn.Model { return check.ReluModel(typ, 2, 3) }).Main.Operands[0].Type
	m := foreignModel(typ)
	s := check.V(t.Device.SupportedOperations(m))(t, "getSupportedOperations")
	var ok []bool
	for _, x := range s {
		ok = append(ok, x.OK)
	}
	check.Equal(t, "operations that the device supports", fmt.Sprint(ok), "[true false true]")
	if len(s) == 3 && !strings.Contains(s[1].Reason, foreign.Name) {
		t.Errorf("the reason %q does not name the extension", s[1].Reason)
	}
	_, err := t.Device.PrepareModel(m, hal.PrepareOptions{})
	if t.Status("prepareModel", err, hal.InvalidArgument); err != nil && !strings.Contains(err.Error(), foreign.Name) {
		t.Errorf("prepareModel: %v does not name the extension", err)
	}
}

func extensionRules(t *check.T) {
	t.OK("a type of an extension", validate.Model(decodeModel()))
	t.OK("a foreign extension", validate.Model(foreignModel(nn.TensorFloat32)))
	with := func(list ...nn.ExtensionPrefix) func(m *nn.Model) { return func(m *nn.Model) { m.Extensions = list } }
	own := nn.ExtensionPrefix{Name: coded.Name, Prefix: 2}
	code := func(number uint16) int32 { return nn.ExtensionCode(own.Prefix, number) }
	for what, x := range map[string]struct {
		change func(m *nn.Model)
		rule   string
	}{
		"an extension that is not listed": {with(), "prefix 2, which the model does not list"},
		"another prefix than listed":      {with(nn.ExtensionPrefix{Name: own.Name, Prefix: 3}), "prefix 2, which the model does not list"},
		"the prefix of NNAPI":             {with(own, nn.ExtensionPrefix{Name: "org.example.x"}), "prefix 0"},
		"a prefix beyond 15 bits":         {with(own, nn.ExtensionPrefix{Name: "org.example.x", Prefix: 1 << 15}), "prefix 32768"},
		"a prefix for two":                {with(own, nn.ExtensionPrefix{Name: "org.example.x", Prefix: 2}), "have the prefix 2"},
		"a name with two prefixes":        {with(own, nn.ExtensionPrefix{Name: own.Name, Prefix: 4}), "is listed twice"},
		"a name without a dot":            {with(own, nn.ExtensionPrefix{Name: "filters", Prefix: 4}), "has no dot"},
		"no such type":                    {func(m *nn.Model) { m.Main.Operands[0].Type = nn.OperandType(code(1)) }, "has no operand type 1"},
		"no such operation":               {func(m *nn.Model) { m.Main.Operations[0].Type = nn.OperationType(code(1)) }, "has no operation 1"},
		"data of a type of NNAPI":         {func(m *nn.Model) { m.Main.Operands[1].Extension = []byte{1} }, "with 1 bytes of extension data"},
		"a scale":                         {func(m *nn.Model) { m.Main.Operands[0].Scale = 1 }, "extension data alone"},
		"a zero point":                    {func(m *nn.Model) { m.Main.Operands[0].ZeroPoint = 1 }, "extension data alone"},
		"scales by channel":               {func(m *nn.Model) { m.Main.Operands[0].Channel = &nn.ChannelQuant{} }, "extension data alone"},
		"RELU on a type of an extension":  {func(m *nn.Model) { m.Main.Operations[0].Type = nn.OpRelu }, coded.TypeName + " is not supported"},
	} {
		m := check.Damaged(decodeModel(), func(*nn.Subgraph) {})
		x.change(m)
		err := validate.Model(m)
		t.Status(what, err, hal.InvalidArgument)
		t.Check(err == nil || strings.Contains(err.Error(), x.rule), "%s: %v, want %q", what, err, x.rule)
	}
	check.Equal(t, "version of a model with an extension", compat.ModelVersion(decodeModel()), compat.V1_2)
	check.Equal(t, "version of a model with a foreign extension", compat.ModelVersion(foreignModel(nn.TensorFloat32)), compat.V1_2)
	_, _, err := compat.Convert(compat.V1_1, decodeModel())
	t.Status("converting it to 1.1", err, hal.InvalidArgument)
	unused := *check.AddModel(nn.TensorFloat32)
	unused.Extensions = []nn.ExtensionPrefix{own}
	c, _ := check.V2(compat.Convert(compat.V1_1, &unused))(t, "converting a model that lists an extension and does not use it")
	check.Equal(t, "extensions that are left", len(c.Extensions), 0)
}

// vendor is a driver with extensions.
type vendor struct {
	*check.Picky
	extensions []hal.Extension
}

func (d *vendor) SupportedExtensions() []hal.Extension { return d.extensions }

// appDecoder builds decodeModel as an app does.
func appDecoder(t *check.T, r *nnapi.Runtime, m *nnapi.Model) {
	typ := check.V(r.ExtensionOperandType(m, coded.Name, 0))(t, "getExtensionOperandType")
	op := check.V(r.ExtensionOperationType(m, coded.Name, 0))(t, "getExtensionOperationType")
	t.OK("operand", m.AddOperand(nnapi.OperandType{Type: typ, Dimensions: []uint32{2, 3}}))
	t.OK("operand", m.AddOperand(nnapi.OperandType{Type: nn.TensorQuant8Asymm, Dimensions: []uint32{2, 3}, Scale: 0.5, ZeroPoint: 2}))
	data := codeValues(-1, -0.25, 0, 0.25, 1, 100)
	t.OK("extension data", m.SetOperandExtensionData(0, data))
	clear(data) // it was copied
	t.OK("operation", m.AddOperation(op, []uint32{0}, []uint32{1}))
	t.OK("inputs", m.IdentifyInputsAndOutputs([]uint32{0}, []uint32{1}))
}

func appExtensions(t *check.T) {
	d := &vendor{check.Driver("a", coded.Decode()), []hal.Extension{
		{Name: "org.example.first", OperandTypes: []hal.ExtensionOperandType{{Type: 7, ByteSize: 12}, {Type: 8, IsTensor: true, ByteSize: 3}}},
		hal.VendorExtension(coded.Name),
	}}
	r := t.App(d)
	check.Equal(t, "getExtensionSupport", t.All(r)[0].ExtensionSupport(coded.Name), true)
	check.Equal(t, "getExtensionSupport of the CPU", t.All(r)[1].ExtensionSupport(coded.Name), false)
	m := nnapi.NewModel()
	first := check.V(r.ExtensionOperandType(m, "org.example.first", 7))(t, "getExtensionOperandType")
	check.Equal(t, "the first prefix", first, nn.OperandType(1<<16|7))
	t.Code("no model", check.Err(r.ExtensionOperandType(nil, coded.Name, 0)), nnapi.UnexpectedNull)
	t.Code("an extension that no device has", check.Err(r.ExtensionOperationType(m, "org.example.none", 0)), nnapi.BadData)
	appDecoder(t, r, m)
	again := check.V(r.ExtensionOperandType(m, coded.Name, 0))(t, "getExtensionOperandType")
	check.Equal(t, "the second prefix", again, nn.OperandType(2<<16))
	t.OK("finish", m.Finish())
	t.Code("data of a finished model", m.SetOperandExtensionData(0, nil), nnapi.BadState)
	support := check.V(r.SupportedOperations(m, t.All(r)[:1]))(t, "getSupportedOperationsForDevices")
	check.Equal(t, "support", fmt.Sprint(support), "[true]")
	c := t.Finished(r, m, t.All(r)[0])
	e := check.V(nnapi.NewExecution(c))(t, "execution")
	out := make([]byte, 6)
	t.OK("input", e.SetInput(0, nil, someCodes))
	t.OK("output", e.SetOutput(0, nil, out))
	t.OK("compute", e.Compute())
	t.Same("what the driver computes", out, decoded)

	m = nnapi.NewModel()
	other := nnapi.OperandType{Type: first}
	t.Code("a type that this model did not ask for", m.AddOperand(other), nnapi.BadData)
	tensors := check.V(r.ExtensionOperandType(m, "org.example.first", 8))(t, "getExtensionOperandType")
	for what, x := range map[string]nnapi.OperandType{
		"a type that the extension does not have": {Type: tensors + 1},
		"a scalar with dimensions":                {Type: first, Dimensions: []uint32{1}},
		"a scale":                                 {Type: tensors, Dimensions: []uint32{2}, Scale: 1},
		"a zero point":                            {Type: tensors, Dimensions: []uint32{2}, ZeroPoint: 1},
		"more than 32 bits of size":               {Type: tensors, Dimensions: []uint32{1 << 30, 2}},
	} {
		t.Code(what, m.AddOperand(x), nnapi.BadData)
	}
	t.OK("a scalar", m.AddOperand(other))
	t.OK("a tensor", m.AddOperand(nnapi.OperandType{Type: tensors, Dimensions: []uint32{5}}))
	t.OK("a vector", m.AddOperand(check.Vector()))
	t.Code("a scalar of another size", m.SetOperandValue(0, make([]byte, 11)), nnapi.BadData)
	t.OK("a scalar of 12 bytes", m.SetOperandValue(0, make([]byte, 12)))
	t.Code("a tensor of another size", m.SetOperandValue(1, make([]byte, 5)), nnapi.BadData)
	t.OK("a tensor of 15 bytes", m.SetOperandValue(1, make([]byte, 15)))
	t.OK("extension data", m.SetOperandExtensionData(1, []byte{1, 2}))
	t.OK("no extension data", m.SetOperandExtensionData(1, nil))
	t.Code("data of no bytes", m.SetOperandExtensionData(1, []byte{}), nnapi.BadData)
	t.Code("data of a type of NNAPI", m.SetOperandExtensionData(2, []byte{1}), nnapi.BadData)
	t.Code("data of no operand", m.SetOperandExtensionData(3, []byte{1}), nnapi.BadData)
	t.Code("an operation that the model did not ask for", m.AddOperation(coded.Decode(), []uint32{1}, []uint32{2}), nnapi.BadData)
}

func extensionRegistry(t *check.T) {
	const name = "org.example.shared"
	lists := func(device string, types ...hal.ExtensionOperandType) *vendor {
		return &vendor{check.Driver(device), []hal.Extension{{Name: name, OperandTypes: types}}}
	}
	one, two := hal.ExtensionOperandType{Type: 1, ByteSize: 4}, hal.ExtensionOperandType{Type: 2, IsTensor: true, ByteSize: 1}
	r := t.App(lists("a", one, two), lists("b", two, one))
	_, err := r.ExtensionOperandType(nnapi.NewModel(), name, 1)
	t.OK("the same types in another order", err)
	wide := one
	wide.ByteSize = 8
	for what, types := range map[string][]hal.ExtensionOperandType{"another size": {wide, two}, "a type less": {one}} {
		r = t.App(lists("a", one, two), lists("b", types...))
		t.Code(what, check.Err(r.ExtensionOperandType(nnapi.NewModel(), name, 1)), nnapi.BadData)
		t.Check(err == nil || strings.Contains(err.Error(), "is disabled"), "%s: %v", what, err)
	}
	bad := lists("bad", one, one)
	check.Equal(t, "devices without the one whose extension is invalid", t.App(bad).DeviceCount(), 1)
	// Prefixes are the runtime's: two extensions in the order of their first use.
	d := &vendor{check.Driver("a"), []hal.Extension{{Name: name, OperandTypes: []hal.ExtensionOperandType{one}}, hal.VendorExtension(coded.Name)}}
	r = t.App(d)
	var got bytes.Buffer
	for _, e := range []string{coded.Name, name, coded.Name} {
		typ := check.V(r.ExtensionOperandType(nnapi.NewModel(), e, 1))(t, e)
		fmt.Fprintf(&got, "%d ", typ)
	}
	check.Equal(t, "types", got.String(), "65537 131073 65537 ")
}
