// Package footprint has sets of cache lines.
package footprint

import (
	"math/bits"
	"slices"
)

// pageLines is how many lines a page of a Set has.
const pageLines = 1 << 15

type page [pageLines / 64]uint64

// Set is a set of cache lines, by number. The zero Set is empty.
type Set struct {
	pages map[uint64]*page
	last  *page // that was found last, of number at
	at    uint64
}

// Add adds a line.
func (s *Set) Add(line uint64) {
	n := line / pageLines
	if s.last == nil || s.at != n {
		s.find(n)
	}
	s.last[line%pageLines/64] |= 1 << (line % 64)
}

func (s *Set) find(n uint64) {
	p := s.pages[n]
	if p == nil {
		if s.pages == nil {
			s.pages = map[uint64]*page{}
		}
		p = &page{}
		s.pages[n] = p
	}
	s.last, s.at = p, n
}

// Lines are the lines in order.
func (s *Set) Lines() (lines []uint64) {
	var numbers []uint64
	for n := range s.pages {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
		for i, word := range s.pages[n] {
			for ; word != 0; word &= word - 1 {
				lines = append(lines, n*pageLines+uint64(i*64+bits.TrailingZeros64(word)))
			}
		}
	}
	return lines
}
