package drivertest

import (
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// Times compares the costs of those of count random models that a device supports whole with a file, or with update
// writes it: below a model's name, a number a line, checksums of the program's listing and of the results, instructions,
// cycles, energy and the cycles of each operation. It is the sum of all decisions of a lowering: a change of a line must
// be intended.
func Times(t *testing.T, d hal.Device, seed uint64, count int, file string, update bool) {
	t.Helper()
	g := require.V(randgraph.NewGenerator(seed, nil))(t)
	var text strings.Builder
	for i := range count {
		c := require.V(g.Case(i, nil))(t)
		if !accepts(d, c.Model) {
			continue
		}
		fmt.Fprintf(&text, "%s\n%s", c.Name, outcome(d, c))
	}
	golden(t, text.String(), file, update)
}

// Operations compares the lowering of those of count random operations that a device supports with a file, or with
// update writes it: a line an operation and type with the number of models and a checksum of their steps, of the
// candidates that these were chosen from with their estimates, and of their programs. Nothing is executed, so that
// there are more models than those of Times.
func Operations(t *testing.T, d hal.Device, seed uint64, count int, file string, update bool) {
	t.Helper()
	g := require.V(randgraph.NewGenerator(seed, nil))(t)
	models, sums := map[string]int{}, map[string]hash.Hash32{}
	for i := range count {
		c := require.V(g.Case(i, nil))(t)
		if len(c.Variants) > 1 || !accepts(d, c.Model) {
			continue
		}
		p, err := d.PrepareModel(c.Model, hal.PrepareOptions{})
		if err != nil {
			t.Fatal(c.Name, err)
		}
		of := c.Variants[0].String()
		if models[of]++; sums[of] == nil {
			sums[of] = crc32.NewIEEE()
		}
		list, err := p.(hal.Chooser).Choices()
		fmt.Fprintln(sums[of], list)
		if err := errors.Join(err, p.(hal.StepPrinter).WriteSteps(sums[of]), p.WriteListing(sums[of])); err != nil {
			t.Fatal(c.Name, err)
		}
	}
	var text strings.Builder
	for _, of := range slices.Sorted(maps.Keys(models)) {
		fmt.Fprintf(&text, "%s: %d models, %08x\n", of, models[of], sums[of].Sum32())
	}
	golden(t, text.String(), file, update)
}

// accepts reports whether a device supports a model whole.
func accepts(d hal.Device, m *nn.Model) bool {
	list, err := d.SupportedOperations(m)
	for _, s := range list {
		if !s.OK {
			return false
		}
	}
	return err == nil
}

// golden holds the lines of a text against a file, or with update writes it. A line that is not indented names what those
// below it are of.
func golden(t *testing.T, text, file string, update bool) {
	t.Helper()
	if update {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	want := require.V(os.ReadFile(file))(t)
	lines, wrong, of := strings.Split(string(want), "\n"), 0, ""
	for i, line := range strings.Split(text, "\n") {
		if !strings.HasPrefix(line, "\t") {
			of = line
		}
		if i >= len(lines) || line != lines[i] {
			if wrong++; wrong <= 5 {
				t.Errorf("line %d of %s, %s\nhas %s\nnow %s", i+1, file, of, strings.Join(lines[min(i, len(lines)):min(i+1, len(lines))], ""), line)
			}
		}
	}
	require.Check(t, wrong <= 5, "%d lines differ", wrong)
}

// outcome describes the outcome of an execution, in lines that are indented: an error, or a number each.
func outcome(d hal.Device, c *randgraph.Case) string {
	m := c.Model
	p, err := d.PrepareModel(m, hal.PrepareOptions{})
	if err != nil {
		return "\t" + err.Error() + "\n"
	}
	b := &hal.Buffers{Inputs: c.Inputs}
	for _, x := range m.Main.Outputs {
		n := m.Main.Operands[x].Bytes()
		if !m.Main.Operands[x].Known() {
			n = 1 << 16
		}
		b.Outputs = append(b.Outputs, make([]byte, n))
	}
	r, err := hal.Execute(p, b)
	if err != nil {
		return "\t" + err.Error() + "\n"
	}
	sum := crc32.NewIEEE()
	for _, data := range b.Outputs {
		sum.Write(data)
	}
	program := crc32.NewIEEE()
	if err := p.WriteListing(program); err != nil {
		return "\t" + err.Error() + "\n"
	}
	s := fmt.Sprintf("\tprogram %08x\n\tresults %08x\n\tinstructions %d\n\tcycles %d\n\tenergy_pj %.5g\n",
		program.Sum32(), sum.Sum32(), r.Stats.Instructions, r.Stats.Cycles, r.Stats.EnergyPJ)
	for _, o := range r.Stats.Operations {
		name := "-"
		if o.Index >= 0 {
			name = m.Main.Operations[o.Index].Type.String()
		}
		s += fmt.Sprintf("\tcycles of %s %d\n", name, o.Cycles)
	}
	return s
}
