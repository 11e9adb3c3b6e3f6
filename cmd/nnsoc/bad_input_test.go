package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/cli"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestBadInput: a user's error is one line on stderr that names the error and its place, exit code 2, nothing on stdout
// and no file left behind.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"text.tflite":  "hello, this is not a model",
		"empty.tflite": "",
		"page.tflite":  "<!DOCTYPE html><title>network</title>",
		"lfs.onnx":     "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n",
		"keras.onnx":   "PK\x03\x04config.json",
		"cut.onnx":     "\x08\x08\x3a\x7fgraph",
		"empty.onnx":   "",
		"empty.txt":    "\n\n",
		"junk.txt":     "\x89PNG\r\n\x1a\n\x00\x01",
		"few.txt":      "cat\ndog\n",
		"short.bin":    "abc",
		"key.toml":     "[soc]\ncolour = \"red\"\n",
		"half.toml":    "[soc\n",
		"bad.s":        "_start: frob\n",
		"half.json":    "{",
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
	require.NoError(t, os.Mkdir("folder", 0o777))
	before := require.V(os.ReadDir("."))(t)
	for _, c := range []struct{ args, want string }{
		{"run --invocations 0", "--invocations 0, want 1 to 1000000"},
		{"run --interval-us -1", "--interval-us -1, want 0 to 1e9"},
		{"run --interval-us 5 --cold", "--interval-us does nothing with --cold"},
		{"run --functional --burst", "does nothing with --functional"},
		// Models.
		{"run missing.tflite", `missing.tflite`},
		{"run missing/folder/m.tflite", "missing/folder/m.tflite"},
		{"run folder", "folder"},
		{"run text.tflite", `text.tflite: tflite: not a TensorFlow Lite model: identifier "o, t" at offset 4`},
		{"run empty.tflite", "empty.tflite is empty, no network"},
		{"supported empty.onnx", "empty.onnx is empty, no network"},
		{"run page.tflite", "page.tflite is a page of the web"},
		{"compile lfs.onnx", "lfs.onnx is a pointer of Git LFS, not the network itself: git lfs pull fetches that"},
		{"run keras.onnx", "keras.onnx is a zip archive, as PyTorch and Keras write"},
		{"run cut.onnx", "cut.onnx: onnx: at field 7: unexpected EOF: the file of 9 bytes is cut off, or is no ONNX model"},
		{"schedule cut.onnx", "cut.onnx: onnx: at field 7"},
		{"schedule missing.onnx", "missing.onnx: no such file"},
		{"schedule doorbel", `no scenario "doorbel"`},
		{"compile text.tflite", "text.tflite: tflite: not a TensorFlow Lite model"},
		{"supported missing.tflite", "missing.tflite"},
		{"run a b", "accepts at most one MODEL, got 2 arguments"},
		// Devices.
		{"run --device=", `"" for "--device" flag: a name is empty`},
		{"run --device cpu,", "a name is empty"},
		{"run --device cpu,cpu", "cpu is named twice"},
		{"run --device cpu --device cpu", "cpu is named twice"},
		{"run --device CPU", `no device "CPU"; this SoC has cpu`},
		{"supported --device=", "a name is empty"},
		{"compile --device tpu", `no device "tpu"; this SoC has cpu`},
		{"fuzz --device=", `no device ""`},
		{"bench gemm --device auto", `no device "auto"`},
		// Machines.
		{"run --soc=", `no SoC named ""`},
		{"run --soc pixel99", `no SoC named "pixel99"; known: `},
		{"devices --soc missing.toml", "missing.toml"},
		{"devices --soc key.toml", "key.toml:2:1"},
		{"devices --soc half.toml", "half.toml:1"},
		{"models list --driver missing", `--driver does nothing with "nnsoc models list"`},
		{"completion bash --json", `--json does nothing with "nnsoc completion bash"`},
		{"version --soc pixel4", `--soc does nothing with "nnsoc version"`},
		// Plans.
		{"partition", "needs exactly one MODEL, got 0 arguments"},
		{"partition missing", "no such file, nor a network"},
		{"partition islands_float --objective speed", `no objective "speed"; there are latency, energy, energy-delay, throughput`},
		{"partition islands_float --objective latency+size", `no term "size"; there are latency, energy, edp`},
		{"partition islands_float --objective misses", "missed is a term of nnsoc schedule --objective"},
		{"partition islands_float --objective latency-energy", `operator "-"; there are + * / ^`},
		{"partition islands_float --objective 2*3", "it has none of the terms latency, energy, edp"},
		{"partition islands_float --costs guessed", `no costs "guessed"; there are measured, linear, capabilities`},
		{"partition islands_float --strategies auot", `did you mean "auto"?`},
		{"conformance --device npux", `did you mean "npu"?`},
		{"partition islands_float --strategies best", `no strategy "best"; there are aosp, cpu, single:gpu`},
		{"partition islands_float --strategies single:tpu", `no device "tpu" for single:tpu`},
		{"partition islands_float --strategies dp,dp", "dp is named twice"},
		{"partition islands_float --strategies exec:missing.py", "exec:missing.py"},
		{"partition islands_float --csv --dot", "contradict each other"},
		{"partition islands_float --force-unsupported CONV", `no operation "CONV" in "CONV"`},
		{"partition islands_float --force-unsupported CONV_2D:tpu", `no device "tpu"`},
		{"partition islands_float --hal-version dsp:2.0", `no HAL version "2.0" in "dsp:2.0"`},
		{"partition islands_float --hal-version cpu:1.0", "cpu is the runtime's own"},
		{"partition islands_float --force-unsupported CONV_2D:cpu", "cpu runs what other devices decline"},
		// Data sets.
		{"eval islands", "--dataset is missing"},
		{"eval islands --dataset folder", "--metric is missing; there are top1, top5, mse, wer, map, psnr"},
		{"eval islands --dataset folder --metric f1", `no metric "f1"; there are top1`},
		{"eval mobilenet_v1_0.25_128_quant --dataset folder --metric top1", "dataset: folder: neither folders of classes nor labels.txt"},
		{"eval mobilenet_v1_0.25_128_quant --dataset missing --metric top1", "missing"},
		{"eval mobilenet_v1_0.25_128_quant --dataset short.bin --metric top1", "want a folder, .npz, COCO .json or a .txt list"},
		{"eval mobilenet_v1_0.25_128_quant --dataset few.txt --metric top1", `dataset: few.txt: line 1: "cat" is not FILE and TRUTH`},
		{"eval mobilenet_v1_0.25_128_quant --dataset half.json --metric map", "dataset: half.json: byte 1: unexpected EOF"},
		{"eval mobilenet_v1_0.25_128_quant --dataset folder --metric top1 --limit -1", "--limit -1"},
		// Numbers and choices.
		{"run --mean nan", `"nan" for "--mean" flag: want a finite number`},
		{"run --std inf", `"inf" for "--std" flag: want a finite number`},
		{"run --std 0", "--std 0: want a number above 0"},
		{"run --mean 3", "--mean and --std do nothing"},
		{"run --preference best", `unknown preference "best"; there are fast, sustained, low-power`},
		{"bench gemm --size 0", "size 0"},
		{"bench gemm --type q4", `unknown type "q4"`},
		{"bench gemm --repeat 0", "--repeat 0"},
		{"fuzz --count 0", "--count 0"},
		{"fuzz --device cpu --operations (", "--operations: error parsing regexp"},
		{"run --duration 0", "want 1ms to 2h0m0s"},
		{"run --invocations x", `invalid argument "x" for "--invocations" flag: want int (see`},
		{"app", "app needs a program to start"},
		{"app -- true", "no libneuralnetworks.so beside nnsoc: `make libneuralnetworks` builds it"},
		{"app --library folder -- true", "--library folder: no libneuralnetworks.so there; `make libneuralnetworks` builds it"},
		{"app --device tpu -- true", `no device "tpu"; there are cpu, gpu, dsp, npu`},
		{"app --trace-executions -1 -- true", "--trace-executions -1, want 0 or more"},
		{"schedule", "schedule needs a SCENARIO or MODELs"},
		{"schedule doorbel", `did you mean "doorbell"?`},
		{"schedule mlperf_tiny_ad_quant", "--period says how often it arrives"},
		{"schedule doorbell --deadline 3ms", "--deadline needs MODELs and --period"},
		{"schedule doorbell --strategies fifo", `no strategy "fifo"; there are aosp, delegate, single`},
		{"partition mlperf_tiny_kws_quant --plan missing.json", "missing.json"},
		{"schedule doorbell --parts 17", "--parts 17, want 1 to 16"},
		{"schedule doorbell --csv --json", "contradict each other"},
		{"schedule doorbell --highest-rate --csv", "--highest-rate prints text or --json"},
		{"schedule doorbell --simulate -1", "--simulate -1, want 0 or more"},
		{"schedule a b --period 1ms,2ms,3ms", "--period has 3 values for 2 networks"},
		{"schedule missing.toml", "no such file"},
		{"schedule --list doorbell", "--list has no arguments"},
		{"partition islands_float --device gpu", "engines divide a network by --objective throughput without --device"},
		{"partition islands_float --device cpu:bronze", `no cores "cpu:bronze"; there are cpu:prime, cpu:gold, cpu:silver, with a number of cores as in cpu:prime:1, and cpu:any`},
		{"partition islands_float --device cpu:gold:4", `cpu:gold:4: "4" cores, want 1 to 3`},
		{"partition islands_float --device cpu:gold --objective energy", "stages of cores are planned for throughput"},
		{"partition islands_float --device cpu:gold --plan mine.json", "--plan does nothing with --device"},
		{"partition islands_float --device cpu:gold --strategies aosp", "strategy aosp asks drivers, which cores of the CPU have none of"},
		{"partition islands_float --simulate -1", "--simulate -1, want 0 or more"},
		{"models export m.tflite -o m.zip", "m.zip ends with neither .tflite nor .onnx: give --format"},
		{"models export m.tflite -o -", "- ends with neither .tflite nor .onnx"},
		{"dsp exec bad.s --env NAME", `--env "NAME": want NAME=VALUE`},
		{"sweep --models islands_float --points empty.tflite -o s", "empty.tflite: no line of column names"},
		{"ops folder -q", "folder: no case"},
		// Flags that do nothing in combination.
		{"ops --rules --markdown", "--rules does nothing with --markdown"},
		{"ops --json --markdown", "--json does nothing with --markdown"},
		{"ops --rules nnapi", "--rules prints tables and runs no cases"},
		{"capabilities --predict asr_float --suite micro", "--suite does nothing with --predict"},
		{"compile --hash --passes", "leave out -S, --steps, --explain, --passes"},
		{"graph --cache-dir kept", "give --device"},
		{"partition islands_float --share-plans --strategies aosp", "--share-plans does nothing without strategy auto or branch-bound"},
		{"diff a.json b.json --all --json", "--all does nothing with --json"},
		{"driver proto --descriptor --json", "--json does nothing with --descriptor"},
		{"conformance --markdown --device cpu", "--device does nothing with --markdown"},
		{"vts --declined", "--declined and --functional do nothing with the reference"},
		{"vts --export cases --device cpu", "--device does nothing with --export"},
		{"dsp disasm text.tflite --base 8", "--base does nothing without --raw"},
		{"npu exec text.tflite --timing-only --input short.bin", "--input and --output go without it"},
		{"run --functional --trace t.json", "--trace does nothing with --functional"},
		{"run --functional --preference low-power", "--preference does nothing with --functional"},
		{"run --input short.bin", "--input needs a MODEL"},
		{"run --quiet --verbose", "--verbose and --quiet contradict each other"},
		// Files beside the model.
		{"run --labels missing.txt", "missing.txt"},
		{"run --labels empty.txt", "empty.txt: no class names"},
		{"run --labels junk.txt", "junk.txt: line 1, byte 1: not text"},
		{"run --labels few.txt", "few.txt has 2 names, mobilenet_v1_1.0_224_synthetic_quant has 1001 classes"},
		{"run --output short.bin", "short.bin"},
		{"run --trace missing/t.json", "missing"},
		{"run --trace t.json --trace-format svg", `unknown --trace-format "svg"; there are json, pftrace`},
		{"run --trace-format json", "--trace-format does nothing without --trace"},
		{"run --trace folder", "folder"},
		{"vts missing", "missing"},
		{"vts text.tflite --via boat", "--via boat, want device, service or runtime"},
		{"serve", "--device and --socket"},
		{"serve --device dsp --socket text.tflite", "is there and is no socket"},
		{"devices --driver missing", "--driver missing"},
		{"devices --driver-timeout 1s", "--driver-timeout does nothing without --driver, --drivers or --driver-so"},
		{"devices --drivers folder", "no driver serves"},
		{"devices --drivers folder --driver-timeout 0s", "--driver-timeout 0s, want a time above 0"},
		{"bench service --repeat 0", "--repeat"},
		{"ops missing", "missing"},
		{"dsp exec bad.s", "bad.s:1:9"},
		{"dsp exec missing.elf", "missing.elf"},
		{"dsp disasm text.tflite", "text.tflite"},
		// Commands and flags.
		{"nope", `unknown command "nope"; there are advise, app, bench, `},
		{"dsp nope", `unknown command "nope"; there are asm, `},
		{"help nope", `unknown command "nope"; there are advise, app, bench, `},
		{"help run nope", `nnsoc run accepts no argument, got "nope"`},
		{"completion nope", `unknown command "nope"; there are bash`},
		{"run --bogus", "unknown flag: --bogus (see \"nnsoc run --help\")"},
		{"run --device", "flag needs an argument: --device"},
		{"run --json=maybe", `"maybe" for "--json" flag`},
		{"version extra", `nnsoc version accepts no argument, got "extra"`},
	} {
		var out, errs bytes.Buffer
		code := execute(strings.Fields(c.args), &out, &errs)
		line := errs.String()
		if code != cli.ExitUsage || out.Len() > 0 || strings.Count(line, "\n") != 1 || !strings.HasPrefix(line, "nnsoc: ") || !strings.Contains(line, c.want) {
			t.Errorf("nnsoc %s: exit code %d, stdout %q, stderr\n%s want one line with %q", c.args, code, &out, line, c.want)
		}
	}
	after, err := os.ReadDir(".")
	require.Check(t, err == nil && len(after) == len(before), "files %v became %v, error %v", before, after, err)
	require.Fails(t, require.Err(os.Stat(filepath.Join("missing"))), "a folder was made for a path that failed")
}

