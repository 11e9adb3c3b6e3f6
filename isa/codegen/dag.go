package codegen

// dag is the dependence graph of one block. Edges run from earlier to later
// instructions in source order.
type dag struct {
	ins     []*Instr
	head    []int32 // first edge of each instruction, -1 none
	edges   []edge
	preds   []int32 // how many predecessors each has
	height  []int32 // longest latency path to the end of the block
	longest int32   // fewest cycles of the block
}

type edge struct {
	to, next int32
	lat      int32
}

// makeGraphs makes the graph of every block.
func (l *liveness) makeGraphs() {
	st := dagState{seen: make([]int32, l.n), lastDef: make([]int32, l.n), useHead: make([]int32, l.n)}
	l.graphs = make([]dag, len(l.f.blocks))
	for i := range l.graphs {
		l.graphs[i].build(l, l.f.target, &st, l.f.blocks[i].instrs)
	}
}

// dagState is the last access to each cell; it is reused from block to block.
type dagState struct {
	epoch   int32
	seen    []int32 // epoch in which the cell was last touched
	lastDef []int32 // instruction<<8 | operand, -1 none
	useHead []int32 // list of uses since the last definition
	uses    []useRef
}

type useRef struct {
	in, arg int32
	next    int32
}

func (d *dag) edge(from, to int32, lat int) {
	if from == to {
		return
	}
	d.edges = append(d.edges, edge{to: to, next: d.head[from], lat: int32(lat)})
	d.head[from] = int32(len(d.edges) - 1)
	d.preds[to]++
}

func (st *dagState) touch(c int32) {
	if st.seen[c] != st.epoch {
		st.seen[c] = st.epoch
		st.lastDef[c] = -1
		st.useHead[c] = -1
	}
}

// build makes the graph of a block.
func (d *dag) build(l *liveness, t Target, st *dagState, ins []*Instr) {
	n := len(ins)
	d.ins = ins
	d.head = resize(nil, n, -1)
	d.preds, d.height = make([]int32, n), make([]int32, n)
	st.epoch++
	st.uses = st.uses[:0]

	var mem []int32
	fence, ordered := int32(-1), int32(-1)
	for i32 := range int32(n) {
		in := ins[i32]
		d.registers(l, t, st, i32)
		if in.Flags&(Load|Store) != 0 {
			for _, m := range mem {
				d.memory(m, i32)
			}
			mem = append(mem, i32)
		}
		if in.Flags&Ordered != 0 {
			if ordered >= 0 {
				d.edge(ordered, i32, 1)
			}
			ordered = i32
		}
		if in.Flags&Fence != 0 {
			for p := fence + 1; p < i32; p++ {
				d.edge(p, i32, 1)
			}
			if fence >= 0 {
				d.edge(fence, i32, 1)
			}
			fence = i32
		} else if fence >= 0 {
			d.edge(fence, i32, 1)
		}
		if in.Flags&Branch != 0 {
			for p := range i32 {
				d.edge(p, i32, 0)
			}
		}
	}
	for i := n - 1; i >= 0; i-- {
		for e := d.head[i]; e >= 0; e = d.edges[e].next {
			d.height[i] = max(d.height[i], d.edges[e].lat+d.height[d.edges[e].to])
		}
		d.longest = max(d.longest, d.height[i]+1)
	}
}

// registers adds the edges that the operands of instruction i require.
func (d *dag) registers(l *liveness, t Target, st *dagState, i int32) {
	in := d.ins[i]
	for ai := range in.Args {
		a := &in.Args[ai]
		if a.Kind != ArgReg || a.Role&Use == 0 {
			continue
		}
		c, n := l.cells(a.Reg)
		prev := int32(-1)
		for k := c; k < c+n; k++ {
			st.touch(k)
			if p := st.lastDef[k]; p >= 0 && p != prev {
				d.edge(p>>8, i, t.Latency(d.ins[p>>8], int(p&255), in, ai))
				prev = p
			}
			st.uses = append(st.uses, useRef{in: i, arg: int32(ai), next: st.useHead[k]})
			st.useHead[k] = int32(len(st.uses) - 1)
		}
	}
	for ai := range in.Args {
		a := &in.Args[ai]
		if a.Kind != ArgReg || a.Role&Def == 0 {
			continue
		}
		// An early definition must follow strictly after the reads before it.
		war := 0
		if a.Role&EarlyDef == EarlyDef {
			war = 1
		}
		c, n := l.cells(a.Reg)
		for k := c; k < c+n; k++ {
			st.touch(k)
			for u := st.useHead[k]; u >= 0; u = st.uses[u].next {
				d.edge(st.uses[u].in, i, war)
			}
			if p := st.lastDef[k]; p >= 0 {
				d.edge(p>>8, i, 1)
			}
			st.useHead[k] = -1
			st.lastDef[k] = i<<8 | int32(ai)
		}
	}
}

// memory orders two accesses that may overlap. A load may share a group with a later store (reads are first), nothing
// else may.
func (d *dag) memory(a, b int32) {
	x, y := d.ins[a], d.ins[b]
	if (x.Flags|y.Flags)&Store == 0 {
		return
	}
	if x.Alias != 0 && y.Alias != 0 && x.Alias != y.Alias {
		return
	}
	if x.Flags&Store == 0 {
		d.edge(a, b, 0)
		return
	}
	d.edge(a, b, 1)
}

func resize(s []int32, n int, v int32) []int32 {
	if cap(s) < n {
		s = make([]int32, n)
	}
	s = s[:n]
	for i := range s {
		s[i] = v
	}
	return s
}

func resizeBool(s []bool, n int) []bool {
	if cap(s) < n {
		return make([]bool, n)
	}
	s = s[:n]
	clear(s)
	return s
}
