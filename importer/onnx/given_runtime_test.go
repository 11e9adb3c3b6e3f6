package onnx_test

import (
	"encoding/binary"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/importer/onnx"
	"github.com/nnsoc/nnsoc/importer/onnx/onnxfile"
	"github.com/nnsoc/nnsoc/importer/tensor"
	"github.com/nnsoc/nnsoc/internal/oracle"
	"github.com/nnsoc/nnsoc/internal/require"
	"github.com/nnsoc/nnsoc/internal/shared"
)

// givenSubject is a network of a file, with the .npy beside it for its only input where there is one, else noise.
func givenSubject(t *testing.T, path string) *subject {
	s := &subject{file: require.File(t, path)}
	m := require.V(onnx.Import(s.file, nil))(t)
	graph := require.V(onnxfile.Read(s.file))(t).Graph
	for k, x := range m.Main.Inputs {
		o := &m.Main.Operands[x]
		v := graph.Inputs[slices.IndexFunc(graph.Inputs, func(v *onnxfile.Value) bool { return v.Name == o.Name })]
		feed := runtimeTensor{Name: v.Name, Type: runtimeTypes[v.Type], Dims: []uint32{}, Raw: tensor.SyntheticInput(&m.Main, k, 3)}
		for _, d := range v.Dims {
			feed.Dims = append(feed.Dims, uint32(max(d.Size, 1)))
		}
		beside := strings.TrimSuffix(path, ".onnx") + ".npy"
		if found, _ := filepath.Glob(beside); len(found) == 1 && len(m.Main.Inputs) == 1 {
			feed.Raw = require.V(tensor.Read(beside, o, tensor.DefaultNormalization))(t)
		}
		if v.Type == onnxfile.Int64 {
			var wide []byte
			for i := 0; i < len(feed.Raw); i += 4 {
				wide = binary.LittleEndian.AppendUint64(wide, uint64(int64(int32(binary.LittleEndian.Uint32(feed.Raw[i:])))))
			}
			feed.Raw = wide
		}
		s.feeds = append(s.feeds, feed)
	}
	return s
}

// TestOracleRuntimeGiven holds every .onnx file of the shared folder against ONNX Runtime, each of its outputs.
func TestOracleRuntimeGiven(t *testing.T) {
	oracle.Need(t, "node")
	needRuntime(t)
	var paths []string
	for _, folder := range []string{"cases", "models"} {
		require.NoError(t, filepath.WalkDir(shared.Path(t, folder), func(path string, d fs.DirEntry, err error) error {
			if err == nil && filepath.Ext(path) == ".onnx" {
				paths = append(paths, path)
			}
			return err
		}))
	}
	var subjects []*subject
	for _, path := range paths {
		subjects = append(subjects, givenSubject(t, path))
	}
	compared := 0
	for k, v := range judge(t, subjects) {
		if v.Said != "" {
			t.Logf("%s: ONNX Runtime does not run it: %s", paths[k], v.Said)
			continue
		}
		compared++
		err := subjects[k].against(v)
		require.Check(t, err == nil, "%s: %v", paths[k], err)
	}
	require.Check(t, compared > 0, "ONNX Runtime runs none of %d files", len(paths))
	t.Logf("%d files compared", compared)
}
