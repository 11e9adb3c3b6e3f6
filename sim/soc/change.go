package soc

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Change sets one key of a SoC to another value.
type Change struct {
	Key   string // as in errors: dram.mt_per_s, cpu.cluster[0].l2.kib, npu.energy.pj.mac; or that of an Alias
	Value string // a number, true or false, a name; numbers of an array joined by x: 1x1x64, or [1, 1, 64]
}

// String is the text that ParseChange reads.
func (c Change) String() string { return c.Key + "=" + c.Value }

// maxChange bounds the text of a change.
const maxChange = 1 << 10

// ParseChange reads KEY=VALUE.
func ParseChange(s string) (Change, error) {
	key, value, ok := strings.Cut(s, "=")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	switch {
	case len(s) > maxChange:
		return Change{}, fmt.Errorf("soc: %q...: longer than %d bytes", s[:40], maxChange)
	case !ok || key == "" || value == "":
		return Change{}, fmt.Errorf("soc: %q: want KEY=VALUE, such as dram.mt_per_s=3733", s)
	}
	return Change{key, value}, nil
}

// LoadChanged is Load of a SoC some keys of which are changed before it is checked. Keys that refer to the former value
// of a key follow it, unless changed themselves: the preferences of a clock follow its operating point, the clocks of
// the memory its mt_per_s.
func LoadChanged(nameOrPath string, changes ...Change) (*Config, error) {
	if len(changes) == 0 {
		return Load(nameOrPath)
	}
	s, err := open(nameOrPath)
	if err != nil {
		return nil, err
	}
	return s.changed(changes)
}

// source is the text of a SoC.
type source struct {
	file string
	data []byte
}

// open reads the text of a preset or a file.
func open(nameOrPath string) (*source, error) {
	if isFile(nameOrPath) {
		f, err := os.Open(nameOrPath)
		if err != nil {
			return nil, fmt.Errorf("soc: %w", err)
		}
		defer f.Close()
		data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
		if err != nil {
			return nil, fmt.Errorf("soc: %w", err)
		}
		return &source{nameOrPath, bytes.TrimPrefix(data, []byte("\ufeff"))}, nil
	}
	data, err := presetText(nameOrPath)
	if err != nil {
		return nil, fmt.Errorf("soc: no SoC named %q; known: %s; or name a file that ends in .toml", nameOrPath, strings.Join(Presets(), ", "))
	}
	return &source{nameOrPath + ".toml", data}, nil
}

// isFile reports whether a name is that of a file, not of a preset.
func isFile(name string) bool {
	return strings.HasSuffix(name, ".toml") || strings.ContainsRune(name, os.PathSeparator)
}

func (s *source) changed(changes []Change) (*Config, error) {
	if _, err := Parse(s.file, s.data); err != nil {
		return nil, err // wrong without any change
	}
	c, err := decode(s.file, s.data)
	if err != nil {
		return nil, err
	}
	pos, err := positions(s.data)
	if err != nil {
		return nil, fmt.Errorf("soc: %s: %w", s.file, err)
	}
	if changes, err = c.expanded(changes); err != nil {
		return nil, fmt.Errorf("soc: %s: %w", s.file, err)
	}
	set := map[string]bool{}
	k := checker{file: s.file, pos: pos, set: set}
	for i, x := range changes {
		if set[x.Key] {
			return nil, fmt.Errorf("soc: %s: %s is changed twice", s.file, x.Key)
		}
		set[x.Key] = true
		if i > 0 {
			k.changes += ", "
		}
		k.changes += x.String()
	}
	for _, x := range changes {
		if err := c.set(x, pos, set); err != nil {
			return nil, fmt.Errorf("soc: %s: %w", s.file, err)
		}
	}
	k.config(c)
	if err := k.err(); err != nil {
		return nil, err
	}
	return c.arranged(), nil
}

// set stores a value and notes that its key is there. set has the keys of all changes.
func (c *Config) set(x Change, pos map[string]position, set map[string]bool) error {
	f, err := find(reflect.ValueOf(c).Elem(), x.Key)
	if err != nil {
		return err
	}
	v := reflect.New(f.v.Type()).Elem()
	if err := parseValue(v, x.Value); err != nil {
		return fmt.Errorf("%s: %w", x.Key, err)
	}
	before := f.v.Interface()
	f.store(v)
	pos[x.Key] = position{1, 1}
	if from, ok := before.(float64); ok {
		c.follow(f, x.Key, from, v.Float(), set)
	}
	return nil
}

