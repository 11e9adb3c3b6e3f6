// Command gen writes the manual of the Ethos-U commands.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"

	"github.com/nnsoc/nnsoc/isa/ethosu"
)

func main() {
	out := flag.String("o", "", "file to write")
	flag.Parse()
	var b bytes.Buffer
	err := ethosu.WriteManual(&b)
	if err == nil {
		err = os.WriteFile(*out, b.Bytes(), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}
