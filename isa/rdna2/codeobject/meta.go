package codeobject

import (
	"errors"
	"fmt"
	"math"

	"github.com/nnsoc/nnsoc/internal/try"
)

// Meta is the metadata of a kernel.
type Meta struct {
	Name         string
	Symbol       string // of the descriptor
	Args         []Arg  // in order of their offset in the file
	KernargBytes int
	MaxWorkgroup int    // work-items, 0 when absent
	Workgroup    [3]int // the size it was compiled for, 0 when any
	WaveSize     int
}

// Arg is one kernel argument.
type Arg struct {
	Name   string
	Type   string // in the source
	Offset int
	Bytes  int
	Kind   string // value kind: by_value, global_buffer, hidden_block_count_x, ...
}

// Hidden reports whether the runtime provides the argument.
func (a *Arg) Hidden() bool { return len(a.Kind) > 7 && a.Kind[:7] == "hidden_" }

// maxKernarg bounds the argument segment.
const maxKernarg = 1 << 20

// parseNote reads the kernels of a metadata note.
func parseNote(note []byte) ([]Meta, error) {
	if len(note) == 0 {
		return nil, nil
	}
	v, n, err := unpack(note)
	if err != nil {
		return nil, fmt.Errorf("codeobject: %w", err)
	}
	for _, b := range note[n:] {
		if b != 0 {
			return nil, errors.New("codeobject: metadata note has trailing bytes")
		}
	}
	root, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("codeobject: metadata is no map")
	}
	return kernelsOf(root)
}

// field is a typed entry of a map.
type fields struct {
	m     map[string]any
	where string
	err   error
}

func (f *fields) fail(key string, v any) {
	if f.err == nil {
		f.err = fmt.Errorf("codeobject: metadata of %s: %s is %v", f.where, key, v)
	}
}

func (f *fields) text(key string) string {
	v, ok := f.m[key]
	if !ok {
		return ""
	}
	s, ok := v.(string)
	if !ok {
		f.fail(key, v)
	}
	return s
}

func (f *fields) number(key string, limit int64) int {
	v, ok := f.m[key]
	if !ok {
		return 0
	}
	n, ok := integer(v)
	if !ok || n < 0 || n > limit {
		f.fail(key, v)
		return 0
	}
	return int(n)
}

// integer is a number of a note, or of a source.
func integer(v any) (int64, bool) {
	if n, ok := v.(int); ok {
		return int64(n), true
	}
	n, ok := v.(int64)
	return n, ok
}

func (f *fields) list(key string) []any {
	v, ok := f.m[key]
	if !ok || v == nil {
		return nil
	}
	l, ok := v.([]any)
	if !ok {
		f.fail(key, v)
	}
	return l
}

func kernelsOf(root map[string]any) ([]Meta, error) {
	top := fields{m: root, where: "the file"}
	var out []Meta
	for _, v := range top.list("amdhsa.kernels") {
		km, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("codeobject: metadata: a kernel is %v", v)
		}
		f := fields{m: km, where: "a kernel"}
		m := Meta{Name: f.text(".name"), Symbol: f.text(".symbol")}
		f.where = "kernel " + m.Name
		m.KernargBytes = f.number(".kernarg_segment_size", maxKernarg)
		m.MaxWorkgroup = f.number(".max_flat_workgroup_size", math.MaxInt32)
		m.WaveSize = f.number(".wavefront_size", 64)
		if l := f.list(".reqd_workgroup_size"); len(l) == 3 {
			for i, v := range l {
				if n, ok := integer(v); ok && n > 0 && n <= 1024 {
					m.Workgroup[i] = int(n)
				} else {
					f.fail(".reqd_workgroup_size", l)
				}
			}
		} else if l != nil {
			f.fail(".reqd_workgroup_size", l)
		}
		for i, v := range f.list(".args") {
			am, ok := v.(map[string]any)
			if !ok {
				f.fail(".args", v)
				break
			}
			g := fields{m: am, where: fmt.Sprintf("kernel %s, argument %d", m.Name, i)}
			a := Arg{
				Name: g.text(".name"), Type: g.text(".type_name"), Kind: g.text(".value_kind"),
				Offset: g.number(".offset", maxKernarg), Bytes: g.number(".size", maxKernarg),
			}
			if g.err != nil {
				return nil, g.err
			}
			if a.Offset+a.Bytes > m.KernargBytes {
				return nil, fmt.Errorf("codeobject: metadata of kernel %s, argument %d: bytes %d to %d, the segment has %d", m.Name, i, a.Offset, a.Offset+a.Bytes, m.KernargBytes)
			}
			m.Args = append(m.Args, a)
		}
		if f.err != nil {
			return nil, f.err
		}
		out = append(out, m)
	}
	return out, top.err
}

// PackMetadata is the note of metadata in the form of maps, lists, strings, booleans and integers, after checking the
// parts that this package reads.
func PackMetadata(root map[string]any) (note []byte, err error) {
	defer try.Catch(&err)
	try.V(kernelsOf(root))
	return pack(nil, root), nil
}
