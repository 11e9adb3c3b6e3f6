package npu

import (
	"encoding/binary"
	"io"
)

// WriteProgram implements base.Executable: command words, constants, sizes of
// the memory regions and places of inputs and outputs.
func (p *executable) WriteProgram(w io.Writer) error {
	g := p.prog
	head := []int64{int64(len(g.code.Commands)), int64(len(g.consts)), int64(g.arena), int64(g.spill), int64(g.weights), int64(g.io)}
	for _, list := range [2][]buffer{g.inputs, g.outputs} {
		for _, b := range list {
			head = append(head, int64(b.region), int64(b.addr), int64(b.bytes))
		}
	}
	for _, part := range []any{head, g.code.Commands, g.consts} {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return nil
}
