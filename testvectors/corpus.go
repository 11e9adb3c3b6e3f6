package testvectors

import (
	"bytes"
	"fmt"
	"iter"

	"github.com/nnsoc/nnsoc/importer/vectors"
	"github.com/nnsoc/nnsoc/nn"
	"github.com/nnsoc/nnsoc/testvectors/nnapi"
)

// Corpus yields the documents of the public corpus, which package nnapi
// carries, in the order of their names.
func Corpus() iter.Seq[*vectors.File] {
	return func(yield func(*vectors.File) bool) {
		for _, name := range nnapi.Names() {
			f, err := Document(name)
			if err != nil {
				panic(err) // it is part of the program
			}
			if !yield(f) {
				return
			}
		}
	}
}

// Document is the document of the corpus with that name.
func Document(name string) (*vectors.File, error) {
	text, err := nnapi.Read(name)
	if err != nil {
		return nil, err
	}
	f, err := vectors.Read(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

// Uses reports whether every operation of a case passes the filter.
func Uses(c *vectors.Case, ok func(nn.OperationType) bool) bool {
	if c.Model == nil {
		return false
	}
	for i := range c.Model.Main.Operations {
		if !ok(c.Model.Main.Operations[i].Type) {
			return false
		}
	}
	for k := range c.Model.Referenced {
		for i := range c.Model.Referenced[k].Operations {
			if !ok(c.Model.Referenced[k].Operations[i].Type) {
				return false
			}
		}
	}
	return true
}
