package hal

// Client is a thread of an application on a machine whose devices share one simulated
// time: its executions follow one another. A client passes itself to an execution in
// ExecuteOptions.Client.
type Client interface {
	// NowFs is the client's time: the end of what it did last, in femtoseconds.
	NowFs() int64
	// WaitUntil lets the client wait until an instant; nothing happens when that has
	// passed.
	WaitUntil(fs int64)
	// Go starts a client at the present instant, beside this one. f executes as the client
	// that it is given, in a goroutine of its own, but never at the same time as another
	// client of the machine.
	Go(f func(Client) error) (Client, error)
	// Join waits until a client that Go has returned has ended and returns its error.
	Join(other Client) error
	// Account begins an account of the energy that is divided among executions beside each
	// other, for those of the client, and of clients that it starts, from now on until the
	// next.
	Account() Account
}

// Account is energy that no execution has drawn by itself: engines that are awake and wait,
// memory that nobody reads, the rest of the phone. It is complete when all clients beside have
// come as far. Of a client that executes alone it is empty: it is in its Stats.
type Account interface {
	Components() []ComponentEnergy
}

// Machine is the phone behind some devices.
type Machine interface {
	// Enter calls f as the machine's own client. Callers in other goroutines, and
	// executions without a client, wait until f has returned. What f has started and not
	// joined stands still until the next Enter.
	Enter(f func(Client) error) error
}
