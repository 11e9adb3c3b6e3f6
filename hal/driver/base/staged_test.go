package base

import (
	"fmt"
	"testing"

	"github.com/nnsoc/nnsoc/hal/driver/graph"
	"github.com/nnsoc/nnsoc/internal/require"
)

// sized is a program that keeps so many bytes.
type sized struct {
	Executable
	bytes int
}

func (s sized) Bytes() int { return s.bytes }

// TestBoundPrograms: a stage keeps the programs that were used last, as many as may be and of so many bytes, one of them
// whatever its size.
func TestBoundPrograms(t *testing.T) {
	s := &stage{}
	keys := func() (list []string) {
		for _, b := range s.bound {
			list = append(list, b.key)
		}
		return list
	}
	check := func(what string, want ...string) {
		t.Helper()
		require.Equal(t, want, keys(), what)
	}
	for i := range MaxBoundPrograms {
		s.keep(boundProgram{fmt.Sprint(i), sized{bytes: i}})
	}
	if e := s.recall("4"); e != Executable(sized{bytes: 4}) {
		t.Errorf("program 4 is %v", e)
	}
	check("recalled", "4", "7", "6", "5", "3", "2", "1", "0")
	if e := s.recall("9"); e != nil {
		t.Errorf("a program that there is not: %v", e)
	}
	s.keep(boundProgram{"8", sized{}})
	check("one more", "8", "4", "7", "6", "5", "3", "2", "1")
	s.keep(boundProgram{"large", sized{bytes: maxBoundBytes - 4 - 7}})
	check("as large as fits", "large", "8", "4", "7")
	s.keep(boundProgram{"larger", sized{bytes: maxBoundBytes + 1}})
	check("larger than all", "larger")
}

// TestDescribe: a stage is named by its operation, or by the first and the last.
func TestDescribe(t *testing.T) {
	for _, c := range []struct {
		origin []int
		want   string
	}{{[]int{3}, "operation 3"}, {[]int{3, 3}, "operation 3"}, {[]int{3, 5, 4}, "operations 3 to 4"}, {[]int{0, 1}, "operations 0 to 1"}} {
		s := &stage{Stage: &graph.Stage{Graph: &graph.Graph{Origin: c.origin}}}
		require.Same(t, c.want, s.describe(), c.origin)
	}
}
