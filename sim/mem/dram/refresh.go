package dram

// refresh plans the refreshes due for a bank, or for all of a channel, up to clock now: rows are closed as soon as they
// may be, then the command follows. No column command is planned after the clock at which it is due.
func (p *plan) refresh(b *bank, now int64) {
	banks, rp, rfc := p.banks, p.t.rpAB, p.t.rfcAB
	if p.cfg.Refresh == RefreshPerBank {
		i := 0
		for &p.banks[i] != b {
			i++
		}
		banks, rp, rfc = p.banks[i:i+1], p.t.rpPB, p.t.rfcPB
	}
	due := b.due
	start := due
	for i := range banks {
		b := &banks[i]
		a := b.newest()
		if a.close == never {
			a.close = max(due, a.precharge(p.t))
			a.until, a.Waits = due, due
		}
		start = max(start, a.close+rp, b.ready)
	}
	// The first closes the rows; of those that follow, the last may still run.
	n := int64(0)
	if late := now - due; late >= p.t.refi { // a division is slow
		n = late / p.t.refi
	}
	end := max(start, due+n*p.t.refi) + rfc
	for i := range banks {
		banks[i].ready = end
		banks[i].due = due + (n+1)*p.t.refi
	}
	p.count[RefreshCommand] += n + 1
}

// inSelfRefresh reports whether the channel is in self-refresh at clock now, because it
// had nothing to do.
func (p *plan) inSelfRefresh(now int64) bool { return p.t.selfAfter > 0 && now > p.sleeps() }

func (p *plan) sleeps() int64 { return max(p.last+p.t.rl+p.t.burst, p.woken) + p.t.selfAfter }

// wake ends a self-refresh at clock now. Refreshes begin anew.
func (p *plan) wake(now int64) {
	if !p.inSelfRefresh(now) {
		return
	}
	began := p.sleeps()
	for i := range p.banks {
		b := &p.banks[i]
		if began >= b.due {
			p.refresh(b, began)
		}
		if a := b.newest(); a.close == never {
			a.close = max(began, a.precharge(p.t))
		}
		b.ready = max(b.ready, now+p.t.xsr)
		if b.due != never {
			b.due += now - began
		}
	}
	p.woken = now
	p.selfClocks += now - began
	p.count[SelfRefreshEntry]++
}
