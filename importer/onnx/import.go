package onnx

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu/hostop"
)

// Versions of the operator set whose meanings this package has.
const (
	minOpset = 1
	maxOpset = 28
)

// Limits of an import, far above those of real networks.
const (
	maxSubgraphs = 1 << 12 // conversions of subgraphs, iterations of unrolled loops
	maxDepth     = 16      // of subgraphs and functions in one another
)

// Options steer Import. The zero value, or nil, imports the file as it is.
type Options struct {
	// Shapes overrides the file's shapes of inputs of the network, by name.
	Shapes map[string][]uint32
	// External opens the file that holds a tensor's data, by the location that the model states. Without it such a
	// tensor is an error. Import reads the bytes of tensors, not the whole, and closes it.
	External func(location string) (ExternalFile, error)
	// Note is called with a sentence about each choice that the file leaves open and Import makes.
	Note func(text string)
}

// ExternalFile is a file with data of tensors.
type ExternalFile interface {
	io.ReaderAt
	io.Closer
	Len() int // bytes
}

// Error is a model that cannot be imported.
type Error = lowering.Error

// Import reads a model file. The model's constants may alias data, which must not change
// afterwards. Every failure is an *Error; a network that NNAPI cannot express fails with
// an *Unsupported in it.
func Import(data []byte, o *Options) (*nn.Model, error) {
	file, err := onnxfile.Read(data)
	if err != nil {
		return nil, &Error{Format: format, Err: err}
	}
	return importFile(file, o)
}

// importFile is Import of a parsed file.
func importFile(file *onnxfile.Model, o *Options) (*nn.Model, error) {
	if o == nil {
		o = &Options{}
	}
	im := &importer{
		rows: operators(), options: o, functions: map[[2]string]*onnxfile.Function{}, model: &nn.Model{},
		files: map[string]ExternalFile{},
	}
	defer func() {
		for _, f := range im.files {
			_ = f.Close() // it was read only
		}
	}()
	opset, err := standardOpset(file.Opsets)
	if err != nil {
		return nil, &Error{Format: format, Err: err}
	}
	for _, f := range file.Functions {
		im.functions[[2]string{domain(f.Domain), f.Name}] = f
	}
	if err := im.main(file.Graph, opset); err != nil {
		return nil, err
	}
	return im.model, nil
}

// standardOpset is the version of the standard's operators that a model or function uses.
func standardOpset(list []onnxfile.Opset) (int64, error) {
	opset := int64(0)
	for _, o := range list {
		if domain(o.Domain) == "" {
			opset = max(opset, o.Version)
		}
	}
	if opset == 0 && len(list) > 0 { // operators of other domains alone
		return maxOpset, nil
	}
	if opset < minOpset || opset > maxOpset {
		return 0, fmt.Errorf("operator set version %d, versions %d to %d are known", opset, minOpset, maxOpset)
	}
	return opset, nil
}

// domain is the name of a domain; the standard's has two.
func domain(name string) string {
	if name == "ai.onnx" {
		return ""
	}
	return name
}

// note reports a choice to the caller.
func (im *importer) note(text string) {
	if im.options.Note != nil {
		im.options.Note(text)
	}
}

// importer is one import.
type importer struct {
	rows      map[[2]string]*operator
	options   *Options
	functions map[[2]string]*onnxfile.Function
	model     *nn.Model
	refused   Unsupported
	files     map[string]ExternalFile
	depth     int
	subgraphs int
	budget    lowering.Budget
}

// main converts the graph of the file.
func (im *importer) main(file *onnxfile.Graph, opset int64) (err error) {
	g := im.open(file, nil, lowering.New(&im.budget), opset)
	err = g.convertMain()
	if len(im.refused.Operators) > 0 {
		return &Error{Format: format, Err: &im.refused}
	}
	if err != nil {
		return err
	}
	g.Sub.Name = file.Name
	im.model.Main = lowering.Compact(g.Sub)
	for i, sub := range im.model.Referenced {
		im.model.Referenced[i] = lowering.Compact(sub)
	}
	hostop.Table().Spec().Declare(im.model)
	return nil
}

