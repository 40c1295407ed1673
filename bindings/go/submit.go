// SPDX-License-Identifier: MIT

//go:build linux && (amd64 || arm64)

package aspawn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"aspawn.example/bindings/go/internal/block"
)

// cancelled returns the error of the contexts, of which one cancels the job.
func (p *pending) cancelled() error {
	if err := p.ctx.Err(); err != nil {
		return err
	}
	return p.job.context().Err()
}

// NewQueue makes a queue and its server, which last until Close: a queue is never collected.
func NewQueue(options QueueOptions) (*Queue, error) {
	for _, of := range []struct {
		name        string
		value, most int64
	}{
		{"Running", int64(options.Running), 1 << 15}, {"Jobs", int64(options.Jobs), 1 << 15},
		{"JobBytes", int64(options.JobBytes), 1 << 24}, {"Delay in ms", int64(milliseconds(options.Delay)), math.MaxUint32},
	} {
		if of.value < 0 || of.value > of.most {
			return nil, fmt.Errorf("aspawn: QueueOptions.%s: %d is not from 0 to %d: %w", of.name, of.value, of.most, syscall.EINVAL)
		}
	}
	if options.Jobs == 0 {
		options.Jobs = 256
	}
	of := cQueueOptions{flags: queueFd, jobs: uint32(options.Jobs), running: uint32(options.Running),
		jobBytes: uint32(options.JobBytes), delayMs: uint32(milliseconds(options.Delay))}
	of.size = uint64(unsafe.Sizeof(of))
	var queue unsafe.Pointer
	if r := block.CallWaiting(block.QueueCreate, int64(signalMask()), unsafe.Pointer(&queue), unsafe.Pointer(&of)); r < 0 {
		return nil, os.NewSyscallError("aspawn_queue_create", syscall.Errno(-r))
	}
	q := &Queue{queue: queue, ready: polledFile(int32(call(block.QueueFd, 0, queue))), places: make(chan struct{}, options.Jobs),
		closed: make(chan struct{}), served: make(chan struct{}), pending: map[uint64]*pending{}}
	if q.ready == nil {
		block.CallWaiting(block.QueueClose, 0, queue)
		return nil, os.NewSyscallError("dup", syscall.EMFILE)
	}
	go q.collect()
	return q, nil
}

// Close kills all jobs, whose results are ErrQueueClosed, and ends the server.
func (q *Queue) Close() error {
	q.using.Lock()
	defer q.using.Unlock()
	if q.queue == nil {
		return ErrQueueClosed
	}
	close(q.closed)
	q.ready.Close()
	<-q.served
	block.CallWaiting(block.QueueClose, 0, q.queue)
	q.queue = nil
	for cookie := range q.pending {
		q.deliver(cookie, &Result{Outcome: OutcomeCancelled, Err: ErrQueueClosed}, nil)
	}
	return nil
}

// Submit copies a job to the queue; the channel gets its result. It waits as long as the queue is
// full. When the context is done, or that of CommandContext, the job is cancelled.
func (q *Queue) Submit(ctx context.Context, job *Job) (<-chan *Result, error) {
	if ctx == nil {
		panic("nil Context")
	} else if job == nil || job.Cmd == nil {
		return nil, errors.New("aspawn: a job without a command")
	} else if job.Err != nil {
		return nil, job.Err
	}
	if job.Stdin != nil || job.Stdout != nil || job.Stderr != nil || len(job.ExtraFiles) > 0 || job.Terminal != nil {
		return nil, errors.New("aspawn: a job has Input and kept outputs in place of streams, ExtraFiles and a Terminal")
	}
	env, err := job.environ()
	if err != nil {
		return nil, err
	}
	m := newMessage(job.Cmd, nil, env)
	if m.err != nil {
		return nil, m.err
	}
	defer messages.Put(m)
	p := &pending{job: job, ctx: ctx, result: make(chan *Result, 1), done: make(chan struct{}), origins: m.origins}
	if err := p.cancelled(); err != nil {
		return nil, err
	} else if job.TimeLimit < 0 {
		return nil, context.DeadlineExceeded
	}
	select {
	case q.places <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-job.context().Done():
		return nil, job.context().Err()
	case <-q.closed:
		return nil, ErrQueueClosed
	}
	if err := q.submit(p, m); err != nil {
		<-q.places
		return nil, err
	}
	if ctx.Done() != nil || job.context().Done() != nil {
		go q.watch(p)
	}
	return p.result, nil
}

// bytesOf is what to keep, with the NUL.
func bytesOf(kept int) uint64 {
	if kept < 0 {
		return 0
	} else if kept == 0 {
		kept = 4096
	}
	return uint64(kept) + 1
}

func (q *Queue) submit(p *pending, m *message) error {
	job := p.job
	c := cJob{
		size: uint64(unsafe.Sizeof(cJob{})), inputSize: uint64(len(job.Input)), outSize: bytesOf(job.KeepStdout), errSize: bytesOf(job.KeepStderr),
		timeLimitMs: milliseconds(job.TimeLimit), graceMs: milliseconds(job.Grace),
		key: job.Key, keyLimit: job.KeyLimit, priority: int32(job.Priority),
	}
	if int(c.priority) != job.Priority {
		c.priority = -1 // is refused
	}
	if job.Grace < 0 {
		c.graceMs = graceNone
	}
	if job.Tail {
		c.flags = jobTail
	}
	input := unsafe.Pointer(nil)
	if len(job.Input) > 0 {
		input = unsafe.Pointer(&job.Input[0])
	}
	for {
		if err := q.attempt(p, m, &c, input); !errors.Is(err, syscall.EAGAIN) {
			return err
		}
		time.Sleep(50 * time.Microsecond) // the socket of the server is full
		if err := p.cancelled(); err != nil {
			return err
		}
	}
}

