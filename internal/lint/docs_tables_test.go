package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// How a table of docs is held: by a test, named "folder TestName"; or it is one of the following.
const (
	text     = "text"     // rules and meanings without a figure that a command prints
	onHost   = "on host"  // the host's time, of a command that the section names
	recorded = "recorded" // what a decision was taken by, at a commit or by a command that the section names
)

// tables lists the tables of docs by page and first line. What is not here fails TestTablesAreHeld.
var tables = map[string]map[string]string{
	"CONFORMANCE.md": {"| row | what | proof |": "testvectors/conformance TestMarkdown"},
	"Capabilities.md": {
		"| step | rule |": text,
		"| network, ethos-u55-256 | device | reported time / energy | measured | measured / reported time |": "bench/capability TestPredictions",
		"| network, pixel4 | device | reported time / energy | measured | measured / reported time |":        "bench/capability TestPredictions",
	},
	"Contract.md": {
		"| call | when | code | rows |": "runtime/nnapi TestContractPage",
		"| call | pointer | code |":     "cmd/libneuralnetworks TestNullPointers",
	},
	"DEVIATIONS.md": {
		"| id | what | why | effect | place |":                                                       text,
		"| number | value | run on | latency % | energy % | row |":                                   "sim/soc TestNumbersThatMoveMost",
		"| number | value | run on | energy % | row |":                                               "sim/soc TestNumbersThatMoveMost",
		"| preset | engine | network | assumed numbers | latency % | most by | energy % | most by |": "bench/session TestAssumption",
	},
	"EthosUTiming.md": {
		"| rule | source |": text,
		"| network | accelerator | Arm's model | here | ratio | AXI0 reads | AXI0 writes | AXI1 reads | without adapters | here | ratio |": "bench/inference TestPublishedCycles",
		"| network | accelerator | cycles, Vela | here | ratio | constants, Vela | here | SRAM, Vela | here |":                             "bench/offline TestStreams",
		"| network alike | accelerator | cycles, Vela | here | ratio | constants, Vela | here | SRAM, Vela | here |":                       "bench/offline TestStreamsAlike",
	},
	"FIDELITY.md": {
		"| engine | network | phone | measure | role | published ms | ours | ratio | execution | in a burst | verdict (tolerance) |": "cmd/nnsoc TestFidelity",
		"| engine | network | part | measure | role | published ms | ours | ratio | execution | in a burst | verdict (tolerance) |":  "cmd/nnsoc TestFidelity",
		"| engine | preset | checks | miss | fitted | geometric mean of ours / published | intercept | slope |":                      "cmd/nnsoc TestFidelity",
		"| gpu class | rows | median | a tenth is below | a tenth is above | between 2/3 and 3/2 |":                                  "cmd/nnsoc TestFidelity",
		"| engine | measure | rows of | rows | median of ours / published | within 10 % | within 20 % | least to largest |":          "cmd/nnsoc TestPhonesPage",
		"| engine | energy of | phone | preset | published mJ | ours | ratio | source | the phone |":                                 "cmd/nnsoc TestEnergyPage",
		"| gpu network | published | ours | ratio | kernels, published | ours | ratio |":                                             "cmd/nnsoc TestFidelity",
	},
	"HexagonNN.md": {"| hexagon_nn | here |": text, "| hvxservice | here |": text},
	"HexagonTiming.md": {
		"| what | rule | source |": text,
		"| step | instructions |":  text,
		"| network | constants and pictures | cycles of their transfer | cycles of the run |": "cmd/nnsoc TestCyclesOfNetworks",
	},
	"JSON.md": {"| field | type | unit | meaning |": "cmd/nnsoc TestJSONPage"},
	"MLTS.md": {
		"| part of a list | here |":                    text,
		"| outcome | when |":                           text,
		"| mode | configurations | result is judged |": text,
		"| mode | cpu | npu | dsp | gpu |":             onHost,
	},
	"Memory.md": {
		"| step | rule | key |":                                  text,
		"| parameter | default | meaning |":                      text,
		"| 46 golden rows | in order of arrival, before | now |": "bench/dramtimes TestGolden",
	},
	"Glossary.md": {
		"| part of a latency | cause | meaning |": "bench/glossary TestPage", "| stall reason | cause | meaning |": "bench/glossary TestPage",
		"| row of a table | meaning |": "bench/glossary TestPage", "| counter | meaning |": "bench/glossary TestPage", "| term | meaning |": "bench/glossary TestPage",
	},
	"OPERATIONS.md": {
		"| operation | type | HAL | cases | cpu | gpu | dsp | npu |": "cmd/nnsoc TestOperationsDoc",
		"| operations | types | action | rules |":                    "cmd/nnsoc TestOperationsDoc",
	},
	"Protocol.md": {
		"| number | status of HAL 1.3 |":                    text,
		"| call | request, answer | what it does | needs |": "docs/examples TestProtocolIsDocumented",
		"| message | fields |":                              "docs/examples TestProtocolIsDocumented",
		"| left out | effect on clients |":                  text,
	},
	"RATIONALE.md": {
		"| number | mobilenet_v1_0.25_128_float | mobilenet_v1_0.25_224_quant | mobilenet_v2_0.35_96_float | squeezenet_1_1_float |": recorded,
		"| convolution | halves | halves, two positions per load | floats of 32 bits | its instructions |":                           recorded,
		"| variant | without it | the network that loses most | all ten |":                                                           recorded,
	},
	"ReadingGuide.md": {"| change | where |": text},
	"Service.md": {
		"| call | what is transferred |":               text,
		"| flag of `nnsoc serve` | bounds | default |": "cmd/nnsoc TestQuotaFlags",
		"| what happens | what the other side sees |":  text,
		"| flag | does |":                              "cmd/nnsoc TestServeFlags",
		"| `nnsoc bench service --clients 100 --requests 1000 --kills 10000`, on two busy cores | |": onHost,
	},
	"SoC.md": {"| key | unit | meaning |": "sim/soc TestSoCPage"},
	"Strategies.md": {
		"| strategy | `doorbell` | `mixed_precision` | `camera` | mean beside `single:cpu` | beside `single:gpu` | beside `delegate` | published |": recorded,
		"| network | without stages | per second | a stage per cluster | gain | `cpu:any` | gain | its stages: cores and operations |":              "bench/clusters TestPipelines",
		"| operations | number | same device first | without the call | CPU, here over published | GPU |":                                           "bench/session TestHOPEOrder",
		"| Inception v3, plan by HOPE's times | ms | beside the best single device |":                                                               "bench/session TestHOPEPlan",
		"| layers | whole, us | on | divided, us | predicted | gain | energy | how, or why not |":                                                   "cmd/nnsoc TestDividedTable",
		"| strategy | parts | latency, us | energy, uJ | interval of a stream, us |":                                                                "cmd/nnsoc TestIslandsTable",
		"| column | what it says |":               "runtime/partition/cost TestTableColumns",
		"| strategy | rule | time |":              text,
		"| costs | operations | whole segments |": text,
		"| strategy | who decides | rule |":       text,
		"| SoC | networks | `auto` beside the best single device | `aosp` beside `auto`, median and most | slower or beaten | predictions more than 10 % off |": "cmd/nnsoc TestStrategies",
	},
	"Time.md": {
		"| part | what | where its time comes from |":          text,
		"| part | us | how |":                                  "sim/platform TestWorkedExample",
		"| device | compile | from the cache | first | warm |": "cmd/nnsoc TestFirstUseTable",
		"| what | keeps | until |":                             text,
		"| step of the copy | who pays it here |":              text,
		"| device | latency us at first | in the end | W at first | in the end | clock MHz | die C | skin C | status |": "cmd/nnsoc TestTenMinutes",
		"| governor | rule |": text,
		"| network | `run`: us | at MHz | `mlts benchmark`: us | at MHz |":                                        recorded,
		"| what | published | here | test |":                                                                      "sim/platform TestFastRPC",
		"| part of an operation | who computes it | key |":                                                        text,
		"| cores | float: mean | rms of the distance from 1, of the checks | 8 bits: mean | rms, of the checks |": "bench/cputimes TestNetworks",
	},
	"WritingADriver.md": {
		"| you write | type | called |": text, "| file | holds |": text, "| you write | type | what it is |": text,
		"| the driver is | who adds host path, clocks, idle states, queue and heat |": text,
		"| piece | type | passed to |": text,
	},
}

