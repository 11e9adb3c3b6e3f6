package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/cmd/nnsoc/internal/machine"
	"github.com/nnsoc/nnsoc/internal/doctable"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
)

var update = flag.Bool("update", false, "write the README's output block again")

func TestMain(m *testing.M) {
	if _, set := os.LookupEnv(machine.CacheVariable); !set && os.Getenv("NNSOC_SWEEP") == "" {
		os.Setenv(machine.CacheVariable, "") // measurements of a test are not kept
	}
	testscript.Main(m, map[string]func(){"nnsoc": main})
}

// TestScripts runs testdata/*.txtar. $FINDS names the folder of the finds of random models, $TESTDATA that of the scripts.
func TestScripts(t *testing.T) {
	finds := require.V(filepath.Abs(filepath.Join("..", "..", "testvectors", "finds")))(t)
	testdata := require.V(filepath.Abs("testdata"))(t)
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			e.Setenv("FINDS", finds)
			e.Setenv("TESTDATA", testdata)
			writeEvalData(t, filepath.Join(e.WorkDir, "eval"))
			return nil
		},
	})
}

// TestGivenScripts runs testdata/given/*.txtar, on real networks: $SHARED names their folder.
func TestGivenScripts(t *testing.T) {
	dir := filepath.Dir(shared.Path(t, "models"))
	testscript.Run(t, testscript.Params{
		Dir:   filepath.Join("testdata", "given"),
		Setup: func(e *testscript.Env) error { e.Setenv("SHARED", dir); return nil },
	})
}

var shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")

// file matches the name of a file that a command reads or writes.
var file = regexp.MustCompile(`^[\w/.-]+\.(tflite|onnx|json|csv|svg|html|s|png|toml)$`)

// readerPages are written for one kind of reader each; their commands are run as the README's are.
var readerPages = []string{"ForDriverAuthors.md", "ForArchitects.md", "ForResearchers.md"}

// TestReadme runs the commands of the README and of the readers' pages one after another, in a folder with the parts of the repository that they name:
// make targets must exist, commands that a script runs are left out, the rest is executed.
func TestReadme(t *testing.T) {
	root := require.V(filepath.Abs(filepath.Join("..", "..")))(t)
	readme := require.File(t, filepath.Join(root, "README.md"))
	require.Check(t, len(strings.Fields(string(readme))) <= 1300, "the README has %d words, at most 1300", len(strings.Fields(string(readme))))
	for _, page := range readerPages {
		require.Check(t, strings.Contains(string(readme), "docs/"+page), "the README does not name docs/%s", page)
		readme = append(readme, require.File(t, filepath.Join(root, "docs", page))...)
	}
	makefile := require.V(os.ReadFile(filepath.Join(root, "Makefile")))(t)
	elsewhere := scriptCommands(t)
	elsewhere["run"], elsewhere["vts --device npu"] = "TestReadmeOutput", "TestCorpus of hal/driver/npudriver"
	elsewhere["vts nnapi/*conv2d* --device dsp"], elsewhere["partition islands_float"] = "TestCorpus of hal/driver/dspdriver", "TestStrategies"
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "cmd", "nnsoc", "testdata"), os.DirFS("testdata")))
	for _, name := range []string{"go.mod", "go.sum"} { // of a checkout to build a driver against
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), require.File(t, filepath.Join(root, name)), 0o600))
	}
	t.Chdir(dir)
	n, made := 0, map[string]bool{}
	for _, block := range shellBlock.FindAllStringSubmatch(string(readme), -1) {
		for _, line := range strings.Split(strings.TrimSpace(block[1]), "\n") {
			line, _, _ = strings.Cut(line, "#")
			words := strings.Fields(line)
			if len(words) == 0 {
				continue
			}
			n++
			for i, w := range words {
				words[i] = strings.Trim(w, "'")
			}
			switch {
			case words[0] == "make":
				require.Check(t, strings.Contains(string(makefile), "\n"+words[1]+":"), "the Makefile has no target %s", words[1])
				continue
			case words[0] == "go": // of other modules
				path, _, _ := strings.Cut(strings.TrimPrefix(words[2], "github.com/nnsoc/nnsoc"), "@")
				if info, err := os.Stat(filepath.Join(root, path)); err != nil || !info.IsDir() {
					t.Errorf("%s: no folder %s", strings.Join(words, " "), path)
				}
				continue
			case elsewhere[strings.Join(words[1:], " ")] != "":
				for i, w := range words {
					if file.MatchString(w) && slices.Contains([]string{"-o", "--csv", "--html", "--trace"}, words[i-1]) {
						made[w] = true
					} else if _, err := os.Stat(w); file.MatchString(w) && err != nil && !made[w] {
						t.Errorf("%s: no line above makes %s", strings.Join(words, " "), w)
					}
				}
				continue
			}
			t.Run(strings.Join(words, " "), func(t *testing.T) {
				if words[0] != "./nnsoc" {
					t.Fatalf("unknown command %q", words[0])
				}
				var out, errs strings.Builder
				args := words[1:]
				if i := slices.Index(args, ">"); i >= 0 {
					defer func() {
						require.Report(t, os.WriteFile(words[len(words)-1], []byte(out.String()), 0o600))
					}()
					args = args[:i]
				}
				if code := execute(args, &out, &errs); code != 0 {
					t.Fatalf("exit code %d: %s", code, errs.String())
				}
				require.Check(t, out.Len()+errs.Len() != 0 || strings.Contains(line, " -o "), "no output")
			})
		}
	}
	require.Check(t, n >= 5, "only %d commands found", n)
}

