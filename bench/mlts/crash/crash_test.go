package crash_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/bench/mlts/crash"
	"github.com/nnsoc/nnsoc/docs/examples/adder/driver"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/devices"
	"github.com/nnsoc/nnsoc/hal/driver/sample"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// processVariable makes the test's program a process of a crash test.
const processVariable = "NNSOC_CRASH_PROCESS"

func TestMain(m *testing.M) {
	process := work
	switch os.Getenv(processVariable) {
	case "":
		os.Exit(m.Run())
	case "slow":
		process = slowHost
	}
	if err := process(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}

func command() *exec.Cmd {
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), processVariable+"=1")
	return c
}

func work() error {
	q, err := crash.ReadRequest(os.Stdin)
	if err != nil {
		return err
	}
	p := crash.Program{Open: open, Command: command, In: os.Stdin, Out: os.Stdout, Dial: func(socket string) (hal.Device, error) {
		d, err := service.Dial(socket)
		if err != nil {
			return nil, err
		}
		return nnrt.WithTimeout(d, time.Minute), nil
	}}
	return p.Work(q)
}

// open opens a sample driver, or one with a planted fault.
func open(name string) (d, cpu hal.Device, err error) {
	c, err := soc.Load("pixel4")
	if err != nil {
		return nil, nil, err
	}
	list, err := devices.Open(c, hal.FastSingleAnswer, devices.Cold())
	if err != nil {
		return nil, nil, err
	}
	samples, err := devices.Samples(c, hal.FastSingleAnswer)
	if err != nil {
		return nil, nil, err
	}
	if strings.HasPrefix(name, sample.FaultyPrefix) {
		d, err = sample.NewFaulty(name, samples[0])
		return d, list[0], err
	}
	if name != "" && name != "sample_all" {
		return nil, nil, fmt.Errorf("no device %q", name)
	}
	return samples[0], list[0], nil
}

// nothingDone is the seed of a slowHost that has done nothing when it ends.
const nothingDone = 50_000

// slowHost is a test that lasts a second longer than its duration and margin, and as many ms more as its seed.
func slowHost() error {
	q, err := crash.ReadRequest(os.Stdin)
	if err != nil {
		return err
	}
	say := func(m crash.Message) error { return json.NewEncoder(os.Stdout).Encode(m) }
	if err := say(crash.Message{Kind: crash.KindReady, Late: time.Duration(q.Seed) * time.Millisecond}); err != nil {
		return err
	}
	time.Sleep(q.Margin + time.Second)
	m := crash.Message{Kind: crash.KindSuccess}
	if q.Seed != nothingDone {
		m.Count.Compilations = 1
	}
	return say(m)
}

// TestSlowHost: a test of many threads may end later by the host's time for them, and no more.
// One that reports success without having done anything has failed.
func TestSlowHost(t *testing.T) {
	for late, want := range map[uint64]crash.Outcome{0: crash.Hang, 600: crash.Hang, 60_000: crash.Success, nothingDone: crash.Failure} {
		t.Run(fmt.Sprintf("%d ms more", late), func(t *testing.T) {
			t.Parallel()
			c := crash.Coordinator{Modes: []string{"scoring"}, Devices: []string{"sample_all"}, Scale: 1e-6, Margin: time.Second, Seed: late, Command: func() *exec.Cmd {
				x := command()
				x.Env = append(os.Environ(), processVariable+"=slow")
				return x
			}}
			v := require.V(c.Run())(t)[0]
			require.Check(t, v.Outcome == want, "%s %q, want %s", v.Outcome, v.Text, want)
		})
	}
}

// patience is a margin that a loaded host keeps; who waits for a hang tries with a shorter one first.
const patience = 6 * time.Second

// run runs one configuration's worth of a mode on a device, times as long as is usual for these tests.
func run(t *testing.T, mode, device string, viaService bool, times float64, margin time.Duration) []crash.Verdict {
	t.Helper()
	c := crash.Coordinator{
		Modes: []string{mode}, Devices: []string{device}, Service: viaService, Models: []string{crash.SmallFloat, crash.SmallQuant},
		Scale: 0.0002, Margin: margin, Seed: 1, Command: command,
	}
	for _, m := range crash.Modes() {
		if m.Name == mode && m.Configs[0].Duration < 2*time.Minute {
			c.Scale = 0.01
		}
	}
	c.Scale *= times
	list := require.V(c.Run())(t)
	return list
}

