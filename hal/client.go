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
	// Account begins an account of the energy that is divided among concurrent executions, for
	// those of the client, and of clients that it starts, from now on until the next
	// account.
	Account() Account
}

// Account is energy that no single execution has drawn: engines that are awake and wait, idle
// memory, the rest of the phone. It is complete when the concurrent clients have reached the
// same time. It is empty for a client that executes alone, whose Stats include this energy.
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
