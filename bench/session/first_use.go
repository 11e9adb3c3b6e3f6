package session

import (
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// FirstUse is the wait of an application that uses a network for the first time: until it is compiled, and until a
// phone that has been idle has the first result. Warm is each result after that.
type FirstUse struct {
	CompileUS float64 `json:"compile_us"`
	Cached    int     `json:"cached_parts"` // parts loaded from --cache-dir
	FirstUS   float64 `json:"first_us"`
	WarmUS    float64 `json:"warm_us"`
}

// measureFirst executes a network that has just been compiled once, on a phone that is cold; nil where a driver does
// not report its compilation time.
func measureFirst(m *Phone, c *nnrt.Compilation, n *Network) (*FirstUse, error) {
	fs, known := c.PreparedFs()
	if !known {
		return nil, nil
	}
	m.Live.Reset()
	r, err := c.Execute(n.Inputs, nnrt.ExecuteOptions{})
	if err != nil {
		return nil, err
	}
	return &FirstUse{CompileUS: microseconds(fs), Cached: c.CacheHits, FirstUS: microseconds(r.LatencyFs)}, nil
}
