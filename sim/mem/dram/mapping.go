package dram

import (
	"github.com/nnsoc/nnsoc/sim/mem/internal/model"
	"slices"
	"strings"
)

// Location is the position of a chunk of memory.
type Location struct {
	Channel, Bank int
	Row           int64
}

// Mapping maps addresses to locations. Locations are within Channels and Banks of the configuration; the column follows
// from the address.
type Mapping interface {
	// ChunkBytes is a power of two: an aligned chunk of so many bytes is in one row.
	ChunkBytes() int
	Locate(addr uint64) Location
}

// MappingOrders are the orders that an interleaved mapping can have, from the high bits of an address on; the first is
// the default.
func MappingOrders() []string {
	return []string{
		"row-bank-column-channel", "row-bank-channel-column", "row-column-bank-channel",
		"row-column-channel-bank", "row-channel-bank-column", "row-channel-column-bank",
	}
}

// interleaved is the mapping of an address with a byte of a chunk in its low bits and
// the channel, the column and the bank above in some order, below the row.
type interleaved struct {
	chunk, channel, bank, row uint   // shifts
	channels, banks, spread   uint64 // masks; spread: bits of the row that are XORed into the bank
}

// newInterleaved is the mapping that a configuration describes.
func newInterleaved(c *Config) *interleaved {
	m := &interleaved{chunk: model.Log2(c.InterleaveBytes), channels: uint64(c.Channels - 1), banks: uint64(c.Banks - 1)}
	if c.XORBanks {
		m.spread = m.banks
	}
	order := c.Order
	if order == "" {
		order = MappingOrders()[0]
	}
	fields := strings.Split(order, "-")
	slices.Reverse(fields)
	at := m.chunk
	for _, f := range fields {
		switch f {
		case "channel":
			m.channel = at
			at += model.Log2(c.Channels)
		case "bank":
			m.bank = at
			at += model.Log2(c.Banks)
		case "column":
			at += model.Log2(c.RowBytes) - m.chunk
		case "row":
			m.row = at
		}
	}
	return m
}

// ChunkBytes implements Mapping.
func (m *interleaved) ChunkBytes() int { return 1 << m.chunk }

// Locate implements Mapping.
func (m *interleaved) Locate(addr uint64) Location {
	row := addr >> (m.row & 63)
	return Location{
		Channel: int(addr >> (m.channel & 63) & m.channels),
		Bank:    int((addr>>(m.bank&63) ^ row&m.spread) & m.banks),
		Row:     int64(row),
	}
}
