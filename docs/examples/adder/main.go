// Command adder serves the driver to other processes:
//
//	adder adder.sock &
//	nnsoc run MODEL --driver adder.sock --device adder
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/nnsoc/nnsoc/docs/examples/adder/driver"
	"github.com/nnsoc/nnsoc/hal/service"
)

func main() {
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "%[1]s SOCKET serves the driver %[1]s until it is interrupted.\n\n  %[1]s %[1]s.sock &\n  nnsoc run MODEL --driver %[1]s.sock --device %[1]s\n", driver.Name)
	}
	flag.Parse()
	if err := serve(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "adder:", err)
		os.Exit(2)
	}
}

// serve runs the driver until it is interrupted.
func serve(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("want the path of a socket, got %d arguments (see -h)", len(args))
	}
	s := service.NewServer(driver.New(), service.Quotas{})
	l, err := service.Listen(args[0])
	if err != nil {
		return err
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupted
		s.Close()
	}()
	fmt.Println(driver.Name, "serves", args[0])
	return s.Serve(l)
}
