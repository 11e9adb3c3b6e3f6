package main

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
)

var update = flag.Bool("update", false, "write the README's output block again")

func TestMain(m *testing.M) {
	if _, set := os.LookupEnv(machine.CacheVariable); !set && os.Getenv("NNSOC_SWEEP") == "" {
		os.Setenv(machine.CacheVariable, "") // what a test measures is not kept
	}
	testscript.Main(m, map[string]func(){"nnsoc": main})
}

// sharedDir is the folder with real networks, "" where there is none.
func sharedDir() string {
	dir := os.Getenv("NNSOC_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	dir, err := filepath.Abs(dir)
	if _, e := os.Stat(filepath.Join(dir, "models")); err != nil || e != nil {
		return ""
	}
	return dir
}

// TestScripts runs testdata/*.txtar. The condition [shared] holds where the
// real networks are; $SHARED names their folder, $FINDS that of the finds of
// random models, $TESTDATA the one of the scripts.
func TestScripts(t *testing.T) {
	shared := sharedDir()
	finds, err := filepath.Abs(filepath.Join("..", "..", "testvectors", "finds"))
	if err != nil {
		t.Fatal(err)
	}
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("SHARED", shared)
			e.Setenv("FINDS", finds)
			e.Setenv("TESTDATA", testdata)
			writeEvalData(t, filepath.Join(e.WorkDir, "eval"))
			return nil
		},
		Condition: func(c string) (bool, error) { return c == "shared" && shared != "", nil },
	})
}

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// TestReadme runs every command the README shows: make targets must exist, the
// rest is executed with the model and picture it names taken from the real
// networks.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := scriptCommands(t)
	elsewhere["run"] = "TestReadmeOutput"
	shared := sharedDir()
	files := map[string]string{
		"model.tflite":    "models/mobilenet_v1_0.25_128_quant/model.tflite",
		"cat.bmp":         "models/data/cat.bmp",
		"labels.txt":      "models/data/imagenet_labels.txt",
		"kws_vela.tflite": "ethosu/networks/mlperf_tiny_kws_int8/ethos-u55-128/mlperf_tiny_kws_int8_vela.tflite",
		"cases.json.gz":   "vectors/nnapi/V1_0__avg_pool_quant8_1.json.gz",
	}
	n := 0
	for _, block := range shellBlock.FindAllStringSubmatch(string(readme), -1) {
		for _, line := range strings.Split(strings.TrimSpace(block[1]), "\n") {
			line, _, _ = strings.Cut(line, "#")
			words := strings.Fields(line)
			if len(words) == 0 {
				continue
			}
			n++
			if words[0] == "make" {
				if !strings.Contains(string(makefile), "\n"+words[1]+":") {
					t.Errorf("the Makefile has no target %s", words[1])
				}
				continue
			}
			if elsewhere[strings.Join(words[1:], " ")] != "" {
				continue
			}
			t.Run(strings.Join(words, " "), func(t *testing.T) {
				if words[0] != "./nnsoc" {
					t.Fatalf("unknown command %q", words[0])
				}
				dir := t.TempDir()
				for i, w := range words {
					if here, ok := strings.CutPrefix(w, "cmd/nnsoc/"); ok { // of this repository
						words[i] = here
						continue
					}
					if p, ok := files[w]; ok {
						if shared == "" {
							t.Skip("skipped: needs shared data")
						}
						words[i] = filepath.Join(shared, p)
					}
					if strings.HasSuffix(w, ".json") || strings.HasSuffix(w, ".s") || w == "tensors" {
						words[i] = filepath.Join(dir, w)
					}
				}
				var out, errs strings.Builder
				if code := execute(words[1:], &out, &errs); code != 0 {
					t.Fatalf("exit code %d: %s", code, errs.String())
				}
				if out.Len()+errs.Len() == 0 && !strings.Contains(line, " -o ") {
					t.Error("no output")
				}
			})
		}
	}
	if n < 5 {
		t.Errorf("only %d commands found", n)
	}
}

// scriptCommands are the commands that testdata/*.txtar run, by their arguments.
func scriptCommands(t *testing.T) map[string]string {
	commands := map[string]string{}
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, error %v", len(files), err)
	}
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(b), "\n") {
			if args, ok := strings.CutPrefix(line, "nnsoc "); ok {
				commands[args] = name
			}
		}
	}
	return commands
}

var (
	outputBlock = regexp.MustCompile("(?s)(`make run` prints:\n\n```\n)(.*?)(```)")
	// hostColumns are the last two of the table, the only ones that differ from
	// run to run.
	hostColumns = regexp.MustCompile(`(?m) +[0-9]+\.[0-9]{2} +[0-9]+\.[0-9]{2} *$`)
)

// TestReadmeOutput keeps the output the README shows true, but for the host's
// own time.
func TestReadmeOutput(t *testing.T) {
	path := filepath.Join("..", "..", "README.md")
	readme, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if code := execute([]string{"run"}, &out, io.Discard); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	m := outputBlock.FindSubmatch(readme)
	if m == nil {
		t.Fatal("the README shows no output of make run")
	}
	if *update {
		readme = outputBlock.ReplaceAll(readme, []byte("${1}"+out.String()+"${3}"))
		if err := os.WriteFile(path, readme, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, got := hostColumns.ReplaceAllString(string(m[2]), ""), hostColumns.ReplaceAllString(out.String(), "")
	if got != want {
		t.Errorf("the README shows\n%s\nbut make run prints\n%s\n(go test ./cmd/nnsoc -run TestReadmeOutput -update)", want, got)
	}
}