// convertMain declares the main graph's inputs, converts its nodes and sets its outputs.
func (g *graph) convertMain() (err error) {
	defer g.catch(&err)
	shapes := g.im.options.Shapes
	var names []string
	for _, v := range g.file.Inputs {
		if _, ok := g.initializers[v.Name]; ok {
			continue // files of old versions list them as inputs
		}
		names = append(names, fmt.Sprintf("%q", v.Name))
		g.declareInput(v, shapes)
	}
	for name := range shapes {
		if g.values[name] == nil {
			g.Failf("a shape is given for %q; the inputs are %s", name, strings.Join(names, ", "))
		}
	}
	g.convertNodes()
	if len(g.im.refused.Operators) > 0 {
		return nil
	}
	for _, v := range g.file.Outputs {
		g.declareOutput(v.Name, g.lookup(v.Name))
	}
	if len(g.Sub.Outputs) == 0 && len(g.im.refused.Operators) == 0 {
		g.Failf("no outputs")
	}
	return nil
}

// declareOutput makes a value an output of the network; a sequence is an output for each of its elements.
func (g *graph) declareOutput(name string, v *value) {
	switch {
	case v.absent:
		g.im.refused.Add(fmt.Sprintf("output %q", name), "is an optional value that is absent, NNAPI has tensors only", "", "the network without this output")
		return
	case v.sequence:
		if len(v.parts) == 0 {
			g.im.note(fmt.Sprintf("output %q is a sequence without elements, and left out", name))
		}
		for i, part := range v.parts {
			g.declareOutput(partName(name, i), part)
		}
		return
	}
	x := g.real(v, false)
	if list, ok := g.Wide[x]; ok {
		g.Failf("output %q is the constant %v, which does not fit 32 bits", name, list)
	}
	if g.Operand(x).Type == nn.TensorQuant8SymmPerChannel {
		g.Failf("output %q is a constant quantized per channel", name)
	}
	g.Output(x)
	g.Operand(g.Sub.Outputs[len(g.Sub.Outputs)-1]).Name = name
}

// declareInput makes an input of the network: a tensor, a sequence of them, or an optional value.
func (g *graph) declareInput(v *onnxfile.Value, shapes map[string][]uint32) {
	switch v.Kind {
	case "":
		g.declareTensor(v, shapes)
	case "sequence":
		g.declareSequence(v, shapes)
	case "optional":
		g.declareOptional(v, shapes)
	default:
		g.refuseInput(v, "is of kind "+v.Kind+", NNAPI has tensors only", "an input for each element")
	}
}

// refuseInput notes an input that NNAPI cannot have.
func (g *graph) refuseInput(v *onnxfile.Value, reason, instead string) {
	g.im.refused.Add(fmt.Sprintf("input %q", v.Name), reason, "", instead)
	g.values[v.Name] = &value{missing: true}
}

func (g *graph) declareTensor(v *onnxfile.Value, shapes map[string][]uint32) {
	o, ok := template(v.Type)
	if !ok {
		g.refuseInput(v, "is a tensor of type "+v.Type.String()+", which NNAPI lacks", insteadOf[lacksType(v.Type)])
		return
	}
	shape, given := shapes[v.Name]
	if !given {
		if v.Dims == nil {
			g.Failf("input %q has no shape; --shape %s=... gives it", v.Name, v.Name)
		}
		for d, n := range v.Dims {
			switch {
			case n.Size > nn.MaxElements || n.Size < 0:
				g.Failf("input %q: dimension %d is %d", v.Name, d, n.Size)
			case n.Size == 0 && n.Name != "" && d == 0: // the batch, in all that exporters write
				n.Size = 1
				g.im.note(fmt.Sprintf("input %q: dimension 0 is %q, taken as 1; --shape %s=... gives another", v.Name, n.Name, v.Name))
			case n.Size == 0 && n.Name != "":
				g.Failf("input %q: dimension %d is %q, which the file leaves open; --shape %s=%s gives it", v.Name, d, n.Name, v.Name, shapeToGive(v.Dims))
			case n.Size == 0:
				g.Failf("input %q: dimension %d is open; --shape %s=%s gives it", v.Name, d, v.Name, shapeToGive(v.Dims))
			}
			shape = append(shape, uint32(n.Size))
		}
	}
	if len(shape) > 8 {
		g.Failf("input %q has rank %d, at most 8", v.Name, len(shape))
	}
	o.Name = v.Name
	if scale, zero, ok := g.quantizationOfUses(v.Name); ok && o.Type.IsQuant8() {
		o.Scale, o.ZeroPoint = scale, zero
	}
	g.input(v.Name, o, shape)
	g.values[v.Name].short = shortType(v.Type)
}