// TestForeignDriver: a driver of a name that no SoC has, which supports two operations, behind its socket.
func TestForeignDriver(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "adder.sock")
	l := require.V(service.Listen(socket))(t)
	s := service.NewServer(driver.New(), service.Quotas{})
	go func() { _ = s.Serve(l) }()
	defer s.Close()
	c := crash.Coordinator{
		Modes: []string{"scoring", "model-loading-stress", "multi-process-model-load-stress", "inference-random-stress"}, Devices: []string{"adder"},
		Socket: func(string) string { return socket }, Scale: 0.0005, Margin: patience, Seed: 1, Command: command,
	}
	list, err := c.Run()
	if err != nil || len(list) < 4 {
		t.Fatalf("%d verdicts, %v", len(list), err)
	}
	for _, v := range list {
		require.Check(t, v.Outcome == crash.Success && v.Counts.Compilations+v.Counts.Killed != 0, "%+v", v)
	}
}

// TestModes: a driver without a fault passes every mode, in the test's process and through
// the service, and every mode does something. A short run tries one mode through the service.
func TestModes(t *testing.T) {
	for _, viaService := range []bool{false, true} {
		modes := crash.Names()
		if viaService && testing.Short() {
			modes = modes[:1]
		}
		for _, mode := range modes {
			t.Run(fmt.Sprintf("%s/service=%v", mode, viaService), func(t *testing.T) {
				t.Parallel() // most of their time they wait
				for _, v := range run(t, mode, "sample_all", viaService, 1, patience) {
					require.Check(t, v.Outcome == crash.Success, "%+v", v)
					if c := v.Counts; c.Compilations+c.Killed == 0 {
						t.Errorf("nothing was done: %+v", v)
					}
				}
			})
		}
	}
}

// planted is a fault of a driver, and the verdict on it in a mode.
type planted struct {
	fault, mode string
	want        crash.Outcome
	text        string // of the verdict
}

func (c *planted) met(v crash.Verdict) bool {
	return v.Outcome == c.want && strings.Contains(v.Text, c.text)
}

func (c *planted) test(t *testing.T, prefix string, service bool) {
	t.Run(prefix+c.fault+"/"+c.mode, func(t *testing.T) {
		t.Parallel()
		margin := patience
		if c.want == crash.Hang || strings.Contains(c.text, "takes longer") {
			margin /= 4
		}
		v := worst(run(t, c.mode, sample.FaultyPrefix+c.fault, service, 1, margin))
		if !c.met(v) && c.want != crash.Success { // a loaded host has not reached the fault, or not in time
			v = worst(run(t, c.mode, sample.FaultyPrefix+c.fault, service, 10, patience))
		}
		require.Check(t, c.met(v), "%s %q, want %s %q", v.Outcome, v.Text, c.want, c.text)
	})
}

