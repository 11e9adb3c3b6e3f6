package input

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors"
)

// readSpecModel returns the network of a file of test cases, see caseModel.
func readSpecModel(a *cli.App, path string) (*nn.Model, error) {
	f, err := ReadSpec(path)
	if err != nil {
		return nil, cli.Usage(err)
	}
	m, err := caseModel(a, path, f)
	if err == nil {
		name := filepath.Base(path)
		for _, suffix := range SpecSuffixes {
			name = strings.TrimSuffix(name, suffix)
		}
		m.Name = name
	}
	return m, err
}

// readCorpusModel returns the network of the one document of the public corpus that a name matches; ok reports
// whether the name is one of the corpus.
func readCorpusModel(a *cli.App, name string) (m *nn.Model, ok bool, err error) {
	names, ok, err := corpus(name)
	switch {
	case err != nil:
		return nil, true, cli.Usage(err)
	case !ok:
		return nil, false, nil
	case len(names) > 1:
		return nil, true, cli.Usage(fmt.Errorf("%s: %d documents of the public corpus, name one, for example %s/%s", name, len(names), CorpusName,
			strings.TrimSuffix(names[0], ".json")))
	}
	f, err := testvectors.Document(names[0])
	if err != nil {
		return nil, true, err
	}
	m, err = caseModel(a, name, f)
	if err == nil {
		m.Name = strings.TrimSuffix(names[0], ".json")
	}
	return m, true, err
}

// caseModel returns the network of the first case that states a valid one; a note says which where there
// are several. Inputs that the network leaves open have the shapes of that case.
func caseModel(a *cli.App, path string, f *vectors.File) (*nn.Model, error) {
	i := slices.IndexFunc(f.Cases, func(c *vectors.Case) bool { return c.Model != nil && !c.ExpectFailure })
	if i < 0 {
		for _, c := range f.Cases {
			if c.Malformed != nil {
				return nil, cli.Usage(fmt.Errorf("%s: %s states no network: %w", path, c.Name, c.Malformed))
			}
		}
		return nil, cli.Usage(fmt.Errorf("%s: none of its %d cases states a valid network", path, len(f.Cases)))
	}
	c := f.Cases[i]
	if len(f.Cases) > 1 {
		a.Note("%s: %d cases, the network is that of %s", path, len(f.Cases), c.Name)
	}
	m := *c.Model
	m.Main.Operands = slices.Clone(m.Main.Operands)
	for k, x := range m.Main.Inputs {
		if o := &m.Main.Operands[x]; k < len(c.Inputs) && (len(o.Dimensions) == 0 || slices.Contains(o.Dimensions, 0)) {
			o.Dimensions = c.Inputs[k].Dimensions
		}
	}
	return &m, nil
}
