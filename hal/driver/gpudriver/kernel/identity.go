package kernel

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/nnsoc/nnsoc/hal/driver/gpudriver/layout"
)

// Identity is the dependences of a kernel's code as text: its type and the values of its fields,
// for tensors place, element and size. Kernels of one identity share code.
func Identity(k Kernel) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%T", k)
	identify(&b, reflect.ValueOf(k))
	return b.String()
}

// tensor is the type whose lifetime is not a part of an identity.
var tensor = reflect.TypeFor[layout.Tensor]()

// identify writes a value, what pointers point to in their place.
func identify(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			b.WriteString(" nil")
			return
		}
		identify(b, v.Elem())
	case reflect.Struct:
		b.WriteString("{")
		for i := range v.NumField() {
			if name := v.Type().Field(i).Name; v.Type() != tensor || name != "First" && name != "Last" {
				identify(b, v.Field(i))
			}
		}
		b.WriteString("}")
	case reflect.Slice, reflect.Array:
		fmt.Fprintf(b, "[%d", v.Len())
		for i := range v.Len() {
			identify(b, v.Index(i))
		}
		b.WriteString("]")
	case reflect.Map, reflect.Func, reflect.Chan, reflect.UnsafePointer:
		panic(fmt.Sprintf("gpu: code of a kernel cannot depend on a %s", v.Type()))
	case reflect.String:
		fmt.Fprintf(b, " %q", v.String())
	default:
		fmt.Fprintf(b, " %v", v)
	}
}
