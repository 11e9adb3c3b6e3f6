package base_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/base"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
)

// relu is a model of one RELU on four floats.
func relu() *nn.Model {
	t := nn.Operand{Type: nn.TensorFloat32, Dimensions: []uint32{4}, Lifetime: nn.SubgraphInput}
	out := t
	out.Lifetime = nn.SubgraphOutput
	return &nn.Model{Main: nn.Subgraph{
		Operands:   []nn.Operand{t, out},
		Operations: []nn.Operation{{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{1}}},
		Inputs:     []uint32{0}, Outputs: []uint32{1},
	}}
}

// double is a driver that misbehaves as a test requests. calls counts the calls
// that reached it.
type double struct {
	calls   int
	support func() ([]hal.Support, error)
	compile func() error
	execute func(r *hal.Buffers) (*hal.Result, error)
}

func (d *double) Supports(*nn.Model) ([]hal.Support, error) {
	d.calls++
	return d.support()
}

func (d *double) Compile(*nn.Model, hal.PrepareOptions) (base.Program, error) {
	d.calls++
	return d, d.compile()
}

func (d *double) Execute(r *hal.Buffers, _ base.Place) (*hal.Result, error) {
	d.calls++
	return d.execute(r)
}

func (d *double) WriteListing(io.Writer) error { panic("no listing") }
func (d *double) WriteProgram(io.Writer) error { panic("no program") }

func (d *double) WriteSteps(io.Writer) error     { panic("no steps") }
func (d *double) Explain(io.Writer) error        { panic("no estimates") }
func (d *double) Choices() ([]hal.Choice, error) { panic("no candidates") }

func behaved() *double {
	return &double{
		support: func() ([]hal.Support, error) { return []hal.Support{{OK: true}}, nil },
		compile: func() error { return nil },
		execute: func(*hal.Buffers) (*hal.Result, error) {
			return &hal.Result{OutputDimensions: [][]uint32{{4}}}, nil
		},
	}
}

func device(d *double) *base.Device { return base.New(base.Config{Name: "toy"}, d) }

func request() *hal.Buffers {
	return &hal.Buffers{Inputs: [][]byte{make([]byte, 16)}, Outputs: [][]byte{make([]byte, 16)}}
}

// TestContainsPanics: each call of the contract survives a driver that panics.
func TestContainsPanics(t *testing.T) {
	d := behaved()
	dev := device(d)
	p := require.V(dev.PrepareModel(relu(), hal.PrepareOptions{}))(t)
	d.support = func() ([]hal.Support, error) { var s []hal.Support; return s[3:4], nil }
	d.compile = func() error { var m *nn.Model; m.Relaxed = true; return nil }
	d.execute = func(*hal.Buffers) (*hal.Result, error) { panic(errors.New("lost the machine")) }
	for _, c := range []struct {
		name, want string
		call       func() error
	}{
		{"SupportedOperations", "out of range", func() error { _, err := dev.SupportedOperations(relu()); return err }},
		{"PrepareModel", "nil pointer", func() error { _, err := dev.PrepareModel(relu(), hal.PrepareOptions{}); return err }},
		{"Execute", "lost the machine", func() error { _, err := hal.Execute(p, request()); return err }},
		{"WriteListing", "no listing", func() error { return p.WriteListing(io.Discard) }},
		{"WriteProgram", "no program", func() error { return p.WriteProgram(io.Discard) }},
		{"WriteSteps", "no steps", func() error { return p.(hal.StepPrinter).WriteSteps(io.Discard) }},
		{"Explain", "no estimates", func() error { return p.(hal.Explainer).Explain(io.Discard) }},
		{"Choices", "no candidates", func() error { _, err := p.(hal.Chooser).Choices(); return err }},
		{"Compute", "lost the machine", func() error {
			e := require.V(p.CreateReusableExecution(request().Request(), hal.ExecuteOptions{}))(t)
			_, err := e.Compute()
			return err
		}},
		{"ExecuteFenced", "lost the machine", func() error {
			f := require.V(p.ExecuteFenced(request().Request(), nil, hal.ExecuteOptions{}, 0))(t)
			<-f.Fence.Done()
			_, err := f.ExecutionInfo()
			return err
		}},
	} {
		err := c.call()
		if hal.StatusOf(err) != hal.GeneralFailure {
			t.Errorf("%s: status %s, want GENERAL_FAILURE: %v", c.name, hal.StatusOf(err), err)
			continue
		}
		for _, want := range []string{"toy: panic in " + c.name, c.want, "base_test.go:"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %q does not say %q", c.name, err, want)
			}
		}
	}
}

