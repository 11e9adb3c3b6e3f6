package conformance

func statusChecks() []Check     { return nil }
func deviceChecks() []Check     { return nil }
func preparedChecks() []Check   { return nil }
func fencedChecks() []Check     { return nil }
func memoryChecks() []Check     { return nil }
func capabilityChecks() []Check { return nil }
func utilityChecks() []Check    { return nil }
func vtsChecks() []Check        { return nil }
func mutationChecks() []Check   { return nil }
func lifecycleChecks() []Check  { return nil }
