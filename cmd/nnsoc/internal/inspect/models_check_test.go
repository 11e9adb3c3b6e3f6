package inspect

import (
	"errors"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/importer/lowering"
	"github.com/nnsoc/nnsoc/internal/require"
)

// TestCheckReportsPanics shows that a panic which an importer has recovered from is an internal error of its file alone.
func TestCheckReportsPanics(t *testing.T) {
	r := checkReport{Files: []fileChecked{{Path: "a.onnx"}, {Path: "b.onnx"}}}
	r.Files[0].refuse(panicked())
	r.Files[1].refuse(&lowering.Error{Format: "onnx", Err: errors.New("no graph")})
	var b strings.Builder
	require.Report(t, r.text(&b, nil))
	require.Check(t, strings.Contains(b.String(), "a.onnx  internal error: onnx: node 1: "+lowering.Unforeseen+"\n"), "%s", b.String())
	require.Check(t, strings.Contains(b.String(), "b.onnx  does not open: onnx: no graph\n"), "%s", b.String())
}

// panicked is the error of an importer that indexes beyond a list.
func panicked() (err error) {
	defer func() { err = lowering.Ended("onnx", "node 1", recover()) }()
	var list []int
	_ = list[len(list)]
	return nil
}
