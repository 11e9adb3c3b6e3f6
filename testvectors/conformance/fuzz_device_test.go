package conformance_test

import (
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/conformance"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// FuzzDevice: a random model with any edits is refused, declined with reasons, or prepared
// as declared and executed, by each of the devices.
func FuzzDevice(f *testing.F) {
	list := open(f)
	generator, err := randgraph.NewGenerator(1, nil)
	if err != nil {
		f.Fatal(err)
	}
	models := conformance.Models()
	for i := range 150 {
		c, err := generator.Case(i, nil)
		if err != nil {
			f.Fatal(err)
		}
		models = append(models, c.Model)
	}
	for i := range list {
		f.Add(uint8(i), uint16(0), []byte{})
		f.Add(uint8(i), uint16(40+i), []byte{1, 0, 0, 5})
		f.Add(uint8(i), uint16(90+i), []byte{11, 0, 0, 3, 4, 1, 0, 5})
	}
	f.Fuzz(func(t *testing.T, device uint8, model uint16, edits []byte) {
		d := list[int(device)%len(list)]
		m := conformance.Edited(models[int(model)%len(models)], edits[:min(len(edits), 16)])
		for _, g := range append([]nn.Subgraph{m.Main}, m.Referenced...) {
			if slices.ContainsFunc(g.Operands, func(o nn.Operand) bool { n := o.Elements(); return n < 0 || n > 1<<16 }) {
				return // a large tensor takes time and shows nothing more
			}
		}
		s, err := d.SupportedOperations(m)
		sane(t, d.Name()+": getSupportedOperations", err)
		p, refused := d.PrepareModel(m, hal.PrepareOptions{})
		sane(t, d.Name()+": prepareModel", refused)
		takes := err == nil && !slices.ContainsFunc(s, func(x hal.Support) bool { return !x.OK })
		if takes != (refused == nil) {
			t.Fatalf("%s: support %v, %v; prepareModel: %v", d.Name(), s, err, refused)
		}
		if takes {
			execute(t, d, p, m)
		}
	})
}
