package dramtimes

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Pattern is a sequence of requests, as the parameters of a row describe it.
type Pattern struct {
	N       int64 // requests
	Size    int64 // bytes of each
	Streams int64 // S
	Gap     int64 // bytes between the bases of two streams, with Skew
	Skew    int64
	C       int64  // consecutive requests of one stream
	Stride  int64  // bytes from a request of a stream to its next
	A       int64  // requests of a tile's row; 0: no tiles
	Pitch   int64  // bytes from row to row of a tile
	Wrap    int64  // a stream begins anew after so many bytes
	Ops     string // R or W by stream
	Random  bool   // gen=rand: blocks at random
	Block   int64  // bytes of one
	Span    int64  // size of their address range in bytes
	Seed    uint64
	MixP    int64  // mix=p/q: p of q requests are writes
	MixQ    int64  // 0: by Ops
	Period  int64  // T: clocks between two bursts of requests; 0: closed loop
	Off     int64  // clock of the first
	Burst   int64  // requests that arrive at once
	Map     string // X, L or none
}

// Limits of a row's parameters.
const (
	maxRequests = 1 << 22
	maxBursts   = 1 << 24 // of 32 bytes, per row
	maxWindow   = 1 << 16
	maxClocks   = 1 << 40
	maxBytes    = 1 << 40 // of an address parameter
)

// addresses is the size of a pattern's address space in bytes; addresses beyond wrap around.
const addresses = 1 << 32

// number reads a non-negative integer with an optional suffix K or M.
func number(s string) (int64, error) {
	digits, unit := s, int64(1)
	switch {
	case strings.HasSuffix(s, "K"):
		digits, unit = s[:len(s)-1], 1<<10
	case strings.HasSuffix(s, "M"):
		digits, unit = s[:len(s)-1], 1<<20
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return 0, fmt.Errorf("%q is not a number", s)
		}
	}
	v, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a number", s)
	}
	if v > math.MaxInt64/unit {
		return 0, fmt.Errorf("%s is too large", s)
	}
	return v * unit, nil
}

// ParsePattern reads parameters as name=value, separated by blanks. The error names
// the parameter.
func ParsePattern(params string) (Pattern, error) {
	p := Pattern{Size: 64, Streams: 1, C: 1, Stride: -1, Wrap: 1 << 32, Ops: "R", Block: -1, Span: 256 << 20, Seed: 1, Burst: 1}
	numbers := map[string]struct {
		v      *int64
		lo, hi int64
	}{
		"n": {&p.N, 1, maxRequests}, "size": {&p.Size, 1, 1 << 20}, "S": {&p.Streams, 1, 1 << 20},
		"gap": {&p.Gap, 0, maxBytes}, "skew": {&p.Skew, 0, maxBytes}, "c": {&p.C, 1, maxBursts},
		"stride": {&p.Stride, 0, maxBytes}, "a": {&p.A, 0, maxBursts}, "pitch": {&p.Pitch, 0, maxBytes},
		"wrap": {&p.Wrap, 1, maxBytes}, "block": {&p.Block, 1, maxBytes}, "span": {&p.Span, 1, maxBytes},
		"T": {&p.Period, 1, maxClocks}, "off": {&p.Off, 0, maxClocks}, "burst": {&p.Burst, 1, maxBursts},
	}
	seen := map[string]bool{}
	for _, f := range strings.Fields(params) {
		name, value, ok := strings.Cut(f, "=")
		if !ok {
			return p, fmt.Errorf("%q, want name=value", f)
		}
		if seen[name] {
			return p, fmt.Errorf("%s is given twice", name)
		}
		seen[name] = true
		if n, ok := numbers[name]; ok {
			v, err := number(value)
			if err != nil {
				return p, fmt.Errorf("%s: %w", name, err)
			}
			if v < n.lo || v > n.hi {
				return p, fmt.Errorf("%s = %d, want %d..%d", name, v, n.lo, n.hi)
			}
			*n.v = v
			continue
		}
		if err := p.word(name, value); err != nil {
			return p, err
		}
	}
	return p, p.complete(seen)
}

