package conformance_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/sim/soc"
	"github.com/nnsoc/nnsoc/testvectors/conformance"
)

func open(t testing.TB) []hal.Device {
	t.Helper()
	c := require.V(soc.Load("pixel4"))(t)
	list := require.V(devices.Open(c, hal.FastSingleAnswer, devices.Cold()))(t)
	return list
}

// subject is a device and the way to it.
type subject struct {
	hal.Device
	name string
}

// subjects are the devices of a SoC and Android's sample drivers, in process and through
// a process boundary.
func subjects(t *testing.T) (list []subject) {
	c := require.V(soc.Load("pixel4"))(t)
	samples := require.V(devices.Samples(c, hal.FastSingleAnswer))(t)
	for _, d := range append(open(t), samples...) {
		there, stop := require.V2(service.Loopback(d))(t)
		t.Cleanup(stop)
		list = append(list, subject{d, d.Name()}, subject{there, d.Name() + " as a service"})
	}
	return list
}

// TestChecks runs every check on every device, in process and as a service; where time is short, each on the next device.
func TestChecks(t *testing.T) {
	list := subjects(t)
	for n, c := range conformance.Checks() {
		t.Run(c.Name, func(t *testing.T) {
			on := []subject{{}}
			if c.EachDevice {
				on = list
				if testing.Short() {
					n = 2 * (n % (len(list) / 2))
					on = list[n : n+2]
				}
			}
			ran := map[bool]int{}
			for _, d := range on {
				o := c.RunOn(d.Device)
				require.Check(t, o.Err == nil, "%s: %v", d.name, o.Err)
				require.Check(t, !strings.Contains(o.Skipped, "no device memory"), "%s: %s", d.name, o.Skipped)
				if o.Skipped == "" {
					ran[strings.HasSuffix(d.name, " as a service")]++
				}
			}
			if !testing.Short() && (ran[false] == 0 || c.EachDevice && ran[true] == 0 && !c.InProcess) {
				t.Error("it concerns no device")
			}
		})
	}
}

// TestEveryRow: each obligation has a check or a reason, and each check names rows that
// are there.
func TestEveryRow(t *testing.T) {
	for _, err := range conformance.Unproved() {
		t.Error(err)
	}
	if n := len(conformance.Rows()); n != 563 {
		t.Errorf("%d rows, the table has 563", n)
	}
}

// TestMarkdown: docs/CONFORMANCE.md is the output of nnsoc conformance --markdown.
func TestMarkdown(t *testing.T) {
	have := require.File(t, "../../docs/CONFORMANCE.md")
	if !bytes.Equal(have, conformance.Markdown()) {
		t.Error("docs/CONFORMANCE.md is not up to date: nnsoc conformance --markdown >docs/CONFORMANCE.md")
	}
}

// faulty is a device with one fault.
type faulty struct {
	hal.Device
	prepared func(p hal.PreparedModel) hal.PreparedModel
	support  func(s []hal.Support, err error) ([]hal.Support, error)
}

func (d *faulty) SupportedOperations(m *nn.Model) ([]hal.Support, error) {
	s, err := d.Device.SupportedOperations(m)
	if d.support != nil {
		return d.support(s, err)
	}
	return s, err
}

func (d *faulty) PrepareModel(m *nn.Model, o hal.PrepareOptions) (hal.PreparedModel, error) {
	p, err := d.Device.PrepareModel(m, o)
	if err != nil || d.prepared == nil {
		return p, err
	}
	return d.prepared(p), nil
}

// faultyModel changes the results of an execution.
type faultyModel struct {
	hal.PreparedModel
	fault func(r *hal.Request, res *hal.Result, err error) (*hal.Result, error)
}

func (p *faultyModel) Execute(r *hal.Request, o hal.ExecuteOptions) (*hal.Result, error) {
	res, err := p.PreparedModel.Execute(r, o)
	return p.fault(r, res, err)
}

