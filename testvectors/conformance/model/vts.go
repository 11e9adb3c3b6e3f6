package model

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/nn/compare"
	"github.com/nnsoc/nnsoc/testvectors/conformance/check"
	"github.com/nnsoc/nnsoc/testvectors/mutation"
	"github.com/nnsoc/nnsoc/testvectors/randgraph"
)

// VTSChecks returns the checks of how the vendor test suite compares.
func VTSChecks() []check.Check {
	return []check.Check{
		{Name: "generated models compute the same in every executor", Rows: []string{"E1-2", "E1-4", "E1-5"}, Run: executors, EachDevice: true},
		{Name: "signed and unsigned models are supported together", Rows: []string{"E1-6", "J-14"}, Run: coupling, EachDevice: true},
		{Name: "random graphs agree with the reference", Rows: []string{"E7-1", "E7-3", "E7-4", "E7-5", "E7-6", "E8-4", "J-13"}, Run: randomGraphs, EachDevice: true},
		{Name: "specifications of failing graphs", Rows: []string{"E7-1", "J-13"}, Run: randomSpecs},
		{Name: "tolerances of floats, integers and booleans", Rows: []string{"E5-1", "E5-2", "E5-3", "E5-4", "E5-5", "E5-7", "E5-8", "J-13"}, Run: tolerances},
		{Name: "validateModel has mutants of every kind", Rows: []string{"E2-23"}, Run: kinds},
	}
}

// executors computes models of each type by synchronous, reusable, fenced and burst
// execution, measured and not, from shared and from device memory.
func executors(t *check.T) {
	ran := 0
	for _, typ := range []nn.OperandType{nn.TensorFloat32, nn.TensorQuant8Asymm, nn.TensorQuant8AsymmSigned} {
		m := check.AddModel(typ)
		if !check.Supports(t.Device, m) {
			continue
		}
		ran++
		p := t.Prepare(m, hal.PrepareOptions{Preference: hal.FastSingleAnswer})
		if typ == nn.TensorQuant8AsymmSigned {
			continue // the values below are of the other types; see coupling
		}
		for _, measure := range []bool{false, true} {
			o := hal.ExecuteOptions{MeasureTiming: measure}
			for name, run := range map[string]func(r *hal.Request) (*hal.Result, error){
				"synchronous": func(r *hal.Request) (*hal.Result, error) { return p.Execute(r, o) },
				"reusable": func(r *hal.Request) (*hal.Result, error) {
					e, err := p.CreateReusableExecution(r, o)
					if err != nil {
						return nil, err
					}
					return e.Compute()
				},
				"fenced": func(r *hal.Request) (*hal.Result, error) {
					f, err := p.ExecuteFenced(r, nil, o, 0)
					if err != nil {
						return nil, err
					}
					f.Fence.Wait(context.Background())
					info, err := f.ExecutionInfo()
					return info.Result, err
				},
				"burst": func(r *hal.Request) (*hal.Result, error) {
					b, err := p.ConfigureExecutionBurst()
					if err != nil {
						return nil, err
					}
					defer b.Close()
					return b.Execute(r, o)
				},
			} {
				what := fmt.Sprintf("%s %s, measured %v", typ, name, measure)
				b, want := check.Sums(m)
				res := check.V(run(b.Request()))(t, what)
				t.Same(what, b.Outputs[0], want)
				t.Check((res.Timing == hal.NoTiming) != measure, "%s: timing %+v", what, res.Timing)
				check.Measured(t, res)
				// Inputs in device memory.
				buffer := t.TryAllocate(p, 2, 0)
				if buffer == nil {
					continue
				}
				b, want = check.Sums(m)
				t.OK("copyFrom", buffer.CopyFrom(&hal.Memory{Name: hal.Ashmem, Data: b.Inputs[0]}, nil))
				r := b.Request()
				check.WithToken(r, &r.Inputs[0], buffer.Token())
				_, err := run(r)
				t.OK(what+" from device memory", err)
				t.Same(what+" from device memory", b.Outputs[0], want)
				buffer.Release()
			}
		}
	}
	if ran == 0 {
		t.Skipf("%s adds no type", t.Device.Name())
	}
}

func coupling(t *check.T) {
	n := 0
	for _, m := range append(check.Seeds()[1:], check.AddModel(nn.TensorQuant8Asymm), check.ReluModel(nn.TensorQuant8Asymm, 2, 3)) {
		if !check.Supports(t.Device, m) {
			continue
		}
		n++
		s := mutation.Clone(m)
		for i := range s.Main.Operands {
			if o := &s.Main.Operands[i]; o.Type == nn.TensorQuant8Asymm {
				o.Type, o.ZeroPoint = nn.TensorQuant8AsymmSigned, o.ZeroPoint-128
				o.Data = flip(o.Data)
			}
		}
		if !check.Supports(t.Device, s) {
			t.Errorf("%s: the signed form is declined", m.Name)
			continue
		}
		run := func(m *nn.Model, fill byte) []byte {
			b := &hal.Buffers{}
			for k, x := range m.Main.Inputs {
				in := make([]byte, m.Main.Operands[x].Bytes())
				for i := range in {
					in[i] = byte(7*i+5*k) ^ fill
				}
				b.Inputs = append(b.Inputs, in)
			}
			b.Outputs = [][]byte{make([]byte, m.Main.Operands[m.Main.Outputs[0]].Bytes())}
			_, err := hal.Execute(t.Prepare(m, hal.PrepareOptions{}), b)
			t.OK(m.Name, err)
			return b.Outputs[0]
		}
		t.Same(m.Name+": signed against unsigned", flip(run(s, 0x80)), run(m, 0))
	}
	if n == 0 {
		t.Skipf("%s has no 8-bit integers", t.Device.Name())
	}
}

