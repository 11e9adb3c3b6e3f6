package crash

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// Request assigns a role to a process of the crash tests.
type Request struct {
	Role   Role   `json:"role"`
	Mode   string `json:"mode,omitempty"`
	Config int    `json:"config,omitempty"` // of the mode
	// Device is the accelerator, Socket a driver that serves it; without, the device is of
	// this process, or with Service of a process that the test starts.
	Device  string `json:"device"`
	Socket  string `json:"socket,omitempty"`
	Service bool   `json:"service,omitempty"`
	// Models are the networks under stress; without any, the device's kind chooses them.
	Models []string `json:"models,omitempty"`
	Seed   uint64   `json:"seed"`
	Scale  float64  `json:"scale"` // of durations
	// Margin is how much later a test may end, a third of it the limit of a small inference; 0 means AOSP's margin.
	Margin time.Duration `json:"margin,omitempty"`
	// Of a client: threads, for how long, and whether they only compile.
	Threads  int           `json:"threads,omitempty"`
	Duration time.Duration `json:"duration,omitempty"`
	Load     bool          `json:"load,omitempty"`
}

// Role is the role of a process.
type Role string

// Roles.
const (
	RoleTest   Role = "test"
	RoleClient Role = "client"
	RoleDriver Role = "driver"
)

// maxRequest bounds the text of a request.
const maxRequest = 1 << 20

// ReadRequest reads a request: a line of JSON.
func ReadRequest(r io.Reader) (*Request, error) {
	var line []byte
	for one := make([]byte, 1); ; { // no byte beyond the line: the rest is the role's
		if _, err := r.Read(one); err != nil {
			return nil, fmt.Errorf("crash: the request ends early: %w", err)
		}
		if one[0] == '\n' {
			break
		}
		if line = append(line, one[0]); len(line) > maxRequest {
			return nil, errors.New("crash: the request is too long")
		}
	}
	q := &Request{}
	if err := json.Unmarshal(line, q); err != nil {
		return nil, fmt.Errorf("crash: %w", err)
	}
	switch {
	case q.Role != RoleTest && q.Role != RoleClient && q.Role != RoleDriver:
		return nil, fmt.Errorf("crash: no role %q", q.Role)
	case !(q.Scale > 0 && q.Scale <= maxScale):
		return nil, fmt.Errorf("crash: scale %v, want above 0 to %d", q.Scale, maxScale)
	case q.Threads < 0 || q.Threads > maxThreads || q.Duration < 0 || q.Margin < 0:
		return nil, fmt.Errorf("crash: %d threads for %v", q.Threads, q.Duration)
	}
	return q, nil
}

// Bounds of a request.
const (
	maxScale   = 100
	maxThreads = 256
)

// Message is a message of a test's process: a line of JSON.
type Message struct {
	Kind Kind   `json:"kind"`
	Text string `json:"text,omitempty"`
	// Of a success: how much was done.
	Count Counts `json:"count,omitzero"`
	// Late is of a client or a test that is ready: how much later it may end.
	Late time.Duration `json:"late,omitempty"`
}

// Kind says what a message reports.
type Kind string

// Kinds.
const (
	KindReady    Kind = "ready" // of a driver, a client, and a test whose duration begins
	KindProgress Kind = "progress"
	KindSuccess  Kind = "success"
	KindFailure  Kind = "failure"
)

// Counts are the counts of a test.
type Counts struct {
	Compilations int64 `json:"compilations"`
	Inferences   int64 `json:"inferences"`
	Killed       int64 `json:"killed"` // clients
	// Graphs are random models by outcome.
	Graphs      map[string]int `json:"graph_outcomes,omitempty"`
	AloneMS     float64        `json:"inference_ms,omitempty"`                 // simulated, without other load
	CompilingMS float64        `json:"inference_while_compiling_ms,omitempty"` // simulated
	// The growth of the driver's process at the end.
	HeapBytes  int64 `json:"heap_bytes"`
	Files      int   `json:"open_files"` // open descriptors
	Goroutines int   `json:"goroutines"`
}

// any reports whether something was done.
func (c *Counts) any() bool { return c.Compilations+c.Inferences+c.Killed > 0 }

// add adds the counts of a client.
func (c *Counts) add(x *Counts) {
	c.Compilations += x.Compilations
	c.Inferences += x.Inferences
	c.Killed += x.Killed
}

// send writes a message.
func send(w io.Writer, m Message) error { return json.NewEncoder(w).Encode(m) }