// TestChecksCanFail: each fault of a device is found by some check.
func TestChecksCanFail(t *testing.T) {
	cpu := open(t)[0]
	model := func(fault func(r *hal.Request, res *hal.Result, err error) (*hal.Result, error)) func(hal.PreparedModel) hal.PreparedModel {
		return func(p hal.PreparedModel) hal.PreparedModel { return &faultyModel{p, fault} }
	}
	for name, c := range map[string]struct {
		d    faulty
		want string // a row that a failing check names
	}{
		"a wrong element": {faulty{prepared: model(func(r *hal.Request, res *hal.Result, err error) (*hal.Result, error) {
			if _, out, e := r.Buffers(); e == nil && err == nil {
				out[0][0] ^= 1
			}
			return res, err
		})}, "A2-7"},
		"timing without being asked": {faulty{prepared: model(func(_ *hal.Request, res *hal.Result, err error) (*hal.Result, error) {
			if res != nil {
				res.Timing = hal.Timing{OnDevice: 2, InDriver: 1}
			}
			return res, err
		})}, "A5-5"},
		"shapes are missing": {faulty{prepared: model(func(_ *hal.Request, res *hal.Result, err error) (*hal.Result, error) {
			if res != nil {
				res.OutputDimensions = nil
			}
			return res, err
		})}, "A5-3"},
		"a wrong status": {faulty{prepared: model(func(_ *hal.Request, res *hal.Result, err error) (*hal.Result, error) {
			if err != nil {
				err = hal.Errorf(hal.ResourceExhaustedTransient, "%v", err)
			}
			return res, err
		})}, "A2-2"},
		"a missed deadline is a success": {faulty{prepared: model(func(_ *hal.Request, _ *hal.Result, err error) (*hal.Result, error) {
			return &hal.Result{Timing: hal.NoTiming, OutputDimensions: [][]uint32{{2, 3}}}, nil
		})}, "A0-4"},
		"costs that do not add up": {faulty{prepared: model(func(_ *hal.Request, res *hal.Result, err error) (*hal.Result, error) {
			if res != nil && len(res.Stats.Operations) > 0 {
				res.Stats.Operations[0].Cycles++
			}
			return res, err
		})}, "A5-5"},
		"bound by another name than that of its stalls": {faulty{prepared: model(func(_ *hal.Request, res *hal.Result, err error) (*hal.Result, error) {
			if res != nil && len(res.Stats.Operations) > 0 {
				o := &res.Stats.Operations[0]
				o.BoundBy = strings.ToUpper(o.BoundBy)
			}
			return res, err
		})}, "A5-5"},
		"parts without their energy": {faulty{prepared: model(func(_ *hal.Request, res *hal.Result, err error) (*hal.Result, error) {
			if res != nil && len(res.Stats.Parts) > 0 {
				res.Stats.Parts[0].EnergyPJ *= 2
			}
			return res, err
		})}, "A5-5"},
		"device memory without room is a short buffer": {faulty{prepared: model(func(_ *hal.Request, res *hal.Result, err error) (*hal.Result, error) {
			if hal.StatusOf(err) == hal.GeneralFailure {
				err = hal.Errorf(hal.OutputInsufficientSize, "%v", err)
			}
			return res, err
		})}, "A5-4"},
		"an input of open shape is taken": {faulty{prepared: model(func(_ *hal.Request, res *hal.Result, err error) (*hal.Result, error) {
			if hal.StatusOf(err) == hal.InvalidArgument {
				return &hal.Result{Timing: hal.NoTiming, OutputDimensions: [][]uint32{{2, 3}}}, nil
			}
			return res, err
		})}, "A2-4"},
		"a wrong element of a small convolution": {faulty{prepared: model(func(r *hal.Request, res *hal.Result, err error) (*hal.Result, error) {
			if _, out, e := r.Buffers(); e == nil && err == nil {
				out[0][len(out[0])-1] ^= 0x40
			}
			return res, err
		})}, "I1-8"},
		"a code that is one step off": {faulty{prepared: model(func(r *hal.Request, res *hal.Result, err error) (*hal.Result, error) {
			if _, out, e := r.Buffers(); e == nil && err == nil {
				out[0][0]++
			}
			return res, err
		})}, "I2-7"},
		"an index beyond is taken": {faulty{prepared: model(func(r *hal.Request, res *hal.Result, err error) (*hal.Result, error) {
			if err != nil {
				return &hal.Result{Timing: hal.NoTiming, OutputDimensions: make([][]uint32, len(r.Outputs))}, nil
			}
			return res, err
		})}, "I1-24"},
		"invalid models are declined": {faulty{support: func(s []hal.Support, err error) ([]hal.Support, error) {
			return append(s, hal.Support{Reason: "invalid"})[:max(len(s), 1)], nil
		}}, "A1-2"},
	} {
		c.d.Device = cpu
		found := false
		for _, check := range conformance.Checks() {
			if check.EachDevice && slices.Contains(check.Rows, c.want) {
				found = found || check.RunOn(&c.d).Err != nil
			}
		}
		require.Check(t, found, "%s: no check of row %s fails", name, c.want)
	}
}

