package cli

// SchemaVersion counts incompatible changes of the JSON objects. 2: names as in docs/JSON.md.
const SchemaVersion = 2

// Microseconds converts femtoseconds.
func Microseconds(fs int64) float64 { return float64(fs) / 1e9 }
