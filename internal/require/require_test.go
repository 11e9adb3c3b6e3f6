package require

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// recorder is a test that records the message with which it was ended or failed and its line.
type recorder struct {
	helper, failed bool
	args           []any
}

func (r *recorder) Helper()           { r.helper = true }
func (r *recorder) Error(args ...any) { r.failed, r.args = true, args }
func (r *recorder) Fatal(args ...any) { r.args = args }

func TestReports(t *testing.T) {
	for want, check := range map[string]func(T){
		"":                                func(t T) { ErrorContains(t, Err(0, io.EOF), "EO") },
		"f: 3: error EOF, want \"short\"": func(t T) { ErrorContains(t, io.EOF, "short", "f", 3) },
		"error <nil>, want \"\"":          func(t T) { ErrorContains(t, nil, "") },
		"  ":                              func(t T) { Fails(t, io.EOF, "f") },
		"f: no error":                     func(t T) { Fails(t, nil, "f") },
		"   ":                             func(t T) { Report(t, nil, "f") },
		"f: 3: EOF":                       func(t T) { Report(t, io.EOF, "f", 3) },
		"    ":                            func(t T) { Same(t, 1, 1) },
		"f: 2, want 1":                    func(t T) { Same(t, 1, 2, "f") },
		"     ":                           func(t T) { Check(t, true, "%d", 3) },
		"f: 3":                            func(t T) { Check(t, false, "f: %d", 3) },
		" ":                               func(t T) { Equal(t, []recorder{{}}, []recorder{{}}) },
		"f: (-want +got):":                func(t T) { Equal(t, 1, 2, "f") },
		"(-want +got):":                   func(t T) { Equal(t, 1, "1") },
	} {
		r := &recorder{}
		check(r)
		if fails := strings.TrimSpace(want) != ""; r.failed != fails || r.helper != fails {
			t.Errorf("%q: %+v", want, r)
		} else if fails && !strings.HasPrefix(fmt.Sprint(r.args...), want) {
			t.Errorf("%v, want %q", r.args, want)
		}
	}
}

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
