package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/hal/service"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "driverhost: %v\n", err)
		os.Exit(2)
	}
}

// run serves the devices of a library until the standard input ends.
func run(args []string) error {
	if len(args) != 1 {
		return errors.New("want the path of a library with ANeuralNetworks_getSLDriverImpl")
	}
	devices, err := load(args[0])
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "nnsoc-driver-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var list []string
	for i, d := range devices {
		if err := hal.CheckName(d.Name()); err != nil {
			return err
		}
		socket := filepath.Join(dir, fmt.Sprintf("%d.sock", i))
		l, err := service.Listen(socket)
		if err != nil {
			return err
		}
		s := service.NewServer(d, service.Quotas{})
		defer s.Close()
		go func() { _ = s.Serve(l) }() // its clients see the end
		list = append(list, d.Name()+" "+socket)
	}
	w := bufio.NewWriter(os.Stdout)
	fmt.Fprintln(w, strings.Join(list, "\n"))
	if err := w.Flush(); err != nil {
		return err
	}
	if err := os.Stdout.Close(); err != nil { // who reads it waits for the end
		return err
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}
