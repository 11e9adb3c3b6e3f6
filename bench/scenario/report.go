package scenario

import (
	"slices"
	"strings"
	"time"

	"gonum.org/v1/gonum/stat"
)

// Row is what a strategy did for a network; times in milliseconds, energy in microjoules.
type Row struct {
	Strategy    string  `json:"strategy"` // name of the strategy
	Network     string  `json:"model"`
	Device      string  `json:"device"`       // that ran it, several joined by +, "aosp" where the runtime divided it
	JobCount    int     `json:"job_count"`    // arrivals
	P50MS       float64 `json:"p50_ms"`       // median time from arrival to result
	P90MS       float64 `json:"p90_ms"`       // 90th percentile of it
	P99MS       float64 `json:"p99_ms"`       // 99th percentile of it
	WorstMS     float64 `json:"worst_ms"`     // longest of it
	MeanMS      float64 `json:"mean_ms"`      // mean of it
	PredictedMS float64 `json:"predicted_ms"` // mean as predicted before the run
	WaitMS      float64 `json:"wait_ms"`      // mean time before an engine of the strategy starts; 0 where drivers queue
	QueueMS     float64 `json:"queue_ms"`     // mean time in the queues of drivers and between parts
	LostMS      float64 `json:"lost_ms"`      // mean time beyond wait, queue and the cost alone: contention for DRAM, caches, clocks and heat; below 0 where others keep cores and engines awake, so that a job needs less than alone
	Missed      int     `json:"missed"`       // deadlines
	PerSecond   float64 `json:"per_second"`   // results per second of the run
	EnergyUJ    float64 `json:"energy_uj"`    // per result
}

// Summary is what a strategy did for the whole scenario.
type Summary struct {
	Strategy        string             `json:"strategy"`         // name of the strategy
	JobCount        int                `json:"job_count"`        // arrivals
	Missed          int                `json:"missed"`           // deadlines
	PredictedMissed int                `json:"predicted_missed"` // deadlines, as predicted before the run
	MeanMS          float64            `json:"mean_ms"`          // time from arrival to result
	PredictedMS     float64            `json:"predicted_ms"`     // mean as predicted before the run
	EnergyUJ        float64            `json:"energy_uj"`        // of all results
	SpanMS          float64            `json:"span_ms"`          // to the end of the last result
	Use             map[string]float64 `json:"use"`              // share of the run that an engine worked
	PlanningS       float64            `json:"planning_s"`       // host time of the strategy
	Proven          bool               `json:"proven,omitempty"` // no plan with a better prediction exists
	Pareto          bool               `json:"pareto"`           // no strategy is better in missed deadlines, energy or mean latency and as good in the others
	Mismatches      int                `json:"mismatches"`       // elements that differ from the reference
	Networks        []Row              `json:"networks"`         // by network of the scenario
	// PercentilesMS are the times from arrival to result of all networks: the shortest, then those that 1, 2 ... 100 percent do not exceed.
	PercentilesMS []float64 `json:"latency_percentiles_ms"`

	Run *Run `json:"-"` // job by job; nil of a summary that was read
}

// Compare lets a strategy plan, predicts and simulates its plan, and sums up.
func (r *Runner) Compare(p *Problem, s Strategy) (*Summary, error) {
	begin := time.Now()
	plan, err := s.Plan(p)
	if err != nil {
		return nil, err
	}
	x := &Summary{Strategy: s.Name(), PlanningS: time.Since(begin).Seconds(), Proven: plan.Proven, Use: map[string]float64{}}
	predicted := Predict(p, plan)
	run, err := r.Simulate(p, plan)
	if err != nil {
		return nil, err
	}
	x.Run = run
	x.sum(p, plan, run, &predicted)
	for i := range p.Costs {
		x.Networks = append(x.Networks, x.row(p, plan, run, &predicted, i, r.Workloads[i].Model.Name))
	}
	return x, nil
}

func (x *Summary) sum(p *Problem, plan Plan, run *Run, predicted *Prediction) {
	x.JobCount, x.PredictedMissed, x.PredictedMS = len(p.Jobs), predicted.Missed, float64(predicted.MeanFs)/femtoseconds
	x.SpanMS, x.Mismatches = float64(run.SpanFs)/femtoseconds, run.Mismatches
	var latency []float64
	for i := range run.Jobs {
		j := &run.Jobs[i]
		latency = append(latency, float64(j.EndFs-p.Jobs[i].ArrivalFs)/femtoseconds)
		x.MeanMS += float64(j.EndFs-p.Jobs[i].ArrivalFs) / femtoseconds / float64(len(run.Jobs))
		x.EnergyUJ += j.EnergyPJ / 1e6
		if missed(&p.Jobs[i], j) {
			x.Missed++
		}
	}
	slices.Sort(latency)
	for q := 0; q <= 100 && len(latency) > 0; q++ {
		x.PercentilesMS = append(x.PercentilesMS, quantile(latency, float64(q)/100))
	}
	for _, d := range p.Devices {
		x.Use[d] = float64(run.EngineFs[d]) / float64(run.SpanFs)
	}
}

// missed reports whether a job ended behind its deadline.
func missed(j *Job, d *Done) bool { return j.DeadlineFs > 0 && d.EndFs > j.DeadlineFs }

// row sums up the jobs of a network.
func (x *Summary) row(p *Problem, plan Plan, run *Run, predicted *Prediction, network int, name string) Row {
	row := Row{Strategy: x.Strategy, Network: name}
	var latency []float64
	var names []string
	for i := range p.Jobs {
		j, d := &p.Jobs[i], &run.Jobs[i]
		if j.Network != network {
			continue
		}
		ms := float64(d.EndFs-j.ArrivalFs) / femtoseconds
		latency = append(latency, ms)
		row.PredictedMS += float64(predicted.Latency[i]) / femtoseconds
		row.WaitMS += float64(d.StartFs-j.ArrivalFs) / femtoseconds
		row.QueueMS += float64(d.QueueFs) / femtoseconds
		row.LostMS += ms - float64(d.StartFs-j.ArrivalFs+d.QueueFs+d.AloneFs)/femtoseconds
		row.EnergyUJ += d.EnergyPJ / 1e6
		if missed(j, d) {
			row.Missed++
		}
		if !slices.Contains(names, d.Device) {
			names = append(names, d.Device)
		}
	}
	row.JobCount = len(latency)
	if row.JobCount == 0 {
		return row
	}
	slices.Sort(names)
	row.Device = strings.Join(names, "+")
	slices.Sort(latency)
	n := float64(row.JobCount)
	row.P50MS, row.P90MS, row.P99MS = quantile(latency, 0.5), quantile(latency, 0.9), quantile(latency, 0.99)
	row.WorstMS, row.MeanMS = latency[len(latency)-1], stat.Mean(latency, nil)
	row.PerSecond = n / float64(run.SpanFs) * 1e15
	for _, sum := range []*float64{&row.PredictedMS, &row.WaitMS, &row.QueueMS, &row.LostMS, &row.EnergyUJ} {
		*sum /= n
	}
	return row
}

func quantile(sorted []float64, q float64) float64 {
	return stat.Quantile(q, stat.Empirical, sorted, nil)
}
