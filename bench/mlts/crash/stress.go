package crash

import (
	"fmt"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/nnsoc/nnsoc/internal/try"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// inference compiles each network and infers, in threads of this process, and compares every result. With one thread it
// also watches the driver's resources.
func (t *test) inference(c *Config) error {
	if c.Threads == 1 {
		return t.watched(c, func(until func() bool) error { return t.rounds(0, until) })
	}
	return t.threads(c.Threads, c.Duration, t.rounds)
}

// inferencesPerRound is how many inferences a compilation runs before the next network.
const inferencesPerRound = 16

func (t *test) rounds(thread int, until func() bool) error {
	for k := thread; !until(); k++ {
		l := t.loads[k%len(t.loads)]
		c, err := t.compile(l)
		for i := 0; err == nil && i < inferencesPerRound && (i == 0 || !until()); i++ {
			_, err = t.infer(l, c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// loading compiles each network again and again.
func (t *test) loading(c *Config) error {
	return t.watched(c, func(until func() bool) error {
		for k := 0; !until(); k++ {
			if _, err := t.compile(t.loads[k%len(t.loads)]); err != nil {
				return err
			}
		}
		return nil
	})
}

// watched runs work in one thread and compares the resources of the driver's process after a quarter of the time with
// those at the end.
func (t *test) watched(c *Config, work func(until func() bool) error) (err error) {
	defer try.Catch(&err)
	part := func(d time.Duration) error {
		return t.threads(1, d, func(_ int, until func() bool) error { return work(until) })
	}
	try.E(part(c.Duration / 4))
	before, known := try.V2(t.usage())
	try.E(part(c.Duration - c.Duration/4))
	after, _, err := t.usage()
	if err != nil || !known {
		return err
	}
	t.mu.Lock()
	t.count.HeapBytes = int64(after.Heap) - int64(before.Heap)
	t.count.Files, t.count.Goroutines = after.Files-before.Files, after.Goroutines-before.Goroutines
	t.mu.Unlock()
	return after.leak(&before)
}

// parallelProcess has threads of another process compile and infer.
func (t *test) parallelProcess(c *Config) error {
	x, err := t.startClient(c, false)
	if err != nil {
		return err
	}
	defer x.end()
	if err := t.begin(); err != nil {
		return err
	}
	return t.finished(x, c.Duration)
}

// degradation compares the simulated time of an inference alone with that beside a thread
// that compiles.
func (t *test) degradation(c *Config) error {
	const (
		warm = 5 // parts of 50: 5 s of warm-up and 20 s, twice
		run  = 20
		all  = 2 * (warm + run)
		most = 1.5 // of the time alone
	)
	for k, l := range t.loads {
		compiled, err := t.compile(l)
		if err != nil {
			return err
		}
		d := c.Duration / time.Duration(len(t.loads))
		alone, err := t.meanLatency(l, compiled, d*warm/all, d*run/all)
		if err != nil {
			return err
		}
		stop, stopped := make(chan struct{}), make(chan error, 1)
		begun := make(chan struct{})
		go func() {
			other := t.loads[(k+1)%len(t.loads)]
			for i := 0; ; i++ {
				select {
				case <-stop:
					stopped <- nil
					return
				default:
				}
				if i == 1 {
					close(begun)
				}
				if _, err := t.compile(other); err != nil {
					stopped <- err
					return
				}
			}
		}()
		select {
		case <-begun:
		case err := <-stopped:
			return err
		}
		beside, err := t.meanLatency(l, compiled, d*warm/all, d*run/all)
		close(stop)
		if failed := <-stopped; err == nil {
			err = failed
		}
		if err != nil {
			return err
		}
		t.mu.Lock()
		t.count.AloneMS, t.count.CompilingMS = max(t.count.AloneMS, alone), max(t.count.CompilingMS, beside)
		t.mu.Unlock()
		if beside > most*alone {
			return fmt.Errorf("%s: an inference takes %.3f ms beside a thread that compiles, %.3f ms alone: %.0f %% more, at most 50 %%", l.model.Name, beside, alone, 100*(beside/alone-1))
		}
	}
	return nil
}

// meanLatency is the mean of simulated ms over a time of the host, after a warm-up.
func (t *test) meanLatency(l *load, c *nnrt.Compilation, warm, run time.Duration) (float64, error) {
	var ms []float64
	begin := time.Now()
	for len(ms) == 0 || time.Since(begin) < warm+run {
		r, err := t.infer(l, c)
		if err != nil {
			return 0, err
		}
		if time.Since(begin) >= warm {
			ms = append(ms, float64(r.LatencyFs)/1e12)
		}
	}
	return stat.Mean(ms, nil), nil
}