// scriptCommands are the commands that testdata/*.txtar run, by their arguments.
func scriptCommands(t *testing.T) map[string]string {
	commands := map[string]string{}
	files, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scripts, error %v", len(files), err)
	}
	for _, name := range files {
		b := require.File(t, name)
		for _, line := range strings.Split(string(b), "\n") {
			if args, ok := strings.CutPrefix(line, "nnsoc "); ok {
				commands[strings.ReplaceAll(args, "'", "")] = name
			}
		}
	}
	return commands
}

var (
	outputBlock = regexp.MustCompile("(?s)(`make run` begins with:\n\n```\n)(.*?)(```)")
	// hostColumns are the last of the table, the only ones that differ from run to run.
	hostColumns = regexp.MustCompile(`(?m) +[0-9]+\.[0-9]{2} *$`)
)

// TestReadmeOutput keeps the output the README shows true, but for the host's
// own time.
func TestReadmeOutput(t *testing.T) {
	path := filepath.Join("..", "..", "README.md")
	readme := require.File(t, path)
	var out strings.Builder
	if code := execute([]string{"run"}, &out, io.Discard); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	begin := strings.Join(strings.SplitAfter(out.String(), "\n\n")[:3], "") // what ran, the sentences, the devices
	begin = strings.TrimSuffix(begin, "\n")
	m := outputBlock.FindSubmatch(readme)
	if m == nil {
		t.Fatal("the README shows no output of make run")
	}
	if *update {
		readme = outputBlock.ReplaceAll(readme, []byte("${1}"+begin+"${3}"))
		require.NoError(t, os.WriteFile(path, readme, 0o644))
		return
	}
	want, got := hostColumns.ReplaceAllString(string(m[2]), ""), hostColumns.ReplaceAllString(begin, "")
	require.Check(t, got == want, "the README shows\n%s\nbut make run begins with\n%s\n(go test ./cmd/nnsoc -run TestReadmeOutput -update)", want, got)
}

// TestReadmeAccuracy holds the README's table of accuracy to the checks of docs/FIDELITY.md.
func TestReadmeAccuracy(t *testing.T) {
	rows := doctable.Rows(t, "../../README.md", "| engine | silicon | networks | ours / published |")
	require.Same(t, 5, len(rows), "rows")
	for _, r := range rows {
		preset := "pixel4"
		if strings.HasPrefix(r[1], "Coral") {
			preset = "coral"
		}
		engine, _, _ := strings.Cut(r[0], ",")
		x, ok := session.TrustOf(preset, strings.ToLower(engine))
		want := []string{strconv.Itoa(x.Checks), fmt.Sprintf("%.2f to %.2f", x.Low, x.High)}
		require.Check(t, ok && slices.Equal(want, r[2:]), "%s of %s: %v, want %v", r[0], r[1], r[2:], want)
	}
}
