# Two commands to start with: `make run` and `make test`.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
GO ?= go
FUZZTIME ?= 10s
# Faults that make mutants plants, and the seed of their sample.
MUTANTS ?= 300
SEED ?= 1
# Of one package's tests; a loaded machine is several times slower.
TIMEOUT ?= 30m

# The analyser runs by version: a module requirement would reach who imports nnsoc.
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2

# A platform to build for and to vet, one without our assembly; and those for which packages and tests are type-checked,
# in seconds for the minutes that a build takes.
PLATFORMS ?= linux/arm64
TYPED ?= darwin/amd64,darwin/arm64,windows/amd64,windows/arm64

.PHONY: build libneuralnetworks apps run test test-all given check purego fidelity declared generate capabilities docs sweep oracle browser bench bench-compare fuzz planted mutants clean

build: ## build ./nnsoc
	$(GO) build -o nnsoc ./cmd/nnsoc

# Where the libraries go that Android has, and how they are built.
ANDROID ?= out/android
CC ?= cc
NATIVE := -std=c11 -O2 -Wall -Wextra -Werror -fPIC -shared -Icmd/libneuralnetworks/include

libneuralnetworks: ## build libneuralnetworks.so, libandroid.so, libnativewindow.so and driverhost into out/android; needs a C compiler
	@mkdir -p $(ANDROID)
	CGO_ENABLED=1 $(GO) build -tags libneuralnetworks -buildmode=c-shared -ldflags='-extldflags "-Wl,-soname,libneuralnetworks.so -Wl,--version-script=$(CURDIR)/cmd/libneuralnetworks/symbols.map"' -o $(ANDROID)/libneuralnetworks.so ./cmd/libneuralnetworks
	CGO_ENABLED=1 $(GO) build -tags libneuralnetworks -o $(ANDROID)/driverhost ./cmd/libneuralnetworks/driverhost
	@rm -f $(ANDROID)/libneuralnetworks.h # of cgo; apps include android/NeuralNetworks.h
	$(CC) $(NATIVE) -Wl,-soname,libandroid.so -o $(ANDROID)/libandroid.so cmd/libneuralnetworks/android/sharedmem.c
	$(CC) $(NATIVE) -Wl,-soname,libnativewindow.so -o $(ANDROID)/libnativewindow.so cmd/libneuralnetworks/android/hardware_buffer.c

NPM := npm install --silent --ignore-scripts --no-audit --no-fund --prefix .

# TensorFlow Lite 2.9.0 for Linux, of a package on npm, with what its interface for Node.js needs; without it its tests are skipped.
TFLITE := out/tflite/node_modules/tfjs-tflite-node/cc_deps/linux_amd64/libtensorflowlite_c.so

$(TFLITE):
	@mkdir -p out/tflite
	-cd out/tflite && $(NPM) tfjs-tflite-node@0.0.2 @tensorflow/tfjs-core@3.21.0 @tensorflow/tfjs-backend-cpu@3.21.0

# ONNX Runtime, likewise.
ONNXRUNTIME := out/onnx/node_modules/onnxruntime-node/package.json

$(ONNXRUNTIME):
	@mkdir -p out/onnx
	-cd out/onnx && $(NPM) onnxruntime-node@1.20.1

apps: libneuralnetworks $(TFLITE) ## programs in C, Python and Node.js on the simulated phone, through libneuralnetworks.so
	$(GO) vet -tags libneuralnetworks ./cmd/libneuralnetworks ./cmd/libneuralnetworks/driverhost
	NNSOC_APPS=$(abspath $(ANDROID)) $(GO) test -vet=off -count=1 -timeout $(TIMEOUT) -bench BenchmarkCalls -benchtime 1x -v ./cmd/libneuralnetworks
	NNSOC_APPS=$(abspath $(ANDROID)) $(GO) test -vet=off -count=1 -timeout $(TIMEOUT) -run '^TestAppScripts$$' -v ./cmd/nnsoc

run: build ## run MobileNet v1 on every device of the default SoC
	./nnsoc run

# Less frequent garbage collection saves the compiler a tenth of its time; the limit keeps two
# packages of tests side by side within a small machine.
test test-all check: export GOGC = 400
test test-all check: export GOMEMLIMIT = 3GiB

# One room of the house alone, as in make test ROOM=gpu.
ROOM ?=

# make check vets; vetting every test binary again would take a quarter of the time, and linking symbols that only a
# debugger reads another.
TEST := $(GO) test -vet=off -ldflags='-s -w' -timeout $(TIMEOUT)
test: ## the tests that need nothing but Go and little time, or with ROOM=gpu those of one room
	$(TEST) -short ./$(if $(ROOM),$(ROOM)/)...

test-all: ## with those that need minutes
	$(TEST) ./$(if $(ROOM),$(ROOM)/)...

purego: ## the tests of the cores and the reference without assembly, as other processors run them
	$(GO) test -vet=off -tags purego -timeout $(TIMEOUT) ./dsp/... ./gpu/... ./npu/... ./refcpu/...

GIVEN := TestNetworks|TestGivenNetworks|TestRecordedNetworks|TestReference(LayersUint8|Int8|Float)|TestNetworksInParts|TestStatesCarry|TestImportModels|TestPredictGivenControlFlow|TestPictureMatchesRecordedInput|TestGivenScripts
ORACLE := TestOracle[A-Za-z0-9_]*|TestPythonDriver

