package onnxfile

import (
	"errors"
	"fmt"
)

func (r *reader) opset(data []byte) (o Opset, err error) {
	return o, r.fields(data, func(f field) error {
		switch f.num {
		case 1:
			return f.text(&o.Domain)
		case 2:
			return f.int(&o.Version)
		}
		return nil
	})
}

func (r *reader) graph(data []byte) (*Graph, error) {
	if r.depth++; r.depth > maxDepth {
		return nil, fmt.Errorf("graphs nest more than %d deep", maxDepth)
	}
	defer func() { r.depth-- }()
	g := &Graph{}
	return g, r.fields(data, func(f field) error {
		switch f.num {
		case 1:
			return add(r, f, &g.Nodes, r.node)
		case 2:
			return f.text(&g.Name)
		case 5:
			return add(r, f, &g.Initializers, r.tensor)
		case 11:
			return add(r, f, &g.Inputs, r.value)
		case 12:
			return add(r, f, &g.Outputs, r.value)
		case 13:
			return add(r, f, &g.Values, r.value)
		case 15:
			return add(r, f, &g.Sparse, r.sparse)
		}
		return nil
	})
}

// sparse is the name of a SparseTensorProto, that of its values.
func (r *reader) sparse(data []byte) (name string, err error) {
	return name, r.fields(data, func(f field) error {
		if f.num != 1 {
			return nil
		}
		t, err := r.tensor(f.val)
		name = t.Name
		return err
	})
}

func (r *reader) node(data []byte) (*Node, error) {
	n := &Node{}
	return n, r.fields(data, func(f field) error {
		switch f.num {
		case 1:
			return f.texts(&n.Inputs)
		case 2:
			return f.texts(&n.Outputs)
		case 3:
			return f.text(&n.Name)
		case 4:
			return f.text(&n.Op)
		case 5:
			return add(r, f, &n.Attributes, r.attribute)
		case 7:
			return f.text(&n.Domain)
		}
		return nil
	})
}

// attribute reads an attribute; in files of old versions its type follows from the field that is present.
func (r *reader) attribute(data []byte) (*Attribute, error) {
	a := &Attribute{}
	there := AttributeUndefined
	err := r.fields(data, func(f field) error {
		switch f.num {
		case 1:
			return f.text(&a.Name)
		case 2:
			there = AttributeFloat
			var list []float32
			if err := floats(r, f, &list); err != nil {
				return err
			}
			if len(list) != 1 {
				return errors.New("not one float")
			}
			a.Float = list[0]
		case 3:
			there = AttributeInt
			return f.int(&a.Int)
		case 4:
			there = AttributeString
			return f.text(&a.String)
		case 5:
			there = AttributeTensor
			return sub(f, &a.Tensor, r.tensor)
		case 6:
			there = AttributeGraph
			return sub(f, &a.Graph, r.graph)
		case 7:
			there = AttributeFloats
			return floats(r, f, &a.Floats)
		case 8:
			there = AttributeInts
			return varints(r, f, &a.Ints)
		case 9:
			there = AttributeStrings
			return f.texts(&a.Strings)
		case 20:
			var t int64
			err := f.int(&t)
			a.Type = AttributeType(t)
			return err
		case 21:
			return f.text(&a.Ref)
		}
		return nil
	})
	if a.Type == AttributeUndefined {
		a.Type = there
	}
	if err == nil && a.Ref == "" && (a.Type == AttributeTensor && a.Tensor == nil || a.Type == AttributeGraph && a.Graph == nil) {
		err = fmt.Errorf("attribute %q has no value of its type %d", a.Name, a.Type)
	}
	return a, err
}

func (r *reader) tensor(data []byte) (*Tensor, error) {
	t := &Tensor{}
	external := false
	err := r.fields(data, func(f field) error {
		switch f.num {
		case 1:
			return varints(r, f, &t.Dims)
		case 2:
			var v int64
			err := f.int(&v)
			t.Type = DataType(v)
			return err
		case 3:
			return errors.New("the tensor is stored in segments, which is not supported")
		case 4:
			return floats(r, f, &t.Floats)
		case 5:
			return varints(r, f, &t.Int32s)
		case 6:
			t.Strings = append(t.Strings, f.val)
		case 7:
			return varints(r, f, &t.Int64s)
		case 8:
			return f.text(&t.Name)
		case 9:
			t.Raw = f.val
		case 10:
			return doubles(r, f, &t.Doubles)
		case 11:
			return varints(r, f, &t.Uint64s)
		case 13:
			if t.External == nil {
				t.External = map[string]string{}
			}
			return r.entry(f.val, t.External)
		case 14:
			var v int64
			err := f.int(&v)
			external = v == 1
			return err
		}
		return nil
	})
	if err == nil && !external {
		t.External = nil
	}
	if err == nil && external && t.External["location"] == "" {
		err = fmt.Errorf("tensor %q is in another file, which its entries do not name", t.Name)
	}
	return t, err
}

// entry is a StringStringEntryProto.
func (r *reader) entry(data []byte, into map[string]string) error {
	var key, value string
	err := r.fields(data, func(f field) error {
		switch f.num {
		case 1:
			return f.text(&key)
		case 2:
			return f.text(&value)
		}
		return nil
	})
	into[key] = value
	return err
}

// kinds are the fields of a TypeProto that are no tensor.
var kinds = map[int]string{4: "sequence", 5: "map", 8: "sparse tensor", 9: "optional"}

func (r *reader) value(data []byte) (*Value, error) {
	v := &Value{}
	return v, r.fields(data, func(f field) error {
		switch f.num {
		case 1:
			return f.text(&v.Name)
		case 2:
			return r.fields(f.val, func(f field) error {
				if f.num == 1 {
					return r.tensorType(f.val, v)
				}
				if kind, ok := kinds[int(f.num)]; ok {
					v.Kind = kind
				}
				return nil
			})
		}
		return nil
	})
}

func (r *reader) tensorType(data []byte, v *Value) error {
	return r.fields(data, func(f field) error {
		switch f.num {
		case 1:
			var t int64
			err := f.int(&t)
			v.Type = DataType(t)
			return err
		case 2:
			v.Dims = []Dim{}
			return r.fields(f.val, func(f field) error {
				if f.num != 1 {
					return nil
				}
				return add(r, f, &v.Dims, r.dim)
			})
		}
		return nil
	})
}

func (r *reader) dim(data []byte) (d Dim, err error) {
	return d, r.fields(data, func(f field) error {
		switch f.num {
		case 1:
			return f.int(&d.Size)
		case 2:
			return f.text(&d.Name)
		}
		return nil
	})
}

func (r *reader) function(data []byte) (*Function, error) {
	fn := &Function{}
	return fn, r.fields(data, func(f field) error {
		switch f.num {
		case 1:
			return f.text(&fn.Name)
		case 4:
			return f.texts(&fn.Inputs)
		case 5:
			return f.texts(&fn.Outputs)
		case 6:
			return f.texts(&fn.Attributes)
		case 7:
			return add(r, f, &fn.Nodes, r.node)
		case 9:
			return add(r, f, &fn.Opsets, r.opset)
		case 10:
			return f.text(&fn.Domain)
		case 11:
			return add(r, f, &fn.Defaults, r.attribute)
		}
		return nil
	})
}
