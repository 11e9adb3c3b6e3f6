package texel

// Candidates are the ways to divide the work of a kernel among lanes.
func (k *Kernel) Candidates() []Shape { return k.candidates(&k.machine) }
