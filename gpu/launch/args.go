package launch

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/nnsoc/nnsoc/gpu"
	"github.com/nnsoc/nnsoc/isa/rdna2/codeobject"
)

// Arg is one explicit kernel argument: a buffer whose address is passed, bytes
// that are passed by value, or LDS that is reserved.
type Arg struct {
	Buffer []byte
	Value  []byte
	LDS    int    // bytes, when neither of the above
	Type   string // for messages

	addr uint64
}

// bytes is the content of the argument in the argument segment.
func (a *Arg) bytes(lds int) []byte {
	switch {
	case a.Buffer != nil:
		return binary.LittleEndian.AppendUint64(nil, a.addr)
	case a.Value != nil:
		return a.Value
	}
	return binary.LittleEndian.AppendUint32(nil, uint32(lds))
}

// kernarg lays out the argument segment; lds is the size that the arguments reserve behind the kernel's own LDS.
func (l *Launch) kernarg(k *codeobject.Kernel) (seg []byte, lds int, err error) {
	for i := range l.Args {
		if n := l.Args[i].LDS; n < 0 || n > 64<<10 || lds+n > 64<<10 {
			return nil, 0, fmt.Errorf("argument %d: %d bytes of LDS, at most 65536", i, n)
		}
		lds += roundUp16(l.Args[i].LDS)
	}
	if k.Meta == nil {
		seg, err = l.plain(k)
		return seg, lds, err
	}
	seg = make([]byte, k.Meta.KernargBytes)
	static := int(k.Descriptor.LDSBytes)
	next := 0
	for i := range k.Meta.Args {
		p := &k.Meta.Args[i]
		var v []byte
		if p.Hidden() {
			if v, err = l.hidden(p, lds); err != nil {
				return nil, 0, err
			}
		} else {
			if next == len(l.Args) {
				return nil, 0, fmt.Errorf("%d arguments, the kernel takes (%s)", len(l.Args), signature(k.Meta))
			}
			a := &l.Args[next]
			if err := fits(a, p); err != nil {
				return nil, 0, fmt.Errorf("argument %d: %w", next, err)
			}
			v = a.bytes(static)
			static += roundUp16(a.LDS)
			next++
		}
		if len(v) > p.Bytes {
			v = v[:p.Bytes]
		}
		copy(seg[p.Offset:], v)
	}
	if next < len(l.Args) {
		return nil, 0, fmt.Errorf("%d arguments, the kernel takes (%s)", len(l.Args), signature(k.Meta))
	}
	return seg, lds, nil
}

// roundUp16 is the size reserved for a local buffer: the next begins at a multiple of 16 bytes after it.
func roundUp16(n int) int { return (n + 15) &^ 15 }

// plain puts the arguments at their natural alignment, for kernels without
// metadata.
func (l *Launch) plain(k *codeobject.Kernel) ([]byte, error) {
	var seg []byte
	static := int(k.Descriptor.LDSBytes)
	for i := range l.Args {
		a := &l.Args[i]
		v := a.bytes(static)
		static += roundUp16(a.LDS)
		for n := min(len(v), 8); len(seg)%max(n&-n, 1) != 0; {
			seg = append(seg, 0)
		}
		seg = append(seg, v...)
	}
	if n := int(k.Descriptor.KernargBytes); n > 0 && len(seg) > n {
		return nil, fmt.Errorf("%d bytes of arguments, the kernel takes %d", len(seg), n)
	}
	for len(seg) < int(min(k.Descriptor.KernargBytes, 1<<20)) {
		seg = append(seg, 0)
	}
	return seg, nil
}

// signature lists the explicit arguments.
func signature(m *codeobject.Meta) string {
	var out []string
	for i := range m.Args {
		p := &m.Args[i]
		if p.Hidden() {
			continue
		}
		s := p.Type
		if s == "" {
			s = fmt.Sprintf("%s of %d bytes", p.Kind, p.Bytes)
		}
		if p.Name != "" {
			s += " " + p.Name
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

// fits checks an argument against the kernel's parameter.
func fits(a *Arg, p *codeobject.Arg) error {
	what := strings.TrimSpace(p.Type + " " + p.Name)
	if what != "" {
		what = " (" + what + ")"
	}
	switch p.Kind {
	case "global_buffer":
		if a.Buffer == nil && len(a.Value) != 8 {
			return fmt.Errorf("%s where the kernel takes a buffer%s", a.Type, what)
		}
	case "dynamic_shared_pointer":
		if a.LDS == 0 {
			return fmt.Errorf("%s where the kernel takes local memory%s: lds:BYTES", a.Type, what)
		}
	case "by_value":
		n := len(a.Value)
		if a.Buffer != nil {
			n = 8
		}
		if n != p.Bytes {
			return fmt.Errorf("%s has %d bytes, the kernel takes %d%s", a.Type, n, p.Bytes, what)
		}
		if got, takes := class(a.Type), class(p.Type); got != 0 && takes != 0 && got != takes {
			return fmt.Errorf("%s where the kernel takes %s", a.Type, strings.TrimSpace(p.Type+" "+p.Name))
		}
	default:
		return fmt.Errorf("arguments of kind %q are not supported%s", p.Kind, what)
	}
	return nil
}

// class is 'f' for the name of a type of floats, 'i' for one of integers, 0 for others, such as bytes and structs.
func class(name string) byte {
	switch name {
	case "f16", "f32", "f64", "half", "float", "double":
		return 'f'
	case "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64",
		"char", "uchar", "short", "ushort", "int", "uint", "long", "ulong":
		return 'i'
	}
	return 0
}

// hidden is the value of an argument that the runtime provides.
func (l *Launch) hidden(p *codeobject.Arg, lds int) ([]byte, error) {
	u := func(v int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(v)) }
	kind := strings.TrimPrefix(p.Kind, "hidden_")
	dim := -1
	if base, ok := strings.CutSuffix(kind, "_x"); ok {
		kind, dim = base, 0
	} else if base, ok := strings.CutSuffix(kind, "_y"); ok {
		kind, dim = base, 1
	} else if base, ok := strings.CutSuffix(kind, "_z"); ok {
		kind, dim = base, 2
	}
	if dim >= 0 {
		switch kind {
		case "block_count":
			return u(l.Groups[dim]), nil
		case "group_size":
			return u(l.Block[dim]), nil
		case "remainder", "global_offset":
			return u(0), nil // work-groups are always whole
		}
		kind = "" // no other has a dimension
	}
	switch kind {
	case "grid_dims":
		n := 1
		for i := range 3 {
			if l.Groups[i]*l.Block[i] > 1 {
				n = i + 1
			}
		}
		return u(n), nil
	case "private_base":
		return u(gpu.PrivateAperture >> 32), nil
	case "shared_base":
		return u(gpu.SharedAperture >> 32), nil
	case "queue_ptr":
		return u(gpu.QueueAddress), nil
	case "dynamic_lds_size":
		return u(lds), nil
	case "none", "multigrid_sync_arg", "default_queue", "completion_action":
		return nil, nil // null: a kernel that uses one faults where it does
	}
	if address, ok := gpu.AbsentBuffer(kind); ok { // a kernel that uses it faults there, with its name
		return binary.LittleEndian.AppendUint64(nil, address), nil
	}
	return nil, fmt.Errorf("hidden argument %s is not supported", p.Kind)
}
