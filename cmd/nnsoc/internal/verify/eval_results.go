package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

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

// results keeps scores in a journal, which grows as samples end. Without a path nothing is kept.
type results struct {
	journal *cli.Journal
	known   map[scoreKey]metric.Score
}

// scoreKey is the place of a score.
type scoreKey struct {
	device string
	index  int
}

// scoresKind is what the file of scores holds.
var scoresKind = cli.JournalKind{Lines: "scores", Depend: "model, SoC, data set, metric, labels or normalization"}

// openResults opens a file of scores or makes it.
func openResults(path string, h resultsHeader) (*results, error) {
	r := &results{known: map[scoreKey]metric.Score{}}
	same := func(was resultsHeader) bool { was.Dataset = h.Dataset; return was == h }
	var err error
	r.journal, err = cli.OpenJournal(path, scoresKind, h, same, func(x resultsLine) { r.known[scoreKey{x.Device, x.Index}] = x.Score })
	return r, err
}

func (r *results) get(device string, index int) (metric.Score, bool) {
	s, ok := r.known[scoreKey{device, index}]
	return s, ok
}

func (r *results) put(device string, index int, sample string, s metric.Score) error {
	return r.journal.Write(resultsLine{device, index, sample, s})
}

func (r *results) close() { r.journal.Close() }

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
