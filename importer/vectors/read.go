package vectors

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"

	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
)

// maxBytes bounds a document after decompression.
const maxBytes = 256 << 20

const format = "nnapi-test-vectors/1"

// File is one document.
type File struct {
	Spec    string // source file, relative to the specs folder
	Name    string // its base name
	Version string // its folder: V1_0 and so on
	Cases   []*Case
}

// Case is a model with one set of inputs and the outputs to expect.
type Case struct {
	Name          string
	MinVersion    string
	Relaxed       bool
	ExpectFailure bool
	// Multinomial is the tolerance of RANDOM_MULTINOMIAL cases, 0 elsewhere.
	Multinomial float32
	// Model is nil when the case states none; Malformed is the reason: an operation or a type that NNAPI does not have,
	// an operand that does not exist.
	Model     *nn.Model
	Malformed error
	Inputs    []Value
	Outputs   []Value
}

// Value is an input or an expected output.
type Value struct {
	Type       nn.OperandType
	Dimensions []uint32
	Data       []byte
	// Ignored: do not compare this output.
	Ignored bool
}

// The JSON document. Optional fields are left out where they hold their defaults.
type (
	document struct {
		Format      string            `json:"format"`
		Spec        string            `json:"spec"`
		SpecName    string            `json:"specName"`
		SpecVersion string            `json:"specVersion"`
		SpecSha256  string            `json:"specSha256"`
		Buffers     [][]byte          `json:"buffers"`
		Cases       []json.RawMessage `json:"cases"`
	}
	// documentCase is read after its document, so that a malformed case leaves
	// the others alone.
	documentCase struct {
		Name          string     `json:"name"`
		MinVersion    string     `json:"minVersion"`
		IsRelaxed     bool       `json:"isRelaxed"`
		ExpectFailure bool       `json:"expectFailure"`
		Multinomial   number     `json:"multinomialTolerance,omitempty"`
		Main          subgraph   `json:"main"`
		Referenced    []subgraph `json:"referenced"`
	}
	subgraph struct {
		Name       *string     `json:"name"`
		Operands   []operand   `json:"operands"`
		Operations []operation `json:"operations"`
		Inputs     []uint32    `json:"inputs"`
		Outputs    []uint32    `json:"outputs"`
	}
	operation struct {
		Type    string   `json:"type"`
		Inputs  []uint32 `json:"inputs"`
		Outputs []uint32 `json:"outputs"`
	}
	operand struct {
		Name       string   `json:"name"`
		Type       string   `json:"type"`
		Dimensions []uint32 `json:"dimensions"`
		Scale      number   `json:"scale,omitempty"`
		ZeroPoint  int32    `json:"zeroPoint,omitempty"`
		Lifetime   string   `json:"lifetime"`
		Channel    *channel `json:"channelQuant,omitempty"`
		IsIgnored  bool     `json:"isIgnored,omitempty"`
		Data       *int     `json:"data,omitempty"`
	}
	channel struct {
		Dim    uint32   `json:"channelDim"`
		Scales []number `json:"scales"`
	}
	// number is written as the shortest text that reads back as the same float32.
	number float64
)

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(n), 'g', -1, 32), nil
}

// Load reads a document from a file, compressed or not.
func Load(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	defer f.Close()
	file, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return file, nil
}

// Read reads a document, compressed or not.
func Read(r io.Reader) (*File, error) {
	br := bufio.NewReader(r)
	var src io.Reader = br
	if magic, _ := br.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(br)
		if err != nil {
			return nil, fmt.Errorf("vectors: %w", err)
		}
		src = z
	}
	text := bufio.NewReader(src)
	if bom, _ := text.Peek(3); string(bom) == "\ufeff" {
		_, _ = text.Discard(3)
	}
	limited := &io.LimitedReader{R: text, N: maxBytes + 1}
	dec := json.NewDecoder(limited)
	dec.DisallowUnknownFields()
	var doc document
	if err := dec.Decode(&doc); err != nil {
		if limited.N <= 0 {
			return nil, fmt.Errorf("vectors: the document exceeds %d bytes", maxBytes)
		}
		return nil, fmt.Errorf("vectors: byte %d: %w", dec.InputOffset(), err)
	}
	switch _, err := dec.Token(); { // reads on to the checksum of a compressed document
	case err == nil:
		return nil, fmt.Errorf("vectors: byte %d: more follows the document", dec.InputOffset())
	case err != io.EOF:
		return nil, fmt.Errorf("vectors: byte %d: %w", dec.InputOffset(), err)
	}
	if doc.Format != format {
		return nil, fmt.Errorf("vectors: format %.40q, %q needed", doc.Format, format)
	}
	file := &File{Spec: doc.Spec, Name: doc.SpecName, Version: doc.SpecVersion}
	for i, text := range doc.Cases {
		file.Cases = append(file.Cases, readCase(&doc, i, text))
		doc.Cases[i] = nil
	}
	return file, nil
}

