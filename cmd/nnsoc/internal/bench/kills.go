package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/service"
	"github.com/nnsoc/nnsoc/internal/try"
)

// killsReport is the leftovers of killed clients.
type killsReport struct {
	Kills      int `json:"kill_count"`
	Working    int `json:"working"` // executing when they were killed; the others were starting
	Held       int `json:"leaked"`  // sessions, memories, models, buffers and bursts of the driver
	Goroutines int `json:"goroutines"`
	Files      int `json:"open_files"` // open descriptors
	Memfds     int `json:"memfds"`     // shared memories still mapped
	HeapBytes  int `json:"heap_bytes"`
	Errors     int `json:"errors"` // executions of a client that was not killed
}

// leaks counts forbidden leftovers. Of the heap a MiB is tolerated: buffers that the Go runtime and gRPC keep for
// later.
func (r *killsReport) leaks() int {
	n := r.Held + max(r.Goroutines, 0) + max(r.Files, 0) + r.Memfds + r.Errors
	if r.HeapBytes > 1<<20 {
		n++
	}
	return n
}

// killsAtOnce is how many clients live at a time.
const killsAtOnce = 4

// killClients serves a device to processes of this program that are killed at random
// moments, and executes beside them.
func killClients(d hal.Device, a *cli.App, kills int) (_ *killsReport, err error) {
	defer try.Catch(&err)
	program := try.V(exec.LookPath(os.Args[0]))
	dir := try.V(os.MkdirTemp("", "nnsoc-kills"))
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, d.Name())
	l := try.V(service.Listen(path))
	server := service.NewServer(d, service.Quotas{})
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	defer func() {
		server.Close()
		<-served
	}()
	r := &killsReport{Kills: kills}
	stay := try.V(newStayer(path))
	defer func() { _ = stay.device.Close() }()
	try.E(stay.execute())
	before, held := countResources(), server.Held()
	var mu sync.Mutex
	var wait sync.WaitGroup
	left := kills
	for k := range killsAtOnce {
		wait.Go(func() {
			random := rand.New(rand.NewPCG(uint64(k), 1))
			for {
				mu.Lock()
				left--
				done := left < 0
				mu.Unlock()
				if done {
					return
				}
				args := []string{"bench", "service", "--client", path, "--soc", a.SoC, "-q"}
				for _, s := range a.Set {
					args = append(args, "--set", s)
				}
				c := exec.Command(program, args...)
				working, err := killOne(c, random)
				mu.Lock()
				if err != nil {
					r.Errors++
				}
				if working {
					r.Working++
				}
				if stay.execute() != nil {
					r.Errors++
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		after := countResources()
		r.Held = server.Held().Total() - held.Total()
		r.Goroutines, r.Files, r.Memfds, r.HeapBytes = after.goroutines-before.goroutines, after.files-before.files, after.memfds-before.memfds, after.heap-before.heap
		if r.leaks() == r.Errors || time.Now().After(end) {
			return r, nil
		}
	}
}

// killOne starts a client and kills it: one of four while it starts, the others at work.
func killOne(c *exec.Cmd, random *rand.Rand) (working bool, err error) {
	out, err := c.StdoutPipe()
	if err != nil {
		return false, err
	}
	if err := c.Start(); err != nil {
		return false, err
	}
	wait := time.Duration(random.IntN(10_000)) * time.Microsecond
	if random.IntN(4) > 0 {
		line, err := bufio.NewReader(out).ReadString('\n')
		if working = err == nil && line == "ready\n"; !working {
			_ = c.Process.Kill()
			_ = c.Wait()
			return false, fmt.Errorf("a client says %q: %w", line, err)
		}
	}
	time.Sleep(wait)
	_ = c.Process.Kill()
	_ = c.Wait() // killed
	return working, nil
}

// stayer is a client that is not killed.
type stayer struct {
	device  *service.Device
	model   hal.PreparedModel
	request *hal.Request
}

func newStayer(path string) (_ *stayer, err error) {
	defer try.Catch(&err)
	d := try.V(service.Dial(path))
	m := try.V(oneAdd())
	p := try.V(d.PrepareModel(m, hal.PrepareOptions{}))
	return &stayer{d, p, addRequest()}, nil
}

func (s *stayer) execute() error {
	_, err := s.model.Execute(s.request, hal.ExecuteOptions{})
	return err
}

// resources are those that a process can leak.
type resources struct{ goroutines, files, memfds, heap int }

func countResources() resources {
	runtime.GC()
	runtime.GC() // the second collection frees what finalizers and cleanups have released
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r := resources{goroutines: runtime.NumGoroutine(), heap: int(m.HeapAlloc)}
	if entries, err := os.ReadDir("/proc/self/fd"); err == nil {
		r.files = len(entries)
	}
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil {
		r.memfds = bytes.Count(maps, []byte("/memfd:nnsoc"))
	}
	return r
}

// serveAsClient uses a driver in every way until it is killed.
func serveAsClient(a *cli.App, ctx context.Context, path string) (err error) {
	defer try.Catch(&err)
	s := try.V(newStayer(path))
	m := try.V(oneAdd())
	try.V(fmt.Fprintln(a.Out, "ready"))
	random := rand.New(rand.NewPCG(uint64(os.Getpid()), 2))
	bursts := []hal.Burst{}
	for ctx.Err() == nil {
		switch random.IntN(7) {
		case 0:
			_, err = s.device.PrepareModel(m, hal.PrepareOptions{})
		case 1:
			err = s.execute()
		case 2:
			var b hal.Burst
			if b, err = s.model.ConfigureExecutionBurst(); err == nil {
				bursts = append(bursts, b)
				_, err = b.Execute(s.request, hal.ExecuteOptions{})
			}
		case 3:
			_, err = s.device.Allocate(hal.BufferDesc{}, []hal.PreparedModel{s.model}, []hal.BufferRole{{Frequency: 1}}, nil)
		case 4:
			_, _, err = s.device.NewMemory(1 + random.IntN(1<<16))
		case 5: // a fence that never signals
			_, err = s.model.ExecuteFenced(s.request, []*hal.SyncFence{hal.NewSyncFence()}, hal.ExecuteOptions{}, 0)
		case 6:
			if len(bursts) > 0 {
				err = bursts[0].Close()
				bursts = bursts[1:]
			}
		}
		if s := hal.StatusOf(err); s != hal.StatusNone && s != hal.ResourceExhaustedTransient {
			return err
		}
	}
	return nil
}
