package dspdriver

import (
	"encoding/binary"
	"testing"

	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/driver/compile"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/datamove"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/kernel/hvx"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/layout"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/plan"
	"github.com/nnsoc/nnsoc/hal/driver/dspdriver/step"
	"github.com/nnsoc/nnsoc/internal/require"
)

// memoryRange is bytes of memory.
type memoryRange struct{ from, to uint32 }

// requests returns the ranges that a job prefetches when it begins.
func requests(j *step.Job) (list []memoryRange) {
	at := j.PrefetchArg
	if at == 0 {
		return nil
	}
	for _, a := range j.Args {
		lines, stride := a[at+1]&0xffff, max(a[at+2], layout.VectorBytes)
		for line := range lines {
			list = append(list, memoryRange{a[at] + line*stride, a[at] + line*stride + layout.VectorBytes})
		}
	}
	return list
}

// fetches returns the ranges of constants that a fetch job brings to VTCM.
func fetches(l *plan.Program, j *step.Job) (list []memoryRange) {
	for _, a := range j.Args {
		table := l.Consts[a[0]-layout.ConstBase:]
		for range a[1] {
			from, n := binary.LittleEndian.Uint32(table), binary.LittleEndian.Uint32(table[8:])
			list = append(list, memoryRange{from, from + n*datamove.FetchUnit})
			table = table[12:]
		}
	}
	return list
}

// TestLookAhead: what fetch jobs of a network bring to VTCM has been requested by
// jobs before them, and never more than L2 holds.
func TestLookAhead(t *testing.T) {
	d := device(t)
	l := lower1(t, d, zoo.MustBuild("mobilenet_v1_1.0_224_quant"))
	asked := make([]bool, len(l.Consts)/layout.VectorBytes+1)
	total, missed := 0, 0
	for i, j := range l.Jobs {
		if j.Name == "fetch" {
			for _, r := range fetches(l, j) {
				for line := (r.from - layout.ConstBase) / layout.VectorBytes; line < (r.to-layout.ConstBase)/layout.VectorBytes; line++ {
					if total++; !asked[line] {
						missed++
					}
				}
			}
		}
		bytes := 0
		for _, r := range requests(j) {
			if r.from < layout.ConstBase || r.from >= layout.ArenaBase {
				continue // code, inputs
			}
			if line := int(r.from-layout.ConstBase) / layout.VectorBytes; line < len(asked) {
				asked[line] = true
			}
			bytes += layout.VectorBytes
		}
		if bytes > d.cfg.Spec.L2.Bytes && j.Step.Op < 26 {
			t.Errorf("job %d (operation %d) asks for %d bytes", i, j.Step.Op, bytes)
		}
	}
	if total == 0 || missed*10 > total {
		t.Errorf("%d of %d lines of weights are not asked for before they are fetched", missed, total)
	}
}

// TestFetchBatches: a small network, whose constants VTCM holds, still does not wait
// for all of them at once. More than 64 KiB come together only for one step, which has a few
// ranges.
func TestFetchBatches(t *testing.T) {
	l := lower1(t, device(t), zoo.MustBuild("mobilenet_v1_0.25_224_quant"))
	batches, several := 0, 0
	for i, j := range l.Jobs {
		if j.Name != "fetch" {
			continue
		}
		batches++
		steps := map[*step.Step]bool{}
		for _, k := range l.Jobs[i+1:] {
			if k.Name == "fetch" {
				break
			}
			steps[k.Step] = true
		}
		bytes := uint32(0)
		for _, r := range fetches(l, j) {
			bytes += r.to - r.from
		}
		ranges := j.Args[0][1] // the first thread has a part of each
		if bytes > 64<<10 && ranges > 3 {
			t.Errorf("job %d fetches %d bytes in %d ranges", i, bytes, ranges)
		}
		if len(steps) > 1 && ranges > 1 {
			several++
		}
	}
	if batches < 4 || several == 0 {
		t.Errorf("%d fetch jobs, %d of them for several steps", batches, several)
	}
}

// TestCodeIsPrefetched: the code of every kernel comes to L2 before it runs, or as it
// begins, once a job that can prefetch has run.
func TestCodeIsPrefetched(t *testing.T) {
	p := require.V(device(t).PrepareModel(zoo.MustBuild("mobilenet_v1_0.25_224_quant"), hal.PrepareOptions{}))(t)
	l := planned(t, compile.Programs(p)[0][0].(*executable))
	asked := map[uint32]bool{} // lines
	seen, began, checked := map[*hvx.Linked]bool{}, false, 0
	for j := range l.Jobs {
		k := l.Jobs[j].Kernel
		for _, b := range requests(l.Jobs[j]) {
			for line := b.from &^ (layout.VectorBytes - 1); line < b.to && b.from < layout.ConstBase; line += layout.VectorBytes {
				asked[line] = true
			}
		}
		if began && !seen[k] {
			checked++
			last := &k.Packets[len(k.Packets)-1]
			for line := k.Entry &^ (layout.VectorBytes - 1); line <= last.Addr; line += layout.VectorBytes {
				if !asked[line] {
					t.Errorf("job %d: line %#x of kernel %s has not been asked for", j, line, k.Name)
					break
				}
			}
		}
		seen[k] = true
		began = began || l.Jobs[j].PrefetchArg > 0
	}
	if checked < 10 {
		t.Errorf("only %d kernels", checked)
	}
}
