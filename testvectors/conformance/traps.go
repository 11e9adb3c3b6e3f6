package conformance

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
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
	"github.com/nnsoc/nnsoc/testvectors/conformance/traps"
	"github.com/nnsoc/nnsoc/testvectors/nnapi"
)

// complaints are the rows of section H that document what users of phones met in a trap.
var complaints = map[string]string{"I1-8": "H3-3", "I1-21": "H3-5", "I1-31": "H3-11", "I2-7": "H3-4", "I3-7": "H3-2"}

// trapChecks has a check for each row of section I that specifications prove, and those that need more than
// one request.
func trapChecks() []check.Check {
	titles := map[string]string{}
	for _, r := range Rows() {
		titles[r.ID] = r.Title
	}
	list, err := traps.All()
	if err != nil {
		panic(err) // they are part of the program
	}
	var checks []check.Check
	seen := map[string]bool{}
	for _, x := range list {
		if seen[x.Row] {
			continue
		}
		seen[x.Row] = true
		rows := []string{x.Row}
		if c := complaints[x.Row]; c != "" {
			rows = append(rows, c)
		}
		if x.Version > 0 {
			checks = append(checks, check.Check{Name: "versions: " + titles[x.Row], Rows: rows, Run: func(t *check.T) { versionsOf(t, x.Row) }})
			continue
		}
		checks = append(checks, check.Check{Name: "trap: " + titles[x.Row], Rows: rows, EachDevice: true, InProcess: true, Run: func(t *check.T) { trapsOf(t, x.Row) }})
	}
	return append(checks,
		check.Check{Name: "any byte but 0 is true", Rows: []string{"I2-18"}, Run: anyTrue, EachDevice: true},
		check.Check{Name: "hashes of projections", Rows: []string{"I3-12"}, Run: projections, EachDevice: true},
		check.Check{Name: "seeds of random draws", Rows: []string{"I3-13"}, Run: draws, EachDevice: true},
	)
}

// trapsOf runs the cases of a row. Floats may differ as generated tests allow, codes and integers not at all.
func trapsOf(t *check.T, row string) {
	t.InDriver()
	list := check.V(traps.All())(t, "specifications")
	declined, ran := "", 0
	for _, x := range list {
		c := x.Case
		switch {
		case x.Row != row:
			continue
		case c.Model == nil || validate.Model(c.Model) != nil:
			if !c.ExpectFailure {
				t.Errorf("%s: %v %v", c.Name, c.Malformed, validate.Model(c.Model))
			} else if c.Model != nil {
				_, err := t.Device.SupportedOperations(c.Model)
				t.Status(c.Name+": getSupportedOperations", err, hal.InvalidArgument)
				_, err = t.Device.PrepareModel(c.Model, hal.PrepareOptions{})
				t.Status(c.Name+": prepareModel", err, hal.InvalidArgument)
			}
			continue
		}
		why, err := testvectors.RunCase(t.Device, c, false)
		t.Contained(c.Name, err)
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
		} else if why != "" {
			declined = why
			continue
		}
		ran++
		if !c.ExpectFailure && slices.ContainsFunc(c.Outputs, func(v vectors.Value) bool { return exact(v.Type) }) {
			exactly(t, c)
		}
	}
	if ran == 0 && declined != "" {
		t.Skipf("%s declines %s", t.Device.Name(), declined)
	}
}

// versionsOf checks the lowest version that can express each model of a row.
func versionsOf(t *check.T, row string) {
	list := check.V(traps.All())(t, "specifications")
	for _, x := range list {
		if x.Row != row {
			continue
		}
		t.OK(x.Case.Name, validate.Model(x.Case.Model))
		want := compat.Version(x.Version - 10)
		check.Equal(t, x.Case.Name, compat.ModelVersion(x.Case.Model), want)
		for v := compat.V1_0; v <= compat.V1_3; v++ {
			ok, _ := compat.CompliantWith(v, x.Case.Model)
			check.Equal(t, fmt.Sprint(x.Case.Name, " in ", v), ok, v >= want)
		}
	}
}

// exact reports a type whose values tests allow to differ by a step, and devices compute to the bit.
func exact(typ nn.OperandType) bool {
	return typ.IsQuant8() || typ == nn.TensorQuant16Asymm || typ == nn.TensorInt32
}

// exactly runs a case and compares its bytes.
func exactly(t *check.T, c *vectors.Case) {
	b := &hal.Buffers{}
	for _, v := range c.Inputs {
		b.Inputs = append(b.Inputs, v.Data)
	}
	for _, v := range c.Outputs {
		b.Outputs = append(b.Outputs, make([]byte, len(v.Data)))
	}
	_, err := hal.Execute(t.Prepare(c.Model, hal.PrepareOptions{}), b)
	t.OK(c.Name, err)
	for i, v := range c.Outputs {
		if exact(v.Type) && !v.Ignored && !bytes.Equal(b.Outputs[i], v.Data) {
			t.Errorf("%s: output %d is %v, want %v", c.Name, i, b.Outputs[i], v.Data)
		}
	}
}

