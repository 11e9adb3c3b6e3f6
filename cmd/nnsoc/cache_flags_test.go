package main

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/internal/require"
)

// compilesNothingToKeep are the commands without --cache-dir and --token, and why. A command that is
// neither here nor has them fails TestCacheFlags.
var compilesNothingToKeep = map[string]string{
	"nnsoc": "groups", "nnsoc bench": "groups", "nnsoc driver": "groups", "nnsoc dsp": "groups", "nnsoc gpu": "groups",
	"nnsoc npu": "groups", "nnsoc mlts": "groups", "nnsoc soc": "groups", "nnsoc completion": "groups", "nnsoc models": "lists",
	"nnsoc version": "prints", "nnsoc completion bash": "prints", "nnsoc completion fish": "prints",
	"nnsoc completion powershell": "prints", "nnsoc completion zsh": "prints",
	"nnsoc explain": "prints", "nnsoc man": "prints", "nnsoc supported": "asks for support", "nnsoc devices": "lists", "nnsoc ops": "prints tables",
	"nnsoc soc explain": "prints", "nnsoc soc keys": "lists", "nnsoc soc list": "lists", "nnsoc soc show": "prints", "nnsoc models export": "writes networks", "nnsoc models check": "asks for support",
	"nnsoc models list": "lists", "nnsoc driver new": "writes a module", "nnsoc driver proto": "prints", "nnsoc driver samples": "lists",
	"nnsoc mlts list": "lists",
	"nnsoc dsp asm":   "programs, not networks", "nnsoc dsp disasm": "programs, not networks", "nnsoc dsp exec": "programs, not networks",
	"nnsoc dsp pipeline": "programs, not networks", "nnsoc gpu asm": "programs, not networks", "nnsoc gpu disasm": "programs, not networks",
	"nnsoc gpu exec": "programs, not networks", "nnsoc npu asm": "programs, not networks", "nnsoc npu disasm": "programs, not networks",
	"nnsoc npu exec": "programs, not networks", "nnsoc npu compile": "the compiled network is its output",
	"nnsoc plot": "reads files", "nnsoc diff": "reads files", "nnsoc trace-summary": "reads files",
	"nnsoc capabilities": "keeps what it measures, by type of operation",
	"nnsoc schedule":     "its costs are of executions",
	"nnsoc serve":        "its clients bring their caches",
	"nnsoc app":          "the program brings its cache",
	"nnsoc conformance":  "checks compiling and the cache of drivers by caches of its own",
	"nnsoc mlts crash":   "ends drivers while they compile",
	"nnsoc bench budget": "measures how long compiling takes", "nnsoc bench service": "measures how long compiling takes",
	"nnsoc bench array": "no network", "nnsoc bench cpu": "no network", "nnsoc bench dram": "no network",
	"nnsoc bench streams": "no network", "nnsoc bench vela": "networks that Vela compiled",
	"nnsoc bench gpu": "operations of their own, each compiled once", "nnsoc bench cliffs": "operations of their own, each compiled once",
}

// TestCacheFlags: every command that compiles networks has NNAPI's compilation cache.
func TestCacheFlags(t *testing.T) {
	seen := map[string]bool{}
	walk(newRoot(io.Discard, io.Discard), func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		path := c.CommandPath()
		seen[path] = true
		dir, token := c.Flags().Lookup("cache-dir"), c.Flags().Lookup("token")
		_, without := compilesNothingToKeep[path]
		switch has := dir != nil && token != nil; {
		case (dir == nil) != (token == nil):
			t.Errorf("%s has one of --cache-dir and --token", path)
		case has && without:
			t.Errorf("%s has --cache-dir, though it %s", path, compilesNothingToKeep[path])
		case !has && !without:
			t.Errorf("%s compiles networks without --cache-dir, or belongs into the table", path)
		}
	})
	for path := range compilesNothingToKeep {
		require.Check(t, seen[path], "there is no command %q", path)
	}
}

// TestCacheIsUsed: commands of every kind keep their compilations, and have the same results from the cache.
func TestCacheIsUsed(t *testing.T) {
	for _, line := range []string{
		"vts nnapi/*relu1* --device npu --functional",
		"fuzz --device npu --operations ^RELU1$ --count 8 --functional",
		"graph mobilenet_v1_0.25_128_quant --device npu",
		"bench gemm --device npu --size 16 --repeat 1",
		"sweep --models mobilenet_v1_0.25_128_quant --devices npu --vary npu.ublock=1x1x32,1x1x64 --invocations 1 -o FILE",
		"report mobilenet_v1_0.25_128_quant --device npu --invocations 1 -o FILE",
	} {
		dir := t.TempDir()
		files := func(result string) (list []os.DirEntry) {
			args := strings.Fields(strings.ReplaceAll(line, "FILE", dir+"/"+result))
			args = append(args, "--cache-dir", dir+"/kept", "-q", "--json")
			var out, errs strings.Builder
			if code := execute(args, &out, &errs); code != 0 {
				t.Fatalf("%s: exit code %d: %s", line, code, errs.String())
			}
			list = require.V(os.ReadDir(dir + "/kept"))(t)
			return list
		}
		first := files("first")
		if again := files("again"); len(first) == 0 || len(again) != len(first) {
			t.Errorf("%s: %d files in the cache, %d after the same again", line, len(first), len(again))
		}
	}
}

// TestSharedToken: a token that names one network in a cache is refused for another, which is
// told the token, the cache and the network; the first still has its compilation.
func TestSharedToken(t *testing.T) {
	dir := t.TempDir()
	run := func(network, options string) (code int, message string) {
		var out, errs strings.Builder
		args := append(strings.Fields("run "+network+" --device dsp --functional -q --token mine "+options), "--cache-dir", dir)
		return execute(args, &out, &errs), errs.String()
	}
	const first, second = "mobilenet_v1_0.25_128_quant", "mobilenet_v1_0.5_128_quant"
	for _, c := range []struct {
		network, options string
		want             int
	}{{first, "", 0}, {second, "", 2}, {first, "", 0}} {
		code, message := run(c.network, c.options)
		require.Check(t, code == c.want, "%s %s: exit code %d: %s", c.network, c.options, code, message)
		for _, word := range []string{"--token mine", dir, first} {
			require.Check(t, c.want == 0 || strings.Contains(message, word), "%s %s: the message lacks %q: %s", c.network, c.options, word, message)
		}
	}
}
