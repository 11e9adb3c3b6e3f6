package crash

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/try"
)

// process is a process that this one started: a test, a client or a driver.
type process struct {
	cmd      *exec.Cmd
	in       io.WriteCloser
	messages chan Message // closed when the process has ended
	errors   *tail
	socket   string // of a driver
	dir      string // removed at the end
	killed   atomic.Bool
}

// spawn starts a process of a request.
func spawn(command func() *exec.Cmd, q *Request) (*process, error) {
	p := &process{cmd: command(), messages: make(chan Message, 16), errors: &tail{}}
	p.cmd.Stderr = p.errors
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.in = in
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("crash: %w", err)
	}
	go p.listen(out)
	if err := json.NewEncoder(in).Encode(q); err != nil {
		p.end()
		return nil, fmt.Errorf("crash: a process ended: %s", p.exitState())
	}
	return p, nil
}

// listen passes messages on until the process ends.
func (p *process) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var m Message
		if json.Unmarshal(lines.Bytes(), &m) == nil && m.Kind != "" {
			p.messages <- m
		}
	}
	_ = p.cmd.Wait()
	close(p.messages)
}

// next is the next message but for progress. ok is false when the process ended without,
// late when the time was over.
func (p *process) next(limit time.Duration) (m Message, ok, late bool) {
	end := time.NewTimer(limit)
	defer end.Stop()
	for {
		select {
		case m, ok = <-p.messages:
			if !ok || m.Kind != KindProgress {
				return m, ok, false
			}
		case <-end.C:
			return m, false, true
		}
	}
}

// kill ends a process at once.
func (p *process) kill() {
	p.killed.Store(true)
	_ = p.cmd.Process.Kill()
}

// end ends a process, if there is one, and all that belongs to it.
func (p *process) end() {
	if p == nil {
		return
	}
	_ = p.in.Close()
	if !p.killed.Load() {
		p.kill()
	}
	for range p.messages { // until it has ended
	}
	if p.dir != "" {
		_ = os.RemoveAll(p.dir)
	}
}

// exitState describes how a process ended.
func (p *process) exitState() string {
	text := "ended"
	if p.cmd.ProcessState != nil {
		text = p.cmd.ProcessState.String()
	}
	if s := p.errors.last(); s != "" {
		text += ": " + s
	}
	return text
}

// tail keeps the end of a process's output as an error.
type tail struct{ b []byte }

const maxTail = 16 << 10

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.b = append(t.b, b...)
	if len(t.b) > maxTail {
		t.b = t.b[len(t.b)-maxTail:]
	}
	return len(b), nil
}

// last is the first line of an error of Go's runtime, or else the last line.
func (t *tail) last() string {
	lines := strings.Split(strings.TrimSpace(string(t.b)), "\n")
	for _, l := range lines {
		if strings.HasPrefix(l, "panic:") || strings.HasPrefix(l, "fatal error:") {
			return l
		}
	}
	return lines[len(lines)-1]
}

// startLimit is the limit of a process's start-up time.
const startLimit = time.Minute

// startDriver starts a process that serves the device of a request.
func (p *Program) startDriver(q *Request) (*process, error) {
	dir, err := os.MkdirTemp("", "nnsoc-crash")
	if err != nil {
		return nil, err
	}
	socket := filepath.Join(dir, "driver")
	x, err := spawn(p.Command, &Request{Role: RoleDriver, Device: q.Device, Socket: socket, Scale: q.Scale})
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	x.socket, x.dir = socket, dir
	if m, ok, late := x.next(startLimit); !ok || m.Kind != KindReady {
		how := x.exitState()
		x.end()
		if late {
			how = "is not ready after " + startLimit.String()
		}
		return nil, fmt.Errorf("crash: the driver of %s: %s%s", q.Device, how, m.Text)
	}
	return x, nil
}

// drive serves a device until the input ends. A line of input requests the resources of the process.
func (p *Program) drive(q *Request) (err error) {
	defer try.Catch(&err)
	d, _ := try.V2(p.Open(q.Device))
	s := service.NewServer(d, service.Quotas{Sessions: maxThreads, Calls: maxThreads, Prepared: 1024})
	l := try.V(service.Listen(q.Socket))
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	try.E(send(p.Out, Message{Kind: KindReady}))
	for lines := bufio.NewScanner(p.In); lines.Scan(); {
		text := try.V(json.Marshal(own()))
		try.E(send(p.Out, Message{Kind: KindSuccess, Text: string(text)}))
	}
	s.Close()
	select {
	case err = <-served:
	case <-time.After(time.Second): // a call that hangs is left behind
	}
	return err
}

// exitWithParent ends this process when the one that started it has ended.
func (p *Program) exitWithParent() {
	_, _ = io.Copy(io.Discard, p.In)
	os.Exit(orphaned)
}

