package opspec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/nn"
)

// Version is a HAL version or feature level in which something first appears.
type Version int8

// HAL versions.
const (
	V10 Version = iota + 1
	V11
	V12
	V13
	// Feature levels of the AIDL HAL, above 1.3.
	FL5
	FL6
	FL7
	FL8
	// Experimental is above every feature level.
	Experimental
	// Extension is any extension, which HAL 1.2 and later can express if a model declares it.
	Extension
)

var versionNames = [...]string{V10: "1.0", "1.1", "1.2", "1.3", "FL5", "FL6", "FL7", "FL8", "experimental", "extension"}

// String returns the version as "1.2", a feature level as "FL6", and
// "experimental" or "extension".
func (v Version) String() string {
	if v >= V10 && int(v) < len(versionNames) {
		return versionNames[v]
	}
	return fmt.Sprintf("Version(%d)", int8(v))
}

func parseVersion(s string) (Version, bool) {
	v := slices.Index(versionNames[:], s)
	return Version(v), v >= int(V10)
}

// outQuant is a quantization an output must have, because the kernel's
// fixed-point result has it.
type outQuant uint8

// Fixed output quantizations.
const (
	quantNone outQuant = iota // the scale is free
	quant256                  // scale 1/256, zero point 0 (signed -128)
	quant128                  // scale 1/128, zero point 128 (signed 0)
)

// Row is all that is known of an operation before it executes.
type Row struct {
	Op    nn.OperationType
	Since Version
	// Extension is the name of the extension that the operation is of, where its code
	// has a prefix.
	Extension string
	// Types are the key types with the version that added them: "F32@1.0 Q8@1.0".
	Types string
	// Key names the operand that carries the key type; "" is in0.
	Key string
	// SameQuant: a quantized output has the scale and zero point of its
	// quantSources.
	SameQuant bool
	// Out is the only quantization a quantized output may have.
	Out outQuant
	// Rank is the exact rank of input 0, MaxRank its bound; 0 means no rule here.
	Rank, MaxRank int
	Forms         []Form
	// Args is an Arguments of the operation's family: it reads the operands, checks them
	// and gives the shapes of the outputs.
	Args arguments
	// Clamp is what the operation does and nothing else.
	Clamp nn.FusedActivation
	// Table makes the output for every input byte of an operation from one 8-bit quantized tensor to another; nil is
	// an operation of more inputs, or of neighbours. It is all that the reference and the devices with tables of
	// bytes need of a new one.
	Table func(*Unary, View) (*[256]byte, error)
	// Open: only the execution gives the shapes of the outputs, by the values it meets.
	Open bool
	// Images are the inputs to which the layout flag "nchw" applies; nil is "input". It
	// applies to the output, too.
	Images []string
	// Quant checks that the scales of an 8-bit quantized operation fit each other; nil
	// is any.
	Quant func(*Args) error
	// Until12 checks what HAL 1.0 and 1.1 demand of the operands and 1.2 no longer does;
	// nil is nothing.
	Until12 func(*Args) error
	// Sums is what the operation adds up in 32 bits when it is 8-bit quantized; nil is
	// nothing that could overflow.
	Sums func(*Args) (Sums, error)
	Work WorkRule

	// What a Table has parsed.
	calls  bool
	keys   []keyType
	keyOut bool
	keyIdx int
	forms  []signature
}

// Form is one way to write an operation: its inputs and its outputs.
//
// A slot is "name:type". Types are T (the key type), W (a filter: T or, when T
// is quantized, Q8CH), B (a bias: T, or I32 when T is quantized), S (a float
// scalar as wide as T), the short names of typeNames, and the rules C, D, A,
// R, P, E, ANY explained at slotClass. "?" marks an operand that may be
// omitted, "..." one that repeats, "...?" one of which each may be omitted. "[1.2 a:x b:y]" is a group of optional
// trailing operands and the version that added it; "a:x=1" is such an operand with the value
// that an operation without it has. Output alternatives are separated by "|", each with the
// version that added it unless it is the form's.
type Form struct {
	Since   Version
	Inputs  string
	Outputs string
}

// slotClass is the rule by which the type of a slot follows from the key type.
type slotClass uint8

const (
	classFixed  slotClass = iota + 1 // the type named
	classKey                         // T
	classFilter                      // W: T, or per-channel symmetric when T is 8-bit quantized
	classBias                        // B: T when float, TENSOR_INT32 when quantized
	classScalar                      // S: FLOAT16 for TENSOR_FLOAT16, else FLOAT32
	classAny                         // ANY type
	classCast                        // C: a type CAST converts to
	classDelta                       // D: T, or 8-bit quantized when T is TENSOR_QUANT16_ASYMM
	classRegion                      // R: T when float, else TENSOR_QUANT16_ASYMM
	classAnchor                      // A: T when float, else TENSOR_QUANT16_SYMM
	classFill                        // E: FLOAT32, FLOAT16 or INT32 to match the key type
	classPad                         // P: FLOAT32, FLOAT16, or INT32 when T is quantized
)

var classNames = map[string]slotClass{
	"T": classKey, "W": classFilter, "B": classBias, "S": classScalar, "ANY": classAny, "C": classCast,
	"D": classDelta, "R": classRegion, "A": classAnchor, "E": classFill, "P": classPad,
}

