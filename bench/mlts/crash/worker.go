package crash

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
	"github.com/nnsoc/nnsoc/runtime/registry"
)

// Program is the environment of a process of the crash tests.
type Program struct {
	// Open opens a device of the SoC, and its CPU; no name is the CPU alone.
	Open func(device string) (d, cpu hal.Device, err error)
	// Dial connects to the driver that serves a socket.
	Dial func(socket string) (hal.Device, error)
	// Command is this program as another process of the tests.
	Command func() *exec.Cmd
	In      io.Reader // after the request
	Out     io.Writer // messages
}

// Work runs a process of the crash tests. Its last message is its verdict; an error is one of the process itself.
func (p *Program) Work(q *Request) error {
	switch q.Role {
	case RoleDriver:
		return p.drive(q)
	case RoleClient:
		go p.exitWithParent()
		return p.client(q)
	}
	go p.exitWithParent()
	t := &test{program: p, request: q}
	err := t.runAll()
	m := Message{Kind: KindSuccess, Count: t.counts()}
	if err != nil {
		m.Kind, m.Text = KindFailure, err.Error()
	}
	return send(p.Out, m)
}

// test is a crash test under way.
type test struct {
	program  *Program
	request  *Request
	socket   string // of the driver; "" is this process
	driver   *process
	registry *registry.Registry
	loads    []*load
	// crowded tests have many threads, which the host serves one after the other: they
	// infer without the timing model.
	crowded bool
	late    time.Duration // how much later than its margin the test may end: see host.go

	mu           sync.Mutex
	count        Counts
	compilations atomic.Int64
	inferences   atomic.Int64
}

// counts are the counts so far.
func (t *test) counts() Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.count
	c.Compilations += t.compilations.Load()
	c.Inferences += t.inferences.Load()
	return c
}

// runAll runs the mode, then checks whether the driver still responds and what it kept.
func (t *test) runAll() (err error) {
	defer try.Catch(&err)
	m := findMode(t.request.Mode)
	if m == nil || t.request.Config < 0 || t.request.Config >= len(m.Configs) {
		return fmt.Errorf("no mode %q with a configuration %d", t.request.Mode, t.request.Config)
	}
	c := m.Configs[t.request.Config]
	c.Duration = scaled(c.Duration, t.request.Scale)
	c.Graphs = max(int(float64(c.Graphs)*min(t.request.Scale, 1)), min(c.Graphs, 2))
	t.crowded = c.Threads > 1
	try.E(t.start(&c))
	defer t.driver.end()
	if err := t.checkLiveness(); err != nil {
		return fmt.Errorf("before the test: %w", err)
	}
	if !m.clients {
		try.E(t.measureHost(max(c.Threads, 1), m.infers))
	}
	try.E(t.begin())
	try.E(m.run(t, &c))
	if err := t.checkLiveness(); err != nil {
		return fmt.Errorf("liveness check: %w", err)
	}
	return nil
}

// start starts the driver where it is a process, and opens it.
func (t *test) start(c *Config) (err error) {
	defer try.Catch(&err)
	t.socket = t.request.Socket
	if t.socket == "" && (t.request.Service || c.Processes > 0) {
		t.driver = try.V(t.program.startDriver(t.request))
		t.socket = t.driver.socket
	}
	d, cpu := try.V2(t.program.device(t.request, t.socket))
	t.registry = try.V(registryOf(cpu, d))
	t.loads, err = loadsOf(t.registry, t.request)
	return err
}

// device opens the device of a request in this process, or the driver of a socket.
func (p *Program) device(q *Request, socket string) (d, cpu hal.Device, err error) {
	if socket == "" {
		return p.Open(q.Device)
	}
	if _, cpu, err = p.Open(""); err == nil { // the SoC may have no device of that name
		d, err = p.Dial(socket)
	}
	return d, cpu, err
}

// registryOf has the CPU for the expected outputs, and the device under test.
func registryOf(cpu, d hal.Device) (*registry.Registry, error) {
	return registry.New(renamed{cpu}, d)
}

// renamed is the CPU beside one that is under test itself.
type renamed struct{ hal.Device }

// Name implements hal.Device.
func (renamed) Name() string { return "reference" }

// scaled is a duration of AOSP for this run.
func scaled(d time.Duration, scale float64) time.Duration { return time.Duration(float64(d) * scale) }

// margin is how much later than its duration a test may end, as in AOSP, and three times
// the limit of a small inference (assumed, D-981).
const margin = 30 * time.Second

// late is the margin of a request.
func (q *Request) late() time.Duration {
	if q.Margin > 0 {
		return q.Margin
	}
	return margin
}

// startLimit is the limit of the start-up of a test or its clients, where the liveness check would notice a driver that
// does not respond.
func (q *Request) startLimit() time.Duration { return 10 * q.late() }

// compile compiles a load for the device under test, wholly.
func (t *test) compile(l *load) (*nnrt.Compilation, error) {
	c, err := l.compile(t.registry)
	if err == nil {
		t.compilations.Add(1)
	}
	return c, err
}

// infer runs a compilation once and compares the outputs with the expected ones.
func (t *test) infer(l *load, c *nnrt.Compilation) (*nnrt.Result, error) {
	r, err := l.infer(c, t.crowded)
	if err == nil {
		t.inferences.Add(1)
	}
	return r, err
}

// checkLiveness runs one small inference within a time.
func (t *test) checkLiveness() error {
	limit := t.request.late() / 3
	done := make(chan error, 1)
	go func() {
		l, err := smallLoad(t.registry)
		if err != nil {
			done <- err
			return
		}
		c, err := l.compile(t.registry)
		if err == nil {
			_, err = c.Execute(l.inputs, nnrt.ExecuteOptions{})
		}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
		return fmt.Errorf("a small inference takes longer than %v", limit)
	}
}

// threads runs work in threads until the time is over or one of them fails.
func (t *test) threads(n int, d time.Duration, work func(thread int, until func() bool) error) error {
	return threads(n, d, work)
}

func threads(n int, d time.Duration, work func(thread int, until func() bool) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	errs := make(chan error, n)
	for i := range n {
		go func() {
			err := work(i, func() bool { return ctx.Err() != nil })
			if err != nil {
				cancel()
			}
			errs <- err
		}()
	}
	var all []error
	for range n {
		if err := <-errs; err != nil {
			all = append(all, err)
		}
	}
	if len(all) > 0 {
		return all[0]
	}
	return nil
}

// errMismatch begins the text of a wrong result.
var errMismatch = errors.New("wrong result")

// compare compares outputs with what the same compilation has given before, and with the
// reference.
func (l *load) compare(outputs [][]byte, r *nnrt.Result) error {
	l.mu.Lock()
	first := l.first
	if first == nil {
		l.first = outputs
	}
	l.mu.Unlock()
	if first == nil {
		for i, x := range nnrt.Compare(l.model, l.expected, r) {
			if err := x.Err(); err != nil {
				return fmt.Errorf("%w: %s: output %d: %w", errMismatch, l.model.Name, i, err)
			}
		}
		return nil
	}
	for i := range outputs {
		if !bytes.Equal(outputs[i], first[i]) {
			return fmt.Errorf("%w: %s: output %d is not what it was at first", errMismatch, l.model.Name, i)
		}
	}
	return nil
}
