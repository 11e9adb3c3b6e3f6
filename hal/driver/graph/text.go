package graph

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/nn"
)

// The text form of a graph. One line per operand that something names, then one per
// operation, then inputs and outputs:
//
//	%0 SUBGRAPH_INPUT TENSOR_QUANT8_ASYMM [1 4 4 3] scale 0.5 zero 128
//	%5 TEMPORARY_VARIABLE TYPE_OF_AN_EXTENSION [1 16] extension 000000bf0000003f
//	%1 CONSTANT_COPY TENSOR_QUANT8_SYMM_PER_CHANNEL [2 1 1 3] channel 0 [0.1 0.2] data 0102030405ff
//	CONV_2D %0 %1 %2 %3 -> %4 ; of 0
//	inputs %0
//	outputs %4
//
// The number behind "of" is the operation's origin. Text prints and Parse reads it;
// constants longer than maxData bytes are printed as "bytes N", which Parse refuses and
// Outline accepts.

// Text writes the graph. Constants longer than maxData bytes are only counted;
// maxData below 0 writes all.
func (g *Graph) Text(w io.Writer, maxData int) error {
	out := bufio.NewWriter(w)
	if g.Relaxed {
		fmt.Fprintln(out, "relaxed")
	}
	for x, named := range g.named() {
		if named {
			fmt.Fprintf(out, "%%%d %s\n", x, operandText(&g.Operands[x], maxData))
		}
	}
	for i := range g.Operations {
		op := &g.Operations[i]
		fmt.Fprintf(out, "%s%s ->%s ; of %d\n", op.Type, operandList(op.Inputs), operandList(op.Outputs), g.Origin[i])
	}
	fmt.Fprintf(out, "inputs%s\noutputs%s\n", operandList(g.Inputs), operandList(g.Outputs))
	return out.Flush()
}

// named marks the operands that an operation or the signature names.
func (g *Graph) named() []bool {
	named := make([]bool, len(g.Operands))
	mark := func(list []uint32) {
		for _, x := range list {
			named[x] = true
		}
	}
	mark(g.Inputs)
	mark(g.Outputs)
	for i := range g.Operations {
		mark(g.Operations[i].Inputs)
		mark(g.Operations[i].Outputs)
	}
	return named
}

func operandText(o *nn.Operand, maxData int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", o.Lifetime, o.Type)
	if !o.Type.IsScalar() {
		fmt.Fprintf(&b, " %v", o.Dimensions)
	}
	if o.Scale != 0 {
		fmt.Fprintf(&b, " scale %v", o.Scale)
	}
	if o.ZeroPoint != 0 {
		fmt.Fprintf(&b, " zero %d", o.ZeroPoint)
	}
	if c := o.Channel; c != nil {
		fmt.Fprintf(&b, " channel %d %v", c.Dim, c.Scales)
	}
	if len(o.Extension) > 0 {
		fmt.Fprintf(&b, " extension %x", o.Extension)
	}
	if maxData >= 0 && len(o.Data) > maxData {
		fmt.Fprintf(&b, " bytes %d", len(o.Data))
	} else if len(o.Data) > 0 {
		fmt.Fprintf(&b, " data %x", o.Data)
	}
	return b.String()
}

func operandList(list []uint32) string {
	var b strings.Builder
	for _, x := range list {
		fmt.Fprintf(&b, " %%%d", x)
	}
	return b.String()
}

// maxOperands bounds the operand numbers that Parse accepts.
const maxOperands = 1 << 20

// Parse reads the text form. Empty lines and lines that begin with # are comments.
func Parse(text string) (*Graph, error) { return parse(text, false) }

// Outline reads the text form of a graph to look at: constants that are only counted are
// zeros.
func Outline(text string) (*Graph, error) { return parse(text, true) }

func parse(text string, outline bool) (*Graph, error) {
	g := &Graph{}
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := g.parseLine(line, outline); err != nil {
			return nil, fmt.Errorf("graph: line %d: %w", n+1, err)
		}
	}
	return g, g.Check()
}

func (g *Graph) parseLine(line string, outline bool) (err error) {
	first, rest, _ := strings.Cut(line, " ")
	switch {
	case line == "relaxed":
		g.Relaxed = true
	case first == "inputs":
		g.Inputs, err = parseList(rest)
	case first == "outputs":
		g.Outputs, err = parseList(rest)
	case first[0] == '%':
		return g.parseOperand(first, rest, outline)
	default:
		return g.parseOperation(first, rest)
	}
	return err
}

