package cost

// Machine is the parameters of a core on which the time of a job depends.
type Machine struct {
	IssueInterval int     // cycles from a packet of a thread to the next
	Jump          int     // issue slots that the end of a loop of jumps loses
	Launch        int     // cycles from the end of a job to the first packet of the next
	LineBytes     int     // of L2
	L2Bytes       int     // size of L2
	MemoryCycles  int     // latency of a line from DRAM
	MemoryRate    float64 // bytes per cycle that prefetches bring from DRAM
	InFlight      int     // lines of a stream that a thread waits for at a time, below 2: one by one
}

// lineWait is the part of a cycle that a vector of activations costs a job whose threads share
// the port of L2 (assumed, D-618).
const lineWait = 0.5

// Job is the demands of a job on the machine, and its estimated cycles.
type Job struct {
	Threads   int
	Slots     int  // issue slots of the longest thread
	Lines     int  // vectors of activations that all threads load and store
	Uncertain bool // a count depends on data
	// Bytes from DRAM: that the job brings for itself while it computes, that it requests on
	// behalf of later jobs, and that earlier jobs have requested.
	Streamed, Ahead, Due int
	Missed               int // lines that nobody has requested, of the thread that waits for most of them
	Code                 int // bytes of its code that are not in L2 when it begins
	Cycles               int // from the end of the job before, once estimated
}

// AddThread adds a thread.
func (j *Job) AddThread(t Thread) {
	j.Threads++
	j.Slots = max(j.Slots, t.Slots)
	j.Lines += t.Lines
	j.Uncertain = j.Uncertain || t.Uncertain
}

// Busy is the cycles of a job whose bytes are all in L2 when it needs them.
func (m *Machine) Busy(j *Job) float64 {
	return float64(j.Slots*m.IssueInterval) + lineWait*float64(j.Lines)
}

// Launches is the overhead of launching so many jobs.
func (m *Machine) Launches(jobs int) float64 { return float64(jobs * m.Launch) }

// Moves is the cycles of transferring so many bytes from or to DRAM.
func (m *Machine) Moves(bytes int) float64 { return float64(bytes) / m.MemoryRate }

// boxLines is how many lines the l2fetch of a thread has in flight (as the core's).
const boxLines = 8

// Arrives is how many cycles longer than a job computes its bytes take that its threads bring from DRAM while it does.
func (m *Machine) Arrives(j *Job, bytes int) float64 {
	if bytes == 0 || j.Threads == 0 || m.LineBytes == 0 {
		return 0
	}
	boxes := float64(bytes/m.LineBytes*m.MemoryCycles) / float64(boxLines*j.Threads)
	return max(0, m.Moves(bytes)-m.Busy(j), boxes-m.Busy(j))
}

// Thrashing of L2, in parts of its size: what threads go through again and again stays there up to one,
// and has left it when it comes again from the other on (measured on the simulator, D-2200).
const (
	staysBelow = 0.93
	leavesFrom = 1.25
)

// Again is for how many lines a thread waits, one by one or InFlight at a time, that goes through a range so many times
// more, beside other bytes that it needs each time.
func (m *Machine) Again(bytes, beside, times int) int {
	if m.L2Bytes == 0 || times <= 0 {
		return 0
	}
	share := (float64(bytes+beside)/float64(m.L2Bytes) - staysBelow) / (leavesFrom - staysBelow)
	return int(min(max(share, 0), 1) * float64(times*(bytes/m.LineBytes)) / float64(max(1, m.InFlight)))
}

// Waits is the cycles of the lines of a job that nobody requests.
func (m *Machine) Waits(j *Job) float64 { return float64(j.Missed * m.MemoryCycles) }

// missed is the cycles of lines that threads wait for one by one: each thread for its own data,
// all for the same code. What the job streams begins with a line, too.
func (m *Machine) missed(j *Job) float64 {
	lines := float64(j.Missed) + float64(j.Code)/float64(m.LineBytes)
	if j.Streamed > 0 {
		lines++
	}
	return lines * float64(m.MemoryCycles)
}

// Estimate fills in the cycles of consecutive jobs. DRAM transfers bytes in the order in which
// they are requested, concurrently with the jobs, and each after its latency: a job ends when its
// code does and its own bytes have arrived.
func Estimate(m *Machine, jobs []*Job) {
	now, memory := 0.0, 0.0 // when the job before ended, and when DRAM can begin what is requested next
	for _, j := range jobs {
		began := now
		now += float64(m.Launch)
		end := now + m.Busy(j) + m.missed(j)
		if j.Due > 0 { // at most its own bytes are behind what else was requested
			end = max(end, min(memory, now+m.Moves(j.Due))+float64(m.MemoryCycles))
		}
		memory = max(memory, now)
		if j.Streamed > 0 {
			memory += m.Moves(j.Streamed)
			end = max(end, memory)
		}
		memory += m.Moves(j.Ahead)
		now = end
		j.Cycles = int(now - began)
	}
}
