package registry

import (
	"testing"

	"github.com/nnsoc/nnsoc/hal"
)

// versioned is a device of a name and a version.
type versioned struct {
	hal.Device
	name, version string
}

func (d versioned) Name() string    { return d.name }
func (d versioned) Version() string { return d.version }

// TestTokens: each thing that a part depends on besides the client's token changes its token.
func TestTokens(t *testing.T) {
	whole, part := []int(nil), []int{0, 1}
	seen := map[hal.CacheToken]string{}
	for _, c := range []struct {
		of         string
		cache      Cache
		device     versioned
		options    hal.PrepareOptions
		source     int
		operations []int
	}{
		{"a model", Cache{}, versioned{name: "a", version: "1"}, hal.PrepareOptions{}, 0, whole},
		{"another token", Cache{Token: hal.CacheToken{31: 1}}, versioned{name: "a", version: "1"}, hal.PrepareOptions{}, 0, whole},
		{"another device", Cache{}, versioned{name: "b", version: "1"}, hal.PrepareOptions{}, 0, whole},
		{"another version", Cache{}, versioned{name: "a", version: "2"}, hal.PrepareOptions{}, 0, whole},
		{"another preference", Cache{}, versioned{name: "a", version: "1"}, hal.PrepareOptions{Preference: hal.SustainedSpeed}, 0, whole},
		{"another priority", Cache{}, versioned{name: "a", version: "1"}, hal.PrepareOptions{Priority: hal.PriorityHigh}, 0, whole},
		{"a part", Cache{}, versioned{name: "a", version: "1"}, hal.PrepareOptions{}, 0, part},
		{"another part", Cache{}, versioned{name: "a", version: "1"}, hal.PrepareOptions{}, 0, []int{0, 2}},
		{"a part of another subgraph", Cache{}, versioned{name: "a", version: "1"}, hal.PrepareOptions{}, 1, part},
	} {
		token := c.cache.token(c.device, c.options, c.source, c.operations)
		if was, ok := seen[token]; ok {
			t.Errorf("%s and %s have one token", was, c.of)
		}
		seen[token] = c.of
	}
}
