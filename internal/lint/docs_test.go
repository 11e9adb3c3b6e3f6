package lint

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// TestDocumentedCode: Go code in the guides is a part of the file that is named before it,
// which the compiler sees.
func TestDocumentedCode(t *testing.T) {
	const guide = "docs/WritingADriver.md"
	text := require.V(os.ReadFile(guide))(t)
	blocks := regexp.MustCompile("(?s)from `([^`]*_test\\.go)`:\n\n```go\n(.*?)\n```").FindAllStringSubmatch(string(text), -1)
	if n := strings.Count(string(text), "```go\n"); len(blocks) == 0 || len(blocks) != n {
		t.Errorf("%s: %d of %d blocks of code name the file they are from", guide, len(blocks), n)
	}
	for _, b := range blocks {
		source, err := os.ReadFile(b[1])
		if err != nil {
			t.Errorf("%s: %v", guide, err)
		} else if !strings.Contains(string(source), b[2]) {
			t.Errorf("%s: code is not as in %s:\n%s", guide, b[1], b[2])
		}
	}
}
