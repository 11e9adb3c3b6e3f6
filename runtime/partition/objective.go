package partition

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
)

// Expression is an objective made of terms: sums, products, powers, min and max of latency and energy with factors that are
// not negative, so that it never falls when one of them rises. Searches bound it by bounds of its terms.
type Expression struct {
	text  string
	value func(latencyUS, energyUJ float64) float64
}

// String is the text of the expression.
func (x *Expression) String() string { return x.text }

// Terms are what an Expression is made of: microseconds, microjoules and their product.
var terms = map[string]func(latencyUS, energyUJ float64) float64{
	"latency": func(l, _ float64) float64 { return l },
	"energy":  func(_, e float64) float64 { return e },
	"edp":     func(l, e float64) float64 { return l * e },
}

// elsewhere are terms that somebody may look for, and why a plan of one network has none of them.
var elsewhere = map[string]string{
	"p99":    "invocations of one network one after the other take alike long; p99_ms is a term of nnsoc schedule --objective, where networks disturb each other",
	"misses": "one network without deadlines misses none; missed is a term of nnsoc schedule --objective",
	"memory": "weights and values lie in the memory that all engines share, so that every plan needs the same (tensors of nnsoc run --json)",
}

// Elsewhere reports whether a term is one of other commands, which ParseExpression names.
func Elsewhere(term string) bool { return elsewhere[term] != "" }

// TermNames lists the terms of an Expression.
func TermNames() []string { return []string{"latency", "energy", "edp"} }

// maxExpression bounds the bytes of an expression.
const maxExpression = 1 << 10

// ParseExpression reads an expression such as "0.7*latency + 0.3*energy" or "max(latency, 2*energy)".
func ParseExpression(text string) (*Expression, error) {
	fail := func(format string, args ...any) (*Expression, error) {
		return nil, fmt.Errorf("partition: objective %q: %s", text, fmt.Sprintf(format, args...))
	}
	if len(text) > maxExpression {
		return nil, fmt.Errorf("partition: an objective of %d bytes, at most %d", len(text), maxExpression)
	}
	tree, err := parser.Parse(text)
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return fail("%s", first)
	}
	value, used, err := compile(tree.Node)
	switch {
	case err != nil:
		return fail("%v", err)
	case !used:
		return fail("it has none of the terms %s", strings.Join(TermNames(), ", "))
	}
	return &Expression{text, value}, nil
}

// compile makes a function of a node, and reports whether it has a term.
func compile(n ast.Node) (value func(l, e float64) float64, used bool, err error) {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return number(float64(n.Value))
	case *ast.FloatNode:
		return number(n.Value)
	case *ast.IdentifierNode:
		if f := terms[n.Value]; f != nil {
			return f, true, nil
		}
		if where, ok := elsewhere[n.Value]; ok {
			return nil, false, fmt.Errorf("no term %q: %s; there are %s", n.Value, where, strings.Join(TermNames(), ", "))
		}
		return nil, false, fmt.Errorf("no term %q; there are %s", n.Value, strings.Join(TermNames(), ", "))
	case *ast.BinaryNode:
		return compileBinary(n)
	case *ast.CallNode:
		if f, ok := n.Callee.(*ast.IdentifierNode); ok {
			return compileCall(f.Value, n.Arguments)
		}
	case *ast.BuiltinNode:
		return compileCall(n.Name, n.Arguments)
	}
	return nil, false, fmt.Errorf("%q is neither a number, a term, nor one of + * / ^ min max", n)
}

func number(x float64) (func(l, e float64) float64, bool, error) {
	if math.IsInf(x, 0) {
		return nil, false, fmt.Errorf("%v is no finite number", x)
	}
	return func(_, _ float64) float64 { return x }, false, nil
}

// operators by symbol; operands are not negative.
var operators = map[string]func(x, y float64) float64{
	"+": func(x, y float64) float64 { return x + y }, "*": func(x, y float64) float64 { return x * y },
	"/": func(x, y float64) float64 { return x / y }, "^": math.Pow, "**": math.Pow,
	"min": math.Min, "max": math.Max,
}

func compileBinary(n *ast.BinaryNode) (func(l, e float64) float64, bool, error) {
	op := operators[n.Operator]
	if op == nil {
		return nil, false, fmt.Errorf("operator %q; there are + * / ^, since an objective must not fall when a term rises", n.Operator)
	}
	x, left, err := compile(n.Left)
	if err != nil {
		return nil, false, err
	}
	y, right, err := compile(n.Right)
	switch {
	case err != nil:
		return nil, false, err
	case right && n.Operator != "+" && n.Operator != "*":
		return nil, false, fmt.Errorf("%q has a term behind %s, want a number", n, n.Operator)
	case n.Operator == "/" && y(0, 0) <= 0:
		return nil, false, fmt.Errorf("%q divides by 0", n)
	}
	return func(l, e float64) float64 { return op(x(l, e), y(l, e)) }, left || right, nil
}

func compileCall(name string, args []ast.Node) (func(l, e float64) float64, bool, error) {
	if !slices.Contains([]string{"min", "max"}, name) || len(args) < 2 {
		return nil, false, fmt.Errorf("function %s of %d values; there are min and max of two or more", name, len(args))
	}
	var l []func(l, e float64) float64
	used := false
	for _, a := range args {
		f, has, err := compile(a)
		if err != nil {
			return nil, false, err
		}
		l, used = append(l, f), used || has
	}
	op := operators[name]
	return func(latency, energy float64) float64 {
		y := l[0](latency, energy)
		for _, f := range l[1:] {
			y = op(y, f(latency, energy))
		}
		return y
	}, used, nil
}

// at is the value of a latency in femtoseconds and an energy in picojoules.
func (x *Expression) at(latencyFs, energyPJ float64) float64 {
	if v := x.value(latencyFs/1e9, energyPJ/1e6); !math.IsNaN(v) {
		return v
	}
	return math.Inf(1)
}

// slopes are the weights under which sums of costs rise and fall as the expression does near a latency and an energy.
func (x *Expression) slopes(latencyFs, energyPJ float64) Cost {
	const step = 1e-3
	here := x.at(latencyFs, energyPJ)
	return Cost{
		TimeFs:   (x.at(latencyFs*(1+step), energyPJ) - here) / (latencyFs * step),
		EnergyPJ: (x.at(latencyFs, energyPJ*(1+step)) - here) / (energyPJ * step),
	}
}

// Score is the value of the problem's objective.
func (p *Problem) Score(latencyFs, energyPJ, intervalFs float64) float64 {
	if p.Expression != nil {
		return p.Expression.at(latencyFs, energyPJ)
	}
	return p.Objective.Score(latencyFs, energyPJ, intervalFs)
}

// ObjectiveName is the name of the problem's objective, or the text of its expression.
func (p *Problem) ObjectiveName() string {
	if p.Expression != nil {
		return p.Expression.String()
	}
	return p.Objective.String()
}
