package pprof

import "github.com/google/pprof/profile"

// builder makes the tables of a profile.
type builder struct {
	profile   *profile.Profile
	functions map[string]*profile.Function
	locations map[place]*profile.Location
	mappings  map[string]*profile.Mapping
}

// mappingBytes separates the code of programs in the addresses of a profile.
const mappingBytes = 1 << 24

// mapPrograms assigns a range of addresses to each program. Tools show the name of the first range as that of the file.
func (b *builder) mapPrograms(list []place) {
	next := uint64(mappingBytes)
	b.profile.Mapping = []*profile.Mapping{{ID: 1, Limit: next, File: "nnsoc", HasFunctions: true}}
	for _, p := range list {
		key := p.device + "\x00" + p.program
		m := b.mappings[key]
		if p.program == "" {
			continue
		}
		if m == nil {
			m = &profile.Mapping{ID: uint64(len(b.profile.Mapping) + 1), Start: next, File: p.device + "/" + p.program, HasFunctions: true, HasFilenames: true, HasLineNumbers: true}
			b.mappings[key] = m
			b.profile.Mapping = append(b.profile.Mapping, m)
			next += mappingBytes
		}
		if end := m.Start + uint64(max(p.at, 0)) + 4; end > m.Limit {
			m.Limit = end
			next = max(next, (end+2*mappingBytes-1)&^(mappingBytes-1))
		}
	}
}

// function is one of a name in a file.
func (b *builder) function(name, file string) *profile.Function {
	key := name + "\x00" + file
	f := b.functions[key]
	if f == nil {
		f = &profile.Function{ID: uint64(len(b.functions) + 1), Name: name, SystemName: name, Filename: file}
		b.functions[key] = f
		b.profile.Function = append(b.profile.Function, f)
	}
	return f
}

// location is a frame: a place, whose function has a name.
func (b *builder) location(key place, name, file string, line int64) *profile.Location {
	l := b.locations[key]
	if l == nil {
		m := b.profile.Mapping[0]
		if key.program != "" {
			m = b.mappings[key.device+"\x00"+key.program]
		}
		l = &profile.Location{ID: uint64(len(b.profile.Location) + 1), Mapping: m, Line: []profile.Line{{Function: b.function(name, file), Line: line}}}
		l.Address = m.Start + uint64(max(key.at, 0))
		b.locations[key] = l
		b.profile.Location = append(b.profile.Location, l)
	}
	return l
}

// stack is the frames of a place, the innermost first.
func (b *builder) stack(p place, lines map[place]sourceLine) (stack []*profile.Location) {
	p.reason = ""
	if p.program != "" || p.at < 0 && p.text != "" && p.text != p.operation {
		name, at := p.program, p
		line := int64(max(p.at, 0)/4 + 1) // a word of code per line, as in a listing
		file := name + ".s"
		if p.at < 0 {
			file, line = "", 0
			if name == "" || name == p.text {
				name = p.text
			} else {
				name += ": " + p.text
			}
		} else if s, ok := lines[p]; ok {
			file, line = s.file, int64(s.line)
		}
		at.operation = "" // a kernel is the same in all operations
		stack = append(stack, b.location(at, name, file, line))
	}
	if p.operation != "" {
		stack = append(stack, b.location(place{device: p.device, operation: p.operation, at: -1}, p.operation, "", 0))
	}
	return append(stack, b.location(place{device: p.device, at: -2}, p.device, "", 0))
}
