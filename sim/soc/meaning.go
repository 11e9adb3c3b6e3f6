package soc

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// meanings is a row of keys, unit and meaning for each number that a file may have; its first lines say how rows match.
//
//go:embed keys.txt
var meanings string

// Meaning says what a key of a SoC file stands for.
type Meaning struct {
	Unit string // of the value, "-" for a count or a share
	Text string // one sentence
}

// index is the place of an element in a key.
var index = regexp.MustCompile(`\[\d+\]`)

// MeaningOf returns the meaning of a key such as "npu.ublock[0]"; ok is false when no row fits it. A row of points, whose elements
// have units of their own ("KiB, us"), gives a key the unit of its element.
func MeaningOf(key string) (m Meaning, ok bool) {
	m, ok = rowOf(key)
	units := strings.Split(m.Unit, ", ")
	if at := lastIndex.FindStringSubmatch(key); at != nil && len(units) > 1 {
		if i, err := strconv.Atoi(at[1]); err == nil && i < len(units) {
			m.Unit = units[i]
		}
	}
	return m, ok
}

// lastIndex is the place of an element in its list.
var lastIndex = regexp.MustCompile(`\[(\d+)\]$`)

// rowOf returns the row that fits a key best.
func rowOf(key string) (m Meaning, ok bool) {
	key = index.ReplaceAllString(key, "[]")
	named := -1 // how much of the key the best row names
	for pattern, row := range meaningRows() {
		suffix, any := strings.CutPrefix(pattern, "*")
		if pattern == key {
			return row, true
		}
		if any && len(suffix) > named && strings.HasSuffix(key, suffix) {
			m, named = row, len(suffix)
		}
	}
	return m, named >= 0
}

// meaningRows reads the table.
func meaningRows() map[string]Meaning {
	rows := map[string]Meaning{}
	for line := range strings.Lines(meanings) {
		if pattern, rest, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t"); ok && !strings.HasPrefix(line, "#") {
			unit, text, _ := strings.Cut(rest, "\t")
			rows[pattern] = Meaning{unit, text}
		}
	}
	return rows
}

// ErrNoKey says that a SoC has no number of a name.
var ErrNoKey = errors.New("no such key")

// Explain returns the numbers of a SoC whose key is the given one or lies below it, as all elements do below a list and
// all keys below a section.
func Explain(nameOrPath, key string) ([]Key, error) {
	keys, err := Keys(nameOrPath)
	if err != nil {
		return nil, err
	}
	var found []Key
	for _, k := range keys {
		if rest, ok := strings.CutPrefix(k.Path, key); ok && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			found = append(found, k)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("soc: %s: %w %s", nameOrPath, ErrNoKey, key)
	}
	return found, nil
}
