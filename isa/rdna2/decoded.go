package rdna2

import (
	"encoding/binary"
	"fmt"
)

// Decoded returns a program of the same code with the instructions read back from it. It
// is for programs that were kept as bytes: of these only Name, Code, Source and the
// resources are known.
func (p *Program) Decoded() (*Program, error) {
	d := *p
	d.Insts, d.Offset = nil, nil
	if len(p.Code)%4 != 0 {
		return nil, fmt.Errorf("rdna2: %s: %d bytes of code are no whole number of words", p.Name, len(p.Code))
	}
	words := make([]uint32, len(p.Code)/4)
	for i := range words {
		words[i] = binary.LittleEndian.Uint32(p.Code[4*i:])
	}
	for at := 0; at < len(words); {
		in, n, err := Decode(words[at:])
		if err != nil {
			return nil, fmt.Errorf("rdna2: %s: %w", p.Name, err)
		}
		d.Insts, d.Offset = append(d.Insts, in), append(d.Offset, int32(4*at))
		at += n
	}
	if len(d.Source) != len(d.Insts) {
		return nil, fmt.Errorf("rdna2: %s: sources of %d instructions for %d", p.Name, len(d.Source), len(d.Insts))
	}
	return &d, nil
}
