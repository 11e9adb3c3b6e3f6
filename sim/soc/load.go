package soc

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

//go:embed *.toml
var presets embed.FS

// Default is the preset used when none is named.
const Default = "pixel4"

// maxFile bounds the size of a file.
const maxFile = 1 << 20

// Names lists in alphabetic order the machines among the presets: those that have a file of their own or variants.
func Names() []string {
	entries, err := presets.ReadDir(".")
	if err != nil {
		return nil // the directory is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".toml"))
	}
	for _, v := range variantNames() {
		names = append(names, Base(v))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Text is the file of a preset.
func Text(preset string) ([]byte, error) {
	if isFile(preset) {
		return nil, fmt.Errorf("soc: %q is a file, want the name of a preset: %s", preset, strings.Join(Presets(), ", "))
	}
	t, err := open(preset)
	if err != nil {
		return nil, err
	}
	return t.data, nil
}

// Load reads a preset by name, or a file when the argument ends in .toml or
// holds a path separator. Errors name file, line and column.
func Load(nameOrPath string) (*Config, error) {
	t, err := open(nameOrPath)
	if err != nil {
		return nil, err
	}
	if isFile(nameOrPath) {
		return Parse(t.file, t.data)
	}
	c, err := decode(t.file, t.data) // the presets have been checked: TestPresets
	if err != nil {
		return nil, err
	}
	return c.arranged(), nil
}

// arranged has the clusters of its CPU in the order in which threads use them.
func (c *Config) arranged() *Config {
	if c.CPU != nil {
		c.CPU.Pin(c.CPU.Threads, c.CPU.Affinity...)
	}
	return c
}

// Parse decodes and checks a description; file is used in errors.
func Parse(file string, data []byte) (*Config, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("soc: %s: larger than %d bytes", file, maxFile)
	}
	c, err := decode(file, data)
	if err != nil {
		return nil, err
	}
	pos, err := positions(data)
	if err != nil {
		return nil, fmt.Errorf("soc: %s: %w", file, err)
	}
	k := checker{file: file, pos: pos}
	k.config(c)
	if err := k.err(); err != nil {
		return nil, err
	}
	return c.arranged(), nil
}

func decode(file string, data []byte) (*Config, error) {
	var c Config
	if err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&c); err != nil {
		return nil, decodeError(file, err)
	}
	return &c, nil
}

// decodeError adds a position to the decoder's errors.
func decodeError(file string, err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) {
		var errs []error
		for i := range strict.Errors {
			e := &strict.Errors[i]
			row, col := e.Position()
			errs = append(errs, fmt.Errorf("soc: %s:%d:%d: unknown key %s", file, row, col, keyText(e.Key())))
			if len(errs) == maxErrors {
				break
			}
		}
		return first(errs)
	}
	var d *toml.DecodeError
	if errors.As(err, &d) {
		row, col := d.Position()
		msg := strings.TrimPrefix(d.Error(), "toml: ")
		if m := wrongType().FindStringSubmatch(msg); m != nil {
			msg = "a " + strings.ToLower(m[1]) + ", want " + kindText(m[2])
		}
		if len(d.Key()) > 0 {
			msg = keyText(d.Key()) + ": " + msg
		}
		return fmt.Errorf("soc: %s:%d:%d: %s", file, row, col, msg)
	}
	return fmt.Errorf("soc: %s: %w", file, err)
}

// wrongType is the decoder's text for a value of another type than its field's.
var wrongType = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^cannot decode TOML (\w+) into (?:struct field \S+|a Go value) of type (\S+)$`)
})

// kindText is a type of Go as a person who writes a SoC file calls it.
func kindText(t string) string {
	switch {
	case t == "int":
		return "a whole number"
	case t == "float64":
		return "a number"
	case t == "bool":
		return "true or false"
	case t == "string":
		return "a name in quotes"
	case strings.HasPrefix(t, "["):
		return "a list"
	}
	return "a table"
}

// keyText is a key as a dotted path, quoted and cut when it is odd or long.
func keyText(k toml.Key) string {
	s := strings.Join(k, ".")
	if len(s) > 80 {
		s = s[:80] + "..."
	}
	if q := strconv.Quote(s); q != `"`+s+`"` {
		return q
	}
	return s
}
