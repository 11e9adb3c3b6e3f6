package vectors

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/nnsoc/nnsoc/nn"
)

// ErrNoModel is the failure to write a malformed case.
var ErrNoModel = errors.New("the case has no model")

// Write writes f as an uncompressed document of the corpus format. Equal values are stored once. Read restores f from
// it, but for the open shapes of main inputs, which get those of their values: the format has no place for both. The
// order of cases, operands and buffers is kept, so equal files are written as equal bytes.
func Write(w io.Writer, f *File) error {
	e := encoder{buffers: [][]byte{}, index: map[string]int{}}
	doc := document{Format: format, Spec: f.Spec, SpecName: f.Name, SpecVersion: f.Version, Cases: []json.RawMessage{}}
	for _, c := range f.Cases {
		if c.Model == nil {
			return fmt.Errorf("vectors: case %s: %w: %v", c.Name, ErrNoModel, c.Malformed)
		}
		o := documentCase{Name: c.Name, MinVersion: c.MinVersion, IsRelaxed: c.Relaxed, ExpectFailure: c.ExpectFailure,
			Multinomial: number(max(c.Multinomial, 0)), Referenced: []subgraph{}}
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
		text, err := json.Marshal(&o)
		if err != nil {
			return fmt.Errorf("vectors: case %s: %w", c.Name, err)
		}
		doc.Cases = append(doc.Cases, text)
	}
	doc.Buffers = e.buffers
	bw := bufio.NewWriter(w)
	if err := json.NewEncoder(bw).Encode(&doc); err != nil {
		return fmt.Errorf("vectors: %w", err)
	}
	if err := bw.Flush(); err != nil {
		return fmt.Errorf("vectors: %w", err)
	}
	return nil
}

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

// subgraph converts g. The values of a main graph's inputs and outputs are those of its case; c is nil for a referenced
// graph.
func (e *encoder) subgraph(g *nn.Subgraph, c *Case) (subgraph, error) {
	s := subgraph{Operands: make([]operand, len(g.Operands)), Operations: make([]operation, len(g.Operations)),
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
		s.Operations[i] = operation{o.Type.String(), list(o.Inputs), list(o.Outputs)}
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

func (e *encoder) operand(o *nn.Operand, to *operand) error {
	if !o.Type.Valid() {
		return fmt.Errorf("type %d has no name", int32(o.Type))
	}
	*to = operand{Name: o.Name, Type: o.Type.String(), Dimensions: list(o.Dimensions), Scale: number(o.Scale), ZeroPoint: o.ZeroPoint,
		Lifetime: o.Lifetime.String()}
	scales := []float32{o.Scale}
	if c := o.Channel; c != nil {
		scales = append(scales, c.Scales...)
		to.Channel = &channel{Dim: c.Dim, Scales: make([]number, len(c.Scales))}
		for i, s := range c.Scales {
			to.Channel.Scales[i] = number(s)
		}
	}
	for _, s := range scales {
		if math.IsNaN(float64(s)) || math.IsInf(float64(s), 0) {
			return fmt.Errorf("scale %v is no number", s)
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