// follow changes the references to the former value of a key: the preferences of a clock to its operating point, the
// votes of engines to a clock of the memory. A memory of another speed keeps its lower clocks and has its own as the
// highest, in place of all above. Keys of set are left alone.
func (c *Config) follow(f *field, key string, from, to float64, set map[string]bool) {
	switch d := c.DRAM.Clock; {
	case f.clock != nil:
		for _, p := range []struct {
			key string
			mhz *float64
		}{{"low_power_mhz", &f.clock.LowPowerMHz}, {"sustained_mhz", &f.clock.SustainedMHz}, {"fast_mhz", &f.clock.FastMHz}} {
			if *p.mhz == from && !set[f.clockPath+"."+p.key] {
				*p.mhz = to
			}
		}
	case strings.HasPrefix(key, "dram.clock.mhz["):
		c.revote(func(mhz float64) bool { return mhz == from }, to)
	case key == "dram.mt_per_s" && d != nil:
		top := to / c.DRAM.transfersPerClock()
		if last := d.MHz[len(d.MHz)-1]; last != from/c.DRAM.transfersPerClock() || set["dram.clock.mhz"] || set[fmt.Sprintf("dram.clock.mhz[%d]", len(d.MHz)-1)] {
			return
		}
		d.MHz = slices.Clone(d.MHz[:len(d.MHz)-1])
		for len(d.MHz) > 0 && d.MHz[len(d.MHz)-1] >= top {
			d.MHz = d.MHz[:len(d.MHz)-1]
		}
		d.MHz = append(d.MHz, top)
		c.revote(func(mhz float64) bool { return mhz > top || mhz == from/c.DRAM.transfersPerClock() }, top)
	}
}

// revote changes the votes of engines for clocks of the memory to another value.
func (c *Config) revote(which func(mhz float64) bool, to float64) {
	var clocks []*Clock
	if c.CPU != nil {
		for i := range c.CPU.Clusters {
			clocks = append(clocks, &c.CPU.Clusters[i].Clock)
		}
	}
	if c.GPU != nil {
		clocks = append(clocks, &c.GPU.Clock)
	}
	if c.DSP != nil {
		clocks = append(clocks, &c.DSP.Clock)
	}
	if c.NPU != nil {
		clocks = append(clocks, &c.NPU.Clock)
	}
	for _, clock := range clocks {
		for i := range clock.OPPs {
			if o := &clock.OPPs[i]; o.DDRMHz != 0 && which(o.DDRMHz) {
				o.DDRMHz = to
			}
		}
	}
}

// field is the location of a key's value.
type field struct {
	v     reflect.Value
	store func(reflect.Value)
	// clock is set for the frequency of one of its operating points.
	clock     *Clock
	clockPath string
}

// find walks a key down from the root of a configuration.
func find(v reflect.Value, key string) (*field, error) {
	f := &field{v: v}
	at := ""
	var clock *Clock
	var clockPath string
	for _, part := range strings.Split(key, ".") {
		name, index, indexed := strings.Cut(part, "[")
		next, err := member(f, at, name)
		if err != nil {
			return nil, err
		}
		f, at = next, join(at, name)
		for rest := index; indexed; {
			var more string
			index, more, indexed = strings.Cut(rest, "][")
			if rest = more; !indexed {
				var closed bool
				if index, closed = strings.CutSuffix(index, "]"); !closed {
					return nil, fmt.Errorf("unknown key %s: %q lacks its ]", keyText([]string{key}), part)
				}
			}
			if f.v, err = element(f.v, at, index); err != nil {
				return nil, err
			}
			at += "[" + index + "]"
			f.store = f.v.Set
		}
		if f.v.CanAddr() {
			if c, ok := f.v.Addr().Interface().(*Clock); ok {
				clock, clockPath = c, at
			}
		}
	}
	switch f.v.Kind() {
	case reflect.Struct, reflect.Map:
		return nil, fmt.Errorf("%s is a table: name one of its keys, %s", at, strings.Join(names(f.v), ", "))
	case reflect.Slice:
		if k := f.v.Type().Elem().Kind(); k == reflect.Struct {
			return nil, fmt.Errorf("%s is a list of %d tables: name a key of one, such as %s[0].%s", at, f.v.Len(), at, names(reflect.Zero(f.v.Type().Elem()))[0])
		}
	}
	if clock != nil && strings.HasPrefix(at, clockPath+".opps[") && strings.HasSuffix(at, "].mhz") {
		f.clock, f.clockPath = clock, clockPath
	}
	return f, nil
}