func (g *Graph) parseOperation(name, rest string) error {
	t, ok := nn.ParseOperationType(name)
	if !ok {
		return fmt.Errorf("%q is no operation", name)
	}
	rest, of, ok := strings.Cut(rest, "; of ")
	origin, err := strconv.Atoi(of)
	if !ok || err != nil {
		return fmt.Errorf("%s: no origin (; of N)", name)
	}
	in, out, ok := strings.Cut(rest, "->")
	if !ok {
		return fmt.Errorf("%s: no ->", name)
	}
	op := nn.Operation{Type: t}
	if op.Inputs, err = parseList(in); err != nil {
		return err
	}
	if op.Outputs, err = parseList(out); err != nil {
		return err
	}
	g.Operations, g.Origin = append(g.Operations, op), append(g.Origin, origin)
	return nil
}

func parseList(s string) (list []uint32, err error) {
	for _, f := range strings.Fields(s) {
		x, err := parseName(f)
		if err != nil {
			return nil, err
		}
		list = append(list, x)
	}
	return list, nil
}

func parseName(s string) (uint32, error) {
	x, err := strconv.ParseUint(strings.TrimPrefix(s, "%"), 10, 32)
	if err != nil || s[0] != '%' || x >= maxOperands {
		return 0, fmt.Errorf("%q is no operand (%%0 to %%%d)", s, maxOperands-1)
	}
	return uint32(x), nil
}

func (g *Graph) parseOperand(name, rest string, outline bool) error {
	x, err := parseName(name)
	if err != nil {
		return err
	}
	f := fields(rest)
	if len(f) < 2 {
		return fmt.Errorf("%s: lifetime and type needed", name)
	}
	var o nn.Operand
	var ok bool
	if o.Lifetime, ok = nn.ParseLifetime(f[0]); !ok {
		return fmt.Errorf("%s: %q is no lifetime", name, f[0])
	}
	if o.Type, ok = nn.ParseOperandType(f[1]); !ok {
		return fmt.Errorf("%s: %q is no type", name, f[1])
	}
	if f = f[2:]; len(f) > 0 && f[0][0] == '[' {
		if o.Dimensions, err = numbers(f[0], parseDimension); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		f = f[1:]
	}
	for ; len(f) >= 2; f = f[2:] {
		switch f[0] {
		case "scale":
			o.Scale, err = parseScale(f[1])
		case "zero":
			var z int64
			z, err = strconv.ParseInt(f[1], 10, 32)
			o.ZeroPoint = int32(z)
		case "channel":
			if len(f) < 3 {
				return fmt.Errorf("%s: channel without scales", name)
			}
			o.Channel = &nn.ChannelQuant{}
			if o.Channel.Dim, err = parseDimension(f[1]); err == nil {
				o.Channel.Scales, err = numbers(f[2], parseScale)
			}
			f = f[1:]
		case "extension":
			o.Extension, err = hex.DecodeString(f[1])
		case "data":
			o.Data, err = hex.DecodeString(f[1])
		case "bytes":
			if outline && f[1] == strconv.FormatInt(o.Bytes(), 10) {
				o.Data = make([]byte, o.Bytes())
			} else {
				err = fmt.Errorf("bytes %s is no value that can be read", f[1])
			}
		default:
			err = fmt.Errorf("%q is no property of an operand that can be read", f[0])
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(f) > 0 {
		return fmt.Errorf("%s: %q has no value", name, f[0])
	}
	for int(x) >= len(g.Operands) {
		g.Operands = append(g.Operands, nn.Operand{Lifetime: nn.TemporaryVariable})
	}
	g.Operands[x] = o
	return nil
}

// fields splits at spaces outside of brackets.
func fields(s string) (list []string) {
	for s = strings.TrimSpace(s); s != ""; s = strings.TrimSpace(s) {
		stop := " "
		if s[0] == '[' {
			stop = "]"
		}
		n := strings.Index(s, stop)
		switch {
		case n < 0:
			n = len(s)
		case stop == "]":
			n++
		}
		list, s = append(list, s[:n]), s[n:]
	}
	return list
}

// numbers reads "[a b c]".
func numbers[T any](s string, parse func(string) (T, error)) ([]T, error) {
	list := []T{}
	inside, ok := strings.CutSuffix(strings.TrimPrefix(s, "["), "]")
	if !ok || s[0] != '[' {
		return nil, fmt.Errorf("%q is no list in brackets", s)
	}
	for _, f := range strings.Fields(inside) {
		v, err := parse(f)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func parseDimension(s string) (uint32, error) {
	v, err := strconv.ParseUint(s, 10, 32)
	return uint32(v), err
}

func parseScale(s string) (float32, error) {
	v, err := strconv.ParseFloat(s, 32)
	return float32(v), err
}
