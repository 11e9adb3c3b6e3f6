package require

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// recorder is a test that writes down with what it was ended and whose line that was.
type recorder struct {
	helper bool
	args   []any
}

func (r *recorder) Helper()           { r.helper = true }
func (r *recorder) Fatal(args ...any) { r.args = args }

func TestNoError(t *testing.T) {
	r := &recorder{}
	NoError(r, nil)
	if r.args != nil {
		t.Fatalf("no error ends the test with %v", r.args)
	}
	NoError(r, io.EOF)
	if len(r.args) != 1 || r.args[0] != io.EOF || !r.helper {
		t.Fatalf("an error ends the test with %v, at the caller's line: %v", r.args, r.helper)
	}
	NoError(r, io.EOF, "file", 3)
	if len(r.args) != 1 || fmt.Sprint(r.args[0]) != "file: 3: EOF" {
		t.Fatalf("an error of file 3 ends the test with %v", r.args)
	}
}

func TestFile(t *testing.T) {
	r := &recorder{}
	if b := File(r, "require.go"); !strings.HasPrefix(string(b), "// Package require") || r.args != nil {
		t.Fatalf("%q, %v", b, r.args)
	}
	if File(r, "none"); len(r.args) != 1 || !errors.Is(r.args[0].(error), os.ErrNotExist) || !r.helper {
		t.Fatalf("a file that is not there ends the test with %v, at the caller's line: %v", r.args, r.helper)
	}
}

func TestV(t *testing.T) {
	r := &recorder{}
	x := V(1, nil)(r)
	y, z := V2(2, "3", nil)(r)
	if x != 1 || y != 2 || z != "3" || r.args != nil {
		t.Fatalf("%d, %d, %q, %v", x, y, z, r.args)
	}
	if V(1, io.EOF)(r); len(r.args) != 1 || r.args[0] != io.EOF || !r.helper {
		t.Fatalf("an error ends the test with %v, at the caller's line: %v", r.args, r.helper)
	}
	r.args = nil
	if V2(1, 2, io.EOF)(r); len(r.args) != 1 {
		t.Fatalf("an error behind two values ends the test with %v", r.args)
	}
}
