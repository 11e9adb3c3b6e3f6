package vectors

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/nnsoc/nnsoc/nn"
)

// ErrNoModel is the failure to write a malformed case.
var ErrNoModel = errors.New("the case has no model")

// Write writes f as an uncompressed document of the corpus format. Equal values are stored once. Read restores f from
// it, but for the open shapes of main inputs, which get those of their values: the format has no place for both. The
// order of cases, operands and buffers is kept, so equal files are written as equal bytes.
func Write(w io.Writer, f *File) error {
	e := encoder{index: map[string]int{}}
	doc := outDocument{Format: format, Spec: f.Spec, SpecName: f.Name, SpecVersion: f.Version,
		Buffers: []string{}, Cases: []outCase{}}
	for _, c := range f.Cases {
		if c.Model == nil {
			return fmt.Errorf("vectors: case %s: %w: %v", c.Name, ErrNoModel, c.Malformed)
		}
		o := outCase{Name: c.Name, MinVersion: c.MinVersion, IsRelaxed: c.Relaxed, ExpectFailure: c.ExpectFailure,
			Referenced: []outSubgraph{}}
		if c.Multinomial > 0 {
			o.Multinomial = decimal(c.Multinomial)
		}
		var err error
		if o.Main, err = e.subgraph(&c.Model.Main, c); err != nil {
			return fmt.Errorf("vectors: case %s: %w", c.Name, err)
		}
		for i := range c.Model.Referenced {
			g, err := e.subgraph(&c.Model.Referenced[i], nil)
			if err != nil {
				return fmt.Errorf("vectors: case %s: referenced %d: %w", c.Name, i, err)
			}
			o.Referenced = append(o.Referenced, g)
		}
		doc.Cases = append(doc.Cases, o)
	}
	for _, b := range e.buffers {
		doc.Buffers = append(doc.Buffers, base64.StdEncoding.EncodeToString(b))
	}
	bw := bufio.NewWriter(w)
	if err := json.NewEncoder(bw).Encode(&doc); err != nil {
		return fmt.Errorf("vectors: %w", err)
	}
	if err := bw.Flush(); err != nil {
		return fmt.Errorf("vectors: %w", err)
	}
	return nil
}

// The document as it is written: optional fields are left out when they hold
// their defaults.
type (
	outDocument struct {
		Format      string    `json:"format"`
		Spec        string    `json:"spec"`
		SpecName    string    `json:"specName"`
		SpecVersion string    `json:"specVersion"`
		SpecSha256  string    `json:"specSha256"`
		Buffers     []string  `json:"buffers"`
		Cases       []outCase `json:"cases"`
	}
	outCase struct {
		Name          string        `json:"name"`
		MinVersion    string        `json:"minVersion"`
		IsRelaxed     bool          `json:"isRelaxed"`
		ExpectFailure bool          `json:"expectFailure"`
		Multinomial   json.Number   `json:"multinomialTolerance,omitempty"`
		Main          outSubgraph   `json:"main"`
		Referenced    []outSubgraph `json:"referenced"`
	}
	outSubgraph struct {
		Name       *string        `json:"name"`
		Operands   []outOperand   `json:"operands"`
		Operations []outOperation `json:"operations"`
		Inputs     []uint32       `json:"inputs"`
		Outputs    []uint32       `json:"outputs"`
	}
	outOperation struct {
		Type    string   `json:"type"`
		Inputs  []uint32 `json:"inputs"`
		Outputs []uint32 `json:"outputs"`
	}
	outOperand struct {
		Name       string      `json:"name"`
		Type       string      `json:"type"`
		Dimensions []uint32    `json:"dimensions"`
		Scale      json.Number `json:"scale,omitempty"`
		ZeroPoint  int32       `json:"zeroPoint,omitempty"`
		Lifetime   string      `json:"lifetime"`
		Channel    *outChannel `json:"channelQuant,omitempty"`
		IsIgnored  bool        `json:"isIgnored,omitempty"`
		Data       *int        `json:"data,omitempty"`
	}
	outChannel struct {
		Dim    uint32        `json:"channelDim"`
		Scales []json.Number `json:"scales"`
	}
)

