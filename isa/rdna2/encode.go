package rdna2

import (
	"encoding/binary"
	"fmt"
)

// Encode appends the little-endian bytes of the instruction to dst. It fails when an operand is not of the class its
// form requires, when an immediate does not fit or when a modifier is set that the form does not have.
func (in *Inst) Encode(dst []byte) ([]byte, error) {
	f := in.Form()
	if in.Op == 0 || in.Op >= NumOps {
		return dst, fmt.Errorf("rdna2: encode: op %d is no instruction", in.Op)
	}
	if err := in.check(f); err != nil {
		return dst, fmt.Errorf("rdna2: encode %s: %w", f.Text, err)
	}
	w, err := in.pack(f)
	if err != nil {
		return dst, fmt.Errorf("rdna2: encode %s: %w", f.Text, err)
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(w))
	if f.Bytes == 8 {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(w>>32))
	}
	if in.UsesLiteral() {
		dst = binary.LittleEndian.AppendUint32(dst, in.Literal)
	}
	return dst, nil
}

// Bytes is the encoded size, literal included.
func (in *Inst) Bytes() int {
	n := int(in.Form().Bytes)
	if in.UsesLiteral() {
		n += 4
	}
	return n
}
