package report

import (
	_ "embed"
	"errors"
	"io"

	"github.com/nnsoc/nnsoc/bench/glossary"
)

//go:embed page/schedule.html
var scheduleHTML string

//go:embed page/schedule.js
var scheduleJS string

// Schedule is a page of several networks on one phone, by strategy. Times are milliseconds since a scenario began.
type Schedule struct {
	Title     string             `json:"title"`
	Scenarios []ScheduleScenario `json:"scenarios"`
}

// ScheduleScenario is a scenario of the page.
type ScheduleScenario struct {
	Name       string             `json:"name"`
	Networks   []string           `json:"networks"`
	Engines    []string           `json:"engines"`
	DurationMS float64            `json:"duration_ms"`
	Strategies []ScheduleStrategy `json:"strategies"`
}

// ScheduleStrategy is what a strategy did.
type ScheduleStrategy struct {
	Name     string         `json:"name"`
	Missed   int            `json:"missed"`
	MeanMS   float64        `json:"mean_ms"`
	EnergyUJ float64        `json:"energy_uj"` // of all results
	Jobs     []ScheduleJob  `json:"jobs"`
	Spans    []ScheduleSpan `json:"spans"`
}

// ScheduleJob is an arrival of a network and its result.
type ScheduleJob struct {
	Network    int     `json:"network"`
	ArrivalMS  float64 `json:"arrival_ms"`
	EndMS      float64 `json:"end_ms"`
	DeadlineMS float64 `json:"deadline_ms"` // 0: none
	LostMS     float64 `json:"lost_ms"`     // to contention
}

// ScheduleSpan is the work of an engine for a network.
type ScheduleSpan struct {
	Engine  int     `json:"engine"`
	Network int     `json:"network"`
	StartMS float64 `json:"start_ms"`
	EndMS   float64 `json:"end_ms"`
}

// WriteHTML writes a self-contained page.
func (s *Schedule) WriteHTML(w io.Writer) error {
	if len(s.Scenarios) == 0 {
		return errors.New("a page of no scenario")
	}
	return write(w, scheduleHTML, scheduleJS, s.Title, struct {
		*Schedule
		Colours []string `json:"colours"` // of networks and strategies
	}{s, glossary.Names()})
}
