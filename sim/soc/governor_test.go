package soc

import (
	"reflect"
	"slices"
	"testing"

	"github.com/nnsoc/nnsoc/sim"
)

// TestBandwidthMonitorKeys: each key of bw_hwmon reaches the governor, but for the highest vote,
// which limits the points of its domain.
func TestBandwidthMonitorKeys(t *testing.T) {
	plain := Governor{Kind: governorBandwidth, MBpsZones: []float64{1}}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Governor]()) {
		last := governorKeys[len(governorKeys)-1]
		if key := f.Tag.Get("toml"); key == "max_mbps" || !slices.Contains(last.keys, key) {
			continue
		}
		g := plain
		switch v := reflect.ValueOf(&g).Elem().FieldByIndex(f.Index); v.Kind() {
		case reflect.Float64:
			v.SetFloat(7)
		case reflect.Int:
			v.SetInt(7)
		default:
			v.Set(reflect.ValueOf([]float64{7}))
		}
		if reflect.DeepEqual(g.bandwidthMonitor(), plain.bandwidthMonitor()) {
			t.Errorf("%s does not reach %T", f.Name, sim.BandwidthMonitor{})
		}
	}
}
