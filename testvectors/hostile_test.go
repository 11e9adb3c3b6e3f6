package testvectors

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/hal/validate"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/refcpu"
)

// mutate damages a copy of a model the way a careless or hostile client would.
func mutate(m *nn.Model, r *rand.Rand) *nn.Model {
	c := *m
	g := &c.Main
	g.Operands = append([]nn.Operand(nil), g.Operands...)
	g.Operations = append([]nn.Operation(nil), g.Operations...)
	for i := range g.Operations {
		g.Operations[i].Inputs = append([]uint32(nil), g.Operations[i].Inputs...)
		g.Operations[i].Outputs = append([]uint32(nil), g.Operations[i].Outputs...)
	}
	interesting := []uint32{0, 1, 2, 3, 7, 16, 255, 256, 1 << 12, 1 << 16, 1<<31 - 1, 1 << 31, 1<<32 - 1}
	pick := func() uint32 {
		if r.IntN(2) == 0 {
			return interesting[r.IntN(len(interesting))]
		}
		return uint32(r.IntN(9))
	}
	for range 1 + r.IntN(3) {
		o := &g.Operands[r.IntN(len(g.Operands))]
		switch r.IntN(11) {
		case 0:
			o.Type = nn.OperandType(r.IntN(18) - 1)
		case 1, 2:
			o.Dimensions = append([]uint32(nil), o.Dimensions...)
			if len(o.Dimensions) > 0 {
				o.Dimensions[r.IntN(len(o.Dimensions))] = pick()
			}
		case 3:
			o.Dimensions = append(append([]uint32(nil), o.Dimensions...), pick())
		case 4:
			o.Scale = []float32{0, 1, 1e-30, 1e30, -1, 1. / 256, 0.5}[r.IntN(7)]
			o.ZeroPoint = int32(r.IntN(400) - 140)
		case 5:
			o.Lifetime = nn.Lifetime(r.IntN(9) - 1)
		case 6, 7, 8: // constants that steer operations
			if len(o.Data) == 4 {
				o.Data = binary.LittleEndian.AppendUint32(nil, pick()-1)
			} else if len(o.Data) > 0 {
				o.Data = append([]byte(nil), o.Data...)
				o.Data[r.IntN(len(o.Data))] = byte(r.Uint32())
				if r.IntN(4) == 0 {
					o.Data = o.Data[:r.IntN(len(o.Data))]
				}
			}
		case 9:
			op := &g.Operations[r.IntN(len(g.Operations))]
			if len(op.Inputs) > 0 {
				op.Inputs[r.IntN(len(op.Inputs))] = uint32(r.IntN(len(g.Operands) + 1))
			}
			if r.IntN(4) == 0 {
				op.Inputs = op.Inputs[:len(op.Inputs)-min(1, len(op.Inputs))]
			}
		case 10:
			g.Operations[r.IntN(len(g.Operations))].Type = append(nn.Operations(), -1, nn.OperationType(nn.OperationCount))[r.IntN(len(nn.Operations())+2)]
		}
	}
	return &c
}

// try validates a model and, when it passes, compiles and executes it within
// small limits. It reports how far the model got.
func try(m *nn.Model) (valid, ran bool) {
	if validate.Model(m) != nil {
		return false, false
	}
	p, err := refcpu.CompileConfig(m, refcpu.Config{Limits: refcpu.Limits{Bytes: 4 << 20, Work: 1 << 22}})
	if err != nil {
		return true, false
	}
	in := make([]refcpu.Tensor, len(m.Main.Inputs))
	for i, x := range m.Main.Inputs {
		o := &m.Main.Operands[x]
		dims := append([]uint32(nil), o.Dimensions...)
		n := int64(o.Type.ElementBytes())
		for k := range dims {
			if dims[k] == 0 {
				dims[k] = uint32(k % 3)
			}
		}
		if !o.Type.IsScalar() {
			n *= nn.Elements(dims)
		}
		if n < 0 || n > 4<<20 {
			return true, false
		}
		in[i] = refcpu.Tensor{Dimensions: dims, Data: make([]byte, n)}
		for k := range in[i].Data {
			in[i].Data[k] = byte(k * 37)
		}
	}
	_, err = p.Execute(in, refcpu.Options{Threads: 2, LoopTimeout: 20 * time.Millisecond})
	return true, err == nil
}

// baseModels are small models that pass validation.
func baseModels(tb testing.TB) []*nn.Model {
	var list []*nn.Model
	seen := map[nn.OperationType]int{}
	for f := range Corpus() {
		for _, c := range f.Cases {
			if c.ExpectFailure || !Uses(c, refcpu.Supported) || len(c.Model.Main.Operations) > 3 {
				continue
			}
			if op := c.Model.Main.Operations[0].Type; seen[op] < 40 {
				seen[op]++
				list = append(list, c.Model)
			}
		}
	}
	return list
}

// TestHostileModels executes damaged models: validation or the reference must
// refuse what cannot run, and nothing may panic.
func TestHostileModels(t *testing.T) {
	models := baseModels(t)
	r := rand.New(rand.NewPCG(3, 4))
	n := 20000
	if testing.Short() {
		n = 2000
	}
	valid, ran := 0, 0
	for range n {
		v, x := try(mutate(models[r.IntN(len(models))], r))
		if v {
			valid++
		}
		if x {
			ran++
		}
	}
	t.Logf("%d damaged models, %d pass validation, %d run", n, valid, ran)
	if valid == 0 || ran == 0 || valid == n {
		t.Error("the damage tests nothing")
	}
}

func FuzzModel(f *testing.F) {
	models := baseModels(f)
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		r := rand.New(rand.NewPCG(a, b))
		try(mutate(models[r.IntN(len(models))], r))
	})
}