var (
	namesTest    = regexp.MustCompile("`(Test[A-Za-z]+)`")
	namesCommand = regexp.MustCompile("`[^`]*(nnsoc |go test |valgrind )[^`]*`|commit [0-9a-f]{7}")
)

// TestTablesAreHeld: each table of docs is known with the test that holds it, the test is there and
// reads the page, and figures that no test can hold say by which command or at which commit they were
// taken.
func TestTablesAreHeld(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil || len(pages) < 15 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, page := range pages {
		data := require.File(t, page)
		known, seen := tables[filepath.Base(page)], map[string]bool{}
		lines := strings.Split(string(data), "\n")
		section, code := 0, false
		for i, l := range lines {
			if strings.HasPrefix(l, "```") {
				code = !code
			}
			if code { // a picture has no tables
				continue
			}
			if strings.HasPrefix(l, "#") {
				section = i
			}
			if !strings.HasPrefix(l, "|") || i > 0 && strings.HasPrefix(lines[i-1], "|") {
				continue
			}
			seen[l] = true
			holder, ok := known[l]
			switch {
			case !ok:
				t.Errorf("%s:%d: nobody holds the table %s", page, i+1, l)
			case holder == onHost || holder == recorded:
				if !namesCommand.MatchString(strings.Join(lines[section:i+1], "\n")) {
					t.Errorf("%s:%d: no command and no commit before the measured table %s", page, i+1, l)
				}
			case holder != text:
				heldBy(t, page, holder)
			}
			for j := i; j < len(lines) && strings.HasPrefix(lines[j], "|"); j++ { // tests that rows name
				for _, m := range namesTest.FindAllStringSubmatch(lines[j], -1) {
					require.Check(t, testExists(t, m[1]), "%s:%d: there is no %s", page, j+1, m[1])
				}
			}
		}
		for l := range known {
			require.Check(t, seen[l], "%s has no table %s", page, l)
		}
	}
}

// heldBy fails unless there is a test, in a file that names the page.
func heldBy(t *testing.T, page, holder string) {
	t.Helper()
	folder, name, _ := strings.Cut(holder, " ")
	files := require.V(filepath.Glob(filepath.Join(folder, "*_test.go")))(t)
	for _, f := range files {
		data := require.File(t, f)
		if strings.Contains(string(data), "func "+name+"(") {
			require.Check(t, strings.Contains(string(data), filepath.Base(page)), "%s: %s does not read %s", f, name, page)
			return
		}
	}
	t.Errorf("%s: there is no %s in %s", page, name, folder)
}

// testExists reports whether some package has a test.
func testExists(t *testing.T, name string) (found bool) {
	t.Helper()
	err := filepath.WalkDir(".", func(path string, _ os.DirEntry, err error) error {
		if err != nil || found || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		found = strings.Contains(string(data), "func "+name+"(")
		return err
	})
	require.NoError(t, err)
	return found
}
