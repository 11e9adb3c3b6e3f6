// Package flow finds maximum flows and minimum cuts.
package flow

import "math"

// Network is one for maximum flow by Dinic's algorithm.
type Network struct {
	head []int // per node, the first arc; -1 for none
	arcs []arc
	rank []int
	at   []int
}

// arc is an arc with its reverse at index^1.
type arc struct {
	to, next int
	left     int64
}

func New(nodes int) *Network {
	f := &Network{head: make([]int, nodes), rank: make([]int, nodes), at: make([]int, nodes)}
	for i := range f.head {
		f.head[i] = -1
	}
	return f
}

// Add adds an arc.
func (f *Network) Add(from, to int, capacity int64) {
	f.arcs = append(f.arcs, arc{to, f.head[from], capacity}, arc{from, f.head[to], 0})
	f.head[from], f.head[to] = len(f.arcs)-2, len(f.arcs)-1
}

// Cut saturates the network and reports which nodes lie on the sink's side of
// the minimum cut whose sink side is smallest.
func (f *Network) Cut(source, sink int) []bool {
	for f.layers(source, sink) {
		copy(f.at, f.head)
		for f.push(source, sink, math.MaxInt64) > 0 {
		}
	}
	side := make([]bool, len(f.head))
	side[sink] = true
	queue := []int{sink}
	for len(queue) > 0 {
		v := queue[0]
		queue = queue[1:]
		for a := f.head[v]; a >= 0; a = f.arcs[a].next {
			if u := f.arcs[a].to; f.arcs[a^1].left > 0 && !side[u] {
				side[u] = true
				queue = append(queue, u)
			}
		}
	}
	return side
}

// layers ranks nodes by their distance from the source over arcs with residual capacity.
func (f *Network) layers(source, sink int) bool {
	clear(f.rank)
	f.rank[source] = 1
	queue := []int{source}
	for len(queue) > 0 {
		u := queue[0]
		queue = queue[1:]
		for a := f.head[u]; a >= 0; a = f.arcs[a].next {
			if v := f.arcs[a].to; f.arcs[a].left > 0 && f.rank[v] == 0 {
				f.rank[v] = f.rank[u] + 1
				queue = append(queue, v)
			}
		}
	}
	return f.rank[sink] > 0
}

// push sends flow along one path of increasing rank.
func (f *Network) push(u, sink int, most int64) int64 {
	if u == sink {
		return most
	}
	for ; f.at[u] >= 0; f.at[u] = f.arcs[f.at[u]].next {
		a := f.at[u]
		v := f.arcs[a].to
		if f.arcs[a].left == 0 || f.rank[v] != f.rank[u]+1 {
			continue
		}
		if sent := f.push(v, sink, min(most, f.arcs[a].left)); sent > 0 {
			f.arcs[a].left -= sent
			f.arcs[a^1].left += sent
			return sent
		}
	}
	return 0
}