// TestPlanted: the verdict over drivers with planted faults, by mode. A short run tries the first mode alone in which a fault
// has a verdict.
func TestPlanted(t *testing.T) {
	const (
		infer    = "inference-stress"
		load     = "model-loading-stress"
		threads  = "parallel-inference-stress-in-process"
		process  = "parallel-inference-stress"
		kill     = "client-early-termination-stress"
		several  = "multi-process-inference-stress"
		mapped   = "memory-mapped-model-load-stress"
		random   = "inference-random-stress"
		compiles = "model-load-random-stress"
		slowed   = "performance-degradation-stress"
		scoring  = "scoring"
	)
	tried := map[string]bool{} // by fault and verdict
	for _, c := range []planted{
		{"wrong", infer, crash.Failure, "wrong result: small_float: output 0"},
		{"wrong", scoring, crash.Failure, "wrong result"},
		{"wrong", threads, crash.Failure, "wrong result"},
		{"wrong", process, crash.Failure, "a client: wrong result"},
		{"wrong", mapped, crash.Failure, "wrong result"},
		{"wrong", slowed, crash.Failure, "wrong result"},
		{"wrong", load, crash.Success, ""},   // compiles only
		{"wrong", random, crash.Success, ""}, // results of random models are not judged
		{"wrong-after=12", infer, crash.Failure, "is not what it was at first"},
		{"wrong-after=100000", infer, crash.Success, ""},
		{"fail", infer, crash.Failure, "before the test: faulty:fail fails on purpose"},
		{"fail-after=3", several, crash.Failure, "fails on purpose"},
		{"fail-after=1", kill, crash.Failure, "liveness check: faulty:fail-after=1 fails on purpose"},
		{"fail-after=1", compiles, crash.Failure, "liveness check"},
		{"panic-after=3", infer, crash.Failure, "panics on purpose"}, // the runtime contains it
		{"panic-after=3", threads, crash.Failure, "panics on purpose"},
		{"exit-after=3", infer, crash.Crash, "exit status 41"},
		{"exit-after=3", threads, crash.Crash, "exit status 41"},
		{"exit-after=1", process, crash.Failure, "a client died: exit status 41"},
		{"exit-after=3", several, crash.Failure, "the driver is gone"}, // the driver's process died
		{"exit-after=100000", several, crash.Success, ""},
		{"hang-after=3", infer, crash.Hang, "nothing was heard"},
		{"hang-after=3", threads, crash.Hang, "nothing was heard"},
		{"hang", load, crash.Failure, "a small inference takes longer than "},
		{"hang-after=1", load, crash.Failure, "liveness check: a small inference takes longer"},
		{"deadlock", threads, crash.Hang, "nothing was heard"},
		{"deadlock", infer, crash.Success, ""}, // one thread
		{"slow=4", slowed, crash.Failure, "beside a thread that compiles"},
		{"slow=1", slowed, crash.Success, ""},
		{"slow=4", infer, crash.Success, ""},
		{"late=4000", load, crash.Failure, "a small inference takes longer"},
		{"late=1", infer, crash.Success, ""},
		{"leak-memory=4096", infer, crash.Failure, "bytes of memory more"},
		{"leak-memory=4096", scoring, crash.Failure, "bytes of memory more"},
		{"leak-memory=1", infer, crash.Success, ""},
		{"leak-files", infer, crash.Failure, "open files more"},
		{"leak-goroutines", infer, crash.Failure, "goroutines more"},
		{"leak-goroutines", load, crash.Success, ""}, // executions leak, compilations do not
	} {
		fault, _, _ := strings.Cut(c.fault, "=")
		verdict := fmt.Sprint(fault, c.want)
		if !testing.Short() || !tried[verdict] {
			c.test(t, "", false)
		}
		tried[verdict] = true
	}
	// In a separate process the driver's death, leaks and locks end with it.
	for _, c := range []planted{
		{"exit-after=3", infer, crash.Failure, ""},
		{"leak-files", infer, crash.Failure, "open files more"},
		{"leak-goroutines", infer, crash.Failure, "goroutines more"},
		{"panic-after=3", infer, crash.Failure, "panic"},
		{"wrong", infer, crash.Failure, "wrong result"},
		{"hang-after=3", infer, crash.Hang, "nothing was heard"},
	} {
		c.test(t, "service/", true)
	}
}

// worst is the first verdict that is no success, else the first.
func worst(list []crash.Verdict) crash.Verdict {
	for _, v := range list {
		if v.Outcome != crash.Success {
			return v
		}
	}
	return list[0]
}

func TestRequests(t *testing.T) {
	for _, bad := range []string{"", "{", "{}\n", `{"role": "king", "scale": 1}` + "\n", `{"role": "test", "scale": 0}` + "\n", `{"role": "client", "scale": 1, "threads": 100000}` + "\n"} {
		require.Fails(t, require.Err(crash.ReadRequest(strings.NewReader(bad))), bad, "was taken")
	}
	want := crash.Request{Role: crash.RoleTest, Mode: "scoring", Device: "npu", Scale: 0.5}
	b := require.V(json.Marshal(want))(t)
	rest := strings.NewReader(string(b) + "\nrest")
	if q, err := crash.ReadRequest(rest); err != nil || q.Mode != "scoring" || rest.Len() != len("rest") {
		t.Errorf("%+v, %v, %d bytes left", q, err, rest.Len())
	}
}

func TestFilter(t *testing.T) {
	require.Same(t, "dsp npu", strings.Join(require.V(crash.Filter([]string{"gpu", "dsp", "npu"}, "^(dsp|npu)$"))(t), " "))
	for _, bad := range []string{"(", "tpu"} {
		require.Fails(t, require.Err(crash.Filter([]string{"gpu"}, bad)), bad, "was taken")
	}
	c := crash.Coordinator{Modes: []string{"dance"}, Devices: []string{"npu"}, Scale: 1}
	require.ErrorContains(t, require.Err(c.Run()), "no crash test")
}
