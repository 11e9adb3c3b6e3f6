package hal

// Client is a thread of an application on a machine whose devices share one simulated
// time: its executions follow one another. A client that executes says so in
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
}

// Machine is the phone behind some devices.
type Machine interface {
	// Enter calls f as the machine's own client. Callers in other goroutines, and
	// executions without a client, wait until f has returned. What f has started and not
	// joined stands still until the next Enter.
	Enter(f func(Client) error) error
}