// orphaned is the exit code of a process whose coordinator is gone.
const orphaned = 1

// usage requests the resources of a driver.
func (p *process) usage() (u usage, err error) {
	if _, err := io.WriteString(p.in, "\n"); err != nil {
		return u, fmt.Errorf("the driver's process: %s", p.exitState())
	}
	m, ok, _ := p.next(startLimit)
	if !ok {
		return u, fmt.Errorf("the driver's process: %s", p.exitState())
	}
	return u, json.Unmarshal([]byte(m.Text), &u)
}

// client compiles in threads, and infers unless it only loads.
func (p *Program) client(q *Request) error {
	t := &test{program: p, request: q, socket: q.Socket, crowded: q.Threads > 1}
	err := func() (err error) {
		defer try.Catch(&err)
		d, cpu := try.V2(p.device(q, q.Socket))
		t.registry = try.V(registryOf(cpu, d))
		t.loads = try.V(loadsOf(t.registry, q))
		try.E(t.measureHost(q.Threads, !q.Load))
		try.E(t.begin())
		work := t.rounds
		if q.Load {
			work = t.loadRounds
		}
		return t.threads(max(q.Threads, 1), q.Duration, work)
	}()
	m := Message{Kind: KindSuccess, Count: t.counts()}
	if err != nil {
		m.Kind, m.Text = KindFailure, err.Error()
	}
	return send(p.Out, m)
}

// loadRounds compiles until the time is over.
func (t *test) loadRounds(thread int, until func() bool) error {
	for k := thread; !until(); k++ {
		if _, err := t.compile(t.loads[k%len(t.loads)]); err != nil {
			return err
		}
	}
	return nil
}

// startClient starts a client of the driver, which is this process's where there is no socket: the client then has its
// own driver.
func (t *test) startClient(c *Config, load bool) (*process, error) {
	q := *t.request
	q.Role, q.Socket, q.Threads, q.Duration, q.Load = RoleClient, t.socket, c.Threads, c.Duration, load
	x, err := spawn(t.program.Command, &q)
	if err != nil {
		return nil, err
	}
	m, ok, late := x.next(q.startLimit())
	if !ok || m.Kind != KindReady {
		how := x.exitState()
		x.end()
		switch {
		case late:
			return nil, fmt.Errorf("a client is not ready after %v", q.startLimit())
		case m.Kind == KindFailure:
			return nil, errors.New("a client: " + m.Text)
		}
		return nil, errors.New("a client died: " + how)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.late = max(t.late, m.Late) // clients start side by side, and see each other's load
	return x, nil
}

// finished waits for a client. One that was killed on purpose is no failure.
func (t *test) finished(x *process, d time.Duration) error {
	t.mu.Lock()
	limit := d + t.request.late()/2 + t.late
	t.mu.Unlock()
	m, ok, late := x.next(limit)
	switch {
	case x.killed.Load():
		t.mu.Lock()
		t.count.Killed++
		t.mu.Unlock()
		return nil
	case late:
		x.kill()
		return errHang
	case !ok:
		for range x.messages {
		}
		return fmt.Errorf("a client died: %s", x.exitState())
	case m.Kind == KindFailure:
		return fmt.Errorf("a client: %s", m.Text)
	}
	t.mu.Lock()
	t.count.add(&m.Count)
	t.mu.Unlock()
	return nil
}

// errHang is a client that does not end.
var errHang = errors.New("a client has not ended in time")

// earlyTermination kills a client while it compiles.
func (t *test) earlyTermination(c *Config) error { return t.clients(c, true) }

// processes has clients compile and infer.
func (t *test) processes(c *Config) error { return t.clients(c, false) }

// loadProcesses has clients compile.
func (t *test) loadProcesses(c *Config) error { return t.clients(c, true) }

// clients starts clients, kills some of them between a quarter and a half of the time, and
// waits for the others. The driver must live on.
func (t *test) clients(c *Config, load bool) error {
	random := rand.New(rand.NewPCG(t.request.Seed, uint64(t.request.Config)))
	errs, started := make(chan error, c.Processes), make(chan struct{}, c.Processes)
	for range c.Processes {
		kill := random.IntN(100) < c.KillPercent
		after := c.Duration/4 + time.Duration(random.Int64N(int64(c.Duration/4)+1))
		go func() {
			x, err := t.startClient(c, load)
			started <- struct{}{}
			if err != nil {
				errs <- err
				return
			}
			defer x.end()
			if kill {
				defer time.AfterFunc(after, x.kill).Stop()
			}
			errs <- t.finished(x, c.Duration)
		}()
	}
	for range c.Processes {
		<-started
	}
	first := t.begin()
	for range c.Processes {
		if err := <-errs; first == nil {
			first = err
		}
	}
	return first
}
