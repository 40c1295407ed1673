// SPDX-License-Identifier: MIT

package aspawn

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"
	"unsafe"
)

// ErrQueueClosed is of jobs that a queue can no longer run. ErrLost is of jobs that had started
// when somebody killed the queue's server process.
var (
	ErrQueueClosed = errors.New("aspawn: the queue is closed")
	ErrLost        = errors.New("aspawn: the queue's server was killed")
)

// QueueOptions of NewQueue; 0 is a default. Running and Jobs are at most 32768, JobBytes 16 MiB.
type QueueOptions struct {
	Running int // jobs that run at the same time: 16
	// jobs that wait, run or have an untaken result; rounded up to a power of two: 256
	Jobs int
	// for each job: the command, its environment and input, and the output kept: 32768
	JobBytes int
	Delay    time.Duration // least time between two starts
}

// A Queue runs many commands, so many at a time. They are started by a process that shares the
// memory, without a system call of this one. They have no descriptor of this process except those
// that their actions use. The server keeps the credentials and filters that the queue was made
// with: close the queue before the process restricts itself.
type Queue struct {
	using  sync.RWMutex   // the handle, which Close gives back
	queue  unsafe.Pointer // of C
	ready  *os.File       // readable if there are results
	places chan struct{}
	closed chan struct{}
	served chan struct{} // closed when collect has returned

	mu      sync.Mutex
	last    uint64
	pending map[uint64]*pending
}

// A Job is a command for a queue. Of Cmd these members matter: Path, Args, Env, Dir, SysProcAttr,
// Actions, Memory, TimeLimit, OwnerTree with TreeOrGroup, and the context of CommandContext.
type Job struct {
	*Cmd
	Input      []byte // standard input
	KeepStdout int    // bytes of standard output to keep; 0: 4096, negative: none
	KeepStderr int    // ... of standard error
	Tail       bool   // keep the last bytes, not the first
	// Grace is from SIGTERM, at the time limit and when the context is done, to SIGKILL; 0: one
	// second, negative: none.
	Grace time.Duration
	// Of the jobs with the same Key at most KeyLimit run at the same time; 0: no limit.
	Key, KeyLimit uint32
	Priority      int // those with the highest start first, from 0 to MostPriority
}

// A Result of a job.
type Result struct {
	Job     *Job
	Outcome Outcome
	// Err is nil if the program has exited with status 0. Otherwise it is an ExitError, which
	// is also context.DeadlineExceeded after the time limit, syscall.ENOMEM if the OOM killer
	// has ended the program in the group of its action.NewCgroup, or the context's error; or
	// what Cmd.Run fails with, ErrLost or ErrQueueClosed.
	Err                      error
	ProcessState             *ProcessState // nil: there was none
	Stdout, Stderr           []byte        // what was kept
	StdoutTotal, StderrTotal uint64        // bytes that the program wrote
	StdoutCut, StderrCut     bool          // another process still held it after the grace
	// most bytes in the group of action.NewCgroup; 0: not known
	MemoryPeak uint64
	// Survivors is how many processes of a tree could not be ended; 1 for another program that
	// may not be killed, such as sudo.
	Survivors   int
	Waited, Ran time.Duration // from the submission to the start, and from there to the end
}

type pending struct {
	job     *Job
	ctx     context.Context
	result  chan *Result
	done    chan struct{} // closed with the result
	ticket  int64
	origins []int // of the actions
}

// Run submits a job and waits for its result.
func (q *Queue) Run(ctx context.Context, job *Job) *Result {
	result, err := q.Submit(ctx, job)
	if err != nil {
		return &Result{Job: job, Outcome: OutcomeNotStarted, Err: err}
	}
	return <-result
}

// Each runs the jobs of a channel, as many at a time as the queue does, and sends their results in
// the order in which they end. When the jobs' channel is closed, the context is done, or the queue
// is closed, it takes no more jobs, and closes the results after the last one. Whoever stops
// reading cancels the context: without a reader results are dropped then,
// beyond as many as the queue has jobs.
func (q *Queue) Each(ctx context.Context, jobs <-chan *Job) <-chan *Result {
	if ctx == nil {
		panic("nil Context")
	}
	results, done := make(chan *Result, cap(q.places)), ctx.Done()
	send := func(r *Result) {
		select {
		case results <- r:
			return
		default:
		}
		select {
		case results <- r:
		case <-done:
		case <-q.closed:
		}
	}
	go func() {
		var all sync.WaitGroup
		defer close(results)
		defer all.Wait()
		for {
			select {
			case job, more := <-jobs:
				if !more {
					return
				}
				result, err := q.Submit(ctx, job)
				if err != nil {
					send(&Result{Job: job, Outcome: OutcomeNotStarted, Err: err})
					continue
				}
				all.Add(1)
				go func() {
					send(<-result)
					all.Done()
				}()
			case <-done:
				return
			case <-q.closed:
				return
			}
		}
	}()
	return results
}
