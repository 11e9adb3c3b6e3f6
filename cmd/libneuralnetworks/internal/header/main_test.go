package main

import (
	"os"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestHeader: the header is what the tables say.
func TestHeader(t *testing.T) {
	if have := string(require.V(os.ReadFile("../../" + file))(t)); have != text() {
		t.Errorf("%s is out of date: go generate ./cmd/libneuralnetworks", file)
	}
}