# Packages below folders that have one of the tests: linking the tests of all takes minutes.
having = $$(grep -rlE '^func ($(1))\(' --include='*_test.go' $(2) | xargs -n1 dirname | sort -u)

given: ## the tests of published networks, whose files and recorded results lie in ../shared
	$(GO) test -vet=off -timeout $(TIMEOUT) -run '^($(GIVEN))$$' $(call having,$(GIVEN),./hal ./runtime/nnrt ./testvectors ./importer ./cmd)

check: ## formatting, vet, staticcheck, other platforms, functions that nothing reaches
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt"; exit 1; }
	$(GO) vet ./...
	$(GO) build ./...
	@for p in $(PLATFORMS); do \
	  echo "build for $$p"; export GOOS=$${p%/*} GOARCH=$${p#*/}; $(GO) build ./... && $(GO) vet ./... || exit 1; \
	done
	$(GO) run ./internal/platforms $(TYPED) ./...
	$(GO) run $(STATICCHECK) ./...
	.ci/unreachable

generate: ## write the generated files again
	$(GO) generate ./...

capabilities: ## measure what devices report of every preset, and check it
	$(GO) generate ./hal/devices
	NNSOC_SWEEP=1 $(GO) test -count=1 -timeout $(TIMEOUT) -run '^(TestShippedCapabilities|TestPredictions)$$' ./bench/capability

docs: build ## write docs/OPERATIONS.md again from the test-vector corpus, docs/JSON.md from the source
	@mkdir -p out; ./nnsoc ops nnapi --markdown >out/OPERATIONS.md && cp out/OPERATIONS.md docs/
	$(GO) test ./cmd/nnsoc -run TestJSONPage -update

fidelity: build ## write docs/FIDELITY.md again: published latencies beside ours
	@mkdir -p out; ./nnsoc bench anchors --markdown -q >out/FIDELITY.md && ./nnsoc bench phones --engine cpu,dsp,npu --markdown -q >>out/FIDELITY.md && ./nnsoc bench energy --markdown -q >>out/FIDELITY.md && cp out/FIDELITY.md docs/
	$(GO) test ./bench/session -run TestTrust -args -update-trust

declared: ## prepare all that every device declares: 500 random graphs each, and the networks
	$(GO) test -count=1 -timeout $(TIMEOUT) -run '^TestDeclaredPrepares$$' -v ./hal/devices -args -declared-graphs 500 -declared-networks

sweep: ## change every number of every preset, run the costly networks, compare strategies on all
	NNSOC_SWEEP=1 $(GO) test -count=1 -timeout 6h -run '^TestStrategies$$' -v ./cmd/nnsoc
	NNSOC_SWEEP=1 $(GO) test -count=1 -timeout $(TIMEOUT) -run '^(TestEveryKeyMatters|TestFamiliesAreAlive|TestShippedCapabilities|TestRandomGraphsInParts|TestControlFlowInParts|TestNetworksInParts)$$' ./hal/devices ./bench/zoo ./bench/capability ./runtime/nnrt

oracle: $(TFLITE) $(ONNXRUNTIME) ## compare with TensorFlow Lite, ONNX Runtime, llvm-mc, llvm-objdump, qemu-hexagon and recorded runs; take a driver in Python through its suites
	NNSOC_ORACLE=$${NNSOC_ORACLE:-1} NNSOC_PROGRAMS=$${NNSOC_PROGRAMS:-1000} $(GO) test -vet=off -count=1 -timeout $(TIMEOUT) -run '^($(ORACLE))$$' -v $(call having,$(ORACLE),.) | grep -v -e '=== RUN' -e 'no tests to run'

browser: ## look at the pages that commands write, in headless Chromium
	NNSOC_BROWSER=1 $(GO) test -count=1 -timeout $(TIMEOUT) -run '^(TestBrowser|TestReport(Views|Reader|Fits|Numbers|Many))$$' -v ./bench/mlts/page ./cmd/nnsoc

bench: build ## benchmarks beside the code, then the speed budget
	$(GO) test -run xxx -bench . -benchtime 200ms ./...
	./nnsoc bench budget

# Text that the names of works to compare contain, and how often each of the two builds measures.
ONLY ?=
ROUNDS ?= 3

bench-compare: ## make bench-compare BASE=HEAD~1: works of the speed budget that take a fifth longer than at BASE
	@test -n "$(BASE)" || { echo "usage: make bench-compare BASE=COMMIT [ONLY=npu:] [ROUNDS=3]"; exit 2; }
	$(GO) run ./internal/benchcompare -base "$(BASE)" -only "$(ONLY)" -rounds $(ROUNDS)

fuzz: ## every fuzz target for FUZZTIME
	@for p in $$(grep -rlE '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u); do \
	  for f in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]*' $$p/*_test.go | cut -c6-); do \
	    echo "$$p $$f"; $(GO) test -run xxx -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p || exit 1; \
	  done; done

planted: ## wake each fault of internal/mutants/planted.txt, which breaks an obligation: the conformance suite must find it; takes minutes
	$(GO) run ./internal/mutants -planted internal/mutants/planted.txt

mutants: planted ## then plant MUTANTS single-token faults, one at a time, and report the share that tests find; takes hours
	$(GO) run ./internal/mutants -n $(MUTANTS) -seed $(SEED)

clean:
	rm -f nnsoc
