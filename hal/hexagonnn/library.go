package hexagonnn

import (
	"fmt"
	"sync"

	"github.com/nnsoc/nnsoc/hal"
)

// Library is an initialised Hexagon NN: the device, and the clocks that its user votes
// for. Its methods may be called from several goroutines.
type Library struct {
	device hal.Device
	mu     sync.Mutex
	vote   hal.Preference
}

// Open is hexagon_nn_config: a library over a device.
func Open(d hal.Device) (*Library, error) {
	if d == nil {
		return nil, fmt.Errorf("hexagonnn: no device")
	}
	if s := d.Status(); s == hal.DeviceOffline {
		return nil, hal.Errorf(hal.DeviceUnavailable, "hexagonnn: device %s is %s", d.Name(), s)
	}
	return &Library{device: d, vote: hal.FastSingleAnswer}, nil
}

// Version is hexagon_nn_version as the device's driver states it.
func (l *Library) Version() string { return l.device.Version() }

// Corner is a voltage corner to vote for, hexagon_nn_corner_type.
type Corner int32

// Corners, from no vote to the lowest clock.
const (
	CornerRelease Corner = iota
	CornerTurbo
	CornerNominalPlus
	CornerNominal
	CornerSVSPlus
	CornerSVS
	CornerSVS2
)

// SetClocks is hexagon_nn_set_powersave_details: it votes for a corner. Graphs prepared
// from now on request sustained speed at turbo, a fast answer at the nominal corners,
// low power at the SVS corners; releasing the vote requests a fast answer.
func (l *Library) SetClocks(c Corner) error {
	var p hal.Preference
	switch c {
	case CornerTurbo:
		p = hal.SustainedSpeed
	case CornerRelease, CornerNominalPlus, CornerNominal:
		p = hal.FastSingleAnswer
	case CornerSVSPlus, CornerSVS, CornerSVS2:
		p = hal.LowPower
	default:
		return fmt.Errorf("hexagonnn: no clock corner %d", c)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.vote = p
	return nil
}

// SetPowersaveLevel is hexagon_nn_set_powersave_level: 0 is as fast as possible, more
// saves power.
func (l *Library) SetPowersaveLevel(level uint) error {
	if level == 0 {
		return l.SetClocks(CornerNominal)
	}
	return l.SetClocks(CornerSVS)
}

func (l *Library) preference() hal.Preference {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.vote
}

// Init is hexagon_nn_init: an empty graph.
func (l *Library) Init() *Graph { return &Graph{library: l, nodes: map[NodeID]*node{}} }
