package scenario

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/internal/require"
)

// program writes a shell script as a strategy.
func program(t *testing.T, text string) *External {
	t.Helper()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("skipped: needs sh")
	}
	name := filepath.Join(t.TempDir(), "strategy.sh")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	s := require.V(Find("exec:sh " + name))(t).(*External)
	s.Limit = 5 * time.Second
	return s
}

// TestExternal: a program plans with evaluations, or decides job by job, as the strategies here do.
func TestExternal(t *testing.T) {
	p := problem(t, []float64{6, 7}, []float64{6, 7})
	x := program(t, `read problem
echo '{"evaluate": [["a"], ["a"]]}'
read one
echo '{"evaluate": [["a"], ["b"]]}'
read two
case "$one$two" in
*'"missed":3'*'"missed":0'*) echo '{"plan": [["a"], ["b"]]}' ;;
*) echo "$one $two" >&2; exit 1 ;;
esac
`)
	plan := require.V(x.Plan(p))(t)
	require.Check(t, plan.Routes[0][0] == 0 && plan.Routes[1][0] == 1, "%+v", plan)
	x = program(t, `read problem
echo '{"scheduler": true}'
while read line; do echo '{"job": 0}'; done
`)
	plan = require.V(x.Plan(p))(t)
	got, want := Predict(p, plan), Predict(p, Plan{Scheduler: next(func(*State, int) Choice { return Choice{} })})
	require.Same(t, want.MeanFs, got.MeanFs, "mean")
	got = Predict(p, plan)
	require.Same(t, want.MeanFs, got.MeanFs, "mean in a second run")
}

// TestExternalFails: what a program does wrong is named, and nothing hangs.
func TestExternalFails(t *testing.T) {
	p := problem(t, []float64{6, 7}, []float64{6, 0})
	for text, want := range map[string]string{
		"exit 3":                                                              "exit status 3",
		"read p; echo oh dear >&2; exit 1":                                    "oh dear",
		"read p; echo '{\"plan\": [[\"a\"]]}'":                                "routes of 1 networks, there are 2",
		"read p; echo '{\"plan\": [[\"a\"], [\"c\"]]}'":                       `network 1: no device "c"; there are a, b`,
		"read p; echo '{\"plan\": [[\"a\"], [\"b\"]]}'":                       "b does not run it",
		"read p; echo '{\"plan\": [[\"a\"], []]}'":                            "a route of 0 parts",
		"read p; echo '{\"plan\": [[\"a\"], [\"a\", \"a\"]]}'":                "a route of 2 parts, there are 1",
		"read p; echo '{\"evaluate\": [[\"a\"]]}'":                            "routes of 1 networks",
		"read p; echo '{\"plans\": 1}'":                                       "unknown field",
		"read p; echo '{}'":                                                   `neither "evaluate", "plan" nor "scheduler"`,
		"read p; echo '{\"plan\": [[\"a\"], [\"a\"]]} {}'":                    "more than one object",
		"read p; echo nonsense":                                               "its answer",
		"sleep 60":                                                            "no answer within",
		"read p; head -c 5000000 /dev/zero | tr '\\0' a; echo; read p; true":  "an answer, or with one of more than",
		"read p; echo '{\"scheduler\": true}'; read q; echo '{\"job\": 9}'":   "job 9, 0 parts, of",
		"read p; echo '{\"scheduler\": true}'; read q; echo '{\"parts\": 1}'": `its answer has no "job"`,
		"read p; echo '{\"scheduler\": true}'; read q; exit 0":                "it ends without an answer",
	} {
		x := program(t, text)
		x.Limit = 2 * time.Second
		plan, err := x.Plan(p)
		if err == nil && plan.Scheduler != nil {
			run, end, e := plan.Scheduler.(perRun).begin()
			require.NoError(t, e)
			s := &State{Problem: p, FreeFs: make([]int64, 2), Waiting: p.Jobs[:2]}
			require.Same(t, idle, run.Next(s, 0), text)
			require.Same(t, idle, run.Next(s, 0), "again")
			err = end()
		}
		var program *ProgramError
		require.Check(t, errors.As(err, &program) && strings.Contains(err.Error(), want), "%q: %v, want %s", text, err, want)
	}
	_, err := Find("exec:")
	require.Check(t, err != nil && strings.Contains(err.Error(), "names no program"), "%v", err)
	_, err = Find("exec:/no/such/program")
	require.Check(t, err != nil && strings.Contains(err.Error(), "/no/such/program"), "%v", err)
}

// TestExample: the program of the documentation gives networks engines of their own where one would be late.
func TestExample(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("skipped: needs python3")
	}
	p := problem(t, []float64{6, 7}, []float64{6, 7}, []float64{0, 1})
	x := &External{Command: []string{python, filepath.Join("..", "..", "docs", "examples", "schedule.py")}, Limit: time.Minute}
	plan := require.V(x.Plan(p))(t)
	y := Predict(p, plan)
	require.Check(t, y.Missed == 0 && plan.Routes[2][0] == 1, "%v misses %d", plan.Routes, y.Missed)
}
