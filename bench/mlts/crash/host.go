package crash

import "time"

// measureHost measures the host's time for the work that a thread has in flight when the time is over: a compilation,
// and an inference where threads infer. A phone's cores and engines work side by side; this host serves all threads one
// after the other, which is no hang of the driver: they may end later by the time for all of them (D-1380). One thread
// gets no more time.
func (t *test) measureHost(threads int, infers bool) error {
	if threads == 1 {
		return nil
	}
	var longest time.Duration
	for _, l := range t.loads {
		begin := time.Now()
		compiled, err := t.compile(l)
		if err == nil && infers {
			_, err = t.infer(l, compiled)
		}
		if err != nil {
			return err
		}
		longest = max(longest, time.Since(begin))
	}
	t.late = time.Duration(threads) * longest
	return nil
}

// begin informs the coordinator that the duration of the test begins.
func (t *test) begin() error {
	return send(t.program.Out, Message{Kind: KindReady, Late: t.late})
}