// TestValidatesFirst: what breaks a rule never reaches the driver.
func TestValidatesFirst(t *testing.T) {
	d := behaved()
	dev := device(d)
	p := require.V(dev.PrepareModel(relu(), hal.PrepareOptions{}))(t)
	d.calls = 0
	bad := relu()
	bad.Main.Operations[0].Inputs[0] = 9
	prepare := func(m *nn.Model, o hal.PrepareOptions) func() error {
		return func() error { _, err := dev.PrepareModel(m, o); return err }
	}
	execute := func(damage func(r *hal.Buffers)) func() error {
		r := request()
		damage(r)
		return func() error { _, err := hal.Execute(p, r); return err }
	}
	for name, c := range map[string]struct {
		want hal.Status
		call func() error
	}{
		"support of a bad model": {hal.InvalidArgument, func() error { _, err := dev.SupportedOperations(bad); return err }},
		"support of no model":    {hal.InvalidArgument, func() error { _, err := dev.SupportedOperations(nil); return err }},
		"preparing a bad model":  {hal.InvalidArgument, prepare(bad, hal.PrepareOptions{})},
		"preparing no model":     {hal.InvalidArgument, prepare(nil, hal.PrepareOptions{})},
		"preference -1":          {hal.InvalidArgument, prepare(relu(), hal.PrepareOptions{Preference: -1})},
		"preference 3":           {hal.InvalidArgument, prepare(relu(), hal.PrepareOptions{Preference: 3})},
		"priority -1":            {hal.InvalidArgument, prepare(relu(), hal.PrepareOptions{Priority: -1})},
		"priority 3":             {hal.InvalidArgument, prepare(relu(), hal.PrepareOptions{Priority: 3})},
		"no request":             {hal.InvalidArgument, func() error { _, err := hal.Execute(p, nil); return err }},
		"input removed":          {hal.InvalidArgument, execute(func(r *hal.Buffers) { r.Inputs = nil })},
		"output removed":         {hal.InvalidArgument, execute(func(r *hal.Buffers) { r.Outputs = nil })},
		"input added":            {hal.InvalidArgument, execute(func(r *hal.Buffers) { r.Inputs = append(r.Inputs, nil) })},
		"output added":           {hal.InvalidArgument, execute(func(r *hal.Buffers) { r.Outputs = append(r.Outputs, nil) })},
		"input one byte short":   {hal.InvalidArgument, execute(func(r *hal.Buffers) { r.Inputs[0] = r.Inputs[0][1:] })},
		"input one byte long":    {hal.InvalidArgument, execute(func(r *hal.Buffers) { r.Inputs[0] = append(r.Inputs[0], 0) })},
		"output one byte short":  {hal.InvalidArgument, execute(func(r *hal.Buffers) { r.Outputs[0] = r.Outputs[0][1:] })},
	} {
		if err := c.call(); hal.StatusOf(err) != c.want {
			t.Errorf("%s: status %s, want %s: %v", name, hal.StatusOf(err), c.want, err)
		}
	}
	require.Same(t, 0, d.calls, "the driver was called", "times")
}