// member is the value of a name in a table.
func member(f *field, at, name string) (*field, error) {
	v := f.v
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("toml") != name {
				continue
			}
			m := v.Field(i)
			if m.Kind() == reflect.Pointer {
				if m.IsNil() {
					return nil, fmt.Errorf("%s is not in this SoC", join(at, name))
				}
				m = m.Elem()
			}
			return &field{v: m, store: m.Set}, nil
		}
	case reflect.Map:
		n := reflect.ValueOf(name)
		if m := v.MapIndex(n); m.IsValid() {
			return &field{v: m, store: func(x reflect.Value) { v.SetMapIndex(n, x) }}, nil
		}
	default:
		return nil, fmt.Errorf("unknown key %s: %s is no table", keyText([]string{join(at, name)}), at)
	}
	where := "there are "
	if at != "" {
		where = "in " + at + " there are "
	}
	return nil, fmt.Errorf("unknown key %s: %s%s", keyText([]string{join(at, name)}), where, strings.Join(names(v), ", "))
}

// names are the keys of a table that it may have.
func names(v reflect.Value) []string {
	var list []string
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			list = append(list, v.Type().Field(i).Tag.Get("toml"))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			list = append(list, k.String())
		}
		sort.Strings(list)
	}
	return list
}

// element is an element of a list, by its place.
func element(v reflect.Value, at, index string) (reflect.Value, error) {
	if v.Kind() != reflect.Slice && v.Kind() != reflect.Array {
		return v, fmt.Errorf("unknown key %s[%.20s]: %s is no list", at, index, at)
	}
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= v.Len() || strconv.Itoa(i) != index {
		return v, fmt.Errorf("unknown key %s[%.20s]: it has %d elements, [0] to [%d]", at, index, v.Len(), v.Len()-1)
	}
	return v.Index(i), nil
}

// parseValue reads a value as the type of its key demands.
func parseValue(v reflect.Value, s string) error {
	switch v.Kind() {
	case reflect.Int:
		n, err := strconv.Atoi(s)
		if err != nil {
			return fmt.Errorf("%q, want a whole number", s)
		}
		v.SetInt(int64(n))
	case reflect.Float64:
		x, err := strconv.ParseFloat(s, 64)
		if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
			return fmt.Errorf("%q, want a number", s)
		}
		v.SetFloat(x)
	case reflect.Bool:
		if s != "true" && s != "false" {
			return fmt.Errorf("%q, want true or false", s)
		}
		v.SetBool(s == "true")
	case reflect.String:
		v.SetString(strings.Trim(s, `"`))
	case reflect.Array, reflect.Slice:
		return parseList(v, s)
	default:
		return fmt.Errorf("a %v cannot be changed", v.Kind())
	}
	return nil
}

// parseList reads elements joined by x, of names by +, or an array as a file has it: [1, 1, 64].
func parseList(v reflect.Value, s string) error {
	by := "x"
	if v.Type().Elem().Kind() == reflect.String {
		by = "+"
	}
	parts := strings.Split(s, by)
	if inner, ok := strings.CutPrefix(s, "["); ok && strings.HasSuffix(inner, "]") {
		parts = strings.Split(strings.TrimSuffix(inner, "]"), ",")
		for i := range parts {
			parts[i] = strings.TrimSpace(parts[i])
		}
	}
	if v.Kind() == reflect.Array && len(parts) != v.Len() {
		return fmt.Errorf("%q has %d elements, want %d joined by %s", s, len(parts), v.Len(), by)
	}
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), len(parts), len(parts)))
	}
	for i, p := range parts {
		if err := parseValue(v.Index(i), p); err != nil {
			return err
		}
	}
	return nil
}

// Key is a number of a SoC.
type Key struct {
	Path    string
	Value   float64
	Integer bool    // accepts whole numbers only
	Lo, Hi  float64 // the closed interval of valid values
	Comment string  // where it is written: its source
}

