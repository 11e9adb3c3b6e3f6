package sweep

import (
	"fmt"
	"strconv"
	"strings"
)

// Shard is one of several parts of a sweep; the zero value is all of it.
type Shard struct{ Index, Count int } // from 1

// maxShards bounds the number of parts.
const maxShards = 10_000

// ParseShard reads i/n.
func ParseShard(s string) (Shard, error) {
	i, n, ok := strings.Cut(s, "/")
	a, err1 := strconv.Atoi(i)
	b, err2 := strconv.Atoi(n)
	if !ok || err1 != nil || err2 != nil || a < 1 || b < a || b > maxShards {
		return Shard{}, fmt.Errorf("shard %q, want I/N with I from 1 to N and N up to %d", s, maxShards)
	}
	return Shard{a, b}, nil
}

// Has reports whether a point is in the shard: neighbours, of about the same duration, are distributed over different
// ones.
func (s Shard) Has(p *Point) bool { return s.Count == 0 || p.Index%s.Count == s.Index-1 }

// file is the name of the lines of a shard.
func (s Shard) file() string {
	if s.Count == 0 {
		s = Shard{1, 1}
	}
	return fmt.Sprintf("rows-%d-of-%d.jsonl", s.Index, s.Count)
}