func (q *Queue) attempt(p *pending, m *message, c *cJob, input unsafe.Pointer) error {
	failure := new(cFailure)
	q.using.RLock()
	defer q.using.RUnlock()
	if q.queue == nil {
		return ErrQueueClosed
	}
	q.mu.Lock() // the result may be there before the ticket
	defer q.mu.Unlock()
	q.last++
	c.cookie = q.last
	p.ticket = call(block.Submit, 0, q.queue, unsafe.Pointer(&m.command), unsafe.Pointer(&m.words[0]), unsafe.Pointer(&m.bytes[0]),
		unsafe.Pointer(&m.arrays()[0]), unsafe.Pointer(c), input, unsafe.Pointer(failure))
	runtime.KeepAlive(m.files)
	if p.ticket < 0 {
		return failed(p.job.Path, m.origins, int(p.ticket), failure)
	}
	q.pending[q.last] = p
	if len(q.pending) == 1 {
		q.setDeadline()
	}
	return nil
}

// watch cancels the job when a context is done.
func (q *Queue) watch(p *pending) {
	select {
	case <-p.done:
		return
	case <-p.ctx.Done():
	case <-p.job.context().Done():
	}
	q.using.RLock()
	defer q.using.RUnlock()
	if q.queue != nil {
		call(block.QueueCancel, p.ticket, q.queue)
	}
}

// setDeadline lets collect look again in a second, if there are jobs. The caller has locked mu.
func (q *Queue) setDeadline() {
	var deadline time.Time
	if len(q.pending) > 0 {
		deadline = time.Now().Add(time.Second)
	}
	q.ready.SetReadDeadline(deadline)
}

// collect takes results until the queue is closed. While there are jobs, it looks each second: that
// continues a server that a job has stopped, which the descriptor does not show.
func (q *Queue) collect() {
	defer close(q.served)
	raw, err := q.ready.SyscallConn()
	for err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		q.mu.Lock()
		q.setDeadline()
		q.mu.Unlock()
		err = raw.Read(func(uintptr) bool {
			for q.take() {
			}
			return false
		})
	}
}

// take returns true if there may be more results.
func (q *Queue) take() bool {
	results := new([64]*cResult)
	count := call(block.QueueWait, int64(len(results)), q.queue, unsafe.Pointer(results))
	if count <= 0 {
		return false
	}
	for _, result := range results[:count] {
		q.deliver(uint64(result.cookie), read(result), &result.failure)
	}
	call(block.QueueRelease, count, q.queue, unsafe.Pointer(results))
	for range results[:count] {
		<-q.places
	}
	return int(count) == len(results)
}

func bytesAt(at *byte, length uint64) []byte {
	if at == nil {
		return nil
	}
	return append([]byte{}, unsafe.Slice(at, int(length))...)
}

func read(of *cResult) *Result {
	r := &Result{
		Outcome: Outcome(of.outcome),
		Stdout:  bytesAt(of.out, of.outLength), Stderr: bytesAt(of.err, of.errLength),
		StdoutTotal: uint64(of.outTotal), StderrTotal: uint64(of.errTotal),
		StdoutCut: of.cut&1 != 0, StderrCut: of.cut&2 != 0,
		MemoryPeak: uint64(of.memoryPeak), Survivors: int(of.survivors),
		Waited: time.Duration(of.startedNs - of.submittedNs),
		Ran:    time.Duration(of.endedNs - of.startedNs),
	}
	if of.startedNs == 0 {
		r.Waited, r.Ran = time.Duration(of.endedNs-of.submittedNs), 0
	}
	if r.Outcome != OutcomeNotStarted && of.status != -1 {
		r.ProcessState = &ProcessState{int(of.pid), syscall.WaitStatus(of.status), of.usage}
	}
	return r
}

// deliver sends a result to whom it belongs.
func (q *Queue) deliver(cookie uint64, r *Result, failure *cFailure) {
	q.mu.Lock()
	p := q.pending[cookie]
	delete(q.pending, cookie)
	q.mu.Unlock()
	r.Job = p.job
	// A job that the queue has killed before its exec has ECHILD beside the outcome.
	killed := r.Outcome == OutcomeTimedOut || r.Outcome == OutcomeCancelled
	if failure != nil && failure.error != 0 && !(killed && failure.error == -int32(syscall.ECHILD)) {
		r.Err = failed(p.job.Path, p.origins, 0, failure)
	} else if r.Err == nil {
		r.Err = r.reason(p)
	}
	p.result <- r
	close(p.done)
}

func (r *Result) reason(p *pending) error {
	var why error
	switch r.Outcome {
	case OutcomeTimedOut:
		why = context.DeadlineExceeded
	case OutcomeOutOfMemory:
		why = syscall.ENOMEM
	case OutcomeCancelled:
		why = p.cancelled()
	case OutcomeLost:
		return ErrLost
	}
	if r.ProcessState != nil && !r.ProcessState.Success() {
		return &ExitError{ProcessState: r.ProcessState, Stderr: r.Stderr, canceled: why}
	}
	return why
}
