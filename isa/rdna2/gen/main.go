// Command gen generates Go source and the manual from the instruction table.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	table := flag.String("table", "ops.txt", "instruction table")
	ops := flag.String("ops", "zops.go", "Go output")
	man := flag.String("manual", "", "Markdown output")
	flag.Parse()
	if err := run(*table, *ops, *man); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(table, ops, man string) error {
	goSrc, md, err := generate(table)
	if err != nil {
		return err
	}
	if err := os.WriteFile(ops, goSrc, 0o666); err != nil {
		return err
	}
	if man == "" {
		return nil
	}
	return os.WriteFile(man, md, 0o666)
}

// generate is both outputs for a table file.
func generate(table string) (goSrc, md []byte, err error) {
	src, err := os.ReadFile(table)
	if err != nil {
		return nil, nil, err
	}
	secs, err := parse(src)
	if err != nil {
		return nil, nil, err
	}
	if goSrc, err = emit(secs); err != nil {
		return nil, nil, err
	}
	return goSrc, manual(secs), nil
}
