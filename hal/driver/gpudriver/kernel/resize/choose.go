package resize

import (
	"fmt"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/kernel"
	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
)

// Form is a division of an image among lanes.
type Form struct {
	Rows    int // of the output in a wave; 0: lanes are of all rows
	Windows int // that a lane loads of a row of the input, which computes bytes of several columns; 0: of one column
}

// maxRows are the rows of the output in a wave: the work of its lanes is a code of their length.
const maxRows = 4

// with is the kernel in another form.
func (k *Kernel) with(f Form) *Kernel {
	own := *k
	own.Form = f
	return &own
}

// forms are the divisions that are possible.
func (k *Kernel) forms() (list []Form) {
	windows := []int{0}
	if n := k.fewestWindows(); n > 0 {
		windows = append(windows, n)
	}
	for _, n := range windows {
		for rows := 1; rows <= min(maxRows, k.OutH); rows *= 2 {
			list = append(list, Form{Rows: rows, Windows: n})
		}
		list = append(list, Form{Windows: n})
	}
	return list
}

// cycles estimates a form from its code.
func (k *Kernel) cycles(f Form) float64 {
	own := k.with(f)
	return k.machine.CyclesOf(kernel.WorkOf(own, []*layout.Tensor{k.In}, []*layout.Tensor{k.Out}))
}

// Cut chooses the form of the fewest estimated cycles.
func (k *Kernel) Cut(m *kernel.Machine) {
	k.machine = *m
	best := 0.0
	for _, f := range k.forms() {
		if t := k.cycles(f); best == 0 || t < best {
			best, k.Form = t, f
		}
	}
}

// String names a form.
func (f Form) String() string {
	rows := "lanes of all rows"
	if f.Rows > 0 {
		rows = fmt.Sprintf("%d rows of a wave", f.Rows)
	}
	if f.Windows > 0 {
		return fmt.Sprintf("%s, four bytes of a row from %d windows", rows, f.Windows)
	}
	return rows + ", channels of a column"
}

// Cuts implements kernel.Chooser.
func (k *Kernel) Cuts() (list []kernel.Cut) {
	for _, f := range k.forms() {
		list = append(list, kernel.Cut{Name: f.String(), Weight: k.cycles(f), Chosen: f == k.Form})
	}
	return list
}

// Select implements kernel.Chooser.
func (k *Kernel) Select(name string) bool {
	for _, f := range k.forms() {
		if f.String() == name {
			k.Form = f
			return true
		}
	}
	return false
}