// readCase reads case i of a document. What is wrong with it is its Malformed.
func readCase(doc *document, i int, text json.RawMessage) *Case {
	var d documentCase
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	err := dec.Decode(&d)
	c := &Case{Name: d.Name, MinVersion: d.MinVersion, Relaxed: d.IsRelaxed, ExpectFailure: d.ExpectFailure,
		Multinomial: float32(d.Multinomial)}
	if c.Name == "" {
		c.Name = fmt.Sprintf("case %d", i)
	}
	if err == nil {
		err = c.build(doc, &d.Main, d.Referenced)
	}
	if err != nil {
		c.Malformed = fmt.Errorf("vectors: case %d: %w", i, err)
	}
	return c
}

// build fills in the model and the values of the case.
func (c *Case) build(doc *document, main *subgraph, referenced []subgraph) error {
	m := &nn.Model{Name: c.Name, Relaxed: c.Relaxed}
	if err := main.convert(doc, &m.Main); err != nil {
		return fmt.Errorf("main: %w", err)
	}
	m.Referenced = make([]nn.Subgraph, len(referenced))
	if len(referenced) == 0 {
		m.Referenced = nil
	}
	for i := range referenced {
		if err := referenced[i].convert(doc, &m.Referenced[i]); err != nil {
			return fmt.Errorf("referenced %d: %w", i, err)
		}
	}
	values := func(what string, list []uint32) ([]Value, error) {
		out := make([]Value, len(list))
		for i, x := range list {
			if uint64(x) >= uint64(len(main.Operands)) {
				return nil, fmt.Errorf("%s %d is operand %d of %d", what, i, x, len(main.Operands))
			}
			o := &m.Main.Operands[x]
			out[i] = Value{Type: o.Type, Dimensions: o.Dimensions, Data: o.Data, Ignored: main.Operands[x].IsIgnored}
		}
		for _, x := range list {
			m.Main.Operands[x].Data = nil
		}
		return out, nil
	}
	var err error
	if c.Inputs, err = values("input", main.Inputs); err != nil {
		return err
	}
	if c.Outputs, err = values("output", main.Outputs); err != nil {
		return err
	}
	opspec.Standard().Declare(m)
	c.Model = m
	return nil
}

// convert fills g. Operand indexes of operations are left to validation.
func (s *subgraph) convert(doc *document, g *nn.Subgraph) error {
	*g = nn.Subgraph{Inputs: s.Inputs, Outputs: s.Outputs,
		Operands: make([]nn.Operand, len(s.Operands)), Operations: make([]nn.Operation, len(s.Operations))}
	if s.Name != nil {
		g.Name = *s.Name
	}
	for i := range s.Operands {
		if err := s.Operands[i].convert(doc, &g.Operands[i]); err != nil {
			return fmt.Errorf("operand %d: %w", i, err)
		}
	}
	for i := range s.Operations {
		o := &s.Operations[i]
		t, ok := nn.ParseOperationType(o.Type)
		if !ok {
			return fmt.Errorf("operation %d: NNAPI has no operation %.60q", i, o.Type)
		}
		g.Operations[i] = nn.Operation{Type: t, Inputs: o.Inputs, Outputs: o.Outputs}
	}
	return nil
}

func (d *operand) convert(doc *document, o *nn.Operand) error {
	var ok bool
	*o = nn.Operand{Name: d.Name, Dimensions: d.Dimensions, Scale: float32(d.Scale), ZeroPoint: d.ZeroPoint}
	if o.Type, ok = nn.ParseOperandType(d.Type); !ok {
		return fmt.Errorf("no operand type %.60q", d.Type)
	}
	if o.Lifetime, ok = nn.ParseLifetime(d.Lifetime); !ok {
		return fmt.Errorf("no lifetime %.60q", d.Lifetime)
	}
	if math.IsInf(float64(o.Scale), 0) {
		return fmt.Errorf("scale %v is no float32", d.Scale)
	}
	if len(o.Dimensions) == 0 {
		o.Dimensions = nil
	}
	if c := d.Channel; c != nil {
		o.Channel = &nn.ChannelQuant{Dim: c.Dim, Scales: make([]float32, len(c.Scales))}
		for i, s := range c.Scales {
			o.Channel.Scales[i] = float32(s)
		}
	}
	if d.Data != nil {
		if *d.Data < 0 || *d.Data >= len(doc.Buffers) {
			return fmt.Errorf("data is buffer %d of %d", *d.Data, len(doc.Buffers))
		}
		o.Data = doc.Buffers[*d.Data]
	}
	return nil
}
