package asm

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
)

// metadata converts the text of .amdgpu_metadata to a note.
func (a *assembler) metadata() error {
	a.inYAML = false
	p := yamlParser{}
	first := a.line - len(a.yaml)
	for i, l := range a.yaml {
		s := strings.TrimRight(l, " ")
		t := strings.TrimLeft(s, " ")
		if t == "" || t == "---" || t == "..." {
			continue
		}
		p.lines = append(p.lines, yamlLine{indent: len(s) - len(t), text: t, line: first + i})
	}
	v, err := p.block(0)
	if err == nil && p.at < len(p.lines) {
		err = &Error{p.lines[p.at].line, "metadata: indentation"}
	}
	if err != nil {
		return err
	}
	root, ok := v.(map[string]any)
	if !ok {
		return errors.New("metadata is no map")
	}
	if a.unit.Note, err = codeobject.PackMetadata(root); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "codeobject: "))
	}
	return nil
}

// yamlParser reads the block style of YAML that LLVM prints: maps, sequences and
// plain or quoted scalars.
type yamlParser struct {
	lines []yamlLine
	at    int
}

type yamlLine struct {
	indent int
	text   string
	line   int
}

const maxYAMLDepth = 32

// block reads a sequence or a mapping.
func (p *yamlParser) block(depth int) (any, error) {
	if p.at == len(p.lines) || depth > maxYAMLDepth {
		return nil, nil
	}
	if strings.HasPrefix(p.lines[p.at].text, "- ") || p.lines[p.at].text == "-" {
		return p.sequence(depth)
	}
	return p.mapping(depth)
}

func (p *yamlParser) sequence(depth int) (any, error) {
	out := []any{}
	indent := p.lines[p.at].indent
	for p.at < len(p.lines) && p.lines[p.at].indent == indent && strings.HasPrefix(p.lines[p.at].text, "-") {
		l := &p.lines[p.at]
		rest := strings.TrimLeft(l.text[1:], " ")
		if key, _, ok := cutKey(rest); ok && key != "" {
			// A map that begins after the dash.
			l.indent += len(l.text) - len(rest)
			l.text = rest
			v, err := p.mapping(depth + 1)
			if err != nil {
				return nil, err
			}
			out = append(out, v)
			continue
		}
		if rest != "" {
			out = append(out, scalar(rest))
			p.at++
			continue
		}
		p.at++
		v, err := p.nested(indent, depth)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (p *yamlParser) mapping(depth int) (any, error) {
	out := map[string]any{}
	indent := p.lines[p.at].indent
	for p.at < len(p.lines) && p.lines[p.at].indent == indent {
		l := p.lines[p.at]
		key, rest, ok := cutKey(l.text)
		if !ok {
			return nil, &Error{l.line, fmt.Sprintf("metadata: %q is no entry of a map", l.text)}
		}
		p.at++
		if rest != "" {
			out[key] = scalar(rest)
			continue
		}
		v, err := p.nested(indent, depth)
		if err != nil {
			return nil, err
		}
		out[key] = v
	}
	return out, nil
}

// nested reads the block deeper than indent; a sequence may be at indent itself.
func (p *yamlParser) nested(indent, depth int) (any, error) {
	if depth >= maxYAMLDepth {
		return nil, errors.New("metadata is nested too deeply")
	}
	if p.at == len(p.lines) {
		return nil, nil
	}
	l := p.lines[p.at]
	if l.indent > indent || l.indent == indent && strings.HasPrefix(l.text, "-") {
		return p.block(depth + 1)
	}
	return nil, nil
}

// cutKey splits "key: value".
func cutKey(s string) (key, rest string, ok bool) {
	if s != "" && (s[0] == '\'' || s[0] == '"') {
		n := strings.IndexByte(s[1:], s[0])
		if n < 0 || !strings.HasPrefix(s[n+2:], ":") {
			return "", "", false
		}
		return s[1 : n+1], strings.TrimSpace(s[n+3:]), true
	}
	i := strings.Index(s, ":")
	if i < 1 || i+1 < len(s) && s[i+1] != ' ' || strings.ContainsAny(s[:i], "'\" []{}") {
		return "", "", false
	}
	return s[:i], strings.TrimSpace(s[i+1:]), true
}

func scalar(s string) any {
	switch {
	case len(s) > 1 && s[0] == '\'' && s[len(s)-1] == '\'':
		return strings.ReplaceAll(s[1:len(s)-1], "''", "'")
	case len(s) > 1 && s[0] == '"':
		if t, err := strconv.Unquote(s); err == nil {
			return t
		}
	case s == "true", s == "false":
		return s == "true"
	case s == "[]":
		return []any{}
	case s == "{}":
		return map[string]any{}
	}
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return n
	}
	return s
}
