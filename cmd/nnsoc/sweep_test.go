//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nnsoc/nnsoc/internal/require"
)

// asCommand makes this test's binary run as nnsoc.
func asCommand(t *testing.T) string {
	self := require.V(os.Executable())(t)
	command := filepath.Join(t.TempDir(), "nnsoc") // TestMain runs main by this name
	require.NoError(t, os.Symlink(self, command))
	return command
}

// TestSweepKilled kills a sweep, which cannot do anything about it, twice: it ends with the
// same bytes as one that was left alone.
func TestSweepKilled(t *testing.T) {
	command, dir := asCommand(t), t.TempDir()
	args := func(out string) []string {
		return []string{"sweep", "-q", "--vary", "dram.mt_per_s=1600..4266/20", "--vary", "npu.dma_channels=1,2", "--models", "mobilenet_v1_0.25_128_quant", "--devices", "npu", "--out", filepath.Join(dir, out)}
	}
	for _, lines := range []int{3, 11} {
		cmd := exec.Command(command, args("killed")...)
		require.NoError(t, cmd.Start())
		for n := 0; n < lines; time.Sleep(time.Millisecond) {
			b, _ := os.ReadFile(filepath.Join(dir, "killed", "rows-1-of-1.jsonl"))
			n = bytes.Count(b, []byte("\n"))
		}
		require.NoError(t, cmd.Process.Kill())
		if err := cmd.Wait(); err == nil {
			t.Fatalf("it has ended before %d rows", lines)
		}
		if _, err := os.Stat(filepath.Join(dir, "killed", "results.csv")); err == nil {
			t.Fatal("it has ended")
		}
	}
	for _, out := range []string{"killed", "alone"} {
		var errs strings.Builder
		if code := execute(args(out), io.Discard, &errs); code != 0 {
			t.Fatalf("exit code %d: %s", code, errs.String())
		}
	}
	for _, name := range []string{"results.csv", "results.parquet"} {
		a := require.File(t, filepath.Join(dir, "killed", name))
		b := require.File(t, filepath.Join(dir, "alone", name))
		require.Check(t, bytes.Equal(a, b), "%s differs from that of a sweep left alone", name)
		if n := bytes.Count(a, []byte(",ok,")); name == "results.csv" && n != 40 {
			t.Errorf("%d of 40 points", n)
		}
	}
}

var clusterScript = regexp.MustCompile("(?s)```bash\n(.*?)```")

// TestClusterScript runs the tasks of the job array that docs/Cluster.md shows.
func TestClusterScript(t *testing.T) {
	doc := require.V(os.ReadFile(filepath.Join("..", "..", "docs", "Cluster.md")))(t)
	m := clusterScript.FindSubmatch(doc)
	if m == nil {
		t.Fatal("docs/Cluster.md shows no script")
	}
	command, dir := asCommand(t), t.TempDir()
	for _, task := range []string{"1", "2", "3", "4"} {
		cmd := exec.Command("bash", "-e", "-c", string(m[1]))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(command)+":"+os.Getenv("PATH"), "SLURM_ARRAY_TASK_COUNT=4", "SLURM_CPUS_PER_TASK=1", "SLURM_ARRAY_TASK_ID="+task)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("task %s: %v\n%s", task, err, out)
		}
	}
	b := require.File(t, filepath.Join(dir, "results", "results.csv"))
	if n := bytes.Count(b, []byte(",ok,")); n != 16 {
		t.Errorf("%d of 16 points", n)
	}
}

// slurmConf is a cluster of this machine alone: of its name, a folder and two ports.
const slurmConf = `ClusterName=test
SlurmctldHost=%[1]s(127.0.0.1)
AuthType=auth/none
CredType=cred/none
SlurmUser=root
SlurmdUser=root
StateSaveLocation=%[2]s/state
SlurmdSpoolDir=%[2]s/spool
SlurmctldPidFile=%[2]s/slurmctld.pid
SlurmdPidFile=%[2]s/slurmd.pid
SlurmctldPort=%[3]d
SlurmdPort=%[4]d
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
NodeName=%[1]s NodeAddr=127.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
`

// TestSlurm submits the script of docs/Cluster.md to a real Slurm: a job array of four tasks that share a folder.
func TestSlurm(t *testing.T) {
	for _, tool := range []string{"slurmctld", "slurmd", "sbatch"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("skipped: needs " + tool)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("skipped: needs root, for slurmd")
	}
	doc := require.File(t, filepath.Join("..", "..", "docs", "Cluster.md"))
	script := clusterScript.FindSubmatch(doc)
	host, err := os.Hostname()
	if err != nil || script == nil {
		t.Fatal("no script, or no name of this machine: ", err)
	}
	host, _, _ = strings.Cut(host, ".")
	command, dir := asCommand(t), t.TempDir()
	write := func(name string, data []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), data, 0o644))
	}
	for _, d := range []string{"state", "spool"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, d), 0o755))
	}
	write("slurm.conf", fmt.Appendf(nil, slurmConf, host, dir, freePort(t), freePort(t)))
	write("sweep.sbatch", script[1])
	env := append(os.Environ(), "SLURM_CONF="+filepath.Join(dir, "slurm.conf"), "PATH="+filepath.Dir(command)+":"+os.Getenv("PATH"))
	for _, daemon := range []string{"slurmctld", "slurmd"} {
		cmd := exec.Command(daemon, "-D")
		cmd.Env = env
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			_ = cmd.Process.Signal(os.Interrupt)
			_ = cmd.Wait()
		})
	}
	var out []byte
	for range 20 { // until the controller answers
		cmd := exec.Command("sbatch", "--wait", "sweep.sbatch")
		cmd.Dir, cmd.Env = dir, env
		if out, err = cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "ontact") {
			break
		}
		time.Sleep(500 * time.Millisecond)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b := require.File(t, filepath.Join(dir, "results", "results.csv"))
	if n := bytes.Count(b, []byte(",ok,")); n != 16 {
		t.Errorf("%d of 16 points", n)
	}
}

// freePort is a port that nothing listens at.
func freePort(t *testing.T) int {
	t.Helper()
	l := require.V(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