// TestEmptyArgument: no command treats an empty argument as absent, or as the name of a file. A program's own may be
// empty.
func TestEmptyArgument(t *testing.T) {
	t.Chdir(t.TempDir())
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			visit(c)
		}
		args := strings.Fields(cmd.CommandPath())[1:]
		refused(t, append(slices.Clone(args), ""))
		for _, f := range []string{"output", "report"} { // without which some refuse anything
			if cmd.Flags().Lookup(f) != nil {
				refused(t, append(slices.Clone(args), "--"+f, "written", ""))
			}
		}
	}
	visit(newRoot(io.Discard, io.Discard))
	if files, err := os.ReadDir("."); err != nil || len(files) > 0 {
		t.Errorf("files %v, error %v", files, err)
	}
	for args, want := range map[string]string{
		"report ":                         "nnsoc: argument 1 of nnsoc report is empty\n",
		"run --concurrent islands_float ": "nnsoc: argument 2 of nnsoc run is empty\n",
		"dsp exec missing.elf ":           "nnsoc: open missing.elf: ",
	} {
		if line := refused(t, strings.Split(args, " ")); !strings.HasPrefix(line, want) {
			t.Errorf("nnsoc %q: %q, want %q", args, line, want)
		}
	}
}

// TestRootFlags: a SoC or a driver that is not there is an error of every command: it looks for it, or says that the flag does
// nothing.
func TestRootFlags(t *testing.T) {
	compiled, shader := require.V(filepath.Abs("testdata/mixed_vela.tflite"))(t), require.V(filepath.Abs("testdata/vadd.s"))(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("empty.s", nil, 0o666))
	require.NoError(t, os.WriteFile("run.json", []byte(`{"schema_version": 4, "soc": "s", "runs": []}`), 0o666))
	require.NoError(t, os.WriteFile("rows.tsv", []byte("pattern\tparams\tW\nhit\tn=100 wrap=256\t1\n"), 0o666))
	for _, name := range []string{"m.tflite", "mixed.tflite"} {
		printed(t, "models", "export", "mlperf_tiny_ad_quant", "-o", name)
	}
	arguments := map[string]string{
		"nnsoc dsp": "empty.s", "nnsoc gpu": "empty.s", "nnsoc npu": "empty.s", "nnsoc gpu exec": shader, "nnsoc npu exec": compiled, "nnsoc npu compile": "m.tflite -o x",
		"nnsoc bench dram": "rows.tsv", "nnsoc bench cliffs": "--device cpu --type u8 --family SOFTMAX", "nnsoc bench vela": compiled, "nnsoc diff": "run.json run.json", "nnsoc trace-summary": "run.json", "nnsoc plot": "pareto run.json -o p.svg",
		"nnsoc models export": "m.tflite -o n.tflite", "nnsoc models check": "m.tflite", "nnsoc soc show": "pixel4", "nnsoc soc explain": "dram", "nnsoc partition": "m.tflite", "nnsoc schedule": "m.tflite --period 10ms --duration 1ms --strategies single", "nnsoc advise": "m.tflite --device cpu", "nnsoc sensitivity": "m.tflite --device cpu",
		"nnsoc sweep": "--models m.tflite --vary dram.mt_per_s=3733 -o s", "nnsoc report": "run.json -o r.html", "nnsoc eval": "m.tflite --dataset . --metric mse", "nnsoc fuzz": "--device cpu",
		"nnsoc serve": "--device cpu --socket s.sock", "nnsoc driver new": "acme", "nnsoc mlts crash": "scoring", "nnsoc mlts benchmark": "--short", "nnsoc app": "true",
	}
	walk(newRoot(io.Discard, io.Discard), func(c *cobra.Command) {
		if c.Hidden || c.HasSubCommands() || c.Name() == "help" {
			return
		}
		args := slices.Concat(strings.Fields(c.CommandPath())[1:], strings.Fields(cmp.Or(arguments[c.CommandPath()], arguments[c.Parent().CommandPath()])))
		for _, f := range [][]string{{"--soc", "missing"}, {"--set", "missing=1"}, {"--driver", "missing"}, {"--drivers", "missing"}, {"--driver-so", "missing"}} {
			var errs bytes.Buffer
			code := execute(append(slices.Clone(args), f...), io.Discard, &errs)
			if line := errs.String(); code != cli.ExitUsage || !strings.Contains(line, "missing") && !strings.Contains(line, f[0]+" does nothing with") {
				t.Errorf("nnsoc %s %s: exit code %d, %s", args, f, code, line)
			}
		}
	})
}