// anyTrue computes with bytes of BOOL8 that are neither 0 nor 1.
func anyTrue(t *check.T) {
	b8 := func(l nn.Lifetime) nn.Operand { return check.Tensor(nn.TensorBool8, l, 4) }
	m := &nn.Model{Name: "select", Main: nn.Subgraph{
		Operands: []nn.Operand{b8(nn.SubgraphInput), check.Tensor(nn.TensorFloat32, nn.SubgraphInput, 4), check.Tensor(nn.TensorFloat32, nn.SubgraphInput, 4), check.Tensor(nn.TensorFloat32, nn.SubgraphOutput, 4),
			b8(nn.SubgraphOutput)},
		Operations: []nn.Operation{
			{Type: nn.OpSelect, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3}},
			{Type: nn.OpLogicalNot, Inputs: []uint32{0}, Outputs: []uint32{4}},
		},
		Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3, 4},
	}}
	t.RequireSupport(m)
	b := &hal.Buffers{Inputs: [][]byte{{0, 1, 2, 255}, check.Floats(1, 1, 1, 1), check.Floats(2, 2, 2, 2)}, Outputs: [][]byte{make([]byte, 16), make([]byte, 4)}}
	_, err := hal.Execute(t.Prepare(m, hal.PrepareOptions{}), b)
	t.OK("execute", err)
	t.Same("SELECT", b.Outputs[0], check.Floats(2, 1, 1, 1))
	t.Same("LOGICAL_NOT", b.Outputs[1], []byte{1, 0, 0, 0})
}

// projections runs the published cases of LSH_PROJECTION, and a sparse one of three hashes of four bits, whose values
// are 16 apart.
func projections(t *check.T) {
	ran := 0
	for _, name := range nnapi.Names() {
		if !strings.Contains(name, "lsh_projection") {
			continue
		}
		f := check.V(testvectors.Document(name))(t, name)
		for _, c := range f.Cases {
			if !testvectors.AsSpecified(c) {
				continue
			}
			declined := check.V(testvectors.RunCase(t.Device, c, true))(t, c.Name)
			if declined != "" {
				t.Skipf("%s declines %s", t.Device.Name(), declined)
			}
			ran++
		}
	}
	if ran < 3 {
		t.Errorf("%d published cases", ran)
	}
	const hashes, bits = 3, 4
	project := func(kind int32, weight nn.Operand) error {
		m := &nn.Model{Name: "projection", Main: nn.Subgraph{
			Operands: []nn.Operand{
				check.Constant(nn.TensorFloat32, check.Floats(.1, .2, .3, .4, .5, .6, .7, .8, .9, -.1, -.2, -.3), hashes, bits),
				check.Tensor(nn.TensorInt32, nn.SubgraphInput, 2), weight, check.Int32Scalar(kind), check.Tensor(nn.TensorInt32, nn.SubgraphOutput, hashes),
			},
			Operations: []nn.Operation{{Type: nn.OpLshProjection, Inputs: []uint32{0, 1, 2, 3}, Outputs: []uint32{4}}},
			Inputs:     []uint32{1}, Outputs: []uint32{4},
		}}
		const dense = 2
		if kind == dense {
			m.Main.Operands[4].Dimensions = []uint32{hashes * bits}
		}
		p, err := t.Device.PrepareModel(m, hal.PrepareOptions{})
		if err != nil {
			return err
		}
		b := &hal.Buffers{Inputs: [][]byte{binary.LittleEndian.AppendUint64(nil, 7<<32|5)}, Outputs: [][]byte{make([]byte, m.Main.Operands[4].Bytes())}}
		if _, err = hal.Execute(p, b); err != nil || kind == dense {
			return err
		}
		for i := range hashes {
			if v := binary.LittleEndian.Uint32(b.Outputs[0][4*i:]); v>>bits != uint32(i) {
				t.Errorf("hash %d is %d, not within %d to %d", i, v, i<<bits, (i+1)<<bits-1)
			}
		}
		return nil
	}
	omitted := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{0}, Lifetime: nn.NoValue}
	weights := check.Constant(nn.TensorFloat32, check.Floats(1, 1), 2)
	t.OK("sparse without weights", project(3, omitted))
	t.OK("dense with weights", project(2, weights))
	if project(4, weights) == nil {
		t.Errorf("there is a projection of type 4")
	}
}

// draws: the same seeds repeat, others do not; seeds of 0 are any (D-1221), and draw by the probabilities too.
func draws(t *check.T) {
	const count = 4096
	seeded := func(a, b uint32) []byte {
		m := &nn.Model{Name: "draw", Main: nn.Subgraph{
			Operands: []nn.Operand{check.Tensor(nn.TensorFloat32, nn.SubgraphInput, 1, 2), check.Int32Scalar(count),
				check.Constant(nn.TensorInt32, binary.LittleEndian.AppendUint64(nil, uint64(b)<<32|uint64(a)), 2), check.Tensor(nn.TensorInt32, nn.SubgraphOutput, 1, count)},
			Operations: []nn.Operation{{Type: nn.OpRandomMultinomial, Inputs: []uint32{0, 1, 2}, Outputs: []uint32{3}}},
			Inputs:     []uint32{0}, Outputs: []uint32{3},
		}}
		t.RequireSupport(m)
		x := &hal.Buffers{Inputs: [][]byte{check.Floats(0, float32(math.Log(3)))}, Outputs: [][]byte{make([]byte, 4*count)}}
		_, err := hal.Execute(t.Prepare(m, hal.PrepareOptions{}), x)
		t.OK("execute", err)
		if n := bytes.Count(x.Outputs[0], []byte{1}); n < count*70/100 || n > count*80/100 {
			t.Errorf("seeds %d and %d: %d of %d draws have a class of probability 3/4", a, b, n, count)
		}
		return x.Outputs[0]
	}
	t.Same("the same seeds", seeded(3, 4), seeded(3, 4))
	for _, other := range [][2]uint32{{4, 4}, {3, 5}, {0, 0}} {
		if bytes.Equal(seeded(3, 4), seeded(other[0], other[1])) {
			t.Errorf("seeds %v draw what 3 and 4 do", other)
		}
	}
}
