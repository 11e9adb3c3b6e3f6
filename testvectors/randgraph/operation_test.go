package randgraph

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/cpudriver"
	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/hal/driver/graph/pass"
	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/opspec"
	"github.com/nnsoc/nnsoc/refcpu"
	"github.com/nnsoc/nnsoc/testvectors"
)

// The whole of an operation that the project does not have: CLAMPED_SUM, the sum of two
// tensors of one shape, at most a limit. It is described to opspec, implemented in the
// reference, drawn at random and lowered by a driver, and nowhere else.

// The code has a prefix that no extension of the project has.
var opClampedSum = nn.OperationType(nn.ExtensionCode(9, 1))

// 1. opspec: the row, the arguments, the shape rule, the work.

type clampedSum struct {
	A, B, Output uint32
	Dims         []uint32
	Limit        float32
}

func readClampedSum(a *opspec.Args) (clampedSum, error) {
	s := clampedSum{A: a.In("a"), B: a.In("b"), Output: a.Op.Outputs[0]}
	var err error
	if s.Dims, err = a.Dims("a"); err != nil {
		return s, err
	}
	b, err := a.Dims("b")
	if err != nil {
		return s, err
	}
	if !slices.Equal(s.Dims, b) {
		return s, fmt.Errorf("CLAMPED_SUM: shapes %v and %v", s.Dims, b)
	}
	s.Limit, err = a.Float("limit")
	return s, err
}

var rowClampedSum = opspec.Row{
	Op: opClampedSum, Since: opspec.Extension, Extension: "org.example.sums", Types: "F32@extension", MaxRank: 4,
	Args: opspec.Arguments[clampedSum]{Read: readClampedSum, Shapes: func(s *clampedSum) [][]uint32 { return [][]uint32{s.Dims} }},
	Work: opspec.WorkRule{Float: 2},
	Forms: []opspec.Form{
		{Since: opspec.Extension, Inputs: "a:T b:T limit:S", Outputs: "output:T"},
	},
}

// 2. refcpu: the kernel.

func prepareClampedSum(v opspec.View, op *nn.Operation) (refcpu.Kernel, error) {
	s, err := opspec.Read[clampedSum](v, op)
	if err != nil {
		return nil, err
	}
	return func(x *refcpu.Run) error {
		copy(x.Bytes(s.Output), sumsUpTo(s.Limit, x.Bytes(s.A), x.Bytes(s.B)))
		return nil
	}, nil
}

func sumsUpTo(limit float32, a, b []byte) []byte {
	var y []byte
	for k := 0; k < len(a); k += 4 {
		sum := math.Float32frombits(binary.LittleEndian.Uint32(a[k:])) + math.Float32frombits(binary.LittleEndian.Uint32(b[k:]))
		y = binary.LittleEndian.AppendUint32(y, math.Float32bits(min(sum, limit)))
	}
	return y
}

// 3. randgraph: how to draw it, and how exact it must be.

var drawClampedSum = Operation{Op: opClampedSum, Class: Medium, Draw: func(d *Draw, op nn.OperationType, k nn.OperandType) bool {
	a := d.Tensor(k, 1, 4)
	return d.Finish(op, []uint32{a, d.Like(k, a), d.Float(k, d.Real(-1, 1))}, d.Output(op, k, a))
}}

// 4. a driver: one that has CLAMPED_SUM alone, an element per cycle of 1 GHz. With late,
// it clamps an operand instead of the sum.

type toyDriver struct{ late bool }

func (d toyDriver) Passes() pass.Pipeline                { return pass.NewPipeline(pass.ResolveShapes) }
func (d toyDriver) Check(g *graph.Graph) compile.Checker { return toyChecker{g} }
func (d toyDriver) device(t *refcpu.Table) hal.Device {
	return base.New(toyConfig(t), compile.New(d))
}
func toyConfig(t *refcpu.Table) base.Config { return base.Config{Name: "toy", Operations: t.Spec()} }
func (d toyDriver) Lower(g *graph.Graph, _ hal.PrepareOptions) (compile.Executable, error) {
	return toyProgram{g, d.late}, nil
}

type toyChecker struct{ *graph.Graph }

func (c toyChecker) Types(i int) error {
	if t := c.Operations[i].Type; t != opClampedSum {
		return fmt.Errorf("%v is not supported", t)
	}
	return nil
}

func (c toyChecker) Lowers(i int) error {
	_, err := opspec.Read[clampedSum](c.View(), &c.Operations[i])
	return err
}

func (c toyChecker) Defers(i int) error { return fmt.Errorf("the shape must be known") }

type toyProgram struct {
	g    *graph.Graph
	late bool
}

func (p toyProgram) WriteListing(w io.Writer) error { return p.g.Text(w, 16) }
func (p toyProgram) WriteProgram(w io.Writer) error { return p.g.Text(w, -1) }
func (p toyProgram) Bytes() int                     { return 0 }

func (p toyProgram) Run(inputs [][]byte, _ compile.RunOptions) (compile.Run, error) {
	r := &toyRun{g: p.g, values: make([][]byte, len(p.g.Operands))}
	for i := range p.g.Operands {
		r.values[i] = p.g.Operands[i].Data
	}
	for i, x := range p.g.Inputs {
		r.values[x] = inputs[i]
	}
	for i := range p.g.Operations {
		s, err := opspec.Read[clampedSum](p.g.View(), &p.g.Operations[i])
		if err != nil {
			return nil, err
		}
		a, b, limit := r.values[s.A], r.values[s.B], s.Limit
		if p.late {
			a, limit = sumsUpTo(limit, a, make([]byte, len(a))), math.MaxFloat32
		}
		r.values[s.Output] = sumsUpTo(limit, a, b)
		n := int64(len(a) / 4)
		r.stats.Cycles += n
		r.stats.Operations = append(r.stats.Operations, hal.OperationStats{Index: p.g.Origin[i], Cycles: n, TimeFs: n * 1e6, BoundBy: "issue"})
	}
	r.stats.ClockHz, r.stats.LatencyFs = 1e9, r.stats.Cycles*1e6
	r.stats.Stalls = []hal.StallCycles{{Reason: "issue", Cycles: r.stats.Cycles}}
	return r, nil
}