// encoder collects the buffers of a document.
type encoder struct {
	buffers [][]byte
	index   map[string]int
}

func (e *encoder) buffer(b []byte) *int {
	i, ok := e.index[string(b)]
	if !ok {
		i = len(e.buffers)
		e.index[string(b)] = i
		e.buffers = append(e.buffers, b)
	}
	return &i
}

// decimal is the shortest text that reads back as the same float32.
func decimal(f float32) json.Number {
	return json.Number(strconv.FormatFloat(float64(f), 'g', -1, 32))
}

// subgraph converts g. The values of a main graph's inputs and outputs are those of its case; c is nil for a referenced
// graph.
func (e *encoder) subgraph(g *nn.Subgraph, c *Case) (outSubgraph, error) {
	s := outSubgraph{Operands: make([]outOperand, len(g.Operands)), Operations: make([]outOperation, len(g.Operations)),
		Inputs: list(g.Inputs), Outputs: list(g.Outputs)}
	if g.Name != "" {
		s.Name = &g.Name
	}
	for i := range g.Operands {
		if err := e.operand(&g.Operands[i], &s.Operands[i]); err != nil {
			return s, fmt.Errorf("operand %d: %w", i, err)
		}
	}
	for i, o := range g.Operations {
		if !o.Type.Valid() {
			return s, fmt.Errorf("operation %d has the code %d", i, int32(o.Type))
		}
		s.Operations[i] = outOperation{o.Type.String(), list(o.Inputs), list(o.Outputs)}
	}
	if c == nil {
		return s, nil
	}
	for _, io := range []struct {
		what   string
		at     []uint32
		values []Value
	}{{"inputs", g.Inputs, c.Inputs}, {"outputs", g.Outputs, c.Outputs}} {
		if len(io.at) != len(io.values) {
			return s, fmt.Errorf("%d %s have %d values", len(io.at), io.what, len(io.values))
		}
		for i, v := range io.values {
			if uint64(io.at[i]) >= uint64(len(s.Operands)) {
				return s, fmt.Errorf("%s name operand %d of %d", io.what, io.at[i], len(s.Operands))
			}
			o := &s.Operands[io.at[i]]
			o.IsIgnored = v.Ignored
			if m := &g.Operands[io.at[i]]; !m.Known() && v.Dimensions != nil {
				o.Dimensions = v.Dimensions
			}
			if v.Data != nil {
				o.Data = e.buffer(v.Data)
			}
		}
	}
	return s, nil
}

func (e *encoder) operand(o *nn.Operand, to *outOperand) error {
	if !o.Type.Valid() {
		return fmt.Errorf("type %d has no name", int32(o.Type))
	}
	*to = outOperand{Name: o.Name, Type: o.Type.String(), Dimensions: list(o.Dimensions), ZeroPoint: o.ZeroPoint,
		Lifetime: o.Lifetime.String()}
	number := func(f float32) (json.Number, error) {
		if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
			return "", fmt.Errorf("scale %v is no number", f)
		}
		return decimal(f), nil
	}
	var err error
	if o.Scale != 0 {
		if to.Scale, err = number(o.Scale); err != nil {
			return err
		}
	}
	if c := o.Channel; c != nil {
		to.Channel = &outChannel{Dim: c.Dim, Scales: make([]json.Number, len(c.Scales))}
		for i, s := range c.Scales {
			if to.Channel.Scales[i], err = number(s); err != nil {
				return err
			}
		}
	}
	if o.Data != nil {
		to.Data = e.buffer(o.Data)
	}
	return nil
}

// list makes an empty list of none: the format has no null.
func list(x []uint32) []uint32 {
	if x == nil {
		return []uint32{}
	}
	return x
}
