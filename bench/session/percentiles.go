package session

import "slices"

// maxLatencies bounds the latencies that percentiles are taken from; of more, evenly spaced ones are kept.
const maxLatencies = 1 << 20

// latencies keep what percentiles need: every stride-th latency.
type latencies struct {
	us           []float64
	stride, seen int
}

// add keeps a latency when it is its turn, and every second one of those kept when they are too many.
func (l *latencies) add(us float64) {
	l.stride = max(l.stride, 1)
	if l.seen++; (l.seen-1)%l.stride != 0 {
		return
	}
	if len(l.us) == maxLatencies {
		for i := range maxLatencies / 2 {
			l.us[i] = l.us[2*i]
		}
		l.us = l.us[:maxLatencies/2]
		l.stride *= 2
	}
	l.us = append(l.us, us)
}

// percentiles are the least latencies that so many percent of all do not exceed (nearest rank), 0 of none.
func (l *latencies) percentiles(percent ...int) []float64 {
	sorted := slices.Sorted(slices.Values(l.us))
	list := make([]float64, len(percent))
	for i, p := range percent {
		if n := len(sorted); n > 0 {
			list[i] = sorted[(n*p+99)/100-1]
		}
	}
	return list
}