// Assumed reports whether a number has no public source.
func (k *Key) Assumed() bool { return strings.Contains(k.Comment, "assumed") }

// maxEvent bounds the energy of an event.
const maxEvent = 1e9

// Keys lists the numbers of a SoC in the order of its sections, those alone that its
// file writes, with the values that they have after changes (LoadChanged).
func Keys(nameOrPath string, changes ...Change) ([]Key, error) {
	s, err := open(nameOrPath)
	if err != nil {
		return nil, err
	}
	if _, err := s.changed(changes); err != nil {
		return nil, err
	}
	c, err := decode(s.file, s.data)
	if err != nil {
		return nil, err
	}
	pos, err := positions(s.data)
	if err != nil {
		return nil, fmt.Errorf("soc: %s: %w", s.file, err)
	}
	l := keyList{pos: maps.Clone(pos), lines: strings.Split(string(s.data), "\n")}
	set := map[string]bool{}
	for _, x := range changes {
		set[x.Key] = true
	}
	for _, x := range changes {
		if err := c.set(x, pos, set); err != nil {
			return nil, fmt.Errorf("soc: %s: %w", s.file, err)
		}
	}
	l.walk("", reflect.ValueOf(c).Elem(), "")
	return l.keys, nil
}

type keyList struct {
	pos   map[string]position
	lines []string
	keys  []Key
}

func (l *keyList) walk(path string, v reflect.Value, tag reflect.StructTag) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			l.walk(path, v.Elem(), tag)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			l.walk(join(path, f.Tag.Get("toml")), v.Field(i), f.Tag)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			l.walk(path+"["+strconv.Itoa(i)+"]", v.Index(i), tag)
		}
	case reflect.Map:
		for _, n := range names(v) {
			l.add(Key{Path: join(path, n), Value: v.MapIndex(reflect.ValueOf(n)).Float(), Hi: maxEvent})
		}
	case reflect.Int:
		lo, hi := bounds(tag.Get("range"))
		l.add(Key{Path: path, Value: float64(v.Int()), Integer: true, Lo: lo, Hi: hi})
	case reflect.Float64:
		lo, hi := bounds(tag.Get("range"))
		l.add(Key{Path: path, Value: v.Float(), Lo: lo, Hi: hi})
	}
}

// add lists a key that is written, with the comment of its line or, without one there, of the key that contains it.
func (l *keyList) add(k Key) {
	if _, ok := l.pos[k.Path]; !ok {
		return
	}
	for at := k.Path; k.Comment == ""; {
		p, ok := l.pos[at]
		if ok {
			k.Comment = comment(l.lines[p.line-1])
			if at != k.Path {
				k.Comment = about(k.Comment, k.Path[strings.LastIndexByte(k.Path, '.')+1:])
			}
		}
		i := strings.LastIndexAny(at, ".[")
		if i < 0 {
			break
		}
		at = at[:i]
	}
	l.keys = append(l.keys, k)
}

// fieldWords are the words by which the comment of a list of tables names a field of its tables.
var fieldWords = map[string]string{"mhz": "frequencies", "v": "volts", "ddr_mhz": "votes"}

// about is the part of a list's comment that is about a field of its tables. Clauses are joined by "; "; one that begins by
// naming fields, as in "frequencies and votes: Linux; volts: freqbench", is about those, others are about the fields that none names.
func about(comment, field string) string {
	var own, rest []string
	for _, clause := range strings.Split(comment, "; ") {
		head, _, ok := strings.Cut(clause, ": ")
		if !ok {
			head, _, _ = strings.Cut(clause, " ")
		}
		named := false
		for _, word := range fieldWords {
			named = named || slices.Contains(strings.Fields(head), word)
		}
		switch word, ok := fieldWords[field]; {
		case ok && slices.Contains(strings.Fields(head), word):
			own = append(own, clause)
		case !named:
			rest = append(rest, clause)
		}
	}
	if len(own) == 0 {
		own = rest
	}
	return strings.Join(own, "; ")
}

// comment is the text after the # of a line, "" without one.
func comment(line string) string {
	quoted := false
	for i, r := range line {
		switch {
		case r == '"':
			quoted = !quoted
		case r == '#' && !quoted:
			return strings.TrimSpace(line[i+1:])
		}
	}
	return ""
}
