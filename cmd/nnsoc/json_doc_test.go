package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nnsoc/nnsoc/internal/require"
)

const (
	jsonPage   = "docs/JSON.md"
	jsonNames  = "cmd/nnsoc/testdata/json.names"
	modulePath = "github.com/nnsoc/nnsoc/"
)

// jsonUnits are the ends of the names of numbers with a unit.
var jsonUnits = []struct{ end, unit string }{
	{"_ns", "ns"}, {"_us", "us"}, {"_ms", "ms"}, {"_s", "s"}, {"_j", "J"}, {"_uj", "uJ"}, {"_mj", "mJ"}, {"_w", "W"}, {"_c", "Celsius"}, {"_mhz", "MHz"}, {"_gbps", "GB/s"},
	{"bytes", "bytes"}, {"cycles", "cycles"}, {"_percent", "%"}, {"_per_s", "1/s"}, {"bytes_per_s", "bytes/s"},
}

// jsonType is a type declaration with the imports that its fields name.
type jsonType struct {
	name, dir, doc string
	expr           ast.Expr
	file           *ast.File
}

// jsonField is a row of the page.
type jsonField struct{ path, name, kind, doc, at string }

// jsonSource reads the types of --json objects from the module's source.
type jsonSource struct {
	t     *testing.T
	types map[string]map[string]*jsonType // by folder and name
	names map[string]string               // meanings of names
	first map[string]string               // path of the first object of a type in the table
}

// load parses a package.
func (s *jsonSource) load(dir string) map[string]*jsonType {
	if s.types[dir] != nil {
		return s.types[dir]
	}
	s.types[dir] = map[string]*jsonType{}
	for _, name := range require.V(filepath.Glob(filepath.Join("..", "..", dir, "*.go")))(s.t) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f := require.V(parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution))(s.t)
		for _, d := range f.Decls {
			d, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, x := range d.Specs {
				if x, ok := x.(*ast.TypeSpec); ok {
					s.types[dir][x.Name.Name] = &jsonType{x.Name.Name, dir, oneLine(d.Doc.Text() + x.Doc.Text()), x.Type, f}
				}
			}
		}
	}
	return s.types[dir]
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// goName is the text of a type without brackets.
func goName(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.StarExpr:
		return "*" + goName(x.X)
	case *ast.SelectorExpr:
		return goName(x.X) + "." + x.Sel.Name
	}
	return ""
}

// find returns the declaration of a type of the module.
func (s *jsonSource) find(x ast.Expr, at *jsonType) *jsonType {
	pkg, name, imported := strings.Cut(goName(x), ".")
	if !imported {
		return s.load(at.dir)[pkg]
	}
	for _, im := range at.file.Imports {
		p, _ := strconv.Unquote(im.Path.Value)
		dir, ours := strings.CutPrefix(p, modulePath)
		if ours && (im.Name == nil && path.Base(p) == pkg || im.Name != nil && im.Name.Name == pkg) {
			return s.load(dir)[name]
		}
	}
	return nil
}

// jsonKinds are types without a declaration in the module, with a marshaler of their own, or of a difference.
var jsonKinds = map[string]string{
	"bool": "boolean", "string": "string", "any": "object", "float32": "number", "float64": "number", "Duration": "integer", "Change": "number before and after",
	"Dataflow": "string", "Overlap": "string",
}

// kind returns what a value is in JSON, and the fields inside it.
func (s *jsonSource) kind(x ast.Expr, at *jsonType, path string) (string, []jsonField) {
	switch x := x.(type) {
	case *ast.StarExpr:
		return s.kind(x.X, at, path)
	case *ast.ArrayType:
		kind, l := s.kind(x.Elt, at, path+"[]")
		return "array of " + kind, l
	case *ast.MapType:
		kind, l := s.kind(x.Value, at, path+".*")
		return "map of " + kind, l
	case *ast.StructType:
		var l []jsonField
		for _, f := range x.Fields.List {
			l = append(l, s.fields(f, x, at, path)...)
		}
		return "object", l
	}
	name := goName(x)
	if kind := jsonKinds[name[strings.Index(name, ".")+1:]]; kind != "" {
		return kind, nil
	}
	if strings.HasPrefix(name, "int") || strings.HasPrefix(name, "uint") {
		return "integer", nil
	}
	to := s.find(x, at)
	if to == nil {
		s.t.Fatalf("%s: no type %s", path, name)
	}
	id := to.dir + "." + to.name
	if other, again := s.first[id]; again && path != "" {
		return "object as " + other, nil
	}
	if _, ok := to.expr.(*ast.StructType); ok && path != "" {
		s.first[id] = path
	}
	return s.kind(to.expr, to, path)
}

