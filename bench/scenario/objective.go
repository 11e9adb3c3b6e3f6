package scenario

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
)

// maxObjective bounds the bytes of an objective.
const maxObjective = 1000

// objectiveValues are what an objective may contain, of a prediction.
type objectiveValues struct {
	Missed   float64 `expr:"missed"`    // deadlines
	MeanMS   float64 `expr:"mean_ms"`   // latency
	P99MS    float64 `expr:"p99_ms"`    // latency
	EnergyUJ float64 `expr:"energy_uj"` // of all jobs
	SpanMS   float64 `expr:"span_ms"`   // to the end of the last job
}

// ObjectiveNames are the variables of an objective.
var ObjectiveNames = []string{"missed", "mean_ms", "p99_ms", "energy_uj", "span_ms"}

// ParseObjective compiles an expression over the figures of a prediction, such as "1000*missed + p99_ms" or
// "mean_ms*energy_uj", which strategies that search make small. What is no number is as bad as can be.
func ParseObjective(text string) (func(*Prediction) float64, error) {
	if len(text) > maxObjective {
		return nil, fmt.Errorf("scenario: an objective of %d bytes, at most %d", len(text), maxObjective)
	}
	program, err := compileObjective(text)
	if err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return nil, fmt.Errorf("scenario: objective %q: %s; it has %s", text, first, strings.Join(ObjectiveNames, ", "))
	}
	var machine vm.VM
	score := func(x *Prediction) float64 {
		v, err := machine.Run(program, objectiveValues{float64(x.Missed), float64(x.MeanFs) / femtoseconds, float64(x.P99Fs) / femtoseconds, x.EnergyPJ / 1e6, float64(x.SpanFs) / femtoseconds})
		f, ok := v.(float64)
		if err != nil || !ok || math.IsNaN(f) {
			return math.Inf(1)
		}
		return f
	}
	return score, nil
}

func compileObjective(text string) (*vm.Program, error) {
	return expr.Compile(text, expr.Env(objectiveValues{}), expr.AsFloat64(), expr.DisableAllBuiltins(), expr.EnableBuiltin("max"), expr.EnableBuiltin("min"), expr.EnableBuiltin("abs"))
}

// Rises reports whether an expression of ParseObjective never falls when a figure of the prediction rises: sums, products, powers, maxima
// and minima of figures and of numbers that are not negative, divided by such numbers.
func Rises(text string) bool {
	program, err := compileObjective(text)
	return err == nil && rises(program.Node())
}

func rises(n ast.Node) bool {
	number := func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.IntegerNode:
			return x.Value >= 0
		case *ast.FloatNode:
			return x.Value >= 0
		}
		return false
	}
	switch x := n.(type) {
	case *ast.IdentifierNode:
		return true
	case *ast.BinaryNode:
		switch x.Operator {
		case "+", "*":
			return rises(x.Left) && rises(x.Right)
		case "/", "^", "**":
			return rises(x.Left) && number(x.Right)
		}
	case *ast.BuiltinNode:
		return x.Name != "abs" && !slices.ContainsFunc(x.Arguments, func(n ast.Node) bool { return !rises(n) })
	case *ast.CallNode: // what adds AsFloat64
		return false
	}
	return number(n)
}

// Front marks the summaries that no other is better than in missed deadlines, energy and mean latency, and as good in
// all.
func Front(list []*Summary) {
	for _, x := range list {
		x.Pareto = true
		for _, y := range list {
			as := y.Missed <= x.Missed && y.EnergyUJ <= x.EnergyUJ && y.MeanMS <= x.MeanMS
			if as && (y.Missed < x.Missed || y.EnergyUJ < x.EnergyUJ || y.MeanMS < x.MeanMS) {
				x.Pareto = false
			}
		}
	}
}