// refused runs a command that must fail because of its arguments or input, and returns the error line.
func refused(t *testing.T, args []string) string {
	t.Helper()
	var out, errs bytes.Buffer
	code := execute(args, &out, &errs)
	line := errs.String()
	if code != cli.ExitUsage || out.Len() > 0 || strings.Count(line, "\n") != 1 || !strings.HasPrefix(line, "nnsoc: ") {
		t.Errorf("nnsoc %q: exit code %d, stdout %.200q, stderr %.500q; want one line", args, code, &out, line)
	}
	return line
}

// readers are commands that read a network, FILE.
var readers = []string{
	"run FILE", "run --functional FILE", "run --concurrent FILE mlperf_tiny_ad_quant", "run --device auto FILE", "report -o out FILE",
	"graph FILE", "graph -o out.svg FILE", "supported FILE", "compile FILE", "compile --device dsp -S -o out FILE", "partition FILE",
	"partition --dot FILE", "models export -o out.tflite FILE", "npu compile -o out.tflite FILE", "advise --device npu FILE",
	"sensitivity --device npu FILE", "eval --dataset folder --metric top1 FILE", "sweep --models FILE --devices npu --out out", "npu exec FILE",
}

// truncated are the beginnings of a network's files, by name.
func truncated(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, format := range []string{"tflite", "onnx"} {
		whole := filepath.Join(t.TempDir(), "net."+format)
		var errs bytes.Buffer
		if code := execute([]string{"models", "export", "mlperf_tiny_ad_quant", "-o", whole}, io.Discard, &errs); code != cli.ExitOK {
			t.Fatal(&errs)
		}
		data := require.File(t, whole)
		for _, n := range []int{0, 1, 7, 100, len(data) / 2, len(data) - len(data)/8} {
			files[fmt.Sprintf("first%d.%s", n, format)] = data[:n]
		}
	}
	return files
}