type toyRun struct {
	g      *graph.Graph
	values [][]byte
	stats  hal.Stats
}

func (r *toyRun) Output(i int) ([]byte, []uint32) {
	return r.values[r.g.Outputs[i]], r.g.Operands[r.g.Outputs[i]].Dimensions
}
func (r *toyRun) Stats() hal.Stats { return r.stats }
func (r *toyRun) Release()         {}

// TestNewOperation passes an operation that is in none of the project's tables through validation, shape inference,
// cost, the reference, random graphs, test vectors and two drivers, and shows that an error of a driver in it is found.
func TestNewOperation(t *testing.T) {
	operations := require.V(refcpu.Standard().With(rowClampedSum, prepareClampedSum))(t)
	require.Fails(t, require.Err(operations.With(rowClampedSum, prepareClampedSum)), "an operation came twice")
	require.Check(t, opspec.Lookup(opClampedSum) == nil && !refcpu.Supported(opClampedSum), "the standard tables have changed")
	table := Standard().With(operations, drawClampedSum)
	name := regexp.MustCompile("^" + regexp.QuoteMeta(opClampedSum.String()) + "$")
	generator := require.V(table.generator(1, name))(t)
	c := require.V(generator.Case(0, nil))(t)
	if c.Variants[0].String() != opClampedSum.String()+"/TENSOR_FLOAT32" {
		t.Fatalf("drew %v", c.Variants)
	}

	t.Run("validate", func(t *testing.T) {
		require.Report(t, validate.ModelOf(operations.Spec(), c.Model))
		require.Report(t, validate.Model(c.Model), "the standard table, which does not know the extension")
		unlisted := *c.Model
		unlisted.Extensions = nil
		require.ErrorContains(t, validate.Model(&unlisted), "prefix 9, which the model does not list", "without the extension in the model")
		for _, broken := range []func(g *nn.Subgraph){
			func(g *nn.Subgraph) { g.Operations[0].Inputs = g.Operations[0].Inputs[:2] },
			func(g *nn.Subgraph) { g.Operands[g.Operations[0].Inputs[0]].Dimensions = []uint32{77} },
		} {
			m := *c.Model
			m.Main.Operands, m.Main.Operations = slices.Clone(m.Main.Operands), slices.Clone(m.Main.Operations)
			broken(&m.Main)
			require.Check(t, validate.ModelOf(operations.Spec(), &m) != nil, "a broken model is valid")
		}
	})
	t.Run("shape and cost", func(t *testing.T) {
		open := c.Model.Main
		open.Operands = slices.Clone(open.Operands)
		x := open.Operations[0].Outputs[0]
		want := open.Operands[x].Dimensions
		open.Operands[x].Dimensions = nil
		g, err := operations.Spec().Resolve(&open)
		if err != nil || !slices.Equal(g.Operands[x].Dimensions, want) {
			t.Fatalf("shape %v, %v; want %v", g.Operands[x].Dimensions, err, want)
		}
		w, err := operations.Spec().ModelView(g).Work(&g.Operations[0])
		if n := nn.Elements(want); err != nil || w.Steps != 2*n || w.Read()+w.Weights() != 8*n || w.Written() != 4*n {
			t.Errorf("work %+v, %v", w, err)
		}
	})
	t.Run("drivers", func(t *testing.T) {
		for _, d := range []hal.Device{toyDriver{}.device(operations), cpudriver.New(cpudriver.Config{Operations: operations})} {
			r, err := Run(d, Options{Seed: 3, Count: 40, Table: table, Operations: name, Functional: true})
			if err != nil || r.Failed > 0 || r.Passed < 35 { // the toy declines a limit that a request brings
				t.Errorf("%s: %d of 40 passed, %v", d.Name(), r.Passed, err)
			}
			v := require.V(Vector(c))(t)
			if declined, err := testvectors.RunCaseOf(operations.Spec(), d, v, true); declined != "" || err != nil {
				t.Errorf("%s: as a vector: %s %v", d.Name(), declined, err)
			}
		}
		// With the other operations, most graphs have some that the toy declines.
		r, err := Run(toyDriver{}.device(operations), Options{Seed: 3, Count: 40, Table: table, Functional: true})
		require.Check(t, err == nil && r.Failed == 0 && r.Unsupported >= 20, "among others: %+v, %v", r, err)
	})
	t.Run("fault", func(t *testing.T) {
		r, err := Run(toyDriver{late: true}.device(operations), Options{Seed: 3, Count: 20, Table: table, Operations: name, Functional: true})
		if err != nil || r.Failed == 0 {
			t.Fatalf("the wrong driver passed: %+v, %v", r, err)
		}
		small := r.Failures[0].Small
		if small == nil || len(small.Model.Main.Operations) != 1 || nn.Elements(small.Model.Main.Operands[small.Model.Main.Outputs[0]].Dimensions) != 1 {
			t.Errorf("not shrunk: %+v", small)
		}
		s, err := (toyDriver{}).device(refcpu.Standard()).SupportedOperations(c.Model)
		if err != nil || s[0].OK || s[0].Reason != "extension org.example.sums is not supported" {
			t.Errorf("a device of the standard table answers %v, %v", s, err)
		}
	})
}
