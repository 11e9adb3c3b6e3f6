package scenario

import (
	"embed"
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/internal/spelling"
)

//go:embed library/*.toml
var library embed.FS

// Library lists the scenarios that have names, in alphabetic order.
func Library() (names []string) {
	entries, err := library.ReadDir("library")
	if err != nil {
		return nil // the directory is part of the program
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".toml"))
	}
	return names
}

// Named returns a scenario of the library.
func Named(name string) (*Scenario, error) {
	data, err := library.ReadFile("library/" + name + ".toml")
	if err != nil {
		return nil, fmt.Errorf("no scenario %q; there are %s%s", name, strings.Join(Library(), ", "), spelling.DidYouMean(name, Library()))
	}
	return Parse(name+".toml", data)
}
