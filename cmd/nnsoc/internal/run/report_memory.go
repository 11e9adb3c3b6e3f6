package run

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/nnsoc/nnsoc/hal"
)

// memoryEntry is a device's use of the memory that all engines share.
type memoryEntry struct {
	ReadBytes  int64   `json:"read_bytes"` // of DRAM
	WriteBytes int64   `json:"write_bytes"`
	Bursts     int64   `json:"bursts"`
	RowHits    int64   `json:"row_hits"`
	WaitNS     float64 `json:"wait_ns"` // of a read burst in the controller, mean
	// Lines of the system-level cache, on a SoC that has one.
	SystemCache *systemCacheEntry `json:"system_cache,omitempty"`
	// EventsUJ, RefreshUJ and BackgroundUJ are in the energy of the run.
	EventsUJ     float64 `json:"events_uj"`
	RefreshUJ    float64 `json:"refresh_uj"`
	BackgroundUJ float64 `json:"background_uj"` // without refresh
}

type systemCacheEntry struct {
	Hits       int64 `json:"hits"`
	Misses     int64 `json:"misses"`
	WriteBacks int64 `json:"write_backs"`
}

// newMemoryEntry is nil for a device that has not used the memory of a machine.
func newMemoryEntry(m *hal.MemoryStats) *memoryEntry {
	lookups := m.CacheHits + m.CacheMisses
	if m.Bursts+lookups == 0 {
		return nil
	}
	e := &memoryEntry{
		ReadBytes: m.ReadBytes, WriteBytes: m.WriteBytes, Bursts: m.Bursts, RowHits: m.RowHits,
		WaitNS:   float64(m.WaitFs) / 1e6 / float64(max(m.ReadBursts, 1)),
		EventsUJ: m.EventsPJ / 1e6, RefreshUJ: m.RefreshPJ / 1e6, BackgroundUJ: m.BackgroundPJ / 1e6,
	}
	if lookups > 0 {
		e.SystemCache = &systemCacheEntry{m.CacheHits, m.CacheMisses, m.CacheWriteBacks}
	}
	return e
}

// memory writes each device's use of the shared memory.
func (r *report) memory(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	rows := 0
	for i := range r.data.Runs {
		for _, d := range r.data.Runs[i].Devices {
			m := d.Memory
			if m == nil {
				continue
			}
			if rows++; rows == 1 {
				fmt.Fprintln(t, "\nmemory\tread KB\twritten KB\trow hits\twait ns\tsystem cache\tevents uJ\trefresh uJ\tbackground uJ\t")
			}
			cache := "-"
			if c := m.SystemCache; c != nil {
				cache = fmt.Sprintf("%.1f %%", percent(c.Hits, c.Hits+c.Misses))
			}
			fmt.Fprintf(t, "%s\t%d\t%d\t%.1f %%\t%.1f\t%s\t%.1f\t%.1f\t%.1f\t\n", d.Device, m.ReadBytes/1000, m.WriteBytes/1000,
				percent(m.RowHits, m.Bursts), m.WaitNS, cache, m.EventsUJ, m.RefreshUJ, m.BackgroundUJ)
		}
	}
	return t.Flush()
}

func percent(part, of int64) float64 { return 100 * float64(part) / float64(max(of, 1)) }
