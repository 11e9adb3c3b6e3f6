package verify

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/nnsoc/nnsoc/bench/metric"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/nn"
)

// resultsHeader is the first line of a file of scores: the evaluation that they belong to.
type resultsHeader struct {
	Model   string  `json:"model"` // hash
	SoC     string  `json:"soc"`
	Dataset string  `json:"dataset"` // path, which may be written in several ways
	Data    string  `json:"data"`    // hash
	Metric  string  `json:"metric"`
	Samples int     `json:"samples"`
	Labels  string  `json:"labels"` // hash
	Mean    float64 `json:"mean"`   // of the normalization of pixels
	Std     float64 `json:"std"`
}

// resultsLine is each further line.
type resultsLine struct {
	Device string       `json:"device"`
	Index  int          `json:"index"` // within the data set, where names may repeat
	Sample string       `json:"sample"`
	Score  metric.Score `json:"score"`
}

// results keeps scores in a file of JSON lines, which grows as samples end.
// Without a path nothing is kept.
type results struct {
	file  *os.File
	known map[scoreKey]metric.Score
}

// scoreKey is the place of a score.
type scoreKey struct {
	device string
	index  int
}

// openResults opens a file or makes it. A line that was cut off, the last one of
// a run that was stopped, is dropped; a file that begins otherwise is left alone.
func openResults(path string, h resultsHeader) (*results, error) {
	r := &results{known: map[scoreKey]metric.Score{}}
	if path == "" {
		return r, nil
	}
	fail := func(line int, err error) (*results, error) {
		return nil, cli.Usage(fmt.Errorf("%s: line %d: %w", path, line, err))
	}
	first, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	whole, rest := int64(0), 0
	if old, err := os.Open(path); err == nil {
		defer old.Close()
		in := bufio.NewReader(old)
		for n := 1; ; n++ {
			line, err := in.ReadBytes('\n')
			if errors.Is(err, io.EOF) {
				if n == 1 && !bytes.HasPrefix(first, line) {
					return fail(n, errors.New("no file of scores"))
				}
				rest = len(line)
				break
			} else if err != nil {
				return fail(n, err)
			}
			whole += int64(len(line))
			if n == 1 {
				var was resultsHeader
				if err := json.Unmarshal(line, &was); err != nil {
					return fail(n, errors.New("no file of scores"))
				}
				if was.Dataset = h.Dataset; was != h {
					return fail(n, fmt.Errorf("scores of another model, SoC, data set, metric, labels or normalization: %s", bytes.TrimSpace(line)))
				}
				continue
			}
			var x resultsLine
			if err := json.Unmarshal(line, &x); err != nil {
				return fail(n, err)
			}
			r.known[scoreKey{x.Device, x.Index}] = x.Score
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, cli.Usage(err)
	}
	// Lines are appended, so that runs on several devices can share a file.
	if r.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666); err != nil {
		return nil, cli.Usage(err)
	}
	if rest > 0 {
		err = r.file.Truncate(whole)
	}
	if err == nil && whole == 0 {
		err = r.write(h)
	}
	if err != nil {
		r.file.Close()
		return nil, cli.Usage(err)
	}
	return r, nil
}

func (r *results) write(v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = r.file.Write(append(b, '\n'))
	return err
}

func (r *results) get(device string, index int) (metric.Score, bool) {
	s, ok := r.known[scoreKey{device, index}]
	return s, ok
}

func (r *results) put(device string, index int, sample string, s metric.Score) error {
	if r.file == nil {
		return nil
	}
	return r.write(resultsLine{device, index, sample, s})
}

func (r *results) close() {
	if r.file != nil {
		r.file.Close()
	}
}

// labelsHash identifies labels.
func labelsHash(labels []string) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q", labels)
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// modelHash identifies a model by its operations and constants.
func modelHash(m *nn.Model) string {
	h := sha256.New()
	for _, g := range append([]nn.Subgraph{m.Main}, m.Referenced...) {
		for i := range g.Operands {
			o := &g.Operands[i]
			fmt.Fprintln(h, o.Type, o.Dimensions, o.Scale, o.ZeroPoint, o.Channel, len(o.Data))
			h.Write(o.Data)
		}
		fmt.Fprintln(h, g.Operations, g.Inputs, g.Outputs)
	}
	return hex.EncodeToString(h.Sum(nil)[:12])
}
