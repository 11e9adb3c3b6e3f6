// Package lru has the parts common to the sets of caches: the order in which their lines were used, and signs by which
// a line is found without a look at each.
package lru

import "math/bits"

// MaxWays is how many lines a set can have: four bits name one.
const MaxWays = 16

// EveryWay is the lowest bit of the four of each way.
const EveryWay = 0x1111_1111_1111_1111

// everySign is the lowest bit of the sixteen of each sign in a word.
const everySign = 0x0001_0001_0001_0001

// Order is the ways of a set, four bits each, from the most recently used one on.
type Order uint64

// Way is the way at a place: its lowest bit in the order.
func (o Order) Way(place int) uint64 { return uint64(o) >> (place & 63) & 15 }

// Place is the place of a way.
func (o Order) Place(way uint64) int {
	x := uint64(o) ^ way*EveryWay // 0 at the place of the way, which is the lowest such
	return bits.TrailingZeros64((x-EveryWay)&^x&(EveryWay<<3)) & 60
}

// Front is the order with the way at a place as the most recently used one.
func (o Order) Front(way uint64, place int) Order {
	before := Order(1)<<(place&63) - 1
	return o&^(before<<4|15) | o&before<<4 | Order(way)
}

// Rotate is Front of the way that is last of an order whose ways have the bits all.
func (o Order) Rotate(last uint64, all Order) Order { return (o<<4 | Order(last)) & all }

// Signs are sixteen bits of the number of each line of a set, four lines a word.
type Signs [MaxWays / 4]uint64

// Sign repeats the sign of a line's number for each line of a word.
func Sign(number uint64) uint64 { return number & 0xffff * everySign }

// Set sets the sign of a way to that of a number.
func (s *Signs) Set(way, number uint64) {
	word, shift := &s[way>>2&3], way&3<<4
	*word = *word&^(0xffff<<shift) | number&0xffff<<shift
}

// Match has the highest bit set of each sign in a word that is the one that Sign has. The lowest bit set
// is right, others may be wrong, as the sign of no line may be: the number of the line decides.
func (s *Signs) Match(word int, sign uint64) uint64 {
	x := s[word&3] ^ sign
	return (x - everySign) &^ x & (everySign << 15)
}
