package codeobject

import (
	"encoding/binary"
	"fmt"
	"io"
	"strings"

	"github.com/nnsoc/nnsoc/isa/rdna2"
)

// Instruction is one instruction of a listing, or data that is none.
type Instruction struct {
	Addr   uint64
	Words  []uint32
	Text   string // empty for data
	Target string // symbol and offset of a branch's target
	Err    error  // why the words are no instruction
}

// Instructions disassembles an executable segment. wave64 decides how lane masks are named; the symbol of a kernel
// decides for the code after it.
func (f *File) Instructions(s *Segment) []Instruction {
	var out []Instruction
	words := make([]uint32, len(s.Data)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(s.Data[4*i:])
	}
	wave64 := false
	for i := range f.Kernels {
		wave64 = wave64 || f.Kernels[i].Descriptor.WaveSize() == 64
	}
	kernels := map[uint64]bool{}
	for i := range f.Kernels {
		kernels[f.Kernels[i].Entry] = f.Kernels[i].Descriptor.WaveSize() == 64
	}
	for at := 0; at < len(words); {
		addr := s.Addr + uint64(4*at)
		if w, ok := kernels[addr]; ok {
			wave64 = w
		}
		in, n, err := rdna2.Decode(words[at:])
		r := Instruction{Addr: addr, Err: err}
		if err == nil {
			r.Text = in.Text(wave64)
			if f := in.Form(); f.NumOps > 0 && f.Ops[f.NumOps-1].Kind == rdna2.ImmLabel {
				r.Target = strings.TrimSpace(symbolAt(addrOf(addr, &in), s, nil))
			}
		}
		r.Words = words[at : at+n]
		out = append(out, r)
		at += n
	}
	for i := range out {
		if out[i].Target != "" {
			in, _, _ := rdna2.Decode(out[i].Words)
			out[i].Target = symbolAt(addrOf(out[i].Addr, &in), s, f.Symbols)
		}
	}
	return out
}

// addrOf is the target of a branch at addr.
func addrOf(addr uint64, in *rdna2.Inst) uint64 {
	return addr + 4 + uint64(4*int64(int16(in.Simm16)))
}

// symbolAt names an address of a segment by the symbol before it.
func symbolAt(addr uint64, s *Segment, syms []Symbol) string {
	best := ""
	for i := range syms {
		y := &syms[i]
		if y.Addr > addr || y.Addr < s.Addr || strings.HasSuffix(y.Name, ".kd") {
			continue
		}
		if best = y.Name; addr > y.Addr {
			best = fmt.Sprintf("%s+%#x", y.Name, addr-y.Addr)
		}
	}
	if best == "" {
		return fmt.Sprintf("%#x", addr)
	}
	return best
}

// List prints the code as llvm-objdump does: symbols, then text, address and
// words of each instruction.
func (f *File) List(w io.Writer) error {
	for i := range f.Segments {
		s := &f.Segments[i]
		if !s.Exec {
			continue
		}
		if _, err := fmt.Fprintf(w, "\nDisassembly of section .text:\n"); err != nil {
			return err
		}
		names := map[uint64]string{}
		for _, y := range f.Symbols {
			if y.Addr >= s.Addr && y.Addr < s.Addr+uint64(len(s.Data)) && names[y.Addr] == "" {
				names[y.Addr] = y.Name
			}
		}
		for _, in := range f.Instructions(s) {
			if n := names[in.Addr]; n != "" {
				fmt.Fprintf(w, "\n%016x <%s>:\n", in.Addr, n)
			}
			text := in.Text
			if in.Err != nil {
				text = long(in.Words)
			}
			line := fmt.Sprintf("\t%-60s// %012X:", text, in.Addr)
			for _, v := range in.Words {
				line += fmt.Sprintf(" %08X", v)
			}
			if in.Target != "" {
				line += " <" + in.Target + ">"
			}
			if _, err := fmt.Fprintln(w, line); err != nil {
				return err
			}
		}
	}
	return nil
}

// long is a directive of words.
func long(words []uint32) string {
	text := ".long"
	for i, w := range words {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(" %#010x", w)
	}
	return text
}
