package soc

import (
	"embed"
	"fmt"
	"path"
	"slices"
	"strings"
)

// variants are presets that differ from a file in some lines: the same machine at another clock, or with other memory.
// A variant is a separate text: "of" names the preset, and each further line, KEY = VALUE # source, replaces the line
// of that key, or is added to the other keys of its table; KEY = none removes the key.
//
//go:embed variants/*.txt
var variants embed.FS

// Presets lists the names that Load accepts, files and variants, in alphabetic order.
func Presets() []string {
	names := Names()
	entries, err := variants.ReadDir("variants")
	if err != nil {
		return names // the directory is part of the program
	}
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".txt"))
	}
	slices.Sort(names)
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

// variant is the expanded file of a variant.
func variant(name string) ([]byte, error) {
	text, err := variantText(name)
	if err != nil {
		return nil, err
	}
	data, err := presets.ReadFile(Base(name) + ".toml")
	if err != nil {
		return nil, err
	}
	head, body := variantHead(text), string(data)
	for line := range strings.Lines(text) {
		key, value, ok := strings.Cut(line, " = ")
		if !ok || strings.HasPrefix(line, "#") || key == "of" {
			continue
		}
		if body, err = replace(body, key, strings.TrimRight(value, "\n")); err != nil {
			return nil, fmt.Errorf("soc: variants/%s.txt: %w", name, err)
		}
	}
	return []byte(head + body), nil
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

// replace writes a key's value and comment in place of the former ones, if there are any, which may occupy lines up to
// a closing bracket.
func replace(text, key, value string) (string, error) {
	pos, err := positions([]byte(text))
	if err != nil {
		return "", err
	}
	dot := strings.LastIndexByte(key, '.')
	lines := strings.SplitAfter(text, "\n")
	at, ok := pos[key]
	if !ok { // an optional key: behind the header of its table
		header, ok := pos[key[:max(dot, 0)]]
		if !ok {
			return "", fmt.Errorf("the preset has no %s", key)
		}
		return strings.Join(lines[:header.line], "") + key[dot+1:] + " = " + value + "\n" + strings.Join(lines[header.line:], ""), nil
	}
	end, open := at.line-1, 0
	for {
		code, _, _ := strings.Cut(lines[end], "#")
		open += strings.Count(code, "[") + strings.Count(code, "{") - strings.Count(code, "]") - strings.Count(code, "}")
		if end++; open <= 0 || end == len(lines) {
			break
		}
	}
	if value == "none" {
		return strings.Join(lines[:at.line-1], "") + strings.Join(lines[end:], ""), nil
	}
	return strings.Join(lines[:at.line-1], "") + key[dot+1:] + " = " + value + "\n" + strings.Join(lines[end:], ""), nil
}
