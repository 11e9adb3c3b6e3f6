package plan

import "github.com/nnsoc/nnsoc/hal/driver/npudriver/layout"

// keepParameters chooses the weights that stay on chip between executions of a target with KeepsParameters, and
// returns their bytes: in the order of their kernels, as many as fit beside the activations. If not all fit, memory
// for two buffers of the largest of them is left free for the others.
func keepParameters(t Target, values []layout.Value, jobs []job) (bytes int) {
	if !t.KeepsParameters || !t.Spec.Memories[t.Spec.RegionMemory[layout.RegionConst]].OffChip {
		return 0
	}
	placeAll(values, t.OnChip, t.Map[layout.RegionSpill] == t.Map[layout.RegionArena])
	room, total, largest := t.OnChip-layout.Align(end(values, layout.RegionArena)), 0, 0
	for i := range jobs {
		if j := &jobs[i]; j.Kernel.Weights != nil && j.first == i {
			n := layout.Align(j.packed.Fetch.Bytes)
			total, largest = total+n, max(largest, n)
		}
	}
	if total > room {
		room -= 2 * largest
	}
	for i := range jobs {
		j := &jobs[i]
		switch n := layout.Align(j.packed.Fetch.Bytes); {
		case j.Kernel.Weights == nil:
		case j.first != i:
			j.kept = jobs[j.first].kept
		case bytes+n <= room:
			j.kept = true
			bytes += n
		}
	}
	return bytes
}

// placeParameters puts constants that stay on chip, so many bytes, behind all else there.
func (p *Program) placeParameters(jobs []job, bytes int) {
	at := layout.Align(p.Sizes[layout.RegionArena])
	for i := range jobs {
		switch j := &jobs[i]; {
		case !j.kept:
		case j.first != i:
			j.weights = jobs[j.first].weights
		default:
			j.weights = layout.Buffer{Region: layout.RegionArena, Addr: at, Bytes: j.packed.Fetch.Bytes}
			at += layout.Align(j.packed.Fetch.Bytes)
		}
	}
	if bytes > 0 {
		p.Sizes[layout.RegionArena] = at
	}
}

// parameters copies the constants of placed jobs that stay on chip to where they do. What follows relies on no
// register that this writes.
func (e *emitter) parameters(jobs []job) {
	for i := range jobs {
		if j := &jobs[i]; j.kept && j.first == i {
			e.mark(&j.Step)
			e.dma(&j.Step, j.packed.Fetch, j.weights, false)
		}
	}
	e.waitCopies(len(e.copies))
	e.b.Forget()
}
