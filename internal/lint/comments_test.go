package lint

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/nnsoc/nnsoc/internal/require"
)

// goFiles parses the hand-written Go files below the root.
func goFiles(t *testing.T) (*token.FileSet, map[string]*ast.File) {
	t.Helper()
	set, files := token.NewFileSet(), map[string]*ast.File{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() != "." && d.Name()[0] == '.'):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		f, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err == nil && !ast.IsGenerated(f) {
			files[path] = f
		}
		return err
	})
	require.NoError(t, err)
	return set, files
}

// TestDocComments holds that a doc comment speaks of what it stands above: where its first word is the name
// of a declaration of the package, it is the name of this one.
func TestDocComments(t *testing.T) {
	set, files := goFiles(t)
	declared := map[string]map[string]bool{} // by folder
	for path, f := range files {
		dir := filepath.Dir(path)
		if declared[dir] == nil {
			declared[dir] = map[string]bool{}
		}
		for _, d := range declarations(f) {
			declared[dir][d.name] = true
		}
	}
	seen := 0
	for path, f := range files {
		for _, d := range declarations(f) {
			seen++
			if other := strayName(d, declared[filepath.Dir(path)]); other != "" {
				t.Errorf("%s: the comment of %s begins with %s", set.Position(d.doc.Pos()), d.name, other)
			}
		}
	}
	require.Check(t, seen >= 1000, "only %d declarations seen", seen)
}

// declaration is a function, type, constant or variable with its doc comment.
type declaration struct {
	name string
	doc  *ast.CommentGroup
}

// declarations lists those of a file.
func declarations(f *ast.File) (list []declaration) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			list = append(list, declaration{name: d.Name.Name, doc: d.Doc})
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					list = append(list, declaration{s.Name.Name, cmp.Or(s.Doc, d.Doc)})
				}
			}
		}
	}
	return list
}

var firstWords = regexp.MustCompile(`^([\pL_][\pL\pN_]*)\s+(\pL+)`)

// strayName is the name of another declaration that a doc comment begins with: a word with a capital letter
// inside, or that of a declaration of the package before a verb.
func strayName(d declaration, declared map[string]bool) string {
	m := firstWords.FindStringSubmatch(d.doc.Text())
	if m == nil || m[1] == d.name {
		return ""
	}
	low := m[1][0] >= 'a' && m[1][0] <= 'z'
	if low && strings.ToLower(m[1]) != m[1] || declared[m[1]] && strings.HasSuffix(m[2], "s") {
		return m[1]
	}
	return ""
}

func TestDocCommentsCanFail(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"// Other is wrong.\nfunc f() {}\n\nfunc Other() {}", "Other"},
		{"// oldName was renamed.\nfunc f() {}", "oldName"},
		{"// f is right.\nfunc f() {}", ""},
		{"// Other code is below.\nfunc f() {}\n\nfunc Other() {}", ""},
		{"// Lanes of a wave.\ntype lane int\n\ntype Lanes int", ""},
	} {
		f := require.V(parser.ParseFile(token.NewFileSet(), "f.go", "package p\n\n"+c.source, parser.ParseComments))(t)
		list, declared := declarations(f), map[string]bool{}
		for _, d := range list {
			declared[d.name] = true
		}
		require.Same(t, c.want, strayName(list[0], declared), c.source)
	}
}

var (
	camelWord = regexp.MustCompile(`\b[a-z][a-z0-9]*[A-Z][a-z]\w*`)
	anyWord   = regexp.MustCompile(`\w+`)
)

// foreignNames are names of Android, its getters aside, of LLVM, IEEE 754 and MLTS that comments refer to.
const foreignNames = "extensionNameToPrefix findBestDeviceForEachOperation freeMemory maxNum minNum numberOfConsumers qNaN sNaN setOperationAction syncWait toString"

// TestCommentNames holds that names with a capital letter inside, as goFiles, are names or text of the code.
func TestCommentNames(t *testing.T) {
	set, files := goFiles(t)
	known := map[string]bool{}
	for _, w := range anyWord.FindAllString(foreignNames, -1) {
		known[w] = true
	}
	for _, f := range files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				known[n.Name] = true
			case *ast.BasicLit:
				for _, w := range anyWord.FindAllString(n.Value, -1) {
					known[w] = true
				}
			}
			return true
		})
	}
	seen := 0
	for _, f := range files {
		for _, group := range f.Comments {
			for _, w := range camelWord.FindAllString(group.Text(), -1) {
				seen++
				require.Check(t, known[w] || strings.HasPrefix(w, "get"), "%s: no %s", set.Position(group.Pos()), w)
			}
		}
	}
	require.Check(t, seen >= 1000, "only %d names seen", seen)
}

var fileName = regexp.MustCompile(`(?:^|[\s("\x60])((?:[\w-]+/)*\w+\.(?:go|s|toml|tsv|md|txtar))\b`)

// TestCommentFiles holds that the files exist that comments name: by their path from the root or from a folder
// above the comment, or by their name alone.
func TestCommentFiles(t *testing.T) {
	set, files := goFiles(t)
	names := map[string]bool{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names[d.Name()] = true
		}
		return err
	})
	require.NoError(t, err)
	seen := 0
	for path, f := range files {
		for _, group := range f.Comments {
			for _, m := range fileName.FindAllStringSubmatch(group.Text(), -1) {
				seen++
				require.Check(t, names[m[1]] || foundAbove(filepath.Dir(path), m[1]), "%s: no file %s", set.Position(group.Pos()), m[1])
			}
		}
	}
	require.Check(t, seen >= 100, "only %d names of files seen", seen)
}

// foundAbove reports whether a file exists below a folder or one above it.
func foundAbove(dir, name string) bool {
	for {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
		if dir == "." {
			return false
		}
		dir = filepath.Dir(dir)
	}
}

func TestCommentFilesCanFail(t *testing.T) {
	for _, c := range []struct {
		text string
		want bool
	}{{"see internal/lint/enums_test.go.", true}, {"(kernel_gone.go)", false}, {"docs/DEVIATIONS.md says", true}, {"docs/GONE.md", false}} {
		m := fileName.FindStringSubmatch(c.text)
		require.Check(t, m != nil && foundAbove("hal/driver", m[1]) == c.want, "%q: %q, want found %v", c.text, m, c.want)
	}
}
