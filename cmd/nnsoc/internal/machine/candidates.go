package machine

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/runtime/nnrt"
)

// CandidateFlag is --candidate OPERATION=NAME, once for each operation.
type CandidateFlag struct{ given []string }

// Add adds the flag.
func (f *CandidateFlag) Add(fl *pflag.FlagSet) {
	fl.StringArrayVar(&f.given, "candidate", nil, "kernel for an operation in place of the one of the best estimate, by a name that compile --explain prints: 5='block 8x8x32' (repeat)")
}

// For are the candidates of a model on a device.
func (f *CandidateFlag) For(m *nn.Model, device string) (map[int]string, error) {
	if len(f.given) == 0 {
		return nil, nil
	}
	if session.Divides(device) {
		return nil, cli.Usage(errors.New("--candidate names kernels of one device: give --device"))
	}
	list := map[int]string{}
	for _, g := range f.given {
		number, name, ok := strings.Cut(g, "=")
		i, err := strconv.Atoi(number)
		switch {
		case !ok || err != nil || name == "":
			return nil, cli.Usage(fmt.Errorf("--candidate %s: want OPERATION=NAME, like 5='block 8x8x32'", g))
		case i < 0 || i >= len(m.Main.Operations):
			return nil, cli.Usage(fmt.Errorf("--candidate %s: %s has operations 0 to %d", g, m.Name, len(m.Main.Operations)-1))
		case list[i] != "":
			return nil, cli.Usage(fmt.Errorf("--candidate %s: a second one for operation %d", g, i))
		}
		list[i] = name
	}
	return list, nil
}

// Given reports whether the flag was set.
func (f *CandidateFlag) Given() bool { return len(f.given) > 0 }

// CandidateError makes an error about a candidate one of usage.
func CandidateError(err error) error {
	if errors.Is(err, nnrt.ErrCandidate) {
		return cli.Usage(fmt.Errorf("--candidate: %w", err))
	}
	return err
}
