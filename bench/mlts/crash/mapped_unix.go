//go:build unix

package crash

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/nnsoc/nnsoc/nn"
)

// mapConstants writes the constants of a model to a file and returns the model with
// constants that are mapped from it, until unmap.
func mapConstants(m *nn.Model) (mapped *nn.Model, unmap func(), err error) {
	f, err := os.CreateTemp("", "nnsoc-mapped")
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if err := os.Remove(f.Name()); err != nil { // the file lives as long as it is open or mapped
		return nil, nil, err
	}
	size := 0
	for i := range m.Main.Operands {
		size += len(m.Main.Operands[i].Data)
	}
	if size == 0 {
		return m, func() {}, nil
	}
	for i := range m.Main.Operands {
		if _, err := f.Write(m.Main.Operands[i].Data); err != nil {
			return nil, nil, err
		}
	}
	data, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("crash: mapping %d bytes: %w", size, err)
	}
	c := *m
	c.Main.Operands = append([]nn.Operand(nil), m.Main.Operands...)
	at := 0
	for i := range c.Main.Operands {
		n := len(c.Main.Operands[i].Data)
		if n == 0 {
			continue
		}
		c.Main.Operands[i].Data = data[at : at+n : at+n]
		at += n
	}
	return &c, func() { _ = unix.Munmap(data) }, nil
}
