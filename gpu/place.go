package gpu

import "github.com/nnsoc/nnsoc/sim"

// releaseBarrier resumes a work-group when all its live waves have arrived.
func (m *machine) releaseBarrier(g *workgroup, t int64) {
	if g.arrived < g.live || g.live == 0 {
		return
	}
	g.arrived = 0
	for _, w := range g.waves {
		if w.done {
			continue
		}
		w.atBarrier = false
		w.simd.barred--
		m.prepare(w, t+int64(m.spec.BarrierCycles), sim.StallBarrier)
		w.simd.choose()
	}
	m.woken = true
}

// endWave frees the wave's place and, with its work-group, starts the next.
func (m *machine) endWave(s *simd, w *wave, t int64) {
	s.end = max(s.end, w.vs.last)
	m.waveCycles += t + 1 - w.born
	i := w.slot
	s.waves = append(s.waves[:i], s.waves[i+1:]...)
	copy(s.next[i:], s.next[i+1:])
	s.next[maxWaves-1] = never
	copy(s.unit[i:], s.unit[i+1:])
	for ; i < len(s.waves); i++ {
		s.waves[i].slot = i
	}
	k, g := m.p.k, w.wg
	s.rows -= rowsOf(m.spec, k)
	m.end = max(m.end, t+1, w.vs.last)
	w.done = true
	g.live--
	if g.live > 0 {
		m.releaseBarrier(g, t)
		return
	}
	m.live--
	c := g.cu
	if len(g.waves) > 1 {
		c.groups--
	}
	c.lds.used -= k.LDSBytes
	m.retire(g)
	m.woken = true
	m.retireGroup()
	for m.place(c, t+1) {
	}
	if m.spec.LDSPerCluster && k.LDSBytes > 0 || k.WGP {
		// The LDS or the SIMDs it held may have kept a neighbour empty.
		for i := range m.cus {
			if o := &m.cus[i]; o.cluster == c.cluster && o != c {
				for m.place(o, t+1) {
				}
			}
		}
	}
}

// fits reports whether c has the resources for the next work-group of the dispatch. A group of one wave needs no barrier, so the limit
// of groups is for larger ones.
func (m *machine) fits(c *cu) bool {
	items := 1
	for i := range 3 {
		items *= max(m.d.Workgroup[i], 1)
	}
	need := (items + m.p.k.WaveSize - 1) / m.p.k.WaveSize
	if need > 1 && c.groups >= m.spec.WorkgroupsMax || c.lds.used+m.p.k.LDSBytes > m.spec.LDSBytes {
		return false
	}
	rows, simds := rowsOf(m.spec, m.p.k), m.simdsFor(c)
	for i := range simds {
		s := &simds[i]
		need -= min(m.spec.WavesPerSIMD-len(s.waves), (m.spec.VGPRRows-s.rows)/rows)
	}
	return need <= 0
}

// start starts the next work-group of the dispatch on c at t.
func (m *machine) start(c *cu, t int64) {
	rows, simds := rowsOf(m.spec, m.p.k), m.simdsFor(c)
	g := m.newWorkgroup()
	g.cu = c
	if len(g.waves) > 1 {
		c.groups++
	}
	c.lds.used += m.p.k.LDSBytes
	m.live++
	m.sampling.started()
	part := simds
	for i, w := range g.waves {
		if i%m.spec.partitionWaves(m.p.k.WaveSize) == 0 {
			part = partition(simds, m.spec)
		}
		s := emptiest(part, m.spec, rows)
		if s == nil {
			s = emptiest(simds, m.spec, rows)
		}
		c.launch = max(c.launch, t)
		w.simd, w.slot = s, len(s.waves)
		s.rows += rows
		s.waves = append(s.waves, w)
		w.born = c.launch
		m.prepare(w, c.launch, sim.StallLaunch)
		c.launch += int64(m.spec.WaveLaunch)
		s.choose()
	}
}

// placement is the i-th compute unit in the order in which the work-groups of a dispatch are offered: alternating between
// clusters if a work-group has its whole cluster.
func (m *machine) placement(g *grid, i int) int {
	if !g.p.k.WGP {
		return i
	}
	return i%m.spec.Clusters*m.spec.CUsPerCluster + i/m.spec.Clusters
}

// simdsFor are the SIMDs that the waves of a work-group of c may be in.
func (m *machine) simdsFor(c *cu) []simd {
	if !m.p.k.WGP {
		return c.simds
	}
	n := len(m.simds) / m.spec.Clusters
	return m.simds[c.cluster*n : (c.cluster+1)*n]
}

// partitionWaves is how many waves of a work-group, of so many lanes, stay in one partition.
func (s *Spec) partitionWaves(lanes int) int { return max(s.PartitionLanes/lanes, 1) }

// partition is the partition of SIMDs with the fewest waves, the first of equals.
func partition(simds []simd, spec *Spec) []simd {
	n := spec.PartitionSIMDs
	if n == 0 || n >= len(simds) {
		return simds
	}
	best, least := 0, 0
	for at := 0; at < len(simds); at += n {
		waves := 0
		for i := range simds[at : at+n] {
			waves += len(simds[at+i].waves)
		}
		if at == 0 || waves < least {
			best, least = at, waves
		}
	}
	return simds[best : best+n]
}

// emptiest is the SIMD with the fewest waves that has free registers and slots, the first of equals; nil: none has.
func emptiest(simds []simd, spec *Spec, rows int) *simd {
	var best *simd
	for i := range simds {
		s := &simds[i]
		if len(s.waves) >= spec.WavesPerSIMD || s.rows+rows > spec.VGPRRows {
			continue
		}
		if best == nil || len(s.waves) < len(best.waves) {
			best = s
		}
	}
	return best
}
