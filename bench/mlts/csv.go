package mlts

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// columns is the comment that names the columns of a result file.
const columns = "#testInfo,backendType" +
	",inferenceIterations,inferenceTotalTimeSec,inferenceTimeFreqStartSec,inferenceTimeFreqStepSec" +
	",inferenceTimeFreqBucketCount,inferenceTimeFreqBucket1,..." +
	",maxSingleError,testSetSize,evaluatorsCount,validationErrorsCount" +
	",evaluatorKey1,...,evaluatorResult1,...,validationError1,..." +
	",hasCompileWithoutCacheResults,compileWithoutCacheIterations,..." +
	",hasSaveToCacheResults,saveToCacheIterations,..." +
	",hasPrepareFromCacheResults,prepareFromCacheIterations,..." +
	",compilationCacheSizeBytes"

// WriteCSV writes a result file as the app does: the time of day and a build, the names of
// the columns, a line per result. Only models whose baseline was measured have lines: the
// page generator needs it.
func WriteCSV(w io.Writer, at time.Time, build string, results []*Result) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s,%s\n%s\n", at.Format("20060102_150405"), cell(build), columns)
	measured := map[string]bool{}
	for _, r := range results {
		if r.Backend == BackendCPU && r.Inference != nil {
			measured[r.Model] = true
		}
	}
	for _, r := range results {
		if r.Inference != nil && measured[r.Model] {
			b.WriteString(line(r))
		}
	}
	return b.Flush()
}

// cell is a text without separators of cells and lines.
func cell(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ',' || r == '"' || r < ' ' {
			return ' '
		}
		return r
	}, s)
}

func line(r *Result) string {
	c := []string{cell(r.Model), cell(r.Backend)}
	c = append(c, r.Inference.cells()...)
	c = append(c, javaFloat(r.MaxSingleError), strconv.Itoa(r.TestSetSize), strconv.Itoa(len(r.Values)), strconv.Itoa(len(r.ValidationErrors)))
	for _, v := range r.Values {
		c = append(c, v.Key)
	}
	for _, v := range r.Values {
		c = append(c, javaFloat(v.Value))
	}
	for _, e := range r.ValidationErrors {
		c = append(c, cell(e))
	}
	var k Compilation
	if r.Compilation != nil {
		k = *r.Compilation
	}
	for _, l := range []*Latency{k.WithoutCache, k.SaveToCache, k.FromCache} {
		c = append(c, strconv.FormatBool(l != nil))
		if l != nil {
			c = append(c, l.cells()...)
		}
	}
	return strings.Join(append(c, strconv.FormatInt(k.CacheBytes, 10)), ",") + "\n"
}

// cells returns a latency's columns of the table.
func (l *Latency) cells() []string {
	c := []string{strconv.Itoa(l.Iterations), javaFloat(l.TotalSec), javaFloat(l.StartSec), javaFloat(l.StepSec), strconv.Itoa(Buckets)}
	for _, n := range l.Counts {
		c = append(c, javaFloat(n))
	}
	return c
}

// javaFloat is Float.toString of Java: the shortest digits that identify the float32, with at least one after the
// point, and an exponent below 1e-3 and from 1e7 on.
func javaFloat(v float64) string {
	f := float64(float32(v))
	switch a := math.Abs(f); {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case a != 0 && (a < 1e-3 || a >= 1e7):
		digits, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 32), "e")
		e, err := strconv.Atoi(exponent)
		if err != nil {
			panic(err) // FormatFloat wrote it
		}
		if !strings.Contains(digits, ".") {
			digits += ".0"
		}
		return digits + "E" + strconv.Itoa(e)
	}
	s := strconv.FormatFloat(f, 'f', -1, 32)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
