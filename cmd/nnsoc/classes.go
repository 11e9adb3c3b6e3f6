package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/nnsoc/nnsoc/hal/nn"
	"github.com/nnsoc/nnsoc/hal/opspec"
)

// classEntry is a class of an output that is a vector of scores.
type classEntry struct {
	Class int     `json:"class"`
	Score float64 `json:"score"` // the element, dequantized
	Label string  `json:"label,omitempty"`
}

func (c *classEntry) text() string {
	if c.Label == "" {
		return fmt.Sprintf("%d (%.4g)", c.Class, c.Score)
	}
	return fmt.Sprintf("%d, %s (%.4g)", c.Class, c.Label, c.Score)
}

// isScores tells whether an output of some shape is one vector of at least two
// scores.
func isScores(o *nn.Operand, shape []uint32) bool {
	n := len(shape)
	real := o.Type == nn.TensorFloat32 || o.Type == nn.TensorFloat16 || o.Scale > 0
	return real && n > 0 && shape[n-1] > 1 && nn.Elements(shape) == int64(shape[n-1])
}

// topClasses are the five highest elements of a vector, the first of equals
// first; NaN is lower than any number. A label belongs to each class or to none.
func topClasses(o *nn.Operand, data []byte, labels []string) []classEntry {
	size := o.Type.ElementBytes()
	all := make([]classEntry, len(data)/size)
	scale, zero := 1.0, 0.0
	if o.Scale > 0 {
		scale, zero = float64(o.Scale), float64(o.ZeroPoint)
	}
	for i := range all {
		all[i] = classEntry{Class: i, Score: (opspec.Element(o.Type, data[i*size:]) - zero) * scale}
		if len(labels) == len(all) {
			all[i].Label = labels[i]
		}
	}
	slices.SortStableFunc(all, func(a, b classEntry) int {
		return cmp.Compare(b.Score, a.Score) // takes NaN as lowest
	})
	return all[:min(5, len(all))]
}

// maxLabelFile bounds a file of class names.
const maxLabelFile = 16 << 20

// readLabels reads one class name per line; an empty path gives none.
func readLabels(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, usage(err)
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, maxLabelFile+1))
	if err != nil {
		return nil, usage(err)
	}
	labels, err := parseLabels(b)
	if err != nil {
		return nil, usage(fmt.Errorf("%s: %w", path, err))
	}
	return labels, nil
}

func parseLabels(b []byte) ([]string, error) {
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if len(b) > maxLabelFile {
		return nil, fmt.Errorf("larger than %d MiB", maxLabelFile>>20)
	}
	lines := strings.Split(strings.TrimRight(string(b), "\r\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimSpace(l)
		if bad := strings.IndexFunc(l, func(r rune) bool { return r == utf8.RuneError || r < ' ' && r != '\t' && r != '\r' }); bad >= 0 {
			return nil, fmt.Errorf("line %d, byte %d: not text; want the name of class N on line N+1", i+1, bad+1)
		}
	}
	if len(lines) == 1 && lines[0] == "" {
		return nil, errors.New("no class names; want the name of class N on line N+1")
	}
	return lines, nil
}

// checkLabels demands an output with a score for each label.
func checkLabels(path string, labels []string, m *nn.Model) error {
	if labels == nil {
		return nil
	}
	var classes []string
	for _, o := range outputsOf(m) {
		switch {
		case !o.Known():
			return nil // an execution will tell
		case !isScores(o, o.Dimensions):
		case nn.Elements(o.Dimensions) == int64(len(labels)):
			return nil
		default:
			classes = append(classes, fmt.Sprint(nn.Elements(o.Dimensions)))
		}
	}
	if classes == nil {
		return usage(fmt.Errorf("--labels: no output of %s is a vector of class scores", m.Name))
	}
	return usage(fmt.Errorf("--labels: %s has %d names, %s has %s classes", path, len(labels), m.Name, strings.Join(classes, " and ")))
}
