// Package schema is the flatbuffers view of the part of the TensorFlow Lite
// format that the importer reads. Its accessors trust the file: importer/tflite
// verifies every offset and size before it calls them.
package schema

//go:generate sh -c "flatc --go --gen-onefile --go-namespace schema tflite.fbs && mv tflite_generated.go zschema.go"
