package ethosu

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
)

// velaDirs lists the folders of networks compiled by Vela.
func velaDirs(t testing.TB) []string {
	return shared.Glob(t, "ethosu", "networks", "*", "ethos-*")
}

func dirName(dir string) string {
	return filepath.Base(filepath.Dir(dir)) + "/" + filepath.Base(dir)
}

var listingLine = regexp.MustCompile(`^0x[0-9a-f]{6}: .{8} [0-9a-f]{4} [0-9a-f]{4} - cmd`)

// listing is the commands of Vela's register listing, as text.
func listing(t testing.TB, dir string) string {
	b := require.File(t, filepath.Join(dir, "regcmd.txt"))
	var out strings.Builder
	for _, l := range strings.Split(string(b), "\n") {
		if listingLine.MatchString(l) {
			out.WriteString(l + "\n")
		}
	}
	return out.String()
}

// payloadIn finds the driver payload inside a compiled .tflite file, where it
// is an aligned byte vector preceded by its length.
func payloadIn(t testing.TB, dir string) []byte {
	files, _ := filepath.Glob(filepath.Join(dir, "*_vela.tflite"))
	if len(files) != 1 {
		t.Fatalf("%s: %d compiled files", dir, len(files))
	}
	b := require.File(t, files[0])
	i := bytes.Index(b, []byte("COP1"))
	if i < 4 {
		t.Fatalf("%s: no driver payload", files[0])
	}
	n := int(binary.LittleEndian.Uint32(b[i-4:]))
	return b[i : i+n]
}

func TestOracleVelaListing(t *testing.T) {
	oracle.Need(t)
	for _, dir := range velaDirs(t) {
		t.Run(dirName(dir), func(t *testing.T) {
			raw := payloadIn(t, dir)
			p := require.V(ReadPayload(raw))(t)
			want := listing(t, dir)
			var got bytes.Buffer
			require.NoError(t, Print(&got, p.Commands))
			if got.String() != want {
				t.Fatalf("listing differs:\n%s", firstDiff(got.String(), want))
			}
			words := require.V(Assemble(strings.NewReader(want)))(t)
			q := *p
			q.Commands = words
			back := require.V(q.Append(nil))(t)
			if !bytes.Equal(back, raw) {
				t.Errorf("payload of the assembled listing differs from the file's (%d and %d bytes)", len(back), len(raw))
			}
		})
	}
}

// The builder, fed every register before each operation, writes what Vela
// wrote: unchanged registers are left out.
func TestOracleVelaOmission(t *testing.T) {
	oracle.Need(t)
	for _, dir := range velaDirs(t) {
		p := require.V(ReadPayload(payloadIn(t, dir)))(t)
		cmds := require.V(Decode(p.Commands))(t)
		b := NewBuilder(p.Config.Product)
		for _, c := range cmds {
			switch f := Lookup(c.Code); f.Class {
			case ClassOp:
				b.Op(c.Code, int(c.Param))
			case ClassReg:
				b.Set(c.Code, int(c.Param))
				b.Set(c.Code, int(c.Param))
			case ClassAddr, ClassLength:
				b.SetAddr(c.Code, c.Addr())
				b.SetAddr(c.Code, c.Addr())
			default:
				b.SetScale(c.Code, c.Payload, int(c.Param))
			}
		}
		words := require.V(b.Words())(t, dirName(dir))
		if len(words) != len(p.Commands) {
			t.Errorf("%s: builder wrote %d words, Vela %d", dirName(dir), len(words), len(p.Commands))
		}
	}
}

func firstDiff(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got  " + g[i] + "\nwant " + w[i]
		}
	}
	return "lengths differ"
}
