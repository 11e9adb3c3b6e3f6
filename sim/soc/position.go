package soc

import (
	"fmt"
	"sort"
	"strconv"

	"github.com/pelletier/go-toml/v2/unstable"
)

// position is 1-based.
type position struct{ line, col int }

// positions maps each key of a document, as a path like
// "cpu.cluster[0].clock.opps[2].mhz", to where it is written. Tables are in it
// under the path of their header.
func positions(data []byte) (map[string]position, error) {
	m := positionMap{at: map[string]position{}, count: map[string]int{}, lines: []int{0}}
	for i, b := range data {
		if b == '\n' {
			m.lines = append(m.lines, i+1)
		}
	}
	m.p.Reset(data)
	prefix := ""
	for m.p.NextExpression() {
		switch n := m.p.Expression(); n.Kind {
		case unstable.Table, unstable.ArrayTable:
			prefix = m.header(n)
		case unstable.KeyValue:
			m.keyValue(prefix, n)
		}
	}
	if err := m.p.Error(); err != nil {
		return nil, fmt.Errorf("key positions: %w", err)
	}
	return m.at, nil
}

type positionMap struct {
	p     unstable.Parser
	at    map[string]position
	count map[string]int // elements of each array of tables
	lines []int          // offset at which each line begins
}

func (m *positionMap) mark(path string, n *unstable.Node) {
	if _, ok := m.at[path]; !ok {
		off := int(n.Raw.Offset)
		line := sort.SearchInts(m.lines, off+1)
		m.at[path] = position{line, off - m.lines[line-1] + 1}
	}
}

func join(prefix, key string) string {
	if prefix == "" {
		return key
	}
	return prefix + "." + key
}

// header resolves a [table] or [[array of tables]] header to a path.
func (m *positionMap) header(n *unstable.Node) string {
	path := ""
	for it := n.Key(); it.Next(); {
		k := it.Node()
		path = join(path, string(k.Data))
		last := k.Next() == nil
		if last && n.Kind == unstable.ArrayTable {
			m.mark(path, k)
			m.count[path]++
		}
		if c := m.count[path]; c > 0 {
			path += "[" + strconv.Itoa(c-1) + "]"
		}
		m.mark(path, k)
	}
	return path
}

func (m *positionMap) keyValue(prefix string, n *unstable.Node) {
	var last *unstable.Node
	for it := n.Key(); it.Next(); {
		last = it.Node()
		prefix = join(prefix, string(last.Data))
		m.mark(prefix, last)
	}
	m.value(prefix, last, n.Value())
}

// value walks into inline tables and arrays; at is the nearest key, used for
// elements that have none.
func (m *positionMap) value(path string, at, v *unstable.Node) {
	switch v.Kind {
	case unstable.InlineTable:
		for it := v.Children(); it.Next(); {
			if c := it.Node(); c.Kind == unstable.KeyValue {
				m.keyValue(path, c)
			}
		}
	case unstable.Array:
		i := 0
		for it := v.Children(); it.Next(); {
			c := it.Node()
			if c.Kind == unstable.Comment {
				continue
			}
			p := path + "[" + strconv.Itoa(i) + "]"
			if c.Raw.Length > 0 {
				m.mark(p, c)
			} else {
				m.mark(p, at)
			}
			m.value(p, at, c)
			i++
		}
	}
}