var typeNames = map[string]nn.OperandType{
	"F32": nn.TensorFloat32, "F16": nn.TensorFloat16, "I32": nn.TensorInt32, "B8": nn.TensorBool8,
	"Q8": nn.TensorQuant8Asymm, "Q8S": nn.TensorQuant8AsymmSigned, "Q8SYM": nn.TensorQuant8Symm,
	"Q8CH": nn.TensorQuant8SymmPerChannel, "Q16": nn.TensorQuant16Asymm, "Q16S": nn.TensorQuant16Symm,
	"float32": nn.Float32, "float16": nn.Float16, "int32": nn.Int32, "uint32": nn.Uint32, "bool": nn.Bool,
	"subgraph": nn.SubgraphRef,
}

// typeNamed is a type by its short name, or by that of an extension.
func typeNamed(name string) (nn.OperandType, bool) {
	if t, ok := typeNames[name]; ok {
		return t, true
	}
	return nn.ExtensionOperandTypeNamed(name)
}

// Sets of key types that many operations share.
const (
	floatQuant10 = "F32@1.0 Q8@1.0 F16@1.2 Q8S@1.3"
	floatQuant11 = "F32@1.1 Q8@1.1 F16@1.2 Q8S@1.3"
	floatQuant12 = "F16@1.2 F32@1.2 Q8@1.2 Q8S@1.3"
	float10      = "F32@1.0 F16@1.2"
	float12      = "F16@1.2 F32@1.2"
	number12     = "F16@1.2 F32@1.2 I32@1.2 Q8@1.2 Q8S@1.3"
	any12        = "B8@1.2 F16@1.2 F32@1.2 I32@1.2 Q8@1.2 Q8S@1.3"
)

// slot is a parsed operand of a signature.
type slot struct {
	name     string
	class    slotClass
	fixed    nn.OperandType // with classFixed
	optional bool
	variadic bool
	since    Version
	standard *int32 // the value of an operation that ends before it; nil is none
}

type outputs struct {
	since Version
	slots []slot
}

// signature is a parsed form. Slots [required:] come in trailing groups that
// end at the counts in ends.
type signature struct {
	since Version
	in    []slot
	ends  []int // permitted input counts, ascending
	outs  []outputs
}

type keyType struct {
	t     nn.OperandType
	since Version
}

// parse reads types, key and forms.
func (r *Row) parse() error {
	r.keys, r.keyOut, r.keyIdx, r.forms, r.calls = nil, false, 0, nil, false
	for _, f := range strings.Fields(r.Types) {
		name, ver, _ := strings.Cut(f, "@")
		t, ok := typeNamed(name)
		v, ok2 := parseVersion(ver)
		if !ok || !ok2 {
			return fmt.Errorf("bad key type %q", f)
		}
		r.keys = append(r.keys, keyType{t, v})
	}
	switch r.Key {
	case "":
	case "in1":
		r.keyIdx = 1
	case "in2":
		r.keyIdx = 2
	case "out0":
		r.keyOut = true
	default:
		return fmt.Errorf("bad key operand %q", r.Key)
	}
	for _, f := range r.Forms {
		s, err := parseForm(f)
		if err != nil {
			return err
		}
		r.forms = append(r.forms, s)
		for i := range s.in {
			r.calls = r.calls || s.in[i].fixed == nn.SubgraphRef
		}
	}
	return nil
}

func parseForm(f Form) (signature, error) {
	s := signature{since: f.Since}
	ver, group := f.Since, false
	for _, w := range strings.Fields(f.Inputs) {
		if v, ok := strings.CutPrefix(w, "["); ok {
			s.ends = append(s.ends, len(s.in))
			if ver, ok = parseVersion(v); !ok || group {
				return s, fmt.Errorf("bad group %q", w)
			}
			group = true
			continue
		}
		w, last := strings.CutSuffix(w, "]")
		sl, err := parseSlot(w)
		if err != nil {
			return s, err
		}
		sl.since = ver
		s.in = append(s.in, sl)
		if last {
			group = false
		}
	}
	s.ends = append(s.ends, len(s.in))
	for _, alt := range strings.Split(f.Outputs, "|") {
		o := outputs{since: f.Since}
		for _, w := range strings.Fields(alt) {
			if v, ok := parseVersion(w); ok {
				o.since = v
				continue
			}
			sl, err := parseSlot(w)
			if err != nil {
				return s, err
			}
			o.slots = append(o.slots, sl)
		}
		s.outs = append(s.outs, o)
	}
	return s, nil
}

func parseSlot(w string) (slot, error) {
	name, typ, _ := strings.Cut(w, ":")
	sl := slot{name: name}
	if t, value, ok := strings.Cut(typ, "="); ok {
		v, err := strconv.ParseInt(value, 10, 32)
		if err != nil {
			return sl, fmt.Errorf("bad default in slot %q", w)
		}
		standard := int32(v)
		typ, sl.standard = t, &standard
	}
	typ, sl.optional = strings.CutSuffix(typ, "?")
	typ, sl.variadic = strings.CutSuffix(typ, "...")
	class, ok := classNames[typ]
	if ok {
		sl.class = class
		return sl, nil
	}
	sl.class = classFixed
	if sl.fixed, ok = typeNamed(typ); !ok || name == "" {
		return sl, fmt.Errorf("bad slot %q", w)
	}
	return sl, nil
}