// TestShortOutput: the shapes of all outputs come with the error, also where an
// execution has to find one.
func TestShortOutput(t *testing.T) {
	d := behaved()
	m := relu()
	m.Main.Operations = append(m.Main.Operations, nn.Operation{Type: nn.OpRelu, Inputs: []uint32{0}, Outputs: []uint32{2}})
	open := m.Main.Operands[1]
	open.Dimensions = nil
	m.Main.Operands[1].Dimensions = []uint32{0}
	m.Main.Operands = append(m.Main.Operands, open)
	m.Main.Outputs = []uint32{1, 2}
	d.support = func() ([]hal.Support, error) { return make([]hal.Support, 2), nil }
	d.execute = func(r *hal.Buffers) (*hal.Result, error) {
		require.Same(t, 16, len(r.Outputs[0]), "the driver got an output of", "bytes")
		return &hal.Result{OutputDimensions: [][]uint32{{4}, {4}}}, nil
	}
	p := require.V(device(d).PrepareModel(m, hal.PrepareOptions{}))(t)
	r := request()
	r.Outputs = [][]byte{make([]byte, 15), make([]byte, 16)}
	res, err := hal.Execute(p, r)
	if hal.StatusOf(err) != hal.OutputInsufficientSize {
		t.Fatalf("error %v", err)
	}
	if !slices.Equal(res.Insufficient, []bool{true, false}) {
		t.Errorf("outputs that are too short: %v", res.Insufficient)
	}
	for i, dims := range res.OutputDimensions {
		if !slices.Equal(dims, []uint32{4}) {
			t.Errorf("output %d has shape %v", i, dims)
		}
	}
}

// TestChecksAnswers: a driver that answers nonsense is named.
func TestChecksAnswers(t *testing.T) {
	d := behaved()
	dev := device(d)
	p := require.V(dev.PrepareModel(relu(), hal.PrepareOptions{}))(t)
	support := func(s []hal.Support, err error) func() error {
		return func() error {
			d.support = func() ([]hal.Support, error) { return s, err }
			_, err := dev.SupportedOperations(relu())
			return err
		}
	}
	execute := func(res *hal.Result, err error) func() error {
		return func() error {
			d.execute = func(*hal.Buffers) (*hal.Result, error) { return res, err }
			_, err := hal.Execute(p, request())
			return err
		}
	}
	short := hal.Errorf(hal.OutputInsufficientSize, "short")
	for name, c := range map[string]struct {
		want hal.Status
		text string
		call func() error
	}{
		"too many answers":            {hal.GeneralFailure, "answers for 2 of 1 operations", support(make([]hal.Support, 2), nil)},
		"no reason":                   {hal.GeneralFailure, "operation 0 (RELU) is declined without a reason", support(make([]hal.Support, 1), nil)},
		"a query that fails":          {hal.InvalidArgument, "no", support(nil, errors.New("no"))},
		"a query with a status":       {hal.DeviceUnavailable, "no", support(nil, hal.Errorf(hal.DeviceUnavailable, "no"))},
		"no result":                   {hal.GeneralFailure, "no shapes of the outputs", execute(nil, nil)},
		"no shapes":                   {hal.GeneralFailure, "no shapes of the outputs", execute(&hal.Result{}, nil)},
		"a shape beyond the buffer":   {hal.GeneralFailure, "output 0 of shape [5], reported as done, has a buffer of 16 bytes", execute(&hal.Result{OutputDimensions: [][]uint32{{5}}}, nil)},
		"an execution that fails":     {hal.GeneralFailure, "no", execute(nil, errors.New("no"))},
		"short for no reason":         {hal.GeneralFailure, "OUTPUT_INSUFFICIENT_SIZE, but every output fits", execute(&hal.Result{OutputDimensions: [][]uint32{{4}}}, short)},
		"short by more than there is": {hal.GeneralFailure, "output 0 of shape [5] does not have the shape of the model", execute(&hal.Result{OutputDimensions: [][]uint32{{5}}}, short)},
		"short without shapes":        {hal.GeneralFailure, "OUTPUT_INSUFFICIENT_SIZE without the shapes of the outputs", execute(nil, short)},
	} {
		err := c.call()
		if hal.StatusOf(err) != c.want || err.Error() != "toy driver: "+c.text {
			t.Errorf("%s: status %s, want %s: %v", name, hal.StatusOf(err), c.want, err)
		}
	}
}