// TestTruncatedNetworks: a file that ends too early is named in one line, and nothing is written.
func TestTruncatedNetworks(t *testing.T) {
	files := truncated(t)
	t.Chdir(t.TempDir())
	require.NoError(t, os.Mkdir("folder", 0o777))
	for name, data := range files {
		require.NoError(t, os.WriteFile(name, data, 0o666))
	}
	for name := range files {
		for _, command := range readers {
			if line := refused(t, strings.Fields(strings.ReplaceAll(command, "FILE", name))); !strings.Contains(line, name) {
				t.Errorf("%s: %q does not name %s", command, line, name)
			}
		}
	}
	after, err := os.ReadDir(".")
	require.Check(t, err == nil && len(after) == len(files)+1, "files %v, want those that were there: %v", after, err)
}

// fullDisk accepts no data.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// TestLostOutput: a command whose output cannot be written fails, whichever it is.
func TestLostOutput(t *testing.T) {
	for _, args := range []string{"devices", "devices --json", "version", "models", "help run", "ops --json", "completion bash"} {
		var errs bytes.Buffer
		if code := execute(strings.Fields(args), fullDisk{}, &errs); code != cli.ExitUsage || errs.String() != "nnsoc: standard output: no space left\n" {
			t.Errorf("nnsoc %s: exit code %d, stderr %q", args, code, &errs)
		}
	}
}
