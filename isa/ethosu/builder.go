package ethosu

import "fmt"

// Builder writes a command stream. Like the vendor's compiler it leaves out a
// register write that would not change the register.
type Builder struct {
	product Product
	words   []uint32
	known   [NumSlots]bool
	param   [NumSlots]uint16
	payload [NumSlots]uint32
	err     error
}

// NewBuilder starts an empty stream for a product.
func NewBuilder(p Product) *Builder { return &Builder{product: p} }

// Len is the number of words written so far: the offset of the next command.
func (b *Builder) Len() int { return len(b.words) }

// Words is the stream so far. The error is the first of all calls.
func (b *Builder) Words() ([]uint32, error) { return b.words, b.err }

// Forget makes the builder write every register again: a run may begin where the stream ends now.
func (b *Builder) Forget() { b.known = [NumSlots]bool{} }

func (b *Builder) fail(c Code, format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf("ethosu: %s: %s", c, fmt.Sprintf(format, args...))
	}
}

func (b *Builder) put(cmd Command) {
	f := Lookup(cmd.Code)
	if f == nil {
		b.fail(cmd.Code, "unknown command code %#04x", uint16(cmd.Code))
		return
	}
	if f.U65Only && b.product != U65 {
		b.fail(cmd.Code, "register does not exist on %s", b.product)
		return
	}
	if f.Class != ClassOp {
		s := cmd.Code.Slot()
		if b.known[s] && b.param[s] == cmd.Param && b.payload[s] == cmd.Payload {
			return
		}
		b.known[s], b.param[s], b.payload[s] = true, cmd.Param, cmd.Payload
	}
	b.words = cmd.Append(b.words)
}

// Op writes an operation command.
func (b *Builder) Op(c Code, param int) {
	if f := Lookup(c); f == nil || f.Class != ClassOp {
		b.fail(c, "not an operation")
		return
	}
	if param < 0 || param > 0xFFFF {
		b.fail(c, "parameter %d does not fit 16 bits", param)
		return
	}
	b.put(Command{Code: c, Param: uint16(param)})
}

// Set writes a 16-bit register. Signed values are passed as they are.
func (b *Builder) Set(c Code, v int) {
	f := Lookup(c)
	if f == nil || f.Class != ClassReg {
		b.fail(c, "not a 16-bit register")
		return
	}
	if v < -0x8000 || v > 0xFFFF {
		b.fail(c, "value %d does not fit 16 bits", v)
		return
	}
	if len(f.Fields) == 1 && f.Fields[0].Bits < 16 && (v < 0 || v >= 1<<f.Fields[0].Bits) {
		b.fail(c, "value %d does not fit %d bits", v, f.Fields[0].Bits)
		return
	}
	b.put(Command{Code: c, Param: uint16(v)})
}

// SetAddr writes an address, stride or length register.
func (b *Builder) SetAddr(c Code, v uint64) {
	f := Lookup(c)
	if f == nil || f.Class != ClassAddr && f.Class != ClassLength {
		b.fail(c, "not an address or length register")
		return
	}
	if v>>32 != 0 && (b.product != U65 || v>>40 != 0 || f.Class == ClassLength) {
		b.fail(c, "value %#x is too large", v)
		return
	}
	b.put(Command{Code: c, Param: uint16(v >> 32), Payload: uint32(v)})
}

// SetScale writes OFM_SCALE, OPA_SCALE or OPB_SCALE (whose shift must be 0).
func (b *Builder) SetScale(c Code, scale uint32, shift int) {
	f := Lookup(c)
	if f == nil || f.Class != ClassScale && f.Class != ClassMulOnly {
		b.fail(c, "not a scale register")
		return
	}
	if shift < 0 || shift > 63 || f.Class == ClassMulOnly && (shift != 0 || scale > 0xFFFF) {
		b.fail(c, "scale %d, shift %d out of range", scale, shift)
		return
	}
	b.put(Command{Code: c, Param: uint16(shift), Payload: scale})
}