// fields returns the rows of a field of a struct and of what is inside it.
func (s *jsonSource) fields(f *ast.Field, in *ast.StructType, at *jsonType, path string) []jsonField {
	name, options := jsonName(f)
	switch {
	case name == "" && len(f.Names) == 0:
		_, l := s.kind(f.Type, at, path)
		if _, ok := f.Type.(*ast.StarExpr); ok {
			for i := range l {
				l[i].kind += ", optional"
			}
		}
		return l
	case name == "" || name == "-":
		return nil
	}
	path = strings.TrimPrefix(path+"."+name, ".")
	kind, inside := s.kind(f.Type, at, path)
	if strings.Contains(options, "omit") {
		kind += ", optional"
	} else if _, ok := f.Type.(*ast.StarExpr); ok {
		kind += " or null"
	}
	own := oneLine(f.Doc.Text() + f.Comment.Text())
	for _, x := range in.Fields.List { // other fields by their names in JSON
		if other, _ := jsonName(x); other != "" && len(x.Names) > 0 {
			own = regexp.MustCompile(`(^|[^"])\b`+x.Names[0].Name+`\b`).ReplaceAllString(own, "${1}`"+other+"`")
		}
	}
	doc := own
	if word := s.names[name]; word != "" && (own == "" || own[0] >= 'a' && own[0] <= 'z') {
		doc = strings.TrimSuffix(word+": "+own, ": ")
	}
	return append([]jsonField{{path, name, kind, doc, at.dir + "." + at.name}}, inside...)
}

// jsonName is the name of a field in JSON, and its options.
func jsonName(f *ast.Field) (name, options string) {
	if f.Tag != nil {
		name, options, _ = strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json"), ",")
	}
	return name, options
}

// versioned reports whether a field is that of all objects.
func versioned(f *ast.Field) bool { name, _ := jsonName(f); return name == "schema_version" }

var objectOf = regexp.MustCompile(` is the JSON object of ([^.]*)\. ?`)

// TestJSONPage: docs/JSON.md has every field of the objects that --json prints, by the types that commands encode; every
// field has a meaning, a name has one type and every command an object.
func TestJSONPage(t *testing.T) {
	s := &jsonSource{t: t, types: map[string]map[string]*jsonType{}, names: map[string]string{}}
	used := map[string]string{} // names with their types
	for l := range strings.Lines(string(require.File(t, filepath.Join("..", "..", jsonNames)))) {
		if name, meaning, ok := strings.Cut(strings.TrimSpace(l), " "); ok {
			s.names[name] = strings.TrimSpace(meaning)
		}
	}
	var page strings.Builder
	sections := map[string]string{}
	for _, root := range []string{"cmd", "bench"} {
		require.NoError(t, filepath.WalkDir(filepath.Join("..", "..", root), func(p string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() && e.Name() != "testdata" {
				for _, x := range s.load(filepath.ToSlash(strings.TrimPrefix(p, filepath.Join("..", "..")+string(filepath.Separator)))) {
					if m := objectOf.FindStringSubmatchIndex(x.doc); m != nil {
						sections[x.doc[m[2]:m[3]]] = s.table(x, x.doc[m[1]:], used)
					} else if o, ok := x.expr.(*ast.StructType); ok && root == "cmd" && slices.ContainsFunc(o.Fields.List, versioned) {
						t.Errorf("%s.%s is the object of a command, which its comment does not say", x.dir, x.name)
					}
				}
			}
			return err
		}))
	}
	for name := range s.names {
		require.Check(t, used[name] != "", "%s: no field has the name %s", jsonNames, name)
	}
	for _, title := range slices.Sorted(maps.Keys(sections)) {
		fmt.Fprintf(&page, "\n## %s\n%s", title, sections[title])
	}
	walk(newRoot(io.Discard, io.Discard), func(c *cobra.Command) {
		_, name, _ := strings.Cut(c.CommandPath(), " ")
		if c.Runnable() && !c.HasSubCommands() && !c.Hidden && c.InheritedFlags().Lookup("json") != nil && !regexp.MustCompile(`(?m)^## (.* and )?`+name+`( |$)`).MatchString(page.String()) && !strings.HasPrefix(name, "completion") {
			t.Errorf("no type has the comment \"is the JSON object of %s.\"", name)
		}
	})
	file := filepath.Join("..", "..", jsonPage)
	have := string(require.File(t, file))
	head, _, _ := strings.Cut(have, "\n## ")
	want := head + "\n" + strings.TrimPrefix(page.String(), "\n")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
	} else if have != want {
		t.Errorf("%s is out of date: go test ./cmd/nnsoc -run TestJSONPage -update", jsonPage)
	}
}

// table is the section of an object.
func (s *jsonSource) table(x *jsonType, about string, used map[string]string) string {
	s.first = map[string]string{}
	_, l := s.kind(x.expr, x, "")
	var b strings.Builder
	if about != "" {
		fmt.Fprintf(&b, "\n%s\n", about)
	}
	b.WriteString("\n| field | type | unit | meaning |\n|---|---|---|---|\n")
	for _, f := range l {
		if f.doc == "" {
			s.t.Errorf("%s: %s has no meaning: a comment, or a line of %s", f.at, f.name, jsonNames)
		}
		kind, _, _ := strings.Cut(strings.NewReplacer("integer", "number", " before and after", "").Replace(f.kind), ",")
		kind, _, _ = strings.Cut(strings.TrimSuffix(kind, " or null"), " as ")
		if old := cmp.Or(used[f.name], kind); old != kind {
			s.t.Errorf("%s: %s is %s, elsewhere %s", f.at, f.name, kind, old)
		}
		if used[f.name] = kind; f.path == "schema_version" {
			continue // of all objects
		}
		unit := ""
		for _, u := range jsonUnits {
			if strings.HasSuffix(f.name, u.end) && strings.Contains(kind, "number") {
				unit = u.unit
			}
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.path, f.kind, unit, strings.ReplaceAll(f.doc, "|", "\\|"))
	}
	return b.String()
}
