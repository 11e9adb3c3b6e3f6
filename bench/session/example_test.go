package session_test

import (
	"fmt"
	"log"

	"github.com/nnsoc/nnsoc/bench/session"
	"github.com/nnsoc/nnsoc/bench/zoo"
	"github.com/nnsoc/nnsoc/hal"
	"github.com/nnsoc/nnsoc/sim/soc"
)

// A phone with slower memory runs a network of the zoo, ten times through burst objects.
func Example() {
	change, err := soc.ParseChange("dram.mt_per_s=2133")
	if err != nil {
		log.Fatal(err)
	}
	config, err := soc.LoadChanged("pixel4", change)
	if err != nil {
		log.Fatal(err)
	}
	phone, err := session.Open(config, session.Options{Preference: hal.SustainedSpeed})
	if err != nil {
		log.Fatal(err)
	}
	network, err := session.NewNetwork(zoo.MustBuild("mlperf_tiny_ad_quant"), nil)
	if err != nil {
		log.Fatal(err)
	}
	run, err := phone.Run(network, session.RunOptions{Device: "dsp", Pace: session.Pace{Invocations: 10, Burst: true}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(run.Status, run.Invocations.Count, *run.LatencyUS < 2000, run.Outputs[0].Mismatches)
	// Output: ok 10 true 0
}

// Auto divides a network by the predicted time of plans.
func ExamplePlanner() {
	config, err := soc.Load("pixel4")
	if err != nil {
		log.Fatal(err)
	}
	phone, err := session.Open(config, session.Options{})
	if err != nil {
		log.Fatal(err)
	}
	network, err := session.NewNetwork(zoo.MustBuild("mlperf_tiny_ad_quant"), nil)
	if err != nil {
		log.Fatal(err)
	}
	report := session.NewReport(phone, network.Model)
	for _, device := range []string{"cpu", session.Auto} {
		run, err := phone.Run(network, session.RunOptions{Device: device, Pace: session.Pace{Invocations: 3}})
		if err != nil {
			log.Fatal(err)
		}
		report.Add(run)
	}
	fmt.Println(report.Failed(), *report.Runs[1].LatencyUS <= *report.Runs[0].LatencyUS)
	// Output: <nil> true
}
