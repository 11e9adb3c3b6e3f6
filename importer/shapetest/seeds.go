package shapetest

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// Seeds are the numbers of the random networks that a test draws: the first count ones, or those of NNSOC_NETWORKS=FROM:COUNT.
func Seeds(t *testing.T, count uint64) (from, end uint64) {
	t.Helper()
	if a, b, ok := strings.Cut(os.Getenv("NNSOC_NETWORKS"), ":"); ok {
		from, count = require.V(strconv.ParseUint(a, 10, 32))(t), require.V(strconv.ParseUint(b, 10, 32))(t)
	}
	return from, from + count
}