// recorded keeps spans.
type recorded []hal.Span

func (r *recorded) Span(s hal.Span) { *r = append(*r, s) }

// TestTraceOfService: a driver in another process reports the same spans as in this one, by each way of executing.
func TestTraceOfService(t *testing.T) {
	ways := map[string]func(p hal.PreparedModel, r *hal.Request, o hal.ExecuteOptions) error{
		"synchronous": func(p hal.PreparedModel, r *hal.Request, o hal.ExecuteOptions) error {
			_, err := p.Execute(r, o)
			return err
		},
		"fenced": func(p hal.PreparedModel, r *hal.Request, o hal.ExecuteOptions) error {
			f, err := p.ExecuteFenced(r, nil, o, 0)
			if err != nil {
				return err
			}
			<-f.Fence.Done()
			_, err = f.ExecutionInfo()
			return err
		},
		"reusable": func(p hal.PreparedModel, r *hal.Request, o hal.ExecuteOptions) error {
			e, err := p.CreateReusableExecution(r, o)
			if err == nil {
				_, err = e.Compute()
			}
			return err
		},
		"burst": func(p hal.PreparedModel, r *hal.Request, o hal.ExecuteOptions) error {
			b, err := p.ConfigureExecutionBurst()
			if err != nil {
				return err
			}
			defer func() { _ = b.Close() }()
			_, err = b.Execute(r, o)
			return err
		},
	}
	for way, execute := range ways {
		here, served := open(t), open(t)
		for i, d := range here {
			there, stop := require.V2(service.Loopback(served[i]))(t)
			var spans [2]recorded
			for k, x := range []hal.Device{d, there} {
				m := small(t, x)
				p := require.V(x.PrepareModel(m, hal.PrepareOptions{}))(t)
				n := m.Main.Operands[m.Main.Inputs[0]].Bytes()
				b := &hal.Buffers{Inputs: [][]byte{make([]byte, n)}, Outputs: [][]byte{make([]byte, n)}}
				if err := execute(p, b.Request(), hal.ExecuteOptions{Trace: &spans[k]}); err != nil {
					t.Fatalf("%s, %s: %v", d.Name(), way, err)
				}
			}
			if len(spans[0]) == 0 || !slices.Equal(spans[0], spans[1]) {
				t.Errorf("%s, %s: %d spans in process and %d as a service\n%v\n%v", d.Name(), way, len(spans[0]), len(spans[1]), spans[0], spans[1])
			}
			stop()
		}
	}
}

// TestFailingSupportQueries: a driver whose support queries fail or panic does not pass by
// checks that it is excused from.
func TestFailingSupportQueries(t *testing.T) {
	cpu := open(t)[0]
	for name, support := range map[string]func([]hal.Support, error) ([]hal.Support, error){
		"fails": func([]hal.Support, error) ([]hal.Support, error) {
			return nil, hal.Errorf(hal.GeneralFailure, "no answer")
		},
		"panics": func([]hal.Support, error) ([]hal.Support, error) { panic("no answer") },
	} {
		d := &faulty{Device: cpu, support: support}
		failed, skipped := 0, 0
		for _, check := range conformance.Checks() {
			if !check.EachDevice {
				continue
			}
			if o := check.RunOn(d); o.Err != nil {
				failed++
			} else if o.Skipped != "" && strings.Contains(o.Skipped, "declines") {
				skipped++
				t.Errorf("%s: %q is skipped: %s", name, check.Name, o.Skipped)
			}
		}
		require.Check(t, failed >= 30, "%s: %d checks fail, %d are skipped", name, failed, skipped)
	}
}