// word sets a parameter that is not a number.
func (p *Pattern) word(name, value string) error {
	switch name {
	case "ops":
		if value == "" || len(value) > 1<<10 || strings.Trim(value, "RW") != "" {
			return fmt.Errorf("ops = %q, want letters R and W", value)
		}
		p.Ops = value
	case "gen":
		if value != "rand" {
			return fmt.Errorf("gen = %q, want rand", value)
		}
		p.Random = true
	case "map":
		if value != "X" && value != "L" {
			return fmt.Errorf("map = %q, want X or L", value)
		}
		p.Map = value
	case "seed":
		v, err := strconv.ParseUint(value, 10, 64)
		if err != nil || v == 0 {
			return fmt.Errorf("seed = %q, want a positive integer", value)
		}
		p.Seed = v
	case "mix":
		a, b, _ := strings.Cut(value, "/")
		x, err := number(a)
		y, err2 := number(b)
		if err != nil || err2 != nil || y < 1 || x > y || y > maxBursts {
			return fmt.Errorf("mix = %q, want p/q with p at most q", value)
		}
		p.MixP, p.MixQ = x, y
	default:
		return fmt.Errorf("unknown parameter %q", name)
	}
	return nil
}

// complete fills in dependent parameters and checks them together.
func (p *Pattern) complete(seen map[string]bool) error {
	if p.Stride < 0 {
		p.Stride = p.Size
	}
	if p.Block < 0 {
		p.Block = p.Size
	}
	switch {
	case p.N == 0:
		return fmt.Errorf("n is missing")
	case p.bursts() > maxBursts:
		return fmt.Errorf("n = %d requests of %d bytes are more than %d bursts", p.N, p.Size, maxBursts)
	case p.Random && p.Block < p.Size:
		return fmt.Errorf("block = %d is less than size = %d", p.Block, p.Size)
	case p.Random && p.Span < p.Block:
		return fmt.Errorf("span = %d is less than block = %d", p.Span, p.Block)
	case p.Period == 0 && (seen["off"] || seen["burst"]):
		return fmt.Errorf("off and burst need T")
	case p.Period > 0 && p.Off+(p.N/p.Burst)*p.Period > maxClocks:
		return fmt.Errorf("the last request comes after clock %d", int64(maxClocks))
	}
	return nil
}

// bursts is the most that the pattern has.
func (p *Pattern) bursts() int64 { return p.N * ((p.Size + 2*burstBytes - 2) / burstBytes) }

// request is one request of a pattern.
type request struct {
	addr  uint64
	write bool
}

// generator makes the requests of a pattern in order.
type generator struct {
	p     Pattern
	i     int64
	x     uint64 // state of the random numbers
	block uint64
}

func (p Pattern) requests() *generator {
	return &generator{p: p, x: p.Seed * 0x9E3779B97F4A7C15}
}

// next is the next request. The generator of blocks is Marsaglia's xorshift64.
func (g *generator) next() request {
	p, i := &g.p, g.i
	g.i++
	var r request
	if p.Random {
		per := p.Block / p.Size
		if i%per == 0 {
			g.x ^= g.x << 13
			g.x ^= g.x >> 7
			g.x ^= g.x << 17
			g.block = g.x >> 20 % uint64(p.Span/p.Block) * uint64(p.Block)
		}
		r = request{addr: g.block + uint64(i%per*p.Size), write: p.Ops[0] == 'W'}
	} else {
		turn := i / p.C
		s := turn % p.Streams
		k := turn/p.Streams*p.C + i%p.C
		o := k * p.Stride
		if p.A > 0 {
			o = k%p.A*p.Stride + k/p.A*p.Pitch
		}
		r = request{addr: uint64(s)*uint64(p.Gap+p.Skew) + uint64(o)%uint64(p.Wrap), write: p.Ops[s%int64(len(p.Ops))] == 'W'}
	}
	if p.MixQ > 0 {
		r.write = i*p.MixP%p.MixQ < p.MixP
	}
	r.addr &= addresses - 1
	return r
}
