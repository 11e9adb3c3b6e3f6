package dramtimes

// Tolerances about a golden band.
const (
	bandwidthTolerance = 0.10
	latencyTolerance   = 0.15
	// InBandShare is the share of the rows that must be in their bands.
	InBandShare = 0.9
)

// Verdict is the golden bands that contain a result, with a tolerance; a band that a table does not have counts as one
// that holds.
type Verdict struct {
	GBps, LatMean, LatP95 bool
}

// InBand is bandwidth and mean latency.
func (v Verdict) InBand() bool { return v.GBps && v.LatMean }

// Compare holds a result against the golden values of its row.
func Compare(r *Result, g *Golden) Verdict {
	in := func(b Band, v, tolerance float64) bool { return !b.Has() || b.Contains(v, tolerance) }
	return Verdict{
		GBps:    in(g.GBps, r.GBps, bandwidthTolerance),
		LatMean: in(g.LatMeanNs, r.LatMeanNs, latencyTolerance),
		LatP95:  in(g.LatP95Ns, r.LatP95Ns, latencyTolerance),
	}
}
