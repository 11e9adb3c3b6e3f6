package codegen

import "fmt"

// Class is a register class: an index into Target.Classes.
type Class uint8

// ClassInfo describes a register class. Classes of one file share its units:
// a pair overlaps the two singles that it consists of.
type ClassInfo struct {
	Name string
	File uint8 // register file, 0..MaxFiles-1
	// Width is the number of consecutive units of a register of the class.
	Width int
	// Alloc are the unit numbers at which the allocator may place one, in order
	// of preference. Alignment is expressed here: only multiples are listed.
	Alloc []uint16
}

// MaxFiles bounds the register files of a target.
const MaxFiles = 8

// Reg is a virtual or physical register, or a part of one. The zero Reg is no
// register.
type Reg struct {
	id    int32 // > 0 virtual, < 0 physical (-1 - unit), 0 none
	class Class
	off   uint8 // first unit within the virtual register
}

// Phys is the physical register of class c at unit n of its file.
func Phys(c Class, n int) Reg { return Reg{id: -1 - int32(n), class: c} }

// Class is the register's class.
func (r Reg) Class() Class { return r.class }

// Valid reports whether r is a register at all.
func (r Reg) Valid() bool { return r.id != 0 }

// IsPhys reports whether r is a physical register.
func (r Reg) IsPhys() bool { return r.id < 0 }

// Num is the unit number of a physical register, -1 for a virtual one.
func (r Reg) Num() int {
	if r.id < 0 {
		return int(-1 - r.id)
	}
	return -1
}

// Sub is the part of r of class c that begins off units into r: the high half
// of a pair is Sub(single, 1).
func (r Reg) Sub(c Class, off int) Reg {
	if r.id < 0 {
		return Reg{id: r.id - int32(off), class: c}
	}
	return Reg{id: r.id, class: c, off: r.off + uint8(off)}
}

// Full is the virtual register that r is a part of, without a class, or the physical one.
func (r Reg) Full() Reg { return Reg{id: r.id} }

// String is a debugging form.
func (r Reg) String() string {
	switch {
	case r.id == 0:
		return "none"
	case r.id < 0:
		return fmt.Sprintf("p%d.%d", r.class, r.Num())
	case r.off != 0:
		return fmt.Sprintf("%%%d+%d", r.id, r.off)
	}
	return fmt.Sprintf("%%%d", r.id)
}