// flip moves 8-bit codes by 128.
func flip(b []byte) []byte {
	if b == nil {
		return nil
	}
	c := make([]byte, len(b))
	for i, x := range b {
		c[i] = x ^ 0x80
	}
	return c
}

func randomGraphs(t *check.T) {
	cpu := t.Device.Type() == hal.DeviceCPU // no judge of itself
	o := randgraph.Options{Seed: 11, Count: 10, Functional: true, Self: cpu, Float: cpu}
	r := check.V(randgraph.Run(t.Device, o))(t, "random graphs")
	for _, f := range r.Failures {
		t.Errorf("%s: %v", f.Name, f.Err)
	}
	again := check.V(randgraph.Run(t.Device, o))(t, "random graphs")
	if again.Passed != r.Passed || again.Unsupported != r.Unsupported || again.Cases != r.Cases {
		t.Errorf("the same seed gives another run: %d and %d passed", r.Passed, again.Passed)
	}
	t.Check(r.Cases != 0, "no cases")
}

func randomSpecs(t *check.T) {
	g := check.V(randgraph.NewGenerator(5, nil))(t, "generator")
	var b strings.Builder
	c := check.V(g.Case(0, nil))(t, "case")
	t.OK("specification", randgraph.WriteSpec(&b, c, "seed 5"))
	t.Check(strings.Contains(b.String(), "Model()"), "no specification: %q", b.String())
}

func tolerances(t *check.T) {
	agrees := func(typ nn.OperandType, expected, actual float64, want bool) {
		m := check.AddModel(typ)
		enc := func(v float64) []byte {
			switch typ {
			case nn.TensorFloat32:
				u := math.Float32bits(float32(v))
				return []byte{byte(u), byte(u >> 8), byte(u >> 16), byte(u >> 24)}
			case nn.TensorInt32:
				u := uint32(int32(v))
				return []byte{byte(u), byte(u >> 8), byte(u >> 16), byte(u >> 24)}
			}
			return []byte{byte(int(v))}
		}
		x := compare.Tensor{Type: typ, Dimensions: []uint32{1}, Data: enc(expected)}
		y := compare.Tensor{Type: typ, Dimensions: []uint32{1}, Data: enc(actual)}
		err := compare.Err(compare.Outputs([]compare.Tensor{x}, []compare.Tensor{y}, compare.GeneratedTests(m)))
		t.Check((err == nil) == want, "%s: %v for %v: %v", typ, actual, expected, err)
	}
	agrees(nn.TensorFloat32, 1, 1+1e-5, true)
	agrees(nn.TensorFloat32, 1, 1+2e-5, false)
	agrees(nn.TensorFloat32, 1000, 1000+4e-4, true)
	agrees(nn.TensorFloat32, 1000, 1001, false)
	agrees(nn.TensorFloat32, 1, math.NaN(), false)
	agrees(nn.TensorFloat32, 1, math.Inf(1), false)
	agrees(nn.TensorFloat32, math.Inf(1), math.Inf(1), true)
	for _, typ := range []nn.OperandType{nn.TensorInt32, nn.TensorQuant8Asymm} {
		agrees(typ, 7, 8, true)
		agrees(typ, 7, 9, false)
	}
	network := check.AddModel(nn.TensorQuant8Asymm)
	network.Name = "mobilenet_quantized"
	for typ, steps := range map[nn.OperandType]float64{nn.TensorQuant8Asymm: 3, nn.TensorInt32: 1} {
		check.Equal(t, "steps of a quantized MobileNet", compare.GeneratedTests(network)(typ).Element.Abs, steps)
	}
	agrees(nn.TensorBool8, 1, 1, true)
	agrees(nn.TensorBool8, 1, 0, false)
	r := compare.GeneratedTests(check.AddModel(nn.TensorFloat16))
	check.Equal(t, "float16", r(nn.TensorFloat16).Element.Abs, 5.0/1024)
	relaxed := *check.AddModel(nn.TensorFloat32)
	relaxed.Relaxed = true
	check.Equal(t, "relaxed", compare.GeneratedTests(&relaxed)(nn.TensorFloat32).Element.Rel, 5.0/1024)
	// Means are bounded from ten elements on.
	few, many := make([]byte, 40), bytes.Repeat([]byte{0, 0, 128, 63}, 10)
	c := compare.Criterion{Element: compare.Tolerance{Abs: 2}, MeanError: 0.5}
	x := compare.Tensor{Type: nn.TensorFloat32, Dimensions: []uint32{10}, Data: few}
	if res := compare.Tensors(x, compare.Tensor{Type: nn.TensorFloat32, Dimensions: []uint32{10}, Data: many}, c); res.Err() == nil {
		t.Errorf("a bias of 1 passes a bound of 0.5")
	}
}

func kinds(t *check.T) {
	check.Equal(t, "kinds of mutation", len(mutation.Kinds), 22)
	for _, m := range check.Seeds() {
		bytes := 0
		for i := range m.Main.Operands {
			bytes += len(m.Main.Operands[i].Data)
		}
		t.Check(bytes <= 32<<10, "%s: %d bytes of constants inline", m.Name, bytes)
		for _, k := range mutation.Kinds {
			t.Check(mutationRows[k.Name] != "", "%s has no row", k.Name)
		}
	}
}