// shapeToGive is a shape as --shape takes it, with the names of the dimensions that the file leaves open.
func shapeToGive(dims []onnxfile.Dim) string {
	list := make([]string, len(dims))
	for i, d := range dims {
		switch {
		case d.Size > 0:
			list[i] = strconv.FormatInt(d.Size, 10)
		case d.Name != "":
			list[i] = word(d.Name)
		default:
			list[i] = "N"
		}
	}
	return strings.Join(list, ",")
}

// input makes an operand an input of the subgraph, by name.
func (g *graph) input(name string, o nn.Operand, shape []uint32) {
	if _, ok := g.values[name]; ok {
		g.Failf("%q is an input twice", name)
	}
	if nn.Elements(shape) < 0 {
		g.Failf("input %q has shape %v, which is too large", name, shape)
	}
	g.values[name] = g.valueOf(g.Input(o, shape))
}

// Unsupported is the error of a network that NNAPI cannot express: all operators that have
// no NNAPI form, with their attributes, and how often each occurs.
type Unsupported = lowering.Unsupported

// Reasons that several operators share.
const (
	noStrings  = "NNAPI has no strings"
	noRandom   = "NNAPI draws from categories only"
	noBits     = "NNAPI has no operations on bits of integers"
	noGradient = "it differentiates nodes of the network"
	noDrops    = "it is in training mode, where it drops elements at random"
	laterDrops = "an execution decides whether it is in training mode, where it drops elements at random"
	noClassic  = "operators of classic machine learning are none of networks"
)

// lacksType is the reason of a cast to a type that NNAPI has no operand for.
func lacksType(t onnxfile.DataType) string {
	return fmt.Sprintf("it casts to %v, which NNAPI lacks", t)
}

// insteadOf are the nearest things that work, by the reason of a refusal.
var insteadOf = map[string]string{
	noStrings: "numbers of words as inputs, looked up by the app",

	lacksType(onnxfile.String): "numbers of words as inputs and outputs, looked up by the app",
	noRandom:                   "the random numbers as an input of the network",
	noGradient:                 "the network exported for inference, or with the nodes of its gradient written out",
	noDrops:                    "training_mode false or a ratio of 0, as networks are exported for inference",
	laterDrops:                 "a constant training_mode of false, as networks are exported for inference",
	noClassic:                  "the network cut in front of it",
}

// absentOperators are the operators that no operations of NNAPI express.
var absentOperators = []operator{
	{name: "BitShift", lacks: noBits},
	{name: "BitCast", lacks: noBits},
	{name: "BitwiseAnd", lacks: noBits},
	{name: "BitwiseNot", lacks: noBits},
	{name: "BitwiseOr", lacks: noBits},
	{name: "BitwiseXor", lacks: noBits},
	{name: "NonZero", lacks: "NNAPI has no operation whose result has as many elements as are not zero"},
	{name: "CumProd", lacks: "NNAPI multiplies no elements up to each of them"},
	{name: "Unique", lacks: "NNAPI has no operation whose result has as many elements as differ"},
	{name: "NonMaxSuppression", lacks: "NNAPI suppresses boxes by class and score together only"},
	{name: "RandomNormal", lacks: noRandom},
	{name: "RandomNormalLike", lacks: noRandom},
	{name: "RandomUniform", lacks: noRandom},
	{name: "RandomUniformLike", lacks: noRandom},
	{name: "Bernoulli", lacks: noRandom},
	{name: "Multinomial", lacks: "its seed is an attribute, NNAPI's draws depend on seeds at execution"},
	{name: "StringNormalizer", lacks: noStrings},
	{name: "StringConcat", lacks: noStrings},
	{name: "StringSplit", lacks: noStrings},
	{name: "RegexFullMatch", lacks: noStrings},
	{name: "TfIdfVectorizer", lacks: "NNAPI counts no sequences of words"},
	{name: "ImageDecoder", lacks: "NNAPI decodes no pictures"},
	{name: "ArrayFeatureExtractor", domain: "ai.onnx.ml", lacks: noClassic},
	{name: "Binarizer", domain: "ai.onnx.ml", lacks: noClassic},
	{name: "LinearClassifier", domain: "ai.onnx.ml", lacks: noClassic},
	{name: "LinearRegressor", domain: "ai.onnx.ml", lacks: noClassic},
	{name: "TreeEnsembleClassifier", domain: "ai.onnx.ml", lacks: noClassic},
	{name: "TreeEnsembleRegressor", domain: "ai.onnx.ml", lacks: noClassic},
	{name: "Scaler", domain: "ai.onnx.ml", lacks: noClassic},
	{name: "ZipMap", domain: "ai.onnx.ml", lacks: noClassic},
}
