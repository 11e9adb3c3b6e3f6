package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
)

// Report is the result of a sample.
type Report struct {
	Seed    uint64    `json:"seed"`
	Areas   []Count   `json:"areas"`
	All     Count     `json:"all"`
	Results []Result  `json:"results"`
	LeftOut []LeftOut `json:"leftOut"` // tests that no fault met
}

// Count is the number of faults of an area by outcome.
type Count struct {
	Area      string `json:"area"`
	Planted   int    `json:"planted"`
	Found     int    `json:"found"`
	Known     int    `json:"known"` // survivors whose reason is listed
	Survived  int    `json:"survived"`
	Unreached int    `json:"unreached"` // of the survivors
}

func (c *Count) add(o Outcome) {
	c.Planted++
	switch o {
	case Found:
		c.Found++
	case Known:
		c.Known++
	case Unreached:
		c.Unreached++
		fallthrough
	default:
		c.Survived++
	}
}

// Share is the share of the faults that tests find, of those without a listed reason.
func (c Count) Share() float64 {
	if c.Found+c.Survived == 0 {
		return 1
	}
	return float64(c.Found) / float64(c.Found+c.Survived)
}

// Share returns the share of faults found in all areas.
func (r *Report) Share() float64 { return r.All.Share() }

// summarize counts results by area.
func summarize(picked []area, results []Result, leftOut []LeftOut) *Report {
	r := &Report{All: Count{Area: "all"}, Results: results, LeftOut: leftOut}
	for _, a := range picked {
		c := Count{Area: a.name}
		for i := range results {
			if results[i].Area == a.name {
				c.add(results[i].Outcome)
				r.All.add(results[i].Outcome)
			}
		}
		r.Areas = append(r.Areas, c)
	}
	return r
}

// write writes a table, the survivors that are not listed, and the tests left out, or all of it as JSON.
func (r *Report) write(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(r)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "area\tplanted\tfound\tlisted\tsurvived\tunreached\tshare\t")
	for _, c := range append(r.Areas, r.All) {
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%.1f %%\t\n", c.Area, c.Planted, c.Found, c.Known, c.Survived, c.Unreached, 100*c.Share())
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for i := range r.Results {
		if x := &r.Results[i]; x.Outcome == Survived || x.Outcome == Unreached {
			if _, err := fmt.Fprintf(w, "%s: %s\n", x.Outcome, x.Key()); err != nil {
				return err
			}
		}
	}
	for _, l := range r.LeftOut {
		if _, err := fmt.Fprintf(w, "left out: %s %s %s\n", l.Package, l.Test, l.Why); err != nil {
			return err
		}
	}
	return nil
}

// readSurvivors reads the list of known survivors: the fault as the report prints it, below a line "# reason" that
// holds for all up to the next.
func readSurvivors(file string) (map[string]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	reasons, reason := map[string]string{}, ""
	in := bufio.NewScanner(f)
	for n := 1; in.Scan(); n++ {
		line := strings.TrimSpace(in.Text())
		switch text, ok := strings.CutPrefix(line, "#"); {
		case ok:
			reason = strings.TrimSpace(text)
		case line == "":
		case reason == "" || !strings.Contains(line, " => "):
			return nil, fmt.Errorf("%s:%d: a survivor without a reason above it", file, n)
		default:
			reasons[line] = reason
		}
	}
	return reasons, in.Err()
}
