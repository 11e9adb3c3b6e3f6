package soc

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

// variants are presets that differ from another in some lines: the same machine at another clock, of another size, or with other
// memory. A variant is a separate text: "of" names the preset, a file or a variant itself, and each further line,
// KEY = VALUE # source, replaces the line of that key, or is added to the other keys of its table; KEY = none removes the
// key, or a table with all below it.
//
//go:embed variants/*.txt
var variants embed.FS

// Presets lists the names that Load accepts, files and variants, in alphabetic order.
func Presets() []string {
	names := slices.Concat(Names(), variantNames())
	slices.Sort(names)
	return slices.Compact(names)
}

func variantNames() (names []string) {
	entries, err := variants.ReadDir("variants")
	if err != nil {
		return nil // the directory is part of the program
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".txt"))
	}
	return names
}

// Base is the preset that a variant is of, the name itself of any other.
func Base(name string) string {
	text, err := variantText(name)
	if err != nil {
		return name
	}
	for line := range strings.Lines(text) {
		if of, ok := strings.CutPrefix(line, "of = "); ok {
			return strings.Trim(of, "\"\n")
		}
	}
	return name
}

func variantText(name string) (string, error) {
	text, err := variants.ReadFile("variants/" + path.Base(path.Clean(name)) + ".txt")
	return string(text), err
}

// presetText is the file of a preset, or the expanded one of a variant.
func presetText(name string) ([]byte, error) {
	data, err := presets.ReadFile(path.Clean(name) + ".toml")
	if err != nil && slices.Contains(variantNames(), name) {
		return variant(name)
	}
	return data, err
}

// variant is the expanded file of a variant.
func variant(name string) ([]byte, error) {
	text, err := variantText(name)
	if err != nil {
		return nil, err
	}
	data, err := presetText(Base(name))
	if err != nil {
		return nil, err
	}
	d := draft{lines: strings.SplitAfter(string(data), "\n")}
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, " = ")
		if !ok || strings.HasPrefix(line, "#") || key == "of" {
			continue
		}
		if err := d.replace(key, strings.TrimRight(value, "\n")); err != nil {
			return nil, fmt.Errorf("soc: variants/%s.txt: %w", name, err)
		}
	}
	return []byte(variantHead(text) + d.text()), nil
}

// variantHead is the comment at the beginning of a variant.
func variantHead(text string) string {
	var head strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			break
		}
		head.WriteString(line)
	}
	head.WriteString("#\n")
	return head.String()
}

// draft is a preset on its way to a variant.
type draft struct {
	lines []string
	pos   map[string]position // of the keys in lines, nil where they have moved
}

func (d *draft) text() string { return strings.Join(d.lines, "") }

// replace writes a key's value and comment in place of the former ones, if there are any, which may occupy lines up to
// a closing bracket.
func (d *draft) replace(key, value string) (err error) {
	if d.pos == nil {
		if d.pos, err = positions([]byte(d.text())); err != nil {
			return err
		}
	}
	if value == "none" && isTable(d.text(), key) {
		d.lines, d.pos = strings.SplitAfter(withoutTable(d.text(), key), "\n"), nil
		return nil
	}
	dot := strings.LastIndexByte(key, '.')
	at, ok := d.pos[key]
	if !ok { // an optional key: behind the header of its table
		header, ok := d.pos[key[:max(dot, 0)]]
		if !ok || value == "none" {
			return fmt.Errorf("the preset has no %s", key)
		}
		at.line = header.line + 1
	}
	from, end := at.line-1, at.line-1
	for open := 0; ok; {
		code, _, _ := strings.Cut(d.lines[end], "#")
		open += strings.Count(code, "[") + strings.Count(code, "{") - strings.Count(code, "]") - strings.Count(code, "}")
		if end++; open <= 0 || end == len(d.lines) {
			break
		}
	}
	var with []string
	if value != "none" {
		with = []string{key[dot+1:] + " = " + value + "\n"}
	}
	if end-from != 1 || len(with) != 1 || strings.ContainsAny(d.lines[from]+with[0], "[{") { // a value may have keys of its own
		d.pos = nil
	}
	d.lines = slices.Replace(d.lines, from, end, with...)
	return nil
}

// tablePaths calls f with each line and the table that it belongs to, elements of lists with their index: thermal.node[3]. A
// header belongs to the table that it opens.
func tablePaths(text string, f func(line, table string)) {
	elements := map[string]int{} // so far, by list
	table := ""
	for line := range strings.Lines(text) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "[")
		if ok && !strings.HasPrefix(line, " ") {
			name, _, _ = strings.Cut(strings.TrimPrefix(name, "["), "]")
			list := strings.HasPrefix(line, "[[")
			table = ""
			for part := range strings.SplitSeq(name, ".") {
				table = strings.TrimPrefix(table+"."+part, ".")
				if n := elements[table]; list && strings.Count(table, ".") == strings.Count(name, ".") {
					elements[table]++
					table = fmt.Sprintf("%s[%d]", table, n)
				} else if n > 0 {
					table = fmt.Sprintf("%s[%d]", table, n-1)
				}
			}
		}
		f(line, table)
	}
}

// within reports whether a table is the given one, an element of it, or lies below it.
func within(table, key string) bool {
	rest, ok := strings.CutPrefix(table, key)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// isTable reports whether a key is that of a table, of a list of tables or of one of its elements.
func isTable(text, key string) (found bool) {
	tablePaths(text, func(_, table string) { found = found || within(table, key) })
	return found
}

// withoutTable removes a table with all below it.
func withoutTable(text, key string) string {
	var b strings.Builder
	tablePaths(text, func(line, table string) {
		if !within(table, key) {
			b.WriteString(line)
		}
	})
	return b.String()
}

// Borrowed says what a preset has from another one: the preset that it is a variant of, and the keys of a section, such as
// "gpu", that are its own. base is "" for a preset that is a file.
func Borrowed(preset, section string) (base string, own []string) {
	text, err := variantText(preset)
	if err != nil {
		return "", nil
	}
	for line := range strings.Lines(text) {
		key, _, ok := strings.Cut(line, " = ")
		if ok && !strings.HasPrefix(line, "#") && within(key, section) && key != section+".name" {
			own = append(own, strings.TrimPrefix(key, section+"."))
		}
	}
	return Base(preset), own
}
