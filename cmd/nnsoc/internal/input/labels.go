package input

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/nn"
)

// maxLabelFile bounds a file of class names.
const maxLabelFile = 16 << 20

// ReadLabels reads one class name per line; an empty path means none.
func ReadLabels(path string) ([]string, error) {
	if path == "" {
		return nil, nil
	}
	b, err := cli.ReadFile(path, maxLabelFile)
	if err != nil {
		return nil, err
	}
	labels, err := ParseLabels(b)
	if err != nil {
		return nil, cli.Usage(fmt.Errorf("%s: %w", path, err))
	}
	return labels, nil
}

// ParseLabels reads a name per line.
func ParseLabels(b []byte) ([]string, error) {
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

// CheckLabels demands an output with a score for each label.
func CheckLabels(path string, labels []string, m *nn.Model) error {
	if labels == nil {
		return nil
	}
	var classes []string
	for _, o := range cli.OutputsOf(m) {
		switch {
		case !o.Known():
			return nil // an execution will show
		case !session.IsScores(o, o.Dimensions):
		case nn.Elements(o.Dimensions) == int64(len(labels)):
			return nil
		default:
			classes = append(classes, fmt.Sprint(nn.Elements(o.Dimensions)))
		}
	}
	if classes == nil {
		return cli.Usage(fmt.Errorf("--labels: no output of %s is a vector of class scores", m.Name))
	}
	return cli.Usage(fmt.Errorf("--labels: %s has %d names, %s has %s classes", path, len(labels), m.Name, strings.Join(classes, " and ")))
}
